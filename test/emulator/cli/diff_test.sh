# slipway diff shows what slipway run does.
. test/tap.sh
with_cluster "slipway diff"
cd "$tap_dir" || exit 1
mkdir -p demo/templates
printf 'apiVersion: v2\nname: demo\nversion: 0.1.0\n' >demo/Chart.yaml
echo 'a: one' >demo/values.yaml
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\ndata: {a: "{{ .Values.a }}"}\n' >demo/templates/1000-a.yaml
printf 'apiVersion: v1\nkind: Secret\nmetadata: {name: extra}\nstringData: {password: hidden}\n' >demo/templates/2000-b.yaml
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept, annotations: {helm.sh/resource-policy: keep}}\n' >demo/templates/2500-c.yaml
job() { printf 'apiVersion: batch/v1\nkind: Job\nmetadata: {name: job}\nspec:\n  template:\n    spec: {restartPolicy: Never, containers: [{name: c, image: "%s"}]}\n' "$1" >demo/templates/3000-j.yaml; }
job a:1
"$slipway" run demo --set a=three >/dev/null 2>&1
differs() { # CODE ARGS...
    local want=$1 rc=0
    shift
    "$slipway" diff demo "$@" >said 2>&1 || rc=$?
    cat said
    [ $rc = "$want" ]
}

t "nothing right after a walk" differs 0 --set a=three
dropped_value() { differs 1 && grep -q '^-  a: three$' said && grep -q '^+  a: one$' said; }
t "a value of the last run that this one does not have" dropped_value
kept_value() { # by another manager, whose field a run leaves
    kubectl patch specialresource demo --type merge -p '{"spec": {"set": {"a": "four"}}}' >/dev/null && differs 1 && grep -q '^+  a: four$' said
}
t "a value that somebody else has set stays" kept_value
kubectl patch specialresource demo --type json -p '[{"op": "remove", "path": "/spec/set"}]' >/dev/null
rm demo/templates/2000-b.yaml demo/templates/2500-c.yaml
dropped() {
    differs 1 --set a=three && grep -q '^+++ v1 Secret demo/extra (deleted)$' said && ! grep -q 'aGlkZGVu\|hidden' said && grep -q '^# ConfigMap kept is not in the recipe any more, and stays$' said
}
t "what the recipe has no more is deleted, or stays" dropped
job a:2
remade() { differs 1 --set a=three && grep -q '^# it cannot be changed in place: it is deleted, and made anew$' said && grep -q '^+      - image: a:2$' said; }
t "a Job that is made anew" remade
done_so() {
    "$slipway" run demo --set a=three >/dev/null 2>&1 && ! kubectl -n demo get secret extra 2>/dev/null && kubectl -n demo get configmap kept >/dev/null &&
        [ "$(kubectl -n demo get job job -o 'jsonpath={.spec.template.spec.containers[0].image}')" = a:2 ] && differs 0 --set a=three
}
t "the walk does so, and then nothing differs" done_so
plan
