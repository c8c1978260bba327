#!/bin/bash
# The real kube-scheduler with slipway's extender on the emulator, where cluster.sh has built one.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh
. test/scheduler_steps.sh
trap steps_end EXIT
steps_emulator "kube-scheduler with the extender"
# an important pod only waits here; scheduler_preempt_test has it make room
if steps_prepare && start_extender --preemption=false && start_kube_scheduler; then
    echo "ok 1 - kube-scheduler starts with the printed configuration"
    tap_n=1
    scheduler_steps
else
    echo "not ok 1 - kube-scheduler starts with the printed configuration"
    tap_n=1 tap_bad=1
fi
[ $tap_bad = 0 ] || for f in kube-scheduler extender; do tail -n 20 "$steps_dir/$f" | sed 's/^/# /'; done
plan
