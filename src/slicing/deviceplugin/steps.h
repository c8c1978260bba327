#pragma once
/* steps: what the broker asks for on GPUs, recorded before it is done: slices, and what is set for
 * ResourceClaims. Internal to deviceplugin. */
#include "slicing/deviceplugin/state.h"

/** DP_ACT_STEP. */
void dp_step_do(struct sw_device_plugin *p, const struct dp_action *a);
/** DP_ACT_SET. */
void dp_setting_do(struct sw_device_plugin *p, const struct dp_action *a);
/** The worker's @done (worker.h); @arg: the plugin. */
void dp_step_done(struct dp_job *job, void *tag, void *arg);
/** Log and count that a file of the journal could not be written or removed. */
void dp_journal_failed(struct sw_device_plugin *p, const char *event, const struct sw_err *err);
