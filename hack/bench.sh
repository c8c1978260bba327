#!/bin/bash
# bench.sh: measure, on this machine, now. Prints one JSON document: a list of figures, each with
# what it is, its median and range over the runs, and the target or the peer's figure where there is
# one. Machines are noisy: compare ratios within one run.
set -eu
cd "$(dirname "$0")/.."
runs=${RUNS:-5}
out=$(mktemp); trap 'rm -f "$out"' EXIT

# whole COMMAND...: wall seconds, CPU seconds and peak memory of whole processes, one JSON object
whole() { # NAME TARGET_JSON COMMAND...
    local name=$1 target=$2
    shift 2
    build/bench/whole "$runs" "$@" | sed "s|^{|{\"bench\":\"$name\",\"target\":$target,|" >>"$out"
}

strip -o build/slipway.stripped build/slipway
printf '{"bench":"size","what":"stripped binary","bytes":%d,"target_bytes":3145728}\n' \
    "$(stat -c %s build/slipway.stripped)" >>"$out"
whole run-nvidia-mig '{"wall_s":1.0,"peak_kib":40960}' build/slipway run recipes/nvidia-mig --emulate --delays 0 -o json
whole run-simple-kmod 'null' build/slipway run charts/example/simple-kmod --emulate --delays 0 -o json
for n in 50 500; do
    whole "run-nvidia-mig-$n-nodes" 'null' build/slipway run recipes/nvidia-mig --emulate --delays 0 --nodes $n -o json
done
whole version 'null' build/slipway version
for b in build/bench/*; do
    case $b in
    */whole | *.d) ;;
    */walk)
        for ((i = 0; i < runs; i++)); do $b recipes/nvidia-mig >>"$out"; done
        $b recipes/nvidia-mig --nodes 500 >>"$out"
        $b charts/example/simple-kmod >>"$out"
        ;;
    *) [ ! -x "$b" ] || "$b" >>"$out" || true ;;
    esac
done
printf '[\n'
sed '$!s/$/,/' "$out"
printf ']\n'
