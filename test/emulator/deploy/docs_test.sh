# Every command that the documentation shows works: blocks marked `sh` in README.md, docs/ and the
# READMEs of recipes, states and charts. `make X` must be a target of `make help`; `slipway ...` and
# `build/slipway ...` are run and must succeed, unless the line ends in `# needs a cluster` or `# needs a network`.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}

commands() { # FILE: its commands, one a line
    awk '/^```sh/ { on = 1; next } /^```/ { on = 0 } on' "$1" | sed 's/^\$ //' | grep -E '^(make|build/slipway|slipway|hack/)' || true
}

make -s help >"$tap_dir/help"
is_target() {
    grep -q "^  $1 " "$tap_dir/help"
}

run_it() { # COMMAND LINE
    local line=$1
    line=${line#build/}
    # the sanitizer build, and no waiting
    line=$(sed 's/--emulate/--emulate --delays 0/' <<<"${line#slipway }")
    eval "timeout 120 $slipway $line"
}

for f in README.md CONTRIBUTING.md $(git ls-files 'docs/*.md' 'recipes/*.md' 'states/*.md' 'charts/*.md'); do
    while IFS= read -r line; do
        case $line in
        *'# needs a cluster'* | *'# needs a network'*) continue ;;
        make\ *) t "$f: $line" is_target "$(awk '{ print $2 }' <<<"$line")" ;;
        make) ;;
        hack/*) t "$f: $line is there" test -x "${line%% *}" ;;
        *) t "$f: $line" run_it "${line%%#*}" ;;
        esac
    done < <(commands "$f")
done
plan
