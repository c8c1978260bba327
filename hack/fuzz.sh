#!/bin/bash
# fuzz.sh SECONDS [TARGET]: run the fuzz targets (test/fuzz/<target>_fuzz.c) with libFuzzer, each for
# SECONDS, from its corpus in test/fuzz/corpus/<target>. New inputs stay in build/fuzz/; a finding
# is left there too and its path printed: reduce it, put it into the corpus, mend the bug.
set -eu
cd "$(dirname "$0")/.."
seconds=$1; only=${2:-}
command -v clang >/dev/null || { echo "fuzz: clang is needed" >&2; exit 1; }
mkdir -p build/fuzz
make -s generated
pkgs="json-c yaml-0.1 libssl libcrypto libcurl libevent libarchive libpcre2-8 libnghttp2 libprotobuf-c zlib"
cflags="-std=gnu17 -D_GNU_SOURCE -O1 -g -fsanitize=fuzzer-no-link,address,undefined -DSW_LIBFUZZER -DSW_TEST -Isrc -Itest -Ibuild/gen $(pkg-config --cflags $pkgs)"
objs=
header=$(find src test build/gen -name '*.h' -printf '%T@ %p\n' | sort -n | tail -1 | cut -d' ' -f2)
for src in $(find src -name "*.c") build/gen/*.c; do
    case $src in */main.c) continue ;; esac
    o=build/fuzz/obj/${src%.c}.o
    mkdir -p "$(dirname "$o")"
    { [ "$o" -nt "$src" ] && [ "$o" -nt "$header" ]; } || ${CCACHE:-} clang $cflags -DSW_VERSION='"fuzz"' -c "$src" -o "$o"
    objs="$objs $o"
done
rm -f build/fuzz/lib.a; ar rcs build/fuzz/lib.a $objs

# More to start from: the templates and values of the cases, and the text of charts.
seed() { # TARGET: files go to build/fuzz/seeds/TARGET
    local to=build/fuzz/seeds/$1 shared=${SW_SHARED:-../shared}
    rm -rf "$to"; mkdir -p "$to"
    command -v python3 >/dev/null || return 0
    case $1 in
    template | yaml | json) python3 - "$1" "$to" test/golden/template/*.jsonl "$shared"/template-cases/*.jsonl <<'PY' ;;
import json, sys
what, to, n = sys.argv[1], sys.argv[2], 0
for name in sys.argv[3:]:
    try:
        lines = open(name, encoding="utf-8", newline="\n")
    except OSError:
        continue
    for line in lines:
        case = json.loads(line)
        texts = [case["template"]] if what == "template" else []
        if what != "template" and "values" in case:
            texts.append(json.dumps(case["values"], ensure_ascii=False))
        if what == "yaml" and "yaml" in case["template"].lower() and case.get("want"):
            texts.append(case["want"])
        for text in texts:
            n += 1
            open(f"{to}/{n}", "w", encoding="utf-8").write(text)
PY
    schema) cp "$shared"/charts/*/values.schema.json "$to" 2>/dev/null || true ;;
    esac
}

rc=0
for t in test/fuzz/*/*_fuzz.c; do
    n=$(basename "$t" _fuzz.c)
    [ -z "$only" ] || [ "$only" = "$n" ] || continue
    clang $cflags -fsanitize=fuzzer,address,undefined -o "build/fuzz/$n" "$t" build/fuzz/lib.a $(pkg-config --libs $pkgs) -lm
    mkdir -p "build/fuzz/new/$n" "build/fuzz/found"
    seeds=test/fuzz/corpus/$n; [ -d "$seeds" ] || seeds=
    seed "$n"
    echo "fuzz: $n for $seconds s"
    "build/fuzz/$n" -max_total_time="$seconds" -max_len=65536 -timeout=10 -rss_limit_mb=2048 \
        -artifact_prefix="build/fuzz/found/$n-" "build/fuzz/new/$n" $seeds "build/fuzz/seeds/$n" >"build/fuzz/$n.log" 2>&1 ||
        { rc=1; echo "fuzz: $n FOUND something, see build/fuzz/$n.log"; ls build/fuzz/found/"$n"-*; }
    tail -1 "build/fuzz/$n.log"
done
exit $rc
