#!/bin/bash
# test/tools/kubectl.c prints what kubectl prints, byte for byte, and leaves to kubectl what it does not know.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh
slipway=${SLIPWAY:-build/test/slipway}
tool=$PWD/build/test/kubectl
real=${SW_KUBECTL:-$(command -v kubectl)}
unset SW_KUBECTL_REAL
export KUBECONFIG=$tap_dir/kubeconfig
trap 'stop emulated; rm -rf "$tap_dir"' EXIT

if [ ! -x "$real" ]; then
    skip "kubectl" "kubectl is needed"
    plan
fi

# same ARGUMENT...: the tool does it by itself, as kubectl does: what it prints, what it says, its exit status
same() {
    local rc=0 real_rc=0
    SW_KUBECTL=/no/kubectl "$tool" "$@" >"$tap_dir/a" 2>"$tap_dir/a.said" || rc=$?
    "$real" "$@" >"$tap_dir/b" 2>"$tap_dir/b.said" || real_rc=$?
    [ $rc = $real_rc ] && cmp "$tap_dir/a" "$tap_dir/b" && cmp "$tap_dir/a.said" "$tap_dir/b.said" || {
        echo "kubectl $*: exit $rc, not $real_rc"
        diff "$tap_dir/a" "$tap_dir/b" | sed -n 1,10p
        diff "$tap_dir/a.said" "$tap_dir/b.said"
        return 1
    }
}
# left ARGUMENT...: kubectl is to do it
left() {
    printf '#!/bin/sh\necho kubectl "$@"\n' >"$tap_dir/real" && chmod +x "$tap_dir/real"
    [ "$(SW_KUBECTL=$tap_dir/real "$tool" "$@" 2>&1)" = "kubectl $*" ] || { echo "not left to kubectl: $*"; return 1; }
}

fill() {
    kubectl create configmap odd --from-literal=a='<b> & "c" é' --from-literal=d=$'two\nlines' && kubectl label configmap odd a=b x.y/z=1 &&
        kubectl create namespace other && kubectl -n other create configmap it && kubectl apply -f - <<'END'
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: mine}
spec: {namespace: mine, chart: {name: mine, version: 0.1.0, repository: {name: here, url: "cm://a/b"}}}
END
}
objects() { # OUTPUT
    same get node gpu-0 -o "$1" && same get configmap/odd -o "$1" && same -n other get cm it -o "$1" && same get sr mine -o "$1" &&
        same get deployment.apps none -o "$1" && same get cm none -nother -o "$1" && same get node/none --ignore-not-found -o "$1"
}
lists() {
    same get nodes -o "$1" && same get cm -A -o "$1" && same get specialresources.sro.openshift.io -o "$1" && same get pods -o "$1" &&
        same get clusterroles --output="$1" && same get cm --namespace=other -o"$1" && same get pods --ignore-not-found -o "$1"
}
selected() {
    same get nodes -l kubernetes.io/hostname=gpu-0 -o name && same get nodes -o name --selector='!none,kubernetes.io/hostname in (gpu-0, gpu-1)' &&
        same get cm -A --field-selector metadata.name=odd -o json && same get cm -l none=a -o json
}
paths() {
    local p
    for p in '{.metadata.name}' '{.items[*].metadata.name}' '{range .items[*]}{.metadata.name}{" "}{.data}{"\n"}{end}' '{.data.d}' '{.none}' '{}' \
        '{.items[?(@.metadata.name=="odd")].metadata.labels}' '{.metadata.labels.x\.y/z}' '{.items[0].metadata.name}' '{.items[-1:].kind}'; do
        same get cm -o "jsonpath=$p" && same get cm odd -o "jsonpath=$p" || return 1
    done
}
others() {
    left get nodes && left get nodes -o wide && left get nodes gpu-0 gpu-1 -o name && left get nodes,pods -o name && left get nodes -w -o name &&
        left get cm odd -A -o name && left get widgets -o name && left get cm odd -o 'jsonpath={.data' && left get cm --as=me -o name &&
        left apply -f - && left get && left get nodes gpu-0 && left get nodes --show-managed-fields -o json &&
        SW_KUBECTL_REAL=1 left get nodes -o name && KUBECONFIG=$tap_dir/none left get nodes -o name
}
unread() { SW_KUBECTL=/no/kubectl "$tool" get node gpu-0 >/dev/null && ! SW_KUBECTL=/no/kubectl "$tool" get node none >/dev/null; }

t "an emulator with a few objects" emulated
t "they are made" fill
for output in name json yaml 'jsonpath={.metadata.labels}' 'jsonpath={.items[*].metadata.name}'; do
    t "objects, -o $output" objects "$output"
    t "lists, -o $output" lists "$output"
done
t "selectors" selected
t "expressions" paths
t "raw paths" same get --raw /version
t "without -o: what is not there" same get cm none
t "and what nobody reads" unread
t "all else is left to kubectl" others
plan
