#!/bin/bash
# Definitions that vendors' charts bring, each with objects made of its schema: what it allows is taken, what it does not
# is refused in the words of a Kubernetes API server. The charts of ../shared, where that is; and cases of our own.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh
slipway=${SLIPWAY:-build/test/slipway}
export KUBECONFIG=$tap_dir/kubeconfig
shared=${SW_SHARED:-../shared}
trap 'stop emulated; rm -rf "$tap_dir"' EXIT

server() { sed -n 's/^ *server: //p' "$KUBECONFIG"; }
starts() { # KUBE-VERSION
    stop emulated
    rm -f "$KUBECONFIG"
    "$slipway" emulate --platform openshift --kube-version "$1" --delays 0 --kubeconfig-out "$KUBECONFIG" >"$tap_dir/emulate" 2>&1 &
    echo $! >"$tap_dir/emulated.pid"
    until_ok 20 test -s "$KUBECONFIG"
}
python3 -c 'import yaml' 2>/dev/null && command -v kubectl >/dev/null || { skip "definitions of vendors" "no python3 with yaml, or no kubectl, here"; plan; }
kinds() { python3 test/emulator/emulator/vendor_kinds.py "$(server)" "$@"; }
refused() { # EXPECTED, with a manifest on standard input
    ! kubectl create --dry-run=server -f - >"$tap_dir/o" 2>&1 && grep -qF -- "$1" "$tap_dir/o" || { cat "$tap_dir/o"; return 1; }
}
taken() { kubectl create --dry-run=server -f - >"$tap_dir/o" 2>&1 || { cat "$tap_dir/o"; return 1; }; }

python3 -c 'import yaml' 2>/dev/null && command -v kubectl >/dev/null || { skip "definitions of vendors" "no python3 with yaml, or no kubectl, here"; plan; }
# Rules of a definition (x-kubernetes-validations), of the kinds of expression that vendors write.
own() {
    starts 1.34 && kubectl create -f - <<'END' && established crd/boxes.example.com
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boxes.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {plural: boxes, singular: box, kind: Box, listKind: BoxList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        x-kubernetes-validations:
        - {rule: "size(self.metadata.name) <= 5", message: the name is too long}
        properties:
          spec:
            type: object
            x-kubernetes-validations:
            - {rule: "has(self.min) && has(self.max) ? self.min < self.max : true", message: min must be below max}
            - {rule: "!has(self.kind) || self.kind in ['big', 'small']", message: "kind: big or small", fieldPath: .kind, reason: FieldValueForbidden}
            - {rule: "self.parts.all(p, p.name.startsWith('p-') && p.name.size() > 2)"}
            properties:
              min: {type: integer}
              max: {type: integer}
              kind: {type: string}
              fixed:
                type: string
                x-kubernetes-validations: [{rule: self == oldSelf, message: it is immutable}]
              parts: {type: array, maxItems: 100, items: {type: object, properties: {name: {type: string, maxLength: 100}}}}
END
}
box() { # NAME SPEC
    printf 'apiVersion: example.com/v1\nkind: Box\nmetadata: {name: %s}\nspec: %s\n' "$1" "$2"
}
says() { # EXPECTED NAME SPEC
    box "$2" "$3" | refused "$1"
}
rules() {
    box a '{min: 1, max: 2, kind: big, parts: [{name: p-1}]}' | taken &&
        says 'The Box "abcdef" is invalid: <nil>: Invalid value: "object": the name is too long' abcdef '{parts: []}' &&
        says 'The Box "a" is invalid: spec: Invalid value: "object": min must be below max' a '{min: 2, max: 2, parts: []}' &&
        says 'The Box "a" is invalid: spec.kind: Forbidden: kind: big or small' a '{kind: other, parts: []}' &&
        says "spec: Invalid value: \"object\": failed rule: self.parts.all(p, p.name.startsWith('p-') && p.name.size() > 2)" a '{parts: [{name: p-1}, {name: p-}]}' &&
        says '<nil>: Invalid value: "null": some validation rules were not checked because the object was invalid' a '{min: x, parts: []}'
}
of_change() {
    box b '{fixed: one, parts: []}' | kubectl create -f - && ! kubectl patch box b --type merge -p '{"spec":{"fixed":"two"}}' 2>"$tap_dir/o" &&
        grep -qF 'spec.fixed: Invalid value: "string": it is immutable' "$tap_dir/o" && kubectl patch box b --type merge -p '{"spec":{"min":1}}' || { cat "$tap_dir/o"; return 1; }
}
t "a definition with rules" own
t "what its rules allow is taken, what they do not is refused" rules
t "a rule about a change" of_change
stand_ins() {
    local folder
    for folder in src/emulator/stand_ins/*/; do
        "$slipway" render "$folder" --include-crds --set crds.enabled=true --kube-version 1.34 --api-versions resource.k8s.io/v1/DeviceClass \
            >"$tap_dir/$(basename "$folder").yaml" 2>"$tap_dir/err" || rm -f "$tap_dir/$(basename "$folder").yaml"
    done
    starts 1.34 && kinds "$tap_dir"/*.yaml
}
t "the stand-ins' definitions" stand_ins
if [ -d "$shared/charts/gpu-operator" ]; then
    t "a cluster" starts 1.34
    t "NVIDIA's GPU operator" kinds "$shared"/charts/gpu-operator/crds/*.yaml
    t "Node Feature Discovery" kinds "$shared"/charts/gpu-operator/charts/node-feature-discovery/crds/*.yaml
    t "Intel's operator" kinds "$shared"/upstream/intel/device-plugin-operator/crds/*.yaml
    t "NVIDIA's DRA driver" kinds "$shared"/upstream/dra-driver-nvidia-gpu/crds/*.yaml
    t "NVIDIA's network operator" eval 'find "$shared/aicr/charts/network-operator" -path "*/crds/*" -name "*.yaml" | sort >"$tap_dir/files" && kinds $(cat "$tap_dir/files")'
    t "cert-manager" eval '"$slipway" render "$shared/upstream/cert-manager" --set crds.enabled=true >"$tap_dir/cm" && kinds "$tap_dir/cm"'
    driver() { printf 'apiVersion: nvidia.com/v1alpha1\nkind: NVIDIADriver\nmetadata: {name: a}\nspec: %s\n' "$1"; }
    t "a driver that is refused by its own rule" eval 'driver "{default: true, driverType: gpu, image: driver, nodeSelector: {a: b}}" | refused "default NVIDIADriver must not use nodeSelector"'
    t "one that is not" eval 'driver "{default: false, driverType: gpu, image: driver, nodeSelector: {a: b}}" | taken'
    t "a GPUCluster of another name" eval 'printf "apiVersion: nvidia.com/v1alpha1\nkind: GPUCluster\nmetadata: {name: other}\nspec: {draDriver: {}}\n" | refused "GPUCluster is a singleton, metadata.name must be"'
else
    skip "the vendors' definitions" "no ../shared"
fi
plan
