#pragma once
/* snapshot: all objects of an embedded cluster, without what differs each time (uids,
 * times, addresses, generated names), so that two ends of a walk can be compared. */
struct json_object;
struct sw_store;

/** {"Kind namespace/name": document}; the caller's. */
struct json_object *sw_snapshot(struct sw_store *store);
/** @return a unified diff, the caller's; NULL: both are the same */
char *sw_snapshot_diff(struct json_object *want, struct json_object *got);
