#!/bin/bash
# test-root.sh SUITE [--build]: build in a root of another Debian (hack/root.sh) with its gcc and clang, warnings
# as errors, and run there the tests of what compilers and libraries change, besides SAMPLE (20) of the
# others, chosen by SEED. ALL=1: all tests. --build: only build, for a call that follows. Where no root can be
# had it says so and succeeds, but fails where CI is set.
set -euo pipefail
cd "$(dirname "$0")/.."

# JSON, YAML, templates, fetching, images, scripts with awk, and walks over the emulator
depends='(base|data|template|recipe_archive|recipe_schema|fetch|http|kube_tls|nvml|grpc|sources|image|deploy|awk|run_walk|run_cli|tools)(_[a-z0-9_]*)?_test'

if [ "${1:-}" != --here ]; then
    suite=${1:?test-root.sh SUITE}
    export SEED=${SEED:-$RANDOM}
    rc=0
    hack/root.sh "$suite" hack/test-root.sh --here "${@:2}" || rc=$?
    [ $rc = 77 ] || exit $rc
    if [ -n "${CI:-}" ]; then echo "test-root: no root of $suite (above), and CI needs it" >&2; exit 1; fi
    echo "test-root: skipped, no root of $suite can be had here (above)"
    exit 0
fi

. /etc/os-release
echo "$PRETTY_NAME: $(gcc --version | sed -n 1p); $(clang --version | sed -n 1p)"
# UBSan watches the language, not libraries, and has done so where `make test` ran: half the time to compile
CC="ccache gcc" make --no-print-directory -s -j"$(nproc)" CFLAGS=-Werror \
    SANITIZE="-O1 -g1 -fsanitize=address -fno-omit-frame-pointer" test-programs
echo "gcc: no warnings, $SECONDS s"
# clang finds what it warns of before it makes code; what has not changed since is not compiled again
# shellcheck disable=SC2046
if [ ! -e build/clang.ok ] || [ -n "$(find src build/gen hack/test-root.sh -newer build/clang.ok -name '*.[chs]*' -print -quit)" ]; then
    touch build/clang.new
    git ls-files 'src/*.c' | xargs -P "$(nproc)" -n 8 clang -fsyntax-only -std=gnu17 -D_GNU_SOURCE -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
        -Wvla -Werror -Isrc -Ibuild/gen -DSW_VERSION='"check"' $(pkg-config --cflags json-c yaml-0.1 libcrypto libcurl libevent libarchive)
    mv build/clang.new build/clang.ok
fi
echo "clang: no warnings, $SECONDS s"
[ "${2:-}" != --build ] || exit 0
if [ -z "${ALL:-}" ]; then
    # a test's place is its name's checksum with the seed
    sample=$(hack/run-tests.sh --list | grep -vE "^$depends\$" | while read -r name; do
        echo "$(echo "$SEED $name" | cksum | cut -d' ' -f1) $name"
    done | sort -n | sed -n "1,${SAMPLE:-20}p" | cut -d' ' -f2 | paste -sd'|')
    echo "sample by SEED=$SEED: ${sample//|/ }"
    export TESTS="^($depends|$sample) "
fi
SW_SEED=$SEED hack/run-tests.sh
echo "$PRETTY_NAME: $SECONDS s"
