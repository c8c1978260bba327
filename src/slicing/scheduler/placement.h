#pragma once
/* placement: where a pod's slices fit, and how well. Reads the cache and changes nothing. Internal
 * to scheduler. */
#include "slicing/scheduler/cache/cache.h"

/** What many nodes of one request have in common. Zero at first. */
struct decide_common {
    const struct sw_mig_geometry *geometry;
    int kind; /* of the pod's profile there; -1: none */
};

/** Whether all of @pod's slices fit on @node now. @node: NULL where nothing is known of it. @look:
 * NULL, or one for all nodes of a request.
 * @return 0 | SW_PENDING (no room: an eviction may help) | SW_UNAVAILABLE (not usable now: no
 * eviction helps) | SW_NOTFOUND (no GPUs to cut) | SW_FORBIDDEN (not labelled) | SW_INVALID
 * (never). The message names no node, so that equal ones can be counted; for a pod with one slice
 * it is the same on all nodes for each code but SW_UNAVAILABLE. */
int decide_fit(const struct cache *p, const struct pod *pod, struct node *node,
               struct decide_common *common, struct sw_err *err) SW_CHECKED;

/** The policy's score of the node for the pod: 0 to 100; 0 where it does not fit. @look: as for
 * decide_fit(). */
unsigned decide_score(const struct cache *p, const struct pod *pod, struct node *node,
                      struct decide_common *common);

/** Whether the node can give slices at all. @node: NULL where nothing is known of it.
 * @return 0 | SW_NOTFOUND | SW_FORBIDDEN | SW_UNAVAILABLE, as decide_fit() */
int decide_usable(const struct cache *p, const struct node *node, struct sw_err *err) SW_CHECKED;

/** Place @pod as if the pods @gone were not there. @gpus: from decide_room_for_gpus(); they are set
 * to what is left without @gone. @choices: NULL, or room for as many as the pod requests.
 * @return as sw_mig_place() */
int decide_place(const struct cache *p, const struct node *node, const struct pod *pod,
                 const struct pod *const *gone, size_t n_gone, struct sw_mig_gpu *gpus,
                 struct sw_mig_choice *choices, struct sw_err *err) SW_CHECKED;
/** Memory for a copy of the node's GPUs; the caller's. */
struct sw_mig_gpu *decide_room_for_gpus(const struct node *node);
