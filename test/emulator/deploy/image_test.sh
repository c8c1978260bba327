# Images packed without a daemon: the same bytes each time, small, complete (each program runs from
# its layers alone), described, and accepted by a registry.
. test/tap.sh
top=$PWD
programs=$(sed -n 's/^PROGRAMS *:= *//p' Makefile)
export SOURCE_DATE_EPOCH=1700000000 TAG=t REGISTRY=127.0.0.1:1/x
unset IMG

pack() { # shellcheck disable=SC2086
    hack/image.sh build --out "$1" $programs
}

reproducible() {
    pack "$tap_dir/a" >"$tap_dir/report" && (umask 077 && TZ=Asia/Tokyo LC_ALL=C.UTF-8 pack "$tap_dir/b" >/dev/null) && diff -r "$tap_dir/a" "$tap_dir/b"
}

small() { # all programs together, each layer once
    cat "$tap_dir/report"
    awk '/^together/ { ok = $2 <= 32 * 1024 && $5 <= 12 * 1024 } END { exit !ok }' "$tap_dir/report"
}

# unpack PROGRAM ROOT: the layers of its OCI layout, in order
unpack() {
    local layout=$tap_dir/a/$1.oci manifest d
    manifest=$(jq -r '.manifests[0].digest' "$layout/index.json")
    mkdir -p "$2"
    for d in $(jq -r '.layers[].digest' "$layout/blobs/sha256/${manifest#sha256:}"); do
        [ "$(sha256sum <"$layout/blobs/sha256/${d#sha256:}" | cut -d' ' -f1)" = "${d#sha256:}" ] || return 1
        tar -C "$2" -xzf "$layout/blobs/sha256/${d#sha256:}" || return 1
    done
}

inside() { # ROOT COMMAND...: as the image's user, seeing nothing but the image
    local root=$1
    shift
    env -i LD_LIBRARY_PATH=/usr/lib/slipway SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt HOME=/tmp \
        "$(command -v chroot)" --userspec=65532:65532 "$root" "$@"
}

runs() { # PROGRAM
    unpack "$1" "$tap_dir/root-$1" && inside "$tap_dir/root-$1" "/usr/bin/$1" --help >"$tap_dir/help" && grep -q -i usage "$tap_dir/help"
}

carries_recipes() {
    local r
    for r in recipes/*/; do
        inside "$tap_dir/root-slipway" /usr/bin/slipway render --stand-ins -a resource.k8s.io/v1/DeviceClass "/${r%/}" 2>/dev/null >"$tap_dir/inside" && build/slipway render --stand-ins -a resource.k8s.io/v1/DeviceClass "${r%/}" | cmp - "$tap_dir/inside" || return 1
    done
}

# What Containerfile copies into its image: names, modes and bytes of the packed one, and the name that
# its entry point has.
as_folder() { # PROGRAM
    hack/image.sh root "$tap_dir/folder-$1" "$1" || return 1
    list() { (cd "$1" && find . -printf '%m %y %P\n' | sort); }
    diff <(list "$tap_dir/root-$1") <(list "$tap_dir/folder-$1") && diff -r --no-dereference "$tap_dir/root-$1" "$tap_dir/folder-$1" &&
        inside "$tap_dir/folder-$1" "/usr/bin/$1" --help >"$tap_dir/help" && grep -q -i usage "$tap_dir/help"
}

opens_archives() {
    build/slipway create "$tap_dir/first" >/dev/null && (cd "$tap_dir" && "$top/build/slipway" package first >/dev/null) &&
        install -m 644 "$tap_dir"/first-*.tgz "$tap_dir/root-slipway/tmp/first.tgz" && inside "$tap_dir/root-slipway" /usr/bin/slipway render /tmp/first.tgz | grep -q '^kind:'
}

# libcurl comes up, with empty libraries for the protocols that are not spoken.
asks_the_network() {
    inside "$tap_dir/root-slipway" /usr/bin/slipway fetch http://127.0.0.1:1/a.tgz >"$tap_dir/asked" 2>&1
    cat "$tap_dir/asked"
    grep -qi 'connect' "$tap_dir/asked" && ! grep -q 'version information\|symbol' "$tap_dir/asked" &&
        inside "$tap_dir/root-slipway" /usr/bin/slipway fetch https://127.0.0.1:1/a.tgz 2>&1 | grep -qi connect
}

lean() { # no ICU and no libxml2 anywhere, archives and git in slipway's own image only
    local p
    for p in $programs; do
        ! ls "$tap_dir/root-$p/usr/lib/slipway" | grep -E 'libicu|libxml2|libstdc|libgnutls|libsasl' || return 1
        [ "$p" = slipway ] || ! ls "$tap_dir/root-$p/usr/lib/slipway" | grep -E 'libarchive|libgit2' || return 1
    done
}

described() {
    local p c
    for p in $programs; do
        c=$(tar -xOf "$tap_dir/a/$p.tar" manifest.json | jq -r '.[0].Config')
        tar -xOf "$tap_dir/a/$p.tar" "$c" | jq -e '.config.User == "65532:65532" and .config.Labels["org.opencontainers.image.revision"] != "" and .config.Labels.summary != "" and .architecture != "" and (.rootfs.diff_ids | length) == (.history | length)' >/dev/null || return 1
        # SPDX 2.3: what is required, and a package for each library that is in the image
        jq -e --arg n "$(ls "$tap_dir/root-$p/usr/lib/slipway" | wc -l)" '.spdxVersion == "SPDX-2.3" and .SPDXID == "SPDXRef-DOCUMENT" and .dataLicense == "CC0-1.0" and (.documentNamespace | startswith("https://")) and (.creationInfo.creators | length) > 0
            and all(.packages[]; .SPDXID and .name and .downloadLocation and (.checksums[0].checksumValue | length) == 64)
            and ((.packages | length) - 1 == ($n | tonumber))
            and ([.packages[].SPDXID] | length) == ([.packages[].SPDXID] | unique | length)
            and ([.relationships[].relatedSpdxElement] - [.packages[].SPDXID]) == []' "$tap_dir/a/$p.spdx.json" >/dev/null || { echo "$p.spdx.json"; return 1; }
    done
}

nothing_writable() { # by its user, but /tmp
    ! find "$tap_dir/root-slipway" -xdev ! -type l ! -path '*/tmp' -perm /022 | grep -v '/tmp/'
}

# A registry of the distribution protocol, in memory, that wants a login.
registry() {
    python3 - "$tap_dir" <<'P' &
import base64, hashlib, http.server, json, re, sys
blobs, manifests = {}, {}
class H(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *a): pass
    def answer(self, code, body=b"", **headers):
        self.send_response(code)
        for k, v in headers.items(): self.send_header(k.replace("_", "-"), v)
        self.send_header("Content-Length", str(len(body))); self.end_headers()
        if self.command != "HEAD": self.wfile.write(body)
    def handle_one(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Authorization") != "Basic " + base64.b64encode(b"me:secret").decode():
            return self.answer(401, WWW_Authenticate='Basic realm="r"')
        path, _, query = self.path.partition("?")
        if path == "/v2/": return self.answer(200)
        repository, kind, name = re.match(r"/v2/x/([^/]*)/(blobs|manifests)/(.*)", path).groups()
        if kind == "blobs" and self.command in ("HEAD", "GET"):
            return self.answer(200, blobs[name]) if name in blobs else self.answer(404)
        if self.command == "POST": return self.answer(202, Location="/v2/x/%s/blobs/uploads/1?state=a" % repository)
        if self.command == "PUT" and kind == "blobs":
            d = query.split("digest=")[1]
            if "sha256:" + hashlib.sha256(body).hexdigest() != d: return self.answer(400)
            blobs[d] = body; open(sys.argv[1] + "/pushed", "a").write(d + "\n"); return self.answer(201)
        if self.command == "PUT":
            m = json.loads(body)
            if "manifests" in m: ok = all((repository, x["digest"]) in manifests for x in m["manifests"])
            else: ok = all(x["digest"] in blobs and len(blobs[x["digest"]]) == x["size"] for x in m["layers"] + [m["config"]])
            digest = "sha256:" + hashlib.sha256(body).hexdigest()
            if name.startswith("sha256:") and name != digest or self.headers["Content-Type"] != m["mediaType"]: ok = False
            if ok: manifests[repository, name] = manifests[repository, digest] = body
            return self.answer(201 if ok else 400)
        if (repository, name) in manifests:
            body = manifests[repository, name]
            return self.answer(200, body, Content_Type=json.loads(body)["mediaType"])
        self.answer(404)
    do_GET = do_HEAD = do_POST = do_PUT = handle_one
s = http.server.HTTPServer(("127.0.0.1", 0), H)
open(sys.argv[1] + "/port", "w").write(str(s.server_port))
s.serve_forever()
P
    registry_pid=$!
    until_ok 10 test -s "$tap_dir/port"
}

pushed() {
    local to=127.0.0.1:$(cat "$tap_dir/port")/x/slipway:t n
    REGISTRY_USER=me REGISTRY_PASSWORD=secret hack/image.sh push "$tap_dir/a/slipway.oci" "$to" | grep -q '@sha256:' || return 1
    n=$(wc -l <"$tap_dir/pushed")
    REGISTRY_USER=me REGISTRY_PASSWORD=secret hack/image.sh push "$tap_dir/a/slipway.oci" "$to" && [ "$(wc -l <"$tap_dir/pushed")" = "$n" ]
}

not_logged_in() {
    local out
    out=$(HOME=$tap_dir REGISTRY_AUTH_FILE='' hack/image.sh push "$tap_dir/a/slipway.oci" "127.0.0.1:$(cat "$tap_dir/port")/x/slipway:t" 2>&1)
    [ $? -ne 0 ] && grep -q 'wants a login' <<<"$out"
}

# Two architectures under one name: each manifest by its digest, the index by the tag. The second is the same with another name of it.
several() {
    local to=127.0.0.1:$(cat "$tap_dir/port")/x/several:t digest
    cp -r "$tap_dir/a/slipway.oci" "$tap_dir/second.oci" && sed -i 's/"architecture": "[a-z0-9]*"/"architecture": "arm64"/' "$tap_dir/second.oci/index.json" &&
        digest=$(hack/image.sh push "$tap_dir/a/slipway-webhook.oci" "$tap_dir/second.oci" "$to" | sed 's/.*@sha256://') && [ ${#digest} = 64 ] || return 1
    curl -sf -u me:secret "http://127.0.0.1:$(cat "$tap_dir/port")/v2/x/several/manifests/t" >"$tap_dir/index" && [ "$(sha256sum <"$tap_dir/index" | cut -c1-64)" = "$digest" ] &&
        jq -e '.mediaType == "application/vnd.oci.image.index.v1+json" and (.manifests | length) == 2 and .manifests[1].platform == {"architecture": "arm64", "os": "linux"}' "$tap_dir/index"
}
# The chart of the operator, as `helm push` sends it: slipway reads it from there.
chart() {
    local to=127.0.0.1:$(cat "$tap_dir/port")/x/slipway-chart
    (cd "$tap_dir" && "$top/build/slipway" package "$top/charts/slipway") >/dev/null && hack/image.sh chart "$tap_dir"/slipway-[0-9]*.tgz "$to:0.1.0" && hack/image.sh push build/images/slipway-chart.oci "$to:0.1.0" || return 1
    "$top/build/slipway" render charts/slipway -n slipway >"$tap_dir/of-folder" &&
        "$top/build/slipway" render "oci://$to" --version 0.1.0 --username me --password secret -n slipway >"$tap_dir/of-registry" && cmp "$tap_dir/of-folder" "$tap_dir/of-registry"
    ! hack/image.sh chart README.md "$to:0.1.0" 2>"$tap_dir/refused" && grep -q 'README.md is no archive of a chart' "$tap_dir/refused"
}

if ! command -v jq >/dev/null || ! command -v readelf >/dev/null; then
    skip "images" "jq and readelf are needed"
    plan
fi
t "the same input gives the same bytes" reproducible
t "all programs together fit 32 MiB, 12 MiB compressed" small
if [ "$(id -u)" = 0 ]; then
    for p in $programs; do t "$p runs from its layers alone, not as root" runs "$p"; done
    for p in $programs; do t "$p as a folder, for Containerfile, is the same" as_folder "$p"; done
    t "the recipes are in slipway's image and render the same there" carries_recipes
    t "packaged charts can be read in it" opens_archives
    t "it can ask for what is on the network" asks_the_network
    t "no image brings ICU or GnuTLS along, and libarchive is in slipway's only" lean
    t "labels, user and bills of materials are complete" described
    t "its user can write nowhere but in /tmp" nothing_writable
else
    skip "programs run from their layers" "only root may chroot"
fi
if command -v python3 >/dev/null && registry; then
    t "push sends what the registry lacks, with a login" pushed
    t "push without a login says so" not_logged_in
    export REGISTRY_USER=me REGISTRY_PASSWORD=secret
    t "images of several architectures have one name" several
    t "a chart is pushed as Helm does it, and read from there" chart
    kill "$registry_pid"
fi
plan
