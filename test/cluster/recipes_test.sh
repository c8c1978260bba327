# The recipes on a real API server and a real kubelet, with the rules of the embedded cluster in the place of the
# vendors' operators: they come one after the other and are Ready together, no object is refused, and they go again
# in three orders. The vendors' images are the stand-in, which waits or ends well; slipway's are of this build. What
# the node has not is left out: files of its firmware (feature-discovery), a port that answers (monitoring).
# gpu-cluster comes by itself, where Kubernetes is new enough for it, as far as it can without NVIDIA's driver of DRA.
# On a new cluster: the definitions of the vendors' charts stay, which other tests bring themselves.
. test/tap.sh
. test/cluster_images.sh
slipway=${SLIPWAY_TEST:-build/test/slipway}
[ -x "$slipway" ] || slipway=${SLIPWAY:-build/slipway}
node=$(kubectl get nodes -o 'jsonpath={.items[0].metadata.name}')
[ -n "$node" ] || { skip "recipes on a node" "the cluster has none"; plan; }

# what the node of the embedded cluster has that has most: worker-0, and GPUs
hardware() {
    local features
    features=$(sed -n '/emulator.slipway.dev\/features{{ end }}/,/machineconfiguration/p' src/emulator/rules/builtin/cluster.yaml | sed '1d;$d;s/^ *//' | tr '\n' ' ')
    jq -e '."pci.device"' <<<"$features" && kubectl annotate node "$node" --overwrite "emulator.slipway.dev/features=$features" \
        emulator.slipway.dev/gpus=2 emulator.slipway.dev/gpu-model=NVIDIA-A100-PCIE-40GB
}
programs() {
    images_imported && mkdir -p "$tap_dir/scheduler/bin" &&
        cp "${KUBEBUILDER_ASSETS:-${SLIPWAY_CACHE:-$HOME/.cache/slipway}/bin}/kube-scheduler" "$tap_dir/scheduler/bin/" &&
        IMAGE_USER=65532 hack/cluster.sh image "slipway.local/kube-scheduler:$(kubectl version -o json | jq -r .serverVersion.gitVersion)" "$tap_dir/scheduler" /bin/kube-scheduler
}

# What differs here from a cluster with the hardware.
values_of() { # RECIPE
    case $1 in
    nvidia-gpu) echo 'driver-validation.command={/bin/true},plugin-validation.command={/bin/true},monitoring.enabled=false,feature-discovery.enabled=false' ;;
    nvidia-mig)
        echo "webhook.image=slipway.local/slipway-webhook:e2e,scheduler.image=slipway.local/slipway-scheduler:e2e,device-plugin.image=slipway.local/slipway-device-plugin:e2e"
        echo "scheduler.kubeSchedulerImage=slipway.local/kube-scheduler,validation.command={/bin/true},device-plugin.emulatedMode=enabled"
        echo "device-plugin.hostPaths.plugins=$SLIPWAY_CLUSTER_DIR/kubelet/plugins,device-plugin.hostPaths.pluginsRegistry=$SLIPWAY_CLUSTER_DIR/kubelet/plugins_registry"
        echo "device-plugin.hostPaths.podResources=$SLIPWAY_CLUSTER_DIR/kubelet/pod-resources,device-plugin.hostPaths.cdi=$SLIPWAY_CLUSTER_DIR/slicing/cdi,device-plugin.hostPaths.journal=$SLIPWAY_CLUSTER_DIR/slicing/journal"
        ;;
    simple-kmod) echo 'driver-validation.command={/bin/true}' ;;
    *) echo 'validation.command={/bin/true}' ;;
    esac | paste -sd,
}
come() { # RECIPE
    "$slipway" run "recipes/$1" --stand-ins --timeout 120s --set "$(values_of "$1")" >"$tap_dir/$1.log" 2>&1 || { tail -8 "$tap_dir/$1.log"; return 1; }
    ! grep -iE 'refused|rejected|is invalid' "$tap_dir/$1.log"
}
are_ready() {
    local r
    for r in "$@"; do
        [ "$(kubectl get specialresource "$r" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}')" = True ] || { echo "$r"; return 1; }
    done
}
# those that are left keep what they shared with it (with SW_ALL: their walks are gone again each time)
go() { # RECIPE LEFT...
    local r
    "$slipway" uninstall "$1" --yes >"$tap_dir/gone.log" 2>&1 || { tail -5 "$tap_dir/gone.log"; return 1; }
    shift
    [ $# -gt 0 ] && [ -n "${SW_ALL:-}" ] || return 0
    for r in "$@"; do
        "$slipway" run "recipes/$r" --stand-ins --timeout 60s --set "$(values_of "$r")" >"$tap_dir/$r.log" 2>&1 || { tail -8 "$tap_dir/$r.log"; return 1; }
    done
}
is_gone() { [ -z "$(kubectl get namespaces -o name | grep -E 'nvidia|intel|amd|gaudi|node-feature|das-operator')" ]; }
minor() { kubectl version -o json | tr -d ' "\n' | sed 's/.*serverVersion.*minor:\([0-9]*\).*/\1/'; }
nothing_is_left() { until_ok 120 is_gone || { kubectl get namespaces; return 1; }; }

t "slipway's images and a scheduler" programs
t "a node with accelerators of all vendors" hardware
in_order() { # RECIPE...
    local r
    for r in "$@"; do t "$r comes" come "$r"; done
    t "all are Ready: $*" are_ready "$@"
    while [ $# -gt 0 ]; do
        t "$1 goes" go "$@"
        shift
    done
    t "nothing is left" nothing_is_left
}
in_order intel-device-plugins amd-gpu nvidia-gpu nvidia-mig intel-gaudi nvidia-network
# kube-scheduler gives the validator a GPU of the published ResourceSlice; kubelet has no driver that prepares it
claims_a_gpu() {
    "$slipway" run recipes/gpu-cluster --stand-ins --timeout 45s --fail-fast=false >"$tap_dir/gpu-cluster.log" 2>&1
    cat "$tap_dir/gpu-cluster.log"
    ! grep -iE 'refused|rejected|is invalid' "$tap_dir/gpu-cluster.log" &&
        kubectl -n nvidia-gpu-operator get resourceclaims -o json | jq -e '[.items[].status.allocation.devices.results[0].driver] | length > 0 and all(. == "gpu.nvidia.com")' &&
        "$slipway" explain gpu-cluster | grep -q 'DRA driver gpu.nvidia.com is not registered'
}
if [ "$(minor)" -ge 34 ]; then
    t "gpu-cluster claims a GPU" claims_a_gpu
    t "gpu-cluster goes" go gpu-cluster
    t "nothing is left" nothing_is_left
fi
[ -z "${SW_ALL:-}" ] || in_order nvidia-mig nvidia-gpu intel-device-plugins simple-kmod
[ -z "${SW_ALL:-}" ] || in_order simple-kmod intel-device-plugins nvidia-mig nvidia-gpu
plan
