#!/bin/bash
# A state of a release that resources share is rolled back: what comes back is the release's still, and is handed over.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh
slipway=${SLIPWAY:-build/test/slipway}
export KUBECONFIG=$tap_dir/kubeconfig
trap 'stop operating; stop emulated; rm -rf "$tap_dir"' EXIT

recipe() { # NAME
    mkdir -p "$tap_dir/$1/templates" "$tap_dir/$1/charts/gpu/templates"
    cat >"$tap_dir/$1/Chart.yaml" <<END
apiVersion: v2
name: $1
version: 0.1.0
dependencies: [{name: gpu, version: 26.7.0}]
annotations:
  slipway.dev/wait: all
  slipway.dev/releases: 'gpu: {name: gpu-operator, namespace: gpus}'
END
    printf 'gpu: {zone: ""}\n' >"$tap_dir/$1/values.yaml"
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine}\n' >"$tap_dir/$1/templates/mine.yaml"
    printf 'apiVersion: v2\nname: gpu\nversion: 26.7.0\nannotations: {slipway.dev/wait: all}\n' >"$tap_dir/$1/charts/gpu/Chart.yaml"
    cat >"$tap_dir/$1/charts/gpu/templates/all.yaml" <<'END'
apiVersion: apps/v1
kind: Deployment
metadata: {name: theirs}
spec:
  selector: {matchLabels: {app: theirs}}
  template:
    metadata: {labels: {app: theirs}}
    spec:
      {{- with .Values.zone }}
      nodeSelector: {zone: {{ . }}}
      {{- end }}
      containers: [{name: theirs, image: example.org/theirs:1}]
END
}
come() { resource "$1" "file://$tap_dir/$1" 0.1.0 | { cat && printf '  rollback: true\n  stateTimeout: 4s\n'; } | kubectl apply -f - && until_ok 30 says "$1" Ready; }
says() { [ "$(kubectl get specialresource "$1" -o "jsonpath={.status.conditions[?(@.type=='$2')].status}")" = True ]; }
uids() { kubectl get namespace/gpus deployment/theirs -n gpus -o 'jsonpath={.items[*].metadata.uid}'; }
users() { # NAMES
    [ "$(kubectl get namespace gpus -o 'jsonpath={.metadata.annotations.slipway\.dev/shared-releases}' |
        jq -r '."gpu-operator" | select(has("from") | not) | [.users[].name] | join(" ")')" = "$1" ]
}
is_kept() { kubectl get secret -n a slipway.rollback.a -o json | jq -r '.data[]' | base64 -d 2>/dev/null | grep -q .; }
is_bound() { kubectl get deployment -n gpus theirs -o json | jq -e '.spec.template.spec.nodeSelector.zone' >/dev/null; }

rolled_back() {
    recipe a && recipe b && emulated && operating --allowed-files "$tap_dir" && come a && until_ok 20 is_kept || return 1
    kubectl patch specialresource a --type merge -p '{"spec":{"set":{"gpu":{"zone":"mars"}}}}' && until_ok 20 is_bound || return 1
    until_ok 60 says a RolledBack && until_ok 20 says a Ready && ! is_bound && users a
}
handed_over() {
    uids >"$tap_dir/uids" && [ -s "$tap_dir/uids" ] && come b && until_ok 20 users 'a b' || return 1
    kubectl delete specialresource a --timeout=60s && until_ok 20 users b && until_ok 20 says b Ready && uids | diff "$tap_dir/uids" -
}
gone() { kubectl delete specialresource b --timeout=60s && until_ok 20 is_gone; }
is_gone() { ! kubectl get namespace gpus; }

if ! command -v kubectl >/dev/null || ! command -v jq >/dev/null; then
    skip "a rollback of a shared release" "no kubectl or jq here"
else
    t "what was ready last comes back" rolled_back
    t "it is handed over, with nothing made anew" handed_over
    t "it goes with the last one that uses it" gone
fi
plan
