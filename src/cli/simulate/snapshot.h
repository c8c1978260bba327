#pragma once
/* picture: everything that stands in an embedded cluster, without what differs each time (uids,
 * times, addresses, generated names), so that two ends of a walk can be compared. */
struct json_object;
struct sw_store;

/** {"Kind namespace/name": document}; the caller's. */
struct json_object *sw_snapshot(struct sw_store *store);
/** NULL where both show the same, else a unified diff of what differs; the caller's. */
char *sw_snapshot_diff(struct json_object *want, struct json_object *got);
