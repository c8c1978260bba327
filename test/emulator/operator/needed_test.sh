# What one resource has made and another one needs, too, is handed over, not deleted: a namespace with the other's
# objects in it, a definition of which it has objects.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
export KUBECONFIG=$tap_dir/kubeconfig
command -v kubectl >/dev/null || { skip "what others need" "no kubectl here"; plan; }
trap 'stop operating; stop emulated; rm -rf "$tap_dir"' EXIT
chart() { # NAME: both bring the same definition, and have an object of it
    mkdir -p "$tap_dir/$1/templates" "$tap_dir/$1/crds"
    printf 'apiVersion: v2\nname: %s\nversion: 0.1.0\n' "$1" >"$tap_dir/$1/Chart.yaml"
    cat >"$tap_dir/$1/crds/thing.yaml" <<'END'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  names: {kind: Thing, plural: things, singular: thing, listKind: ThingList}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
END
    printf 'apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: %s}\nspec: {}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\n' \
        "$1" "$1" >"$tap_dir/$1/templates/all.yaml"
}
chart first
chart second
marks() { kubectl get namespace team -o json | jq -r '.metadata.annotations["slipway.dev/resource"]'; kubectl get crd things.example.com -o json | jq -r '.metadata.annotations["slipway.dev/resource"]'; }
are_of() { [ "$(marks | sort -u)" = "$1" ]; }
uids() { kubectl get namespace/team crd/things.example.com -o json | jq -r '.items[].metadata.uid'; kubectl get things,configmaps -n team -l specialresource.openshift.io/owned -o json | jq -r '.items[] | select(.metadata.name == "second").metadata.uid'; }
nothing() { ! kubectl get namespace team 2>/dev/null && ! kubectl get crd things.example.com 2>/dev/null; }
ran() { "$slipway" run "$tap_dir/$1" --namespace team --timeout 20s >"$tap_dir/run" 2>&1 || { tail -5 "$tap_dir/run"; return 1; }; }

uninstalled() {
    emulated && ran first && ran second && are_of first && uids >"$tap_dir/before" && [ "$(grep -c . "$tap_dir/before")" = 4 ] || return 1
    "$slipway" uninstall first --plan >"$tap_dir/plan" && grep "keep Namespace team: it is resource second's now" "$tap_dir/plan" &&
        grep "keep CustomResourceDefinition things.example.com: it is resource second's now" "$tap_dir/plan" && are_of first || { cat "$tap_dir/plan"; return 1; }
    "$slipway" uninstall first --yes >/dev/null && uids | diff "$tap_dir/before" - && are_of second && ! kubectl get configmap first -n team 2>/dev/null
}
uninstalled_last() { "$slipway" uninstall second --yes >/dev/null && until_ok 10 nothing; }
uninstalled_both() { ran first && ran second && "$slipway" uninstall --yes --keep-operator >/dev/null && until_ok 10 nothing; }

# The recipe of the one has no namespace any more in which the other has objects.
dropped() {
    printf '{{ if .Values.more }}\napiVersion: v1\nkind: Namespace\nmetadata: {name: more}\n{{ end }}\n' >"$tap_dir/first/templates/more.yaml"
    "$slipway" run "$tap_dir/first" --namespace team --set more=true --timeout 20s >/dev/null && "$slipway" run "$tap_dir/second" --namespace more --timeout 20s >/dev/null &&
        "$slipway" run "$tap_dir/first" --namespace team --set more= --timeout 20s >/dev/null && until_ok 10 more_is_handed_over &&
        kubectl get configmap second -n more && "$slipway" uninstall --yes --keep-operator >/dev/null && until_ok 10 nothing && until_ok 10 eval '! kubectl get namespace more 2>/dev/null'
    local rc=$?
    rm "$tap_dir/first/templates/more.yaml"
    return $rc
}
more_is_handed_over() { [ "$(kubectl get namespace more -o json | jq -r '.metadata.annotations["slipway.dev/resource"]')" = second ]; }
# What others have of a definition goes with it: that is said before.
tells_of_users() {
    ran first && printf 'apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: mine, namespace: default}\n' | kubectl apply -f - &&
        "$slipway" uninstall first --plan >"$tap_dir/plan" &&
        grep '^delete CustomResourceDefinition things.example.com: with it goes Thing default/mine, which slipway did not make$' "$tap_dir/plan" || { cat "$tap_dir/plan"; return 1; }
    kubectl delete thing mine && "$slipway" uninstall first --plan | grep '^delete CustomResourceDefinition things.example.com$' && "$slipway" uninstall first --yes
}

come() { resource "$1" "file://$tap_dir/$1" 0.1.0 | sed 's/^  namespace: .*/  namespace: team/' | kubectl apply -f - && until_ok 20 is_ready "$1"; }
is_ready() { [ "$(kubectl get specialresource "$1" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}')" = True ]; }
deleted() {
    operating --allowed-files "$tap_dir" && come first && come second && are_of first && uids >"$tap_dir/before" && [ "$(grep -c . "$tap_dir/before")" = 4 ] || return 1
    kubectl delete specialresource first --timeout=30s && until_ok 10 are_of second && uids | diff "$tap_dir/before" - && is_ready second &&
        kubectl get events -A | grep "HandedOver.*Namespace team stays: resource second needs it, and has it now"
}
deleted_last() { until_ok 10 recorded && kubectl delete specialresource second --timeout=30s && until_ok 10 nothing; }
recorded() { "$slipway" tree second -o json 2>/dev/null | grep -q things.example.com || "$slipway" tree second | grep -q things.example.com; }
deleted_both() { come first && come second && kubectl delete specialresource first second --timeout=30s && until_ok 10 nothing; }

t "slipway uninstall hands over what another resource needs" uninstalled
t "with that one it goes, though it was not walked since" uninstalled_last
t "of two that go nobody needs it" uninstalled_both
t "what a recipe drops is handed over by slipway run, too" dropped
t "uninstall says what of others goes with a definition" tells_of_users
t "a deletion hands it over, too" deleted
t "who has it now takes it with him" deleted_last
t "two that are deleted at once leave nothing" deleted_both
plan
