# Why a resource is stuck, on a real API server and a real kubelet: a registry that asks for a login or has another's
# certificate, memory, disks, nodes under pressure, clocks, certificates, builds.
. test/tap.sh
. test/stuck.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
nodes="n-memory n-disk n-away"
trap 'stop beating; stop hook; stop asking; stop strange; kubectl delete node $nodes --wait=false >/dev/null 2>&1; rm -rf "$tap_dir" "$certs/private.invalid" "$certs/strange.invalid"' EXIT
certs=${SLIPWAY_CLUSTER_DIR:-$HOME/.cache/slipway/cluster}/certs.d # containerd's, by registry
[ -s "$certs/_default/hosts.toml" ] || { skip "why pods do not start on a real node" "this cluster has no registry of ours"; plan; exit; }

eating_image() { # a program that fills a disk or the memory
    mkdir -p "$tap_dir/root"
    cat >"$tap_dir/eat.c" <<'C'
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char *block = malloc(64 << 20);
    int file = argc > 1 ? open(argv[1], O_CREAT | O_WRONLY, 0600) : -1;
    if (argc > 1)
        for (int i = 0; i < 8; i++)
            (void)!write(file, memset(block, 'x', 1 << 20), 1 << 20);
    else
        for (size_t i = 0; i < 64 << 20; i++)
            ((volatile char *)block)[i] = 'x';
    for (;;)
        pause();
}
C
    gcc -static -Os -o "$tap_dir/root/eat" "$tap_dir/eat.c" && hack/cluster.sh image slipway.local/eat:1 "$tap_dir/root" /eat
}
eating_image >/dev/null || { plan; exit; }
cd "$tap_dir" || exit 1

# A registry that asks for a login, and one whose certificate nobody knows; both hand out what the cluster's own has.
cat >front.py <<'PY'
import base64, http.server, ssl, sys, urllib.error, urllib.request
behind, login, chain = sys.argv[1], sys.argv[2], sys.argv[3:]
class Front(http.server.BaseHTTPRequestHandler):
    def answer(self):
        if login and self.headers.get("Authorization") != "Basic " + base64.b64encode(login.encode()).decode():
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="private"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        ask = urllib.request.Request(behind + self.path, method=self.command, headers={"Accept": self.headers.get("Accept", "*/*")})
        try:
            got = urllib.request.urlopen(ask)
        except urllib.error.HTTPError as e:
            got = e
        body = got.read()
        self.send_response(got.status)
        for k, v in got.headers.items():
            if k.lower() not in ("connection", "transfer-encoding"):
                self.send_header(k, v)
        self.end_headers()
        self.wfile.write(body)
    do_GET = do_HEAD = answer
    def log_message(self, *args): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Front)
if chain:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*chain)
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
PY
front() { # NAME HOST LOGIN SCHEME CHAIN...
    python3 front.py "$(sed -n 's/^\[host\."\(.*\)"\]/\1/p' "$certs/_default/hosts.toml")" "$3" "${@:5}" >"$1.port" 2>"$1.log" & echo $! >"$tap_dir/$1.pid"
    until_ok 20 test -s "$1.port" || return 1
    mkdir -p "$certs/$2" && printf 'server = "%s://127.0.0.1:%s"\n[host."%s://127.0.0.1:%s"]\n  capabilities = ["pull", "resolve"]\n' "$4" "$(cat "$1.port")" "$4" "$(cat "$1.port")" >"$certs/$2/hosts.toml"
}
login() { # NAME PASSWORD: a pull secret for private.invalid
    made Secret v1 "metadata: {name: $1}
type: kubernetes.io/dockerconfigjson
stringData: {.dockerconfigjson: '{\"auths\":{\"private.invalid\":{\"username\":\"me\",\"password\":\"$2\"}}}'}"
}
deployment "" private.invalid/x:1 | template n-nologin 1000-it
login regcred wrong | template n-wronglogin 0000-secret
deployment "" private.invalid/x:1 "" '      imagePullSecrets: [{name: regcred}]' | template n-wronglogin 1000-it
deployment "" private.invalid/x:1 "" '      imagePullSecrets: [{name: nosuch}]' | template n-misslogin 1000-it
deployment "" strange.invalid/x:1 | template n-strange 1000-it
deployment "" slipway.local/eat:1 ', imagePullPolicy: Never, resources: {limits: {memory: 16Mi}}' | template n-oom 1000-it
deployment "" slipway.local/eat:1 ', imagePullPolicy: Never, command: [/eat, /v/file], readinessProbe: {tcpSocket: {port: 1}}, volumeMounts: [{name: v, mountPath: /v}]' '      volumes: [{name: v, emptyDir: {sizeLimit: 1Mi}}]' | template n-evicted 1000-it
# Each tolerates what keeps it off the others' nodes: schedulers before 1.21 name taints of nodes that a pod does not select, too.
for_node() { # NODE KEY...
    deployment "" busybox:1 "" "      nodeSelector: {stands-in: $1}
      tolerations: [{key: node.kubernetes.io/$2}, {key: node.kubernetes.io/$3}]" | sed 's/{key: [^}]*/&, operator: Exists/g' | template "$1" 1000-it
}
for_node n-memory disk-pressure unschedulable
for_node n-disk memory-pressure unschedulable
for_node n-away disk-pressure memory-pressure
# of OpenShift: the kind alone is real here, and no server has its log
made BuildConfig build.openshift.io/v1 'metadata:
  name: driver
  annotations:
    emulator.slipway.dev/build: Failed
spec:
  triggers: [{type: ConfigChange}]
  source: {type: Git, git: {uri: "https://example.com/x"}}
  strategy: {type: Docker, dockerStrategy: {}}' | template n-build 1000-it

# Nodes without a kubelet: their conditions are what is written here, and the controller manager makes taints of them.
beat() {
    local n now memory disk
    now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
    for n in $nodes; do
        memory=False disk=False
        [ $n != n-memory ] || memory=True
        [ $n != n-disk ] || disk=True
        kubectl patch node $n --subresource=status --type=merge -p "{\"status\":{\"capacity\":{\"cpu\":\"4\",\"memory\":\"8Gi\",\"pods\":\"20\"},\"allocatable\":{\"cpu\":\"4\",\"memory\":\"8Gi\",\"pods\":\"20\"},\"conditions\":[
{\"type\":\"Ready\",\"status\":\"True\",\"reason\":\"KubeletReady\",\"message\":\"ready\",\"lastHeartbeatTime\":\"$now\",\"lastTransitionTime\":\"$now\"},
{\"type\":\"MemoryPressure\",\"status\":\"$memory\",\"reason\":\"r\",\"message\":\"m\",\"lastHeartbeatTime\":\"$now\",\"lastTransitionTime\":\"$now\"},
{\"type\":\"DiskPressure\",\"status\":\"$disk\",\"reason\":\"r\",\"message\":\"m\",\"lastHeartbeatTime\":\"$now\",\"lastTransitionTime\":\"$now\"}]}}" || return 1
    done
}
tainted() { kubectl get node "$1" -o 'jsonpath={.spec.taints[*].key}' | grep -q "$2"; }
prepare() {
    front asking private.invalid me:right http &&
        openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 -keyout strange.key -out strange.crt 2>/dev/null &&
        front strange strange.invalid "" https strange.crt strange.key || return 1
    local n
    for n in $nodes; do made Node v1 "metadata: {name: $n, labels: {stands-in: $n}}" | kubectl apply -f - || return 1; done
    kubectl cordon n-away && beat || return 1
    while sleep 10; do beat; done >/dev/null 2>&1 & echo $! >"$tap_dir/beating.pid"
    until_ok 30 tainted n-memory memory-pressure && until_ok 30 tainted n-disk disk-pressure
}
walk_all() {
    local r
    for r in n-*/; do echo "${r%/} 60s"; done | walked
}
right_login() {
    mkdir n-rightlogin && cp -r n-wronglogin/* n-rightlogin && sed -i 's/n-wronglogin/n-rightlogin/' n-rightlogin/Chart.yaml && login regcred right >n-rightlogin/templates/0000-secret.yaml &&
        "$slipway" run n-rightlogin --timeout 90s
}
# with_certificate NAME FROM TO CA: a webhook with such a certificate, asked about the namespace NAME; the CA that is trusted
with_certificate() {
    kubectl create namespace "$1" && kubectl label namespace "$1" "kubernetes.io/metadata.name=$1" --overwrite && deployment "" busybox:1 | template "$1" 1000-it &&
        certificate "$2" "$3" && hook && configured "$1" "$4"
}
expired() { with_certificate w-expired 20200101000000Z 20210101000000Z ca.crt && said w-expired 'failed calling webhook "images.example.com".*certificate has expired or is not yet valid' "renew the certificate"; }
not_yet_valid() { # what a clock that is behind sees
    with_certificate w-future 20990101000000Z 21000101000000Z ca.crt && said w-future 'failed calling webhook "images.example.com".*certificate has expired or is not yet valid' "renew the certificate; if it is valid, set the clock"
}
unknown_authority() {
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=other -keyout other.key -out other.crt 2>/dev/null
    with_certificate w-unknown "$(year yesterday)" "$(year 'next year')" other.crt && said w-unknown 'failed calling webhook "images.example.com".*certificate signed by unknown authority' "give the one that calls the authority's certificate"
}

t "registries, and nodes under pressure" prepare
t "all are walked at once" walk_all
t "an image that nobody may pull without a login" said n-nologin 'image "private.invalid/x:1".*(no basic auth credentials|401 Unauthorized)' "give the pod a pull secret whose login may pull the image"
t "a pull secret with the wrong login, by its name" said n-wronglogin 'pull secret regcred.*(401 Unauthorized|no basic auth credentials)|(401 Unauthorized|no basic auth credentials).*pull secret regcred' "give the pod a pull secret whose login may pull the image"
t "a pull secret that is missing, by its name" said n-misslogin 'pull secrets? \(?nosuch' ""
t "with the right login it is pulled" right_login
t "a registry whose certificate's authority is not known" said n-strange 'image "strange.invalid/x:1".*certificate signed by unknown authority' "give the one that calls the authority's certificate"
t "a program that takes more memory than it may" said n-oom '(ended:|last) exit code 137 \(OOMKilled\)' "raise the container's memory limit"
t "a program that fills more of the disk than it may" said n-evicted 'Evicted: Usage of EmptyDir volume "v" exceeds the limit "1Mi"' "raise the limit"
t "a node that is short of memory" said n-memory 'cannot be scheduled: .*1 node.s. had (untolerated )?taint.* .node.kubernetes.io/memory-pressure' "free memory on the node"
t "a node whose disk is full" said n-disk 'cannot be scheduled: .*1 node.s. had (untolerated )?taint.* .node.kubernetes.io/disk-pressure' "free disk space on the node"
t "a node that is cordoned" said n-away 'cannot be scheduled: .*unschedulable' "uncordon"
t "a build that failed" said n-build 'build driver-1: status.phase is Failed, not Complete: Dockerfile build strategy has failed' "read the build's log"
t "a webhook whose certificate has expired" expired
t "one whose certificate is not yet valid: a clock" not_yet_valid
t "one whose authority is not known" unknown_authority
kubectl delete validatingwebhookconfiguration images >/dev/null
gone=
for r in n-*/ w-*/; do "$slipway" uninstall "${r%/}" --yes >/dev/null 2>&1 & gone="$gone $!"; done
# shellcheck disable=SC2086
wait $gone
plan
