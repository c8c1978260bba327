#!/bin/bash
# bench-aicr.sh: one bundle of NVIDIA's AI Cluster Runtime, installed by slipway and by the bundle's own deploy.sh, each on an
# embedded cluster of its cloud with the same delays: how long until a GPU can be used (the health checks of all components
# hold, and pods run with a GPU on two nodes), when the installer says that it is done, and its requests to the API server. What
# it does when one of the GPU operator's pods does not get ready, what becomes of a node that joins late, and of an installer that
# is killed. One JSON object a line. hack/bench.sh runs the first case with slipway alone.
#   BUNDLE=DIR    a bundle with its deploy.sh, as `aicr bundle` writes it (default: ../shared/aicr/bundles/kind,
#                 which has no deploy.sh)
#   HELM=helm     for deploy.sh
#   CASES="usable broken late killed"   BY="slipway deploy.sh"   DELAYS=1   DEPLOY_ARGS="--retries 1"
set -eu
cd "$(dirname "$0")/.."
shared=${SW_SHARED:-../shared}
bundle=${BUNDLE:-$shared/aicr/bundles/kind} helm=${HELM:-helm}
slipway=$PWD/build/slipway here=$PWD
say() { echo "bench-aicr: $*" >&2; }
[ -f "$bundle/recipe.yaml" ] && [ -d "$shared/aicr/catalog" ] || { say "no bundle and catalogue of NVIDIA's in $shared/aicr"; exit 0; }
command -v kubectl >/dev/null && command -v jq >/dev/null || { say "no kubectl, or no jq"; exit 0; }
bundle=$(realpath "$bundle") catalog=$(realpath "$shared/aicr/catalog")
by=${BY:-slipway deploy.sh}
if [[ $by == *deploy.sh* ]]; then
    helm=$(command -v "$helm") || { say "no helm (HELM=PROGRAM): deploy.sh is not measured"; by=slipway; }
    [ -f "$bundle/deploy.sh" ] || { say "no deploy.sh in $bundle (BUNDLE=DIR): it is not measured"; by=slipway; }
fi
. test/tap.sh # until_ok, tap_dir
. test/aicr_charts.sh
export HOME=$tap_dir KUBECONFIG=$tap_dir/counted SLIPWAY_STAND_INS=1 LC_ALL=C
pids=
finish() {
    clear_cluster || true
    # shellcheck disable=SC2086
    [ -z "$pids" ] || kill $pids 2>/dev/null || true
    rm -rf "$tap_dir"
}
trap finish EXIT
cloud=kind
for name in eks gke aks; do [[ $bundle != *$name* ]] || cloud=$name; done

# ---- what both take: the vendors' charts, as far as they are at hand ---------------------------
aicr_charts "$shared" "$tap_dir/charts"

# repository: those that deploy.sh names, in the versions that it names, at a server of our own
repository() {
    local chart version dir=$tap_dir/repository
    mkdir -p "$dir" "$tap_dir/whole"
    cp -r "$bundle" "$tap_dir/bundle" && chmod -R u+w "$tap_dir/bundle"
    python3 -m http.server --bind 127.0.0.1 --directory "$dir" 0 >"$tap_dir/server" 2>&1 &
    pids="$pids $!"
    until_ok 10 grep -q 'port [0-9]' "$tap_dir/server" || return 1
    local url
    url=http://127.0.0.1:$(sed -n 's/.*port \([0-9]*\).*/\1/p' "$tap_dir/server")
    # CHART --repo URL, or oci://.../CHART
    sed -E -i "s|^( *--repo )https?://[^ ]*|\1$url|; s|oci://[^ ]*/([^ /]+) |\1 --repo $url |" "$tap_dir/bundle/deploy.sh"
    tr '\n' ' ' <"$tap_dir/bundle/deploy.sh" | sed 's/\\//g' | grep -oE "[a-z0-9-]+ +--repo +$url +--version +[^ ]+" |
        awk '{ print $1, $NF }' >"$tap_dir/wanted"
    while read -r chart version; do
        cp -r "$tap_dir/charts/$chart" "$tap_dir/whole/$chart" || return 1
        sed -i "s/^version: .*/version: $version/" "$tap_dir/whole/$chart/Chart.yaml"
        # dependencies, too, come from the folder
        "$slipway" package "$tap_dir/whole/$chart" --charts-dir "$tap_dir/charts" -d "$dir" >"$tap_dir/said" 2>&1 || { cat "$tap_dir/said" >&2; return 1; }
    done <"$tap_dir/wanted"
    "$helm" repo index "$dir" --url "$url"
    mkdir -p "$tap_dir/bin" && ln -sf "$helm" "$tap_dir/bin/helm"
}

# ---- a cluster ---------------------------------------------------------------------------------
cluster() { # OPTION...: a new one; $tap_dir/direct is its kubeconfig, and that of $KUBECONFIG counts
    local port
    clear_cluster
    "$slipway" emulate --kube-version 1.34 --platform "$cloud" --nodes 4 --delays "${DELAYS:-1}" --kubeconfig-out "$tap_dir/direct" "$@" >"$tap_dir/emulate" 2>&1 &
    echo $! >"$tap_dir/emulated.pid"
    until_ok 20 test -s "$tap_dir/direct"
    port=$(sed -n 's|.*server: http://127.0.0.1:\([0-9]*\).*|\1|p' "$tap_dir/direct")
    echo "0 0" >"$tap_dir/count"
    python3 "$here/hack/count-requests.py" "$port" "$tap_dir/port" "$tap_dir/count" &
    echo $! >"$tap_dir/counting.pid"
    until_ok 10 test -s "$tap_dir/port"
    sed "s/:$port/:$(cat "$tap_dir/port")/" "$tap_dir/direct" >"$KUBECONFIG"
    chmod 600 "$KUBECONFIG"
    judge
}
clear_cluster() { # what has ended by itself is no failure
    stop judging || true
    stop counting || true
    stop emulated || true
    rm -f "$tap_dir/direct" "$tap_dir/port" "$tap_dir/usable" "$tap_dir/said"
}
direct() { KUBECONFIG=$tap_dir/direct "$@"; }

# judge: says in $tap_dir/judged when all health checks hold at once and a pod has a GPU of each node that has some. It is a
# recipe of its own, which observes only, and its requests are not counted.
judge() {
    if [ ! -d "$tap_dir/judge" ]; then
        "$slipway" create "$tap_dir/made" --from-aicr --recipe "$bundle/recipe.yaml" --data "$catalog" >/dev/null 2>&1
        mkdir -p "$tap_dir/judge/charts" "$tap_dir/judge/templates"
        cp -r "$tap_dir"/made/charts/*-check "$tap_dir/judge/charts/"
        sed -i '/slipway.dev\/timeout/d' "$tap_dir"/judge/charts/*/templates/*.yaml
        printf 'apiVersion: v2\nname: judge\nversion: 0.1.0\nannotations: {slipway.dev/wait: all}\n' >"$tap_dir/judge/Chart.yaml"
        cat >"$tap_dir/judge/templates/gpu.yaml" <<'Y'
apiVersion: apps/v1
kind: Deployment
metadata: {name: uses-a-gpu, namespace: default}
spec:
  replicas: 2
  selector: {matchLabels: {app: uses-a-gpu}}
  template:
    metadata: {labels: {app: uses-a-gpu}}
    spec:
      tolerations: [{operator: Exists}]
      topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: uses-a-gpu}}}]
      containers: [{name: c, image: "registry.example.com/x:1", resources: {limits: {nvidia.com/gpu: 1}}}]
Y
    fi
    direct "$slipway" run "$tap_dir/judge" --timeout 900s >"$tap_dir/judged" 2>&1 &
    echo $! >"$tap_dir/judging.pid"
}
usable() { grep -q ' judge: Ready$' "$tap_dir/judged"; }

# ---- the installers ----------------------------------------------------------------------------
slipway_walks() {
    "$slipway" run "$bundle" --name bundle --data "$catalog" --charts-dir "$tap_dir/charts" --set validation.enabled=false --ignore-constraints --timeout "${WALK_TIMEOUT:-600s}" --fail-fast
}
deploy_walks() { # OPTION...
    PATH=$tap_dir/bin:$PATH bash "$tap_dir/bundle/deploy.sh" "$@"
}
install() { # BY: in the background, in a process group of its own
    case $1 in
    slipway) (exec setsid bash -c 'set +e; '"$(declare -f slipway_walks)"'; slipway_walks; echo $? >"$tap_dir/rc"') >"$tap_dir/said" 2>&1 & ;;
    *) (exec setsid bash -c 'set +e; '"$(declare -f deploy_walks)"'; deploy_walks '"${DEPLOY_ARGS:-}"'; echo $? >"$tap_dir/rc"') >"$tap_dir/said" 2>&1 & ;;
    esac
    installing=$!
}
export slipway bundle catalog tap_dir
now_ms() { echo $(($(date +%s%N) / 1000000)); }
seconds() { awk -v ms="$1" 'BEGIN { printf "%.1f", ms / 1000 }'; } # MS
# watched SECONDS: until the installer has ended, and it is usable or so many seconds have passed since the end; sets said_s,
# usable_s (null: it was not), rc
watched() {
    local start ended_ms=
    start=$(now_ms) said_s=null usable_s=null rc=null
    rm -f "$tap_dir/rc"
    install "$2"
    while :; do
        [ "$usable_s" != null ] || ! usable || usable_s=$(seconds $(($(now_ms) - start)))
        if [ -z "$ended_ms" ] && [ -s "$tap_dir/rc" ]; then
            ended_ms=$(now_ms) said_s=$(seconds $(($(now_ms) - start))) rc=$(cat "$tap_dir/rc")
        fi
        [ -z "$ended_ms" ] || { [ "$usable_s" = null ] && [ $(($(now_ms) - ended_ms)) -lt $(($1 * 1000)) ]; } || break
        sleep 0.1
    done
    wait "$installing" || true
    read -r requests writes <"$tap_dir/count"
}
last() { grep -v '^ *$' "$tap_dir/said" | tail -n 1 | tr -d '\r"\\' | sed 's/^ *//' | cut -c1-200; }
line() { # CASE BY MORE
    printf '{"bench":"aicr-%s","by":"%s","bundle":"%s","delays":%s,"said_s":%s,"usable_s":%s,"exit":%s,"said":"%s"%s}\n' \
        "$1" "$2" "$(basename "$bundle")" "${DELAYS:-1}" "$said_s" "$usable_s" "$rc" "$(last)" "${3:-}"
}

# ---- the cases ---------------------------------------------------------------------------------
case_usable() { # BY
    cluster
    watched 120 "$1"
    line usable "$1" ",\"requests\":$requests,\"writes\":$writes"
}
# GPU Feature Discovery runs on each node with GPUs, and never gets ready
case_broken() {
    cluster --trouble operand-not-ready
    export WALK_TIMEOUT=120s
    DEPLOY_ARGS="--retries 1" watched 20 "$1"
    unset WALK_TIMEOUT
    line broken "$1"
}
# behind the walk a node joins: when does kubelet have its GPUs, and what tells that its components are on it?
case_late() {
    local since gpus_s=null label
    cluster
    watched 120 "$1"
    direct kubectl get node gpu-0 -o json | jq 'del(.metadata.uid, .metadata.resourceVersion, .metadata.creationTimestamp, .metadata.managedFields, .spec.podCIDR, .spec.podCIDRs) | .metadata.name = "late-0" |
        .metadata.annotations |= with_entries(select(.key | startswith("emulator.slipway.dev/gpu"))) |
        .metadata.labels |= with_entries(select(.key | test("nvidia|feature.node|specialresource|slipway") | not)) | .metadata.labels["kubernetes.io/hostname"] = "late-0" |
        .status.allocatable |= with_entries(select(.key | test("nvidia") | not)) | .status.capacity |= with_entries(select(.key | test("nvidia") | not))' >"$tap_dir/late.json"
    since=$(now_ms)
    direct kubectl create -f "$tap_dir/late.json" >/dev/null
    ! until_ok 60 late_has || gpus_s=$(seconds $(($(now_ms) - since)))
    [ "$1" != slipway ] || slipway_walks >"$tap_dir/said" 2>&1 || true # the operator would be there
    label=$(direct kubectl get node late-0 -o json | jq -r '[.metadata.labels | to_entries[] | select(.key | startswith("specialresource.openshift.io/state-"))] | length')
    line late "$1" ",\"gpus_s\":$gpus_s,\"labels\":$label"
}
late_has() { direct kubectl get node late-0 -o json | jq -e '.status.allocatable["nvidia.com/gpu"] // "0" | tonumber > 0' >/dev/null; }
# killed where the GPU operator is being installed, and started once more
case_killed() {
    cluster
    install "$1"
    until_ok 120 installing_gpu || true
    kill -9 -- "-$installing" 2>/dev/null || true
    wait "$installing" 2>/dev/null || true
    DEPLOY_ARGS="--retries 1" watched 20 "$1"
    line killed "$1"
}
installing_gpu() { direct kubectl get deployment gpu-operator -n gpu-operator >/dev/null 2>&1; }

[[ $by != *deploy.sh* ]] || repository || { say "the charts cannot be packed: deploy.sh is not measured"; by=slipway; }
for one in ${CASES:-usable broken late killed}; do
    for who in $by; do
        say "$one, $who"
        "case_$one" "$who"
    done
done
clear_cluster
