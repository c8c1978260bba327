# What resources share without a release: the objects by which OLM is told to install something, and what its operator
# is told. One resource has them, the others have joined; he hands them over, and the last one takes them with him.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
export KUBECONFIG=$tap_dir/kubeconfig
command -v kubectl >/dev/null || { skip "shared objects" "no kubectl here"; plan; }
trap 'stop watching; stop operating; stop emulated; rm -rf "$tap_dir"' EXIT
begin() { stop operating; stop emulated; emulated --platform openshift "$@" && operating --allowed-files "$PWD,$tap_dir"; }
come() { resource "$1" "file://$PWD/recipes/$1" 0.1.0 | kubectl apply -f - && ready "$1"; }
is_ready() { [ "$(kubectl get specialresource "$1" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}')" = True ]; }
ready() { until_ok 40 is_ready "$1" || { kubectl get specialresource "$1" -o json | jq -r '.status.conditions[].message'; tail -5 "$tap_dir/log"; return 1; }; }
is_deleted() { ! kubectl get specialresource "$1" >/dev/null 2>&1; }
users() { # NAMESPACE/NAME USERS
    [ "$(kubectl get namespace "${1%/*}" -o json | jq -r --arg name "${1#*/}" \
        '.metadata.annotations["slipway.dev/shared-releases"] | fromjson | .[$name] | select(has("from") or has("leaving") | not) | [.users[].name] | join(" ")')" = "$2" ]
}
kinds=subscriptions.operators.coreos.com,operatorgroups.operators.coreos.com,clusterserviceversions.operators.coreos.com,nodefeaturediscoveries.nfd.openshift.io
# what slipway and OLM have made of cert-manager and Node Feature Discovery
there() {
    kubectl get $kinds,deployments,daemonsets,namespaces -A -o json |
        jq -r '.items[] | select((.metadata.namespace // .metadata.name) | test("^(openshift-nfd|cert-manager|cert-manager-operator)$")) | "\(.kind) \(.metadata.name) \(.metadata.uid)"' | sort
}
nothing() { # what OLM's operators have made, OLM leaves behind
    ! kubectl get subscriptions.operators.coreos.com -A -o name | grep . && ! kubectl get namespace openshift-nfd 2>/dev/null && ! kubectl get namespace cert-manager-operator 2>/dev/null
}
marks() { kubectl get subscriptions.operators.coreos.com,nodefeaturediscoveries.nfd.openshift.io -A -o json | jq -r '.items[].metadata.annotations["slipway.dev/resource"]' | sort -u; }
watches() { # what is deleted or made anew meanwhile
    kubectl get subscriptions.operators.coreos.com -A --watch-only --output-watch-events -o json >"$tap_dir/watched" 2>/dev/null &
    echo $! >"$tap_dir/watching.pid"
}
is_untouched() { stop watching; ! jq -r .type "$tap_dir/watched" | grep -E 'ADDED|DELETED'; }
both() { begin "$@" && come nvidia-gpu && come intel-device-plugins && there >"$tap_dir/before" && [ "$(grep -c Subscription "$tap_dir/before")" = 2 ]; }

joins() {
    begin && come nvidia-gpu && users openshift-nfd/nfd nvidia-gpu || return 1
    come intel-device-plugins && users openshift-nfd/nfd "nvidia-gpu intel-device-plugins" || return 1
    kubectl get specialresource intel-device-plugins -o json | jq -e '[.status.inventory[]? | select(.namespace == "openshift-nfd")] == []' >/dev/null &&
        there >"$tap_dir/before" && [ "$(marks)" = "$(printf 'intel-device-plugins\nnvidia-gpu')" ]
}
handed_over() {
    watches
    kubectl delete specialresource nvidia-gpu --timeout=60s && until_ok 20 users openshift-nfd/nfd intel-device-plugins || return 1
    until_ok 20 is_ready intel-device-plugins && is_untouched && there | diff "$tap_dir/before" - && [ "$(marks)" = intel-device-plugins ]
}
stays() { # what was handed over is in the new owner's inventory, and is his after a restart
    stop operating
    operating --allowed-files "$PWD"
    until_ok 20 recorded && ready intel-device-plugins && there | diff "$tap_dir/before" -
}
recorded() {
    kubectl get namespace openshift-nfd -o json | jq -e '.metadata.annotations["slipway.dev/shared-releases"] | fromjson | .nfd | has("objects") | not' >/dev/null
}
last_goes() { kubectl delete specialresource intel-device-plugins --timeout=60s && until_ok 20 nothing || { there; false; }; }

# the operator is killed again and again until the deletion is over. Writes take their time, so that it is in the middle
# of handing over
killed() {
    echo 'faults: [{verb: patch, delay: 150ms}]' >"$tap_dir/slow.yaml"
    both --faults "$tap_dir/slow.yaml" && watches || return 1
    kubectl delete specialresource nvidia-gpu --wait=false
    kill_until_deleted nvidia-gpu && until_ok 20 users openshift-nfd/nfd intel-device-plugins || return 1
    ready intel-device-plugins && is_untouched && there | diff "$tap_dir/before" - && [ "$(marks)" = intel-device-plugins ] || return 1
    last_goes
}
hands_over() { kubectl get namespace openshift-nfd -o json | jq -e '.metadata.annotations["slipway.dev/shared-releases"] | fromjson | .nfd | has("from")' >/dev/null; }

# its owner lost its finalizer by force
lost() {
    both && stop operating && kubectl delete specialresource nvidia-gpu --wait=false &&
        kubectl patch specialresource nvidia-gpu --type=merge -p '{"metadata":{"finalizers":null}}' && until_ok 10 is_deleted nvidia-gpu
}
# who is left has it next, and the last one takes it
forced() {
    lost || return 1
    operating --allowed-files "$PWD"
    until_ok 40 users openshift-nfd/nfd intel-device-plugins && until_ok 40 kubectl get subscriptions.operators.coreos.com nfd -n openshift-nfd &&
        ready intel-device-plugins && until_ok 20 is_marked intel-device-plugins && last_goes
}
too_early() {
    lost && kubectl delete specialresource intel-device-plugins --wait=false || return 1
    operating --allowed-files "$PWD"
    until_ok 60 is_deleted intel-device-plugins && until_ok 20 nothing
}
uninstalled_early() { lost && "$slipway" uninstall intel-device-plugins --yes && until_ok 20 nothing; }
not_its_own() { # a namespace that a user has made stays
    lost && kubectl label namespace openshift-nfd specialresource.openshift.io/owned- && kubectl annotate namespace openshift-nfd slipway.dev/resource- &&
        "$slipway" uninstall intel-device-plugins --yes && until_ok 20 is_deleted intel-device-plugins && kubectl get namespace openshift-nfd
}
is_marked() { [ "$(marks)" = "$1" ]; }

other_version() {
    begin && come nvidia-gpu || return 1
    resource intel-device-plugins "file://$PWD/recipes/intel-device-plugins" 0.1.0 | sed '$a\  set: {nfd: {olm: {channel: "4.9"}}}' | kubectl apply -f -
    until_ok 20 refused || { kubectl get specialresource intel-device-plugins -o json | jq .status; return 1; }
}
refused() {
    kubectl get specialresource intel-device-plugins -o json | jq -r '.status.conditions[] | select(.type == "Errored" and .status == "True") | .reason + ": " + .message' |
        grep 'SharedReleaseVersion: .*openshift-nfd/nfd: resource intel-device-plugins pins version 4.9, resource nvidia-gpu pins version stable'
}

ran() { # `slipway run`, one after the other
    stop operating; stop emulated
    emulated --platform openshift || return 1
    "$slipway" run recipes/nvidia-gpu --timeout 60s -o json >/dev/null && "$slipway" run recipes/intel-device-plugins --timeout 60s -o json >/dev/null || return 1
    users openshift-nfd/nfd "nvidia-gpu intel-device-plugins" && there >"$tap_dir/before"
}
said() {
    "$slipway" plan recipes/intel-device-plugins >"$tap_dir/plan" && "$slipway" diff recipes/intel-device-plugins >"$tap_dir/diff" 2>/dev/null
    grep '^shared release openshift-nfd/nfd stable: shared with nvidia-gpu; owner nvidia-gpu$' "$tap_dir/plan" || { cat "$tap_dir/plan"; return 1; }
    ! grep -E 'Subscription.*nfd|NodeFeatureDiscovery' "$tap_dir/diff"
}
uninstalled() {
    "$slipway" uninstall nvidia-gpu --plan | grep "keep Subscription openshift-nfd/nfd: it is resource intel-device-plugins's now" || return 1
    "$slipway" uninstall nvidia-gpu --yes && there | diff "$tap_dir/before" - && users openshift-nfd/nfd intel-device-plugins || return 1
    "$slipway" run recipes/intel-device-plugins --timeout 60s -o json >/dev/null && there | diff "$tap_dir/before" - && is_marked intel-device-plugins
}
# It wants a custom resource of another name than the owner has made: run, status and explain name the owner, and both ways out.
waiting='NodeFeatureDiscovery openshift-nfd/mine does not exist: resource nvidia-gpu has openshift-nfd/nfd for all, and has not made this one (yet): use the name of its own (kubectl get NodeFeatureDiscovery -n openshift-nfd), or delete that resource'
other_name() {
    stop emulated
    emulated --platform openshift && "$slipway" run recipes/nvidia-gpu --timeout 60s -o json >/dev/null || return 1
    "$slipway" run recipes/intel-device-plugins --set nfd.olm.instance=mine --timeout 6s >"$tap_dir/run" 2>&1
    grep -F "$waiting" "$tap_dir/run" || { cat "$tap_dir/run"; return 1; }
    "$slipway" status intel-device-plugins >"$tap_dir/status"
    grep -F "$waiting" "$tap_dir/status" || { cat "$tap_dir/status"; return 1; }
    "$slipway" explain intel-device-plugins >"$tap_dir/explain"
    grep -F "$waiting" "$tap_dir/explain" || { cat "$tap_dir/explain"; return 1; }
}
its_own_name() { # that kubectl says
    local name
    name=$(kubectl get NodeFeatureDiscovery -n openshift-nfd -o 'jsonpath={.items[*].metadata.name}') && [ -n "$name" ] &&
        "$slipway" run recipes/intel-device-plugins --set "nfd.olm.instance=$name" --timeout 60s -o json >/dev/null
}
owner_is_deleted() {
    "$slipway" run recipes/intel-device-plugins --set nfd.olm.instance=mine --timeout 3s >/dev/null 2>&1
    "$slipway" uninstall nvidia-gpu --yes >/dev/null && "$slipway" run recipes/intel-device-plugins --set nfd.olm.instance=mine --timeout 60s -o json >/dev/null &&
        kubectl get NodeFeatureDiscovery mine -n openshift-nfd
}
uninstalled_last() { "$slipway" uninstall intel-device-plugins --yes && until_ok 20 nothing; }

t "who comes second joins what OLM brought" joins
t "its owner goes: nothing of it is deleted or made anew" handed_over
t "the next owner has it after a restart, too" stays
t "the last one takes it with him" last_goes
t "a controller that is killed while it hands over" killed
t "an owner that lost its finalizer by force" forced
t "and a next one that is deleted before it has taken over" too_early
t "or uninstalled before" uninstalled_early
t "a namespace that is not slipway's stays" not_its_own
t "another channel is refused, with both names" other_version
t "slipway run joins" ran
t "plan and diff say who shares" said
t "slipway uninstall hands over" uninstalled
t "slipway uninstall of the last one takes it" uninstalled_last
t "who waits for a custom resource that the owner does not have is told so" other_name
t "the first way out: the owner's name" its_own_name
t "the second: the owner goes" owner_is_deleted
plan
