# The ValidatingAdmissionPolicy of charts/slipway on a server that has the kind: who writes a SpecialResource
# needs the verb use on its account. On older servers the webhook asks the same (trust_test.sh).
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
kind=admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy
if ! kubectl get --raw /apis/admissionregistration.k8s.io/v1 2>/dev/null | grep -q '"validatingadmissionpolicies"'; then
    echo "ok 1 - the policy for accounts # SKIP the API server is older than Kubernetes 1.30"; echo 1..1; exit 0
fi
ns=policy-gpu-$$
policy() { "$slipway" render charts/slipway --namespace slipway -a $kind -s templates/admission.yaml; }
cleanup() {
    policy | kubectl delete --ignore-not-found -f - >/dev/null 2>&1
    kubectl delete --ignore-not-found specialresource policy-gpu policy-any >/dev/null 2>&1
    kubectl delete --ignore-not-found clusterrole/policy-writer clusterrolebinding/policy-writer namespace/$ns --wait=false >/dev/null 2>&1
    rm -rf "$tap_dir"
}
trap cleanup EXIT

write() { # USER NAME NAMESPACE ACCOUNT STEP
    kubectl --as "$1" apply -f - 2>"$tap_dir/err" <<YAML
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: $2}
spec: {namespace: "$3", serviceAccountName: $4, managementState: Unmanaged, set: {kind: Values, apiVersion: v1, step: "$5"}, chart: {name: gpu, version: 0.1.0, repository: {name: none, url: "file:///none"}}}
YAML
}
refused() { ! write "$@" && grep -F 'who writes it needs the verb use on that account' "$tap_dir/err"; }
set_up() {
    kubectl apply -f deploy/crds/sro.openshift.io_specialresources.yaml -f deploy/crds/sro.openshift.io_specialresourcemodules.yaml &&
        kubectl create namespace $ns && kubectl create clusterrole policy-writer --verb=get,create,update,patch --resource=specialresources.sro.openshift.io &&
        kubectl create clusterrolebinding policy-writer --clusterrole=policy-writer --user=jane --user=system:serviceaccount:slipway:slipway &&
        policy | kubectl apply -f - && until_ok 60 eval 'refused jane policy-gpu $ns installer $RANDOM' # the policy counts a moment later; what does not change is not asked about
}
may_use() { # ACCOUNT: `kubectl create role` takes this verb for some kinds only
    kubectl -n $ns apply -f - <<YAML
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: installs}
rules: [{apiGroups: [""], resources: [serviceaccounts], resourceNames: [$1], verbs: [use]}]
YAML
}
allowed() {
    may_use installer && kubectl -n $ns create rolebinding installs --role=installs --user=jane &&
        until_ok 30 write jane policy-gpu $ns installer a
}

t "who may not use the account is refused" set_up
t "who may is not" allowed
t "another recipe is another use" write jane policy-gpu $ns installer b
t "another account is refused" refused jane policy-gpu $ns other c
t "a namespace that is a template needs the right everywhere" refused jane policy-any '{{ .Values.x }}' installer a
t "a label is no use" kubectl --as jane label specialresource policy-gpu step=d
t "the operator is not asked about" write system:serviceaccount:slipway:slipway policy-gpu $ns other e
plan
