#include "operator/manifests/overlap.h"

#include "base/base.h"
#include "data/data.h"

enum { MAX_DEPTH = 16 };

bool sw_overlap_is_claiming(struct json_object *resource)
{
    const char *state = sw_json_str(resource, "", "spec", "managementState", NULL);
    return (sw_json_len(sw_json_find(resource, "spec", "nodeSelector", NULL)) ||
            sw_json_len(sw_json_find(resource, "spec", "taints", NULL))) &&
           !sw_streq(state, "Removed") && !sw_streq(state, "Unmanaged") &&
           !sw_json_find(resource, "metadata", "deletionTimestamp", NULL);
}

/* Whether @map has each key of @selector with the same value. */
static bool has_all_of(struct json_object *map, struct json_object *selector)
{
    if (!json_object_is_type(selector, json_type_object))
        return true;
    json_object_object_foreach(selector, key, value)
    {
        if (!json_object_is_type(map, json_type_object) ||
            !sw_json_equal(sw_json_get(map, key), value))
            return false;
    }
    return true;
}

bool sw_overlap_selects(struct json_object *resource, struct json_object *node)
{
    return has_all_of(sw_json_find(node, "metadata", "labels", NULL),
                      sw_json_find(resource, "spec", "nodeSelector", NULL));
}

static bool depends_on(struct json_object *one, const char *other, sw_overlap_find_fn *find,
                       void *arg, int depth)
{
    struct json_object *list = sw_json_find(one, "spec", "dependencies", NULL);
    for (size_t i = 0; depth < MAX_DEPTH && i < sw_json_len(list); i++) {
        const char *name = sw_json_str(sw_json_at(list, i), "", "chart", "name", NULL);
        if (sw_streq(name, other))
            return true;
        struct json_object *dependency = find(name, arg);
        if (dependency && depends_on(dependency, other, find, arg, depth + 1))
            return true;
    }
    return false;
}

bool sw_overlap_is_meant(struct json_object *one, struct json_object *other,
                         sw_overlap_find_fn *find, void *arg)
{
    return depends_on(one, sw_obj_name(other), find, arg, 0) ||
           depends_on(other, sw_obj_name(one), find, arg, 0);
}

bool sw_overlap_is_certain(struct json_object *one, struct json_object *other,
                           sw_overlap_find_fn *find, void *arg)
{
    struct json_object *a = sw_json_find(one, "spec", "nodeSelector", NULL),
                       *b = sw_json_find(other, "spec", "nodeSelector", NULL);
    return sw_overlap_is_claiming(one) && sw_overlap_is_claiming(other) &&
           (has_all_of(a, b) || has_all_of(b, a)) && !sw_overlap_is_meant(one, other, find, arg);
}
