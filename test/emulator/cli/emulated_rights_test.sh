#!/bin/bash
# slipway run --emulate --authorization rbac: a walk with the rights of the manifests that are shipped, and of those
# that 'slipway rbac' prints; what they lack shows.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
chart=$tap_dir/c
mkdir -p "$chart/templates"
printf 'apiVersion: v2\nname: c\nversion: 0.1.0\n' >"$chart/Chart.yaml"
cat >"$chart/templates/all.yaml" <<'Y'
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: d}
spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i/j:1}]}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: r}
rules: [{apiGroups: [storage.k8s.io], resources: [csinodes], verbs: [get]}]
Y
walk() { "$slipway" run "$1" --emulate --platform kubernetes --authorization rbac --delays 0 --timeout 60s --fail-fast >"$tap_dir/o" 2>&1; }
says() { grep -qF -- "$1" "$tap_dir/o" || { tail -20 "$tap_dir/o"; return 1; }; }
walks() { walk "$chart" && says 'c: Ready' || { tail -20 "$tap_dir/o"; return 1; }; }
t "the shipped rights suffice for a recipe" walks
recipes() {
    local r
    for r in recipes/simple-kmod recipes/nvidia-mig; do walk "$r" && says ': Ready' || { echo "$r"; tail -20 "$tap_dir/o"; return 1; }; done
}
t "and for recipes of the tree, with stand-ins of the vendors' charts" recipes
own_account() { # the recipe's own resource says who it is walked as
    printf 'apiVersion: sro.openshift.io/v1beta1\nkind: SpecialResource\nmetadata: {name: c}\nspec: {namespace: elsewhere, serviceAccountName: walker, chart: {name: c, version: 0.1.0, repository: {name: r, url: "file:///r"}}}\n' >"$chart/c.yaml"
    walk "$chart" && says 'c: Ready' || { tail -20 "$tap_dir/o"; rm "$chart/c.yaml"; return 1; }
    rm "$chart/c.yaml"
}
t "the account is that of the recipe's own resource" own_account
lacks() { # an object that is rendered on the cluster alone, so that nobody has printed a right for it
    cat >"$chart/templates/late.yaml" <<'Y'
{{- if lookup "v1" "Node" "" "gpu-0" }}
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: late}
value: 1
{{- end }}
Y
    ! walk "$chart" && says 'User "system:serviceaccount:slipway:slipway" cannot list resource "priorityclasses"' && says 'slipway rbac' &&
        "$slipway" run "$chart" --emulate --platform kubernetes --delays 0 >"$tap_dir/o" 2>&1
}
t "a right that nobody was given shows, and is told" lacks
elsewhere() { ! "$slipway" run "$chart" --authorization rbac >"$tap_dir/o" 2>&1 && says '--authorization are for --emulate'; }
t "it is an option of the embedded cluster" elsewhere
plan
