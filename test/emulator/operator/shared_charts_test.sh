#!/bin/bash
# The charts of ../shared, which others wrote, each on an embedded cluster of its own: walked, walked again
# (nothing is written), upgraded (a value that changes its workloads) and removed (nothing is left). One
# that cannot stand alone says what it lacks, and walks where that is there. Three of them by SW_SEED;
# SW_ALL=1: all. ONLY=regex: those whose path matches.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh
slipway=${SLIPWAY:-build/test/slipway}
shared=${SW_SHARED:-../shared}
[ -d "$shared/aicr/charts" ] || { skip "charts that others wrote" "no ../shared"; plan; }
export KUBECONFIG=$tap_dir/kubeconfig HOME=$tap_dir
export https_proxy=http://127.0.0.1:9 http_proxy=http://127.0.0.1:9 # nothing is fetched: no server is there

# chart | values that it needs | values of the upgrade | what it lacks when it is alone | charts to be
# walked before (CHART?VALUES), after which it stands; "-": they are not at hand | what it keeps
charts() {
    cat <<'END'
aicr/charts/aws-ebs-csi-driver|node.enableWindows=false|image.tag=v0.0.1||
aicr/charts/aws-efa-k8s-device-plugin|||DaemonSet .* matches no node|-
aicr/charts/k8s-ephemeral-storage-metrics||image.tag=v0.0.1||
aicr/charts/kai-scheduler||operator.image.tag=v0.0.1|||kai-resource-reservation
aicr/charts/kgateway|||GatewayClass kgateway is not served yet: .*gateway.networking.k8s.io|-
aicr/charts/kube-prometheus-stack|||dependencies.* 'kube-state-metrics'|-
aicr/charts/kubeflow-trainer||image.tag=v0.0.1||
aicr/charts/network-operator||operator.tag=v0.0.1||
aicr/charts/nvsentinel|||DaemonSet .* matches no node|-
aicr/charts/prometheus-adapter||image.tag=v0.0.1||
aicr/charts/skyhook-operator||controllerManager.manager.image.tag=v0.0.1||
charts/acm-ice|||specialResourceModule.metadata.name|-
charts/acm-simple-kmod|||specialResourceModule.metadata.name|-
charts/gpu-operator||operator.version=v0.0.1||
charts/node-feature-discovery||image.tag=v0.0.1||
charts/ping-pong|||dependency cert-manager|-
charts/simple-kmod||color=red||
upstream/cert-manager|crds.enabled=true|image.tag=v0.0.1,webhook.image.tag=v0.0.1|||^CustomResourceDefinition - .*cert-manager.io$
upstream/dra-driver-nvidia-gpu|gpuResourcesEnabledOverride=true||No supported resource.k8s.io API|-
upstream/intel/device-plugin-operator||manager.image.tag=v0.0.1|Certificate .* is not served yet|upstream/cert-manager?crds.enabled=true
upstream/intel/dlb-device-plugin||image.tag=v0.0.1|DlbDevicePlugin .* is not served yet|charts/node-feature-discovery upstream/cert-manager?crds.enabled=true upstream/intel/device-plugin-operator
upstream/intel/dsa-device-plugin||image.tag=v0.0.1|DsaDevicePlugin .* is not served yet|charts/node-feature-discovery upstream/cert-manager?crds.enabled=true upstream/intel/device-plugin-operator
upstream/intel/gpu-device-plugin||image.tag=v0.0.1|GpuDevicePlugin .* is not served yet|charts/node-feature-discovery upstream/cert-manager?crds.enabled=true upstream/intel/device-plugin-operator
upstream/intel/iaa-device-plugin||image.tag=v0.0.1|IaaDevicePlugin .* is not served yet|charts/node-feature-discovery upstream/cert-manager?crds.enabled=true upstream/intel/device-plugin-operator
upstream/intel/npu-device-plugin||image.tag=v0.0.1|NodeFeatureRule .* is not served yet|charts/node-feature-discovery upstream/cert-manager?crds.enabled=true upstream/intel/device-plugin-operator
upstream/intel/qat-device-plugin||image.tag=v0.0.1|NodeFeatureRule .* is not served yet|charts/node-feature-discovery upstream/cert-manager?crds.enabled=true upstream/intel/device-plugin-operator
upstream/intel/sgx-device-plugin||image.tag=v0.0.1|NodeFeatureRule .* is not served yet|charts/node-feature-discovery upstream/cert-manager?crds.enabled=true upstream/intel/device-plugin-operator
END
}

finish() {
    stop emulate
    rm -rf "$tap_dir"
}
trap finish EXIT

start() {
    stop emulate
    rm -f "$KUBECONFIG"
    "$slipway" emulate --kube-version 1.33 --delays 0.1 --kubeconfig-out "$KUBECONFIG" >"$tap_dir/emulate" 2>&1 &
    echo $! >"$tap_dir/emulate.pid"
    until_ok 60 test -s "$KUBECONFIG"
}

run() { # CHART VALUES ARGUMENTS...: every object is awaited
    local copy=$tap_dir/charts/$1
    if [ ! -d "$copy" ]; then
        mkdir -p "$copy" && cp -rL "$shared/$1/." "$copy" && chmod -R u+w "$copy"
        sed -i '/^annotations: *{}/d; $a\' "$copy/Chart.yaml" # the last line ends
        awk '/^annotations:/ { print; getline; match($0, /^ */)
                               print substr($0, 1, RLENGTH) "slipway.dev/wait: all"; has = 1 }
             { print }
             END { if (!has) print "annotations:\n  slipway.dev/wait: all" }' "$copy/Chart.yaml" >"$tap_dir/o" &&
            cp "$tap_dir/o" "$copy/Chart.yaml"
    fi
    "$slipway" run "$copy" ${2:+--set "$2"} "${@:3}" >"$tap_dir/o" 2>&1
}
walk() { # the same, to Ready
    run "$@" --timeout 40s || { tail -n 20 "$tap_dir/o"; return 1; }
}

# Every object of the cluster: kind, namespace, name, uid, resourceVersion. Not Events, Leases, and what
# slipway and the cluster write down themselves.
objects() {
    python3 - "$(sed -n 's/^ *server: //p' "$KUBECONFIG")" <<'END'
import json, sys, urllib.request

def get(path):
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(sys.argv[1] + path) as answer:
        return json.load(answer)

for version in ["/api/v1"] + ["/apis/" + g["preferredVersion"]["groupVersion"] for g in get("/apis")["groups"]]:
    for kind in get(version)["resources"]:
        if "/" in kind["name"] or "list" not in kind["verbs"] or kind["kind"] in ("Event", "Lease", "SpecialResource"):
            continue
        for o in get(version + "/" + kind["name"])["items"]:
            m = o["metadata"]
            print(kind["kind"], m.get("namespace", "-"), m["name"], m["uid"], m["resourceVersion"])
END
}
names() { objects | cut -d' ' -f1-3 | sort; }
same() { diff "$1" "$2" | grep '^[<>]' && return 1; return 0; }

lacks() {
    run "$chart" "$values" --timeout 10s && { echo "Ready?"; return 1; }
    grep -q -- "$lack" "$tap_dir/o" || { tail -n 20 "$tap_dir/o"; return 1; }
}
again() {
    local kept='^Namespace - kai-resource-reservation ' # the chart renders it only where it is not there
    objects | grep -v "$kept" | sort >"$tap_dir/first"
    walk "$chart" "$values" || return 1
    objects | grep -v "$kept" | sort >"$tap_dir/second"
    same "$tap_dir/first" "$tap_dir/second"
}
upgrade() {
    walk "$chart" "${values:+$values,}$changes" || return 1
    objects | sort >"$tap_dir/third"
    ! same "$tap_dir/second" "$tap_dir/third" >/dev/null || { echo "nothing changed"; return 1; }
}
remove() {
    "$slipway" uninstall --yes --keep-operator "$release" >"$tap_dir/o" 2>&1 || { cat "$tap_dir/o"; return 1; }
    until_ok 20 gone
}
gone() { # helm.sh/resource-policy: keep
    names | grep -v "${keeps:-^$}" >"$tap_dir/after"
    same "$tap_dir/before" "$tap_dir/after"
}

n=$(charts | wc -l) i=0
pick=" $((SW_SEED % n)) $(((SW_SEED + n / 3) % n)) $(((SW_SEED + 2 * n / 3) % n)) "
[ -n "${SW_ALL:-}" ] || echo "# three of $n, SW_SEED=${SW_SEED:=0}; all: SW_ALL=1"
while IFS='|' read -r chart values changes lack before keeps; do
    case $pick in *" $i "*) chosen=1 ;; *) chosen=${SW_ALL:-} ;; esac
    i=$((i + 1))
    [ -z "${ONLY:-}" ] || { [[ $chart =~ $ONLY ]] && chosen=1 || chosen=; }
    [ -n "$chosen" ] || continue
    release=$(sed -n 's/^name: *"\{0,1\}\([^"]*\)"\{0,1\}$/\1/p' "$shared/$chart/Chart.yaml")
    start || exit 1
    [ -z "$lack" ] || t "$chart: it says what it lacks" lacks
    [ "$before" != - ] || continue
    if [ -n "$lack" ]; then
        start || exit 1
        for other in $before; do t "$chart: $other is walked before" walk "${other%%\?*}" "$(sed -n "s/.*?//p" <<<"$other")"; done
    else # the definitions of SpecialResources come with the first run
        "$slipway" run test/emulator/operator/charts/no-object --timeout 5s >"$tap_dir/o" 2>&1
        "$slipway" uninstall --yes --keep-operator no-object >"$tap_dir/o" 2>&1
    fi
    names >"$tap_dir/before"
    t "$chart: it gets Ready" walk "$chart" "$values"
    t "$chart: a second walk writes nothing" again
    [ -z "$changes" ] || t "$chart: it is upgraded" upgrade
    t "$chart: it is removed, and nothing is left" remove
done < <(charts)
plan
