#!/bin/bash
# A node goes over from the device plugin to Dynamic Resource Allocation and back, while pods run, with the recipe walked
# by the operator from a DASOperator: API server, webhook, kube-scheduler, kubelet and the four programs in
# their images are real; the rules stand in for cert-manager and OpenShift's operators, and the GPUs are made up.
cd "$(dirname "$0")/../.." || exit 1
. test/tap.sh
. test/slicing_cleared.sh
. test/cluster_images.sh
. test/slicing_steps.sh
[ "${minor:-0}" -ge 36 ] || { skip changeover "Kubernetes 1.$minor does not place slices"; plan; }

is_running() { [ "$(kubectl get pod "$1" -o 'jsonpath={.status.phase}')" = Running ]; }
ready() { until_ok 150 das_is || { kubectl -n $ns get dasoperator cluster -o yaml | tail -40; "$SLIPWAY" status nvidia-mig; kubectl get pods -A; return 1; }; }
container_of() { kubectl get pod "$1" -o 'jsonpath={.status.containerStatuses[0].containerID} {.status.containerStatuses[0].restartCount}'; }
runs_on() { # PODS: in the containers that they had
    local p
    for p; do is_running "$p" && [ "$(container_of "$p")" = "$(cat "$tap_dir/$p")" ] || { kubectl describe pod "$p" | tail -15; return 1; }; done
}
held() { container_of "$1" >"$tap_dir/$1"; cat "$tap_dir/$1"; }
api_of_plugin() { kubectl -n $ns get daemonset das-daemonset -o 'jsonpath={.spec.template.spec.containers[0].args}' | tr ',' '\n' | sed -n 's/.*"--api=\([a-z]*\)".*/\1/p'; }
uses() { # API: the node, too
    [ "$(api_of_plugin)" = "$1" ] && [ "$(kubectl -n $ns get nodeaccelerators "$node" -o 'jsonpath={.status.conditions[?(@.type=="DynamicResourceAllocation")].status}')" = "$2" ]
}
configured() { # API: of the DASOperator, by the value that users set
    kubectl -n $ns patch dasoperator cluster --type merge -p "{\"spec\":{\"unsupportedConfigOverrides\":{\"global\":{\"slicing\":\"$1\"}}}}" &&
        until_ok 90 uses "$1" "$2" && ready
}
waits() { until_ok 30 eval '[ "$(kubectl get pod '"$1"' -o "jsonpath={.status.conditions[?(@.type==\"PodScheduled\")].reason}")" = Unschedulable ]'; }
drop() { kubectl delete pod "$@" --wait=false && for p; do until_ok 60 eval "! kubectl get pod $p >/dev/null 2>&1" || return 1; done; }
n_records() { find "$journal" -name '*.json' 2>/dev/null | grep -c .; }
claims_in_use() { kubectl get allocationclaims -A -o 'jsonpath={range .items[*]}{.spec.podRef.name} {.status.state}{"\n"}{end}' | sort; }

created() {
    kubectl create namespace $ns && kubectl create -f deploy/crds/inference.redhat.com_dasoperators.yaml && operator_resource >"$tap_dir/das.yaml"
}
old_pods() { # by webhook, das-scheduler and AllocationClaims
    pod old-a 'nvidia.com/mig-3g.20gb: 1' && runs old-a && pod old-b "$profile: 1" && runs old-b && held old-a && held old-b &&
        [ "$(kubectl get pod old-a -o 'jsonpath={.spec.schedulerName}')" = das-scheduler ] && [ "$(claims_in_use)" = 'old-a inUse
old-b inUse' ]
}
to_dra() {
    configured dra True && runs_on old-a old-b && until_ok 30 eval '[ -z "$(kubectl get mutatingwebhookconfiguration das-mutating-webhook-configuration -o name 2>/dev/null)" ]' &&
        kubectl -n nvidia-mig-validation get pods && [ "$(kubectl -n nvidia-mig-validation get pods -o 'jsonpath={.items[*].status.phase}')" = 'Succeeded Succeeded' ]
}
taken_in_counters() { # one GPU is whole; of the other a part is the old pods'. All but a slice that fits one GPU alone waits
    pod whole-a 'nvidia.com/mig-7g.40gb: 1' && runs whole-a && pod whole-b 'nvidia.com/mig-7g.40gb: 1' && waits whole-b && runs_on old-a old-b &&
        drop whole-a whole-b
}
new_pods() { # beside the old ones, on what is free
    pod new-a 'nvidia.com/mig-3g.20gb: 1' && runs new-a && pod new-b "$profile: 1" && runs new-b && held new-a && held new-b && runs_on old-a old-b &&
        [ "$(kubectl get pod new-a -o 'jsonpath={.spec.schedulerName}')" = default-scheduler ] && [ "$(n_records)" = 4 ] &&
        until_ok 20 eval '[ "$(claims_in_use)" = "new-a inUse
new-b inUse
old-a inUse
old-b inUse" ]' || { claims_in_use; ls -R "$journal"; return 1; }
}
plugin_killed() { # with what both ways have given out
    killed slipway-device-plugin && until_ok 60 eval '[ "$(kubectl -n $ns get pods -l app=das-daemonset -o "jsonpath={.items[*].status.containerStatuses[0].ready}")" = true ]' &&
        runs_on old-a old-b new-a new-b && [ "$(n_records)" = 4 ] && pod after "$profile: 1" && runs after && drop after
}
an_old_one_goes() { # and its slice with it: it is free for new ones
    drop old-a && until_ok 30 eval '[ "$(n_records)" = 3 ]' && ! claims_in_use | grep old-a && pod whole-b 'nvidia.com/mig-3g.20gb: 2' && runs whole-b && drop whole-b && runs_on old-b new-a new-b
}
and_back() {
    configured deviceplugin False && runs_on old-b new-a new-b && until_ok 30 eval '[ -z "$(kubectl get resourceslices -o name)" ]'
}
beside_new_ones_nothing_is_placed() { # new pods wait as long as a GPU has slices of ResourceClaims
    pod late-a 'nvidia.com/mig-7g.40gb: 1' && runs_on old-b new-a new-b && drop new-a new-b && until_ok 60 is_running late-a && runs_on old-b && drop late-a
}
the_last_ones_go() { drop old-b && until_ok 60 eval '[ "$(n_records)" = 0 ] && [ -z "$(ls "$cdi")" ] && [ -z "$(claims_in_use)" ]' || { ls -R "$journal" "$cdi"; claims_in_use; return 1; }; }
cert_manager_goes() { kubectl delete --wait=false -f "$tap_dir/cert-manager.yaml" && kubectl delete namespace cert-manager --wait=false; }

t "nothing is there of what will be deployed" slicing_cleared $ns
t "the images are packed from the build" packed
t "cert-manager is there, as somebody else's" cert_manager
t "a DASOperator chooses the device plugin" created
t "make deploy-das" deployed
[ $tap_bad = 0 ] || plan
t "it is walked, and the node says which way it goes" eval 'ready && uses deviceplugin False'
[ $tap_bad = 0 ] || plan
t "two pods get slices by AllocationClaims" old_pods
t "the node goes over: they run on, the webhook goes, both ways of asking are proved" to_dra
t "what they hold is taken in the counters" taken_in_counters
t "new pods get slices by ResourceClaims beside them, shown as AllocationClaims" new_pods
t "killed with KILL, the device plugin takes up what both ways have given out" plugin_killed
t "an old pod's slice is free for new ones when it has gone" an_old_one_goes
t "and back again: all run on" and_back
t "new pods get what was the others' when they have gone" beside_new_ones_nothing_is_placed
t "the last ones leave nothing" the_last_ones_go
t "make undeploy-das and undeploy take it away" undeployed
t "cert-manager goes" cert_manager_goes
plan
