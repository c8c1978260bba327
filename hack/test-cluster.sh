#!/bin/bash
# test-cluster.sh: bring a real cluster up, run test/cluster/*_test.sh on it, bring it down. The last
# line is "N passed, N failed". KEEP=1 leaves the cluster up; TESTS=regex picks tests by name.
set -u
unset IMG TAG REGISTRY NAMESPACE MAKEFLAGS MAKELEVEL # make exports them: not for what tests make
cd "$(dirname "$0")/.." || exit 1
export SLIPWAY_CLUSTER_DIR=${SLIPWAY_CLUSTER_DIR:-$PWD/build/cluster}
export SLIPWAY="$PWD/build/slipway" SLIPWAY_TEST="$PWD/build/test/slipway"
logs=build/test-cluster
rm -rf "$logs"; mkdir -p "$logs"
hack/cluster.sh down
running=
# the test first: it starts programs of the cluster, too
trap '[ -z "$running" ] || { kill "$running" 2>/dev/null; wait "$running"; }; [ -n "${KEEP:-}" ] || hack/cluster.sh down' EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
up() { KUBECONFIG=$(hack/cluster.sh up --openshift ${CLUSTER_UP:-}) && export KUBECONFIG; }
up || { echo "0 passed, 1 failed"; exit 1; }
ok=0 bad=0 failed=
# one NAME FILE: runs a test; its exit status
one() {
    timeout "${SW_TEST_TIMEOUT:-900}" bash "$2" >"$logs/$1.log" 2>&1 </dev/null &
    running=$!
    wait "$running"
    local rc=$?
    running=
    return $rc
}
for t in test/cluster/*_test.sh; do
    n=$(basename "$t" .sh)
    [ -z "${TESTS:-}" ] || grep -qE "$TESTS" <<<"$n" || continue
    # what a failed test left is not there for the next one
    [ -z "$failed" ] || { hack/cluster.sh down; up; } || { bad=$((bad + 1)); break; }
    failed=
    since=$SECONDS
    one "$n" "$t"
    rc=$?
    if [ $rc -ne 0 ]; then # once more, on a new cluster: a busy machine lets deadlines pass
        cp "$logs/$n.log" "$logs/$n.first.log"
        echo "    $n: exit $rc, once more"; grep -v "^ok " "$logs/$n.log" | tail -n 40
        hack/cluster.sh down; up || { bad=$((bad + 1)); break; }
        one "$n" "$t"
        rc=$?
    fi
    o=$(grep -c '^ok ' "$logs/$n.log"); b=$(grep -c '^not ok ' "$logs/$n.log")
    [ $rc -eq 0 ] || [ "$b" -gt 0 ] || b=1
    [ $rc -eq 0 ] && [ "$o" -eq 0 ] && [ "$b" -eq 0 ] && b=1
    ok=$((ok + o)) bad=$((bad + b))
    if [ "$b" -gt 0 ]; then
        failed=$n
        echo "--- $n: exit $rc, $b failed"; grep -v '^ok ' "$logs/$n.log" | tail -n 60
    else
        echo "    $n: $o passed, $((SECONDS - since)) s"
    fi
done
echo "$ok passed, $bad failed"
[ "$bad" -eq 0 ] && [ "$ok" -gt 0 ]
