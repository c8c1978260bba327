#!/bin/bash
# kubernetes.sh VERSION DIR: the programs of a Kubernetes release in DIR, as KUBEBUILDER_ASSETS for hack/cluster.sh:
# API server, controller manager, scheduler, kubelet and kubectl, with the etcd and, from 1.28 on, the containerd that fit it.
#
#   VERSION   1.34: the newest release of that minor version; v1.34.2: this one
#
# They are fetched from where the projects publish them, and compared with the checksums that are published beside them.
# What DIR has already of the same version is not fetched again. From the environment: KUBERNETES_URL, ETCD_URL and
# CONTAINERD_URL, where a site has copies; ETCD_VERSION, CONTAINERD_VERSION.
set -euo pipefail
say() { echo "kubernetes: $*" >&2; }
die() { say "$*"; exit 1; }
[ "${1:-}" != --help ] && [ "${1:-}" != -h ] || { sed -n '2,10p' "$0" | sed 's/^# \{0,1\}//'; exit 0; }
[ $# = 2 ] || die "usage: hack/kubernetes.sh VERSION DIR"
case $(uname -m) in
x86_64) arch=amd64 ;;
aarch64) arch=arm64 ;;
*) die "there are no programs for $(uname -m)" ;;
esac
kubernetes_url=${KUBERNETES_URL:-https://dl.k8s.io}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

get() { # URL FILE
    curl -fsSL --retry 3 -o "$2" "$1" || die "$1 cannot be fetched"
}
# checked URL NAME SUMS-URL: $work/NAME, whose digest SUMS-URL names
checked() {
    local name=$2 want have
    get "$1/$name" "$work/$name"
    get "$3" "$work/sums"
    want=$(sed -n "s/^\([0-9a-f]\{64\}\)\( .*$name\)\{0,1\}\$/\1/p" "$work/sums" | sed -n 1p)
    have=$(sha256sum "$work/$name")
    [ "${have%% *}" = "$want" ] || die "$1/$name is not what $3 says (${have%% *} instead of ${want:-nothing})"
}
# put ARCHIVE MEMBER...: into DIR, without their folders
put() {
    local archive=$1 member
    shift
    tar -xzf "$archive" -C "$work" "$@" || die "$archive has not all of $*"
    for member; do
        chmod 755 "$work/$member"
        mv -f "$work/$member" "$dir/${member##*/}"
    done
}

version=$1
case $version in
v[0-9]*.[0-9]*.[0-9]*) ;;
[0-9]*.[0-9]*.*) version=v$version ;;
[0-9]*.[0-9]*)
    get "$kubernetes_url/release/stable-$version.txt" "$work/stable"
    version=$(cat "$work/stable")
    ;;
*) die "'$version' is no version (1.34, v1.34.2)" ;;
esac
minor=${version#v*.}
minor=${minor%%.*}
etcd=v3.5.21 containerd=
[ "$minor" -lt 28 ] || containerd=2.1.4
[ "$minor" -lt 34 ] || etcd=v3.6.4
etcd=${ETCD_VERSION:-$etcd} containerd=${CONTAINERD_VERSION:-$containerd}
all="$version etcd $etcd${containerd:+ containerd $containerd}"
mkdir -p "$2"
dir=$(cd "$2" && pwd)
[ "$(cat "$dir/.release" 2>/dev/null)" != "$all" ] || exit 0
rm -f "$dir/.release"

name=kubernetes-server-linux-$arch.tar.gz
say "fetching $all"
checked "$kubernetes_url/$version" "$name" "$kubernetes_url/$version/$name.sha256"
bin=kubernetes/server/bin
put "$work/$name" $bin/kube-apiserver $bin/kube-controller-manager $bin/kube-scheduler $bin/kubelet $bin/kubectl
url=${ETCD_URL:-https://github.com/etcd-io/etcd/releases/download}/$etcd name=etcd-$etcd-linux-$arch
checked "$url" "$name.tar.gz" "$url/SHA256SUMS"
put "$work/$name.tar.gz" "$name/etcd"
if [ -n "$containerd" ]; then
    url=${CONTAINERD_URL:-https://github.com/containerd/containerd/releases/download}/v$containerd name=containerd-$containerd-linux-$arch.tar.gz
    checked "$url" "$name" "$url/$name.sha256sum"
    put "$work/$name" bin/containerd bin/containerd-shim-runc-v2 bin/ctr
fi
echo "$all" >"$dir/.release"
say "$dir: $all"
