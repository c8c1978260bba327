#!/bin/bash
# test-cluster.sh: run test/cluster/*_test.sh on real clusters (hack/cluster.sh), two side by side, as most of
# a test's time is waiting. Each cluster takes the next test as soon as it has ended one. What failed is run
# once more when the others have ended, alone on a new cluster: a busy machine lets deadlines pass.
# The last line is "N passed, N failed".
#   TESTS=regex   picks tests by name
#   LANES=1       one cluster at a time
#   KEEP=1        one cluster, which is left up
#   CLUSTER_UP=   more options of `hack/cluster.sh up`
set -u
unset IMG TAG REGISTRY NAMESPACE MAKEFLAGS MAKELEVEL # make exports them: not for what tests make
cd "$(dirname "$0")/.." || exit 1
base=${SLIPWAY_CLUSTER_DIR:-$PWD/build/cluster}
export SLIPWAY="$PWD/build/slipway" SLIPWAY_TEST="$PWD/build/test/slipway"
[ -z "${KUBEBUILDER_ASSETS:-}" ] || { KUBEBUILDER_ASSETS=$(realpath -m "$KUBEBUILDER_ASSETS") && export KUBEBUILDER_ASSETS; } # tests go elsewhere
logs=build/test-cluster
rm -rf "$logs"; mkdir -p "$logs"

# The longest first, as measured; others at the end.
longest="slicing takeover run deploy trust recipes survive culprits partition device_plugin shared_releases"
tests() {
    local n
    { for n in $longest; do echo "${n}_test"; done; for n in test/cluster/*_test.sh; do basename "$n" .sh; done; } |
        awk '!had[$0]++' | if [ -n "${TESTS:-}" ]; then grep -E "$TESTS"; else cat; fi
}
tests >"$logs/queue"
lanes=${LANES:-2}
[ -z "${KEEP:-}" ] && [ "$(wc -l <"$logs/queue")" -gt 1 ] || lanes=1

# next: takes a test off the queue
next() {
    (
        flock 9
        sed -n 1p "$logs/queue"
        sed -i 1d "$logs/queue"
    ) 9>"$logs/lock"
}

# one NAME: runs a test and says how it ended; what it passed and failed is added to results.
one() {
    local since=$SECONDS rc o b
    timeout "${SW_TEST_TIMEOUT:-900}" bash "test/cluster/$1.sh" >"$logs/$1.log" 2>&1 </dev/null &
    running=$!
    wait "$running"
    rc=$?
    running=
    o=$(grep '^ok ' "$logs/$1.log" | grep -vc '# SKIP'); b=$(grep -c '^not ok ' "$logs/$1.log")
    [ $rc -eq 0 ] || [ "$b" -gt 0 ] || b=1
    [ $rc -eq 0 ] && [ "$o" -eq 0 ] && [ "$b" -eq 0 ] && ! grep -q '# SKIP' "$logs/$1.log" && b=1
    if [ "$b" -gt 0 ]; then
        echo "--- $1: exit $rc, $b failed"; grep -v '^ok ' "$logs/$1.log" | tail -n 60
    else
        echo "    $1: $o passed, $((SECONDS - since)) s"
    fi
    echo "$o $b $1" >>"$logs/results"
    [ "$b" -eq 0 ]
}

# shellcheck disable=SC2086
up() { KUBECONFIG=$(hack/cluster.sh up --openshift ${CLUSTER_UP:-}) && export KUBECONFIG; }

# lane N: a cluster of its own, and tests on it while there are any.
lane() {
    local name dirty='' used='' alone=''
    export SLIPWAY_CLUSTER_DIR=$base
    [ "$1" = 1 ] || export SLIPWAY_CLUSTER_DIR=$base.$1
    running=
    # the test first: it starts programs of the cluster, too
    trap '[ -z "$running" ] || { kill "$running" 2>/dev/null; wait "$running"; }; [ -n "${KEEP:-}" ] || hack/cluster.sh down' EXIT
    trap 'exit 143' TERM
    trap 'exit 130' INT
    hack/cluster.sh down
    up || { echo "0 1 cluster" >>"$logs/results"; return 1; }
    while name=$(next) && [ -n "$name" ]; do
        # what a failed test left is not there for the next one. One that asks for a new cluster finds
        # nothing that others left (namespaces, what OLM has brought), and no other finds what it leaves.
        ! grep -q '^# On a new cluster' "test/cluster/$name.sh" || alone=1
        if [ -n "$dirty" ] || { [ -n "$used" ] && [ -n "$alone" ]; }; then
            { hack/cluster.sh down; up; } || { echo "0 1 cluster" >>"$logs/results"; return 1; }
        fi
        dirty=$alone used=1 alone=''
        one "$name" || dirty=1
    done
}

# run_lanes N: until all have ended
run_lanes() {
    local i
    for ((i = 1; i <= $1; i++)); do
        (lane "$i") &
        pids="$pids $!"
    done
    # shellcheck disable=SC2086
    wait $pids
    pids=
}

pids=
# shellcheck disable=SC2086,SC2154
trap 'rc=$?; [ -z "$pids" ] || { kill $pids; wait $pids; } 2>/dev/null; exit $rc' EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
hack/cluster.sh build || { echo "0 passed, 1 failed"; exit 1; }
: >"$logs/results"
run_lanes "$lanes"
again=$(awk '$2 > 0 && $3 != "cluster" { print $3 }' "$logs/results")
if [ -n "$again" ]; then
    for name in $again; do
        echo "    $name: once more, by itself"
        cp "$logs/$name.log" "$logs/$name.first.log"
        sed -i "/ $name\$/d" "$logs/results"
        echo "$name" >>"$logs/queue"
    done
    run_lanes 1
fi
grep -c '^ok .*# SKIP' "$logs"/*_test.log | awk -F: '{ sub(/.*\//, "", $1); sub(/\.log$/, "", $1) }
    $2 > 0 { n += $2; names = names (names ? ", " : "") $1 " " $2 } END { if (n) printf "%d skipped: %s\n", n, names }'
awk '{ ok += $1; bad += $2 } END { printf "%d passed, %d failed\n", ok, bad; exit bad > 0 || !NR }' "$logs/results"
