#!/bin/bash
# What plays the vendors' operators writes what their code writes: objects, labels, annotations, conditions, status.
# A row a field, by operator: what was read in its public repository (named above the rows) stands for it.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh
slipway=${SLIPWAY:-build/test/slipway}
export KUBECONFIG=$tap_dir/kubeconfig
trap 'stop emulated; rm -rf "$tap_dir"' EXIT

walks() { # RECIPE OPTION...
    stop emulated
    emulated --platform kubernetes --delays 0 "${@:2}" >/dev/null 2>&1 || return 1
    "$slipway" run "recipes/$1" --stand-ins --timeout 60s >"$tap_dir/log" 2>&1 || { tail -5 "$tap_dir/log"; return 1; }
}

# KIND#[NAMESPACE/]NAME#JQ EXPRESSION#a regular expression that its text fits, whole
field() { # KIND NAME EXPRESSION EXPECTED
    local ns=() name=$2 got
    case $2 in */*) ns=(-n "${2%%/*}") name=${2##*/} ;; esac
    got=$(kubectl get "$1" "${ns[@]}" "$name" -o json 2>"$tap_dir/err" | jq -r "$3") || { cat "$tap_dir/err"; return 1; }
    [[ $got =~ ^($4)$ ]] || { echo "$1 $2: $3 is '$got', not '$4'"; return 1; }
}
rows() { # TITLE; rows from standard input
    local kind name expression expected
    while IFS='#' read -r kind name expression expected; do
        [ -n "$kind" ] || continue
        t "$1: $kind $name: ${expression#.}" field "$kind" "$name" "$expression" "$expected"
    done
}
condition() { echo ".status.conditions[] | select(.type == \"$1\") | [.status, .reason, .message] | join(\" - \")"; }

if ! command -v kubectl >/dev/null || ! command -v jq >/dev/null; then
    skip "what plays the operators" "no kubectl, or no jq, here"
    plan
fi

# cert-manager/cert-manager: internal/controller/certificates/policies, pkg/controller/certificates,
# pkg/controller/certificaterequests, pkg/issuer
t "nvidia-mig walks" walks nvidia-mig --kube-version 1.33

ns=$(kubectl get certificates -A -o 'jsonpath={.items[0].metadata.namespace}')
certificate=$(kubectl get certificates -n $ns -o 'jsonpath={.items[0].metadata.name}')
secret=$(kubectl get certificates -n $ns -o 'jsonpath={.items[0].spec.secretName}')
rows cert-manager <<END
certificate#$ns/$certificate#$(condition Ready)#True - Ready - Certificate is up to date and has not expired
certificate#$ns/$certificate#.status.revision#1
certificate#$ns/$certificate#[.status.notBefore, .status.notAfter, .status.renewalTime] | map(test("Z$")) | all#true
certificaterequest#$ns/$certificate-1#$(condition Approved)#True - cert-manager.io - Certificate request has been approved by cert-manager.io
certificaterequest#$ns/$certificate-1#$(condition Ready)#True - Issued - Certificate fetched from issuer successfully
certificaterequest#$ns/$certificate-1#.metadata.annotations["cert-manager.io/certificate-revision"]#1
certificaterequest#$ns/$certificate-1#.metadata.ownerReferences[0].kind#Certificate
secret#$ns/$secret#.type#kubernetes.io/tls
secret#$ns/$secret#.metadata.labels["controller.cert-manager.io/fao"]#true
secret#$ns/$secret#.metadata.annotations | has("cert-manager.io/ip-sans") and has("cert-manager.io/uri-sans") and has("cert-manager.io/alt-names")#true
secret#$ns/$secret#.metadata.annotations["cert-manager.io/certificate-name"]#$certificate
secret#$ns/$secret#.data | keys | join(",")#ca.crt,tls.crt,tls.key
END

# kubernetes-sigs/node-feature-discovery: pkg/nfd-worker, pkg/nfd-master, api/nfd/v1alpha1
nfd=$(kubectl get nodefeatures -A -o 'jsonpath={.items[0].metadata.namespace}')
rows "Node Feature Discovery" <<END
node#gpu-0#.metadata.labels["feature.node.kubernetes.io/pci-10de.present"]#true
node#gpu-0#.metadata.labels["feature.node.kubernetes.io/kernel-version.full"]#[0-9]+\.[0-9]+\.[0-9]+-.*
node#gpu-0#.metadata.annotations["nfd.node.kubernetes.io/feature-labels"]#cpu-cpuid.AVX2,.*,kernel-version.full,.*pci-10de.present.*
nodefeature#$nfd/gpu-0#.metadata.labels["nfd.node.kubernetes.io/node-name"]#gpu-0
nodefeature#$nfd/gpu-0#.metadata.ownerReferences[0].kind#Pod
nodefeature#$nfd/gpu-0#.spec.features.attributes["kernel.version"].elements.full#[0-9]+\.[0-9]+\.[0-9]+-.*
nodefeature#$nfd/gpu-0#.spec.labels["feature.node.kubernetes.io/pci-10de.present"]#true
END

# NVIDIA/gpu-operator: controllers/clusterpolicy_controller.go, controllers/state_manager.go, internal/conditions
policy=$(kubectl get clusterpolicy -o 'jsonpath={.items[0].metadata.name}')
rows "GPU operator" <<END
clusterpolicy#$policy#.status.state#ready
clusterpolicy#$policy#.status.namespace#gpu-operator
clusterpolicy#$policy#$(condition Ready)#True - Reconciled - ClusterPolicy is ready as all resources have been successfully reconciled
clusterpolicy#$policy#$(condition Error)#False - Ready - 
node#gpu-0#.metadata.labels["nvidia.com/gpu.present"]#true
node#gpu-0#[.metadata.labels | to_entries[] | select(.key | startswith("nvidia.com/gpu.deploy.")) | .key | ltrimstr("nvidia.com/gpu.deploy.")] | sort | join(" ")#client container-toolkit dcgm dcgm-exporter device-plugin driver gpu-feature-discovery( mig-manager)? node-status-exporter operator-validator
node#gpu-0#.metadata.labels["nvidia.com/mig.config.state"]#success
daemonset#gpu-operator/nvidia-operator-validator#.metadata.ownerReferences[0].kind#ClusterPolicy
daemonset#gpu-operator/nvidia-operator-validator#.spec.template.spec.nodeSelector["nvidia.com/gpu.deploy.operator-validator"]#true
daemonset#gpu-operator/nvidia-driver-daemonset#[.spec.updateStrategy.type, .metadata.labels["app.kubernetes.io/component"], .spec.template.spec.nodeSelector["nvidia.com/gpu.deploy.driver"]] | join(" ")#OnDelete nvidia-driver true
daemonset#gpu-operator/nvidia-container-toolkit-daemonset#.spec.template.spec.nodeSelector["nvidia.com/gpu.deploy.container-toolkit"]#true
END

# the same, internal/conditions/nvidiadriver.go, controllers/nvidiadriver_controller.go, internal/consts
t "gpu-cluster walks" walks gpu-cluster --kube-version 1.34
slice=$(kubectl get resourceslices -o name | grep gpu-0-gpu.nvidia.com | cut -d/ -f2)
rows GPUCluster <<END
gpucluster#gpu-cluster#.status.state#ready
gpucluster#gpu-cluster#$(condition Ready)#True - Reconciled - All resources have been successfully reconciled
nvidiadriver#default#.status.state#ready
nvidiadriver#default#$(condition Error)#False - Ready - 
node#gpu-0#.metadata.labels["nvidia.com/gpu-driver-upgrade-state"]#upgrade-done
node#gpu-0#.metadata.annotations["nvidia.com/gpu-driver-upgrade-enabled"]#true
node#gpu-0#.metadata.labels["nvidia.com/gpu-operator.driver.owner"]#default
resourceslice#$slice#[.spec.driver, .spec.pool.name] | join(" ")#gpu.nvidia.com gpu-0
END

# intel/intel-device-plugins-for-kubernetes: pkg/apis/deviceplugin/v1, pkg/controllers
t "intel-device-plugins walks" walks intel-device-plugins --kube-version 1.33
intel=$(kubectl get gpudeviceplugins -o 'jsonpath={.items[0].metadata.name}')
rows "Intel's operator" <<END
gpudeviceplugin#$intel#.status.controlledDaemonSet | [.apiVersion, .kind, .name] | join(" ")#apps/v1 DaemonSet intel-gpu-plugin-$intel
gpudeviceplugin#$intel#.status.desiredNumberScheduled == .status.numberReady and .status.numberReady > 0#true
gpudeviceplugin#$intel#.status.nodeNames | length > 0#true
END

# ROCm/gpu-operator: api/v1alpha1, internal/controllers
t "amd-gpu walks" walks amd-gpu --kube-version 1.33
amd=$(kubectl get deviceconfigs -A -o 'jsonpath={.items[0].metadata.namespace}/{.items[0].metadata.name}')
rows "AMD's operator" <<END
deviceconfig#$amd#.status.devicePlugin | [.availableNumber, .desiredNumber] | map(tostring) | join("/")#1/1
deviceconfig#$amd#.status.conditions[] | select(.type == "Ready") | [.status, .reason] | join(" ")#True OperatorReady
END

# Mellanox/network-operator: controllers/nicclusterpolicy_controller.go, pkg/state
t "nvidia-network walks" walks nvidia-network --kube-version 1.33
rows "network operator" <<END
nicclusterpolicy#nic-cluster-policy#.status.state#ready
nicclusterpolicy#nic-cluster-policy#.status.appliedStates[] | select(.name == "state-RDMA-device-plugin") | .state#ready
nicclusterpolicy#nic-cluster-policy#[.status.appliedStates[].state] | unique | join(" ")#(ignore )?ready
END
plan
