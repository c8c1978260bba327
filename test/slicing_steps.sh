# slicing_steps.sh: sourced by the tests that deploy slices as users of the Dynamic Accelerator Slicer do, on a real
# cluster: images, cert-manager as somebody else's, the DASOperator, pods. Ends the test where no node is there.
. test/shell_root.sh
ns=das-operator
dir=$SLIPWAY_CLUSTER_DIR
cdi=$dir/slicing/cdi journal=$dir/slicing/journal
profile=nvidia.com/mig-1g.5gb
export TAG=e2e REGISTRY=slipway.local PULL_POLICY=Never KUBECTL=kubectl TIMEOUT=120 EMULATED_MODE=enabled

if [ -z "$(kubectl get nodes -o name)" ]; then
    skip "slices end to end" "no node in this cluster"
    plan
fi
node=$(kubectl get nodes -o 'jsonpath={.items[0].metadata.name}')
minor=$(kubectl version -o json | tr -d ' "\n' | sed 's/.*serverVersion.*minor:\([0-9]*\).*/\1/')
slicing=deviceplugin # how slices are given out

# ---- the ground ----------------------------------------------------------------------------------
packed() {
    images_imported || return 1
    shell_root "$tap_dir/shell" && mkdir -p "$tap_dir/scheduler/bin" &&
        cp "${KUBEBUILDER_ASSETS:-${SLIPWAY_CACHE:-$HOME/.cache/slipway}/bin}/kube-scheduler" "$tap_dir/scheduler/bin/" &&
        hack/cluster.sh image slipway.local/shell:1 "$tap_dir/shell" sh &&
        IMAGE_USER=65532 hack/cluster.sh image "slipway.local/kube-scheduler:$(kubectl version -o json | tr -d ' "\n' | sed 's/.*serverVersion.*gitVersion:\(v[0-9.]*\).*/\1/')" "$tap_dir/scheduler" /bin/kube-scheduler
}

# cert-manager as somebody else's: its kinds, and Deployments that only sleep. What it does with
# Certificates the rules do while they are available.
cert_manager() {
    "$SLIPWAY" render src/emulator/stand_ins/cert-manager --namespace cert-manager --set crds.enabled=true,crds.keep=false --show-only templates/crds.yaml >"$tap_dir/cert-manager.yaml" || return 1
    local name
    for name in cert-manager cert-manager-webhook cert-manager-cainjector; do
        cat <<YAML
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: $name, namespace: cert-manager}
spec:
  selector: {matchLabels: {app: $name}}
  template:
    metadata: {labels: {app: $name}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: c, image: "slipway.local/shell:1", imagePullPolicy: Never, command: [sleep, infinity]}]
YAML
    done >>"$tap_dir/cert-manager.yaml"
    kubectl create namespace cert-manager && kubectl apply -f "$tap_dir/cert-manager.yaml" &&
        kubectl -n cert-manager wait --for=condition=Available deployment --all --timeout=90s
}
cert_manager_stays() {
    [ "$(kubectl -n cert-manager get deployment -o name | wc -l)" = 3 ] && kubectl get crd certificates.cert-manager.io &&
        kubectl delete --wait=false -f "$tap_dir/cert-manager.yaml" && kubectl delete namespace cert-manager --wait=false
}

# What differs here from a cluster that has GPUs: where things lie, and which images can be had.
operator_resource() {
    cat <<YAML
apiVersion: inference.redhat.com/v1alpha1
kind: DASOperator
metadata: {name: cluster, namespace: das-operator}
spec:
  managementState: Managed
  logLevel: Normal
  operatorLogLevel: Normal
  unsupportedConfigOverrides: # with emulated GPUs the first two are left out
    nfd: {enabled: true}
    gpu-operator: {enabled: true}
    webhook: {imagePullPolicy: Never}
    scheduler: {kubeSchedulerImage: slipway.local/kube-scheduler, imagePullPolicy: Never, placement: packed}
    device-plugin:
      imagePullPolicy: Never
      hostPaths: {podResources: $dir/kubelet/pod-resources, pluginsRegistry: $dir/kubelet/plugins_registry, plugins: $dir/kubelet/plugins, cdi: $cdi, journal: $journal}
    validation: {image: "slipway.local/shell:1", imagePullPolicy: Never}
    global: {slicing: $slicing}
YAML
}

deployed() { # NFD would find the GPU by its PCI id; the GPU operator's rules do the rest
    kubectl label --overwrite node "$node" feature.node.kubernetes.io/pci-10de.present=true nvidia.com/mig.capable- nvidia.com/gpu.machine- &&
        DAS_CR=$tap_dir/das.yaml make -s deploy-das && until_ok 60 kubectl get specialresource nvidia-mig
}

das() { kubectl -n $ns get dasoperator cluster -o "jsonpath={.status.conditions[?(@.type==\"$1\")].status}/{.status.conditions[?(@.type==\"$1\")].reason}"; }
das_is() { [ "$(das Available)" = True/AllRequiredComponentsAvailable ] && [ "$(das Progressing)" = False/AllComponentsAtDesiredState ] && [ "$(das Degraded)" = False/AllComponentsHealthy ]; }

# ---- pods ----------------------------------------------------------------------------------------
show='echo visible=$NVIDIA_VISIBLE_DEVICES cuda=$CUDA_VISIBLE_DEVICES; trap "exit 0" TERM; while :; do sleep 0.2; done'

# pod NAME LIMITS...: a container for each LIMITS; "init:LIMITS" makes an init container
pod() {
    local name=$1 n=0 l init="" main=""
    shift
    for l in "$@"; do
        n=$((n + 1))
        if [ "${l#init:}" != "$l" ]; then
            init="$init
  - {name: i$n, image: slipway.local/shell:1, imagePullPolicy: Never, command: [sh, -c, 'echo visible=\$NVIDIA_VISIBLE_DEVICES'], resources: {limits: {${l#init:}}}}"
        else
            main="$main
  - {name: c$n, image: slipway.local/shell:1, imagePullPolicy: Never, command: [sh, -c, '$show'], resources: {limits: {$l}}}"
        fi
    done
    kubectl apply -f - <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $name, labels: {slices: test}}
spec:
  terminationGracePeriodSeconds: 1
  ${init:+initContainers:$init}
  containers:$main
YAML
}

runs() { kubectl wait --for=condition=Ready "pod/$1" --timeout="${2:-90}s" || { kubectl describe pod "$1" | tail -15; kubectl -n $ns logs ds/das-daemonset | tail -8; return 1; }; }
claims() { kubectl -n $ns get allocationclaims -o "jsonpath={range .items[?(@.spec.podRef.name==\"$1\")]}{.status.state}{\"\\n\"}{end}"; }
states_are() { [ "$(claims "$1" | sort | uniq -c | tr -s ' ')" = " $2 $3" ]; } # POD COUNT STATE
# kill PROGRAM: KILL to what runs in a pod under that name
killed() {
    local pid n=0
    for pid in $(pgrep -x "$(cut -c1-15 <<<"$1")"); do
        if grep -q kubepods "/proc/$pid/cgroup" && grep -q "$(cat "$dir/bridge")" "/proc/$pid/cgroup"; then kill -KILL "$pid" && n=$((n + 1)); fi
    done
    [ $n -gt 0 ]
}
undeployed() {
    TIMEOUT=180 make -s undeploy-das && ! kubectl -n $ns get dasoperator cluster 2>/dev/null && ! kubectl get specialresource nvidia-mig 2>/dev/null &&
        [ -z "$(kubectl -n $ns get deploy,ds -o name 2>/dev/null)" ] && ! kubectl get mutatingwebhookconfiguration das-mutating-webhook-configuration 2>/dev/null &&
        TIMEOUT=180 make -s undeploy && kubectl delete namespace $ns --timeout=180s
}
