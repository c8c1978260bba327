"""A server for test/emulator/chart/sources_test.sh: charts in all the ways that slipway gets them, and
all the ways in which that goes wrong, by the first part of the path. Arguments: the folder to
serve; a file for its port; a file for its log; and for TLS a certificate, a key and, where clients
need a certificate, a CA; with a word more they may have one. ADDRESS and PORT, from the environment:
where it listens, 127.0.0.1 and any."""
import base64, hashlib, http.server, json, os, ssl, subprocess, sys, time, urllib.parse

root, port_file, log_file = sys.argv[1:4]
tls = sys.argv[4:]
USER = "Basic " + base64.b64encode(b"user:pass word").decode()
CHART = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
PROVENANCE = "application/vnd.cncf.helm.chart.provenance.v1.prov"
CONFIG = "application/vnd.cncf.helm.config.v1+json"
BUNDLE = "application/vnd.nvidia.aicr.artifact"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
EMPTY = "application/vnd.oci.empty.v1+json"
OCI = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def read(path):
    with open(os.path.join(root, path), "rb") as f:
        return f.read()


def manifest(name):
    """<name>:<version>, as helm pushes it, or AICR where NAME-VERSION.tgz.aicr is there; None: no such chart."""
    chart, _, tag = name.partition(":")
    path = f"{chart}-{tag.replace('_', '+')}.tgz"
    if not os.path.exists(os.path.join(root, path)):
        return None
    bundle = os.path.exists(os.path.join(root, path + ".aicr"))
    layers = [(LAYER if bundle else CHART, read(path))]
    if os.path.exists(os.path.join(root, path + ".prov")):
        layers.append((PROVENANCE, read(path + ".prov")))
    config = b"{}"
    return json.dumps({
        "schemaVersion": 2, "mediaType": OCI, **({"artifactType": BUNDLE} if bundle else {}),
        "config": {"mediaType": EMPTY if bundle else CONFIG, "digest": digest(config), "size": len(config)},
        "layers": [{"mediaType": t, "digest": digest(b), "size": len(b)} for t, b in layers],
    }).encode()


def charts():
    return [f[:-4] for f in sorted(os.listdir(root)) if f.endswith(".tgz")]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def note(self):
        who = "user" if self.headers.get("Authorization") == USER else \
              "token" if "Bearer" in self.headers.get("Authorization", "") else \
              "other" if self.headers.get("Authorization") else "-"
        asked = "if" if self.headers.get("If-None-Match") else "-"
        cert = " cert" if tls and self.connection.getpeercert() else ""
        with open(log_file, "a") as f:
            f.write(f"{self.command} {self.path} {who} {asked}{cert}\n")

    def answer(self, status, body=b"", headers=(), length=None):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
            self.wfile.flush()

    def static(self, path):
        path = path.partition("?")[0]
        full = os.path.join(root, path)
        if not os.path.isfile(full):
            return self.answer(404, b"no such file")
        body = read(path)
        etag = '"' + hashlib.sha256(body).hexdigest()[:16] + '"'
        if self.headers.get("If-None-Match") == etag:
            return self.answer(304, headers=[("ETag", etag)])
        self.answer(200, body, [("ETag", etag)])

    def wrong_digest(self, path):
        body = read(path)
        self.answer(200, body + b"x" if path.endswith(".tgz") else body)

    def truncated(self, path):
        body = read(path)
        self.answer(200, body[:len(body) // 2], length=len(body))
        self.close_connection = True

    def slow(self, path):
        body = read(path)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            for i in range(len(body)):
                self.wfile.write(body[i:i + 1])
                self.wfile.flush()
                time.sleep(0.5)
        except OSError:
            pass

    def endless(self, path):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        piece = b"10000\r\n" + b"a" * 65536 + b"\r\n"
        try:
            while True:
                self.wfile.write(piece)
        except OSError:
            pass

    # ---- a registry ------------------------------------------------------------------------------
    def registry(self, path):
        if self.headers.get("Authorization") != "Bearer let-me-in":
            scheme = "https" if tls else "http"
            realm = f"{scheme}://{self.headers['Host']}/token"
            if path.startswith("elsewhere/"):
                realm = f"http://127.0.0.2:{server.server_address[1]}/token"
            return self.answer(401, b"{}", [("WWW-Authenticate",
                                             f'Bearer realm="{realm}",service="test",scope="x"')])
        if path == "":
            return self.answer(200, b"{}")
        name, kind, last = path.rsplit("/", 2)
        chart = name.rpartition("/")[2]
        if kind == "tags":
            tags = [c[len(chart) + 1:].replace("+", "_") for c in charts()
                    if c.startswith(chart + "-")]
            return self.answer(200, json.dumps({"name": name, "tags": tags}).encode()) \
                if tags else self.answer(404, b"{}")
        if kind == "blobs":
            for name in sorted(f for f in os.listdir(root) if ".tgz" in f):
                body = read(name)
                if digest(body) == last:
                    return self.answer(200, body)
            return self.answer(404, b"{}")
        bodies = [manifest(c.rpartition("-")[0] + ":" + c.rpartition("-")[2].replace("+", "_"))
                  for c in charts()]
        if last == "index":  # one manifest for an image, one that is the chart
            body = manifest(chart + ":1.2.3")
            body = json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": [
                {"mediaType": OCI, "digest": "sha256:" + "0" * 64, "size": 2,
                 "platform": {"os": "linux", "architecture": "amd64"}},
                {"mediaType": OCI, "digest": digest(body), "size": len(body),
                 "artifactType": CONFIG}]}).encode()
            return self.answer(200, body, [("Content-Type", INDEX)])
        if last == "image":
            body = json.dumps({"schemaVersion": 2, "mediaType": OCI, "config": {}, "layers": [
                {"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip",
                 "digest": "sha256:" + "1" * 64, "size": 1}]}).encode()
        elif last.startswith("sha256:"):
            body = next((b for b in bodies if b and digest(b) == last), None)
        else:
            body = manifest(f"{chart}:{last}")
        if body is None:
            return self.answer(404, b"{}")
        self.answer(200, body, [("Content-Type", OCI), ("Docker-Content-Digest", digest(body))])

    def token(self, path):
        if self.headers.get("Authorization") != USER:
            return self.answer(401, b"{}")
        self.answer(200, json.dumps({"token": "let-me-in"}).encode())

    # ---- git -------------------------------------------------------------------------------------
    def git(self, path):
        if path.startswith("moved/"):  # moved/HOST:PORT/REPOSITORY, on a server that requires a user
            if self.headers.get("Authorization") != USER:
                return self.answer(401, headers=[("WWW-Authenticate", 'Basic realm="git"')])
            return self.answer(302, headers=[("Location", "https://" + path[len("moved/"):])])
        if path.startswith("private/"):
            if self.headers.get("Authorization") != USER:
                return self.answer(401, headers=[("WWW-Authenticate", 'Basic realm="git"')])
            path = path[len("private/"):]
        path, _, query = path.partition("?")
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        env = dict(os.environ, GIT_PROJECT_ROOT=root, GIT_HTTP_EXPORT_ALL="1", PATH_INFO="/" + path,
                   QUERY_STRING=query, REQUEST_METHOD=self.command, REMOTE_ADDR="127.0.0.1",
                   CONTENT_TYPE=self.headers.get("Content-Type", ""),
                   CONTENT_LENGTH=str(len(body)),
                   HTTP_CONTENT_ENCODING=self.headers.get("Content-Encoding", ""))
        out = subprocess.run(["git", "-c", "safe.directory=*", "http-backend"], input=body, env=env,
                             stdout=subprocess.PIPE, check=False).stdout
        head, _, rest = out.partition(b"\r\n\r\n")
        headers = [tuple(line.split(": ", 1)) for line in head.decode().split("\r\n") if line]
        status = [v for n, v in headers if n == "Status"]
        self.answer(int(status[0].split()[0]) if status else 200, rest,
                    [h for h in headers if h[0] != "Status"])

    def do_GET(self):
        self.note()
        path = self.path
        if "://" in path:  # we are the proxy
            path = "/ok" + urllib.parse.urlparse(path).path
        first, _, rest = path.lstrip("/").partition("/")
        if first in ("auth", "away") and self.headers.get("Authorization") != USER:
            return self.answer(401, b"who?", [("WWW-Authenticate", 'Basic realm="x"')])
        if first == "round":
            return self.answer(302, headers=[("Location", self.path)])
        if first == "redirect":
            return self.answer(302, headers=[("Location", "/auth/" + rest)])
        if first in ("away", "to"):  # /away/SCHEME/HOST:PORT/PATH; "away" requires a user
            scheme, _, rest = rest.partition("/")
            return self.answer(302, headers=[("Location", f"{scheme}://{rest}")])
        if first == "hops":  # /hops/3/path: three redirects
            n, _, rest = rest.partition("/")
            where = f"/hops/{int(n) - 1}/{rest}" if int(n) > 1 else "/ok/" + rest
            return self.answer(302, headers=[("Location", where)])
        if first in ("403", "404", "500", "503"):
            return self.answer(int(first), b"<html>no</html>")
        handler = {"ok": self.static, "auth": self.static, "wrong": self.wrong_digest,
                   "truncated": self.truncated, "slow": self.slow, "endless": self.endless,
                   "v2": self.registry, "token?service=test&scope=x": self.token,
                   "git": self.git}.get(first)
        if first.startswith("token"):
            handler = self.token
        if handler is None:
            return self.answer(404)
        handler(rest)

    do_HEAD = do_GET
    do_POST = do_GET


server = http.server.ThreadingHTTPServer((os.environ.get("ADDRESS", "127.0.0.1"), int(os.environ.get("PORT", "0"))),
                                         Handler)
server.daemon_threads = True
if tls:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tls[0], tls[1])
    if len(tls) > 2:
        context.verify_mode = ssl.CERT_OPTIONAL if tls[3:] else ssl.CERT_REQUIRED
        context.load_verify_locations(tls[2])
    server.socket = context.wrap_socket(server.socket, server_side=True)
with open(port_file + ".tmp", "w") as f:
    f.write(str(server.server_address[1]))
os.rename(port_file + ".tmp", port_file)
server.serve_forever()
