#!/bin/bash
# What charts that were written for Helm do, in small: each of charts/ is walked on the embedded cluster.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh
slipway=${SLIPWAY:-build/test/slipway}
charts=test/emulator/operator/charts

finish() {
    [ ! -s "$tap_dir/pid" ] || kill "$(cat "$tap_dir/pid")"
    rm -rf "$tap_dir"
}
trap finish EXIT

walk() { # RC CHART ARGUMENTS...: the output is in $tap_dir/o
    local rc=0
    timeout 60 "$slipway" run "$charts/$2" --emulate --timeout 30s "${@:3}" >"$tap_dir/o" 2>&1 || rc=$?
    [ $rc -eq "$1" ] || { echo "exit status $rc"; cat "$tap_dir/o"; return 1; }
}
said() { grep -q -- "$1" "$tap_dir/o" || { echo "not said: $1"; cat "$tap_dir/o"; return 1; }; }
not_said() { ! grep -- "$1" "$tap_dir/o"; }

hook_of_two_events() { walk 0 two-events && said 'two-events: Ready' && not_said Drifted; }
t "a hook of pre-install and post-install is made again for the second" hook_of_two_events

crds_first() { walk 0 crds-first && said 'crds-first: Ready' && not_said Retrying; }
t "what crds/ defines may be a hook before the install" crds_first

asks_crds() { walk 0 asks-crds && said 'asks-crds: Ready'; }
t "what crds/ defines is served when the chart renders" asks_crds

late_scope() { walk 0 late-scope && said 'late-scope: Ready' && not_said 'namespace is needed'; }
t "an object whose kind an earlier state defines gets its namespace" late_scope

operator_kind() { walk 0 operator-kind --rules "$charts/operator-kind/rules" && said 'operator-kind: Ready' && not_said 'namespace is needed'; }
t "an object whose kind an operator brings gets its namespace when it is served" operator_kind
long_label() {
    local name=k8s-ephemeral-storage-metrics
    cp -r "$charts/crds-first" "$tap_dir/$name"
    sed -i "s/^name: .*/name: $name/" "$tap_dir/$name/Chart.yaml"
    charts=$tap_dir walk 0 "$name" -o json && said "/state-$name-k8s-ephemeral-stor-[0-9a-f]*\": *\"Ready\"" &&
        "$slipway" lint --strict "$tap_dir/$name" >"$tap_dir/o" && not_said warning || return 1
    mkdir -p "$tap_dir/$name/charts/b/templates"
    printf 'apiVersion: v2\nname: b\nversion: 1.0.0\n' >"$tap_dir/$name/charts/b/Chart.yaml"
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n' >"$tap_dir/$name/charts/b/templates/b.yaml"
    "$slipway" lint "$tap_dir/$name" >"$tap_dir/o" && said 'warning: .*its node label would have more than 63 characters'
}
t "a label that is too long for Kubernetes is shortened, and lint says so where there are several states" long_label
needs_api() { walk 0 needs-api && said 'needs-api: Ready' && not_said warning && not_said Drifted; }
t "a chart that fails without the API of an earlier state is rendered when that is served" needs_api

# the other state goes on
fails_alone() {
    cp -r "$charts/needs-api" "$tap_dir/fails-alone"
    sed -i 's/^name: .*/name: fails-alone/; s/, depends-on: .a.//' "$tap_dir/fails-alone/Chart.yaml"
    echo '{{ fail "never" }}' >"$tap_dir/fails-alone/charts/b/templates/t.yaml"
    charts=$tap_dir walk 2 fails-alone && said "state 'b': .*never" && said 'StateStarted: state a' &&
        not_said 'StateFailed: state a'
}
t "a state that cannot be rendered fails alone" fails_alone
notes() { walk 2 fails-in-notes && said 'color is missing' && walk 0 fails-in-notes --set color=red; }
t "NOTES.txt is a part of rendering" notes

no_object() { walk 2 no-object --timeout 20s && said 'renders to no object' && not_said 'timed out'; }
t "a recipe that renders to no object ends at once" no_object

differs() { # the Secret that is not looked up
    "$slipway" lint "$charts/random" >"$tap_dir/o" &&
        said 'random/templates/s.yaml:1: warning: Secret rnd comes out differently' && not_said 'Secret kept'
}
t "lint tells of what is random and not kept by a lookup" differs

# ---- a cluster that stays

start() {
    export KUBECONFIG=$tap_dir/kubeconfig
    "$slipway" emulate --kube-version 1.33 --kubeconfig-out "$KUBECONFIG" >"$tap_dir/emulate" 2>&1 &
    echo $! >"$tap_dir/pid"
    until_ok 30 test -s "$KUBECONFIG"
}
on_cluster() { # CHART ARGUMENTS...
    "$slipway" run "$charts/$1" --timeout 30s "${@:2}" >"$tap_dir/o" 2>&1 || { cat "$tap_dir/o"; return 1; }
}
get() { curl -sf "$(sed -n 's/^ *server: //p' "$KUBECONFIG")$1"; }

selectable() {
    on_cluster selectable && not_said 'left out' &&
        get /apis/apiextensions.k8s.io/v1/customresourcedefinitions/sels.example.com | grep -q '"selectableFields":\[{"jsonPath":".spec.color"}\]'
}
hooks_that_ran() {
    on_cluster two-events && "$slipway" diff "$charts/two-events" >"$tap_dir/o" 2>&1 || { cat "$tap_dir/o"; return 1; }
}
kept() { # what is looked up stays, what is not does not
    local data kept rnd
    on_cluster random || return 1
    kept=$(get /api/v1/namespaces/random/secrets/kept | grep -o '"p":"[^"]*"')
    rnd=$(get /api/v1/namespaces/random/secrets/rnd | grep -o '"p":"[^"]*"')
    on_cluster random --set again=true || return 1
    data=$(get /api/v1/namespaces/random/secrets/kept | grep -o '"p":"[^"]*"')
    [ -n "$kept" ] && [ "$kept" = "$data" ] || { echo "kept: $kept became $data"; return 1; }
    [ "$rnd" != "$(get /api/v1/namespaces/random/secrets/rnd | grep -o '"p":"[^"]*"')" ]
}
kept_in_diff() { # what is not looked up is another one each time
    local rc=0
    "$slipway" diff "$charts/random" --set again=true >"$tap_dir/o" 2>&1 || rc=$?
    [ $rc -eq 1 ] && said 'rnd' && not_said 'kept'
}
upgrade_hooks() { # what the first run deleted when it was over is there for the second, too
    on_cluster upgrade-hook && on_cluster upgrade-hook --set color=blue && on_cluster upgrade-hook --set color=blue || return 1
    get /api/v1/namespaces/upgrade-hook/configmaps/upgrades | grep -o '"data":{[^}]*}' | grep -F '{"revision":"2","upgrade":"true"}' &&
        get /api/v1/namespaces/upgrade-hook/secrets/sh.helm.release.v1.upgrade-hook.v2 | grep -q '"status":"deployed"'
}
no_record() { on_cluster two-events --name none --releases none && ! get /api/v1/namespaces/none/secrets/sh.helm.release.v1.none.v1; }
export KUBECONFIG=$tap_dir/kubeconfig
start
t "selectableFields of a CRD are kept" selectable
t "diff does not show hooks that were deleted as their policy says" hooks_that_ran
t "what a chart looks up is kept, as Helm keeps it" kept
t "diff looks it up, too" kept_in_diff
t "a second run with other values is an upgrade: its hooks run, and Helm has a record of it" upgrade_hooks
t "run --releases none keeps no record" no_record
plan
