#pragma once
/* resource_slices: the node's ResourceSlices in the cluster, and the DeviceClasses by which pods
 * ask for their devices. Internal to deviceplugin. */
#include "slicing/deviceplugin/state.h"

struct dp_slices;
/** The caller's. Nothing is written before the face is known. */
struct dp_slices *dp_slices_new(struct sw_device_plugin *p);
/** What is published stays: pods keep what they have. NULL is accepted. */
void dp_slices_free(struct dp_slices *s);
/** What is published may have changed: the face, the gate, GPUs, what others hold of them. Cheap
 * where it has not. */
void dp_slices_refresh(struct dp_slices *s);
/** Why they were not written, as of the last try; borrowed. NULL: nothing failed. */
const char *dp_slices_trouble(const struct dp_slices *s);
/** Whether the cluster has what it is to have. */
bool dp_slices_are_published(const struct dp_slices *s);
