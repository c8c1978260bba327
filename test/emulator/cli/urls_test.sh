# Passwords and tokens in URLs: no command prints them, and the controller writes them nowhere.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
root=$PWD
export SLIPWAY_CACHE_DIR=$tap_dir/cache HOME=$tap_dir KUBECONFIG=$tap_dir/kubeconfig
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy NO_PROXY no_proxy DOCKER_CONFIG REGISTRY_AUTH_FILE
pids=
trap 'stop server; for p in $pids; do kill "$p" 2>/dev/null; done; wait; rm -rf "$tap_dir"' EXIT
cd "$tap_dir" || exit 1

urls="http://user:s3cret@127.0.0.1:1/c.tgz HTTPS://user:s3cret@127.0.0.1:1/c.tgz https://s3cret@127.0.0.1:1/c.tgz
    https://user:s3/cret@127.0.0.1:1/c.tgz https://127.0.0.1:1/c.tgz?token=s3cret#s3cret oci://user:s3cret@127.0.0.1:1/a/b:1
    OCI://user:s3cret@127.0.0.1:1/a oci://127.0.0.1:1/a?s3cret git+http://user:s3cret@127.0.0.1:1/r git+ssh://u:s3cret@127.0.0.1:1/r
    git+https://user:s3cret@127.0.0.1:1/r?s3cret git+https://host/r?token=s3cret s3x://user:s3cret@host/a cm://user:s3cret@a/b
    file://user:s3cret@host/a"
chart() { # DIR DEPENDENCY
    mkdir -p "$1/templates"
    printf 'apiVersion: v2\nname: c\nversion: 1.0.0\ndependencies: [{name: d, version: 1.0.0, repository: "%s"}]\n' "$2" >"$1/Chart.yaml"
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n' >"$1/templates/0000-c.yaml"
}
silent() { # COMMAND...: it fails, with words, and without the secret
    local rc=0
    timeout 30 "$slipway" "$@" >out 2>&1 </dev/null || rc=$?
    [ $rc -ne 0 ] && [ $rc -ne 124 ] && [ -s out ] && ! grep -E 's3/?cret' out || { echo "$*: $rc"; cat out; return 1; }
}
all_urls() { # of two commands: by its address, and as a repository
    for url in $urls; do
        silent fetch "$url" --fetch-timeout 5s && silent render d --repo "$url" --fetch-timeout 5s || return 1
    done
}
t "fetch and render print no secret of a URL" all_urls
dependencies() {
    for url in $urls; do
        chart dep "$url" && silent render dep --fetch-timeout 5s || return 1
    done
}
t "nor that of a chart's dependency" dependencies
all_commands() {
    chart dep "https://user:s3cret@127.0.0.1:1/charts?token=s3cret"
    for command in lint graph diff package configmap rbac bundle preflight plan test; do
        for url in "http://user:s3cret@127.0.0.1:1/c.tgz?token=s3cret" s3x://user:s3cret@host/a dep; do
            silent $command "$url" || return 1
        done
    done
    silent run http://user:s3cret@127.0.0.1:1/c.tgz --emulate && silent run dep --emulate
}
t "nor do other commands" all_commands
redirected() { # what a server says
    python3 "$root/test/emulator/chart/chart_server.py" . port server.log 2>server.err &
    echo $! >"$tap_dir/server.pid"
    until_ok 20 test -s port
    http=http://127.0.0.1:$(cat port)
    mkdir -p ok && printf 'apiVersion: v1\nentries:\n  d: [{name: d, version: 1.0.0, urls: ["%s"]}]\n' 's3x://user:s3cret@host/a?token=s3cret' >index.yaml
    silent fetch d --repo "$http/ok" &&
        silent fetch "$http/away/http/user:s3cret@127.0.0.1:1/c.tgz?token=s3cret" --username user --password "pass word" &&
        silent fetch "http://user:s3cret@${http#http://}/auth/c.tgz?token=s3cret"
}
if command -v python3 >/dev/null; then
    t "nor one that a server sends" redirected
fi

if ! command -v kubectl >/dev/null; then
    skip "the controller" "no kubectl here"
    plan
fi
"$slipway" emulate --kubeconfig-out kubeconfig >emulate.log 2>&1 &
pids="$pids $!"
until_ok 20 test -s kubeconfig
kubectl apply -k "$root/deploy/crds" >/dev/null
SLIPWAY_ALLOWED_SOURCES=127.0.0.1 "$slipway" controller --metrics-bind-address 0 --health-probe-bind-address 0 --no-registries --record tape 2>controller.log &
pids="$pids $!"
controller=$!
errored() { kubectl get sr "$1" -o 'jsonpath={.status.conditions[?(@.type=="Errored")].message}' | grep -q .; }
n=0
resources() {
    for url in $urls; do
        n=$((n + 1))
        kubectl apply -f - <<Y || return 1
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: u$n}
spec: {namespace: u$n, debug: true, chart: {name: d, version: 1.0.0, repository: {name: r, url: "$url"}}}
Y
    done
    for i in $(seq $n); do until_ok 30 errored "u$i" || { kubectl get sr "u$i" -o yaml; return 1; }; done
}
t "resources with such URLs fail" resources
stopped() { ! kill -0 $controller 2>/dev/null; }
nowhere() { # in no status, Event, log and recording, nor in what support gets
    kubectl get sr -o 'jsonpath={.items[*].status}' >status.json && kubectl get events -A -o yaml >events.yaml &&
        "$slipway" status >status.txt && "$slipway" explain u1 >explain.txt
    "$slipway" gather -o gathered.tgz >gather.out 2>&1 || { cat gather.out; return 1; }
    mkdir -p gathered && tar -xzf gathered.tgz -C gathered && kill $controller && until_ok 20 stopped
    grep -q "Errored" status.json && [ -s events.yaml ] && [ -s controller.log ] && [ -n "$(ls gathered)" ] || return 1
    ! grep -rE 's3/?cret' status.json events.yaml status.txt explain.txt gather.out gathered controller.log tape*
}
t "their secrets are nowhere" nowhere
plan
