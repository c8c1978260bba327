#pragma once
/* victims: which pods would have to be evicted from a node so that a pod fits, and on which of
 * several nodes that does the least harm. Reads the cache and changes nothing. Internal to
 * scheduler. Source: kube-scheduler's DefaultPreemption, whose order of importance and of harm this
 * is. */
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

/** Which pods have to be evicted from @node so that @pod fits. @given, @n_given: pods that
 * kube-scheduler would evict for its own reasons; they are evicted in any case. Added are pods of
 * lower priority whose slices are needed, those last that a PodDisruptionBudget protects, the least
 * important first. Pods whose deletion has begun, and those that have ended, count as gone.
 * @return false: evictions do not help there, or none is needed; @out is empty */
bool victims_find(const struct cache *p, const struct pod *pod, const struct node *node,
                  const struct pod *const *given, size_t n_given, struct victims *out);

/** For qsort() over pods: the highest priority first, as kube-scheduler expects its victims; then
 * those that are there longest. */
int victims_by_importance(const void *a, const void *b);
/** Whether it is better to evict @a than @b: fewer against a budget, then lower priorities, then
 * fewer pods, then those that began later. */
bool victims_better(const struct victims *a, const struct victims *b);
/** Whether @pod fits on @node without evictions, now or when the pods that end anyway have ended.
 * @return the bit set of GPUs that it would use; 0: it does not fit */
uint64_t victims_none(const struct cache *p, const struct pod *pod, const struct node *node);
/** Whether a pod of lower priority than @pod's holds slices there (then @*less becomes true), or
 * one that ends. Checks at most @*budget claims and subtracts them. */
bool victims_likely(const struct node *node, const struct pod *pod, size_t *budget, bool *less);
