#!/bin/bash
# fuzz.sh SECONDS [TARGET]: build all fuzz targets (test/fuzz/<district>/<target>_fuzz.c) with libFuzzer,
# then run each for SECONDS, from its corpus in test/fuzz/corpus/<target>. One that does not build is named,
# and nothing runs. New inputs stay in build/fuzz/new; a finding is left in build/fuzz/found and its path
# printed: reduce it, put it into the corpus, mend the bug. JOBS compilers run side by side.
# fuzz.sh --build DIR [TARGET]: only build them, with FUZZ_CFLAGS and FUZZ_ENGINE in the place of libFuzzer's: DIR
# gets each program, its corpus as TARGET_seed_corpus.zip, and in lib/ the libraries that it needs.
# Exit code: 0 nothing was found, 1 something was, 2 a target or a source does not build.
set -eu
cd "$(dirname "$0")/.."
shopt -s nullglob
out=
if [ "$1" = --build ]; then
    mkdir -p "$2"
    out=$(realpath "$2"); shift
fi
seconds=$1; only=${2:-}
command -v clang >/dev/null || { echo "fuzz: clang is needed" >&2; exit 1; }
mkdir -p build/fuzz
make -s generated
pkgs="json-c yaml-0.1 libssl libcrypto libcurl libevent libarchive libpcre2-8 libnghttp2 libprotobuf-c zlib"
cflags="-std=gnu17 -D_GNU_SOURCE ${FUZZ_CFLAGS:--O1 -g -fsanitize=fuzzer-no-link,address,undefined} -DSW_LIBFUZZER -DSW_TEST -Isrc -Itest -Ibuild/gen $(pkg-config --cflags $pkgs)"
libs="$(pkg-config --libs $pkgs) -lm"
linker=$(command -v ld.lld >/dev/null && echo -fuse-ld=lld || true)
newest_header=$(find src test build/gen -name '*.h' -printf '%T@ %p\n' | sort -n | tail -1 | cut -d' ' -f2)
engine=${FUZZ_ENGINE:--fsanitize=fuzzer}
[ -z "$out" ] || linker="$linker -Wl,-rpath,\$ORIGIN/lib"
export cflags libs linker engine newest_header

targets=
for t in test/fuzz/*/*_fuzz.c; do
    [ -n "$only" ] && [ "$only" != "$(basename "$t" _fuzz.c)" ] || targets="$targets $t"
done
[ -n "$targets" ] || { echo "fuzz: there is no target '$only'" >&2; exit 2; }

compile() { # SOURCE
    local o=build/fuzz/obj/${1%.c}.o
    if [ "$o" -nt "$1" ] && { [ -z "$newest_header" ] || [ "$o" -nt "$newest_header" ]; }; then return 0; fi
    mkdir -p "$(dirname "$o")"
    # (xargs stops at once on 255)
    ${CCACHE:-} clang $cflags -DSW_VERSION='"fuzz"' -c "$1" -o "$o" || { echo "fuzz: $1 does not compile" >&2; return 255; }
}
link() { # SOURCE of a target
    clang $cflags $engine $linker -o "build/fuzz/$(basename "$1" _fuzz.c)" "build/fuzz/obj/${1%.c}.o" build/fuzz/lib.a $libs ||
        { echo "fuzz: $1 does not link" >&2; return 255; }
}
export -f compile link
each() { # FUNCTION FILE...: side by side
    local do=$1; shift
    printf '%s\n' "$@" | xargs -P "${JOBS:-$(nproc)}" -I{} bash -c "$do {}" 2> >(grep -v '^xargs: ' >&2) || exit 2
}
sources=$(find src build/gen -name '*.c' -not -name main.c)
each compile $targets # these first: it is they that nothing else compiles like this
each compile $sources
rm -f build/fuzz/lib.a
printf 'build/fuzz/obj/%s\n' $sources | sed 's/c$/o/' | xargs ar rcs build/fuzz/lib.a
each link $targets

if [ -n "$out" ]; then
    mkdir -p "$out/lib"
    for t in $targets; do
        n=$(basename "$t" _fuzz.c)
        cp "build/fuzz/$n" "$out/$n"
        [ ! -d "test/fuzz/corpus/$n" ] || (cd "test/fuzz/corpus/$n" && rm -f "$out/${n}_seed_corpus.zip" && python3 -m zipfile -c "$out/${n}_seed_corpus.zip" ./*)
        # all but those of the C library, which are where the program runs
        ldd "build/fuzz/$n" | sed -n 's/.* => \(\/[^ ]*\).*/\1/p' | grep -vE '/(libc|libm|libdl|libpthread|librt|libresolv|ld-linux[^/]*)\.so' |
            while read -r library; do cp -L "$library" "$out/lib/"; done
    done
    exit 0
fi

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

n_targets=0 n_found=0
mkdir -p build/fuzz/found
for t in $targets; do
    n=$(basename "$t" _fuzz.c)
    mkdir -p "build/fuzz/new/$n"
    seeds=test/fuzz/corpus/$n; [ -d "$seeds" ] || seeds=
    seed "$n"
    found=
    "build/fuzz/$n" -max_total_time="$seconds" -max_len=65536 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="build/fuzz/found/$n-" "build/fuzz/new/$n" $seeds "build/fuzz/seeds/$n" >"build/fuzz/$n.log" 2>&1 || found=yes
    awk -v n="$n" '/^stat::number_of_executed_units/ { done = $2 } /^stat::new_units_added/ { new = $2 }
        END { printf "fuzz: %-20s %9d executions %6d new inputs\n", n, done, new }' "build/fuzz/$n.log"
    n_targets=$((n_targets + 1))
    [ -n "$found" ] || continue
    n_found=$((n_found + 1))
    input=$(sed -n 's/.*Test unit written to //p' "build/fuzz/$n.log" | tail -1)
    echo "fuzz: $n FOUND something: ${input:-no input was written}; see build/fuzz/$n.log"
done
echo "fuzz: $n_targets targets, $n_found found something"
[ "$n_found" -eq 0 ]
