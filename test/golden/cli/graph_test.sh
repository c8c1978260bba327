# slipway graph: the same states in every form.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
ordered=test/golden/render/ordered

draws() { # FILE ARGS...
    local want=test/golden/render/$1
    shift
    "$slipway" graph "$@" >"$tap_dir/got" || return 1
    diff -u "$want" "$tap_dir/got"
}

refuses_cycle() {
    local rc=0
    mkdir -p "$tap_dir/c/charts/a" "$tap_dir/c/charts/b"
    printf 'name: c\nversion: 1.0.0\ndependencies:\n- {name: a, version: 1.0.0, depends-on: [b]}\n- {name: b, version: 1.0.0, depends-on: [a]}\n' >"$tap_dir/c/Chart.yaml"
    printf 'name: a\nversion: 1.0.0\n' >"$tap_dir/c/charts/a/Chart.yaml"
    printf 'name: b\nversion: 1.0.0\n' >"$tap_dir/c/charts/b/Chart.yaml"
    "$slipway" graph "$tap_dir/c" >"$tap_dir/got" 2>&1 || rc=$?
    cat "$tap_dir/got"
    [ $rc -eq 2 ] && grep -q 'cycle: a -> b -> a' "$tap_dir/got"
}

svg() {
    "$slipway" graph -o svg $ordered | grep -q '<svg'
}

t 'draws a line a state' draws graph.txt $ordered
t 'draws for Graphviz' draws graph.dot $ordered -o dot
t 'draws for Mermaid' draws graph.mmd $ordered -o mermaid
t 'gives JSON' draws graph.json $ordered -o json
t 'names a cycle and exits 2' refuses_cycle
if command -v dot >/dev/null; then t 'draws SVG' svg; else skip 'draws SVG' 'no Graphviz here'; fi
plan
