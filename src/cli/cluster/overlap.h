#pragma once
/* overlap: SpecialResources that take the same nodes, said before anything is applied. The operator
 * says it of those that are there (operator/controller/overlap.c), by the same rules: a resource
 * claims nodes by a node selector or by taints, and those that depend on each other are meant to
 * share. */
#include "base/base.h"

struct json_object;
struct sw_connection;

/** Do their selectors meet whatever nodes there are: one asks for all that the other asks for? */
bool sw_overlap_is_sure(struct json_object *one, struct json_object *other);
/** Which resources of the cluster take nodes that @resource takes too: a line for each on stderr.
 * What cannot be read is passed over: it is said for convenience. */
void sw_overlap_warn(struct sw_connection *conn, struct json_object *resource);
