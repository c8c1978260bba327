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
    [ $rc -eq 1 ] && grep -q 'error: .*bad/templates/t.yaml:2:' "$tap_dir/got"
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
t 'an annotation with a slip of the pen' finds "$b:1: error: annotation 'specialresource.openshift.io/wiat' is not known; 'slipway hooks' lists them"
t 'half of a readiness' finds "$b:1: error: helm.sh/readiness-success without helm.sh/readiness-failure: both are needed"
t 'the other half' finds "$b:10: error: helm.sh/readiness-failure without helm.sh/readiness-success: both are needed"
t 'logs of what has none' finds "$b:10: error: wait-for-logs has no effect on a Pod, only on a DaemonSet"
t 'a container without an image' finds "$b:10: error: container 'none' has no image"
t 'an image without a tag' finds "$b:10: warning: container 'untagged': image 'registry:5000/tool' has no tag"
t 'a tag that moves' finds "$b:10: warning: container 'moving': image 'tool:latest' changes under its tag"
t 'a Pod that never ends' finds "$b:10: warning: a Pod is finished when it has succeeded, which restartPolicy: Always never lets it"
t 'a state that nobody waits for' finds "$a: warning: nothing in state '0000' is waited for: what needs it starts at once"
t 'nothing else' all_of_it
t 'JSON' as_json
t 'nothing in the recipe that is shipped' says_nothing recipes/nvidia-mig
t 'a template that fails, with its place' tells_template_errors
t 'no recipe is bad usage' not_there
plan
