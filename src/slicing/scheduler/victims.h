#pragma once
/* victims: who would have to leave a node so that a pod fits, and on which of several nodes that
 * harms least. Asks the picture, changes nothing. Internal to scheduler.
 * Source: kube-scheduler's DefaultPreemption, whose order of importance and of harm this is. */
#include "slicing/scheduler/cache/cache.h"

/** Zero is an empty one. */
struct victims {
    const struct pod **list; /* the most important first; owned, the pods are borrowed */
    size_t n;
    int64_t n_violations; /* how many of those that were added no budget allows */
    uint64_t gpus;        /* bits: where the pod would lie then */
};
void victims_done(struct victims *v);

/** Who has to go from @node so that @pod fits. @given, @n_given: whom the scheduler would send away
 * for its own reasons; they go in any case. Added are pods of lower priority whose slices are
 * needed, those last that a PodDisruptionBudget protects, the least important first. Pods whose
 * deletion has begun, and those that have ended, count as gone.
 * @return false: sending pods away does not help there, or nobody needs to go; @out is empty */
bool victims_find(const struct cache *p, const struct pod *pod, const struct node *node,
                  const struct pod *const *given, size_t n_given, struct victims *out);

/** Whether it is better to send @a away than @b: fewer against a budget, less important ones,
 * fewer, those that began later. */
bool victims_better(const struct victims *a, const struct victims *b);
/** Whether nobody else needs to go from @node: @pod fits there, or will when those have gone who
 * leave anyway. @return the GPUs where it would lie, as bits; 0: it does not */
uint64_t victims_none(const struct cache *p, const struct pod *pod, const struct node *node);
/** A pod of lower priority than @pod's holds slices there (then @*less becomes true), or one that
 * leaves. Looks at @*budget claims at most. */
bool victims_likely(const struct node *node, const struct pod *pod, size_t *budget, bool *less);
