#!/bin/bash
# run-tests.sh: run every test program of the build, two at a time a core, and count what they report (TAP).
# The last line is "N passed, N failed". The lines before it say how much CPU the tests took (that of
# each is in build/test/logs/cpu.tsv, dearest first) and the seed of the samples. A program that dies
# counts as one failure. What failed beside others is run once more by itself, and said so: machines
# are busy, and then deadlines pass.
#   T=chart        the tests of one district (a folder of test/unit, test/emulator, ...), or of several
#   TESTS=regex    the tests whose names match
# run-tests.sh --list names them.
set -u
unset IMG TAG REGISTRY NAMESPACE MAKEFLAGS MAKELEVEL # make exports them: not for what tests make
cd "$(dirname "$0")/.."
export CMOCKA_MESSAGE_OUTPUT=TAP SLIPWAY_STAND_INS=1 # no test fetches a vendor's chart
if [ -z "${SW_SHARED:-}" ] && [ -d ../shared ]; then SW_SHARED=$PWD/../shared; fi
export SW_SHARED
# Where memory came from is noted for one frame only, which saves a seventh of the CPU; what fails is run
# once more with all of them. What was freed is kept out of use up to 16 MiB, not 256: a tenth of the page faults.
asan=detect_leaks=1:abort_on_error=0:allocator_may_return_null=1:handle_sigill=1
asan_more=${ASAN_OPTIONS:-$asan}
export ASAN_OPTIONS="${ASAN_OPTIONS:-$asan:malloc_context_size=1:quarantine_size_mb=16}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"
export SLIPWAY="$PWD/build/test/slipway" SLIPWAY_RELEASE="$PWD/build/slipway"
# what takes too long to be tried whole is tried as a sample (test/sample.h), unless SW_ALL is set
export SW_SEED="${SW_SEED:-$RANDOM}"
# kubectl was a third of what tests cost: what they ask most often, test/tools/kubectl.c asks for them, and leaves the
# rest to kubectl (SW_KUBECTL). Google Cloud's only asks the server for its version and starts the kubectl of
# that: take the one of the emulator's. None runs for so long that collecting garbage pays, or more than one thread.
mkdir -p build/test/bin; rm -f build/test/bin/*
export PATH="$PWD/build/test/bin:$PATH" GOGC="${GOGC:-400}" GOMAXPROCS="${GOMAXPROCS:-1}"
if [ -n "${SW_KUBECTL:-}" ] || SW_KUBECTL=$(command -v kubectl); then
    case $("$SW_KUBECTL" version --client 2>/dev/null) in
    *-dispatcher*)
        real=$(dirname "$(readlink -f "$SW_KUBECTL")")/kubectl.1.29
        [ ! -x "$real" ] || SW_KUBECTL=$real
        ;;
    esac
    export SW_KUBECTL
    [ -z "${SW_ALL:-}" ] || export SW_KUBECTL_REAL=1 # make test-all has kubectl alone
    ln -s ../kubectl build/test/bin/kubectl
fi
# A python3 that is a script (pyenv's) finds out at each start which one it is, which takes longer than the start.
if [ "$(head -c 2 "$(command -v python3)" 2>/dev/null)" = '#!' ]; then
    printf '#!/bin/sh\nexec %q "$@"\n' "$(python3 -c 'import sys; print(sys.executable)')" >build/test/bin/python3
    chmod +x build/test/bin/python3
fi
# No test needs a certificate authority of the system's: reading them all, for each server that is asked, was
# most of what tests with registries took.
if openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=nobody -keyout /dev/null \
    -out build/test/authority.pem 2>/dev/null; then
    export SSL_CERT_FILE=$PWD/build/test/authority.pem
    unset SSL_CERT_DIR
fi
districts=${T:-}
unset T
for d in $districts; do
    [ -n "$(find test -mindepth 2 -maxdepth 2 -name "$d")" ] || { echo "run-tests: no tests of '$d'"; exit 2; }
done
logs=build/test/logs

run_one() { # NAME COMMAND...
    local name=$1 rc cpu since=$SECONDS; shift
    { time timeout "${SW_TEST_TIMEOUT:-1200}" "$@" >"$logs/$name.log" 2>&1 </dev/null; } 2>"$logs/$name.cpu"
    rc=$?
    cpu=$(awk '{ sub(",", ".", $1); sub(",", ".", $2); printf "%.2f", $1 + $2 }' "$logs/$name.cpu")
    printf '%s\t%s\n' "$cpu" "$name" >>"$logs/cpu.tsv"
    rm "$logs/$name.cpu"
    local ok bad
    ok=$(grep '^ok ' "$logs/$name.log" | grep -vc '# SKIP'); bad=$(grep '^not ok ' "$logs/$name.log" | grep -vc '# SKIP')
    [ $rc -eq 0 ] || [ "$bad" -gt 0 ] || bad=1
    [ $rc -eq 0 ] && [ "$ok" -eq 0 ] && [ "$bad" -eq 0 ] && ! grep -q '# SKIP' "$logs/$name.log" && { bad=1; echo "no test ran" >>"$logs/$name.log"; }
    echo "$ok $bad $name $rc" >>"$logs/results"
    if [ "$bad" -gt 0 ]; then
        echo "--- $name: exit $rc, $bad failed"
        grep -v '^ok ' "$logs/$name.log" | tail -n "${SW_TEST_TAIL:-60}"
    else
        echo "    $name: $ok passed, $((SECONDS - since)) s, $cpu s of CPU"
    fi
}
export -f run_one; export logs TIMEFORMAT='%3U %3S'

# sources KIND SUFFIX: of the districts asked for; $T is one or more of them
sources() {
    local d
    for d in ${districts:-.}; do
        [ ! -d "test/$1/$d" ] || find "test/$1/$d" -name "*$2" -not -path '*/corpus/*' | sed 's|/\./|/|' | sort
    done
}

# The longest, which come first, so that none of them is left alone at the end.
longest='deploy|nvidia|stuck_pods|troubles|shared_releases|together|recipes|sources_controller|chaos|scheduler_dra|shared_objects|status|guides|stuck_observed|stuck|renderers|crash_sweep|run_takeover|image'

all_tests() { # NAME COMMAND...
    local tests
    tests=$(list_tests)
    grep -E "^($longest)_test " <<<"$tests"
    grep -vE "^($longest)_test " <<<"$tests"
}
list_tests() {
    local k s n
    for k in unit emulator golden; do
        for s in $(sources $k _test.c); do
            n=${s##*/}
            printf '%s %s\n' "${n%.c}" "build/${s%.c}"
        done
    done
    for s in $(sources fuzz _fuzz.c); do
        n=${s##*/} n=${n%_fuzz.c}
        printf '%s %s %s\n' "${n}_fuzz" "build/${s%.c}" "test/fuzz/corpus/$n"
    done
    for k in unit emulator golden; do
        for s in $(sources $k _test.sh); do
            n=${s##*/}
            printf '%s bash %s\n' "${n%.sh}" "$s"
        done
    done
}

if [ "${1:-}" = --list ]; then
    all_tests | cut -d' ' -f1
    exit
fi
twice=$(all_tests | cut -d' ' -f1 | sort | uniq -d | paste -sd' ' -)
if [ -n "$twice" ]; then # their logs would be one
    echo "run-tests: more than one test is called: $twice" >&2
    exit 1
fi
rm -rf "$logs"; mkdir -p "$logs"

all_tests | { if [ -n "${TESTS:-}" ]; then grep -E "${TESTS}"; else cat; fi; } |
    xargs -P $(($(nproc) * 2)) -L 1 bash -c 'run_one "$@"' _ # a test waits for more than half of its time

for name in $(awk '$2 > 0 { print $3 }' "$logs/results"); do
    cp "$logs/$name.log" "$logs/$name.first.log"
    echo "    $name: once more, by itself"
    sed -i "/ $name [0-9]*\$/d" "$logs/results"
    all_tests | grep "^$name " | ASAN_OPTIONS=$asan_more xargs -L 1 bash -c 'run_one "$@"' _
done

sort -rn -o "$logs/cpu.tsv" "$logs/cpu.tsv"
awk -F'\t' 'NR <= 5 { dear = dear (NR > 1 ? ", " : "") $2 " " int($1 + 0.5) } { all += $1 }
    END { printf "%d s of CPU: %s (%s)\n", all, dear, FILENAME }' "$logs/cpu.tsv"
[ -n "${SW_ALL:-}" ] || echo "samples by SW_SEED=$SW_SEED; make test-all tries all"
# what a machine has not: which tests it kept from running
grep -c '^ok .*# SKIP' "$logs"/*_test.log "$logs"/*_fuzz.log 2>/dev/null | awk -F: '{ sub(/.*\//, "", $1); sub(/\.log$/, "", $1) }
    $2 > 0 { n += $2; names = names (names ? ", " : "") $1 " " $2 } END { if (n) printf "%d skipped: %s (why: their logs in build/test/logs)\n", n, names }'
awk '{ ok += $1; bad += $2 } END { printf "%d passed, %d failed\n", ok, bad; exit bad > 0 || !NR }' "$logs/results"
