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

if [ -n "$(kubectl get nodes -o name)" ]; then
    t "a recipe walks to Ready" walks
    t "the node carries both states' labels" labelled
    t "kubectl get, wait and events tell how it went" explained
    t "a second run changes no object" unchanged
    t "status reads it from the cluster" status_shows
    t "what was deleted is applied again" repaired
fi
t "an account without rights is told what it may not do" refused
kubectl delete specialresource real --ignore-not-found --wait=false >/dev/null 2>&1
plan
