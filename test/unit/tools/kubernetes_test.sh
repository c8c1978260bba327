# hack/kubernetes.sh: the programs of a Kubernetes release, from archives that are made up here.
. test/tap.sh
. test/kubernetes_release.sh
made=$tap_dir/releases
release "$made" v1.20.15 1.20 v3.5.21
release "$made" v1.36.2 1.36 v3.6.4 2.1.4
bin=$tap_dir/bin

has() { # FILE...: $bin has these programs and no others
    diff <(printf '%s\n' "$@" | sort) <(ls "$bin") || return 1
    local program
    for program; do [ -x "$bin/$program" ] || { echo "$program is no program"; return 1; }; done
}
newest() {
    hack/kubernetes.sh 1.36 "$bin" && has containerd containerd-shim-runc-v2 ctr etcd kube-apiserver kube-controller-manager kube-scheduler kubectl kubelet &&
        [ "$("$bin/kubelet")" = "kubelet of v1.36.2" ] && [ "$("$bin/etcd")" = "etcd of v3.6.4" ]
}
t "the newest release of a minor version, with etcd and containerd" newest
again() {
    mv "$made" "$made.away" && hack/kubernetes.sh v1.36.2 "$bin"
    local rc=$?
    mv "$made.away" "$made"
    [ $rc = 0 ]
}
t "what is there is not fetched again" again
other() {
    rm -rf "$bin" && hack/kubernetes.sh 1.20 "$bin" && has etcd kube-apiserver kube-controller-manager kube-scheduler kubectl kubelet
}
t "an old version has the distribution's containerd" other
refused() { # TEXT COMMAND...
    local text=$1
    shift
    ! "$@" >"$tap_dir/said" 2>&1 || { echo "it succeeded"; return 1; }
    grep -qF -- "$text" "$tap_dir/said" || { cat "$tap_dir/said"; return 1; }
}
spoilt() {
    rm -rf "$bin" && printf x >>"$made/etcd/v3.6.4/etcd-v3.6.4-linux-$release_arch.tar.gz" || return 1
    refused "is not what" hack/kubernetes.sh v1.36.2 "$bin" && [ ! -e "$bin/etcd" ] && [ ! -e "$bin/.release" ]
}
t "an archive with another checksum is refused" spoilt
t "a version that there is not" refused "stable-1.19.txt cannot be fetched" hack/kubernetes.sh 1.19 "$bin"
t "what is no version" refused "'latest' is no version" hack/kubernetes.sh latest "$bin"
plan
