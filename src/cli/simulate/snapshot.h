#pragma once
/* snapshot: all objects of an embedded cluster without what differs in each walk (uids, times,
 * addresses, generated names), to compare the ends of walks. */
struct json_object;
struct sw_store;

/** {"Kind namespace/name": document}; the caller's. */
struct json_object *sw_snapshot(struct sw_store *store);
/** @return a unified diff, the caller's; NULL: both are the same */
char *sw_snapshot_diff(struct json_object *want, struct json_object *got);
