# scheduler_steps.sh: sourced by the tests that run the real kube-scheduler with slipway's extender
# against an API server (the emulator's, a real one). KUBECONFIG names the server.
steps_dir=$(mktemp -d)
scheduler=${SLIPWAY_SCHEDULER:-build/test/slipway-scheduler}
kube_bin=${KUBEBUILDER_ASSETS:-${SLIPWAY_CACHE:-$HOME/.cache/slipway}/bin}
ns=das-operator

steps_end() {
    local p
    for p in "$steps_dir"/*.pid; do kill "$(cat "$p")" 2>/dev/null; done
    wait
    rm -rf "$steps_dir" "$tap_dir"
}

kc() { kubectl "$@"; }

# node NAME GPUS: a node with A100s that nobody runs on
node() {
    local uuids="" i
    for ((i = 0; i < $2; i++)); do uuids="$uuids${uuids:+,}{\"gpuUuid\":\"GPU-$1-$i\"}"; done
    kc apply -f - <<YAML || return 1
apiVersion: v1
kind: Node
metadata: {name: $1, labels: {nvidia.com/mig.capable: "true", kubernetes.io/hostname: $1}}
---
apiVersion: inference.redhat.com/v1alpha1
kind: NodeAccelerator
metadata: {name: $1, namespace: $ns}
spec: {acceleratorType: nvidia-mig}
YAML
    local devices='"cpu":"64","memory":"256Gi","pods":"250","mig.das.com/1g.5gb":"14","mig.das.com/3g.20gb":"4","mig.das.com/7g.40gb":"9"'
    patch_status "/api/v1/nodes/$1/status" "{\"status\":{\"capacity\":{$devices},\"allocatable\":{$devices},
        \"conditions\":[{\"type\":\"Ready\",\"status\":\"True\",\"reason\":\"Test\"}]}}" &&
        patch_status "/apis/inference.redhat.com/v1alpha1/namespaces/$ns/nodeaccelerators/$1/status" \
            "{\"status\":{\"nodeResources\":{\"nodeGpus\":[$uuids],\"migPlacement\":$placements}}}"
}

placements='{"1g.5gb":{"placements":[{"size":1,"start":0},{"size":1,"start":1},{"size":1,"start":2},{"size":1,"start":3},{"size":1,"start":4},{"size":1,"start":5},{"size":1,"start":6}]},"3g.20gb":{"placements":[{"size":4,"start":0},{"size":4,"start":4}]},"7g.40gb":{"placements":[{"size":8,"start":0}]}}'

# The status of an object: kubectl of 1.20 cannot patch a subresource, a proxy can.
patch_status() { # PATH JSON
    curl -sf -X PATCH -H 'Content-Type: application/merge-patch+json' -d "$2" "$api$1" >/dev/null
}

# pod NAME LIMITS [MORE]: a pod of das-scheduler
pod() {
    kc apply -f - <<YAML >/dev/null
apiVersion: v1
kind: Pod
metadata: {name: $1, namespace: default}
spec:
  schedulerName: das-scheduler
  terminationGracePeriodSeconds: 0
  tolerations: [{operator: Exists}]
  containers: [{name: main, image: none, resources: {limits: {$2}}}]
  ${3:-}
YAML
}

bound() { [ -n "$(kc get pod "$1" -o 'jsonpath={.spec.nodeName}' 2>/dev/null)" ]; }
all_bound() { local p; for p in "$@"; do bound "$p" || return 1; done; }
claims() { kc -n $ns get allocationclaims -o name 2>/dev/null | wc -l; }
n_claims() { [ "$(claims)" = "$1" ]; }
unschedulable() { [ "$(kc get pod "$1" -o 'jsonpath={.status.conditions[?(@.type=="PodScheduled")].reason}' 2>/dev/null)" = Unschedulable ]; }
pod_gone() { ! kc get pod "$1" >/dev/null 2>&1; }
gone() { kc delete pod "$@" --force --grace-period=0 --wait=true >/dev/null 2>&1; }
claim_of() { kc -n $ns get allocationclaims -l "slipway.dev/pod-uid=$(kc get pod "$1" -o 'jsonpath={.metadata.uid}')" -o "$2"; }

# steps_emulator WHAT: the embedded cluster as 1.20, where kube-scheduler and kubectl are; else WHAT is skipped
steps_emulator() {
    local slipway=${SLIPWAY_RELEASE:-build/slipway}
    json_only=1
    [ -x "$kube_bin/kube-scheduler" ] || { skip "$1" "no kube-scheduler in $kube_bin"; plan; }
    command -v kubectl >/dev/null || { skip "$1" "no kubectl"; plan; }
    "$slipway" emulate --nodes 2 --kube-version 1.20 --platform kubernetes --kubeconfig-out "$steps_dir/kubeconfig" >"$steps_dir/emulator" 2>&1 &
    echo $! >"$steps_dir/emulator.pid"
    until_ok 30 [ -s "$steps_dir/kubeconfig" ]
    export KUBECONFIG=$steps_dir/kubeconfig
}

steps_proxy() {
    kubectl proxy --port=0 >"$steps_dir/proxy" 2>&1 &
    echo $! >"$steps_dir/proxy.pid"
    until_ok 30 grep -q 'Starting to serve on' "$steps_dir/proxy" || return 1
    api=http://$(sed -n 's/.*Starting to serve on //p' "$steps_dir/proxy")
}

start_extender() { # [FLAG]...
    rm -f "$steps_dir/extender" # the one before says that it listens, too
    KUBECONFIG=${extender_kubeconfig:-$KUBECONFIG} "$scheduler" --namespace=$ns --leader-elect \
        --leader-elect-namespace=$ns --port="${extender_port:-0}" --health-probe-bind-address=127.0.0.1:0 --metrics-bind-address=127.0.0.1:0 \
        --metrics-secure=false "$@" \
        2>"$steps_dir/extender" &
    echo $! >"$steps_dir/extender.pid"
    until_ok 30 grep -qs listening "$steps_dir/extender" || { cat "$steps_dir/extender"; return 1; }
    extender_port=$(sed -n 's/.*listening.* port=\([0-9]*\).*/\1/p' "$steps_dir/extender")
    extender_metrics=$(sed -n 's/.*listening.* metrics=\([0-9]*\).*/\1/p' "$steps_dir/extender")
    until_ok 30 curl -sf "http://127.0.0.1:$extender_port/readyz" || { cat "$steps_dir/extender"; return 1; }
}

start_kube_scheduler() {
    local release port no_port=""
    release=$("$kube_bin/kube-scheduler" --version | sed 's/.* v\([0-9]*\.[0-9]*\).*/\1/')
    "$scheduler" --print-config --kube-version "$release" --port "$extender_port" --kubeconfig "$KUBECONFIG" \
        >"$steps_dir/config.yaml" || return 1
    # several may run at once, and 1.20 takes neither no port in its configuration nor 0
    if "$kube_bin/kube-scheduler" --help | awk '/^ +--port /{ found = 1 } END { exit !found }'; then # before 1.24
        no_port="--port 0"
        port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
        printf 'healthzBindAddress: 127.0.0.1:%s\nmetricsBindAddress: 127.0.0.1:%s\n' "$port" "$port" >>"$steps_dir/config.yaml"
    fi
    # the emulator takes no protobuf
    [ -z "${json_only:-}" ] || sed -i 's|^clientConnection:|&\n  contentType: application/json\n  acceptContentTypes: application/json|' \
        "$steps_dir/config.yaml"
    # shellcheck disable=SC2086
    "$kube_bin/kube-scheduler" --config "$steps_dir/config.yaml" $no_port --secure-port 0 \
        --v="${KUBE_SCHEDULER_V:-2}" >"$steps_dir/kube-scheduler" 2>&1 &
    echo $! >"$steps_dir/kube-scheduler.pid"
    sleep 1
    kill -0 "$(cat "$steps_dir/kube-scheduler.pid")" || { tail -5 "$steps_dir/kube-scheduler"; return 1; }
}

steps_prepare() {
    steps_proxy || return 1
    printf 'apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n' $ns | kc apply -f - || return 1
    kc apply -f states/scheduler/crds/ || return 1
    until_ok 30 kc -n $ns get allocationclaims,nodeaccelerators || return 1
    until_ok 30 node mig-a 1 && node mig-b 1
}

# ---- the steps ------------------------------------------------------------------------------------
one_slice() {
    pod one 'mig.das.com/1g.5gb: 1' && until_ok 20 bound one && claim_of one name && n_claims 1 &&
        [ "$(claim_of one 'jsonpath={.items[0].status.state}')" = created ]
}

gang() {
    pod gang 'mig.das.com/1g.5gb: 1, mig.das.com/3g.20gb: 1' && until_ok 20 bound gang && n_claims 3
}

no_slice() { pod plain 'cpu: 10m' && until_ok 20 bound plain && gone plain; }

packed() { # the small ones share a GPU, so that a whole one is left
    pod whole 'mig.das.com/7g.40gb: 1' && until_ok 20 bound whole &&
        [ "$(kc get pod one -o 'jsonpath={.spec.nodeName}')" = "$(kc get pod gang -o 'jsonpath={.spec.nodeName}')" ]
}

said() {
    kc get pod "$1" -o 'jsonpath={.status.conditions[?(@.type=="PodScheduled")].message}' >"$steps_dir/message"
    grep 'mig-a: room for 0 of 1 x 7g.40gb' "$steps_dir/message" && grep 'mig-b: room for 0 of 1 x 7g.40gb' "$steps_dir/message"
}

too_many() {
    pod late 'mig.das.com/7g.40gb: 1' && until_ok 20 said late || { cat "$steps_dir/message"; return 1; }
}

# As the device plugin does it: the slice is gone, then its claim. Prints the time it took.
waiting_pod_is_bound() {
    local claim begin
    claim=$(claim_of whole name)
    kc -n $ns patch "$claim" --type merge -p '{"status":{"state":"inUse"}}' >/dev/null
    patch_status "/apis/inference.redhat.com/v1alpha1/namespaces/$ns/${claim/.inference.redhat.com/s}/status" '{"status":{"state":"inUse"}}'
    gone whole
    sleep 3
    ! bound late || return 1 # the slice is still there
    begin=$(date +%s%N)
    kc -n $ns delete "$claim" >/dev/null
    until_ok 20 bound late || return 1
    echo "$((($(date +%s%N) - begin) / 1000000))" >"$steps_dir/latency"
}

# Of 1.20 the preemption is off (src/slicing/scheduler/config.c says why): an important pod waits, and
# nothing falls over.
important_pod_waits() {
    printf 'apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: urgent}\nvalue: 1000\n' |
        kc apply -f - || return 1
    pod urgent 'mig.das.com/7g.40gb: 1' 'priorityClassName: urgent' && until_ok 20 said urgent &&
        kill -0 "$(cat "$steps_dir/kube-scheduler.pid")" && bound late && gone urgent
}

restarted() {
    kill -9 "$(cat "$steps_dir/extender.pid")"
    until_ok 10 ended "$(cat "$steps_dir/extender.pid")"
    local before
    before=$(claims)
    start_extender && pod after 'mig.das.com/1g.5gb: 1' && until_ok 20 bound after && n_claims $((before + 1)) &&
        ! overlapping
}

overlapping() {
    kc -n $ns get allocationclaims -o 'jsonpath={range .items[*]}{.spec.gpuUUID} {.spec.migPlacement.start} {.spec.migPlacement.size}{"\n"}{end}' |
        awk '{ for (i = $2; i < $2 + $3; i++) if (seen[$1, i]++) { print "twice: " $1, i; bad = 1 } } END { exit !bad }'
}

collected() { gone one gang late after && until_ok 30 n_claims 0; }

# Of 250 nodes kube-scheduler asks about 100: the one with a GPU is the last of them. Without a hint it
# would look again a minute later; and so it would for the pod that waits until the first one has gone.
big_cluster() {
    local i status
    status='{"capacity":{"cpu":"64","memory":"256Gi","pods":"250","mig.das.com/7g.40gb":"1"},"allocatable":{"cpu":"64","memory":"256Gi","pods":"250","mig.das.com/7g.40gb":"1"},"conditions":[{"type":"Ready","status":"True","reason":"Test"}]}'
    kc delete node mig-a mig-b >/dev/null
    for ((i = 100; i < 350; i++)); do
        printf '{"apiVersion":"v1","kind":"Node","metadata":{"name":"n-%s"},"status":%s}\n' $i "$status"
    done >"$steps_dir/nodes"
    kc create -f "$steps_dir/nodes" >/dev/null && node z 1 && kc get nodes -o name | wc -l &&
        pod far 'mig.das.com/7g.40gb: 1' && until_ok 10 bound far && pod next 'mig.das.com/7g.40gb: 1' && until_ok 10 unschedulable next &&
        gone far && until_ok 10 bound next && gone next && kc delete node z >/dev/null && kc delete -f "$steps_dir/nodes" --wait=false >/dev/null
}

ended() { ! kill -0 "$1" 2>/dev/null; }

stops() {
    kill -TERM "$(cat "$steps_dir/extender.pid")" && until_ok 10 ended "$(cat "$steps_dir/extender.pid")" &&
        ! grep -q ERROR "$steps_dir/extender"
}

scheduler_steps() {
    t "a slice for one pod" one_slice
    t "slices of two profiles in one container" gang
    t "a pod without slices passes" no_slice
    t "small slices share a GPU" packed
    t "the pod's message says which profile is missing where" too_many
    t "a waiting pod is bound when a claim goes" waiting_pod_is_bound
    [ ! -f "$steps_dir/latency" ] || echo "# from the claim's deletion until bound: $(cat "$steps_dir/latency") ms"
    t "a more important pod waits without harm" important_pod_waits
    t "killed and started again it knows what is taken" restarted
    t "claims of pods that are gone are collected" collected
    t "room on a node that was not asked about is found" big_cluster
    [ -z "${extender_kubeconfig:-}" ] || t "nothing was refused to its service account" nothing_refused
    t "it ends on SIGTERM" stops
}
