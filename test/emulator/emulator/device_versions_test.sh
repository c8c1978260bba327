#!/bin/bash
# resource.k8s.io/v1beta1 and v1beta2: served where they are asked for, stored as v1, converted on the way.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh
slipway=build/test/slipway
export KUBECONFIG=$tap_dir/kubeconfig
trap 'kill $(cat "$tap_dir"/*.pid) 2>/dev/null; rm -rf "$tap_dir"' EXIT
beta1=resource.k8s.io/v1beta1 beta2=resource.k8s.io/v1beta2

# cluster RELEASE [RUNTIME-CONFIG]
cluster() {
    stop emulated
    emulated --platform kubernetes --kube-version "$1" ${2:+--runtime-config "$2"}
}
server() { kubectl config view --minify -o 'jsonpath={.clusters[0].cluster.server}'; }
versions() { curl -s "$(server)/apis/resource.k8s.io" | jq -r '[.versions[]?.version] | join(" ")'; }
# serves RELEASE RUNTIME-CONFIG VERSIONS
serves() { cluster "$1" "$2" && [ "$(versions)" = "$3" ] || { echo "1.$1 $2: $(versions)"; return 1; }; }
served() {
    serves 1.31 $beta1=true '' && serves 1.32 '' '' && serves 1.32 $beta1=true v1beta1 && serves 1.32 $beta2 '' && serves 1.33 api/beta=true 'v1beta2 v1beta1' &&
        serves 1.34 '' v1 && serves 1.36 $beta2,$beta1=true 'v1 v1beta2 v1beta1' && [ "$(curl -s "$(server)/apis/resource.k8s.io" | jq -r .preferredVersion.version)" = v1 ] &&
        curl -s "$(server)/apis/$beta1" | jq -e '[.resources[].name] | sort == ["deviceclasses", "resourceclaims", "resourceclaims/status", "resourceclaimtemplates", "resourceslices"]' &&
        serves 1.36 "api/beta=true,$beta1=false" 'v1 v1beta2' && serves 1.36 resource.k8s.io/v1=false ''
}
t "versions of the releases, by --runtime-config" served
refused() {
    local config
    for config in nothing resource.k8s.io nothing.k8s.io/v1 resource.k8s.io/v1beta1=maybe; do
        "$slipway" emulate --runtime-config $config >"$tap_dir/o" 2>&1 && return 1
        grep -q -- "--runtime-config.*'$config'" "$tap_dir/o" || { cat "$tap_dir/o"; return 1; }
    done
    ! "$slipway" emulate --rules-only --runtime-config $beta1 2>/dev/null
}
t "what --runtime-config does not take" refused

claim() { kubectl get "resourceclaims.$1.resource.k8s.io" "$2" -o json; }
claims() {
    cluster 1.36 $beta1,$beta2 && kubectl apply -f - <<'YAML' || return 1
apiVersion: resource.k8s.io/v1beta1
kind: ResourceClaim
metadata: {name: flat}
spec:
  devices:
    requests:
    - {name: r, deviceClassName: gpu.example.com, count: 2, selectors: [{cel: {expression: "true"}}]}
    - {name: s, firstAvailable: [{name: big, deviceClassName: gpu.example.com}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: template}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu.example.com, tolerations: [{operator: Exists}]}}]}}}
YAML
    claim v1 flat | jq -e '.apiVersion == "resource.k8s.io/v1" and .spec.devices.requests[0] == {name: "r", exactly: {deviceClassName: "gpu.example.com", count: 2, allocationMode: "ExactCount", selectors: [{cel: {expression: "true"}}]}}
        and (.spec.devices.requests[1].firstAvailable | length == 1)' &&
        claim v1beta2 flat | jq -e '.apiVersion == "resource.k8s.io/v1beta2" and .spec.devices.requests[0].exactly.count == 2' &&
        claim v1beta1 flat | jq -e '.apiVersion == "resource.k8s.io/v1beta1" and (.spec.devices.requests[0] | .count == 2 and (has("exactly") | not)) and .spec.devices.requests[1].deviceClassName == ""' &&
        # what was read is written back as it was
        claim v1beta1 flat | jq '.metadata.labels = {a: "b"}' | kubectl replace -f - && claim v1 flat | jq -e '.metadata.labels.a == "b" and (.spec.devices.requests[1] | has("exactly") | not)' &&
        kubectl get resourceclaimtemplates.v1beta1.resource.k8s.io template -o json | jq -e '.spec.spec.devices.requests[0] | .deviceClassName == "gpu.example.com" and .tolerations == [{operator: "Exists"}]' &&
        kubectl get resourceclaims.v1beta1.resource.k8s.io -o json | jq -e '.items[0].spec.devices.requests[0].count == 2' && kubectl get resourceclaims.v1beta1.resource.k8s.io | grep '^flat'
}
t "a claim and a template by each version" claims
slices() {
    local path=$(server)/apis/resource.k8s.io/v1beta1/resourceslices/s
    kubectl apply -f - <<'YAML' || return 1
apiVersion: resource.k8s.io/v1beta1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: gpu.example.com
  nodeName: gpu-1
  pool: {name: p, generation: 1, resourceSliceCount: 1}
  devices: [{name: a, basic: {attributes: {kind: {string: x}}, capacity: {memory: {value: 1Gi}}}}, {name: b, basic: {}}]
YAML
    kubectl get resourceslices.v1.resource.k8s.io s -o json | jq -e '.spec.devices == [{name: "a", attributes: {kind: {string: "x"}}, capacity: {memory: {value: "1Gi"}}}, {name: "b"}]' &&
        curl -s "$path" | jq -e '.spec.devices[1] == {name: "b", basic: {}} and (.spec.devices[0].basic | has("attributes") and has("capacity"))' &&
        # a patch is of the object as its version has it
        curl -s -X PATCH -H 'Content-Type: application/json-patch+json' -d '[{"op": "add", "path": "/spec/devices/1/basic/attributes", "value": {"kind": {"string": "y"}}}]' "$path" | jq -e '.spec.devices[1].basic.attributes.kind.string == "y"' &&
        curl -s -X PATCH -H 'Content-Type: application/merge-patch+json' -d '{"spec": {"devices": [{"name": "c", "basic": {"attributes": {"kind": {"string": "z"}}}}]}}' "$path" >/dev/null &&
        kubectl get resourceslices.v1.resource.k8s.io s -o json | jq -e '.spec.devices == [{name: "c", attributes: {kind: {string: "z"}}}]' &&
        curl -s -m 2 "$(server)/apis/resource.k8s.io/v1beta1/resourceslices?watch=1" | jq -se '.[0].object.spec.devices[0].basic.attributes.kind.string == "z"' &&
        curl -s "$(server)/apis/resource.k8s.io/v1beta1/resourceslices?fieldSelector=spec.driver%3Dother" | jq -e '.items == []'
}
t "devices of a slice: read, patched, watched, selected" slices
warned() {
    curl -s -D "$tap_dir/h" "$(server)/apis/resource.k8s.io/v1beta1/deviceclasses" -o /dev/null && grep -i '^warning: ' "$tap_dir/h" | grep 'resource.k8s.io/v1beta1 DeviceClass is deprecated in v1.35+, unavailable in v1.38+' &&
        curl -s -D "$tap_dir/h" "$(server)/apis/resource.k8s.io/v1/deviceclasses" -o /dev/null && ! grep -i '^warning: ' "$tap_dir/h"
}
t "the older ones come with a warning" warned

allocated() {
    cluster 1.33 $beta1 && kubectl apply -f - <<'YAML' || return 1
apiVersion: resource.k8s.io/v1beta1
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: "device.driver == 'gpu.example.com'"}}]}
---
apiVersion: resource.k8s.io/v1beta1
kind: ResourceSlice
metadata: {name: s}
spec: {driver: gpu.example.com, nodeName: gpu-1, pool: {name: p, generation: 1, resourceSliceCount: 1}, devices: [{name: a, basic: {}}]}
---
apiVersion: resource.k8s.io/v1beta1
kind: ResourceClaim
metadata: {name: c}
spec: {devices: {requests: [{name: r, deviceClassName: gpu}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {resourceClaims: [{name: g, resourceClaimName: c}], containers: [{name: c, image: i, resources: {claims: [{name: g}]}}]}
YAML
    until_ok 20 eval 'kubectl get pod p | grep -q Running' && kubectl get resourceclaim c -o json | jq -e '.apiVersion == "resource.k8s.io/v1beta1" and .status.allocation.devices.results[0].device == "a" and .status.reservedFor[0].name == "p"'
}
t "1.33 with v1beta1 alone allocates" allocated
plan
