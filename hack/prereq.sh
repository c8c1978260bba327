#!/bin/bash
# prereq.sh: what accelerator recipes build on, for clusters that do not have it and are not to get it
# from a recipe. A recipe finds it there and leaves it alone.
#
#   prereq.sh deploy | undeploy  cert-manager | nfd | nvidia  [--ocp] [--dry-run]
#
# --ocp installs through the Operator Lifecycle Manager, else from the vendor's chart; both come from states/.
# It may be repeated, and ends when the part is ready (TIMEOUT seconds, 600). --dry-run prints what would
# be applied, or what would be deleted. SLIPWAY_CHARTS_DIR names a folder of charts that are not fetched.
# Versions are pinned, and overridden by:
#   CERT_MANAGER_VERSION (image tag)  CERT_MANAGER_CHANNEL  CERT_MANAGER_CSV
#   NFD_VERSION          (image tag)  NFD_CHANNEL           NFD_CSV
#   NVIDIA_VERSION       (image tag)  NVIDIA_CHANNEL        NVIDIA_CSV
# and for anything else SET="--set a=b", as `slipway render` takes it.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
slipway=${SLIPWAY:-$here/build/slipway}
: "${TIMEOUT:=600}"
say() { echo "$*" >&2; }
die() { say "prereq: $*"; exit 1; }
usage() { sed -n '2,16p' "$0" | sed 's/^# \{0,1\}//'; }
[ -n "${KUBECTL:-}" ] || KUBECTL=$(command -v kubectl || command -v oc) || die "neither kubectl nor oc is here (KUBECTL=...)"
k() { "$KUBECTL" "$@"; }

# ---- what is applied -----------------------------------------------------------------------------
choose() { # PART
    part=$1
    case $part in
    cert-manager) state=cert-manager version=${CERT_MANAGER_VERSION:-} channel=${CERT_MANAGER_CHANNEL:-} csv=${CERT_MANAGER_CSV:-} ;;
    nfd) state=nfd version=${NFD_VERSION:-} channel=${NFD_CHANNEL:-} csv=${NFD_CSV:-} ;;
    nvidia) state=gpu-operator version=${NVIDIA_VERSION:-} channel=${NVIDIA_CHANNEL:-} csv=${NVIDIA_CSV:-} ;;
    *) die "unknown part '$part': cert-manager, nfd or nvidia" ;;
    esac
}

version_flags() {
    [ -z "$channel" ] || printf ' --set olm.channel=%s' "$channel"
    [ -z "$csv" ] || printf ' --set olm.startingCSV=%s' "$csv"
    [ -z "$version" ] && return 0
    case $part in
    cert-manager) printf ' --set cert-manager.%simage.tag=%s' '' "$version" webhook. "$version" cainjector. "$version" ;;
    nfd) printf ' --set node-feature-discovery.image.tag=%s' "$version" ;;
    nvidia) printf ' --set gpu-operator.operator.version=%s' "$version" ;;
    esac
}

# The state's manifests without what slipway only looks at or tries, and without hooks, which are Helm's and
# slipway's to run; one a file in $work, in order.
manifests() {
    # shellcheck disable=SC2046,SC2086
    "$slipway" render "$here/states/$state" --include-crds --set "mode=$mode" -a operators.coreos.com/v1alpha1 \
        $(version_flags) ${SET:-} >"$work/all" || die "states/$state cannot be rendered"
    awk -v dir="$work" 'function flush() {
            if (doc ~ /(^|\n)kind: / && doc !~ /slipway.dev\/(observe|dry-run): "true"/ && doc !~ /helm.sh\/hook"?: /) { file = sprintf("%s/%03d.yaml", dir, n++); printf "%s", doc > file; close(file) }
            doc = "" }
        $0 == "---" { flush(); next } { doc = doc $0 "\n" } END { flush() }' "$work/all"
}

title() { awk '/^kind:/ && !kind { kind = $2 } /^  name:/ && !name { name = $2 } END { print kind "/" name }' "$1"; }

# A kind that is not served yet, or a webhook that does not answer yet, comes in a later round. All files go
# into one call, in order: kubectl goes on after one that fails.
apply_all() {
    local end=$((SECONDS + TIMEOUT)) f files=() rc wrong
    local later='no matches for kind|ensure CRDs are installed first|failed calling webhook|the server could not find the requested resource|namespaces ".*" not found'
    for f in "$work"/[0-9]*.yaml; do files+=(-f "$f"); done
    while :; do
        rc=0
        k apply "${files[@]}" >"$work/out" 2>"$work/err" || rc=$?
        if [ $rc = 0 ]; then break; fi
        wrong=$(grep -v '^Warning:' "$work/err" | grep -vE "$later" || true)
        [ -z "$wrong" ] || die "$(head -3 <<<"$wrong")"
        [ $SECONDS -lt "$end" ] || die "not all could be applied within $TIMEOUT s: $(grep -E "$later" "$work/err" | sed -n 1p)"
        grep -v ' unchanged$' "$work/out" || true
        sleep 1
    done
    cat "$work/out"
}

# ---- when it is ready ----------------------------------------------------------------------------
ready_cert-manager() {
    local d
    for d in cert-manager cert-manager-webhook cert-manager-cainjector; do
        [ "$(k -n cert-manager get deployment $d -o 'jsonpath={.status.conditions[?(@.type=="Available")].status}' 2>/dev/null)" = True ] || { why="Deployment $d is not available"; return 1; }
    done
    printf 'apiVersion: cert-manager.io/v1\nkind: Issuer\nmetadata: {name: slipway-probe, namespace: default}\nspec: {selfSigned: {}}\n' |
        k apply --dry-run=server -f - >/dev/null 2>&1 || { why="its webhook takes no Issuer yet"; return 1; }
}

ready_nfd() {
    local bare
    bare=$(k get nodes -l '!feature.node.kubernetes.io/system-os_release.ID' -o 'jsonpath={.items[?(@.spec.taints)].metadata.name}' 2>/dev/null)
    [ -n "$(k get nodes -l feature.node.kubernetes.io/system-os_release.ID -o name 2>/dev/null)" ] || { why="no node carries its labels"; return 1; }
    [ -z "$(k get nodes -l '!feature.node.kubernetes.io/system-os_release.ID,!node-role.kubernetes.io/control-plane,!node-role.kubernetes.io/master' -o name 2>/dev/null)" ] ||
        { why="nodes without its labels: $(k get nodes -l '!feature.node.kubernetes.io/system-os_release.ID' -o name | tr '\n' ' ')$bare"; return 1; }
}

ready_nvidia() {
    local s
    s=$(k get clusterpolicies.nvidia.com -o 'jsonpath={.items[0].status.state}' 2>/dev/null || true)
    [ "$s" = ready ] || { why="ClusterPolicy is '${s:-not there}'"; return 1; }
}

wait_ready() {
    local end=$((SECONDS + TIMEOUT)) why="" said=""
    until "ready_$part"; do
        [ "$why" = "$said" ] || say "$part: waiting, $why"
        said=$why
        [ $SECONDS -lt "$end" ] || die "$part is not ready after $TIMEOUT s: $why"
        sleep 1
    done
    say "$part is ready"
}

# ---- commands ------------------------------------------------------------------------------------
deploy() {
    local f
    manifests
    if [ -n "$dry" ]; then
        for f in "$work"/[0-9]*.yaml; do echo ---; cat "$f"; done
        return 0
    fi
    k get --raw /version --request-timeout=10s >/dev/null 2>&1 || die "no cluster can be reached with ${KUBECONFIG:-the default kubeconfig}"
    [ "$mode" != olm ] || grep -q '^operators.coreos.com/' <<<"$(k api-versions)" || die "this cluster has no Operator Lifecycle Manager: leave --ocp out"
    apply_all
    wait_ready
}

# The last first; what a Subscription brought goes with it, its definitions and their objects stay as
# the Operator Lifecycle Manager means it to be.
undeploy() {
    local f installed name csv_ns
    manifests
    for f in $(ls -r "$work"/[0-9]*.yaml); do
        if [ -n "$dry" ]; then title "$f"; continue; fi
        if grep -q '^kind: Subscription$' "$f"; then
            csv_ns=$(awk '/^  namespace:/ { print $2; exit }' "$f")
            name=$(awk '/^  name:/ { print $2; exit }' "$f")
            installed=$(k -n "$csv_ns" get subscriptions.operators.coreos.com "$name" -o 'jsonpath={.status.installedCSV}' 2>/dev/null || true)
            [ -z "$installed" ] || k -n "$csv_ns" delete clusterserviceversions.operators.coreos.com "$installed" --ignore-not-found
        fi
        k delete --ignore-not-found --wait=true --timeout=120s -f "$f" 2>"$work/err" || grep -q 'no matches for kind' "$work/err" || die "$(title "$f"): $(tail -1 "$work/err")"
    done
}

[ $# -ge 2 ] || { usage >&2; exit 2; }
command=$1 mode=chart dry=
choose "$2"
shift 2
for a in "$@"; do
    case $a in
    --ocp) mode=olm ;;
    --dry-run) dry=1 ;;
    *) die "unknown option $a" ;;
    esac
done
[ -x "$slipway" ] || die "$slipway is not there (make)"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case $command in
deploy | undeploy) "$command" ;;
*) usage >&2; exit 2 ;;
esac
