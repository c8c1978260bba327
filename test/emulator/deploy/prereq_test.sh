# What recipes build on, by hack/prereq.sh: from manifests on Kubernetes, through the Operator Lifecycle
# Manager on OpenShift; twice, and removed again; and a recipe takes what it finds.
. test/tap.sh
export SLIPWAY=${SLIPWAY:-build/slipway} KUBECONFIG=$tap_dir/kubeconfig TIMEOUT=60 KUBECTL=kubectl
unset CERT_MANAGER_VERSION NFD_VERSION NVIDIA_VERSION CERT_MANAGER_CHANNEL NFD_CHANNEL NVIDIA_CHANNEL SET
emulator=
trap 'kill $emulator 2>/dev/null; rm -rf "$tap_dir"' EXIT
cluster() { # PLATFORM
    [ -z "$emulator" ] || { kill "$emulator"; wait "$emulator" 2>/dev/null; }
    rm -f "$KUBECONFIG"
    "$SLIPWAY" emulate --platform "$1" --kubeconfig-out "$KUBECONFIG" >/dev/null 2>&1 &
    emulator=$!
    until_ok 20 eval 'kubectl get --raw /readyz >/dev/null 2>&1'
}
deployed() { hack/prereq.sh deploy "$@"; }
generations() { kubectl get deployments,daemonsets,customresourcedefinitions,validatingwebhookconfigurations -A -o 'jsonpath={range .items[*]}{.metadata.uid} {.metadata.generation}{"\n"}{end}'; }
again() {
    generations >"$tap_dir/g1" && hack/prereq.sh deploy "$@" >"$tap_dir/again" && ! grep ' created$' "$tap_dir/again" && generations | diff "$tap_dir/g1" -
}
undeployed() { # leaves no workload, and may be repeated
    hack/prereq.sh undeploy "$@" && hack/prereq.sh undeploy "$@" && [ -z "$(kubectl get deployments,daemonsets -n cert-manager -o name)$(kubectl get namespace cert-manager node-feature-discovery gpu-operator --ignore-not-found -o name)" ]
}
dry() { # prints, and needs no cluster
    KUBECONFIG=/nonexistent CERT_MANAGER_VERSION=v9.9.9 hack/prereq.sh deploy cert-manager --dry-run | grep -q 'cert-manager-webhook:v9.9.9' &&
        NVIDIA_CHANNEL=v99 hack/prereq.sh deploy nvidia --ocp --dry-run | grep -q 'channel: "v99"' && hack/prereq.sh undeploy nfd --dry-run | grep -q '^Namespace/node-feature-discovery$'
}
no_olm() {
    local out
    out=$(hack/prereq.sh deploy nfd --ocp 2>&1)
    [ $? -ne 0 ] && grep -q 'no Operator Lifecycle Manager' <<<"$out"
}
recipe_observes() {
    "$SLIPWAY" run states/cert-manager --timeout 60s -o json >"$tap_dir/run.json" && grep -q '"phase": "Ready"' "$tap_dir/run.json" &&
        [ -z "$(kubectl -n cert-manager get deployments -l specialresource.openshift.io/owned=true -o name)" ]
}
bad_usage() { ! hack/prereq.sh deploy everything 2>/dev/null && ! hack/prereq.sh deploy 2>/dev/null && ! hack/prereq.sh deploy nfd --ocpp 2>/dev/null; }

if ! command -v kubectl >/dev/null; then
    skip "prerequisites" "kubectl is needed"
    plan
fi
t "a dry run prints the versions asked for" dry
t "what is not known is refused" bad_usage
cluster kubernetes
t "without OLM --ocp is refused" no_olm
for p in cert-manager nfd nvidia; do
    t "$p comes up from its chart" deployed $p
    t "$p a second time changes nothing" again $p
done
t "a recipe takes cert-manager as it is" recipe_observes
for p in nvidia nfd cert-manager; do hack/prereq.sh undeploy $p >/dev/null 2>&1; done
t "all of it is removed" undeployed cert-manager
cluster openshift
for p in cert-manager nfd nvidia; do
    t "$p comes up through OLM" deployed $p --ocp
    t "$p a second time changes nothing there" again $p --ocp
done
t "removing it removes its operator" eval 'hack/prereq.sh undeploy nvidia --ocp && [ -z "$(kubectl get csv -n nvidia-gpu-operator -o name 2>/dev/null)" ]'
plan
