#pragma once
/* strategic_list: the order of lists that were merged. Internal to data. */
#include <sys/types.h>

#include "data/json/json.h"

/** Index of the element equal to @item (by its member @key where that is not NULL), or -1. */
ssize_t sw_list_index(struct json_object *list, const char *key, struct json_object *item);

/** A new list of the same elements (not copies of them). */
struct json_object *sw_list_of(struct json_object *list);

/** Put @list into order: the elements that are in @wanted in its order, the others in that of
 * @before, and both woven together as far as @before knows the two. */
void sw_list_order(struct json_object *list, const char *key, struct json_object *wanted,
                   struct json_object *before);
