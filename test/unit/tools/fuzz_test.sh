# hack/fuzz.sh on a small tree: all targets are built before one runs, one that does not build is named,
# and what was found is counted, with the path of its input.
. test/tap.sh
tree=$tap_dir/tree

grow() { # a library of one function, and two targets
    rm -rf "$tree"
    mkdir -p "$tree/hack" "$tree/src/low" "$tree/build/gen" "$tree/test/fuzz/low" "$tree/test/fuzz/corpus/first"
    cp hack/fuzz.sh "$tree/hack"
    printf 'generated:\n' >"$tree/Makefile"
    printf '#include <stddef.h>\nint low_is_bad(const unsigned char *data, size_t size);\nint low_is_bad(const unsigned char *data, size_t size)\n{\n    return size > 0 && data[0] == 255;\n}\n' >"$tree/src/low/low.c"
    printf 'int main(void)\n{\n    return 1;\n}\n' >"$tree/src/low/main.c"
    local n
    for n in first second; do
        cat >"$tree/test/fuzz/low/${n}_fuzz.c" <<'C'
#include <stddef.h>
#include <stdint.h>
int low_is_bad(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return low_is_bad(data, size) * 0;
}
C
    done
    printf 'a' >"$tree/test/fuzz/corpus/first/a"
}
fuzz() { (cd "$tree" && JOBS=1 SW_SHARED=none hack/fuzz.sh 1 "$@") >"$tap_dir/got" 2>&1; }
says() { # EXIT LINE...: fuzz.sh ends with EXIT, and these are lines of what it prints
    local want=$1 rc=0 line
    shift
    fuzz || rc=$?
    cat "$tap_dir/got"
    [ $rc -eq "$want" ] || return 1
    for line in "$@"; do
        grep -qE -- "^$line\$" "$tap_dir/got" || { echo "no line '$line'"; return 1; }
    done
}
ran() { grep -q executions "$tap_dir/got"; }
# As OSS-Fuzz builds: its flags and engine, and all that a target needs is in OUT.
builds_for_oss_fuzz() {
    local result=$tap_dir/result
    grow
    cp -R hack/oss-fuzz "$tree/hack/"
    (cd "$tree" && JOBS=1 CFLAGS="-O1 -fsanitize=address,fuzzer-no-link" LIB_FUZZING_ENGINE=-fsanitize=fuzzer OUT=$result hack/oss-fuzz/build.sh) || return 1
    (cd "$result" && rm -rf seeds && mkdir seeds && python3 -m zipfile -e first_seed_corpus.zip seeds) && [ "$(cat "$result/seeds/a")" = a ] || return 1
    readelf -d "$result/second" | grep -F '[$ORIGIN/lib]' && find "$result/lib" -type l -o -name 'libc.so*' | wc -l | grep -x 0 || return 1
    (cd / && "$result/first" -runs=1 "$result/seeds")
}

runs_all() {
    grow
    says 0 'fuzz: first +[1-9][0-9]* executions +[0-9]+ new inputs' 'fuzz: second +[1-9][0-9]* executions .*' 'fuzz: 2 targets, 0 found something'
}
names_what_does_not_compile() {
    grow
    sed -i '/stdint/d' "$tree/test/fuzz/low/second_fuzz.c"
    says 2 'fuzz: test/fuzz/low/second_fuzz.c does not compile' && ! ran
}
names_what_does_not_link() {
    grow
    sed -i 's/low_is_bad/low_is_gone/' "$tree/test/fuzz/low/first_fuzz.c"
    says 2 'fuzz: test/fuzz/low/first_fuzz.c does not link' && ! ran
}
names_a_source() {
    grow
    echo 'int x = y;' >>"$tree/src/low/low.c"
    says 2 'fuzz: src/low/low.c does not compile' && ! ran
}
counts_findings() { # and goes on with the next target
    grow
    sed -i 's/return low.*/if (low_is_bad(data, size))\n        __builtin_trap();\n    return 0;/' "$tree/test/fuzz/low/first_fuzz.c"
    printf '\377' >"$tree/test/fuzz/corpus/first/bad"
    says 1 'fuzz: first FOUND something: build/fuzz/found/first-[a-z]+-[0-9a-f]+; see build/fuzz/first.log' \
        'fuzz: second +[1-9][0-9]* executions .*' 'fuzz: 2 targets, 1 found something' || return 1
    local input
    input=$(sed -n 's/.*FOUND something: \(.*\);.*/\1/p' "$tap_dir/got")
    cmp "$tree/$input" "$tree/test/fuzz/corpus/first/bad"
}
refuses_an_unknown_target() {
    local rc=0
    grow
    fuzz third || rc=$?
    cat "$tap_dir/got"
    [ $rc -eq 2 ] && grep -q "no target 'third'" "$tap_dir/got"
}

if echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' |
    clang -fsanitize=fuzzer,address,undefined -x c -o "$tap_dir/probe" - 2>/dev/null; then
    t "all targets are built and run" runs_all
    t "a target that does not compile is named, and none runs" names_what_does_not_compile
    t "one that does not link" names_what_does_not_link
    t "a source that does not compile" names_a_source
    t "what was found is counted, and its input named" counts_findings
    t "OSS-Fuzz has its own flags and engine, and all that a target needs is in one folder" builds_for_oss_fuzz
else
    skip "targets are built and run" "clang has no libFuzzer here"
fi
t "a target that is not there" refuses_an_unknown_target
plan
