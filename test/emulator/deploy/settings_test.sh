# What is set from outside while the operator runs, and what its environment hands on: log levels by
# DASOperator and by a file, images of a recipe's parts.
. test/tap.sh
slipway=${SLIPWAY:-build/test/slipway}
export KUBECONFIG=$tap_dir/kubeconfig
command -v kubectl >/dev/null || { skip "settings from outside" "no kubectl here"; plan; }
trap 'for p in $(cat "$tap_dir/pids" 2>/dev/null); do kill "$p" 2>/dev/null; done; rm -rf "$tap_dir"' EXIT

mkdir -p "$tap_dir/r/templates"
printf 'apiVersion: v2\nname: r\nversion: 1.0.0\n' >"$tap_dir/r/Chart.yaml"
cat >"$tap_dir/r/templates/0000-parts.yaml" <<'Y'
apiVersion: v1
kind: ConfigMap
metadata: {name: parts, namespace: r}
data:
  webhook: {{ dig "relatedImages" "webhook" "none" (.Values.global | default dict) }}
  scheduler: {{ dig "relatedImages" "scheduler" "none" (.Values.global | default dict) }}
  plugin: {{ dig "relatedImages" "device-plugin" "none" (.Values.global | default dict) }}
  mine: {{ dig "mine" "lost" (.Values.global | default dict) }}
Y

metrics=127.0.0.1:$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
start() {
    "$slipway" emulate --delays 0 --kubeconfig-out "$KUBECONFIG" >"$tap_dir/emulate" 2>&1 &
    echo $! >"$tap_dir/pids"
    until_ok 30 test -s "$KUBECONFIG" && kubectl apply --validate=false -k deploy/crds >/dev/null || return 1
    RELATED_IMAGES='[{"name": "x/slipway-webhook", "image": "mirror/webhook:1"}, {"name": "das-daemonset", "image": "old"}]' \
        RELATED_IMAGE_SCHEDULER_IMAGE=mirror/scheduler:2 RELATED_IMAGE_DAEMONSET_IMAGE=mirror/plugin:3 \
        "$slipway" controller --metrics-bind-address "$metrics" --metrics-secure=false --health-probe-bind-address 0 \
        --log-level-file "$tap_dir/level" >"$tap_dir/controller" 2>&1 &
    echo $! >>"$tap_dir/pids"
    "$slipway" configmap "$tap_dir/r" --namespace default >"$tap_dir/cm.yaml" &&
        kubectl apply --validate=false -f "$tap_dir/cm.yaml" &&
        kubectl apply --validate=false -f - <<'Y'
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: r}
spec:
  namespace: r
  chart: {name: r, version: 1.0.0, repository: {name: r, url: cm://default/r}}
  set: {global: {mine: kept}}
Y
}
t "an operator with images in its environment" start
[ "$tap_bad" = 0 ] || plan

part() { # NAME VALUE
    [ "$(kubectl -n r get configmap parts -o "jsonpath={.data.$1}" 2>/dev/null)" = "$2" ] ||
        { tail -5 "$tap_dir/controller"; kubectl -n r get configmap parts -o yaml; return 1; }
}
t "a list of images reaches the templates" until_ok 60 part webhook mirror/webhook:1
t "and one of a part's own variable" part scheduler mirror/scheduler:2
t "DAS's daemonset is the device plugin, and the variable has precedence" part plugin mirror/plugin:3
t "other global values are kept" part mine kept

kubectl create namespace das-operator >/dev/null
das() { # LEVEL. Unmanaged: it walks nothing
    printf '{"apiVersion": "inference.redhat.com/v1alpha1", "kind": "DASOperator", "metadata": {"name": "cluster", "namespace": "das-operator"}, "spec": {"managementState": "Unmanaged", "operatorLogLevel": "%s"}}' \
        "$1" | kubectl apply --validate=false -f -
}
said() { grep "$1" "$tap_dir/controller" | grep -q "$2"; }
as_das() { das Trace && until_ok 60 said 'level=debug' 'by=DASOperator/cluster'; }
t "operatorLogLevel acts at once" as_das
back() { das Normal && until_ok 60 said 'level=info' 'by=DASOperator/cluster'; }
t "and back" back
by_file() {
    echo debug >"$tap_dir/level" && until_ok 60 said 'level=debug' "by=$tap_dir/level"
}
t "a file is followed" by_file
same_process() { kill -0 "$(tail -1 "$tap_dir/pids")"; }
t "all that without a restart" same_process
requests() { # what `slipway gather` takes along
    curl -sf "http://$metrics/requests" >"$tap_dir/requests" && cat "$tap_dir/requests" &&
        grep -qE '^20[0-9-]*T[0-9:]*Z watch nodes 200 ' "$tap_dir/requests" &&
        grep -qE ' patch /api/v1/namespaces/r/configmaps/parts\?.* 20[01] [0-9]+ ms$' "$tap_dir/requests"
}
alone() { # a standby that no server answers is alive, and says that it is not ready
    local health=127.0.0.1:$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    sed 's|server: .*|server: http://127.0.0.1:1|' "$KUBECONFIG" >"$tap_dir/nowhere"
    "$slipway" controller --kubeconfig "$tap_dir/nowhere" --leader-elect --metrics-bind-address 0 \
        --health-probe-bind-address ":${health#*:}" >"$tap_dir/standby" 2>&1 &
    echo $! >>"$tap_dir/pids"
    until_ok 30 curl -sf "http://$health/healthz" && until_ok 30 grep -q 'lease cannot be renewed' "$tap_dir/standby" &&
        [ "$(curl -s -o "$tap_dir/why" -w '%{http_code}' "http://$health/readyz")" = 503 ] && cat "$tap_dir/why" || return 1
    # no address is all addresses: clusters may have IPv6 alone
    ! grep -qs ' lo$' /proc/net/if_inet6 || curl -sf "http://[::1]:${health#*:}/healthz"
}
if command -v curl >/dev/null; then
    t "its last requests can be looked at" requests
    t "a replica that reaches no server is not ready" alone
fi
plan
