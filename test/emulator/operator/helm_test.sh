#!/bin/bash
# Helm itself on what slipway recorded: helm of PATH, or $HELM.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh
slipway=${SLIPWAY:-build/test/slipway}
helm=${HELM:-helm}
export KUBECONFIG=$tap_dir/kubeconfig HOME=$tap_dir

finish() {
    stop controller
    stop emulate
    rm -rf "$tap_dir"
}
trap finish EXIT

recipe() {
    mkdir -p "$tap_dir/rel/templates" "$tap_dir/rel/charts/sub/templates" # whose files are in the record, too
    printf 'apiVersion: v2\nname: rel\nversion: 0.1.0\nappVersion: "3.4"\ndependencies: [{name: sub, version: 0.1.0}]\n' >"$tap_dir/rel/Chart.yaml"
    printf 'apiVersion: v2\nname: sub\nversion: 0.1.0\n' >"$tap_dir/rel/charts/sub/Chart.yaml"
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: sub}\ndata: {from: sub}\n' >"$tap_dir/rel/charts/sub/templates/sub.yaml"
    printf 'color: none\n' >"$tap_dir/rel/values.yaml"
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {color: {{ .Values.color }}}\n' \
        >"$tap_dir/rel/templates/0000-c.yaml"
    local when
    for when in post-install post-upgrade post-rollback pre-delete post-delete test; do
        cat <<END
---
apiVersion: batch/v1
kind: Job
metadata:
  name: $when
  annotations:
    helm.sh/hook: $when
    helm.sh/hook-delete-policy: $([ $when = pre-delete ] && echo hook-succeeded || echo before-hook-creation)
spec:
  backoffLimit: 0
  template: {spec: {restartPolicy: Never, containers: [{name: c, image: ubi9}]}}
END
    done >"$tap_dir/rel/templates/0001-hooks.yaml"
}

start() { # DRIVER
    stop controller
    stop emulate
    rm -f "$KUBECONFIG"
    "$slipway" emulate --kubeconfig-out "$KUBECONFIG" >"$tap_dir/emulate" 2>&1 &
    echo $! >"$tap_dir/emulate.pid"
    until_ok 30 test -s "$KUBECONFIG" || return 1
    "$slipway" run "$tap_dir/rel" --releases none --timeout 60s >"$tap_dir/run" 2>&1 || { cat "$tap_dir/run"; return 1; }
    "$slipway" controller --releases "$1" --allowed-files "$tap_dir" --metrics-bind-address 0 --health-probe-bind-address 0 \
        >"$tap_dir/controller" 2>&1 &
    echo $! >"$tap_dir/controller.pid"
    until_ok 60 says "rel-0.1.0" list -n rel
}

says() { # WORDS ARGUMENTS...: of helm
    "$helm" "${@:2}" >"$tap_dir/o" 2>&1 || { cat "$tap_dir/o"; return 1; }
    grep -q -- "$1" "$tap_dir/o" || { echo "helm ${*:2} does not say: $1"; cat "$tap_dir/o"; return 1; }
}

reads() {
    says 'rel .*1 .*deployed.*rel-0.1.0.*3.4' list -n rel &&
        says '1 .*deployed.*Install complete' history rel -n rel &&
        says 'STATUS: deployed' status rel -n rel &&
        says 'color: none' get manifest rel -n rel && says 'from: sub' get manifest rel -n rel && says 'name: pre-delete' get hooks rel -n rel &&
        says 'color: none' get values --all rel -n rel
}

tested() {
    "$slipway" test rel && says 'TEST SUITE: *test' status rel -n rel && says 'Phase: *Succeeded' status rel -n rel
}

# From here on it is Helm's: the operator is gone.
goes_on() {
    stop controller
    says 'STATUS: deployed' upgrade rel "$tap_dir/rel" -n rel --set color=red &&
        says '1 .*superseded' history rel -n rel && says '2 .*deployed.*Upgrade complete' history rel -n rel &&
        says 'Rollback was a success' rollback rel 1 -n rel &&
        says '3 .*deployed.*Rollback to 1' history rel -n rel && says 'color: none' get manifest rel -n rel
}

there() { # JOB
    curl -sf "$(sed -n 's/^ *server: //p' "$KUBECONFIG")/apis/batch/v1/namespaces/rel/jobs/$1" >/dev/null
}

ends() {
    says 'uninstalled' uninstall rel -n rel && says '^NAME' list -n rel &&
        ! grep rel-0.1.0 "$tap_dir/o" || return 1
    # what the record says of hooks holds for Helm, too: one goes when it has succeeded, one stays
    there post-delete && ! there pre-delete
}

if ! command -v "$helm" >/dev/null; then
    skip "helm reads what slipway recorded" "no helm here"
else
    recipe
    for driver in configmap secret; do
        export HELM_DRIVER=$driver
        t "$driver: start" start $driver
        t "$driver: helm reads the record" reads
        t "$driver: how a test went is in the record" tested
        t "$driver: helm upgrades and rolls back" goes_on
        t "$driver: helm uninstalls" ends
    done
fi
plan
