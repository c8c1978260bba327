# A vendor's chart that cannot be had: an error where it is to be installed, and nowhere else.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
unset SLIPWAY_STAND_INS SLIPWAY_CHARTS_DIR
export SLIPWAY_CACHE_DIR=$tap_dir/cache KUBECONFIG=$tap_dir/kubeconfig
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy

# a recipe over a chart that nobody serves, installed where @installs is true
recipe() { # [RELEASES] [REPOSITORY]
    local top=$tap_dir/top
    mkdir -p "$top/templates"
    cat >"$top/Chart.yaml" <<YAML
apiVersion: v2
name: top
version: 1.0.0
annotations:
  slipway.dev/wait: all
  slipway.dev/releases: |
    ${1:-gpu: {name: gpu, namespace: gpus, if: top.installs}}
dependencies:
- {name: gpu, version: 1.2.3, repository: "${2:-oci://127.0.0.1:9/charts}", condition: gpu.enabled}
YAML
    printf 'installs: false\n' >"$top/values.yaml"
    printf '{{ define "top.installs" }}{{ .Values.installs }}{{ end }}' >"$top/templates/_helpers.tpl"
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own}\n' >"$top/templates/own.yaml"
}
run() { "$slipway" run "$tap_dir/top" --emulate --delays 0 --timeout 30s "$@" >"$tap_dir/out" 2>&1; }

not_needed() { run && grep -q 'Ready' "$tap_dir/out"; }
# which chart, from where, why not, and what to do; nothing of what stands in its place
says() { # FILE
    tr -s ' \n' '  ' <"$1" >"$tap_dir/said"
    grep -q "chart gpu 1.2.3 cannot be fetched: .*127.0.0.1:9/charts/gpu:1.2.3: .*; without a network, take the recipe from a bundle" "$tap_dir/said" &&
        grep -q "mirror with --mirror, or put gpu-1.2.3.tgz into a folder and name it with --charts-dir" "$tap_dir/said" &&
        ! grep -q 'execution error\|not-fetched\|0\.0\.0' "$tap_dir/said"
}
needed() { ! run --set installs=true && says "$tap_dir/out"; }
with_cluster() { # COMMAND: of a recipe that needs it, on a cluster
    # shellcheck disable=SC2086
    ! "$slipway" $1 "$tap_dir/top" --set installs=true >"$tap_dir/out" 2>&1 && says "$tap_dir/out"
}
switched_off() { recipe && run --set gpu.enabled=false; }
no_release() { recipe '{}' && ! run && grep -q "dependencies\[0\] 'gpu': .*cannot connect" "$tap_dir/out"; }
complete() { # what is to be kept or given away has all of it
    local c
    recipe
    for c in "package -d $tap_dir" "configmap --namespace x" render rbac lint "bundle -o $tap_dir/b.tgz"; do
        # shellcheck disable=SC2086
        ! "$slipway" $c "$tap_dir/top" >"$tap_dir/out" 2>&1 && grep -q "dependencies\[0\] 'gpu'" "$tap_dir/out" && says "$tap_dir/out" ||
            { echo "$c"; return 1; }
    done
}
drawn() { "$slipway" graph "$tap_dir/top" >"$tap_dir/out" && grep -q 'release gpu of namespace gpus' "$tap_dir/out"; }
# An operator asks again, and goes on when the chart is there.
comes_later() {
    emulated && mkdir -p "$tap_dir/charts" &&
        operating --allowed-files "$tap_dir" --charts-dir "$tap_dir/charts" --allowed-sources 127.0.0.1 || return 1
    { resource top "file://$tap_dir/top" 1.0.0; echo '  set: {installs: true}'; } | kubectl apply -f - || return 1
    until_ok 30 eval 'kubectl get specialresource top -o json >"$tap_dir/json" && says "$tap_dir/json"' || { tail "$tap_dir/log"; return 1; }
    for c in 'status top' 'explain top'; do
        # shellcheck disable=SC2086
        "$slipway" $c >"$tap_dir/out" 2>&1
        says "$tap_dir/out" || { echo "$c"; return 1; }
    done
    with_cluster plan && with_cluster diff || return 1
    mkdir -p "$tap_dir/charts/gpu/templates"
    printf 'apiVersion: v2\nname: gpu\nversion: 1.2.3\n' >"$tap_dir/charts/gpu/Chart.yaml"
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: vendors}\n' >"$tap_dir/charts/gpu/templates/x.yaml"
    kubectl wait --for=condition=Ready specialresource/top --timeout=60s && kubectl -n gpus get configmap vendors
}
# A server that hangs up, and writes a line for each connection.
counting() {
    python3 -c 'import socket, sys
s = socket.create_server(("127.0.0.1", 0))
open(sys.argv[1], "w").write(str(s.getsockname()[1]))
while True:
    s.accept()[0].close()
    open(sys.argv[2], "a").write("asked\n")' "$tap_dir/port" "$tap_dir/asked" &
    echo $! >"$tap_dir/counting.pid"
    until_ok 20 test -s "$tap_dir/port"
}
n_asked() { wc -l <"$tap_dir/asked"; }
# An operator asks once; again, when the walk has come to it.
asks_when_needed() {
    counting && recipe '' "oci://127.0.0.1:$(cat "$tap_dir/port")/charts" && emulated &&
        operating --allowed-files "$tap_dir" --allowed-sources 127.0.0.1 && resource top "file://$tap_dir/top" 1.0.0 | kubectl apply -f - &&
        kubectl wait --for=condition=Ready specialresource/top --timeout=60s || { kubectl get specialresource top -o yaml; tail "$tap_dir/log"; return 1; }
    local n
    n=$(n_asked)
    [ "$n" -gt 0 ] && sleep 7 && [ "$(n_asked)" -eq "$n" ] || { echo "asked $n times, then $(n_asked)"; return 1; }
    kubectl patch specialresource top --type merge -p '{"spec": {"set": {"installs": true}}}' &&
        until_ok 20 eval '[ "$(n_asked)" -gt '"$n"' ]'
}

recipe
t "what is not installed need not be had" not_needed
t "what is to be installed is named, with how to get it" needed
t "graph draws it" drawn
t "package, configmap, render, rbac, lint and bundle want all of it" complete
t "a subchart that is switched off need not be had" switched_off
t "a chart that is no release of its own must be" no_release
recipe
if command -v kubectl >/dev/null; then
    t "an operator goes on when it comes, and says what lacks until then" comes_later
    stop operating; stop emulated
    t "an operator asks again for what is needed alone" asks_when_needed
    stop operating; stop emulated; stop counting
else
    skip "an operator goes on when it comes, and says what lacks until then" "no kubectl here"
    skip "an operator asks again for what is needed alone" "no kubectl here"
fi
plan
