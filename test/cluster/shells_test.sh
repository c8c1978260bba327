# slipway onto a real API server and off again, by each awk and each shell that is here: `make deploy`, `undeploy`,
# `deploy-das` and `undeploy-das` call awk in many places, and each recipe of make is a program for the shell.
. test/tap.sh
. test/cluster_images.sh
slipway=${SLIPWAY:-build/slipway}
api=$(kubectl config view --minify -o 'jsonpath={.clusters[0].cluster.server}')
node_ip=$(kubectl get nodes -o 'jsonpath={.items[0].status.addresses[?(@.type=="InternalIP")].address}')
unset IMG NAMESPACE PLATFORM RELATED_IMAGES OPERATOR_NAMESPACE
# there is no service network here
export API_SERVER=$node_ip:${api##*:} REGISTRY=slipway.local PULL_POLICY=Never REPLICAS=1 KUBECTL=kubectl TIMEOUT=120 EMULATED_MODE=enabled

awks=() shells=(bash)
for a in gawk 'gawk --posix' mawk 'busybox awk' original-awk; do
    ! command -v "${a%% *}" >/dev/null || awks+=("$a")
done
for s in dash 'busybox ash'; do
    ! command -v "${s%% *}" >/dev/null || shells+=("$s")
done
[ ${#awks[@]} -gt 0 ] || awks=(awk)

# by AWK SHELL TARGET...: make, with that awk as awk, and that shell for what it runs
by() {
    local shell=$2 flags=-c dir=$tap_dir/as
    rm -rf "$dir" && mkdir "$dir"
    printf '#!/bin/sh\nexec %s "$@"\n' "$(command -v "${1%% *}")${1#"${1%% *}"}" >"$dir/awk" && chmod +x "$dir/awk" || return 1
    case $shell in *' '*) flags="${shell#* } -c" shell=${shell%% *} ;; esac
    shift 2
    PATH=$dir:$PATH make -s "SHELL=$(command -v "$shell")" ".SHELLFLAGS=$flags" TAG=e2e "$@"
}
runs() { [ "$(kubectl -n slipway get deployment slipway -o 'jsonpath={.status.availableReplicas} {.spec.template.spec.containers[0].image}')" = '1 slipway.local/slipway:e2e' ]; }
nothing_left() { # of what is the cluster's as a whole
    [ -z "$(kubectl get crd,clusterrole,clusterrolebinding,namespace,priorityclass -o name | grep -E 'slipway|sro\.openshift\.io|inference\.redhat\.com|das-operator' | tee "$tap_dir/left")" ] || { cat "$tap_dir/left"; return 1; }
}
there_and_back() {
    by "$1" "$2" deploy && runs && by "$1" "$2" undeploy && nothing_left
}
das_there_and_back() {
    by "$1" "$2" deploy-das && runs && until_ok 60 kubectl get specialresource nvidia-mig &&
        kubectl -n das-operator get dasoperator cluster && by "$1" "$2" undeploy-das && ! kubectl get specialresource nvidia-mig 2>/dev/null &&
        by "$1" "$2" undeploy && nothing_left
}

if [ -n "$node_ip" ]; then
    # what a test before this one installed would go with make undeploy
    kubectl patch specialresources.sro.openshift.io --all --type merge -p '{"metadata":{"finalizers":null}}' >/dev/null 2>&1
    kubectl delete -k deploy/crds --ignore-not-found >/dev/null 2>&1
    t "the images are packed and imported" images_imported
    [ $tap_bad = 0 ] || plan
    n=${#awks[@]}
    [ "$n" -gt ${#shells[@]} ] || n=${#shells[@]}
    # a sample: two and a third, from SW_SEED on; SW_ALL=1 for all of them
    first=$((${SW_SEED:-0} % n)) deploys=2 dases=1
    [ -z "${SW_ALL:-}" ] || deploys=$n dases=$n
    for ((i = first; i < first + deploys; i++)); do
        awk=${awks[i % ${#awks[@]}]} shell=${shells[i % ${#shells[@]}]}
        t "make deploy TAG=e2e and undeploy: $awk, $shell" there_and_back "$awk" "$shell"
    done
    for ((i = first + deploys; i < first + deploys + dases; i++)); do
        awk=${awks[i % ${#awks[@]}]} shell=${shells[(i + 1) % ${#shells[@]}]}
        t "make deploy-das and undeploy-das: $awk, $shell" das_there_and_back "$awk" "$shell"
    done
fi
plan
