# slipway report: the page of a cluster or a recording as one file, which asks no server for anything.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/test/slipway}")
export KUBECONFIG=$tap_dir/kubeconfig
trap 'for p in "$tap_dir"/*.pid; do [ ! -f "$p" ] || kill "$(cat "$p")" 2>/dev/null; done; rm -rf "$tap_dir"' EXIT

chart=$tap_dir/late
mkdir -p "$chart/templates"
printf 'apiVersion: v2\nname: late\nversion: 0.1.0\nannotations: {slipway.dev/wait: all}\n' >"$chart/Chart.yaml"
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: first}\n' >"$chart/templates/0000-first.yaml"
cat >"$chart/templates/0001-pod.yaml" <<'EOF'
apiVersion: v1
kind: Pod
metadata:
  name: never
  annotations: {emulator.slipway.dev/ready: "false", emulator.slipway.dev/log: "</script><script>document.title = 'owned'</script> waits for <b>the</b> device\n"}
spec: {containers: [{name: c, image: x}]}
EOF

# data FILE: the document in it
data() { sed -n 's/^<script type="application\/json" id="report">\(.*\)<\/script>$/\1/p' "$1"; }
cluster() {
    emulated || return 1
    "$slipway" run "$chart" --timeout 2s --fail-fast=false >"$tap_dir/o" 2>&1
    [ $? = 3 ] && "$slipway" report late -o "$tap_dir/late.html" && data "$tap_dir/late.html" >"$tap_dir/d" && [ "$(wc -l <"$tap_dir/d")" = 1 ] &&
        python3 - "$tap_dir/d" <<'EOF'
import json, sys
d = json.load(open(sys.argv[1]))
by = {}
for kind, key, object in d["objects"]:
    by.setdefault(kind, {})[key] = object
states = {s["name"]: s["phase"] for s in by["resource"]["/late"]["states"]}
assert states["0000"] == "Ready" and states["0001"] != "Ready", states
assert len(by["node"]) == 5 and "late/never" in by["pod"], by
assert any("the</b> device" in text for text in d["logs"].values()), d["logs"]
EOF
}
t "of a cluster: resources, nodes, pods and the ends of logs" cluster
whole() { # FILE
    local hash
    ! grep -nE '<(script|link|img|iframe)[^>]* (src|href)="?[^d"]' "$1" && ! grep -n '^import \|^export ' "$1" &&
        [ "$(grep -c '</script>' "$1")" = 2 ] || return 1
    hash=$(python3 -c '
import base64, hashlib, re, sys
text = open(sys.argv[1], "rb").read()
for tag in (b"<script type=\"module\">(.*?)</script>", b"<style>(.*?)</style>"):
    print("sha256-" + base64.b64encode(hashlib.sha256(re.search(tag, text, re.S).group(1)).digest()).decode())' "$1")
    grep -qF "content=\"default-src 'none'; script-src '$(sed -n 1p <<<"$hash")'; style-src '$(sed -n 2p <<<"$hash")'; img-src data:; base-uri 'none'; form-action 'none'\"" "$1"
}
t "it is one file, whose policy lets in its own script and style alone" whole "$tap_dir/late.html"
recording() {
    "$slipway" run recipes/nvidia-mig --emulate --delays 0 --record "$tap_dir/a.rec" >/dev/null 2>&1 && "$slipway" report "$tap_dir/a.rec" -o "$tap_dir/rec.html" &&
        whole "$tap_dir/rec.html" && data "$tap_dir/rec.html" | python3 -c '
import json, sys
d = json.load(sys.stdin)
r = [o for kind, key, o in d["objects"] if kind == "resource"]
assert len(r) == 1 and len(r[0]["states"]) == 10 and all(s["phase"] == "Ready" for s in r[0]["states"]), r
assert all(s["startedAt"] <= s["readyAt"] for s in r[0]["states"])
assert sum(o["reason"] == "StateReady" for kind, key, o in d["objects"] if kind == "event") == 10'
}
t "of a recording, without a cluster" recording
output() {
    (cd "$tap_dir" && "$slipway" report && [ -s slipway-report.html ] && [ "$(stat -c %a slipway-report.html)" = 600 ]) &&
        "$slipway" report -o - | cmp -s -n 15 - <(printf '<!doctype html>') && [ "$("$slipway" report -o - | wc -c)" -lt 300000 ]
}
t "to a file that its owner alone can read, or to stdout" output
refused() {
    ! "$slipway" report nothing -o "$tap_dir/x" && [ ! -e "$tap_dir/x" ] && ! "$slipway" report "$chart/Chart.yaml" -o "$tap_dir/x" &&
        ! "$slipway" report ./none.rec -o "$tap_dir/x" 2>"$tap_dir/o" && grep -q '\./none\.rec: ' "$tap_dir/o" &&
        stop emulated && ! "$slipway" report -o "$tap_dir/x" && [ ! -e "$tap_dir/x" ]
}
t "no report of what is not there" refused

browser() {
    python3 test/tools/browser.py "open=file://$tap_dir/late.html" "until=document.querySelector('pre')" \
        "print=[document.title.includes('owned'), document.querySelectorAll('main script, main b').length, document.querySelector('pre').innerText.includes('</script><script>')].join()" \
        "do=location.hash = '#/nodes'" "until=document.querySelectorAll('.rows .node').length === 5" "do=location.hash = '#/slices'" "until=document.querySelector('#gpus')" \
        "open=file://$tap_dir/rec.html" "until=document.querySelectorAll('.timeline .bar').length === 10" >"$tap_dir/o"
    case $? in 0) grep -qx 'false,0,true' "$tap_dir/o" ;; *) cat "$tap_dir/o"; return 1 ;; esac
}
if command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null; then
    t "a browser shows both, without an error or a violation of the policy" browser
else
    skip "a browser shows both" "there is no Chromium (Debian: apt-get install chromium)"
fi
plan
