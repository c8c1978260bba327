#pragma once
/* large: which documents are too large to be kept as trees. */
#include <stdbool.h>

struct json_object;

/** Has the text of @doc more than some 32 KiB? Its tree has ten times as much. Takes no longer for
 * a larger one. */
bool sw_json_is_large(struct json_object *doc);
