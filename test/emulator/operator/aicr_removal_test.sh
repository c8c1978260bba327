# A recipe of NVIDIA's AI Cluster Runtime is removed in the opposite order: a custom resource whose finalizer its operator
# has to take away goes while that operator is there, and nothing stays. By slipway uninstall, and by an operator.
. test/tap.sh
here=$PWD
slipway=$(realpath "${SLIPWAY:-build/slipway}")
export HOME=$tap_dir KUBECONFIG=$tap_dir/kubeconfig
trap 'stop operating; stop emulated; rm -rf "$tap_dir"' EXIT
cd "$tap_dir" || exit 1
. "$here/test/aicr_catalog.sh"
# gpu-operator brings a kind, tuning an object of it, which the operator holds by a finalizer
put charts/gpu-operator-chart/crds/tuning.yaml <<'Y'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tunings.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Tuning, plural: tunings, singular: tuning, listKind: TuningList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
Y
put charts/gpu-operator-chart/templates/webhook.yaml <<'Y'
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: tunings}
webhooks: []
Y
put catalog/components/tuning/manifests/tuning.yaml <<'Y'
apiVersion: example.com/v1
kind: Tuning
metadata: {name: tuning, namespace: "{{ .Release.Namespace }}"}
spec: {level: "{{ .Values.tuning.level }}"}
Y
put rules/rules.yaml <<'Y'
rule: held
for: {apiVersion: example.com/v1, kind: Tuning, where: {.metadata.deletionTimestamp: {exists: false}}}
when: [{apiVersion: apps/v1, kind: Deployment, name: gpu-operator, where: {.status.availableReplicas: {atLeast: 1}}}]
do: [{patch: {metadata: {finalizers: [example.com/held]}}}]
---
rule: let-go
for: {apiVersion: example.com/v1, kind: Tuning, where: {.metadata.deletionTimestamp: {exists: true}}}
when: [{apiVersion: apps/v1, kind: Deployment, name: gpu-operator, where: {.status.availableReplicas: {atLeast: 1}}}]
after: 2s
do:
- create: {apiVersion: v1, kind: ConfigMap, metadata: {name: let-go, namespace: default}}
- patch: {metadata: {finalizers: null}}
Y
names() { # of what a recipe of these makes
    kubectl get namespaces,customresourcedefinitions,validatingwebhookconfigurations,mutatingwebhookconfigurations,apiservices,clusterroles,clusterrolebindings -o name &&
        kubectl get deployments,daemonsets,configmaps,secrets,serviceaccounts,roles,rolebindings,services -A -o 'jsonpath={range .items[*]}{.kind}/{.metadata.namespace}/{.metadata.name}{"\n"}{end}' |
        grep -v '/slipway\|/let-go$'
}
starts() {
    cd "$here" && emulated --platform kubernetes --delays 0.1 --rules "$tap_dir/rules" && cd "$tap_dir" && names | sort >before
}
held() { kubectl get tuning -n tuning tuning -o 'jsonpath={.metadata.finalizers[0]}' | grep -qx example.com/held; }
let_go() { kubectl get configmap let-go -n default && kubectl delete configmap let-go -n default; }
same() { names | sort >after; diff before after; }
order() { # LINE LINE: one after the other in the output
    local first second
    first=$(grep -nx -- "$1" said | cut -d: -f1) second=$(grep -nx -- "$2" said | cut -d: -f1)
    [ -n "$first" ] && [ -n "$second" ] && [ "$first" -lt "$second" ] || { echo "not in this order: $1, $2"; cat said; return 1; }
}
uninstalled() {
    "$slipway" run catalog --criteria service=eks --charts-dir charts --ignore-constraints --timeout 60s >said 2>&1 && until_ok 10 held || { cat said; return 1; }
    "$slipway" uninstall eks --yes --keep-operator --timeout 60s >said 2>&1 || { cat said; return 1; }
    order "delete Tuning tuning/tuning" "delete Deployment gpu-operator/gpu-operator" && order "delete Deployment gpu-operator/gpu-operator" "delete Deployment cert-manager/cert-manager" &&
        order "delete Deployment gpu-operator/gpu-operator" "delete Namespace gpu-operator" && until_ok 10 let_go && until_ok 10 same
}
deleted() {
    cd "$here" && operating --allowed-files "$tap_dir" --charts-dir "$tap_dir/charts" && cd "$tap_dir" || return 1
    printf 'apiVersion: sro.openshift.io/v1beta1\nkind: SpecialResource\nmetadata: {name: eks, annotations: {slipway.dev/constraints: warn}}\nspec: {aicr: {data: "file://%s/catalog", criteria: service=eks}}\n' "$tap_dir" | kubectl apply -f - || return 1
    until_ok 40 ready && until_ok 10 held || { kubectl get specialresource eks -o yaml | tail -40; tail -5 log; return 1; }
    kubectl delete specialresource eks --wait=false && until_ok 40 gone && let_go && until_ok 10 same
}
ready() { kubectl get specialresource eks -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}' | grep -qx True; }
gone() { ! kubectl get specialresource eks 2>/dev/null; }
t "an emulated cluster" starts
t "slipway uninstall: what an operator has to let go goes while it is there, and nothing stays" uninstalled
t "an operator: so it does where the resource is deleted" deleted
plan
