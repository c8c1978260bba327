#!/bin/bash
# bench-scheduler.sh: pods a second of the real kube-scheduler with slipway's extender, on a real API
# server with nodes that nobody runs on; beside it, in the same run, the same kube-scheduler without an
# extender, as it comes but for its client's limit, the API server's plain write rate, and how fast one
# simple client writes what a pod with a slice needs (claim, its mark, Binding, Event) when nobody decides
# anything: more than that the server does not give. All that is done REPEAT times, in turns, upwards and
# downwards, each time on a new cluster, and medians are printed, as machines have better minutes and worse,
# and tire: one JSON object a line. NODES="10 100 500" PODS=1000 REPEAT=4 BIG=5000 choose; fewer pods are
# gone before kube-scheduler and API server have got over their start. hack/bench.sh runs it where
# cluster.sh has built a kube-scheduler.
set -eu
cd "$(dirname "$0")/.."
. hack/bench-cluster.sh
export SLIPWAY_APISERVER_ARGS=--audit-log-path= # as it comes: it is not told to keep a log
load=build/test/sched_load pods=${PODS:-1000} repeat=${REPEAT:-4}
release=$("$bin/kube-scheduler" --version | sed 's/.* v\([0-9]*\.[0-9]*\).*/\1/') no_port=
"$bin/kube-scheduler" --help | awk '/^ +--port /{ found = 1 } END { exit !found }' && no_port="--port 0" # before 1.24

cluster() {
    bench_cluster
    printf 'apiVersion: v1\nkind: Namespace\nmetadata: {name: das-operator}\n' | kubectl apply -f - >/dev/null
    kubectl apply -f states/scheduler/crds >/dev/null
    sleep 2
    # it would find out that nobody runs on the nodes
    kill "$(cat "$SLIPWAY_CLUSTER_DIR/pid/kube-controller-manager")"
}

extender() {
    rm -f "$dir/extender"
    KUBECONFIG=$deployed build/slipway-scheduler --port=0 --health-probe-bind-address=0 --metrics-bind-address=127.0.0.1:0 --metrics-secure=false 2>"$dir/extender" &
    extender=$!
    pids="$pids $extender"
    until grep -qs listening "$dir/extender"; do sleep 0.1; done
    port=$(sed -n 's/.*listening.* port=\([0-9]*\).*/\1/p' "$dir/extender")
    metrics=$(sed -n 's/.*listening.* metrics=\([0-9]*\).*/\1/p' "$dir/extender")
    until curl -sf "http://127.0.0.1:$port/readyz" >/dev/null; do sleep 0.1; done
}

# One kube-scheduler over the pods of NAME; prints pods a second
schedule() { # NAME CONFIG
    "$load" bound "$pods" "$1" >"$dir/rate" &
    local wait=$! scheduler
    sleep 1
    # shellcheck disable=SC2086
    "$bin/kube-scheduler" --config "$2" $no_port --secure-port 0 2>"$dir/kube-scheduler" &
    scheduler=$!
    pids="$pids $scheduler"
    wait $wait
    awk '{ print ($14 + $15) * 10000 }' "/proc/$scheduler/stat" >"$dir/scheduler_us"
    kill $scheduler
    wait $scheduler 2>/dev/null || true
    cat "$dir/rate"
}

# CPU seconds that API server and etcd have used
server_cpu() {
    local p t=0
    for p in kube-apiserver etcd; do
        t=$((t + $(awk '{ print $14 + $15 }' "/proc/$(cat "$SLIPWAY_CLUSTER_DIR/pid/$p")/stat")))
    done
    echo "$t"
}
writes() { curl -s "http://127.0.0.1:$metrics/metrics" | awk '/^slipway_scheduler_requests_total/ && !/verb="(get|list|watch)"/ { n += $2 } END { print n + 0 }'; }
cpu_ns() { cut -d ' ' -f 1 "/proc/$extender/schedstat"; }
rss() { awk '/VmHWM/ { print $2 }' "/proc/$1/status"; }

# All that is measured, once each, one after the other; a line of figures
once() {
    local plain stock rate w ceiling cpu0 cpu1 cpu2 cpu3 cpu4 cpu5 cpu6 own kube memory
    extender
    build/slipway-scheduler --print-config --kube-version "$release" --port "$port" --kubeconfig "$deployed" >"$dir/with.yaml"
    sed '/^extenders:/,$d; /^percentageOfNodesToScore:/d; /^# a profile/d; /^enable.*Profiling:/d; s/schedulerName: .*/schedulerName: stock/' "$dir/with.yaml" >"$dir/without.yaml"
    "$load" pods "$pods" stock - >/dev/null
    cpu0=$(server_cpu)
    stock=$(schedule stock "$dir/without.yaml")
    cpu1=$(server_cpu)
    "$load" clear stock >/dev/null
    "$load" pods "$pods" das-scheduler mig.das.com/1g.5gb >/dev/null
    cpu2=$(server_cpu)
    own=$(cpu_ns)
    rate=$(schedule das-scheduler "$dir/with.yaml")
    kube=$(cat "$dir/scheduler_us")
    cpu3=$(server_cpu)
    own=$(($(cpu_ns) - own))
    w=$(writes)
    memory=$(rss $extender)
    show
    kill $extender # it would collect the claims that have no pod
    plain=$("$load" writes 2000)
    cpu4=$(server_cpu)
    "$load" clear das-scheduler >/dev/null
    "$load" pods "$pods" ceiling mig.das.com/1g.5gb >/dev/null
    cpu5=$(server_cpu)
    ceiling=$(KUBECONFIG=$deployed "$load" ceiling "$pods" ceiling)
    cpu6=$(server_cpu)
    "$load" clear ceiling >/dev/null
    awk -v p="$pods" "BEGIN { print $rate, $stock, $plain, $ceiling, $w / p, ($cpu3 - $cpu2) * 10 / p, ($cpu1 - $cpu0) * 10 / p,
        ($cpu4 - $cpu3) * 10 / 2000, ($cpu6 - $cpu5) * 10 / p, $kube / 1000 / p, $own / 1e6 / p, $memory }"
}

measure() { # NODES
    cluster
    "$load" nodes "$1" 16 # ten of them have room for 1,120 slices
    once >>"$dir/runs-$1"
}

tell() { # NODES
    local column figures=()
    for column in $(seq 12); do figures+=("$(median "$1" "$column")"); done
    printf '%s %s %s\n' "$1" "$pods" "${figures[*]}" | awk -v repeat="$repeat" '{
        n = $1; r = $3; s = $4; pl = $5; c = $6
        target = s / 4 < 0.7 * pl / 4 ? s / 4 : 0.7 * pl / 4
        peer = n == 10 ? "1.6" : n == 100 ? "0.13" : "null"
        peer_writes = n == 10 ? "25" : n == 100 ? "302" : "null"
        printf "{\"bench\":\"scheduler\",\"nodes\":%d,\"pods\":%d,\"repeat\":%d,\"pods_per_s\":%.1f,\"stock_pods_per_s\":%.1f,\"plain_writes_per_s\":%.1f,\"target_pods_per_s\":%.1f,\"ceiling_pods_per_s\":%.1f,\"of_ceiling\":%.2f,\"writes_per_pod\":%.2f,\"target_writes_per_pod\":2,\"server_cpu_ms_per_pod\":%.2f,\"stock_server_cpu_ms_per_pod\":%.2f,\"server_cpu_ms_per_plain_write\":%.2f,\"ceiling_server_cpu_ms_per_pod\":%.2f,\"kube_scheduler_cpu_ms_per_pod\":%.2f,\"extender_cpu_ms_per_pod\":%.2f,\"rss_kib\":%d,\"das_pods_per_s\":%s,\"das_writes_per_pod\":%s}\n", n, $2, repeat, r, s, pl, target, c, r / c, $7, $8, $9, $10, $11, $12, $13, $14, peer, peer_writes }'
}

show() {
    [ -n "${SHOW:-}" ] || return 0
    curl -s "http://127.0.0.1:$metrics/metrics" | grep -E "answer_seconds_(sum|count)|fail|undone" >&2
    ps -o time= -p "$extender" >&2
}

big() { # NODES
    cluster
    "$load" nodes "$1" 8
    extender
    local took cpu0 cpu1
    cpu0=$(cpu_ns)
    took=$("$load" filter "$1" 500 "http://127.0.0.1:$port")
    cpu1=$(cpu_ns)
    printf '{"bench":"scheduler-filter","nodes":%d,"gpus_per_node":8,"p50_ms":%s,"p99_ms":%s,"target_p99_ms":5,"cpu_ms":%s,"rss_kib":%d,"target_rss_kib":32768}\n' \
        "$1" ${took% *} ${took#* } "$(awk -v d=$((cpu1 - cpu0)) 'BEGIN { printf "%.2f", d / 1e6 / 500 }')" "$(rss $extender)"
    show
    kill $extender
}

# shellcheck disable=SC2086
in_turns ${NODES-10 100 500}
[ "${BIG:-5000}" = 0 ] || big "${BIG:-5000}"
