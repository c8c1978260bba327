# Three resources that use one shared release on a real API server, in three orders of coming and going: it is
# installed once, handed over with the same objects where its owner goes, and gone with the last one. A version that
# does not go together with the others' is refused, and an object that somebody made of its definition is kept.
. test/tap.sh
slipway=${SLIPWAY_TEST:-build/test/slipway}
[ -x "$slipway" ] || slipway=${SLIPWAY:-build/slipway}
trap 'stop operating; rm -rf "$tap_dir"' EXIT

chart() { # NAME VERSION: a chart of slipway's form, without templates
    mkdir -p "$tap_dir/$1/templates"
    printf 'apiVersion: v2\nname: %s\nversion: %s\nannotations: {slipway.dev/wait: all}\n' "$1" "$2" >"$tap_dir/$1/Chart.yaml"
}
make_charts() {
    local r
    chart common 1.0.0
    mkdir -p "$tap_dir/common/crds"
    cat >"$tap_dir/common/crds/widgets.yaml" <<'YAML'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.shared.example.com}
spec:
  group: shared.example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
YAML
    cat >"$tap_dir/common/templates/objects.yaml" <<'YAML'
apiVersion: v1
kind: ServiceAccount
metadata: {name: common}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: common}
data: {who: {{ .Values.who | quote }}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: shared-common}
rules: [{apiGroups: [shared.example.com], resources: [widgets], verbs: [get]}]
YAML
    for r in shared-a shared-b shared-c; do
        chart $r 0.1.0
        cat >>"$tap_dir/$r/Chart.yaml" <<'YAML'
dependencies:
- {name: common, version: 1.0.0, repository: "file://../common"}
YAML
        sed -i 's/^annotations:.*/annotations:\n  slipway.dev\/wait: all\n  slipway.dev\/releases: "common: {name: common, namespace: shared-common}"/' "$tap_dir/$r/Chart.yaml"
        printf 'common: {who: %s}\n' $r >"$tap_dir/$r/values.yaml"
        printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own}\n' >"$tap_dir/$r/templates/own.yaml"
    done
}
begin() {
    make_charts && kubectl apply -f deploy/crds/sro.openshift.io_specialresources.yaml &&
        established crd/specialresources.sro.openshift.io && operating --allowed-files "$tap_dir"
}
objects() { kubectl get namespace/shared-common clusterrole/shared-common crd/widgets.shared.example.com -o 'jsonpath={range .items[*]}{.kind} {.metadata.uid}{"\n"}{end}' && kubectl -n shared-common get serviceaccount/common configmap/common -o 'jsonpath={range .items[*]}{.kind} {.metadata.uid}{"\n"}{end}'; }
is_ready() { [ "$(kubectl get specialresource "$1" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}')" = True ]; }
ready() { until_ok 30 is_ready "$1" || { kubectl get specialresource "$1" -o yaml; tail -5 "$tap_dir/log"; return 1; }; }
come() { resource "$1" "file://$tap_dir/$1" 0.1.0 | kubectl apply -f - && ready "$1"; }
installed_by() { [ "$(kubectl -n shared-common get configmap common -o 'jsonpath={.data.who}')" = "$1" ]; }
is_gone() { ! kubectl get namespace shared-common 2>/dev/null && ! kubectl get crd widgets.shared.example.com 2>/dev/null && ! kubectl get clusterrole shared-common 2>/dev/null; }
in_order() { # RESOURCE...
    local r
    for r in "$@"; do come "$r" || return 1; done
    objects >"$tap_dir/objects" && [ "$(wc -l <"$tap_dir/objects")" = 5 ] && installed_by "$1" || return 1
    while [ $# -gt 1 ]; do
        kubectl delete specialresource "$1" --timeout=60s || return 1
        shift
        until_ok 20 installed_by "$1" && ready "$1" && objects | diff "$tap_dir/objects" - || return 1
    done
    kubectl delete specialresource "$1" --timeout=60s && until_ok 30 is_gone
}
other_version() {
    come shared-a && sed -i 's/version: 1.0.0/version: 2.0.0/' "$tap_dir/shared-b/Chart.yaml" "$tap_dir/common/Chart.yaml" || return 1
    resource shared-b "file://$tap_dir/shared-b" 0.1.0 | kubectl apply -f -
    until_ok 20 refused || { kubectl get specialresource shared-b -o yaml; return 1; }
    ! kubectl get namespace shared-b 2>/dev/null
    kubectl delete specialresource shared-b shared-a --timeout=60s && until_ok 30 is_gone
}
refused() {
    kubectl get specialresource shared-b -o 'jsonpath={.status.conditions[?(@.type=="Errored")]}' |
        grep 'shared-b pins version 2.0.0, resource shared-a pins version 1.0.0'
}

t "charts and an operator" begin
t "a, b, c" in_order shared-a shared-b shared-c
t "b, c, a" in_order shared-b shared-c shared-a
t "c, a, b" in_order shared-c shared-a shared-b
t "another version is refused" other_version
plan
