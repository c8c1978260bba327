#!/bin/bash
# test-aicr.sh: walk, validate and remove NVIDIA's recipes and bundles (aicr_recipes_test), then kill the walk of one after
# each of its requests (aicr_crash_test). Both run to their end, whatever the first comes to. The last line is "N passed, N
# failed, N skipped".
#   ONLY=regex   the recipes whose names match, and no kills
#   FIGURES=FILE what each walk took, in seconds, is added to that file
set -u
cd "$(dirname "$0")/.." || exit 1
export SLIPWAY="${SLIPWAY:-$PWD/build/slipway}" log=build/test-aicr.log
mkdir -p build && : >"$log"
stopped=0

run() { # NAME SETTING...: a test, shown as it goes
    local name=$1 rc
    shift
    echo "# $name" | tee -a "$log"
    env "$@" bash "test/emulator/$name.sh" 2>&1 </dev/null | tee -a "$log"
    rc=${PIPESTATUS[0]}
    # one that ended before it had told of all
    [ "$rc" -eq 0 ] || [ "$rc" -eq 1 ] && tail -n 1 "$log" | grep -q '^1\.\.' || stopped=$((stopped + 1))
}

run cli/aicr_recipes_test SW_ALL=1 SLIPWAY_RELEASE="$SLIPWAY"
[ -n "${ONLY:-}" ] || run operator/aicr_crash_test LARGE="${LARGE:-h100-kind-training}" EVERY="${EVERY:-50}"
awk -v stopped=$stopped '/^ok .*# SKIP/ { skipped++; next } /^ok / { ok++ } /^not ok / { bad++ }
    END { bad += stopped; printf "%d passed, %d failed, %d skipped\n", ok, bad, skipped; exit bad > 0 || !(ok + skipped) }' "$log"
