#pragma once
/* sharing: which pods run on a resource's nodes: spec.nodeSelector, taints, tolerations,
 * priorityClasses and priorityClassName. docs/partitioning.md is for users. */
#include "base/base.h"

struct json_object;

/** Check those fields of @resource, a SpecialResource with its templates rendered.
 * @return 0 | SW_INVALID: the message begins with the field */
int sw_sharing_check(struct json_object *resource, struct sw_err *err);
/** What pods need to run on the resource's nodes: its own taints as tolerations, and
 * spec.tolerations. An array, the caller's. */
struct json_object *sw_sharing_tolerations(struct json_object *resource);
/** The annotation of a recipe's chart that names taints which its pods tolerate by themselves: a
 * list of tolerations, in YAML. Nodes with them are the resource's, too. */
#define SW_ANN_TOLERATIONS "slipway.dev/tolerations"
/** Read that annotation. @*list: the caller's. @return 0 | SW_INVALID: what is wrong with it */
int sw_sharing_read_annotation(const char *text, struct json_object **list, struct sw_err *err);
/** What the annotation in a recipe's @metadata names, an array, the caller's; NULL: nothing, or it
 * cannot be read, which lint says. @metadata may be NULL. */
struct json_object *sw_sharing_of_recipe(const struct json_object *metadata);
/** Of which taints nodes may be the resource's: sw_sharing_tolerations(), and @of_recipe, of
 * sw_sharing_of_recipe() (NULL: none). An array, the caller's. */
struct json_object *sw_sharing_node_tolerations(struct json_object *resource,
                                                struct json_object *of_recipe);
/** The PriorityClass of entry @i of spec.priorityClasses, the caller's; NULL: no such entry. */
struct json_object *sw_sharing_priority_class(struct json_object *resource, size_t i);
