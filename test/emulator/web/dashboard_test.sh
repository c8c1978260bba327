# slipway dashboard, asked by curl: who gets what, with which headers, and what comes as it changes.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/test/slipway}")
export KUBECONFIG=$tap_dir/kubeconfig
trap 'for p in "$tap_dir"/*.pid; do [ ! -f "$p" ] || kill "$(cat "$p")" 2>/dev/null; done; rm -rf "$tap_dir"' EXIT

# serving NAME ARGUMENTS...: a dashboard; its address in $url, its token in $token
serving() {
    local name=$1
    shift
    "$slipway" dashboard "$@" >"$tap_dir/$name.url" 2>"$tap_dir/$name.log" </dev/null &
    echo $! >"$tap_dir/$name.pid"
    until_ok 30 test -s "$tap_dir/$name.url"
}
address() { # NAME
    url=$(cat "$tap_dir/$1.url")
    token=${url#*#token=} url=${url%%/#*}
}
# got STATUS ARGUMENTS...: of curl; headers in $tap_dir/h, body in $tap_dir/b
got() {
    local want=$1 rc
    shift
    rc=$(curl -s -m 20 -o "$tap_dir/b" -D "$tap_dir/h" -w '%{http_code}' "$@")
    [ "$rc" = "$want" ] || { echo "$*: $rc, not $want"; cat "$tap_dir/h" "$tap_dir/b"; return 1; }
}
has() { grep -qF -- "$1" "$tap_dir/b" || { echo "not there: $1"; head -c 2000 "$tap_dir/b"; return 1; }; }
header() { tr -d '\r' <"$tap_dir/h" | grep -qixF -- "$1" || { echo "no header: $1"; cat "$tap_dir/h"; return 1; }; }
recipe() { # NAME OBJECT
    mkdir -p "$tap_dir/$1/templates"
    printf 'apiVersion: v2\nname: %s\nversion: 0.1.0\n' "$1" >"$tap_dir/$1/Chart.yaml"
    printf '%s\n' "$2" >"$tap_dir/$1/templates/0000-a.yaml"
}

start() {
    emulated --listen 127.0.0.1:0 && serving page --no-open && address page &&
        case $url in http://127.0.0.1:*) ;; *) return 1 ;; esac && [ ${#token} -ge 40 ]
}
t "it prints an address of loopback with a token" start
address page

page() {
    got 200 "$url/" && has '<script type="module" src="app.js">' && header 'Content-Type: text/html; charset=utf-8' &&
        header "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; form-action 'none'" &&
        header 'X-Content-Type-Options: nosniff' && header 'Referrer-Policy: no-referrer' && header 'Cache-Control: no-store' &&
        ! has "$token" >/dev/null
}
t "the page comes with a strict policy, and without the token" page
files() {
    local f
    for f in src/web/page/*; do
        got 200 "$url/${f##*/}" && cmp "$tap_dir/b" "$f" && grep -qi '^content-security-policy: ' "$tap_dir/h" || return 1
    done
    got 404 "$url/../web.c" --path-as-is && got 404 "$url/none.js"
}
t "each file is served as it is, and no other" files
markup() {
    ! grep -nE 'innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|new Function|https?://(?!www\.w3\.org)' -P src/web/page/*.js src/web/page/*.html src/web/page/*.css &&
        [ "$(cat src/web/page/* | wc -c)" -lt 200000 ]
}
t "no file parses markup or names another server, and all are below 200 KB" markup

strangers() {
    got 401 "$url/api/snapshot" && header 'WWW-Authenticate: Bearer' && got 401 "$url/api/events" && got 401 "$url/api/log" &&
        got 401 -H "Authorization: Bearer ${token%?}x" "$url/api/snapshot" && got 401 -H "Authorization: Bearer " "$url/api/snapshot" &&
        got 401 -H "Authorization: Basic $token" "$url/api/snapshot" && got 401 "$url/api/snapshot?token=$token" &&
        got 200 -H "Authorization: Bearer $token" "$url/api/snapshot" && header 'Content-Type: application/json'
}
t "data is for who has the token" strangers
rebinding() {
    local port=${url##*:}
    got 421 -H "Host: attacker.example:$port" "$url/" && got 421 -H "Host: attacker.example" -H "Authorization: Bearer $token" "$url/api/snapshot" &&
        got 421 -H 'Host: 127.0.0.1' "$url/" && got 421 -H 'Host:' "$url/" && got 200 -H "Host: localhost:$port" "$url/"
}
t "another Host than loopback's is refused" rebinding
methods() {
    local m
    for m in POST PUT PATCH DELETE OPTIONS; do
        got 405 -X $m -H "Authorization: Bearer $token" "$url/api/snapshot" && header 'Allow: GET, HEAD' || return 1
    done
    got 200 -I "$url/"
}
t "nothing but GET and HEAD" methods
logs() {
    kubectl create namespace other && kubectl run well -n other --image=x && kubectl wait -n other --for=condition=Ready pod/well &&
        kubectl logs -n other well >"$tap_dir/l" && got 200 -H "Authorization: Bearer $token" "$url/api/log" && [ ! -s "$tap_dir/b" ] &&
        got 200 -H "Authorization: Bearer $token" "$url/api/log?namespace=other&pod=well&container=well" && [ ! -s "$tap_dir/b" ] &&
        got 404 -H "Authorization: Bearer $token" "$url/api/none"
}
t "no log but of pods that are shown" logs

stream() { # starts it: its messages in $tap_dir/s
    : >"$tap_dir/s"
    curl -sN -H "Authorization: Bearer $token" -D "$tap_dir/sh" "$url/api/events" >"$tap_dir/s" 2>/dev/null &
    echo $! >"$tap_dir/stream.pid"
    until_ok 10 grep -q '^event: synced' "$tap_dir/s"
}
live() {
    stream && grep -qi '^content-type: text/event-stream' "$tap_dir/sh" && grep -q '^event: reset' "$tap_dir/s" &&
        until_ok 10 grep -qF '["node","/gpu-0",{' "$tap_dir/s" || return 1
    recipe good 'apiVersion: v1
kind: ConfigMap
metadata: {name: c}'
    "$slipway" run "$tap_dir/good" >/dev/null 2>&1 && until_ok 10 grep -q '"resource","/good",.*"phase":"Ready"' "$tap_dir/s" &&
        until_ok 10 grep -q '"event",.*"of":"good"' "$tap_dir/s" && until_ok 10 grep -q '"good-0000":"Ready"' "$tap_dir/s"
}
t "changes come by themselves: resources, nodes' labels, Events" live
gone() {
    kubectl delete specialresource good --wait=false && until_ok 10 grep -qF '["resource","/good",null]' "$tap_dir/s"
}
t "what is deleted is said" gone
secrets() {
    kubectl create secret generic hidden --from-literal=password=correct-horse &&
        got 200 -H "Authorization: Bearer $token" "$url/api/snapshot" && ! grep -q 'correct-horse\|"hidden"' "$tap_dir/b" "$tap_dir/s"
}
t "no Secret is read" secrets

restart() {
    local port
    port=$(kubectl config view --minify -o 'jsonpath={.clusters[0].cluster.server}')
    port=${port##*:}
    stop emulated && until_ok 20 grep -q '^data: .*"down":"' "$tap_dir/s" || return 1
    : >"$tap_dir/s.after"
    emulated --listen "127.0.0.1:$port" || return 1
    until_ok 40 eval 'tail -n 5 "$tap_dir/s" | grep "^data: {" | tail -n 1 | grep -vq "\"down\""' &&
        got 200 -H "Authorization: Bearer $token" "$url/api/snapshot" && has '"/gpu-0"' && ! grep -q '"down"' "$tap_dir/b" &&
        kill -0 "$(cat "$tap_dir/stream.pid")"
}
t "the API server's restart is said, and survived by the stream" restart

ends() {
    local pid
    pid=$(cat "$tap_dir/page.pid")
    kill -TERM "$pid" && until_ok 20 ended "$pid" && rm "$tap_dir/page.pid" && until_ok 10 ended "$(cat "$tap_dir/stream.pid")" && rm "$tap_dir/stream.pid" &&
        ! grep Sanitizer "$tap_dir/page.log"
}
t "SIGTERM ends it, with its streams" ends

# opened COMMAND: in a terminal of its own, whose shell is ended
opened() {
    rm -rf "$tap_dir/run" "$tap_dir/arguments"
    mkdir -p "$tap_dir/bin" "$tap_dir/run"
    printf '#!/bin/sh\nls -ld "$1" "${1%%/*}" >"%s/modes"; cp "$1" "%s/handed"; echo "$*" >"%s/arguments"\n' "$tap_dir" "$tap_dir" "$tap_dir" >"$tap_dir/bin/xdg-open"
    chmod +x "$tap_dir/bin/xdg-open"
    PATH=$tap_dir/bin:$PATH DISPLAY=:9 XDG_RUNTIME_DIR=$tap_dir/run SHELL=/bin/sh script -qec "$1" "$tap_dir/terminal" >/dev/null 2>&1 </dev/null &
    echo $! >"$tap_dir/script.pid"
    until_ok 20 test -s "$tap_dir/arguments" && pkill -TERM -P "$(cat "$tap_dir/script.pid")" && until_ok 20 ended "$(cat "$tap_dir/script.pid")" && rm "$tap_dir/script.pid" || return 1
    grep -q 'url=http://127.0.0.1:[0-9]*/#token=[0-9a-f]*"' "$tap_dir/handed" && ! grep -q token "$tap_dir/arguments" &&
        [ "$(cut -c1-10 "$tap_dir/modes" | LC_ALL=C sort | paste -sd' ')" = '-rw------- drwx------' ] && until_ok 20 eval '[ -z "$(ls "$tap_dir/run")" ]'
}
if command -v script >/dev/null; then
    t "a browser is handed a file that others cannot read, not the token" opened "exec '$slipway' dashboard"
    t "the file is removed too when the terminal goes away" opened "'$slipway' dashboard; exit"
else
    skip "a browser is handed a file" "there is no script(1)"
fi

walked() {
    KUBECONFIG=$tap_dir/none serving walk --no-open --emulate --delays 0 recipes/nvidia-mig && address walk &&
        until_ok 60 eval 'got 200 -H "Authorization: Bearer $token" "$url/api/snapshot" && grep -q "All states are ready" "$tap_dir/b"' >/dev/null && stop walk
}
t "--emulate walks a recipe on a cluster of its own" walked
usage() {
    local n=0 line
    while read -r line; do
        # shellcheck disable=SC2086
        "$slipway" dashboard --no-open $line >"$tap_dir/o" 2>&1 </dev/null
        [ $? = 2 ] || { echo "$line: not refused"; cat "$tap_dir/o"; return 1; }
        n=$((n + 1))
    done <<'EOF'
recipes/nvidia-mig
--nodes 3
--emulate --context other recipes/nvidia-mig
--port 65536
--port -1
--emulate recipes/none
EOF
    [ $n = 6 ]
}
t "what cannot be meant is refused" usage
plan
