#pragma once
/* harm: pods that would have to be evicted together, and which of two such sets does less harm.
 * Internal to scheduler. Source: kube-scheduler's DefaultPreemption, whose order of importance and
 * of harm this is. */
#include "slicing/scheduler/cache/cache.h"

/** Zero is an empty one. */
struct victims {
    const struct pod **list; /* the most important first; owned, the pods are borrowed */
    size_t n;
    int64_t n_violations; /* how many of those that were added a budget does not allow to evict */
    uint64_t gpus;        /* bit set of the GPUs that the pod would use then */
};
/** Free the list. */
void victims_done(struct victims *v);

/** For qsort() over pods: the highest priority first, as kube-scheduler expects its victims; then
 * those that are there longest. */
int victims_by_importance(const void *a, const void *b);
/** Whether it is better to evict @a than @b: fewer against a budget, then lower priorities, then
 * fewer pods, then those that began later. */
bool victims_better(const struct victims *a, const struct victims *b);
/** Whether nobody ends an evicted pod on a node with these taints, as kubelet is not heard there.
 * Source: kube-controller-manager's node lifecycle controller. */
bool node_is_lost(struct json_object *taints);
