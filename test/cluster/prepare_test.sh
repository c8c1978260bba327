#!/bin/bash
# Slices by ResourceClaims with a real kubelet, containerd and a stock kube-scheduler. GPUs are played by the NVML of
# the tests, which keeps their rules; their device nodes are made here, so that what the runtime injects can be seen. The plugin has
# the account that states/device-plugin gives it.
cd "$(dirname "$0")/../.." || exit 1
. test/tap.sh
. test/slicing_cleared.sh
. test/evictor_steps.sh
. test/shell_root.sh
host=$tap_dir/host
export SLIPWAY_NVML_STATE=$state/gpus
trap 'for f in "$tap_dir"/*.pid; do [ ! -e "$f" ] || kill "$(cat "$f")" 2>/dev/null; done; wait; [ ! -e "$tap_dir/played" ] || { rm -rf /run/nvidia/driver /run/slipway; rmdir /run/nvidia 2>/dev/null; }; rm -rf "$tap_dir"' EXIT
build=$(dirname "${SLIPWAY_TEST:-build/test/slipway}")

# ---- the node ------------------------------------------------------------------------------------
device_nodes() { # of two GPUs, by their numbers in that NVML; those of nvidia-caps are left to be made
    mkdir -p "$host/dev" "$host/proc/driver/nvidia-caps" && mknod "$host/dev/nvidia4" c 195 4 && mknod "$host/dev/nvidia5" c 195 5 &&
        mknod "$host/dev/nvidiactl" c 195 255 && mknod "$host/dev/nvidia-uvm" c 510 0 || return 1
    printf 'Character devices:\n195 nvidia\n237 nvidia-caps\n510 nvidia-uvm\n' >"$host/proc/devices"
    awk 'BEGIN { for (g = 4; g < 6; g++) for (i = 0; i < 15; i++) { print "gpu" g "/gi" i "/access " g * 1000 + i * 10; for (c = 0; c < 8; c++) print "gpu" g "/gi" i "/ci" c "/access " g * 1000 + i * 10 + c + 1 } }' \
        >"$host/proc/driver/nvidia-caps/mig-minors"
}
# What a container finds, and whether its cgroup lets it open the devices: where no driver is, it gets ENXIO for it.
shows() {
    mkdir -p "$tap_dir/root"
    cat >"$tap_dir/shows.c" <<'C'
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
extern char **environ;
static void stop(int n)
{
    _exit(n != SIGTERM);
}
static void list(const char *dir, const char *prefix)
{
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[512];
        struct stat s;
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        if (strncmp(e->d_name, prefix, strlen(prefix)) != 0 || stat(path, &s) || !S_ISCHR(s.st_mode))
            continue;
        const int fd = open(path, O_RDONLY);
        printf("node %s %u:%u %s\n", path, major(s.st_rdev), minor(s.st_rdev), fd >= 0 ? "open" : errno == EPERM || errno == EACCES ? "denied" : "allowed");
    }
}
int main(void)
{
    signal(SIGTERM, stop);
    for (char **e = environ; *e; e++)
        if (strncmp(*e, "NVIDIA_VISIBLE_DEVICES=", 23) == 0 || strncmp(*e, "SLIPWAY_DEVICE_", 15) == 0 || strncmp(*e, "CUDA_MPS_", 9) == 0)
            puts(*e);
    printf("daemon %s\n", access("/tmp/nvidia-mps/control", F_OK) == 0 && access("/dev/shm/of-the-daemon", W_OK) == 0 ? "reached" : "none");
    list("/dev", "nvidia");
    list("/dev/nvidia-caps", "nvidia-cap");
    fflush(stdout);
    for (;;)
        pause();
}
C
    gcc -static -Os -o "$tap_dir/root/show" "$tap_dir/shows.c" && hack/cluster.sh image slipway.local/shows:1 "$tap_dir/root" /show
}
plugin() { # [DIES-AT] [OPTION]
    local at=
    case ${1:-} in [0-9]*) at=$1; shift ;; esac
    SLIPWAY_TEST_DIE_AT=$at "$build/slipway-device-plugin" "$@" --kubeconfig "$tap_dir/account" --node-name "$node" --kubelet-dir "$dir/kubelet" --api dra --class-owner das-daemonset \
        --nvml-library "$(realpath "$build")/libnvidia-ml.so" --dev-dir "$host/dev" --proc-dir "$host/proc" --toolkit-cdi-dir "$host/none" --cdi-dir "$dir/slicing/cdi" \
        --journal-dir "$state/journal" --gate= --health-probe-bind-address 127.0.0.1:0 --metrics-bind-address 127.0.0.1:0 --metrics-secure=false 2>>"$tap_dir/plugin.log" &
    echo $! >"$tap_dir/plugin.pid"
}
# As a pod of the DaemonSet has it: its token says on which node it is, and only that node's claims may be written.
account() {
    local uid token
    kubectl -n $ns apply -f - <<YAML || return 1
apiVersion: v1
kind: Pod
metadata: {name: of-the-plugin}
spec:
  serviceAccountName: das-daemonset
  nodeName: $node
  terminationGracePeriodSeconds: 1
  containers: [{name: c, image: "slipway.local/shows:1", imagePullPolicy: Never}]
YAML
    uid=$(kubectl -n $ns get pod of-the-plugin -o 'jsonpath={.metadata.uid}')
    token=$(kubectl -n $ns create token das-daemonset --duration 2h --bound-object-kind Pod --bound-object-name of-the-plugin --bound-object-uid "$uid") || return 1
    sed "s|user: {client-certificate.*|user: {token: \"$token\"}}]|" "$KUBECONFIG" >"$tap_dir/account" && grep -q 'token: "' "$tap_dir/account"
}
published() { kubectl get resourceslices -o name | grep -q 'mig.slipway.dev' && kubectl get deviceclasses -o name | grep -q mig-7g; }
serves() {
    device_nodes && shows && kubectl create namespace $ns --dry-run=client -o yaml | kubectl apply -f - && kubectl apply -f states/scheduler/crds &&
        established crd/allocationclaims.inference.redhat.com &&
        "$slipway" render states/device-plugin --namespace $ns --kube-version "v1.$minor.0" -a resource.k8s.io/v1 --show-only templates/rbac.yaml | kubectl apply -f - &&
        account || return 1
    plugin
    until_ok 60 published || { tail -20 "$tap_dir/plugin.log"; return 1; }
}

# ---- pods ----------------------------------------------------------------------------------------
pod() { # NAME RESOURCES [RESOURCE-CLAIMS]
    printf -- '---\n%s\n' "{apiVersion: v1, kind: Pod, metadata: {name: $1, namespace: default}, spec: {terminationGracePeriodSeconds: 1, resourceClaims: [${3:-}],
      containers: [{name: c, image: 'slipway.local/shows:1', imagePullPolicy: Never, resources: {$2}}]}}" | kubectl apply -f -
}
is_running() { [ "$(kubectl get pod "$1" -o 'jsonpath={.status.phase}')" = Running ]; }
runs() { until_ok 60 is_running "$1" || { kubectl describe pod "$1" | tail -12; tail -12 "$tap_dir/plugin.log"; return 1; }; }
gone() { ! kubectl get pod "$1" >/dev/null 2>&1; }
drop() { kubectl delete pod "$@" --wait=false && for p; do until_ok 60 gone "$p" || return 1; done; }
slices() { python3 test/kubelet/gpus.py "$SLIPWAY_NVML_STATE"; } # on the GPUs themselves
n_slices() { slices | wc -l; }
nothing_left() {
    [ -z "$(ls "$dir/slicing/cdi")" ] && [ -z "$(find "$state/journal" -name '*.json')" ] && [ "$(n_slices)" = 0 ] && [ -z "$(kubectl get allocationclaims -A -o name)" ]
}

by_limits() {
    pod plain 'limits: {nvidia.com/mig-1g.5gb: 1}' && runs plain && kubectl logs plain | tee "$tap_dir/plain" && [ "$(n_slices)" = 1 ] &&
        grep -q '^NVIDIA_VISIBLE_DEVICES=MIG-' "$tap_dir/plain" && [ "$(kubectl get pod plain -o 'jsonpath={.spec.schedulerName}')" = default-scheduler ] &&
        until_ok 20 eval '[ "$(kubectl get allocationclaims -A -o "jsonpath={.items[*].spec.profile} {.items[*].status.state}")" = "1g.5gb inUse" ]' || { kubectl get allocationclaims -A -o yaml; return 1; }
}
has_its_nodes() { # its GPU, the two of nvidia-caps, and no other GPU's
    grep '^node' "$tap_dir/plain" | sed 's/^node //' | sort >"$tap_dir/nodes"
    ! grep denied "$tap_dir/nodes" && [ "$(grep -c '^/dev/nvidia[45] 195:[45] allowed$' "$tap_dir/nodes")" = 1 ] && grep -q '^/dev/nvidiactl 195:255' "$tap_dir/nodes" &&
        grep -q '^/dev/nvidia-uvm 510:0' "$tap_dir/nodes" && [ "$(grep -c '^/dev/nvidia-caps/nvidia-cap[0-9]* 237:' "$tap_dir/nodes")" = 2 ]
}
leaves_nothing() { drop plain && until_ok 30 nothing_left || { slices; ls "$dir/slicing/cdi" "$state/journal"; return 1; }; }
claims_of_two() { # three containers' worth of claims: shared by two pods, with several requests; one of a pod's own
    kubectl apply -f - <<'YAML' || return 1
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: shared, namespace: default}
spec: {devices: {requests: [{name: a, exactly: {deviceClassName: mig-1g.5gb.slipway.dev}}, {name: b, exactly: {deviceClassName: mig-2g.10gb.slipway.dev, count: 2}}]}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: own, namespace: default}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: mig-3g.20gb.slipway.dev}}]}}}
YAML
    pod first 'claims: [{name: s}, {name: o}]' '{name: s, resourceClaimName: shared}, {name: o, resourceClaimTemplateName: own}' &&
        pod second 'claims: [{name: s, request: b}]' '{name: s, resourceClaimName: shared}' && runs first && runs second && [ "$(n_slices)" = 4 ] || return 1
    [ "$(kubectl logs first | grep -c '^SLIPWAY_DEVICE_GPU_.*=MIG-')" = 4 ] && [ "$(kubectl logs second | grep -c '^SLIPWAY_DEVICE_GPU_.*=MIG-')" = 2 ] &&
        [ "$(kubectl logs first | grep -c '^node /dev/nvidia-caps/.* 237:')" = 8 ] && [ "$(kubectl logs second | grep -c '^node /dev/nvidia-caps/.* 237:')" = 4 ]
}
shared_stays() {
    drop first && until_ok 30 eval '[ "$(n_slices)" = 3 ]' && is_running second && drop second && until_ok 30 eval '[ "$(n_slices)" = 0 ]' &&
        kubectl delete resourceclaim shared && kubectl delete resourceclaimtemplate own && until_ok 30 nothing_left
}
# A life that ends before its n-th action, for each n, while a pod comes and goes; the next one has no such order.
alive() { kill -0 "$(cat "$tap_dir/plugin.pid")" 2>/dev/null; }
with_lives() { # SECONDS COMMAND...: as until_ok, where the next life begins as soon as one has ended
    local until=$((SECONDS + $1))
    shift
    while ! "$@" >/dev/null 2>&1; do
        alive || { wait "$(cat "$tap_dir/plugin.pid")"; lives=$((lives + 1)); plugin; }
        [ $SECONDS -lt $until ] || return 1
        sleep 0.2
    done
}
killed_in_each_step() {
    stop plugin
    local n lives=1
    for ((n = 1; lives > 0 && n < 60; n++)); do
        lives=0
        plugin $n
        pod victim 'limits: {nvidia.com/mig-2g.10gb: 2}' && with_lives 90 is_running victim && [ "$(n_slices)" = 2 ] &&
            [ "$(kubectl get pod victim -o 'jsonpath={.status.containerStatuses[0].restartCount}')" = 0 ] && [ "$(kubectl logs victim | grep -c '^SLIPWAY_DEVICE_GPU_.*=MIG-')" = 2 ] &&
            kubectl delete pod victim --wait=false && with_lives 90 gone victim && with_lives 30 nothing_left ||
            { echo "at action $n"; kubectl describe pod victim | tail -12; slices; tail -20 "$tap_dir/plugin.log"; return 1; }
        stop plugin
    done
    [ $lives = 0 ] && echo $((n - 2)) >"$tap_dir/n-actions" && [ $n -gt 8 ] && plugin
}
killed_while_it_runs() { # what a pod holds it keeps, and the node goes on serving
    pod keeps 'limits: {nvidia.com/mig-3g.20gb: 1}' && runs keeps && slices >"$tap_dir/held" && kill -9 "$(cat "$tap_dir/plugin.pid")" || return 1
    wait "$(cat "$tap_dir/plugin.pid")"
    plugin
    pod next 'limits: {nvidia.com/mig-3g.20gb: 1}' && runs next && is_running keeps && slices | grep -qxF "$(cat "$tap_dir/held")" && [ "$(n_slices)" = 2 ] &&
        [ "$(kubectl get pod keeps -o 'jsonpath={.status.containerStatuses[0].restartCount}')" = 0 ] && drop keeps next && until_ok 30 nothing_left
}
# MPS: a control daemon for each claim. The driver's programs are played, in a root of their own where a driver's container has them.
driver=/run/nvidia/driver
can_play_a_driver() { [ ! -e $driver ] && [ ! -e /run/slipway ] && [ "$(id -u)" = 0 ]; }
plays_a_driver() {
    : >"$tap_dir/played"
    shell_root $driver && mkdir -p $driver/usr/bin $driver/tmp $driver/dev/shm $driver/run && printf '#!/bin/sh\n' >$driver/usr/bin/nvidia-smi &&
        cat >$driver/usr/bin/nvidia-cuda-mps-control <<'S' && chmod 755 $driver/usr/bin/nvidia-*
#!/bin/sh
if [ "$1" = -f ]; then
    echo "$CUDA_VISIBLE_DEVICES" >>/mps.started
    : >/dev/shm/of-the-daemon
    echo $$ >/tmp/nvidia-mps/control
    while [ ! -e /tmp/nvidia-mps/quit ]; do sleep 0.1; done
    exit 0
fi
while read -r line; do
    case $line in
    quit*) : >/tmp/nvidia-mps/quit ;;
    *) echo "$line" >>/mps.told ;;
    esac
done
S
    "$build/slipway-device-plugin" mps 2>>"$tap_dir/mps.log" &
    echo $! >"$tap_dir/mps.pid"
    stop plugin
    plugin --mps
    until_ok 30 test -d /run/slipway/mps
}
shared_by_mps() { # two pods, one daemon
    kubectl apply -f - <<'YAML' || return 1
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: mps, namespace: default}
spec:
  devices:
    requests: [{name: a, exactly: {deviceClassName: mig-2g.10gb.slipway.dev}}]
    config:
    - opaque:
        driver: mig.slipway.dev
        parameters:
          apiVersion: resource.nvidia.com/v1beta1
          kind: MigDeviceConfig
          sharing: {strategy: MPS, mpsConfig: {defaultActiveThreadPercentage: 50, defaultPinnedDeviceMemoryLimit: 2Gi}}
YAML
    pod one 'claims: [{name: s}]' '{name: s, resourceClaimName: mps}' && pod two 'claims: [{name: s}]' '{name: s, resourceClaimName: mps}' && runs one && runs two || { cat "$tap_dir/mps.log"; return 1; }
    [ "$(kubectl logs one | grep -cE '^(daemon reached|CUDA_MPS_PIPE_DIRECTORY=/tmp/nvidia-mps)$')" = 2 ] && [ "$(kubectl logs two | grep -c '^daemon reached$')" = 1 ] || { kubectl logs one; kubectl logs two; return 1; }
    cat $driver/mps.told && [ "$(wc -l <$driver/mps.started)" = 1 ] && grep -q '^MIG-' $driver/mps.started && grep -qx 'set_default_active_thread_percentage 50' $driver/mps.told
}
daemon_of_mps() { cat /run/slipway/mps/*/pipe/control; }
outlives_the_plugin() {
    local daemon
    daemon=$(daemon_of_mps) && kill -9 "$(cat "$tap_dir/plugin.pid")" && wait "$(cat "$tap_dir/plugin.pid")"
    plugin --mps
    pod three 'claims: [{name: s}]' '{name: s, resourceClaimName: mps}' && runs three && [ "$(daemon_of_mps)" = "$daemon" ] && kill -0 "$daemon" && [ "$(wc -l <$driver/mps.started)" = 1 ]
}
ends_with_its_claim() {
    drop one two three && kubectl delete resourceclaim mps && until_ok 60 eval '[ -z "$(ls /run/slipway/mps)" ] && [ -z "$(ls -d /dev/shm/slipway-mps-* 2>/dev/null)" ]' &&
        until_ok 30 nothing_left || { ls -R /run/slipway/mps; tail -12 "$tap_dir/mps.log" "$tap_dir/plugin.log"; return 1; }
}
no_driver_is_played() { stop mps; stop plugin; rm -rf $driver /run/slipway "$tap_dir/played"; rmdir /run/nvidia; plugin; }
exactly_its_rights() { # nothing that it asked for was forbidden, or refused for want of one
    ! tail -n +"$mark" "$dir/log/audit.jsonl" | grep "\"username\":\"system:serviceaccount:$ns:das-daemonset\"" | grep -E '"code":(403|422)' && ! grep 'not written' "$tap_dir/plugin.log"
}
cleared() {
    kubectl delete pod plain first second victim keeps next --ignore-not-found
    kubectl delete resourceclaim shared --ignore-not-found; kubectl delete resourceclaimtemplate own --ignore-not-found
    steps_cleared
}

mark=$(wc -l <"$dir/log/audit.jsonl")
t "the device plugin serves two GPUs" serves
[ $tap_bad = 0 ] || { cleared >/dev/null 2>&1; plan; }
t "a pod with plain limits runs, placed by default-scheduler, in a slice that was made for it" by_limits
t "its container has the device nodes of its slice, and may open them" has_its_nodes
t "nothing is left of it on GPU and node when it has gone" leaves_nothing
t "claims with several requests, shared by pods, several in one container" claims_of_two
t "a shared claim stays until its last pod has gone" shared_stays
t "killed before each of its actions, it prepares and unprepares as if nothing had happened" killed_in_each_step
[ ! -f "$tap_dir/n-actions" ] || echo "# killed before each of $(cat "$tap_dir/n-actions") actions"
t "killed with KILL while pods run, they run on, and the next one gets its slice" killed_while_it_runs
if can_play_a_driver; then
    t "a driver with its control daemon" plays_a_driver
    t "two pods share a slice by MPS, and reach its one control daemon" shared_by_mps
    t "the daemon outlives the plugin, and serves the next pod" outlives_the_plugin
    t "it ends with its claim, and leaves nothing" ends_with_its_claim
    t "the driver goes" no_driver_is_played
else
    skip "two pods share a slice by MPS" "only root plays a driver, where none is"
fi
t "it has the rights that it needs" exactly_its_rights
t "all of it goes" cleared
plan
