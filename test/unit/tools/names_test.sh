# hack/names.py on the tree, and on a small one: words that stand for something else in the field are
# found in the names of files, types and functions, and nowhere else.
. test/tap.sh
tree=$tap_dir/tree

grow() {
    rm -rf "$tree"
    mkdir -p "$tree/src/low"
    cat >"$tree/src/low/low.c" <<'C'
/* the roster is a picture of the hub */
#include "low/hub_not_there.h"
struct low {
    int roster; /* a member is no type */
};
static const char *const text = "struct roster {";
int low_overlook(struct roster *roster)
{
    int hub = low_lookup(roster);
    return hub_ask(hub);
}
C
    : >"$tree/names.todo"
}
names() { python3 hack/names.py --src "$tree/src" --todo "$tree/names.todo"; }
fails() { # LINE
    local got
    if got=$(names); then
        echo "passed: $got"
        return 1
    fi
    diff <(echo "$1") <(echo "$got")
}
plant() { # TEXT LINE: the text, at the end of the file, is this fault and no other
    grow
    printf '%b\n' "$1" >>"$tree/src/low/low.c"
    fails "$2"
}
of_file() {
    grow
    touch "$tree/src/low/low_tape.c"
    fails "src/low/low_tape.c: low_tape: not 'tape' but recording"
}
in_list() {
    grow
    printf '/* */\nenum verdict { A };\n' >"$tree/src/low/v.h"
    echo verdict >"$tree/names.todo"
    names
}
gone() {
    grow
    echo verdict >"$tree/names.todo"
    fails "$tree/names.todo: verdict is gone: take it out"
}

t "names in src/ are the field's words" python3 hack/names.py
grow
t "only names of files, types and functions count, and whole words" names
t "a file" of_file
t "a struct" plant 'struct low_hub {' "src/low/low.c:12: low_hub: not 'hub' but informer"
t "an enum" plant 'enum verdict { A, B };' "src/low/low.c:12: verdict: not 'verdict' but readiness"
t "a typedef" plant 'typedef int patience_fn(int a);' "src/low/low.c:12: patience_fn: not 'patience' but deadline, retries"
t "a function" plant 'static int\nlow_blame(int (*fn)(int),\n    int b)\n{\n}' "src/low/low.c:13: low_blame: not 'blame' but container logs"
t "a prototype" plant 'bool let_go(int a);' "src/low/low.c:12: let_go: not 'let_go' but release, close"
t "one that is still to be changed" in_list
t "one that is not there any more, still listed" gone
plan
