# What an operator of an earlier version has left on a cluster (its resource with the status, its objects, their release's record,
# the nodes' labels) is taken on as it is by this one: test/golden/operator/state-VERSION is what that version had recorded.
# `SW_RECORD=1 bash test/emulator/operator/recorded_state_test.sh` records that of this version: once with each release.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
for tool in kubectl jq; do command -v $tool >/dev/null || { skip "recorded state" "no $tool here"; plan; exit; }; done
export KUBECONFIG=$tap_dir/kubeconfig
golden=test/golden/operator
trap 'stop operating; stop emulated; rm -rf "$tap_dir"' EXIT

# owned: all objects of the resource, as JSON lines
owned() {
    kubectl get namespace team -o json
    kubectl get serviceaccounts,configmaps,daemonsets,secrets -n team -o json |
        jq -c '.items[] | select(.metadata.ownerReferences // [] | any(.kind == "SpecialResource"))'
}
walked() { # RECIPE: it is a ConfigMap, and the operator has walked it
    emulated && "$slipway" configmap "$1" --namespace default --name recipe | kubectl apply -f - && operating &&
        resource recorded cm://default/recipe "$(sed -n 's/^version: //p' "$1/Chart.yaml")" | sed 's/namespace: recorded/namespace: team/; s/chart: {name: recorded/chart: {name: agent/' |
        kubectl apply -f - && until_ok 30 ready
}
ready() { [ "$(kubectl get specialresource recorded -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}')" = True ]; }
# What a server or another controller sets is not recorded.
bare='del(.metadata.creationTimestamp, .metadata.resourceVersion, .metadata.uid, .metadata.generation, .metadata.managedFields, .metadata.selfLink)'
record() {
    local to=$golden/state-$1
    mkdir -p "$to" && (cd "$to" && rm -rf agent && "$slipway" create agent --kind agent --image busybox:1.36) && walked "$to/agent" || return 1
    kubectl get specialresource recorded -o json | jq "$bare"' | del(.metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"])' >"$to/resource.json"
    owned | jq -s "map($bare | del(.status) | del(.metadata.annotations[\"deprecated.daemonset.template.generation\"]))" >"$to/objects.json"
    kubectl get nodes -o json | jq '[.items[] | {name: .metadata.name, labels: (.metadata.labels | with_entries(select(.key | test("specialresource|slipway"))))}]' >"$to/nodes.json"
    stop operating && stop emulated
}
if [ -n "${SW_RECORD:-}" ]; then
    record "$("$slipway" version -o json | jq -r .version | sed 's/[+-].*//')"
    exit
fi

# left DIR [CHANGE]: a cluster as that version has left it, with the status changed by a filter of jq's
left() {
    local uid uids name labels
    emulated && "$slipway" configmap "$1/agent" --namespace default --name recipe | kubectl apply -f - && jq 'del(.status)' "$1/resource.json" | kubectl apply -f - || return 1
    uid=$(kubectl get specialresource recorded -o 'jsonpath={.metadata.uid}')
    jq --arg uid "$uid" '{apiVersion: "v1", kind: "List", items: map(if .metadata.ownerReferences then .metadata.ownerReferences |= map(.uid = $uid) else . end)}' "$1/objects.json" |
        kubectl apply --server-side --field-manager=slipway -f - || return 1
    uids=$(owned | jq -s 'map({key: "\(.kind) \(.metadata.name)", value: .metadata.uid}) | from_entries')
    patch_status /apis/sro.openshift.io/v1beta1/specialresources/recorded \
        "$(jq -c --argjson uids "$uids" "{status: (.status | .inventory |= map(.uid = \$uids[\"\\(.kind) \\(.name)\"]) | ${2:-.})}" "$1/resource.json")" || return 1
    while read -r name labels; do
        [ -z "$labels" ] || kubectl label node "$name" $labels || return 1
    done < <(jq -r '.[] | "\(.name) \(.labels | to_entries | map("\(.key)=\(.value)") | join(" "))"' "$1/nodes.json")
    until_ok 20 all_run
}
all_run() { [ "$(kubectl get daemonset recorded -n team -o 'jsonpath={.status.numberReady}')" = 4 ]; }
generations() { { owned; kubectl get pods -n team -o json | jq -c '.items[]'; } | jq -r '"\(.kind) \(.metadata.name) \(.metadata.uid) \(.metadata.generation)"' | sort; }
worked() { grep '"the controller works"' "$tap_dir/log"; }
# The resource has another uid than it had then, and objects name their owner by it: so each is applied once more.
taken_on() { # nothing is made anew, no pod either, and no content changes
    left "$@" && generations >"$tap_dir/before" && operating && until_ok 20 worked || return 1
    sleep 2
    generations >"$tap_dir/after"
    cat "$tap_dir/log"
    diff "$tap_dir/before" "$tap_dir/after" && until_ok 20 ready
}
one_revision() { "$slipway" history recorded -o json | tee "$tap_dir/history" && jq -e "length == 1 and .[0].trusted != false" "$tap_dir/history"; }
goes_on() { # what changes is walked as ever
    kubectl patch specialresource recorded --type merge -p '{"spec":{"set":{"message":"other"}}}' && until_ok 20 says_other && until_ok 20 ready
}
says_other() { [ "$(kubectl get configmap recorded -n team -o 'jsonpath={.data.message}')" = other ]; }
all_goes() {
    kubectl delete specialresource recorded --timeout 60s && until_ok 20 no_namespace &&
        [ "$(kubectl get nodes -o json | jq '[.items[].metadata.labels | keys[] | select(test("state-recorded"))] | length')" = 0 ]
}
no_namespace() { ! kubectl get namespace team; }

# What a newer version might have written: a phase, a reason, a state and fields that this one does not know.
newer='.conditions += [{type: "Composted", status: "True", reason: "Worms", message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}] |
    .states[1].phase = "Composting" | .states += [{name: "9000", phase: "Composting", future: {depth: 3}}] | .inventory[0].future = true | .future = [1]'

for version in "$golden"/state-*; do
    t "$(basename "$version"): an operator takes it on, and makes nothing anew" taken_on "$version"
    t "$(basename "$version"): there is no new revision" one_revision
    t "$(basename "$version"): a change is walked" goes_on
    t "$(basename "$version"): with the resource all of it goes" all_goes
    stop operating
    stop emulated
    t "$(basename "$version"): what a newer one has added to the status does not stop it" taken_on "$version" "$newer"
    t "$(basename "$version"): and it goes, too" all_goes
    stop operating
    stop emulated
done
plan
