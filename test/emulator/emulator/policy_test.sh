#!/bin/bash
# ValidatingAdmissionPolicies: what their expressions refuse, in the words of kube-apiserver 1.36; and rules of
# definitions (x-kubernetes-validations) that need more of CEL than comparisons.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh
slipway=build/test/slipway
export KUBECONFIG=$tap_dir/kubeconfig
trap 'kill $(cat "$tap_dir"/*.pid) 2>/dev/null; rm -rf "$tap_dir"' EXIT
emulated --platform kubernetes --kube-version 1.36 --no-nodes

# policy NAME SPEC [BINDING]: for ConfigMaps in the namespace NAME
policy() {
    kubectl create namespace "$1" --dry-run=client -o json | jq ".metadata.labels.policy = \"$1\"" | kubectl apply -f - >/dev/null &&
        kubectl apply -f - <<YAML
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: $1}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]}
  $2
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: on-$1}
spec: {policyName: $1, matchResources: {namespaceSelector: {matchLabels: {policy: $1}}}, ${3:-validationActions: [Deny]}}
YAML
}
# create NAMESPACE KEY=VALUE...: what kubectl says is in $tap_dir/o
create() {
    local ns=$1 args=() pair
    shift
    for pair; do args+=("--from-literal=$pair"); done
    kubectl create configmap c -n "$ns" --dry-run=server "${args[@]}" >"$tap_dir/o" 2>&1
}
# refuses NAMESPACE TEXT KEY=VALUE...
refuses() {
    local ns=$1 text=$2
    shift 2
    ! create "$ns" "$@" && grep -qF -- "$text" "$tap_dir/o" || { cat "$tap_dir/o"; return 1; }
}
denied() {
    policy plain "validations: [{expression: \"object.data.k == 'v'\"}, {expression: \"object.data.k != 'w'\", message: never w}]" &&
        create plain k=v &&
        refuses plain "ValidatingAdmissionPolicy 'plain' with binding 'on-plain' denied request: failed expression: object.data.k == 'v'" k=w &&
        kubectl create configmap c -n default --dry-run=server --from-literal=k=w
}
t "a policy denies what its expression does not hold for, where it is bound" denied
message() {
    policy own "validations: [{expression: \"object.data.k.matches('^v[0-9]+\$')\", messageExpression: \"'not ' + object.data.k\", reason: Forbidden}]" &&
        create own k=v12 && refuses own "is forbidden: ValidatingAdmissionPolicy 'own' with binding 'on-own' denied request: not w" k=w
}
t "the message may be an expression" message
failing() {
    policy broken "validations: [{expression: \"object.data.nope == 'v'\"}]" &&
        refuses broken "denied request: expression 'object.data.nope == 'v'' resulted in error: no such key: nope" k=v &&
        policy ignoring "failurePolicy: Ignore
  validations: [{expression: \"object.data.nope == 'v'\"}]" && create ignoring k=v
}
t "an expression that fails goes by the failurePolicy" failing
variables() {
    policy vars "variables: [{name: keys, expression: \"object.data.map(k, k)\"}, {name: len, expression: variables.keys.size()}]
  validations: [{expression: variables.len < 3, messageExpression: \"string(variables.len) + ' keys'\"}]" &&
        create vars a=1 b=2 && refuses vars "denied request: 3 keys" a=1 b=2 c=3
}
t "variables are shared by the expressions" variables
warned() {
    policy warn "validations: [{expression: 'false', message: be warned}]" 'validationActions: [Warn, Audit]' && create warn k=v &&
        grep -qF "Warning: Validation failed for ValidatingAdmissionPolicy 'warn' with binding 'on-warn': be warned" "$tap_dir/o" || { cat "$tap_dir/o"; return 1; }
}
t "the action Warn lets it pass" warned
conditions() {
    policy some "matchConditions: [{name: m, expression: \"object.data.k == 'v'\"}]
  validations: [{expression: 'false'}]" && create some k=w && refuses some "failed expression: false" k=v
}
t "matchConditions narrow a policy" conditions
params() {
    kubectl create configmap limits --from-literal=k=v &&
        policy params "paramKind: {apiVersion: v1, kind: ConfigMap}
  validations: [{expression: object.data.k == params.data.k}]" 'validationActions: [Deny], paramRef: {name: limits, namespace: default, parameterNotFoundAction: Deny}' &&
        create params k=v && refuses params "failed expression: object.data.k == params.data.k" k=w && kubectl delete configmap limits &&
        refuses params 'denied request: failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction' k=v
}
t "params are another object" params
refused() { # TEXT SPEC
    ! policy bad "$2" >"$tap_dir/o" 2>&1 && grep -qF -- "$1" "$tap_dir/o" || { cat "$tap_dir/o"; return 1; }
}
compiled() {
    refused "spec.validations[0].expression: Invalid value: \"foo == 1\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'foo' (in container '')" 'validations: [{expression: foo == 1}]' &&
        refused 'spec.validations[0].expression: Invalid value: "1": must evaluate to bool but got int' 'validations: [{expression: "1"}]' &&
        refused "ERROR: <input>:1:8: undefined field 'nope'" 'validations: [{expression: request.nope == 1}]'
}
t "a policy that does not compile is refused" compiled

# checked TEXT KIND SPEC: what is no policy, or no binding, is refused
checked() {
    ! printf 'apiVersion: admissionregistration.k8s.io/v1\nkind: %s\nmetadata: {name: odd}\nspec: %s\n' "$2" "$3" | kubectl apply --validate=false -f - >"$tap_dir/o" 2>&1 &&
        grep -qF -- "$1" "$tap_dir/o" || { cat "$tap_dir/o"; return 1; }
}
fields() {
    local p=ValidatingAdmissionPolicy v='validations: [{expression: "true"}]' rule='apiGroups: [""], apiVersions: [v1], resources: [pods]'
    checked 'spec.failurePolicy: Unsupported value: "Maybe": supported values: "Fail", "Ignore"' $p "{failurePolicy: Maybe, $v, matchConstraints: {resourceRules: [{$rule, operations: [CREATE]}]}}" &&
        checked 'spec.matchConstraints: Required value' $p "{$v}" &&
        checked 'operations[1]: Unsupported value: "FROB": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"' $p "{$v, matchConstraints: {resourceRules: [{$rule, operations: [CREATE, FROB]}]}}" &&
        checked "operations: Invalid value: [\"*\",\"CREATE\"]: if '*' is present, must not specify other operations" $p "{$v, matchConstraints: {resourceRules: [{$rule, operations: ['*', CREATE]}]}}" &&
        checked 'resourceRules[0].operations: Required value' $p "{$v, matchConstraints: {resourceRules: [{$rule}]}}" &&
        checked 'spec.matchConstraints.matchPolicy: Unsupported value: "Odd": supported values: "Equivalent", "Exact"' $p "{$v, matchConstraints: {matchPolicy: Odd, resourceRules: [{$rule, operations: [CREATE]}]}}"
}
t "a policy with a field that cannot be is refused" fields
bindings() {
    local b=ValidatingAdmissionPolicyBinding
    checked 'spec.validationActions[0]: Unsupported value: "Bogus": supported values: "Audit", "Deny", "Warn"' $b '{policyName: p, validationActions: [Bogus]}' &&
        checked 'spec.validationActions: Invalid value: ["Deny","Warn"]: must not contain both Deny and Warn' $b '{policyName: p, validationActions: [Deny, Warn]}' &&
        checked 'spec.validationActions[1]: Duplicate value: "Deny"' $b '{policyName: p, validationActions: [Deny, Deny]}' &&
        checked 'spec.paramRef.selector: Forbidden: name and selector are mutually exclusive' $b '{policyName: p, validationActions: [Deny], paramRef: {name: a, selector: {}, parameterNotFoundAction: Deny}}' &&
        checked 'spec.paramRef: Required value: one of name or selector must be specified' $b '{policyName: p, validationActions: [Deny], paramRef: {parameterNotFoundAction: Deny}}' &&
        checked 'spec.paramRef.parameterNotFoundAction: Required value' $b '{policyName: p, validationActions: [Deny], paramRef: {name: a}}' &&
        checked 'spec.paramRef.parameterNotFoundAction: Unsupported value: "Odd": supported values: "Deny", "Allow"' $b '{policyName: p, validationActions: [Deny], paramRef: {name: a, parameterNotFoundAction: Odd}}'
}
t "a binding with a field that cannot be is refused" bindings

# rule RULE...: a definition whose spec has these rules
rule() {
    kubectl apply -f - <<YAML
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: jars.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: jars, kind: Jar}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties: {count: {type: integer}, list: {type: array, maxItems: 100, items: {type: string, maxLength: 20}}, net-work: {type: string, maxLength: 40}}
            x-kubernetes-validations: [$1]
YAML
}
jar() { # SPEC TEXT
    ! printf 'apiVersion: example.com/v1\nkind: Jar\nmetadata: {name: a}\nspec: %s\n' "$1" | kubectl apply -f - >"$tap_dir/o" 2>&1 &&
        grep -qF -- "$2" "$tap_dir/o" || { cat "$tap_dir/o"; return 1; }
}
rules() {
    rule "{rule: \"self.list.filter(x, x.startsWith('a')).size() == self.list.map(x, x.size()).sum()\", messageExpression: \"'list: ' + self.list.join('+')\"},
              {rule: \"!has(self.net__dash__work) || cidr(self.net__dash__work).prefixLength() > 8\"}, {rule: self.count / self.count == 1},
              {rule: \"oldSelf.optMap(o, o.count <= self.count).orValue(true)\", optionalOldSelf: true, message: no less, fieldPath: .count}" &&
        kubectl wait --for condition=Established crd/jars.example.com &&
        jar '{count: 1, list: [a, bc]}' 'spec: Invalid value: list: a+bc' &&
        jar '{count: 1, list: [a], net-work: 10.0.0.0/8}' 'spec: Invalid value: failed rule: !has(self.net__dash__work)' &&
        jar '{count: 0, list: []}' 'spec: Invalid value: "object": division by zero evaluating rule: self.count / self.count == 1' &&
        printf 'apiVersion: example.com/v1\nkind: Jar\nmetadata: {name: a}\nspec: {count: 2, list: [a]}\n' | kubectl apply -f - &&
        jar '{count: 1, list: [a]}' 'spec.count: Invalid value: no less'
}
t "rules use what Kubernetes' CEL has" rules
scalars() { # a failed rule shows the value, unless it is a map or a list
    rule '{rule: self.list.size() < 2, message: too many}' && kubectl patch crd jars.example.com --type json -p '[
      {"op": "add", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/count/x-kubernetes-validations", "value": [{"rule": "self > 1", "message": "more"}]},
      {"op": "add", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/list/items/x-kubernetes-validations", "value": [{"rule": "self != \"b\"", "message": "not b"}]}]' && sleep 0.2 &&
        jar '{count: 1, list: [b, c]}' 'spec.count: Invalid value: 1: more' && jar '{count: 1, list: [b, c]}' 'spec.list[0]: Invalid value: "b": not b' &&
        jar '{count: 1, list: [b, c]}' 'spec: Invalid value: too many'
}
t "a failed rule shows the value where that is no map or list" scalars
kept() { # the rule came later
    rule '{rule: self.count > 0}' && sleep 0.2 && kubectl delete jars --all && printf 'apiVersion: example.com/v1\nkind: Jar\nmetadata: {name: a}\nspec: {count: 2, list: [b]}\n' | kubectl apply -f - &&
        kubectl patch crd jars.example.com --type json -p '[{"op": "add", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/list/items/x-kubernetes-validations", "value": [{"rule": "self != \"b\"", "message": "not b"}]}]' && sleep 0.2 &&
        kubectl label jar a k=v >"$tap_dir/o" 2>&1 && grep -qF 'Warning: spec.list[0]: Invalid value: "b": not b' "$tap_dir/o" && kubectl patch jar a --type merge -p '{"spec":{"count":3}}' || { cat "$tap_dir/o"; return 1; }
    ! kubectl patch jar a --type merge -p '{"spec":{"list":["b","c"]}}'
}
t "what an update has not changed stays valid, with a warning" kept
broken_rules() {
    ! rule '{rule: self.nope == 1}' 2>"$tap_dir/o" &&
        grep -qF "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: Invalid value:" "$tap_dir/o" &&
        grep -qF "compilation failed: ERROR: <input>:1:5: undefined field 'nope'" "$tap_dir/o" &&
        ! rule '{rule: self.count}' 2>"$tap_dir/o" && grep -qF "cel expression must evaluate to a bool" "$tap_dir/o" || { cat "$tap_dir/o"; return 1; }
}
t "a definition whose rule does not compile is refused" broken_rules
endless() {
    local list
    list=$(seq -s, 100 | sed 's/[0-9]*/"x"/g')
    rule '{rule: "self.list.all(a, self.list.all(b, self.list.all(c, true)))"}' && sleep 0.2 &&
        jar "{count: 9, list: [$list]}" 'operation cancelled: actual cost limit exceeded'
}
t "an expression that costs too much is ended" endless
costly() {
    local at='spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of' why='(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)'
    ! rule '{rule: "self.list.all(a, self.list.all(b, self.list.all(c, self.list.all(d, true))))"}' >"$tap_dir/o" 2>&1 && grep -qF "$at 30.6x $why" "$tap_dir/o" &&
        grep -qF 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema' "$tap_dir/o" && grep -qF 'spec.validation.openAPIV3Schema: Forbidden: x-kubernetes-validations estimated rule cost total' "$tap_dir/o" &&
        ! kubectl patch crd jars.example.com --type json -p '[{"op": "remove", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/list/maxItems"},
            {"op": "replace", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/x-kubernetes-validations", "value": [{"rule": "self.list.all(a, self.list.exists(b, a == b))"}]}]' >"$tap_dir/o" 2>&1 &&
        grep -qF "$at more than 100x $why" "$tap_dir/o" && rule '{rule: "self.list.all(a, a.size() > 0)"}' || { cat "$tap_dir/o"; return 1; }
}
t "a rule that may cost too much is refused when it is written" costly
rights() {
    stop emulated
    emulated --platform kubernetes --kube-version 1.36 --no-nodes --authorization rbac --tls && kubectl create serviceaccount robot &&
        policy rights "validations: [{expression: \"authorizer.serviceAccount('default', 'robot').group('').resource('secrets').namespace('default').check('get').allowed()\", message: robot may not}]" &&
        refuses rights "denied request: robot may not" k=v && kubectl create role reader --verb get --resource secrets &&
        kubectl create rolebinding robot --role reader --serviceaccount default:robot && create rights k=v
}
t "authorizer answers by Roles" rights
plan
