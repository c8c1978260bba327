# Install plans of the Operator Lifecycle Manager: approved where they install what the recipe pins, and else not.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
export KUBECONFIG=$tap_dir/kubeconfig
command -v kubectl >/dev/null || { skip "install plans" "no kubectl here"; plan; }
trap 'stop operating; stop emulated; rm -rf "$tap_dir"' EXIT

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

up() { emulated --platform openshift && operating --allowed-files "$tap_dir"; }
# another name of the repository: the chart's files are read again
walk() { # APPROVED REPOSITORY
    recipe "$1" && resource top "file://$tap_dir/top" 1.0.0 "$2" | kubectl apply -f -
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
