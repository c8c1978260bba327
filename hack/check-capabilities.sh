#!/bin/bash
# check-capabilities.sh [ROW...]: is each capability of the operator's controller one that can be left
# out? For each row (default: all; --random: one, by $SEED or a new seed, which is printed) build a
# slipway without its folder and its line in capabilities.def, and walk a recipe to Ready with it. NAME,NAME leaves out both.
set -eu
cd "$(dirname "$0")/.."
core=src/operator/controller
rows=("$@")
if [ "${1:-}" = --random ]; then
    seed=${SEED:-$RANDOM}
    mapfile -t all < <(sed -n 's/^CAPABILITY(\(.*\))$/\1/p' "$core/capabilities.def")
    rows=("${all[seed % ${#all[@]}]}")
    echo "SEED=$seed: without ${rows[0]}"
elif [ $# -eq 0 ]; then
    mapfile -t rows < <(sed -n 's/^CAPABILITY(\(.*\))$/\1/p' "$core/capabilities.def")
fi
if [ -z "${CC:-}" ] && command -v ccache >/dev/null; then # most files are the same without a row
    export CC="ccache gcc" CCACHE_NOHASHDIR=1
fi
export CCACHE_BASEDIR=$PWD

# A copy of the tree without the rows: all but the rows is the same, so ccache has it.
without() { # ROW[,ROW...]
    dir=build/without/$1
    rm -rf "$dir"
    mkdir -p "$dir"
    cp -r src Makefile make hack charts deploy "$dir"
    mkdir "$dir/test" # what make lists
    for row in ${1//,/ }; do
        [ -d "$dir/$core/$row" ] || { echo "check-capabilities: there is no capability '$row'"; return 1; }
        rm -r "${dir:?}/$core/$row"
        sed -i "/^CAPABILITY($row)\$/d" "$dir/$core/capabilities.def"
    done
    make -s -C "$dir" -j"$(nproc)" VERSION=without RELEASE='-O0 -g0' build/slipway || return 1
    recipe=charts/example/simple-kmod
    case $1 in *kernels*) recipe=recipes/nvidia-mig ;; esac # nothing in it is for one kernel
    timeout 120 "$dir/build/slipway" run "$recipe" --emulate >"$dir/log" 2>&1 || true
    tail -n 1 "$dir/log" | grep -q ': Ready$' || { tail -n 5 "$dir/log"; return 1; }
    timeout 20 "$dir/build/slipway" controller --help >/dev/null || return 1
    rm -rf "$dir"
}

failed=0
for row in "${rows[@]}"; do
    if without "$row"; then
        echo "ok    without $row"
    else
        echo "FAIL  without $row"
        failed=1
    fi
done
exit "$failed"
