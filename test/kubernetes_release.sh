# What hack/kubernetes.sh fetches, made up: scripts that say what they are.
case $(uname -m) in x86_64) release_arch=amd64 ;; aarch64) release_arch=arm64 ;; *) release_arch=$(uname -m) ;; esac

release_program() { # FILE TEXT
    mkdir -p "$(dirname "$1")" && printf '#!/bin/sh\necho %s\n' "'$2'" >"$1"
}
# release DIR VERSION MINOR ETCD [CONTAINERD]: below DIR, which hack/kubernetes.sh is then told of
release() {
    local dir=$1 work=$1/work name program at
    at=$dir/kubernetes/$2
    mkdir -p "$at" "$dir/kubernetes/release" "$dir/etcd/$4" "$work"
    printf '%s' "$2" >"$dir/kubernetes/release/stable-$3.txt"
    for program in kube-apiserver kube-controller-manager kube-scheduler kubelet kubectl kubeadm; do
        release_program "$work/kubernetes/server/bin/$program" "$program of $2"
    done
    name=kubernetes-server-linux-$release_arch.tar.gz
    tar -C "$work" -czf "$at/$name" kubernetes && sha256sum "$at/$name" | cut -d' ' -f1 | tr -d '\n' >"$at/$name.sha256"
    name=etcd-$4-linux-$release_arch
    release_program "$work/$name/etcd" "etcd of $4"
    tar -C "$work" -czf "$dir/etcd/$4/$name.tar.gz" "$name" && (cd "$dir/etcd/$4" && sha256sum "$name.tar.gz" >SHA256SUMS)
    if [ -n "${5:-}" ]; then
        at=$dir/containerd/v$5 name=containerd-$5-linux-$release_arch.tar.gz
        for program in containerd containerd-shim-runc-v2 ctr containerd-stress; do release_program "$work/bin/$program" "$program of $5"; done
        mkdir -p "$at" && tar -C "$work" -czf "$at/$name" bin && (cd "$at" && sha256sum "$name" >"$name.sha256sum")
    fi
    rm -rf "$work"
    export KUBERNETES_URL=file://$dir/kubernetes ETCD_URL=file://$dir/etcd CONTAINERD_URL=file://$dir/containerd
    unset ETCD_VERSION CONTAINERD_VERSION
}
