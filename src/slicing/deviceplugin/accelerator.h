#pragma once
/* accelerator: this node's NodeAccelerator, which tells the scheduler what the node has. Internal
 * to deviceplugin. */
#include "slicing/deviceplugin/state.h"

/** It publishes nothing yet; the caller's. @p is borrowed. */
struct dp_accelerator *dp_accelerator_new(struct sw_device_plugin *p);
/** Cancel what is under way. NULL is accepted. */
void dp_accelerator_free(struct dp_accelerator *a);
/** Read it, and write it where it differs; failures are retried. Does nothing before the GPUs have
 * been looked for. NULL is accepted. */
void dp_accelerator_publish(struct dp_accelerator *a);
/** The grants have changed: publish it where that concerns it. NULL is accepted. */
void dp_accelerator_refresh(struct dp_accelerator *a);
