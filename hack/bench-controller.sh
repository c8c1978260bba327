#!/bin/bash
# bench-controller.sh: the controller against a real API server, from the server's audit log: how long it
# takes from what opens a state's gate to the first object of the next state, and what
# build/bench/scale measures (5,000 nodes and 100 resources, nodes labelled beside plain PATCHes).
# One JSON object a line. STATES=20 NODES=5000 RESOURCES=100 choose.
set -eu
cd "$(dirname "$0")/.."
. hack/bench-cluster.sh
states=${STATES:-20}
log=$SLIPWAY_CLUSTER_DIR/log/audit.jsonl

# Deployments of no pods: what opens each gate is the status that kube-controller-manager writes.
chart() {
    local i
    mkdir -p "$dir/gates/templates"
    printf 'apiVersion: v2\nname: gates\nversion: 0.1.0\nannotations: {slipway.dev/wait: all}\n' >"$dir/gates/Chart.yaml"
    for ((i = 0; i < states; i++)); do
        cat >"$dir/gates/templates/$(printf '%04d' $((1000 + i)))-state.yaml" <<YAML
apiVersion: apps/v1
kind: Deployment
metadata: {name: gate-$i}
spec:
  replicas: 0
  selector: {matchLabels: {app: gate-$i}}
  template:
    metadata: {labels: {app: gate-$i}}
    spec: {containers: [{name: main, image: none}]}
YAML
    done
}

# For each Deployment but the first: from the last status that the one before was given until the API
# server had this one's apply.
gaps() {
    jq -rs --argjson n "$states" '
        def ms: (sub("\\.[0-9]+Z$"; "Z") | fromdate) * 1000 + (capture("\\.(?<f>[0-9]+)Z$").f[0:6] | tonumber / 1000);
        map(select(.objectRef.resource == "deployments" and .stage == "ResponseComplete")) as $all |
        [range(1; $n) as $i |
            ([$all[] | select(.objectRef.name == "gate-\($i)" and .verb == "patch" and (.userAgent | startswith("slipway"))) | .requestReceivedTimestamp | ms] | min) as $applied |
            ([$all[] | select(.objectRef.name == "gate-\($i - 1)" and .objectRef.subresource == "status") | .stageTimestamp | ms | select(. < $applied)] | max) as $seen |
            $applied - $seen] | sort |
        {bench: "gate-to-apply", server: "kube-apiserver", n: length, median_ms: .[length / 2 | floor], max_ms: .[-1], target_median_ms: 10}
    ' -c "$log"
}

bench_cluster
chart
build/slipway run "$dir/gates" --kubeconfig "$deployed" --timeout 120s >/dev/null 2>"$dir/run" || { cat "$dir/run" >&2; exit 1; }
gaps
bench_cluster
kill "$(cat "$SLIPWAY_CLUSTER_DIR/pid/kube-controller-manager")" # it would find out that nobody runs on the nodes
build/bench/scale --nodes "${NODES:-5000}" --resources "${RESOURCES:-100}" --kubeconfig "$deployed" --audit "$log"
