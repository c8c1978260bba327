# Where OLM's catalogue lacks a package the vendor's chart is installed, and what was chosen stays chosen.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
command -v kubectl >/dev/null || { skip "a catalogue without the package" "no kubectl here"; plan; }
export KUBECONFIG=$tap_dir/kubeconfig
: >"$tap_dir/pids"
trap 'xargs -r kill <"$tap_dir/pids" 2>/dev/null; rm -rf "$tap_dir"' EXIT

cluster() { # of a release on which the recipe needs cert-manager
    xargs -r kill <"$tap_dir/pids" 2>/dev/null
    rm -f "$KUBECONFIG"
    "$slipway" emulate --delays 0 --platform openshift --kube-version 1.35 --kubeconfig-out "$KUBECONFIG" >/dev/null 2>&1 &
    echo $! >"$tap_dir/pids"
    until_ok 20 eval 'kubectl get --raw /readyz >/dev/null 2>&1'
}
packages() { # nfd openshift-cert-manager-operator ...: where they are kept, and gone
    kubectl get packagemanifests -n openshift-marketplace "$@" -o yaml >"$tap_dir/packages" && kubectl delete packagemanifests -n openshift-marketplace "$@"
}
come_back() { sed -e '/resourceVersion:/d' -e '/uid:/d' "$tap_dir/packages" | kubectl create -f -; }
walks() { "$slipway" run recipes/nvidia-mig --stand-ins --timeout 60s -o json >"$tap_dir/run.json" && grep -q '"phase": "Ready"' "$tap_dir/run.json"; }
subscriptions() { kubectl get subscriptions -A -o 'jsonpath={range .items[*]}{.metadata.name} {end}'; }
uids() { kubectl get deployments -A -o 'jsonpath={range .items[*]}{.metadata.namespace}/{.metadata.name} {.metadata.uid}{"\n"}{end}' | sort; }
all="nfd openshift-cert-manager-operator gpu-operator-certified"

lacking() { # each part by what there is for it
    cluster && packages openshift-cert-manager-operator && walks && [ "$(subscriptions)" = "gpu-operator-certified nfd " ] &&
        kubectl get deployment -n cert-manager cert-manager -o 'jsonpath={.metadata.labels.helm\.sh/chart}' | grep -q 'cert-manager-0.0.0-stand-in'
}
# shellcheck disable=SC2086
empty() { cluster && packages $all && walks && [ -z "$(subscriptions)" ] && kubectl get deployment -n gpu-operator gpu-operator; }
chart_stays() { uids >"$tap_dir/before" && come_back && walks && [ -z "$(subscriptions)" ] && uids | diff "$tap_dir/before" -; }
# shellcheck disable=SC2086
olm_stays() {
    cluster && walks && uids >"$tap_dir/before" && packages $all && walks && [ "$(wc -w < <(subscriptions))" = 3 ] && uids | diff "$tap_dir/before" -
}
not_answering() { # a catalogue that does not answer lacks nothing
    cluster && packages nfd && patch_status /apis/operators.coreos.com/v1alpha1/namespaces/openshift-marketplace/catalogsources/redhat-operators '{"status": {"connectionState": {"lastObservedState": "TRANSIENT_FAILURE"}}}' &&
        ! "$slipway" run states/nfd --stand-ins --timeout 3s >"$tap_dir/said" 2>&1 && [ "$(subscriptions)" = "nfd " ] &&
        grep -q 'not served yet' "$tap_dir/said" || { cat "$tap_dir/said"; return 1; }
}

t "what the catalogue lacks comes from its vendor's chart" lacking
t "a catalogue may lack all of it" empty
t "what the chart brought stays when the catalogue gets it" chart_stays
t "what OLM brought stays when the catalogue loses it" olm_stays
t "a catalogue that does not answer is waited for" not_answering
plan
