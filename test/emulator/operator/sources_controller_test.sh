# Where the controller's recipes come from, and that it sees when they change there.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
root=$PWD
for tool in kubectl python3; do
    command -v $tool >/dev/null || { skip "the controller's sources" "no $tool here"; plan; }
done
export SLIPWAY_CACHE_DIR=$tap_dir/cache HOME=$tap_dir TMPDIR=$tap_dir/tmp KUBECONFIG=$tap_dir/kubeconfig
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy NO_PROXY no_proxy
mkdir -p "$TMPDIR" "$tap_dir/www"
pids=
trap 'for p in $pids; do kill "$p" 2>/dev/null; done; wait; rm -rf "$tap_dir"' EXIT
cd "$tap_dir" || exit 1

"$slipway" emulate --kubeconfig-out kubeconfig >emulate.log 2>&1 &
pids="$pids $!"
python3 "$root/test/emulator/chart/chart_server.py" www port server.log 2>server.err &
pids="$pids $!"
until_ok 20 test -s kubeconfig && until_ok 20 test -s port
http=http://127.0.0.1:$(cat port)
kubectl apply -k "$root/deploy/crds" >/dev/null
export SLIPWAY_ALLOWED_SOURCES=127.0.0.1
mkdir -p src shelf "$tap_dir/elsewhere"
"$slipway" controller --allowed-files "$tap_dir/src,$tap_dir/www,$tap_dir/src.git,$tap_dir/shelf" --metrics-bind-address 0 --health-probe-bind-address 0 \
    --recipe-interval 500ms 2>controller.log &
pids="$pids $!"

chart() { # DIR NAME VERSION TEXT [MORE OF Chart.yaml]
    mkdir -p "$1/templates"
    printf 'apiVersion: v2\nname: %s\nversion: %s\n%s\n' "$2" "$3" "${5:-}" >"$1/Chart.yaml"
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {text: "%s"}\n' "$2" "$4" \
        >"$1/templates/0000-cm.yaml"
}
index() {
    printf 'apiVersion: v1\nentries:\n  web:\n' >www/index.yaml
    for v in "$@"; do
        d=$(sha256sum <"www/web-$v.tgz")
        echo "  - {name: web, version: $v, urls: [web-$v.tgz], digest: \"${d%% *}\"}" >>www/index.yaml
    done
}
resource() { # NAME CHART VERSION URL [MORE OF repository]
    kubectl apply -f - <<Y
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: $1}
spec:
  namespace: $1
  chart: {name: $2, version: "$3", repository: {name: r, url: "$4"${5:+, $5}}}
Y
}
ready() { kubectl wait --for=condition=Ready "sr/$1" --timeout=20s; }
text_is() { [ "$(kubectl get cm -n "$1" "$2" -o 'jsonpath={.data.text}')" = "$3" ]; }
shows() { # NAME TEXT OBJECT
    until_ok 20 text_is "$1" "$3" "$2" || { kubectl get sr "$1" -o yaml; tail -20 controller.log; return 1; }
}
says() { # NAME WORDS: in a condition's message
    kubectl get sr "$1" -o 'jsonpath={.status.conditions[*].message}' | grep -qF -- "$2"
}
complains() {
    until_ok 20 says "$1" "$2" || { kubectl get sr "$1" -o yaml; return 1; }
}

# ---- ConfigMaps ----------------------------------------------------------------------------------

plain() {
    kubectl create configmap hand --from-literal=0000-a.yaml='apiVersion: v1
kind: ConfigMap
metadata: {name: made}
data: {text: "{{ .Values.text }}"}' --from-literal=values.yaml='text: one' &&
        resource hand hand 0.0.1 cm://default/hand && shows hand one made && ready hand
}
t "a ConfigMap written by hand" plain
edited() {
    kubectl patch configmap hand --type merge -p '{"data": {"values.yaml": "text: two"}}' &&
        shows hand two made && ready hand
}
t "editing it walks again" edited
broken() {
    kubectl patch configmap hand --type merge -p '{"data": {"values.yaml": "text: [two"}}' &&
        complains hand "values.yaml" && text_is hand made two &&
        kubectl patch configmap hand --type merge -p '{"data": {"values.yaml": "text: three"}}' &&
        shows hand three made && ready hand
}
t "a mistake in it is told, and mended" broken
missing() {
    resource late late 0.0.1 cm://default/late && complains late "cm://default/late: " &&
        kubectl create configmap late --from-literal=0000-a.yaml='apiVersion: v1
kind: ConfigMap
metadata: {name: made}
data: {text: here}' && shows late here made && ready late
}
t "a ConfigMap that comes later" missing
packed() {
    chart src/packed packed 1.0.0 one && "$slipway" package -d . src/packed &&
        kubectl create configmap charts --from-file=packed-1.0.0.tgz \
            --from-literal=index.yaml='apiVersion: v1
entries:
  packed:
  - {name: packed, version: 1.0.0, urls: ["cm://default/charts/packed-1.0.0.tgz"]}' &&
        resource packed packed 1.0.0 cm://default/charts && shows packed one packed && ready packed
}
t "a repository in a ConfigMap, as SRO has it" packed
repacked() {
    chart src/packed packed 1.0.0 two && "$slipway" package -d . src/packed &&
        kubectl create configmap charts --from-file=packed-1.0.0.tgz --dry-run=client -o yaml |
        kubectl apply --server-side --force-conflicts -f - && shows packed two packed
}
t "replacing a chart in it walks again" repacked
no_key() {
    resource nokey other 1.0.0 cm://default/charts && complains nokey "there is no chart 'other'"
}
t "a chart that is not in it" no_key

# ---- a repository --------------------------------------------------------------------------------

from_web() {
    chart src/web web 1.0.0 one && "$slipway" package -d www src/web && index 1.0.0 &&
        resource web web ^1 "$http/auth" 'username: user, password: "pass word", insecure_skip_tls_verify: true' &&
        shows web one web && ready web
}
t "a chart repository with a user" from_web
newer() {
    chart src/web web 1.1.0 two && "$slipway" package -d www src/web && index 1.1.0 1.0.0 &&
        shows web two web && ready web
}
t "a newer version is walked to" newer
down() { # the stack stands as it is while its repository is not there
    mv www/index.yaml www/away && complains web "$http/auth/index.yaml: HTTP 404: not found" &&
        text_is web web two && mv www/away www/index.yaml &&
        until_ok 20 says_not web "not found" && ready web
}
says_not() { ! says "$1" "$2"; }
t "a repository that is gone for a while" down
refused() {
    resource nobody web 1.0.0 "$http/auth" && complains nobody "HTTP 401" &&
        resource nobody web 1.0.0 "$http/auth" 'username: user, password: "pass word", insecure_skip_tls_verify: true' &&
        shows nobody one web && ready nobody
}
t "a user that was forgotten" refused
from_secret() {
    kubectl create namespace slipway 2>/dev/null
    kubectl create secret generic login -n slipway --from-literal=username=user \
        --from-literal=password='pass word' --from-literal=plainHTTP=true &&
        resource by-secret web 1.0.0 "$http/auth" 'secretRef: {name: login, namespace: slipway}' &&
        shows by-secret one web && ready by-secret
}
t "a user in a Secret" from_secret
foreseen() { "$slipway" takeover --plan | tee plan | grep -qE '^adopted +SpecialResource by-secret *$' || { cat plan; return 1; }; }
t "the rehearsal of a takeover reads it, too" foreseen
# An index may name any digest: what the login of others has fetched is not for who has none.
stolen() {
    mkdir -p www/stolen &&
        printf 'apiVersion: v1\nentries:\n  web:\n  - {name: web, version: 1.0.0, urls: ["%s/auth/web-1.0.0.tgz"], digest: "%s"}\n' \
            "$http" "$(sha256sum <www/web-1.0.0.tgz | cut -c1-64)" >www/stolen/index.yaml &&
        resource thief web 1.0.0 "$http/ok/stolen" && complains thief "401" && ! kubectl get cm -n thief web 2>/dev/null
}
t "a chart that was fetched with a login is not in the cache of others" stolen
no_secret() {
    resource secretless web 1.0.0 "$http/auth" 'secretRef: {name: lost}' &&
        complains secretless "repository.secretRef: " &&
        kubectl create secret generic lost --from-literal=username=user \
            --from-literal=password='pass word' --from-literal=plainHTTP=true && shows secretless one web
}
t "a Secret that comes later" no_secret
not_in_the_clear() { # a Secret that does not say so
    kubectl create secret generic tls-only -n slipway --from-literal=username=user \
        --from-literal=password='pass word' &&
        resource clear web 1.0.0 "$http/auth" 'secretRef: {name: tls-only, namespace: slipway}' &&
        complains clear 'HTTP 401: the login of Secret slipway/tls-only is not sent without TLS: plainHTTP: "true" in that Secret'
}
t "a password in a Secret is not sent without TLS" not_in_the_clear
other_host() { # a Secret that is for another server
    kubectl create secret generic elsewhere -n slipway --from-literal=username=user \
        --from-literal=password='pass word' --from-literal=plainHTTP=true --from-literal=url=https://charts.example &&
        resource other web 1.0.0 "$http/auth" 'secretRef: {name: elsewhere, namespace: slipway}' &&
        complains other "HTTP 401: the login of Secret slipway/elsewhere is for charts.example:443, not for 127.0.0.1:$(cat port): its key url"
}
t "a Secret for another server is not sent" other_host
dependency_of() { # what a ConfigMap names is not what the resource names
    kubectl create configmap top --from-literal=Chart.yaml="{apiVersion: v2, name: top, version: 1.0.0,
        dependencies: [{name: web, version: ^1, repository: $http/auth}]}" &&
        resource top top 1.0.0 cm://default/top 'secretRef: {name: login, namespace: slipway}' &&
        complains top "HTTP 401: the login of Secret slipway/login is for no server, not for 127.0.0.1:$(cat port): its key url" &&
        kubectl create secret generic named -n slipway --from-literal=username=user --from-literal=password='pass word' \
            --from-literal=plainHTTP=true --from-literal=url="$http" &&
        resource top top 1.0.0 cm://default/top 'secretRef: {name: named, namespace: slipway}' &&
        shows top two web && ready top
}
t "a Secret goes to what a chart names if it says so" dependency_of
never_sent() { # no Secret was sent to a server that it is not for
    ! grep -E "GET /ok/.* user" server.log
}
t "no server got a password that it did not ask for" never_sent
secret_stays() { ! grep -r "pass word" controller.log emulate.log && ! kubectl get events -A | grep "pass word"; }
t "the password is in no log" secret_stays
unknown() { resource ftp web 1.0.0 ftp://host/x && complains ftp "recipes come from URLs that begin with file://"; }
t "a URL of a kind that nobody knows" unknown

not_allowed() { # the address of a Service, loopback in another form
    kubectl create -n default service clusterip kubernetes --tcp=443 --clusterip 10.96.0.1 -o yaml
    resource sideways web 1.0.0 "http://localhost.:1/ok" && complains sideways "localhost.:1: address not allowed" &&
        resource sideways web 1.0.0 "http://[::ffff:127.0.0.2]:$(cat port)/ok" &&
        complains sideways "[::ffff:127.0.0.2]:$(cat port): address not allowed" &&
        resource sideways web 1.0.0 "$http/to/http/10.96.7.7:80/x" && complains sideways "${http#http://}: address not allowed" &&
        kubectl delete sr sideways
}
t "an address that is not allowed, written or redirected to" not_allowed
fair() { # servers that answer a byte at a time, and one that answers
    local since i
    for i in 1 2 3 4 5 6 7 8; do resource "slow$i" web 1.0.0 "$http/slow" || return 1; done
    sleep 1
    since=$SECONDS
    resource honest web 1.0.0 "$http/ok" && until_ok 50 text_is honest web one && echo "after $((SECONDS - since)) s" &&
        kubectl delete sr honest slow1 slow2 slow3 slow4 slow5 slow6 slow7 slow8
}
t "eight servers that hardly answer delay nobody for long" fair

# ---- dependencies of charts, folders, git --------------------------------------------------------

from_folder() {
    chart src/umbrella umbrella 1.0.0 top "dependencies: [{name: web, version: ^1, repository: \"$http/ok\"}]" &&
        resource umbrella umbrella 1.0.0 "file://$tap_dir/src/umbrella" && shows umbrella two web &&
        shows umbrella top umbrella && ready umbrella
}
t "a folder whose dependency is in a repository" from_folder
from_archive() {
    resource packed-file web 1.0.0 "file://$tap_dir/www" && shows packed-file one web && ready packed-file
}
t "an archive in a folder" from_archive
from_git() {
    command -v git >/dev/null || return 0
    git init -q -b main src.git && chart src.git/charts/g g 1.0.0 one && cd src.git && git add -A &&
        git -c user.name=t -c user.email=t@t commit -qm one && cd .. &&
        resource g g 1.0.0 "git+file://$tap_dir/src.git//charts/g?ref=main" && shows g one g && ready g &&
        chart src.git/charts/g g 1.0.0 two && git -C src.git -c user.name=t -c user.email=t@t commit -qam two &&
        shows g two g
}
t "a git repository, and a commit to it" from_git

# ---- files of the controller -----------------------------------------------------------------------

answer() { # NAME URL [MORE]: the condition of a resource, without its names
    kubectl delete sr "$1" --ignore-not-found >/dev/null
    resource "$1" web 1.0.0 "$2" ${3:+"$3"} >/dev/null && until_ok 20 has_answer "$1" || return 1
    kubectl get sr "$1" -o 'jsonpath={.status.conditions[?(@.type=="Errored")].message}' |
        sed "s|$2|URL|g; s|[^ ]*/elsewhere/[^ :]*|FILE|g"
}
has_answer() { [ -n "$(kubectl get sr "$1" -o 'jsonpath={.status.conditions[?(@.type=="Errored")].message}')" ]; }
same_answers() { # FIRST SECOND: both are refused in the same words
    printf '%s\n' "$1" "$2"
    [ -n "$1" ] && [ "$1" = "$2" ] && grep -q "below the folders of --allowed-files alone" <<<"$1"
}
outside() { # what is elsewhere: a chart, a file, a FIFO, a folder, nothing
    chart elsewhere/web web 1.0.0 stolen && echo secret >elsewhere/file && mkfifo elsewhere/fifo && chmod 700 elsewhere
    local none what
    answer none "file://$tap_dir/elsewhere/none" && kubectl get sr none -o json | grep "put the recipe where the operator can read it" || return 1
    none=$(answer none "file://$tap_dir/elsewhere/none")
    for what in web file fifo ../elsewhere/web; do
        same_answers "$none" "$(answer none "file://$tap_dir/elsewhere/$what")" || return 1
    done
    same_answers "$none" "$(answer none "file://$tap_dir/shelf/../elsewhere/web")"
}
t "a chart elsewhere is refused, and whether it exists is not told" outside
linked() { # a link that leads out of the folder, to what exists and to what does not
    chart shelf/web web 1.0.0 one && ln -s ../../../elsewhere/file shelf/web/templates/1000-a.txt &&
        ln -s "$tap_dir/elsewhere/file" shelf/absolute && mkdir -p shelf/dir &&
        ln -s ../elsewhere/web shelf/there && ln -s ../elsewhere/none shelf/absent
    local words="below the folders of --allowed-files alone" name
    for name in web there absent absolute; do
        answer link "file://$tap_dir/shelf/$name" | tee link.said
        grep -q "$words" link.said && ! grep -q secret link.said || return 1
    done
    rm shelf/web/templates/1000-a.txt && ln -s ../../shared.txt shelf/web/templates/1000-a.txt && echo x >shelf/shared.txt &&
        resource link web 1.0.0 "file://$tap_dir/shelf/web" && shows link one web
}
t "a link is followed below the folder, and no further" linked
fifo() { mkfifo shelf/fifo && answer pipe "file://$tap_dir/shelf/fifo" | grep "not a regular file"; }
t "a FIFO is not opened" fifo
dependency_file() { # of a chart that may be read
    chart shelf/deps web 1.0.0 one "dependencies: [{name: web, version: ^1, repository: 'file://../../elsewhere/web'}]" &&
        answer dep "file://$tap_dir/shelf/deps" | grep "below the folders of --allowed-files alone"
}
t "nor may a dependency be elsewhere" dependency_file
between() { # as a recipe in /recipes has its states in /states
    chart src/state state 1.0.0 one && chart shelf/user user 1.0.0 top "dependencies: [{name: state, version: ^1, repository: 'file://../../src/state'}]" &&
        resource between user 1.0.0 "file://$tap_dir/shelf/user" && shows between one state && ready between
}
t "a dependency may be in another of the folders" between
keys() { # caFile, certFile, keyFile
    local key none
    for key in caFile certFile keyFile; do
        none=$(answer key "$http/ok" "$key: $tap_dir/elsewhere/none")
        same_answers "$none" "$(answer key "$http/ok" "$key: $tap_dir/elsewhere/file")" || return 1
        same_answers "$none" "$(answer key "$http/ok" "$key: $tap_dir/elsewhere/fifo")" || return 1
    done
    answer key "$http/ok" "caFile: $tap_dir/shelf/fifo" | grep "caFile: .*shelf/fifo: not a regular file"
}
t "caFile, certFile and keyFile likewise" keys
git_elsewhere() {
    same_answers "$(answer git "git+file://$tap_dir/elsewhere/none")" "$(answer git "git+file://$tap_dir/elsewhere/web")"
}
t "a git repository likewise" git_elsewhere

nothing_is_left() { [ -z "$(ls -A "$TMPDIR")" ] && [ -z "$(ls -A cache/tmp)" ]; }
t "nothing is left behind" until_ok 10 nothing_is_left
lean() { # what git and archives need is the helper's, not the controller's
    local pid=${pids##* }
    ! grep -E "libgit2|libarchive" "/proc/$pid/maps"
}
if ldd "$slipway" | grep -q libarchive; then
    skip "the controller has loaded neither libgit2 nor libarchive" "this build links them"
else
    t "the controller has loaded neither libgit2 nor libarchive" lean
fi
plan
