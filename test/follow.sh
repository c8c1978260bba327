# follow.sh: sourced by tests that follow a document as somebody does who copies its commands one after another. Blocks marked
# `console` have commands (`$ `; lines that begin with `> ` go on with one), and below each what it prints.
mkdir "${tap_dir:?}/bin"
ln -s "$(realpath "${SLIPWAY:-build/slipway}")" "$tap_dir/bin/slipway"
export PATH=$tap_dir/bin:$PATH
tree=$PWD
ends() { for job in $(jobs -p); do kill "$job" 2>/dev/null; done; wait; }
trap 'ends; rm -rf "$tap_dir"' EXIT

# Times, ages and the ends of pods' names are other ones each time; `...` is any text.
comparable() { sed -E 's/[0-9]+(\.[0-9]+)?(ms|s|m[0-9]*s?)\b/TIME/g; s/<?TIME/TIME/g; s/[[:space:]]+/ /g; s/ $//'; }

# holds EXPECTED GOT: the lines of EXPECTED are in GOT, in their order
holds() {
    comparable <"$2" >"$tap_dir/printed"
    comparable <"$1" | awk -v got="$tap_dir/printed" '
        function fits(line, expected,   n, pieces, i, at) {
            n = split(expected, pieces, / ?\.\.\. ?/)
            if (n == 1) return line == expected
            if (substr(line, 1, length(pieces[1])) != pieces[1]) return 0
            line = substr(line, length(pieces[1]) + 1)
            for (i = 2; i < n; i++) {
                if (!(at = index(line, pieces[i]))) return 0
                line = substr(line, at + length(pieces[i]))
            }
            at = length(line) - length(pieces[n])
            return at >= 0 && substr(line, at + 1) == pieces[n]
        }
        BEGIN { while ((getline line < got) > 0) lines[++total] = line }
        $0 == "..." || $0 == "" { next }
        {
            do at++; while (at <= total && !fits(lines[at], $0))
            if (at > total) { print "not printed: " $0; exit 1 }
        }'
}

# follow FILE: each command of this document is a test, named by its line; they run in a folder of their own, which is HOME
follow() {
    local dir=$tap_dir/$1 n line
    mkdir -p "$dir/home" || exit 1
    unset SLIPWAY_TREE # but for who was told to set it
    ! grep -q '`SLIPWAY_TREE` names the folder' "$1" || export SLIPWAY_TREE=$tree
    awk -v dir="$dir" '
        /^```/ { on = /^```console/; next }
        !on { next }
        /^\$ / { file = dir "/" ++n ".command"; print substr($0, 3) >file; print n, NR >(dir "/commands"); printf "" >(dir "/" n ".expected"); next }
        /^> / { print substr($0, 3) >file; next }
        { print >(dir "/" n ".expected") }' "$1"
    t "$1 has commands" test -s "$dir/commands"
    # shellcheck disable=SC2016
    t "$1 wants no job by its number, which dash without a terminal does not know" eval '! cat "$dir"/*.command | grep -E "(kill|fg|wait) %"'
    export HOME=$dir/home
    while read -r n line <&3; do
        cd "$HOME" || exit 1
        line_of "$1" "$dir/$n" "$line"
    done 3<"$dir/commands"
    cd "$tree" || exit 1
    ends
    unset KUBECONFIG
}
# line_of DOCUMENT FILES LINE: runs FILES.command, in this shell; what it prints is that of FILES.expected
line_of() {
    local rc=0
    : >"$tap_dir/got"
    eval "$(cat "$2.command")" >"$tap_dir/got" 2>&1 </dev/null || rc=$?
    t "$1:$3: $(head -n 1 "$2.command")" judge "$2" $rc
}
judge() { # a command whose output stands there says by that whether it went well
    cat "$tap_dir/got"
    if [ -s "$1.expected" ]; then holds "$1.expected" "$tap_dir/got"; else [ "$2" -eq 0 ] || { echo "exit $2"; false; }; fi
}
