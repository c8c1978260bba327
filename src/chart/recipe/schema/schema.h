#pragma once
/* schema: values.schema.json, JSON Schema as charts use it: draft 7 and the forms of drafts 4 to
 * 2020-12 that say the same (exclusiveMinimum: true, $defs, dependentRequired).
 *
 * Debian has no maintained C library for it. Not there: $dynamicRef, unevaluated*, references to
 * other files or hosts. */
#include <stddef.h>

#include "base/base.h"
#include "chart/template/value/value.h"

/** A schema that was read; its regular expressions are compiled when first used. */
struct sw_schema;

/** Read a schema. @name is for messages; @text is borrowed for the schema's life. @return 0 |
 * SW_INVALID: no JSON, no schema */
int sw_schema_new(const char *name, const char *text, size_t len, struct sw_schema **out,
                  struct sw_err *err) SW_CHECKED;
/** NULL is accepted. */
void sw_schema_free(struct sw_schema *schema);
SW_DEFINE_AUTO(sw_schema, sw_schema_free)

/** Check @value. The message has a line for each problem: "- path: reason".
 * @return 0 | SW_INVALID. Source: JSON Schema draft 7. Pinned by
 * test/unit/chart/recipe_schema_test.c. */
int sw_schema_check(const struct sw_schema *schema, struct sw_value value,
                    struct sw_err *err) SW_CHECKED;
