# stuck.sh: sourced by tests of what is said of a resource that is stuck, after tap.sh. $slipway is the program, and the
# directory is one where recipes may be written.

template() { # RECIPE FILE: a template of a recipe, of standard input
    mkdir -p "$1/templates"
    printf 'apiVersion: v2\nname: %s\nversion: 0.1.0\nannotations: {slipway.dev/wait: all}\n' "$1" >"$1/Chart.yaml"
    cat >"$1/templates/$2.yaml"
}
deployment() { # ANNOTATIONS IMAGE CONTAINER POD: two pods
    printf 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: it}\nspec:\n  replicas: 2\n  selector: {matchLabels: {app: it}}\n  template:\n    metadata: {labels: {app: it}, annotations: {%s}}\n    spec:\n      containers: [{name: main, image: "%s"%s}]\n%s\n' "$1" "$2" "$3" "$4"
}
daemon_set() { # POD
    printf 'apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: it}\nspec:\n  selector: {matchLabels: {app: it}}\n  template:\n    metadata: {labels: {app: it}}\n    spec:\n      containers: [{name: main, image: "busybox:1"}]\n%s\n' "$1"
}
made() { # KIND VERSION REST
    printf 'apiVersion: %s\nkind: %s\n%s\n' "$2" "$1" "$3"
}

# stuck RECIPE CODE TEXT HINT: run ends with CODE, and run, status and explain say TEXT and HINT; what explain says of the
# state it says once
stuck() {
    local recipe=$1 code=$2 text=$3 hint=$4 rc=0
    "$slipway" run "$recipe" --timeout "${time:-3s}" --fail-fast=false >ran 2>errs </dev/null || rc=$?
    cat ran errs
    [ $rc -eq "$code" ] || { echo "exit $rc"; return 1; }
    grep -qE -- "$text" errs || { echo "run does not say it"; return 1; }
    "$slipway" status "$recipe" >status; "$slipway" explain "$recipe" >explained
    cat status explained
    tr '\n' ' ' <status | sed 's/  */ /g' | grep -qE -- "$text" || { echo "status does not say it"; return 1; }
    [ "$(grep -cE -- "$text" explained)" -eq 1 ] || { echo "explain says it $(grep -cE -- "$text" explained) times"; return 1; }
    if [ -n "$hint" ]; then
        for f in errs explained; do grep -qF -- "hint: $hint" $f || { echo "no hint in $f"; return 1; }; done
    fi
}

# For many resources at once, on a cluster. walked: runs those of standard input, "RESOURCE TIME" a line, whose errors are
# in RESOURCE.errs then; what is stuck is waited for. said RESOURCE TEXT HINT: run, status and explain say it.
walked() {
    local pids="" r limit p
    while read -r r limit; do
        "$slipway" run "$r" --timeout "$limit" --fail-fast=false >"$r.ran" 2>"$r.errs" </dev/null & pids="$pids $!"
    done
    for p in $pids; do wait "$p" && echo "one of them is Ready"; done
    return 0
}
said() {
    local r=$1 n
    [ -s "$r.errs" ] || { "$slipway" run "$r" --timeout "${time:-20s}" --fail-fast=false >"$r.ran" 2>"$r.errs" </dev/null; }
    cat "$r.ran" "$r.errs"
    grep -qE -- "$2" "$r.errs" || { echo "run does not say it"; return 1; }
    "$slipway" status "$r" >"$r.status"; "$slipway" explain "$r" >"$r.explained"
    cat "$r.status" "$r.explained"
    tr '\n' ' ' <"$r.status" | sed 's/  */ /g' | grep -qE -- "$2" || { echo "status does not say it"; return 1; }
    n=$(grep -cE -- "$2" "$r.explained")
    [ "$n" -eq 1 ] || { echo "explain says it $n times"; return 1; }
    [ -z "$3" ] || grep -qF -- "hint: $3" "$r.explained" || { echo "no hint"; return 1; }
}

# hook: what answers admission reviews, and denies them; certificate() first. `stop hook` ends it.
hook() {
    stop hook
    cat >hook.py <<'PY'
import http.server, json, ssl, sys
class Answer(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps({"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": {"uid": review["request"]["uid"],
            "allowed": False, "status": {"code": 403, "message": "images must come from registry.example.com"}}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("hook.crt", "hook.key")
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
PY
    rm -f port
    python3 hook.py >port 2>/dev/null & echo $! >"$tap_dir/hook.pid"
    until_ok 20 test -s port
}
certificate() { # FROM TO: of the webhook, by its own authority
    [ -s ca.crt ] || openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout ca.key -out ca.crt 2>/dev/null
    openssl req -newkey rsa:2048 -nodes -subj /CN=hook -keyout hook.key -out hook.csr 2>/dev/null
    printf 'subjectAltName=IP:127.0.0.1\n' >san
    mkdir -p db && : >db/index.txt
    printf '[ca]\ndefault_ca=d\n[d]\ndatabase=db/index.txt\nrand_serial=yes\nnew_certs_dir=db\ndefault_md=sha256\npolicy=p\nunique_subject=no\n[p]\ncommonName=supplied\n' >ca.cnf
    openssl ca -batch -config ca.cnf -cert ca.crt -keyfile ca.key -in hook.csr -out hook.crt -startdate "$1" -enddate "$2" -extfile san 2>/dev/null
}
configured() { # NAME CA: pods of the namespace NAME are asked about
    made ValidatingWebhookConfiguration admissionregistration.k8s.io/v1 "metadata: {name: images}
webhooks:
- name: images.example.com
  clientConfig: {url: 'https://127.0.0.1:$(cat port)/', caBundle: $(base64 -w0 <"$2")}
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $1}}
  rules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Fail" | kubectl apply -f - >/dev/null
}
year() { date -u -d "$1" +%Y%m%d000000Z; }
