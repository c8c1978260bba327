#pragma once
/* claims_check: kubelet says when a ResourceClaim's devices are needed no more, unless it has lost
 * what it knew. So those that have devices are read now and then: what was deleted, or made anew
 * under the same name, gives its devices back. Internal to deviceplugin. */
#include "slicing/deviceplugin/state.h"

struct dp_claims_check;
/** The first round is soon, the others are every ten minutes. The caller's. */
struct dp_claims_check *dp_claims_check_new(struct sw_device_plugin *p);
/** NULL is accepted. */
void dp_claims_check_free(struct dp_claims_check *c);
