# The device plugin's state with a real kubelet, in emulated mode: the recipe deploys it with nothing
# but its own account, kubelet registers it, a pod with a claim runs with its environment, and what a
# pod leaves is cleaned up; kubelet and plugin are restarted in between. The claims are made by hand
# here, where a scheduler makes them otherwise.
. test/tap.sh
. test/slicing_cleared.sh
. test/cluster_programs.sh
slipway=${SLIPWAY:-build/slipway}
state=$tap_dir/root
ns=das-operator
resource=mig.das.com/1g.5gb
dir=$SLIPWAY_CLUSTER_DIR

if [ -z "$(kubectl get nodes -o name)" ]; then
    skip "kubelet takes the device plugin" "no node in this cluster"
    plan
fi
node=$(kubectl get nodes -o 'jsonpath={.items[0].metadata.name}')
host_cdi=$dir/slicing/cdi host_journal=$dir/slices/journal
mark=$(wc -l <"$dir/log/audit.jsonl")
# there is no service network here: the plugin is told where the API server is
api=$(kubectl config view --minify -o 'jsonpath={.clusters[0].cluster.server}')
node_ip=$(kubectl get nodes -o 'jsonpath={.items[0].status.addresses[?(@.type=="InternalIP")].address}')

packed() {
    ( # another cluster's test may pack its images now
        flock 9
        hack/image.sh build --registry slipway.local --tag slices slipway-device-plugin &&
            ctr -a "$dir/containerd.sock" -n k8s.io images import build/images/slipway-device-plugin.tar
    ) 9>build/images.lock || return 1
    mkdir -p "$state"
    cat >"$tap_dir/show.c" <<'C'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void stop(int n)
{
    _exit(n != SIGTERM);
}
int main(void)
{
    const char *a = getenv("NVIDIA_VISIBLE_DEVICES"), *b = getenv("CUDA_VISIBLE_DEVICES");
    printf("visible=%s cuda=%s\n", a ? a : "", b ? b : "");
    fflush(stdout);
    signal(SIGTERM, stop);
    for (;;)
        pause();
}
C
    gcc -static -Os -o "$state/show" "$tap_dir/show.c" && hack/cluster.sh image slipway.local/show:1 "$state" /show
}

# As the recipe applies it, but for the image and this cluster's paths and address.
manifests() {
    "$slipway" render states/device-plugin --namespace $ns --kube-version 1.20.2 --set emulatedMode=enabled,after= \
        --set image=slipway.local/slipway-device-plugin:slices,imagePullPolicy=Never \
        --set "hostPaths.podResources=$dir/kubelet/pod-resources,hostPaths.cdi=$host_cdi,hostPaths.journal=$host_journal" |
        sed "s|^\( *\)env:$|\1env:\n\1- {name: KUBERNETES_SERVICE_HOST, value: $node_ip}\n\1- {name: KUBERNETES_SERVICE_PORT, value: \"${api##*:}\"}|"
}

deployed() {
    kubectl create namespace $ns --dry-run=client -o yaml | kubectl apply -f - && kubectl apply -f states/scheduler/crds &&
        established crd/allocationclaims.inference.redhat.com &&
        kubectl label --overwrite node "$node" nvidia.com/mig.capable=true && manifests >"$tap_dir/manifests" &&
        kubectl apply -f "$tap_dir/manifests" &&
        { kubectl -n $ns rollout status daemonset/das-daemonset --timeout=240s || { kubectl -n $ns get pods -o yaml | tail -60; kubectl -n $ns logs ds/das-daemonset; false; }; }
}

capacity() { # COUNT RESOURCE
    [ "$(kubectl get node "$node" -o json | python3 -c 'import json,sys; print(json.load(sys.stdin)["status"]["allocatable"].get(sys.argv[1], ""))' "$2")" = "$1" ]
}

advertised() {
    until_ok 120 capacity 14 $resource && capacity 2 mig.das.com/1g.5gb-plus-me && capacity 4 mig.das.com/3g.20gb &&
        [ "$(kubectl -n $ns get nodeaccelerator "$node" -o 'jsonpath={.status.conditions[0].reason}')" = GPUsAccessible ]
}

# pod NAME COUNT: bound to the node, then its claims
pod() {
    local uid gpu i
    gpu=$(kubectl -n $ns get nodeaccelerator "$node" -o 'jsonpath={.status.nodeResources.nodeGpus[0].gpuUuid}')
    kubectl create -f - <<YAML || return 1
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
  nodeName: $node
  runtimeClassName: nvidia-legacy
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: slipway.local/show:1
    imagePullPolicy: Never
    resources: {limits: {$resource: $2}}
YAML
    uid=$(kubectl get pod "$1" -o 'jsonpath={.metadata.uid}')
    for ((i = 0; i < $2; i++)); do
        kubectl create -f - <<YAML || return 1
apiVersion: inference.redhat.com/v1alpha1
kind: AllocationClaim
metadata: {name: $uid-$node-main-$i, namespace: $ns, labels: {slipway.dev/node: $node}}
spec:
  profile: 1g.5gb
  nodename: $node
  gpuUUID: $gpu
  migPlacement: {start: $((i + ${3:-0})), size: 1}
  podRef: {kind: Pod, namespace: default, name: $1, uid: $uid}
YAML
        # kubectl 1.20 has no --subresource
        rm -f "$tap_dir/proxy" # of the one before
        kubectl proxy --port=0 >"$tap_dir/proxy" &
        local proxy=$!
        until_ok 10 grep -qs 127 "$tap_dir/proxy"
        curl -sSf -X PATCH -H 'Content-Type: application/merge-patch+json' -d '{"status":{"state":"created"}}' \
            "http://$(sed 's/.* //' "$tap_dir/proxy")/apis/inference.redhat.com/v1alpha1/namespaces/$ns/allocationclaims/$uid-$node-main-$i/status" >/dev/null || return 1
        kill $proxy
        wait $proxy 2>/dev/null || true # its end by the signal is no failure
    done
}

states() { kubectl -n $ns get allocationclaims -o 'jsonpath={.items[*].status.state}'; }

runs() {
    pod slice 1 || return 1
    kubectl wait --for=condition=Ready pod/slice --timeout=240s || { kubectl describe pod slice; kubectl -n $ns logs ds/das-daemonset | tail -20; return 1; }
    kubectl logs slice && kubectl logs slice | grep -q '^visible=MIG-[0-9a-f-]* cuda=0$' && until_ok 20 eval '[ "$(states)" = inUse ]' &&
        [ "$(ls "$host_cdi")" = "c1g.5gb_$(kubectl logs slice | sed 's/visible=\([^ ]*\).*/\1/').cdi.json" ] && [ "$(ls "$host_journal" | wc -l)" -ge 1 ]
}

three_in_one() {
    pod three 3 1 && kubectl wait --for=condition=Ready pod/three --timeout=240s && kubectl logs three | grep -q '^visible=MIG-[^,]*,MIG-[^,]*,MIG-[^ ]* cuda=0,1,2$'
}

nothing_left() { [ -z "$(states)" ] && [ -z "$(ls "$host_cdi")" ] && [ -z "$(find "$host_journal" -name '*.json')" ]; }

no_claim() { # fails closed, and kubelet says why
    kubectl create -f - <<YAML || return 1
apiVersion: v1
kind: Pod
metadata: {name: unclaimed}
spec:
  nodeName: $node
  containers:
  - {name: main, image: "slipway.local/show:1", imagePullPolicy: Never, resources: {limits: {$resource: 1}}}
YAML
    until_ok 40 eval 'kubectl get pod unclaimed -o "jsonpath={.status.message}" | grep -q "no AllocationClaim for 1 x 1g.5gb within 10 s"' || { kubectl get pod unclaimed -o "jsonpath={.status}"; return 1; }
    [ "$(kubectl get pod unclaimed -o 'jsonpath={.status.phase}')" = Failed ] && kubectl delete pod unclaimed --wait=false
}

kubelet_restarts() {
    local before
    before=$(kubectl -n $ns logs ds/das-daemonset | grep -c ' registered resource')
    program_again kubelet 0 nsenter -m -t "$(cat "$dir/pid/containerd")" || return 1
    until_ok 150 eval '[ "$(kubectl -n $ns logs ds/das-daemonset 2>/dev/null | grep -c " registered resource")" -ge '$((before + 7))' ]' &&
        until_ok 120 capacity 14 $resource && [ "$(states)" = inUse ] && kubectl get pod slice | grep -q Running
}

plugin_killed() {
    local pid
    for pid in $(pgrep -f -- '--device-list-strategy=envvar'); do
        grep kubepods "/proc/$pid/cgroup" | grep -q "$(cat "$dir/bridge")" && break # of this cluster
        pid=
    done
    [ -n "$pid" ] || return 1
    kill -KILL $pid && until_ok 60 eval '[ "$(kubectl -n $ns get pods -l app=das-daemonset -o "jsonpath={.items[0].status.containerStatuses[0].restartCount}")" = 1 ]' &&
        kubectl -n $ns rollout status daemonset/das-daemonset --timeout=240s && until_ok 120 capacity 14 $resource && [ "$(states)" = inUse ]
}

gone() { kubectl delete pod "$@" && until_ok 120 nothing_left; }

# What the account was refused, and rights that it has for nothing.
exactly_its_rights() {
    tail -n +"$mark" "$dir/log/audit.jsonl" | grep '"username":"system:serviceaccount:'$ns':das-daemonset"' >"$tap_dir/calls"
    ! grep '"code":403' "$tap_dir/calls" || return 1
    local right
    for right in 'list.*"resource":"pods"' 'watch.*"resource":"allocationclaims"' 'patch.*"resource":"allocationclaims".*"subresource":"status"' \
        'delete.*"resource":"allocationclaims"' 'get.*"resource":"nodes"' 'patch.*"resource":"nodeaccelerators"'; do
        grep -q "\"verb\":\"$right" "$tap_dir/calls" || { echo "never: $right"; return 1; }
    done
}

t "the image is packed from the build" packed
t "the state's manifests run as they are" deployed
t "kubelet takes the registration and the node offers the slices" advertised
t "a pod with a claim runs with its slice" runs
t "kubelet restarts: registered again, the pod keeps its slice" kubelet_restarts
t "the plugin is killed: it comes back and goes on" plugin_killed
t "the pod ends: claim, CDI file and record go" gone slice
t "three slices in one container" three_in_one
t "they go together" gone three
t "without a claim the pod fails, with the reason" no_claim
t "the account has the rights that it needs, and uses them" exactly_its_rights
kubectl delete -f "$tap_dir/manifests" --ignore-not-found --wait=false >/dev/null 2>&1
t "nothing is left of it" slicing_cleared $ns
plan
