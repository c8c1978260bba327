# Where recipes come from: chart repositories, registries, git; and what goes wrong there.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
root=$PWD
export SLIPWAY_CACHE_DIR=$tap_dir/cache HOME=$tap_dir/home TMPDIR=$tap_dir/tmp
unset DOCKER_CONFIG REGISTRY_AUTH_FILE XDG_RUNTIME_DIR XDG_CACHE_HOME SSL_CERT_FILE
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy NO_PROXY no_proxy
mkdir -p "$HOME" "$TMPDIR" "$tap_dir/www"
pids=
trap 'for p in $pids; do kill "$p" 2>/dev/null; done; rm -rf "$tap_dir"' EXIT

fails() { # CODE WORDS COMMAND...: that exit status, those words on stderr, nothing left behind
    local code=$1 words=$2 rc=0
    shift 2
    "$@" >"$tap_dir/stdout" 2>"$tap_dir/stderr" || rc=$?
    cat "$tap_dir/stderr"
    [ $rc -eq "$code" ] && grep -qF -- "$words" "$tap_dir/stderr" && nothing_is_left
}

nothing_is_left() {
    [ -z "$(ls -A "$TMPDIR")" ] && [ -z "$(ls -A "$SLIPWAY_CACHE_DIR/tmp" 2>/dev/null)" ] ||
        { ls -lR "$TMPDIR" "$SLIPWAY_CACHE_DIR/tmp"; return 1; }
}

got() { # WORDS COMMAND...: it succeeds, with those words on stdout
    local words=$1
    shift
    "$@" >"$tap_dir/stdout" && cat "$tap_dir/stdout" &&
        grep -qF -- "$words" "$tap_dir/stdout" && nothing_is_left
}

if ! command -v python3 >/dev/null; then
    skip "recipes from elsewhere" "no python3 here"
    plan
fi

# ---- charts, certificates, servers ---------------------------------------------------------------

chart() { # DIR NAME VERSION [MORE OF Chart.yaml]
    mkdir -p "$1/templates"
    printf 'apiVersion: v2\nname: %s\nversion: %s\n%s\n' "$2" "$3" "${4:-}" >"$1/Chart.yaml"
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\n' "$2" >"$1/templates/cm.yaml"
}
cd "$tap_dir" || exit 1
for v in 1.2.3 1.10.0 2.0.0-rc.1; do
    chart "src/a-$v" a $v
    "$slipway" package -d www "src/a-$v" >/dev/null
done
chart src/plus plus 1.0.0+b.1
"$slipway" package -d www src/plus >/dev/null
index() { # VERSION...
    echo "apiVersion: v1"
    echo "entries:"
    echo "  a:"
    for v in "$@"; do
        d=$(sha256sum <"www/a-$v.tgz")
        echo "  - {name: a, version: $v, urls: [a-$v.tgz], digest: \"${d%% *}\"}"
    done
}
index 1.10.0 1.2.3 2.0.0-rc.1 >www/index.yaml
tar -C src -cf - a-1.2.3 | zstd -q >www/a-1.2.3.tar.zst 2>/dev/null

openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj "/CN=test CA" \
    >/dev/null 2>&1
cert() { # NAME SUBJECT-ALT-NAME
    openssl req -newkey rsa:2048 -nodes -keyout "$1.key" -out "$1.csr" -subj "/CN=$1" >/dev/null 2>&1
    echo "subjectAltName=$2" >"$1.ext"
    openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 \
        -extfile "$1.ext" -out "$1.pem" >/dev/null 2>&1
}
cert server IP:127.0.0.1,DNS:localhost,DNS:charts.example
cert client DNS:client
cert other DNS:other.example,IP:192.0.2.1

start() { # NAME [ARGS]
    local name=$1
    shift
    : >"$name.log"
    python3 "$root/test/emulator/chart/chart_server.py" www "$name.port" "$name.log" "$@" 2>"$name.err" &
    pids="$pids $!"
}
start http
start plain
start https server.pem server.key
start asks server.pem server.key ca.pem optional
start mutual server.pem server.key ca.pem
start other other.pem other.key
until_ok 20 test -s plain.port && until_ok 20 test -s asks.port
until_ok 20 test -s http.port && until_ok 20 test -s https.port && until_ok 20 test -s mutual.port && until_ok 20 test -s other.port
http=http://127.0.0.1:$(cat http.port)
https=https://127.0.0.1:$(cat https.port)
mutual=https://127.0.0.1:$(cat mutual.port)
fetch() { "$slipway" fetch "$@"; }

# ---- chart repositories --------------------------------------------------------------------------

t "the newest version of a chart in a repository" got "a 1.10.0" fetch a --repo "$http/ok"
t "a range of versions" got "a 1.2.3" fetch a --repo "$http/ok/" --version "~1.2"
t "a prerelease where it is asked for" got "a 2.0.0-rc.1" fetch a --repo "$http/ok" --version ">=2-0"
t "a chart by its address" got "a 1.2.3" fetch "$http/ok/a-1.2.3.tgz"
if [ -s www/a-1.2.3.tar.zst ]; then
    t "a chart in tar and zstd" got "a 1.2.3" fetch "$http/ok/a-1.2.3.tar.zst"
else
    skip "a chart in tar and zstd" "no zstd here"
fi
t "a chart is rendered from a repository" got "metadata: {name: a}" \
    "$slipway" render a --repo "$http/ok" --version 1.2.3

once() {
    : >http.log
    got "(cached)" fetch a --repo "$http/ok" && cat http.log &&
        [ "$(grep -c . http.log)" -eq 1 ] && grep -q "GET /ok/index.yaml - if" http.log
}
t "what has a digest is downloaded once, an index when it has changed" once

changes() {
    chart src/a-1.11.0 a 1.11.0 && "$slipway" package -d www src/a-1.11.0 &&
        index 1.11.0 1.10.0 1.2.3 2.0.0-rc.1 >www/index.yaml &&
        got "a 1.11.0" fetch a --repo "$http/ok"
}
t "a new version is seen" changes

with_user() {
    fails 1 "HTTP 401: a user and a password are required" fetch a --repo "$http/auth" &&
        fails 1 "HTTP 401: the credentials are not accepted" \
            fetch a --repo "$http/auth" --username user --password no &&
        got "a 1.11.0" fetch a --repo "$http/auth" --username user --password "pass word" &&
        got "a 1.11.0" fetch a --repo "http://user:pass%20word@${http#http://}/auth" &&
        ! grep -q "pass word\|pass%20word" stdout
}
t "a user and a password" with_user
t "a redirect is followed" got "a 1.2.3" \
    fetch "$http/redirect/a-1.2.3.tgz" --username user --password "pass word"

away() { # LOG WORDS COMMAND...: the first server got the user, what it redirects to got none
    local log=$1 words=$2
    shift 2
    : >http.log
    : >$log
    "$@" --username user --password "pass word" >stdout 2>stderr
    cat stdout stderr http.log $log
    grep -qF -- "$words" stdout stderr && grep -q "GET /away/.* user" http.log && ! grep -v /away/ $log | grep user
}
t "a user stays with the host that it is for" away http.log "a 1.2.3" \
    fetch "$http/away/http/localhost:$(cat http.port)/ok/a-1.2.3.tgz"
t "also where another host asks for it" away http.log "HTTP 401: the login is for 127.0.0.1:$(cat http.port), not for localhost" \
    fetch "$http/away/http/localhost:$(cat http.port)/auth/a-1.2.3.tgz"
t "where another port asks for it" away plain.log "HTTP 401: the login is for 127.0.0.1:$(cat http.port), not for 127.0.0.1:$(cat plain.port)" \
    fetch "$http/away/http/127.0.0.1:$(cat plain.port)/auth/a-1.2.3.tgz"
t "where another scheme asks for it" away https.log "HTTP 401: the login is for 127.0.0.1:$(cat http.port), not for 127.0.0.1:$(cat https.port)" \
    fetch "$http/away/https/127.0.0.1:$(cat https.port)/auth/a-1.2.3.tgz" --ca-file ca.pem
t "unless all may have it" got "a 1.2.3" fetch "$http/away/http/127.0.0.1:$(cat plain.port)/auth/a-1.2.3.tgz" \
    --username user --password "pass word" --pass-credentials
t "what is asked for with TLS is not got without" fails 2 "it redirects to another kind of address, which is not followed" \
    fetch "$https/away/http/127.0.0.1:$(cat http.port)/ok/a-1.2.3.tgz" --ca-file ca.pem --username user --password "pass word"
t "a redirect to a file is not followed" fails 2 "it redirects to another kind of address" \
    fetch "$http/away/file//$tap_dir/www/a-1.2.3.tgz" --username user --password "pass word"
t "a redirect to itself" fails 2 "it redirects too many times" fetch "$http/round/a.tgz"

proxied() {
    : >http.log
    http_proxy=$http got "a 1.2.3" fetch http://charts.example/a-1.2.3.tgz && cat http.log &&
        grep -q "GET http://charts.example/a-1.2.3.tgz" http.log
}
t "through a proxy" proxied

# ---- TLS -----------------------------------------------------------------------------------------

t "a private CA" got "a 1.11.0" fetch a --repo "$https/ok" --ca-file ca.pem
t "an untrusted certificate is refused" fails 2 "$https/ok/index.yaml: " fetch a --repo "$https/ok"
t "a certificate of another name is refused" fails 2 "https://127.0.0.1:$(cat other.port)/ok/index.yaml: " \
    fetch a --repo "https://127.0.0.1:$(cat other.port)/ok" --ca-file ca.pem
t "unless the user says so" got "a 1.11.0" fetch a --repo "$https/ok" --insecure-skip-tls-verify
t "a client's certificate" got "a 1.11.0" fetch a --repo "$mutual/ok" --ca-file ca.pem \
    --cert-file client.pem --key-file client.key
one_server() { # the certificate is for the server asked first
    : >asks.log
    got "a 1.2.3" fetch "$mutual/away/https/localhost:$(cat asks.port)/ok/a-1.2.3.tgz" --ca-file ca.pem \
        --cert-file client.pem --key-file client.key --username user --password "pass word" &&
        cat asks.log && grep -q "GET /ok/a-1.2.3.tgz - -$" asks.log &&
        got "a 1.2.3" fetch "https://127.0.0.1:$(cat asks.port)/ok/a-1.2.3.tgz" --cache-dir "" --ca-file ca.pem \
            --cert-file client.pem --key-file client.key && grep "GET /ok/a-1.2.3.tgz - - cert$" asks.log
}
t "a client's certificate stays with the server that it is for" one_server
t "a server that wants one refuses who has none" fails 1 "$mutual/ok/index.yaml: " \
    fetch a --repo "$mutual/ok" --ca-file ca.pem
t "a CA file that is none" fails 2 "ca.key" fetch a --repo "$https/ok" --ca-file ca.key
t "a CA file that is not there" fails 2 "nowhere.pem" fetch a --repo "$https/ok" --ca-file nowhere.pem

# ---- what goes wrong -----------------------------------------------------------------------------

t "404" fails 2 "$http/404/index.yaml: HTTP 404: not found" fetch a --repo "$http/404"
t "403" fails 1 "$http/403/a.tgz: HTTP 403: not allowed" fetch "$http/403/a.tgz"
t "500" fails 1 "$http/500/index.yaml: HTTP 500: the server failed" fetch a --repo "$http/500"
t "nobody listens" fails 1 "Connection refused" fetch http://127.0.0.1:1/a.tgz
t "no such chart" fails 2 "there is no chart 'b'" fetch b --repo "$http/ok"
t "no such version" fails 2 "there is no version '^9' of chart 'a' (there are 1.11.0, 1.10.0" \
    fetch a --repo "$http/ok" --version ^9
t "a page that is no index" fails 2 "index.yaml" fetch a --repo "$http/ok/a-1.2.3.tgz/.."
export SLIPWAY_CACHE_DIR=$tap_dir/cache2
t "a wrong digest" fails 2 "$http/wrong/a-1.2.3.tgz: its digest is sha256:" \
    fetch a --repo "$http/wrong" --version 1.2.3
t "a download that breaks off" fails 1 "$http/truncated/a-1.2.3.tgz: " fetch "$http/truncated/a-1.2.3.tgz"
t "a slow server" fails 1 "within 1 s" fetch "$http/slow/a-1.2.3.tgz" --fetch-timeout 1s
t "a download without an end" fails 2 "$http/endless/x.tgz: " fetch "$http/endless/x.tgz"
t "what is no archive" fails 2 "$http/ok/index.yaml: not a packaged chart" fetch "$http/ok/index.yaml"
not_kept() { # what was wrong is not in the cache under the name of what is right
    got "a 1.2.3" fetch a --repo "$http/ok" --version 1.2.3
}
t "after all that the right one is got" not_kept

no_cache() {
    got "a 1.2.3" fetch "$http/ok/a-1.2.3.tgz" --cache-dir "" &&
        got "a 1.2.3" fetch "$http/ok/a-1.2.3.tgz" --cache-dir /proc/nowhere
}
t "without a cache" no_cache

at_once() { # ten at a time from an empty cache
    export SLIPWAY_CACHE_DIR=$tap_dir/cache3
    local p=
    for i in 1 2 3 4 5 6 7 8 9 10; do
        "$slipway" fetch a --repo "$http/ok" --version 1.2.3 >"once.$i" 2>&1 &
        p="$p $!"
    done
    for i in $p; do wait "$i" || { cat once.*; return 1; }; done
    [ "$(cat once.* | grep -c '^a 1.2.3')" -eq 10 ] && nothing_is_left
}
t "many share a cache" at_once

# ---- dependencies --------------------------------------------------------------------------------

dependencies() {
    chart src/top top 1.0.0 "dependencies: [{name: a, version: ^1.2, repository: \"$http/ok\"}]"
    got "metadata: {name: a}" "$slipway" render src/top &&
        got "a-1.11.0.tgz" fetch src/top &&
        "$slipway" package -d "$tap_dir" src/top && tar tzf top-1.0.0.tgz &&
        tar tzf top-1.0.0.tgz | grep -q "top/charts/a/Chart.yaml"
}
t "dependencies are got, and packed" dependencies

locked() {
    python3 - "$http/ok" >src/top/Chart.lock <<'P'
import hashlib, json, sys
asked = [{"name": "a", "version": "^1.2", "repository": sys.argv[1]}]
lock = [{"name": "a", "version": "1.2.3", "repository": sys.argv[1]}]
digest = hashlib.sha256(json.dumps([asked, lock], separators=(",", ":")).encode()).hexdigest()
print(json.dumps({"dependencies": lock, "digest": "sha256:" + digest}))
P
    got "a-1.2.3.tgz" fetch src/top
}
t "Chart.lock chooses" locked
out_of_sync() {
    sed -i 's/1\.2\.3/1.10.0/' src/top/Chart.lock
    fails 2 "src/top/Chart.lock: its digest is of other dependencies" fetch src/top
}
t "a Chart.lock of other dependencies is refused" out_of_sync
missing_dependency() {
    chart src/lost lost 1.0.0 "dependencies: [{name: b, version: '*', repository: \"$http/ok\"}]"
    fails 2 "src/lost/Chart.yaml: dependencies[0] 'b': $http/ok/index.yaml: there is no chart 'b'" \
        "$slipway" render src/lost
}
t "a dependency that is not there" missing_dependency

# ---- a registry ----------------------------------------------------------------------------------

oci=oci://127.0.0.1:$(cat https.port)
mkdir docker
auth=$(printf 'user:pass word' | base64 -w0)
echo "{\"auths\": {\"127.0.0.1:$(cat https.port)\": {\"auth\": \"$auth\"}}}" >docker/config.json
export SLIPWAY_CACHE_DIR=$tap_dir/cache4
t "a chart in a registry" got "a 1.2.3" \
    fetch "$oci/charts/a:1.2.3" --ca-file ca.pem --registry-config docker/config.json
t "the newest of its tags" got "a 1.11.0" \
    fetch "$oci/charts/a" --ca-file ca.pem --registry-config docker/config.json
home_config() {
    mkdir -p "$HOME/.docker" && cp docker/config.json "$HOME/.docker/" &&
        got "a 1.2.3" fetch a --repo "$oci/charts" --version "~1.2" --ca-file ca.pem
    local rc=$?
    rm -r "$HOME/.docker"
    return $rc
}
t "logins are found where docker has them" home_config
t "a user and a password for a registry" got "a 1.2.3" fetch "$oci/charts/a:1.2.3" --ca-file ca.pem \
    --username user --password "pass word"
t "a registry refuses who has no login" fails 1 "$oci/charts/a:1.2.3: " \
    fetch "$oci/charts/a:1.2.3" --ca-file ca.pem
t "a version with a plus is a tag with an underscore" got "plus 1.0.0+b.1" \
    fetch plus --repo "$oci/charts" --version 1.0.0+b.1 --ca-file ca.pem --registry-config docker/config.json
t "an index" got "a 1.2.3" \
    fetch "$oci/charts/a:index" --ca-file ca.pem --registry-config docker/config.json
t "an image is no chart" fails 2 "an image, not a chart" \
    fetch "$oci/charts/a:image" --ca-file ca.pem --registry-config docker/config.json
pinned() {
    fetch "$oci/charts/a:1.2.3" --ca-file ca.pem --registry-config docker/config.json >oci.out &&
        local digest && digest=$(grep -o '@sha256:[0-9a-f]*' oci.out) &&
        got "a 1.2.3" fetch "$oci/charts/a$digest" --ca-file ca.pem \
            --registry-config docker/config.json &&
        fails 2 "$oci/charts/a@sha256:" fetch "$oci/charts/a${digest%????}0000" --ca-file ca.pem \
            --registry-config docker/config.json
}
t "a digest pins a chart" pinned
t "no such tag" fails 2 "$oci/charts/a:9.9.9: " \
    fetch "$oci/charts/a:9.9.9" --ca-file ca.pem --registry-config docker/config.json
t "an untrusted registry is refused" fails 2 "$oci/charts/a:1.2.3: " \
    fetch "$oci/charts/a:1.2.3" --registry-config docker/config.json
oci_dependency() {
    chart src/of-oci of-oci 1.0.0 "dependencies: [{name: a, version: 1.2.3, repository: \"$oci/charts\"}]"
    got "metadata: {name: a}" "$slipway" render src/of-oci --ca-file ca.pem \
        --registry-config docker/config.json
}
t "a dependency in a registry" oci_dependency

# ---- git -----------------------------------------------------------------------------------------

if ! command -v git >/dev/null; then
    skip "recipes in git" "no git here"
    plan
fi
export SLIPWAY_CACHE_DIR=$tap_dir/cache5
g() { git -C "$tap_dir/work-tree" -c user.name=t -c user.email=t@t "$@"; }
mkdir work-tree && g init -q -b main
chart work-tree/charts/g g 1.0.0 'dependencies: [{name: h, version: 1.x, repository: "file://../h"}]'
chart work-tree/charts/h h 1.0.0
ln -s ../../h/templates/cm.yaml work-tree/charts/g/templates/linked.yaml
sed -i 's/name: h/name: linked-h/' work-tree/charts/h/templates/cm.yaml
echo "secret.txt" >work-tree/charts/g/.helmignore
echo no >work-tree/charts/g/secret.txt
g add -A && g commit -qm one && g tag v1 && g tag -a -m annotated v1a
first=$(g rev-parse HEAD)
sed -i s/1.0.0/1.1.0/ work-tree/charts/g/Chart.yaml
g commit -qam two && g branch old "$first"
git clone -q --bare work-tree www/repo.git
git -C www/repo.git config http.uploadpack true
git_url="git+https://127.0.0.1:$(cat https.port)/git/repo.git"

t "a chart in a git repository" got "g 1.1.0" fetch "$git_url//charts/g" --ca-file ca.pem
t "its neighbour in the same commit" got "name: linked-h" \
    "$slipway" render "$git_url//charts/g" --ca-file ca.pem
t "a tag" got "g 1.0.0" fetch "$git_url//charts/g?ref=v1" --ca-file ca.pem
t "an annotated tag" got "$first" fetch "$git_url//charts/g?ref=v1a" --ca-file ca.pem
t "a branch" got "g 1.0.0" fetch "$git_url//charts/g?ref=old" --ca-file ca.pem
t "a commit" got "g 1.0.0" fetch "$git_url//charts/g?ref=$first" --ca-file ca.pem
offline() {
    got "(cached)" fetch "git+https://127.0.0.1:$(cat https.port)/git/repo.git//charts/g?ref=$first" &&
        ! grep -v "(cached)" stdout | grep git+https
}
t "a commit that was got is not asked for again" offline
moves() {
    sed -i s/1.1.0/1.2.0/ work-tree/charts/g/Chart.yaml && g commit -qam three &&
        g push -q "$tap_dir/www/repo.git" main && got "g 1.2.0" fetch "$git_url//charts/g" --ca-file ca.pem
}
t "a branch that moved is got anew" moves
t "a chart by its name in a repository" got "g 1.2.0" fetch g --repo "$git_url" --ca-file ca.pem
t "git over a private CA is refused without it" fails 2 "$git_url//charts/g: the server is not trusted" \
    fetch "$git_url//charts/g"
t "a ref that is not there" fails 2 "there is no branch or tag 'nope' (there are main, old, v1, v1a)" \
    fetch "$git_url//charts/g?ref=nope" --ca-file ca.pem
t "a folder without a chart" fails 2 "there is no Chart.yaml in 'charts' of the repository" \
    fetch "$git_url//charts" --ca-file ca.pem
t "a repository that is not there" fails 2 "git/none.git: " \
    fetch "git+https://127.0.0.1:$(cat https.port)/git/none.git" --ca-file ca.pem
if getent hosts localhost >/dev/null; then
    t "git by a name instead of an address" got "g 1.2.0" \
        fetch "git+https://localhost:$(cat https.port)/git/repo.git//charts/g" --ca-file ca.pem
else
    skip "git by a name instead of an address" "there is no localhost in /etc/hosts"
fi
t "git on a server of another name" fails 2 "the server is not trusted" \
    fetch "git+https://127.0.0.1:$(cat other.port)/git/repo.git//charts/g" --ca-file ca.pem
private="git+https://127.0.0.1:$(cat https.port)/git/private/repo.git//charts/h"
no_library() { # the loader finds this one first, and it is none
    mkdir -p broken && local name && name=$(strings "$slipway" | grep -m1 '^libgit2\.so\.') &&
        echo nothing >"broken/$name" &&
        LD_LIBRARY_PATH=$tap_dir/broken fails 1 "git repositories are read by libgit2, which is not installed" \
            fetch "git+file://$tap_dir/work-tree//charts/h?ref=v1"
}
if strings "$slipway" 2>/dev/null | grep -q '^libgit2\.so\.'; then
    t "without libgit2" no_library
fi
t "a token" got "h 1.0.0" fetch "$private" --ca-file ca.pem --username user --password "pass word"
t "no token" fails 1 "the credentials are not accepted" fetch "$private" --ca-file ca.pem
t "a wrong token" fails 1 "the credentials are not accepted" \
    fetch "$private" --ca-file ca.pem --username user --password no
moved() { # libgit2 would ask whom it is sent to with the same password
    : >asks.log
    fails 1 "redirect" fetch "git+https://127.0.0.1:$(cat https.port)/git/moved/localhost:$(cat asks.port)/git/private/repo.git//charts/h" \
        --ca-file ca.pem --username user --password "pass word" && cat asks.log && ! grep -q . asks.log
}
t "git: a password stays with the host that it is for" moved
moved_port() { # libgit2 follows within the host
    : >asks.log
    fails 1 "" fetch "git+https://127.0.0.1:$(cat https.port)/git/moved/127.0.0.1:$(cat asks.port)/git/private/repo.git//charts/h" \
        --ca-file ca.pem --username user --password "pass word" && cat asks.log && ! grep -q . asks.log
}
t "git: a password stays with the port that it is for" moved_port
t "a path that leads outside" fails 2 "a path that leads outside the repository" \
    fetch "$git_url//../x" --ca-file ca.pem
escapes() {
    ln -s ../../../../etc/passwd work-tree/charts/h/passwd && g add -A && g commit -qm four &&
        fails 2 "a path that leads outside the repository" fetch "git+file://$tap_dir/work-tree//charts/h"
}
t "a link that leads outside" escapes
git_slow() { # a server that takes the connection and says nothing
    python3 - >silent.port <<'P' &
import socket, sys, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(5)
print(s.getsockname()[1], flush=True); time.sleep(60)
P
    local pid=$! rc
    until_ok 10 test -s silent.port
    fails 1 "not done within 1 s" fetch "git+http://127.0.0.1:$(cat silent.port)/x.git" --fetch-timeout 1s
    rc=$?
    kill $pid
    return $rc
}
t "a git server that is silent" git_slow

# ---- proxies -------------------------------------------------------------------------------------

: >proxy.log
python3 "$root/test/emulator/chart/proxy.py" proxy.port proxy.log 2>proxy.err &
pids="$pids $!"
until_ok 20 test -s proxy.port
proxy=http://127.0.0.1:$(cat proxy.port)
by_proxy() { # LINE WORDS COMMAND...: with those words on stdout, and the proxy was asked for that
    local line=$1
    shift
    : >proxy.log
    export SLIPWAY_CACHE_DIR && SLIPWAY_CACHE_DIR=$(mktemp -d -p "$tap_dir")
    https_proxy=$proxy http_proxy=$proxy got "$@" && cat proxy.log && grep -qF "$line" proxy.log
}
around_proxy() { # WORDS COMMAND...: what no_proxy names is asked itself
    : >proxy.log
    export SLIPWAY_CACHE_DIR && SLIPWAY_CACHE_DIR=$(mktemp -d -p "$tap_dir")
    https_proxy=$proxy http_proxy=$proxy no_proxy=example.com,127.0.0.1 got "$@" && ! grep . proxy.log
}
https_port=$(cat https.port)
t "a chart repository through a proxy" by_proxy "CONNECT charts.example:$https_port " "a 1.11.0" \
    fetch a --repo "https://charts.example:$https_port/ok" --ca-file ca.pem
t "a registry through a proxy" by_proxy "CONNECT charts.example:$https_port " "a 1.2.3" \
    fetch "oci://charts.example:$https_port/charts/a:1.2.3" --ca-file ca.pem --username user --password "pass word"
t "git through a proxy" by_proxy "CONNECT charts.example:$https_port " "g 1.0.0" \
    fetch "git+https://charts.example:$https_port/git/repo.git//charts/g?ref=v1" --ca-file ca.pem
t "a chart repository around the proxy" around_proxy "a 1.11.0" fetch a --repo "$https/ok" --ca-file ca.pem
t "a registry around the proxy" around_proxy "a 1.2.3" fetch "$oci/charts/a:1.2.3" --ca-file ca.pem \
    --username user --password "pass word"
t "git around the proxy" around_proxy "g 1.0.0" fetch "$git_url//charts/g?ref=v1" --ca-file ca.pem
t "a proxy where nobody listens" env https_proxy=http://127.0.0.1:1 bash -c \
    '! "$0" "$@" 2>err && cat err && grep -q "127.0.0.1" err' "$slipway" fetch a --repo "$https/ok" --ca-file ca.pem
export SLIPWAY_CACHE_DIR=$tap_dir/cache6

sshd=${SSHD:-/usr/sbin/sshd}
if [ -x "$sshd" ]; then
    ssh-keygen -q -t ed25519 -N "" -f host_key && ssh-keygen -q -t rsa -m PEM -N "" -f user_key
    sshd_port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    printf 'Port %s\nListenAddress 127.0.0.1\nHostKey %s\nPidFile none\nAuthorizedKeysFile %s\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nPubkeyAcceptedAlgorithms +ssh-rsa\n' \
        "$sshd_port" "$tap_dir/host_key" "$tap_dir/user_key.pub" >sshd.conf
    mkdir -p /run/sshd
    "$sshd" -D -e -f "$tap_dir/sshd.conf" 2>sshd.log &
    pids="$pids $!"
    until_ok 10 bash -c "exec 3<>/dev/tcp/127.0.0.1/$sshd_port" 2>/dev/null
    ssh_url="git+ssh://$(id -un)@127.0.0.1:$sshd_port$tap_dir/www/repo.git//charts/h"
    t "SSH with a host that nobody knows is refused" fails 2 "the server is not trusted" \
        fetch "$ssh_url?ref=v1" --key-file user_key
    mkdir -p "$HOME/.ssh"
    echo "[127.0.0.1]:$sshd_port $(cut -d' ' -f1,2 host_key.pub)" >"$HOME/.ssh/known_hosts"
    t "an SSH key" got "h 1.0.0" fetch "$ssh_url?ref=v1" --key-file user_key
    t "an SSH key that is not known" fails 1 "the credentials are not accepted" \
        fetch "$ssh_url?ref=old" --key-file host_key
else
    skip "git over SSH" "no sshd here"
fi
plan
