#!/bin/bash
# MutatingAdmissionPolicies: what they make of objects, by configurations and by JSON patches, in which order, and
# what is refused in the words of kube-apiserver 1.36.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh
slipway=build/test/slipway
export KUBECONFIG=$tap_dir/kubeconfig
trap 'kill $(cat "$tap_dir"/*.pid) 2>/dev/null; rm -rf "$tap_dir"' EXIT
emulated --platform kubernetes --kube-version 1.36 --no-nodes

# policy NAME SPEC [BINDING]: of a namespace of that name
policy() {
    kubectl create namespace "$1" --dry-run=client -o json | jq ".metadata.labels.policy = \"$1\"" | kubectl apply -f - >/dev/null &&
        kubectl apply -f - <<YAML
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: $1}
spec:
  matchConstraints: {resourceRules: [{apiGroups: ["", apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps, deployments, pods]}]}
  reinvocationPolicy: Never
  $2
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: on-$1}
spec: {policyName: $1, matchResources: {namespaceSelector: {matchLabels: {policy: $1}}}${3:+, $3}}
YAML
}
# configuration TEXT, patch TEXT: a mutation
configuration() { printf '{patchType: ApplyConfiguration, applyConfiguration: {expression: %s}}' "$(jq -Rsc . <<<"$1")"; }
patch() { printf '{patchType: JSONPatch, jsonPatch: {expression: %s}}' "$(jq -Rsc . <<<"$1")"; }
# made NAMESPACE JQ KEY=VALUE...: the ConfigMap c that is made of these
made() {
    local ns=$1 filter=$2 args=() pair
    shift 2
    for pair; do args+=("--from-literal=$pair"); done
    kubectl create configmap c -n "$ns" --dry-run=server -o json "${args[@]}" >"$tap_dir/o" 2>&1 && jq -e "$filter" "$tap_dir/o" >/dev/null || { cat "$tap_dir/o"; return 1; }
}
# refused NAMESPACE TEXT KEY=VALUE...: it is not
refused() {
    local ns=$1 text=$2
    shift 2
    ! made "$ns" true "$@" >/dev/null && grep -qF -- "$text" "$tap_dir/o" || { cat "$tap_dir/o"; return 1; }
}
# deployment NAMESPACE JQ: likewise a Deployment with one container
deployment() {
    kubectl create deployment d -n "$1" --image nginx --dry-run=server -o json >"$tap_dir/o" 2>&1 && jq -e "$2" "$tap_dir/o" >/dev/null || { cat "$tap_dir/o"; return 1; }
}

applied() {
    policy applied "mutations: [$(configuration 'Object{metadata: Object.metadata{labels: {"by": "policy"}}, data: {"more": object.data.k + "!"}}')]" &&
        made applied '.metadata.labels == {by: "policy"} and .data == {k: "v", more: "v!"}' k=v &&
        kubectl create configmap c -n default --dry-run=server --from-literal=k=w -o json >"$tap_dir/o" && jq -e '.metadata.labels == null' "$tap_dir/o"
}
t "a configuration is merged into the object, where the policy is bound" applied
lists() {
    policy lists "mutations: [$(configuration 'Object{spec: Object.spec{replicas: object.spec.replicas + 1, template: Object.spec.template{spec: Object.spec.template.spec{
        initContainers: [Object.spec.template.spec.initContainers{name: "mesh", image: "mesh:1"}],
        containers: object.spec.template.spec.containers.map(c, Object.spec.template.spec.containers{name: c.name, env: [Object.spec.template.spec.containers.env{name: "A", value: "b"}]})}}}}')]" &&
        deployment lists '.spec.replicas == 2 and (.spec.template.spec | .initContainers[0].image == "mesh:1" and .initContainers[0].imagePullPolicy == "IfNotPresent" and
            (.containers | length == 1 and .[0].image == "nginx" and .[0].env == [{name: "A", value: "b"}]))'
}
t "lists are merged by their keys, and what is new gets its defaults" lists
patched() {
    policy patched "mutations: [$(patch '[JSONPatch{op: "add", path: "/metadata/labels", value: {}}, JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("example.com/x"), value: "true"}]'),
        $(patch 'has(object.metadata.labels) ? [JSONPatch{op: "move", from: "/data/k", path: "/data/moved"}] : []')]" &&
        made patched '.metadata.labels == {"example.com/x": "true"} and .data == {moved: "v"}' k=v
}
t "JSON patches follow one another, each on what the one before made" patched
tested() {
    policy tested "mutations: [$(patch '[JSONPatch{op: "test", path: "/data/k", value: "v"}, JSONPatch{op: "replace", path: "/data/k", value: "w"}]')]" &&
        made tested '.data.k == "w"' k=v && made tested '.data.k == "u"' k=u && made tested '.data == {x: "u"}' x=u
}
t "a patch whose test fails changes nothing" tested
containers() {
    policy containers "mutations: [$(patch '[JSONPatch{op: "add", path: "/spec/template/spec/containers/-", value: Object.spec.template.spec.containers{name: "x", image: "y", ports: [Object.spec.template.spec.containers.ports{containerPort: 8080}]}}]')]" &&
        deployment containers '.spec.template.spec.containers[1] | .name == "x" and .ports[0] == {containerPort: 8080, protocol: "TCP"}'
}
t "a patch's value may be an Object" containers
conditions() {
    policy some "matchConditions: [{name: m, expression: \"object.data.k == 'v'\"}]
  variables: [{name: size, expression: object.data.size()}]
  mutations: [$(configuration 'Object{data: {"size": string(variables.size)}}')]" &&
        made some '.data == {k: "w"}' k=w && made some '.data == {k: "v", size: "1"}' k=v
}
t "matchConditions narrow a policy, and its expressions share variables" conditions
params() {
    policy params "paramKind: {apiVersion: v1, kind: ConfigMap}
  mutations: [$(configuration 'Object{data: {params.data.key: params.data.value}}')]" 'paramRef: {selector: {matchLabels: {app: p}}, namespace: default, parameterNotFoundAction: Deny}' &&
        refused params "policy 'params' with binding 'on-params' denied request: failed to configure binding: no params found for policy binding with \`Deny\` parameterNotFoundAction" k=v &&
        kubectl create configmap one --from-literal=key=a --from-literal=value=b && kubectl create configmap two --from-literal=key=c --from-literal=value=d &&
        kubectl label configmap one two app=p && made params '.data == {k: "v", a: "b", c: "d"}' k=v
}
t "each parameter that is found mutates" params
failing() {
    policy broken "mutations: [$(configuration 'Object{data: {"x": object.data.nope}}')]" &&
        refused broken "policy 'broken' with binding 'on-broken' denied request: expression 'Object{data: {\"x\": object.data.nope}}" k=v && grep -qF "resulted in error: no such key: nope" "$tap_dir/o" &&
        policy lenient "failurePolicy: Ignore
  mutations: [$(configuration 'Object{data: {"x": object.data.nope}}'), $(configuration 'Object{data: {"y": "z"}}')]" && made lenient '.data == {k: "v", y: "z"}' k=v
}
t "a mutation that fails goes by the failurePolicy" failing
again() {
    policy again "reinvocationPolicy: IfNeeded
  mutations: [$(configuration 'Object{data: {"a": "n" + string(object.data.size())}}')]" &&
        made again '.data == {k: "v", a: "n2"}' k=v && made again '.data == {a: "n1"}' a=x
}
t "a policy that asks for it sees what was made of the object after it" again
wrong() { # TEXT EXPRESSION
    policy wrong "mutations: [$2]" >/dev/null && refused wrong "$1" k=v
}
at_run_time() {
    wrong 'type mismatch: unexpected type name "Object.dato", expected "Object.data", which matches field name path from root Object type' "$(configuration 'Object{data: Object.dato{x: "y"}}')" &&
        wrong 'error applying patch: failed to convert patch object to typed object: .dato: field not declared in schema' "$(configuration 'Object{dato: {"x": "y"}}')" &&
        wrong 'JSON Patch: replace operation does not apply: doc is missing key: /data/nope: missing value' "$(patch '[JSONPatch{op: "replace", path: "/data/nope", value: "x"}]')" &&
        wrong 'JSON Patch: add operation does not apply: doc is missing path: "/spec/x": missing value' "$(patch '[JSONPatch{op: "add", path: "/spec/x", value: "x"}]')" &&
        wrong "JSON Patch: error in remove for path: '/data/x': Unable to remove nonexistent key: x: missing value" "$(patch '[JSONPatch{op: "remove", path: "/data/x"}]')" &&
        wrong 'strict decoding error: unknown field "dato"' "$(patch '[JSONPatch{op: "add", path: "/dato", value: {}}]')" &&
        policy wrong "mutations: [$(configuration 'Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {"l": "v"}}}}')]" &&
        ! deployment wrong true >/dev/null && grep -qF 'error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.selector' "$tap_dir/o"
}
t "what cannot be applied is refused, with the reason" at_run_time
invalid() { # TEXT SPEC
    ! printf 'apiVersion: admissionregistration.k8s.io/v1\nkind: %s\nmetadata: {name: odd}\nspec: %s\n' "${3:-MutatingAdmissionPolicy}" "$2" | kubectl apply --validate=false -f - >"$tap_dir/o" 2>&1 &&
        grep -qF -- "$1" "$tap_dir/o" || { cat "$tap_dir/o"; return 1; }
}
checks() {
    local match='matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]}' never='reinvocationPolicy: Never' m
    local ok; ok=$(configuration 'Object{}')
    for m in "must evaluate to Object but got string|$(configuration '"x"')" "must evaluate to Object but got Object.spec|$(configuration 'Object.spec{}')" \
        "must evaluate to list(JSONPatch) but got list(dyn)|$(patch '[]')" "expected type of field 'op' is 'string' but provided type is 'int'|$(patch '[JSONPatch{op: 1}]')" \
        "undeclared reference to 'Objekt' (in container '')|$(configuration 'Objekt{}')" "spec.mutations[0].patchType: Required value|{}" \
        'spec.mutations[0].patchType: Unsupported value: "Odd": supported values: "ApplyConfiguration", "JSONPatch"|{patchType: Odd}' \
        'spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch|{patchType: JSONPatch}' \
        'spec.mutations[0].applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified when patchType is JSONPatch|{patchType: JSONPatch, jsonPatch: {expression: "[JSONPatch{}]"}, applyConfiguration: {expression: "Object{}"}}'; do
        invalid "${m%%|*}" "{$match, $never, mutations: [${m#*|}]}" || return
    done
    invalid 'spec.mutations: Required value: mutations must contain at least one item' "{$match, $never}" &&
        invalid 'spec.reinvocationPolicy: Required value' "{$match, mutations: [$ok]}" &&
        invalid 'spec.reinvocationPolicy: Unsupported value: "Odd": supported values: "IfNeeded", "Never"' "{$match, reinvocationPolicy: Odd, mutations: [$ok]}" &&
        invalid 'spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"' "{${match/CREATE/DELETE}, $never, mutations: [$ok]}" &&
        invalid 'spec.policyName: Required value' '{}' MutatingAdmissionPolicyBinding
}
t "a policy that cannot work is refused when it is written" checks
columns() {
    kubectl get mutatingadmissionpolicies params >"$tap_dir/o" && grep -Eq '^NAME +MUTATIONS +PARAMKIND +AGE' "$tap_dir/o" && grep -Eq '^params +1 +v1/ConfigMap ' "$tap_dir/o" &&
        kubectl get mutatingadmissionpolicybindings on-applied >"$tap_dir/o" && grep -Eq '^on-applied +applied +<unset> ' "$tap_dir/o" || { cat "$tap_dir/o"; return 1; }
}
t "kubectl get shows mutations and parameters" columns
older() {
    stop emulated
    emulated --platform kubernetes --kube-version 1.35 --no-nodes && ! kubectl api-resources --api-group admissionregistration.k8s.io -o name >"$tap_dir/o" || ! grep mutatingadmission "$tap_dir/o"
}
t "Kubernetes 1.35 does not serve them" older
plan
