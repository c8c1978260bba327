#pragma once
/* other_instances: GPU instances that others than this plugin made (nvidia-smi, MIG manager, what
 * DAS left): nothing can be made where they lie, so kube-scheduler must not allocate it. They are
 * read before anything is published, now and then afterwards, and when a slice finds its place
 * taken. They are left alone. Internal to deviceplugin. */
#include "slicing/deviceplugin/state.h"

struct dp_other_instances;
/** The caller's. */
struct dp_other_instances *dp_other_instances_new(struct sw_device_plugin *p);
/** NULL is accepted. */
void dp_other_instances_free(struct dp_other_instances *o);
/** GPUs were found, or the face is another one. NULL is accepted. */
void dp_other_instances_refresh(struct dp_other_instances *o);
/** They may have changed: read them at once. */
void dp_other_instances_read(struct dp_other_instances *o);
/** Whether all GPUs have been read, or cannot be: they fail, or have not answered in time. */
bool dp_other_instances_are_known(const struct dp_other_instances *o);
/** Whether nothing of GPU number @gpu may be given out, as it could not be read yet. NULL is
 * accepted. */
bool dp_other_instances_bar(const struct dp_other_instances *o, size_t gpu);
/** What they take of GPU number @gpu. NULL is accepted, as long as nothing is known. */
struct sw_mig_use dp_other_instances_use(const struct dp_other_instances *o, size_t gpu);
