#!/bin/bash
# What the API server warns of is told: once, in kubectl's words; by the emulator as by a server.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh
slipway=${SLIPWAY:-build/test/slipway}
trap '[ ! -s "$tap_dir/pid" ] || kill "$(cat "$tap_dir/pid")" 2>/dev/null; wait; rm -rf "$tap_dir"' EXIT
mkdir -p "$tap_dir/old/templates"
printf 'apiVersion: v2\nname: old\nversion: 0.1.0\nannotations: {slipway.dev/wait: all}\n' >"$tap_dir/old/Chart.yaml"
for n in 1 2; do
    cat >"$tap_dir/old/templates/$n.yaml" <<YAML
apiVersion: batch/v1beta1
kind: CronJob
metadata: {name: job-$n}
spec:
  schedule: "0 0 * * *"
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}
YAML
done
text='batch/v1beta1 CronJob is deprecated in v1.21+, unavailable in v1.25+; use batch/v1 CronJob'
"$slipway" emulate --platform kubernetes --kube-version 1.24 --kubeconfig-out "$tap_dir/kubeconfig" >"$tap_dir/emulator" 2>&1 &
echo $! >"$tap_dir/pid"
until_ok 30 grep -qs "^http" "$tap_dir/emulator"
export KUBECONFIG=$tap_dir/kubeconfig

answered() {
    curl -sD - -o /dev/null "$(head -n 1 "$tap_dir/emulator")/apis/batch/v1beta1/cronjobs" | grep -F "Warning: 299 - \"$text\"" &&
        ! curl -sD - -o /dev/null "$(head -n 1 "$tap_dir/emulator")/apis/batch/v1/cronjobs" | grep -i '^warning'
}
told_once() { "$slipway" run "$tap_dir/old" 2>"$tap_dir/said" && [ "$(grep -cxF "Warning: $text" "$tap_dir/said")" = 1 ]; }
yellow() {
    script -qec "$slipway run $tap_dir/old --name again" /dev/null </dev/null >"$tap_dir/shown" 2>&1
    grep -qF "$(printf '\033[33mWarning:\033[0m') $text" "$tap_dir/shown" || { cat "$tap_dir/shown"; return 1; }
}

t "an answer about a deprecated version has the server's warning" answered
t "a command tells it once, for two objects" told_once
if command -v script >/dev/null && [ -z "${NO_COLOR:-}" ]; then
    export TERM=xterm
    t "on a terminal in yellow" yellow
else
    skip "on a terminal in yellow" "no script(1)"
fi

# values that are given and that nothing reads
mkdir -p "$tap_dir/set/templates" "$tap_dir/set/charts/sub/templates"
printf 'apiVersion: v2\nname: set\nversion: 0.1.0\ndependencies: [{name: sub, version: 0.1.0, condition: subOn}]\n' >"$tap_dir/set/Chart.yaml"
printf 'apiVersion: v2\nname: sub\nversion: 0.1.0\n' >"$tap_dir/set/charts/sub/Chart.yaml"
printf 'colour: red\n' >"$tap_dir/set/charts/sub/values.yaml"
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: {c: {{ .Values.colour }}, g: {{ .Values.global.region | default "x" }}}\n' >"$tap_dir/set/charts/sub/templates/b.yaml"
printf 'message: a\nunread: b\nimage: {repository: x, tag: t}\nwhole: {a: 1}\nglobal: {}\n' >"$tap_dir/set/values.yaml"
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {m: {{ .Values.message }}, o: {{ .Values.optional | default "n" }}, i: {{ .Values.image.tag }}, w: {{ toJson .Values.whole | quote }}}\n' >"$tap_dir/set/templates/a.yaml"
read_values=message=x,whole.b=1,global.region=eu,global.zone=z,sub.colour=blue,sub.any=x,optional=z,subOn=true
unread_values=mesage=x,unread=c,image.repository=y,image.tagg=2,nothing=x
warns() { # COMMAND OPTION...: of these values alone
    local neither='and neither values.yaml nor a template has it'
    "$slipway" "$1" "$tap_dir/set" "${@:2}" --set $read_values,$unread_values >"$tap_dir/o" 2>"$tap_dir/said"
    grep ' is set' "$tap_dir/said" | sort | diff - <(
        sort <<T
slipway $1: warning: value 'image.repository' is set, and no template reads it
slipway $1: warning: value 'image.tagg' is set, $neither: is it 'image.tag'?
slipway $1: warning: value 'mesage' is set, $neither: is it 'message'?
slipway $1: warning: value 'nothing' is set, $neither
slipway $1: warning: value 'unread' is set, and no template reads it
T
    )
}
warns_of_none() { # CHART OPTION...
    "$slipway" run "$1" --emulate --timeout 60s "${@:2}" >"$tap_dir/o" 2>"$tap_dir/said"
    ! grep ' is set' "$tap_dir/said"
}
absent_chart() { # what it reads nobody knows
    sed -i 's|version: 0.1.0, condition|version: 0.1.0, repository: "http://127.0.0.1:9", condition|' "$tap_dir/set/Chart.yaml" && rm -r "$tap_dir/set/charts" &&
        printf 'annotations:\n  slipway.dev/releases: |\n    sub: {name: sub, namespace: sub}\n' >>"$tap_dir/set/Chart.yaml" &&
        printf 'sub: {colour: red}\n' >>"$tap_dir/set/values.yaml" && warns_of_none "$tap_dir/set" --timeout 1s --set global.x=1,sub.colours=blue,unread=x &&
        grep -q 'http://127.0.0.1:9' "$tap_dir/o"
}
for c in "run --emulate" diff plan; do
    # shellcheck disable=SC2086
    t "slipway ${c%% *} tells of values that nothing reads" warns $c
done
t "not of those that are read: as a whole, by a subchart, as globals, by a condition" warns_of_none "$tap_dir/set" --set $read_values
t "nor of those of values.yaml itself, given again, that are read" warns_of_none recipes/nvidia-mig -f recipes/nvidia-mig/values.yaml --timeout 10ms
t "nor of what a chart may read that cannot be had" absent_chart
plan
