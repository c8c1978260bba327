#pragma once
/* What a resource says about who may use its nodes, and how its objects differ from the recipe's:
 * spec.nodeSelector, taints and tolerations, priorityClasses and priorityClassName
 * (node_sharing.c), spec.overrides (overrides.c). docs/partitioning.md is for users. */
#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

struct json_object;
struct sw_hook_env;

/** Is all that well formed? @resource: a SpecialResource with its templates rendered.
 * @return 0 | SW_INVALID: the message begins with the field */
int partition_check(struct json_object *resource, struct sw_err *err);
/** What pods need to run on the resource's nodes: its own taints as tolerations, and
 * spec.tolerations. An array, the caller's. */
struct json_object *partition_tolerations(struct json_object *resource);
/** The PriorityClass of entry @i of spec.priorityClasses, the caller's; NULL: no such entry. */
struct json_object *partition_priority_class(struct json_object *resource, size_t i);

/* hooks */
int hook_tolerate(struct json_object *doc, const struct sw_hook_env *env, struct sw_err *err);
int hook_set_priority(struct json_object *doc, const struct sw_hook_env *env, struct sw_err *err);
int hook_override(struct json_object *doc, const struct sw_hook_env *env, struct sw_err *err);

/** @return 0 | SW_INVALID */
int overrides_check(struct json_object *resource, struct sw_err *err);
/** Those whose target is none of the objects in @used (one bit an override): "spec.overrides[1]
 * (DaemonSet 'x')", comma separated; heap. NULL: all are used. */
char *overrides_unused(struct json_object *resource, uint64_t used);
enum { MAX_OVERRIDES = 64 };
