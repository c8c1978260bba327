#!/bin/bash
# slipway-scheduler as a program: flags, what it says, how it ends.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh
program=build/test/slipway-scheduler
dir=$(mktemp -d)
trap 'rm -rf "$dir" "$tap_dir"' EXIT
# a server that nobody is
cat >"$dir/kubeconfig" <<YAML
apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: u, user: {}}]
YAML

help() { $program --help >"$dir/out" && grep -q -- '--leader-elect ' "$dir/out" && [ "$(wc -l <"$dir/out")" -gt 20 ]; }
short_help() { $program -h | cmp - "$dir/out"; }
version() { $program --version | grep -q '^slipway-scheduler .'; }
wrong() { # STATUS WORDS FLAG...
    local status=$1 words=$2 rc=0
    shift 2
    $program "$@" 2>"$dir/err" >/dev/null || rc=$?
    cat "$dir/err"
    [ $rc = "$status" ] && grep -q -- "$words" "$dir/err"
}
start() {
    rm -f "$dir/log" # the one before says that it listens, too
    KUBECONFIG=$dir/kubeconfig $program --port=0 --health-probe-bind-address=127.0.0.1:0 --metrics-bind-address=127.0.0.1:0 --metrics-secure=false "$@" 2>"$dir/log" &
    echo $! >"$dir/pid"
    until_ok 20 grep -qs listening "$dir/log"
}
port_of() { sed -n "s/.*listening.* $1=\([0-9]*\).*/\1/p" "$dir/log"; }
end() { kill -TERM "$(cat "$dir/pid")" && wait "$(cat "$dir/pid")" || { cat "$dir/log"; return 1; }; }
without_server() {
    start || return 1
    local url=http://127.0.0.1:$(port_of port)
    [ "$(curl -s -o "$dir/out" -w '%{http_code}' "$url/readyz")" = 503 ] &&
        [ "$(curl -s "http://127.0.0.1:$(port_of health)/healthz")" = ok ] &&
        curl -s "http://127.0.0.1:$(port_of metrics)/metrics" | grep -q '^slipway_scheduler_bound_total 0$' &&
        curl -s -d '{}' "$url/filter" | grep -q '"Error":"slipway-scheduler: ' &&
        [ "$(curl -s -o "$dir/out" -w '%{http_code}' -d '{}' "http://127.0.0.1:$(port_of health)/filter")" = 404 ]
    local rc=$?
    end && [ $rc = 0 ]
}
# each metric with its type and words is in the chart's list, from which the documentation is made
metrics_are_listed() {
    start || return 1
    curl -s "http://127.0.0.1:$(port_of metrics)/metrics" >"$dir/metrics"
    end
    awk '/^# HELP/ { h[$3] = substr($0, index($0, $4)) } /^# TYPE/ { print $3 " " $4 " " h[$3] }' "$dir/metrics" | sort >"$dir/said"
    grep 'program: slipway-scheduler,' charts/slipway/files/metrics.yaml |
        sed -E 's/^- \{name: ([a-z_]+), .*type: ([a-z]+), .*help: "?([^"}]*)"?\}/\1 \2 \3/' | sort | diff "$dir/said" -
}
tls() {
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
        -keyout "$dir/key" -out "$dir/cert" 2>/dev/null
    start --tls --tlscert="$dir/cert" --tlskey="$dir/key" --tls-min-version=VersionTLS13 || return 1
    local url rc
    url=https://localhost:$(port_of port)
    curl -s --cacert "$dir/cert" "$url/healthz" | grep -q ok && ! curl -s --cacert "$dir/cert" --tls-max 1.2 "$url/healthz"
    rc=$?
    end && [ $rc = 0 ]
}

# A node's GPUs are those of the NodeAccelerator in the namespace of the flag, of the environment, or das-operator.
cluster() {
    local slipway=${SLIPWAY_RELEASE:-build/slipway} url ns
    "$slipway" emulate --no-nodes --no-controllers --kubeconfig-out "$dir/served" >"$dir/emulator" 2>&1 &
    echo $! >"$dir/emulator.pid"
    until_ok 30 grep -qs server: "$dir/served" && kubectl --kubeconfig "$dir/served" create -f states/scheduler/crds || return 1
    url=$(sed -n 's/.*server: "*\([^" ]*\).*/\1/p' "$dir/served")
    for ns in das-operator from-env from-flag; do
        printf 'apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n---\napiVersion: v1\nkind: Node\nmetadata: {name: of-%s, labels: {nvidia.com/mig.capable: "true"}}\n---\napiVersion: inference.redhat.com/v1alpha1\nkind: NodeAccelerator\nmetadata: {name: of-%s, namespace: %s}\nspec: {acceleratorType: nvidia-mig}\n' $ns $ns $ns $ns |
            kubectl --kubeconfig "$dir/served" create -f - && curl -sf -X PATCH -H 'Content-Type: application/merge-patch+json' \
            -d '{"status":{"nodeResources":{"nodeGpus":[{"gpuUuid":"GPU-0"}],"migPlacement":{"7g.40gb":{"placements":[{"start":0,"size":8}]}}}}}' \
            "$url/apis/inference.redhat.com/v1alpha1/namespaces/$ns/nodeaccelerators/of-$ns/status" || return 1
    done
}
placed_by() { # NAMESPACE ENV FLAG...
    local want=$1 rc
    shift
    rm -f "$dir/log"
    KUBECONFIG=$dir/served env "$1" $program --port=0 --health-probe-bind-address=127.0.0.1:0 "${@:2}" 2>"$dir/log" &
    echo $! >"$dir/pid"
    until_ok 20 grep -qs listening "$dir/log" && until_ok 20 curl -sf "http://127.0.0.1:$(port_of port)/readyz" >/dev/null || return 1
    curl -s -d '{"Pod":{"metadata":{"name":"p","uid":"u"},"spec":{"containers":[{"name":"c","resources":{"limits":{"mig.das.com/7g.40gb":"1"}}}]}},"NodeNames":["of-das-operator","of-from-env","of-from-flag"]}' \
        "http://127.0.0.1:$(port_of port)/filter" | tee "$dir/out" | grep -q "\"NodeNames\":\[\"of-$want\"\]"
    rc=$?
    end && cat "$dir/out" && return $rc
}
namespaces() {
    # as DAS starts its own
    cat >"$dir/config.yaml" <<'YAML'
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- {schedulerName: default-scheduler}
- schedulerName: das-scheduler
  plugins: {multiPoint: {enabled: [{name: MigAccelerator}]}}
  pluginConfig: [{name: MigAccelerator, args: {namespace: from-flag}}]
YAML
    cluster && placed_by from-flag INSTASLICE_NAMESPACE=from-env --config="$dir/config.yaml" && placed_by from-env -uX --config="$dir/config.yaml" --namespace=from-env && placed_by das-operator -uINSTASLICE_NAMESPACE && placed_by from-env INSTASLICE_NAMESPACE=from-env &&
        placed_by from-flag INSTASLICE_NAMESPACE=from-env --namespace=from-flag
    local rc=$?
    kill "$(cat "$dir/emulator.pid")"
    return $rc
}

t "--help" help
t "-h" short_help
t "--version" version
t "an unknown flag" wrong 2 "unknown option '--nonsense'" --nonsense
t "a flag without its value" wrong 2 "option '--namespace' needs a value" --namespace
t "a placement that is none" wrong 2 "--placement: 'tight' is no policy" --placement=tight
t "a configuration that is not there" wrong 2 "--config: .*$dir/none" --config="$dir/none"
t "no namespace" wrong 2 "--namespace is empty" --namespace= --port=0
t "a level that is none" wrong 2 "--log-level: 'loud'" --log-level=loud
t "an address that is none" wrong 2 "is no address" --kubeconfig="$dir/kubeconfig" --port=0 --health-probe-bind-address=here
t "a kubeconfig that is not there" wrong 1 "$dir/none" --kubeconfig="$dir/none"
t "TLS without a certificate" wrong 2 'TLS needs a certificate' --kubeconfig="$dir/kubeconfig" --tls --port=0
t "without an API server it lives, and is not ready" without_server
t "its metrics are those of the list" metrics_are_listed
t "the extender by HTTPS" tls
if command -v kubectl >/dev/null; then t "the namespace: flag, environment, das-operator" namespaces; else skip "the namespace" "no kubectl"; fi
plan
