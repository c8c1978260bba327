#pragma once
/* schema: values.schema.json: JSON Schema of the drafts 4, 6, 7, 2019-09 and 2020-12, which is the
 * one of a schema that names none. Formats are checked up to draft 7, as those drafts have it.
 *
 * Debian has no maintained C library for it. Not there: references to other files or hosts,
 * vocabularies of one's own. */
#include <stddef.h>

#include "base/base.h"
#include "chart/template/value/value.h"

/** A schema that was read; its regular expressions are compiled when first used. */
struct sw_schema;

/** Read a schema. @name: of the file, for what is no JSON; @text is borrowed for the schema's life.
 * @return 0 | SW_INVALID: no JSON, no schema, a reference that leads nowhere or out of the document
 */
int sw_schema_new(const char *name, const char *text, size_t len, struct sw_schema **out,
                  struct sw_err *err) SW_CHECKED;
/** NULL is accepted. */
void sw_schema_free(struct sw_schema *schema);
SW_DEFINE_AUTO(sw_schema, sw_schema_free)

/** Check @value. The message has a line for each problem, in Helm's words and indented as Helm
 * does it: "- at '/a/b': got string, want integer".
 * @return 0 | SW_INVALID. Source: JSON Schema's core and validation, santhosh-tekuri/jsonschema 6,
 * which Helm 3.21 has. Pinned by test/unit/chart/recipe_schema_test.c. */
int sw_schema_check(const struct sw_schema *schema, struct sw_value value,
                    struct sw_err *err) SW_CHECKED;
