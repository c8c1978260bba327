# The site of the documents: each page, heading and picture that a page links to is there, nothing is loaded from elsewhere,
# and commands and fields stand in its reference.
. test/tap.sh
slipway=${SLIPWAY_RELEASE:-build/slipway}
command -v mkdocs >/dev/null || { skip "the site of the documents" "no mkdocs here"; plan; exit; }
/usr/bin/env python3 -c 'import yaml' 2>/dev/null || { skip "the site of the documents" "no yaml for Python here"; plan; exit; }
site=$tap_dir/site

# planted TEXT: the site of a tree whose docs/faq.md ends with TEXT
planted() {
    rm -rf "$tap_dir/tree" && mkdir -p "$tap_dir/tree/build" || return 1
    git ls-files README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md docs recipes states charts deploy/crds hack/site.py |
        tar cf - -T - | tar xf - -C "$tap_dir/tree" || return 1
    for program in slipway slipway-device-plugin slipway-scheduler slipway-webhook; do
        ln -s "$(realpath "$(dirname "$slipway")/$program")" "$tap_dir/tree/build/$program" || return 1
    done
    printf '\n%s\n' "$1" >>"$tap_dir/tree/docs/faq.md"
    "$tap_dir/tree/hack/site.py" --out "$site"
}
refuses() { # TEXT MESSAGE
    local rc=0
    planted "$1" >"$tap_dir/said" 2>&1 || rc=$?
    cat "$tap_dir/said"
    [ $rc -eq 1 ] && grep -F "$2" "$tap_dir/said" >/dev/null
}
commands() {
    "$slipway" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\).*/\1/p' >"$tap_dir/names"
    [ -s "$tap_dir/names" ] || return 1
    while read -r name; do
        grep "id=\"slipway-$name\"" "$site/reference/commands.html" >/dev/null || { echo "no $name"; return 1; }
    done <"$tap_dir/names"
}
fields() {
    for field in spec.chart.repository.url 'spec.dependencies[].chart.name' status.conditions[].reason; do
        grep -F "<code>$field</code>" "$site/reference/fields.html" >/dev/null || { echo "no $field"; return 1; }
    done
}
source_linked() { grep 'href="https://example.com/tree/deploy/gitops' "$site/docs/operating.html" >/dev/null; }

export SOURCE_URL=https://example.com/tree
t "it is built, and each link leads somewhere" planted ""
t "each command is in the reference" commands
t "fields of the custom resources are, too" fields
t "what is no page is linked in the source" source_linked
t "search has an index of its own" test -s "$site/search/search_index.json"
t "a heading that is not there is named" refuses 'See [this](why.md#nothing-of-the-kind).' 'faq.html: why.html#nothing-of-the-kind: there is no such heading'
t "a picture from elsewhere is named" refuses '![](https://example.com/x.png)' 'https://example.com/x.png is loaded from elsewhere'
plan
