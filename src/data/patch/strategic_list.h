#pragma once
/* strategic_list: the order of lists that were merged. Internal to data. */
#include <sys/types.h>

#include "data/json/json.h"

/** Index of the element equal to @item (by its member @key where that is not NULL), or -1. */
ssize_t sw_list_index(struct json_object *list, const char *key, struct json_object *item);

/** A new list of the same elements, each with one more reference. The caller owns it. */
struct json_object *sw_list_of(struct json_object *list);

/** Sort @list: elements of @wanted in the order of @wanted, the others in the order of @before. The
 * two are interleaved by the order of @before where it contains both. */
void sw_list_order(struct json_object *list, const char *key, struct json_object *wanted,
                   struct json_object *before);
