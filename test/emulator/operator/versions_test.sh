# An operator of another version takes over while pods with slices come and go, and hands back: no object and no pod is made anew, what
# somebody changes by hand is set again, and no pod of the load fails. The other version is the program SLIPWAY_BEFORE; without it the same
# version takes its part.
. test/tap.sh
. test/versions_steps.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
before=$(realpath "${SLIPWAY_BEFORE:-${SLIPWAY_RELEASE:-$slipway}}")
for tool in kubectl jq; do command -v $tool >/dev/null || { skip "versions take turns" "no $tool here"; plan; exit; }; done
export KUBECONFIG=$tap_dir/kubeconfig
trap 'for job in load one two emulated; do stop $job; done; rm -rf "$tap_dir"' EXIT

# operator NAME PROGRAM: begins to stand by, or to lead
operator() {
    "$2" controller --legacy-rights --stand-ins --no-registries --leader-elect --leader-elect-namespace default --metrics-bind-address 0 \
        --health-probe-bind-address 0 >>"$tap_dir/$1.log" 2>&1 &
    echo $! >"$tap_dir/$1.pid"
}
walked() {
    emulated && "$slipway" configmap recipes/nvidia-mig --packed --namespace default --stand-ins | kubectl apply --server-side -f - && operator one "$before" &&
        resource nvidia-mig cm://default/nvidia-mig "$(sed -n 's/^version: //p' recipes/nvidia-mig/Chart.yaml)" | sed 's/^  namespace: .*/  namespace: das-operator/' |
        kubectl apply -f - && until_ok 60 is_ready || { tail -n 5 "$tap_dir/one.log"; kubectl get specialresources; return 1; }
}

# Pods that ask for a slice, one after another; a line for each that ran.
load() {
    local n=0
    while :; do
        n=$((n + 1))
        kubectl apply -f - <<YAML && kubectl wait pod "load-$n" --for='jsonpath={.status.phase}=Running' --timeout=60s >/dev/null && echo "ran $n" || echo "failed $n"
apiVersion: v1
kind: Pod
metadata: {name: load-$n}
spec: {containers: [{name: main, image: "busybox:1.36", resources: {limits: {nvidia.com/mig-1g.5gb: 1}}}]}
YAML
        kubectl delete pod "load-$n" --wait=false
    done >"$tap_dir/load" 2>&1
}
n_ran() { grep -c '^ran ' "$tap_dir/load"; }
load_goes_on() { # two more pods have run since
    local since
    since=$(n_ran)
    until_ok 60 eval "[ \$(n_ran) -ge $((since + 2)) ]"
}

# turn FROM TO PROGRAM: another operator stands by, the one that leads ends; as in a rollout of a Deployment
turn() {
    : >"$tap_dir/$2.log"
    operator "$2" "$3" && until_ok 30 test -s "$tap_dir/$2.log" && stop "$1" && until_ok 60 grep -q '"the controller works"' "$tap_dir/$2.log" &&
        load_goes_on && repaired && until_ok 30 is_ready && load_goes_on && nothing_made_anew || { tail -n 5 "$tap_dir/$2.log"; return 1; }
}
no_failure() { stop load; cat "$tap_dir/load"; [ "$(n_ran)" -ge 10 ] && ! grep '^failed' "$tap_dir/load" | grep -v "failed $(($(n_ran) + 1))\$"; }

t "an operator has walked a recipe ($("$before" version))" walked
load &
echo $! >"$tap_dir/load.pid"
t "pods with slices come and go" until_ok 60 eval '[ "$(n_ran)" -ge 2 ]'
t "there are objects, pods and labels to compare" recorded_objects
t "this version takes over: nothing is made anew" turn one two "$slipway"
t "the other one takes over again" turn two one "$before"
t "and this one once more" turn one two "$slipway"
t "no new revision came of it" unchanged
t "no pod of the load has failed" no_failure
plan
