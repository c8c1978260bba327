#pragma once
/* claim_status: what a ResourceClaim's devices have become, in its status. Internal to
 * deviceplugin. */
#include "slicing/deviceplugin/state.h"

/** Write status.devices of the claim of @g, whose devices are made. A failure is logged: nothing
 * waits for it. */
void dp_claim_status_write(struct sw_device_plugin *p, const struct dp_grant *g);
