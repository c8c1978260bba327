#!/bin/bash
# slipway-scheduler beside a kube-scheduler that gives slices away itself, with the flags, the account and
# the rights that states/scheduler gives it there: a more important pod gets its room, kept for it until it is bound.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh
slipway=build/test/slipway scheduler=build/test/slipway-scheduler
dir=$(mktemp -d)
export KUBECONFIG=$dir/kubeconfig
trap 'kill $(cat "$dir"/*.pid) 2>/dev/null; rm -rf "$dir" "$tap_dir"' EXIT
"$slipway" emulate --platform kubernetes --kube-version 1.36 --authorization rbac --kubeconfig-out "$KUBECONFIG" >"$dir/emulator" 2>&1 &
echo $! >"$dir/emulator.pid"
until_ok 30 kubectl get nodes >/dev/null 2>&1
api=$(head -n 1 "$dir/emulator") ns=das-operator

state() { "$slipway" render states/scheduler --namespace $ns --kube-version v1.36.0 -a resource.k8s.io/v1 --show-only "templates/$1.yaml"; }
rights() { # [SED]: those of the state, changed
    state rbac | sed "${1:-}" | kubectl apply -f - >"$dir/applied" || { cat "$dir/applied"; return 1; }
}
# kubectl sends no token where there is no TLS; the program does
account() {
    curl -sf -X POST -H 'Content-Type: application/json' -d '{"spec":{"expirationSeconds":86400}}' \
        "$api/api/v1/namespaces/$ns/serviceaccounts/das-scheduler/token" | sed -n 's/.*"token":"\([^"]*\)".*/\1/p' >"$dir/token" && [ -s "$dir/token" ] &&
        sed "s/  user: {}/  user: {token: \"$(cat "$dir/token")\"}/" "$KUBECONFIG" >"$dir/account"
}
flags() { # of the state, but for the ports
    state deployment | sed -n '/^        args:$/,/^        env:$/s/^        - \(--.*\)/\1/p' | sed 's/\(-bind-address\)=.*/\1=127.0.0.1:0/'
}
start() {
    # shellcheck disable=SC2046
    KUBECONFIG=$dir/account $scheduler $(flags) --port=0 2>>"$dir/log" &
    echo $! >"$dir/scheduler.pid"
}
deployed() {
    kubectl create namespace $ns && kubectl apply -f states/scheduler/crds && rights && account && start && until_ok 20 grep -q ' listening' "$dir/log" &&
        until_ok 20 curl -sf "http://127.0.0.1:$(sed -n 's/.* listening .* health=\([0-9]*\).*/\1/p' "$dir/log")/readyz" &&
        until_ok 20 eval 'kubectl -n $ns get lease slipway-scheduler -o "jsonpath={.spec.holderIdentity}" | grep -q .' || { cat "$dir/log"; return 1; }
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
collected() { # what the device plugin had promised to a pod that is gone
    kubectl apply -f - <<YAML && until_ok 20 eval '! kubectl -n $ns get allocationclaim promised 2>/dev/null' || { cat "$dir/log"; return 1; }
apiVersion: inference.redhat.com/v1alpha1
kind: AllocationClaim
metadata: {name: promised, namespace: $ns}
spec: {profile: 1g.5gb, nodename: gpu-1, gpuUUID: GPU-1, migPlacement: {start: 0, size: 1}, podRef: {kind: Pod, namespace: default, name: gone, uid: gone}}
YAML
}
no_room() { # POD SED: with one right less nobody is evicted, and the log says which
    local mark
    mark=$(wc -l <"$dir/log")
    rights "$2" && pod "$1" high nvidia.com/mig-7g.40gb | kubectl apply -f - >/dev/null || return 1
    until_ok 30 eval 'tail -n +$((mark + 1)) "$dir/log" | grep "room cannot be kept, no pod is evicted for it" | grep -q "'"$3"'"' || { cat "$dir/log"; return 1; }
    [ "$(evicted)" = 0 ] && kubectl delete pod "$1" --wait=false && until_ok 20 n_rooms 0
}
late_right() { # one that is missing is told once, and tried for again
    local mark
    mark=$(wc -l <"$dir/log")
    refusals() { tail -n +$((mark + 1)) "$dir/log" | grep -c 'room cannot be kept.* pod=late '; }
    rights 's/ resourceclaims\/binding/ none/' && pod late high nvidia.com/mig-7g.40gb | kubectl apply -f - >/dev/null && until_ok 30 eval '[ "$(refusals)" = 1 ]' || { cat "$dir/log"; return 1; }
    sleep 17 # the next time has come
    [ "$(refusals)" = 1 ] && [ "$(kubectl get events | grep -c 'PreemptionRefused.*pod/late .*resourceclaims/binding')" = 1 ] && rights && until_ok 30 n_rooms 1 ||
        { kubectl get events; cat "$dir/log"; return 1; }
    until_ok 90 is late Running && kubectl delete pod late --wait=false && until_ok 60 n_running 2 && until_ok 20 n_rooms 0 || { kubectl get pods; cat "$dir/log"; return 1; }
}
is_kept() {
    kubectl get "$(rooms)" -o 'jsonpath={.metadata.ownerReferences[0].name} {.status.allocation.devices.results[*].pool}' | grep -qx 'high slipway/gpu-1' &&
        [ "$(kubectl get pod high -o 'jsonpath={.status.nominatedNodeName}')" = gpu-1 ]
}
room_is_kept() {
    rights && wc -l <"$dir/log" >"$dir/granted" && pod high high nvidia.com/mig-7g.40gb | kubectl apply -f - >/dev/null || return 1
    until_ok 30 n_rooms 1 && until_ok 10 is_kept || { cat "$dir/log"; return 1; }
}
killed() {
    until_ok 20 sh -c "grep -q 'pod evicted for its devices.* for=high ' $dir/log" || return 1
    { kill -9 "$(cat "$dir/scheduler.pid")" && wait "$(cat "$dir/scheduler.pid")"; } 2>/dev/null
    start
}
bound() {
    until_ok 90 is high Running || { kubectl get pods; cat "$dir/log"; return 1; }
    until_ok 20 n_rooms 0 && [ "$(evicted)" = 2 ] && n_running 1
}
told() {
    kubectl get events | grep -q 'Preempting.*pod/high .*evicted default/low' &&
        kubectl get events | grep -q 'Preempted.*Preempted by default/high on node gpu-1'
}
nothing_refused() { ! tail -n +$(($(cat "$dir/granted") + 1)) "$dir/log" | grep -i forbidden; }
t "it starts with what the state gives it, and leads" deployed
[ $tap_bad = 0 ] || plan
t "two pods of low priority have the GPUs, a third waits" filled
t "a pod with preemptionPolicy Never waits, too" polite
t "a claim that the device plugin's face has left is collected" collected
t "without the right to make a claim no room is made" no_room uncreated 's/\[list, watch, create, delete\]/[list, watch, delete]/' 'cannot create resource .*resourceclaims'
t "nor without that to allocate it" no_room unbound 's/ resourceclaims\/binding/ none/' 'cannot patch resource .*resourceclaims/binding'
t "a right that comes while the pod waits is enough, and was missed once only" late_right
t "with its rights a more important pod gets its room kept" room_is_kept
t "slipway-scheduler is killed after the eviction" killed
t "the pod is bound all the same, one pod was evicted, and nothing is kept any more" bound
t "Events of both pods say why" told
t "nothing was refused" nothing_refused
plan
