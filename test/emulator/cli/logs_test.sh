# What the pods of a resource have written.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
export HOME=$tap_dir KUBECONFIG=$tap_dir/kubeconfig
emulator= follower=
trap 'for pid in $follower $emulator; do kill "$pid" 2>/dev/null; done; wait; rm -rf "$tap_dir"' EXIT
"$slipway" emulate --platform openshift --kubeconfig-out "$KUBECONFIG" >"$tap_dir/emulate.log" 2>&1 &
emulator=$!
until_ok 20 test -s "$KUBECONFIG"
"$slipway" run recipes/simple-kmod >"$tap_dir/run" 2>&1
logs() { "$slipway" logs "$@" >"$tap_dir/said" 2>"$tap_dir/errs"; }
has() { grep -qE -- "$1" "$tap_dir/$2" || { cat "$tap_dir/$2"; return 1; }; }
all() { logs simple-kmod && has '^\[simple-kmod-[^/]*/driver\] driver started$' said && has '/check\] check started$' said; }
t "each line is named by its pod and container" all
t "the logs of builds are among them" has '^\[simple-kmod-build-[^/]*-build/docker-build\] ' said
one() { logs simple-kmod driver-container && has '/driver\] ' said && ! grep -qv '/driver\] ' "$tap_dir/said"; }
t "of one state alone" one
by_name() { logs simple-kmod -c check && has '/check\] ' said && ! grep -qv '/check\] ' "$tap_dir/said"; }
t "of the containers of one name" by_name
unnamed() { logs simple-kmod -c nowhere; [ $? = 2 ] && has 'no container of that name that has a log' errs; }
t "a container that is not there" unnamed
wrong() { ! logs simple-kmod nowhere && has "no state 'nowhere'; it has driver-build, driver-container" errs; }
t "a state that is not there" wrong
previous() { logs simple-kmod --previous && has "no container that has a log" errs && [ ! -s "$tap_dir/said" ]; }
t "nothing ran before" previous
both() { ! logs simple-kmod -f --previous && has "exclude each other" errs; }
t "what ran before is not followed" both

# What is followed: what is written later, and pods that come later.
"$slipway" logs simple-kmod driver-container -f >"$tap_dir/followed" 2>&1 &
follower=$!
t "what was written before is printed first" until_ok 20 has '/driver\] driver started$' followed
ns=$(kubectl get specialresource simple-kmod -o jsonpath='{.spec.namespace}')
pod=$(sed -n 's|^\[\(simple-kmod-[^/]*\)/driver\] .*|\1|p' "$tap_dir/followed" | head -n 1)
writes() {
    kubectl -n "$ns" annotate pod "$pod" 'emulator.slipway.dev/log.driver=driver started
loaded' && until_ok 20 has "^\[$pod/driver\] loaded\$" followed
}
t "a line that is written later follows" writes
again() {
    local before
    before=$(grep -c '/driver\] driver started$' "$tap_dir/followed")
    kubectl -n "$ns" delete pod "$pod" --wait=false && until_ok 20 more "$before"
}
more() { [ "$(grep -c '/driver\] driver started$' "$tap_dir/followed")" -eq $(($1 + 1)) ]; }
t "a pod that comes later is followed, too" again
of_state() { ! grep -q build "$tap_dir/followed"; }
t "a state's alone, when one is named" of_state

# The server is cut off, and answers again.
relayed() {
    python3 test/emulator/cli/relay.py "${2:-0}" "$1" "$tap_dir/port" 2>"$tap_dir/relay.err" &
    relay=$!
    until_ok 20 test -s "$tap_dir/port"
}
cut_off() {
    local relay port server pod
    server=$(kubectl config view --minify -o 'jsonpath={.clusters[0].cluster.server}')
    pod=$(sed -n 's|^\[\(simple-kmod-[^/]*\)/driver\] driver started$|\1|p' "$tap_dir/followed" | tail -n 1)
    relayed "${server##*:}" || { cat "$tap_dir/relay.err"; return 1; }
    port=$(cat "$tap_dir/port")
    "$slipway" logs simple-kmod driver-container -f --server "http://127.0.0.1:$port" >"$tap_dir/cut" 2>"$tap_dir/cut.err" &
    echo $! >"$tap_dir/second.pid"
    until_ok 20 has "^\[$pod/driver\] driver started\$" cut || return 1
    kill "$relay"
    wait "$relay" 2>/dev/null
    until_ok 20 has "$pod/driver: it broke off, and is taken up again: ." cut.err || return 1
    kubectl -n "$ns" annotate --overwrite pod "$pod" 'emulator.slipway.dev/log.driver=driver started
written while nobody listened'
    relayed "${server##*:}" "$port" && until_ok 60 has "^\[$pod/driver\] written while nobody listened\$" cut || { cat "$tap_dir/cut.err"; return 1; }
    kubectl -n "$ns" annotate --overwrite pod "$pod" 'emulator.slipway.dev/log.driver=driver started
written while nobody listened
and later'
    until_ok 20 has "^\[$pod/driver\] and later\$" cut
    local rc=$?
    stop second
    kill "$relay"
    [ $rc -eq 0 ] && ! sort "$tap_dir/cut" | uniq -d | grep .
}
if command -v python3 >/dev/null; then
    t "a log that breaks off is taken up again, and no line comes twice" cut_off
else
    skip "a log that breaks off is taken up again, and no line comes twice" "no python3 here"
fi
gone() { "$slipway" uninstall simple-kmod --yes >"$tap_dir/uninstall" 2>&1 && until_ok 20 ended "$follower"; }
t "it ends when the resource is gone" gone
wait "$follower"; rc=$? follower=
t "and that is no failure" [ $rc -eq 0 ]
absent() { ! logs simple-kmod -f && has "not found" errs; }
t "a resource that is not there is not waited for" absent
plan
