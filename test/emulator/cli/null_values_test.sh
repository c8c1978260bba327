# A null among the values takes a default away, as with Helm, on the cluster, too.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
export KUBECONFIG=$tap_dir/kubeconfig
command -v kubectl >/dev/null || { skip "values that are null" "no kubectl here"; plan; }
trap 'stop emulated; rm -rf "$tap_dir"' EXIT
mkdir -p "$tap_dir/chart/templates"
printf 'apiVersion: v2\nname: chart\nversion: 0.1.0\n' >"$tap_dir/chart/Chart.yaml"
printf 'limits: {cpu: 1, memory: 2Gi}\n' >"$tap_dir/chart/values.yaml"
cat >"$tap_dir/chart/templates/limits.yaml" <<'END'
apiVersion: v1
kind: ConfigMap
metadata: {name: limits}
data: {limits: {{ toJson .Values.limits | quote }}}
END
walks_with() { # EXPECTED OPTION...
    "$slipway" run "$tap_dir/chart" --timeout 30s "${@:2}" && [ "$(kubectl get configmap limits -n chart -o 'jsonpath={.data.limits}')" = "$1" ]
}
t "a cluster" emulated --platform kubernetes
t "a default that is null is none" walks_with '{"memory":"2Gi"}' --set limits.cpu=null
t "the resource keeps the null" eval 'kubectl get specialresource chart -o json | jq -e ".spec.set.limits | has(\"cpu\") and .cpu == null"'
t "without it the default is there again" walks_with '{"cpu":1,"memory":"2Gi"}'
plan
