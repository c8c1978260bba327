#pragma once
/* victims: which pods would have to be evicted from a node so that a pod fits, and on which of
 * several nodes that does the least harm. Reads the cache and changes nothing. Internal to
 * scheduler. Source: kube-scheduler's DefaultPreemption. */
#include "slicing/scheduler/devices/harm.h"

/** Which pods have to be evicted from @node so that @pod fits. @given, @n_given: pods that
 * kube-scheduler would evict for its own reasons; they are evicted in any case. Added are pods of
 * lower priority whose slices are needed, those last that a PodDisruptionBudget protects, the least
 * important first. Pods whose deletion has begun, and those that have ended, count as gone.
 * @return false: evictions do not help there, or none is needed; @out is empty */
bool victims_find(const struct cache *p, const struct pod *pod, const struct node *node,
                  const struct pod *const *given, size_t n_given, struct victims *out);

/** Whether @pod fits on @node without evictions, now or when the pods that end anyway have ended.
 * @return the bit set of GPUs that it would use; 0: it does not fit */
uint64_t victims_none(const struct cache *p, const struct pod *pod, const struct node *node);
/** Whether a pod of lower priority than @pod's holds slices there (then @*less becomes true), or
 * one that ends. Checks at most @*budget claims and subtracts them. */
bool victims_likely(const struct node *node, const struct pod *pod, size_t *budget, bool *less);
