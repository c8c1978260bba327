#pragma once
/* orphan: an object is left behind. What makes it the resource's is taken off, so that nobody's
 * garbage collection and no later resource takes it for its own. What runs is not touched: pod
 * templates keep the label. */

struct json_object;

/** A merge patch of @live, which the resource of @uid owned; the caller's. NULL: nothing of
 * slipway's is on it (any more). */
struct json_object *sw_orphan_patch(struct json_object *live, const char *uid);
