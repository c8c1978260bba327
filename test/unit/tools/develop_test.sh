# What a developer uses beside build and test: `make help` lists every target, `make fmt` changes
# nothing, compile_commands.json holds every C source, `make lint`
# looks at what has changed.
. test/tap.sh

# targets of other targets, which nobody types
internal='all test-programs bench-programs fuzz-programs generated install-deps'

help_lists_all() {
    local bad=0 t
    make -s help >"$tap_dir/help"
    # .PHONY rows, continued lines joined, those of templates (define ... endef) aside
    sed '/^define /,/^endef/d' Makefile make/*.mk | sed -e ':a' -e '/\\$/N; s/\\\n//; ta' |
        sed -n 's/^\.PHONY: //p' | tr ' ' '\n' | sed '/^$/d; /[$%]/d' | sort -u >"$tap_dir/targets"
    [ "$(wc -l <"$tap_dir/targets")" -gt 40 ] || { echo "only $(wc -l <"$tap_dir/targets") targets found"; bad=1; }
    while read -r t; do
        case " $internal " in *" $t "*) continue ;; esac
        grep -q "^  $t " "$tap_dir/help" || { echo "make help does not list $t"; bad=1; }
    done <"$tap_dir/targets"
    return $bad
}


commands_hold_all() {
    make -s compile_commands.json
    python3 - <<'PY'
import json, os, pathlib, shlex, sys
rows = json.load(open("compile_commands.json"))
have = {r["file"] for r in rows}
want = {str(p) for top in ("src", "test") for p in pathlib.Path(top).rglob("*.c")}
for r in rows:
    words = shlex.split(r["command"])
    assert words[-2:] == ["-c", r["file"]] and os.path.samefile(r["directory"], "."), r
sys.exit(f"not in it: {want - have}; gone: {have - want}" if want != have else 0)
PY
}

fmt_refuses_others() { # another version formats otherwise
    printf '#!/bin/sh\necho "clang-format version 3.9.0"\n' >"$tap_dir/other" && chmod +x "$tap_dir/other"
    ! CLANG_FORMAT=$tap_dir/other hack/format.sh && CLANG_FORMAT=$tap_dir/other hack/format.sh --check
}

lints_what_changed() {
    local repo=$tap_dir/repo
    mkdir -p "$repo/hack" "$repo/src/low/deep" && cp hack/lint.sh "$repo/hack" && cd "$repo" || return 1
    export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@a
    touch src/low/{same,committed,edited,twin,user}.c src/low/deep/{twin,gone}.c src/low/twin.h
    echo '#include "low/types.h"' >src/low/user.c
    touch src/low/types.h
    git init -q -b main && git add . && git commit -qm one && git checkout -qb mine || return 1
    echo 'int a;' >src/low/committed.c && git add . && git commit -qm two || return 1
    echo 'int a;' >src/low/edited.c
    echo 'int a;' >src/low/deep/new.c
    echo 'int a;' >>src/low/twin.h
    echo 'int a;' >>src/low/types.h
    rm src/low/deep/gone.c
    diff <(printf 'src/low/%s.c\n' committed deep/new edited twin user) <(hack/lint.sh --list)
}

t "make lint looks at what has changed, headers through a file that includes them" lints_what_changed
t "make help lists every target" help_lists_all
if git rev-parse --git-dir >/dev/null 2>&1; then
    t "make fmt changes nothing" hack/format.sh --check
    t "make fmt refuses other versions of clang-format, the check skips them" fmt_refuses_others
else
    skip "make fmt changes nothing" "not a git checkout"
fi
t "compile_commands.json holds every C source" commands_hold_all
plan
