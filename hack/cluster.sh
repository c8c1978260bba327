#!/bin/bash
# cluster.sh: a real one-node Kubernetes on loopback, for the cluster tests.
#
#   cluster.sh build                  make the programs (once, into ~/.cache/slipway); nothing to do
#                                     where KUBEBUILDER_ASSETS names a folder with them
#   cluster.sh up [--no-node] [--openshift]
#                                     start etcd, API server, controller manager, scheduler, and a
#                                     node (containerd, kubelet); prints the kubeconfig's path.
#                                     --openshift: with stand-ins for OpenShift's kinds, the rules of
#                                     `slipway emulate` at work on them, and a registry that has one
#                                     image under every name for the node to pull. A cluster that is
#                                     up is left as it is, and what is missing in it is started
#   cluster.sh image NAME DIR CMD...  pack DIR as an image that runs CMD, and import it (as $IMAGE_USER)
#   cluster.sh env                    print KUBECONFIG=... for eval
#   cluster.sh down                   end what up started, by pid, and remove its data
#
# The control plane is built from the distribution's own source package of Kubernetes (1.20). A folder
# in KUBEBUILDER_ASSETS with kube-apiserver, etcd and kubectl is taken instead, of any version; without a
# controller manager, scheduler and kubelet in it, up brings up the API server alone. A kubelet of 1.36 wants
# containerd 2 (containerd, containerd-shim-runc-v2 and ctr in the same folder). hack/kubernetes.sh fetches such a folder.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
cache=${SLIPWAY_CACHE:-$HOME/.cache/slipway}
dir=${SLIPWAY_CLUSTER_DIR:-$cache/cluster}
bin=$(realpath -m "${KUBEBUILDER_ASSETS:-$cache/bin}")
programs="kube-apiserver kube-controller-manager kube-scheduler kubelet"
packages="etcd-server containerd runc containernetworking-plugins iproute2 iptables openssl"

PATH=$bin:$PATH # a folder with a newer containerd has that, too

say() { echo "cluster: $*" >&2; }
die() { say "$*"; exit 1; }

# ---- build ---------------------------------------------------------------------------------------
need_packages() {
    local missing="" p
    for p in "$@"; do
        dpkg -s "$p" 2>/dev/null | grep -q '^Status: install ok installed' || missing="$missing $p"
    done
    [ -n "$missing" ] || return 0
    command -v apt-get >/dev/null || die "these packages are needed:$missing"
    [ "$(id -u)" = 0 ] || die "not root; install these packages first:$missing"
    say "installing$missing"
    # services that packages would start are none of ours
    printf '#!/bin/sh\nexit 101\n' >/tmp/slipway-policy.$$; chmod +x /tmp/slipway-policy.$$
    local placed=
    [ -e /usr/sbin/policy-rc.d ] || { cp /tmp/slipway-policy.$$ /usr/sbin/policy-rc.d; placed=1; }
    DEBIAN_FRONTEND=noninteractive apt-get update -q >/dev/null 2>&1 || true
    local rc=0
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -q --no-install-recommends $missing >/tmp/slipway-apt.$$ 2>&1 || rc=1
    [ -z "$placed" ] || rm -f /usr/sbin/policy-rc.d
    [ $rc = 0 ] || { tail -5 /tmp/slipway-apt.$$ >&2; die "could not install$missing"; }
    rm -f /tmp/slipway-policy.$$ /tmp/slipway-apt.$$
}

# Of a deleted pod kubelet looks every ten seconds whether its containers are gone, and removes those that
# had ended before each minute; a namespace is left alone for five seconds, in case another API server has
# not heard yet that it goes, and then for half of its pods' grace periods. Tests that delete would spend
# most of their time with that. Programs that were built without this are as good, only slower: they are
# not built again for it.
quicken() { # FILE FROM TO
    sed -i "s/$2/$3/" "$1"
    grep -qF "$3" "$1" || die "$1 is another one than expected"
}
quicken_source() { # TOP
    quicken "$1/pkg/kubelet/status/status_manager.go" 'syncPeriod = 10 \* time.Second' 'syncPeriod = time.Second'
    quicken "$1/pkg/kubelet/kubelet.go" 'ContainerGCPeriod = time.Minute' 'ContainerGCPeriod = 5 * time.Second'
    quicken "$1/pkg/controller/namespace/namespace_controller.go" 'namespaceDeletionGracePeriod = 5 \* time.Second' 'namespaceDeletionGracePeriod = time.Second'
    quicken "$1/pkg/controller/namespace/namespace_controller.go" 'estimate.Estimate\/2 + 1' 'estimate.Estimate>>5 + 1'
}

# The distribution's source package, by the package sources this machine has anyway.
fetch_source() { # INTO
    local apt=$1/apt
    mkdir -p "$apt/lists/partial"
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
        sed -n 's/^deb \(.*debian.*\)/deb-src \1/p' >"$apt/sources.list" || true
    mkdir -p "$apt/parts"
    local f
    for f in /etc/apt/sources.list.d/*.sources; do
        if [ -f "$f" ] && grep -qi debian-archive-keyring "$f"; then
            sed 's/^Types:.*/Types: deb-src/' "$f" >"$apt/parts/$(basename "$f")"
        fi
    done
    local opts="-o Dir::Etc::sourcelist=$apt/sources.list -o Dir::Etc::sourceparts=$apt/parts -o Dir::State::lists=$apt/lists"
    # shellcheck disable=SC2086
    (cd "$1" && apt-get $opts update -q >/dev/null && apt-get $opts source -q kubernetes >/dev/null 2>&1) ||
        die "could not fetch the source package kubernetes"
    quicken_source "$(find "$1" -maxdepth 1 -type d -name 'kubernetes-*' | head -1)"
}

# What stood in the way of a newer Go than the one that the release was written for.
mend_source() { # TOP
    # 1.0.1 of reflect2 reads the runtime's maps as Go 1.17 laid them out: the API server dies
    rsync -a --delete /usr/share/gocode/src/github.com/modern-go/reflect2/ "$1/vendor/github.com/modern-go/reflect2/"
    # compared two reflect.Values, which are equal for "" since Go 1.16: custom resources with an empty text
    # were refused as null
    local type=$1/vendor/k8s.io/kube-openapi/pkg/validation/validate/type.go
    sed -i 's/if data == nil || reflect.DeepEqual(reflect.Zero(.*reflect.ValueOf(data)) {/if data == nil {/' "$type"
    ! grep -q 'reflect.DeepEqual(reflect.Zero' "$type" || die "$type is another one than expected"
}

build_programs() {
    need_packages golang-1.19-go rsync dpkg-dev make golang-github-modern-go-reflect2-dev
    local src=$cache/src
    rm -rf "$src"; mkdir -p "$src" "$bin"
    say "fetching the source of Kubernetes"
    fetch_source "$src"
    local top
    top=$(find "$src" -maxdepth 1 -type d -name 'kubernetes-*' | head -1)
    [ -d "$top" ] || die "the source package did not unpack"
    mend_source "$top"
    mkdir -p "$top/.go/src/k8s.io"
    ln -sfn "$top" "$top/.go/src/k8s.io/kubernetes"
    say "building $programs (some minutes)"
    (
        cd "$top/.go/src/k8s.io/kubernetes"
        export PATH=/usr/lib/go-1.19/bin:$PATH GOPATH=$top/.go GO111MODULE=off GOFLAGS= GOCACHE=$src/gocache
        export KUBE_GIT_VERSION=v1.20.2 KUBE_GIT_COMMIT=unknown KUBE_GIT_TREE_STATE=clean KUBE_GIT_MAJOR=1 KUBE_GIT_MINOR=20
        make WHAT="cmd/kube-apiserver cmd/kube-controller-manager cmd/kube-scheduler cmd/kubelet" >"$cache/build.log" 2>&1
    ) || { tail -20 "$cache/build.log" >&2; die "the build failed, see $cache/build.log"; }
    local p
    for p in $programs; do
        cp "$(find "$top/_output" "$top/.go" -type f -name "$p" -perm -u+x 2>/dev/null | head -1)" "$bin/$p.tmp"
        mv "$bin/$p.tmp" "$bin/$p"
    done
    rm -rf "$src"
    say "built into $bin"
}

build() {
    local p how missing=
    if [ -n "${KUBEBUILDER_ASSETS:-}" ]; then
        [ -x "$bin/kube-apiserver" ] && [ -x "$bin/etcd" ] || die "KUBEBUILDER_ASSETS=$bin holds no kube-apiserver and etcd"
        if [ -x "$bin/kubelet" ]; then # what a node needs besides
            for p in $packages; do [ -x "$bin/${p%-server}" ] || missing="$missing $p"; done
            # shellcheck disable=SC2086
            need_packages $missing
        fi
        return 0
    fi
    # shellcheck disable=SC2086
    need_packages $packages
    how=$(declare -f mend_source build_programs | cksum) # built otherwise, they are built again
    [ "$(cat "$bin/.how" 2>/dev/null)" = "$how" ] || missing=1
    for p in $programs; do [ -x "$bin/$p" ] || missing=1; done
    [ -n "$missing" ] || return 0
    build_programs
    echo "$how" >"$bin/.how"
}

# ---- up ------------------------------------------------------------------------------------------
# Ports that are free now, one after another from a random start, below those that the kernel hands out.
next_port=$((10000 + RANDOM % 22000))
free_port() {
    while (exec 3<>"/dev/tcp/127.0.0.1/$next_port") 2>/dev/null; do next_port=$((next_port + 1)); done
    port=$next_port
    next_port=$((next_port + 1))
}

# start NAME COMMAND...: in the background, its pid and log kept
start() {
    local name=$1
    shift
    setsid "$@" >"$dir/log/$name.log" 2>&1 </dev/null &
    echo $! >"$dir/pid/$name"
}

# wait_for SECONDS WHAT COMMAND...: until it succeeds, or die showing the log of @WHAT
wait_for() {
    local seconds=$1 what=$2 i
    shift 2
    for ((i = 0; i < seconds * 10; i++)); do
        "$@" >/dev/null 2>&1 && return 0
        if [ -f "$dir/pid/$what" ] && ! kill -0 "$(cat "$dir/pid/$what")" 2>/dev/null; then break; fi
        sleep 0.1
    done
    tail -5 "$dir/log/$what.log" >&2
    down
    die "$what did not come up (its last words are above)"
}

new_ca() {
    openssl ecparam -name prime256v1 -genkey -noout -out "$dir/pki/ca.key"
    openssl req -x509 -new -key "$dir/pki/ca.key" -subj /CN=slipway-test-ca -days 30 -out "$dir/pki/ca.crt"
    openssl genrsa -out "$dir/pki/sa.key" 2048 2>/dev/null
    openssl rsa -in "$dir/pki/sa.key" -pubout -out "$dir/pki/sa.pub" 2>/dev/null
}

# new_cert NAME SUBJECT [SANS]
new_cert() {
    local f=$dir/pki/$1
    openssl ecparam -name prime256v1 -genkey -noout -out "$f.key"
    openssl req -new -key "$f.key" -subj "$2" -out "$f.csr"
    printf 'extendedKeyUsage=serverAuth,clientAuth\n%s\n' "${3:+subjectAltName=$3}" >"$f.ext"
    openssl x509 -req -in "$f.csr" -CA "$dir/pki/ca.crt" -CAkey "$dir/pki/ca.key" -CAcreateserial \
        -days 30 -extfile "$f.ext" -out "$f.crt" 2>/dev/null
    rm -f "$f.csr" "$f.ext"
}

# kubeconfig NAME: for the certificate of that name
kubeconfig() {
    cat >"$dir/$1.kubeconfig" <<YAML
apiVersion: v1
kind: Config
current-context: slipway
contexts: [{name: slipway, context: {cluster: slipway, user: $1}}]
clusters: [{name: slipway, cluster: {server: "https://127.0.0.1:$api_port", certificate-authority: $dir/pki/ca.crt}}]
users: [{name: $1, user: {client-certificate: $dir/pki/$1.crt, client-key: $dir/pki/$1.key}}]
YAML
}

kc() { "$kubectl" --kubeconfig "$dir/admin.kubeconfig" "$@"; }

control_plane() {
    local peer etcd_port etcd=etcd
    [ ! -x "$bin/etcd" ] || etcd=$bin/etcd
    free_port; etcd_port=$port
    free_port; peer=$port
    free_port; api_port=$port
    new_ca
    new_cert apiserver /CN=kube-apiserver "IP:127.0.0.1,IP:10.96.0.1,IP:$node_ip,DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc"
    new_cert admin /O=system:masters/CN=admin
    new_cert kube-controller-manager /CN=system:kube-controller-manager
    new_cert kube-scheduler /CN=system:kube-scheduler
    new_cert kubelet "/O=system:nodes/CN=system:node:$node_name" "IP:$node_ip,DNS:$node_name"
    for p in admin kube-controller-manager kube-scheduler kubelet; do kubeconfig $p; done
    printf 'slipway-admin-token,admin,admin,system:masters\nslipway-nobody-token,nobody,nobody\n' >"$dir/tokens.csv"
    cat >"$dir/audit.yaml" <<YAML
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
YAML
    start etcd "$etcd" --name slipway --data-dir "$dir/etcd" \
        --listen-client-urls "http://127.0.0.1:$etcd_port" --advertise-client-urls "http://127.0.0.1:$etcd_port" \
        --listen-peer-urls "http://127.0.0.1:$peer" --initial-advertise-peer-urls "http://127.0.0.1:$peer" \
        --initial-cluster "slipway=http://127.0.0.1:$peer"
    start kube-apiserver "$bin/kube-apiserver" --etcd-servers "http://127.0.0.1:$etcd_port" \
        --bind-address "$api_address" --secure-port "$api_port" --advertise-address "$node_ip" \
        --service-cluster-ip-range 10.96.0.0/16 --client-ca-file "$dir/pki/ca.crt" \
        --tls-cert-file "$dir/pki/apiserver.crt" --tls-private-key-file "$dir/pki/apiserver.key" \
        --service-account-key-file "$dir/pki/sa.pub" --service-account-signing-key-file "$dir/pki/sa.key" \
        --service-account-issuer https://kubernetes.default.svc --authorization-mode Node,RBAC \
        --token-auth-file "$dir/tokens.csv" --allow-privileged=true \
        --kubelet-client-certificate "$dir/pki/admin.crt" --kubelet-client-key "$dir/pki/admin.key" \
        --kubelet-preferred-address-types InternalIP --endpoint-reconciler-type none \
        --enable-aggregator-routing=true \
        --enable-admission-plugins NodeRestriction,ExtendedResourceToleration --audit-policy-file "$dir/audit.yaml" \
        --audit-log-path "$dir/log/audit.jsonl" ${SLIPWAY_APISERVER_ARGS:-}
    wait_for 60 kube-apiserver kc get --raw /readyz
}

# The minor version of the programs.
minor() { "$bin/kube-apiserver" --version | sed 's/[^.]*\.\([0-9]*\).*/\1/'; }

# Flags that versions before had to be given, and those of today do not know.
# shellcheck disable=SC2086
managers() {
    local p no_port=
    [ "$(minor)" -ge 24 ] || no_port="--port 0"
    if [ -x "$bin/kube-controller-manager" ]; then
        free_port; p=$port
        start kube-controller-manager "$bin/kube-controller-manager" --kubeconfig "$dir/kube-controller-manager.kubeconfig" \
            --service-account-private-key-file "$dir/pki/sa.key" --root-ca-file "$dir/pki/ca.crt" \
            --cluster-signing-cert-file "$dir/pki/ca.crt" --cluster-signing-key-file "$dir/pki/ca.key" \
            --use-service-account-credentials=true --leader-elect=false --bind-address 127.0.0.1 \
            $no_port --secure-port "$p" --concurrent-gc-syncs 5 ${SLIPWAY_KCM_ARGS:-}
        wait_for 60 kube-controller-manager kc get serviceaccount default
    fi
    if [ -x "$bin/kube-scheduler" ] && [ -z "${no_node:-}" ]; then
        free_port; p=$port
        start kube-scheduler "$bin/kube-scheduler" --kubeconfig "$dir/kube-scheduler.kubeconfig" \
            --leader-elect=false --bind-address 127.0.0.1 $no_port --secure-port "$p"
    fi
}

# The image that holds a pod's namespaces: one static program that waits.
pause_image() {
    [ -f "$cache/pause/pause" ] && return 0
    mkdir -p "$cache/pause"
    cat >"$cache/pause/pause.c" <<'C'
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void stop(int n) { _exit(n == SIGINT || n == SIGTERM ? 0 : 1); }
static void reap(int n) { (void)n; while (waitpid(-1, 0, WNOHANG) > 0); }
int main(void)
{
    signal(SIGINT, stop);
    signal(SIGTERM, stop);
    signal(SIGCHLD, reap);
    for (;;)
        pause();
}
C
    gcc -static -Os -o "$cache/pause/pause.$$" "$cache/pause/pause.c"
    mv "$cache/pause/pause.$$" "$cache/pause/pause"
}

# pack INTO DIR CMD...: a root file system as layer.tar, and config.json for it
pack() {
    local tmp=$1 root=$2 layer cmd="" a
    shift 2
    for a in "$@"; do cmd="$cmd${cmd:+,}\"$(printf '%s' "$a" | sed 's/[\\"]/\\&/g')\""; done
    tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -C "$root" -cf "$tmp/layer.tar" .
    layer=$(sha256sum "$tmp/layer.tar" | cut -d' ' -f1)
    cat >"$tmp/config.json" <<JSON
{"architecture":"$(dpkg --print-architecture 2>/dev/null || echo amd64)","os":"linux","created":"1970-01-01T00:00:00Z",
"config":{"User":"${IMAGE_USER:-}","Cmd":[$cmd],"Env":["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]},
"rootfs":{"type":"layers","diff_ids":["sha256:$layer"]},"history":[{"created":"1970-01-01T00:00:00Z"}]}
JSON
}

# image NAME DIR CMD...: pack a root file system as a docker archive and import it
image() {
    local name=$1 root=$2 tmp
    shift 2
    [ -d "$root" ] || die "image: $root is no folder"
    case $name in *:*) ;; *) name=$name:latest ;; esac
    tmp=$(mktemp -d)
    pack "$tmp" "$root" "$@"
    printf '[{"Config":"config.json","RepoTags":["%s"],"Layers":["layer.tar"]}]' "$name" >"$tmp/manifest.json"
    tar -C "$tmp" -cf "$tmp/image.tar" manifest.json config.json layer.tar
    ctr -a "$dir/containerd.sock" -n k8s.io images import "$tmp/image.tar" >/dev/null ||
        { rm -rf "$tmp"; die "image: containerd did not take $name"; }
    rm -rf "$tmp"
    say "image $name"
}

# ---- OpenShift's stand-ins ------------------------------------------------------------------------
# The image of every container that a recipe names: whatever is asked of it, it waits, or loads no
# module and says so.
stand_in_image() { # INTO
    local root=$dir/stand-in/root p
    mkdir -p "$root/bin"
    cat >"$dir/stand-in/program.c" <<'C'
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static void stop(int n) { _exit(n != SIGTERM && n != SIGINT); }
int main(int argc, char **argv)
{
    (void)argc;
    if (strstr(argv[0], "modprobe") || strstr(argv[0], "true"))
        return 0;
    signal(SIGINT, stop);
    signal(SIGTERM, stop);
    printf("%s waits\n", argv[0]);
    fflush(stdout);
    for (;;)
        pause();
}
C
    gcc -static -Os -o "$root/bin/wait" "$dir/stand-in/program.c"
    for p in bin/sleep bin/modprobe bin/true bin/nfd-master bin/nfd-worker bin/nvidia-driver server client; do ln -f "$root/bin/wait" "$root/$p"; done
    IMAGE_USER=65532 pack "$1" "$root" /bin/wait # as vendors build theirs: some pods may not run as root
    sed -i 's/"Cmd"/"Entrypoint"/' "$1/config.json" # a pod's args are no command
    printf '{"schemaVersion":2,"mediaType":"application/vnd.docker.distribution.manifest.v2+json",
"config":{"mediaType":"application/vnd.docker.container.image.v1+json","size":%d,"digest":"sha256:%s"},
"layers":[{"mediaType":"application/vnd.docker.image.rootfs.diff.tar","size":%d,"digest":"sha256:%s"}]}' \
        "$(stat -c %s "$1/config.json")" "$(sha256sum <"$1/config.json" | cut -d' ' -f1)" \
        "$(stat -c %s "$1/layer.tar")" "$(sha256sum <"$1/layer.tar" | cut -d' ' -f1)" >"$1/manifest.json"
}

registry() {
    local tool=$here/../build/test/image_registry
    [ -x "$tool" ] || make -s -C "$here/.." build/test/image_registry >&2
    mkdir -p "$dir/registry" "$dir/certs.d/_default"
    stand_in_image "$dir/registry"
    free_port
    printf '[host."http://127.0.0.1:%s"]\n  capabilities = ["pull", "resolve"]\n' "$port" >"$dir/certs.d/_default/hosts.toml"
    start registry "$tool" "$port" "$dir/registry"
}

openshift_is_there() {
    [ "$(kc get clusterversion version -o 'jsonpath={.status.history[0].state}')" = Completed ] &&
        kc get scc privileged && kc -n openshift get imagestream driver-toolkit
}

# The rules as a client of this API server: they bring the CRDs and what a fresh cluster has.
openshift() {
    local slipway=${SLIPWAY:-$here/../build/slipway} kernel nfd=feature.node.kubernetes.io
    [ -x "$slipway" ] || make -s -C "$here/.." build/slipway >&2
    start rules "$slipway" emulate --rules-only --platform openshift --kubeconfig "$dir/admin.kubeconfig"
    wait_for 60 rules openshift_is_there
    [ -z "$no_node" ] || return 0
    kernel=$(kc get node "$node_name" -o 'jsonpath={.status.nodeInfo.kernelVersion}')
    # what NFD says of a node with the release that the newest driver toolkit is tagged with
    kc label --overwrite node "$node_name" "$nfd/kernel-version.full=$kernel" "$nfd/system-os_release.ID=rhcos" \
        "$nfd/system-os_release.VERSION_ID=4.10" "$nfd/system-os_release.RHEL_VERSION=8.4" \
        "$nfd/system-os_release.OSTREE_VERSION=410.84.202205191234-0" >/dev/null
}

is_containerd_2() { containerd --version | grep -qE ' v?2\.'; }

node() {
    local kubelet_port health remote=
    mkdir -p "$dir/cni" "$dir/containerd" "$dir/kubelet"
    cat >"$dir/cni/10-slipway.conflist" <<JSON
{"cniVersion":"0.4.0","name":"slipway","plugins":[
 {"type":"bridge","bridge":"$bridge","isGateway":true,"ipMasq":false,
  "ipam":{"type":"host-local","dataDir":"$dir/cni-data","ranges":[[{"subnet":"$subnet"}]],"routes":[{"dst":"0.0.0.0/0"}]}}]}
JSON
      cat >"$dir/containerd.toml" <<TOML
version = 2
root = "$dir/containerd/root"
state = "$dir/containerd/state"
disabled_plugins = ["io.containerd.grpc.v1.stream"]
[grpc]
  address = "$dir/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "slipway.local/pause:1"
  # needed where CAP_SYS_RESOURCE is missing
  restrict_oom_score_adj = true
  stream_server_address = "127.0.0.1"
  $(is_containerd_2 && echo "cdi_spec_dirs = [\"$dir/slicing/cdi\", \"/var/run/cdi\"]")
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "$dir/certs.d"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "${SLIPWAY_SNAPSHOTTER:-native}"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia] # as NVIDIA's toolkit would add it
      runtime_type = "io.containerd.runc.v2"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$dir/cni"
TOML
    if is_containerd_2; then # what pulls images there unpacks for one snapshotter, overlayfs, unless told
        cat >>"$dir/containerd.toml" <<TOML
[[plugins."io.containerd.transfer.v1.local".unpack_config]]
  platform = "linux/$(dpkg --print-architecture 2>/dev/null || echo amd64)"
  snapshotter = "${SLIPWAY_SNAPSHOTTER:-native}"
TOML
    fi
    # Some of kubelet's folders cannot be chosen. They are others in here: a kubelet must not meet another one's
    # device plugins, and removes the logs of pods that it does not know.
    mkdir -p "$dir/device-plugins" "$dir/pod-logs" "$dir/container-logs" /var/lib/kubelet/device-plugins /var/log/pods /var/log/containers
    start containerd unshare -m --propagation private sh -c 'mount --make-rshared / &&
        mount --bind "$0/device-plugins" /var/lib/kubelet/device-plugins && mount --bind "$0/pod-logs" /var/log/pods &&
        mount --bind "$0/container-logs" /var/log/containers && exec containerd --config "$0/containerd.toml"' "$dir"
    wait_for 60 containerd ctr -a "$dir/containerd.sock" version
    pause_image
    mkdir -p "$dir/pause-root"
    cp "$cache/pause/pause" "$dir/pause-root/pause"
    image slipway.local/pause:1 "$dir/pause-root" /pause
    cgroup_root
    free_port; kubelet_port=$port
    free_port; health=$port
    cat >"$dir/kubelet.yaml" <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $node_ip
port: $kubelet_port
readOnlyPort: 0
healthzBindAddress: 127.0.0.1
healthzPort: $health
cgroupDriver: cgroupfs
cgroupRoot: /$bridge
failSwapOn: false
enforceNodeAllocatable: []
cgroupsPerQOS: true
volumeStatsAggPeriod: 10s
makeIPTablesUtilChains: false
authentication: {anonymous: {enabled: false}, webhook: {enabled: false}, x509: {clientCAFile: $dir/pki/ca.crt}}
authorization: {mode: AlwaysAllow}
tlsCertFile: $dir/pki/kubelet.crt
tlsPrivateKeyFile: $dir/pki/kubelet.key
evictionHard: {memory.available: 1Mi, nodefs.available: 0%, imagefs.available: 0%}
imageGCHighThresholdPercent: 100
nodeStatusUpdateFrequency: 5s
syncFrequency: 10s
YAML
    [ "$(minor)" -lt 31 ] || echo "failCgroupV1: false" >>"$dir/kubelet.yaml"
    [ "$(minor)" -ge 27 ] || remote="--container-runtime remote"
    # shellcheck disable=SC2086
    start kubelet nsenter -m -t "$(cat "$dir/pid/containerd")" "$bin/kubelet" --config "$dir/kubelet.yaml" --kubeconfig "$dir/kubelet.kubeconfig" \
        $remote --container-runtime-endpoint "unix://$dir/containerd.sock" \
        --hostname-override "$node_name" --node-ip "$node_ip" --root-dir "$dir/kubelet" \
        --node-labels "node.kubernetes.io/instance-type=slipway" ${SLIPWAY_KUBELET_ARGS:-}
    wait_for 120 kubelet node_is_ready
    kc label --overwrite node "$node_name" node-role.kubernetes.io/worker= >/dev/null
}

node_is_ready() {
    [ "$(kc get node "$node_name" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}')" = True ]
}

# Where the control groups are mounted, one line each (version 1: one for each controller).
cgroup_mounts() { awk '$3 == "cgroup" || $3 == "cgroup2" { print $2 }' /proc/mounts; }

# Control groups of this node's own: a kubelet ends whatever it does not know in its root, also the
# pods of another cluster on this machine.
cgroup_root() {
    local m f
    cgroup_mounts | while read -r m; do
        for f in $(cat "$m/cgroup.controllers" 2>/dev/null); do
            echo "+$f" >"$m/cgroup.subtree_control" 2>/dev/null || true
        done
        mkdir -p "$m/$bridge" 2>/dev/null || continue
        for f in cpuset.mems cpuset.cpus; do
            [ ! -f "$m/$bridge/$f" ] || [ -f "$m/cgroup.controllers" ] || cat "$m/$f" >"$m/$bridge/$f"
        done
    done
}

cgroup_root_gone() { # NAME
    local m
    cgroup_mounts | while read -r m; do
        [ ! -d "$m/$1" ] || find "$m/$1" -depth -type d -exec rmdir {} + 2>/dev/null || true
    done
}

# The node's own address: a bridge that pods hang on. Reaches nothing but this machine.
node_network() {
    local n
    for n in $(seq 85 115); do
        bridge=slipway$n subnet=10.$n.0.0/16 node_ip=10.$n.0.1
        ! ip link add "$bridge" type bridge 2>"$dir/log/bridge.log" || { n=; break; }
    done
    [ -z "$n" ] || { cat "$dir/log/bridge.log" >&2; die "no bridge can be made here"; }
    ip addr add "$node_ip/16" dev "$bridge"
    ip link set "$bridge" up
    echo "$bridge" >"$dir/bridge"
}

# There is no kube-proxy. What pods need of it is the API server's own service; the API server itself
# calls webhooks at their endpoints (--enable-aggregator-routing).
service_of_api() {
    service_of_api_gone # a cluster that was killed may have left its own, for another port
    iptables -w -t nat -A PREROUTING -i "$bridge" -d 10.96.0.1/32 -p tcp --dport 443 \
        -j DNAT --to-destination "$node_ip:$api_port" 2>/dev/null
}

service_of_api_gone() {
    local rule
    iptables -w -t nat -S PREROUTING 2>/dev/null | grep -e "-i $bridge " | while read -r rule; do
        # shellcheck disable=SC2086
        iptables -w -t nat -D ${rule#-A }
    done
}

# What a run before this one left to know: ports, the node, how it was started.
remember() {
    printf 'api_port=%s node_name=%s no_node=%s node_ip=%s\n' "$api_port" "$node_name" "$no_node" "$node_ip" >"$dir/facts"
}

runs() { [ -f "$dir/pid/$1" ] && kill -0 "$(cat "$dir/pid/$1")" 2>/dev/null; }

# Is a cluster up in $dir, with everything that was started still running?
is_up() {
    local f
    [ -f "$dir/facts" ] || return 1
    for f in "$dir"/pid/*; do
        case ${f##*/} in rules | registry) ;; *) runs "${f##*/}" || return 1 ;; esac
    done
    kc get --raw /readyz >/dev/null 2>&1
}

up() {
    local want_openshift=
    no_node=
    while [ $# -gt 0 ]; do
        case $1 in
        --no-node) no_node=1 ;;
        --openshift) want_openshift=1 ;;
        *) die "up: unknown option $1" ;;
        esac
        shift
    done
    build
    kubectl=$bin/kubectl
    [ -x "$kubectl" ] || kubectl=$(command -v kubectl) || die "kubectl is needed"
    [ -x "$bin/kubelet" ] || no_node=1
    node_name=${SLIPWAY_NODE_NAME:-slipway-node}
    if is_up; then
        . "$dir/facts"
        say "there is one already in $dir"
    else
        [ ! -e "$dir" ] || { say "what is left of one in $dir goes first"; down; }
        new_cluster "$want_openshift"
    fi
    [ -z "$want_openshift" ] || runs rules || openshift
    say "up, log in $dir/log"
    echo "$dir/admin.kubeconfig"
}

new_cluster() { # WITH_OPENSHIFT
    mkdir -p "$dir/pid" "$dir/log" "$dir/pki"
    # whatever ends this script early ends what it has started
    trap 'rc=$?; [ $rc = 0 ] || down; exit $rc' EXIT
    trap 'exit 130' INT TERM
    node_ip=127.0.0.1 api_address=127.0.0.1
    if [ -z "$no_node" ]; then node_network; api_address=0.0.0.0; else node_ip=10.255.255.1; fi
    [ -z "$1" ] || [ -n "$no_node" ] || registry
    control_plane
    managers
    [ -n "$no_node" ] || service_of_api || say "pods cannot reach the service kubernetes: no NAT here"
    [ -n "$no_node" ] || node
    remember
    trap - EXIT INT TERM
}

# ---- down ----------------------------------------------------------------------------------------
# stop NAME: TERM, then KILL, by the pid that start() noted
stop() {
    local f=$dir/pid/$1 pid i
    [ -f "$f" ] || return 0
    pid=$(cat "$f")
    kill -TERM "$pid" 2>/dev/null || { rm -f "$f"; return 0; }
    for ((i = 0; i < 100; i++)); do
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
    kill -KILL "$pid" 2>/dev/null || true
    rm -f "$f"
}

down() {
    [ -e "$dir" ] || return 0
    local sock=$dir/containerd.sock c f
    for p in rules kubelet registry kube-scheduler kube-controller-manager kube-apiserver etcd; do stop $p; done
    if [ -S "$sock" ]; then
        for c in $(ctr -a "$sock" -n k8s.io tasks ls -q 2>/dev/null); do
            ctr -a "$sock" -n k8s.io tasks kill -s KILL "$c" 2>/dev/null || true
            ctr -a "$sock" -n k8s.io tasks rm -f "$c" >/dev/null 2>&1 || true
        done
        for c in $(ctr -a "$sock" -n k8s.io containers ls -q 2>/dev/null); do
            ctr -a "$sock" -n k8s.io containers rm "$c" >/dev/null 2>&1 || true
        done
        stop containerd
        # containerd 2 leaves those of sandboxes
        for c in $(pgrep -f "^[^ ]*containerd-shim[^ ]* .*-address $sock( |\$)"); do kill -KILL "$c" 2>/dev/null || true; done # they heed no TERM
    fi
    # what pods had mounted (the newest first)
    awk -v d="$dir/" 'index($2, d) == 1 { print $2 }' /proc/mounts | sort -r | while read -r f; do
        umount -l "$f" 2>/dev/null || true
    done
    if [ -f "$dir/bridge" ]; then
        bridge=$(cat "$dir/bridge")
        [ ! -f "$dir/facts" ] || (. "$dir/facts"; service_of_api_gone) || true
        cgroup_root_gone "$bridge"
        ip link del "$bridge" 2>/dev/null || true
    fi
    rm -rf "$dir"
}

case "${1:-}" in
build) build ;;
up) shift; up "$@" ;;
down) down; say "down" ;;
env) echo "export KUBECONFIG=$dir/admin.kubeconfig" ;;
image) shift; [ $# -ge 2 ] || die "image NAME DIR CMD..."; image "$@" ;;
-h | --help | help) sed -n '2,20p' "$0" | sed 's/^# \{0,1\}//' ;;
*) sed -n '2,20p' "$0" | sed 's/^# \{0,1\}//' >&2; exit 2 ;;
esac
