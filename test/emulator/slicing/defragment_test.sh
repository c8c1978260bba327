#!/bin/bash
# Pods that may be moved make room for one that waits: said by an Event and by `slipway slices`, done on request or by
# itself, within budgets, and to the end though slipway-scheduler is killed.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh
slipway=build/test/slipway scheduler=build/test/slipway-scheduler
dir=$(mktemp -d)
export KUBECONFIG=$dir/kubeconfig
trap 'kill $(cat "$dir"/*.pid) 2>/dev/null; rm -rf "$dir" "$tap_dir"' EXIT
"$slipway" emulate --platform kubernetes --kube-version 1.36 --kubeconfig-out "$KUBECONFIG" >"$dir/emulator" 2>&1 &
echo $! >"$dir/emulator.pid"
until_ok 30 kubectl get nodes >/dev/null 2>&1

start() { # HOW [OPTION...]
    $scheduler --port 0 --health-probe-bind-address 127.0.0.1:0 --defragment-after 1s --defragment "$@" 2>>"$dir/log" &
    echo $! >"$dir/scheduler.pid"
}
end() { { kill -9 "$(cat "$dir/scheduler.pid")" && wait "$(cat "$dir/scheduler.pid")"; } 2>/dev/null; }
class() { # PROFILE
    echo "---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: mig-$1.slipway.dev, labels: {slipway.dev/driver: mig.slipway.dev}}
spec:
  extendedResourceName: nvidia.com/mig-$1
  selectors: [{cel: {expression: \"device.driver == 'mig.slipway.dev' && device.attributes['mig.slipway.dev'].profile == '$1'\"}}]"
}
pod() { # NAME PROFILE
    kubectl apply -f - >/dev/null <<YAML
---
{apiVersion: v1, kind: Pod, metadata: {name: $1}, spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/mig-$2: 1}}}]}}
YAML
}
deployment() { # NAME MAY-MOVE
    kubectl apply -f - >/dev/null <<YAML
apiVersion: apps/v1
kind: Deployment
metadata: {name: $1}
spec:
  selector: {matchLabels: {app: $1}}
  template:
    metadata: {labels: {app: $1}, annotations: {slipway.dev/may-move: "$2"}}
    spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/mig-1g.5gb: 1}}}]}
YAML
}
is() { [ "$(kubectl get pod "$1" -o 'jsonpath={.status.phase}')" = "$2" ]; }
of() { kubectl get pods -l "app=$1" -o "jsonpath={.items[0].metadata.$2}"; }
runs() { [ "$(kubectl get pods -l "app=$1" -o 'jsonpath={.items[*].status.phase}')" = Running ]; }
refused() { kubectl get pod "$1" -o 'jsonpath={.status.conditions[?(@.type=="PodScheduled")].message}' | grep -q 'cannot allocate all claims'; }
rooms() { kubectl get resourceclaims -l slipway.dev/room-for -o name; }
n_rooms() { [ "$(rooms | wc -l)" = "$1" ]; }
moved() { grep -c 'pod moved for its devices' "$dir/log"; }
has_moved() { [ "$(moved)" -ge "$1" ]; }
gone() { ! kubectl get pod "$1" >/dev/null 2>&1; }
drop() { kubectl delete pod "$@" --ignore-not-found >/dev/null && for p; do until_ok 20 gone "$p" || return 1; done; }

{
    echo '---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: mig.slipway.dev, labels: {slipway.dev/driver: mig.slipway.dev}}
spec:
  selectors: [{cel: {expression: "device.driver == '"'mig.slipway.dev'"'"}}]
---
apiVersion: v1
kind: Pod
metadata: {name: plugin, labels: {slipway.dev/api: dra}}
spec: {nodeName: gpu-1, containers: [{name: c, image: das, env: [{name: EMULATED_MODE, value: enabled}]}]}'
    for p in 7g.40gb 3g.20gb 2g.10gb 1g.5gb; do class $p; done
} | kubectl apply -f - >"$dir/applied" || cat "$dir/applied"

# One GPU is full; of the other each half has one small slice in it: that of Deployment a, which may be moved, and that of b.
fragment() {
    pod wall 7g.40gb && until_ok 30 is wall Running || return 1
    pod half 3g.20gb && until_ok 20 is half Running || return 1
    deployment a true && until_ok 20 runs a || return 1
    pod quarter 2g.10gb && until_ok 20 is quarter Running || return 1
    pod rest 1g.5gb # where there is one
    until_ok 20 sh -c "kubectl get pod rest -o json | grep -q PodScheduled" || return 1
    drop half || return 1
    deployment b false && until_ok 20 runs b && drop quarter rest || return 1
    of a uid >"$dir/a" && of b uid >"$dir/b"
    pod large 3g.20gb && until_ok 20 refused large
}
said() {
    until_ok 30 sh -c 'kubectl get events | grep -q "DefragmentationAdvised.*pod/large .*fit on node gpu-1 if these pods moved: default/a-[^,]*$"' ||
        { kubectl get events; cat "$dir/log"; return 1; }
    n_rooms 0 && [ "$(of a uid)" = "$(cat "$dir/a")" ] && is large Pending
}
shown() {
    "$slipway" slices >"$dir/table" && cat "$dir/table"
    a=$(of a name)
    grep -q '^NODE  *GPU  *MEMORY  *PROFILE  *STATE  *CLAIM  *POD$' "$dir/table" &&
        grep -q "^gpu-1  *[01]  *0-7  *7g.40gb  *inUse\|^gpu-1  *[01]  *0-7  *7g.40gb  *allocated" "$dir/table" &&
        grep -q "^gpu-1  *[01]  *[0-6]  *1g.5gb .*default/$a\$" "$dir/table" && grep -q "^gpu-1 .* free " "$dir/table" &&
        grep -qx 'default/large waits for 1 x nvidia.com/mig-3g.20gb' "$dir/table" &&
        grep -q "^  would have to move: default/$a to gpu-[01]-mig-1g5gb-[0-6] of node gpu-1\$" "$dir/table" &&
        ! grep 'would have to move: default/b' "$dir/table"
}
shown_as_json() {
    "$slipway" slices gpu-1 -o json >"$dir/json" && cat "$dir/json"
    jq -e '(.gpus | length == 2 and all(.node == "gpu-1" and .by == "ResourceClaims" and .memorySlices == 8))
           and ([.gpus[].slices[].profile] | sort == ["1g.5gb", "1g.5gb", "7g.40gb"])
           and (.waiting[0] | .pod == "default/large" and .node == "gpu-1" and (.move | length == 1 and .[0].mayMove))' "$dir/json"
}
no_such_node() {
    "$slipway" slices no-such -o json >"$dir/json" 2>/dev/null
    [ $? = 2 ] && jq -e '.exit == 2 and (.message | contains("nodes \"no-such\" not found"))' "$dir/json"
}
drawn() {
    "$slipway" slices -o drawing >"$dir/drawing" && cat "$dir/drawing"
    grep -q '^node gpu-1, GPU 0: ' "$dir/drawing" && grep -q '^  |7g.40gb  *|$' "$dir/drawing" && grep -q '|1g.5gb  |\.\.\.' "$dir/drawing"
}
budget() { # MIN-AVAILABLE
    kubectl apply -f - >/dev/null <<YAML
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: {minAvailable: $1, selector: {matchLabels: {app: a}}}}
YAML
}
protected() {
    budget 1 && patch_status /apis/policy/v1/namespaces/default/poddisruptionbudgets/a '{"status": {"disruptionsAllowed": 0, "currentHealthy": 1}}' || return 1
    "$slipway" slices --defragment default/large || return 1
    sleep 6
    n_rooms 0 && [ "$(of a uid)" = "$(cat "$dir/a")" ] && is large Pending &&
        "$slipway" slices | grep "would have to move: default/$(of b name) to gpu-[01]-mig-1g5gb-[0-6] of node gpu-1 (it has no slipway.dev/may-move)"
}
killed() {
    kubectl delete pdb a >/dev/null
    "$slipway" slices --defragment default/large
    until_ok 40 n_rooms 1 || { cat "$dir/log"; return 1; }
    end
    "$slipway" slices | grep "  kept  .*for default/large" || return 1
    start advise
    until_ok 40 has_moved 1 || { cat "$dir/log"; return 1; }
    end
    start advise
}
bound() {
    until_ok 60 is large Running || { kubectl get pods; cat "$dir/log"; return 1; }
    until_ok 20 n_rooms 0 && until_ok 20 runs a && runs b && [ "$(moved)" = 1 ] &&
        [ "$(of a uid)" != "$(cat "$dir/a")" ] && [ "$(of b uid)" = "$(cat "$dir/b")" ]
}
told() {
    kubectl get events | grep -q 'Defragmenting.*pod/large .*node gpu-1: evicted default/a-' &&
        kubectl get events | grep -q 'Moved.*pod/a-.*so that default/large gets its devices on node gpu-1'
}
by_itself() {
    end
    kubectl delete deployment a b >/dev/null
    drop large wall && until_ok 30 sh -c 'kubectl get pods -o name | grep -qx pod/plugin && [ "$(kubectl get pods -o name | wc -l)" = 1 ]' || return 1
    fragment || return 1
    start move
    until_ok 60 is large Running || { kubectl get pods; cat "$dir/log"; return 1; }
    until_ok 20 runs a && [ "$(moved)" = 2 ] && [ "$(of b uid)" = "$(cat "$dir/b")" ]
}
not_waiting() {
    ! "$slipway" slices --defragment default/large 2>"$dir/err" && grep -q "pod 'default/large' does not wait: it is on node gpu-1" "$dir/err"
}
t "two small slices lie so that a large one does not fit" fragment
start move --defragment-at "$(date -u -d '2 hours' +%H:%M)-$(date -u -d '3 hours' +%H:%M)"
t "at another time of day an Event of the pod that waits says what would have to move, and nothing moves" said
t "slipway slices shows who has what, and what would have to move" shown
t "slipway slices -o json, of one node" shown_as_json
t "slipway slices of a node that is not there fails" no_such_node
t "slipway slices -o drawing" drawn
t "a PodDisruptionBudget forbids what is asked for" protected
t "room is made on request, while slipway-scheduler is killed, and killed again" killed
t "the pod is bound, one pod was moved, and the one that does not opt in has stayed" bound
t "Events of both pods say why" told
t "--defragment move moves by itself" by_itself
t "a pod that does not wait is no case for --defragment" not_waiting
plan
