# A recipe that is exchanged: until the new one is planned, which may take its time, nothing of the old one goes,
# whatever else happens to the resource.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
export KUBECONFIG=$tap_dir/kubeconfig
command -v kubectl >/dev/null || { skip "a recipe that is exchanged" "no kubectl here"; plan; }
trap 'stop operating; stop emulated; rm -rf "$tap_dir"' EXIT

# NAME VALUE N: a chart in a ConfigMap; the plan of each of its subcharts counts to the third power of N
chart() {
    local sub
    mkdir -p "$tap_dir/$1/templates"
    for sub in a b c d e f; do
        mkdir -p "$tap_dir/$1/charts/$sub/templates"
        printf 'apiVersion: v2\nname: %s\nversion: 1.0.0\nannotations:\n  slipway.dev/releases: |\n    {}{{- $n := until %s }}{{ range $n }}{{ range $n }}{{ range $n }}{{ end }}{{ end }}{{ end }}\n' \
            $sub "$3" >"$tap_dir/$1/charts/$sub/Chart.yaml"
        printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\n' $sub >"$tap_dir/$1/charts/$sub/templates/sub.yaml"
    done
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own}\ndata: {value: "%s"}\n' "$2" >"$tap_dir/$1/templates/0000-own.yaml"
    printf 'apiVersion: v2\nname: %s\nversion: 1.0.0\n' "$1" >"$tap_dir/$1/Chart.yaml"
    "$slipway" configmap "$tap_dir/$1" --namespace default | kubectl apply --server-side -f -
}
on() { # NAME NODE: the resource of that chart, for one node
    resource "$1" "cm://default/$1" 1.0.0
    printf '  nodeSelector: {kubernetes.io/hostname: %s}\n' "$2"
}
uids() { kubectl -n first get configmaps own a f -o 'jsonpath={.items[*].metadata.uid}'; }
has() { [ "$(kubectl -n first get configmap own -o 'jsonpath={.data.value}' 2>/dev/null)" = "$1" ]; }

# another resource comes to its node and goes, again and again, of which its engine is told
exchanged() {
    emulated --platform kubernetes && operating && chart first 1 1 && chart second 1 1 || return 1
    on first gpu-0 | kubectl apply -f - && on second gpu-1 | kubectl apply -f - && until_ok 20 has 1 && until_ok 20 uids >/dev/null || return 1
    uids >"$tap_dir/before"
    chart first 2 170 || return 1
    local n=0
    while ! has 2 && [ $n -lt 60 ]; do
        on second "gpu-$((n % 2))" | kubectl apply -f - >/dev/null
        n=$((n + 1))
    done
    echo "$n times before the new recipe was there"
    until_ok 20 has 2 && uids | diff "$tap_dir/before" -
}

# numbered templates are states: one gets another number
states() { kubectl get specialresource third -o 'jsonpath={.status.states[*].name} {.status.conditions[?(@.type=="Ready")].status}'; }
are() { [ "$(states)" = "$1" ]; }
third() {
    printf 'apiVersion: v2\nname: third\nversion: 1.0.0\n' >"$tap_dir/third/Chart.yaml"
    "$slipway" configmap "$tap_dir/third" --namespace default | kubectl apply --server-side -f -
}
renumbered() {
    mkdir -p "$tap_dir/third/templates" && cat >"$tap_dir/third/templates/1000-driver.yaml" <<'YAML'
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: driver}
spec:
  selector: {matchLabels: {app: driver}}
  template: {metadata: {labels: {app: driver}}, spec: {containers: [{name: main, image: i}]}}
YAML
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: first}\n' >"$tap_dir/third/templates/0000-first.yaml"
    third && resource third cm://default/third 1.0.0 | kubectl apply -f - && until_ok 30 are "0000 1000 True" || { states; return 1; }
    kubectl -n third get pods,daemonsets --sort-by .metadata.uid -o 'jsonpath={.items[*].metadata.uid}' >"$tap_dir/before"
    mv "$tap_dir/third/templates/1000-driver.yaml" "$tap_dir/third/templates/2000-driver.yaml" && third && until_ok 30 are "0000 2000 True" || { states; return 1; }
    kubectl -n third get pods,daemonsets --sort-by .metadata.uid -o 'jsonpath={.items[*].metadata.uid}' | diff "$tap_dir/before" - &&
        until_ok 10 eval '! kubectl get nodes -o json | grep state-third-1000' && kubectl get node gpu-0 -o json | grep 'state-third-2000.*Ready'
}

t "a recipe that is exchanged takes nothing down" exchanged
t "a state that gets another number keeps its pods" renumbered
plan
