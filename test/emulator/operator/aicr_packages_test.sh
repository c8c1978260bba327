# A recipe of NVIDIA's AI Cluster Runtime: a Skyhook's packages and the network cards' own driver (OFED) are gates per node.
# A node that has them gets slipway's label while another is at it still, and one that joins late gets no label of the GPU
# operator before. With the emulator's operators; the charts are small ones of the same names.
. test/tap.sh
here=$PWD
slipway=$(realpath "${SLIPWAY:-build/slipway}")
export HOME=$tap_dir KUBECONFIG=$tap_dir/kubeconfig
trap 'stop walking; stop operating; stop emulated; rm -rf "$tap_dir"' EXIT
cd "$tap_dir" || exit 1
put() { mkdir -p "$(dirname "$1")" && cat >"$1"; }
put catalog/registry.yaml <<'Y'
apiVersion: aicr.nvidia.com/v1alpha1
kind: ComponentRegistry
components: [{name: nfd}, {name: gpu-operator}, {name: skyhook-operator}, {name: network-operator}, {name: skyhook-customizations, healthCheck: {assertFile: check.yaml}}]
Y
put catalog/check.yaml <<'Y'
apiVersion: chainsaw.kyverno.io/v1alpha1
kind: Test
metadata: {name: check}
spec: {steps: [{try: [{assert: {resource: {apiVersion: skyhook.nvidia.com/v1alpha1, kind: Skyhook, metadata: {name: tuning}, status: {status: complete}}}}]}]}
Y
put catalog/overlays/base.yaml <<'Y'
apiVersion: aicr.nvidia.com/v1alpha1
kind: RecipeMetadata
metadata: {name: base}
spec:
  componentRefs:
  - {name: nfd, namespace: nfd, source: "https://charts.example.com", chart: node-feature-discovery, version: 1.0.0, overrides: {worker: {tolerations: [{operator: Exists}]}}}
  - {name: skyhook-operator, namespace: skyhook, source: "https://charts.example.com", chart: skyhook-operator, version: 1.0.0}
  - {name: skyhook-customizations, namespace: skyhook, manifestFiles: [components/skyhook-customizations/manifests/tuning.yaml], dependencyRefs: [skyhook-operator, nfd]}
  - {name: network-operator, namespace: nvidia-network-operator, source: "https://charts.example.com", chart: network-operator, version: 1.0.0, manifestFiles: [components/network-operator/manifests/policy.yaml]}
  - {name: gpu-operator, namespace: gpu-operator, source: "https://charts.example.com", chart: gpu-operator, version: 1.0.0, dependencyRefs: [nfd, skyhook-customizations, network-operator]}
Y
put catalog/components/skyhook-customizations/manifests/tuning.yaml <<'Y'
apiVersion: skyhook.nvidia.com/v1alpha1
kind: Skyhook
metadata:
  name: tuning
  namespace: {{ .Release.Namespace }}
  annotations: {helm.sh/hook: "post-install,post-upgrade", helm.sh/hook-delete-policy: before-hook-creation}
spec:
  nodeSelectors: {matchLabels: {feature.node.kubernetes.io/pci-10de.present: "true"}}
  packages: {tuning: {image: registry.example.com/tuning, version: 1.0.0}}
Y
put catalog/components/network-operator/manifests/policy.yaml <<'Y'
apiVersion: mellanox.com/v1alpha1
kind: NicClusterPolicy
metadata: {name: nic-cluster-policy}
spec:
  {{- if index .Values "network-operator" "ofed" | default true }}
  ofedDriver: {image: doca-driver, repository: registry.example.com, version: "1"}
  {{- end }}
  nvIpam: {image: nvidia-k8s-ipam, repository: registry.example.com, version: "1"}
Y
put charts/skyhook-operator/Chart.yaml <<<'{apiVersion: v2, name: skyhook-operator, version: 1.0.0}'
put charts/skyhook-operator/templates/operator.yaml <<'Y'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: skyhooks.skyhook.nvidia.com}
spec:
  group: skyhook.nvidia.com
  scope: Namespaced
  names: {kind: Skyhook, plural: skyhooks, singular: skyhook, listKind: SkyhookList}
  versions: [{name: v1alpha1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: skyhook-operator-controller-manager, namespace: "{{ .Release.Namespace }}"}
spec:
  selector: {matchLabels: {app: skyhook}}
  template:
    metadata: {labels: {app: skyhook}}
    spec: {containers: [{name: c, image: "registry.example.com/x:1"}]}
Y
for chart in node-feature-discovery gpu-operator network-operator; do
    cp -r "$here/src/emulator/stand_ins/$chart" charts/
done
# a network card whose driver takes its time
mkdir rules
sed '/^rule: nic-driver-label/,/^---/s/labels: feature.node.kubernetes.io\/pci-15b3.present}/labels: "feature.node.kubernetes.io\/pci-15b3.present,ofed!=slow"}/' \
    "$here/src/emulator/rules/builtin/nvidia-network-operator.yaml" >rules/nvidia-network-operator.yaml
grep -q 'ofed!=slow' rules/nvidia-network-operator.yaml || exit 1

label() { echo "specialresource.openshift.io/state-eks-$1"; }                    # STATE
has() { kubectl get node "$1" -o json | jq -r --arg l "$(label "$2")" '.metadata.labels[$l]' | grep -qx Ready; } # NODE STATE
has_not() { ! has "$@"; }
is_there() { [ "$(kubectl get deployments -A -o name | grep -c "/$1$")" = 1 ]; }
starts() {
    (cd "$here" && emulated --platform eks --nodes 4 --delays 0.1 --rules "$tap_dir/rules") || return 1
    kubectl get nodes -o json | jq -r '.items[] | select(.metadata.annotations | keys | any(startswith("emulator.slipway.dev/gpu"))) | .metadata.name' >gpus
    cat gpus && [ "$(wc -l <gpus)" -ge 2 ] && xargs -I{} kubectl label node {} feature.node.kubernetes.io/pci-15b3.present=true <gpus &&
        kubectl annotate node "$(sed -n 2p gpus)" emulator.slipway.dev/packages=wait && kubectl label node "$(sed -n 2p gpus)" ofed=slow
}
walks() {
    "$slipway" run catalog --criteria service=any --name eks --charts-dir charts --timeout 120s >said 2>&1 &
    echo $! >walking.pid
}
by_itself() { # the first node goes on while the second one is at it
    until_ok 40 has "$(sed -n 1p gpus)" skyhook-customizations && until_ok 40 has "$(sed -n 1p gpus)" network-operator-post || { tail -5 said; kubectl get nodes -o json | jq '.items[].metadata.labels'; return 1; }
    has_not "$(sed -n 2p gpus)" skyhook-customizations && has_not "$(sed -n 2p gpus)" network-operator-post && ! is_there gpu-operator || { tail -5 said; return 1; }
    until_ok 20 told || { cat messages; return 1; }
}
told() {
    kubectl get specialresource eks -o json | jq -r '.status.states[].message // empty' >messages
    grep -q 'Skyhook skyhook/tuning is not as asserted: status.status is in_progress, not complete' messages &&
        grep -q 'have no label network.nvidia.com/operator.mofed.wait=false yet (gpu-1)' messages
}
goes_on() {
    kubectl annotate node "$(sed -n 2p gpus)" emulator.slipway.dev/packages- && kubectl label node "$(sed -n 2p gpus)" ofed- && until_ok 60 ended "$(cat walking.pid)" || { tail -5 said; return 1; }
    rm walking.pid
    grep -q 'eks: Ready$' said && for node in $(cat gpus); do has "$node" skyhook-customizations && has "$node" gpu-operator || return 1; done || { tail -5 said; return 1; }
    kubectl get nodes -o name -l "$(label skyhook-customizations)=Ready" | sed 's/.*\///' | sort | diff - <(sort gpus)
}
joins() { # a copy of a node with GPUs, which is at its packages
    (cd "$here" && operating --allowed-files "$tap_dir" --charts-dir "$tap_dir/charts") || return 1
    kubectl get node "$(head -1 gpus)" -o json | jq 'del(.metadata.uid, .metadata.resourceVersion, .metadata.creationTimestamp, .metadata.managedFields, .spec.podCIDR, .spec.podCIDRs) | .metadata.name = "late-0" | .metadata.annotations |= with_entries(select(.key | startswith("emulator.slipway.dev/gpu"))) |
        .metadata.labels |= with_entries(select(.key | test("nvidia|feature.node|specialresource|slipway") | not)) | .metadata.labels["kubernetes.io/hostname"] = "late-0" | .spec.providerID = "aws:///late-0" |
        .metadata.annotations["emulator.slipway.dev/packages"] = "wait" |
        .status.allocatable |= with_entries(select(.key | test("nvidia") | not)) | .status.capacity |= with_entries(select(.key | test("nvidia") | not))' >late.json &&
        kubectl create -f late.json && until_ok 40 has_gpus && until_ok 20 at_it || { kubectl get specialresource eks -o json | jq -c '.status.states[]' | grep -v Ready; return 1; }
    has_not late-0 skyhook-customizations && has_not late-0 gpu-operator || return 1
    kubectl annotate node late-0 emulator.slipway.dev/packages- && until_ok 40 has late-0 gpu-operator && has late-0 skyhook-customizations || { kubectl get node late-0 -o json | jq .metadata.labels; tail -5 log; return 1; }
}
has_gpus() { kubectl get node late-0 -o json | jq -r '.status.allocatable["nvidia.com/gpu"]' | grep -q '^[1-9]'; }
at_it() {
    kubectl get node late-0 -o 'jsonpath={.metadata.labels.skyhook\.nvidia\.com/status_tuning}' | grep -qx in_progress &&
        kubectl get specialresource eks -o json | jq -r '.status.states[] | select(.name == "skyhook-customizations").class' | grep -qx Waiting
}
goes() { # the operator takes its labels off the nodes, while it is there
    stop operating && "$slipway" uninstall eks --yes --keep-operator --timeout 60s >said 2>&1 || { cat said; return 1; }
    ! kubectl get nodes -o json | jq -e '.items[].metadata.labels | keys[] | select(startswith("skyhook.nvidia.com/status_"))'
}
without() { # no such driver in the policy: nothing is waited for
    sed -i 's/\(chart: network-operator, version: 1.0.0,\)/\1 overrides: {ofed: false},/' catalog/overlays/base.yaml &&
        sed -i 's/{{- if .*/{{- if (index .Values "network-operator").ofed }}/' catalog/components/network-operator/manifests/policy.yaml &&
        kubectl label node "$(sed -n 2p gpus)" ofed=slow network.nvidia.com/operator.mofed.wait- &&
        "$slipway" run catalog --criteria service=any --name eks --charts-dir charts --timeout 60s >said 2>&1 || { tail -5 said; return 1; }
    "$slipway" render catalog --criteria service=any --name eks --charts-dir charts >out.yaml && ! grep -q mofed.wait out.yaml
}
t "an emulated cluster" starts
walks
t "a node with the packages and the driver gets the labels while another is at it" by_itself
t "when that has them, what needs them begins" goes_on
t "a node that joins late gets no label of the GPU operator before its packages are on it" joins
t "it is removed, and the nodes' labels with it" goes
t "without that driver in the policy no node is waited for" without
plan
