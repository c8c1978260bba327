#pragma once
/* schema_tree: a schema's text as a tree; strings and maps as templates' values have them. */
#include <stddef.h>

#include "base/base.h"
#include "template/value.h"

/** Read JSON into a value in @arena; @text is borrowed for its life. Texts that only people read
 * (description, title, $comment, examples) are skipped without being looked at: they are most of a
 * schema, and skipping them makes this three times as fast as reading all of it with YAJL.
 * @return 0 | SW_INVALID with line and column */
int sw_schema_tree(struct sw_arena *arena, const char *name, const char *text, size_t len,
                   struct sw_value *out, struct sw_err *err) SW_CHECKED;
