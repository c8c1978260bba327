# Who may use a resource's nodes, and what its user wants otherwise, on a real API server and a real
# node: taints, tolerations, PriorityClasses, overrides, overlap. And SRO's ping-pong, and the GPU
# operator's CRDs through a recipe.
. test/tap.sh
slipway=${SLIPWAY_TEST:-build/test/slipway}
[ -x "$slipway" ] || slipway=${SLIPWAY:-build/slipway}
node=$(kubectl get nodes -o 'jsonpath={.items[0].metadata.name}')

chart() { # NAME < MANIFEST
    mkdir -p "$tap_dir/$1/templates"
    printf 'apiVersion: v2\nname: %s\nversion: 0.0.1\n' "$1" >"$tap_dir/$1/Chart.yaml"
    cat >"$tap_dir/$1/templates/0000-t.yaml"
}

resource() { # NAME CHART [YAML of more spec]
    kubectl apply -f - <<YAML
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: $1}
spec:
  namespace: $1
  nodeSelector: {accel: "yes"}
  chart: {name: $2, version: 0.0.1, repository: {name: r, url: "file://$tap_dir/$2"}}
${3:-}
YAML
}

start() {
    kubectl apply -f deploy/crds/sro.openshift.io_specialresources.yaml &&
        established crd/specialresources.sro.openshift.io &&
        kubectl label node "$node" accel=yes --overwrite &&
        kubectl taint node "$node" theirs=x:PreferNoSchedule --overwrite &&
        chart plugin <<'YAML'
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: plugin
  annotations: {specialresource.openshift.io/wait: "true"}
spec:
  selector: {matchLabels: {app: plugin}}
  template:
    metadata: {labels: {app: plugin}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: main, image: "slipway.local/pause:1"}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {a: b}
YAML
}

says() { kubectl get specialresource "$1" -o 'jsonpath={.status.state}' | grep -qF -- "$2"; }
ready() { until_ok 120 says "$1" "Ready:" || { kubectl get specialresource "$1" -o yaml; return 1; }; }
taints() { kubectl get node "$node" -o 'jsonpath={range .spec.taints[*]}{.key}={.value}:{.effect} {end}'; }
has() { [ "$(taints)" = "$1" ] || { echo "taints: $(taints)"; return 1; }; }
record() { kubectl get node "$node" -o 'jsonpath={.metadata.annotations.slipway\.dev/taints}'; }

taints='  taints:
  - {key: nvidia.com/gpu, effect: NoSchedule}
  - {key: only, value: gpu, effect: NoSchedule}
'

sets() {
    resource gpu plugin "$taints" && ready gpu &&
        has "theirs=x:PreferNoSchedule nvidia.com/gpu=:NoSchedule only=gpu:NoSchedule " &&
        [ "$(record)" = '{"gpu":["nvidia.com/gpu=:NoSchedule","only=gpu:NoSchedule"]}' ] &&
        kubectl get node "$node" --show-labels | grep -q 'state-gpu-0000=Ready' &&
        [ "$(kubectl -n gpu get ds plugin -o 'jsonpath={.status.numberReady}')" = 1 ]
}

mends() { # somebody takes one off, somebody adds one
    kubectl taint node "$node" only:NoSchedule- && until_ok 30 tainted_again &&
        kubectl taint node "$node" more=x:PreferNoSchedule && sleep 1 &&
        taints | grep -q 'more=x:PreferNoSchedule' && taints | grep -q 'only=gpu:NoSchedule' &&
        kubectl taint node "$node" more-
}
tainted_again() { taints | grep -q 'only=gpu:NoSchedule'; }

user_pods() { # by the admission plugin, whose rule the webhook has too
    kubectl -n gpu create --dry-run=server -o 'jsonpath={.spec.tolerations[?(@.key=="nvidia.com/gpu")].operator}' -f - <<'YAML' | grep -q Exists
apiVersion: v1
kind: Pod
metadata: {name: asks}
spec:
  containers: [{name: c, image: "slipway.local/pause:1", resources: {limits: {nvidia.com/gpu: 1}}}]
YAML
}

priorities() {
    kubectl patch specialresource gpu --type merge -p '{"spec":{"priorityClassName":"gpu-first","priorityClasses":[
        {"name":"gpu-first","value":1000},{"name":"gpu-guest","value":1,"preemptionPolicy":"Never"}]}}' &&
        until_ok 30 kubectl get priorityclass gpu-first gpu-guest && until_ok 60 first && ready gpu &&
        kubectl patch specialresource gpu --type merge -p '{"spec":{"priorityClasses":[{"name":"gpu-first","value":7}]}}' &&
        until_ok 60 seven && ready gpu && ! kubectl get priorityclass gpu-guest
}
first() { [ "$(kubectl -n gpu get ds plugin -o 'jsonpath={.spec.template.spec.priorityClassName}')" = gpu-first ]; }
seven() { [ "$(kubectl get priorityclass gpu-first -o 'jsonpath={.value}')" = 7 ]; }

overrides() {
    kubectl patch specialresource gpu --type merge -p '{"spec":{"overrides":[
        {"target":{"kind":"DaemonSet","name":"plug*"},"resources":{"limits":{"memory":"64Mi"}},"nodeSelector":{"kubernetes.io/os":"linux"}},
        {"target":{"kind":"ConfigMap"},"patch":[{"op":"replace","path":"/data/a","value":"mine"}]},
        {"target":{"kind":"Deployment"},"nodeSelector":{}}]}}' &&
        until_ok 60 mine && ready gpu &&
        [ "$(kubectl -n gpu get ds plugin -o 'jsonpath={.spec.template.spec.containers[0].resources.limits.memory}')" = 64Mi ] &&
        until_ok 30 unused && kubectl patch specialresource gpu --type merge -p \
        '{"spec":{"overrides":[{"target":{"kind":"ConfigMap"},"patch":[{"op":"remove","path":"/data/none"}]}]}}' &&
        until_ok 60 says gpu 'spec.overrides[0]: patch:' &&
        kubectl patch specialresource gpu --type merge -p '{"spec":{"overrides":null}}' && ready gpu && ! mine
}
mine() { [ "$(kubectl -n gpu get cm c -o 'jsonpath={.data.a}')" = mine ]; }
unused() { kubectl get events -A | grep OverrideUnused | grep -q "spec.overrides\[2\] (Deployment"; }

refused() { # by the definition's schema
    ! kubectl patch specialresource gpu --type merge -p '{"spec":{"taints":[{"key":"a","effect":"Never"}]}}' &&
        ! kubectl patch specialresource gpu --type merge -p '{"spec":{"priorityClasses":[{"name":"a"}]}}' &&
        kubectl explain specialresource.spec.overrides.patch | grep -q 'RFC 6902'
}

overlaps() {
    resource nic plugin '  tolerations: [{operator: Exists}]' && ready nic && until_ok 30 overlapping nic "gpu as well, with the same chart: $node" &&
        until_ok 30 overlapping gpu "nic as well" && "$slipway" explain gpu | grep -q "1 node is selected by nic as well" &&
        kubectl describe specialresource gpu | grep -q 'Warning *Overlap' &&
        kubectl delete specialresource nic --timeout=240s && until_ok 30 apart
}
overlapping() { kubectl get specialresource "$1" -o 'jsonpath={.status.conditions[?(@.type=="Overlapping")].message}' | grep -qF -- "$2"; }
apart() { [ "$(kubectl get specialresource gpu -o 'jsonpath={.status.conditions[?(@.type=="Overlapping")].status}')" = False ]; }

takes_off() {
    kubectl delete specialresource gpu --timeout=240s && has "theirs=x:PreferNoSchedule " && [ -z "$(record)" ] &&
        ! kubectl get priorityclass gpu-first && ! kubectl get node "$node" --show-labels | grep -q 'state-gpu'
}

gpu_operator_crds() { # the largest there are, as a recipe's crds/
    chart crds <<'YAML'
apiVersion: v1
kind: ConfigMap
metadata: {name: after-crds}
YAML
    mkdir -p "$tap_dir/crds/crds" && cp "$SW_SHARED"/charts/gpu-operator/crds/*.yaml "$tap_dir/crds/crds/" &&
        resource crds crds && ready crds || return 1
    local f name
    for f in "$SW_SHARED"/charts/gpu-operator/crds/*.yaml; do
        name=$(sed -n 's/^  name: //p' "$f" | head -1)
        kubectl get crd "$name" -o 'jsonpath={.status.conditions[?(@.type=="Established")].status}' | grep -q True || return 1
    done
    kubectl annotate crd clusterpolicies.nvidia.com look=again && ready crds && "$slipway" status crds | grep -q Ready &&
        kubectl delete specialresource crds --timeout=240s && until_ok 30 no_crds # what it made goes with it
}

no_crds() { ! kubectl get crd -o name | grep -q 'nvidia.com$'; }

# What stands in for cert-manager: its definitions and its Deployment. The cluster's rules do its work.
cert_manager() {
    chart cert-manager <<'YAML'
apiVersion: apps/v1
kind: Deployment
metadata: {name: cert-manager, annotations: {specialresource.openshift.io/wait: "true"}}
spec:
  selector: {matchLabels: {app: cert-manager}}
  template:
    metadata: {labels: {app: cert-manager}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: main, image: "slipway.local/pause:1"}]
YAML
    mkdir -p "$tap_dir/cert-manager/crds" && for kind in Issuer Certificate; do
        local one=${kind,,}
        cat >"$tap_dir/cert-manager/crds/$one.yaml" <<YAML
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ${one}s.cert-manager.io}
spec:
  group: cert-manager.io
  scope: Namespaced
  names: {kind: $kind, listKind: ${kind}List, plural: ${one}s, singular: $one}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
YAML
    done
}

# SRO's example with a key pair of its own, as its users put one there.
ping_pong() {
    cert_manager && cp -r "$SW_SHARED/charts/ping-pong" "$tap_dir/" && chmod -R u+w "$tap_dir/ping-pong" &&
        openssl req -x509 -newkey rsa:2048 -nodes -days 10 -subj /CN=ca -keyout "$tap_dir/key" -out "$tap_dir/crt" 2>/dev/null || return 1
    printf 'apiVersion: v1\nkind: Secret\nmetadata:\n  name: ping-pong-ca-key-pair\ndata:\n  tls.crt: %s\n  tls.key: %s\n' \
        "$(base64 -w0 <"$tap_dir/crt")" "$(base64 -w0 <"$tap_dir/key")" >"$tap_dir/ping-pong/templates/0001_secret.yaml"
    resource ping-pong ping-pong "  set:
    kind: Values
    apiVersion: sro.openshift.io/v1beta1
    clientArgs: {caFile: -ca, keyFile: -key, certFile: -cert}
    serverArgs: {caFile: -ca, keyFile: -key, certFile: -cert}
  overrides: # a kubelet may take ten seconds to say that a pod has ended
  - target: {kind: Deployment}
    patch: [{op: add, path: /spec/template/spec/terminationGracePeriodSeconds, value: 0}]
  dependencies:
  - chart: {name: cert-manager, version: 0.0.1, repository: {name: r, url: 'file://$tap_dir/cert-manager'}}
    set: {kind: Values, apiVersion: sro.openshift.io/v1beta1}" && until_ok 200 says ping-pong "Ready:" ||
        { kubectl get specialresource -o 'jsonpath={range .items[*]}{.metadata.name} {.status.state}{"\n"}{end}'; kubectl get pods -A; return 1; }
    says cert-manager "Ready:" && [ "$(kubectl -n ping-pong get deploy ping-pong-client -o 'jsonpath={.status.readyReplicas}')" = 1 ] &&
        kubectl delete specialresource ping-pong --timeout=240s && kubectl delete specialresource cert-manager --timeout=240s
}

# The end of a log is in the resource itself.
failing() {
    chart failing <<'YAML'
apiVersion: batch/v1
kind: Job
metadata: {name: it, annotations: {specialresource.openshift.io/wait: "true"}}
spec:
  backoffLimit: 0
  template:
    metadata: {labels: {app: it}}
    spec:
      restartPolicy: Never
      containers: [{name: main, image: "slipway.local/pause:1", command: ["/none"]}]
YAML
    resource failing failing '  tolerations: [{operator: Exists}]' && until_ok 120 says failing 'Job failing/it' && until_ok 120 blamed &&
        kubectl describe specialresource failing | grep -q 'Awaits' && kubectl delete specialresource failing --timeout=240s
}
blamed() { kubectl get specialresource failing -o 'jsonpath={.status.states[0].awaits[0].message}' | grep -q 'pod it-.*container main'; }

# The DaemonSet controller deletes pods at once where a nodeSelector does not match any more: here they
# stay, for slipway's label is there, and for nothing else.
feature=feature.node.kubernetes.io/pci-10de.present
plugin_pod() { kubectl -n features get pods -l app=plugin --field-selector status.phase=Running -o 'jsonpath={.items[*].metadata.uid}'; }
stay() { kubectl get node "$node" -o json | jq -r '.metadata.labels | to_entries[] | select((.key | startswith("stay.slipway.dev/")) and .value == "features") | .key'; }
features() {
    local pod
    kubectl label node "$node" $feature=true && resource features plugin &&
        kubectl patch specialresource features --type json -p '[{"op":"replace","path":"/spec/nodeSelector","value":{"'$feature'":"true"}},
            {"op":"add","path":"/spec/tolerations","value":[{"operator":"Exists"}]}]' &&
        ready features && until_ok 30 eval '[ -n "$(stay)" ]' && pod=$(plugin_pod) && [ -n "$pod" ] &&
        kubectl label node "$node" $feature- && sleep 5 && [ "$(plugin_pod)" = "$pod" ] &&
        kubectl get specialresource features -o 'jsonpath={.status.lostNodes[0].nodes[0]}' | grep -q "$node" &&
        kubectl label node "$node" "$(stay)-" && until_ok 30 eval '[ -z "$(plugin_pod)" ]' &&
        kubectl delete specialresource features --timeout=240s && [ -z "$(stay)" ]
}

t "the ground is ready" start
OPERATOR_NAMESPACE=default "$slipway" controller --legacy-rights --metrics-bind-address 0 --health-probe-bind-address 0 >"$tap_dir/log" 2>&1 &
controller=$!
trap 'kill $controller 2>/dev/null; wait $controller; kubectl taint node "$node" theirs- >/dev/null 2>&1; kubectl label node "$node" accel- $feature- >/dev/null; rm -rf "$tap_dir"' EXIT
t "taints are set beside others', and the resource's pods run there" sets
t "a taint that is taken off comes again, others' stay" mends
t "pods that ask for the resource tolerate its taint" user_pods
t "PriorityClasses are made, changed and removed" priorities
t "overrides change objects, and what does not fit is said" overrides
t "what cannot be is refused by the schema" refused
t "resources that share nodes say so" overlaps
t "a feature that is lost takes no pod down before the grace" features
t "a container that fails is named in the status" failing
t "deleting takes off exactly what was set" takes_off
if [ -d "${SW_SHARED:-}/charts/gpu-operator/crds" ]; then
    t "the GPU operator's CRDs go through a recipe" gpu_operator_crds
    t "SRO's ping-pong walks with its dependency" ping_pong
else
    skip "the GPU operator's CRDs go through a recipe" "SW_SHARED is not set"
    skip "SRO's ping-pong walks with its dependency" "SW_SHARED is not set"
fi
plan
