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
    "$slipway" emulate --delays 1 --kubeconfig-out "$KUBECONFIG" >"$tap_dir/emulate" 2>&1 &
    echo $! >"$tap_dir/pids"
    until_ok 30 test -s "$KUBECONFIG" && "$slipway" run recipes/nvidia-mig --timeout 60s || return 1
    "$slipway" controller --allowed-files "$PWD" --metrics-bind-address "$metrics" --metrics-secure=false --health-probe-bind-address 0 >"$tap_dir/controller" 2>&1 &
    echo $! >>"$tap_dir/pids"
}

says() { # TEXT JSONPATH
    kubectl get specialresource nvidia-mig -o "jsonpath=$2" | grep -q "$1"
}

phase() { # STATE PHASE
    says "^$2\$" "{.status.states[?(@.name==\"$1\")].phase}"
}

metric() { # STATE VALUE
    curl -sf "http://$metrics/metrics" |
        grep -q "^sro_states_completed_info{specialresource=\"nvidia-mig\",state=\"$1\"} $2\$"
}

policy_lost() {
    until_ok 30 metric gpu-operator 1 &&
        kubectl annotate clusterpolicy gpu-cluster-policy emulator.slipway.dev/state=notReady &&
        until_ok 20 phase gpu-operator Held && until_ok 5 metric gpu-operator 0 &&
        until_ok 5 says '^False$' '{.status.conditions[?(@.type=="Ready")].status}' &&
        says 'ClusterPolicy' '{.status.conditions[?(@.status=="True")].message}' &&
        until_ok 5 held
}

held() {
    kubectl get events -A | grep StateHeld | grep gpu-operator | grep -q ClusterPolicy
}

labelled() { # NODE STATE: print the label's value
    kubectl get node "$1" -o "jsonpath={.metadata.labels.specialresource\\.openshift\\.io/state-nvidia-mig-$2}"
}

# A node like gpu-0, as its kubelet would register it.
new_node() {
    kubectl get node gpu-0 -o json | python3 -c '
import json, sys
node = json.load(sys.stdin)
meta = node["metadata"]
labels = {k: v for k, v in meta["labels"].items() if "kubernetes.io/" in k and "feature" not in k}
labels["kubernetes.io/hostname"] = "gpu-9"
node["metadata"] = {"name": "gpu-9", "labels": labels,
    "annotations": {k: v for k, v in meta["annotations"].items() if k.startswith("emulator.slipway.dev/gpu")}}
json.dump(node, sys.stdout)' | kubectl create -f - &&
        until_ok 20 is_capable
}

is_capable() {
    kubectl get nodes -l nvidia.com/mig.capable=true -o name | grep -q gpu-9
}

nothing_begins_there() {
    new_node && sleep 2 && phase gpu-operator Held || return 1
    for state in gpu-operator scheduler dra-driver; do
        [ -z "$(labelled gpu-9 $state)" ] || { echo "gpu-9 has the label of $state"; return 1; }
    done
    ! kubectl get pods -n das-operator -o wide | grep das-daemonset | grep gpu-9
}

payload_stays() {
    [ "$(kubectl get daemonset -n das-operator das-daemonset -o 'jsonpath={.status.numberReady}')" = 3 ] &&
        [ "$(kubectl get nodes -l specialresource.openshift.io/state-nvidia-mig-dra-driver=Ready -o name | wc -l)" = 3 ] &&
        phase dra-driver Ready
}

goes_on() {
    kubectl annotate clusterpolicy gpu-cluster-policy emulator.slipway.dev/state- &&
        until_ok 30 follows && until_ok 20 says '^Ready' '{.status.state}' && until_ok 5 metric gpu-operator 1
}

follows() {
    [ "$(labelled gpu-9 dra-driver)" = Ready ]
}

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

t "without the device plugin the validation pod stays Pending, and the run says what it misses" without_plugin
metrics=127.0.0.1:$(free_port)
t "a resource is Ready under a controller" start
t "a ClusterPolicy that leaves ready is told by phase, condition, Event and metric" policy_lost
t "until it is ready again, no state begins on a node that is new" nothing_begins_there
t "what runs already is left alone" payload_stays
t "when it is ready, the new node goes through the states" goes_on
while read -r pid; do kill "$pid"; done <"$tap_dir/pids"
plan
