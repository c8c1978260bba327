#!/bin/sh
# hardening.sh compile|link COMPILER...: print the options that protect a program, those that this compiler
# (with the options given behind it) knows for its machine. `make` asks once, when it compiles or links.
set -u
what=$1
shift
case $what in
compile) ;;
link)
    # relative relocations as bits, where the linker can: a tenth of the program less to read and to map
    packed=
    case $("$@" -Wl,--help 2>/dev/null) in *pack-relative-relocs*) packed=,-z,pack-relative-relocs ;; esac
    echo "-pie -Wl,-z,relro,-z,now,-z,noexecstack,-z,separate-code$packed"
    exit
    ;;
*)
    echo "hardening: compile or link, not '$what'" >&2
    exit 1
    ;;
esac

# A header of the C library is part of the question: it says which _FORTIFY_SOURCE it has functions for.
knows() { # COMPILER... OPTION...
    echo '#include <stdio.h>' | "$@" -Werror -S -x c -o - - >/dev/null 2>&1
}
machine=
case $("$@" -dumpmachine) in
x86_64-*) machine=-fcf-protection=full ;;
aarch64-*) machine=-mbranch-protection=standard ;;
esac
rest="-fPIE -fstack-protector-strong -fstack-clash-protection -ftrivial-auto-var-init=zero${machine:+ $machine}"

best="-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 $rest"
# (the options are words)
if knows "$@" $best; then
    echo "$best"
    exit
fi
all=
for level in 3 2; do
    if knows "$@" -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$level; then
        all="-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$level"
        break
    fi
done
for option in $rest; do
    ! knows "$@" "$option" || all="$all $option"
done
echo "${all# }"
