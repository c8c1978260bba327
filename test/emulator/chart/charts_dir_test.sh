#!/bin/bash
# --charts-dir: charts that are at hand instead of being fetched.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh
slipway=${SLIPWAY:-build/test/slipway}
export SLIPWAY_CACHE_DIR=$tap_dir/cache
charts=$tap_dir/charts
nobody=oci://127.0.0.1:1/vendor # no server is there

# vendor NAME VERSION DIR: a chart in a folder.
vendor() {
    mkdir -p "$3/templates"
    printf 'apiVersion: v2\nname: %s\nversion: %s\n' "$1" "$2" >"$3/Chart.yaml"
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: theirs}\ndata: {version: "{{ .Chart.Version }}"}\n' \
        >"$3/templates/c.yaml"
}
packed() { # NAME VERSION
    vendor "$1" "$2" "$tap_dir/src/$1-$2" && "$slipway" package "$tap_dir/src/$1-$2" -d "$charts" >/dev/null
}
recipe() { # VERSION [MORE-OF-THE-DEPENDENCY]
    rm -rf "$tap_dir/top"
    mkdir -p "$tap_dir/top"
    printf 'apiVersion: v2\nname: top\nversion: 0.1.0\nannotations: {slipway.dev/wait: all}\ndependencies:\n- {name: gpu, version: "%s", repository: "%s"%s}\n' \
        "$1" "$nobody" "${2:-}" >"$tap_dir/top/Chart.yaml"
}
renders() { # VERSION OPTION...
    "$slipway" render "$tap_dir/top" "${@:2}" >"$tap_dir/o" 2>"$tap_dir/err" || { cat "$tap_dir/err"; return 1; }
    grep -q "version: \"$1\"" "$tap_dir/o" || { cat "$tap_dir/o"; return 1; }
}
fails() { # WORDS OPTION...
    ! "$slipway" render "$tap_dir/top" "${@:2}" >"$tap_dir/o" 2>&1 && grep -q -- "$1" "$tap_dir/o" || { cat "$tap_dir/o"; return 1; }
}

pinned() { recipe 1.2.0 && renders 1.2.0 --charts-dir "$charts" && [ ! -s "$tap_dir/err" ]; }
highest() { recipe '^1.0' && renders 1.10.0 --charts-dir "$charts"; }
by_environment() { recipe 1.2.0 && SLIPWAY_CHARTS_DIR=$charts renders 1.2.0; }
other_version() {
    recipe 3.0.0 && fails "dependencies\[0\] 'gpu': chart gpu 3.0.0 cannot be fetched: $nobody.*gpu:3.0.0.*cannot connect" --charts-dir "$charts" &&
        fails 'put gpu-3.0.0.tgz into a folder and name it with --charts-dir'
}
no_folder() { recipe 1.2.0 && fails "the folder of charts: $tap_dir/none: No such file" --charts-dir "$tap_dir/none"; }
damaged() {
    mkdir -p "$tap_dir/bad" && echo nothing >"$tap_dir/bad/gpu-1.2.0.tgz" && recipe 1.2.0 &&
        fails "$tap_dir/bad/gpu-1.2.0.tgz" --charts-dir "$tap_dir/bad"
}
# A chart that is being worked on has not the version that the recipe names.
folder() {
    vendor gpu 0.0.0-devel "$tap_dir/dev/gpu" && recipe 26.7.0 ', alias: driver' &&
        renders 0.0.0-devel --charts-dir "$tap_dir/dev" &&
        grep -q "chart=gpu from=$tap_dir/dev/gpu instead=26.7.0 of=$nobody" "$tap_dir/err" &&
        grep -q 'top/charts/driver/templates' "$tap_dir/o"
}
wrong_name() {
    vendor cpu 1.2.0 "$tap_dir/other/gpu" && recipe 1.2.0 &&
        fails "holds chart 'cpu', expected 'gpu'" --charts-dir "$tap_dir/other"
}
# The walk loads the recipe in another process.
walks() { # DIR VERSION
    recipe "$2" && "$slipway" run "$tap_dir/top" --emulate --delays 0 --timeout 30s --charts-dir "$1" >"$tap_dir/o" 2>&1 ||
        { cat "$tap_dir/o"; return 1; }
    grep -q 'top: Ready' "$tap_dir/o"
}
signed() { recipe 1.2.0 && fails 'only packed charts are signed' --charts-dir "$charts" --verify; }

operator() {
    export KUBECONFIG=$tap_dir/kubeconfig
    "$slipway" emulate --kubeconfig-out "$KUBECONFIG" >"$tap_dir/emulate" 2>&1 &
    echo $! >"$tap_dir/pids"
    recipe 1.2.0 && until_ok 30 test -s "$KUBECONFIG" &&
        kubectl apply -f deploy/crds/sro.openshift.io_specialresources.yaml || return 1
    "$slipway" controller --legacy-rights --allowed-files "$tap_dir" --charts-dir "$charts" --metrics-bind-address 0 \
        --health-probe-bind-address 0 >"$tap_dir/controller" 2>&1 &
    echo $! >>"$tap_dir/pids"
    kubectl create -f - <<END
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: top}
spec:
  namespace: top
  chart: {name: top, version: 0.1.0, repository: {name: x, url: "file://$tap_dir"}}
END
    until_ok 20 is_ready 2>/dev/null || { kubectl get specialresource top -o yaml; cat "$tap_dir/controller"; return 1; }
}
is_ready() { kubectl get configmap -n top theirs -o 'jsonpath={.data.version}' 2>/dev/null | grep -qx 1.2.0; }
stop() {
    [ ! -s "$tap_dir/pids" ] || xargs kill <"$tap_dir/pids" 2>/dev/null
    rm -rf "$tap_dir"
}
trap stop EXIT

mkdir -p "$charts"
packed gpu 1.2.0
packed gpu 1.10.0
packed gpu 2.0.0
t "a packed chart of the pinned version is taken" pinned
t "of a range the highest version is taken" highest
t "SLIPWAY_CHARTS_DIR names the folder, too" by_environment
t "a version that is not at hand is fetched, and the error says how to do without" other_version
t "a folder that is not there is named" no_folder
t "a damaged archive is named" damaged
t "an unpacked chart is taken whatever its version, and told" folder
t "an unpacked chart of another name is refused" wrong_name
t "a walk takes packed charts from there" walks "$charts" 1.2.0
t "a walk takes unpacked charts from there" walks "$tap_dir/dev" 26.7.0
t "--verify takes none from there" signed
if command -v kubectl >/dev/null; then
    t "the operator has the option, too" operator
else
    skip "the operator has the option, too" "no kubectl here"
fi
plan
