# hack/docs.py on the tree, and on a small one with a fault of each kind planted: each is one line,
# which says where and what.
. test/tap.sh
tree=$tap_dir/tree

grow() {
    rm -rf "$tree"
    mkdir -p "$tree/src/low" "$tree/docs" "$tree/test/unit/low"
    printf 'int low_one(void)\n{\n    return low_two();\n}\n' >"$tree/src/low/low.c"
    touch "$tree/test/unit/low/low_test.c"
    printf '# Low\n\nA **thing**, see [the map](docs/architecture.md).\n' >"$tree/README.md"
    printf '# Map\n\n`low_one()` (`low/low.c`) calls `low_two()`. More is in `src/low`.\n' >"$tree/docs/architecture.md"
    printf '# Compatibility\n\n**Things** are kept: low_test, `test/unit/low/low_test.c`\n' >"$tree/docs/compatibility.md"
    printf '# Glossary\n\nEvery term.\n\n- **other**: not it ([low](https://low.example/))\n- **thing**: what is ([map](architecture.md))\n' >"$tree/docs/glossary.md"
}
documents() { python3 hack/docs.py --root "$tree"; }
fails() { # LINE: the small tree has this fault and no other
    local got
    if got=$(documents); then
        echo "passed: $got"
        return 1
    fi
    diff <(echo "$1") <(echo "$got")
}
plant() { # FILE SED LINE
    grow
    sed -i "$2" "$tree/$1"
    fails "$3"
}

t "the tree's documents speak of what is there" python3 hack/docs.py
grow
t "those of a small tree do" documents
t "a path that is not there" plant docs/architecture.md 's|src/low|src/high|' 'docs/architecture.md:3: src/high is not there'
t "a path below src/ that is not there" plant docs/architecture.md 's| More|More of `low/high.c`.&|' 'docs/architecture.md:3: src/low/high.c is not there'
t "a link that leads nowhere" plant README.md 's|architecture|plan|' 'README.md:3: the link to docs/plan.md leads nowhere'
t "a function that is not there" plant docs/architecture.md 's/low_two/low_three/' 'docs/architecture.md:3: no function low_three() in src/'
t "a test that is not there" plant docs/compatibility.md 's/: low_test/: high_test/' 'docs/compatibility.md:3: there is no test high_test'
t "a bold term that the glossary has not" plant README.md 's/thing/word/' 'README.md:3: **word** is not in docs/glossary.md'
t "a term without a link" plant docs/glossary.md 's/ (\[low\].*//' 'docs/glossary.md:5: other has no link'
t "a term that stands twice" plant docs/glossary.md '6p' 'docs/glossary.md:7: thing stands here twice'
t "a term out of its place" plant docs/glossary.md 's/other/yonder/' 'docs/glossary.md:6: thing stands after yonder'
grow_targets() { printf 'all: ## build\nmore:\n' >"$tree/Makefile"; }
target() { # TEXT FAULT
    grow && grow_targets
    mkdir -p "$tree/states/a" && printf '# A\n\n%s\n' "$1" >"$tree/states/a/README.md"
    if [ -n "$2" ]; then fails "$2"; else documents; fi
}
# shellcheck disable=SC2016
t "a target of make that its help does not list" target 'Run `make TAG=v1 more`.' 'states/a/README.md:3: make help does not list more'
# shellcheck disable=SC2016
t "one that it lists, with variables" target 'Run `make TAG=v1 all IMG=a/b:c`.' ''
t "a page that does not begin with what it is for" plant docs/compatibility.md '3s/.*/## Things/' 'docs/compatibility.md:3: a page begins with what it is for'
plan
