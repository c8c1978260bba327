#pragma once
/* leftover_claims: AllocationClaims that were promised to pods which are gone. slipway-scheduler
 * collects them where it runs; where kube-scheduler gives slices out it need not, and then they
 * would be missing in the counters for ever. So each node collects its own. Internal to
 * deviceplugin. */
#include "slicing/deviceplugin/state.h"

struct dp_leftover_claims;
/** The first round is soon, the others are every minute, while ResourceClaims are what is given
 * out. The caller's. */
struct dp_leftover_claims *dp_leftover_claims_new(struct sw_device_plugin *p);
/** NULL is accepted. */
void dp_leftover_claims_free(struct dp_leftover_claims *c);
