#!/bin/bash
# lint.sh [--all|--list|--cppcheck]: clang-tidy (.clang-tidy) and cppcheck over the C sources that differ from where
# this branch left main (on main: from the commit before), committed or not; --all: over every one; --list: print which those are, and do no more;
# --cppcheck: that alone, over every one.
# What clang-tidy found clean is not looked at again until it, a header of it or .clang-tidy changes
# (build/lint). A tool that is missing is skipped with a line. LINT_BASE=COMMIT: differ from that.
set -u
cd "$(dirname "$0")/.." || exit
failed=0

changed() {
    local base=${LINT_BASE:-}
    [ -n "$base" ] || base=$(git merge-base HEAD origin/main 2>/dev/null || git merge-base HEAD main 2>/dev/null) || base=HEAD
    [ "$base" != "$(git rev-parse HEAD)" ] || base=$(git rev-parse -q --verify HEAD~1 || echo HEAD)
    git diff --name-only --diff-filter=d "$base" -- src
    git ls-files -o --exclude-standard -- src
}

# a header is looked at through the file of its name, else through the first that includes it
sources() {
    sort -u | while read -r f; do
        case $f in
        *.c) echo "$f" ;;
        *.h) if [ -f "${f%.h}.c" ]; then echo "${f%.h}.c"; else git grep -l "#include \".*${f##*/}\"" -- 'src/*.c' | head -1; fi ;;
        esac
    done | sort -u
}

if [ "${1:-}" = --all ] || [ "${1:-}" = --cppcheck ]; then files=$(git ls-files 'src/*.c'); else files=$(changed | sources); fi
if [ "${1:-}" = --list ]; then
    [ -z "$files" ] || echo "$files"
    exit
fi
n=$(wc -w <<<"$files")
if [ "$n" -eq 0 ]; then
    echo "lint: no C source has changed (ALL=1: all of them)"
    exit 0
fi
echo "lint: $n files"

if [ "${1:-}" = --cppcheck ]; then
    :
elif command -v "${CLANG_TIDY:-clang-tidy}" >/dev/null; then
    here=$("${CLANG_TIDY:-clang-tidy}" --version | sed -n 's/.*version \([0-9]*\).*/\1/p')
    [ "$here" = 14 ] || echo "lint: the sources are clean for clang-tidy 14; $here may find more"
    # shellcheck disable=SC2046 # a list
    nice make --no-print-directory -s -k -j "${JOBS:-2}" $(sed 's|\(.*\)\.c$|build/lint/\1.ok|' <<<"$files") || failed=1
else
    echo "skip  clang-tidy: not here"
fi

if command -v cppcheck >/dev/null; then
    mkdir -p build/lint/cppcheck
    # shellcheck disable=SC2086 # a list
    nice cppcheck -q -j "${JOBS:-2}" --cppcheck-build-dir=build/lint/cppcheck --std=c11 \
        --enable=warning,portability --inline-suppr --error-exitcode=1 --suppress=missingIncludeSystem \
        --suppress=unknownMacro --suppress=varFuncNullUB --include=hack/cppcheck.h -Isrc $files || failed=1
else
    echo "skip  cppcheck: not here"
fi
exit $failed
