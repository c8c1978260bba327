# evictor_steps.sh: sourced by the tests that run slipway-scheduler beside a stock kube-scheduler that gives slices away
# itself, on a real API server and kubelet, with the account and the flags that states/scheduler gives it. The GPU is made
# up. Ends the test where the server is older, or no node is there.
slipway=${SLIPWAY:-build/slipway}
ns=das-operator
dir=$SLIPWAY_CLUSTER_DIR
state=$dir/evictor
minor=$(kubectl version -o json | tr -d ' "\n' | sed 's/.*serverVersion.*minor:\([0-9]*\).*/\1/')
[ "${minor:-0}" -ge 36 ] || { skip "$(basename "$0" _test.sh)" "Kubernetes 1.$minor does not place slices"; plan; }
[ -n "$(kubectl get nodes -o name)" ] || { skip "$(basename "$0" _test.sh)" "no node in this cluster"; plan; }
node=$(kubectl get nodes -o 'jsonpath={.items[0].metadata.name}')
trap 'for f in "$tap_dir"/*.pid; do [ ! -e "$f" ] || kill "$(cat "$f")" 2>/dev/null; done; wait; rm -rf "$tap_dir"' EXIT
mkdir -p "$state/cdi" "$state/journal" "$dir/slicing/cdi"

rendered() { "$slipway" render states/scheduler --namespace $ns --kube-version "v1.$minor.0" -a resource.k8s.io/v1 --show-only "templates/$1.yaml"; }
flags() { # of the state, but for the ports
    rendered deployment | sed -n '/^        args:$/,/^        env:$/s/^        - \(--.*\)/\1/p' | sed 's/\(-bind-address\)=.*/\1=127.0.0.1:0/'
}
image() {
    mkdir -p "$tap_dir/root"
    cat >"$tap_dir/show.c" <<'C'
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
    gcc -static -Os -o "$tap_dir/root/show" "$tap_dir/show.c" && hack/cluster.sh image slipway.local/waits:1 "$tap_dir/root" /show
}
evictor() { # [OPTION...]
    # shellcheck disable=SC2046
    KUBECONFIG=$tap_dir/account POD_NAME=evictor build/slipway-scheduler $(flags) --port=0 "$@" 2>>"$tap_dir/evictor.log" &
    echo $! >"$tap_dir/evictor.pid"
}
started() { # [OPTION...], of slipway-scheduler
    kubectl delete events --all -n default >/dev/null && image && kubectl create namespace $ns --dry-run=client -o yaml | kubectl apply -f - && kubectl apply -f states/scheduler/crds &&
        established crd/allocationclaims.inference.redhat.com && rendered rbac | kubectl apply -f - &&
        sed "s|user: {client-certificate|user: {as: \"system:serviceaccount:$ns:das-scheduler\", client-certificate|" "$KUBECONFIG" >"$tap_dir/account" &&
        grep -q 'as: "system' "$tap_dir/account" || return 1
    EMULATED_MODE=enabled build/slipway-device-plugin --kubeconfig "$KUBECONFIG" --node-name "$node" --kubelet-dir "$dir/kubelet" --api dra --emulated-count 1 \
        --cdi-dir "$dir/slicing/cdi" --journal-dir "$state/journal" --gate= --health-probe-bind-address 127.0.0.1:0 2>"$tap_dir/plugin.log" &
    echo $! >"$tap_dir/plugin.pid"
    evictor "$@"
    until_ok 60 eval 'kubectl get deviceclasses -o name | grep -q mig-7g' && until_ok 30 eval 'kubectl get resourceslices -o name | grep -q "mig.slipway.dev"' &&
        until_ok 30 grep -q 'evicting for devices' "$tap_dir/evictor.log" || { cat "$tap_dir"/*.log; return 1; }
}
# Nothing of it is left: what else a test made, it has deleted.
steps_cleared() {
    until_ok 60 eval '[ -z "$(kubectl get resourceclaims -o name)" ]' || return 1
    stop evictor; stop plugin
    kubectl delete resourceslices --all; kubectl delete deviceclasses -l slipway.dev/driver=mig.slipway.dev
    rm -rf "$state" && slicing_cleared $ns
}
