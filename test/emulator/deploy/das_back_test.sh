# To slipway and back: what DAS left is taken over by `make deploy-das DAS_COMPAT=1`, and after `make
# back-to-das` it is there as DAS can go on with it. DAS is played: its objects are those of
# takeover/das.yaml, and it has written a workload when its hash is on it.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
pids=""
trap 'for p in $pids; do kill "$p" 2>/dev/null; done; rm -rf "$tap_dir"' EXIT
export KUBECONFIG=$tap_dir/kubeconfig KUBECTL=kubectl TAG=test TIMEOUT=30 REGISTRY=example.test/x EMULATED_MODE=enabled SLIPWAY_STAND_INS=1
unset IMG NAMESPACE PLATFORM RELATED_IMAGES API_SERVER PULL_POLICY REPLICAS OPERATOR_NAMESPACE
ns=das-operator
kinds=serviceaccounts,services,configmaps,networkpolicies,deployments,daemonsets
workloads="daemonset/das-daemonset deployment/das-scheduler deployment/das-operator-webhook"

left_by_das() {
    local uid
    kubectl create -f deploy/crds/inference.redhat.com_dasoperators.yaml -f states/scheduler/crds && kubectl create namespace $ns &&
        until_ok 20 kubectl create -f deploy/03_instaslice_operator.cr.yaml && kubectl label node gpu-0 gpu-1 nvidia.com/mig.capable=true || return 1
    uid=$(kubectl -n $ns get dasoperator cluster -o 'jsonpath={.metadata.uid}')
    sed "/^    kind: DASOperator/{n;s/.*/&\n    uid: $uid/}" test/emulator/operator/takeover/das.yaml >"$tap_dir/das.yaml"
    kubectl create --field-manager das-operator -f "$tap_dir/das.yaml" && until_ok 20 eval '[ "$(kubectl -n $ns get deployment das-scheduler -o "jsonpath={.status.availableReplicas}")" = 2 ]' && kubectl -n $ns create -f - <<'YAML'
apiVersion: inference.redhat.com/v1alpha1
kind: AllocationClaim
metadata: {name: uid-gpu-0-main-0}
spec: {profile: 1g.5gb, nodename: gpu-0, gpuUUID: GPU-1, migPlacement: {start: 0, size: 1}, podRef: {kind: Pod, name: p, namespace: default, uid: uid}}
YAML
}
uids() { kubectl -n $ns get -f "$tap_dir/das.yaml" --ignore-not-found -o 'jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.uid}{"\n"}{end}' | grep -v 'Deployment das-operator '; }
claim() { kubectl -n $ns get allocationclaims -o 'jsonpath={.items[*].metadata}{.items[*].status}'; }
is_ready() { [ "$(kubectl get specialresource nvidia-mig -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}')" = True ]; }

deployed() {
    uids >"$tap_dir/uids" && claim >"$tap_dir/claim" && kubectl -n $ns get $kinds -o name >"$tap_dir/names" && DAS_COMPAT=1 hack/deploy.sh das
}
# after an upgrade of the cluster the recipe's roles hold other rights, which the operator may give away then
for_an_upgrade() {
    local account=system:serviceaccount:$ns:slipway-nvidia-mig
    kubectl get clusterrole slipway-nvidia-mig-from-1-36 -o yaml >"$tap_dir/role" && grep -q 'resourceclaims/binding' "$tap_dir/role" && ! kubectl get clusterrole slipway-nvidia-mig -o yaml | grep 'resourceclaims/binding' &&
        kubectl get clusterrolebinding -o 'jsonpath={range .items[?(@.roleRef.name=="slipway-nvidia-mig-from-1-36")]}{.metadata.name} system:serviceaccount:{.subjects[0].namespace}:{.subjects[0].name}{"\n"}{end}' | grep -qx "slipway-nvidia-mig-from-1-36 $account"
}
operator() {
    SLIPWAY_RECIPES=$PWD/recipes OPERATOR_NAMESPACE=$ns "$slipway" controller --allowed-files "$PWD" --no-registries --metrics-bind-address 0 --health-probe-bind-address 0 >"$tap_dir/operator.log" 2>&1 &
    pids="$pids $!" controller=$!
}
taken_over() {
    until_ok 120 is_ready && uids | diff "$tap_dir/uids" - && claim | diff "$tap_dir/claim" - && kubectl -n $ns get serviceaccount das-daemonset &&
        [ -z "$(kubectl -n $ns get daemonset das-daemonset -o 'jsonpath={.spec.template.spec.containers[0].command}')" ] # DAS's program's
}

not_for_others() {
    kubectl apply -f - <<'YAML' || return 1
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: another}
spec: {namespace: another, chart: {name: a, version: 0.0.1, repository: {name: a, url: "cm://another/a"}}}
YAML
    ! make -s back-to-das 2>"$tap_dir/said" && grep 'still needed by specialresource.*/another' "$tap_dir/said" && is_ready && kubectl delete specialresource another
}

before_das() {
    make -s back-to-das 2>"$tap_dir/said" && grep 'Deploy DAS now' "$tap_dir/said" && ! kubectl get specialresource nvidia-mig 2>/dev/null &&
        ! kubectl -n $ns get deployment das-operator 2>/dev/null && ! kubectl get clusterrole slipway 2>/dev/null && uids | diff "$tap_dir/uids" - && claim | diff "$tap_dir/claim" - || return 1
    local w
    for w in $workloads; do # DAS writes its own into it
        [ -z "$(kubectl -n $ns get "$w" -o 'jsonpath={.metadata.ownerReferences[?(@.kind=="SpecialResource")].kind}{.metadata.annotations.operator\.openshift\.io/spec-hash}')" ] || return 1
    done
    kill "$controller" # as its pod
    ! make -s back-to-das 2>"$tap_dir/said" && grep 'operator of DAS is not there yet' "$tap_dir/said"
}

# DAS's objects have its DASOperator as an owner again.
owned_by_das() {
    local object owner
    owner='[{"op":"add","path":"/metadata/ownerReferences","value":[{"apiVersion":"inference.redhat.com/v1alpha1","kind":"DASOperator","name":"cluster","uid":"'$(kubectl -n $ns get dasoperator cluster -o 'jsonpath={.metadata.uid}')'"}]}]'
    for object in $(kubectl -n $ns get -f "$tap_dir/das.yaml" --ignore-not-found -o 'jsonpath={range .items[*]}{.kind}/{.metadata.name}{"\n"}{end}' | grep -v '/das-operator$'); do
        kubectl -n $ns patch "$object" --type json -p "$owner" || return 1
    done
}

after_das() {
    local w
    kubectl -n $ns create deployment das-operator --image das/operator && ! make -s back-to-das 2>"$tap_dir/said" && grep 'DAS has not written daemonset/das-daemonset yet' "$tap_dir/said" || return 1
    for w in $workloads; do
        kubectl -n $ns patch "$w" --type json -p '[{"op":"remove","path":"/spec/template/spec/nodeSelector"}]' >/dev/null 2>&1
        kubectl -n $ns annotate "$w" operator.openshift.io/spec-hash=theirs || return 1
    done
    ! make -s back-to-das 2>"$tap_dir/said" && grep 'DAS has not written its NetworkPolicies yet' "$tap_dir/said" || return 1
    owned_by_das || return 1
    make -s back-to-das && uids | diff "$tap_dir/uids" - && claim | diff "$tap_dir/claim" - && kubectl -n $ns get $kinds -o name | diff "$tap_dir/names" - &&
        [ "$(kubectl -n $ns get dasoperator cluster -o 'jsonpath={.spec.managementState}')" = Managed ] &&
        ! kubectl get nodes -o 'jsonpath={.items[*].metadata.labels}' | grep state-nvidia-mig && [ -z "$(kubectl get clusterroles,clusterrolebindings,namespaces -o name | grep -E 'das-daemonset|nvidia-mig|slipway')" ] &&
        make -s back-to-das # once more: nothing is left to do
}

# where kube-scheduler gives slices out, global.slicing of the DASOperator may say otherwise
for_the_other_way() {
    export KUBECONFIG=$tap_dir/newest
    until_ok 20 eval 'kubectl get --raw /readyz >/dev/null 2>&1' && hack/deploy.sh das || return 1
    kubectl get clusterrole slipway-nvidia-mig -o yaml | grep 'resourceclaims/binding' && kubectl get clusterrole slipway-nvidia-mig-deviceplugin -o yaml >"$tap_dir/role" &&
        grep -q 'mutatingwebhookconfigurations' "$tap_dir/role" && grep -q 'pods/binding' "$tap_dir/role" && kubectl get clusterrolebinding slipway-nvidia-mig-deviceplugin
}

if ! command -v kubectl >/dev/null; then
    skip "back to DAS" "kubectl is needed"
    plan
fi
"$slipway" emulate --platform kubernetes --kube-version 1.35 --kubeconfig-out "$KUBECONFIG" >"$tap_dir/emulate.log" 2>&1 &
emulator=$!
pids="$pids $emulator"
until_ok 20 eval 'kubectl get --raw /readyz >/dev/null 2>&1'
t "what DAS left is there" left_by_das
t "DAS_COMPAT takes its place" deployed
t "the rights for an upgrade to 1.36 are granted beside those of now" for_an_upgrade
operator
t "it is taken over in place, and claims stay" taken_over
t "slipway does not go while other resources need it" not_for_others
t "before DAS: slipway goes, and its objects stay for DAS" before_das
t "after DAS: what only slipway needed goes" after_das
kill $emulator
"$slipway" emulate --platform kubernetes --kube-version 1.36 --kubeconfig-out "$tap_dir/newest" >"$tap_dir/emulate.log" 2>&1 &
pids="$pids $!"
t "on Kubernetes 1.36 the rights for the device plugin are granted beside those of Dynamic Resource Allocation" for_the_other_way
plan
