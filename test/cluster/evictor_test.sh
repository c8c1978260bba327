#!/bin/bash
# slipway-scheduler beside a stock kube-scheduler that gives slices away itself, with a real kubelet, with the account
# and the flags that states/scheduler gives it: two pods of low priority hold a GPU, a more important one
# comes, and gets all of it; once more with the evictor killed between eviction and binding. The GPU is made up.
cd "$(dirname "$0")/../.." || exit 1
. test/tap.sh
. test/slicing_cleared.sh
. test/evictor_steps.sh
mark=$(wc -l <"$dir/log/audit.jsonl")

started_with_priorities() {
    started || return 1
    kubectl create -f - <<'YAML'
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: urgent}
value: 1000
YAML
}
n_low() { kubectl get pods -l app=low -o "jsonpath={range .items[?(@.status.phase==\"Running\")]}{.metadata.name}{\"\\n\"}{end}" | grep -c .; }
low_run() { [ "$(n_low)" = 2 ]; }
filled() { # they are made again when they are evicted, and wait then
    kubectl apply -f - <<'YAML' && until_ok 60 low_run || { kubectl describe pods -l app=low | tail -20; cat "$tap_dir/plugin.log"; return 1; }
apiVersion: apps/v1
kind: Deployment
metadata: {name: low, namespace: default}
spec:
  replicas: 2
  selector: {matchLabels: {app: low}}
  template:
    metadata: {labels: {app: low}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: c, image: "slipway.local/waits:1", imagePullPolicy: Never, resources: {limits: {nvidia.com/mig-3g.20gb: 1}}}]
YAML
}
urgent() { # NAME
    date +%s%N >"$tap_dir/made"
    kubectl create -f - <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1, namespace: default}
spec:
  priorityClassName: urgent
  terminationGracePeriodSeconds: 1
  containers: [{name: c, image: "slipway.local/waits:1", imagePullPolicy: Never, resources: {limits: {nvidia.com/mig-7g.40gb: 1}}}]
YAML
}
is_bound() { [ -n "$(kubectl get pod "$1" -o 'jsonpath={.spec.nodeName}')" ]; }
runs() { [ "$(kubectl get pod "$1" -o 'jsonpath={.status.phase}')" = Running ]; }
evicted() { grep -c 'pod evicted for its devices' "$tap_dir/evictor.log"; }
bound() { # NAME: it, and nobody else; how long that took since it was made
    until_ok 90 is_bound "$1" || { kubectl get pods -o wide; cat "$tap_dir/evictor.log"; return 1; }
    echo $((($(date +%s%N) - $(cat "$tap_dir/made")) / 1000000)) >"$tap_dir/$1-ms"
    until_ok 60 runs "$1" && [ "$(n_low)" = 0 ] && until_ok 30 eval '[ -z "$(kubectl get resourceclaims -l slipway.dev/room-for -o name)" ]'
}
gets_its_room() { urgent first && bound first && [ "$(evicted)" = 2 ]; }
told() {
    kubectl get events >"$tap_dir/events" && grep -q 'Preempting.*pod/first .*evicted default/low-' "$tap_dir/events" &&
        [ "$(grep -c "Preempted.*Preempted by default/first on node $node" "$tap_dir/events")" = 2 ] || { cat "$tap_dir/events"; return 1; }
}
refilled() { kubectl delete pod first && until_ok 90 low_run; }
killed() {
    urgent second && until_ok 30 eval '[ "$(evicted)" = 4 ]' || { cat "$tap_dir/evictor.log"; return 1; }
    is_bound second && return 1
    kill -9 "$(cat "$tap_dir/evictor.pid")" && evictor
}
bound_all_the_same() { bound second && [ "$(evicted)" = 4 ]; }
# What the account was refused, and rights that it has for nothing.
exactly_its_rights() {
    tail -n +"$mark" "$dir/log/audit.jsonl" | grep "\"impersonatedUser\":{\"username\":\"system:serviceaccount:$ns:das-scheduler\"" >"$tap_dir/calls"
    ! grep '"code":403' "$tap_dir/calls" && ! grep -i forbidden "$tap_dir/evictor.log" || return 1
    local right bad=0
    for right in 'watch.*"resource":"resourceslices"' 'watch.*"resource":"deviceclasses"' 'watch.*"resource":"resourceclaims"' 'create.*"resource":"resourceclaims"' \
        'delete.*"resource":"resourceclaims"' 'patch.*"resource":"resourceclaims".*"subresource":"status"' 'patch.*"resource":"pods".*"subresource":"status"' \
        'create.*"resource":"pods".*"subresource":"eviction"' 'create.*"resource":"events"' 'watch.*"resource":"poddisruptionbudgets"' 'watch.*"resource":"pods"' \
        'watch.*"resource":"nodes"' 'watch.*"resource":"allocationclaims"' 'watch.*"resource":"nodeaccelerators"' 'update.*"resource":"leases"'; do
        grep -q "\"verb\":\"$right" "$tap_dir/calls" || { echo "never: $right"; bad=1; }
    done
    return $bad
}
cleared() {
    kubectl delete deployment low; kubectl delete pod second --ignore-not-found
    steps_cleared
}

t "the device plugin serves a GPU, the evictor begins" started_with_priorities
[ $tap_bad = 0 ] || { cleared >/dev/null 2>&1; plan; }
t "two pods of low priority have the GPU" filled
t "a more important pod gets all of it" gets_its_room
t "Events of all three say why" told
t "it goes, and they come back" refilled
t "the evictor is killed after the evictions" killed
t "the pod is bound all the same, and nobody was evicted again" bound_all_the_same
t "its account has the rights that it needs, and uses them" exactly_its_rights
t "nothing is left of it" cleared
for p in first second; do [ ! -s "$tap_dir/$p-ms" ] || echo "# from pod made to bound, $p: $(cat "$tap_dir/$p-ms") ms"; done
plan
