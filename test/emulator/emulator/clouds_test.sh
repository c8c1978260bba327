# slipway emulate --platform eks|gke|aks|oke|kind: the nodes and StorageClasses of a cloud's clusters, and recipes on them.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
export KUBECONFIG=$tap_dir/kubeconfig SLIPWAY_STAND_INS=1
command -v kubectl >/dev/null || { skip "clouds" "no kubectl here"; plan; }
trap 'stop emulated; rm -rf "$tap_dir"' EXIT

on() { stop emulated; emulated --platform "$@"; }
of() { kubectl get node gpu-0 -o "jsonpath={$1}"; } # PATH
walks() { "$slipway" run "recipes/$1" --timeout 60s >"$tap_dir/said" 2>&1 || { tail -5 "$tap_dir/said"; return 1; }; }

cloud() { # NAME PROVIDER SYSTEM KERNEL DEFAULT-CLASS
    on "$1" && [[ "$(of .spec.providerID)" = "$2"* ]] && [[ "$(of .status.nodeInfo.osImage)" = "$3"* ]] && [[ "$(of .status.nodeInfo.kernelVersion)" = *"$4" ]] &&
        [ "$(kubectl get storageclass -o json | jq -r '.items[] | select(.metadata.annotations["storageclass.kubernetes.io/is-default-class"] == "true").metadata.name')" = "$5" ]
}
eks() { cloud eks aws:///us-west-2a/i- Ubuntu -aws gp2 && [ "$(of '.metadata.labels.eks\.amazonaws\.com/nodegroup}{.metadata.labels.node\.kubernetes\.io/instance-type')" = gpup5.48xlarge ]; }
gke() { cloud gke gce:// Container-Optimized + standard-rwo && [ "$(of '.metadata.labels.cloud\.google\.com/gke-accelerator}{.spec.taints[*].key')" = nvidia-h100-80gbnvidia.com/gpu ]; }
aks() { cloud aks azure:///subscriptions/ Ubuntu -azure default && [ "$(of '.metadata.labels.kubernetes\.azure\.com/agentpool')" = gpu ]; }
oke() { cloud oke oci://ocid1.instance. "Oracle Linux" .el8uek.x86_64 oci-bv && [ "$(of '.spec.taints[*].key')" = nvidia.com/gpu ]; }
kind() { cloud kind kind:// Debian -generic standard && kubectl get node master-0 -o json | jq -e '.metadata.labels | has("node-role.kubernetes.io/control-plane")'; }
managed() { ! kubectl get nodes -o json | jq -e '.items[].metadata.labels | select(has("node-role.kubernetes.io/master") or has("node-role.kubernetes.io/control-plane"))'; }
known() { # as `slipway recommend` sees it
    "$slipway" recommend "$tap_dir/catalog" >"$tap_dir/said" 2>&1
    grep -q "service $1," "$tap_dir/said" || { cat "$tap_dir/said"; return 1; }
}
catalog() {
    mkdir -p "$tap_dir/catalog/overlays" && printf 'apiVersion: aicr.nvidia.com/v1alpha1\nkind: ComponentRegistry\ncomponents: []\n' >"$tap_dir/catalog/registry.yaml" &&
        printf 'apiVersion: aicr.nvidia.com/v1alpha1\nkind: RecipeMetadata\nmetadata: {name: base}\nspec: {componentRefs: []}\n' >"$tap_dir/catalog/overlays/base.yaml"
}
catalog

t "eks: Ubuntu on AWS, a node group with GPUs" eks
t "a managed control plane has no nodes" managed
t "recommend knows the cloud by its nodes" known eks
t "aks: Ubuntu on Azure, an agent pool with GPUs" aks
t "kind: Debian, with a control plane" kind
t "oke: Oracle Linux, nodes with GPUs are tainted" oke
# of the driver, on nodes that are tainted
on_tainted() { walks nvidia-gpu && [ "$(kubectl get nodes -l specialresource.openshift.io/state-nvidia-gpu-driver-container=Ready -o name | wc -l)" = 3 ]; }
t "a recipe for GPUs takes the tainted nodes, each with its kernel" on_tainted
t "gke: Container-Optimized OS, nodes with GPUs are tainted" gke
t "a kernel that no label may have is found by the label that Node Feature Discovery gives it" on_tainted
custom() { on gke && walks gpu-cluster && [ "$(kubectl get nodes -l specialresource.openshift.io/state-gpu-cluster-gpu-cluster-operator=Ready -o name | grep -c gpu-)" = 3 ]; }
t "so does one whose pods an operator makes" custom
untolerated() { # who says no more what his pods tolerate leaves these nodes alone
    on gke && cp -rL recipes "$tap_dir/recipes" && cp -rL states "$tap_dir/states" && sed -i '/slipway.dev\/tolerations/,+1d' "$tap_dir/recipes/gpu-cluster/Chart.yaml" &&
        ! "$slipway" run "$tap_dir/recipes/gpu-cluster" --timeout 5s >"$tap_dir/said" 2>&1 && grep -q "no node of the resource is one that it waits for" "$tap_dir/said" || { tail -3 "$tap_dir/said"; return 1; }
}
t "without its annotation slipway.dev/tolerations a recipe has no tainted nodes" untolerated
wrong() {
    sed -i 's/^annotations:/annotations:\n  slipway.dev\/tolerations: "- {key: a, operator: Perhaps}"/' "$tap_dir/recipes/gpu-cluster/Chart.yaml" &&
        ! "$slipway" lint "$tap_dir/recipes/gpu-cluster" >"$tap_dir/said" 2>&1 && grep -q "Chart.yaml:9: error: annotations.slipway.dev/tolerations: \[0\].operator: 'Perhaps' is neither Exists nor Equal" "$tap_dir/said" || { cat "$tap_dir/said"; return 1; }
}
t "lint refuses tolerations that are none" wrong
plan
