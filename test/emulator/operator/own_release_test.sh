#!/bin/bash
# A vendor's chart under a recipe as a release of its own: its namespace, its record, its hooks.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh
slipway=${SLIPWAY:-build/test/slipway}
export KUBECONFIG=$tap_dir/kubeconfig
top=$tap_dir/top

finish() {
    stop watch
    stop controller
    stop emulate
    rm -rf "$tap_dir"
}
trap finish EXIT

recipe() {
    mkdir -p "$top/templates" "$top/charts/gpu/templates"
    cat >"$top/Chart.yaml" <<'END'
apiVersion: v2
name: top
version: 0.1.0
annotations:
  slipway.dev/wait: all
  slipway.dev/releases: |
    gpu:
      name: gpu-operator
      namespace: {{ .Values.where }}
      namespaceLabels: {pod-security.kubernetes.io/enforce: privileged}
      if: top.installs
END
    printf 'where: gpus\ninstall: true\ngpu: {color: green}\n' >"$top/values.yaml"
    printf '{{ define "top.installs" }}{{ .Values.install }}{{ end }}\n' >"$top/templates/_helpers.tpl"
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine}\n' >"$top/templates/mine.yaml"
    printf 'apiVersion: v2\nname: gpu\nversion: 26.7.0\nappVersion: v26\n' >"$top/charts/gpu/Chart.yaml"
    printf 'color: red\nsize: 1\n' >"$top/charts/gpu/values.yaml"
    cat >"$top/charts/gpu/templates/all.yaml" <<'END'
apiVersion: v1
kind: ConfigMap
metadata: {name: theirs}
data: {color: {{ .Values.color }}, release: {{ .Release.Name }}}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: cleanup
  annotations: {helm.sh/hook: pre-delete}
spec:
  backoffLimit: 0
  template: {spec: {restartPolicy: Never, containers: [{name: c, image: ubi9}]}}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: leftovers
  annotations: {helm.sh/hook: post-delete}
spec:
  backoffLimit: 0
  template: {spec: {restartPolicy: Never, containers: [{name: c, image: ubi9}]}}
END
}

starts() {
    "$slipway" emulate --kubeconfig-out "$KUBECONFIG" >"$tap_dir/emulate" 2>&1 &
    echo $! >"$tap_dir/emulate.pid"
    until_ok 30 test -s "$KUBECONFIG" || return 1
    kubectl create namespace taken
    "$slipway" run "$top" --releases none --timeout 60s || return 1
    "$slipway" controller --allowed-files "$tap_dir" --metrics-bind-address 0 --health-probe-bind-address 0 \
        >"$tap_dir/controller" 2>&1 &
    echo $! >"$tap_dir/controller.pid"
}

# The release that a record holds.
release() { # NAMESPACE VERSION
    kubectl get secret -n "$1" "sh.helm.release.v1.gpu-operator.v$2" -o 'jsonpath={.data.release}' |
        base64 -d | base64 -d | gunzip
}
says() { # NAMESPACE VERSION JQ-CONDITION
    release "$1" "$2" | jq -e "$3" >/dev/null
}
records() { # NAMESPACE
    kubectl get secret -n "$1" -l owner=helm,name=gpu-operator -o name
}

in_its_namespace() {
    kubectl get configmap -n gpus theirs -o 'jsonpath={.data.release}' | grep -qx gpu-operator &&
        kubectl get configmap -n top mine &&
        kubectl get namespace gpus -o 'jsonpath={.metadata.labels}' | grep -q 'enforce":"privileged'
}

recorded() {
    until_ok 30 says gpus 1 '.info.status == "deployed"' &&
        says gpus 1 '.name == "gpu-operator" and .namespace == "gpus" and .version == 1' &&
        says gpus 1 '.chart.metadata.name == "gpu" and .chart.metadata.version == "26.7.0"' &&
        says gpus 1 '[.chart.templates[].name] == ["templates/all.yaml"] and .chart.values.color == "red"' &&
        says gpus 1 '.config.color == "green" and .config.size == 1' &&
        says gpus 1 '(.manifest | contains("name: theirs")) and (.manifest | contains("mine") | not)' &&
        says gpus 1 '[.hooks[].name] == ["cleanup", "leftovers"]'
}

# The recipe's own record has its own objects, and all hooks.
apart() {
    kubectl get secret -n top sh.helm.release.v1.top.v1 -o 'jsonpath={.data.release}' |
        base64 -d | base64 -d | gunzip >"$tap_dir/top.json" &&
        jq -e '(.manifest | contains("name: mine")) and (.manifest | contains("theirs") | not)' "$tap_dir/top.json" &&
        jq -e '[.hooks[] | .name, .namespace] == ["cleanup", "gpus", "leftovers", "gpus"]' "$tap_dir/top.json"
}

patch() { # SPEC.SET AS JSON
    kubectl patch specialresource top --type merge -p "{\"spec\":{\"set\":$1}}"
}

# Other values are a revision; the one before goes.
again() {
    patch '{"gpu":{"color":"blue"}}' && until_ok 30 says gpus 2 '.config.color == "blue"' &&
        until_ok 30 only gpus 2
}
only() { # NAMESPACE VERSION
    [ "$(records "$1")" = "secret/sh.helm.release.v1.gpu-operator.v$2" ]
}

# The account that walks the recipe records the release, too.
rights() {
    "$slipway" rbac "$top" >"$tap_dir/rbac" && python3 - "$tap_dir/rbac" <<'END'
import sys, re
roles = [d for d in open(sys.argv[1]).read().split("---") if "\nkind: ClusterRole\n" in d]
rule = re.compile(r"  - secrets\n  verbs:\n  - create\n  - delete\n  - get\n  - list\n  - patch\n")
sys.exit(not any(rule.search(r) for r in roles))
END
}
shown() {
    "$slipway" graph "$top" | grep -qx 'gpu (release gpu-operator of namespace gpus)' &&
        "$slipway" graph "$top" -o json |
        jq -e '.states[0].release == {"name": "gpu-operator", "namespace": "gpus"}'
}

# What somebody else has installed under that name is his.
foreign() {
    kubectl create -n taken -f - <<'END' && patch '{"where":"taken"}' && until_ok 30 told && only taken 7
apiVersion: v1
kind: Secret
metadata:
  name: sh.helm.release.v1.gpu-operator.v7
  labels: {owner: helm, name: gpu-operator, version: "7", status: deployed}
type: helm.sh/release.v1
data: {release: ""}
END
}
told() {
    kubectl get events -A | grep ReleaseNotRecorded | grep 'gpu-operator of namespace taken' | grep -q 'was not installed by this resource'
}

# A release that is not to be installed any more goes with its record.
not_any_more() {
    patch '{"where":"gpus"}' && until_ok 30 recorded_in_gpus || return 1
    patch '{"where":"gpus","install":false}' && until_ok 30 gone gpus &&
        ! kubectl get configmap -n gpus theirs && kubectl get namespace taken # it is not slipway's
}
recorded_in_gpus() { [ -n "$(records gpus)" ]; }
gone() { [ -z "$(records "$1")" ]; }

hooks_run_there() {
    patch '{"install":true}' && until_ok 30 recorded_in_gpus &&
        until_ok 30 kubectl get configmap -n gpus theirs && until_ok 30 hooked || return 1
    kubectl get jobs -n gpus -w --no-headers >"$tap_dir/jobs" 2>/dev/null & # the namespace goes, too
    echo $! >"$tap_dir/watch.pid"
    kubectl create job -n gpus first --image=ubi9 && until_ok 30 grep -q first "$tap_dir/jobs" || return 1
    kubectl delete specialresource top --wait=false && until_ok 30 all_gone && until_ok 5 grep -q cleanup "$tap_dir/jobs" &&
        until_ok 5 grep -q leftovers "$tap_dir/jobs" && ! kubectl get namespace gpus
}
hooked() { # the recipe's record, from which hooks of a deletion are read
    kubectl get secret -n top -l owner=helm,name=top,status=deployed -o 'jsonpath={.items[-1:].data.release}' |
        base64 -d | base64 -d | gunzip | jq -e '[.hooks[].name] == ["cleanup", "leftovers"]'
}
all_gone() { ! kubectl get specialresource top 2>/dev/null; }

if ! command -v kubectl >/dev/null; then
    skip "a release of its own" "no kubectl here"
else
    recipe
    t "the graph shows it" shown
    t "slipway rbac gives the right to record it" rights
    t "a walk" starts
    t "its objects are in its namespace, which has its labels" in_its_namespace
    t "helm's record of it is there, as if helm had installed it" recorded
    t "the recipe's own record has the rest" apart
    t "other values are another revision, and the one before goes" again
    t "a record of somebody else is left alone and told" foreign
    t "one that is not to be installed any more goes with its record" not_any_more
    t "its hooks of a deletion run in its namespace, which goes behind them" hooks_run_there
fi
plan
