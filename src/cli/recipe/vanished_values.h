#pragma once
/* vanished_values: values that a recipe sets for a chart, which the version of the chart that is
 * there has and the one that is to come has not any more: they would have no effect, and nothing
 * else would tell. */
#include "cli/recipe/preview.h"

struct json_object;

/** What a chart takes as values; all borrowed, each may be NULL. */
struct sw_chart_values {
    struct json_object *values;       /* values.yaml */
    struct json_object *schema;       /* values.schema.json */
    struct json_object *dependencies; /* of Chart.yaml: their values are below their names */
};

/** The paths ("a.b.c") in @set that @old has in its values or its schema, and @new in neither; a
 * list, the caller's. What is below an empty map of the new values may be anything. Pure. */
struct json_object *sw_vanished_values(const struct sw_chart_values *old,
                                       const struct sw_chart_values *new, struct json_object *set);
/** The same of the release @name in the namespace @ns, from Helm's newest record of it to the chart
 * that the recipe of @preview brings; a list, the caller's; NULL: one of them cannot be read. */
struct json_object *sw_vanished_values_of(struct sw_preview *preview, const char *name,
                                          const char *ns);
