#!/bin/bash
# A release that resources share is switched off, and on again: by the `if` of slipway.dev/releases, or by the
# condition of the dependency.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh
slipway=${SLIPWAY:-build/test/slipway}
export KUBECONFIG=$tap_dir/kubeconfig

finish() {
    stop watch
    stop controller
    stop emulate
    rm -rf "$tap_dir"
}
trap finish EXIT

recipe() { # NAME
    mkdir -p "$tap_dir/$1/templates" "$tap_dir/$1/charts/gpu/templates"
    cat >"$tap_dir/$1/Chart.yaml" <<END
apiVersion: v2
name: $1
version: 0.1.0
dependencies: [{name: gpu, version: 26.7.0, condition: gpu.enabled}]
annotations:
  slipway.dev/wait: all
  slipway.dev/releases: |
    gpu: {name: gpu-operator, namespace: gpus, namespaceLabels: {team: gpus}, if: $1.installs}
END
    printf 'install: true\ngpu: {enabled: true}\n' >"$tap_dir/$1/values.yaml"
    printf '{{ define "%s.installs" }}{{ .Values.install }}{{ end }}\n' "$1" >"$tap_dir/$1/templates/_helpers.tpl"
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine}\n' >"$tap_dir/$1/templates/mine.yaml"
    printf 'apiVersion: v2\nname: gpu\nversion: 26.7.0\n' >"$tap_dir/$1/charts/gpu/Chart.yaml"
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: theirs}\n' >"$tap_dir/$1/charts/gpu/templates/all.yaml"
}
starts() {
    recipe a
    recipe b
    "$slipway" emulate --kubeconfig-out "$KUBECONFIG" >"$tap_dir/emulate" 2>&1 &
    echo $! >"$tap_dir/emulate.pid"
    until_ok 30 test -s "$KUBECONFIG" && "$slipway" run "$tap_dir/a" --timeout 60s || return 1
    "$slipway" controller --allowed-files "$tap_dir" --metrics-bind-address 0 --health-probe-bind-address 0 \
        >"$tap_dir/controller" 2>&1 &
    echo $! >"$tap_dir/controller.pid"
}
patch() { # RESOURCE SPEC.SET AS JSON
    kubectl patch specialresource "$1" --type merge -p "{\"spec\":{\"set\":$2}}"
}
users() { # NAMES
    [ "$(kubectl get namespace gpus -o 'jsonpath={.metadata.annotations.slipway\.dev/shared-releases}' |
        jq -r '."gpu-operator" | select(has("from") | not) | [.users[].name] | join(" ")')" = "$1" ]
}
uids() { kubectl get namespace/gpus configmap/theirs -n gpus -o 'jsonpath={.items[*].metadata.uid}'; }
installed() { kubectl get configmap -n gpus theirs; }
absent() { ! kubectl get namespace gpus; }
ready() { # RESOURCE: as it is now
    [ "$(kubectl get specialresource "$1" -o 'jsonpath={.status.state} {.status.observedGeneration}')" = \
        "Ready:  $(kubectl get specialresource "$1" -o 'jsonpath={.metadata.generation}')" ]
}

# Nobody else uses it: it goes, and nothing of it is made again.
goes() { # SPEC.SET
    patch a "$1" && until_ok 30 absent && until_ok 30 ready a || return 1
    kubectl get namespaces --watch-only -o name >"$tap_dir/made" 2>/dev/null &
    echo $! >"$tap_dir/watch.pid"
    sleep 2
    stop watch
    ! grep gpus "$tap_dir/made"
}
by_if() { goes '{"install":false}'; }
by_condition() { goes '{"install":true,"gpu":{"enabled":false}}'; }
comes() { patch a '{"install":true,"gpu":{"enabled":true}}' && until_ok 30 installed && until_ok 30 ready a && users a; }

# Each time before the change before it is over
again_and_again() {
    for _ in 1 2 3 4 5; do
        patch a '{"install":false}' && patch a '{"install":true}' && until_ok 30 installed || return 1
        patch a '{"install":false}' && until_ok 30 absent && patch a '{"install":true}' && until_ok 30 installed && until_ok 30 ready a || return 1
    done
    users a
}

# Another one uses it: it has it then, as it is.
joins() { "$slipway" run "$tap_dir/b" --timeout 60s && until_ok 30 users 'a b' && uids >"$tap_dir/uids"; }
handed_over_by_condition() {
    joins && patch a '{"install":true,"gpu":{"enabled":false}}' && until_ok 30 users b && until_ok 30 ready a && uids | diff "$tap_dir/uids" - || return 1
    patch a '{"install":true,"gpu":{"enabled":true}}' && until_ok 30 users 'b a' && until_ok 30 ready a && uids | diff "$tap_dir/uids" -
}
# Whether its own `if` is false cannot be told then: it is a user as long as the release is there.
handed_over_by_if() {
    patch b '{"install":false}' && until_ok 30 users 'a b' && until_ok 30 ready b && uids | diff "$tap_dir/uids" -
}
last_one() {
    kubectl delete specialresource a --timeout=60s && until_ok 30 absent && until_ok 30 ready b
}

if ! command -v kubectl >/dev/null || ! command -v jq >/dev/null; then
    skip "a shared release that is switched off" "no kubectl or jq here"
else
    t "a walk" starts
    t "switched off by its if it goes, and stays away" by_if
    t "switched on it comes again" comes
    t "switched off by the dependency's condition it goes, and stays away" by_condition
    t "switched on it comes again, too" comes
    t "off and on while it still comes or goes" again_and_again
    t "who switches it off by the condition hands it over, with nothing deleted" handed_over_by_condition
    t "who switches it off by the if hands it over, too" handed_over_by_if
    t "it goes with the last one that has it on" last_one
fi
plan
