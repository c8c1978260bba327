# slipway lint: what it finds in a recipe that has one of each fault, and in those without.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
faulty=test/golden/render/faulty

# What is found in a recipe, in $tap_dir/got: paths from the folder on that recipes are in.
lint() {
    local rc=0
    "$slipway" lint "$@" >"$tap_dir/raw" || rc=$?
    sed "s|test/golden/render/||; s|$tap_dir/||" "$tap_dir/raw" >"$tap_dir/got"
    return $rc
}

finds() { # LINE: exactly this line, among others, and exit 1
    local rc=0
    lint $faulty || rc=$?
    cat "$tap_dir/got"
    [ $rc -eq 1 ] && grep -qxF -- "$1" "$tap_dir/got"
}

all_of_it() {
    [ "$("$slipway" lint $faulty | wc -l)" -eq 13 ]
}

as_json() {
    local rc=0
    lint $faulty -o json || rc=$?
    [ $rc -eq 1 ] && [ "$(grep -c '"level"' "$tap_dir/got")" -eq 13 ] && grep -q '"level": "warning"' "$tap_dir/got"
}

finds_nothing() { # notes are no faults
    "$slipway" lint --strict "$@" >"$tap_dir/got" && ! grep -v ': note: ' "$tap_dir/got"
}
says_nothing() {
    "$slipway" lint "$@" >"$tap_dir/got" && [ ! -s "$tap_dir/got" ] || { cat "$tap_dir/got"; false; }
}

tells_template_errors() {
    local rc=0
    mkdir -p "$tap_dir/bad/templates"
    printf 'name: bad\nversion: 1.0.0\n' >"$tap_dir/bad/Chart.yaml"
    printf 'a: 1\nb: {{ .Values.x.y }}\n' >"$tap_dir/bad/templates/t.yaml"
    lint "$tap_dir/bad" || rc=$?
    cat "$tap_dir/got"
    [ $rc -eq 1 ] && grep -q '^bad/templates/t.yaml:2: error: template: bad/templates/t.yaml:2:' "$tap_dir/got"
}

tells_what_else_there_is() { # a file that is no YAML hides no other's faults
    local rc=0
    mkdir -p "$tap_dir/mixed/templates"
    printf 'apiVersion: v2\nname: mixed\nversion: 1.0.0\n' >"$tap_dir/mixed/Chart.yaml"
    printf 'a: [\n' >"$tap_dir/mixed/templates/one.yaml"
    printf 'apiVersion: v1\nmetadata: {name: a}\n' >"$tap_dir/mixed/templates/three.yaml"
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {port: 8080}\n' >"$tap_dir/mixed/templates/two.yaml"
    printf 'y: 1\n' >"$tap_dir/mixed/values.yaml"
    lint "$tap_dir/mixed" || rc=$?
    cat "$tap_dir/got"
    [ $rc -eq 1 ] && grep -q '^mixed/templates/one.yaml:2: error: ' "$tap_dir/got" &&
        grep -q '^mixed/templates/three.yaml:1: error: a manifest without kind' "$tap_dir/got" &&
        grep -qx 'mixed/templates/two.yaml:4: error: data.port: expected text, found a number; put it in quotes' "$tap_dir/got" &&
        grep -qx 'mixed/values.yaml:1: warning: the key y is a boolean in YAML, true, which no template reads; put it in quotes: "y"' "$tap_dir/got"
}

tells_all_that_is_no_yaml() {
    local rc=0
    mkdir -p "$tap_dir/worse/templates"
    printf 'name: worse\nversion: 1.0.0\n' >"$tap_dir/worse/Chart.yaml"
    printf 'a: b: c\n' >"$tap_dir/worse/templates/one.yaml"
    printf 'a: 1\nb: [\n' >"$tap_dir/worse/templates/two.yaml"
    lint "$tap_dir/worse" || rc=$?
    cat "$tap_dir/got"
    [ $rc -eq 1 ] && grep -qx 'worse/templates/one.yaml:1: error: mapping values are not allowed in this context' "$tap_dir/got" &&
        grep -q '^worse/templates/two.yaml:3: error: ' "$tap_dir/got"
}

resource() { # LINE: what is said of a file of manifests
    local rc=0
    cat >"$tap_dir/sr.yaml" <<'YAML'
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata:
  name: one
spec:
  namespce: x
  debug: "yes"
  managementState: Manage
  chart:
    name: a
    version: 1.0
    repositry: {name: a}
  nodeSelector: {gpu: true}
  upgradePolicy:
    maxParallel: -1
    drain: {enabled: true}
  tolerations:
  - {effect: NoSchedul}
---
apiVersion: sro.openshift.io/v1beta2
kind: SpecialResource
metadata: {name: two}
---
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: three}
spec: &spec
  namespace: three
  nodeSelector: {gpu: "true"}
  chart: {name: a, version: "1", repository: {name: x, url: "cm://a/b"}}
---
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: four}
spec:
  namespace: four
  nodeSelector: {gpu: "true", big: "true"}
  taints:
  - {key: "a b", effect: NoSchedule}
  chart: {name: a, version: "1", repository: {name: x, url: "cm://a/b"}}
---
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: five}
spec:
  namespace: Five_
  nodeSelector: {"a b": "true"}
  chart: {name: a, version: "1", repository: {name: x, url: "ftp://a/b"}}
---
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: six}
spec:
  namespace: six
  nodeSelector: {a: "{{ .Values.a }}"}
  chart: {name: a, version: "1", repository: {name: x, url: "{{ .Values.url }}"}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
dat: {}
YAML
    "$slipway" lint "$tap_dir/sr.yaml" >"$tap_dir/got" || rc=$?
    cat "$tap_dir/got"
    [ $rc -eq 1 ] && grep -qF -- "sr.yaml:$1" "$tap_dir/got"
}
clean_file() {
    sed -n '/name: three/,/^---/p' "$tap_dir/sr.yaml" | { printf 'apiVersion: sro.openshift.io/v1beta1\nkind: SpecialResource\n'; cat; } >"$tap_dir/good.yaml"
    says_nothing "$tap_dir/good.yaml"
}
list_and_kinds() { # a List's elements, an object that gets its name, a kind that is not
    cat >"$tap_dir/list.yaml" <<'YAML'
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: a}
- apiVersion: sro.openshift.io/v1beta1
  kind: SpecialResource
  metadata: {name: a}
  spec:
    debug: 1
---
apiVersion: v1
kind: ConfigMap
metadata: {generateName: a-}
---
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
---
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResourc
metadata: {name: a}
---
apiVersion: v1
kind: ConfigMap
---
apiVersion: v1
kind: Deployment
metadata: {name: a}
YAML
    "$slipway" lint "$tap_dir/list.yaml" | sed "s|$tap_dir/||" | diff - <(cat <<'WANT'
list.yaml:11: error: spec.debug: expected true or false, found a number
list.yaml:10: error: spec: chart is missing
list.yaml:21: error: kind: there is no 'SpecialResourc'; is it 'SpecialResource'?
list.yaml:24: error: ConfigMap without metadata.name
list.yaml:28: error: kind: v1 has no 'Deployment'
WANT
)
}
bad_file() { # no YAML, nothing in it, not there: one line each
    local rc=0
    printf 'a: b: c\n' >"$tap_dir/bad.yaml"; : >"$tap_dir/empty.yaml"
    "$slipway" lint "$tap_dir/bad.yaml" | grep -q 'bad.yaml:1: error: mapping values' &&
        "$slipway" lint "$tap_dir/empty.yaml" | grep -q 'empty.yaml: error: there is no manifest' || return 1
    "$slipway" lint "$tap_dir/none.yaml" 2>"$tap_dir/err" || rc=$?
    [ $rc -eq 2 ] && grep -q none.yaml "$tap_dir/err"
}
base_of_a_chart() { # its own <name>.yaml, in which run adds chart and namespace
    local rc=0
    mkdir -p "$tap_dir/based/templates"
    printf 'name: based\nversion: 1.0.0\n' >"$tap_dir/based/Chart.yaml"
    printf 'apiVersion: sro.openshift.io/v1beta1\nkind: SpecialResource\nmetadata: {name: based}\nspec:\n  taint: []\n' >"$tap_dir/based/based.yaml"
    lint "$tap_dir/based" || rc=$?
    cat "$tap_dir/got"
    [ $rc -eq 1 ] && [ "$(cat "$tap_dir/got")" = "based/based.yaml:5: error: spec.taint: there is no such field; is it 'taints'?" ]
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
    lint "$tap_dir/slips" || rc=$?
    [ $rc -eq 1 ] && diff - "$tap_dir/got" <<'WANT'
slips/templates/d.yaml:5: error: metadata.labels.app: expected text, found a number; put it in quotes
slips/templates/d.yaml:12: error: spec.template.spec.containers[0].volumeMount: there is no such field; is it 'volumeMounts'?
slips/templates/d.yaml:19: error: metadata.lables: there is no such field; is it 'labels'?
slips/templates/d.yaml:2: warning: DaemonSet 'd' is not waited for, nor anything else: the resource is Ready as soon as all is applied; 'annotations: {slipway.dev/wait: all}' in Chart.yaml has it wait
slips/templates/d.yaml:1: error: a DaemonSet must contain matchLabels or matchExpressions, and "d" does not
WANT
}

chart_yaml() { # LINE of Chart.yaml, WORDS
    local rc=0
    mkdir -p "$tap_dir/meta/charts/sub" "$tap_dir/meta/templates"
    cat >"$tap_dir/meta/Chart.yaml" <<'YAML'
apiVersion: v3
name: meta
version: 1.0.0
annotations:
  slipway.dev/wiat: all
  specialresource.openshift.io/wait: "true"
  slipway.dev/rollback: yes please
  example.com/wait: x
YAML
    printf 'name: sub\nversion: 1.0.0\nannotations: {slipway.dev/wait: true}\n' >"$tap_dir/meta/charts/sub/Chart.yaml"
    "$slipway" lint "$tap_dir/meta" >"$tap_dir/got" || rc=$?
    cat "$tap_dir/got"
    [ $rc -eq 1 ] && [ "$(wc -l <"$tap_dir/got")" -eq 5 ] && grep -qxF -- "$tap_dir/meta/$1" "$tap_dir/got"
}

missing_dependency() { # REPOSITORY WORDS: an error of the recipe's, in JSON, too
    local rc=0
    mkdir -p "$tap_dir/lacks/templates"
    printf 'apiVersion: v2\nname: lacks\nversion: 1.0.0\ndependencies:\n- {name: sub, version: 1.0.0%s}\n' "$1" >"$tap_dir/lacks/Chart.yaml"
    "$slipway" lint "$tap_dir/lacks" >"$tap_dir/got" || rc=$?
    cat "$tap_dir/got"
    [ $rc -eq 1 ] && [ "$(cat "$tap_dir/got")" = "$tap_dir/lacks/Chart.yaml: error: dependencies[0] 'sub': $2" ] || return 1
    "$slipway" lint "$tap_dir/lacks" -o json >"$tap_dir/got" || rc=$?
    cat "$tap_dir/got"
    [ $rc -eq 1 ] && grep -q "\"file\": \"$tap_dir/lacks/Chart.yaml\"" "$tap_dir/got" && grep -qF "\"text\": \"dependencies[0] 'sub': $2\"" "$tap_dir/got"
}

status_twice() { # conditions begin at .status
    mkdir -p "$tap_dir/gate/templates"
    printf 'apiVersion: v2\nname: gate\nversion: 1.0.0\n' >"$tap_dir/gate/Chart.yaml"
    cat >"$tap_dir/gate/templates/0000-gate.yaml" <<'YAML'
apiVersion: v1
kind: ConfigMap
metadata:
  name: gate
  annotations:
    helm.sh/readiness-success: '["{.status.state} == ready", "{.state} == ready"]'
    helm.sh/readiness-failure: '["{.state} == error"]'
YAML
    lint "$tap_dir/gate" || return 1
    diff - "$tap_dir/got" <<TEXT
gate/templates/0000-gate.yaml:6: warning: helm.sh/readiness-success[0]: conditions are on .status already: {.state} == ready instead of {.status.state} == ready
TEXT
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
t 'an annotation with a slip of the pen' finds "$b:6: error: annotation 'specialresource.openshift.io/wiat' is not known; is it 'specialresource.openshift.io/wait'?"
t 'half of a readiness' finds "$b:8: error: helm.sh/readiness-success without helm.sh/readiness-failure: both are needed"
t 'the other half' finds "$b:17: error: helm.sh/readiness-failure without helm.sh/readiness-success: both are needed"
t 'a condition that begins at .status twice' status_twice
t 'logs of what has none' finds "$b:16: error: wait-for-logs has no effect on a Pod, only on a DaemonSet"
t 'a container without an image' finds "$b:20: error: container 'none' has no image"
t 'an image without a tag' finds "$b:22: warning: container 'untagged': image 'registry:5000/tool' has no tag"
t 'a tag that moves' finds "$b:24: warning: container 'moving': image 'tool:latest' changes under its tag"
t 'a Pod that never ends' finds "$b:10: warning: a Pod is finished when it has succeeded, which restartPolicy: Always never lets it"
t 'a state that nobody waits for' finds "$a: warning: nothing in state '0000' is waited for: what needs it starts at once"
t 'nothing else' all_of_it
t 'JSON' as_json
t 'nothing in the recipe that is shipped' finds_nothing recipes/nvidia-mig
t 'a template that fails, with its place' tells_template_errors
t 'a file that is no YAML hides nothing of the others' tells_what_else_there_is
t 'all templates that are no YAML' tells_all_that_is_no_yaml
t 'fields that a kind does not have, with their line' knows_fields
t 'no recipe is bad usage' not_there
t "a SpecialResource's misspelt field, with what was meant" resource "6: error: spec.namespce: there is no such field; is it 'namespace'?"
t "a wrong type" resource '7: error: spec.debug: expected true or false, found text'
t "a word that is none of those allowed" resource "8: error: spec.managementState: 'Manage' is none of Managed, Unmanaged, Force, Removed"
t "another" resource "18: error: spec.tolerations[0].effect: 'NoSchedul' is none of NoSchedule, PreferNoSchedule, NoExecute"
t "a number where text is wanted" resource '11: error: spec.chart.version: expected text, found a number; put it in quotes'
t "a label that is no text" resource '13: error: spec.nodeSelector.gpu: expected text, found true or false; put it in quotes'
t "a field far down" resource "16: error: spec.upgradePolicy.drain.enabled: there is no such field; is it 'enable'?"
t "a number that is too small" resource '15: error: spec.upgradePolicy.maxParallel: -1 is less than 0'
t "a field that lacks" resource '9: error: spec.chart: repository is missing'
t "a version that is not" resource "20: error: apiVersion: SpecialResource has no version 'v1beta2'; it is sro.openshift.io/v1beta1"
t "what the operator refuses beyond the definition" resource "39: error: spec.taints[0].key: 'a b' is no taint's key"
t "a namespace that cannot be" resource "46: error: spec.namespace: 'Five_': must consist of lower case"
t "a label that no node can have" resource "47: error: spec.nodeSelector: 'a b' is no label: "
t "a URL that leads nowhere" resource "48: error: spec.chart.repository.url: 'ftp://a/b': recipes come from URLs that begin with file://, https://"
t "two that select the same nodes" resource '32: warning: four selects the same nodes as three (line 24)'
t "what stands beside it is looked at, too" resource "61: error: dat: there is no such field; is it 'data'?"
t "nothing is said of a good one" clean_file
t "Lists, names to come, and kinds" list_and_kinds
t "files that hold nothing to look at" bad_file
t "a chart's own resource" base_of_a_chart
t "a chart's annotation with a slip of the pen" chart_yaml "Chart.yaml:5: error: annotations.slipway.dev/wiat: no annotation of a chart; is it 'slipway.dev/wait'?"
t "one that belongs to objects" chart_yaml 'Chart.yaml:6: error: annotations.specialresource.openshift.io/wait: no annotation of a chart: it has no effect here'
t "one that asks for nothing" chart_yaml "Chart.yaml:7: warning: annotations.slipway.dev/rollback: 'yes please' asks for nothing; 'true' does"
t "a subchart's" chart_yaml "charts/sub/Chart.yaml:3: warning: annotations.slipway.dev/wait: 'true' asks for nothing; 'all' does"
t "a dependency that is not in charts/" missing_dependency '' 'not in charts/, where it is to be put'
t "one whose folder is not there" missing_dependency ', repository: "file://../gone"' "file://../gone: there is no directory '$tap_dir/lacks/../gone'"
t "a version of charts that is not" chart_yaml "Chart.yaml:1: error: apiVersion: 'v3' is neither v1 nor v2"
values_of_annotations() { # what run would refuse
    mkdir -p "$tap_dir/wrong/templates"
    printf 'apiVersion: v2\nname: wrong\nversion: 0.1.0\n' >"$tap_dir/wrong/Chart.yaml"
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n  annotations:\n    slipway.dev/retries: "many"\n    slipway.dev/timeout: "5 minutes"\n' >"$tap_dir/wrong/templates/a.yaml"
    "$slipway" lint "$tap_dir/wrong" >"$tap_dir/got" 2>&1
    [ $? -eq 1 ] && cat "$tap_dir/got" && grep -qE "a.yaml:(6|7): error: annotation slipway.dev/(retries: '?many|timeout: '5 minutes' is not a duration)" "$tap_dir/got"
}
t "a value that an annotation cannot have" values_of_annotations
# a chart of the Special Resource Operator's: what its templates ask for is the operator's to say
charts_of_sro() {
    local chart=$tap_dir/sro
    mkdir -p "$chart/templates"
    printf 'apiVersion: v2\nname: sro\nversion: 0.1.0\n' >"$chart/Chart.yaml"
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "{{ .Values.specialresource.metadata.name }}"}\ndata:\n  of: "{{ .Values.groupName.driverBuild }}"\n  kernel: "{{ required "kernel" .Values.kernelFullVersion }}"\n  ref: "{{ .Values.git.ref }}"\n' >"$chart/templates/0000-a.yaml"
    "$slipway" lint "$chart" >"$tap_dir/got"
    [ $? -eq 1 ] && grep -q 'Values.git.ref.: nil pointer' "$tap_dir/got" && says_nothing "$chart" --set git.ref=main || return 1
    printf 'apiVersion: sro.openshift.io/v1beta1\nkind: SpecialResource\nmetadata: {name: sro}\nspec:\n  chart: {name: sro, version: 0.1.0, repository: {name: r, url: "file:///charts"}}\n  set: {git: {ref: main}}\n' >"$chart/sro.yaml"
    says_nothing "$chart"
}
t "a chart whose templates ask for their resource, with its values" charts_of_sro
# where it is
mkdir -p "$tap_dir/where/templates"
printf 'apiVersion: v2\nname: other\nversion: 0.1.0\n' >"$tap_dir/where/Chart.yaml"
cat >"$tap_dir/where/templates/1000-it.yaml" <<'Y'
{{- range until 2 }}
{{- end }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  annotations:
    slipway.dev/timeout: {{ "often" | quote }}
---
{{- range list "b" "c" }}
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ . }}, annotations: {slipway.dev/wiat: "1"}}
---
{{- end }}
Y
here=$(realpath "$slipway") where=$tap_dir/where
places() { (cd "$1" && "$here" lint "$2") >"$tap_dir/got"; cat "$tap_dir/got"; grep -q "^$3:8: error: annotation slipway.dev/timeout: 'often'" "$tap_dir/got"; }
t "a file is named as the recipe was given, its line is that of the template" places "$tap_dir" where where/templates/1000-it.yaml
t "with a slash behind it, too" places "$tap_dir" where/ where/templates/1000-it.yaml
t "in the folder itself" places "$where" . templates/1000-it.yaml
t "with a whole path" places / "$where" "$where/templates/1000-it.yaml"
not_told() { (cd "$tap_dir" && "$here" lint where) >"$tap_dir/got"; grep -q '^where/templates/1000-it.yaml:15: error: .*wiat.*(the line is that of the rendered template)$' "$tap_dir/got"; }
t "where the template's line cannot be told, that is said" not_told

# values that nothing reads
mkdir -p "$tap_dir/set/templates"
printf 'apiVersion: v2\nname: set\nversion: 0.1.0\n' >"$tap_dir/set/Chart.yaml"
printf 'message: a\nimage: {repository: x, tag: "1"}\nextra: {}\n' >"$tap_dir/set/values.yaml"
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {slipway.dev/wait: "true"}}\ndata: {m: {{ .Values.message }}, o: {{ .Values.optional | default "n" }}}\n' >"$tap_dir/set/templates/1000-it.yaml"
set_is() { # VALUE MESSAGE
    "$slipway" lint "$tap_dir/set" --set "$1" | grep 'is set' >"$tap_dir/got"
    cat "$tap_dir/got"
    [ "$(cat "$tap_dir/got")" = "$2" ]
}
neither='and neither values.yaml nor a template has it'
t "a value with a slip of the pen" set_is mesage=x "warning: value 'mesage' is set, $neither: is it 'message'?"
t "below another one, too" set_is image.tagg=x "warning: value 'image.tagg' is set, $neither: is it 'image.tag'?"
t "one that nothing reads" set_is unheard=x "warning: value 'unheard' is set, $neither"
t "one that only a template has is none of them" set_is optional=x ""
t "nor what goes below an empty default" set_is extra.any=x ""

unread() { # values.yaml at the top: what no template has; not what a subchart, a value that is a template or .Values as a whole reads
    local c=$tap_dir/unread
    mkdir -p "$c/templates" "$c/charts/sub/templates"
    printf 'apiVersion: v2\nname: unread\nversion: 0.1.0\ndependencies: [{name: sub, version: 0.1.0}]\n' >"$c/Chart.yaml"
    printf 'apiVersion: v2\nname: sub\nversion: 0.1.0\n' >"$c/charts/sub/Chart.yaml"
    printf 'message: "{{ .Values.inner }}"\n# for people\ncolour: red\nglobal: {x: 1}\nsub: {y: 1}\ninner: b\n' >"$c/values.yaml"
    printf 'The colour: `colour`\n' >"$c/README.md"
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {slipway.dev/wiat: "true"}}\ndata: {m: {{ tpl .Values.message . | quote }}}\n' >"$c/templates/a.yaml"
    (cd "$tap_dir" && "$slipway" lint unread) >"$tap_dir/o"
    cat "$tap_dir/o"
    [ "$(grep -c 'no template reads' "$tap_dir/o")" = 1 ] && grep -qx "unread/values.yaml:3: warning: no template reads value 'colour'" "$tap_dir/o" || return 1
    printf 'all: {{ toJson .Values | quote }}\n' >>"$c/templates/a.yaml"
    ! "$slipway" lint "$c" | grep 'no template reads'
}
t "a default that no template reads" unread
unread_below() { # inside a map, too, also where another template has the same word; what is read by index, with or as a whole is none
    local c=$tap_dir/below
    mkdir -p "$c/templates"
    printf 'apiVersion: v2\nname: below\nversion: 0.1.0\n' >"$c/Chart.yaml"
    printf 'image:\n  tag: a\n  policy: b\n  pull: {secret: c, user: d}\nwhole: {any: 1}\nkind: x\nlisted: {one: 1, two: 2}\nleft: {out: 1, rest: 2}\n' >"$c/values.yaml"
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  m: {{ .Values.image.tag | quote }}\n  s: {{ $.Values.image.pull.secret | quote }}\n  l: {{ index .Values.listed "one" | quote }}\n  o: {{ omit .Values.left "out" | toJson | quote }}\n  {{- with .Values.whole }}\n  w: {{ toJson . | quote }}\n  {{- end }}\n' >"$c/templates/a.yaml"
    (cd "$tap_dir" && "$slipway" lint below) >"$tap_dir/o"
    cat "$tap_dir/o"
    printf "below/values.yaml:%s: warning: no template reads value '%s'\n" 3 image.policy 4 image.pull.user 6 kind 7 listed.two >"$tap_dir/expected"
    grep 'no template reads' "$tap_dir/o" | diff "$tap_dir/expected" -
}
t "and one inside a map" unread_below
meant_behind_the_slash() { (cd "$tap_dir" && ! "$slipway" lint unread) | grep -F "annotation 'slipway.dev/wiat' is not known; is it 'specialresource.openshift.io/wait'?"; }
t "an annotation with a slip of the pen, of another prefix" meant_behind_the_slash
of_a_chart() { sed -i 's|slipway.dev/wiat|slipway.dev/wait|' "$tap_dir/unread/templates/a.yaml"; (cd "$tap_dir" && ! "$slipway" lint unread) | grep -F "annotation 'slipway.dev/wait' is one of charts: it stands in Chart.yaml"; }
t "an annotation of charts in a manifest" of_a_chart
# Helm's hooks
mkdir -p "$tap_dir/hooked/templates"
printf 'apiVersion: v2\nname: hooked\nversion: 0.1.0\n' >"$tap_dir/hooked/Chart.yaml"
cat >"$tap_dir/hooked/templates/job.yaml" <<'Y'
apiVersion: batch/v1
kind: Job
metadata:
  name: check
  annotations:
    helm.sh/hook: post-install, pre-instal
    helm.sh/hook-delete-policy: hook-succeded,before-hook-creation
    helm.sh/hook-weight: "5.0"
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: tool
        comand: [a]
---
apiVersion: batch/v1
kind: Job
metadata: {name: right, annotations: {helm.sh/hook: "Pre-Install ,test-success", helm.sh/hook-delete-policy: "Hook-Failed", helm.sh/hook-weight: "-5"}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: "tool:1"}]}}}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: empty
  annotations:
    helm.sh/hook: ""
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: none
  annotations: {helm.sh/hook-weight: often}
Y
hooks_of_helm() { # what a hook takes out of the walk is told, and looked at as other objects are
    (cd "$tap_dir" && ! "$slipway" lint hooked) >"$tap_dir/o"
    cat "$tap_dir/o"
    cat >"$tap_dir/expected" <<'Y'
hooked/templates/job.yaml:6: error: Job check: helm.sh/hook: 'pre-instal' is none of Helm's hooks: the object is left out; is it 'pre-install'?
hooked/templates/job.yaml:7: error: Job check: helm.sh/hook-delete-policy: 'hook-succeded' is none of Helm's policies: it deletes nothing; is it 'hook-succeeded'?
hooked/templates/job.yaml:8: error: Job check: helm.sh/hook-weight: '5.0' is no integer, and is taken for 0
hooked/templates/job.yaml:15: warning: container 'main': image 'tool' has no tag
hooked/templates/job.yaml:16: error: spec.template.spec.containers[0].comand: there is no such field; is it 'command'?
hooked/templates/job.yaml:28: error: ConfigMap empty: helm.sh/hook: '' is none of Helm's hooks: the object is left out
Y
    sort -t: -k2n "$tap_dir/o" | diff "$tap_dir/expected" - && ! "$slipway" render "$tap_dir/hooked" | grep -E 'name: (check|empty)'
}
t "hooks that Helm does not know, with what was meant; other faults of such objects" hooks_of_helm
hook_of_helm_2() { # told once, as helm lint tells it
    sed -i 's/post-install, pre-instal$/crd-install/' "$tap_dir/hooked/templates/job.yaml"
    (cd "$tap_dir" && ! "$slipway" lint hooked) >"$tap_dir/o"
    [ "$(grep -c 'crd-install' "$tap_dir/o")" = 1 ] || { cat "$tap_dir/o"; false; }
}
t "Helm 2's crd-install is told once" hook_of_helm_2
waits_for_nothing() {
    local c=$tap_dir/nothing deployment='apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %s}\nspec:\n  selector: {matchLabels: {a: b}}\n  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: "a:1"}]}}\n'
    mkdir -p "$c/templates"
    printf 'apiVersion: v2\nname: nothing\nversion: 0.1.0\n' >"$c/Chart.yaml"
    printf "$deployment" a >"$c/templates/a.yaml"
    (cd "$tap_dir" && "$slipway" lint nothing) >"$tap_dir/o"
    cat "$tap_dir/o"
    [ "$(wc -l <"$tap_dir/o")" = 1 ] && grep -q "^nothing/templates/a.yaml:2: warning: Deployment 'a' is not waited for, nor anything else" "$tap_dir/o" || return 1
    printf "$deployment" 'b, annotations: {specialresource.openshift.io/wait: "true"}' >"$c/templates/b.yaml"
    ! "$slipway" lint "$c" | grep . || return 1
    rm "$c/templates/b.yaml" && printf 'annotations: {slipway.dev/wait: all}\n' >>"$c/Chart.yaml" && ! "$slipway" lint "$c" | grep .
}
t "workloads, and nothing that is waited for" waits_for_nothing
plan
