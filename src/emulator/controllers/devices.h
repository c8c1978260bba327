#pragma once
/* devices: Dynamic Resource Allocation: pods have ResourceClaims of their templates, and are bound
 * where the devices are that the claims ask for. Of a DeviceClass the CEL of schema/cel.h is
 * understood; an expression that needs more selects no device. Source: Kubernetes "Dynamic Resource
 * Allocation". Pinned by test/emulator/emulator/ctl_devices_test.c. */
#include "emulator/controllers/core.h"

/** Why @pod has no claims yet that could be allocated, the caller's; NULL: it has, or needs none.
 */
char *sw_devices_unclaimed(struct sw_ctl *ctl, const struct sw_pod *pod);
/** Whether what @pod claims is allocated on @node, or can be. */
bool sw_devices_fit(struct sw_ctl *ctl, const struct sw_pod *pod, const char *node);
/** Allocate on @node what @pod claims, and reserve it; sw_devices_fit() holds. */
void sw_devices_take(struct sw_ctl *ctl, const struct sw_pod *pod, const char *node);
