# Rules as an ordinary client of an API server that is not their own (--rules-only).
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
export KUBECONFIG=$tap_dir/kubeconfig
command -v kubectl >/dev/null || { skip "rules beside a server" "no kubectl here"; plan; }
trap 'stop rules; stop emulated; rm -rf "$tap_dir"' EXIT
mkdir "$tap_dir/rules"
cat >"$tap_dir/rules/widgets.yaml" <<'END'
rule: widget
for: {apiVersion: v1, kind: ConfigMap, name: make-a-widget}
do:
- create: {apiVersion: rules.example.com/v1, kind: Widget, metadata: {name: made, namespace: default}}
END
begin() {
    emulated --platform kubernetes --delays 0 || return 1
    "$slipway" emulate --rules-only --rules "$tap_dir/rules" --platform kubernetes --kubeconfig "$KUBECONFIG" >"$tap_dir/said" 2>&1 &
    echo $! >"$tap_dir/rules.pid"
    until_ok 20 grep -q 'rules' "$tap_dir/said"
}
kind_comes_first() { # the definition is old when a rule makes its first object
    kubectl apply -f - <<'END' && established crd/widgets.rules.example.com && sleep 2 &&
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.rules.example.com}
spec:
  group: rules.example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
END
        kubectl create configmap make-a-widget && until_ok 10 kubectl get widget made
}
t "rules at work beside a server" begin
t "a kind that came after the start, and that no rule looks at, can be made" kind_comes_first
plan
