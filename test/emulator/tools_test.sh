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

# ---- package -------------------------------------------------------------------------------------

packs() {
    mkdir -p "$tap_dir/packed" && touch "$tap_dir/my-recipe/x.bak" &&
        "$slipway" package "$tap_dir/my-recipe" -d "$tap_dir/packed" &&
        tar tzf "$tap_dir/packed/my-recipe-0.1.0.tgz" >"$tap_dir/list" &&
        [ "$(head -n 1 "$tap_dir/list")" = my-recipe/Chart.yaml ] &&
        ! grep -v '^my-recipe/' "$tap_dir/list" && ! grep -F x.bak "$tap_dir/list"
}

renders_as_before() {
    "$slipway" render "$tap_dir/packed/my-recipe-0.1.0.tgz" | diff "$tap_dir/manifests" -
}

packs_the_same_again() {
    cp -r "$tap_dir/my-recipe" "$tap_dir/copy" && mkdir "$tap_dir/again" &&
        "$slipway" package "$tap_dir/copy/" -d "$tap_dir/again" &&
        cmp "$tap_dir/packed/my-recipe-0.1.0.tgz" "$tap_dir/again/my-recipe-0.1.0.tgz"
}

packs_dependencies() {
    "$slipway" package recipes/nvidia-mig -d "$tap_dir/again" &&
        "$slipway" render recipes/nvidia-mig >"$tap_dir/before" &&
        "$slipway" render "$tap_dir"/again/nvidia-mig-*.tgz | diff "$tap_dir/before" -
}

packs_no_nonsense() {
    fails 2 "Chart.yaml" "$slipway" package "$tap_dir/packed" &&
        fails 2 "which recipe" "$slipway" package &&
        fails 2 "no/folder" "$slipway" package "$tap_dir/my-recipe" -d "$tap_dir/no/folder"
}

t "package: an archive with one folder, without what .helmignore names" packs
t "package: it renders as the folder does" renders_as_before
t "package: equal recipes, equal bytes" packs_the_same_again
t "package: dependencies in other folders are packed too" packs_dependencies
t "package: bad input is told" packs_no_nonsense

# ---- configmap -----------------------------------------------------------------------------------

prints_readable_keys() {
    "$slipway" configmap "$tap_dir/my-recipe" --name carrier --namespace here >"$tap_dir/cm.yaml" &&
        grep -qx '  name: carrier' "$tap_dir/cm.yaml" &&
        grep -qx '  0000-settings.yaml: |' "$tap_dir/cm.yaml" &&
        ! grep -q binaryData "$tap_dir/cm.yaml"
}

prints_an_archive() {
    "$slipway" configmap recipes/nvidia-mig --namespace here >"$tap_dir/cm-packed.yaml" &&
        grep -q 'cm://here/nvidia-mig/nvidia-mig-0.1.0.tgz' "$tap_dir/cm-packed.yaml" &&
        sed -n 's/^  nvidia-mig-0.1.0.tgz: //p' "$tap_dir/cm-packed.yaml" | base64 -d |
        cmp - "$tap_dir/again/nvidia-mig-0.1.0.tgz"
}

refuses_too_much() {
    cp -r "$tap_dir/my-recipe" "$tap_dir/large" &&
        head -c 2000000 /dev/urandom >"$tap_dir/large/noise.bin" &&
        fails 2 "more than a ConfigMap may hold" "$slipway" configmap "$tap_dir/large" &&
        fails 2 "is no name" "$slipway" configmap "$tap_dir/my-recipe" --name Not/One
}

t "configmap: a single chart is one key a file" prints_readable_keys
t "configmap: dependencies make it an archive with an index" prints_an_archive
t "configmap: what is too large or misnamed is refused" refuses_too_much

plan
