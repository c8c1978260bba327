# Where recipes of a resource may come from, as one sees it who names addresses, or owns a server that is asked.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
root=$PWD
command -v python3 >/dev/null || { skip "allowed sources" "no python3 here"; plan; }
export SLIPWAY_CACHE_DIR=$tap_dir/cache HOME=$tap_dir TMPDIR=$tap_dir/tmp
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy NO_PROXY no_proxy SSL_CERT_FILE
mkdir -p "$TMPDIR" "$tap_dir/www"
pids=
trap 'for p in $pids; do kill "$p" 2>/dev/null; done; wait; rm -rf "$tap_dir"' EXIT
cd "$tap_dir" || exit 1
server() { # NAME ADDRESS PORT [CERTIFICATE KEY]
    local name=$1 address=$2 port=$3
    shift 3
    ADDRESS=$address PORT=$port python3 "$root/test/emulator/chart/chart_server.py" www "$name.port" "$name.log" "$@" 2>"$name.err" &
    pids="$pids $!"
    until_ok 20 test -s "$name.port"
}
server public 127.0.0.1 0
port=$(cat public.port)
server inner 127.0.0.2 "$port" # the same port, since redirects of the server keep it
if command -v openssl >/dev/null; then
    openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=t \
        -addext 'subjectAltName=IP:127.0.0.1' 2>/dev/null
    server tls 127.0.0.1 0 cert.pem key.pem
fi
http=http://127.0.0.1:$port
mkdir -p src/templates
printf 'apiVersion: v2\nname: web\nversion: 1.2.3\n' >src/Chart.yaml
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n' >src/templates/a.yaml
"$slipway" package -d www src >/dev/null
printf 'apiVersion: v1\nentries:\n  web:\n  - {name: web, version: 1.2.3, urls: [web-1.2.3.tgz]}\n' >www/index.yaml

# What `slipway fetch -` answers, its first line
ask() { # URL LIST [MORE]
    printf '{"url": "%s", "name": "web", "version": "1.2.3", "allowedSources": "%s", "cacheDir": ""%s}' "$1" "$2" "${3:+, $3}" |
        "$slipway" fetch - 2>&1 | head -n 1 | tr -d '\0'
}
comes() { # URL LIST [MORE]
    ask "$@" | tee /dev/stderr | grep -q '"code":0'
}
# It says that, and nothing of what is there; the inner server was not even connected to.
refused() { # HOST THAT THE AUTHOR WROTE, URL LIST [MORE]
    local host=$1
    shift
    : >inner.log
    ask "$@" | tee answer >&2
    grep -qF "\"error\":\"$host: address not allowed\"" answer && [ ! -s inner.log ]
}

t "a repository that the list names" comes "$http/ok" 127.0.0.1
t "and at that port" comes "$http/ok" "127.0.0.1:$port"
t "loopback without a list" refused "127.0.0.1:$port" "$http/ok" ""
t "at another port than the list's" refused "127.0.0.1:$port" "$http/ok" 127.0.0.1:1
names() {
    for host in localhost LOCALHOST. a.localhost 0.0.0.0 0 127.1 2130706433 0x7f000001 0177.0.0.1 0x7f.1 '[::1]' '[::]' '[::ffff:127.0.0.1]' '[::127.0.0.1]' \
        '[64:ff9b::7f00:1]' '[2002:7f00:1::]' 169.254.169.254 '[fd00:ec2::254]' 100.100.100.200 metadata.google.internal 224.0.0.1 '[fe80::1]' \
        kubernetes.default.svc kubernetes.default.svc.cluster.local; do
        refused "$host:$port" "http://$host:$port/ok" "" || return 1
    done
}
t "loopback, link-local, multicast and metadata addresses in any form" names
t "a range of services" refused 203.0.113.7 http://203.0.113.7/ok "" '"clusterRanges": ["203.0.113.0/24"]'
t "a redirect to a refused address" refused "127.0.0.1:$port" "$http/to/http/127.0.0.2:$port/ok" 127.0.0.1
t "a redirect to it by a number" refused "127.0.0.1:$port" "$http/to/http/2130706434:$port/ok" 127.0.0.1
t "a redirect to metadata" refused "127.0.0.1:$port" "$http/to/http/169.254.169.254/latest" 127.0.0.1
t "five redirects" comes "$http/hops/5" 127.0.0.1
six() { ask "$http/hops/6" 127.0.0.1 | tee /dev/stderr | grep -q "it redirects too many times"; }
t "six redirects" six
by_index() {
    mkdir -p www/sub && printf 'apiVersion: v1\nentries:\n  web:\n  - {name: web, version: 1.2.3, urls: ["http://127.0.0.2:%s/ok/web-1.2.3.tgz"]}\n' "$port" >www/sub/index.yaml &&
        refused "127.0.0.1:$port" "$http/ok/sub" 127.0.0.1
}
t "an index that names a refused address" by_index
t "a list that names a host is complete" refused "127.0.0.1:$port" "$http/ok" 'charts.example.com'
t "what is excluded by the list" refused "127.0.0.1:$port" "$http/ok" '127.0.0.0/8,!127.0.0.1'
t "a host of the list may be anywhere" comes "http://localhost:$port/ok" localhost
t "and others besides" comes "http://localhost:$port/ok" '*,localhost'
t "a list without it" refused "localhost:$port" "http://localhost:$port/ok" '*'
bad_list() { ask "$http/ok" '10.0.0.0/33' | tee /dev/stderr | grep -q "10.0.0.0/33"; }
t "a list that cannot be read" bad_list

registry="127.0.0.1:$port/charts"
login='"username": "user", "password": "pass word", "insecure": true, "plainHTTP": true, "credentialsFor": "'"$http"'"'
t "a registry" comes "oci://$registry" 127.0.0.1 "$login"
t "a registry at a refused address" refused "127.0.0.1:$port" "oci://$registry" "" "$login"
t "a realm at a refused address" refused "127.0.0.1:$port" "oci://127.0.0.1:$port/elsewhere" 127.0.0.1 "$login"

# ---- images ---------------------------------------------------------------------------------------
config=$(printf '{"auths": {"%s": {"username": "user", "password": "pass word"}}}' "127.0.0.1:$port" | base64 | tr -d '\n')
pull_secret='{"metadata": {"name": "pull", "namespace": "team"}, "type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": "'$config'"}}'
: >none.conf
printf '[[registry]]\nprefix = "quay.invalid/team"\n[[registry.mirror]]\nlocation = "127.0.0.1:%s/charts"\ninsecure = true\n' "$port" >mirror.conf
image() { # IMAGE LIST [CONF]
    printf '{"lookup": {"images": [{"reference": "%s"}], "registriesConf": "%s", "secrets": [%s], "retryMs": 1}, "allowedSources": "%s"}' \
        "$1" "${3:-none.conf}" "$pull_secret" "$2" | "$slipway" fetch - 2>&1 | head -n 1
}
exists() { image "$@" | tee /dev/stderr | grep -q '"answers":\[{"code":0,'; }
not_asked() { # IMAGE LIST [CONF]
    : >inner.log
    : >public.log
    image "$@" | tee answer >&2
    grep -qF "\"error\":\"$1: address not allowed\"" answer && [ ! -s inner.log ]
}
nothing_asked() { not_asked "$@" && [ ! -s public.log ]; }
t "an image in a registry that the list names" exists "$registry/web:1.2.3" 127.0.0.1
t "an image in a registry at a refused address" nothing_asked "$registry/web:1.2.3" ""
t "an image in one whose name is an address" nothing_asked "localhost.:$port/charts/web:1.2.3" ""
t "an image whose registry names a realm at a refused address" not_asked "127.0.0.1:$port/elsewhere/web:1.2.3" 127.0.0.1
t "an image from a mirror that the cluster's admin names" exists "quay.invalid/team/web:1.2.3" "" mirror.conf
t "the mirror's address lets no other image through" nothing_asked "$registry/web:1.2.3" "" mirror.conf
together() { # several images in one question
    printf '{"lookup": {"images": [{"reference": "%s/web:1.2.3"}, {"reference": "127.0.0.2:%s/charts/web:1.2.3"}, {"reference": "%s/nothing:1"}], "registriesConf": "none.conf", "secrets": [%s], "retryMs": 1}, "allowedSources": "127.0.0.1"}' \
        "$registry" "$port" "$registry" "$pull_secret" | "$slipway" fetch - 2>&1 | tee answer >&2
    grep -qE '"answers":\[\{"code":0,[^}]*\},\{"code":-[0-9]+,"error":"[^"]*address not allowed"\},\{"code":-' answer
}
t "each of several images has its own answer" together
t "nor another port of it" nothing_asked "127.0.0.1:1/charts/web:1.2.3" "" mirror.conf

if [ -f tls.port ]; then
    tls=https://127.0.0.1:$(cat tls.port)
    downgrade() { ask "$tls/to/${http/:\/\//\/}/ok" 127.0.0.1 '"insecure": true' | tee /dev/stderr | grep -q "it redirects to another kind of address"; }
    t "from https to http" downgrade
fi

if command -v git >/dev/null && "$slipway" fetch git+file:///nowhere 2>&1 | grep -vq "without libgit2"; then
    git init -q -b main www/repo && cp -r src/* www/repo && git -C www/repo add -A &&
        git -C www/repo -c user.name=t -c user.email=t@t commit -qm one
    plain_git() { comes "git+$http/git/repo" 127.0.0.1; }
    t "a git repository" plain_git
    t "git at a refused address" refused "127.0.0.1:$port" "git+$http/git/repo" ""
    t "git that redirects to a refused address" refused "127.0.0.1:$port" "git+$http/to/http/127.0.0.2:$port/git/repo" 127.0.0.1
    t "git over ssh to a refused address" refused "127.0.0.1:$port" "git+ssh://git@127.0.0.1:$port/repo" ""
    by_name() { : >inner.log; ask "git+http://localhost:$port/to/http/127.0.0.2:$port/git/repo" localhost | tee /dev/stderr | grep -q '"code":-' && [ ! -s inner.log ]; }
    t "where names decide git follows no redirect" by_name
fi

# ---- behind a proxy ------------------------------------------------------------------------------
# It resolves every name to loopback: names decide.
python3 "$root/test/emulator/chart/proxy.py" proxy.port proxy.log &
pids="$pids $!"
until_ok 20 test -s proxy.port
proxied() {
    export http_proxy=http://localhost:$(cat proxy.port)
    : >proxy.log
    "$@"
}
t "behind a proxy, a name that it knows" proxied comes "http://charts.example.com:$port/ok" ""
asked_nothing() { refused "$@" && [ ! -s proxy.log ]; }
t "behind a proxy, an address" proxied asked_nothing "169.254.169.254" http://169.254.169.254/ok ""
t "behind a proxy, a Service" proxied asked_nothing "a.b.svc" http://a.b.svc/ok ""
proxied_redirect() { refused "$@" && ! grep -q ' http://169' proxy.log; }
t "behind a proxy, a redirect to an address" proxied proxied_redirect "charts.example.com:$port" "http://charts.example.com:$port/to/http/169.254.169.254/ok" ""
plan
