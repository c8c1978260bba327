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
/** The PriorityClass of entry @i of spec.priorityClasses, the caller's; NULL: no such entry. */
struct json_object *sw_sharing_priority_class(struct json_object *resource, size_t i);
