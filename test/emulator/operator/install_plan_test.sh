# Install plans of the Operator Lifecycle Manager: approved where they install what the recipe pins, and else not.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
export KUBECONFIG=$tap_dir/kubeconfig
command -v kubectl >/dev/null || { skip "install plans" "no kubectl here"; plan; }
trap 'xargs -r kill <"$tap_dir/pids" 2>/dev/null; rm -rf "$tap_dir"' EXIT

recipe() { # APPROVED VERSIONS
    local top=$tap_dir/top
    mkdir -p "$top/templates"
    printf 'apiVersion: v2\nname: top\nversion: 1.0.0\nannotations: {slipway.dev/wait: all}\n' >"$top/Chart.yaml"
    printf 'apiVersion: operators.coreos.com/v1\nkind: OperatorGroup\nmetadata: {name: nfd}\nspec: {targetNamespaces: [top]}\n' >"$top/templates/group.yaml"
    cat >"$top/templates/subscription.yaml" <<YAML
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata:
  name: nfd
  annotations: {slipway.dev/approve-install-plan: "$1"}
spec: {name: nfd, channel: stable, source: redhat-operators, sourceNamespace: openshift-marketplace, installPlanApproval: Manual}
YAML
}
plan_is() { kubectl -n top get installplans -o 'jsonpath={.items[*].spec.approved}' | grep -q "^$1\$"; }
event() { kubectl get events -A -o json | jq -r '.items[].message' | grep -q "$1"; }

up() {
    "$slipway" emulate --platform openshift --delays 0 --kubeconfig-out "$KUBECONFIG" >/dev/null 2>&1 &
    echo $! >"$tap_dir/pids"
    until_ok 20 test -s "$KUBECONFIG" || return 1
    kubectl apply -f deploy/crds/sro.openshift.io_specialresources.yaml && established crd/specialresources.sro.openshift.io || return 1
    "$slipway" controller --legacy-rights --allowed-files "$tap_dir" --metrics-bind-address 0 --health-probe-bind-address 0 >"$tap_dir/log" 2>&1 &
    echo $! >>"$tap_dir/pids"
}
# version of the chart, so that its files are read again
walk() {
    recipe "$1"
    kubectl apply -f - <<YAML
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: top}
spec:
  namespace: top
  chart: {name: top, version: 1.0.0, repository: {name: $2, url: "file://$tap_dir/top"}}
YAML
}
refused() { # PINS
    walk "$1" first && until_ok 30 event 'install plan .* of Subscription top/nfd would install nfd.4.14.0; the recipe approves' &&
        until_ok 20 eval "kubectl get specialresource top -o json | grep -q 'UpgradePending'" && ! plan_is true
}
approved() {
    walk nfd.4.14.0 "$1" && kubectl wait --for=condition=Ready specialresource/top --timeout=60s && plan_is true &&
        event 'install plan .*: nfd.4.14.0$' && [ "$(kubectl -n top get subscription nfd -o 'jsonpath={.status.installedCSV}')" = nfd.4.14.0 ]
}
gone() { kubectl delete specialresource top --timeout=60s; }
rights() {
    "$slipway" rbac "$tap_dir/top" --name top --namespace top | grep -A3 'installplans' | grep -q 'patch'
}

t "an operator works" up
t "another version is not approved, and told" refused nfd.4.13.0
t "the one that the recipe names then is" approved second
t "it goes" gone
t "a plan that installs less than what is named is not approved" refused nfd.4.14.0,other.v1
t "it goes again" gone
t "the pinned version is approved at once" approved first
t "slipway rbac gives the right" rights
plan
