# stuck.sh: sourced by tests of what is said of a resource that is stuck, after tap.sh. $slipway is the program, and the
# directory is one where recipes may be written.

template() { # RECIPE FILE: a template of a recipe, of standard input
    mkdir -p "$1/templates"
    printf 'apiVersion: v2\nname: %s\nversion: 0.1.0\nannotations: {slipway.dev/wait: all}\n' "$1" >"$1/Chart.yaml"
    cat >"$1/templates/$2.yaml"
}
deployment() { # ANNOTATIONS IMAGE CONTAINER POD: two pods
    printf 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: it}\nspec:\n  replicas: 2\n  selector: {matchLabels: {app: it}}\n  template:\n    metadata: {labels: {app: it}, annotations: {%s}}\n    spec:\n      containers: [{name: main, image: "%s"%s}]\n%s\n' "$1" "$2" "$3" "$4"
}
daemon_set() { # POD
    printf 'apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: it}\nspec:\n  selector: {matchLabels: {app: it}}\n  template:\n    metadata: {labels: {app: it}}\n    spec:\n      containers: [{name: main, image: "busybox:1"}]\n%s\n' "$1"
}
made() { # KIND VERSION REST
    printf 'apiVersion: %s\nkind: %s\n%s\n' "$2" "$1" "$3"
}

# stuck RECIPE CODE TEXT HINT: run ends with CODE, and run, status and explain say TEXT and HINT; what explain says of the
# state it says once
stuck() {
    local recipe=$1 code=$2 text=$3 hint=$4 rc=0
    "$slipway" run "$recipe" --timeout "${time:-3s}" --fail-fast=false >ran 2>errs </dev/null || rc=$?
    cat ran errs
    [ $rc -eq "$code" ] || { echo "exit $rc"; return 1; }
    grep -qE -- "$text" errs || { echo "run does not say it"; return 1; }
    "$slipway" status "$recipe" >status; "$slipway" explain "$recipe" >explained
    cat status explained
    tr '\n' ' ' <status | sed 's/  */ /g' | grep -qE -- "$text" || { echo "status does not say it"; return 1; }
    [ "$(grep -cE -- "$text" explained)" -eq 1 ] || { echo "explain says it $(grep -cE -- "$text" explained) times"; return 1; }
    if [ -n "$hint" ]; then
        for f in errs explained; do grep -qF -- "hint: $hint" $f || { echo "no hint in $f"; return 1; }; done
    fi
}
