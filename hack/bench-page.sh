#!/bin/bash
# bench-page.sh: how long a frame of the page takes with NODES nodes (5,000), in Chromium without a window: while the
# matrix of nodes is scrolled, and from a letter in the filter to what it leaves.
# Prints one line of JSON; nothing where there is no Chromium.
set -eu
cd "$(dirname "$0")/.."
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || exit 0
nodes=${NODES:-5000}
dir=$(mktemp -d)
export KUBECONFIG=$dir/kubeconfig
trap 'kill $pids 2>/dev/null || true; rm -rf "$dir"' EXIT
pids=

build/slipway emulate --nodes "$nodes" --no-controllers --kubeconfig-out "$KUBECONFIG" >"$dir/emulate" &
pids=$!
until [ -s "$KUBECONFIG" ]; do sleep 0.1; done
build/slipway run charts/example/simple-kmod --timeout 1s >/dev/null 2>&1 || true # the definitions, and a resource
kubectl patch specialresource simple-kmod --subresource=status --type=merge -p "$(python3 -c '
import json
states = [{"name": f"state-{i}", "phase": "Ready", "needs": [f"state-{i - 1}"] if i else [], "label": f"specialresource.openshift.io/state-simple-kmod-{i}",
           "nodes": {"labelled": 0, "total": 0}, "objects": {"ready": 1, "total": 1}, "startedAt": "2026-01-01T00:00:00Z", "readyAt": "2026-01-01T00:00:01Z"} for i in range(10)]
print(json.dumps({"status": {"states": states, "state": "Ready: "}}))')" >/dev/null
build/slipway dashboard --no-open >"$dir/url" &
pids="$pids $!"
until [ -s "$dir/url" ]; do sleep 0.1; done
cat >"$dir/measure.js" <<'EOF'
(async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const table = document.querySelector('.matrix');
  const filter = document.querySelector('[data-input=filter]');
  const sorted = (list) => list.sort((a, b) => a - b).map((ms) => Math.round(ms * 10) / 10);
  const scroll = [];
  await frame();
  for (let i = 1; i <= 100; i++) {
    const began = performance.now();
    table.scrollTop = (i * 1931) % table.scrollHeight;
    await frame();
    await frame();
    scroll.push((performance.now() - began) / 2);
  }
  const typed = [];
  for (const text of ['1', '12', '123', '', 'gpu', 'gpu-4', '']) {
    const began = performance.now();
    filter.value = text;
    filter.dispatchEvent(new Event('input', { bubbles: true }));
    await frame();
    await frame();
    typed.push(performance.now() - began);
  }
  return JSON.stringify({ scroll: sorted(scroll), typed: sorted(typed), rows: document.querySelectorAll('.rows > div').length });
})()
EOF
python3 test/tools/browser.py "open=$(cat "$dir/url")" "until=document.querySelector('.graph')" "do=location.hash = '#/nodes'" \
    "until=document.querySelector('.rows .node')" "until=(document.body?.innerText ?? '').includes('$nodes of $nodes nodes')" "print=$(cat "$dir/measure.js")" >"$dir/out"
python3 - "$dir/out" "$nodes" <<'EOF'
import json, sys
m = json.load(open(sys.argv[1]))
print(json.dumps({"bench": "page-nodes", "what": "frames of the page's matrix in Chromium", "nodes": int(sys.argv[2]), "rows_drawn": m["rows"],
                  "scroll_median_ms": m["scroll"][50], "scroll_max_ms": m["scroll"][-1], "filter_median_ms": m["typed"][3], "filter_max_ms": m["typed"][-1],
                  "target_ms": 100}))
EOF
