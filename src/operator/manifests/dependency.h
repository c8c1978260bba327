#pragma once
/* dependency: what spec.dependencies of a SpecialResource says. */
#include <stdbool.h>

struct json_object;

/** The chart of an entry: under "chart", or (older resources) the entry itself; borrowed. */
struct json_object *sw_dependency_chart(struct json_object *entry);
/** The name of that chart, which is the child's; "" where it has none. */
const char *sw_dependency_name(struct json_object *entry);
/** The entry of @resource for the child @name, borrowed; NULL: none. */
struct json_object *sw_dependency_find(struct json_object *resource, const char *name);

/** The values that the child @resource gets from the entry of @parent, borrowed; NULL: none. SRO
 * makes children without values of their own and gives them those of the entry each time it works
 * on the parent. One that has values of its own keeps them, and so does one that slipway has made.
 * Source: SRO, controllers/specialresource.go. */
struct json_object *sw_dependency_values(struct json_object *parent, struct json_object *resource);

#define SW_DEPENDENCY_OF "slipway.dev/dependency-of"
