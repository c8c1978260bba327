#!/bin/sh
# version.sh [--commit|--date]: print this tree's version, a semantic one: the chart's (charts/slipway/Chart.yaml), where
# the commit has its tag (v0.1.0) or is not known; else with the commit behind it. Or the commit, or its date. An archive of
# the sources (git archive) has them in hack/commit.
cd "$(dirname "$0")/.." || exit 1
of_archive=$(sed -n 's/^\([0-9a-f]\{40\}\) /\1 /p' hack/commit 2>/dev/null)
case ${1:-} in
--commit)
    if [ -n "$of_archive" ]; then echo "${of_archive%% *}"; else git rev-parse HEAD 2>/dev/null; fi
    exit
    ;;
--date)
    if [ -n "$of_archive" ]; then echo "$of_archive" | cut -d' ' -f2; else git log -1 --format=%cI 2>/dev/null; fi
    exit
    ;;
esac
version=$(sed -n 's/^version: //p' charts/slipway/Chart.yaml)
if [ -n "$of_archive" ]; then
    commit=$(echo "$of_archive" | cut -c1-8) tag=
    case $of_archive in *"tag: v$version"*) tag=v$version ;; esac
else
    commit=$(git describe --always --dirty=.dirty --exclude='*' --abbrev=8 2>/dev/null) || commit=
    tag=$(git describe --tags --exact-match --dirty=.dirty 2>/dev/null) || tag=
fi
if [ -z "$commit" ] || [ "$tag" = "v$version" ]; then
    echo "$version"
else
    echo "$version+g$commit"
fi
