#pragma once
/* overlap: SpecialResources that take the same nodes. The controller compares those of a cluster,
 * `slipway run` warns before it applies one, `slipway lint` compares those of a file; all three by
 * these rules. Resources that depend on each other may share nodes. */
#include <stdbool.h>

struct json_object;

/** @return the SpecialResource named @name, borrowed; NULL: there is none, or it is not known */
typedef struct json_object *sw_overlap_find_fn(const char *name, void *arg);

/** @return whether @resource claims nodes: it chooses some by a node selector or by taints, is
 * managed, and is not being deleted */
bool sw_overlap_is_claiming(struct json_object *resource);

/** @return whether the labels of @node are those of @resource's node selector; true without one */
bool sw_overlap_selects(struct json_object *resource, struct json_object *node);

/** @return whether one depends on the other (spec.dependencies), directly or by way of resources
 * that @find knows. @find is called with @arg. */
bool sw_overlap_is_meant(struct json_object *one, struct json_object *other,
                         sw_overlap_find_fn *find, void *arg);

/** @return whether the two overlap whatever nodes there are: both claim nodes, one's node selector
 * asks for all that the other's asks for, and neither depends on the other. @find: as above */
bool sw_overlap_is_certain(struct json_object *one, struct json_object *other,
                           sw_overlap_find_fn *find, void *arg);
