#!/bin/sh
# version.sh: print this tree's version, a semantic one: the chart's (charts/slipway/Chart.yaml), where the commit has its
# tag (v0.1.0) or there is no git, as in a tarball; else with the commit behind it.
cd "$(dirname "$0")/.." || exit 1
version=$(sed -n 's/^version: //p' charts/slipway/Chart.yaml)
commit=$(git describe --always --dirty=.dirty --exclude='*' --abbrev=8 2>/dev/null) || commit=
tag=$(git describe --tags --exact-match --dirty=.dirty 2>/dev/null) || tag=
if [ -z "$commit" ] || [ "$tag" = "v$version" ]; then
    echo "$version"
else
    echo "$version+g$commit"
fi
