# slipway render on the command line: what it prints, writes and exits with.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
ordered=test/golden/render/ordered
umbrella=test/golden/charts/umbrella

prints() { # FILE ARGS...: stdout is the file's, exit 0
    local want=test/golden/render/$1
    shift
    "$slipway" render "$@" >"$tap_dir/got" || return 1
    diff -u "$want" "$tap_dir/got"
}

fails() { # CODE WORDS ARGS...: exits with CODE, says WORDS on stderr in one line, prints nothing
    local code=$1 words=$2 rc=0
    shift 2
    "$slipway" render "$@" >"$tap_dir/got" 2>"$tap_dir/err" || rc=$?
    cat "$tap_dir/err"
    [ $rc -eq "$code" ] && [ ! -s "$tap_dir/got" ] && grep -qF -- "$words" "$tap_dir/err"
}

writes() { # EXPECTED ARGS...: the files written are exactly those
    local want=$1
    shift
    rm -rf "$tap_dir/files"
    "$slipway" render --output-dir "$tap_dir/files" "$@" >"$tap_dir/got" || return 1
    diff -r "$want" "$tap_dir/files" && [ "$(wc -l <"$tap_dir/got")" -eq "$(find "$want" -type f | wc -l)" ]
}

t 'prints documents in the order of states and kinds' prints ordered.txt $ordered --no-hooks
t 'marks resource groups, and puts hooks around, CRDs first' prints ordered-groups.txt $ordered --wait=ordered --include-crds
t 'prints only what comes from a template' prints show-only.txt $ordered --show-only charts/base/templates/ns.yaml
t 'gives facts to every chart' prints facts.txt $ordered -s charts/base/templates/ns.yaml --facts test/golden/render/facts.yaml
t 'prints an umbrella as helm template, save for the order' prints umbrella.txt $umbrella --set first.size=3
t 'writes the bytes of each template' writes $umbrella/goldens/default/expected $umbrella
t 'writes them for values of a file' writes $umbrella/goldens/off/expected $umbrella -f $umbrella/goldens/off/values.yaml
t 'reads a packaged chart' bash -c "tar czf $tap_dir/c.tgz -C test/golden/charts umbrella && $slipway render $tap_dir/c.tgz --set first.size=3 | diff -u test/golden/render/umbrella.txt -"
t 'refuses a template that is not there' fails 2 "nothing is rendered from 'templates/none.yaml'" $ordered -s templates/none.yaml
t 'refuses a recipe that is not there' fails 2 'No such file' test/golden/render/none
t 'refuses a folder that is no chart' fails 2 'Chart.yaml is missing' test/golden
t 'wants a recipe' fails 2 'which recipe?'
t 'refuses bad values with their place' fails 2 '--set a=1,b: key' $ordered --set a=1,b
t 'refuses an option it does not know' fails 2 '--frobnicate' $ordered --frobnicate
t 'refuses a kubeVersion that is too old' fails 2 'asks for Kubernetes' test/golden/render/picky --kube-version v1.20.0
t 'takes the name in front, as helm template' bash -c "$slipway render n1 $ordered -s charts/base/templates/ns.yaml >$tap_dir/a && $slipway render --name n1 $ordered -s charts/base/templates/ns.yaml | cmp - $tap_dir/a"
t 'is called template, too' bash -c "$slipway template $ordered >$tap_dir/a && $slipway render $ordered | cmp - $tap_dir/a"
prints_crds_as_they_are() { # as helm template: comments, separators and blanks of the file stay
    local c=$tap_dir/with-crds
    mkdir -p "$c/crds" "$c/templates"
    printf 'apiVersion: v2\nname: c\nversion: 1.0.0\n' >"$c/Chart.yaml"
    printf '# first\n---\napiVersion: v1\nkind: A\nmetadata: {name: a}\n\n--- # second\napiVersion: v1\nkind: B\nmetadata: {name: b}\n\n' >"$c/crds/x.yaml"
    { printf -- '---\n# Source: c/crds/x.yaml\n'; cat "$c/crds/x.yaml"; echo; } >"$tap_dir/want"
    "$slipway" render "$c" --include-crds | diff -u "$tap_dir/want" -
}
t 'prints the files of crds/ as they are' prints_crds_as_they_are
with_notes() { # a chart whose NOTES.txt and its subchart's speak
    local c=$tap_dir/with-notes
    mkdir -p "$c/templates" "$c/charts/sub/templates"
    printf 'apiVersion: v2\nname: top\nversion: 1.0.0\n' >"$c/Chart.yaml"
    printf 'apiVersion: v2\nname: sub\nversion: 1.0.0\n' >"$c/charts/sub/Chart.yaml"
    printf '\n\n{{ .Release.Name }} is up\n\n' >"$c/templates/NOTES.txt"
    printf 'of {{ .Chart.Name }}\n' >"$c/charts/sub/templates/NOTES.txt"
    printf 'apiVersion: v1\nkind: A\nmetadata: {name: a}\n' >"$c/templates/a.yaml"
    "$slipway" render r1 "$c" "$@" | sed '1,/^metadata/d' | diff -u "$tap_dir/want" -
}
prints_notes() { # as helm install does
    printf 'NOTES:\nr1 is up\n' >"$tap_dir/want"
    with_notes --notes && with_notes --notes -s templates/a.yaml && : >"$tap_dir/want" && with_notes || return 1
    printf 'NOTES:\nof sub\n\n\n\nr1 is up\n' >"$tap_dir/want"
    with_notes --notes --render-subchart-notes
}
t 'prints NOTES.txt after the manifests, and those of subcharts' prints_notes
t 'takes --dry-run with a value behind = or without one' bash -c "$slipway render $ordered >$tap_dir/a && for d in --dry-run --dry-run=client --dry-run=true; do $slipway render \$d $ordered | cmp - $tap_dir/a || exit 1; done"
t 'refuses another --dry-run' fails 2 "'cluster' is not one of client|server|true|false|none" --dry-run=cluster $ordered
t 'takes files with commas between' bash -c "echo 'a: {b: 1}' >$tap_dir/1.yaml; echo 'a: {c: 2}' >$tap_dir/2.yaml; $slipway render $ordered -f $tap_dir/1.yaml,$tap_dir/2.yaml >$tap_dir/a && $slipway render $ordered -f $tap_dir/1.yaml -f $tap_dir/2.yaml | cmp - $tap_dir/a"
t 'refuses a Kubernetes version that is none' fails 2 "'nope' is no version" $ordered --kube-version nope
t 'tells help' bash -c "$slipway render --help | grep -q -- --output-dir"
plan
