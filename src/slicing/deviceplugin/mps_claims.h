#pragma once
/* mps_claims: the control daemons of ResourceClaims, asked for and given up, each waited for.
 * Internal to deviceplugin. */
#include "slicing/deviceplugin/state.h"

struct dp_mps_claims;
/** None yet. */
struct dp_mps_claims *dp_mps_claims_new(struct sw_device_plugin *p);
/** What is waited for is given up, what runs runs on. NULL is accepted. */
void dp_mps_claims_free(struct dp_mps_claims *m);
/** @step of setting @i of @g, DP_STEP_SET or DP_STEP_UNSET: dp_broker_on_setting(), now or later.
 */
void dp_mps_claims_do(struct dp_mps_claims *m, const struct dp_grant *g, size_t i,
                      enum dp_step step);
/** See that what @g has asked for is still asked for: its file may be gone. */
void dp_mps_claims_keep(struct sw_device_plugin *p, const struct dp_grant *g);
