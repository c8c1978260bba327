# Gates that must be able to stay shut: the validation pod without the plugin that makes slices, and
# the GPU operator's ClusterPolicy leaving ready after the walk.
. test/tap.sh
slipway=${SLIPWAY:-build/test/slipway}
export KUBECONFIG=$tap_dir/kubeconfig

without_plugin() {
    mkdir -p "$tap_dir/w/recipes"
    cp -r states "$tap_dir/w/states"
    cp -r recipes/nvidia-mig "$tap_dir/w/recipes/nvidia-mig"
    sed -i '/^- name: device-plugin$/,/depends-on/d; s/depends-on: \[device-plugin\]/depends-on: [scheduler]/' \
        "$tap_dir/w/recipes/nvidia-mig/Chart.yaml"
    "$slipway" run "$tap_dir/w/recipes/nvidia-mig" --emulate --delays 0 --timeout 15s >"$tap_dir/o" 2>&1
    [ $? -eq 3 ] && cat "$tap_dir/o" && grep -q "state 'validation'.*Insufficient nvidia.com/mig-1g.5gb" "$tap_dir/o"
}

start() {
    "$slipway" emulate --delays human --kubeconfig-out "$KUBECONFIG" >"$tap_dir/emulate" 2>&1 &
    echo $! >"$tap_dir/pids"
    until_ok 30 test -s "$KUBECONFIG" && "$slipway" run recipes/nvidia-mig --timeout 60s &&
        { "$slipway" controller --metrics-bind-address 0 --health-probe-bind-address 0 >"$tap_dir/controller" 2>&1 & } &&
        echo $! >>"$tap_dir/pids"
}

says() { # TEXT JSONPATH
    kubectl get specialresource nvidia-mig -o "jsonpath=$2" | grep -q "$1"
}

# The emulated operator says ready again after a while: the Event stays.
policy_lost() {
    kubectl patch clusterpolicy gpu-cluster-policy --subresource=status --type=merge \
        -p '{"status":{"state":"notReady","conditions":[{"type":"Ready","status":"False","reason":"OperandNotReady","message":"test","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}' &&
        until_ok 20 held
}

held() {
    kubectl get events -A | grep -E 'StateHeld|StateNotReady' | grep gpu-operator | grep -q ClusterPolicy
}

payload_stays() {
    until_ok 20 says '^Ready' '{.status.state}' &&
        [ "$(kubectl get daemonset -n das-operator das-daemonset -o 'jsonpath={.status.numberReady}')" = 3 ] &&
        [ "$(kubectl get nodes -l specialresource.openshift.io/state-nvidia-mig-device-plugin=Ready -o name | wc -l)" = 3 ]
}

t "without the device plugin the validation pod stays Pending, and the run says what it misses" without_plugin
if kubectl patch --help 2>/dev/null | grep -q subresource; then
    t "a resource is Ready under a controller" start
    t "a ClusterPolicy that leaves ready is told by an Event" policy_lost
    t "what runs already is left alone, and all is Ready when the ClusterPolicy is" payload_stays
    while read -r pid; do kill "$pid"; done <"$tap_dir/pids"
fi
plan
