#!/bin/bash
# Slices on 500 nodes: the embedded cluster calls the real webhook, the real kube-scheduler asks the
# real extender. A Deployment's pods are rewritten, placed on slices that nobody else has, and what they
# held is free when they go.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh
. test/scheduler_steps.sh
trap steps_end EXIT
json_only=1
# programs without sanitizers: this is much for a small machine
scheduler=build/slipway-scheduler
slipway=${SLIPWAY_RELEASE:-build/slipway}
load=build/test/sched_load
[ -x "$kube_bin/kube-scheduler" ] || { skip "slices on 500 nodes" "no kube-scheduler in $kube_bin"; plan; }
command -v kubectl >/dev/null || { skip "slices on 500 nodes" "no kubectl"; plan; }

webhook() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=hook \
        -addext subjectAltName=DNS:das-operator-webhook.$ns.svc -keyout "$steps_dir/tls.key" -out "$steps_dir/tls.crt" 2>/dev/null
    build/slipway-webhook --listen=127.0.0.1 --port=0 --tlscert="$steps_dir/tls.crt" --tlskey="$steps_dir/tls.key" \
        --runtime-class= 2>"$steps_dir/webhook" &
    echo $! >"$steps_dir/webhook.pid"
    until_ok 20 grep -qs listening "$steps_dir/webhook" || return 1
    webhook_port=$(sed -n 's/.* port=\([0-9]*\).*/\1/p' "$steps_dir/webhook")
}

cluster() {
    "$slipway" emulate --no-nodes --kube-version 1.20 --platform kubernetes --kubeconfig-out "$steps_dir/kubeconfig" \
        --webhook-address "$ns/das-operator-webhook=127.0.0.1:$webhook_port" >"$steps_dir/emulator" 2>&1 &
    echo $! >"$steps_dir/emulator.pid"
    until_ok 30 [ -s "$steps_dir/kubeconfig" ] && export KUBECONFIG=$steps_dir/kubeconfig && kc create -f - <<YAML && kc apply -f states/scheduler/crds/ && until_ok 30 kc -n $ns get allocationclaims,nodeaccelerators
apiVersion: v1
kind: Namespace
metadata: {name: $ns}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: das-mutating-webhook-configuration}
webhooks:
- name: instaslice.redhat.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig:
    caBundle: $(base64 -w0 <"$steps_dir/tls.crt")
    service: {namespace: $ns, name: das-operator-webhook, path: /mutate-pod}
  rules: [{operations: [CREATE], apiGroups: [""], apiVersions: [v1], resources: [pods]}]
YAML
}

crowd() { # N
    kc apply -f - <<YAML
apiVersion: apps/v1
kind: Deployment
metadata: {name: crowd}
spec:
  replicas: $1
  selector: {matchLabels: {app: crowd}}
  template:
    metadata: {labels: {app: crowd}}
    spec:
      tolerations: [{operator: Exists}]
      containers: [{name: main, image: none, resources: {limits: {nvidia.com/mig-1g.5gb: 1}}}]
YAML
}
n_bound() { [ "$(kc get pods -l app=crowd -o 'jsonpath={range .items[?(@.spec.nodeName)]}{.spec.schedulerName} {.spec.containers[0].resources.limits.mig\.das\.com/1g\.5gb}{"\n"}{end}' | grep -c '^das-scheduler 1$')" = "$1" ]; }
created() { [ "$(kc -n $ns get allocationclaims -o 'jsonpath={range .items[*]}{.status.state}{"\n"}{end}' | grep -c '^created$')" = "$1" ]; }
overlapping() { # every node's GPUs have the same names here
    kc -n $ns get allocationclaims -o 'jsonpath={range .items[*]}{.spec.nodename}/{.spec.gpuUUID} {.spec.migPlacement.start}{"\n"}{end}' | sort | uniq -d | grep .
}
placed() {
    local began=$SECONDS
    crowd 60 && until_ok 180 n_bound 60 && created 60 && ! overlapping && echo "# 60 pods in $((SECONDS - began)) s"
}
freed() { kc delete deployment crowd && until_ok 120 n_claims 0; }
# One of the 500 has a device plugin: what it made is gone with the boot, its pods are made again.
rebooted() { . test/kubelet/run.sh reboot.py "$KUBECONFIG" node-00007; }

t "the webhook and the cluster of 500 nodes are there" eval 'webhook && cluster && "$load" nodes 500 2'
# t ran in a shell of its own
webhook_port=$(sed -n 's/.* port=\([0-9]*\).*/\1/p' "$steps_dir/webhook")
export KUBECONFIG=$steps_dir/kubeconfig
if start_extender && start_kube_scheduler; then
    t "a Deployment's pods are rewritten and placed, each on a slice of its own" placed
    t "what they held is free when they go" freed
    t "a node reboots: claims, CDI files, devices and pods agree afterwards" rebooted
else
    t "the scheduler starts" false
fi
[ $tap_bad = 0 ] || for f in webhook emulator kube-scheduler extender; do tail -n 20 "$steps_dir/$f" | sed 's/^/# /'; done
plan
