#pragma once
/* form: whether a schema is plainly well-formed, so that it need not be checked against the schema
 * of schemas, which takes longer than checking values; internal to the folder. */
#include "chart/recipe/schema/document.h"

/** Whether each keyword of @node has a value of its kind. False: the schema of schemas decides. */
bool sw_schema_is_plain(const struct sw_schema *schema, const struct schema_node *node);
