# A recipe of NVIDIA's AI Cluster Runtime stops where it should, and goes on where it should: a table of all kinds of constraints,
# one of all verdicts of a transition record, one of health checks that do not hold.
. test/tap.sh
here=$PWD
slipway=$(realpath "${SLIPWAY:-build/slipway}")
export HOME=$tap_dir KUBECONFIG=$tap_dir/kubeconfig
trap 'stop emulated; rm -rf "$tap_dir"' EXIT
cd "$tap_dir" || exit 1
. "$here/test/aicr_catalog.sh" # put, head, catalog/, charts/
sed -i '/^ *constraints:/d; /^ *validation:/d' catalog/overlays/*.yaml
rm catalog/checks/gpu-operator/health-check.yaml && sed -i '/healthCheck/d' catalog/registry.yaml
starts() { # on nodes of Ubuntu 24.04 with a kernel 6.8
    stop emulated && rm -f "$KUBECONFIG" && cd "$here" && emulated --platform eks --kube-version 1.34 --delays 0 && cd "$tap_dir"
}
walk() { "$slipway" run "./$1" --criteria service=eks --charts-dir charts --fail-fast --timeout 60s >said 2>&1; }
nothing_there() { ! kubectl get namespace gpu-operator >there 2>&1 && grep -q 'not found' there; }
# row by row; TABLE's lines are "<what> | <outcome> | <pattern that is told>"
rows() { # FUNCTION <TABLE: FUNCTION WHAT OUTCOME PATTERN
    local what outcome pattern rc=0
    while IFS='|' read -r what outcome pattern; do
        what=${what%% } outcome=${outcome// /} pattern=${pattern# }
        "$1" "$what" "$outcome" "$pattern" </dev/null || { echo "row: $what"; tail -5 said; rc=1; }
    done
    return $rc
}

constraint() { # "NAME VALUE" or "NAME VALUE; severity: S": stops before anything is written | warns | goes (nothing is known of it, or it is met)
    local name=${1%% *} value=${1#* } severity=error
    case $value in *'; severity: '*) severity=${value##*: } value=${value%%;*} ;; esac
    rm -rf asks && cp -r catalog asks &&
        printf '  constraints: [{name: "%s", value: "%s", severity: %s, remediation: take others}]\n' "$name" "$value" "$severity" >>asks/overlays/eks.yaml || return 1
    if [ "$2" = stops ]; then
        ! walk asks && grep -q -- "$3" said && nothing_there
        return
    fi
    walk asks && grep -q 'eks: Ready$' said && { [ "$2" = goes ] && ! grep -q ConstraintNotMet said || { [ "$2" = warns ] && grep -q "ConstraintNotMet: $3" said; }; } &&
        "$slipway" uninstall eks --yes --keep-operator >removed 2>&1 && until_ok 10 nothing_there
}
constraints() {
    starts && rows constraint <<'T'
K8s.server.version >= 1.99 | stops | asks for Kubernetes >= 1.99-0, this is v1.34
K8s.server.version < 1.30 | stops | asks for Kubernetes < 1.30-0, this is v1.34
K8s.server.version >= 1.30 | goes |
OS.release.ID rhel | stops | OS.release.ID is ubuntu on .* nodes.*rhel is asked for.*take others
OS.release.ID != ubuntu | stops | OS.release.ID is ubuntu on
OS.release.ID == ubuntu | goes |
OS.release.VERSION_ID >= 26.04 | stops | OS.release.VERSION_ID is 24.04
OS.release.VERSION_ID 22.04 | stops | OS.release.VERSION_ID is 24.04
OS.release.VERSION_ID <= 24.04 | goes |
OS.sysctl./proc/sys/kernel/osrelease >= 7.0 | stops | OS.sysctl./proc/sys/kernel/osrelease is 6.8
OS.sysctl./proc/sys/kernel/osrelease > 6.7 | goes |
OS.sysctl./proc/sys/kernel/osrelease >= new | stops | 'new' is no version
GPU.smi.count >= 99 | goes |
nccl-all-reduce-bw >= 300 | goes |
OS.release.ID rhel; severity: warning | warns | OS.release.ID is ubuntu
T
}
t "each kind of constraint stops the recipe before anything is written, unless it is met, not known, or a warning" constraints
pinned() { # WHAT: of the recipe's own pins: refused before there is a recipe
    rm -rf asks && cp -r catalog asks && printf '  validation: {deployment: {constraints: [{name: "%s", value: "%s"}]}}\n' "${1%% *}" "${1#* }" >>asks/overlays/eks.yaml || return 1
    "$slipway" graph ./asks --criteria service=eks --charts-dir charts >said 2>&1
    [ $? = "$([ "$2" = stops ] && echo 2 || echo 0)" ] && grep -q -- "$3" said
}
pins() {
    rows pinned <<'T'
Deployment.gpu-operator.version >= v3.1 | stops | Deployment.gpu-operator.version: >= v3.1 is asked for, it is v2.0.0
Deployment.gpu-operator.version == v1.9 | stops | == v1.9 is asked for, it is v2.0.0
Deployment.gpu-operator.version >= v2.0 | goes | gpu-operator
T
}
t "so does what it asks of its own components" pins

written() { kubectl get configmaps,deployments -n gpu-operator -o 'jsonpath={range .items[*]}{.metadata.name} {.metadata.resourceVersion} {end}'; }
step() { # "FROM TO VERDICT": of gpu-operator from 1.0.0 to 2.0.0, "none": there is no record
    local from to verdict before
    read -r from to verdict <<<"$1"
    before=$(written) && [ -n "$before" ] && rm -rf asks && cp -r catalog asks || return 1
    [ "$from" = none ] || put asks/components/gpu-operator/upgrades.yaml <<<"{apiVersion: aicr.run/v1beta1, kind: ComponentUpgrades, component: gpu-operator, transitions: [{from: '$from', to: '$to', verdict: $verdict, verifiedBy: a run, summary: Why, stepsByDeployer: [{steps: [{id: a, description: Do it.}]}]}]}"
    if [ "$2" = stops ]; then
        ! walk asks && grep -q "UpgradeNotAllowed.*$3" said && [ "$(written)" = "$before" ]
    else
        walk asks && grep -q 'eks: Ready$' said && ! grep -q UpgradeNotAllowed said
    fi
}
verdicts() {
    starts && cp -r catalog older && sed -i 's/version: v2.0.0/version: v1.0.0/' older/overlays/base.yaml && walk older || return 1
    rows step <<'T'
<2.0.0 =2.0.0 manual | stops | gpu-operator from 1.0.0 to 2.0.0 is manual: Why.* 1. Do it.
<2.0.0 =2.0.0 blocked | stops | gpu-operator from 1.0.0 to 2.0.0 is blocked: Why
>=3.0.0 =4.0.0 safe | stops | gpu-operator from 1.0.0 to 2.0.0 is unknown
<2.0.0 =1.9.0 safe | stops | gpu-operator from 1.0.0 to 2.0.0 is blocked
<2.0.0 =2.0.0 safe | goes |
T
}
t "each verdict of a transition record stops the upgrade before anything is written, but safe" verdicts

check() { # STATEMENTS: the health check of gpu-operator: the walk stops there, within its time
    rm -rf asks && cp -r catalog asks && sed -i 's/^- name: gpu-operator$/&\n  healthCheck: {assertFile: checks\/gpu-operator\/health-check.yaml}/' asks/registry.yaml &&
        put asks/checks/gpu-operator/health-check.yaml <<<"{spec: {timeouts: {assert: 1s}, steps: [{name: Look around, try: [$1]}]}}" || return 1
    if [ "$2" = refused ]; then
        ! "$slipway" graph ./asks --criteria service=eks --charts-dir charts >said 2>&1 && grep -q "$3" said
        return
    fi
    local seconds=30
    [ "$2" = stops ] || seconds=4 # it was so once, or not yet otherwise: it is held, and may take what time it wants
    "$slipway" run asks --criteria service=eks --emulate --delays 0 --charts-dir charts --fail-fast --timeout ${seconds}s >said 2>&1
    if [ "$2" = waits ]; then
        grep -q "state 'gpu-operator-check': $3" said && ! grep -q 'eks: Ready$' said
        return
    fi
    grep -q "state 'gpu-operator[a-z-]*': not ready within 1s: .*$3" said && ! grep -q 'StateStarted: state tuning' said
}
checks() {
    rows check <<'T'
{error: {resource: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: gpu-operator}, data: {replicas: "2"}}}} | waits | assertion 'look-around-1' about no ConfigMap of gpu-operator: config has what none may have: data.replicas is 2
{assert: {resource: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: gpu-operator}, data: {(length(replicas)): 2}}}} | stops | assertion 'look-around-1' about any ConfigMap of gpu-operator: none of [0-9] is as asserted: config: data.(length(replicas)) is 1, not 2
{assert: {resource: {apiVersion: v1, kind: ConfigMap, metadata: {name: none, namespace: gpu-operator}, data: {a: b}}}} | stops | ConfigMap gpu-operator/none
{assert: {resource: {apiVersion: apps/v1, kind: Deployment, metadata: {name: gpu-operator, namespace: gpu-operator}, status: {"(availableReplicas > `5`)": true}}}} | stops | Deployment gpu-operator/gpu-operator is not as asserted: status.(availableReplicas > .5.) is false
{assert: {resource: {apiVersion: v1, kind: Pod, metadata: {namespace: gpu-operator}, status: {phase: Succeeded}}}} | stops | assertion 'look-around-1' about any Pod of gpu-operator
{assert: {resource: {apiVersion: v1, kind: Pod, status: {"(phase ==)": x}}}} | refused | step 'Look around', try\[0\].assert
{script: {content: "true"}} | refused | 'script' has no counterpart here
{assert: {resource: {kind: Pod}}} | refused | a resource with apiVersion and kind was expected
T
}
t "each kind of health check that does not hold stops what comes after it, and names the object and the value" checks
plan
