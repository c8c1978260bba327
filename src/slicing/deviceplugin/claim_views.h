#pragma once
/* claim_views: what ResourceClaims have, as AllocationClaims that nobody acts on: for who looks at
 * these. Each is in its ResourceClaim's namespace, which owns it: the garbage collector takes it
 * away with that. Internal to deviceplugin. */
#include "slicing/deviceplugin/state.h"

struct dp_views;
/** The caller's. */
struct dp_views *dp_views_new(struct sw_device_plugin *p);
/** NULL is accepted. */
void dp_views_free(struct dp_views *v);
/** The slices of the ResourceClaim @claim are made: one for each, of which two writes are needed.
 * Nothing happens where it has none, or where no views are wanted. */
void dp_views_show(struct dp_views *v, struct json_object *claim);
/** kubelet gives the ResourceClaim of this UID back, which may live on: one write for each slice.
 */
void dp_views_hide(struct dp_views *v, const char *uid);
