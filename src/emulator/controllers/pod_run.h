#pragma once
/* pod_run: what the files of the emulated kubelet share: when a pod does what (kubelet.c), what its
 * containers do (behaviour.c), and how its status says so (podstatus.c). */
#include "emulator/controllers/core.h"
#include "emulator/rules/rules.h"

/** What a pod's containers will do; computed anew each time. */
struct sw_run {
    struct sw_pod_plan *plans; /* of spec.containers */
    size_t n_plans;
    long failing_init; /* the first init container that ends with an error, or -1 */
    int init_exit_code;
    bool ends;     /* at least one container ends by itself */
    bool restarts; /* what ended is started again */
    int64_t run_ms;
    bool never_ready;
    int worst_exit_code;
};
/** Compute it for @pod, by annotations and the rules. */
void sw_run_init(struct sw_ctl *ctl, const struct sw_pod *pod, struct sw_run *run);
/** Free what it holds. */
void sw_run_done(struct sw_run *run);

/** The pod's status as its step has it; new. */
json_object *sw_pod_status(struct sw_ctl *ctl, struct sw_pod *pod, const struct sw_run *run,
                           bool ready);
