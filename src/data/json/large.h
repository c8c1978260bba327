#pragma once
/* large: what documents take in memory, and which are too large to be kept as trees. */
#include <stdbool.h>
#include <stddef.h>

struct json_object;

/** Has the text of @doc more than some 32 KiB? Its tree has ten times as much. Takes no longer for
 * a larger one. */
bool sw_json_is_large(struct json_object *doc);

/** What json-c takes for a map, whose table has 16 keys at first, a list, another value, a key; for
 * both of these the text besides. */
enum { SW_MAP_BYTES = 640, SW_LIST_BYTES = 144, SW_SCALAR_BYTES = 64, SW_KEY_BYTES = 96 };
/** The memory that the tree @doc takes: an estimate, from above. A text of 1 MiB may be one of
 * 200. */
size_t sw_json_tree_bytes(struct json_object *doc);
