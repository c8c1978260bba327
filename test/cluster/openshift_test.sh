# OpenShift's stand-ins on a real API server: the rules of the embedded cluster as an ordinary client
# of it. SRO's example and ours walk to Ready with real pods on the real node.
. test/tap.sh
slipway=${SLIPWAY_TEST:-build/test/slipway}
[ -x "$slipway" ] || slipway=${SLIPWAY:-build/slipway}
up() { hack/cluster.sh up --openshift ${NO_NODE:+--no-node} >/dev/null; }

serves() {
    up && kubectl get clusterversion version -o 'jsonpath={.status.history[0].version}' | grep -q '^4\.' &&
        kubectl get scc privileged && kubectl get proxy.config.openshift.io cluster &&
        kubectl get packagemanifests -A -o name | grep -q nfd
}

again() { # a second up starts nothing twice
    local before after
    before=$(cat "$SLIPWAY_CLUSTER_DIR"/pid/*) && up && after=$(cat "$SLIPWAY_CLUSTER_DIR"/pid/*) &&
        [ "$before" = "$after" ]
}

owned_fields() { # its own field manager, as every client has
    kubectl get --raw /apis/config.openshift.io/v1/clusterversions/version | grep -q '"manager": *"slipway-rules"'
}

builds() {
    kubectl create namespace rules-test && kubectl apply -f - <<'YAML' &&
apiVersion: image.openshift.io/v1
kind: ImageStream
metadata: {name: a, namespace: rules-test}
---
apiVersion: build.openshift.io/v1
kind: BuildConfig
metadata: {name: a, namespace: rules-test}
spec: {triggers: [{type: ConfigChange}], output: {to: {kind: ImageStreamTag, name: "a:1"}}}
YAML
        until_ok 20 complete && kubectl -n rules-test get is a -o 'jsonpath={.status.tags[*].tag}' | grep -q '^1$'
}

complete() { [ "$(kubectl -n rules-test get build a-1 -o 'jsonpath={.status.phase}')" = Complete ]; }

crd_comes() { # a kind that appears later is acted on, one that goes is let go of
    kubectl delete crd routes.route.openshift.io && kubectl apply -f - <<'YAML' &&
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: routes.route.openshift.io}
spec:
  group: route.openshift.io
  scope: Namespaced
  names: {kind: Route, listKind: RouteList, plural: routes, singular: route}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
YAML
        established crd/routes.route.openshift.io &&
        until_ok 20 route && until_ok 20 admitted
}

route() {
    kubectl apply -f - <<'YAML'
apiVersion: route.openshift.io/v1
kind: Route
metadata: {name: r, namespace: rules-test}
spec: {to: {kind: Service, name: r}}
YAML
}

admitted() { kubectl -n rules-test get route r -o json | grep -q '"type": "Admitted"'; }

walks() { # CHART
    "$slipway" run "$1" --timeout 240s || return 1
    kubectl get pods -n simple-kmod -o 'jsonpath={.items[*].status.phase}' | grep -q '^Running' &&
        kubectl get nodes -l specialresource.openshift.io/state-simple-kmod-1000=Ready -o name | grep -q node/
}

gone() { # both charts make objects of the same names
    kubectl delete specialresource simple-kmod --timeout=240s
    kubectl delete namespace simple-kmod --timeout=240s
}

still_runs() { kill -0 "$(cat "$SLIPWAY_CLUSTER_DIR/pid/rules")"; }

t "the rules bring OpenShift's kinds and objects" serves
t "a second up starts nothing" again
t "what the rules write is theirs by name" owned_fields
t "a BuildConfig builds, and its stream has the tag" builds
t "a kind whose CRD comes later is acted on" crd_comes
if [ -n "$(kubectl get nodes -o name)" ]; then
    t "charts/example/simple-kmod walks to Ready" walks charts/example/simple-kmod
    t "it goes again" gone
    if [ -d "${SW_SHARED:-}/charts/simple-kmod" ]; then
        # its DaemonSet asks for a label that SRO never sets: given as SRO's users have to
        t "SRO's simple-kmod walks to Ready" walks "$SW_SHARED/charts/simple-kmod"
        t "SRO's simple-kmod goes again" gone
    fi
fi
kubectl delete namespace rules-test --wait=false >/dev/null 2>&1
t "the rules are at work still" still_runs
plan
