# slipway test: the test hooks of a release, as `helm test` runs them.
. test/tap.sh
slipway=${SLIPWAY:-build/test/slipway}
export KUBECONFIG=$tap_dir/kubeconfig

hook() { # NAME WEIGHT POLICY EXIT-CODE LOG
    cat <<END
---
apiVersion: v1
kind: Pod
metadata:
  name: $1
  annotations:
    helm.sh/hook: test
    helm.sh/hook-weight: "$2"
    helm.sh/hook-delete-policy: $3
    emulator.slipway.dev/exit-code: "$4"
    emulator.slipway.dev/log: "$5"
spec: {restartPolicy: Never, containers: [{name: main, image: ubi9}]}
END
}

recipe() { # NAME: a chart of one ConfigMap, and of the hooks on stdin
    mkdir -p "$tap_dir/$1/templates"
    printf 'apiVersion: v2\nname: %s\nversion: 0.1.0\n' "$1" >"$tap_dir/$1/Chart.yaml"
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n' >"$tap_dir/$1/templates/0000-c.yaml"
    cat >"$tap_dir/$1/templates/tests.yaml"
}

start() {
    "$slipway" emulate --kubeconfig-out "$KUBECONFIG" >"$tap_dir/emulate" 2>&1 &
    echo $! >"$tap_dir/pid"
    until_ok 30 test -s "$KUBECONFIG" || return 1
    { hook second 2 before-hook-creation 0 "all is well"; hook first 1 hook-succeeded 0 "fine"; } | recipe good
    { hook broken 1 before-hook-creation 3 "no such device"; hook never 2 before-hook-creation 0 ""; } | recipe bad
    { hook swept 1 hook-failed 4 "no luck"; } | recipe swept
    : | recipe none
    hook loud 1 before-hook-creation 0 "all is said" | sed 's/^    helm.sh\/hook: test/&\n    helm.sh\/hook-output-log-policy: hook-failed, hook-succeeded/' |
        recipe loud
    hook stuck 1 before-hook-creation 0 "" | sed 's/^spec: {/spec: {nodeSelector: {no: node}, /' | recipe stuck
    for name in good bad swept none stuck loud; do
        "$slipway" run "$tap_dir/$name" --timeout 60s >/dev/null 2>&1 || { echo "$name is not Ready"; return 1; }
    done
    "$slipway" controller --metrics-bind-address 0 --health-probe-bind-address 0 >"$tap_dir/controller" 2>&1 &
    echo $! >"$tap_dir/controller.pid"
    for name in good bad swept none stuck loud; do until_ok 60 recorded "$name" || { tail -5 "$tap_dir/controller"; return 1; }; done
}

recorded() { "$slipway" test "$1" --only nobody 2>&1 | grep -q "has no test"; }

tests() { # EXIT-STATUS ARGUMENTS...; the output is in $tap_dir/o
    local want=$1 rc
    shift
    "$slipway" test "$@" >"$tap_dir/o" 2>&1
    rc=$?
    cat "$tap_dir/o"
    [ $rc -eq "$want" ] || { echo "exit status $rc, not $want"; return 1; }
}

lines() { grep -n -- "$1" "$tap_dir/o" | cut -d: -f1; }
says() { grep -q -- "$1" "$tap_dir/o" || { echo "it does not say: $1"; return 1; }; }
says_not() { ! grep -q -- "$1" "$tap_dir/o" || { echo "it says: $1"; return 1; }; }

succeeding() {
    tests 0 good && says 'test Pod good/first: Succeeded' && says 'test Pod good/second: Succeeded' &&
        [ "$(lines good/first)" -lt "$(lines good/second)" ] && says_not 'all is well'
}

again() { tests 0 good && says 'good/second: Succeeded'; }
logs() { tests 0 good --logs && says 'all is well' && says 'fine'; }
asked() { tests 0 loud && says 'all is said'; }
one() { tests 0 good --only second && says_not 'good/first'; }
failing() { tests 1 bad && says 'test Pod bad/broken: Failed' && says 'no such device' && says_not 'bad/never'; }
swept() { tests 1 swept && says 'no luck' && tests 1 swept && says 'no luck'; }
none() { tests 0 none && says 'has no tests'; }
unknown() { tests 2 nobody && says nobody; }
late() { tests 3 stuck --timeout 2s && says 'stuck has not ended in time'; }
no_name() { tests 2; }

t "start" start
t "all succeed, by weight: exit status 0" succeeding
t "a second run replaces the first one's pods" again
t "--logs prints the logs of what succeeds" logs
t "a test that asks for it has its log printed" asked
t "--only runs one test" one
t "one that fails: exit status 1, its log, and no other after it" failing
t "hook-failed deletes what failed, after its log" swept
t "a recipe without tests" none
t "one that does not end in time: exit status 3" late
t "a resource that is not there: bad input" unknown
t "without a name: bad usage" no_name
kill "$(cat "$tap_dir/controller.pid")" "$(cat "$tap_dir/pid")"

plan
