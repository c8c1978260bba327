#!/bin/bash
# kubectl on the embedded cluster: whatever kubectl is in PATH, and Debian's 1.20 where the package
# can be had. Nothing but the API server is under test: pods are moved by hand.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh
slipway=${SLIPWAY:-build/test/slipway}
dir=$(mktemp -d)
emulator=
finish() {
    [ -z "$emulator" ] || { kill "$emulator"; wait "$emulator"; } 2>/dev/null
    rm -rf "$dir" "$tap_dir"
}
trap finish EXIT
export HOME=$dir KUBECONFIG=$dir/kubeconfig SW_KUBECTL_REAL=1

start() { # ARGS...: another cluster
    [ -z "$emulator" ] || { kill "$emulator"; wait "$emulator"; }
    rm -rf "$KUBECONFIG" "$dir/.kube"
    "$slipway" emulate --no-nodes --no-controllers --kubeconfig-out "$KUBECONFIG" "$@" \
        >"$dir/log" 2>&1 &
    emulator=$!
    for _ in $(seq 200); do
        [ ! -s "$dir/log" ] || break
        kill -0 "$emulator" 2>/dev/null || break
        sleep 0.05
    done
    [ -s "$KUBECONFIG" ] || { cat "$dir/log"; return 1; }
}

cat >"$dir/app.yaml" <<'YAML'
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: c, image: "nginx:1", ports: [{containerPort: 80, protocol: TCP}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {a: b}
---
apiVersion: v1
kind: Pod
metadata: {name: one}
spec: {nodeName: node1, containers: [{name: c, image: i}]}
YAML
cat >"$dir/crd.yaml" <<'YAML'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.ex.io}
spec:
  group: ex.io
  names: {plural: widgets, kind: Widget, shortNames: [wd]}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns: [{name: Color, type: string, jsonPath: .spec.color}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              color: {type: string, enum: [red, blue], description: What it is painted in}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
YAML
cat >"$dir/widget.yaml" <<'YAML'
apiVersion: ex.io/v1
kind: Widget
metadata: {name: w}
spec: {color: red}
YAML

says() { # TEXT COMMAND...: the command's output has the text
    local text=$1
    shift
    "$@" >"$dir/out" 2>&1
    grep -qF -- "$text" "$dir/out" || { cat "$dir/out"; return 1; }
}
refused() { # TEXT COMMAND...: it fails, saying the text
    local text=$1
    shift
    ! "$@" >"$dir/out" 2>&1 && grep -qF -- "$text" "$dir/out" || { cat "$dir/out"; return 1; }
}
watched() { # a change shows in a watch that was there before
    "$K" get configmaps -w --no-headers >"$dir/watch" 2>&1 &
    local pid=$!
    until_ok 10 grep -q settings "$dir/watch" && "$K" create configmap late --from-literal=a=1 &&
        until_ok 10 grep -q late "$dir/watch"
    local rc=$?
    kill $pid
    wait $pid 2>/dev/null
    return $rc
}
waited() { # for a condition that somebody sets meanwhile
    "$K" wait --for=condition=Ready pod/one --timeout=20s >"$dir/wait" 2>&1 &
    local pid=$!
    sleep 0.3
    curl -sf -X PATCH -H 'Content-Type: application/merge-patch+json' -o /dev/null \
        -d '{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}' \
        "$(head -n 1 "$dir/log")/api/v1/namespaces/default/pods/one/status" && wait $pid
}
conflict() {
    sed 's/replicas: 2/replicas: 3/' "$dir/app.yaml" >"$dir/other.yaml"
    refused 'conflict with "kubectl-client-side-apply" using apps/v1' \
        "$K" apply --server-side --field-manager=other -f "$dir/other.yaml"
}

battery() { # KUBECTL NAME
    K=$1
    t "$2: apply" says 'deployment.apps/web created' "$K" apply -f "$dir/app.yaml"
    t "$2: a dry run on the server" says 'deployment.apps/web configured (server dry run)' \
        bash -c "sed 's/replicas: 2/replicas: 7/' '$dir/app.yaml' | '$K' apply --dry-run=server -f -"
    t "$2: apply again" says 'deployment.apps/web unchanged' "$K" apply -f "$dir/app.yaml"
    t "$2: get" says 'web    0/2' "$K" get deployments
    t "$2: get -o wide" says 'nginx:1' "$K" get deploy web -o wide
    t "$2: get by short name, as YAML" says 'a: b' "$K" get cm settings -o yaml
    t "$2: get by label" says 'web' "$K" get deploy -l app=web
    t "$2: get in all namespaces" says 'kube-system' "$K" get serviceaccounts -A
    t "$2: describe" says 'nginx:1' "$K" describe deploy web
    t "$2: label" says 'labeled' "$K" label deploy web tier=front
    t "$2: annotate" says 'annotated' "$K" annotate deploy web note=x
    t "$2: patch" says 'patched' "$K" patch deploy web -p \
        '{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"nginx:2"}]}}}}'
    t "$2: set image" says 'image updated' "$K" set image deploy/web c=nginx:3
    t "$2: scale" says 'scaled' "$K" scale deploy web --replicas=2
    t "$2: apply a change" says 'configured' "$K" apply -f "$dir/app.yaml"
    t "$2: server-side apply is told of conflicts" conflict
    t "$2: create" says 'created' "$K" create configmap extra --from-literal=k=v
    t "$2: create twice" refused 'already exists' "$K" create configmap extra
    t "$2: get what is not there" refused 'configmaps "none" not found' "$K" get cm none
    t "$2: get -w" watched
    t "$2: wait" waited
    t "$2: get shows the pod" says 'Running' "$K" get pod one
    t "$2: logs" "$K" logs one
    t "$2: auth can-i" says 'yes' "$K" auth can-i create pods
    t "$2: apply a CRD" says 'created' "$K" apply -f "$dir/crd.yaml"
    t "$2: wait for it" says 'condition met' "$K" wait --for=condition=established \
        crd/widgets.ex.io --timeout=20s
    t "$2: a dry run of a custom resource" says 'widget.ex.io/w created (server dry run)' \
        "$K" create --dry-run=server -f "$dir/widget.yaml"
    t "$2: apply a custom resource" says 'widget.ex.io/w created' "$K" apply -f "$dir/widget.yaml"
    t "$2: get it with its columns" says 'red' "$K" get wd
    t "$2: a bad one is refused" refused 'spec.color: Unsupported value: "green"' \
        "$K" patch wd w --type=merge -p '{"spec":{"color":"green"}}'
    t "$2: delete what was applied" says 'deployment.apps "web" force deleted' \
        "$K" delete --grace-period=0 --force -f "$dir/app.yaml"
    t "$2: delete a CRD" says 'deleted' "$K" delete crd widgets.ex.io
    t "$2: create and delete a namespace" bash -c "'$K' create ns n && '$K' delete ns n"
}

newest=$(command -v kubectl)
if [ -n "$newest" ]; then
    start
    t "a cluster" test -s "$KUBECONFIG"
    battery "$newest" "kubectl"
    "$newest" apply -f "$dir/crd.yaml" >/dev/null 2>&1
    if "$newest" explain --help 2>/dev/null | grep -q plaintext-openapiv2; then
        t "kubectl: explain" until_ok 10 says 'What it is painted in' \
            "$newest" explain widget.spec.color
        sed 's/color: red/color: red, size: 3/' "$dir/widget.yaml" >"$dir/more.yaml"
        t "kubectl: unknown fields are refused" refused 'unknown field "spec.size"' \
            "$newest" apply -f "$dir/more.yaml"
    fi
else
    skip "kubectl" "there is none in PATH"
fi

old=build/debian-kubectl/usr/bin/kubectl
if [ ! -x $old ] && command -v apt-get >/dev/null; then
    mkdir -p build/debian-kubectl
    (cd build/debian-kubectl && timeout 60 apt-get download kubernetes-client &&
        dpkg -x kubernetes-client_*.deb .) >"$dir/apt" 2>&1
fi
if [ -x $old ]; then
    start --kube-version 1.20
    t "a cluster of 1.20" test -s "$KUBECONFIG"
    battery "$PWD/$old" "kubectl 1.20"
else
    skip "kubectl 1.20" "the package cannot be had"
fi
plan
