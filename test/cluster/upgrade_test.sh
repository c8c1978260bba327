# A driver replaced on a real node: cordoned, drained by the Eviction API as far as a budget allows, the
# old pod deleted, the new one waited for, uncordoned.
. test/tap.sh
slipway=${SLIPWAY_TEST:-build/test/slipway}
[ -x "$slipway" ] || slipway=${SLIPWAY:-build/slipway}
chart=$tap_dir/chart

make_chart() {
    mkdir -p "$chart/templates" "$tap_dir/root"
    printf '#include <signal.h>\n#include <unistd.h>\nstatic void stop(int n)\n{\n    _exit(n != SIGTERM);\n}\nint main(void)\n{\n    signal(SIGTERM, stop);\n    for (;;)\n        pause();\n}\n' >"$tap_dir/wait.c"
    gcc -static -Os -o "$tap_dir/root/wait" "$tap_dir/wait.c" &&
        hack/cluster.sh image slipway.local/driver:1 "$tap_dir/root" /wait || return 1
    printf 'apiVersion: v1\nname: drv\nversion: 0.1.0\nannotations: {slipway.dev/wait: all}\n' >"$chart/Chart.yaml"
    printf 'version: "1"\n' >"$chart/values.yaml"
    cat >"$chart/templates/1000-driver.yaml" <<'YAML'
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: driver
  annotations: {slipway.dev/driver: "true"}
spec:
  selector:
    matchLabels: {app: driver}
  template:
    metadata:
      labels: {app: driver}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - name: driver
        image: slipway.local/driver:1
        imagePullPolicy: Never
        env: [{name: VERSION, value: {{ .Values.version | quote }}}]
YAML
}

sr() { kubectl get specialresource drv -o "jsonpath=$1"; }
node_name=$(kubectl get nodes -o 'jsonpath={.items[0].metadata.name}')
node() { kubectl get node "$node_name" -o "jsonpath={$1}"; }
ready() { [ "$(sr '{.status.conditions[?(@.type=="Ready")].status}')" = True ]; }
version() { kubectl -n drv get pods -l app=driver -o 'jsonpath={.items[*].spec.containers[0].env[0].value}'; }

walked() {
    make_chart && "$slipway" run "$chart" --timeout 240s || return 1
    kubectl patch specialresource drv --type merge -p '{"spec":{"upgradePolicy":{"timeout":"5m","drain":{"enable":true,"podSelector":"app=victim","gracePeriodSeconds":1}}}}' || return 1
    "$slipway" controller --legacy-rights --metrics-bind-address 0 --health-probe-bind-address 0 >"$tap_dir/controller" 2>&1 &
    echo $! >"$tap_dir/pid"
    until_ok 60 eval '[ "$(kubectl -n drv get ds driver -o "jsonpath={.spec.updateStrategy.type}")" = OnDelete ]' &&
        until_ok 60 ready
}

budgeted() { # what a budget protects is not evicted
    local policy=policy/v1
    kubectl api-versions | grep -qx policy/v1 || policy=policy/v1beta1 # before 1.21
    kubectl apply -f - <<YAML || return 1
apiVersion: apps/v1
kind: Deployment
metadata: {name: victim, namespace: drv}
spec:
  selector: {matchLabels: {app: victim}}
  template:
    metadata: {labels: {app: victim}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: main, image: "slipway.local/driver:1", imagePullPolicy: Never}]
---
apiVersion: $policy
kind: PodDisruptionBudget
metadata: {name: victim, namespace: drv}
spec:
  minAvailable: 1
  selector: {matchLabels: {app: victim}}
YAML
    until_ok 90 eval '[ "$(kubectl -n drv get pdb victim -o "jsonpath={.status.currentHealthy}")" = 1 ]' || return 1
    "$slipway" plan drv --all | tee "$tap_dir/plan" && grep -q 'drain .*drv/victim-' "$tap_dir/plan" || return 1
    kubectl patch specialresource drv --type merge -p '{"spec":{"set":{"version":"2"}}}' || return 1
    until_ok 60 eval '[ "$(node .spec.unschedulable)" = true ]' &&
        until_ok 60 eval 'sr "{.status.upgrade.nodes[0].message}" | grep "disruption budget"' &&
        [ "$(version)" = 1 ] && "$slipway" status drv | grep 'UPGRADE  0 of 1'
}

replaced() {
    kubectl -n drv delete pdb victim &&
        until_ok 120 eval '[ "$(version)" = 2 ]' &&
        until_ok 120 eval '[ -z "$(node .spec.unschedulable)" ]' && until_ok 60 ready &&
        ! kubectl get nodes --show-labels | grep upgrade.slipway.dev &&
        kubectl get events -A | grep NodeUpgraded
}

foreign() { # somebody else's cordon stays
    local name
    name=$(node .metadata.name)
    kubectl cordon "$name" && kubectl patch specialresource drv --type merge -p '{"spec":{"set":{"version":"3"}}}' || return 1
    until_ok 120 eval '[ "$(version)" = 3 ]' && until_ok 60 ready && [ "$(node .spec.unschedulable)" = true ]
    local rc=$?
    kubectl uncordon "$name"
    return $rc
}

gone() { kubectl delete specialresource drv --timeout=240s && until_ok 60 eval '! kubectl get ns drv 2>/dev/null'; }

t "a driver is there" walked
t "a budget is waited for" budgeted
t "the driver is replaced" replaced
t "a cordon of somebody else stays" foreign
t "what was made goes" gone
kill "$(cat "$tap_dir/pid")" 2>/dev/null
plan
