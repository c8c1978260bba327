# The reference names all that the source does: reasons of Events, types of conditions, variables of the environment, annotations and labels.
. test/tap.sh
page=docs/conditions.md

# missing FOLDER-OR-FILE...: which of the names on standard input they do not have
missing() {
    local name bad=0 n=0
    while read -r name; do
        n=$((n + 1))
        grep -rwqF -- "$name" "$@" || { echo "not there: $name"; bad=1; }
    done
    [ $n -gt 0 ] && [ $bad -eq 0 ]
}
sources() { find "$@" -name '*.c' -o -name '*.h'; }
events() {
    # (a call may go on in the next line)
    sources src/operator | xargs cat | tr '\n' ' ' |
        grep -oE '(act_event\([^";]*|node_event_new\([^";]*|[^a-z_]warn\([a-z]+, *|reason = )"[A-Z][A-Za-z]+"' | sed 's/.*"\(.*\)"/\1/' | sort -u
    grep -ohE '"State[A-Z][A-Za-z]+"' src/operator/engine/transitions.c src/operator/controller/events.c | tr -d '"' | sort -u
}
conditions() { sed -n '/^#define [A-Z_]* "[A-Z][a-zA-Z]*"$/s/.*"\(.*\)"/\1/p; s/^ *\[SW_PHASE_[A-Z]*\] = { "\([A-Z][a-z]*\)".*/\1/p' src/operator/engine/status.c; }
variables() { sources src | xargs grep -ohE 'getenv\("[A-Z_]+"\)' | sed 's/.*"\(.*\)".*/\1/' | grep -v '^SLIPWAY_TEST_' | sort -u; }
marks() { sources src/operator src/slicing | xargs grep -ohE '(slipway\.dev|specialresource\.openshift\.io)/[a-z-]+[a-z]' | sort -u; }
enough() { [ "$("$1" | wc -l)" -ge "$2" ] || { "$1"; return 1; }; }

t "reasons of Events" eval 'events | missing $page'
t "types of conditions" eval 'conditions | missing $page'
t "variables of the environment" eval 'variables | missing $page'
t "annotations and labels" eval 'marks | missing docs states recipes'
t "they are found in the source" eval 'enough events 35 && enough conditions 5 && enough variables 30 && enough marks 50'
t "one that the page does not have is told" eval '! echo NobodySaysThis | missing $page'
plan
