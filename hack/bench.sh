#!/bin/bash
# bench.sh: measure, on this machine, now. Prints one JSON document: a list of figures, each with
# what it is, its median and range over the runs, and the target or the peer's figure where there is
# one; what is being measured is said on stderr. Machines are noisy: compare ratios within one run.
set -eu
cd "$(dirname "$0")/.."
runs=${RUNS:-5}
export SLIPWAY_STAND_INS=1
out=$(mktemp); work=$(mktemp -d); trap 'rm -rf "$out" "$work"' EXIT

say() { echo "bench: $*" >&2; }
text() { printf '%s' "$1" | tr -d '"\\\n\t'; }
assets=${KUBEBUILDER_ASSETS:-${SLIPWAY_CACHE:-$HOME/.cache/slipway}/bin}
kube=$("$assets/kube-apiserver" --version 2>/dev/null | awk '{ print $2 }') || true
printf '{"bench":"machine","cpu":"%s","cores":%d,"memory_gib":%d,"kernel":"%s","slipway":"%s","kubernetes":%s,"date":"%s"}\n' \
    "$(text "$(sed -n '/^model name/{s/.*: //p;q}' /proc/cpuinfo)")" "$(nproc)" "$(awk '/^MemTotal/ { print int($2 / 1048576 + 0.5) }' /proc/meminfo)" \
    "$(text "$(uname -r | cut -d- -f1)")" "$(text "$(hack/version.sh)")" "${kube:+\"}${kube:-null}${kube:+\"}" "$(date -u +%Y-%m-%d)" >>"$out"

# whole COMMAND...: wall seconds, CPU seconds and peak memory of whole processes, one JSON object
whole() { # NAME TARGET_JSON COMMAND...
    local name=$1 target=$2
    shift 2
    say "$name"
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
whole run-simple-kmod-500-nodes '{"cpu_s":2.0,"peak_kib":102400}' build/slipway run charts/example/simple-kmod --emulate --delays 0 --nodes 500 -o json
# a process for one rendering, and what an empty program costs beside it
whole empty-program 'null' build/bench/empty
whole version 'null' build/slipway version
shared=${SW_SHARED:-../shared}
export SW_SHARED=$shared
if [ -d "$shared/charts" ]; then
    for chart in gpu-operator simple-kmod; do # as published: goldens/ was put beside them
        cp -r "$shared/charts/$chart" "$work/" && rm -rf "$work/$chart/goldens"
    done
    export SW_BENCH_CHARTS=$work
    whole render-gpu-operator '{"wall_s":0.008,"peak_kib":12288,"helm":{"wall_s":0.024,"peak_kib":28877}}' \
        build/slipway render "$work/gpu-operator"
    whole render-simple-kmod '{"wall_s":0.008,"peak_kib":12288,"helm":{"wall_s":0.007,"peak_kib":22221}}' \
        build/slipway render "$work/simple-kmod" -f "$shared/charts/simple-kmod/goldens/recipe/values.yaml"
fi
whole render-nvidia-mig '{"wall_s":0.008,"peak_kib":12288}' build/slipway render recipes/nvidia-mig
for b in build/bench/*; do
    case $b in *.d) ;; *) say "$b" ;; esac
    case $b in
    */whole | */empty | *.d) ;;
    */walk)
        for ((i = 0; i < runs; i++)); do $b recipes/nvidia-mig >>"$out"; done
        $b recipes/nvidia-mig --nodes 500 >>"$out"
        $b charts/example/simple-kmod >>"$out"
        ;;
    *) [ ! -x "$b" ] || "$b" >>"$out" || true ;;
    esac
done
say hack/bench-aicr.sh
CASES=usable BY=slipway hack/bench-aicr.sh >>"$out" || true
# against a real API server, where one has been built
for b in controller scheduler dra page; do
    say "hack/bench-$b.sh"
    "hack/bench-$b.sh" >>"$out" || true
done
printf '[\n'
sed '$!s/$/,/' "$out"
printf ']\n'
