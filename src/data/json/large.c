#include "data/json/large.h"

#include <json-c/json.h>
#include <string.h>

enum { LARGE_BYTES = 32 << 10, TOKEN_BYTES = 6 };

/* @return @left less what the text of @doc takes, about; it ends where that is used up */
static long spend(struct json_object *doc, long left)
{
    left -= TOKEN_BYTES;
    if (json_object_is_type(doc, json_type_string))
        return left - json_object_get_string_len(doc);
    if (json_object_is_type(doc, json_type_array)) {
        for (size_t i = 0; left > 0 && i < json_object_array_length(doc); i++)
            left = spend(json_object_array_get_idx(doc, i), left);
    } else if (json_object_is_type(doc, json_type_object)) {
        json_object_object_foreach(doc, key, value)
        {
            if (left <= 0)
                break;
            left = spend(value, left - (long)strlen(key));
        }
    }
    return left;
}

bool sw_json_is_large(struct json_object *doc)
{
    return spend(doc, LARGE_BYTES) <= 0;
}

size_t sw_json_tree_bytes(struct json_object *doc)
{
    size_t bytes = SW_SCALAR_BYTES;
    if (json_object_is_type(doc, json_type_string))
        return bytes + (size_t)json_object_get_string_len(doc);
    if (json_object_is_type(doc, json_type_array)) {
        bytes = SW_LIST_BYTES;
        for (size_t i = 0; i < json_object_array_length(doc); i++)
            bytes += sw_json_tree_bytes(json_object_array_get_idx(doc, i));
    } else if (json_object_is_type(doc, json_type_object)) {
        bytes = SW_MAP_BYTES;
        json_object_object_foreach(doc, key, value)
        {
            bytes += SW_KEY_BYTES + strlen(key) + sw_json_tree_bytes(value);
        }
    }
    return bytes;
}
