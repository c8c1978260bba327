#!/bin/bash
# The rights that are shipped are those that are needed: the emulator goes by RBAC, the operator has
# nothing but the account and the roles of deploy/base and what `slipway rbac` prints for a recipe.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh
slipway=${SLIPWAY:-build/test/slipway}
command -v kubectl >/dev/null || { skip "a recipe walks with the rights that are shipped" "no kubectl"; plan; }
trap 'for f in "$tap_dir"/*.pid; do kill "$(cat "$f")" 2>/dev/null; done; wait; rm -rf "$tap_dir"' EXIT
k() { kubectl --kubeconfig "$tap_dir/admin" "$@"; }

"$slipway" emulate --platform kubernetes --authorization rbac --kubeconfig-out "$tap_dir/admin" >"$tap_dir/emulator" 2>&1 &
echo $! >"$tap_dir/emulator.pid"
until_ok 30 grep -qs "^http" "$tap_dir/emulator"
api=$(head -n 1 "$tap_dir/emulator")

# kubectl sends no token where there is no TLS; the operator does
operator_kubeconfig() {
    curl -sf -X POST -H 'Content-Type: application/json' -d '{"spec":{"expirationSeconds":86400}}' \
        "$api/api/v1/namespaces/slipway/serviceaccounts/slipway/token" |
        sed -n 's/.*"token":"\([^"]*\)".*/\1/p' >"$tap_dir/token" && [ -s "$tap_dir/token" ] &&
        sed "s/  user: {}/  user: {token: \"$(cat "$tap_dir/token")\"}/" "$tap_dir/admin" >"$tap_dir/operator"
}

installed() {
    local f
    kubectl kustomize deploy/base | k apply --server-side -f - || return 1
    for f in deploy/crds/*.yaml; do
        [ "$f" = deploy/crds/kustomization.yaml ] || k apply --server-side -f "$f" || return 1
    done
    operator_kubeconfig && operates
}

operates() {
    KUBECONFIG=$tap_dir/operator OPERATOR_NAMESPACE=slipway "$slipway" controller --leader-elect --leader-elect-namespace slipway \
        --metrics-bind-address 0 --health-probe-bind-address 0 >"$tap_dir/log" 2>&1 &
    echo $! >"$tap_dir/controller.pid"
    until_ok 30 grep -q 'the controller works' "$tap_dir/log"
}

says() { k get specialresource simple-kmod -o 'jsonpath={.status.conditions[*].message}' | grep "$1"; }
is_ready() { [ "$(k get specialresource simple-kmod -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}')" = True ]; }

refused() { # what the recipe needs is not granted yet
    "$slipway" configmap recipes/simple-kmod --packed --namespace slipway | k apply -f - && k create namespace simple-kmod &&
        k apply -f - <<YAML && until_ok 30 says 'is forbidden: User "system:serviceaccount:slipway:slipway" cannot list resource'
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: simple-kmod}
spec:
  namespace: simple-kmod
  nodeSelector: {node-role.kubernetes.io/worker: ""}
  chart: {name: simple-kmod, version: 0.1.0, repository: {name: here, url: "cm://slipway/simple-kmod"}}
YAML
}

granted() { # a new process need not wait until it asks again
    "$slipway" rbac recipes/simple-kmod | k apply --server-side -f - && stop controller && operates && until_ok 60 is_ready
}

goes() {
    k delete specialresource simple-kmod --timeout=60s && [ -z "$(k -n simple-kmod get daemonsets,jobs -o name)" ] &&
        ! grep 'is forbidden' "$tap_dir/log"
}

t "the operator works with the rights of deploy/base" installed
t "a right that is missing is told, with verb and kind" refused
t "with those that 'slipway rbac' prints the recipe walks to Ready" granted
t "it goes, and nothing was refused" goes
[ $tap_bad = 0 ] || tail -n 20 "$tap_dir/log" | sed 's/^/# /'
plan
