# All recipes on one cluster: who comes first installs what they share, the others use it, and where he goes one of
# them installs it again.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
export KUBECONFIG=$tap_dir/kubeconfig
command -v kubectl >/dev/null || { skip "recipes together" "no kubectl here"; plan; }
trap 'stop operating; stop emulated; rm -rf "$tap_dir"' EXIT
up() { stop operating && stop emulated && emulated --platform "$1" && operating --allowed-files "$PWD"; }
come() { resource "$1" "file://$PWD/recipes/$1" 0.1.0 | kubectl apply -f - && kubectl wait --for=condition=Ready "specialresource/$1" --timeout=60s || { kubectl get specialresource "$1" -o json | jq -r '.status.conditions[].message'; tail -5 "$tap_dir/log"; return 1; }; }
# who is left is Ready, also when what it shared has gone with its owner and come again
go() {
    kubectl delete specialresource "$1" --timeout=60s || return 1
    shift
    local r
    for r in "$@"; do until_ok 30 ready "$r" || { kubectl get specialresource "$r" -o json | jq -r '.status.conditions[].message'; return 1; }; done
}
ready() { [ "$(kubectl get specialresource "$1" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}')" = True ] && sleep 0.3 && [ "$(kubectl get specialresource "$1" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}')" = True ]; }
come_all() { # PLATFORM RECIPE...
    local p=$1 r
    shift
    up "$p" || return 1
    for r in "$@"; do come "$r" || return 1; done
    [ "$p" = openshift ] || [ "$(kubectl get daemonsets -A -l role=worker -o name | wc -l)" = 1 ]
}
in_order() { # PLATFORM RECIPE...: they come in this order, and go in it
    come_all "$@" || return 1
    shift
    while [ $# -gt 0 ]; do go "$@" || return 1; shift; done
    ! kubectl get deployments,daemonsets -A -l specialresource.openshift.io/owned=true -o name | grep .
}
t "mig, gpu, intel, kmod on kubernetes" in_order kubernetes nvidia-mig nvidia-gpu intel-device-plugins simple-kmod
t "intel, kmod, gpu, mig on kubernetes" in_order kubernetes intel-device-plugins simple-kmod nvidia-gpu nvidia-mig
t "gpu, mig, kmod, intel on openshift" come_all openshift nvidia-gpu nvidia-mig simple-kmod intel-device-plugins
plan
