# The recipes on a real API server and a real kubelet, with the rules of the embedded cluster in the place of the
# vendors' operators: they come one after the other and are Ready together, no object is refused, and they go again.
# Pods are those of the stand-in image, which validates nothing; a recipe that needs a newer Kubernetes is left out.
. test/tap.sh
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
come() { # RECIPE
    "$slipway" run "recipes/$1" --stand-ins --timeout 120s --set 'validation.command={/bin/true}' >"$tap_dir/$1.log" 2>&1 || { tail -8 "$tap_dir/$1.log"; return 1; }
    ! grep -iE 'refused|rejected|is invalid' "$tap_dir/$1.log"
}
are_ready() {
    local r
    for r in "$@"; do
        [ "$(kubectl get specialresource "$r" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}')" = True ] || { echo "$r"; return 1; }
    done
}
go() { "$slipway" uninstall "$1" --yes >"$tap_dir/gone.log" 2>&1 || { tail -5 "$tap_dir/gone.log"; return 1; }; }

t "a node with accelerators of all vendors" hardware
recipes="intel-device-plugins amd-gpu intel-gaudi nvidia-network"
for r in $recipes; do t "$r comes" come "$r"; done
t "all are Ready" are_ready $recipes
for r in $recipes; do t "$r goes" go "$r"; done
plan
