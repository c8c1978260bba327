#!/bin/bash
# The client on the emulator: the same steps as on a real API server (test/cluster/kube_test.sh).
cd "$(dirname "$0")/../../.." || exit 1
slipway=${SLIPWAY:-build/test/slipway}
"$slipway" --help | grep -q '^  emulate ' || {
    echo "ok 1 - the client on the emulator # SKIP this build has no emulator"
    exit 0
}
dir=$(mktemp -d)
"$slipway" emulate --kubeconfig-out "$dir/kubeconfig" >"$dir/log" 2>&1 &
emulator=$!
trap 'kill $emulator 2>/dev/null; wait $emulator; rm -rf "$dir"' EXIT
for _ in $(seq 100); do
    [ ! -s "$dir/kubeconfig" ] || break
    kill -0 $emulator 2>/dev/null || break
    sleep 0.1
done
[ -s "$dir/kubeconfig" ] || { cat "$dir/log"; echo "not ok 1 - the emulator starts"; exit 1; }
KUBECONFIG=$dir/kubeconfig build/test/kube_probe --no-rbac
