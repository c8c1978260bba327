# The tutorial, as somebody follows it who copies its commands one after another: each prints what stands there.
. test/tap.sh
kubectl patch --help 2>/dev/null | grep subresource >/dev/null || { skip "the tutorial" "no kubectl of 1.24 or newer here"; plan; exit; }
mkdir "$tap_dir/bin" "$tap_dir/home"
ln -s "$(realpath "${SLIPWAY:-build/slipway}")" "$tap_dir/bin/slipway"
export PATH=$tap_dir/bin:$PATH HOME=$tap_dir/home SLIPWAY_TREE=$PWD
trap 'for job in $(jobs -p); do kill "$job" 2>/dev/null; done; wait; rm -rf "$tap_dir"' EXIT

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
            for (i = 2; i <= n; i++) {
                line = substr(line, length(pieces[i - 1]) + 1)
                at = index(line, pieces[i])
                if (pieces[i] != "" && !at) return 0
                if (at) line = substr(line, at)
            }
            return pieces[n] == "" || line == pieces[n]
        }
        BEGIN { while ((getline line < got) > 0) lines[++total] = line }
        $0 == "..." || $0 == "" { next }
        {
            do at++; while (at <= total && !fits(lines[at], $0))
            if (at > total) { print "not printed: " $0; exit 1 }
        }'
}

# follow N LINE: the command of file N.command, which stands at LINE of the tutorial; what it prints is that of N.expected
follow() {
    local rc=0
    : >"$tap_dir/got"
    eval "$(cat "$tap_dir/$1.command")" >"$tap_dir/got" 2>&1 </dev/null || rc=$?
    t "line $2: $(head -n 1 "$tap_dir/$1.command")" judge "$1" $rc
}
judge() { # a command whose output stands there says by that whether it went well
    cat "$tap_dir/got"
    if [ -s "$tap_dir/$1.expected" ]; then holds "$tap_dir/$1.expected" "$tap_dir/got"; else [ "$2" -eq 0 ] || { echo "exit $2"; false; }; fi
}

awk -v dir="$tap_dir" '
    /^```/ { on = /^```console/; next }
    !on { next }
    /^\$ / { file = dir "/" ++n ".command"; print substr($0, 3) >file; print n, NR >(dir "/commands"); printf "" >(dir "/" n ".expected"); next }
    /^> / { print substr($0, 3) >file; next }
    { print >(dir "/" n ".expected") }' docs/tutorial.md

cd "$tap_dir/home" || exit 1
while read -r n line <&3; do
    follow "$n" "$line"
    cd "$tap_dir/home" || exit 1
done 3<"$tap_dir/commands"
plan
