# What a state has found, and somebody else has brought, is observed; the choice is kept in the status, and stays: also
# where what was found is not there for a while, and over a restart.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
export KUBECONFIG=$tap_dir/kubeconfig
command -v kubectl >/dev/null || { skip "what a state observes" "no kubectl here"; plan; }
trap 'stop operating; stop emulated; rm -rf "$tap_dir"' EXIT
begin() { stop operating; stop emulated; emulated --platform kubernetes && operates; }
operates() { operating --allowed-files "$PWD"; }
is_ready() { # as it is now
    kubectl get specialresource nfd -o json | jq -e '.status.observedGeneration == .metadata.generation and ([.status.conditions[] | select(.type == "Ready").status] == ["True"])' >/dev/null
}
waits() { kubectl get specialresource nfd -o json | jq -e '[.status.conditions[] | select(.type == "Progressing") | select(.message | contains("nodefeatures.nfd.k8s-sigs.io"))] | length == 1' >/dev/null; }
observes() { [ "$(kubectl get specialresource nfd -o json | jq -r '[.status.states[].observes // empty] | join(" ")')" = "$1" ]; }
installed() { kubectl get daemonset -n node-feature-discovery node-feature-discovery-worker 2>/dev/null; }
definition() {
    cat <<'END'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: nodefeatures.nfd.k8s-sigs.io}
spec:
  group: nfd.k8s-sigs.io
  names: {kind: NodeFeature, listKind: NodeFeatureList, plural: nodefeatures, singular: nodefeature}
  scope: Namespaced
  versions: [{name: v1alpha1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
END
}
set_mode() { kubectl patch specialresource nfd --type=merge -p "{\"spec\":{\"set\":{\"mode\":\"$1\"}}}"; }
found() {
    begin && definition | kubectl apply -f - && established crd/nodefeatures.nfd.k8s-sigs.io || return 1
    kubectl label nodes --all feature.node.kubernetes.io/system-os_release.ID=rhel >/dev/null
    resource nfd "file://$PWD/states/nfd" 0.1.0 | kubectl apply -f -
    until_ok 20 is_ready && until_ok 10 observes nodefeatures.nfd.k8s-sigs.io && ! installed
}
said() {
    "$slipway" status nfd | grep -F "observes nodefeatures.nfd.k8s-sigs.io, somebody else's" &&
        "$slipway" explain nfd nfd | grep -F "nodefeatures.nfd.k8s-sigs.io is somebody else's"
}
stays() { # all that would install it comes within a second
    kubectl delete crd nodefeatures.nfd.k8s-sigs.io && until_ok 20 waits && sleep 2 && ! installed && observes nodefeatures.nfd.k8s-sigs.io
}
restarted() {
    stop operating
    : >"$tap_dir/log"
    operates
    until_ok 20 grep -q 'the controller works' "$tap_dir/log" && sleep 3 && ! installed && waits && observes nodefeatures.nfd.k8s-sigs.io
}
planned() { "$slipway" plan states/nfd 2>/dev/null | grep '^release node-feature-discovery of namespace node-feature-discovery: chart not installed: somebody else has brought it'; }
comes_again() { definition | kubectl apply -f - && until_ok 20 is_ready && ! installed; }
given_up() {
    kubectl delete crd nodefeatures.nfd.k8s-sigs.io && until_ok 20 waits && set_mode chart || return 1
    until_ok 30 is_ready && installed && observes "" && set_mode auto && until_ok 20 is_ready && installed && observes ""
}
asked_for() { # an explicit mode is no discovery: with auto it is found out anew
    begin && definition | kubectl apply -f - && established crd/nodefeatures.nfd.k8s-sigs.io || return 1
    kubectl label nodes --all feature.node.kubernetes.io/system-os_release.ID=rhel >/dev/null
    { resource nfd "file://$PWD/states/nfd" 0.1.0; echo '  set: {mode: observe}'; } | kubectl apply -f -
    until_ok 20 is_ready && observes ""
}
# a status of an older version says nothing of it: what is there is found anew
older() {
    begin && definition | kubectl apply -f - && established crd/nodefeatures.nfd.k8s-sigs.io || return 1
    kubectl label nodes --all feature.node.kubernetes.io/system-os_release.ID=rhel >/dev/null
    resource nfd "file://$PWD/states/nfd" 0.1.0 | kubectl apply -f - && until_ok 20 observes nodefeatures.nfd.k8s-sigs.io || return 1
    stop operating
    patch_status /apis/sro.openshift.io/v1beta1/specialresources/nfd "$(kubectl get specialresource nfd -o json | jq -c '{status: {states: [.status.states[] | del(.observes)]}}')"
    observes "" || return 1
    operates
    until_ok 20 observes nodefeatures.nfd.k8s-sigs.io && ! installed
}
# what another resource has brought is no choice: the next one has it when that goes
of_slipway() {
    begin && { resource first "file://$PWD/states/nfd" 0.1.0 nfd | sed 's/chart: {name: first/chart: {name: nfd/'; } | kubectl apply -f - && until_ok 30 installed || return 1
    resource nfd "file://$PWD/states/nfd" 0.1.0 | kubectl apply -f - && until_ok 30 is_ready && observes "" || return 1
    kubectl delete specialresource first --timeout=60s && until_ok 20 is_ready && installed && observes ""
}

t "what somebody else has brought is observed, and the status says so" found
t "status and explain say so" said
t "it goes for a while: it is waited for, not installed" stays
t "a restart meanwhile does not install it" restarted
t "slipway plan does not foresee that it is installed" planned
t "it comes again" comes_again
t "a mode that is set gives the choice up" given_up
t "a mode that is set to observe is no choice" asked_for
t "a status without it is read" older
t "what another resource has brought is no choice" of_slipway
plan
