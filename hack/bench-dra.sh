#!/bin/bash
# bench-dra.sh: a stock kube-scheduler over ResourceSlices as slipway-device-plugin publishes them, on a real
# API server with nodes that nobody runs on: pods a second at NODES, beside pods that ask for no device, in the
# same run; writes a pod; CPU; and the time from a slice that gets free to the pod that waits for it. REPEAT
# times in turns, each on a new cluster; medians, one JSON object a line. NODES="10 100" PODS=400 REPEAT=3
# choose; without PODS there are fewer where kube-scheduler 1.36 takes seconds for each (500 nodes: a minute).
# hack/bench.sh runs it where KUBEBUILDER_ASSETS has a Kubernetes that places slices (1.36).
set -eu
cd "$(dirname "$0")/.."
. hack/bench-cluster.sh
"$bin/kube-scheduler" --version | grep -qE 'v1\.(3[6-9]|[4-9][0-9])\.' || { echo "bench-dra: $("$bin/kube-scheduler" --version) places no slices" >&2; exit 0; }
export SLIPWAY_APISERVER_ARGS=--audit-log-path= # as it comes: it is not told to keep a log
export SLIPWAY_KCM_ARGS="--controllers=*,-node-lifecycle-controller" # it would find out that nobody runs on the nodes
load=build/test/sched_load pods=400 repeat=${REPEAT:-3} version=$("$bin/kube-scheduler" --version)

cluster() { # NODES GPUS
    bench_cluster
    printf 'apiVersion: v1\nkind: Namespace\nmetadata: {name: das-operator}\n' | kubectl apply -f - >/dev/null
    kubectl apply -f states/scheduler/crds >/dev/null
    sleep 2
    "$load" nodes "$1" 16
    build/test/dra_load slices "$1" "$2" | kubectl create -f - >/dev/null
    cat >"$dir/scheduler.yaml" <<YAML
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
clientConnection: {kubeconfig: $deployed, qps: 5000, burst: 5000}
profiles: [{schedulerName: plain}, {schedulerName: slices}, {schedulerName: default-scheduler}]
YAML
}
scheduler() {
    "$bin/kube-scheduler" --config "$dir/scheduler.yaml" --secure-port 0 2>"$dir/kube-scheduler" &
    scheduler=$!
    pids="$pids $scheduler"
}
end_scheduler() {
    kill "$scheduler"
    wait "$scheduler" 2>/dev/null || true
}
cpu_us() { awk '{ print ($14 + $15) * 10000 }' "/proc/$1/stat"; }
# Writes of pods, Events and claims so far, whoever made them
writes() {
    kubectl get --raw /metrics | awk '/^apiserver_request_total/ && /verb="(POST|PUT|PATCH|DELETE|APPLY)"/ && /resource="(pods|events|resourceclaims)"/ { n += $2 } END { print n + 0 }'
}

# Pods a second, writes a pod, CPU of kube-scheduler (ms a pod), its memory (KiB)
schedule() { # PODS NAME RESOURCE
    local pods=$1 before wait cpu
    shift
    "$load" pods "$pods" "$1" "$2" >/dev/null
    before=$(writes)
    timeout 900 "$load" bound "$pods" "$1" >"$dir/rate" &
    wait=$!
    sleep 1
    scheduler
    wait $wait
    cpu=$(cpu_us "$scheduler")
    sleep 2 # Events
    awk -v b="$before" -v a="$(writes)" -v c="$cpu" -v p="$pods" -v r="$(cat "$dir/rate")" \
        -v m="$(awk '/VmHWM/ { print $2 }' "/proc/$scheduler/status")" 'BEGIN { printf "%s %.2f %.2f %d ", r, (a - b) / p, c / 1000 / p, m }'
    end_scheduler
    "$load" clear "$1" >/dev/null
}
choose_pods() { # NODES
    case $1 in
    ?|??) pods=${PODS:-400} ;;
    1??) pods=${PODS:-100} ;;
    *) pods=${PODS:-6} ;;
    esac
}
measure() { # NODES
    choose_pods "$1"
    cluster "$1" 8
    { schedule $((pods > 100 ? pods : 100)) plain - && schedule "$pods" slices nvidia.com/mig-1g.5gb && echo; } >>"$dir/runs-$1"
}
freed() {
    cluster 1 1
    scheduler
    build/test/dra_load freed 10 slices nvidia.com/mig-1g.5gb >"$dir/freed"
    end_scheduler
    awk '{ printf "{\"bench\":\"dra-freed\",\"n\":10,\"p50_ms\":%d,\"max_ms\":%d}\n", $1, $2 }' "$dir/freed"
}
tell() { # NODES
    local column figures=()
    choose_pods "$1"
    for column in $(seq 8); do figures+=("$(median "$1" "$column")"); done
    printf '%s %s %s %s\n' "$1" "$pods" "$repeat" "${figures[*]}" | awk -v version="${version#Kubernetes }" '{
        printf "{\"bench\":\"dra-scheduler\",\"kube_scheduler\":\"%s\",\"nodes\":%d,\"gpus_per_node\":8,\"pods\":%d,\"repeat\":%d,\"pods_per_s\":%.3g,\"writes_per_pod\":%.2f,\"kube_scheduler_cpu_ms_per_pod\":%.2f,\"kube_scheduler_rss_kib\":%d,\"plain_pods_per_s\":%.1f,\"plain_writes_per_pod\":%.2f,\"plain_kube_scheduler_cpu_ms_per_pod\":%.2f,\"plain_kube_scheduler_rss_kib\":%d}\n", version, $1, $2, $3, $8, $9, $10, $11, $4, $5, $6, $7 }'
}

freed
# shellcheck disable=SC2086
in_turns ${NODES-10 100}
