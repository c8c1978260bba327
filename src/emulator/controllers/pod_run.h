#pragma once
/* pod_run: what the files of the emulated kubelet share: the steps of a pod (kubelet.c), what its
 * containers do (behaviour.c), and its status (podstatus.c). */
#include "emulator/controllers/core.h"
#include "emulator/rules/rules.h"

/** What a pod's containers do; computed for each step. */
struct sw_run {
    struct sw_pod_plan *plans; /* of spec.containers */
    size_t n_plans;
    long failing_init; /* the first init container that ends with an error, or -1 */
    int init_exit_code;
    bool ends;      /* at least one container ends by itself */
    bool restarts;  /* ended containers are started again */
    int64_t run_ms; /* the longest run of those that end */
    bool never_ready;
    int worst_exit_code;
};
/** Compute it for @pod, from annotations and the rules. */
void sw_run_init(struct sw_ctl *ctl, const struct sw_pod *pod, struct sw_run *run);
/** Free what it holds. */
void sw_run_done(struct sw_run *run);

/* ---- what a pod needs before it starts (pod_needs.c)
 * ---------------------------------------------
 */

/** Why the image cannot be pulled for @pod, as containerd says it; the caller's, NULL: it can. */
char *sw_pod_pull_error(struct sw_ctl *ctl, const struct sw_pod *pod, const char *image);
/** The pull secrets that @pod names and that do not exist, "a, b"; the caller's, NULL: none. */
char *sw_pod_missing_pull_secrets(struct sw_ctl *ctl, const struct sw_pod *pod);
/** The first Secret or ConfigMap that a volume of @pod needs and that does not exist, as kubelet
 * says it; the caller's, NULL: all exist. */
char *sw_pod_missing_volume(struct sw_ctl *ctl, const struct sw_pod *pod);
/** The first that the environment of a container needs; likewise. */
char *sw_pod_missing_env(struct sw_ctl *ctl, const struct sw_pod *pod, json_object *container);

/** A new status of the pod in its current step. @ready: whether it is ready. */
json_object *sw_pod_status(struct sw_ctl *ctl, struct sw_pod *pod, const struct sw_run *run,
                           bool ready);
