# The moving picture of the README: it is what its recording gives, and the program walks what was recorded.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}

differs() { # SED FILE MESSAGE: a tree in which FILE was changed
    rm -rf "$tap_dir/tree" && mkdir -p "$tap_dir/tree/hack" "$tap_dir/tree/docs" && cp hack/walk.py "$tap_dir/tree/hack" &&
        cp docs/walk.txt docs/walk.svg "$tap_dir/tree/docs" && ln -s "$PWD/recipes" "$PWD/states" "$tap_dir/tree" && cd "$tap_dir/tree" || return 1
    sed -i "$1" "$2"
    local rc=0
    hack/walk.py --check $4 >said || rc=$?
    cat said
    [ $rc -eq 1 ] && grep -Fx "$3" said >/dev/null
}
ends_as() { [ "$(tail -n 1 docs/walk.svg)" = '</svg>' ] && [ "$(wc -c <docs/walk.svg)" -lt 60000 ] && ! grep -E '(href|url\(|<script|<image)' docs/walk.svg; }

t "the picture is of today's walk" hack/walk.py --check "$slipway"
t "it is small, and loads nothing" ends_as
t "a picture that is older than its recording is told" differs 's/Ready 1/Ready 2/' docs/walk.svg 'docs/walk.svg is not what docs/walk.txt gives: hack/walk.py'
t "a state that nobody walks any more is told" differs 's/state nfd: /state old: /' docs/walk.txt 'docs/walk.txt: state old with 4 objects is gone: make walk' "$(realpath "$slipway")"
plan
