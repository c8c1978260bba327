#pragma once
/* devices: Dynamic Resource Allocation: pods have ResourceClaims of their templates, or of the
 * extended resources that a DeviceClass stands for, and are bound where the allocator finds the
 * devices. Source: Kubernetes "Dynamic Resource Allocation". Pinned by
 * test/emulator/emulator/ctl_devices_test.c. */
#include "emulator/controllers/core.h"

/** An attempt to find devices for a pod. */
struct sw_devices;

/** Why @pod has no claims yet that could be allocated, the caller's; NULL: it has, or needs none.
 */
char *sw_devices_unclaimed(struct sw_ctl *ctl, const struct sw_pod *pod);
/** Begin an attempt; the caller's, sw_devices_close(). @*why: the reason why there can be none on
 * any node, the caller's. @return NULL: the pod asks for no devices, or @*why says why not */
struct sw_devices *sw_devices_open(struct sw_ctl *ctl, struct sw_pod *pod, char **why);
/** End the attempt. NULL is allowed. */
void sw_devices_close(struct sw_devices *d);
/** Whether the node has @resource as devices of a class, and not by a device plugin. */
bool sw_devices_provide(const struct sw_devices *d, const struct sw_node *node, uint32_t resource);
/** Whether a request names alternatives, so that nodes differ in what they have; NULL: no. */
bool sw_devices_have_choice(const struct sw_devices *d);
/** Look for the devices on @node. @*score: of two nodes that fit, the one with more is better.
 * @return 0 | SW_NOTFOUND (@err: the reason) | SW_INVALID (no node is tried any more) */
int sw_devices_find(struct sw_devices *d, const struct sw_node *node, int64_t *score,
                    struct sw_err *err) SW_CHECKED;
/** Allocate and reserve what was found on @node. @return 0 | SW_PENDING: the pod is bound when its
 * devices are ready for it | another negative code: try again */
int sw_devices_take(struct sw_devices *d, const char *node) SW_CHECKED;
/** Why the node's drivers cannot prepare the devices of @pod, as kubelet says it; the caller's,
 * NULL: they can. */
char *sw_devices_unprepared(struct sw_ctl *ctl, const struct sw_pod *pod);
/** The DeviceClass that serves an extended resource; borrowed, NULL: none. */
json_object *sw_devices_class_of(struct sw_ctl *ctl, const char *resource);
