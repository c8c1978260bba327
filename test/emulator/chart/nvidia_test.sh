# NVIDIA's GPU operator, feature by feature: the value in the recipe, what comes of it on the nodes, and what explain says
# where it is stuck (--trouble).
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
export KUBECONFIG=$tap_dir/kubeconfig
command -v kubectl >/dev/null && command -v jq >/dev/null || { skip "NVIDIA's features" "no kubectl, or no jq, here"; plan; }
trap 'stop emulated; rm -rf "$tap_dir"' EXIT
mkdir "$tap_dir/gpu"
cat >"$tap_dir/gpu/Chart.yaml" <<END
apiVersion: v2
name: gpu
version: 0.1.0
annotations: {slipway.dev/wait: all}
dependencies:
- {name: nfd, version: 0.1.0, repository: "file://$PWD/states/nfd"}
- {name: gpu-operator, version: 0.1.0, repository: "file://$PWD/states/gpu-operator", depends-on: [nfd]}
END

cluster() { # TROUBLE: or none
    stop emulated
    emulated --platform kubernetes --kube-version 1.34 --delays 0 ${1:+--trouble "$1"}
}
# Values below gpu-operator: are the state's, below operator: the vendor's chart's.
walk() { # TIMEOUT [--set K=V]...
    local timeout=$1
    shift
    "$slipway" run "$tap_dir/gpu" --stand-ins --timeout "$timeout" "${@//operator:/gpu-operator.gpu-operator.}" >"$tap_dir/said" 2>&1
}
walks() { walk 30s "$@" || { cat "$tap_dir/said"; return 1; }; }
said() { grep -q "$1" "$tap_dir/said" || { cat "$tap_dir/said"; return 1; }; }
stuck() { # TROUBLE EXPECTED [--set K=V]...
    cluster "$1" || return 1
    if walk 4s "${@:3}"; then cat "$tap_dir/said"; return 1; fi
    "$slipway" explain gpu >"$tap_dir/said"
    said "$2"
}
label() { kubectl get node "$1" -o json | jq -r --arg k "nvidia.com/$2" '.metadata.labels[$k]'; }
allocatable() { kubectl get node "$1" -o json | jq -r --arg k "nvidia.com/$2" '.status.allocatable[$k]'; }
is() { # COMMAND... EXPECTED
    local got
    got=$("${@:1:$#-1}")
    [ "$got" = "${!#}" ] || { echo "${*:1:$#-1} is '$got', not '${!#}'"; return 1; }
}
set_to() { until_ok 10 is "$@"; }

# ---- GPUs for virtual machines ----
passthrough() {
    cluster && walks --set operator:sandboxWorkloads.enabled=true,operator:sandboxWorkloads.defaultWorkload=vm-passthrough \
        --set "gpu-operator.nodeResources={nvidia.com/GA100_A100_PCIE_40GB}" &&
        is allocatable gpu-0 GA100_A100_PCIE_40GB 2 && is label gpu-0 gpu.deploy.vfio-manager true && is label gpu-0 gpu.deploy.driver null &&
        is label worker-0 gpu.deploy.vfio-manager null
}
one_node_for_pods() { # the label of a node goes before the default
    kubectl label node gpu-0 nvidia.com/gpu.workload.config=container && set_to label gpu-0 gpu.deploy.operator-validator true &&
        is label gpu-0 gpu.deploy.vfio-manager null && is label gpu-1 gpu.deploy.vfio-manager true
}
vgpu() {
    cluster && kubectl label node gpu-0 nvidia.com/gpu.workload.config=vm-vgpu nvidia.com/vgpu.config=A100-20C &&
        walks --set operator:sandboxWorkloads.enabled=true,operator:vgpuManager.enabled=true,operator:vgpuManager.version=580.95 &&
        set_to allocatable gpu-0 NVIDIA_A100-20C 2 && is label gpu-0 vgpu.config.state success && is label gpu-1 gpu.deploy.driver true
}
confidential() {
    cluster && walks --set operator:sandboxWorkloads.enabled=true,operator:sandboxWorkloads.defaultWorkload=vm-passthrough,operator:sandboxWorkloads.mode=kata \
        --set "gpu-operator.nodeResources={nvidia.com/pgpu}" && is allocatable gpu-0 pgpu 2 &&
        set_to label gpu-0 cc.mode.state on && is label gpu-0 cc.ready.state true &&
        kubectl label node gpu-0 nvidia.com/cc.mode=off && set_to label gpu-0 cc.ready.state false
}
machines=operator:sandboxWorkloads.enabled=true,operator:sandboxWorkloads.defaultWorkload
t "GPUs are given to virtual machines whole" passthrough
t "a node of these whose GPUs are for pods" one_node_for_pods
t "vGPUs, of the type that the node's label names" vgpu
t "confidential computing, by default and by the node's label" confidential
t "explain: a node cannot give its devices to machines" stuck passthrough-fails \
    "states not ready: .*state-vfio-manager" --set $machines=vm-passthrough
t "explain: and why, from the pod's log" said "IOMMU is not enabled on this node"
t "explain: the host's driver for vGPUs does not load" stuck vgpu-manager-fails \
    "could not insert 'nvidia': No such device" --set $machines=vm-vgpu,operator:vgpuManager.enabled=true
t "explain: a type of vGPU that does not exist" stuck vgpu-config-fails \
    "assertion 'vgpu-config-failed' about no Node: gpu-0 .*; the GPUs have no vGPUs of the type" --set $machines=vm-vgpu,operator:vgpuManager.enabled=true
t "explain: a mode of confidential computing that the GPU does not have" stuck cc-mode-fails \
    "assertion 'cc-mode-failed' about no Node: gpu-0 .*; the GPUs cannot be set to the mode" --set $machines=vm-passthrough,operator:sandboxWorkloads.mode=kata

# ---- the container toolkit and CDI ----
t "explain: the toolkit cannot set the container engine up" stuck toolkit-fails "states not ready: .*state-container-toolkit"
t "explain: and why, from its pod's log" said "unable to setup runtime: unable to flush config"
t "explain: NRI without CDI" stuck labels-lost "ReconcileFailed: error validating clusterpolicy: the NRI Plugin cannot be enabled when CDI is disabled" \
    --set operator:cdi.enabled=false,operator:cdi.nriPluginEnabled=true
nri() { cluster && walks --set operator:cdi.nriPluginEnabled=true; }
t "NRI with CDI" nri

# ---- one GPU for several pods ----
sharing() { # KIND REPLICAS
    printf 'gpu-operator:\n  nodeResources: [nvidia.com/gpu]\n  gpu-operator:\n    devicePlugin:\n      enabled: true\n      config:\n        create: true\n        name: parts\n        default: any\n        data:\n'
    printf '          any: |-\n            version: v1\n            sharing:\n              %s:\n                resources:\n                - name: nvidia.com/gpu\n                  replicas: %s\n' "$1" "$2"
}
shared() { # KIND STRATEGY
    sharing "$1" 4 >"$tap_dir/values.yaml"
    cluster && walks -f "$tap_dir/values.yaml" && set_to allocatable gpu-0 gpu 8 && set_to label gpu-0 gpu.sharing-strategy "$2" &&
        is label gpu-0 gpu.replicas 4 && set_to label gpu-0 gpu.product NVIDIA-A100-PCIE-40GB-SHARED
}
mps_runs() { until_ok 10 eval '[ "$(kubectl get daemonset -n gpu-operator nvidia-device-plugin-mps-control-daemon -o "jsonpath={.status.numberReady}")" = 3 ]'; }
t "time-slicing: as many GPUs as the configuration makes of one" shared timeSlicing time-slicing
t "MPS" shared mps mps
t "MPS: its daemon runs on these nodes" mps_runs
sharing timeSlicing 4 >"$tap_dir/values.yaml"
t "explain: a configuration that does not exist" stuck sharing-config-missing "specified config no-such does not exist" -f "$tap_dir/values.yaml"

# ---- the operator's driver upgrade ----
upgrades() { # each node goes through all states, one node at a time, and the resource is Ready again
    cluster && walks || return 1
    set_to label gpu-0 gpu-driver-upgrade-state upgrade-done || return 1
    kubectl get nodes -w -o json >"$tap_dir/watched" 2>/dev/null &
    local watch=$!
    sleep 1
    walks --set operator:driver.version=590.1.1
    local rc=$? n
    for n in gpu-0 gpu-1 gpu-2; do set_to label $n gpu-driver-upgrade-state upgrade-done || rc=1; done
    kill $watch
    jq -r '"\(.metadata.name) \(.metadata.labels["nvidia.com/gpu-driver-upgrade-state"]) \(.spec.unschedulable // false)"' <"$tap_dir/watched" >"$tap_dir/seen"
    [ "$(grep '^gpu-1 ' "$tap_dir/seen" | cut -d' ' -f2 | uniq | tr '\n' ' ')" = "upgrade-done upgrade-required cordon-required wait-for-jobs-required pod-deletion-required pod-restart-required validation-required uncordon-required upgrade-done " ] &&
        [ "$(grep '^gpu-1 pod-restart' "$tap_dir/seen" | cut -d' ' -f3 | sort -u)" = true ] &&
        [ "$(kubectl get pods -n gpu-operator -l app=nvidia-driver-daemonset -o json | jq -r '[.items[].spec.containers[0].image] | unique | join(" ")')" = nvcr.io/nvidia/driver:590.1.1 ] &&
        [ "$(kubectl get nodes -o json | jq '[.items[] | select(.spec.unschedulable)] | length')" = 0 ] && [ $rc = 0 ] || { cat "$tap_dir/seen"; return 1; }
}
image_of() { kubectl get pods -n gpu-operator -l app=nvidia-driver-daemonset -o json | jq -r --arg n "$1" '.items[] | select(.spec.nodeName == $n).spec.containers[0].image'; }
skipped() { # its node keeps the old driver, and the operator says that it is not ready
    kubectl label node gpu-1 nvidia.com/gpu-driver-upgrade.skip=true && ! walk 6s --set operator:driver.version=591.1.1 &&
        said 'states not ready: \[state-driver\]' && "$slipway" explain gpu >"$tap_dir/said" &&
        said 'Node gpu-1: .* is upgrade-required: it is skipped, as another label says' && is label gpu-1 gpu-driver-upgrade-state upgrade-required && is image_of gpu-1 nvcr.io/nvidia/driver:590.1.1 &&
        set_to image_of gpu-2 nvcr.io/nvidia/driver:591.1.1 &&
        kubectl label node gpu-1 nvidia.com/gpu-driver-upgrade.skip- && walks --set operator:driver.version=591.1.1
}
paused() { # without autoUpgrade no node is touched, and the labels are gone
    ! walk 4s --set operator:driver.version=592.1.1,operator:driver.upgradePolicy.autoUpgrade=false && set_to label gpu-0 gpu-driver-upgrade-state null &&
        is image_of gpu-0 nvcr.io/nvidia/driver:591.1.1 && walks --set operator:driver.version=592.1.1 && is image_of gpu-0 nvcr.io/nvidia/driver:592.1.1
}
lonely_pod() { # a pod with a GPU that nobody makes again
    kubectl apply -f - <<END
apiVersion: v1
kind: Pod
metadata: {name: lonely, namespace: default}
spec: {nodeName: gpu-0, containers: [{name: a, image: a, command: [sleep, infinity], resources: {limits: {nvidia.com/gpu: 1}}}]}
END
}
not_forced() {
    sharing timeSlicing 4 >"$tap_dir/values.yaml"
    cluster && walks -f "$tap_dir/values.yaml" && lonely_pod && until_ok 10 eval '[ "$(kubectl get pod lonely -o "jsonpath={.status.phase}")" = Running ]' &&
        ! walk 5s -f "$tap_dir/values.yaml" --set operator:driver.version=590.1.1 && said "assertion 'driver-upgrade-failed' about no Node: gpu-0 has what none may have: .*; the operator has given" &&
        kubectl get pod lonely
}
forced() { # what had failed is begun anew
    walk 3s -f "$tap_dir/values.yaml" --set operator:driver.version=590.1.1,operator:driver.upgradePolicy.gpuPodDeletion.force=true
    kubectl label node gpu-0 nvidia.com/gpu-driver-upgrade-state=upgrade-required --overwrite &&
        walks -f "$tap_dir/values.yaml" --set operator:driver.version=590.1.1,operator:driver.upgradePolicy.gpuPodDeletion.force=true && ! kubectl get pod lonely
}
budgeted() { # a pod with a GPU on gpu-0 that a PodDisruptionBudget holds
    kubectl apply -f - <<END
apiVersion: apps/v1
kind: Deployment
metadata: {name: served, namespace: default}
spec:
  selector: {matchLabels: {app: served}}
  template:
    metadata: {labels: {app: served}}
    spec:
      nodeSelector: {kubernetes.io/hostname: gpu-0}
      containers: [{name: a, image: a, command: [sleep, infinity], resources: {limits: {nvidia.com/gpu: 1}}}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: served, namespace: default}
spec: {minAvailable: 1, selector: {matchLabels: {app: served}}}
END
    until_ok 10 eval '[ "$(kubectl get deployment served -o "jsonpath={.status.readyReplicas}")" = 1 ]'
}
upgrade_to() { # VERSION TIMEOUT SECONDS [--set K=V]...
    walk "$2" -f "$tap_dir/values.yaml" --set "operator:driver.version=$1,operator:driver.upgradePolicy.gpuPodDeletion.timeoutSeconds=$3" "${@:4}"
}
is_from() { [ "$(kubectl get pods -l app=served -o 'jsonpath={.items[*].metadata.uid}')" = "$1" ]; }
held_by_budget() {
    sharing timeSlicing 4 >"$tap_dir/values.yaml"
    cluster && walks -f "$tap_dir/values.yaml" && budgeted || return 1
    local uid
    uid=$(kubectl get pods -l app=served -o 'jsonpath={.items[*].metadata.uid}')
    ! upgrade_to 590.1.1 6s 300 || return 1
    "$slipway" explain gpu >"$tap_dir/said"
    said "Node gpu-0: nvidia.com/gpu-driver-upgrade-state is pod-deletion-required: pods with GPUs on it are not gone; a PodDisruptionBudget can hold them" && is_from "$uid" || return 1
    ! upgrade_to 590.1.1 8s 2 && said "assertion 'driver-upgrade-failed' about no Node: gpu-0 has what none may have" && is_from "$uid"
}
drain_is_held() { # what could not be deleted is drained, if the policy says so, and that has a time-out too
    local uid
    uid=$(kubectl get pods -l app=served -o 'jsonpath={.items[*].metadata.uid}')
    upgrade_to 590.1.1 3s 1 --set operator:driver.upgradePolicy.drain.enable=true,operator:driver.upgradePolicy.drain.timeoutSeconds=300
    kubectl label node gpu-0 nvidia.com/gpu-driver-upgrade-state=upgrade-required --overwrite && set_to label gpu-0 gpu-driver-upgrade-state drain-required || return 1
    "$slipway" explain gpu >"$tap_dir/said"
    said "Node gpu-0: nvidia.com/gpu-driver-upgrade-state is drain-required: it is not drained; a PodDisruptionBudget can hold it" || return 1
    upgrade_to 590.1.1 3s 1 --set operator:driver.upgradePolicy.drain.enable=true,operator:driver.upgradePolicy.drain.timeoutSeconds=1
    set_to label gpu-0 gpu-driver-upgrade-state upgrade-failed && is_from "$uid"
}
budget_is_gone() {
    kubectl delete pdb served && kubectl label node gpu-0 nvidia.com/gpu-driver-upgrade-state=upgrade-required --overwrite &&
        walks -f "$tap_dir/values.yaml" --set operator:driver.version=590.1.1
}
jobs_wait() { # for the policy's seconds; the node says since when
    cluster && walks && kubectl run job-a --image=a --labels=app=job --overrides='{"spec":{"nodeName":"gpu-0"}}' --command -- sleep infinity || return 1
    until_ok 10 eval '[ "$(kubectl get pod job-a -o "jsonpath={.status.phase}")" = Running ]' || return 1
    ! walk 5s --set operator:driver.version=590.1.1,operator:driver.upgradePolicy.waitForCompletion.podSelector=app=job,operator:driver.upgradePolicy.waitForCompletion.timeoutSeconds=300 || return 1
    is label gpu-0 gpu-driver-upgrade-state wait-for-jobs-required && since | grep -qE '^[0-9]{10}$' || return 1
    walks --set operator:driver.version=590.1.1,operator:driver.upgradePolicy.waitForCompletion.podSelector=app=job,operator:driver.upgradePolicy.waitForCompletion.timeoutSeconds=1 &&
        [ "$(since)" = null ] && [ "$(kubectl get pod job-a -o 'jsonpath={.status.phase}')" = Running ]
}
since() { kubectl get node gpu-0 -o json | jq -r '.metadata.annotations["nvidia.com/gpu-driver-upgrade-wait-for-pod-completion-start-time"]'; }
t "a PodDisruptionBudget holds the pods of an upgrade, until its time-out" held_by_budget
t "and the drain" drain_is_held
t "without it the upgrade goes on" budget_is_gone
t "an upgrade waits for jobs, until its time-out" jobs_wait
t "a driver's upgrade: node by node, through the operator's states" upgrades
t "a node that is skipped" skipped
t "an upgrade that is paused" paused
t "a pod that nobody makes again stops the upgrade" not_forced
t "but with force" forced
upgrade_stuck() { # TROUBLE EXPECTED
    cluster "$1" && walks || return 1
    ! walk 4s --set operator:driver.version=590.1.1 && said 'states not ready: \[state-driver\]' || return 1
    "$slipway" explain gpu >"$tap_dir/said"
    said "$2" && said "Node gpu-1: nvidia.com/gpu-driver-upgrade-state is upgrade-required: it waits for its turn"
}
t "explain: an upgrade that waits for jobs" upgrade_stuck driver-upgrade-waits \
    "Node gpu-0: nvidia.com/gpu-driver-upgrade-state is wait-for-jobs-required: the pods of upgradePolicy.waitForCompletion on it have not ended"
t "explain: an upgrade whose new driver is not valid" upgrade_stuck driver-upgrade-not-valid \
    "Node gpu-0: nvidia.com/gpu-driver-upgrade-state is validation-required: the operator's validator on it is not ready"

# ---- the health of nodes ----
t "explain: a node that could not be mended" stuck remediation-fails \
    "assertion 'node-remediation-failed' about no Node: gpu-0 has what none may have: .*; NVSentinel could not mend"
plan
