# Every recipe that is shipped walks to Ready on both platforms, is clean for lint, and has a README
# and a resource for each of its parts.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
export KUBECONFIG=$tap_dir/kubeconfig
# A test is a subshell: what it starts is noted in a file.
: >"$tap_dir/pids"
trap 'xargs -r kill <"$tap_dir/pids" 2>/dev/null; rm -rf "$tap_dir"' EXIT
cluster() { # PLATFORM [OPTION]...
    local platform=$1
    shift
    xargs -r kill <"$tap_dir/pids" 2>/dev/null
    rm -f "$KUBECONFIG"
    "$slipway" emulate --platform "$platform" "$@" --kubeconfig-out "$KUBECONFIG" >/dev/null 2>&1 &
    echo $! >"$tap_dir/pids"
    until_ok 20 eval 'kubectl get --raw /readyz >/dev/null 2>&1'
}
walks() { # RECIPE PLATFORM [OPTION]...
    local recipe=$1 platform=$2
    shift 2
    "$slipway" run "$recipe" --emulate --delays 0 --platform "$platform" --timeout 120s -o json "$@" >"$tap_dir/run.json" && grep -q '"phase": "Ready"' "$tap_dir/run.json"
}
described() {
    local d
    for d in states/*/ recipes/*/; do
        [ -s "$d/README.md" ] && grep -q '^type: library' "$d/Chart.yaml" && continue
        [ -s "$d/README.md" ] && [ -s "$d/values.yaml" ] && grep -q 'slipway.dev/wait: all' "$d/Chart.yaml" || { echo "$d"; return 1; }
    done
    for d in recipes/*/; do [ -s "$d$(basename "$d").yaml" ] || { echo "$d has no resource"; return 1; }; done
}
linted() { [ -z "$("$slipway" lint "$1" -a resource.k8s.io/v1/DeviceClass 2>&1 | grep -vE 'stand-ins of the emulator|: note: ')" ]; } # a note is no fault

objects_of() { # STATE: how many it has
    jq --arg name "$1" '.states[] | select(.name == $name) | .objects.total' "$tap_dir/run.json"
}
slices_by_dra() {
    walks recipes/nvidia-mig kubernetes --kube-version 1.36 && [ "$(objects_of webhook)/$(objects_of scheduler)/$(objects_of validation)" = 0/11/5 ]
}
slices_without_eviction() { # of the scheduler the definitions are left
    walks recipes/nvidia-mig kubernetes --kube-version 1.36 --set scheduler.preemption=false && [ "$(objects_of webhook)/$(objects_of scheduler)/$(objects_of validation)" = 0/2/5 ]
}
slices_by_scheduler() {
    walks recipes/nvidia-mig kubernetes --kube-version 1.36 --set global.slicing=deviceplugin && [ "$(objects_of webhook)/$(objects_of scheduler)/$(objects_of validation)" = 15/14/3 ]
}
slices_shared() { # by MPS: a second DaemonSet, which alone may know the processes of the host
    cluster kubernetes --kube-version 1.36 && "$slipway" run recipes/nvidia-mig --timeout 120s --set device-plugin.mps=true >/dev/null &&
        [ "$(kubectl -n das-operator get daemonset das-mps -o 'jsonpath={.status.numberReady} {.spec.template.spec.hostPID} {.spec.template.spec.containers[0].args}')" = '3 true ["mps","--host-root=/host"]' ] &&
        [ "$(kubectl -n das-operator get daemonset das-daemonset -o 'jsonpath={.spec.template.spec.hostPID}')" = "" ] &&
        kubectl -n das-operator get daemonset das-daemonset -o 'jsonpath={.spec.template.spec.containers[0].args}' | grep -F '"--host-root=/host","--mps"'
}
slices_refused() {
    ! walks recipes/nvidia-mig kubernetes --kube-version 1.35 --set global.slicing=dra --timeout 5s 2>"$tap_dir/err" && grep -q "dra cannot be: the API server of Kubernetes v1.35.0 has its feature gate DRAPartitionableDevices off" "$tap_dir/run.json" "$tap_dir/err"
}

slices_told() { # what was chosen, and why
    local why="slices by Dynamic Resource Allocation: Kubernetes v1.36.0 serves resource.k8s.io/v1"
    cluster kubernetes --kube-version 1.36 || return 1
    "$slipway" plan recipes/nvidia-mig | grep -q "^state dra-driver: $why" || return 1
    "$slipway" run recipes/nvidia-mig --timeout 120s >/dev/null && "$slipway" status nvidia-mig >"$tap_dir/status" &&
        grep -q "^dra-driver .*$why" "$tap_dir/status" && grep -q "nothing to apply here: .*webhook" "$tap_dir/status" &&
        grep -q "^scheduler .*eviction alone" "$tap_dir/status" && "$slipway" plan recipes/nvidia-mig | grep -q "^state scheduler: eviction alone" &&
        [ "$(kubectl -n das-operator get deployment das-scheduler -o 'jsonpath={.status.availableReplicas} {.spec.template.spec.containers[*].name}')" = "2 scheduler" ] &&
        "$slipway" explain nvidia-mig | grep -q "state dra-driver .*$why" && "$slipway" explain nvidia-mig dra-driver | grep -q "chosen: $why" &&
        "$slipway" plan nvidia-mig | grep -q "^state dra-driver: $why" &&
        "$slipway" lint recipes/nvidia-mig --strict --kube-version v1.36.0 -a resource.k8s.io/v1 | grep -q ": note: state 'dra-driver': $why"
}

# NVIDIA's own DRA driver gives out slices of a node; without its pod the emulator takes back what it has published.
nvidias_slices() { # NODE
    kubectl create -f - <<END && kubectl wait --for=condition=Ready pod/nvidia-plugin --timeout=20s || return 1
apiVersion: v1
kind: Pod
metadata: {name: nvidia-plugin, namespace: default, labels: {app: nvidia-dra-driver-kubelet-plugin}}
spec: {nodeName: $1, tolerations: [{operator: Exists}], containers: [{name: gpus, image: "nvcr.io/nvidia/k8s-dra-driver-gpu:v26.4.0"}]}
END
    kubectl create -f - <<END
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: mig.nvidia.com}
spec: {selectors: [{cel: {expression: "device.driver == 'gpu.nvidia.com'"}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: $1-nvidia}
spec:
  driver: gpu.nvidia.com
  nodeName: $1
  pool: {name: $1, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0-mig-1g5gb-19-0, attributes: {type: {string: mig}, parentUUID: {string: GPU-1}}}]
END
}
slices_of_two() {
    cluster kubernetes --kube-version 1.36 && kubectl label node gpu-0 gpu-1 gpu-2 nvidia.com/mig.capable=true && nvidias_slices gpu-1 || return 1
    "$slipway" run recipes/nvidia-mig --timeout 20s >"$tap_dir/walk" 2>&1
    [ $? = 2 ] && cat "$tap_dir/walk" && grep -q "NVIDIA's DRA driver gives out MIG devices of node gpu-1 (gpu-0-mig-1g5gb-19-0, ResourceSlice gpu-1-nvidia): take that driver" "$tap_dir/walk" || return 1
    kubectl get daemonset -n nvidia-mig das-daemonset 2>/dev/null && return 1
    # on other nodes it is in nobody's way
    kubectl label node gpu-0 gpu-2 slices=yes && "$slipway" run recipes/nvidia-mig --set device-plugin.nodeSelector.slices=yes --timeout 60s
}

# A kernel that runs only on nodes without GPUs needs no driver.
other_kernel() {
    cluster kubernetes && kubectl get node worker-0 -o json | jq '.status.nodeInfo.kernelVersion = "6.1.0-9-generic"' | kubectl replace --raw /api/v1/nodes/worker-0/status -f - &&
        "$slipway" run recipes/nvidia-gpu --timeout 120s -o json >"$tap_dir/run.json" && grep -q '"phase": "Ready"' "$tap_dir/run.json" &&
        [ "$(kubectl -n nvidia-gpu get daemonsets -o 'jsonpath={range .items[*]}{.status.desiredNumberScheduled}{"\n"}{end}' | grep -c '^0$')" = 1 ]
}
intel() { # nodes told apart by what they have; settings reach the plugins; a part is ready where there are devices to give
    cluster kubernetes && kubectl label node gpu-0 intel.feature.node.kubernetes.io/gpu=true intel.feature.node.kubernetes.io/qat=true &&
        "$slipway" run recipes/intel-device-plugins --set qat.enabled=true,gpu.sharedDevNum=10,gpu.allocationPolicy=packed --timeout 120s -o json >"$tap_dir/run.json" && grep -q '"phase": "Ready"' "$tap_dir/run.json" &&
        [ "$(kubectl get node gpu-0 worker-0 -o 'jsonpath={.items[*].status.allocatable.gpu\.intel\.com/i915}')" = "10 10" ] &&
        kubectl -n inteldeviceplugins-system get daemonset intel-qat-plugin-intel-device-plugins &&
        [ "$(kubectl get gpudeviceplugin intel-device-plugins -o 'jsonpath={.spec.preferredAllocationPolicy} {.status.numberReady}')" = "packed 2" ] &&
        [ "$(kubectl get nodes -l specialresource.openshift.io/state-intel-device-plugins-gpu=Ready -o name | xargs)" = "node/gpu-0 node/worker-0" ]
}
intel_recorded() { # each part is a release of its own
    kubectl get secrets -A -l owner=helm -o 'jsonpath={range .items[*]}{.metadata.namespace}/{.metadata.labels.name}{"\n"}{end}' | sort -u >"$tap_dir/releases" &&
        grep -qx 'inteldeviceplugins-system/intel-device-plugins-operator' "$tap_dir/releases" && grep -qx 'intel-device-plugins/intel-gpu' "$tap_dir/releases" || { cat "$tap_dir/releases"; return 1; }
}
intel_without_devices() { # a plugin that runs and gives nothing is no end
    ! "$slipway" run recipes/intel-device-plugins --emulate --platform kubernetes --delays 0 --timeout 3s --rules "$tap_dir/rules" >"$tap_dir/said" 2>&1 &&
        grep -q "state 'gpu': 1 of 1 nodes have no allocatable gpu.intel.com/[*] yet (worker-0)" "$tap_dir/said" || { cat "$tap_dir/said"; return 1; }
}
intel_refused() {
    ! "$slipway" run recipes/intel-device-plugins --emulate --platform kubernetes --delays 0 --timeout 5s --set gpu.allocationPolicy=tight >"$tap_dir/said" 2>&1 &&
        grep -q 'GpuDevicePlugin.*preferredAllocationPolicy.*Unsupported value: "tight"' "$tap_dir/said" || { cat "$tap_dir/said"; return 1; }
}
intel_image() { "$slipway" render recipes/intel-device-plugins --set gpu.image.hub=r.example/g,gpu.image.tag=1 2>/dev/null | grep -q 'image: "\?r.example/g/intel-gpu-plugin:1'; }
# the rules are Intel's own, where its charts are there
intel_rules() {
    local kind
    for kind in gpu qat sgx dsa iaa dlb npu; do
        "$slipway" render states/intel-node-rules | rules_of "$kind" >"$tap_dir/ours" &&
            "$slipway" render "$SW_SHARED/upstream/intel/$kind-device-plugin" | rules_of "$kind" >"$tap_dir/theirs" &&
            [ -s "$tap_dir/ours" ] && diff "$tap_dir/theirs" "$tap_dir/ours" || { echo "$kind"; return 1; }
    done
}
rules_of() { # KIND <MANIFESTS: the rule that gives a node its label, as JSON
    mkdir -p "$tap_dir/rule/templates"
    printf 'apiVersion: v2\nname: rule\nversion: 0.1.0\n' >"$tap_dir/rule/Chart.yaml"
    awk -v kind="$1" 'function flush() { if (doc ~ /kind: NodeFeatureRule/ && doc ~ "intel.feature.node.kubernetes.io/" kind) printf "%s", doc; doc = "" }
        $0 == "---" { flush(); next } { doc = doc $0 "\n" } END { flush() }' >"$tap_dir/rule/rules.yaml"
    printf '{{- range (fromYaml (.Files.Get "rules.yaml")).spec.rules }}{{ if eq .name "intel.%s" }}rule: {{ toJson . }}{{ end }}{{ end }}\n' "$1" >"$tap_dir/rule/templates/_rule.tpl"
    printf 'kind: Rule\napiVersion: v1\nmetadata: {name: r}\n{{ template "rule/templates/_rule.tpl" . }}\n' >"$tap_dir/rule/templates/rule.yaml"
    "$slipway" render "$tap_dir/rule" | grep '^rule: '
}

amd() { # nodes told apart by what they have; what the DeviceConfig says is ready where there are GPUs to give
    cluster kubernetes && "$slipway" run recipes/amd-gpu --timeout 120s -o json >"$tap_dir/run.json" && grep -q '"phase": "Ready"' "$tap_dir/run.json" &&
        [ "$(kubectl get nodes -l feature.node.kubernetes.io/amd-gpu=true,!feature.node.kubernetes.io/amd-vgpu -o name)" = node/worker-0 ] &&
        [ "$(kubectl get nodes -l specialresource.openshift.io/state-amd-gpu-amd-gpu-operator=Ready -o name)" = node/worker-0 ] &&
        [ "$(kubectl -n kube-amd-gpu get deviceconfig slipway -o 'jsonpath={.status.devicePlugin.availableNumber} {.status.conditions[?(@.type=="Ready")].reason}')" = "1 OperatorReady" ] &&
        kubectl get secrets -n kube-amd-gpu -l owner=helm,name=amd-gpu-operator -o name | grep .
}
amd_gone() {
    "$slipway" uninstall amd-gpu --yes >/dev/null && ! kubectl get namespace kube-amd-gpu 2>/dev/null && ! kubectl get crd deviceconfigs.amd.com 2>/dev/null &&
        [ "$(kubectl get node worker-0 -o 'jsonpath={.status.allocatable.amd\.com/gpu}')" = 0 ]
}
amd_without_gpus() {
    ! "$slipway" run recipes/amd-gpu --emulate --platform kubernetes --delays 0 --timeout 3s --rules "$tap_dir/amd-rules" >"$tap_dir/said" 2>&1 &&
        grep -q "state 'amd-gpu-operator': 1 of 1 nodes have no allocatable amd.com/gpu yet (worker-0)" "$tap_dir/said" || { cat "$tap_dir/said"; return 1; }
}

network() { # what the NicClusterPolicy asks for runs, and the card is a resource of its node
    cluster kubernetes && "$slipway" run recipes/nvidia-network --timeout 120s -o json >"$tap_dir/run.json" && grep -q '"phase": "Ready"' "$tap_dir/run.json" &&
        [ "$(kubectl get nodes -l feature.node.kubernetes.io/pci-15b3.present=true -o name)" = node/worker-0 ] &&
        [ "$(kubectl get node worker-0 -o 'jsonpath={.status.allocatable.rdma/rdma_shared_device_a}')" = 63 ] &&
        [ "$(kubectl get nicclusterpolicy nic-cluster-policy -o 'jsonpath={.status.appliedStates[?(@.state=="notReady")].name}{.status.state}')" = ready ]
}
network_gone() { "$slipway" uninstall nvidia-network --yes >/dev/null && ! kubectl get namespace nvidia-network-operator 2>/dev/null && ! kubectl get crd nicclusterpolicies.mellanox.com 2>/dev/null; }
network_not_ready() { # a driver that does not load
    ! "$slipway" run recipes/nvidia-network --emulate --platform kubernetes --delays 0 --timeout 3s --rules "$tap_dir/nic-rules" --set nvidia-network-operator.ofedDriver.enabled=true >"$tap_dir/said" 2>&1 &&
        grep -q "state 'nvidia-network-operator': NicClusterPolicy nic-cluster-policy {.state} == ready does not hold yet" "$tap_dir/said" || { cat "$tap_dir/said"; return 1; }
}

gaudi() { # the node with Gaudis is done when it has them to give
    cluster kubernetes && "$slipway" run recipes/intel-gaudi --timeout 120s -o json >"$tap_dir/run.json" && grep -q '"phase": "Ready"' "$tap_dir/run.json" &&
        [ "$(kubectl get nodes -l specialresource.openshift.io/state-intel-gaudi-intel-gaudi-operator.habana-ai-operator=Ready -o name)" = node/worker-0 ] &&
        [ "$(kubectl get node worker-0 -o 'jsonpath={.status.allocatable.habana\.ai/gaudi}')" = 8 ]
}
gaudi_gone() { "$slipway" uninstall intel-gaudi --yes >/dev/null && ! kubectl get namespace habana-ai-operator 2>/dev/null && ! kubectl get crd clusterpolicies.habanalabs.habana.ai 2>/dev/null; }
gaudi_without_driver() { # a driver that does not load
    ! "$slipway" run recipes/intel-gaudi --emulate --platform kubernetes --delays 0 --timeout 3s --rules "$tap_dir/gaudi-rules" >"$tap_dir/said" 2>&1 &&
        grep -q "1 of 1 nodes have no allocatable habana.ai/gaudi yet (worker-0)" "$tap_dir/said" || { cat "$tap_dir/said"; return 1; }
}

gpu_cluster() { # each GPU node publishes its GPUs, and the operator's validator has claimed one on each
    cluster kubernetes --kube-version 1.34 && "$slipway" run recipes/gpu-cluster --timeout 120s -o json >"$tap_dir/run.json" && grep -q '"phase": "Ready"' "$tap_dir/run.json" &&
        [ "$(kubectl get resourceslices -o 'jsonpath={range .items[?(@.spec.driver=="gpu.nvidia.com")]}{.spec.nodeName}={.spec.devices[*].name} {end}')" = "gpu-0=gpu-0 gpu-1 gpu-1=gpu-0 gpu-1 gpu-2=gpu-0 gpu-1 " ] &&
        [ "$(kubectl get gpucluster gpu-cluster -o 'jsonpath={.status.state} {.status.namespace} {.status.conditions[?(@.type=="Ready")].reason}')" = "ready gpu-operator Reconciled" ] &&
        [ "$(kubectl get nvidiadriver default -o 'jsonpath={.status.state}')" = ready ] &&
        [ "$(kubectl -n gpu-operator get daemonset nvidia-dra-validator -o 'jsonpath={.status.numberReady}')" = 3 ] &&
        [ "$(kubectl get nodes -l specialresource.openshift.io/state-gpu-cluster-gpu-cluster-operator=Ready -o name | xargs)" = "node/gpu-0 node/gpu-1 node/gpu-2" ]
}
gpu_cluster_claims() { # two GPUs a node: a user's third pod waits for one
    kubectl apply -f - <<'Y' && until_ok 20 eval '[ "$(kubectl get pods -l app=claims --no-headers | grep -c Running)" = 6 ]' &&
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one, namespace: default}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: claims, namespace: default}
spec:
  replicas: 7
  selector: {matchLabels: {app: claims}}
  template:
    metadata: {labels: {app: claims}}
    spec:
      resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]
      tolerations: [{key: nvidia.com/gpu, operator: Exists}]
      containers: [{name: c, image: "c:1", resources: {claims: [{name: gpu}]}}]
Y
        kubectl get pods -l app=claims -o 'jsonpath={.items[*].status.conditions[?(@.type=="PodScheduled")].message}' | grep -q 'cannot allocate all claims' && kubectl delete deployment claims
}
gpu_cluster_gone() {
    "$slipway" uninstall gpu-cluster --yes >/dev/null && ! kubectl get namespace gpu-operator 2>/dev/null && ! kubectl get crd gpuclusters.nvidia.com 2>/dev/null &&
        until_ok 20 eval '[ -z "$(kubectl get resourceslices,deviceclasses -o name)" ]' && [ -z "$(kubectl get nodes -l nvidia.com/gpu.deploy.dra-driver -o name)" ]
}
classes() { kubectl get deviceclasses -o name; }
mig_gone() { # the classes that its device plugin has made go with it
    cluster kubernetes && "$slipway" run recipes/nvidia-mig --timeout 120s -o json >"$tap_dir/run.json" && [ -n "$(classes)" ] &&
        "$slipway" uninstall nvidia-mig --yes >/dev/null && until_ok 20 eval '[ -z "$(classes)" ]'
}
gpu_cluster_unclaimed() { # a driver that publishes nothing is no end
    ! "$slipway" run recipes/gpu-cluster --emulate --platform kubernetes --delays 0 --timeout 3s --rules "$tap_dir/dra-rules" >"$tap_dir/said" 2>&1 &&
        grep -q "state 'gpu-cluster-operator.*GPUCluster gpu-cluster condition Error is True" "$tap_dir/said" || { cat "$tap_dir/said"; return 1; }
}
gpu_cluster_beside_policy() { # the operator refuses it, and the user is told
    cluster kubernetes --kube-version 1.34 && kubectl apply -f src/emulator/stand_ins/gpu-operator/crds && until_ok 10 eval 'kubectl get clusterpolicies >/dev/null 2>&1' &&
        printf 'apiVersion: nvidia.com/v1\nkind: ClusterPolicy\nmetadata: {name: old}\n' | kubectl apply -f - &&
        ! "$slipway" run recipes/gpu-cluster --timeout 3s --set gpu-cluster-operator.mode=chart >"$tap_dir/said" 2>&1 &&
        kubectl get gpucluster gpu-cluster -o 'jsonpath={.status.conditions[?(@.type=="Error")].message}' | grep -q 'ClusterPolicy CR "old" exists' || { cat "$tap_dir/said"; return 1; }
}

# Paths that users of other systems have in their fingers.
sample_kmod() { # applied as a file, its chart being where the operator's image has it
    cluster openshift && kubectl apply -f deploy/crds/sro.openshift.io_specialresources.yaml && until_ok 10 eval 'kubectl get specialresources >/dev/null 2>&1' &&
        kubectl apply -f charts/example/simple-kmod-0.0.1/simple-kmod.yaml -f charts/example/centos-simple-kmod-0.0.1/centos-simple-kmod.yaml
}
sample_pod() { # runs once the recipe is there
    cluster kubernetes && "$slipway" run recipes/nvidia-mig --timeout 120s >/dev/null && kubectl apply -f deploy/03_instaslice_operator.cr.yaml &&
        kubectl apply -f test/test-pod.yaml -f test/test-pod-emulated.yaml && until_ok 30 eval 'kubectl get pod vectoradd test-emulated --no-headers | grep -qvE "Pending|Creating"'
}

t "states and recipes are described" described
for r in recipes/*/; do t "${r%/} is clean for lint" linted "$r"; done
for p in openshift kubernetes; do
    for r in nvidia-mig nvidia-gpu intel-device-plugins amd-gpu nvidia-network gpu-cluster intel-gaudi simple-kmod; do t "$r walks to Ready on $p" walks recipes/$r $p; done
    t "nvidia-gpu walks with images that are there on $p" walks recipes/nvidia-gpu $p --set driver-build.enabled=false,driver-container.fromBuild=false,monitoring.enabled=false
done
for p in openshift kubernetes; do
    t "intel-device-plugins walks with all kinds on $p" walks recipes/intel-device-plugins $p --set qat.enabled=true,sgx.enabled=true,dsa.enabled=true,iaa.enabled=true,dlb.enabled=true,fpga.enabled=true,npu.enabled=true
done
t "nvidia-mig walks by Dynamic Resource Allocation from 1.36 on" slices_by_dra
t "without preemption it deploys no scheduler then" slices_without_eviction
t "nvidia-mig says what it has chosen, and why" slices_told
t "nvidia-mig keeps to webhook and scheduler where it is told to" slices_by_scheduler
t "nvidia-mig runs control daemons of MPS where it is told to" slices_shared
t "nvidia-mig is refused on nodes whose slices NVIDIA's DRA driver gives out" slices_of_two
t "nvidia-mig: Dynamic Resource Allocation is refused where it cannot work" slices_refused
t "amd-gpu walks with the driver of AMD's packages" walks recipes/amd-gpu kubernetes --set amd-gpu-operator.deviceConfig.spec.driver.enable=true
mkdir -p "$tap_dir/amd-rules"
sed '/^rule: amd-gpus/,/^---/d' src/emulator/rules/builtin/amd-gpu-operator.yaml >"$tap_dir/amd-rules/amd-gpu-operator.yaml"
t "amd-gpu: a plugin without GPUs is no end" amd_without_gpus
t "nvidia-network walks with the cards' own driver" walks recipes/nvidia-network kubernetes --set nvidia-network-operator.ofedDriver.enabled=true
mkdir -p "$tap_dir/nic-rules"
sed '/"mofed-ds"/d' src/emulator/rules/builtin/nvidia-network-operator.yaml >"$tap_dir/nic-rules/nvidia-network-operator.yaml"
t "nvidia-network: a policy that is not ready is no end" network_not_ready
mkdir -p "$tap_dir/gaudi-rules"
sed '/^rule: gaudi-driver/,/^---/d' src/emulator/rules/builtin/gaudi-operator.yaml >"$tap_dir/gaudi-rules/gaudi-operator.yaml"
t "intel-gaudi: a driver that does not load is no end" gaudi_without_driver
mkdir -p "$tap_dir/dra-rules"
sed '/^rule: gpu-slices/,/^---/d' src/emulator/rules/builtin/gpu-cluster.yaml >"$tap_dir/dra-rules/gpu-cluster.yaml"
t "gpu-cluster: a driver that publishes no GPU is no end" gpu_cluster_unclaimed
t "gpu-cluster walks with drivers that are there" walks recipes/gpu-cluster openshift --set gpu-cluster-operator.driver.enabled=false
t "nfd walks with a pinned version of OLM's catalogue" walks states/nfd openshift --set olm.startingCSV=nfd.4.13.0
t "cert-manager walks with a pinned version of OLM's catalogue" walks states/cert-manager openshift --set olm.startingCSV=cert-manager-operator.v1.13.0
t "intel-device-plugins: what Intel's definitions refuse is told" intel_refused
t "intel-device-plugins: images come from a mirror of one's own" intel_image
mkdir -p "$tap_dir/rules"
sed '/^rule: intel-devices/,/^---/d' src/emulator/rules/builtin/intel-operator.yaml >"$tap_dir/rules/intel-operator.yaml"
t "intel-device-plugins: a plugin without devices is no end" intel_without_devices
if [ -d "${SW_SHARED:-}/upstream/intel" ]; then
    t "intel-node-rules has the rules of Intel's charts" intel_rules
else
    skip "intel-node-rules has the rules of Intel's charts" "no charts of vendors here"
fi
t "centos-simple-kmod walks to Ready on kubernetes" walks charts/example/centos-simple-kmod-0.0.1 kubernetes
t "simple-kmod walks under its versioned path" walks charts/example/simple-kmod-0.0.1 openshift
if command -v kubectl >/dev/null; then
    t "the samples of SRO's users are where they look for them" sample_kmod
    t "the samples of DAS's users are where they look for them" sample_pod
    t "a kernel without GPUs is not waited for" other_kernel
    t "amd-gpu walks, and nodes with GPUs are done one by one" amd
    t "amd-gpu leaves nothing" amd_gone
    t "nvidia-network walks, and the card is a resource of its node" network
    t "nvidia-network leaves nothing" network_gone
    t "intel-gaudi walks, and the node with Gaudis is done" gaudi
    t "intel-gaudi leaves nothing" gaudi_gone
    t "gpu-cluster walks, and each GPU node publishes its GPUs" gpu_cluster
    t "gpu-cluster: GPUs are claimed by users' pods" gpu_cluster_claims
    t "gpu-cluster leaves nothing" gpu_cluster_gone
    t "nvidia-mig leaves no DeviceClass" mig_gone
    t "gpu-cluster: a ClusterPolicy in its way is told" gpu_cluster_beside_policy
    t "intel-device-plugins walks, a part for each kind" intel
    t "intel-device-plugins: each part is a release of its own" intel_recorded
fi
plan
