#pragma once
/* decide: where a pod's slices fit, how well, and who would have to go. Asks the picture, changes
 * nothing. Internal to scheduler. */
#include "slicing/scheduler/cache/cache.h"

/** What is the same for many nodes of one question about one pod. Zero: nothing is known yet. */
struct decide_common {
    const struct sw_mig_geometry *geometry;
    int kind; /* of the pod's profile there; -1: none */
};

/** Whether all of @pod's slices fit on @node now. @node: NULL where nothing is known of it. @look:
 * NULL, or one for all nodes of a question.
 * @return 0 | SW_PENDING (no room: somebody has to leave) | SW_UNAVAILABLE (not usable now:
 * nobody's leaving helps) | SW_NOTFOUND (no GPUs to cut) | SW_FORBIDDEN (not labelled) | SW_INVALID
 * (never). The words name no node, so that equal ones can be counted; of a pod with one slice those
 * of each code but SW_UNAVAILABLE are the same for all nodes. */
int decide_fit(const struct cache *p, const struct pod *pod, struct node *node,
               struct decide_common *common, struct sw_err *err) SW_CHECKED;

/** How much the policy likes the node for it: 0 to 100; 0 where it does not fit. @look: as for
 * decide_fit(). */
unsigned decide_score(const struct cache *p, const struct pod *pod, struct node *node,
                      struct decide_common *common);

/** Whether slices are to be had on the node at all. @node: NULL where nothing is known of it.
 * @return 0 | SW_NOTFOUND | SW_FORBIDDEN | SW_UNAVAILABLE, as decide_fit() */
int decide_usable(const struct cache *p, const struct node *node, struct sw_err *err) SW_CHECKED;

/** Place @pod as if the @gone were not there. @gpus: from decide_room_for_gpus(), as they were for
 * that afterwards. @choices: NULL, or room for as many as the pod wants.
 * @return as sw_mig_place() */
int decide_place(const struct cache *p, const struct node *node, const struct pod *pod,
                 const struct pod *const *gone, size_t n_gone, struct sw_mig_gpu *gpus,
                 struct sw_mig_choice *choices, struct sw_err *err) SW_CHECKED;
/** For a copy of the node's GPUs; the caller's. */
struct sw_mig_gpu *decide_room_for_gpus(const struct node *node);
