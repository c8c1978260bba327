#!/bin/bash
# slipway-scheduler beside a kube-scheduler that gives slices away itself: a more important pod gets
# its room, kept for it until it is bound.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh
slipway=build/test/slipway scheduler=build/test/slipway-scheduler
dir=$(mktemp -d)
export KUBECONFIG=$dir/kubeconfig
trap 'kill $(cat "$dir"/*.pid) 2>/dev/null; rm -rf "$dir" "$tap_dir"' EXIT
"$slipway" emulate --platform kubernetes --kube-version 1.36 --kubeconfig-out "$KUBECONFIG" >"$dir/emulator" 2>&1 &
echo $! >"$dir/emulator.pid"
until_ok 30 kubectl get nodes >/dev/null 2>&1

start() {
    $scheduler --port 0 --health-probe-bind-address 127.0.0.1:0 2>>"$dir/log" &
    echo $! >"$dir/scheduler.pid"
}
class() { # NAME EXPRESSION [RESOURCE]
    echo "---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: $1.slipway.dev, labels: {slipway.dev/driver: mig.slipway.dev}}
spec:
  ${3:+extendedResourceName: $3}
  selectors: [{cel: {expression: \"device.driver == 'mig.slipway.dev' && device.attributes['mig.slipway.dev'].$2\"}}]"
}
pod() { # NAME PRIORITY-CLASS RESOURCE
    echo "---
{apiVersion: v1, kind: Pod, metadata: {name: $1}, spec: {priorityClassName: $2, containers: [{name: c, image: i, resources: {limits: {$3: 1}}}]}}"
}
phase() { kubectl get pod "$1" -o 'jsonpath={.status.phase}'; }
is() { [ "$(phase "$1")" = "$2" ]; }
rooms() { kubectl get resourceclaims -l slipway.dev/room-for -o name; }
n_rooms() { [ "$(rooms | wc -l)" = "$1" ]; }
n_running() { [ "$(kubectl get pods -l app=low --no-headers | grep -c ' Running ')" = "$1" ]; }
evicted() { grep -c 'pod evicted for its devices' "$dir/log"; }

{
    class mig "type == 'mig'"
    class mig-7g.40gb "profile == '7g.40gb'" nvidia.com/mig-7g.40gb
    class mig-3g.20gb "profile == '3g.20gb'" nvidia.com/mig-3g.20gb
    cat <<YAML
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: low}, value: 1}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 10}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: polite}, value: 10, preemptionPolicy: Never}
---
apiVersion: v1
kind: Pod
metadata: {name: plugin, labels: {slipway.dev/api: dra}}
spec: {nodeName: gpu-1, containers: [{name: c, image: das, env: [{name: EMULATED_MODE, value: enabled}]}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: low}
spec:
  replicas: 3
  selector: {matchLabels: {app: low}}
  template:
    metadata: {labels: {app: low}}
    spec: {priorityClassName: low, containers: [{name: c, image: i, resources: {limits: {nvidia.com/mig-7g.40gb: 1}}}]}
YAML
} | kubectl apply -f - >"$dir/applied" || cat "$dir/applied"

filled() { until_ok 30 n_running 2; }
polite() {
    pod polite polite nvidia.com/mig-3g.20gb | kubectl apply -f - >/dev/null
    sleep 6
    is polite Pending && [ "$(evicted)" = 0 ] && kubectl delete pod polite --wait=false >/dev/null
}
room_is_kept() {
    pod high high nvidia.com/mig-7g.40gb | kubectl apply -f - >/dev/null
    until_ok 30 n_rooms 1 || { cat "$dir/log"; return 1; }
    kubectl get "$(rooms)" -o 'jsonpath={.metadata.ownerReferences[0].name} {.status.allocation.devices.results[*].pool}' | grep -qx 'high slipway/gpu-1' &&
        [ "$(kubectl get pod high -o 'jsonpath={.status.nominatedNodeName}')" = gpu-1 ]
}
killed() {
    until_ok 20 sh -c "grep -q 'pod evicted for its devices' $dir/log" || return 1
    { kill -9 "$(cat "$dir/scheduler.pid")" && wait "$(cat "$dir/scheduler.pid")"; } 2>/dev/null
    start
}
bound() {
    until_ok 60 is high Running || { kubectl get pods; cat "$dir/log"; return 1; }
    until_ok 20 n_rooms 0 && [ "$(evicted)" = 1 ] && n_running 1
}
told() {
    kubectl get events | grep -q 'Preempting.*pod/high .*evicted default/low' &&
        kubectl get events | grep -q 'Preempted.*Preempted by default/high on node gpu-1'
}
start
t "two pods of low priority have the GPUs, a third waits" filled
t "a pod with preemptionPolicy Never waits, too" polite
t "a more important pod gets its room kept" room_is_kept
t "slipway-scheduler is killed after the eviction" killed
t "the pod is bound all the same, one pod was evicted, and nothing is kept any more" bound
t "Events of both pods say why" told
plan
