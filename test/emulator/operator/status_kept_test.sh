# The status of a resource on the cluster: short for who describes it, with the inventory packed, and written again where
# somebody removes it.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
for tool in kubectl jq curl; do command -v $tool >/dev/null || { skip "a status is kept" "no $tool here"; plan; exit; }; done
export KUBECONFIG=$tap_dir/kubeconfig
trap 'stop operating; stop emulated; rm -rf "$tap_dir"' EXIT

ready() { [ "$(kubectl get specialresource nvidia-mig -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}')" = True ]; }
walked() {
    emulated && "$slipway" configmap recipes/nvidia-mig --packed --namespace default --stand-ins | kubectl apply --server-side -f - &&
        operating --stand-ins --no-registries &&
        resource nvidia-mig cm://default/nvidia-mig "$(sed -n 's/^version: //p' recipes/nvidia-mig/Chart.yaml)" | sed 's/^  namespace: .*/  namespace: das-operator/' |
        kubectl apply -f - && until_ok 60 ready
}
inventory() { kubectl get specialresource nvidia-mig -o 'jsonpath={.status.inventory[0].packed}' | base64 -d | gzip -d | jq -c '.inventory[]'; }
# The server forgets Events after an hour: then one line says that there are none.
described() {
    kubectl describe specialresource nvidia-mig >"$tap_dir/described"
    sed '/^Events:/,$d' "$tap_dir/described" >"$tap_dir/lasting"
    wc -l "$tap_dir/lasting" "$tap_dir/described"
    [ "$(($(wc -l <"$tap_dir/lasting") + 1))" -le 60 ] && [ "$(wc -l <"$tap_dir/described")" -le 70 ]
}
# A script that asks for a state with objects, and the columns, still have their answers.
has_phases() {
    [ "$(kubectl get specialresource nvidia-mig -o 'jsonpath={.status.states[?(@.name=="gpu-operator")].phase}')" = Ready ] &&
        [ "$(kubectl get specialresource nvidia-mig -o 'jsonpath={.status.states[0].nodes.total}')" = 4 ]
}
no_event_of_nothing() { # what had nothing to do is ready without one
    kubectl get events -A -o json | jq -r '.items[] | select(.reason == "StateReady") | .message' >"$tap_dir/events"
    grep 'state gpu-operator: ready (10 objects)' "$tap_dir/events" && ! grep -v object "$tap_dir/events"
}
# What is packed of the states is shown as before: all are ready, on all nodes, one after the other.
tells_of_states() {
    "$slipway" status nvidia-mig -o json >"$tap_dir/told" &&
        jq -e '.states | length == 10 and all(.phase == "Ready" and .startedAt and .readyAt and .objects.ready == .objects.total) and any(.objects.total > 5)' "$tap_dir/told" &&
        jq -e '[.states[] | select(.needs | length > 0)] | length > 5' "$tap_dir/told" &&
        "$slipway" tree nvidia-mig | grep -q 'needs' && [ "$(kubectl get specialresource nvidia-mig --no-headers | awk '{ print $4 }')" -gt 0 ]
}
lists_all() { # as many as it says, and those that there are
    inventory >"$tap_dir/inventory"
    [ "$(wc -l <"$tap_dir/inventory")" -gt 30 ] &&
        jq -es 'any(.kind == "Namespace" and .name == "das-operator" and .uid)' "$tap_dir/inventory" &&
        "$slipway" tree nvidia-mig >"$tap_dir/tree" && grep -q "Namespace.*das-operator" "$tap_dir/tree"
}
status() { kubectl get specialresource nvidia-mig -o json | jq -S .status; }
generations() { kubectl get daemonsets,deployments,pods -A -o json | jq -r '.items[] | "\(.kind) \(.metadata.namespace) \(.metadata.name) \(.metadata.uid) \(.metadata.generation)"' | sort; }
path=/apis/sro.openshift.io/v1beta1/specialresources/nvidia-mig
# comes_back PATCH: somebody changes the status so
comes_back() {
    patch_status $path "$1" && until_ok 10 eval '[ "$(status)" = "$before" ]' || { diff <(echo "$before") <(status); return 1; }
}
nothing_made_anew() { generations >"$tap_dir/after"; diff "$tap_dir/before" "$tap_dir/after"; }
one_revision() { "$slipway" history nvidia-mig -o json | jq -e 'length == 1 and .[0].trusted != false'; }

# What an older version has written is read, and packed with the next change.
restarted_with_plain_list() {
    stop operating
    patch_status $path "$(inventory | jq -sc '{status: {inventory: .}}')" && operating --stand-ins --no-registries && until_ok 20 grep -q '"the controller works"' "$tap_dir/log" &&
        kubectl patch specialresource nvidia-mig --type merge -p '{"spec":{"set":{"extra":"x"}}}' && until_ok 20 observed && lists_all
}
observed() { [ "$(kubectl get specialresource nvidia-mig -o 'jsonpath={.status.observedGeneration} {.status.inventory[0].packed}' | cut -c1-4)" = "2 H4" ]; }
has_labels() { kubectl get nodes -o json | grep -q 'state-nvidia-mig-cert-manager'; }
all_goes() {
    has_labels && kubectl delete specialresource nvidia-mig --timeout 60s && until_ok 20 eval '! kubectl get namespace das-operator' &&
        ! has_labels
}

t "an operator has walked a recipe" walked
t "kubectl describe is short" described
t "states with objects have their phase, and the first its nodes" has_phases
t "a state that had nothing to do has no Event" no_event_of_nothing
t "the inventory is packed, and has all objects" lists_all
t "what is packed of the states is shown" tells_of_states
before=$(status)
generations >"$tap_dir/before"
t "a status that somebody removes is written again" comes_back '{"status":null}'
t "so is one without its states" comes_back '{"status":{"states":null}}'
t "and one without its inventory" comes_back '{"status":{"inventory":null}}'
t "no object and no pod was made anew" nothing_made_anew
t "the records are used as before" one_revision
t "the plain list of an older version is read, and packed" restarted_with_plain_list
t "it is removed by what is packed" all_goes
plan
