#!/bin/bash
# The real kube-scheduler with slipway's extender on the emulator: a more important pod whose slices are
# taken gets them, although kube-scheduler itself finds nobody in its way.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh
. test/scheduler_steps.sh
trap steps_end EXIT
steps_emulator "preemption with kube-scheduler"

filled() { # both nodes have something on their one GPU
    pod low-1 'mig.das.com/3g.20gb: 1' && pod low-2 'mig.das.com/3g.20gb: 1' && pod low-3 'mig.das.com/3g.20gb: 1' &&
        until_ok 60 all_bound low-1 low-2 low-3
}
n_low() { [ "$(kc get pods -o name | grep -c pod/low)" = "$1" ]; }
makes_room() { # on the node where one has to leave, not two
    printf 'apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: urgent}\nvalue: 1000\n' |
        kc apply -f - || return 1
    pod urgent 'mig.das.com/7g.40gb: 1' 'priorityClassName: urgent' && until_ok 120 bound urgent && n_low 2 && n_claims 3
}
told() { kc get events -o 'jsonpath={range .items[?(@.reason=="Preempted")]}{.message}{"\n"}{end}' | grep 'default/urgent'; }

if steps_prepare && start_extender && start_kube_scheduler; then
    t "small slices are on both nodes" filled
    t "an important pod that wants a whole GPU gets it" makes_room
    t "who had to leave was told why" told
else
    t "the scheduler starts" false
fi
[ $tap_bad = 0 ] || for f in kube-scheduler extender emulator; do tail -n 20 "$steps_dir/$f" | sed 's/^/# /'; done
plan
