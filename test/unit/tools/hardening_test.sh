# What protects the programs, read out of those that were built, and the options that hack/hardening.sh
# asks compilers for: all that one knows, and no other.
. test/tap.sh
build=$(dirname "${SLIPWAY_RELEASE:-build/slipway}")
programs='slipway slipway-webhook slipway-scheduler slipway-device-plugin'

every() { # FUNCTION: for each program, which it names when it fails
    local p bad=0
    for p in $programs; do
        "$1" "$build/$p" || { echo "$p: not so"; bad=1; }
    done
    return $bad
}
header() { readelf -hW "$1"; }
position_independent() { header "$1" | grep -q 'Type: *DYN' && readelf -dW "$1" | grep -q 'FLAGS_1.*PIE'; }
relocated_first() { # all of it at the start, and read-only from then on
    readelf -dW "$1" | grep -Eq 'BIND_NOW|FLAGS_1.* NOW' && readelf -lW "$1" | grep -q ' *GNU_RELRO'
}
stack_holds_no_code() { readelf -lW "$1" | grep -Eq '^ *GNU_STACK .* RW  *0x'; }
nothing_writable_runs() { ! readelf -lW "$1" | grep -E '^ *LOAD .* RWE '; }
code_is_apart() { # its pages hold no data, and the file's headers are none of them
    readelf -lW "$1" | awk '$1 == "LOAD" && / R E /{ n++; bad = bad || $2 == "0x000000" } END { exit bad || n != 1 }'
}
text_as_built() { ! readelf -dW "$1" | grep TEXTREL; }
imports() { readelf --dyn-syms -W "$1" | awk '$7 == "UND" { sub("@.*", "", $8); print $8 }'; }
stack_guarded() { imports "$1" | grep -qx __stack_chk_fail; }
calls_checked() { imports "$1" | grep -qE '^__(v?snprintf|memcpy|read|recv|fprintf|vfprintf)_chk$'; }
# The linker leaves the mark out of a program if one object has it not, and the C library's own, which a
# program starts with, has it where the distribution wants it. What is ours has it.
objects_marked() {
    local p o bad=0
    for p in cli slicing/webhook slicing/scheduler slicing/deviceplugin; do
        o=$build/rel/src/$p/main.o
        readelf -nW "$o" | grep -q "$1" || { echo "$o has no $1"; bad=1; }
    done
    return $bad
}

compiler() { # MACHINE REFUSED...: one for that machine, which does not know these options
    local machine=$1
    shift
    printf '#!/bin/bash\n[ "$1" != -dumpmachine ] || { echo %s-linux-gnu; exit; }\n' "$machine"
    printf 'for o; do case $o in %s) exit 1 ;; esac; done\n' "$(IFS='|'; echo "${*:-none}")"
}
asks() { # OPTIONS MACHINE REFUSED...
    local want=$1
    shift
    compiler "$@" >"$tap_dir/cc" && chmod +x "$tap_dir/cc"
    diff <(echo "$want") <(hack/hardening.sh compile "$tap_dir/cc")
}
fortified='-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE='
rest='-fPIE -fstack-protector-strong -fstack-clash-protection -ftrivial-auto-var-init=zero'

t "programs are position independent" every position_independent
t "they are relocated at the start, and read-only from then on" every relocated_first
t "their stack holds no code" every stack_holds_no_code
t "nothing that can be written can be run" every nothing_writable_runs
t "code has pages of its own" every code_is_apart
t "there are no relocations in the code" every text_as_built
t "stacks are guarded" every stack_guarded
t "calls of the C library are checked" every calls_checked
case $(uname -m) in
x86_64) t "objects are marked for indirect branch tracking and shadow stacks" objects_marked 'IBT, SHSTK' ;;
aarch64) t "objects are marked for branch target identification" objects_marked BTI ;;
*) skip "objects are marked for control flow protection" "not on this machine" ;;
esac
t "x86_64: all" asks "${fortified}3 $rest -fcf-protection=full" x86_64
t "arm64: all" asks "${fortified}3 $rest -mbranch-protection=standard" aarch64
t "another machine" asks "${fortified}3 $rest" riscv64
t "level 2 where there is no 3" asks "${fortified}2 $rest -fcf-protection=full" x86_64 -D_FORTIFY_SOURCE=3
t "an option that the compiler does not know is left out" asks \
    "${fortified}3 -fPIE -fstack-protector-strong -fcf-protection=full" x86_64 -fstack-clash-protection -ftrivial-auto-var-init=zero
t "the machine's option, too" asks "${fortified}3 $rest" aarch64 -mbranch-protection=standard
plan
