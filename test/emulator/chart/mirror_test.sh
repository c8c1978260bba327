#!/bin/bash
# --mirror: charts and images from a mirror, by one set of rules.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh
slipway=${SLIPWAY:-build/test/slipway}
export SLIPWAY_CACHE_DIR=$tap_dir/cache KUBECONFIG=$tap_dir/kubeconfig
www=$tap_dir/www

stop() {
    [ ! -s "$tap_dir/pids" ] || xargs kill <"$tap_dir/pids" 2>/dev/null
    rm -rf "$tap_dir"
}
trap stop EXIT

charts() {
    mkdir -p "$tap_dir/gpu/templates" "$tap_dir/top" "$www"
    printf 'apiVersion: v2\nname: gpu\nversion: 1.2.0\n' >"$tap_dir/gpu/Chart.yaml"
    cat >"$tap_dir/gpu/templates/d.yaml" <<'END'
apiVersion: apps/v1
kind: Deployment
metadata: {name: gpu}
spec:
  selector: {matchLabels: {app: gpu}}
  template:
    metadata: {labels: {app: gpu}}
    spec: {containers: [{name: c, image: "quay.io/vendor/gpu:1.2.0"}]}
END
    "$slipway" package "$tap_dir/gpu" -d "$www" >/dev/null || return 1
    printf 'apiVersion: v1\nentries:\n  gpu:\n  - {name: gpu, version: 1.2.0, urls: [gpu-1.2.0.tgz]}\n' >"$www/index.yaml"
    printf 'apiVersion: v2\nname: top\nversion: 0.1.0\nannotations: {slipway.dev/wait: all}\ndependencies:\n- {name: gpu, version: 1.2.0, repository: "https://charts.example.com/vendor"}\n' \
        >"$tap_dir/top/Chart.yaml"
}
serves() {
    (cd "$www" && exec python3 -u -m http.server --bind 127.0.0.1 0 >"$tap_dir/port" 2>"$tap_dir/log") &
    echo $! >>"$tap_dir/pids"
    until_ok 20 grep -q port "$tap_dir/port"
}
rules() {
    echo "https://charts.example.com/vendor=http://127.0.0.1:$(sed -n 's/.*port \([0-9]*\).*/\1/p' "$tap_dir/port"), quay.io=mirror.local/quay"
}
image() {
    kubectl get deployment -n top gpu -o 'jsonpath={.spec.template.spec.containers[0].image}'
}

renders() {
    "$slipway" render "$tap_dir/top" --mirror "$(rules)" >"$tap_dir/o" && grep -q 'name: gpu' "$tap_dir/o" &&
        grep -q '"GET /gpu-1.2.0.tgz' "$tap_dir/log"
}
walks() {
    "$slipway" emulate --delays 0 --kubeconfig-out "$KUBECONFIG" >"$tap_dir/emulate" 2>&1 &
    echo $! >>"$tap_dir/pids"
    until_ok 30 test -s "$KUBECONFIG" && "$slipway" run "$tap_dir/top" --mirror "$(rules)" --timeout 30s &&
        [ "$(image)" = mirror.local/quay/vendor/gpu:1.2.0 ]
}
no_difference() {
    "$slipway" diff "$tap_dir/top" --mirror "$(rules)" >"$tap_dir/o" || { cat "$tap_dir/o"; return 1; }
    ! "$slipway" diff "$tap_dir/top" --mirror "$(rules | sed 's/, quay.*//')" >"$tap_dir/o" &&
        grep -q 'image: quay.io/vendor/gpu:1.2.0' "$tap_dir/o"
}
own_rules_win() {
    kubectl annotate specialresource top slipway.dev/image-mirror=quay.io=own.local &&
        "$slipway" run "$tap_dir/top" --mirror "$(rules)" --timeout 30s && [ "$(image)" = own.local/vendor/gpu:1.2.0 ]
}
misspelt() {
    ! "$slipway" controller --mirror quay.io >"$tap_dir/o" 2>&1 && grep -q -- "--mirror: 'quay.io' is not SOURCE=MIRROR" "$tap_dir/o" &&
        ! "$slipway" render "$tap_dir/top" --mirror quay.io >"$tap_dir/o" 2>&1 &&
        grep -q -- "--mirror: 'quay.io' is not SOURCE=MIRROR" "$tap_dir/o"
}

if ! command -v python3 >/dev/null || ! command -v kubectl >/dev/null; then
    skip "charts and images from a mirror" "no python3 or kubectl here"
    plan
fi
charts
t "a server" serves
t "a chart comes from the mirror" renders
t "so do the images of what is applied" walks
t "diff looks at what would be applied" no_difference
t "the resource's own rules win" own_rules_win
t "rules that are none are refused" misspelt
plan
