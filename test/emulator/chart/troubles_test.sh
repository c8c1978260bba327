# What users know to go wrong with what operators install (--trouble), and what run, status and Events say of it.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
export KUBECONFIG=$tap_dir/kubeconfig
trap 'stop operating; stop emulated; rm -rf "$tap_dir"' EXIT

run() { # TROUBLE RECIPE [OPTION]...: what it says is in a file
    local trouble=$1 recipe=$2
    shift 2
    "$slipway" run "recipes/$recipe" --emulate --trouble "$trouble" "$@" >"$tap_dir/said" 2>&1
}
# a walk that ends by its time may not have come that far on a busy machine: it is given more then
never=()
never() { never=("$@") && ! run "$@" --delays 0 --timeout 3s; }
said() {
    grep -q "$1" "$tap_dir/said" && return
    [ ${#never[@]} = 0 ] || { ! run "${never[@]}" --delays 0 --timeout 15s && grep -q "$1" "$tap_dir/said" && return; }
    cat "$tap_dir/said"
    return 1
}

unknown() { ! run nothing simple-kmod && said "trouble 'nothing': expected one of .*labels-lost"; }
own_cluster() { ! "$slipway" run recipes/simple-kmod --trouble labels-lost >"$tap_dir/said" 2>&1 && said 'are for --emulate'; }
operand() { never operand-not-ready nvidia-mig && said "state 'gpu-operator': ClusterPolicy gpu-cluster-policy condition Error is True: OperandNotReady: ClusterPolicy is not ready, states not ready: \[gpu-feature-discovery\]"; }
operand_of_gpu_cluster() { never operand-not-ready gpu-cluster --platform kubernetes && said 'GPUCluster gpu-cluster condition Error is True: OperandNotReady: Waiting for operand pods'; }
operand_of_amd() { never operand-not-ready amd-gpu --platform kubernetes && said "state 'amd-gpu-operator': 1 of 1 nodes have no allocatable amd.com/gpu yet (worker-0)"; }
compiles() { # the compiler's last words are told, and that Job is not made again and again
    never driver-does-not-compile nvidia-gpu --platform kubernetes && said "state 'driver-build': Job .* exit code 2 .*; the end of its log: .*make: \*\*\* \[Makefile:1234: modules\] Error 2"
}
compiles_openshift() { never driver-does-not-compile nvidia-gpu --platform openshift && said "state 'driver-build': BuildConfig .*Makefile:1234: modules. Error 2"; }
compiles_operators() { never driver-does-not-compile intel-gaudi --platform kubernetes && said 'nodes have no allocatable habana.ai/gaudi yet (worker-0)'; }
# Up to 1.35 recipe nvidia-mig has a webhook.
containerd() { # what was ready is not for a moment, and the walk goes on by itself
    run toolkit-restarts-containerd nvidia-mig --kube-version 1.35 --delays 0.5 --timeout 60s && said 'StateNotReady: state webhook: .*pods are ready' && said 'nvidia-mig: Ready'
}
certificate() { # what needs no certificate is walked meanwhile
    run late-certificate nvidia-mig --kube-version 1.35 --delays 0.2 --timeout 60s && said 'nvidia-mig: Ready' &&
        [ "$(grep -n 'StateReady: state scheduler' "$tap_dir/said" | cut -d: -f1)" -lt "$(grep -n 'StateReady: state webhook' "$tap_dir/said" | cut -d: -f1)" ]
}
certificate_waited() { ! run late-certificate nvidia-mig --kube-version 1.35 --delays 1 --timeout 6s && said "state 'webhook': .*das-operator-webhook"; }

upgrade_fails() { never driver-upgrade-fails gpu-cluster --platform kubernetes && said "assertion 'driver-upgrade-failed' about no Node: gpu-0 has what none may have: .*upgrade-failed"; }
upgrade_counts_no_more() { run driver-upgrade-fails gpu-cluster --platform kubernetes --delays 0 --timeout 30s --set gpu-cluster-operator.refuse.driver-upgrade-failed.enabled=false && said 'gpu-cluster: Ready'; }
mig_fails() { never mig-config-fails nvidia-mig --platform kubernetes && said "assertion 'mig-config-failed' about no Node: gpu-0 has what none may have: label nvidia.com/mig.config.state is failed; the GPUs cannot be divided"; }
precompiled() { run labels-lost gpu-cluster --platform kubernetes --delays 0 --timeout 30s --set gpu-cluster-operator.gpu-operator.driver.usePrecompiled=true && said 'gpu-cluster: Ready'; }
# What explain says goes from the NVIDIADriver to the DaemonSet that the operator has made for it, and its pods.
explained() { # TROUBLE EXPECTED OPTION...
    stop emulated
    emulated --platform kubernetes --kube-version 1.34 --delays 0 --trouble "$1" || return 1
    "$slipway" run recipes/gpu-cluster --stand-ins --timeout 4s "${@:3}" >"$tap_dir/said" 2>&1
    "$slipway" explain gpu-cluster >"$tap_dir/said"
    said "$2"
}
not_precompiled() {
    explained no-precompiled-driver 'container nvidia-driver-ctr: ImagePullBackOff; Back-off pulling image "nvcr.io/nvidia/driver:580.*-.*generic-ubuntu' \
        --set gpu-cluster-operator.gpu-operator.driver.usePrecompiled=true && said '^      DaemonSet gpu-operator/nvidia-gpu-driver-'
}
conflict() {
    explained labels-lost 'NVIDIADriver default.*ConflictingNodeSelector: multiple NVIDIADrivers match the same node gpu-[0-9]: \[a b\]' \
        --set gpu-cluster-operator.drivers.a.version=1,gpu-cluster-operator.drivers.b.version=2
}
not_with_gds() {
    explained labels-lost 'ReconcileFailed: GPUDirect Storage driver .* is not supported along with pre-compiled NVIDIA drivers' \
        --set-json 'gpu-cluster-operator.drivers.a={"usePrecompiled":true,"gds":{"enabled":true},"nodeSelector":{"kubernetes.io/hostname":"gpu-0"}}'
}
by_selector() { # each node has the driver whose selector it fits, and the default one elsewhere
    stop emulated
    emulated --platform kubernetes --kube-version 1.34 --delays 0 &&
        "$slipway" run recipes/gpu-cluster --stand-ins --timeout 30s --set gpu-cluster-operator.drivers.old.version=570.1.1 \
            --set-json 'gpu-cluster-operator.drivers.old.nodeSelector={"kubernetes.io/hostname":"gpu-0"}' >"$tap_dir/said" 2>&1 || { cat "$tap_dir/said"; return 1; }
    [ "$(kubectl get nodes -l nvidia.com/gpu-operator.driver.owner=old -o name)" = node/gpu-0 ] &&
        [ "$(kubectl get pods -n gpu-operator -l app.kubernetes.io/component=nvidia-driver -o json |
            jq -r '.items[] | select(.spec.nodeName == "gpu-0") | .spec.containers[0].image')" = nvcr.io/nvidia/driver:570.1.1 ]
}
named_mig() { # a configuration of the ConfigMap is one
    stop emulated
    emulated --platform kubernetes --delays 0 && "$slipway" run recipes/nvidia-mig --stand-ins --timeout 30s >"$tap_dir/said" 2>&1 || { cat "$tap_dir/said"; return 1; }
    kubectl create configmap -n gpu-operator parted --from-literal="config.yaml=version: v1
mig-configs: {ours: [{devices: all, mig-enabled: true}]}" &&
        kubectl label node gpu-0 nvidia.com/mig.config=ours && kubectl label node gpu-1 nvidia.com/mig.config=theirs &&
        until_ok 10 eval '[ "$(kubectl get nodes -l nvidia.com/mig.config.state=failed -o name)" = node/gpu-1 ]' &&
        kubectl get node gpu-0 -o jsonpath='{.metadata.labels}' | grep -q 'mig.config.state":"success'
}
no_operands() {
    stop emulated
    emulated --platform kubernetes --delays 0 && "$slipway" run recipes/nvidia-mig --stand-ins --timeout 30s >"$tap_dir/said" 2>&1 || { cat "$tap_dir/said"; return 1; }
    kubectl label node gpu-0 nvidia.com/gpu.deploy.operands=false &&
        until_ok 10 eval '! kubectl get nodes -l nvidia.com/gpu.deploy.operator-validator -o name | grep gpu-0'
}

drivers() { kubectl -n nvidia-gpu get pods -l 'app' -o json | jq -r '.items[] | select(.metadata.ownerReferences[0].kind == "DaemonSet") | .metadata.uid' | sort; }
is_ready() { [ "$(kubectl get specialresource nvidia-gpu -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}')" = True ]; }
has_label() { [ "$(kubectl get nodes -l feature.node.kubernetes.io/pci-10de.present=true -o name | wc -l)" = "$1" ]; }
lost() { # drivers stay while the labels are gone
    stop emulated
    emulated --platform kubernetes --delays 0.3 --trouble labels-lost && operating --allowed-files "$PWD" || return 1
    resource nvidia-gpu "file://$PWD/recipes/nvidia-gpu" 0.1.0 | kubectl apply -f - && until_ok 30 is_ready && until_ok 30 has_label 0 || return 1
    drivers >"$tap_dir/before" && [ "$(wc -l <"$tap_dir/before")" -ge 3 ] || return 1
    until_ok 40 has_label 3 && drivers | diff "$tap_dir/before" - && is_ready
}

t "a trouble that is none is refused by name" unknown
t "it is for clusters that the emulator makes" own_cluster
t "an operand that never gets ready" operand
t "an operand of a GPUCluster that never gets ready" operand_of_gpu_cluster
t "a device plugin of AMD that never gets ready" operand_of_amd
t "a driver that does not compile on this kernel" compiles
t "one that OpenShift builds" compiles_openshift
t "an operator's driver that does not compile" compiles_operators
t "a toolkit that restarts containerd" containerd
t "a webhook whose certificate is late" certificate
t "a certificate that is too late is told" certificate_waited
t "a driver's upgrade that the operator has given up on a node" upgrade_fails
t "a label that is taken out of refuse holds nothing" upgrade_counts_no_more
t "a MIG configuration that does not exist" mig_fails
t "precompiled drivers, one for each kernel" precompiled
if command -v kubectl >/dev/null && command -v jq >/dev/null; then
    t "explain: no driver was built for the kernel" not_precompiled
    t "explain: two drivers for one node" conflict
    t "explain: GDS beside precompiled drivers" not_with_gds
    t "several drivers, by node selector" by_selector
    t "named MIG configurations" named_mig
    t "a node without operands" no_operands
    t "labels of Node Feature Discovery that are lost for a minute" lost
else
    skip "labels of Node Feature Discovery that are lost for a minute" "no kubectl here"
fi
plan
