# The page's slices where kube-scheduler gives them out: what it is told is what `slipway slices` says, as it changes.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/test/slipway}")
export KUBECONFIG=$tap_dir/kubeconfig
trap 'for p in "$tap_dir"/*.pid; do [ ! -f "$p" ] || kill "$(cat "$p")" 2>/dev/null; done; rm -rf "$tap_dir"' EXIT

class() { # NAME EXPRESSION RESOURCE
    echo "---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: $1.slipway.dev, labels: {slipway.dev/driver: mig.slipway.dev}}
spec:
  extendedResourceName: $3
  selectors: [{cel: {expression: \"device.driver == 'mig.slipway.dev' && device.attributes['mig.slipway.dev'].$2\"}}]"
}
pod() { # NAME RESOURCE [ANNOTATIONS]
    echo "---
{apiVersion: v1, kind: Pod, metadata: {name: $1, annotations: {${3:-}}}, spec: {containers: [{name: c, image: i, resources: {limits: {$2: 1}}}]}}"
}
snapshot() { curl -s -m 20 -H "Authorization: Bearer $token" "$url/api/snapshot" >"$tap_dir/snapshot"; }
page() { snapshot && jq "[.objects[] | select(.[0] == \"$1\")]" "$tap_dir/snapshot"; }
# what the page has of the kind is what the command says
agrees() {
    "$slipway" slices -o json | jq -S '{gpus, waiting}' >"$tap_dir/said" && snapshot &&
        jq -S '{gpus: [.objects[] | select(.[0] == "gpu") | .[2]] | sort_by(.node, .gpu), waiting: [.objects[] | select(.[0] == "waiting") | .[2]] | sort_by(.pod)}' "$tap_dir/snapshot" >"$tap_dir/shown" &&
        jq -S '.waiting |= sort_by(.pod)' "$tap_dir/said" | cmp -s - "$tap_dir/shown"
}

none() {
    emulated --kube-version 1.36 --platform kubernetes --listen 127.0.0.1:0 || return 1
    "$slipway" dashboard --no-open >"$tap_dir/page.url" 2>"$tap_dir/page.log" </dev/null &
    echo $! >"$tap_dir/page.pid"
    until_ok 30 test -s "$tap_dir/page.url" || return 1
    url=$(cat "$tap_dir/page.url") && token=${url#*#token=} url=${url%%/#*}
    until_ok 10 agrees && [ "$(page gpu)" = '[]' ]
}
t "a cluster whose nodes publish nothing" none
url=$(cat "$tap_dir/page.url") && token=${url#*#token=} url=${url%%/#*}

published() {
    {
        class mig-7g.40gb "profile == '7g.40gb'" nvidia.com/mig-7g.40gb
        class mig-1g.5gb "profile == '1g.5gb'" nvidia.com/mig-1g.5gb
        echo '---
{apiVersion: v1, kind: Pod, metadata: {name: plugin, labels: {slipway.dev/api: dra}}, spec: {nodeName: gpu-1, containers: [{name: c, image: das, env: [{name: EMULATED_MODE, value: enabled}]}]}}'
    } | kubectl apply -f - && until_ok 20 eval 'page gpu | jq -e "length == 2 and all(.[]; .[2].by == \"ResourceClaims\" and .[2].memorySlices == 8 and .[2].slices == [])"' &&
        until_ok 10 agrees
}
t "GPUs come when a node publishes them, while the page is open" published
held() {
    pod small-a nvidia.com/mig-1g.5gb | kubectl apply -f - && until_ok 20 eval 'kubectl get pod small-a | grep -q Running' &&
        pod large nvidia.com/mig-7g.40gb | kubectl apply -f - && until_ok 20 eval 'kubectl get pod large | grep -q Running' &&
        until_ok 10 eval 'page gpu | jq -e "[.[][2].slices[].pods[]] | sort == [\"default/large\", \"default/small-a\"]"' && until_ok 10 agrees
}
t "who holds which memory slices" held
waits() {
    pod later nvidia.com/mig-7g.40gb | kubectl apply -f - && until_ok 20 eval 'page waiting | jq -e "length == 1 and .[0][1] == \"default/later\" and .[0][2].asksFor == [\"1 x nvidia.com/mig-7g.40gb\"] and (.[0][2].message | contains(\"cannot allocate all claims\")) and (.[0][2].why | length > 0)"' &&
        until_ok 10 agrees
}
t "a pod that waits, in kube-scheduler's words, and why" waits
moves() {
    kubectl delete pod large later small-a --now && {
        # fixed on one GPU, so that there is no room for the large one there
        echo "---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: fixed}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: mig-1g.5gb.slipway.dev, selectors: [{cel: {expression: \"device.attributes['mig.slipway.dev'].index == 1\"}}]}}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: fixed}
spec: {resourceClaims: [{name: gpu, resourceClaimName: fixed}], containers: [{name: c, image: i, resources: {claims: [{name: gpu}]}}]}"
        pod small nvidia.com/mig-1g.5gb
    } | kubectl apply -f - && until_ok 20 eval '[ "$(kubectl get pods --no-headers | grep -cE "^(fixed|small) .* Running ")" = 2 ]' &&
        pod later nvidia.com/mig-7g.40gb | kubectl apply -f - &&
        until_ok 20 eval 'page waiting | jq -e ".[0][2].move[0] | .pod == \"default/small\" and .mayMove == false and (.to | startswith(\"gpu-1-mig-1g5gb-\"))"' && until_ok 10 agrees
}
t "what would have to move for it" moves
report() {
    "$slipway" report -o "$tap_dir/report.html" && sed -n 's/.*id="report">\(.*\)<\/script>$/\1/p' "$tap_dir/report.html" >"$tap_dir/report.json" &&
        jq -e '[.objects[] | select(.[0] == "gpu") | .[2].slices[].pods[]] | length == 2' "$tap_dir/report.json"
}
t "a report has them, too" report
gone() {
    kubectl delete resourceslices --all && kubectl delete pods --all --now && until_ok 20 eval 'page gpu | jq -e "length == 0"' && ! grep Sanitizer "$tap_dir/page.log"
}
t "GPUs that are not published any more go" gone
plan
