# slipway lint: what it finds in a recipe that has one of each fault, and in those without.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
faulty=test/golden/render/faulty

finds() { # LINE: exactly this line, among others, and exit 1
    local rc=0
    "$slipway" lint $faulty >"$tap_dir/got" || rc=$?
    cat "$tap_dir/got"
    [ $rc -eq 1 ] && grep -qxF -- "$1" "$tap_dir/got"
}

all_of_it() {
    [ "$("$slipway" lint $faulty | wc -l)" -eq 13 ]
}

as_json() {
    local rc=0
    "$slipway" lint $faulty -o json >"$tap_dir/got" || rc=$?
    [ $rc -eq 1 ] && [ "$(grep -c '"level"' "$tap_dir/got")" -eq 13 ] && grep -q '"level": "warning"' "$tap_dir/got"
}

says_nothing() {
    "$slipway" lint "$@" >"$tap_dir/got" && [ ! -s "$tap_dir/got" ] || { cat "$tap_dir/got"; false; }
}

tells_template_errors() {
    local rc=0
    mkdir -p "$tap_dir/bad/templates"
    printf 'name: bad\nversion: 1.0.0\n' >"$tap_dir/bad/Chart.yaml"
    printf 'a: 1\nb: {{ .Values.x.y }}\n' >"$tap_dir/bad/templates/t.yaml"
    "$slipway" lint "$tap_dir/bad" >"$tap_dir/got" || rc=$?
    cat "$tap_dir/got"
    [ $rc -eq 1 ] && grep -q '^bad/templates/t.yaml:2: error: template: bad/templates/t.yaml:2:' "$tap_dir/got"
}

tells_all_that_is_no_yaml() {
    local rc=0
    mkdir -p "$tap_dir/worse/templates"
    printf 'name: worse\nversion: 1.0.0\n' >"$tap_dir/worse/Chart.yaml"
    printf 'a: b: c\n' >"$tap_dir/worse/templates/one.yaml"
    printf 'a: 1\nb: [\n' >"$tap_dir/worse/templates/two.yaml"
    "$slipway" lint "$tap_dir/worse" >"$tap_dir/got" || rc=$?
    cat "$tap_dir/got"
    [ $rc -eq 1 ] && grep -qx 'worse/templates/one.yaml:1: error: mapping values are not allowed in this context' "$tap_dir/got" &&
        grep -q '^worse/templates/two.yaml:3: error: ' "$tap_dir/got"
}

knows_fields() {
    local rc=0
    mkdir -p "$tap_dir/slips/templates"
    printf 'name: slips\nversion: 1.0.0\n' >"$tap_dir/slips/Chart.yaml"
    cat >"$tap_dir/slips/templates/d.yaml" <<'YAML'
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: d
  labels: {app: 7}
spec:
  template:
    spec:
      containers:
      - name: c
        image: x:1
        volumeMount: []
---
apiVersion: v1
kind: List
items:
- apiVersion: example.com/v1
  kind: Own
  metadata: {name: own, lables: {}}
  spec: {anything: true}
YAML
    "$slipway" lint "$tap_dir/slips" >"$tap_dir/got" || rc=$?
    [ $rc -eq 1 ] && diff - "$tap_dir/got" <<'WANT'
slips/templates/d.yaml:5: error: metadata.labels.app: expected text, found a number; put it in quotes
slips/templates/d.yaml:12: error: spec.template.spec.containers[0].volumeMount: there is no such field; is it 'volumeMounts'?
slips/templates/d.yaml:19: error: metadata.lables: there is no such field; is it 'labels'?
WANT
}

not_there() {
    local rc=0
    "$slipway" lint /no/such/recipe 2>"$tap_dir/got" || rc=$?
    [ $rc -eq 2 ]
}

a=faulty/templates/0000-first.yaml
b=faulty/templates/0001-second.yaml
t 'a key twice' finds "$a:7: error: key 'a' is already set in this map"
t 'an object twice' finds "$b:1: error: ConfigMap twice is in $a:1 too"
t 'an annotation with a slip of the pen' finds "$b:6: error: annotation 'specialresource.openshift.io/wiat' is not known; 'slipway hooks' lists them"
t 'half of a readiness' finds "$b:8: error: helm.sh/readiness-success without helm.sh/readiness-failure: both are needed"
t 'the other half' finds "$b:17: error: helm.sh/readiness-failure without helm.sh/readiness-success: both are needed"
t 'logs of what has none' finds "$b:16: error: wait-for-logs has no effect on a Pod, only on a DaemonSet"
t 'a container without an image' finds "$b:20: error: container 'none' has no image"
t 'an image without a tag' finds "$b:22: warning: container 'untagged': image 'registry:5000/tool' has no tag"
t 'a tag that moves' finds "$b:24: warning: container 'moving': image 'tool:latest' changes under its tag"
t 'a Pod that never ends' finds "$b:10: warning: a Pod is finished when it has succeeded, which restartPolicy: Always never lets it"
t 'a state that nobody waits for' finds "$a: warning: nothing in state '0000' is waited for: what needs it starts at once"
t 'nothing else' all_of_it
t 'JSON' as_json
t 'nothing in the recipe that is shipped' says_nothing recipes/nvidia-mig
t 'a template that fails, with its place' tells_template_errors
t 'all templates that are no YAML' tells_all_that_is_no_yaml
t 'fields that a kind does not have, with their line' knows_fields
t 'no recipe is bad usage' not_there
plan
