# Slices end to end, as the users of the Dynamic Accelerator Slicer know it: `make deploy-das`, the
# nvidia-mig recipe walked by the operator, and then pods that ask for slices. Real are the API server,
# its calls of the webhook, kube-scheduler, kubelet, the four programs' images; made up are the GPUs.
. test/tap.sh
ns=das-operator
dir=$SLIPWAY_CLUSTER_DIR
cdi=$dir/slicing/cdi journal=$dir/slicing/journal
export TAG=e2e REGISTRY=slipway.local PULL_POLICY=Never KUBECTL=kubectl TIMEOUT=120 EMULATED_MODE=enabled

if [ -z "$(kubectl get nodes -o name)" ]; then
    skip "slices end to end" "no node in this cluster"
    plan
fi
node=$(kubectl get nodes -o 'jsonpath={.items[0].metadata.name}')
ctrs() { ctr -a "$dir/containerd.sock" -n k8s.io "$@"; }

# ---- the ground ----------------------------------------------------------------------------------
# A small root with a shell, under the names that the recipe and DAS's samples use.
shell_root() { # DIR
    local p lib
    mkdir -p "$1/bin"
    for p in dash sleep env grep cat; do
        cp "$(command -v $p)" "$1/bin/"
        for lib in $(ldd "$(command -v $p)" | grep -o '/[^ ]*'); do
            mkdir -p "$1${lib%/*}" && cp -L "$lib" "$1$lib"
        done
    done
    ln -s dash "$1/bin/sh"
}

packed() {
    local p
    make -s local-image-build || return 1
    for p in build/images/*.tar; do ctrs images import "$p" || return 1; done
    shell_root "$tap_dir/shell" && mkdir -p "$tap_dir/scheduler" && cp "${KUBEBUILDER_ASSETS:-${SLIPWAY_CACHE:-$HOME/.cache/slipway}/bin}/kube-scheduler" "$tap_dir/scheduler/" &&
        PATH=/bin hack/cluster.sh image quay.io/prometheus/busybox:latest "$tap_dir/shell" sh &&
        hack/cluster.sh image slipway.local/shell:1 "$tap_dir/shell" sh &&
        hack/cluster.sh image slipway.local/kube-scheduler:v1.20.2 "$tap_dir/scheduler" /kube-scheduler
}

# What differs here from a cluster that has GPUs: where things lie, and which images can be had.
values() {
    cat <<YAML
spec:
  set:
    scheduler: {kubeSchedulerImage: slipway.local/kube-scheduler, imagePullPolicy: Never}
    webhook: {imagePullPolicy: Never}
    device-plugin: {imagePullPolicy: Never, hostPaths: {podResources: $dir/kubelet/pod-resources, cdi: $cdi, journal: $journal}}
    validation: {image: "slipway.local/shell:1", imagePullPolicy: Never}
YAML
}

deployed() {
    kubectl label --overwrite node "$node" nvidia.com/mig.capable=true && make -s deploy-das &&
        until_ok 30 kubectl get specialresource nvidia-mig && kubectl patch specialresource nvidia-mig --type merge -p "$(values)"
}

condition() { kubectl get specialresource nvidia-mig -o "jsonpath={.status.conditions[?(@.type==\"$1\")].status}"; }
ready() { [ "$(condition Ready)" = True ]; }
walked() {
    until_ok 300 ready || { kubectl get specialresource nvidia-mig -o yaml; kubectl get pods -A; return 1; }
}

t "the images are packed from the build" packed
t "make deploy-das" deployed
t "the recipe is walked to Ready" walked
plan
