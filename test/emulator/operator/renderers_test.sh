# Recipes are read and rendered in children of the controller: one that takes too much is ended and said, others
# go on; so do those whose child is killed.
. test/tap.sh
slipway=$(realpath "${SLIPWAY_RELEASE:-build/slipway}") # sanitizers take more memory than there is
for tool in kubectl curl pgrep; do
    command -v $tool >/dev/null || { skip "the controller's renderers" "no $tool here"; plan; }
done
export SLIPWAY_CACHE_DIR=$tap_dir/cache HOME=$tap_dir KUBECONFIG=$tap_dir/kubeconfig
pids=
trap 'for p in $pids; do kill "$p" 2>/dev/null; done; wait; rm -rf "$tap_dir"' EXIT
"$slipway" emulate --kubeconfig-out "$KUBECONFIG" >"$tap_dir/emulate.log" 2>&1 &
pids="$pids $!"
until_ok 20 test -s "$KUBECONFIG"
kubectl apply -k deploy/crds >/dev/null
"$slipway" controller --metrics-bind-address 127.0.0.1:0 --metrics-secure=false --health-probe-bind-address 0 \
    2>"$tap_dir/controller.log" &
controller=$!
pids="$pids $!"

recipe() { # NAME TEXT: the text of its template
    kubectl create configmap "$1" --from-literal=0000-a.yaml="$2" --dry-run=client -o yaml | kubectl apply -f - &&
        kubectl apply -f - <<Y
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: $1}
spec: {namespace: $1, chart: {name: $1, version: 0.0.1, repository: {name: r, url: "cm://default/$1"}}}
Y
}
object() { printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made}\ndata: {text: "%s"}\n' "$1"; }
ready() { kubectl wait --for=condition=Ready "sr/$1" --timeout=20s; }
state() { kubectl get sr "$1" -o 'jsonpath={.status.state}'; }
says() { state "$1" | grep -qE -- "$2"; }
errored() { # NAME WORDS
    until_ok 40 says "$1" "$2" || { state "$1"; tail -5 "$tap_dir/controller.log"; return 1; }
}

greedy() {
    recipe greedy '{{ range until 100000000 }}{{ end }}' && errored greedy 'greedy/templates/0000-a.yaml:1:.*took more than its'
}
t "a template that takes too much is named with its place" greedy
heavy() { # what is rendered is within the limits of templates, its objects are not within the child's
    recipe heavy "$(object x)
list:
{{ repeat 900000 \"- 1\\n\" }}" && errored heavy 'heavy/templates/0000-a.yaml:1: took more than its 56 MiB'
}
t "a document that takes too much is, too" heavy
honest() { recipe honest "$(object one)" && ready honest; }
t "others go on" honest
alive() { kill -0 $controller && [ "$(awk '/VmHWM/ { print $2 }' /proc/$controller/status)" -lt 40000 ]; }
t "the controller has taken less than 40 MB" alive
killed() {
    local i
    for i in 1 2 3 4 5 6; do
        kubectl create configmap honest --from-literal=0000-a.yaml="$(object "$i")" --dry-run=client -o yaml | kubectl apply -f - || return 1
        sleep 0.$i
        pgrep -P $controller -f '^slipway renderer' | while read -r p; do kill -9 "$p"; done
    done
    until_ok 30 is_last
}
is_last() { [ "$(kubectl get cm -n honest made -o 'jsonpath={.data.text}')" = 6 ]; }
t "children that are killed are replaced" killed
counted() {
    local at
    at=$(sed -n 's/.*"serving metrics" at=\([0-9]*\).*/\1/p' "$tap_dir/controller.log")
    curl -sf "http://127.0.0.1:$at/metrics" | grep -E '^slipway_renderers_ended_total.why="limit". [1-9]'
}
t "metrics count them" counted
plan
