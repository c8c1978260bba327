# slipway create, package, configmap and diff: what is made by one is taken by the others.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
root=$PWD

fails() { # CODE WORDS COMMAND...: that exit status, and those words on stderr
    local code=$1 words=$2 rc=0
    shift 2
    "$@" >"$tap_dir/stdout" 2>"$tap_dir/stderr" || rc=$?
    cat "$tap_dir/stderr"
    [ $rc -eq "$code" ] && grep -qF -- "$words" "$tap_dir/stderr"
}

# ---- create --------------------------------------------------------------------------------------

creates() {
    cd "$tap_dir" && "$slipway" create my-recipe && cd "$root" &&
        [ -f "$tap_dir/my-recipe/README.md" ] && ! grep -r '<NAME>' "$tap_dir/my-recipe"
}

renders() {
    "$slipway" render "$tap_dir/my-recipe" >"$tap_dir/manifests" &&
        [ "$(grep -c '^kind:' "$tap_dir/manifests")" -eq 3 ] &&
        grep -q 'slipway.dev/wait: all' "$tap_dir/my-recipe/Chart.yaml"
}

lints_clean() {
    "$slipway" lint "$tap_dir/my-recipe" >"$tap_dir/lint" && [ ! -s "$tap_dir/lint" ]
}

walks() {
    "$slipway" run "$tap_dir/my-recipe" --emulate --delays 0 --timeout 60s -o json >"$tap_dir/run" &&
        grep -q '"name": "1000"' "$tap_dir/run"
}

overwrites_nothing() {
    echo mine >"$tap_dir/my-recipe/values.yaml.keep"
    fails 2 "exists already" "$slipway" create "$tap_dir/my-recipe" &&
        [ -f "$tap_dir/my-recipe/values.yaml.keep" ] && rm "$tap_dir/my-recipe/values.yaml.keep"
}

refuses_names() {
    local name
    for name in Upper under_score -dash dash- "$(printf 'a%.0s' {1..54})" ""; do
        fails 2 "is no name for a recipe" "$slipway" create -- "$tap_dir/$name" || return 1
    done
    fails 2 "what is the recipe to be called" "$slipway" create &&
        fails 2 "No such file" "$slipway" create "$tap_dir/no/such/parent"
}

t "create: writes a recipe" creates
t "create: it renders three objects" renders
t "create: it lints without a word" lints_clean
t "create: it walks to Ready" walks
t "create: nothing is overwritten" overwrites_nothing
t "create: bad names are refused" refuses_names

plan
