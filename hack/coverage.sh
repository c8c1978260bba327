#!/bin/bash
# coverage.sh: build a copy of the tree with --coverage in build/coverage/tree, run the tests there
# (TESTS=REGEX or T=DISTRICT: some), and print what they have run (hack/coverage.py). A copy, because
# tests name the programs in build/ by path. Tests that measure time or memory may fail in it.
set -eu
cd "$(dirname "$0")/.."
tree=build/coverage/tree
mkdir -p "$tree"
tracked() { git ls-files -co --exclude-standard | while read -r f; do [ ! -e "$f" ] || echo "$f"; done; }
# what is gone here goes there; what is the same keeps its time, and is not built again
(cd "$tree" && find . -path ./build -prune -o \( -type f -o -type l \) -print | sed 's|^\./||') | sort |
    comm -13 <(tracked | sort) - | (cd "$tree" && xargs -r -d '\n' rm -f)
tracked | tar -c -T - | tar -x -C "$tree"
find "$tree/build" -name '*.gcda' -delete 2>/dev/null || true

shared=${SW_SHARED:-../shared}
unset MAKEFLAGS MAKELEVEL BUILD
SW_SHARED=$(realpath -q "$shared" || true) make -C "$tree" --no-print-directory -s -j "${JOBS:-2}" test \
    SANITIZE='-O1 -g --coverage -fprofile-update=atomic' ${T:+T="$T"} || echo "coverage.sh: some tests failed" >&2
hack/coverage.py "$tree" build/coverage/html
