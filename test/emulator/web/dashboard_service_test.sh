# The page from the controller: off by default, by HTTPS, for whom the API server lets get /dashboard, and nothing is
# watched while nobody has it open.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/test/slipway}")
export KUBECONFIG=$tap_dir/kubeconfig
trap 'for p in "$tap_dir"/*.pid; do [ ! -f "$p" ] || kill "$(cat "$p")" 2>/dev/null; done; rm -rf "$tap_dir"' EXIT

# got STATUS TOKEN PATH ARGUMENTS...: of curl; headers in $tap_dir/h, body in $tap_dir/b
got() {
    local want=$1 token=$2 path=$3 rc
    shift 3
    rc=$(curl -sk -m 20 -o "$tap_dir/b" -D "$tap_dir/h" -w '%{http_code}' -H "Authorization: Bearer $token" "$@" "https://127.0.0.1:$(cat "$tap_dir/port")$path")
    [ "$rc" = "$want" ] || { echo "$path $*: $rc, not $want"; cat "$tap_dir/h" "$tap_dir/b"; return 1; }
}
api() { # METHOD PATH BODY
    curl -sf -X "$1" -H 'Content-Type: application/json' -d "$3" \
        "$(kubectl config view --minify -o 'jsonpath={.clusters[0].cluster.server}')$2"
}
account() { # NAME: makes it; its token in $tap_dir/NAME.token
    api POST /api/v1/namespaces/default/serviceaccounts "{\"metadata\":{\"name\":\"$1\"}}" >/dev/null &&
        api POST "/api/v1/namespaces/default/serviceaccounts/$1/token" '{"spec":{"expirationSeconds":3600}}' |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["status"]["token"], end="")' >"$tap_dir/$1.token"
}

off() {
    emulated --authorization rbac --listen 127.0.0.1:0 && operating && until_ok 20 grep -q 'for=health\|msg=slipway\| slipway ' "$tap_dir/log"; ! grep -q 'for=dashboard' "$tap_dir/log" && stop operating && rm -f "$tap_dir/log"
}
t "off by default" off
on() {
    operating --dashboard-bind-address 127.0.0.1:0 && until_ok 20 grep -q 'for=dashboard' "$tap_dir/log" &&
        sed -n 's/.*for=dashboard port=\([0-9]*\).*/\1/p' "$tap_dir/log" >"$tap_dir/port" && account reader && account other || return 1
    kubectl apply -f - <<'EOF'
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: slipway-dashboard-reader}
rules:
- {nonResourceURLs: [/dashboard], verbs: [get]}
- {apiGroups: [sro.openshift.io], resources: [specialresources], verbs: [list]}
- {apiGroups: [""], resources: [nodes], verbs: [list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: slipway-dashboard-reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: slipway-dashboard-reader}
subjects: [{kind: ServiceAccount, namespace: default, name: reader}]
EOF
}
t "with --dashboard-bind-address" on
page() {
    got 200 none / && grep -qi "^content-security-policy: default-src 'none'; script-src 'self';" "$tap_dir/h" && got 200 none /app.js -H 'Host: dashboard.example' &&
        got 405 none / -X POST
}
t "the files of the page are for everybody, and hold nothing" page
let_in() {
    got 401 none /api/events && got 401 '' /api/snapshot && got 403 "$(cat "$tap_dir/other.token")" /api/events && grep -q 'system:serviceaccount:default:other' "$tap_dir/b" &&
        got 403 "$(cat "$tap_dir/other.token")" '/api/log?namespace=a&pod=b&container=c' && got 200 "$(cat "$tap_dir/reader.token")" '/api/log?namespace=a&pod=b&container=c' && [ ! -s "$tap_dir/b" ]
}
t "data is for whom the API server lets get /dashboard" let_in
own_header() { # what an API server's proxy leaves of a request: no Authorization, or that of who runs kubectl proxy
    local url="https://127.0.0.1:$(cat "$tap_dir/port")/api/log?namespace=a&pod=b&container=c"
    [ "$(curl -sk -o /dev/null -w '%{http_code}' -H "Slipway-Token: $(cat "$tap_dir/reader.token")" "$url")" = 200 ] &&
        [ "$(curl -sk -o /dev/null -w '%{http_code}' -H "Slipway-Token: $(cat "$tap_dir/reader.token")" -H "Authorization: Bearer other" "$url")" = 200 ] &&
        [ "$(curl -sk -o /dev/null -w '%{http_code}' -H "Slipway-Token: $(cat "$tap_dir/other.token")" "$url")" = 403 ]
}
t "a token in the page's own header is as good" own_header
live() {
    got 503 "$(cat "$tap_dir/reader.token")" /api/snapshot || return 1
    curl -skN -H "Authorization: Bearer $(cat "$tap_dir/reader.token")" "https://127.0.0.1:$(cat "$tap_dir/port")/api/events" >"$tap_dir/s" 2>/dev/null &
    echo $! >"$tap_dir/stream.pid"
    until_ok 20 grep -qF '["node","/gpu-0",{' "$tap_dir/s" && got 200 "$(cat "$tap_dir/reader.token")" /api/snapshot && stop stream &&
        until_ok 20 eval 'got 503 "$(cat "$tap_dir/reader.token")" /api/snapshot >/dev/null'
}
t "the cluster is watched while somebody has the page open" live
# A Deployment whose pods crash. Until he is given more, reader may list SpecialResources and nodes alone.
crashing() {
    mkdir -p "$tap_dir/crash/templates" && printf 'apiVersion: v2\nname: crash\nversion: 0.1.0\n' >"$tap_dir/crash/Chart.yaml"
    cat >"$tap_dir/crash/templates/1000-it.yaml" <<'EOF'
apiVersion: apps/v1
kind: Deployment
metadata: {name: it, namespace: crash, annotations: {slipway.dev/wait: "true"}}
spec:
  selector: {matchLabels: {app: it}}
  template:
    metadata: {labels: {app: it}, annotations: {emulator.slipway.dev/exit-code: "7", emulator.slipway.dev/log: "no such device"}}
    spec: {containers: [{name: main, image: "busybox:1"}]}
EOF
    "$slipway" configmap "$tap_dir/crash" --namespace default | kubectl apply --server-side -f - && resource crash cm://default/crash 0.1.0 | kubectl apply -f - &&
        until_ok 30 eval 'kubectl -n crash get pods -o json | grep -q CrashLoopBackOff' || return 1
    curl -skN -H "Authorization: Bearer $(cat "$tap_dir/reader.token")" "https://127.0.0.1:$(cat "$tap_dir/port")/api/events" >"$tap_dir/s" 2>/dev/null &
    echo $! >"$tap_dir/stream.pid"
    until_ok 20 grep -qF '["resource","/crash",{' "$tap_dir/s"
}
t "somebody looks at a resource whose pods crash" crashing
log() { # WANTED: in the log of a pod of its
    local pod
    pod=$(kubectl -n crash get pods -o 'jsonpath={.items[0].metadata.name}')
    got 200 "$(cat "$tap_dir/reader.token")" "/api/log?namespace=crash&pod=$pod&container=main&previous=1" && grep -qF "$1" "$tap_dir/b" || { cat "$tap_dir/b"; return 1; }
}
pods_shown() { got 200 "$(cat "$tap_dir/reader.token")" /api/snapshot && grep -qF '["pod","crash/' "$tap_dir/b"; }
not_his() {
    until_ok 20 grep -qF '"pod":{"crash":"you may not list pods in namespace crash (needs: list pods)"}' "$tap_dir/s" &&
        grep -qF '"event":{"default":"you may not list Events in namespace default (needs: list events)"}' "$tap_dir/s" &&
        grep -qF '["node","/gpu-0",{' "$tap_dir/s" && ! grep -qF '["pod","crash/' "$tap_dir/s" && ! grep -qF '["event","' "$tap_dir/s" &&
        ! pods_shown && until_ok 20 log 'you may not read logs in namespace crash (needs: get pods/log)'
}
t "pods, logs and Events that he may not read are left out, and named" not_his
his() {
    kubectl create role reads -n crash --verb=get,list --resource=pods,pods/log && kubectl create rolebinding reads -n crash --role=reads --serviceaccount=default:reader &&
        until_ok 60 grep -qF '["pod","crash/' "$tap_dir/s" && until_ok 20 pods_shown && until_ok 20 log 'no such device'
}
t "what he is given is shown, while he looks" his
taken() {
    kubectl delete rolebinding reads -n crash && until_ok 60 log 'you may not read logs in namespace crash' && ! pods_shown &&
        kubectl delete specialresource crash --timeout 60s && stop stream
}
t "what is taken from him goes" taken
unasked() {
    local before
    before=$(cat "$tap_dir/emulated.pid")
    stop emulated && got 200 none / && until_ok 20 eval 'got 503 someone-new /api/events >/dev/null' && [ -n "$before" ]
}
t "while the API server cannot be asked, nobody new is let in" unasked
# (the confined children that render cannot look for leaks)
ends() { stop operating && ! grep Sanitizer "$tap_dir/log" | grep -v 'has encountered a fatal error\|does not work under ptrace'; }
t "it ends with the controller" ends

if command -v chromium >/dev/null; then
    login() {
        rm -f "$tap_dir/log"
        emulated --listen 127.0.0.1:0 && operating --dashboard-bind-address 127.0.0.1:0 && until_ok 20 grep -q 'for=dashboard' "$tap_dir/log" &&
            sed -n 's/.*for=dashboard port=\([0-9]*\).*/\1/p' "$tap_dir/log" >"$tap_dir/port" && account reader &&
            api POST /apis/rbac.authorization.k8s.io/v1/clusterroles '{"metadata":{"name":"r"},"rules":[{"nonResourceURLs":["/dashboard"],"verbs":["get"]},{"apiGroups":["","sro.openshift.io"],"resources":["nodes","specialresources"],"verbs":["list"]}]}' >/dev/null &&
            api POST /apis/rbac.authorization.k8s.io/v1/clusterrolebindings '{"metadata":{"name":"r"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"r"},"subjects":[{"kind":"ServiceAccount","namespace":"default","name":"reader"}]}' >/dev/null &&
            python3 test/tools/browser.py insecure= "open=https://127.0.0.1:$(cat "$tap_dir/port")/" "until=document.querySelector('[data-login]')" forgive=401 \
                "do=document.querySelector('[name=token]').value = '$(cat "$tap_dir/reader.token")'" "do=document.querySelector('[data-login] button').click()" \
                "until=(document.body?.innerText ?? '').includes('There is no SpecialResource')"
    }
    t "in a browser: a token is asked for, and lets in" login
    again() {
        local port rc
        port=$(cat "$tap_dir/port")
        (until_ok 20 test -e "$tap_dir/opened" && stop operating && until_ok 20 test -e "$tap_dir/lost" && operating --dashboard-bind-address "127.0.0.1:$port") >/dev/null 2>&1 &
        python3 test/tools/browser.py insecure= "open=https://127.0.0.1:$port/" "until=document.querySelector('[data-login]')" \
            "do=document.querySelector('[name=token]').value = '$(cat "$tap_dir/reader.token")'" "do=document.querySelector('[data-login] button').click()" \
            "until=(document.body?.innerText ?? '').includes('✓ live')" "do=location.hash = '#/nodes'" "until=document.querySelectorAll('.rows .node').length === 5" \
            "touch=$tap_dir/opened" "until=document.body.innerText.includes('no connection, trying again')" "print=document.querySelectorAll('.rows .node').length" "touch=$tap_dir/lost" \
            "until=document.body.innerText.includes('✓ live')" "until=document.querySelectorAll('.rows .node').length === 5" forgive=401 forgive=ERR_ >"$tap_dir/o"
        rc=$?
        wait
        cat "$tap_dir/o"
        [ $rc = 0 ] && [ "$(cat "$tap_dir/o")" = 5 ]
    }
    t "the controller's restart: what is known stays, and then it is live again" again
    stop operating
else
    skip "in a browser: a token is asked for" "there is no Chromium (Debian: apt-get install chromium)"
fi
plan
