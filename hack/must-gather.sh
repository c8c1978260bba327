#!/bin/sh
# must-gather.sh: for `oc adm must-gather -- /usr/bin/gather`, and by hand. Writes slipway's archive to
# $OUT (/must-gather, where oc takes it from).
set -eu
out=${OUT:-/must-gather}
slipway=${SLIPWAY:-$(command -v slipway || echo "$(dirname "$0")/../build/slipway")}
mkdir -p "$out"
exec "$slipway" gather --output "$out/slipway-$(date -u +%Y-%m-%dT%H-%M-%SZ).tar.gz" "$@"
