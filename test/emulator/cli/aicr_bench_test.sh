# hack/bench-aicr.sh says what it cannot measure here, and is no failure for that; the requests that it counts are those that go through
. test/tap.sh
export KUBECONFIG=$tap_dir/kubeconfig
slipway=${SLIPWAY:-build/slipway}
trap 'stop counting; stop emulated; rm -rf "$tap_dir"' EXIT
bench() { SW_SHARED=$tap_dir CASES=' ' HELM=${helm:-no-such-helm} hack/bench-aicr.sh >"$tap_dir/figures" 2>"$tap_dir/said"; }
says() { grep -qx "bench-aicr: $1" "$tap_dir/said" && [ ! -s "$tap_dir/figures" ] || { cat "$tap_dir/said" "$tap_dir/figures"; return 1; }; }
no_bundle() { bench && says "no bundle and catalogue of NVIDIA's in $tap_dir/aicr"; }
no_peer() {
    mkdir -p "$tap_dir/aicr/catalog" "$tap_dir/aicr/bundles/kind" "$tap_dir/aicr/charts/x" "$tap_dir/charts/gpu-operator" "$tap_dir/upstream/cert-manager" "$tap_dir/upstream/dra-driver-nvidia-gpu" &&
        echo 'kind: RecipeResult' >"$tap_dir/aicr/bundles/kind/recipe.yaml" && echo 'name: dra-driver-nvidia-gpu' >"$tap_dir/upstream/dra-driver-nvidia-gpu/Chart.yaml" && bench && says "no helm (HELM=PROGRAM): deploy.sh is not measured" &&
        helm=true bench && says "no deploy.sh in $tap_dir/aicr/bundles/kind (BUNDLE=DIR): it is not measured"
}
counted() {
    local port
    "$slipway" emulate --kubeconfig-out "$KUBECONFIG" --no-controllers >/dev/null 2>&1 &
    echo $! >"$tap_dir/emulated.pid"
    until_ok 20 test -s "$KUBECONFIG" || return 1
    port=$(sed -n 's|.*server: http://127.0.0.1:\([0-9]*\).*|\1|p' "$KUBECONFIG")
    python3 hack/count-requests.py "$port" "$tap_dir/port" "$tap_dir/count" &
    echo $! >"$tap_dir/counting.pid"
    until_ok 10 test -s "$tap_dir/port" || return 1
    local url=http://127.0.0.1:$(cat "$tap_dir/port")
    curl --noproxy '*' -sf "$url/version" "$url/api" && until_ok 5 grep -qx "2 0" "$tap_dir/count" &&
        curl --noproxy '*' -sf -H 'Content-Type: application/json' -d '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a"}}' "$url/api/v1/namespaces" &&
        until_ok 5 grep -qx "3 1" "$tap_dir/count" || { cat "$tap_dir/count"; return 1; }
}
t "without a bundle it measures nothing" no_bundle
t "without helm, or the bundle's deploy.sh, it says so" no_peer
t "requests and writes are counted" counted
plan
