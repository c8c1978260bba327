# tap.sh: sourced by shell tests. `t NAME COMMAND...` is one test: it passes when the command
# succeeds; what it printed is shown when it does not, and how long it took when that was long.
# `plan` at the end prints the count and exits.
tap_n=0 tap_bad=0
tap_dir=$(mktemp -d)
trap 'rm -rf "$tap_dir"' EXIT
export SLIPWAY_STAND_INS=1 # no test fetches a vendor's chart

t() {
    local name=$1 since=$SECONDS
    shift
    tap_n=$((tap_n + 1))
    if ("$@") >"$tap_dir/out" 2>&1 </dev/null; then
        echo "ok $tap_n - $name"
    else
        echo "not ok $tap_n - $name"
        sed 's/^/# /' "$tap_dir/out" | tail -n 40
        tap_bad=$((tap_bad + 1))
    fi
    since=$((SECONDS - since))
    [ $since -lt 2 ] || echo "# $since s"
}

# skip NAME REASON
skip() {
    tap_n=$((tap_n + 1))
    echo "ok $tap_n - $1 # SKIP $2"
}

plan() {
    echo "1..$tap_n"
    exit $((tap_bad > 0))
}

# until_ok SECONDS COMMAND...: try until it succeeds. The seconds are a quiet machine's; a busy one is
# given SW_PATIENCE times as many, which costs nothing where the command succeeds. What lasts is asked for
# less often: most commands start a kubectl.
until_ok() {
    local end=$((SECONDS + $1 * ${SW_PATIENCE:-3})) pause=10
    shift
    until "$@"; do
        [ $SECONDS -lt $end ] || { echo "not within time: $*"; return 1; }
        sleep "0.$pause"
        [ $pause -ge 40 ] || pause=$((pause + 5))
    done
}

# stop NAME: end the process whose pid is in $tap_dir/NAME.pid, and wait until it is gone.
stop() {
    local pid
    [ -s "$tap_dir/$1.pid" ] || return 0
    pid=$(cat "$tap_dir/$1.pid")
    rm "$tap_dir/$1.pid"
    kill "$pid" && until_ok 30 ended "$pid"
}
ended() { ! kill -0 "$1" 2>/dev/null; }

# with_cluster WHAT: what most tests with kubectl begin with (without one they are skipped, as WHAT): $slipway, an
# emulator at $KUBECONFIG, and $pids, which end with the test.
with_cluster() {
    slipway=$(realpath "${SLIPWAY:-build/slipway}")
    command -v kubectl >/dev/null || { skip "$1" "no kubectl here"; plan; }
    export HOME=$tap_dir KUBECONFIG=$tap_dir/kubeconfig
    trap 'for p in $pids; do kill "$p" 2>/dev/null; done; wait; rm -rf "$tap_dir"' EXIT
    "$slipway" emulate --kubeconfig-out "$KUBECONFIG" >"$tap_dir/emulate.log" 2>&1 &
    pids=$!
    until_ok 20 test -s "$KUBECONFIG"
}

# emulated OPTION...: an emulator at $KUBECONFIG, with the definitions. operating OPTION...: an operator on it, with the
# rights of who runs it, and its log in $tap_dir/log. `stop emulated`, `stop operating` end them.
emulated() {
    rm -f "$KUBECONFIG"
    "$slipway" emulate --delays 0 --kubeconfig-out "$KUBECONFIG" "$@" >/dev/null 2>&1 &
    echo $! >"$tap_dir/emulated.pid"
    until_ok 20 test -s "$KUBECONFIG" && kubectl apply -f deploy/crds/sro.openshift.io_specialresources.yaml &&
        established crd/specialresources.sro.openshift.io
}
operating() {
    "$slipway" controller --legacy-rights --metrics-bind-address 0 --health-probe-bind-address 0 "$@" >"$tap_dir/log" 2>&1 &
    echo $! >"$tap_dir/operating.pid"
}

# kill_until_deleted RESOURCE: kill the controller again and again until it is gone (is_deleted), at least once while
# hands_over says so
kill_until_deleted() {
    local n=0 inside=0
    while ! is_deleted "$1" && [ $n -lt 60 ]; do
        sleep "0.$((40 + n * 7 % 50))"
        kill -9 "$(cat "$tap_dir/operating.pid")"
        ! hands_over || inside=$((inside + 1))
        operating --allowed-files "$PWD"
        n=$((n + 1))
    done
    echo "killed $n times, $inside while it handed over"
    [ $inside -ge 1 ] && until_ok 60 is_deleted "$1"
}

# resource NAME URL VERSION [REPOSITORY]: prints a SpecialResource that has its chart from there, and its name for its
# chart and namespace. What is printed after it goes into its spec.
resource() {
    printf 'apiVersion: sro.openshift.io/v1beta1\nkind: SpecialResource\nmetadata: {name: %s}\nspec:\n  namespace: %s\n' "$1" "$1"
    printf '  chart: {name: %s, version: %s, repository: {name: %s, url: "%s"}}\n' "$1" "$3" "${4:-here}" "$2"
}

# patch_status PATH JSON: of an object, where kubectl cannot (1.20): a merge patch, as a kubelet sends it
patch_status() {
    curl -sfk -X PATCH -H 'Authorization: Bearer slipway-admin-token' -H 'Content-Type: application/merge-patch+json' \
        -d "$2" "$(kubectl config view --minify -o 'jsonpath={.clusters[0].cluster.server}')$1/status" >/dev/null
}

# established CRD...: wait until these definitions are served. `kubectl wait` fails at once where one has
# no conditions yet.
established() {
    until_ok 80 kubectl wait --for=condition=Established "$@" --timeout=240s
}
