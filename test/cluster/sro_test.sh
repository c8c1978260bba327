# What the API server has a say in of SRO's contract: fields that SRO owned, releases, dependencies,
# and what is refused by rights, by a quota, by a webhook that is down, by a namespace that goes.
. test/tap.sh
slipway=${SLIPWAY_TEST:-build/test/slipway}
[ -x "$slipway" ] || slipway=${SLIPWAY:-build/slipway}

chart() { # NAME MANIFEST: prints its folder
    mkdir -p "$tap_dir/$1/templates"
    printf 'apiVersion: v2\nname: %s\nversion: 0.0.1\n' "$1" >"$tap_dir/$1/Chart.yaml"
    printf '%s\n' "$2" >"$tap_dir/$1/templates/0000-t.yaml"
    echo "$tap_dir/$1"
}

resource() { # NAME [YAML of more spec]
    kubectl apply -f - <<YAML
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: $1}
spec:
  namespace: $1
  chart: {name: $1, version: 0.0.1, repository: {name: r, url: "file://$tap_dir/$1"}}
${2:-}
YAML
}

map() { printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {kept: new}\n'; }
state() { kubectl get specialresource "$1" -o 'jsonpath={.status.state}'; }
says() { state "$1" | grep -qF -- "$2"; }
ready() { until_ok 60 says "$1" "Ready:"; }
field() { kubectl get "$@" -o "jsonpath=$path"; }

start() {
    kubectl apply -f deploy/crds/sro.openshift.io_specialresources.yaml &&
        established crd/specialresources.sro.openshift.io
}

adopts() {
    chart adopted "$(map)" >/dev/null && kubectl create namespace adopted &&
        resource adopted '  managementState: Unmanaged' || return 1
    local uid
    uid=$(kubectl get specialresource adopted -o 'jsonpath={.metadata.uid}')
    kubectl create --field-manager=manager -f - <<YAML || return 1
apiVersion: v1
kind: ConfigMap
metadata:
  name: c
  namespace: adopted
  labels: {specialresource.openshift.io/owned: "true"}
  annotations: {specialresource.openshift.io/hash: "9958462131487164093"}
  ownerReferences:
  - {apiVersion: sro.openshift.io/v1beta1, kind: SpecialResource, name: adopted, uid: $uid, controller: true}
data: {kept: old, dropped: x}
YAML
    kubectl patch specialresource adopted --type merge -p '{"spec":{"managementState":"Managed"}}' && ready adopted &&
        [ "$(kubectl get cm c -n adopted -o 'jsonpath={.data}')" = '{"kept":"new"}' ] &&
        kubectl get --raw /api/v1/namespaces/adopted/configmaps/c | grep -q '"manager": *"slipway"' &&
        ! kubectl get --raw /api/v1/namespaces/adopted/configmaps/c | grep -q '"manager": *"manager"'
}

records() {
    chart rel "$(map)" >/dev/null && resource rel && ready rel && until_ok 20 kubectl get secret -n rel sh.helm.release.v1.rel.v1 &&
        [ "$(kubectl get secret -n rel sh.helm.release.v1.rel.v1 -o 'jsonpath={.metadata.labels.status}')" = deployed ] &&
        kubectl get secret -n rel sh.helm.release.v1.rel.v1 -o 'jsonpath={.data.release}' | base64 -d | base64 -d | gunzip |
        grep -q '"status":"deployed"'
}

depends() {
    chart child "$(map)" >/dev/null && chart parent "$(map)" >/dev/null &&
        resource parent "  dependencies:
  - chart: {name: child, version: 0.0.1, repository: {name: r, url: \"file://$tap_dir/child\"}}
    set: {kind: Values, apiVersion: sro.openshift.io/v1beta1}" && ready parent && says child "Ready:" &&
        kubectl get cm -n default special-resource-dependencies -o 'jsonpath={.data.child}' | grep -q '^parent$' &&
        kubectl delete specialresource child --timeout=240s && ready child && ready parent
}

lacks_rights() {
    chart rights "$(map)" >/dev/null && kubectl create namespace rights &&
        resource rights '  serviceAccountName: default' &&
        until_ok 60 says rights 'ConfigMap rights/c' && says rights 'is forbidden' && says rights '[Failed: give the account the rights' &&
        kubectl create rolebinding -n rights all --clusterrole=admin --serviceaccount=rights:default &&
        kubectl annotate specialresource rights look=again && ready rights
}

over_quota() {
    chart quota "$(map)" >/dev/null && kubectl create namespace quota && kubectl create quota -n quota q --hard=count/configmaps=1 &&
        until_ok 30 counted && kubectl create cm -n quota full --from-literal=a=b 2>/dev/null
    resource quota && until_ok 60 says quota 'exceeded quota: q' && says quota "[Retrying: raise the namespace's ResourceQuota" &&
        kubectl delete quota -n quota q && ready quota
}
counted() { kubectl get quota -n quota q -o 'jsonpath={.status.hard}' | grep -q configmaps; }

webhook_down() {
    chart hooked "$(map)" >/dev/null && kubectl create namespace hooked && kubectl label namespace hooked hooked=yes &&
        kubectl apply -f - <<'YAML' &&
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: down}
webhooks:
- name: down.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Fail
  timeoutSeconds: 1
  namespaceSelector: {matchLabels: {hooked: "yes"}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  clientConfig: {service: {name: nobody, namespace: hooked}}
YAML
        resource hooked && until_ok 90 says hooked 'ConfigMap hooked/c' && says hooked 'failed calling webhook' &&
        says hooked "[Retrying: see that the webhook's Service" &&
        kubectl delete validatingwebhookconfiguration down && ready hooked
}

namespace_goes() {
    chart going "$(map)" >/dev/null && kubectl create namespace going &&
        kubectl create -f - <<'YAML' &&
apiVersion: v1
kind: ConfigMap
metadata: {name: held, namespace: going, finalizers: [example.com/held]}
YAML
        kubectl delete namespace going --wait=false && resource going && until_ok 60 says going 'Namespace going is being deleted' &&
        kubectl patch cm held -n going --type merge -p '{"metadata":{"finalizers":null}}' && ready going
}

bad_template() {
    chart broken 'apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {a: [not, text]}' >/dev/null && resource broken && until_ok 60 says broken 'ConfigMap broken/c' && says broken '[Failed:'
}

others() { for r in adopted rel parent hooked; do says $r "Ready:" || return 1; done; }

old_finalizer() {
    kubectl patch specialresource broken --type merge -p '{"metadata":{"finalizers":["finalizer.sro.openshift.io"]}}' &&
        kubectl delete specialresource broken --timeout=240s
}

removes() { # a healthy end: nothing of them is left
    kubectl delete specialresource adopted rel parent child rights quota hooked going --timeout=240s &&
        [ -z "$(kubectl get cm -A -l specialresource.openshift.io/owned=true -o name)" ] &&
        kubectl delete namespace adopted rights quota hooked --timeout=240s
}

t "the definition is established" start
OPERATOR_NAMESPACE=default "$slipway" controller --legacy-rights --metrics-bind-address 0 --health-probe-bind-address 0 >"$tap_dir/log" 2>&1 &
controller=$!
trap 'kill $controller 2>/dev/null; wait $controller; rm -rf "$tap_dir"' EXIT
t "fields that SRO owned are taken over" adopts
t "a release is recorded as Helm reads it" records
t "a dependency is made, and made again" depends
t "what rights lack is said, and passes when they come" lacks_rights
t "a used-up quota is said, and passes" over_quota
t "a webhook that is down is said, and passes" webhook_down
t "a namespace that goes is waited for" namespace_goes
t "what the server refuses is said" bad_template
t "the others are Ready all the while" others
t "an old finalizer of SRO holds nothing" old_finalizer
t "all are removed" removes
plan
