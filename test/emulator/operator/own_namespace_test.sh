# The Namespace that a recipe has of its own, of the same name as the one that slipway makes for it.
. test/tap.sh
with_cluster "a recipe's own Namespace"
cd "$tap_dir" || exit 1
mkdir -p demo/templates
printf 'apiVersion: v2\nname: demo\nversion: 0.1.0\n' >demo/Chart.yaml
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made}\ndata: {text: one}\n' >demo/templates/0000-made.yaml
own() { # LEVEL: its labels and annotations, in the state after the first
    cat >demo/templates/0100-namespace.yaml <<Y
apiVersion: v1
kind: Namespace
metadata:
  name: demo
  labels: {pod-security.kubernetes.io/enforce: $1}
  annotations: {example.com/team: gpu, openshift.io/cluster-monitoring: "false"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: second}
data: {text: $1}
Y
}
namespace() { kubectl get namespace demo -o json | jq -r "$1"; }
level() { [ "$(namespace '.metadata.labels["pod-security.kubernetes.io/enforce"]')" = "$1" ]; }

set_on() {
    own privileged && "$slipway" run demo >said 2>&1; cat said
    level privileged && [ "$(namespace '.metadata.annotations["example.com/team"]')" = gpu ] &&
        [ "$(namespace '.metadata.annotations["openshift.io/cluster-monitoring"]')" = false ]
}
t "has the labels and annotations of the recipe" set_on
same() { "$slipway" diff demo >said 2>&1; local rc=$?; cat said; [ $rc = 0 ]; }
t "differs from the recipe in nothing" same
changed() { own baseline && "$slipway" run demo >said 2>&1; cat said; level baseline; }
t "takes a change of them" changed
kept_right() {
    kubectl label namespace demo pod-security.kubernetes.io/enforce=restricted --overwrite && "$slipway" run demo >said 2>&1; cat said
    level baseline
}
t "has them set right again" kept_right
dropped() {
    rm demo/templates/0100-namespace.yaml && "$slipway" run demo >said 2>&1; cat said
    level null && [ "$(namespace '.metadata.annotations["openshift.io/cluster-monitoring"]')" = true ] &&
        [ "$(namespace '.status.phase')" = Active ]
}
t "loses them with the recipe's, and stays" dropped
gone() { "$slipway" uninstall demo --yes >said 2>&1; cat said; ! kubectl get namespace demo 2>/dev/null; }
t "goes with the resource" gone

# one that somebody else has made
theirs() {
    own privileged && kubectl create namespace theirs >/dev/null && sed -i 's/name: demo$/name: theirs/' demo/templates/0100-namespace.yaml && "$slipway" run demo --name theirs >said 2>&1
    cat said
    grep -q "NotTakenOver: Namespace theirs is not slipway's, and used as it is: pod-security.kubernetes.io/enforce=privileged, .*of the recipe are not set" said &&
        kubectl get namespace theirs -o json | jq -e '.metadata.labels["pod-security.kubernetes.io/enforce"] == null' >/dev/null
}
t "is left as it is where somebody else has made it, and that is said" theirs
used() { "$slipway" diff demo --name theirs >said 2>&1; local rc=$?; cat said; [ $rc = 0 ] && grep -q "^# Namespace theirs exists and is not slipway's.*: it is used as it is, and never written" said; }
t "is no difference then" used
adopted() {
    sed -i 's|annotations: {|annotations: {slipway.dev/adopt: "true", |' demo/templates/0100-namespace.yaml && "$slipway" run demo --name theirs >said 2>&1; cat said
    kubectl get namespace theirs -o json | jq -e '.metadata.labels["pod-security.kubernetes.io/enforce"] == "privileged" and .metadata.ownerReferences == null' >/dev/null
}
t "is taken over where the recipe asks for it" adopted
stays() {
    kubectl delete specialresource theirs >/dev/null && until_ok 20 eval '! kubectl -n theirs get cm second 2>/dev/null' && sleep 1 && [ "$(kubectl get namespace theirs -o 'jsonpath={.status.phase}')" = Active ]
}
t "stays when the resource is deleted" stays

moved() { # what a user has put into the first one does not go with it
    "$slipway" run demo --name moved -n first >said 2>&1 && kubectl -n first create configmap data >/dev/null && "$slipway" run demo --name moved -n second >said 2>&1
    cat said
    grep -q "NamespaceKept: Namespace first is not the resource's any more, and stays with what others have in it" said && kubectl -n first get configmap data >/dev/null &&
        ! kubectl -n first get configmap made 2>/dev/null && kubectl -n second get configmap made >/dev/null &&
        kubectl get namespace first -o json | jq -e '.metadata | .ownerReferences == null and .annotations["slipway.dev/resource"] == null' >/dev/null
}
rm -f demo/templates/0100-namespace.yaml
t "stays where the resource gets another one" moved
again() { "$slipway" uninstall moved --yes >said 2>&1; cat said; kubectl -n first get configmap data >/dev/null && ! kubectl get namespace second 2>/dev/null; }
t "of those only the last one goes with it" again
plan
