# slipway status and wait, as the eye and as a script reads them; and what run says while it waits, and when it is
# interrupted.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/test/slipway}")
root=$PWD
export KUBECONFIG=$tap_dir/kubeconfig
trap 'for p in "$tap_dir"/*.pid; do [ ! -f "$p" ] || kill "$(cat "$p")" 2>/dev/null; done; rm -rf "$tap_dir"' EXIT

exits() { # STATUS ARGUMENTS...: of slipway; what it says is in $tap_dir/o
    local want=$1 rc
    shift
    "$slipway" "$@" >"$tap_dir/o" 2>&1
    rc=$?
    [ $rc -eq "$want" ] || { echo "slipway $*: exit status $rc, not $want"; cat "$tap_dir/o"; return 1; }
}
says() { grep -qE -- "$1" "$tap_dir/o" || { echo "not said: $1"; cat "$tap_dir/o"; return 1; }; }
recipe() { # NAME OBJECT: in YAML
    mkdir -p "$tap_dir/$1/templates"
    printf 'apiVersion: v2\nname: %s\nversion: 0.1.0\n' "$1" >"$tap_dir/$1/Chart.yaml"
    printf '%s\n' "$2" >"$tap_dir/$1/templates/0000-a.yaml"
}

start() {
    emulated &&
        exits 0 status && says 'There is no SpecialResource' || return 1
    recipe good 'apiVersion: v1
kind: ConfigMap
metadata: {name: c}'
    recipe bad 'apiVersion: v1
kind: ConfigMap
metadata: {name: "Not a name"}'
    recipe late 'apiVersion: example.test/v1
kind: Nothing
metadata: {name: it}'
    exits 0 run "$tap_dir/good" && exits 1 run "$tap_dir/bad"
}
t "two recipes, of which one is Errored" start
lines() {
    exits 4 status && says '^NAME  STATUS +STATES  NODES +AGE +MESSAGE$' && says '^good  Ready +1/1 +4/4 +[0-9]+s *$' &&
        says "^bad   Errored +0/1 +[-0-9/]+ +[0-9]+s +state '0000': " && [ "$(wc -l <"$tap_dir/o")" = 3 ]
}
t "status shows a line for each, and exits with 4 where one is Errored" lines
one() {
    exits 0 status good && says '^good  Ready' && says '^0000 +Ready +1/1' && says '^4 +0000 +gpu-0, gpu-1, gpu-2 and 1 more$' &&
        [ "$(wc -l <"$tap_dir/o")" -le 10 ] && exits 4 status bad && exits 2 status none && says "'none' not found"
}
t "of one that is named: states, and nodes by what is ready there" one
formats() {
    exits 4 status -o name && [ "$(tr '\n' ' ' <"$tap_dir/o")" = "specialresource/bad specialresource/good " ] &&
        exits 0 status good -o yaml && says '^phase: Ready$' && exits 0 status good -o json && says '"phase": "Ready"' &&
        exits 4 status -o wide && ! COLUMNS=40 exits 4 status bad -o wide 2>/dev/null | grep '…' && exits 2 status -o xml
}
t "-o wide, name, yaml and json" formats
namespaces() {
    exits 0 status -n good && says '^good +Ready' && ! says '^bad' 2>/dev/null >&2 && exits 4 status -A && says '^good' && says '^bad' &&
        exits 0 status -n goood && says "no SpecialResource in namespace 'goood'; there is one in 'good'\.$" &&
        exits 2 status good -n bad && says "'good' is in namespace 'good', not in 'bad'$" && exits 0 status good -n good
}
t "-n shows those of a namespace, -A all" namespaces
wrong_server() { # a web server, which has none of an API server's paths
    cat >"$tap_dir/web.py" <<'P'
import http.server
class Nothing(http.server.BaseHTTPRequestHandler):
    def do_GET(self): self.send_error(404)
    def do_POST(self): self.send_error(404)
    def log_message(self, *args): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Nothing)
print(server.server_port, flush=True)
server.serve_forever()
P
    python3 "$tap_dir/web.py" >"$tap_dir/port" & echo $! >"$tap_dir/web.pid"
    until_ok 10 test -s "$tap_dir/port" || return 1
    local at
    at=http://127.0.0.1:$(cat "$tap_dir/port")
    exits 2 status --server "$at" && says "$at answers, but not as the API server of a Kubernetes cluster does" &&
        exits 1 run "$tap_dir/good" --server "$at" --timeout 20s && says "$at answers, but not as"
}
if command -v python3 >/dev/null; then t "an address that is no API server's is said to be none" wrong_server; fi
watched() {
    "$slipway" status -w >"$tap_dir/w" 2>&1 &
    echo $! >"$tap_dir/watch.pid"
    until_ok 10 grep -q '^good  *Ready' "$tap_dir/w" || return 1
    recipe more 'apiVersion: v1
kind: ConfigMap
metadata: {name: m}'
    exits 0 run "$tap_dir/more" && until_ok 10 grep -q '^more  *Ready' "$tap_dir/w" && kubectl delete sr more &&
        [ "$(grep -c '^NAME' "$tap_dir/w")" = 1 ] && [ "$(grep -c '^good' "$tap_dir/w")" = 1 ] && kill -INT "$(cat "$tap_dir/watch.pid")"
    wait "$(cat "$tap_dir/watch.pid")"
    [ $? -eq 130 ]
}
t "-w prints a line for each change, and ends when it is interrupted" watched
waits() {
    exits 0 wait good && says '^good: Ready$' && exits 0 wait bad --for Errored && exits 4 wait bad --fail-fast &&
        exits 3 wait bad --timeout 300ms && says 'bad: not Ready in time' && exits 0 wait none --for deleted && exits 2 wait &&
        exits 3 wait goood --timeout 300ms && says "goood: there is no such SpecialResource; did you mean 'good'?" &&
        exits 2 wait good --for Never
}
t "wait, for what is and what is not" waits
misnamed() { for c in "2 status" "2 tree" "2 history" "2 logs"; do exits $c goood && says "'goood' not found; did you mean 'good'\?$" && exits $c nothing-alike && says "'nothing-alike' not found$" || return 1; done; }
t "of a resource whose name is misspelt: which one may be meant" misnamed
# What follows a resource asks a server that does not answer again, as a watch does, until its time is up or somebody stops it.
dead() {
    sed 's/127.0.0.1:[0-9]*/127.0.0.1:1/' "$KUBECONFIG" >"$tap_dir/dead"
    exits 3 wait good --timeout 2500ms --kubeconfig "$tap_dir/dead" && says 'trying again until it answers' && says 'good: not Ready in time' &&
        exits 1 status good --kubeconfig "$tap_dir/dead" && says 'Connection refused' || return 1
    "$slipway" logs -f good --kubeconfig "$tap_dir/dead" >"$tap_dir/w" 2>&1 &
    echo $! >"$tap_dir/follows.pid"
    until_ok 10 grep -q 'trying again' "$tap_dir/w" && sleep 1.5 && kill -0 "$(cat "$tap_dir/follows.pid")" && kill -INT "$(cat "$tap_dir/follows.pid")"
    wait "$(cat "$tap_dir/follows.pid")"
    [ $? = 130 ]
}
t "a server that does not answer is asked again by who waits, and told of by others" dead
deleted() {
    recipe brief 'apiVersion: v1
kind: ConfigMap
metadata: {name: b}'
    exits 0 run "$tap_dir/brief" || return 1
    "$slipway" wait brief --for deleted >"$tap_dir/w" 2>&1 &
    echo $! >"$tap_dir/wait.pid"
    kubectl delete sr brief >/dev/null
    wait "$(cat "$tap_dir/wait.pid")" && grep -q '^brief: deleted$' "$tap_dir/w"
}
t "wait until it is deleted" deleted

interrupted() { # what is known when it ends stands in the status
    "$slipway" run "$tap_dir/late" >"$tap_dir/w" 2>&1 &
    echo $! >"$tap_dir/run.pid"
    until_ok 10 grep -q 'StateStarted: state 0000: started' "$tap_dir/w" || { cat "$tap_dir/w"; return 1; }
    sleep 0.3
    kill -INT "$(cat "$tap_dir/run.pid")"
    wait "$(cat "$tap_dir/run.pid")"
    [ $? -eq 130 ] && grep -q "'slipway uninstall late' deletes what is there" "$tap_dir/w" && exits 4 status && says "^late .*Nothing it is not served yet" &&
        exits 0 uninstall late --yes
}
t "run that is interrupted says how to go on, and leaves the truth" interrupted
beats() {
    "$slipway" run "$tap_dir/late" --timeout 12s >"$tap_dir/w" 2>&1
    [ $? -eq 3 ] && grep -q "^ *[0-9.]*s  waiting: state '0000': Nothing it is not served yet" "$tap_dir/w" && exits 0 uninstall late --yes
}
t "in a pipe run says every ten seconds what it waits for" beats
dead() {
    sed 's/127\.0\.0\.1:[0-9]*/127.0.0.1:1/' "$KUBECONFIG" >"$tap_dir/dead"
    KUBECONFIG=$tap_dir/dead exits 3 run "$tap_dir/good" --timeout 11s && says 'cannot connect: Connection refused; trying again' &&
        says 'the API server still does not answer \((9.9|1)' && says 'the API server does not answer: .*cannot connect: Connection refused$'
}
t "of a server that does not answer run says so at once, and again" dead
until_interrupted() { # TEXT: once run has said it, or after a second
    KUBECONFIG=$tap_dir/mute "$slipway" run "$tap_dir/good" >"$tap_dir/w" 2>&1 &
    echo $! >"$tap_dir/run.pid"
    sleep 1
    [ -z "$1" ] || until_ok 8 grep -q "$1" "$tap_dir/w" || return 1
    kill -INT "$(cat "$tap_dir/run.pid")"
    wait "$(cat "$tap_dir/run.pid")"
    [ $? -eq 130 ] && says_there 'good interrupted:' && ! grep -q 'nothing is known' "$tap_dir/w"
}
says_there() { grep -q -- "$1" "$tap_dir/w" || { echo "it does not say: $1"; return 1; }; }
silent() { # it takes connections, and that is all
    python3 -c 'import socket, sys, time
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen(50)
print(s.getsockname()[1], flush=True)
time.sleep(60)' >"$tap_dir/mute-port" &
    local server=$! rc=0
    until_ok 10 test -s "$tap_dir/mute-port" && sed "s/127.0.0.1:[0-9]*/127.0.0.1:$(cat "$tap_dir/mute-port")/" "$KUBECONFIG" >"$tap_dir/mute" || return 1
    until_interrupted "has not answered for 5 s; trying again until it does" && says_there 'the API server does not answer' &&
        says_there 'nothing was written; the same command begins anew' || rc=1
    for c in "run $tap_dir/good" "wait good" "retry good" "rollback good"; do # limits of time are none of each step
        [ $rc = 0 ] || break
        local since=$SECONDS
        KUBECONFIG=$tap_dir/mute exits 3 $c --timeout 2s >>"$tap_dir/w" 2>&1 && [ $((SECONDS - since)) -le 15 ] || rc=1
    done
    # before the walk has begun
    [ $rc = 0 ] && until_interrupted "" && says_there 'nothing was written; the same command begins anew' || rc=1
    kill $server
    cat "$tap_dir/w"
    return $rc
}
t "of one that takes connections and says nothing, too, and Ctrl-C says how to go on" silent

stalled() { # in the middle of the walk: nothing comes for seven seconds
    local port rc=0
    "$slipway" uninstall good --yes >"$tap_dir/o" 2>&1
    port=$(sed -n 's/.*127\.0\.0\.1:\([0-9]*\).*/\1/p' "$KUBECONFIG")
    python3 test/emulator/cli/relay.py 0 "$port" "$tap_dir/relay-port" 9000 &
    local relay=$!
    until_ok 10 test -s "$tap_dir/relay-port" && sed "s/127.0.0.1:[0-9]*/127.0.0.1:$(cat "$tap_dir/relay-port")/" "$KUBECONFIG" >"$tap_dir/stalls" || rc=1
    KUBECONFIG=$tap_dir/stalls "$slipway" run "$tap_dir/good" --timeout 60s >"$tap_dir/w" 2>&1 || rc=1
    kill $relay
    cat "$tap_dir/w"
    [ $rc = 0 ] && grep -q 'StateStarted' "$tap_dir/w" && says_there 'has not answered for 5 s; trying again until it does' && says_there 'the API server answers again' && exits 0 uninstall good --yes
}
t "of one that stalls in the middle of a walk, too" stalled

unwalked() { # the status is of the spec before
    exits 0 run "$tap_dir/good" && kubectl patch specialresource good --type merge -p '{"spec":{"set":{"x":9}}}' && exits 3 wait good --timeout 1s && says 'good: its spec has changed, and nothing has walked that yet$' &&
        exits 4 status && says '^good  *Progressing .* its spec has changed, and nothing has walked that yet$' && exits 0 explain good && says '^SpecialResource good  Waiting: its spec has changed' &&
        exits 0 run "$tap_dir/good" && exits 0 wait good --timeout 5s
}
t "wait, status and explain are not content with the status of an earlier spec" unwalked
stops() { # while wait waits: what it says last is not that the resource is not Ready
    local port rc=0 pid
    exits 0 run "$tap_dir/good" || return 1
    port=$(sed -n 's/.*127\.0\.0\.1:\([0-9]*\).*/\1/p' "$KUBECONFIG")
    python3 test/emulator/cli/relay.py 0 "$port" "$tap_dir/stops-port" &
    local relay=$!
    until_ok 10 test -s "$tap_dir/stops-port" && sed "s/127.0.0.1:[0-9]*/127.0.0.1:$(cat "$tap_dir/stops-port")/" "$KUBECONFIG" >"$tap_dir/stops" || rc=1
    KUBECONFIG=$tap_dir/stops "$slipway" wait good --for Errored --timeout 3s >"$tap_dir/w" 2>&1 & pid=$!
    sleep 1; kill -STOP $relay
    wait $pid; [ $? -eq 3 ] || rc=1
    kill -CONT $relay; kill $relay
    cat "$tap_dir/w"
    [ $rc = 0 ] && says_there 'good: not Errored in time, as far as is known: the API server at .* does not answer$'
}
t "wait does not take a silent server for a resource that is not there yet" stops
refused() { # by a server that answers some writes with 409 and 500
    printf 'faults:\n- {verb: patch, kind: CustomResourceDefinition, answer: 409, times: 3}\n- {verb: patch, kind: CustomResourceDefinition, answer: 500, times: 2}\n- {verb: patch, kind: SpecialResource, answer: 409, times: 2}\n' >"$tap_dir/plan"
    (unset KUBECONFIG; exits 0 run "$tap_dir/good" --emulate --delays 0 --faults "$tap_dir/plan")
}
t "run tries its own definition and resource again, as it does the rest" refused
hopeless() { # an image that is not there; on a terminal, or where it is asked for, that is waited for
    mkdir -p "$tap_dir/rules" && printf 'images:\n- {match: "^registry.invalid/", exists: false}\n' >"$tap_dir/rules/images.yaml"
    recipe missing 'apiVersion: v1
kind: Pod
metadata: {name: p, annotations: {specialresource.openshift.io/wait: "true"}}
spec: {containers: [{name: c, image: registry.invalid/x}]}'
    (unset KUBECONFIG; exits 1 run "$tap_dir/missing" --emulate --rules "$tap_dir/rules" && says 'ImagePullBackOff' && says '^  hint: see that the image exists' &&
        says 'This does not get better by itself' && exits 3 run "$tap_dir/missing" --emulate --rules "$tap_dir/rules" --fail-fast=false --timeout 1s)
}
t "in a pipe run ends when an image is not there after kubelet's third try" hopeless

verbs() {
    exits 2 get && says "try: slipway status$" && exits 2 install x && says "try: slipway run RECIPE$" && exits 2 delete x &&
        says "try: slipway uninstall NAME$" && exits 2 watch && says "status -w$" &&
        exits 2 stats && says "did you mean 'status'" && exits 2 hist && says "did you mean 'history'" &&
        exits 2 init --no-such && says '^slipway init: '
}
t "verbs of other tools are answered with what to type" verbs
misspelt() { cd "$root" && exits 2 run recipes/nvidia-mgi && says 'did you mean recipes/nvidia-mig\?$' && exits 2 lint nvidia-mgi && says 'did you mean recipes/nvidia-mig\?$'; }
help_fits() { # a terminal of 80 columns
    local c n=0
    for c in "" $("$slipway" --help | awk '/^  [a-z]/ { print $1 }'); do
        n=$((n + 1))
        "$slipway" $c --help | awk -v c="$c" 'length > 80 { print c ": " $0; bad = 1 } END { exit bad }' || return 1
    done
    [ $n -gt 30 ]
}
nearly() { # of a program that came without recipes
    cp "$slipway" "$tap_dir/alone" || return 1
    local slipway=$tap_dir/alone
    cd "$root" && exits 2 run nvidia-mig && says 'did you mean recipes/nvidia-mig\?$' && exits 2 lint nfd && says 'did you mean states/nfd\?$'
}
t "a recipe's name alone is answered with its path" nearly
half() { # what begins a word of the name; where several do, all of them
    cd "$root" && exits 2 run mig && says "did you mean recipes/nvidia-mig\\?$" &&
        exits 2 lint recipes/nvidia && says 'did you mean recipes/nvidia-gpu, recipes/nvidia-mig or recipes/nvidia-network\?$' &&
        exits 2 lint q && ! says 'did you mean'
}
t "half a recipe's name is answered with those that have it" half
folder_of_recipes() { cd "$root" && exits 2 run recipes/ && says 'recipes: not a chart: Chart.yaml is missing; did you mean recipes/amd-gpu, .*recipes/nvidia-mig.* or recipes/simple-kmod\?$'; }
t "a folder of recipes is answered with what is in it" folder_of_recipes
by_name() { # wherever one is; a file of that name comes first
    cd "$tap_dir" && mkdir -p named/nfd && diff <("$slipway" graph nvidia-mig --stand-ins 2>/dev/null) <("$slipway" graph "$root/recipes/nvidia-mig" --stand-ins 2>/dev/null) &&
        "$slipway" graph nvidia-mig --stand-ins 2>/dev/null | grep -q gpu-operator && exits 0 lint nfd && cd named && exits 1 lint nfd
}
t "a program in build/ finds the recipes of its tree by name" by_name
t "a recipe whose name is misspelt" misspelt
misspelt_elsewhere() { cd "$tap_dir" && exits 2 run nvidia-mgi && says 'did you mean nvidia-mig\?$'; }
t "one of the program's own, from any folder" misspelt_elsewhere
t "every line of help fits 80 columns" help_fits
plan
