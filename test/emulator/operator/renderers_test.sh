# Recipes are read and rendered in children of the controller: one that takes too much is ended and said, others
# go on; so do those whose child is killed.
. test/tap.sh
slipway=$(realpath "${SLIPWAY_RELEASE:-build/slipway}") # sanitizers take more memory than there is
for tool in kubectl curl pgrep python3; do
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
{{ repeat 300000 \"- {a: 1}\\n\" }}" && errored heavy 'heavy/templates/0000-a.yaml:1: took more than its 56 MiB'
}
t "a document that takes too much is, too" heavy
hollow() { # a text of 90 kB that is a tree of 20 MiB, where the controller reads it
    recipe hollow "$(object x)
list:
{{ repeat 30000 \"- {}\n\" }}" && errored hollow 'what is rendered takes more than 16 MiB'
}
t "and one that would take too much where it is applied" hollow
honest() { recipe honest "$(object one)" && ready honest; }
t "others go on" honest
in_spec() { # a template in the resource itself
    honest_spec() { kubectl patch sr honest --type merge -p '{"spec": {"set": {"word": "'"$1"'"}}}'; }
    honest_spec '{{ range until 100000000 }}{{ end }}' && errored honest 'spec.set.word:1:.*took more than its' &&
        kubectl create configmap honest --from-literal=0000-a.yaml="$(object '{{ .Values.word }}')" --dry-run=client -o yaml | kubectl apply -f - &&
        honest_spec '{{ \"lo\" | upper }}' && until_ok 40 text_is LO && ready honest && honest_spec plain && until_ok 40 text_is plain
}
text_is() { [ "$(kubectl get cm -n honest made -o 'jsonpath={.data.text}')" = "$1" ]; }
t "a template in a resource's spec is rendered by a child, too" in_spec
bomb() { # 60 MiB that are packed to 61 KB
    mkdir -p "$tap_dir/bomb/files" && printf 'apiVersion: v2\nname: bomb\nversion: 0.0.1\n' >"$tap_dir/bomb/Chart.yaml" &&
        head -c 60M /dev/zero >"$tap_dir/bomb/files/zeros" && tar -C "$tap_dir" -czf "$tap_dir/bomb-0.0.1.tgz" bomb && rm "$tap_dir/bomb/files/zeros" &&
        kubectl create configmap bomb --from-file="$tap_dir/bomb-0.0.1.tgz" && kubectl apply -f - <<Y && errored bomb 'takes more than the 50 MiB that a fetch may have'
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: bomb}
spec: {namespace: bomb, chart: {name: bomb, version: 0.0.1, repository: {name: r, url: "cm://default/bomb"}}}
Y
}
t "an archive that takes too much is told" bomb
large() { # more than a fetch has at first
    mkdir -p "$tap_dir/large/files" "$tap_dir/large/templates" && printf 'apiVersion: v2\nname: large\nversion: 0.0.1\n' >"$tap_dir/large/Chart.yaml" &&
        object large >"$tap_dir/large/templates/0000-a.yaml" &&
        head -c 6M /dev/zero | tr '\0' x >"$tap_dir/large/files/text" && tar -C "$tap_dir" -czf "$tap_dir/large-0.0.1.tgz" large &&
        kubectl create configmap large --from-file="$tap_dir/large-0.0.1.tgz" && kubectl apply -f - <<Y && ready large
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: large}
spec: {namespace: large, chart: {name: large, version: 0.0.1, repository: {name: r, url: "cm://default/large"}}}
Y
}
t "a large one that is within limits is Ready" large
# Another account and namespace, and a template that takes seconds: until it is rendered nothing is done by the
# account's new name in the namespace before.
moved() {
    local x='"{{ $l := until 2000 }}{{ range $l }}{{ range $l }}{{ end }}{{ end }}"'
    kubectl create namespace before && kubectl create namespace after && kubectl create configmap moved --from-literal=0000-gate.yaml='apiVersion: v1
kind: ConfigMap
metadata: {name: gate, namespace: default, annotations: {slipway.dev/observe: "true"}}
' --from-literal=1000-made.yaml='apiVersion: v1
kind: ConfigMap
metadata: {name: "made-{{ .Release.Namespace }}", namespace: default, annotations: {helm.sh/resource-policy: keep}}
' && kubectl apply -f - <<Y && until_ok 20 says moved 'gate does not exist' &&
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: moved}
spec: {namespace: before, serviceAccountName: weak, chart: {name: moved, version: 0.0.1, repository: {name: r, url: "cm://default/moved"}}}
Y
        kubectl patch sr moved --type merge -p '{"spec": {"namespace": "after", "serviceAccountName": "strong", "set": {"x": ['"$(yes "$x" | head -100 | paste -sd,)"']}}}' &&
        sleep 0.3 && kubectl create configmap gate && kubectl wait --for=condition=Ready sr/moved --timeout=40s && kubectl get configmap made-after && ! kubectl get configmap made-before
}
t "a resource that is given another account begins anew" moved

# The image of a driver container names a server: this pod's own is not asked.
python3 - "$tap_dir/port" "$tap_dir/asked" <<'P' &
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_HEAD(self):
        open(sys.argv[2], "a").write(self.path + "\n")
        self.send_error(404)
    do_GET = do_HEAD
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
open(sys.argv[1], "w").write(str(server.server_port))
server.serve_forever()
P
pids="$pids $!"
asked() {
    local port
    until_ok 20 test -s "$tap_dir/port" && port=$(cat "$tap_dir/port") && recipe asked "apiVersion: apps/v1
kind: DaemonSet
metadata: {name: asked, annotations: {specialresource.openshift.io/kernel-affine: \"true\", specialresource.openshift.io/state: driver-container}}
spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: \"localhost:$port/x/y:1\"}, {name: d, image: \"127.0.0.1:$port/x/y:1\"}]}}}" &&
        until_ok 40 eval '[ -n "$(kubectl -n asked get daemonset -o name)" ]' && [ ! -e "$tap_dir/asked" ] && ! says asked 'no such image'
}
t "a server on loopback is not asked for an image" asked

# What others keep in the cluster is read by the controller itself.
much() { python3 -c 'import sys; print(sys.argv[1] + ",".join(["{}"] * int(sys.argv[2])) + sys.argv[3])' "$@"; }
wide() { # a text of 1.2 MB that is a tree of 250
    much '{"apiVersion": "sro.openshift.io/v1beta1", "kind": "SpecialResource", "metadata": {"name": "wide"}, "spec": {"namespace": "wide",
        "chart": {"name": "wide", "version": "0.0.1", "repository": {"name": "r", "url": "cm://default/wide"}}, "set": {"a": [' 400000 ']}}}' >"$tap_dir/wide.json" &&
        kubectl create --validate=false -f "$tap_dir/wide.json" && errored wide 'TooLarge: it takes more than 4 MiB' && recipe honest "$(object "after wide")" && ready honest
}
t "a resource that takes too much is told" wide
many() { # resources, each of which is as large as it may be: the controller would hold 38 MiB
    local i
    for i in $(seq 12); do
        much '{"apiVersion": "sro.openshift.io/v1beta1", "kind": "SpecialResource", "metadata": {"name": "many'"$i"'"}, "spec": {"namespace": "many",
            "chart": {"name": "many", "version": "0.0.1", "repository": {"name": "r", "url": "cm://default/nowhere"}}, "set": {"a": [' 4500 ']}}}' >"$tap_dir/many.json" &&
            kubectl create --validate=false -f "$tap_dir/many.json" || return 1
    done
    errored many12 'TooLarge: it and others like it together take more than 24 MiB' && says many1 nowhere && recipe late "$(object small)" && ready late &&
        kubectl delete sr $(seq -f 'many%g' 1 11) --wait=false && kubectl patch sr many12 --type merge -p '{"spec": {"debug": true}}' && errored many12 nowhere
}
t "many large ones together leave room for small ones" many
crowd() { # of objects each of which is as large as an object may be
    local i
    kubectl create namespace crowd && head -c 900000 /dev/zero | tr '\0' x >"$tap_dir/x" || return 1
    for i in $(seq 40); do kubectl -n crowd create configmap "of-$i" --from-file="$tap_dir/x" || return 1; done
    recipe crowd "$(object '{{ len (lookup "v1" "ConfigMap" "crowd" "").items }}')" && errored crowd 'takes more than 16 MiB of memory' && kubectl apply -f - <<Y && until_ok 40 watched
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResourceModule
metadata: {name: crowd}
spec: {namespace: crowd, chart: {name: honest, version: 0.0.1, repository: {name: r, url: "cm://default/nowhere"}},
  watch: [{apiVersion: v1, kind: ConfigMap, namespace: crowd, path: "\$.data.y"}]}
Y
}
watched() { kubectl get specialresourcemodule crowd -o 'jsonpath={.status.message}' | grep -q nowhere; }
t "so is a lookup of many, and a module that watches them goes on" crowd
ladder() { # each step names the next one 200 times: 200 * 200 * ... ways lead down
    python3 - >"$tap_dir/ladder.json" <<'P' && kubectl apply -f "$tap_dir/ladder.json" && kubectl wait --for=condition=Ready sr/step0 --timeout=40s
import json
chart = lambda i: {"name": f"step{i}", "version": "0.0.1", "repository": {"name": "r", "url": f"cm://default/step{i}"}}
items = []
for i in range(6):
    items.append({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"step{i}", "namespace": "default"},
                  "data": {"0000-a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: step}\n"}})
    items.append({"apiVersion": "sro.openshift.io/v1beta1", "kind": "SpecialResource", "metadata": {"name": f"step{i}"},
                  "spec": {"chart": chart(i), "dependencies": [{"chart": chart(i + 1)}] * (200 if i < 5 else 0)}})
print(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
P
}
t "a ladder of dependencies is walked" ladder
packed() { # a record of a release: 100 KB that are 60 MB, which are a tree of gigabytes
    kubectl create namespace packed && much '{"name": "packed", "version": 1, "namespace": "packed", "info": {"status": "deployed"}, "config": {"a": [' 20000000 ']}}' | gzip -9 | base64 -w0 >"$tap_dir/packed" &&
        kubectl -n packed create secret generic sh.helm.release.v1.packed.v1 --type=helm.sh/release.v1 --from-file=release="$tap_dir/packed" &&
        kubectl -n packed label secret sh.helm.release.v1.packed.v1 owner=helm name=packed version=1 status=deployed && recipe packed "$(object packed)" && ready packed
}
t "a packed record that takes too much is not used" packed
alive() { kill -0 $controller && [ "$(awk '/VmHWM/ { print $2 }' /proc/$controller/status)" -lt 48000 ]; }
t "the controller has taken less than 48 MB" alive
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
