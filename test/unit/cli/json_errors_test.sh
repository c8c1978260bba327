# Where JSON is asked for there is a document on stdout, also where nothing could be done; the message on stderr stays.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
export KUBECONFIG=$tap_dir/none

is_document() { # EXIT TEXT ARGUMENT...: one document with the exit status and TEXT in its message, which stderr has, too
    local want=$1 text=$2 rc=0; shift 2
    "$slipway" "$@" >"$tap_dir/doc" 2>"$tap_dir/err" || rc=$?
    cat "$tap_dir/doc" "$tap_dir/err"
    [ $rc -eq "$want" ] && [ "$(jq -r .exit "$tap_dir/doc")" = "$want" ] && jq -r .message "$tap_dir/doc" >"$tap_dir/message" &&
        grep -qF -- "$text" "$tap_dir/message" && grep -qF -- "$(cat "$tap_dir/message")" "$tap_dir/err"
}
is_silent() { # ARGUMENT...: it fails, and stdout gets nothing
    ! "$slipway" "$@" >"$tap_dir/doc" 2>/dev/null && [ ! -s "$tap_dir/doc" ]
}

t "an unknown option" is_document 2 "unknown option '--bad'" run --bad -o json
t "the format as --output=json, before the wrong option" is_document 2 "unknown option '--bad'" status --output=json --bad
t "the format as -ojson" is_document 2 "unknown option '--bad'" plan -ojson --bad
t "a missing operand" is_document 2 "which SpecialResource?" tree -o json
t "a recipe that is not there" is_document 2 "no-such-recipe: No such file or directory" graph -o json no-such-recipe
t "no cluster to ask" is_document 2 "no cluster to talk to" status -o json
t "no cluster to explain" is_document 2 "no cluster to talk to" explain -o json gpu
t "no cluster with a history" is_document 2 "no cluster to talk to" history gpu -o json
t "text is asked for" is_silent status --bad -o text
t "what stands behind -- is no option" is_silent status -- -o json --bad
plan
