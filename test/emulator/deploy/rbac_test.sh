# slipway rbac: what a recipe's objects call for, and no more. That the rights suffice is shown by a walk
# on a real API server (test/cluster/deploy_test.sh).
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
chart=$tap_dir/c
mkdir -p "$chart/templates" "$chart/crds"
printf 'apiVersion: v2\nname: c\nversion: 0.1.0\n' >"$chart/Chart.yaml"
cat >"$chart/crds/widget.yaml" <<'Y'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgetries.example.test}
spec:
  group: example.test
  scope: Namespaced
  names: {kind: Widget, plural: widgetries}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
Y
cat >"$chart/templates/all.yaml" <<'Y'
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: d}
spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i/j:1}]}}}
---
apiVersion: example.test/v1
kind: Widget
metadata: {name: w}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: r}
rules: [{apiGroups: [storage.k8s.io], resources: [csinodes], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: b}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: system:node-reader}
subjects: []
---
apiVersion: security.openshift.io/v1
kind: SecurityContextConstraints
metadata: {name: s}
Y
# the rules of KIND in namespace NS ("" for the cluster) as "group/resource verb name" lines
rules() { # KIND OPTION...
    local kind=$1
    shift
    "$slipway" rbac "$chart" "$@" >"$tap_dir/out" || return 1
    awk -v kind="$kind" 'function flush() { if (doc ~ "(^|\n)kind: " kind "\n") printf "%s", doc; doc = "" } $0 == "---" { flush(); next } { doc = doc $0 "\n" } END { flush() }' "$tap_dir/out"
}
has() { # KIND RESOURCE VERB [OPTION]...: some rule of that kind of role names both
    local kind=$1 resource=$2 verb=$3
    shift 3
    rules "$kind" "$@" | awk -v r="  - $resource" -v v="  - $verb" '
        /^- apiGroups:/ { if (fr && fv) found = 1; fr = fv = 0 } index($0, r) == 1 && length($0) == length(r) { fr = 1 } index($0, v) == 1 && length($0) == length(v) { fv = 1 }
        END { exit !(found || (fr && fv)) }'
}
reads_everywhere() { has ClusterRole daemonsets watch && has ClusterRole widgetries list && ! has ClusterRole daemonsets create; }
writes_at_home() { has Role daemonsets create && has Role widgetries patch && has Role pods watch && has Role pods/log get && ! has Role daemonsets watch; }
plurals() { has ClusterRole securitycontextconstraints create && has ClusterRole customresourcedefinitions create && has Role widgetries delete; }
hands_on() { has ClusterRole csinodes get && ! has ClusterRole clusterroles escalate; }
by_name() { has ClusterRole clusterroles escalate --escalate && ! has ClusterRole csinodes get --escalate && rules ClusterRole --escalate | grep -q -- '- system:node-reader'; }
binds_foreign() { rules ClusterRole | grep -B6 -A6 -- '- system:node-reader' | grep -q -- '- bind'; }
everywhere() { has ClusterRole daemonsets create --cluster-wide && has ClusterRole namespaces create --cluster-wide && ! "$slipway" rbac "$chart" --cluster-wide | grep -q '^kind: Role$'; }
other_account() { # writes what the recipe has; the operator may act as it, read, and record releases
    "$slipway" rbac "$chart" --service-account installer --operator-namespace ops >"$tap_dir/out" && has Role serviceaccounts impersonate --service-account installer --operator-namespace ops &&
        [ "$(grep -c 'namespace: ops' "$tap_dir/out")" = 3 ] && grep -q 'name: slipway-as-installer' "$tap_dir/out" &&
        awk 'function flush() { if (doc ~ /\nkind: Role\n/ && doc ~ /\n  name: slipway-c\n/) printf "%s", doc; doc = "" } $0 == "---" { flush(); next } { doc = doc "\n" $0 } END { flush() }' "$tap_dir/out" >"$tap_dir/own" &&
        grep -q -- '- configmaps' "$tap_dir/own" && grep -q -- '- secrets' "$tap_dir/own" && ! grep -q -- '- daemonsets' "$tap_dir/own" && ! grep -q -- '- widgetries' "$tap_dir/own"
}
own_account() { # the default one: it writes what the recipe has, in the recipe's namespace; the operator reads
    "$slipway" rbac "$chart" --namespace n >"$tap_dir/out" && grep -q 'name: slipway-as-slipway-c' "$tap_dir/out" && role slipway-c >"$tap_dir/account" && role slipway-watch-c >"$tap_dir/own" &&
        grep -A6 "^kind: ServiceAccount" "$tap_dir/out" | grep -q 'name: slipway-c' && grep -q -- '- widgetries' "$tap_dir/account" && ! grep -q -- '- watch' "$tap_dir/account" &&
        ! grep -q -- '- widgetries' "$tap_dir/own" && grep -q -- '- secrets' "$tap_dir/own" && ! grep -q -- '- secrets' "$tap_dir/account"
}
role() { # NAME: the Role of that name in $tap_dir/out
    awk -v name="$1" 'function flush() { if (doc ~ /\nkind: Role\n/ && doc ~ "\n  name: " name "\n") printf "%s", doc; doc = "" } $0 == "---" { flush(); next } { doc = doc "\n" $0 } END { flush() }' "$tap_dir/out"
}
of_another() { # a dependency is walked as the account of the resource that needs it, in that namespace
    "$slipway" rbac "$chart" --service-account far/slipway-a >"$tap_dir/out" && [ "$(grep -A2 'name: slipway-a$' "$tap_dir/out" | grep -c 'namespace: far')" -ge 2 ] && grep -B3 -A3 'name: slipway-as-slipway-a' "$tap_dir/out" | grep -q 'namespace: far'
}
legacy() { # all is the operator's
    "$slipway" rbac "$chart" --legacy-rights >"$tap_dir/out" && ! grep -q '^kind: ServiceAccount' "$tap_dir/out" && ! grep -q impersonate "$tap_dir/out" && role slipway-c | grep -q -- '- widgetries' &&
        ! "$slipway" rbac "$chart" --legacy-rights --service-account x >/dev/null 2>&1
}
upgrades() { ! has ClusterRole pods/eviction create && has ClusterRole pods/eviction create --upgrade-policy && has ClusterRole pods delete --upgrade-policy; }
priority_classes() { # those of the resource, which only it names
    ! has ClusterRole priorityclasses create && has ClusterRole priorityclasses create --priority-classes && has ClusterRole priorityclasses delete --priority-classes && has ClusterRole priorityclasses watch --priority-classes
}
login() { # the Secret of the charts' server: that one, in its namespace, by the account
    "$slipway" rbac "$chart" --namespace n --cluster-wide --secret-ref gpu/charts-login >"$tap_dir/out" &&
        role slipway-c >"$tap_dir/own" && grep -q 'namespace: gpu' "$tap_dir/own" && grep -q -- '- charts-login' "$tap_dir/own" && ! grep -q 'namespace: "\?n"\?$' "$tap_dir/own" &&
        "$slipway" rbac "$chart" --namespace n --secret-ref charts-login >"$tap_dir/out" && role slipway-c | grep -q 'namespace: slipway'
}
looked_up() { # what templates ask for: one object by its name, a list, in a namespace or not
    mkdir -p "$tap_dir/l/templates"
    printf 'apiVersion: v2\nname: l\nversion: 0.1.0\n' >"$tap_dir/l/Chart.yaml"
    cat >"$tap_dir/l/templates/a.yaml" <<'Y'
{{- $secret := lookup "v1" "Secret" "there" "login" }}
{{- $nodes := lookup "v1" "Node" "" "" }}
{{- $widget := lookup "example.test/v1" "Widget" "far" "" }}
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ if $secret }}a{{ else }}b{{ end }}}
Y
    local chart=$tap_dir/l
    has Role secrets get && rules Role | grep -q -- '- login' && has ClusterRole nodes list && has Role widgets list &&
        has Role secrets get --service-account installer && "$slipway" rbac "$chart" --service-account installer >"$tap_dir/out" &&
        grep -A3 '^  name: installer-l$' "$tap_dir/out" | grep -q 'namespace: there' && ! grep -A3 '^  name: slipway-l$' "$tap_dir/out" | grep 'namespace: there'
}
feature_gates() { # a dry run takes the right to create; only recipes that ask for gates have it
    mkdir -p "$tap_dir/g/templates"
    printf 'apiVersion: v2\nname: g\nversion: 0.1.0\n' >"$tap_dir/g/Chart.yaml"
    cat >"$tap_dir/g/templates/a.yaml" <<'Y'
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {gates: {{ toJson .Values.featureGates | quote }}}
Y
    ! has ClusterRole resourceslices create || return 1
    local chart=$tap_dir/g
    has ClusterRole resourceslices create && has ClusterRole deviceclasses create && ! has ClusterRole deviceclasses delete
}
in_a_config_map() { # outside the operator's namespace: the account reads it, the operator sees that it changes
    "$slipway" rbac "$chart" --config-map team/chart --operator-namespace ops >"$tap_dir/out" || return 1
    in_team() { awk -v name="$1" 'function flush() { if (doc ~ /\nkind: Role\n/ && doc ~ "\n  name: " name "\n" && doc ~ /\n  namespace: team\n/) printf "%s", doc; doc = "" } $0 == "---" { flush(); next } { doc = doc "\n" $0 } END { flush() }' "$tap_dir/out"; }
    in_team slipway-c | grep -q -- '- get' && in_team slipway-c | grep -q -- '- chart' && ! in_team slipway-c | grep -q -- '- watch' &&
        in_team slipway-watch-c | grep -q -- '- watch' && ! in_team slipway-watch-c | grep -q -- '- get' &&
        ! "$slipway" rbac "$chart" --config-map ops/chart --operator-namespace ops | grep -q -- '- chart$' && ! "$slipway" rbac "$chart" --config-map chart 2>/dev/null
}
of_a_module() { # all is its account's, objects that it watches included; the operator only acts as it
    printf '{apiVersion: sro.openshift.io/v1beta1, kind: SpecialResourceModule, metadata: {name: mod}, spec: {namespace: mods, chart: {repository: {url: "cm://team/chart"}}, watch: [{apiVersion: v1, kind: ConfigMap, name: spoke, namespace: hub, path: $.a}]}}\n' >"$tap_dir/module.yaml"
    "$slipway" rbac "$chart" --module "$tap_dir/module.yaml" --operator-namespace ops >"$tap_dir/out" || return 1
    role slipway-mod >"$tap_dir/account"
    grep -q 'name: slipway-as-slipway-mod' "$tap_dir/out" && grep -q -- '- widgetries' "$tap_dir/account" && grep -q -- '- patch' "$tap_dir/account" && grep -q -- '- delete' "$tap_dir/account" &&
        grep -q -- '- spoke' "$tap_dir/account" && grep -q -- '- chart' "$tap_dir/account" && grep -q 'namespace: hub' "$tap_dir/account" && grep -q 'specialresourcemodules/finalizers' "$tap_dir/out" &&
        [ "$(role slipway-watch-mod | grep -c -- '- apiGroups:')" = 1 ] && ! grep -q 'specialresources/' "$tap_dir/out" &&
        ! "$slipway" rbac "$chart" --module "$chart/Chart.yaml" 2>"$tap_dir/err" && grep -q 'expected SpecialResourceModule' "$tap_dir/err"
}
late_operators() { # their pods are looked at: where the Subscription is, or the custom resource
    mkdir -p "$tap_dir/o/templates"
    printf 'apiVersion: v2\nname: o\nversion: 0.1.0\n' >"$tap_dir/o/Chart.yaml"
    cat >"$tap_dir/o/templates/0000-olm.yaml" <<'Y'
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: gpu, namespace: olms}
---
apiVersion: example.test/v1
kind: Policy
metadata: {name: all, namespace: elsewhere, annotations: {slipway.dev/hold: "true"}}
Y
    cat >"$tap_dir/o/templates/0001-theirs.yaml" <<'Y'
apiVersion: example.test/v1
kind: Policy
metadata: {name: theirs, namespace: theirs, annotations: {slipway.dev/observe: "true"}}
---
apiVersion: example.test/v1
kind: Policy
metadata: {name: of-many, namespace: kube-system, annotations: {slipway.dev/observe: "true"}}
---
apiVersion: example.test/v1
kind: Policy
metadata: {name: mine, namespace: mine}
Y
    local chart=$tap_dir/o ns
    "$slipway" rbac "$chart" >"$tap_dir/out" || return 1
    for ns in olms theirs; do
        role_in slipway-watch-o $ns | grep -q -- '- pods$' && role_in slipway-o $ns | grep -q -- '- pods/log$' && role_in slipway-o $ns | grep -q -- '- events$' ||
            { echo "$ns"; return 1; }
    done
    for ns in elsewhere kube-system mine; do
        ! role_in slipway-watch-o $ns | grep -q -- '- pods$' || { echo "$ns"; return 1; }
    done
}
role_in() { # NAME NAMESPACE: that Role in $tap_dir/out
    awk -v name="$1" -v ns="$2" 'function flush() { if (doc ~ /\nkind: Role\n/ && doc ~ "\n  name: " name "\n" && doc ~ "\n  namespace: " ns "\n") printf "%s", doc; doc = "" } $0 == "---" { flush(); next } { doc = doc "\n" $0 } END { flush() }' "$tap_dir/out"
}
own_namespaces() { # a role in kube-system, and no Namespace of that name
    "$slipway" rbac recipes/nvidia-mig >"$tap_dir/out" && grep -q '^  namespace: kube-system$' "$tap_dir/out" || return 1
    awk '$1 == "kind:" { kind = $2 } kind == "Namespace" && $1 == "name:" { print $2 }' "$tap_dir/out" >"$tap_dir/names"
    cat "$tap_dir/names"
    [ -s "$tap_dir/names" ] && ! grep -q '^kube-\|^default$' "$tap_dir/names"
}
same_again() { "$slipway" rbac "$chart" >"$tap_dir/a" && "$slipway" rbac "$chart" | cmp - "$tap_dir/a"; }
applied() { # a server takes them, in the order in which they come
    command -v kubectl >/dev/null || return 0
    export KUBECONFIG=$tap_dir/kubeconfig
    "$slipway" emulate --kubeconfig-out "$KUBECONFIG" >/dev/null 2>&1 &
    local emulator=$! rc r
    until_ok 20 eval 'kubectl get --raw /readyz >/dev/null 2>&1'
    rc=0
    for r in "$chart" recipes/nvidia-mig recipes/nvidia-gpu charts/example/simple-kmod; do "$slipway" rbac "$r" | kubectl apply -f - || rc=1; done
    kill $emulator
    return $rc
}
own_resource() { # what `slipway run` would take from the recipe's own resource, unless an option says otherwise
    local own="$tap_dir/own-resource"
    mkdir -p "$own/templates"
    printf 'apiVersion: v2\nname: own\nversion: 0.1.0\n' >"$own/Chart.yaml"
    printf 'apiVersion: v1\nkind: {{ .Values.kind | default "ConfigMap" }}\nmetadata: {name: "{{ .Release.Name }}"}\n' >"$own/templates/it.yaml"
    printf 'apiVersion: sro.openshift.io/v1beta1\nkind: SpecialResource\nmetadata: {name: mine}\nspec: {namespace: home, serviceAccountName: installer, set: {kind: Secret}, upgradePolicy: {drain: true},\n  chart: {name: own, repository: {url: "https://charts.example.com", secretRef: {name: login, namespace: keys}}}}\n' >"$own/own.yaml"
    "$slipway" rbac "$own" >"$tap_dir/out" || return 1
    cat "$tap_dir/out"
    grep -q '^  name: slipway-as-installer$' "$tap_dir/out" && grep -q '^  namespace: home$' "$tap_dir/out" && grep -q '^  namespace: keys$' "$tap_dir/out" &&
        grep -q -- '- pods/eviction' "$tap_dir/out" && grep -q 'slipway.dev/recipe: mine' "$tap_dir/out" && "$slipway" rbac "$own" | grep -A8 'secrets' | grep -q -- '- create' || return 1
    "$slipway" rbac "$own" -n away --name other --service-account deputy >"$tap_dir/out"
    grep -q '^  namespace: away$' "$tap_dir/out" && grep -q 'slipway.dev/recipe: other' "$tap_dir/out" && grep -q '^  name: slipway-as-deputy$' "$tap_dir/out" && ! grep -q 'namespace: home' "$tap_dir/out"
}
refused() { ! "$slipway" rbac "$tap_dir/none" 2>/dev/null && ! "$slipway" rbac 2>/dev/null; }

charts_of_sro() {
    local left=test/emulator/operator/takeover
    chart=$left/simple-kmod has Role daemonsets create && chart=$left/acm-simple-kmod has ClusterRole policies create --set git.ref=main,git.uri=u,registry=r
}

t "kinds are read in the whole cluster" reads_everywhere
t "and written in the recipe's namespace" writes_at_home
t "plurals come from Kubernetes, from the recipe's definitions, or are guessed" plurals
t "what the recipe's roles contain is held" hands_on
t "or they may be handed on by name" by_name
t "roles that are not the recipe's may be bound by name" binds_foreign
t "a recipe that makes its namespace needs rights everywhere" everywhere
t "another account gets them, and the operator may act as it" other_account
t "without one it is the default account, which reads nothing elsewhere" own_account
t "or that of a resource in another namespace" of_another
t "a recipe in a ConfigMap elsewhere is read as the account" in_a_config_map
t "a module has rights of its own" of_a_module
t "with legacy rights all is the operator's" legacy
t "pods may be evicted where asked for" upgrades
t "PriorityClasses are the resource's, and asked for" priority_classes
t "the Secret of spec.chart.repository may be read where asked for" login
t "what templates look up may be read, and no more" looked_up
t "who asks for feature gates may ask" feature_gates
t "the pods of operators that may be late are read, where they are known to be" late_operators
t "namespaces that every cluster has are not made" own_namespaces
t "name, namespace, account and values come from the recipe's own resource" own_resource
t "equal recipes give equal rights" same_again
t "charts of the Special Resource Operator ask for their resource or module" charts_of_sro
t "a server takes what is printed" applied
t "no recipe, no rights" refused
plan
