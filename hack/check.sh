#!/bin/bash
# check.sh: what a reader should not have to look for. Format, static analysis, warnings as errors
# with gcc and clang, includes that point down the layers only, headers that stand alone, tables
# without gaps. Prints one line a check; exit 1 if any failed.
set -u
cd "$(dirname "$0")/.."
failed=0
# shellcheck disable=SC2086
say() { # NAME STATUS
    if [ "$2" -eq 0 ]; then printf 'ok    %s\n' "$1"; else printf 'FAIL  %s\n' "$1"; failed=1; fi
}

# ---- format
hack/format.sh --check
say "format (clang-format)" $?

# ---- the house: includes point down, past no public header, in no circle
python3 hack/house.py
say "house (src/modules.txt)" $?
python3 hack/docs.py
say "documents (paths, glossary)" $?
python3 hack/names.py
say "names (hack/names.py)" $?

# ---- warnings are errors, with both compilers; headers stand alone
flags="-std=gnu17 -D_GNU_SOURCE -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror -Isrc -Itest -Ibuild/gen"
make -s generated || { say "generated sources" 1; exit 1; }
pkg=$(pkg-config --cflags json-c yaml-0.1 libcrypto libcurl libevent libarchive 2>/dev/null)
for cc in gcc clang; do
    command -v $cc >/dev/null || { echo "skip  $cc: not here"; continue; }
    what="-O1 -S -o -"
    [ $cc = gcc ] || what=-fsyntax-only # clang finds what it warns of before it makes code
    git ls-files 'src/*.c' | xargs -P 2 -n 8 sh -c 'cc=$1; flags=$2; shift 2; for f; do $cc $flags -DSW_VERSION=\"check\" "$f" >/dev/null || exit 255; done' _ $cc "$what $flags $pkg"
    say "$cc -Werror" $?
done
bad=0
git ls-files 'src/*.h' | xargs -P 2 -n 16 sh -c 'flags=$1; shift; rc=0
    for h; do echo "#include \"${h#src/}\"" | gcc $flags -x c -fsyntax-only - || { echo "  $h does not compile alone"; rc=1; }; done; exit $rc' \
    _ "$flags $pkg" || bad=1
for h in $(git ls-files 'src/*.h' | xargs grep -L '^#pragma once'); do echo "  $h: no #pragma once"; bad=1; done
say "headers compile alone" $bad

# ---- a capability of the controller can be left out: one by chance; `make check-capabilities`: all
hack/check-capabilities.sh --random
say "capabilities (one, by chance)" $?

# ---- cppcheck
hack/lint.sh --cppcheck
say "cppcheck" $?

# ---- words that say where the project was made do not belong in it
# (workplace paths, issue numbers)
bad=0
git grep -nIE '/work/|issue #?[0-9]+\b' -- ':!hack/check.sh' ':!LICENSE' && bad=1
# cmocka 2 calls it otherwise: test/ranges.h
git grep -nw 'assert_in_range' -- test && bad=1
say "speaks of itself alone" $bad

# ---- every script parses
bad=0
for s in hack/*.sh .ci/run; do bash -n "$s" || bad=1; done
# with pipefail, who writes to a reader that ends early dies of SIGPIPE, sometimes: `sed -n 1p` reads to the end
git grep -l pipefail -- hack .ci ':!hack/check.sh' | xargs grep -nE '[^|]\| *(head|grep +-[a-zA-Z]*q)\b' && bad=1
say "scripts" $bad
exit $failed
