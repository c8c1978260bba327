#!/bin/bash
# Beside a stock kube-scheduler and a real kubelet: pods that opt in are moved so that one that waits gets its slice. Of
# one GPU, made up, each half has a small slice in it: that of Deployment a, which may be moved, and that of b, which may not.
cd "$(dirname "$0")/../.." || exit 1
. test/tap.sh
. test/slicing_cleared.sh
. test/evictor_steps.sh

rest() { # PROFILE: the rest of what a pod of this test is
    echo "terminationGracePeriodSeconds: 1, containers: [{name: c, image: 'slipway.local/waits:1', imagePullPolicy: Never, resources: {limits: {nvidia.com/mig-$1: 1}}}]"
}
pod() { # NAME PROFILE
    printf -- '---\n%s\n' "{apiVersion: v1, kind: Pod, metadata: {name: $1, namespace: default}, spec: {$(rest "$2")}}" | kubectl apply -f -
}
deployment() { # NAME MAY-MOVE
    kubectl apply -f - <<YAML
apiVersion: apps/v1
kind: Deployment
metadata: {name: $1, namespace: default}
spec:
  selector: {matchLabels: {app: $1}}
  template:
    metadata: {labels: {app: $1}, annotations: {slipway.dev/may-move: "$2"}}
    spec: {$(rest 1g.5gb)}
YAML
}
is() { [ "$(kubectl get pod "$1" -o 'jsonpath={.status.phase}')" = "$2" ]; }
runs() { [ "$(kubectl get pods -l "app=$1" -o 'jsonpath={.items[*].status.phase}')" = Running ]; }
of() { kubectl get pods -l "app=$1" -o "jsonpath={.items[0].metadata.$2}"; }
gone() { ! kubectl get pod "$1" >/dev/null 2>&1; }
drop() { kubectl delete pod "$@" && for p; do until_ok 30 gone "$p" || return 1; done; }
moved() { grep -c 'pod moved for its devices' "$tap_dir/evictor.log"; }
fragmented() {
    pod half 3g.20gb && until_ok 60 is half Running && deployment a true && until_ok 60 runs a && pod quarter 2g.10gb && until_ok 60 is quarter Running || return 1
    pod other 1g.5gb && until_ok 60 is other Running && drop half && deployment b false && until_ok 60 runs b && drop quarter other || return 1
    of a uid >"$tap_dir/a" && of b uid >"$tap_dir/b" && "$slipway" slices
}
makes_room() {
    date +%s%N >"$tap_dir/made"
    pod large 3g.20gb && until_ok 90 is large Running || { kubectl get pods -o wide; "$slipway" slices; cat "$tap_dir/evictor.log"; return 1; }
    echo $((($(date +%s%N) - $(cat "$tap_dir/made")) / 1000000)) >"$tap_dir/ms"
}
comes_back() {
    until_ok 60 runs a && [ "$(of a uid)" != "$(cat "$tap_dir/a")" ] && [ "$(of b uid)" = "$(cat "$tap_dir/b")" ] && [ "$(moved)" = 1 ] &&
        until_ok 30 eval '[ -z "$(kubectl get resourceclaims -l slipway.dev/room-for -o name)" ]'
}
told() {
    kubectl get events >"$tap_dir/events" && grep -q "Defragmenting.*pod/large .*node $node: evicted default/a-" "$tap_dir/events" &&
        grep -q "Moved.*pod/a-.*so that default/large gets its devices on node $node" "$tap_dir/events" || { cat "$tap_dir/events"; return 1; }
}
cleared() {
    kubectl delete deployment a b && kubectl delete pod large half quarter other --ignore-not-found
    steps_cleared
}

begun() { started --defragment move --defragment-after 3s; }
t "the device plugin serves a GPU, the defragmenter begins" begun
[ $tap_bad = 0 ] || { cleared >/dev/null 2>&1; plan; }
t "two small slices lie so that a large one does not fit" fragmented
[ $tap_bad = 0 ] || { cleared >/dev/null 2>&1; plan; }
t "a pod with a large one waits, and gets it" makes_room
t "the pod that opts in was moved, and the other one has stayed" comes_back
t "Events of both pods say why" told
t "nothing is left of it" cleared
[ ! -s "$tap_dir/ms" ] || echo "# from pod made to running, after 3 s of waiting: $(cat "$tap_dir/ms") ms"
plan
