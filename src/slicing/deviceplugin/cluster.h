#pragma once
/* cluster: the pods and AllocationClaims of this node, watched and written. Internal to
 * deviceplugin. */
#include "slicing/deviceplugin/state.h"

/** Start the watches. */
void dp_cluster_open(struct sw_device_plugin *p);
/** Stop the watches, cancel the writes. */
void dp_cluster_close(struct sw_device_plugin *p);
/** Send the write of action @a (DP_ACT_CLAIM_... or DP_ACT_EVICT); its outcome goes to the broker.
 */
void dp_cluster_write(struct sw_device_plugin *p, const struct dp_action *a);
/** Write a warning Event about @pod, once: a failure is logged and not retried. */
void dp_cluster_event(struct sw_device_plugin *p, const struct dp_ref *pod, const char *reason,
                      const char *message);
