#!/bin/bash
# The real kube-scheduler with slipway's extender on a real API server.
cd "$(dirname "$0")/../.." || exit 1
. test/tap.sh
. test/scheduler_steps.sh
. test/slicing_cleared.sh
trap steps_end EXIT
[ -x "$kube_bin/kube-scheduler" ] || { skip "kube-scheduler with the extender" "no kube-scheduler in $kube_bin"; plan; }
scheduler=build/slipway-scheduler
# with the rights of the state's service account, and no others
as_deployed() {
    build/slipway render states/scheduler --set global.slicing=deviceplugin --namespace $ns --show-only templates/rbac.yaml | kubectl apply -f - >/dev/null || return 1
    extender_kubeconfig=$steps_dir/kubeconfig
    sed "s|user: {client-certificate|user: {as: \"system:serviceaccount:$ns:das-scheduler\", client-certificate|" \
        "$KUBECONFIG" >"$extender_kubeconfig"
    grep -q 'as: "system' "$extender_kubeconfig"
}
nothing_refused() {
    ! curl -s "http://127.0.0.1:$extender_metrics/metrics" | grep 'code="403"' && ! grep -i forbidden "$steps_dir/extender" &&
        kubectl -n $ns get lease slipway-scheduler
}
if steps_prepare && as_deployed && start_extender --preemption=false && start_kube_scheduler; then
    echo "ok 1 - kube-scheduler starts with the printed configuration"
    tap_n=1
    scheduler_steps
else
    echo "not ok 1 - kube-scheduler starts with the printed configuration"
    tap_n=1 tap_bad=1
fi
[ $tap_bad = 0 ] || for f in kube-scheduler extender; do tail -n 20 "$steps_dir/$f" | sed 's/^/# /'; done
t "nothing is left of it" slicing_cleared $ns
plan
