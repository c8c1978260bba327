# All recipes on one cluster: who comes first installs what they share and owns it, the others join. Where he goes the
# next one becomes the owner, and nothing of it is deleted and made again; the last one takes it with him. Every order
# of coming and going: a sample of them, with SW_ALL all.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
export KUBECONFIG=$tap_dir/kubeconfig
command -v kubectl >/dev/null || { skip "recipes together" "no kubectl here"; plan; }
trap 'stop operating; stop emulated; rm -rf "$tap_dir"' EXIT
recipes="nvidia-mig nvidia-gpu intel-device-plugins simple-kmod"

up() { # PLATFORM
    stop operating
    stop emulated
    emulated --platform "$1" && operating --allowed-files "$PWD" && ours >"$tap_dir/before"
}
# all that slipway marks, by name: uid; and all namespaces and definitions
kinds=namespaces,customresourcedefinitions,clusterroles,clusterrolebindings,roles,rolebindings,serviceaccounts,services,configmaps,deployments,daemonsets,validatingwebhookconfigurations,mutatingwebhookconfigurations
ours() {
    kubectl get $kinds -A -o json | jq -r '.items[] |
        select(.metadata.labels["specialresource.openshift.io/owned"] == "true" or .kind == "Namespace" or .kind == "CustomResourceDefinition") |
        "\(.kind) \(.metadata.namespace // "-") \(.metadata.name) \(.metadata.uid)"' | sort
}
# of these, what belongs to a part
shared() { ours | grep -E ' (cert-manager|node-feature-discovery) |cert-manager|nfd|node-feature-discovery' | grep -v ' nvidia-' || true; }
come() { resource "$1" "file://$PWD/recipes/$1" 0.1.0 | kubectl apply -f - && ready "$1"; }
is_ready() { [ "$(kubectl get specialresource "$1" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}')" = True ]; }
ready() { until_ok 30 is_ready "$1" || { kubectl get specialresource "$1" -o json | jq -r '.status.conditions[].message'; tail -5 "$tap_dir/log"; return 1; }; }
# the resource goes; those that are left are Ready, and have what they shared with it, the same objects
go() { # RECIPE LEFT...
    local r
    shared >"$tap_dir/shared"
    kubectl delete specialresource "$1" --timeout=60s || return 1
    shift
    [ $# -gt 0 ] || return 0
    for r in "$@"; do ready "$r" || return 1; done
    until_ok 10 owners_are_among "$@" || return 1
    [ "$*" = simple-kmod ] && return # it shares nothing
    shared | diff "$tap_dir/shared" - >"$tap_dir/changes"
    is_left_alone "$@"
}
# who is left alone may not use all parts: cert-manager goes with the last one that needs it
is_left_alone() {
    case " $* " in
    *" nvidia-mig "* | *" intel-device-plugins "*) ;;
    *) sed -i '/cert-manager/d' "$tap_dir/changes" ;;
    esac
    ! grep '^[<>]' "$tap_dir/changes"
}
owners_are_among() {
    kubectl get namespaces -l slipway.dev/shared-releases -o json |
        jq -e --arg left "$*" '[.items[].metadata.annotations["slipway.dev/shared-releases"] | fromjson | .[] |
            (has("from") or has("leaving") | not) and ([.users[].name] - ($left / " ") == [])] | all' >/dev/null
}
# who joins a release has nothing to say of its record
all_is_recorded() { ! kubectl get events -A | grep ReleaseNotRecorded; }
nothing_is_left() { until_ok 10 same_as_before || { ours | diff "$tap_dir/before" -; false; }; }
same_as_before() { ours | cmp -s - "$tap_dir/before"; }
in_order() { # PLATFORM RECIPE...: they come in this order, and go in it
    local r
    up "$1" || return 1
    shift
    for r in "$@"; do come "$r" || return 1; done
    all_is_recorded || return 1
    while [ $# -gt 0 ]; do go "$@" || return 1; shift; done
    nothing_is_left
}
come_all() { # PLATFORM RECIPE...: all at one moment; each part has one owner
    local r
    up "$1" || return 1
    shift
    for r in "$@"; do resource "$r" "file://$PWD/recipes/$r" 0.1.0; echo ---; done | kubectl apply -f - || return 1
    for r in "$@"; do ready "$r" || return 1; done
    all_is_recorded && owners_are_among "$@" && [ "$(kubectl get daemonsets -A -l role=worker -o name | wc -l)" -le 1 ]
}
all_at_once() { # PLATFORM
    come_all "$1" $recipes || return 1
    kubectl delete specialresource --all --timeout=60s && nothing_is_left
}

# what OLM has brought stays, with its operators, as long as somebody needs it
stays_subscribed() { # RECIPE...: they go in this order
    local r
    up openshift || return 1
    for r in "$@"; do come "$r" || return 1; done
    while [ $# -gt 1 ]; do
        subscriptions nfd >"$tap_dir/subscriptions" && [ -s "$tap_dir/subscriptions" ] || return 1
        kubectl delete specialresource "$1" --timeout=60s || return 1
        shift
        for r in "$@"; do ready "$r" || return 1; done
        until_ok 10 owners_are_among "$@" && subscriptions nfd | diff "$tap_dir/subscriptions" - || return 1
    done
    kubectl delete specialresource "$@" --timeout=60s && [ -z "$(subscriptions .)" ]
}
subscriptions() { # of packages that match; what OLM has installed for them
    kubectl get subscriptions.operators.coreos.com,clusterserviceversions.operators.coreos.com -A -o json |
        jq -r --arg name "$1" '.items[] | select(.metadata.name | test($name)) | select(.kind == "Subscription" or $name != ".") | "\(.kind) \(.metadata.name) \(.metadata.uid)"' | sort
}

# each order of four is one number from 0 to 23
order() { # NUMBER
    local n=$1 left=$recipes k i r rest
    for k in 4 3 2 1; do
        i=0 rest=
        for r in $left; do
            if [ $i = $((n % k)) ]; then printf '%s ' "$r"; else rest="$rest $r"; fi
            i=$((i + 1))
        done
        n=$((n / k)) left=$rest
    done
}
SW_SEED=${SW_SEED:-0}
numbers="$((SW_SEED % 24)) $(((SW_SEED * 7 + 13) % 24))"
[ -z "${SW_ALL:-}" ] || numbers=$(seq 0 23)
for n in $numbers; do
    t "they come and go in order $n: $(order "$n")" in_order kubernetes $(order "$n")
done
t "all at one moment" all_at_once kubernetes
t "all on openshift" come_all openshift $recipes
t "on openshift who is left has what OLM brought for the one that goes" stays_subscribed nvidia-mig intel-device-plugins nvidia-gpu
plan
