# A state is rendered again only where something that its last render has read is another: an API version that it asks for, a
# fact, an object that it looks up. Counted in the recording of a walk in which kinds come.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
export HOME=$tap_dir KUBECONFIG=$tap_dir/kubeconfig
cd "$tap_dir" || exit 1
put() { mkdir -p "$(dirname "$1")" && cat >"$1"; }
put many/Chart.yaml <<<'{apiVersion: v2, name: many, version: 1.0.0, annotations: {slipway.dev/wait: all}}'
for i in 0 1 2 3; do # four kinds, one after the other
    put "many/templates/${i}000-kind.yaml" <<Y
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: k$i.g$i.example.com}
spec:
  group: g$i.example.com
  scope: Namespaced
  names: {kind: K$i, plural: k$i, singular: k$i, listKind: K${i}List}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
Y
done
config() { # NAME DATA
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {x: %s}\n' "$1" "$2"
}
config quiet '{{ .Values.kernelFullVersion | quote }}' | put many/templates/9000-quiet.yaml
config asks '{{ .Capabilities.APIVersions.Has "g2.example.com/v1" | quote }}' | put many/templates/9001-asks.yaml
config all '{{ len .Capabilities.APIVersions | quote }}' | put many/templates/9002-all.yaml # it may have been another number each time
printf 'apiVersion: g1.example.com/v1\nkind: K1\nmetadata: {name: it}\n' | put many/templates/9003-kind.yaml
config looks '{{ len (lookup "v1" "ConfigMap" .Release.Namespace "none") | quote }}' | put many/templates/9004-looks.yaml
walked() {
    "$slipway" run many --emulate --delays 0.01 --timeout 60s --record tape >said 2>&1 || { tail -5 said; return 1; }
    jq -rs '[.[].event // empty | select(.kind == "rendered" and .unchanged == null) | .state] | group_by(.)[] | "\(.[0]) \(length)"' tape >renders && cat renders
}
count() { awk -v s="$1" '$1 == s { print $2 }' renders; }
once() { [ "$(count 0000)" = 1 ] && [ "$(count 9000)" = 1 ] && [ "$(count 3000)" = 1 ]; }
asks() { [ "$(count 9001)" = 2 ] && [ "$(count 9003)" = 2 ]; }
again() { [ "$(count 9002)" -gt 2 ] && [ "$(count 9004)" -gt 2 ]; }
same() { "$slipway" replay tape >played && tail -1 played | grep 'those that were recorded'; }
t "a walk in which four kinds come" walked
t "what reads nothing that changes is rendered once" once
t "what asks for an API version, or has a kind that is not served yet, is rendered again when it is there" asks
t "what counts all API versions, or looks up, is rendered again whenever kinds come" again
t "the recording is played to the same decisions" same
plan
