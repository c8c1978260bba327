#!/bin/bash
# A release of its own that goes to another version: its definitions first (those of crds/, too), then the
# hooks of the upgrade, its objects, the hooks after it, each a step that is shown. It is upgraded when it
# changes itself, and installed when it comes, whatever else of the recipe does.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh
slipway=${SLIPWAY:-build/test/slipway}
export KUBECONFIG=$tap_dir/kubeconfig
top=$tap_dir/top

finish() {
    stop watch
    stop emulate
    rm -rf "$tap_dir"
}
trap finish EXIT

hook() { # NAME EVENTS [DURATION]
    cat <<END
---
apiVersion: batch/v1
kind: Job
metadata:
  name: $1
  annotations: {helm.sh/hook: "$2"}
spec:
  backoffLimit: 0
  template:
    metadata: {annotations: {emulator.slipway.dev/run: ${3:-1s}}}
    spec: {restartPolicy: Never, containers: [{name: c, image: ubi9}]}
END
}

# The vendor's chart in a version: of 2.0.0 the definition has a field more, and there is one more.
vendor() { # VERSION
    rm -rf "$top/charts/gpu"
    mkdir -p "$top/charts/gpu/templates" "$top/charts/gpu/crds"
    printf 'apiVersion: v2\nname: gpu\nversion: %s\n' "$1" >"$top/charts/gpu/Chart.yaml"
    printf 'color: red\n' >"$top/charts/gpu/values.yaml"
    definition policies Policy "$([ "$1" = 1.0.0 ] || echo ', nodes: {type: integer}')" >"$top/charts/gpu/crds/a.yaml"
    [ "$1" = 1.0.0 ] || definition drivers Driver "" >"$top/charts/gpu/crds/b.yaml"
    {
        printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: theirs}\ndata: {color: {{ .Values.color }}, '
        printf 'revision: "{{ .Release.Revision }} {{ .Release.IsUpgrade }}"}\n---\n'
        printf 'apiVersion: example.com/v1\nkind: Policy\nmetadata: {name: main}\nspec: {color: green%s}\n' \
            "$([ "$1" = 1.0.0 ] || echo ', nodes: 3')"
        hook set-up pre-install
        hook upgrade-definitions pre-upgrade 5s
        hook check post-upgrade
    } >"$top/charts/gpu/templates/all.yaml"
}
definition() { # PLURAL KIND MORE-FIELDS
    cat <<END
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: $1.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: $1, singular: ${1%s}, kind: $2, listKind: ${2}List}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {color: {type: string}$3}}
END
}

recipe() {
    mkdir -p "$top/templates"
    cat >"$top/Chart.yaml" <<'END'
apiVersion: v2
name: top
version: 0.1.0
annotations:
  slipway.dev/wait: all
  slipway.dev/releases: |
    gpu: {name: gpu-operator, namespace: gpus, if: top.installs}
END
    printf 'mine: 1\ninstall: true\n' >"$top/values.yaml"
    printf '{{ define "top.installs" }}{{ .Values.install }}{{ end }}\n' >"$top/templates/_helpers.tpl"
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine}\ndata: {mine: "{{ .Values.mine }}"}\n' \
        >"$top/templates/mine.yaml"
    vendor 1.0.0
}

walk() { "$slipway" run "$top" --timeout 60s "$@" >"$tap_dir/log" 2>&1 || { cat "$tap_dir/log"; return 1; }; }
status() { kubectl get specialresource top -o json | jq -c ".status.states[] | select(.name == \"gpu\") | .release"; }
release_is() { # JQ-CONDITION
    status | jq -e "$1" >/dev/null || { status; return 1; }
}
job() { kubectl get job -n gpus "$1" -o name; }
theirs() { # COLOR REVISION
    [ "$(kubectl get configmap -n gpus theirs -o 'jsonpath={.data.color} {.data.revision}')" = "$1 $2" ]
}

starts() {
    "$slipway" emulate --delays 1 --kubeconfig-out "$KUBECONFIG" >"$tap_dir/emulate" 2>&1 &
    echo $! >"$tap_dir/emulate.pid"
    until_ok 30 test -s "$KUBECONFIG"
}
installed() {
    walk && job set-up && ! job upgrade-definitions 2>/dev/null && theirs red "1 false" &&
        release_is '.version == "1.0.0" and .revision == 1 and .deployed == "1.0.0" and .from == null and .steps == null'
}
# Another value of the recipe is a revision of the recipe, not of the release.
not_upgraded() {
    walk --set mine=2 && ! job upgrade-definitions 2>/dev/null && theirs red "1 false" &&
        release_is '.revision == 1 and .from == null'
}
own_value() {
    walk --set mine=2,gpu.color=blue && job upgrade-definitions && theirs blue "2 true" &&
        release_is '.revision == 2 and .from == "1.0.0" and .deployed == "1.0.0"'
}
planned() {
    vendor 2.0.0
    "$slipway" plan "$top" --set mine=2,gpu.color=blue >"$tap_dir/log" 2>&1
    cat >"$tap_dir/wanted" <<'END'
release gpu-operator of namespace gpus: 1.0.0 to 2.0.0
  1  definitions         drivers.example.com (new), policies.example.com (changed)
  2  pre-upgrade hooks   Job upgrade-definitions
  3  objects             2: 1 changed
  4  post-upgrade hooks  Job check
END
    sed -n '/^release/,$p' "$tap_dir/log" | diff "$tap_dir/wanted" -
}
planned_json() {
    "$slipway" plan "$top" --set mine=2,gpu.color=blue -o json |
        jq -e '.releases[0] | .from == "1.0.0" and .to == "2.0.0" and [.steps[].name][1] == "pre-upgrade hooks"'
}
# The definitions are there before the hook runs, which the walk shows as its step.
upgraded() {
    "$slipway" run "$top" --timeout 60s --set mine=2,gpu.color=blue >"$tap_dir/log" 2>&1 &
    echo $! >"$tap_dir/run.pid"
    until_ok 30 at_hook || { status; cat "$tap_dir/log"; return 1; }
    kubectl get crd drivers.example.com -o name && theirs blue "2 true" || return 1
    "$slipway" explain top >"$tap_dir/explained"
    wait "$(cat "$tap_dir/run.pid")" || { cat "$tap_dir/log"; return 1; }
    [ "$(kubectl get policies -n gpus main -o 'jsonpath={.spec.nodes}')" = 3 ] && theirs blue "3 true" && job check &&
        release_is '.revision == 3 and .from == "1.0.0" and .deployed == "2.0.0" and .steps == null'
}
at_hook() {
    kubectl get specialresource top -o json >"$tap_dir/json"
    jq -e '.status.states[] | select(.name == "gpu") |
        (.message // "" | test("^1.0.0 to 2.0.0, step 2 of 4 \\(pre-upgrade hooks\\): Job gpus/upgrade-definitions"))
        and .release.steps[0] == {"name": "definitions", "ready": 2, "total": 2}
        and .release.steps[1].ready == 0' "$tap_dir/json" >/dev/null
}
explained() {
    grep -q 'release gpu-operator of namespace gpus, 1.0.0 to 2.0.0' "$tap_dir/explained" &&
        grep -q 'pre-upgrade hooks: 0 of 1' "$tap_dir/explained" || { cat "$tap_dir/explained"; return 1; }
}
again() {
    kubectl get jobs -n gpus -o jsonpath='{range .items[*]}{.metadata.uid} {end}' >"$tap_dir/a"
    walk --set mine=3,gpu.color=blue || return 1
    kubectl get jobs -n gpus -o jsonpath='{range .items[*]}{.metadata.uid} {end}' | diff "$tap_dir/a" -
}
# A release that goes and comes again is installed, though the recipe is at a later revision.
comes_again() {
    walk --set mine=3,install=false && ! kubectl get configmap -n gpus theirs 2>/dev/null && release_is '.revision == null' || return 1
    walk --set mine=3,gpu.color=blue && job set-up && ! job upgrade-definitions 2>/dev/null && theirs blue "1 false" &&
        release_is '.revision == 1 and .from == null and .deployed == "2.0.0"'
}

# The vendors' own charts, of which ../shared has two versions, or one and what the next would be.
shared=${SW_SHARED:-../shared}
real() { # CHART-FOLDER VERSION
    rm -rf "$top/charts/gpu"
    cp -rL "$1" "$top/charts/gpu" && chmod -R u+w "$top/charts/gpu"
    sed -i "s/^name:.*/name: gpu/; s/^version:.*/version: $2/" "$top/charts/gpu/Chart.yaml"
}
nfd() {
    walk --set mine=3,install=false || return 1
    real "$shared/charts/node-feature-discovery" 0.18.0 && walk --set mine=3 || return 1
    real "$shared/charts/gpu-operator/charts/node-feature-discovery" 0.19.0 || return 1
    "$slipway" plan "$top" --set mine=3 >"$tap_dir/log" 2>&1
    grep -qx 'release gpu-operator of namespace gpus: 0.18.0 to 0.19.0' "$tap_dir/log" || { cat "$tap_dir/log"; return 1; }
    grep -q '1  definitions  .*nodefeatures.nfd.k8s-sigs.io' "$tap_dir/log" && walk --set mine=3 &&
        release_is '.from == "0.18.0" and .deployed == "0.19.0" and .revision == 2'
}
gpu_operator() {
    walk --set mine=3,install=false && real "$shared/charts/gpu-operator" 26.3.0 && walk --set mine=3,gpu.nfd.enabled=false || return 1
    real "$shared/charts/gpu-operator" 26.7.0
    kubectl get jobs -n gpus -w --no-headers >"$tap_dir/jobs" 2>/dev/null & # the hook is deleted when it has run
    echo $! >"$tap_dir/watch.pid"
    "$slipway" plan "$top" --set mine=3,gpu.nfd.enabled=false >"$tap_dir/log" 2>&1
    grep -q '2  pre-upgrade hooks .* Job gpu-operator-upgrade-crd' "$tap_dir/log" || { cat "$tap_dir/log"; return 1; }
    walk --set mine=3,gpu.nfd.enabled=false && until_ok 5 grep -q gpu-operator-upgrade-crd "$tap_dir/jobs" &&
        release_is '.from == "26.3.0" and .deployed == "26.7.0"'
    local rc=$?
    stop watch
    return $rc
}

if ! command -v kubectl >/dev/null || ! command -v jq >/dev/null; then
    skip "the upgrade of a release" "no kubectl, or no jq, here"
else
    recipe
    t "a cluster" starts
    t "it is installed, with the hooks of an install" installed
    t "a value of the recipe alone does not upgrade it" not_upgraded
    t "a value of its own does" own_value
    t "plan shows the steps of another version" planned
    t "as JSON, too" planned_json
    t "definitions come first, then hooks, objects and hooks" upgraded
    t "explain shows the steps" explained
    t "what has run does not run again" again
    t "one that comes again is installed" comes_again
    if [ -d "$shared/charts/gpu-operator" ]; then
        t "Node Feature Discovery goes to its next version" nfd
        t "NVIDIA's GPU operator runs its upgrade_crd" gpu_operator
    else
        skip "the vendors' charts" "no ../shared"
    fi
fi
plan
