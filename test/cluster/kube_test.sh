#!/bin/bash
# The client on a real API server: every verb, refusals, pages, a watch, a Lease.
cd "$(dirname "$0")/../.." || exit 1
make -s build/test/kube_probe && exec build/test/kube_probe
