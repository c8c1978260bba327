#!/bin/bash
# What the tests on a real API server ask, asked of the emulator as the same release (1.20).
slipway=${SLIPWAY:-build/test/slipway}
dir=$(mktemp -d)
"$slipway" emulate --kube-version 1.20 --platform kubernetes --kubeconfig-out "$dir/kubeconfig" >"$dir/out" 2>&1 &
pid=$!
trap 'kill $pid; rm -rf "$dir"' EXIT
for ((i = 0; i < 300; i++)); do [ -s "$dir/kubeconfig" ] && break; sleep 0.1; done
KUBECONFIG=$dir/kubeconfig SW_TARGET=emulator SLIPWAY_TEST=$slipway bash test/cluster/api_test.sh
