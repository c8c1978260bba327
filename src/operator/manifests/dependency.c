#include "operator/manifests/dependency.h"

#include <json-c/json.h>

#include "base/base.h"
#include "data/json/path.h"

struct json_object *sw_dependency_chart(struct json_object *entry)
{
    struct json_object *chart = sw_json_get(entry, "chart");
    return chart ? chart : entry;
}

const char *sw_dependency_name(struct json_object *entry)
{
    return sw_json_str(sw_dependency_chart(entry), "", "name", NULL);
}

struct json_object *sw_dependency_find(struct json_object *resource, const char *name)
{
    struct json_object *list = sw_json_find(resource, "spec", "dependencies", NULL);
    for (size_t i = 0; i < sw_json_len(list); i++)
        if (sw_streq(sw_dependency_name(sw_json_at(list, i)), name))
            return sw_json_at(list, i);
    return NULL;
}

/* Are there more than the two that every "set" of SRO's has? */
static bool has_values(struct json_object *set)
{
    if (!json_object_is_type(set, json_type_object))
        return false;
    json_object_object_foreach(set, key, value)
    {
        (void)value;
        if (!sw_streq(key, "kind") && !sw_streq(key, "apiVersion"))
            return true;
    }
    return false;
}

struct json_object *sw_dependency_values(struct json_object *parent, struct json_object *resource)
{
    struct json_object *entry = sw_dependency_find(parent, sw_obj_name(resource));
    struct json_object *set = sw_json_get(entry, "set");
    bool is_its_own = has_values(sw_json_find(resource, "spec", "set", NULL)) ||
                      sw_obj_annotation(resource, SW_DEPENDENCY_OF);
    return is_its_own || !has_values(set) ? NULL : set;
}
