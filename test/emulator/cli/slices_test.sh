#!/bin/bash
# slipway slices, where slices are given out by AllocationClaims: NodeAccelerators' GPUs, who has what, who waits.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh
slipway=build/test/slipway
export KUBECONFIG=$tap_dir/kubeconfig
trap 'kill $(cat "$tap_dir"/*.pid) 2>/dev/null; rm -rf "$tap_dir"' EXIT
api=/apis/inference.redhat.com/v1alpha1/namespaces/das-operator/nodeaccelerators

nothing() { emulated --platform kubernetes && "$slipway" slices | grep -qx 'no node publishes GPUs that can be sliced'; }
filled() {
    kubectl apply -f states/scheduler/crds && kubectl create namespace das-operator && established crd/nodeaccelerators.inference.redhat.com crd/allocationclaims.inference.redhat.com || return 1
    kubectl apply -f - <<'YAML' || return 1
---
{apiVersion: inference.redhat.com/v1alpha1, kind: NodeAccelerator, metadata: {name: gpu-1, namespace: das-operator}, spec: {acceleratorType: nvidia-mig}}
---
apiVersion: inference.redhat.com/v1alpha1
kind: AllocationClaim
metadata: {name: a, namespace: das-operator}
spec: {profile: 3g.20gb, podRef: {kind: Pod, namespace: team, name: train-0, uid: a}, gpuUUID: GPU-1, nodename: gpu-1, migPlacement: {start: 4, size: 4}}
---
apiVersion: v1
kind: Pod
metadata: {name: later}
spec: {schedulerName: das-scheduler, containers: [{name: c, image: x, resources: {limits: {mig.das.com/7g.40gb: "1"}}}]}
YAML
    patch_status $api/gpu-1 '{"status":{"nodeResources":{"nodeGpus":[{"gpuUuid":"GPU-1","gpuName":"A100","gpuMemory":"40960Mi"},
        {"gpuUuid":"GPU-2","gpuName":"A100","gpuMemory":"40960Mi","healthy":false}],
        "migPlacement":{"7g.40gb":{"placements":[{"size":8,"start":0}]},"3g.20gb":{"placements":[{"size":4,"start":0},{"size":4,"start":4}]}}}}}'
}
table() {
    "$slipway" slices >"$tap_dir/table" && cat "$tap_dir/table" && sed 's/  */ /g; s/ $//' "$tap_dir/table" | diff - <(cat <<'TEXT'
NODE GPU MEMORY PROFILE STATE CLAIM POD
gpu-1 0 4-7 3g.20gb created das-operator/a team/train-0
gpu-1 0 0-3 - free -
gpu-1 1 0-7 - unhealthy -

default/later waits for 1 x mig.das.com/7g.40gb
 scheduler: no scheduler has answered yet
TEXT
    )
}
as_json() {
    "$slipway" slices -o json | jq -e '[.gpus[] | [.uuid, .by, .memorySlices, .healthy]] == [["GPU-1", "AllocationClaims", 8, true], ["GPU-2", "AllocationClaims", 8, false]]'
}
drawing() {
    "$slipway" slices -o drawing >"$tap_dir/drawing" && cat "$tap_dir/drawing" && head -n 3 "$tap_dir/drawing" | diff - <(cat <<'TEXT'
node gpu-1, GPU 0: A100, by AllocationClaims
  |........|........|........|........|3g.20gb                            |
                                       train-0
TEXT
    )
}
refused() {
    "$slipway" slices --defragment default/none 2>"$tap_dir/err" && return 1
    cat "$tap_dir/err"
    grep -q 'none' "$tap_dir/err" && ! "$slipway" slices --defragment default/later gpu-1 2>/dev/null
}
no_node() { local rc=0; "$slipway" slices nowhere >"$tap_dir/said" 2>&1 || rc=$?; cat "$tap_dir/said"; [ $rc = 2 ] && grep -q 'nodes "nowhere" not found' "$tap_dir/said" && "$slipway" slices worker-0; }
t "a cluster without GPUs that can be sliced" nothing
t "a node that is not there" no_node
t "a NodeAccelerator, a claim and a pod that waits" filled
t "a line for each slice, for what is free, and why a pod waits" table
t "-o json" as_json
t "-o drawing" drawing
t "--defragment names a pod that is there, and no node" refused
plan
