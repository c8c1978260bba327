# The version: one place says it, and every build of it is told apart; and what make install-programs installs.
. test/tap.sh
slipway=${SLIPWAY_RELEASE:-build/slipway}
chart=$(sed -n 's/^version: //p' charts/slipway/Chart.yaml)

tree() { # DIR: of the tree what the version needs
    mkdir -p "$1/hack" "$1/charts/slipway" && cp hack/version.sh "$1/hack" && cp charts/slipway/Chart.yaml "$1/charts/slipway"
}
in_git() { git -C "$1" -c user.name=t -c user.email=t@example.test "${@:2}" >/dev/null 2>&1; }
unpacked() { tree "$tap_dir/tar" && [ "$(GIT_CEILING_DIRECTORIES=$tap_dir "$tap_dir/tar/hack/version.sh")" = "$chart" ]; }
t "of a tree without git it is the chart's" unpacked
committed() {
    local dir=$tap_dir/repo commit
    tree "$dir" && git init -q "$dir" && in_git "$dir" add -A && in_git "$dir" commit -m one || return 1
    commit=$(git -C "$dir" rev-parse --short=8 HEAD)
    [ "$("$dir/hack/version.sh")" = "$chart+g$commit" ] && echo >>"$dir/charts/slipway/Chart.yaml" &&
        [ "$("$dir/hack/version.sh")" = "$chart+g$commit.dirty" ] && in_git "$dir" checkout . &&
        in_git "$dir" tag "v$chart" && [ "$("$dir/hack/version.sh")" = "$chart" ] &&
        in_git "$dir" tag -d "v$chart" && in_git "$dir" tag v99.0.0 && [ "$("$dir/hack/version.sh")" = "$chart+g$commit" ]
}
t "of a commit without the release's tag it has the commit" committed
told() {
    "$slipway" version | grep -qxE "slipway $chart(\\+g[0-9a-f]{8}(\\.dirty)?)?" && [ "$("$slipway" --version)" = "$("$slipway" version)" ] &&
        "$slipway" version -o json >"$tap_dir/v" && python3 - "$tap_dir/v" <<'P'
import json, sys
v = json.load(open(sys.argv[1]))
assert set(v) == {"version", "commit", "date", "compiler", "libraries", "kubernetes", "helm"}, v
assert v["libraries"]["json-c"] and v["libraries"]["libcurl"] and v["kubernetes"].startswith("v1.") and v["helm"].startswith("v3."), v
P
}
t "slipway version, and as JSON what it was built of" told

installed() {
    local root=$tap_dir/root
    make -s install-programs DESTDIR="$root" PREFIX=/usr || return 1
    for f in bin/slipway bin/slipway-webhook bin/slipway-scheduler bin/slipway-device-plugin share/man/man1/slipway.1 share/man/man1/slipway-run.1 \
        share/bash-completion/completions/slipway share/zsh/site-functions/_slipway share/fish/vendor_completions.d/slipway.fish; do
        [ -s "$root/usr/$f" ] || { echo "no $f"; return 1; }
    done
    [ "$("$root/usr/bin/slipway" version)" = "$("$slipway" version)" ] &&
        { ! command -v kubectl >/dev/null || PATH=$root/usr/bin:$PATH kubectl slipway version | grep -q '^slipway '; }
}
t "make install-programs installs programs, pages and completions, and kubectl slipway works" installed
definitions() {
    make -s install DESTDIR=/x 2>"$tap_dir/e"
    [ $? -ne 0 ] && grep -q "make install-programs" "$tap_dir/e" && ! make -s install PREFIX=/usr 2>/dev/null
}
t "make install takes neither DESTDIR nor PREFIX" definitions
plan
