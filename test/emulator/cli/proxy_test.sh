# A proxy that lets nothing through is named, with its answer, and never with its password.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/test/slipway}")
export KUBECONFIG=$tap_dir/kubeconfig SLIPWAY_CACHE_DIR=$tap_dir/cache
unset http_proxy https_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY
trap 'for p in "$tap_dir"/*.pid; do [ ! -f "$p" ] || kill "$(cat "$p")" 2>/dev/null; done; rm -rf "$tap_dir"' EXIT
for status in 403 407 close hang; do
    python3 test/emulator/cli/proxy.py $status "$tap_dir/$status.port" & echo $! >"$tap_dir/$status.pid"
done
for status in 403 407 close hang; do until_ok 20 [ -s "$tap_dir/$status.port" ]; done
refusing=127.0.0.1:$(cat "$tap_dir/403.port") asking=127.0.0.1:$(cat "$tap_dir/407.port")

kubeconfig() { # PROXY
    cat <<YAML
apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://cluster.invalid:6443", proxy-url: "$1"}}]
users: [{name: u, user: {token: t}}]
YAML
}
says() { # TEXT COMMAND...
    local text=$1; shift
    ! "$@" >"$tap_dir/o" 2>&1; cat "$tap_dir/o"
    grep -qF -- "$text" "$tap_dir/o" && ! grep -q secret "$tap_dir/o"
}
of_kubeconfig() { kubeconfig "http://$refusing" >"$KUBECONFIG" && says "https://cluster.invalid:6443: the proxy http://$refusing refuses to connect (403)" "$slipway" status --timeout 2s; }
login() { kubeconfig "http://me:secret@$asking" >"$KUBECONFIG" && says "wants a login (407)" "$slipway" status --timeout 2s; }
down() { kubeconfig "http://127.0.0.1:1" >"$KUBECONFIG" && says "cannot connect to the proxy http://127.0.0.1:1: Connection refused" "$slipway" status --timeout 2s; }
in_a_walk() { kubeconfig "http://$refusing" >"$KUBECONFIG" && says "the proxy http://$refusing refuses to connect (403)" "$slipway" run states/nfd --stand-ins --timeout 3s; }
of_environment() { HTTPS_PROXY=http://me:secret@$refusing says "the proxy http://" "$slipway" fetch https://charts.invalid/a-1.0.0.tgz --fetch-timeout 2s && grep -qF "$refusing refuses to connect (403)" "$tap_dir/o"; }
unnamed() { HTTPS_PROXY=http://proxy.invalid:3128 says "the name of the proxy http://proxy.invalid:3128 cannot be resolved" "$slipway" fetch https://charts.invalid/a-1.0.0.tgz --fetch-timeout 2s; }
breaks_off() { # whatever it speaks
    local at
    at=127.0.0.1:$(cat "$tap_dir/close.port")
    for at in "http://$at" "socks5h://$at"; do
        HTTPS_PROXY=$at says "https://charts.invalid:443: the proxy $at did not connect to it: " "$slipway" fetch https://charts.invalid/a-1.0.0.tgz --fetch-timeout 2s || return 1
    done
}
hangs() {
    local at
    at=127.0.0.1:$(cat "$tap_dir/hang.port")
    for at in "http://$at" "socks5h://$at"; do
        HTTPS_PROXY=$at says "https://charts.invalid:443: no answer within 1 s through the proxy $at" "$slipway" fetch https://charts.invalid/a-1.0.0.tgz --fetch-timeout 1s || return 1
    done
}
socks_down() { HTTPS_PROXY=socks5://127.0.0.1:1 says "cannot connect to the proxy socks5://127.0.0.1:1: Connection refused" "$slipway" fetch https://127.0.0.2/a-1.0.0.tgz --fetch-timeout 2s; }
not_the_proxy() { kubeconfig "" | sed 's/, proxy-url: ""//; s/cluster.invalid:6443/127.0.0.1:1/' >"$KUBECONFIG" && HTTPS_PROXY=http://$refusing says "https://127.0.0.1:1: cannot connect: Connection refused" "$slipway" status --timeout 2s; }

t "the proxy of a kubeconfig" of_kubeconfig
t "one that wants a login" login
t "one that is down" down
t "before a walk" in_a_walk
t "the proxy of the environment" of_environment
t "one without an address" unnamed
t "one that breaks off" breaks_off
t "one that says nothing" hangs
t "one that speaks SOCKS and is down" socks_down
t "what fails without a proxy says nothing of one" not_the_proxy
plan
