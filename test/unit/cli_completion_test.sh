#!/bin/bash
# The completion script of bash, sourced and asked as the shell would ask it.
slipway=${SLIPWAY:-build/test/slipway}
n=0 failed=0
check() { # NAME WANT GOT
    n=$((n + 1))
    if [ "$2" = "$3" ]; then echo "ok $n - $1"; else echo "not ok $n - $1: want '$2', got '$3'"; failed=1; fi
}
complete_line() { # WORD... : what is offered for the last one
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    _slipway
    echo "${COMPREPLY[*]}"
}
eval "$("$slipway" completion bash)"
check "a command is completed" "run" "$(complete_line slipway ru)"
check "an option is completed" "--emulate" "$(complete_line slipway run --emu)"
check "a value that is chosen is offered" "openshift kubernetes" "$(complete_line slipway run --platform "")"
check "a shell is offered" "bash zsh fish" "$(complete_line slipway completion "")"
check "a file is offered for the rest" "Makefile" "$(cd "$(dirname "$0")/../.." && complete_line slipway run Makefi)"
for shell in zsh fish; do
    text=$("$slipway" completion $shell)
    check "$shell knows the commands" 0 "$(grep -q controller <<<"$text" && grep -q leader-elect <<<"$text"; echo $?)"
    if command -v $shell >/dev/null; then
        check "$shell reads its script" 0 "$($shell -n <<<"$text" >/dev/null 2>&1; echo $?)"
    fi
done
exit $failed
