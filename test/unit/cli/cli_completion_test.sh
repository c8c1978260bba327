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
check "a value that is chosen is offered" "openshift kubernetes eks gke aks oke kind" "$(complete_line slipway run --platform "")"
check "a shell is offered" "bash zsh fish" "$(complete_line slipway completion "")"
check "a file is offered for the rest" "Makefile" "$(cd "$(dirname "$0")/../../.." && complete_line slipway run Makefi)"
check "a command is offered to help" "rbac" "$(complete_line slipway help rb)"
check "a command is offered to man" "controller" "$(complete_line slipway man contr)"
check "a short option's value is offered" "json junit ctrf text" "$(complete_line slipway run -o "")"
check "a log level is offered" "warn" "$(complete_line slipway status --log-level w)"
check "help and version are offered" "--help --version" "$(complete_line slipway --)"
folder=$(mktemp -d)
touch "$folder/a b" "$folder/a c"
check "a file with a blank in its name is one" 2 "$(cd "$folder" && COMP_WORDS=(slipway run a) && COMP_CWORD=2 && _slipway && echo ${#COMPREPLY[@]})"
rm -r "$folder"
if command -v fish >/dev/null; then
    check "fish offers a shell" "bash fish zsh" "$(fish -c 'source (echo $argv[1] | psub); complete -C "slipway completion "' "$("$slipway" completion fish)" 2>&1 | tr '\n' ' ' | sed 's/ $//')"
fi
for shell in zsh fish; do
    text=$("$slipway" completion $shell)
    check "$shell knows the commands" 0 "$(grep -q controller <<<"$text" && grep -q leader-elect <<<"$text"; echo $?)"
    if command -v $shell >/dev/null; then
        check "$shell reads its script" 0 "$($shell -n <<<"$text" >/dev/null 2>&1; echo $?)"
    fi
done
exit $failed
