# What a controller was told and what it decided, recorded and played again: the same decisions, no
# secret in the file, an end to its size, and a clear word for what is no recording.
. test/tap.sh
slipway=${SLIPWAY:-build/test/slipway}
export KUBECONFIG=$tap_dir/kubeconfig
tape=$tap_dir/tape
trap 'for p in $(cat "$tap_dir"/pids 2>/dev/null); do kill "$p" 2>/dev/null; done; rm -rf "$tap_dir"' EXIT

walked() { # RECIPE: recorded while it is walked, and played
    "$slipway" run "$1" --emulate --delays 0.01 --timeout 240s --record "$tape" >"$tap_dir/o" 2>&1 || { cat "$tap_dir/o"; return 1; }
    same "$tape"
}

same() { # FILE
    "$slipway" replay "$1" >"$tap_dir/played" || { grep -A1 '^line' "$tap_dir/played" | head -20; tail -2 "$tap_dir/played"; return 1; }
    tail -1 "$tap_dir/played" | grep 'those that were recorded'
}

secrets() { # a chart with a Secret, a password in an environment, and numbers that JSON writes in more than one way
    mkdir -p "$tap_dir/hello/templates"
    printf 'apiVersion: v2\nname: hello\nversion: 0.1.0\nannotations: {slipway.dev/wait: all}\n' >"$tap_dir/hello/Chart.yaml"
    cat >"$tap_dir/hello/templates/0000-login.yaml" <<'YAML'
apiVersion: v1
kind: Secret
metadata: {name: login}
stringData: {password: {{ .Values.secret | default "topsecret" }}}
YAML
    cat >"$tap_dir/hello/templates/1000-agent.yaml" <<'YAML'
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      containers:
      - name: agent
        image: example.test/agent:1
        env: [{name: DB_PASSWORD, value: {{ .Values.secret | default "topsecret" }}}]
        resources: {limits: {cpu: 1.50}}
YAML
    walked "$tap_dir/hello" && ! grep -qE "topsecret|$(printf topsecret | base64)" "$tape" && grep -q 'bytes redacted' "$tape" &&
        [ "$(stat -c %a "$tape")" = 600 ]
}

operated() { # an operator: two resources, an edit, a drift, a new node, a deletion
    "$slipway" emulate --delays 0.01 --platform kubernetes --kubeconfig-out "$KUBECONFIG" >/dev/null 2>&1 &
    echo $! >>"$tap_dir/pids"
    until_ok 30 test -s "$KUBECONFIG" && kubectl apply -f deploy/crds/sro.openshift.io_specialresources.yaml || return 1
    until_ok 20 kubectl get specialresources || return 1
    "$slipway" controller --record "$tap_dir/operator.tape" --metrics-bind-address 0 --health-probe-bind-address 0 --no-registries >"$tap_dir/operator.log" 2>&1 &
    local operator=$!
    echo $operator >>"$tap_dir/pids"
    "$slipway" configmap "$tap_dir/hello" --namespace default | kubectl apply -f - && resource hello && resource again || return 1
    ready hello && ready again &&
        kubectl patch specialresource hello --type merge -p '{"spec":{"set":{"secret":"secondsecret"}}}' && until_ok 30 edited &&
        kubectl -n again delete secret login && until_ok 30 kubectl -n again get secret login && ready again && ready hello &&
        kubectl delete node gpu-0 && kubectl delete specialresource again --timeout=60s || { cat "$tap_dir/operator.log"; return 1; }
    kill $operator
    wait $operator
    same "$tap_dir/operator.tape" && ! grep -qE "topsecret|secondsecret|$(printf secondsecret | base64)" "$tap_dir/operator.tape" &&
        grep -q '"resource":"again"' "$tap_dir/operator.tape"
}
resource() {
    kubectl apply -f - <<YAML
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: $1}
spec:
  namespace: $1
  chart: {name: hello, version: 0.1.0, repository: {name: here, url: "cm://default/hello"}}
YAML
}
ready() { until_ok 30 eval '[ "$(kubectl get specialresource '"$1"' -o "jsonpath={.status.conditions[?(@.type==\"Ready\")].status}")" = True ]'; }
edited() { [ "$(kubectl -n hello get secret login -o 'jsonpath={.data.password}' | base64 -d)" = secondsecret ]; }

other_decisions() { # a decision that is not what is decided now is shown, with its line
    local rc=0
    sed 's/"reason\\":\\"StateReady/"reason\\":\\"StateReddy/' "$tape" >"$tap_dir/other"
    "$slipway" replay "$tap_dir/other" >"$tap_dir/o" || rc=$?
    tail -3 "$tap_dir/o"
    [ $rc -eq 1 ] && grep -q '^line [0-9]*: recorded: .*StateReddy' "$tap_dir/o" && grep -q 'not those that were recorded' "$tap_dir/o"
}
as_json() {
    "$slipway" replay "$tape" -o json >"$tap_dir/o" && grep -q '"same": true' "$tap_dir/o" || return 1
    ! "$slipway" replay "$tap_dir/other" -o json >"$tap_dir/o" && grep -q '"same": false' "$tap_dir/o" && grep -q '"recorded": ".*StateReddy' "$tap_dir/o"
}
bounded() { # it ends, says so, and what there is can be played
    "$slipway" run recipes/nvidia-mig --emulate --delays 0 --timeout 240s --record "$tap_dir/small" --record-size 1 >/dev/null &&
        "$slipway" run recipes/nvidia-mig --emulate --nodes 60 --delays 0 --timeout 240s --record "$tap_dir/small" --record-size 1 >/dev/null || return 1
    [ "$(stat -c %s "$tap_dir/small")" -le $(((1 << 20) + 20)) ] && "$slipway" replay "$tap_dir/small" | tail -1 | grep 'it was full'
}
cut_off() { # by a kill in the middle of a line
    head -c $(($(stat -c %s "$tape") - 100)) "$tape" >"$tap_dir/cut" && same "$tap_dir/cut"
}
no_recording() {
    local rc=0
    "$slipway" replay "$tap_dir/none" 2>"$tap_dir/o" || rc=$?
    [ $rc -eq 2 ] && grep -q none "$tap_dir/o" || return 1
    { head -5 "$tape"; echo '{"step":99,"event":{}}'; } >"$tap_dir/bad"
    rc=0
    "$slipway" replay "$tap_dir/bad" >/dev/null 2>"$tap_dir/o" || rc=$?
    cat "$tap_dir/o"
    [ $rc -eq 2 ] && grep -q 'bad:6: step: there is no such engine' "$tap_dir/o" || return 1
    rc=0
    "$slipway" run "$tap_dir/hello" --emulate --record /nonexistent/tape >/dev/null 2>"$tap_dir/o" || rc=$?
    [ $rc -eq 2 ] && grep -q '/nonexistent/tape' "$tap_dir/o"
}

t "nvidia-mig is walked again as it was" walked recipes/nvidia-mig
t "simple-kmod, too" walked recipes/simple-kmod
t "drivers that are replaced by node, too" walked test/emulator/chart/charts/driver
t "no secret is in the file, and what is equal stays so" secrets
t "what an operator did: an edit, a drift, a node that goes, a deletion" operated
t "another decision is shown with its line" other_decisions
t "as a document" as_json
t "a recording has an end" bounded
t "one that was cut off is played so far" cut_off
t "what is no recording is said" no_recording
plan
