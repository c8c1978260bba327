# Stand-ins: the emulator's charts in the place of the vendors' own.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
unset SLIPWAY_STAND_INS SLIPWAY_CHARTS_DIR
export SLIPWAY_CACHE_DIR=$tap_dir/cache http_proxy=http://127.0.0.1:9 https_proxy=http://127.0.0.1:9

chart() { # NAME VERSION FOLDER
    mkdir -p "$3/templates"
    printf 'apiVersion: v2\nname: %s\nversion: %s\n' "$1" "$2" >"$3/Chart.yaml"
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {version: "{{ .Chart.Version }}"}\n' "$1" >"$3/templates/x.yaml"
}
# a recipe over the charts @...: what nobody serves
recipe() {
    rm -rf "$tap_dir/top"
    chart top 1.0.0 "$tap_dir/top"
    printf 'dependencies:\n' >>"$tap_dir/top/Chart.yaml"
    printf -- '- {name: %s, version: v1.20.2, repository: "oci://127.0.0.1:9/charts"}\n' "$@" >>"$tap_dir/top/Chart.yaml"
}
render() { "$slipway" render "$tap_dir/top" "$@" >"$tap_dir/out" 2>"$tap_dir/err"; }

without() {
    recipe cert-manager && ! render && grep -q "dependencies\[0\] 'cert-manager': .*--charts-dir; to only try the recipe, --stand-ins" "$tap_dir/err"
}
by_option() {
    recipe cert-manager && render --stand-ins && grep -q 'helm.sh/chart: cert-manager-0.0.0-stand-in' "$tap_dir/out"
}
told() { grep -q 'stand-ins of the emulator, not the vendors. charts.*cert-manager, gpu-operator' "$tap_dir/err"; }
both_told() { recipe cert-manager gpu-operator && render --stand-ins && told; }
by_environment() { recipe cert-manager && SLIPWAY_STAND_INS=1 render && ! SLIPWAY_STAND_INS=0 render; }
at_hand_first() {
    recipe cert-manager && chart cert-manager 1.20.2 "$tap_dir/charts/cert-manager" &&
        render --stand-ins --charts-dir "$tap_dir/charts" && grep -q 'version: "1.20.2"' "$tap_dir/out" &&
        ! grep -q 'stand-in' "$tap_dir/out"
}
no_other() { recipe somebodys && ! render --stand-ins && grep -q 'somebodys' "$tap_dir/err"; }
emulated() {
    recipe cert-manager && "$slipway" run "$tap_dir/top" --emulate --delays 0 --timeout 60s -o json >"$tap_dir/run" 2>"$tap_dir/err" &&
        grep -q '"phase": "Ready"' "$tap_dir/run" && grep -q 'stand-ins of the emulator.*cert-manager' "$tap_dir/err"
}
never_signed() { recipe cert-manager && ! render --stand-ins --verify && grep -q 'only packed charts are signed' "$tap_dir/err"; }
# each object of each stand-in says what it is
all_say_so() {
    local c
    for c in src/emulator/stand_ins/*/; do
        recipe "$(basename "$c")" && render --stand-ins --include-crds --set cert-manager.crds.enabled=true || return 1
        [ "$(grep -c '^kind: ' "$tap_dir/out")" -gt 1 ] || return 1
        awk 'BEGIN { RS = "\n---\n" } /\nkind: / && !/[{]name: top[}]/ && !/-0.0.0-stand-in/ { print; bad = 1 } END { exit bad }' "$tap_dir/out" || return 1
    done
}
# the vendors' own, where they are there, install what the stand-ins play: kind and name
as_the_vendors() {
    local c args="--include-crds --namespace there --set cert-manager.crds.enabled=true,gpu-operator.nfd.enabled=false"
    mkdir -p "$tap_dir/vendors"
    for c in "$SW_SHARED"/upstream/*/ "$SW_SHARED"/upstream/intel/*/ "$SW_SHARED"/charts/*/; do
        [ ! -f "$c/Chart.yaml" ] || ln -sfn "$(realpath "$c")" "$tap_dir/vendors/$(sed -n 's/^name: *//p' "$c/Chart.yaml")"
    done
    for c in src/emulator/stand_ins/*/; do
        c=$(basename "$c")
        [ -e "$tap_dir/vendors/$c" ] || continue
        recipe "$c"
        # shellcheck disable=SC2086
        "$slipway" render "$tap_dir/top" $args --name "$c" --stand-ins 2>/dev/null | objects >"$tap_dir/ours" &&
            "$slipway" render "$tap_dir/top" $args --name "$c" --charts-dir "$tap_dir/vendors" 2>/dev/null | objects >"$tap_dir/theirs" || return 1
        [ -z "$(comm -23 "$tap_dir/ours" "$tap_dir/theirs")" ] || { comm -23 "$tap_dir/ours" "$tap_dir/theirs"; return 1; }
    done
}
objects() { awk 'BEGIN { RS = "\n---\n" } /\nkind: / { match($0, /\nkind: [^\n]*/); k = substr($0, RSTART + 7, RLENGTH - 7); match($0, /\n  name: [^\n]*/); n = substr($0, RSTART + 9, RLENGTH - 9); gsub(/[" ]/, "", n); print k "/" n }' | sort -u; }

t "without a network and without them the error says how to do" without
t "--stand-ins takes them" by_option
t "who takes them is told" both_told
t "SLIPWAY_STAND_INS does, too" by_environment
t "a chart at hand goes first" at_hand_first
t "what has none is fetched" no_other
t "with --emulate they are the default" emulated
t "they are not signed" never_signed
t "each object says that it is a stand-in's" all_say_so
if [ -d "${SW_SHARED:-}/upstream" ]; then
    t "the vendors' charts install what they play" as_the_vendors
else
    skip "the vendors' charts install what they play" "no charts of vendors here"
fi
plan
