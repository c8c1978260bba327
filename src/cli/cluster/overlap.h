#pragma once
/* overlap: a warning before a SpecialResource is applied that takes nodes which others have. The
 * operator reports the same of resources that exist, by the same rules
 * (operator/manifests/overlap.h). */
struct json_object;
struct sw_connection;

/** Print a line on stderr for each resource of the cluster that takes nodes which @resource takes
 * too. What cannot be read is left out: the warning is for convenience. */
void sw_overlap_warn(struct sw_connection *conn, struct json_object *resource);
