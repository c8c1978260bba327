/* RFC 7386, JSON merge patch. */
#include "data/patch/merge.h"

#include "data/json/json.h"
#include "data/json/path.h"

static bool is_map(struct json_object *doc)
{
    return json_object_is_type(doc, json_type_object);
}

/* Merge @patch into @target, which is ours to change. */
static void merge_into(struct json_object *target, struct json_object *patch)
{
    json_object_object_foreach(patch, key, value)
    {
        if (!value) {
            json_object_object_del(target, key);
            continue;
        }
        if (!is_map(value)) {
            (void)json_object_object_add(target, key, sw_json_copy(value));
            continue;
        }
        struct json_object *inner = sw_json_get(target, key);
        if (!is_map(inner)) {
            inner = json_object_new_object();
            (void)json_object_object_add(target, key, inner);
        }
        merge_into(inner, value);
    }
}

struct json_object *sw_merge_apply(struct json_object *target, struct json_object *patch)
{
    if (!is_map(patch))
        return sw_json_copy(patch);
    struct json_object *out = is_map(target) ? sw_json_copy(target) : json_object_new_object();
    merge_into(out, patch);
    return out;
}

struct json_object *sw_merge_create(struct json_object *from, struct json_object *to)
{
    if (!is_map(from) || !is_map(to))
        return sw_json_copy(to);
    struct json_object *patch = json_object_new_object();
    json_object_object_foreach(from, old_key, old)
    {
        if (old && !sw_json_get(to, old_key))
            (void)json_object_object_add(patch, old_key, NULL);
    }
    json_object_object_foreach(to, key, value)
    {
        if (!value)
            continue;
        struct json_object *before = sw_json_get(from, key);
        if (sw_json_equal(before, value))
            continue;
        if (!is_map(before) || !is_map(value)) {
            /* without the nulls in maps, which a merge patch cannot set */
            (void)json_object_object_add(patch, key, sw_merge_apply(NULL, value));
            continue;
        }
        struct json_object *inner = sw_merge_create(before, value);
        if (json_object_object_length(inner) > 0)
            (void)json_object_object_add(patch, key, inner);
        else
            (void)json_object_put(inner);
    }
    return patch;
}
