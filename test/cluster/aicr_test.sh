# A recipe of NVIDIA's AI Cluster Runtime (for kind) on a real API server, with the emulator's rules in the place of the
# components: it walks to Ready with its health checks as gates, and goes again. It needs the version of Kubernetes that the
# recipe asks for (KUBEBUILDER_ASSETS=DIR brings one) and ../shared. RECIPE=kind-inference is a name in ../shared/aicr/resolved.
# Where hack/cluster.sh has no rules running (up without --openshift) they are started here.
. test/tap.sh
. test/aicr_charts.sh
slipway=${SLIPWAY:-build/slipway}
shared=${SW_SHARED:-../shared}
recipe=${RECIPE:-kind-inference}
file=$shared/aicr/resolved/$recipe.yaml
[ -f "$file" ] || { skip "$recipe on a real API server" "no ../shared/aicr/resolved/$recipe.yaml"; plan; }
node=$(kubectl get nodes -o 'jsonpath={.items[0].metadata.name}')
[ -n "$node" ] || { skip "$recipe on a real API server" "the cluster has no node"; plan; }
asked=$(sed -n "/name: K8s.server.version/{n;s/[^0-9]*1\.\([0-9]*\).*/\1/p;}" "$file")
has=$(kubectl version -o json | jq -r '.serverVersion.minor' | tr -dc 0-9)
[ "$has" -ge "${asked:-0}" ] || { skip "$recipe on a real API server" "it asks for Kubernetes 1.$asked, this is 1.$has"; plan; }
trap 'stop rules; rm -rf "$tap_dir"' EXIT

rules() {
    ! kubectl get namespace openshift-config || return 0 # those of the cluster are at work
    "$slipway" emulate --rules-only --platform kind >"$tap_dir/rules" 2>&1 &
    echo $! >"$tap_dir/rules.pid"
    kubectl annotate node "$node" --overwrite emulator.slipway.dev/gpus=2 emulator.slipway.dev/gpu-model=NVIDIA-H100-80GB-HBM3
}
walks() {
    "$slipway" run "$file" --name "$recipe" --data "$shared/aicr/catalog" --charts-dir "$tap_dir/charts" --ignore-constraints --timeout 300s >"$tap_dir/said" 2>&1 &&
        grep -q " $recipe: Ready$" "$tap_dir/said" || { tail -n 20 "$tap_dir/said"; tail -n 3 "$tap_dir/rules"; return 1; }
    ! grep -iE 'refused|rejected|is invalid' "$tap_dir/said"
}
checked() { # each health check of the catalogue was a gate
    local check
    for check in $(grep -o '^  - name: [a-z-]*' "$file" | sed 's/.* //'); do
        [ ! -f "$shared/aicr/catalog/checks/$check/health-check.yaml" ] || grep -q "StateReady: state $check-check: " "$tap_dir/said" || { echo "$check"; return 1; }
    done
}
goes() { "$slipway" uninstall "$recipe" --yes --timeout 300s >"$tap_dir/gone" 2>&1 || { tail -n 10 "$tap_dir/gone"; return 1; }; }
t "charts of the components" aicr_charts "$shared" "$tap_dir/charts"
t "rules in the place of the components" rules
t "$recipe walks to Ready" walks
t "its health checks were gates" checked
t "it goes again" goes
plan
