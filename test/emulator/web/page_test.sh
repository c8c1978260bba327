# The page of slipway dashboard in a browser: Debian's Chromium without a window. Pictures of it are left in
# build/test/pictures.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/test/slipway}")
export KUBECONFIG=$tap_dir/kubeconfig
trap 'for p in "$tap_dir"/*.pid; do [ ! -f "$p" ] || kill "$(cat "$p")" 2>/dev/null; done; rm -rf "$tap_dir"' EXIT
if ! command -v chromium >/dev/null && ! command -v chromium-browser >/dev/null && ! command -v google-chrome >/dev/null; then
    skip "the page in a browser" "there is no Chromium (Debian: apt-get install chromium)"
    plan
fi
pictures=build/test/pictures
mkdir -p $pictures

serving() { # NAME ARGUMENTS...
    local name=$1
    shift
    rm -f "$tap_dir/$name.url"
    "$slipway" dashboard --no-open "$@" >"$tap_dir/$name.url" 2>"$tap_dir/$name.log" </dev/null &
    echo $! >"$tap_dir/$name.pid"
    until_ok 30 test -s "$tap_dir/$name.url"
}
browse() { # NAME STEP...
    local name=$1
    shift
    python3 test/tools/browser.py "open=$(cat "$tap_dir/$name.url")" "$@" | tee "$tap_dir/o"
    return "${PIPESTATUS[0]}"
}
text="(document.body?.innerText ?? '')"
sees() { printf 'until=%s.includes(%s)' "$text" "\"$1\""; }

broken=$tap_dir/broken
mkdir -p "$broken/templates"
printf 'apiVersion: v2\nname: broken\nversion: 0.1.0\nannotations: {slipway.dev/wait: all}\n' >"$broken/Chart.yaml"
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n' >"$broken/templates/0000-settings.yaml"
cat >"$broken/templates/0001-driver.yaml" <<'EOF'
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: driver}
spec:
  selector: {matchLabels: {app: driver}}
  template:
    metadata:
      labels: {app: driver}
      annotations:
        emulator.slipway.dev/run: 50ms
        emulator.slipway.dev/exit-code: "1"
        emulator.slipway.dev/log: "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>\n\x1b[31mUnable to find a match: kernel-devel\u202e\nerror: build error\n"
    spec:
      containers: [{name: driver, image: "registry.example/driver:1"}]
EOF
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plugin}\n' >"$broken/templates/0002-plugin.yaml"

culprit() {
    serving broken --emulate --delays 0.2 "$broken" &&
        browse broken "$(sees 'container driver')" "$(sees 'Unable to find a match')" "$(sees '2 restarts')" \
            "print=[...document.querySelectorAll('h2')].map((h) => h.innerText).join()" "shot-all=$pictures/broken.png" &&
        grep -q '^Resources,What it waits for,States,Timeline,History$' "$tap_dir/o"
}
t "a broken walk: the culprit with its log before everything else" culprit
hostile() {
    browse broken "$(sees '<img src=x onerror=')" "$(sees '<script>document.title')" \
        "print=[document.querySelectorAll('main img, main script').length, document.title.includes('owned'), $text.includes('\\\\x1b[31m'), $text.includes('\\\\u202e'), /[\\u001b\\u202e]/.test($text)].join()" &&
        grep -qx '0,false,true,true,false' "$tap_dir/o"
}
t "markup and escapes in a log are shown as text" hostile
keys() {
    browse broken "until=document.querySelectorAll('.graph a').length === 3" "do=document.querySelector('.graph a').focus()" key=Tab \
        "print=document.activeElement.getAttribute('data-key')" key=Enter "$(sees 'State 0001')" "print=location.hash" \
        "do=new Promise((done) => setTimeout(done, 2500))" "print=document.activeElement.getAttribute('data-key')" &&
        [ "$(paste -sd' ' "$tap_dir/o")" = '0001 #/r/broken/0001 0001' ]
}
t "the keyboard leads to a state, and keeps its place when the page changes" keys
names() {
    browse broken "until=document.querySelectorAll('.graph a').length === 3" \
        "print=[...document.querySelectorAll('a, button, input, select, [tabindex=\"0\"], svg[role]')].filter((e) => !(e.getAttribute('aria-label') || e.closest('label') || e.innerText)).length" \
        "print=document.querySelector('[role=status]') !== null && document.documentElement.lang" \
        "print=document.querySelector('.graph a').getAttribute('aria-label')" &&
        [ "$(sed -n 1p "$tap_dir/o")" = 0 ] && [ "$(sed -n 2p "$tap_dir/o")" = en ] && grep -qx '0000: Ready' "$tap_dir/o"
}
t "what can be reached has a name for a screen reader" names
narrow() {
    browse broken "until=document.querySelectorAll('.graph a').length === 3" size=360x740 "until=innerWidth === 360" \
        "do=new Promise((done) => setTimeout(done, 300))" "print=document.documentElement.scrollWidth <= 360" "shot=$pictures/phone.png" &&
        grep -qx true "$tap_dir/o"
}
t "a phone's width is enough" narrow
dark() {
    browse broken "until=document.querySelector('.card')" media=dark "print=getComputedStyle(document.body).backgroundColor" "shot=$pictures/dark.png" \
        media=light "print=getComputedStyle(document.body).backgroundColor" && [ "$(sort -u "$tap_dir/o" | wc -l)" = 2 ]
}
t "dark where the reader prefers it" dark
stop broken

finished() {
    serving walk --emulate --delays 4 recipes/nvidia-mig &&
        browse walk "until=document.querySelector('.graph .good') && document.querySelector('.graph .busy')" "shot-all=$pictures/half.png" \
            "$(sees 'Everything is ready')" "print=document.querySelectorAll('.graph a.good').length" "print=document.querySelectorAll('.timeline .bar').length" \
            "shot-all=$pictures/finished.png" && [ "$(paste -sd' ' "$tap_dir/o")" = '10 10' ]
}
t "a walk from its middle to its end, without a reload" finished
nodes() {
    browse walk "$(sees 'Everything is ready')" "do=document.querySelector('nav a[href=\"#/nodes\"]').click()" "until=document.querySelectorAll('.rows .node').length === 5" \
        "do=(() => { const e = document.querySelector('[data-input=filter]'); e.value = 'gpu'; e.dispatchEvent(new Event('input', { bubbles: true })); })()" \
        "until=document.querySelectorAll('.rows .node').length === 3" "print=document.querySelectorAll('.rows .cell.good').length" "$(sees '3 of 5 nodes')" \
        "do=(() => { const e = document.querySelector('[data-input=group]'); e.value = 'kernelVersion'; e.dispatchEvent(new Event('input', { bubbles: true })); })()" \
        "until=document.querySelectorAll('.rows .group').length > 0" "shot=$pictures/nodes.png" && grep -qx 30 "$tap_dir/o"
}
t "nodes and states: filter and groups" nodes
stop walk

slices() {
    emulated --listen 127.0.0.1:0 && kubectl apply -f states/scheduler/crds && established crd/nodeaccelerators.inference.redhat.com &&
        established crd/allocationclaims.inference.redhat.com && kubectl create namespace das-operator && serving real || return 1
    kubectl apply -f - <<'EOF' || return 1
apiVersion: inference.redhat.com/v1alpha1
kind: NodeAccelerator
metadata: {name: gpu-0, namespace: das-operator}
spec: {acceleratorType: nvidia-mig}
---
apiVersion: inference.redhat.com/v1alpha1
kind: AllocationClaim
metadata: {name: a, namespace: das-operator}
spec: {profile: 3g.20gb, podRef: {kind: Pod, namespace: team, name: train-0, uid: a}, gpuUUID: GPU-1, nodename: gpu-0, migPlacement: {start: 4, size: 4}}
---
apiVersion: inference.redhat.com/v1alpha1
kind: AllocationClaim
metadata: {name: b, namespace: das-operator}
spec: {profile: 3g.20gb, podRef: {kind: Pod, namespace: team, name: train-1, uid: b}, gpuUUID: GPU-2, nodename: gpu-0, migPlacement: {start: 0, size: 4}}
---
apiVersion: v1
kind: Pod
metadata: {name: later}
spec: {schedulerName: slipway-scheduler, containers: [{name: c, image: x, resources: {limits: {mig.das.com/7g.40gb: "1"}}}]}
EOF
    patch_status /apis/inference.redhat.com/v1alpha1/namespaces/das-operator/nodeaccelerators/gpu-0 \
        '{"status":{"conditions":[{"type":"Ready","status":"True","reason":"GPUsAccessible","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}],"nodeResources":{"nodeGpus":[{"gpuUuid":"GPU-1","gpuName":"A100","gpuMemory":"40960Mi"},{"gpuUuid":"GPU-2","gpuName":"A100","gpuMemory":"40960Mi"}],"migPlacement":{"7g.40gb":{"placements":[{"size":8,"start":0}]},"3g.20gb":{"placements":[{"size":4,"start":0},{"size":4,"start":4}]}}}}}' &&
        patch_status /api/v1/namespaces/default/pods/later '{"status":{"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"1 gpu-0: room for 0 of 1 x 7g.40gb; would fit if these moved: team/train-0 (3g.20gb) to another GPU of the node"}]}}' &&
        browse real "$(sees 'no SpecialResource')" "do=document.querySelector('nav a[href=\"#/slices\"]').click()" "until=document.querySelector('.slice')" \
            "print=document.querySelector('.slice').getAttribute('aria-label')" "print=document.querySelector('.slice rect').getAttribute('x')" "$(sees 'default/later')" \
            "$(sees '1 × mig.das.com/7g.40gb')" "$(sees '4 of 8 memory slices taken')" \
            "$(sees 'would fit if these moved: team/train-0 (3g.20gb) to another GPU of the node')" "shot=$pictures/slices.png" &&
        [ "$(paste -sd' ' "$tap_dir/o")" = '3g.20gb of team/train-0, created, memory slices 4 to 7 258' ]
}
t "slices as they lie, and who waits" slices

restarted() {
    local port before
    port=$(kubectl config view --minify -o 'jsonpath={.clusters[0].cluster.server}')
    port=${port##*:}
    before=$(cat "$tap_dir/emulated.pid")
    (until_ok 20 test -e "$tap_dir/opened" && stop emulated && until_ok 20 test -e "$tap_dir/told" && emulated --listen "127.0.0.1:$port") >/dev/null 2>&1 &
    python3 test/tools/browser.py "open=$(cat "$tap_dir/real.url")" "$(sees '✓ live')" "do=location.hash = '#/nodes'" "until=document.querySelectorAll('.rows .node').length === 5" \
        "touch=$tap_dir/opened" "$(sees 'the API server does not answer')" "touch=$tap_dir/told" "until=!$text.includes('does not answer')" "$(sees '✓ live')" \
        "until=document.querySelectorAll('.rows .node').length === 5" && wait && [ "$(cat "$tap_dir/emulated.pid")" != "$before" ]
}
t "the API server's restart: said, and then live again" restarted
refused() {
    browse real "until=document.querySelector('nav')" "do=sessionStorage.setItem('token', 'x')" "do=location.reload()" "$(sees 'The token of this page is not known')" forgive=401 &&
        stop real && kill -0 "$(cat "$tap_dir/emulated.pid")"
}
t "without its token the page says what to do" refused

claims() {
    stop emulated && emulated --listen 127.0.0.1:0 --kube-version 1.36 && kubectl apply -f - <<'EOF' && serving claims || return 1
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: mig-7g.40gb.slipway.dev, labels: {slipway.dev/driver: mig.slipway.dev}}
spec: {extendedResourceName: nvidia.com/mig-7g.40gb, selectors: [{cel: {expression: "device.driver == 'mig.slipway.dev' && device.attributes['mig.slipway.dev'].profile == '7g.40gb'"}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: plugin, labels: {slipway.dev/api: dra}}
spec: {nodeName: gpu-1, containers: [{name: c, image: das, env: [{name: EMULATED_MODE, value: enabled}]}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: train}
spec:
  replicas: 3
  selector: {matchLabels: {app: train}}
  template: {metadata: {labels: {app: train}}, spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/mig-7g.40gb: 1}}}]}}
EOF
    browse claims "$(sees 'no SpecialResource')" "do=document.querySelector('nav a[href=\"#/slices\"]').click()" "until=document.querySelectorAll('.slice').length === 2" "$(sees '8 of 8 memory slices taken, by ResourceClaims')" \
        "$(sees '1 × nvidia.com/mig-7g.40gb')" "$(sees 'cannot allocate all claims')" "until=document.querySelector('td .quiet')" \
        "print=document.querySelector('.slice').getAttribute('aria-label').replace(/train-[^,]*/, 'POD')" "print=document.querySelector('td .quiet').innerText" "shot=$pictures/claims.png" &&
        grep -qE '^7g.40gb of default/POD, (allocated|inUse), memory slices 0 to 7$' "$tap_dir/o" && [ "$(wc -l <"$tap_dir/o")" = 2 ] && [ -n "$(tail -n 1 "$tap_dir/o")" ] && stop claims
}
t "slices that kube-scheduler gives out, and why a pod waits" claims
plan
