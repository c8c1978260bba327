# slipway lint beside helm lint: what Helm says of a chart is said, as severe as there.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
cd "$tap_dir" || exit 1

chart() { # LINES OF Chart.yaml; then put templates into c/templates
    rm -rf c && mkdir -p c/templates
    printf 'apiVersion: v2\nname: c\nversion: 1.0.0\n%b' "$1" >c/Chart.yaml
}
template() { printf '%b' "$1" >"c/templates/${2:-a.yaml}"; }
says() { # CODE LINE ARGS...: exactly this line (a pattern), and this exit code
    local code=$1 line=$2 rc=0
    shift 2
    "$slipway" lint c "$@" >got 2>&1 || rc=$?
    cat got
    [ $rc -eq "$code" ] && grep -q -- "^$line\$" got && [ "$(wc -l <got)" -eq 1 ]
}
nothing() { "$slipway" lint --strict c >got 2>&1 && [ ! -s got ] || { cat got; false; }; }
config='apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n'

of_chart() { # LINES OF Chart.yaml, MESSAGE
    chart "$1" && template "$config" && says 1 "c/Chart.yaml:[0-9]*: error: $2"
}
t "a version of the application that is no text" of_chart 'appVersion: 1.5\n' "appVersion should be of type string but it's of type float64"
t "a maintainer without a name" of_chart 'maintainers: [{email: a@example.com}]\n' "each maintainer requires a name"
t "an email that is none" of_chart 'maintainers: [{name: a, email: nobody}]\n' "invalid email 'nobody' for maintainer 'a'"
t "a source that is no URL" of_chart 'sources: [here]\n' "invalid source URL 'here'"
t "an icon that is no URL" of_chart 'icon: i.png\n' "invalid icon URL 'i.png'"
old() { chart '' && printf 'apiVersion: v1\nname: c\nversion: 1.0.0\ntype: application\n' >c/Chart.yaml && template "$config" &&
    says 1 "c/Chart.yaml:4: error: chart type is not valid in apiVersion 'v1'. It is valid in apiVersion 'v2'"; }
t "a type in a chart of apiVersion v1" old

of_template() { # CODE LEVEL TEXT MESSAGE [ARGS...]
    local code=$1 level=$2 text=$3 message=$4
    shift 4
    chart 'annotations: {slipway.dev/wait: all}\n' && template "$text" && says "$code" "c/templates/a.yaml:[0-9]*: $level: $message" "$@"
}
pdb='apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: a}\n'
gone='policy/v1beta1 PodDisruptionBudget is deprecated in v1.21+, unavailable in v1.25+; use policy/v1 PodDisruptionBudget'
t "an API that is deprecated is a warning" of_template 0 warning "$pdb" "$gone"
t "with --strict warnings fail" of_template 1 warning "$pdb" "$gone" --strict
t "one that no cluster has any more is an error" of_template 1 error 'apiVersion: extensions/v1beta1\nkind: DaemonSet\nmetadata: {name: a}\nspec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: "a:1"}]}}}\n' 'extensions/v1beta1 DaemonSet is deprecated in v1.8+, unavailable in v1.16+; use apps/v1 DaemonSet'
current() { chart '' && template "$pdb" && "$slipway" lint --strict c --kube-version 1.20 >got && [ ! -s got ]; }
t "in an older Kubernetes it is not deprecated" current
t "a name that no server takes" of_template 1 error 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: A_b}\n' 'object name does not conform to Kubernetes naming requirements: "A_b": .*'
t "a custom resource's, which another server may take" of_template 0 warning 'apiVersion: user.openshift.io/v1\nkind: Group\nmetadata: {name: A_b}\n' 'object name does not conform .*'
path_names() { chart '' && template 'apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: "System:a_b"}\n' && nothing; }
t "roles have other names" path_names
t "a workload without a selector" of_template 1 error 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {template: {spec: {containers: [{name: c, image: "a:1"}]}}}\n' 'a Deployment must contain matchLabels or matchExpressions, and "a" does not'
t "an indent before the first line" of_template 0 warning '\n  {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n' 'document starts with an illegal indent: "  {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", which may cause parsing problems'
t "the time of a release, which is gone" of_template 1 error "$config"'# {{/* .Release.Time */}}\n' '.Release.Time has been removed in v3, please replace with the `now` function in your templates'
t "the hook of Helm 2 for definitions" of_template 0 warning "$config"'# {{/* "helm.sh/hook": crd-install */}}\n' 'manifest is a crd-install hook. .*'
other() { chart '' && template "$config" a.json && says 1 "c/templates/a.json: error: file extension '.json' not valid. .*"; }
t "a template that is no YAML by its name" other

asks() { chart '' && template "$config"'data: {a: {{ required "a is needed" .Values.a | quote }}, b: "{{ fail "never" }}"}\n' && nothing; }
t "required and fail ask for values, which is no mistake of the chart" asks
library() { chart 'type: library\n' && template '{{ define "x" }}{{ end }}' _x.tpl && nothing; }
t "a library chart has nothing to apply, which is no mistake" library
plan
