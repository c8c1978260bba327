# deploy/seccomp/slipway-controller.json holds what the controller needs: it walks recipes out of a ConfigMap
# and of a chart repository under the profile, where any other call would kill it.
. test/tap.sh
slipway=${SLIPWAY_RELEASE:-build/slipway} # sanitizers make calls of their own
profile=deploy/seccomp/slipway-controller.json
export KUBECONFIG=$tap_dir/kubeconfig SLIPWAY_CACHE_DIR=$tap_dir/cache
pids=""
trap 'for p in $pids; do kill "$p" 2>/dev/null; done; rm -rf "$tap_dir"' EXIT
under() { python3 test/emulator/deploy/seccomp.py "$@"; }

case $(uname -m) in x86_64 | aarch64) ;; *) skip "the controller under its seccomp profile" "not for this machine"; plan ;; esac
for need in kubectl python3 cc curl; do
    command -v $need >/dev/null || { skip "the controller under its seccomp profile" "no $need here"; plan; }
done
under $profile true || { skip "the controller under its seccomp profile" "no filters here"; plan; }

refused() { # COMMAND...: not allowed, and an error instead of a signal
    local rc=0
    under $profile "$@" || rc=$?
    [ $rc -ne 0 ] && [ $rc -lt 126 ]
}
names_no_more_than() { # what breaks out of containers
    ! grep -nE '"(bpf|chroot|init_module|io_uring_setup|keyctl|mount|perf_event_open|pivot_root|process_vm_writev|ptrace|setns|unshare|userfaultfd)"' $profile
}

port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
web=$(port) metrics=$(port) health=$(port)
mkdir -p "$tap_dir/www" "$tap_dir/hello/templates"
printf 'apiVersion: v2\nname: hello\nversion: 1.0.0\n' >"$tap_dir/hello/Chart.yaml"
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hello}\ndata: {a: {{ genCA "a" 1 | toJson | quote }}}\n' >"$tap_dir/hello/templates/0000-a.yaml"

cluster() {
    "$slipway" emulate --delays 0 --kubeconfig-out "$KUBECONFIG" >"$tap_dir/emulate" 2>&1 &
    pids="$pids $!"
    "$slipway" package "$tap_dir/hello" -d "$tap_dir/www" >/dev/null || return 1
    printf 'apiVersion: v1\nentries:\n  hello:\n  - {name: hello, version: 1.0.0, urls: [hello-1.0.0.tgz]}\n' >"$tap_dir/www/index.yaml"
    python3 -m http.server "$web" --bind 127.0.0.1 --directory "$tap_dir/www" >/dev/null 2>&1 &
    pids="$pids $!"
    until_ok 30 test -s "$KUBECONFIG" && kubectl apply --validate=false -k deploy/crds >/dev/null &&
        "$slipway" configmap "$tap_dir/hello" --namespace default | kubectl apply --validate=false -f - >/dev/null &&
        until_ok 10 curl -sfo "$tap_dir/index" "http://127.0.0.1:$web/index.yaml"
}
resource() { # NAME URL
    kubectl apply --validate=false -f - <<Y
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: $1}
spec: {namespace: $1, chart: {name: hello, version: 1.0.0, repository: {name: r, url: "$2"}}}
Y
}
state_of() { # NAME WORDS: of its status
    kubectl get specialresource "$1" -o jsonpath='{.status.state} {.status.conditions[*].message}' 2>/dev/null | grep -q "$2"
}
walks() {
    resource packed "http://127.0.0.1:$web" && resource kept cm://default/hello && resource cloned git+https://127.0.0.1:1/x || return 1
    until_ok 30 state_of packed Ready && until_ok 30 state_of kept Ready && until_ok 30 state_of cloned 'onnect' &&
        kubectl -n packed get configmap hello && curl -sf "http://127.0.0.1:$metrics/metrics" | grep -q '^# HELP' &&
        [ "$(curl -sf "http://127.0.0.1:$health/readyz")" = ok ] ||
        { cat "$tap_dir/controller"; kubectl get specialresources; return 1; }
}
removes() {
    kubectl delete specialresource packed kept cloned --timeout=30s && kill -0 $controller
}
stops() {
    kill -TERM $controller
    wait $controller || { cat "$tap_dir/controller"; return 1; }
}

t "other calls are refused with an error" refused unshare --mount true
t "none is allowed that breaks out of containers" names_no_more_than
cluster >"$tap_dir/log" 2>&1 || { cat "$tap_dir/log"; echo "Bail out! no cluster"; exit 1; }
SLIPWAY_ALLOWED_SOURCES=127.0.0.1 python3 test/emulator/deploy/seccomp.py --kill $profile "$slipway" controller --leader-elect --leader-elect-namespace default --log-level-file "$tap_dir/level" \
    --metrics-bind-address "127.0.0.1:$metrics" --metrics-secure=false --health-probe-bind-address "127.0.0.1:$health" >"$tap_dir/controller" 2>&1 &
controller=$!
pids="$pids $controller"
t "the controller walks recipes under the profile" walks
t "it removes them" removes
stopped=0
stops || stopped=$? # (wait is for the shell that started it)
t "it stops when told to" test $stopped = 0
plan
