# All recipes on one cluster: who comes first installs what they share, the others use it, and where he goes one of
# them installs it again.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
export KUBECONFIG=$tap_dir/kubeconfig
command -v kubectl >/dev/null || { skip "recipes together" "no kubectl here"; plan; }
trap 'xargs -r kill <"$tap_dir/pids" 2>/dev/null; rm -rf "$tap_dir"' EXIT
up() { # PLATFORM
    [ ! -f "$tap_dir/pids" ] || xargs -r kill <"$tap_dir/pids"
    rm -f "$KUBECONFIG" "$tap_dir/pids"
    "$slipway" emulate --platform "$1" --delays 0 --kubeconfig-out "$KUBECONFIG" >/dev/null 2>&1 &
    echo $! >"$tap_dir/pids"
    until_ok 20 test -s "$KUBECONFIG" || return 1
    kubectl apply -f deploy/crds/sro.openshift.io_specialresources.yaml && established crd/specialresources.sro.openshift.io || return 1
    "$slipway" controller --legacy-rights --allowed-files "$PWD" --metrics-bind-address 0 --health-probe-bind-address 0 >"$tap_dir/log" 2>&1 &
    echo $! >>"$tap_dir/pids"
}
resource() { # RECIPE
    printf 'apiVersion: sro.openshift.io/v1beta1\nkind: SpecialResource\nmetadata: {name: %s}\nspec:\n  namespace: %s\n  chart: {name: %s, version: 0.1.0, repository: {name: here, url: "file://%s/recipes/%s"}}\n' "$1" "$1" "$1" "$PWD" "$1"
}
come() { resource "$1" | kubectl apply -f - && kubectl wait --for=condition=Ready "specialresource/$1" --timeout=60s || { kubectl get specialresource "$1" -o json | jq -r '.status.conditions[].message'; tail -5 "$tap_dir/log"; return 1; }; }
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
