# A recipe of NVIDIA's AI Cluster Runtime, node by node: nodes with GPUs get the label of gpu-operator when they have them to
# give, and the DRA driver's plugin runs on these alone. They have a taint, which no component without pods tolerates. With the
# emulator's GPU operator and Node Feature Discovery.
. test/tap.sh
here=$PWD
slipway=$(realpath "${SLIPWAY:-build/slipway}")
export HOME=$tap_dir KUBECONFIG=$tap_dir/kubeconfig
trap 'stop operating; stop emulated; rm -rf "$tap_dir"' EXIT
cd "$tap_dir" || exit 1
put() { mkdir -p "$(dirname "$1")" && cat >"$1"; }
put catalog/registry.yaml <<'Y'
apiVersion: aicr.nvidia.com/v1alpha1
kind: ComponentRegistry
components: [{name: nfd}, {name: gpu-operator}, {name: nvidia-dra-driver-gpu}]
Y
put catalog/overlays/base.yaml <<'Y'
apiVersion: aicr.nvidia.com/v1alpha1
kind: RecipeMetadata
metadata: {name: base}
spec:
  componentRefs:
  - {name: nfd, namespace: nfd, source: "https://charts.example.com", chart: node-feature-discovery, version: 1.0.0, overrides: {worker: {tolerations: [{operator: Exists}]}}}
  - {name: gpu-operator, namespace: gpu-operator, source: "https://charts.example.com", chart: gpu-operator, version: 1.0.0, dependencyRefs: [nfd]}
  - {name: nvidia-dra-driver-gpu, namespace: nvidia-dra-driver, source: "https://charts.example.com", chart: nvidia-dra-driver-gpu, version: 1.0.0, dependencyRefs: [gpu-operator]}
Y
put charts/nvidia-dra-driver-gpu/Chart.yaml <<<'{apiVersion: v2, name: nvidia-dra-driver-gpu, version: 1.0.0}'
put charts/nvidia-dra-driver-gpu/templates/plugin.yaml <<'Y'
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: plugin, namespace: "{{ .Release.Namespace }}"}
spec:
  selector: {matchLabels: {app: plugin}}
  template:
    metadata: {labels: {app: plugin}}
    spec: {tolerations: [{operator: Exists}], containers: [{name: c, image: "registry.example.com/x:1"}]}
Y
cp -r "$here"/src/emulator/stand_ins/node-feature-discovery "$here"/src/emulator/stand_ins/gpu-operator charts/
nodes() { kubectl get nodes -o name "$@" | sort; } # of a selector
label=specialresource.openshift.io/state-eks-gpu-operator
starts() {
    (cd "$here" && emulated --platform eks --delays 0.1) &&
        kubectl get nodes -o json | jq -r '.items[] | select(.metadata.annotations | keys | any(startswith("emulator.slipway.dev/gpu"))) | .metadata.name' | xargs -I{} kubectl taint node {} nvidia.com/gpu=present:NoSchedule &&
        "$slipway" run catalog --criteria service=any --name eks --charts-dir charts --timeout 90s >said 2>&1 || { tail -20 said; return 1; }
}
labelled() {
    nodes -l feature.node.kubernetes.io/pci-10de.present=true >gpus && nodes -l "$label=Ready" >ready && nodes >all && cat all gpus ready &&
        [ -s gpus ] && cmp gpus ready && ! cmp -s gpus all
}
late() { # a copy of a node with GPUs joins
    (cd "$here" && operating --allowed-files "$tap_dir" --charts-dir "$tap_dir/charts") || return 1
    kubectl get "$(head -1 gpus)" -o json | jq 'del(.metadata.uid, .metadata.resourceVersion, .metadata.creationTimestamp, .metadata.managedFields, .spec.podCIDR, .spec.podCIDRs) | .metadata.name = "late-0" | .metadata.annotations |= with_entries(select(.key | startswith("emulator.slipway.dev/gpu"))) |
        .metadata.labels |= with_entries(select(.key | test("nvidia|feature.node|specialresource|slipway") | not)) | .metadata.labels["kubernetes.io/hostname"] = "late-0" | .spec.providerID = "aws:///late-0" |
        .status.allocatable |= with_entries(select(.key | test("nvidia") | not)) | .status.capacity |= with_entries(select(.key | test("nvidia") | not))' >late.json &&
        kubectl create -f late.json && until_ok 40 there || { kubectl get node late-0 -o json | jq '.metadata.labels, .status.allocatable'; kubectl get pods -A -o wide | grep late; tail -5 log; return 1; }
}
placed() {
    kubectl get daemonset plugin -n nvidia-dra-driver -o 'jsonpath={.spec.template.spec.nodeSelector}' >selector
    [ "$(cat selector)" = "{\"$label\":\"Ready\"}" ] || { cat selector; return 1; }
    kubectl get pods -n nvidia-dra-driver -l app=plugin -o 'jsonpath={range .items[*]}node/{.spec.nodeName}{"\n"}{end}' | sort | diff - gpus
}
tainted() { kubectl get "$(sed -n 1p gpus)" -o 'jsonpath={.spec.taints[*].key}' | grep -w nvidia.com/gpu; }
there() { nodes -l "$label=Ready" | grep -qx node/late-0 && kubectl get pods -n nvidia-dra-driver -l app=plugin -o 'jsonpath={.items[*].spec.nodeName}' | grep -qw late-0; }
t "it walks" starts
t "nodes with GPUs have the label of gpu-operator, and no other has" labelled
t "their taint is no hindrance" tainted
t "the DRA driver's plugin runs on these alone, by their labels" placed
t "a node that joins late gets its devices, the label, and the plugin" late
plan
