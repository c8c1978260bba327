# slipway plan: every action on a node, before it is done; nothing is written.
. test/tap.sh
slipway=${SLIPWAY:-build/test/slipway}
export KUBECONFIG=$tap_dir/kubeconfig

start() {
    "$slipway" emulate --delays 0 --kubeconfig-out "$KUBECONFIG" >"$tap_dir/emulate" 2>&1 &
    echo $! >"$tap_dir/pid"
    until_ok 30 test -s "$KUBECONFIG"
    "$slipway" run test/emulator/charts/driver --timeout 60s
}

server() { sed -n 's/^ *server: *"\{0,1\}\(http[^"]*\)"\{0,1\}$/\1/p' "$KUBECONFIG"; }

patch() { # JSON
    curl -sf -X PATCH -H 'Content-Type: application/merge-patch+json' -d "$1" \
        "$(server)/apis/sro.openshift.io/v1beta1/specialresources/driver" >/dev/null
}

without_policy() {
    "$slipway" plan driver >"$tap_dir/o"
    [ $? -eq 0 ] && grep 'has no spec.upgradePolicy' "$tap_dir/o"
}

whole() { # every node, one after another, with what is evicted there
    patch '{"spec":{"upgradePolicy":{"autoUpgrade":false,"drain":{"enable":true}}}}' || return 1
    "$slipway" run test/emulator/charts/driver --timeout 60s || return 1
    "$slipway" plan driver --all >"$tap_dir/o"
    [ $? -eq 1 ] || return 1
    cat "$tap_dir/o"
    head -1 "$tap_dir/o" | grep -q '^ROUND  NODE' &&
        [ "$(grep -c ' cordon ' "$tap_dir/o")" -ge 3 ] &&
        [ "$(grep -c ' cordon ' "$tap_dir/o")" -eq "$(grep -c ' uncordon ' "$tap_dir/o")" ] &&
        grep -q 'replace driver  driver/driver-' "$tap_dir/o" && grep -q 'It is paused' "$tap_dir/o"
}

json() {
    "$slipway" plan driver --all -o json >"$tap_dir/o"
    [ $? -eq 1 ] && grep -q '"action": "replace driver"' "$tap_dir/o" && grep -q '"paused": true' "$tap_dir/o"
}

nothing() {
    "$slipway" plan driver >"$tap_dir/o"
    [ $? -eq 0 ] && grep 'no node needs a new driver' "$tap_dir/o"
}

writes_nothing() {
    curl -sf "$(server)/api/v1/nodes" | sed 's/"resourceVersion":"[0-9]*"//' >"$tap_dir/before"
    "$slipway" plan driver --all >/dev/null
    curl -sf "$(server)/api/v1/nodes" | sed 's/"resourceVersion":"[0-9]*"//' >"$tap_dir/after"
    cmp "$tap_dir/before" "$tap_dir/after"
}

unknown() {
    "$slipway" plan nobody >"$tap_dir/o" 2>&1
    [ $? -eq 2 ] && grep nobody "$tap_dir/o"
}

t 'a cluster with a driver is there' start
t 'without a policy there is no plan' without_policy
t 'every action on every node is listed' whole
t 'as a document, too' json
t 'what needs nothing says so' nothing
t 'nothing is written' writes_nothing
t 'a resource that is not there is named' unknown
kill "$(cat "$tap_dir/pid")" 2>/dev/null
plan
