# slipway explain: the chain from the resource to what everything waits for.
. test/tap.sh
slipway=${SLIPWAY:-build/test/slipway}
export KUBECONFIG=$tap_dir/kubeconfig

recipe() { # NAME TEMPLATE: a chart of one state
    mkdir -p "$tap_dir/$1/templates"
    printf 'apiVersion: v2\nname: %s\nversion: 0.1.0\nannotations: {slipway.dev/wait: all}\n' "$1" >"$tap_dir/$1/Chart.yaml"
    cat >"$tap_dir/$1/templates/1000-it.yaml"
}

pod() { # ANNOTATIONS IMAGE
    printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: it, annotations: {%s}}\nspec:\n  restartPolicy: Never\n  containers: [{name: main, image: "%s"}]\n' "$1" "$2"
}

start() {
    mkdir "$tap_dir/rules"
    printf 'images:\n- {match: "^registry.invalid/", exists: false}\n' >"$tap_dir/rules/images.yaml"
    "$slipway" emulate --rules "$tap_dir/rules" --kubeconfig-out "$KUBECONFIG" >"$tap_dir/emulate" 2>&1 &
    echo $! >"$tap_dir/pid"
    until_ok 30 test -s "$KUBECONFIG"
}

walk() { # NAME: it is meant to stand
    "$slipway" run "$tap_dir/$1" --timeout 3s
    [ $? -ne 0 ]
}

explains() { # NAME TEXT...
    local name=$1
    shift
    "$slipway" explain "$name" >"$tap_dir/o"
    case $? in 0 | 4) ;; *) return 1 ;; esac # 4: the resource is Errored
    cat "$tap_dir/o"
    for text; do grep -q -- "$text" "$tap_dir/o" || { echo "it does not say: $text"; return 1; }; done
}

not_installed() { # how to is said by whoever looks for a resource
    local c
    for c in status 'status x' 'explain x' 'test x' 'plan x'; do
        "$slipway" $c >"$tap_dir/o" 2>"$tap_dir/e" && return 1
        cat "$tap_dir/e"
        [ ! -s "$tap_dir/o" ] && [ "$(wc -l <"$tap_dir/e")" -eq 1 ] && grep -q "^slipway ${c% x}: slipway is not installed in this cluster.*'make deploy'.*charts/slipway" "$tap_dir/e" || return 1
    done
}

failing() {
    pod 'emulator.slipway.dev/exit-code: "3", emulator.slipway.dev/log: "no such device"' ubi9 | recipe failing
    walk failing
    explains failing '^SpecialResource failing  Failed' 'state 1000  Failed' '    Pod failing/it' \
        'container main: .*exit code 3' 'the end of its log: no such device'
}

unpulled() {
    recipe unpulled <<'END'
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: it}
spec:
  selector: {matchLabels: {app: it}}
  template:
    metadata: {labels: {app: it}}
    spec: {containers: [{name: main, image: "registry.invalid/none:1"}]}
END
    walk unpulled
    explains unpulled 'state 1000' 'DaemonSet unpulled/it' 'Pod unpulled/it-' 'container main: .*ImagePull'
}

unplaced() {
    recipe unplaced <<'END'
apiVersion: v1
kind: Pod
metadata: {name: it}
spec:
  restartPolicy: Never
  containers: [{name: main, image: ubi9, resources: {limits: {example.com/none: 1}}}]
END
    walk unplaced
    explains unplaced 'Pod unplaced/it' 'Insufficient example.com/none'
}

held() { # an object that cannot go
    kubectl create namespace held && kubectl create configmap -n held it &&
        kubectl patch specialresource unplaced --type=merge -p '{"metadata":{"finalizers":["example.com/hold"]}}' &&
        kubectl delete specialresource unplaced --wait=false &&
        explains unplaced 'it is being deleted' 'example.com/hold'
}

is_ready() {
    "$slipway" run charts/example/simple-kmod --timeout 60s && explains simple-kmod '^SpecialResource simple-kmod  Ready'
}

unawaited() { # SRO's way: what asks for nothing is Ready when it is applied
    mkdir -p "$tap_dir/plain/templates" && printf 'apiVersion: v2\nname: plain\nversion: 0.1.0\n' >"$tap_dir/plain/Chart.yaml"
    printf 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: it}\nspec:\n  selector: {matchLabels: {app: it}}\n  template:\n    metadata: {labels: {app: it}}\n    spec: {nodeSelector: {no: such}, containers: [{name: main, image: ubi9}]}\n' >"$tap_dir/plain/templates/it.yaml"
    "$slipway" run "$tap_dir/plain" --timeout 20s 2>"$tap_dir/e" || return 1
    cat "$tap_dir/e"
    grep -q '^slipway run: plain is Ready, and does not wait for:$' "$tap_dir/e" && grep -q '^  Deployment plain/it: 0 of 1 pods' "$tap_dir/e" &&
        grep -q "^  hint: with 'annotations: {slipway.dev/wait: all}' in Chart.yaml" "$tap_dir/e" &&
        explains plain '^SpecialResource plain  Ready' 'state plain  Ready: these objects are applied, and not waited for' 'Deployment plain/it' \
            'Pod plain/it-.*nodes are available'
}

one_state() {
    "$slipway" explain simple-kmod 0000 >"$tap_dir/o" && grep -q 'state 0000  Ready' "$tap_dir/o" &&
        ! grep -q 'state 1000' "$tap_dir/o"
}

as_json() {
    "$slipway" explain failing >/dev/null
    [ $? -eq 4 ] || return 1
    "$slipway" explain failing -o json | python3 -c '
import json, sys
chain = json.load(sys.stdin)
assert chain["is"] == "Failed" and chain["because"][0]["what"] == "state 1000", chain'
}

refuses() {
    "$slipway" explain nobody 2>"$tap_dir/e"
    [ $? -eq 2 ] && grep -q nobody "$tap_dir/e" || return 1
    "$slipway" explain simple-kmod 4711 2>"$tap_dir/e"
    [ $? -eq 2 ] && grep -q "no state '4711'; it has [a-z0-9]" "$tap_dir/e" || return 1
    "$slipway" explain 2>/dev/null
    [ $? -eq 2 ]
}

t "a cluster to ask" start
t "where slipway is not installed it is said how to" not_installed
t "a pod that fails is explained by its exit code and the end of its log" failing
t "a DaemonSet is explained by its pods" unpulled
t "a pod that fits nowhere is explained by what is missing" unplaced
t "what cannot be deleted is explained by its finalizers" held
t "a resource that is Ready is said to be" is_ready
t "of a resource that is Ready, what it does not wait for and that is not ready" unawaited
t "one state alone can be asked for" one_state
t "with -o json the chain is one document" as_json
t "an unknown resource, an unknown state and none are refused" refuses
kill "$(cat "$tap_dir/pid")"
near_topic() { ! "$slipway" explain stat Held 2>"$tap_dir/o" && cat "$tap_dir/o" && grep -q 'for a topic: slipway explain state Held$' "$tap_dir/o"; }
t "a topic that is misspelt" near_topic
plan
