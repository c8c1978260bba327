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
plan
