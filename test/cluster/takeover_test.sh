# What the Special Resource Operator left is taken over on a real API server and kubelet: the same objects, pods and
# labels of nodes as before. The fixtures are those of test/emulator/operator/run_takeover_test.c and run_module_test.c.
# On a new cluster: SRO has left cert-manager there, and no other test.
. test/tap.sh
slipway=${SLIPWAY_TEST:-build/test/slipway}
[ -x "$slipway" ] || slipway=${SLIPWAY:-build/slipway}
left=$PWD/test/emulator/operator/takeover
node=$(kubectl get nodes -o 'jsonpath={.items[0].metadata.name}')
kernel=$(kubectl get node "$node" -o 'jsonpath={.status.nodeInfo.kernelVersion}')
state=specialresource.openshift.io/state nfd=feature.node.kubernetes.io
# SRO sets no label for a chart without numbers (cert-manager's); slipway does
labels="node-role.kubernetes.io/worker $state-rolling-1000 $state-simple-kmod-0000 $state-simple-kmod-1000
    $state-ping-pong-0001 $state-ping-pong-0002 $state-ping-pong-0004 $state-cert-manager-cert-manager"
namespaces="rolling simple-kmod cert-manager ping-pong"
resources="rolling simple-kmod cert-manager ping-pong"
modules="acm-ice acm-simple-kmod" # SpecialResourceModules, and their namespaces

# a registry with the release that the modules are for, and the update graph that names it
module_kernel=4.18.0-305.40.1.el8_4.x86_64
make -s build/test/registry-server || exit 1 # one that an older build left may not know the graph
mkfifo "$tap_dir/stdin"
build/test/registry-server 'graph={"nodes":[{"version":"4.10.20","payload":"@HOST@/release:new"}],"edges":[]}' \
    release:new 'release-manifests/image-references={"spec":{"tags":[{"name":"driver-toolkit","from":{"name":"@HOST@/dtk:new"}}]}}' \
    'release-manifests/release-metadata={"version":"4.10.20"}' \
    dtk:new "etc/driver-toolkit-release.json={\"KERNEL_VERSION\":\"$module_kernel\",\"RT_KERNEL_VERSION\":\"rt-$module_kernel\",\"RHEL_VERSION\":\"8.4\"}" \
    <"$tap_dir/stdin" >"$tap_dir/host" &
exec 7>"$tap_dir/stdin" # ends it with this shell
until_ok 10 test -s "$tap_dir/host"
host=$(cat "$tap_dir/host")

# FNV-1a of 64 bits, as SRO names what is for one kernel
fnv64() {
    local h=$((0xcbf29ce484222325)) i c
    for ((i = 0; i < ${#1}; i++)); do
        printf -v c '%d' "'${1:i:1}"
        h=$(((h ^ c) * 0x100000001b3))
    done
    printf '%x' "$h"
}

# documents FILE: for this node alone, whose kernel's name need not tell its machine, as that of RHCOS does
documents() {
    local dashes=${kernel//[_]/-}
    awk 'BEGIN { RS = "\n---\n"; ORS = "\n---\n" } !/kind: Node\n/ && !/99249f257707c0c3/' "$left/$1" |
        sed "s/4.18.0-305.45.1.el8_4.x86_64/$kernel/g; s/b657a71de7fad62f/$(fnv64 "8.4-$dashes")/g; s|CHARTS|file://$left|; s|HOST/|$host/|g"
}

# put FILE [KIND]: creates what is in it, those of the kind first, with the uids of owners
put() {
    local kind=${2:-SpecialResource} script="" name
    documents "$1" >"$tap_dir/all"
    awk -v first="kind: $kind\n" 'BEGIN { RS = "\n---\n"; ORS = "\n---\n" } index($0, first)' "$tap_dir/all" | kubectl create --field-manager manager -f - || return 1
    for name in $(sed -n "s/.*kind: $kind, name: \([a-z-]*\)}\$/\1/p" "$tap_dir/all" | sort -u); do
        script="$script;s/kind: $kind, name: $name}\$/kind: $kind, name: $name, uid: $(kubectl get "$kind" "$name" -o 'jsonpath={.metadata.uid}')}/"
    done
    sed "${script#;}" "$tap_dir/all" | awk -v first="kind: $kind\n" 'BEGIN { RS = "\n---\n"; ORS = "\n---\n" } !index($0, first)' |
        until_created
}

# a definition of the documents is served a moment after it is there
until_created() {
    cat >"$tap_dir/rest"
    until_ok 30 created
}
created() { ! kubectl create --field-manager manager -f "$tap_dir/rest" 2>&1 | grep -v 'AlreadyExists\| created$\|^Warning: ' | grep .; }

pods_run() { [ "$(kubectl get pods -A -l '!k8s-app' --field-selector status.phase=Running -o name | wc -l)" = "$1" ]; }

leftovers() {
    kubectl apply -f deploy/crds/sro.openshift.io_specialresources.yaml -f deploy/crds/sro.openshift.io_specialresourcemodules.yaml \
        -f deploy/crds/sro.openshift.io_preflightvalidations.yaml &&
        established crd/specialresources.sro.openshift.io crd/preflightvalidations.sro.openshift.io || return 1
    local l
    # what another walk on this cluster has left on the node is none of SRO's
    for l in $(kubectl get node "$node" -o json | jq -r '.metadata.labels | keys[] | select(startswith("stay.slipway.dev/"))'); do
        kubectl label node "$node" "$l-" || return 1
    done
    for l in $labels; do
        case $l in *worker) kubectl label node "$node" "$l=" ;; *) kubectl label node "$node" "$l=Ready" ;; esac || return 1
    done
    # the system that SRO took the node for: the NFD of another walk may have found the machine's own
    kubectl label --overwrite node "$node" $nfd/system-os_release.ID=rhcos $nfd/system-os_release.RHEL_VERSION=8.4 \
        $nfd/system-os_release.VERSION_ID=4.10 $nfd/system-os_release.OSTREE_VERSION=410.84.202205191234-0 || return 1
    put left.yaml && put parent.yaml || return 1
    for l in $resources; do # a server drops it from what is created
        patch_status "/apis/sro.openshift.io/v1beta1/specialresources/$l" '{"status": {"state": "Ready"}}' || return 1
    done
    until_ok 120 pods_run 6
}

# all that was there: kind, name, uid, generation, restarts; and the node's labels. The generation of Deployments
# counts annotations, too: their ReplicaSets say whether a template has changed
picture() {
    local ns
    for ns in $namespaces; do
        kubectl -n "$ns" get pods,serviceaccounts,daemonsets,deployments,replicasets,jobs,services,roles,rolebindings,imagestreams,issuers.cert-manager.io,secrets \
            -o 'jsonpath={range .items[*]}{.kind} {.metadata.namespace}/{.metadata.name} {.metadata.uid} {.metadata.generation} {.status.containerStatuses[*].restartCount}{"\n"}{end}' |
            grep -v '^Secret .*/sh\.helm\.release\|^Secret .*-token-' | sed 's/^\(Deployment [^ ]* [^ ]*\) .*/\1/'
    done
    kubectl get specialresources,preflightvalidations,namespaces,customresourcedefinitions \
        -o 'jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.uid} {.metadata.generation}{"\n"}{end}'
    kubectl get node "$node" -o 'jsonpath={.metadata.labels}'
}

all_ready() {
    local r
    for r in $resources; do
        kubectl get specialresource "$r" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status} {.status.inventory}' | grep -q '^True .' || return 1
    done
}

# start [OPTION...]
start() {
    SLIPWAY_UPGRADE_GRAPH_URL=http://$host/graph SLIPWAY_ALLOWED_SOURCES=127.0.0.1 OPERATOR_NAMESPACE=default "$slipway" controller --legacy-rights --keep-node-selectors \
        --metrics-bind-address 0 --health-probe-bind-address 0 "$@" >>"$tap_dir/log" 2>&1 &
    echo $! >"$tap_dir/pid"
}
stop() {
    local pid
    pid=$(cat "$tap_dir/pid" 2>/dev/null) && kill "$pid" && until_ok 20 eval "! kill -0 $pid 2>/dev/null"
    rm -f "$tap_dir/pid"
}

# what slipway has written since: verb and resource, by the server's audit log
written() {
    sed -n "$(($1 + 1)),\$p" "$SLIPWAY_CLUSTER_DIR/log/audit.jsonl" | grep '"userAgent":"slipway' |
        grep -E '"verb":"(create|update|patch|delete|deletecollection)"' | grep -v '"resource":"\(selfsubject\|subject\)' |
        sed 's/.*"verb":"\([a-z]*\)".*"resource":"\([a-z]*\)".*/\1 \2/' | sort | uniq -c
}
lines() { wc -l <"$SLIPWAY_CLUSTER_DIR/log/audit.jsonl"; }

# The account that a resource names has no rights; whoever rehearses may act as it, or only write; then it has them.
rights_are_foreseen() {
    local set='{"spec": {"serviceAccountName": "slipway-rolling"}}' unset='{"spec": {"serviceAccountName": null}}' as
    kubectl create clusterrole writer --verb=get,list,create,patch,update --resource='*.*' &&
        kubectl create clusterrolebinding writer --clusterrole=writer --user=writer &&
        kubectl patch specialresource rolling --type merge -p "$set" || return 1
    for as in "" "--as writer"; do
        "$slipway" takeover --plan --keep-node-selectors --legacy-rights $as >"$tap_dir/plan" 2>&1
        [ $? = 2 ] && grep -E '^refused +DaemonSet rolling/.*slipway-rolling' "$tap_dir/plan" &&
            grep -E '^adopted +SpecialResource rolling .* may not write .*: slipway rbac .* \| kubectl apply -f -' "$tap_dir/plan" &&
            ! grep -E '^refused .*(simple-kmod|ping-pong)' "$tap_dir/plan" || { cat "$tap_dir/plan"; return 1; }
    done
    "$slipway" rbac "$left/rolling" --name rolling --namespace rolling >"$tap_dir/rights" && kubectl apply -f "$tap_dir/rights" || return 1
    "$slipway" takeover --plan --keep-node-selectors --legacy-rights >"$tap_dir/plan" && ! grep '^refused' "$tap_dir/plan" || { cat "$tap_dir/plan"; return 1; }
    kubectl patch specialresource rolling --type merge -p "$unset" && kubectl delete clusterrole/writer clusterrolebinding/writer || return 1
    awk 'BEGIN { RS = "---\n"; ORS = "---\n" } !/kind: Namespace\n/' "$tap_dir/rights" | kubectl delete --ignore-not-found -f -
}

rehearsed() {
    picture >"$tap_dir/before" && [ "$(grep -c '^Pod ' "$tap_dir/before")" = 6 ] &&
        "$slipway" takeover --plan --keep-node-selectors --legacy-rights >"$tap_dir/plan"
    local rc=$?
    cat "$tap_dir/plan"
    [ $rc = 0 ] && ! grep -v ' dasoperators' "$tap_dir/plan" | grep -E '^(changed|pods replaced|created|deleted|left|refused) '
}

same() { picture >"$tap_dir/after" && diff "$tap_dir/before" "$tap_dir/after"; }

taken_over() { # by one that is killed on the way, and one that goes on
    local at
    at=$(lines)
    start --no-registries
    until_ok 60 eval "written $at | grep -q ' daemonsets\$'" && kill -9 "$(cat "$tap_dir/pid")" || return 1
    start --no-registries
    until_ok 120 all_ready && sleep 3 && same || { tail -n 20 "$tap_dir/log"; return 1; }
    kubectl -n rolling get ds -o 'jsonpath={.items[*].metadata.annotations.slipway\.dev/resource}' | grep -q rolling || return 1
    written "$at" >"$tap_dir/written"
    cat "$tap_dir/written"
    ! grep -E ' (nodes|pods|namespaces)$| delete ' "$tap_dir/written"
}

rests() { # a restart writes nothing about what runs
    local at
    stop || return 1
    at=$(lines)
    start --no-registries
    until_ok 120 eval 'grep -q "resource=ping-pong.*Ready\|Ready.*resource=ping-pong" "$tap_dir/log"'
    sleep 5
    same && written "$at" | tee "$tap_dir/written" && ! grep -vE ' (events|specialresources|leases)$' "$tap_dir/written"
}

# what SRO left of modules, each object with uid and generation
of_modules() {
    local ns
    for ns in $modules; do
        kubectl -n "$ns" get configmaps,pods,buildconfigs.build.openshift.io,builds.build.openshift.io,policies.policy.open-cluster-management.io,placementbindings.policy.open-cluster-management.io,placementrules.apps.open-cluster-management.io \
            -o 'jsonpath={range .items[*]}{.kind} {.metadata.namespace}/{.metadata.name} {.metadata.uid} {.metadata.generation}{"\n"}{end}'
        kubectl get namespace/"$ns" specialresourcemodule/"$ns" -o 'jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.uid} {.metadata.generation}{"\n"}{end}'
    done
}
builds_done() { [ "$(kubectl get builds.build.openshift.io -A -o 'jsonpath={range .items[*]}{.metadata.namespace} {.status.phase}{"\n"}{end}' | grep -c '^acm-.* Complete$')" = 2 ]; }

modules_left() {
    local m
    stop && put modules.yaml SpecialResourceModule || return 1
    for m in $modules; do
        patch_status "/apis/sro.openshift.io/v1beta1/specialresourcemodules/$m" "{\"status\": {\"versions\": {\"$host/dtk:new\": {\"complete\": true}}}}" || return 1
    done
    until_ok 60 builds_done && of_modules >"$tap_dir/modules" && grep -c . "$tap_dir/modules"
}

modules_rehearsed() { # a build of SRO's for a version that is gone stays
    SLIPWAY_UPGRADE_GRAPH_URL=http://$host/graph "$slipway" takeover --plan --keep-node-selectors --legacy-rights >"$tap_dir/plan"
    cat "$tap_dir/plan"
    grep -qE '^adopted +SpecialResourceModule acm-ice$' "$tap_dir/plan" && grep -qE '^left +BuildConfig acm-ice/acm-ice-4-10-15 ' "$tap_dir/plan" &&
        ! grep -E '^(changed|pods replaced|created|deleted|refused) .* acm-' "$tap_dir/plan"
}

modules_are_adopted() {
    local m
    for m in $modules; do
        kubectl get specialresourcemodule "$m" -o json |
            jq -e --arg image "$host/dtk:new" '(.status.inventory | length) > 1 and .status.versions[$image].complete and (.status.message | not)' || return 1
    done
}

modules_taken_over() {
    local at turn
    for turn in first second; do
        at=$(lines)
        start
        until_ok 60 modules_are_adopted && sleep 3 && of_modules >"$tap_dir/after" && diff "$tap_dir/modules" "$tap_dir/after" ||
            { kubectl get specialresourcemodule -o yaml; tail -n 20 "$tap_dir/log"; return 1; }
        written "$at" >"$tap_dir/written"
        cat "$tap_dir/written"
        ! grep -E ' (nodes|pods|namespaces|builds)$| (create|delete) (buildconfigs|configmaps|polic|placement)' "$tap_dir/written" || return 1
        [ $turn = second ] || stop
    done
}

gone() {
    kubectl delete specialresourcemodule $modules --timeout=60s && kubectl delete namespace $modules --timeout=240s || return 1
    kubectl get crd -o name | grep 'open-cluster-management.io$' | xargs kubectl delete || return 1
    kubectl delete specialresource $resources --timeout=240s && kubectl delete preflightvalidation next && stop
    kubectl delete namespace $namespaces --timeout=240s && kubectl delete crd --ignore-not-found issuers.cert-manager.io || return 1
    kubectl -n default delete configmap --ignore-not-found special-resource-dependencies || return 1
    ! kubectl get node "$node" -o 'jsonpath={.metadata.labels}' | grep -E "$state-(rolling|simple-kmod|ping-pong|cert-manager)" && kubectl label node "$node" node-role.kubernetes.io/worker-
}

trap 'stop 2>/dev/null; rm -rf "$tap_dir"' EXIT
t "what SRO left is there, and runs" leftovers
t "the rehearsal says what an account may not write" rights_are_foreseen
t "the rehearsal says that nothing changes" rehearsed
t "it is taken over, with a kill on the way: nothing is replaced, no label moves" taken_over
t "a restart writes nothing" rests
t "what SRO left of modules is there" modules_left
t "the rehearsal says that nothing of them changes" modules_rehearsed
t "modules are taken over twice: nothing is made anew" modules_taken_over
t "what was made goes" gone
plan
