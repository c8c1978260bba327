#!/bin/bash
# The workflows of .github: they can be read, their steps name programs and targets that exist, and those steps that
# another test does not run are run here.
. "$(dirname "$0")/../../tap.sh"
cd "$(dirname "$0")/../../.." || exit 1
slipway=${SLIPWAY:-$PWD/build/test/slipway}
make help >"$tap_dir/help" 2>/dev/null

# as_json FILE: a chart with the file as its values is rendered to JSON, so that the file is read as YAML is read
as_json() {
    mkdir -p "$tap_dir/chart/templates" || return 1
    printf 'apiVersion: v2\nname: chart\nversion: 0.1.0\n' >"$tap_dir/chart/Chart.yaml"
    printf '{{ .Files.Get "file.yaml" | fromYaml | toJson }}' >"$tap_dir/chart/templates/NOTES.txt"
    cp "$1" "$tap_dir/chart/file.yaml"
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {json: {{ .Files.Get "file.yaml" | fromYaml | toJson | quote }}}\n' >"$tap_dir/chart/templates/a.yaml"
    "$slipway" render "$tap_dir/chart" | sed -n "s/^ *json: //p; s/^data: {json: \\(.*\\)}\$/\\1/p" | jq -r . 2>/dev/null
}
readable() {
    local file json
    for file in .github/workflows/*.yml .github/dependabot.yml; do
        json=$(as_json "$file") && [ -n "$json" ] && ! jq -e 'has("Error")' <<<"$json" >/dev/null || { echo "$file cannot be read: $json"; return 1; }
    done
}
t "each workflow can be read" readable

bounded() {
    local file
    for file in .github/workflows/*.yml; do
        as_json "$file" | jq -e '.permissions == {"contents": "read"} and all(.jobs[]; .["runs-on"] and (.steps | length > 0)) and
            all(.jobs[].steps[]; (has("run") or has("uses")) and (has("run") and has("uses") | not))' >/dev/null || { echo "$file"; return 1; }
        as_json "$file" | jq -e '[.jobs[].steps[] | .uses // empty] | all(test("^[a-z-]+/[a-z/-]+@v[0-9]+$"))' >/dev/null || { echo "$file: an action without a version"; return 1; }
    done
}
t "each workflow may read alone, unless a job says more; each action has a version" bounded

# the steps' commands, a line each
steps() { for file in .github/workflows/*.yml; do as_json "$file" | jq -r '.jobs[].steps[].run // empty'; done | sort -u; }
targets() {
    local target
    steps | sed -n 's/^make \([a-z0-9-]*\).*/\1/p' | sort -u >"$tap_dir/targets"
    [ -s "$tap_dir/targets" ] || return 1
    while read -r target; do
        grep -q "^  $target " "$tap_dir/help" || { echo "make $target: no such target"; return 1; }
    done <"$tap_dir/targets"
}
t "each target of make that a step names is there" targets

# what is run elsewhere: make test runs this test; packages are installed by hack/deps.sh, too
run_here() {
    local step
    steps | grep -vE '^(make |apt-get )' >"$tap_dir/steps"
    [ -s "$tap_dir/steps" ] || return 1
    while read -r step; do
        HOME=$tap_dir bash -ec "$step" || { echo "failed: $step"; return 1; }
    done <"$tap_dir/steps"
}
t "the steps that no other test runs succeed" run_here
plan
