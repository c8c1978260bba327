#!/bin/bash
# The workflows of .github: they can be read, their steps name programs and targets that exist, and those steps that
# another test does not run are run here.
. "$(dirname "$0")/../../tap.sh"
cd "$(dirname "$0")/../../.." || exit 1
slipway=${SLIPWAY:-$PWD/build/test/slipway}
make help >"$tap_dir/help" 2>/dev/null
. test/kubernetes_release.sh

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
    done
}
t "each workflow may read alone, unless a job says more" bounded

# A tag can be moved to other code, a commit cannot; the version behind it is for dependabot and readers.
pinned() {
    local line
    grep -hE '^ *(- )?uses:' .github/workflows/*.yml >"$tap_dir/uses" || return 1
    while read -r line; do
        grep -qxE -- '(- )?uses: [a-z-]+/[a-z/-]+@[0-9a-f]{40} # v[0-9]+\.[0-9]+\.[0-9]+' <<<"$line" || { echo "no commit and version: $line"; return 1; }
    done <"$tap_dir/uses"
    # one action, one version
    [ -z "$(sed 's/.*uses: //; s|^\([^/]*/[^/@]*\)[^@]*@|\1 |' "$tap_dir/uses" | sort -u | cut -d' ' -f1 | uniq -d)" ] || { sort -u "$tap_dir/uses"; return 1; }
}
t "each action is a commit, with the version that it is" pinned
untrusted() { # what a stranger writes (titles, branches) is no part of a command, and no workflow of his has our rights
    ! grep -nE 'pull_request_target|workflow_run' .github/workflows/*.yml || return 1
    ! steps | grep -F '${{'
}

# the steps' commands, a line each
steps() { for file in .github/workflows/*.yml; do as_json "$file" | jq -r '.jobs[].steps[].run // empty'; done | sort -u; }
t "no workflow gives a stranger's text or code rights" untrusted
mounts() { # a container of its own must let what mounts do so
    local file
    for file in .github/workflows/*.yml; do
        as_json "$file" | jq -e 'all(.jobs[] | select(any(.steps[].run // ""; test("^make test-(dist|cluster)"))); .container | type == "object" and (.options | test("--privileged")))' >/dev/null || { echo "$file"; return 1; }
    done
    steps | grep -x 'make test-dist'
}
t "what mounts is run where it may" mounts
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
    release "$tap_dir/releases" v1.36.2 1.36 v3.6.4 2.1.4
    local step
    steps | grep -vE '^(make |apt-get )' >"$tap_dir/steps"
    [ -s "$tap_dir/steps" ] || return 1
    mkdir -p "$tap_dir/checkout/build/dist" && ln -s "$PWD/hack" "$tap_dir/checkout/hack" && echo '{}' >"$tap_dir/bundle" || return 1
    while read -r step; do
        (cd "$tap_dir/checkout" && HOME=$tap_dir KUBERNETES=1.36 KUBEBUILDER_ASSETS=$tap_dir/assets PROVENANCE=$tap_dir/bundle bash -ec "$step") || { echo "failed: $step"; return 1; }
    done <"$tap_dir/steps"
    [ "$("$tap_dir/assets/kubelet")" = "kubelet of v1.36.2" ] && [ -s "$tap_dir/checkout/build/dist/SHA256SUMS.intoto.jsonl" ]
}
t "the steps that no other test runs succeed" run_here
plan
