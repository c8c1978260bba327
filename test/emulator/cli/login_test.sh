# Credentials by a program that the kubeconfig names (users' exec), as EKS, GKE and AKS have it.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/test/slipway}")
export KUBECONFIG=$tap_dir/kubeconfig
trap 'for p in "$tap_dir"/*.pid; do [ ! -f "$p" ] || kill "$(cat "$p")" 2>/dev/null; done; rm -rf "$tap_dir"' EXIT

login() { # LINES OF SHELL: the program; it counts its calls
    printf '#!/bin/sh\necho call >>"%s/calls"\n%s\n' "$tap_dir" "$1" >"$tap_dir/login"
    chmod +x "$tap_dir/login"
    : >"$tap_dir/calls"
}
answers() { # TOKEN [SECONDS]
    local until=
    [ -z "${2:-}" ] || until=",\"expirationTimestamp\":\"$(date -u -d "+$2 seconds" +%Y-%m-%dT%H:%M:%SZ)\""
    echo "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"$1\"$until}}'"
}
calls() { wc -l <"$tap_dir/calls"; }
with_login() { # ARGUMENTS...: of slipway, by the kubeconfig that names the program
    "$slipway" "$@" --kubeconfig "$tap_dir/by-login"
}

start() {
    emulated || return 1
    sed 's|^  user: {}$|  user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: ./login, installHint: ask the platform team, interactiveMode: IfAvailable}}|' \
        "$KUBECONFIG" >"$tap_dir/by-login" && grep -q 'command: ./login' "$tap_dir/by-login" || return 1
    login "$(answers slipway-admin-token)"
    with_login status
}
t "a cluster to log in to" start
once() { login "$(answers slipway-admin-token 3600)" && with_login status && [ "$(calls)" = 1 ]; }
t "the program is asked once for all requests" once
once_a_walk() { login "$(answers slipway-admin-token 3600)" && with_login run states/nfd --stand-ins --timeout 60s >"$tap_dir/o" 2>&1; cat "$tap_dir/o"; [ "$(calls)" = 1 ]; }
t "and once for a walk" once_a_walk
refused() {
    login "echo 'who are you?' >&2; exit 3"
    with_login status >"$tap_dir/o" 2>&1
    [ $? -eq 1 ] && grep -q 'who are you?' "$tap_dir/o" && grep -q "credentials by $tap_dir/./login: exit status 3" "$tap_dir/o"
}
t "what it says, and how it failed, is shown" refused
gone() {
    rm "$tap_dir/login"
    with_login status >"$tap_dir/o" 2>&1
    [ $? -ne 0 ] && grep -q "there is no such program" "$tap_dir/o" && grep -q "^ask the platform team" "$tap_dir/o"
}
t "one that is missing is told with its hint" gone
ones_own() {
    login "exit 3"
    with_login status --token slipway-admin-token && [ "$(calls)" = 0 ]
}
t "--token does without it" ones_own
elsewhere() { # --server, --as
    login "$(answers slipway-admin-token)"
    server=$(sed -n 's/^ *server: //p' "$KUBECONFIG")
    sed 's|^    server: .*|    server: http://127.0.0.1:1|' "$tap_dir/by-login" >"$tap_dir/nowhere"
    "$slipway" status --kubeconfig "$tap_dir/nowhere" --server "$server" && "$slipway" status --kubeconfig "$tap_dir/nowhere" --server "$server" --as jane --as-group a,b --request-timeout 5s &&
        ! "$slipway" status --kubeconfig "$tap_dir/nowhere" --timeout 300ms 2>/dev/null && ! "$slipway" status --user nobody 2>"$tap_dir/o" && grep -q "no user is called 'nobody'" "$tap_dir/o"
}
t "--server, --as and --user win over the kubeconfig" elsewhere
plan
