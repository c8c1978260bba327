#pragma once
/* drain: empties one node by the Eviction API, as `kubectl drain` does: pods of DaemonSets, mirror
 * pods and pods that have ended stay, budgets are waited for. Nothing is evicted while there is a
 * pod that may not be: what cannot be finished is not begun. Evictions are requests of the
 * resource's account; one that is forbidden counts as a pod that may not be evicted. Source:
 * Kubernetes "API-initiated Eviction", kubectl's drain filters. */
#include <stdbool.h>

struct drain;
struct resource;
struct sw_upgrade_policy;

/** Begin; @policy is read at once. @changed is called whenever another answer may be had, never
 * before this returned. */
struct drain *drain_open(struct resource *r, const char *node,
                         const struct sw_upgrade_policy *policy, void (*changed)(void *arg),
                         void *arg);
/** Nothing more is evicted. NULL is accepted. */
void drain_close(struct drain *d);

/** Has everything gone that had to? */
bool drain_is_done(const struct drain *d);
/** Is there a pod that may not be evicted? */
bool drain_is_refused(const struct drain *d);
/** What is waited for, or refused; "" for nothing. Borrowed until the next call. */
const char *drain_message(struct drain *d);
