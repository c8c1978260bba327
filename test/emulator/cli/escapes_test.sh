# Names, messages and failures of templates that hold terminal escapes are printed harmless by every command.
. test/tap.sh
slipway=${SLIPWAY:-build/test/slipway}
export KUBECONFIG=$tap_dir/kubeconfig
esc=$(printf '\033') rlo=$(printf '\342\200\256') # U+202E: from here on from right to left

recipe() { # NAME TEMPLATE: a chart of one state
    mkdir -p "$tap_dir/$1/templates"
    printf 'apiVersion: v2\nname: %s\nversion: 0.1.0\ndescription: "\\e[2Jd"\nannotations: {slipway.dev/wait: all}\n' "$1" >"$tap_dir/$1/Chart.yaml"
    cat >"$tap_dir/$1/templates/1000-it.yaml"
}
recipe fails <<'YAML'
{{ fail "\x1b[2J\x1b]0;owned\x07 \u009b31m" }}
YAML
recipe named <<'YAML'
apiVersion: v1
kind: ConfigMap
metadata: {name: "a\e[2J"}
YAML
recipe kind <<'YAML'
apiVersion: v1
kind: "K\e[2J"
metadata: {name: a}
YAML
recipe lacks <<'YAML'
{{ include "a\u001b[2J" . }}
YAML
recipe broken <<YAML
{{ .Values.a$esc[2J }}
YAML
recipe yaml <<YAML
a: {$esc[2J
YAML
recipe fine <<YAML
apiVersion: v1
kind: ConfigMap
metadata: {name: fine}
data:
  # ${rlo}backwards in a comment
  a: "\e[2J"
YAML
recipe waits <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: it, annotations: {slipway.dev/observe: "true"}}
spec: {containers: [{name: main, image: "registry.invalid/x"}]}
YAML

harmless() { # FILE...: no byte that a terminal acts on
    local n
    n=$(cat "$@" | LC_ALL=C tr -d '\11\12\40-\176\200-\377' | wc -c)
    [ "$n" = 0 ] && ! LC_ALL=C grep -q "$(printf '\302\233')" "$@" && return
    cat -v "$@" | head -20
    return 1
}
# says WORDS COMMAND...: whether it fails or not, what it prints has these words and is harmless
says() {
    local words=$1
    shift
    timeout 60 "$slipway" "$@" >"$tap_dir/o" 2>"$tap_dir/e"
    harmless "$tap_dir/o" "$tap_dir/e" || return 1
    cat "$tap_dir/o" "$tap_dir/e" | grep -qF -- "$words" && return
    echo "it does not say: $words"
    cat "$tap_dir/o" "$tap_dir/e" | head -20
    return 1
}
start() {
    mkdir "$tap_dir/rules"
    printf 'images:\n- {match: "^registry.invalid/", exists: false}\n' >"$tap_dir/rules/images.yaml"
    "$slipway" emulate --rules "$tap_dir/rules" --kubeconfig-out "$KUBECONFIG" >"$tap_dir/emulate" 2>&1 &
    echo $! >"$tap_dir/pid"
    until_ok 30 test -s "$KUBECONFIG"
}
# a document goes into a pipe as it was rendered, and is harmless on a terminal
documents() {
    "$slipway" render "$tap_dir/fine" >"$tap_dir/o" && grep -qF "# ${rlo}backwards" "$tap_dir/o" || return 1
    command -v script >/dev/null || return 0
    TERM=xterm script -qec "$slipway render $tap_dir/fine" "$tap_dir/typed" </dev/null >/dev/null
    tr -d '\r' <"$tap_dir/typed" | grep -qF '# \u202ebackwards' || { cat -v "$tap_dir/typed"; return 1; }
    ! grep -qF "$rlo" "$tap_dir/typed"
}
stands() { # with messages in its status that somebody else has written
    "$slipway" run "$tap_dir/waits" --timeout 2s >/dev/null 2>&1
    kubectl get specialresource waits -o json | jq '.status.conditions[0].message = "\u001b[2Jgone \u009b31m" | .status.conditions[0].reason = "R\u001b[2J" |
        (.status.states[]? | select(type == "object") | .message) = "\u001b[2Jstate" | .status.message = "\u001b[2Jm" | .status.state = "\u001b[2J"' >"$tap_dir/evil.json" &&
        kubectl replace --raw "/apis/sro.openshift.io/v1beta1/specialresources/waits/status" -f "$tap_dir/evil.json" >/dev/null
}
terminal_colours() { # its own colours stay, those of a message do not
    command -v script >/dev/null || return 0
    TERM=xterm script -qec "$slipway status waits" "$tap_dir/typed" </dev/null >/dev/null
    grep -qF "$esc[1m" "$tap_dir/typed" && ! grep -qF "$esc[2J" "$tap_dir/typed"
}
logged() {
    "$slipway" controller --metrics-bind-address 0 --health-probe-bind-address 0 >"$tap_dir/log" 2>&1 &
    local operator=$! rc
    "$slipway" configmap "$tap_dir/fails" | kubectl apply -f - >/dev/null && kubectl apply -f - >/dev/null <<'YAML'
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: fails}
spec: {namespace: fails, chart: {name: fails, version: 0.1.0, repository: {name: here, url: "cm://default/fails"}}}
YAML
    until_ok 20 grep -q 'owned' "$tap_dir/log"
    rc=$?
    kill $operator
    wait $operator 2>/dev/null
    harmless "$tap_dir/log" && [ $rc = 0 ] || { cat -v "$tap_dir/log" | tail; return 1; }
    kubectl get specialresource fails -o json >"$tap_dir/fails.json"
}

t "lint: a template that fails" says '\u001b[2J' lint "$tap_dir/lacks"
t "lint: a template that is none" says 'U+001B' lint "$tap_dir/broken"
t "render: a template that fails" says '\u001b[2J\u001b]0;owned\u0007 \u009b31m' render "$tap_dir/fails"
t "render: a template that is none" says 'U+001B' render "$tap_dir/broken"
t "render: no YAML" says 'control characters' render "$tap_dir/yaml"
t "graph" says '1000' graph "$tap_dir/named"
t "package" says 'wrote' package "$tap_dir/fine" -d "$tap_dir"
t "an option" says 'u001b' render "--no-${esc}[2J"
t "a command" says 'u001b' "no${esc}[2J"
t "a file" says 'u001b' render "$tap_dir/no${esc}[2J"
t "documents" documents
t "a cluster" start
t "run: a template that fails" says '\u001b[2J' run "$tap_dir/fails" --timeout 3s
t "run: a name" says 'u001b' run "$tap_dir/named" --timeout 3s
t "run: a kind" says 'u001b' run "$tap_dir/kind" --timeout 3s
t "plan: a template that fails" says '\u001b[2J' plan "$tap_dir/fails"
t "diff: a template that fails" says '\u001b[2J' diff "$tap_dir/fails"
t "diff: content" says 'fine' diff "$tap_dir/fine"
t "rbac: a template that fails" says '\u001b[2J' rbac "$tap_dir/fails"
t "a resource whose status says much" stands
t "status" says 'waits' status waits
t "status of all" says 'waits' status
t "status as JSON" says 'u001b' status waits -o json
t "explain" says '[2J' explain waits
t "explain as JSON" says 'u001b' explain waits -o json
t "test" says 'waits' test waits
t "colours are slipway's own" terminal_colours
t "logs of the operator" logged
t "uninstall" says 'waits' uninstall --plan
kill "$(cat "$tap_dir/pid")" 2>/dev/null
plan
