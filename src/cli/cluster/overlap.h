#pragma once
/* overlap: a warning before a SpecialResource is applied that selects nodes of another one. The
 * operator reports the same for resources that exist, by the same rules
 * (operator/manifests/overlap.h). */
struct json_object;
struct sw_connection;

/** Print a line on stderr for each resource of the cluster that selects nodes which @resource
 * selects, too. Nothing is printed if the cluster cannot be read. */
void sw_overlap_warn(struct sw_connection *conn, struct json_object *resource);
