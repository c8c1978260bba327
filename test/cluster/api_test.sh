# What an API server has a say in, the same on a real one and on the emulator: apply and who owns a
# field, conflicts, CRD schemas and pruning, garbage collection, finalizers, watches that are too old,
# admission, quota, RBAC. test/emulator/emulator/same_api_test.sh runs this file on the emulator.
. test/tap.sh
slipway=${SLIPWAY_TEST:-build/test/slipway}
[ -x "$slipway" ] || slipway=${SLIPWAY:-build/slipway}
ns=api-test

says() { # WORDS COMMAND...: it fails, and says why
    local words=$1
    shift
    "$@" >"$tap_dir/said" 2>&1 && { echo "it did not fail"; return 1; }
    cat "$tap_dir/said"
    grep -qE -- "$words" "$tap_dir/said"
}

map() { # NAME VALUE [MORE METADATA]
    printf '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"%s","namespace":"%s"%s},"data":{"a":"%s"}}' "$1" "$ns" "${3:-}" "$2"
}

# make_object KIND NAME [NS]: as JSON (kubectl's generators send protobuf, which the emulator does not read)
make_object() {
    printf '{"apiVersion":"v1","kind":"%s","metadata":{"name":"%s"%s}}' "$1" "$2" "${3:+,\"namespace\":\"$3\"}" | kubectl create --validate=false -f -
}

apply_as() { kubectl apply --server-side --field-manager "$1" -f - "${@:2}"; }

fields_have_owners() {
    map own 1 | apply_as one && ! map own 2 | apply_as two 2>"$tap_dir/o" && cat "$tap_dir/o" &&
        grep -q 'conflict.*"one"' "$tap_dir/o" && map own 2 | apply_as two --force-conflicts &&
        [ "$(kubectl -n $ns get cm own -o 'jsonpath={.data.a}')" = 2 ] &&
        kubectl get --raw "/api/v1/namespaces/$ns/configmaps/own" | grep -q '"manager": *"two"'
}

left_out_is_removed() { # what its only owner does not apply any more is gone
    printf '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"less","namespace":"%s"},"data":{"a":"1","b":"2"}}' $ns | apply_as one &&
        map less 1 | apply_as one && [ -z "$(kubectl -n $ns get cm less -o 'jsonpath={.data.b}')" ]
}

stale_update() {
    map stale 1 | kubectl create -f - && kubectl -n $ns get cm stale -o json >"$tap_dir/old" &&
        kubectl -n $ns patch cm stale -p '{"data":{"a":"2"}}' && says 'object has been modified' kubectl replace -f "$tap_dir/old"
}

crd() {
    kubectl apply -f - <<'YAML' && established crd/things.test.slipway.dev && until_ok 20 kubectl -n $ns get things
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.test.slipway.dev}
spec:
  group: test.slipway.dev
  scope: Namespaced
  names: {kind: Thing, listKind: ThingList, plural: things, singular: thing}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            properties: {size: {type: integer, minimum: 1}, colour: {type: string, default: grey}}
          status: {type: object, properties: {phase: {type: string}}}
YAML
}

thing() { printf '{"apiVersion":"test.slipway.dev/v1","kind":"Thing","metadata":{"name":"%s","namespace":"%s"},"spec":%s}' "$1" $ns "$2"; }

schema_prunes_and_defaults() {
    crd && thing a '{"size":2,"nobody":"knows"}' | kubectl create --validate=false -f - &&
        [ "$(kubectl -n $ns get thing a -o 'jsonpath={.spec.nobody}{.spec.colour}')" = grey ]
}

schema_refuses() {
    thing b '{"size":"many"}' >"$tap_dir/b" && says 'spec.size.*must be of type integer' kubectl create --validate=false -f "$tap_dir/b" &&
        thing b '{"size":0}' >"$tap_dir/b" && says 'spec.size.*should be greater than or equal to 1' kubectl create --validate=false -f "$tap_dir/b" &&
        thing b '{}' >"$tap_dir/b" && says 'spec.size: Required value' kubectl create --validate=false -f "$tap_dir/b"
}

status_is_apart() {
    kubectl -n $ns patch thing a --type merge -p '{"status":{"phase":"no"}}' >/dev/null
    [ -z "$(kubectl -n $ns get thing a -o 'jsonpath={.status.phase}')" ]
}

gone() { ! kubectl -n $ns get "$@" >/dev/null 2>&1; }

garbage_is_collected() {
    local uid
    map owner 1 | kubectl create -f - && uid=$(kubectl -n $ns get cm owner -o 'jsonpath={.metadata.uid}') &&
        map child 1 ",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"owner\",\"uid\":\"$uid\"}]" | kubectl create -f - &&
        kubectl -n $ns delete cm owner && until_ok 60 gone cm child
}

orphans_stay() {
    local uid
    map owner2 1 | kubectl create -f - && uid=$(kubectl -n $ns get cm owner2 -o 'jsonpath={.metadata.uid}') &&
        map child2 1 ",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"owner2\",\"uid\":\"$uid\"}]" | kubectl create -f - &&
        kubectl -n $ns delete cm owner2 --cascade=orphan && until_ok 60 gone cm owner2 &&
        until_ok 20 without_owner
}

without_owner() { [ "$(kubectl -n $ns get cm child2 -o 'jsonpath={.metadata.name}{.metadata.ownerReferences}')" = child2 ]; }

finalizers_hold() {
    map held 1 ',"finalizers":["test.slipway.dev/hold"]' | kubectl create -f - && kubectl -n $ns delete cm held --wait=false &&
        [ -n "$(kubectl -n $ns get cm held -o 'jsonpath={.metadata.deletionTimestamp}')" ] &&
        kubectl -n $ns patch cm held --type merge -p '{"metadata":{"finalizers":null}}' && until_ok 20 gone cm held
}

# A version from before the kind was there, which no server remembers: an ERROR event with 410.
old_watch() {
    timeout 20 kubectl get --raw "/apis/test.slipway.dev/v1/namespaces/$ns/things?watch=true&resourceVersion=1&timeoutSeconds=5" >"$tap_dir/w" 2>&1
    cat "$tap_dir/w"
    grep -qE '"code":410|too old resource version' "$tap_dir/w"
}

no_namespace() {
    says 'namespaces "nowhere" not found' make_object ConfigMap x nowhere
}

dying_namespace() {
    make_object Namespace $ns-dying && make_object ConfigMap x $ns-dying &&
        kubectl -n $ns-dying patch cm x --type merge -p '{"metadata":{"finalizers":["test.slipway.dev/hold"]}}' &&
        kubectl delete namespace $ns-dying --wait=false && says 'because it is being terminated' make_object ConfigMap y $ns-dying
    local rc=$?
    kubectl -n $ns-dying patch cm x --type merge -p '{"metadata":{"finalizers":null}}'
    return $rc
}

webhook_down() {
    kubectl create -f - <<YAML && until_ok 20 says 'failed calling webhook "no.test.slipway.dev"' make_object ConfigMap hooked $ns
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: api-test}
webhooks:
- name: no.test.slipway.dev
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {service: {namespace: $ns, name: nobody}}
  rules: [{operations: [CREATE], apiGroups: [""], apiVersions: [v1], resources: [configmaps]}]
  namespaceSelector: {matchLabels: {api-test: "yes"}}
YAML
    local rc=$?
    kubectl delete validatingwebhookconfiguration api-test
    return $rc
}

quota_known() { [ -n "$(kubectl -n $ns-quota get quota few -o 'jsonpath={.status.hard}')" ]; }

quota() {
    make_object Namespace $ns-quota &&
        printf '{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"few","namespace":"%s"},"spec":{"hard":{"count/secrets":"0"}}}' $ns-quota | kubectl create -f - && until_ok 30 quota_known &&
        says 'exceeded quota: few' make_object Secret s $ns-quota
}

uses() { [ "$(kubectl -n $ns-quota get quota many -o 'jsonpath={.status.used}' | jq -cS .)" = "$1" ]; }
quota_counts() {
    printf '{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"many","namespace":"%s"},"spec":{"hard":{"count/services":"5","requests.cpu":"4"}}}' $ns-quota | kubectl create -f - &&
        until_ok 30 uses '{"count/services":"0","requests.cpu":"0"}' && kubectl -n $ns-quota create service clusterip s --tcp=80 &&
        until_ok 30 uses '{"count/services":"1","requests.cpu":"0"}' && kubectl -n $ns-quota delete service s && until_ok 60 uses '{"count/services":"0","requests.cpu":"0"}'
}

typed_patch() { # what 1.20 says to ports without a protocol; newer releases fill it in
    printf '{"apiVersion":"v1","kind":"Service","metadata":{"name":"p","namespace":"%s"},"spec":{"ports":[{"port":80},{"port":81}]}}' $ns >"$tap_dir/p"
    says 'failed to create typed patch object' kubectl apply --server-side --validate=false -f "$tap_dir/p"
}

chart() { # a CRD with rules and a Service without protocols, as charts of today have them
    mkdir -p "$tap_dir/chart/templates"
    printf 'apiVersion: v2\nname: undeclared\nversion: 0.1.0\n' >"$tap_dir/chart/Chart.yaml"
    cat >"$tap_dir/chart/templates/0000-a.yaml" <<'YAML'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ruled.test.slipway.dev}
spec:
  group: test.slipway.dev
  scope: Cluster
  names: {kind: Ruled, listKind: RuledList, plural: ruled, singular: ruled}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        x-kubernetes-validations: [{rule: "self.spec.a > 0"}]
        properties:
          spec:
            type: object
            x-kubernetes-validations: [{rule: "self.a > 0"}]
            properties:
              a: {type: integer}
              s: {type: string}
              d: {type: string, default: ""}
              l: {type: array, items: {type: object, properties: {k: {type: string}, v: {type: string}}}}
              m: {type: object, additionalProperties: {type: string}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: undeclared}
webhooks:
- name: undeclared.test.slipway.dev
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Ignore
  clientConfig: {url: "https://127.0.0.1:1/"}
  matchConditions: [{name: never, expression: "false"}]
  rules: [{operations: [CREATE], apiGroups: [none.test.slipway.dev], apiVersions: [v1], resources: [nothings]}]
---
apiVersion: v1
kind: Service
metadata: {name: undeclared}
spec: {ports: [{name: a, port: 80}, {name: b, port: 81}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: numbers}
spec:
  replicas: 0
  selector: {matchLabels: {app: numbers}}
  template:
    metadata: {labels: {app: numbers}}
    spec: {containers: [{name: c, image: none, resources: {limits: {cpu: 1, example.com/gpu: 2}}}]}
YAML
    cat >"$tap_dir/chart/templates/0100-b.yaml" <<'YAML'
apiVersion: test.slipway.dev/v1
kind: Ruled
metadata: {name: empty}
spec: {a: 1, s: "", l: [{k: x, v: ""}, {k: w, v: z}], m: {"p.q/r": "", t: u}}
YAML
}

empty_texts_are_taken() {
    kubectl get ruled empty -o json >"$tap_dir/o" &&
        jq -e '.spec | .s == "" and .d == "" and .l[0].v == "" and .m["p.q/r"] == ""' <"$tap_dir/o" || { cat "$tap_dir/o"; return 1; }
}

undeclared_is_dropped() {
    chart && "$slipway" run "$tap_dir/chart" --timeout 240s >"$tap_dir/o" 2>&1
    local rc=$?
    cat "$tap_dir/o"
    [ $rc -eq 0 ] && [ "$(grep -c 'fields left out.*kind=CustomResourceDefinition.*fields=x-kubernetes-validations' "$tap_dir/o")" = 1 ] &&
        grep -q 'fields left out.*kind=ValidatingWebhookConfiguration.*fields=matchConditions' "$tap_dir/o" &&
        kubectl get events -A | grep -q 'FieldsDropped.*does not know matchConditions' &&
        [ "$(kubectl -n undeclared get service undeclared -o 'jsonpath={.spec.ports[*].protocol}')" = "TCP TCP" ] &&
        [ "$(kubectl -n undeclared get deployment numbers -o 'jsonpath={.spec.template.spec.containers[0].resources.limits.example\.com/gpu}')" = 2 ]
}

# ---- evictions: of a pod that says it runs, which no kubelet looks after

evict() { # APIVERSION POD [DELETEOPTIONS]
    printf '{"apiVersion":"%s","kind":"Eviction","metadata":{"name":"%s","namespace":"%s"},"deleteOptions":%s}' "$1" "$2" $ns "${3:-{\}}" |
        kubectl create --raw "/api/v1/namespaces/$ns/pods/$2/eviction" -f -
}
pod() { # NAME: bound to no node, running and ready all the same
    kubectl create --validate=false -f - <<YAML || return 1
apiVersion: v1
kind: Pod
metadata: {name: $1, namespace: $ns, labels: {app: evicted}}
spec: {schedulerName: nobody, terminationGracePeriodSeconds: 0, containers: [{name: c, image: none}]}
YAML
    kubectl get --raw "/api/v1/namespaces/$ns/pods/$1" |
        sed 's/"status": *{.*/"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}/' >"$tap_dir/pod.json"
    kubectl replace --raw "/api/v1/namespaces/$ns/pods/$1/status" -f "$tap_dir/pod.json"
}
budget() { # of the served version
    local version=policy/v1
    kubectl get --raw /apis/policy/v1 >/dev/null 2>&1 || version=policy/v1beta1
    printf '{"apiVersion":"%s","kind":"PodDisruptionBudget","metadata":{"name":"keep","namespace":"%s"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"evicted"}}}}' $version $ns |
        kubectl create --validate=false -f -
}
budget_holds() { # a pod that it needs is not evicted, whoever asks; 429 is for asking again
    make_object ServiceAccount default $ns >/dev/null 2>&1
    until_ok 20 pod held >/dev/null && budget && until_ok 30 says 'disruption budget' evict policy/v1beta1 held && kubectl -n $ns get pod held
}
eviction_version() { # policy/v1 is for this subresource from 1.22 on; before, it is no kind of it
    says 'disruption budget|no kind "Eviction" is registered|could not find the requested resource' evict policy/v1 held && kubectl -n $ns get pod held &&
        says 'no kind|could not find' evict policy/v9 held
}
evicted() { # without the budget it goes; a dry run takes nothing; of a pod that is not there, or another one, 404 and 409
    kubectl -n $ns delete pdb keep && until_ok 30 evict policy/v1beta1 held '{"dryRun":["All"]}' && kubectl -n $ns get pod held &&
        says 'Conflict|Precondition failed|does not match' evict policy/v1beta1 held '{"preconditions":{"uid":"00000000-0000-0000-0000-000000000000"}}' && kubectl -n $ns get pod held &&
        evict policy/v1beta1 held && until_ok 30 eval '! kubectl -n $ns get pod held' && says 'not found|NotFound' evict policy/v1beta1 held
}

denied() { # RBAC: who may not is told what
    sed 's/^users:.*/users: [{name: admin, user: {token: slipway-nobody-token}}]/' "$KUBECONFIG" >"$tap_dir/nobody"
    says 'forbidden: User "nobody" cannot list resource "configmaps"' kubectl --kubeconfig "$tap_dir/nobody" -n $ns get cm
}

make_object Namespace $ns >/dev/null
kubectl label namespace $ns api-test=yes >/dev/null
t "a field belongs to who applied it; another is refused, or takes it by force" fields_have_owners
t "a field that its owner leaves out is removed" left_out_is_removed
t "an update of an old version is refused" stale_update
t "a schema prunes what it does not know and fills in defaults" schema_prunes_and_defaults
t "a schema refuses wrong types, values out of range, what is missing" schema_refuses
t "the status is written by its subresource only" status_is_apart
t "what its owner leaves behind is collected" garbage_is_collected
t "orphans stay" orphans_stay
t "finalizers hold an object" finalizers_hold
t "a watch from too old a version is told 410" old_watch
t "nothing is created in a namespace that is not there" no_namespace
t "nothing is created in a namespace that is being deleted" dying_namespace
t "a webhook that is down refuses by its failurePolicy" webhook_down
t "a quota refuses" quota
t "a quota says what is used" quota_counts
t "a budget holds a pod against eviction" budget_holds
t "an Eviction of a version that is not served is refused" eviction_version
t "without a budget a pod is evicted; not by a dry run, nor another one's uid" evicted
if kubectl version -o json 2>/dev/null | grep -A4 serverVersion | grep -q . && kubectl get --raw /version | grep -qE '"minor": ?"20'; then
    t "an apply that omits a list's key is refused by 1.20" typed_patch
    t "what 1.20 does not declare is left out with one warning that names it" undeclared_is_dropped
    t "empty texts in a custom resource are applied as they are" empty_texts_are_taken
fi
if [ "${SW_TARGET:-cluster}" = emulator ]; then
    skip "RBAC denies" "the emulator has no RBAC"
else
    t "RBAC denies" denied
fi
# nobody is there to take its finalizer off; what it owned goes while its kind is known
kubectl patch specialresource undeclared --type merge -p '{"metadata":{"finalizers":null}}' >/dev/null 2>&1
kubectl delete specialresource undeclared --timeout=240s >/dev/null 2>&1
until_ok 60 eval '! kubectl get crd/ruled.test.slipway.dev >/dev/null 2>&1' >/dev/null
kubectl delete namespace undeclared --timeout=240s >/dev/null 2>&1
kubectl delete crd things.test.slipway.dev --timeout=240s >/dev/null 2>&1
kubectl delete namespace $ns $ns-quota --timeout=240s >/dev/null 2>&1 # the next test finds nothing half gone
plan
