# The completion scripts ask a kubeconfig and a cluster: contexts, resources, states, revisions, namespaces.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
root=$PWD
export HOME=$tap_dir KUBECONFIG=$tap_dir/kubeconfig
trap 'stop emulated; rm -rf "$tap_dir"' EXIT
mkdir "$tap_dir/bin" && ln -s "$slipway" "$tap_dir/bin/slipway"
export PATH=$tap_dir/bin:$PATH
emulated || { plan; exit; }
cat >"$tap_dir/others" <<'Y'
apiVersion: v1
kind: Config
contexts:
- {name: east, context: {cluster: c, user: u}}
- {name: west, context: {cluster: c, user: u}}
clusters:
- {name: c, cluster: {server: "http://127.0.0.1:1"}}
users:
- {name: u, user: {}}
Y
"$slipway" create "$tap_dir/my-recipe" >/dev/null
"$slipway" run "$tap_dir/my-recipe" --timeout 60s >/dev/null 2>&1

asks() { # WANT WORD...: what the script is told, in one line
    local want=$1; shift
    got=$("$slipway" __complete "$@" 2>"$tap_dir/errs" | tr '\n' ' ')
    [ "$got" = "$want" ] && [ ! -s "$tap_dir/errs" ] || { echo "got '$got'"; cat "$tap_dir/errs"; false; }
}
holds() { # WORD... -- WANT: among what the script is told
    local words=()
    while [ "$1" != -- ]; do words+=("$1"); shift; done
    "$slipway" __complete "${words[@]}" | grep -qxF -- "$2"
}
in_bash() { # WANT WORD...
    local want=$1; shift
    eval "$("$slipway" completion bash)"
    COMP_WORDS=(slipway "$@") COMP_CWORD=$# COMPREPLY=()
    _slipway
    [ "${COMPREPLY[*]}" = "$want" ] || { echo "got '${COMPREPLY[*]}'"; false; }
}
in_fish() { # WANT LINE
    local got
    got=$(fish -c 'slipway completion fish | source; complete -C "$argv[1]"' "$2" 2>&1 | cut -f1 | tr '\n' ' ')
    [ "$got" = "$1 " ] || { echo "got '$got'"; false; }
}
in_zsh() { # the function is asked as _arguments would ask it
    local got
    got=$(zsh -c 'compadd() { print -l "${(@P)2}" }; compdef() { :; }; _describe() { :; }; source =(slipway completion zsh)
        words=(status --context ""); CURRENT=3; _slipway_ask' 2>&1 | tr '\n' ' ')
    [ "$got" = "$(KUBECONFIG=$KUBECONFIG "$slipway" __complete status --context "" | tr '\n' ' ')" ] && [ -n "$got" ] || { echo "got '$got'"; false; }
}
is_quick() { # a cluster that does not answer holds no prompt up
    local from=$SECONDS
    asks "" status --kubeconfig "$tap_dir/others" --context east "" && [ $((SECONDS - from)) -le 5 ]
}
offers_files() { # a recipe is a folder
    cd "$root" && in_bash Makefile run Makefi
}

t "resources" asks "my-recipe " status ""
t "nodes" holds slices "" -- "$(kubectl get nodes -o 'jsonpath={.items[0].metadata.name}')"
t "states of a resource" asks "0000 1000 " logs my-recipe ""
t "revisions of a resource" asks "1 " rollback my-recipe ""
t "namespaces" holds status -n "" -- my-recipe
t "contexts of the kubeconfig that is named" asks "east west " status --kubeconfig "$tap_dir/others" --context ""
t "clusters" asks "c " wait --kubeconfig="$tap_dir/others" --cluster ""
t "users" asks "u " wait --kubeconfig "$tap_dir/others" --user ""
t "topics of explain, then resources" asks "annotation field hook state my-recipe " explain ""
t "names of a topic" holds explain annotation "" -- slipway.dev/timeout
t "a new recipe has no name yet" asks "" create ""
t "an unknown command has nothing" asks "" nonsense ""
t "a cluster that does not answer is not waited for" is_quick
t "bash: a resource" in_bash my-recipe status my-
t "bash: a state behind options" in_bash "0000 1000" logs --kubeconfig "$KUBECONFIG" my-recipe ""
t "bash: a context" in_bash east status --kubeconfig "$tap_dir/others" --context ea
t "bash: files for recipes" offers_files
if command -v fish >/dev/null; then
    t "fish: a resource" in_fish my-recipe "slipway status my-"
    t "fish: a context" in_fish "east west" "slipway status --kubeconfig $tap_dir/others --context "
else
    skip "fish: a resource" "no fish here"
fi
if command -v zsh >/dev/null; then t "zsh: a context" in_zsh; else skip "zsh: a context" "no zsh here"; fi
plan
