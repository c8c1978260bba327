#!/bin/bash
# What Argo CD and Flux are told of a SpecialResource's health (deploy/gitops): for a resource that has just been made, one that
# walks, one whose state fails, one that is ready, one that was changed since, and one that is paused. Argo CD's script is run by lua; Flux's
# expressions are evaluated as rules of a definition.
. "$(dirname "$0")/../../tap.sh"
cd "$(dirname "$0")/../../.." || exit 1
slipway=${SLIPWAY:-$PWD/build/test/slipway}
export KUBECONFIG=$tap_dir/kubeconfig

# what the controller writes: conditions of one who waits, fails, is ready
conditions() { # READY PROGRESSING ERRORED
    printf '[{"type": "Ready", "status": "%s", "message": "of Ready"}, {"type": "Progressing", "status": "%s", "message": "of Progressing"}, {"type": "Errored", "status": "%s", "message": "of Errored"}]' "$1" "$2" "$3"
}
of() { # NAME GENERATION OBSERVED CONDITIONS
    printf '{"metadata": {"name": "%s", "generation": %s}, "status": {"observedGeneration": %s, "conditions": %s}}\n' "$@" >"$tap_dir/$1.json"
}
echo '{"metadata": {"name": "new", "generation": 1}}' >"$tap_dir/new.json"
of walking 1 1 "$(conditions False True False)"
of failing 2 2 "$(conditions False False True)"
of ready 2 2 "$(conditions True False False)"
of changed 3 2 "$(conditions True False False)"

jq '.spec.managementState = "Unmanaged"' "$tap_dir/ready.json" >"$tap_dir/paused.json"

# ---- Argo CD ---------------------------------------------------------------------------------------
sed -n '/SpecialResource: |/,$ { s/^    //p }' deploy/gitops/argocd-cm.yaml >"$tap_dir/health.lua"
as_lua() { # FILE: the document as a table
    jq -r 'def lua: if type == "object" then "{" + ([to_entries[] | "[" + (.key | tojson) + "]=" + (.value | lua)] | join(",")) + "}"
        elif type == "array" then "{" + (map(lua) | join(",")) + "}" elif type == "null" then "nil" else tojson end; lua' "$1"
}
argo() { # FILE STATUS [MESSAGE]
    { echo "obj = $(as_lua "$1")"; echo 'local function health()'; cat "$tap_dir/health.lua"; echo 'end local h = health() print(h.status .. ": " .. h.message)'; } >"$tap_dir/try.lua"
    local said
    said=$("$lua" "$tap_dir/try.lua") || return 1
    case $said in "$2: ${3:-}"*) ;; *) echo "$1: $said"; return 1 ;; esac
}
argo_all() {
    argo "$tap_dir/new.json" Progressing "slipway has not come to it yet" && argo "$tap_dir/walking.json" Progressing "of Ready" &&
        argo "$tap_dir/failing.json" Degraded "of Errored" && argo "$tap_dir/ready.json" Healthy "of Ready" &&
        argo "$tap_dir/changed.json" Progressing && argo "$tap_dir/paused.json" Suspended
}
lua=
for l in lua lua5.4 lua5.3 lua5.1; do command -v $l >/dev/null && { lua=$l; break; }; done
if [ -n "$lua" ]; then
    t "Argo CD: new, walking, failing, ready, changed since, paused" argo_all
else
    skip "Argo CD: new, walking, failing, ready, changed since, paused" "no lua here"
fi

# ---- Flux ------------------------------------------------------------------------------------------
expression() { sed -n "s/^ *$1: \"\\(.*\\)\"\$/\\1/p" deploy/gitops/flux-kustomization.yaml; }
# a definition whose rule is the expression: an object is refused where it is false
definition() { # NAME EXPRESSION
    cat <<CRD
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ${1}s.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {kind: $(echo "$1" | sed 's/^./\U&/'), plural: ${1}s, singular: $1}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {generation: {type: integer}}}
          status:
            type: object
            properties:
              observedGeneration: {type: integer}
              conditions: {type: array, maxItems: 8, items: {type: object, properties: {type: {type: string, maxLength: 32}, status: {type: string, maxLength: 8}, message: {type: string}}}}
        x-kubernetes-validations:
        - message: "it is false"
          rule: "$(echo "$2" | sed 's/metadata\.generation/self.spec.generation/g; s/\bstatus\.\(observed\|conditions\)/self.status.\1/g')"
---
CRD
}
flux() { # KIND NAME: the truth of the expression for the document
    jq --arg kind "$(echo "$1" | sed 's/^./\U&/')" '{apiVersion: "example.com/v1", kind: $kind, metadata: {name: .metadata.name}, spec: {generation: .metadata.generation}, status: .status}' "$tap_dir/$2.json" |
        kubectl create -f - >"$tap_dir/said" 2>&1 && { echo true; return; }
    grep -q "it is false" "$tap_dir/said" && echo false || cat "$tap_dir/said"
}
flux_all() {
    local kind
    emulated || return 1
    for kind in current inProgress failed; do
        definition "$(echo $kind | tr A-Z a-z)" "$(expression $kind)"
    done >"$tap_dir/definitions.yaml"
    kubectl apply -f "$tap_dir/definitions.yaml" && established crd/currents.example.com crd/inprogresss.example.com crd/faileds.example.com || return 1
    while read -r name current in_progress failed; do
        [ "$(flux current "$name") $(flux inprogress "$name") $(flux failed "$name")" = "$current $in_progress $failed" ] ||
            { echo "$name: $(flux current "$name") $(flux inprogress "$name") $(flux failed "$name"), not $current $in_progress $failed"; return 1; }
    done <<TABLE
walking false true false
failing false false true
ready true false false
changed false true false
TABLE
}
t "Flux: walking, failing, ready, changed since" flux_all
stop emulated
plan
