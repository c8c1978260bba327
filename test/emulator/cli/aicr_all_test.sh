# make test-aicr (hack/test-aicr.sh) ends with one line of counts, and with a failure where something failed: also where one of
# its tests ended before it had told of all.
. test/tap.sh
all() { SLIPWAY=$PWD/build/test/slipway SW_SHARED=$1 hack/test-aicr.sh; }
none() { # nothing to be walked here
    all "$tap_dir" >"$tap_dir/said" && [ "$(tail -n 1 "$tap_dir/said")" = "0 passed, 0 failed, 2 skipped" ] || { cat "$tap_dir/said"; return 1; }
}
broken() { # a folder without charts
    mkdir -p "$tap_dir/broken/aicr/resolved" && ! all "$tap_dir/broken" >"$tap_dir/said" 2>&1 && [ "$(tail -n 1 "$tap_dir/said")" = "0 passed, 2 failed, 0 skipped" ] || { cat "$tap_dir/said"; return 1; }
}
listed() { make help | grep 'test-aicr  *walk'; }
t "where there are no recipes both tests are skipped" none
t "where a test ends early that counts as a failure" broken
t "make help names it" listed
plan
