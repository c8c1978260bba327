# The main job on a real API server and a real kubelet: a recipe of two numbered states (a ConfigMap,
# then a DaemonSet with a pod on the node) is walked to Ready, the node is labelled, a second run
# finds nothing to do, and what is refused is said.
. test/tap.sh
slipway=${SLIPWAY_TEST:-build/test/slipway}
[ -x "$slipway" ] || slipway=${SLIPWAY:-build/slipway}
chart=$tap_dir/chart

make_chart() {
    mkdir -p "$chart/templates" "$tap_dir/root"
    cat >"$tap_dir/wait.c" <<'C'
#include <signal.h>
#include <unistd.h>
static void stop(int n)
{
    _exit(n != SIGTERM);
}
int main(void)
{
    signal(SIGTERM, stop);
    for (;;)
        pause();
}
C
    gcc -static -Os -o "$tap_dir/root/wait" "$tap_dir/wait.c"
    hack/cluster.sh image slipway.local/wait:1 "$tap_dir/root" /wait
    printf 'apiVersion: v2\nname: real\nversion: 0.1.0\nannotations: {slipway.dev/wait: all}\n' >"$chart/Chart.yaml"
    cat >"$chart/templates/0000-settings.yaml" <<'YAML'
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
data:
  kernel: {{ .Values.kernelFullVersion | quote }}
YAML
    cat >"$chart/templates/0100-agent.yaml" <<'YAML'
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: agent
spec:
  selector:
    matchLabels: {app: agent}
  template:
    metadata:
      labels: {app: agent}
    spec:
      terminationGracePeriodSeconds: 1
      nodeSelector:
        specialresource.openshift.io/state-real-0000: Ready
      containers:
      - name: agent
        image: slipway.local/wait:1
        imagePullPolicy: Never
        ports: [{containerPort: 80}]
YAML
}

walks() {
    make_chart && "$slipway" run "$chart" --timeout 240s -o json >"$tap_dir/run.json" &&
        grep -q '"phase": "Ready"' "$tap_dir/run.json"
}

labelled() {
    kubectl get nodes -l specialresource.openshift.io/state-real-0000=Ready,specialresource.openshift.io/state-real-0100=Ready -o name | grep -q node/
}

explained() {
    kubectl get specialresource real -o 'jsonpath={.status.state}' | grep -q '^Ready' &&
        kubectl wait --for=condition=Ready specialresource/real --timeout=240s &&
        kubectl get daemonset -n real agent -o 'jsonpath={.metadata.labels}' | grep -q '"specialresource.openshift.io/owned":"true"' &&
        [ -n "$(kubectl get events -A -o 'jsonpath={.items[?(@.reason=="StateReady")].message}')" ]
}

unchanged() {
    local before after
    before=$(kubectl get cm,ds -n real -o 'jsonpath={.items[*].metadata.resourceVersion}')
    "$slipway" run "$chart" --timeout 240s >/dev/null || return 1
    after=$(kubectl get cm,ds -n real -o 'jsonpath={.items[*].metadata.resourceVersion}')
    [ "$before" = "$after" ]
}

status_shows() {
    "$slipway" status real | grep -q '0100 .*Ready'
}

repaired() {
    kubectl delete cm -n real settings && "$slipway" run "$chart" --timeout 240s >/dev/null &&
        kubectl get cm -n real settings
}

refused() { # forbidden: which verb on which resource
    sed 's/^users:.*/users: [{name: admin, user: {token: slipway-nobody-token}}]/' "$KUBECONFIG" >"$tap_dir/nobody"
    "$slipway" run "$chart" --kubeconfig "$tap_dir/nobody" --timeout 240s >"$tap_dir/refused" 2>&1
    [ $? -eq 1 ] && cat "$tap_dir/refused" && grep -qi 'cannot' "$tap_dir/refused" && grep -q 'nobody' "$tap_dir/refused"
}

# ---- what it costs, by the server's own audit log: an operator that runs already walks simple-kmod

audit=${SLIPWAY_CLUSTER_DIR:-build/cluster}/log/audit.jsonl
now() { date -u +%Y-%m-%dT%H:%M:%S.%6NZ; }
# asked FROM TO: the operator's requests that came between the two, a line each: verb and URI. Its Lease, on
# its own connection, is left out. A watch is in the log only when it has ended, or said something.
asked() {
    grep '"userAgent":"slipway"' "$audit" | grep -vE '/leases/|/leases\?' |
        sed -n 's/.*"auditID":"\([^"]*\)".*"requestURI":"\([^"]*\)","verb":"\([^"]*\)".*"requestReceivedTimestamp":"\([^"]*\)".*/\1 \4 \3 \2/p' |
        awk -v from="$1" -v to="$2" '$2 >= from && $2 <= to && !seen[$1]++ { print $3, $4 }'
}

# Two nodes more, of which there is only what the API server knows: this loop is their kubelet, until
# its file is gone.
far_kubelets() {
    local n ns pod going
    while [ -f "$tap_dir/far" ]; do
        for n in far-1 far-2; do
            patch_status "/api/v1/nodes/$n" '{"status":{"conditions":[{"type":"Ready","status":"True","reason":"KubeletReady","message":"'"$SECONDS"'",
                "lastHeartbeatTime":"'"$(date -u +%FT%TZ)"'","lastTransitionTime":"2022-01-01T00:00:00Z"}]}}'
            kubectl get pods -A --field-selector "spec.nodeName=$n" \
                -o 'jsonpath={range .items[*]}{.metadata.namespace} {.metadata.name} {.status.phase}{.metadata.deletionTimestamp}{"\n"}{end}' |
                while read -r ns pod going; do
                    case $going in
                    *Z) kubectl delete pod -n "$ns" "$pod" --grace-period=0 --force >/dev/null 2>&1 ;;
                    Pending) patch_status "/api/v1/namespaces/$ns/pods/$pod" '{"status":{"phase":"Running","conditions":[
                        {"type":"Ready","status":"True"},{"type":"ContainersReady","status":"True"},{"type":"Initialized","status":"True"},{"type":"PodScheduled","status":"True"}]}}' ;;
                    esac
                done
        done
        sleep 0.3
    done
}

far_nodes() {
    local n
    touch "$tap_dir/far"
    for n in far-1 far-2; do
        kubectl get node "$(kubectl get nodes -l node-role.kubernetes.io/worker -o 'jsonpath={.items[0].metadata.name}')" -o json |
            python3 -c 'import json, sys
d, n = json.load(sys.stdin), sys.argv[1]
keep = {k: v for k, v in d["metadata"]["labels"].items() if not k.startswith("specialresource") and k != "kubernetes.io/hostname"}
print(json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": n, "labels": keep}}))
json.dump({"status": {k: d["status"][k] for k in ("capacity", "allocatable", "nodeInfo")}}, open(sys.argv[2], "w"))' "$n" "$tap_dir/status" |
            kubectl create -f - && patch_status "/api/v1/nodes/$n" "$(cat "$tap_dir/status")" || return 1
    done
    far_kubelets >/dev/null 2>&1 &
    until_ok 60 eval '[ -z "$(kubectl get nodes -o "jsonpath={.items[*].spec.taints}")" ]'
}

audited() { # the only one who calls itself so while it runs
    kubectl delete specialresource real --ignore-not-found && kubectl apply -f deploy/crds/sro.openshift.io_specialresources.yaml &&
        "$slipway" configmap charts/example/simple-kmod --namespace default | kubectl apply -f - || return 1
    far_nodes || return 1
    "$slipway" controller --legacy-rights --metrics-bind-address 0 --health-probe-bind-address "127.0.0.1:0" >"$tap_dir/operator.log" 2>&1 &
    echo $! >"$tap_dir/operator"
    until_ok 60 grep -q 'the controller works' "$tap_dir/operator.log" || { cat "$tap_dir/operator.log"; return 1; }
    local port
    port=$(sed -n 's/.*listening for=health port=\([0-9]*\).*/\1/p' "$tap_dir/operator.log" | head -1)
    until_ok 60 curl -sf "http://127.0.0.1:$port/readyz"
}

audited_walk() { # N
    now >"$tap_dir/from$1"
    kubectl apply -f - <<'YAML' || return 1
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: simple-kmod}
spec:
  namespace: simple-kmod
  chart: {name: simple-kmod, version: 0.0.1, repository: {name: here, url: "cm://default/simple-kmod"}}
YAML
    kubectl wait --for=condition=Ready specialresource/simple-kmod --timeout=300s || { cat "$tap_dir/operator.log"; return 1; }
    # the release is recorded once it is Ready: how much of that comes before kubectl has told of it is chance
    until_ok 60 eval 'kubectl -n simple-kmod get secrets -l owner=helm,status=deployed -o name | grep -q .' || return 1
    now >"$tap_dir/to$1"
    kubectl get nodes -l specialresource.openshift.io/state-simple-kmod-1000=Ready -o name | grep -c . >"$tap_dir/labelled"
}

on_three_nodes() { [ "$(cat "$tap_dir/labelled")" -eq 3 ]; }

audited_again() { kubectl delete specialresource simple-kmod --timeout=240s && audited_walk 2; }

quiet() { # SECONDS: it has come to rest: nothing but watches
    local from
    from=$(now)
    sleep "$1"
    asked "$from" "$(now)" | grep -v '^watch ' >"$tap_dir/asked"
    cat "$tap_dir/asked"
    [ ! -s "$tap_dir/asked" ]
}

at_rest() { until_ok 40 quiet 5 && quiet 20; }

audit_over() {
    kubectl delete specialresource simple-kmod --timeout=240s
    kill "$(cat "$tap_dir/operator")"
    kubectl -n default delete configmap simple-kmod
    rm -f "$tap_dir/far"
    kubectl delete node far-1 far-2
    until_ok 30 eval '! kill -0 "$(cat "$tap_dir/operator")" 2>/dev/null'
}

# few_requests N MOST: of the walk, watches included. What tells how far it is (the status, Events, labels of
# nodes) is written oftener where a machine is so busy that the three nodes do not get ready together.
few_requests() {
    local all telling
    asked "$(cat "$tap_dir/from$1")" "$(cat "$tap_dir/to$1")" >"$tap_dir/asked"
    cat "$tap_dir/asked"
    all=$(wc -l <"$tap_dir/asked")
    telling=$(grep -cE '^(patch .*/status|create .*/events|patch /api/v1/nodes/)' "$tap_dir/asked")
    echo "# $all requests of the operator from apply to Ready and recorded, $telling of them to tell how far it is" >&3
    grep -q '^watch ' "$tap_dir/asked" && [ $((all - telling)) -le "$2" ] && [ "$telling" -le 24 ]
}

exec 3>&1
if [ -n "$(kubectl get nodes -o name)" ]; then
    t "a recipe walks to Ready" walks
    t "the node carries both states' labels" labelled
    t "kubectl get, wait and events tell how it went" explained
    t "a second run changes no object" unchanged
    t "status reads it from the cluster" status_shows
    t "what was deleted is applied again" repaired
fi
if [ -n "$(kubectl get nodes -o name)" ] && [ -f "$audit" ]; then
    t "an operator is at work" audited
    t "it walks simple-kmod" audited_walk 1
    t "and again" audited_again
    t "at rest it asks for nothing" at_rest
    t "it is taken away again" audit_over
    t "all three nodes carry the label of its last state" on_three_nodes
    # one of them reads the Service default/kubernetes (where services are: no recipe comes from there), two record the
    # release: what was recorded since, and the record
    t "from apply to Ready and recorded, for the first time: at most 36 requests besides those that tell of it" few_requests 1 36
    t "the next ones at most 32" few_requests 2 32
fi
t "an account without rights is told what it may not do" refused
"$slipway" uninstall real --yes >/dev/null 2>&1
plan
