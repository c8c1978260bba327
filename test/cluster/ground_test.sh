# The ground that the cluster tests stand on: a control plane that takes our CRDs and a node that
# really runs pods.
. test/tap.sh

pods_run() {
    mkdir -p "$tap_dir/root"
    cat >"$tap_dir/hello.c" <<'C'
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    (void)argv;
    puts("hello from a pod");
    fflush(stdout);
    for (; argc == 1;)
        pause();
}
C
    gcc -static -Os -o "$tap_dir/root/hello" "$tap_dir/hello.c" &&
        hack/cluster.sh image slipway.local/hello:1 "$tap_dir/root" /hello &&
        kubectl apply -f test/cluster/hello.yaml &&
        kubectl wait --for=condition=Available deployment/hello --timeout=240s &&
        kubectl wait --for=condition=Complete job/hello --timeout=240s &&
        [ "$(kubectl logs job/hello)" = "hello from a pod" ] &&
        kubectl delete -f test/cluster/hello.yaml --wait=false
}

# kubectl 1.32 reads OpenAPI v3, which 1.20 does not serve: it falls back, once v2 has the kind
explained() {
    kubectl explain specialresource.spec.chart 2>&1 | grep -q repository
}

crds_apply() {
    kubectl apply -k deploy/crds &&
        established crd/specialresources.sro.openshift.io &&
        kubectl apply -f states/scheduler/crds &&
        until_ok 20 explained
}

# Every CRD of the GPU operator's chart, applied and read back: they are the largest around, and an
# API server built with a wrong reflect2 dies of them.
gpu_operator_crds() {
    local f
    for f in "$SW_SHARED"/charts/gpu-operator/crds/*.yaml; do
        kubectl delete --ignore-not-found -f "$f" || return 1 # a walk before this one leaves definitions, as Helm does
        # 1.20 does not know x-kubernetes-validations: the server drops it, kubectl would refuse
        kubectl create --validate=false -f "$f" || return 1
    done
    kubectl get crd clusterpolicies.nvidia.com -o json | grep -q '"ClusterPolicy"' &&
        [ "$(kubectl get crd -o name | grep -c nvidia.com)" -ge 5 ] &&
        for f in "$SW_SHARED"/charts/gpu-operator/crds/*.yaml; do kubectl delete -f "$f" || return 1; done
}

kubectl -n kube-system get pods >/dev/null 2>&1
if [ -n "$(kubectl get nodes -o name)" ]; then
    t "a Deployment and a Job run on the node and their logs can be read" pods_run
else
    skip "a Deployment and a Job run on the node and their logs can be read" "no node in this cluster"
fi
t "the CRDs of deploy/ and of the states are taken and explained" crds_apply
if [ -d "${SW_SHARED:-}/charts/gpu-operator/crds" ]; then
    t "the GPU operator's CRDs are taken and read back" gpu_operator_crds
fi
plan
