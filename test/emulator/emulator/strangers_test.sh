# Who asks the emulator from another address than this machine's own may not make it take what the machine has.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/test/slipway}")
export KUBECONFIG=$tap_dir/kubeconfig
trap 'for p in "$tap_dir"/*.pid; do [ ! -f "$p" ] || kill "$(cat "$p")" 2>/dev/null; done; rm -rf "$tap_dir"' EXIT

start() {
    "$slipway" emulate --listen 0.0.0.0:0 --delays 0 --kubeconfig-out "$KUBECONFIG" >"$tap_dir/log" 2>&1 </dev/null &
    echo $! >"$tap_dir/emulator.pid"
    until_ok 20 test -s "$KUBECONFIG"
}
# a ConfigMap whose annotations have 20,000 empty objects in JSON, then the same as text of a value, then as YAML
bodies() {
    awk 'BEGIN {
        printf "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"tree\"},\"x\":["
        for (i = 0; i < 40000; i++) printf "{},"
        printf "{}]}"
    }' >"$tap_dir/tree.json"
    awk 'BEGIN {
        printf "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"text\"},\"data\":{\"x\":\"\\\""
        for (i = 0; i < 40000; i++) printf "{},"
        printf "\"}}"
    }' >"$tap_dir/text.json"
    awk 'BEGIN {
        print "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yaml}\ndata:"
        for (i = 0; i < 20000; i++) printf "  k%d: some text\n", i
    }' >"$tap_dir/yaml.yaml"
}
# post STATUS FILE TYPE [FROM]: as a new ConfigMap; the answer in $tap_dir/b
post() {
    local rc
    rc=$(curl -s -m 60 ${4:+--interface "$4"} -o "$tap_dir/b" -w '%{http_code}' -H "Content-Type: application/$3" \
        --data-binary @"$tap_dir/$2" "http://127.0.0.1:$port/api/v1/namespaces/default/configmaps")
    [ "$rc" = "$1" ] || { echo "$2 from ${4:-here}: $rc, not $1"; head -c 500 "$tap_dir/b"; return 1; }
}

t "it starts" start
port=$(kubectl config view --minify -o 'jsonpath={.clusters[0].cluster.server}')
port=${port##*:}
bodies

tree() { post 413 tree.json json 127.0.0.2 && grep -q '"reason":"RequestEntityTooLarge"' "$tap_dir/b" && grep -q "16 MiB" "$tap_dir/b"; }
t "JSON that is large when it is read is refused" tree
t "what only looks like it, within a text, is stored" post 201 text.json json 127.0.0.2
t "much YAML is refused" post 413 yaml.yaml yaml 127.0.0.2
own() { post 201 tree.json json && post 201 yaml.yaml yaml; }
t "clients on this machine may send both" own
plan
