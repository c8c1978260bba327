# The charts of the recipes of NVIDIA's AI Cluster Runtime in one folder: those of ../shared, which others wrote, and for
# those that are not there small ones of the same names. Sourced by tests, after tap.sh.

# aicr_charts SHARED DIR: the folder DIR becomes what --charts-dir takes.
aicr_charts() {
    local shared=$1 dir=$2 chart
    mkdir -p "$dir"
    for chart in "$shared"/aicr/charts/*; do
        cp -rL "$chart" "$dir/"
    done
    cp -rL "$shared/charts/gpu-operator" "$shared/upstream/cert-manager" "$dir/" &&
        cp -rL "$shared/upstream/dra-driver-nvidia-gpu" "$dir/nvidia-dra-driver-gpu" || return 1
    chmod -R u+w "$dir"
    sed -i 's/^name: dra-driver-nvidia-gpu/name: nvidia-dra-driver-gpu/' "$dir/nvidia-dra-driver-gpu/Chart.yaml"
    # subcharts of kube-prometheus-stack, and Dynamo's
    for chart in kube-state-metrics prometheus-node-exporter prometheus-windows-exporter grafana; do
        aicr_stand_in "$dir/$chart" "$chart" || return 1
    done
    aicr_stand_in "$dir/dynamo-platform" dynamo-operator && aicr_stand_in "$dir/dynamo-crds" '' &&
        aicr_stand_in "$dir/kgateway-crds" ''
}

# aicr_stand_in DIR WORKLOAD: a chart with one Deployment of that name, or none.
aicr_stand_in() {
    mkdir -p "$1/templates" && printf 'apiVersion: v2\nname: %s\nversion: 0.0.0-stand-in\n' "${1##*/}" >"$1/Chart.yaml" &&
        echo 'kubeRBACProxy: {enabled: false}' >"$1/values.yaml" && # what kube-prometheus-stack asks of its subcharts
        printf '{{ define "%s.fullname" }}%s{{ end }}\n' "${1##*/}" "${1##*/}" >"$1/templates/_helpers.tpl" || return 1
    [ -n "$2" ] || { printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "%s", namespace: "{{ .Release.Namespace }}"}\n' "${1##*/}" >"$1/templates/none.yaml"; return; }
    cat >"$1/templates/deployment.yaml" <<Y
apiVersion: apps/v1
kind: Deployment
metadata: {name: $2, namespace: "{{ .Release.Namespace }}"}
spec:
  selector: {matchLabels: {app: $2}}
  template:
    metadata: {labels: {app: $2}}
    spec: {containers: [{name: c, image: "registry.example.com/x:1"}]}
Y
}
