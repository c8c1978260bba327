#include "emulator/schema/schema.h"

#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/schema/schema_internal.h"

static bool is_map(json_object *value)
{
    return json_object_is_type(value, json_type_object);
}

bool sw_structural_flag(json_object *schema, const char *name)
{
    return sw_json_bool(schema, false, name, NULL);
}

json_object *sw_structural_property(json_object *schema, const char *key)
{
    json_object *found = sw_json_find(schema, "properties", key, NULL);
    if (found)
        return found;
    json_object *others = sw_json_get(schema, "additionalProperties");
    return is_map(others) ? others : NULL;
}

json_object *sw_structural_items(json_object *schema)
{
    json_object *items = sw_json_get(schema, "items");
    return is_map(items) ? items : NULL;
}

/* ---- pruning ------------------------------------------------------------------------------------
 */

struct prune {
    void (*unknown)(const char *path, void *arg);
    void *arg;
};

static void prune(json_object *value, json_object *schema, bool is_object, const char *path,
                  const struct prune *p);

/* @is_object: a Kubernetes object, whose apiVersion, kind and metadata are kept. */
static void prune_map(json_object *value, json_object *schema, bool is_object, const char *path,
                      const struct prune *p)
{
    bool any = sw_structural_flag(schema, "x-kubernetes-preserve-unknown-fields") ||
               json_object_get_boolean(sw_json_get(schema, "additionalProperties"));
    struct json_object_iterator it = json_object_iter_begin(value);
    struct json_object_iterator end = json_object_iter_end(value);
    while (!json_object_iter_equal(&it, &end)) {
        const char *key = json_object_iter_peek_name(&it);
        json_object *child = json_object_iter_peek_value(&it);
        json_object *child_schema = sw_structural_property(schema, key);
        SW_AUTO_CHARS *at = sw_printf("%s%s%s", path, path[0] ? "." : "", key);
        json_object_iter_next(&it);
        if (is_object && (strcmp(key, "apiVersion") == 0 || strcmp(key, "kind") == 0 ||
                          strcmp(key, "metadata") == 0))
            continue;
        if (child_schema) {
            prune(child, child_schema, false, at, p);
        } else if (!any) {
            if (p->unknown)
                p->unknown(at, p->arg);
            json_object_object_del(value, key);
        }
    }
}

static void prune(json_object *value, json_object *schema, bool is_object, const char *path,
                  const struct prune *p)
{
    if (is_map(value)) {
        bool embedded = sw_structural_flag(schema, "x-kubernetes-embedded-resource");
        prune_map(value, schema, is_object || embedded, path, p);
        return;
    }
    json_object *items = sw_structural_items(schema);
    if (!json_object_is_type(value, json_type_array) || !items)
        return;
    for (size_t i = 0; i < json_object_array_length(value); i++) {
        SW_AUTO_CHARS *at = sw_printf("%s[%zu]", path, i);
        prune(json_object_array_get_idx(value, i), items, false, at, p);
    }
}

void sw_structural_prune(json_object *doc, json_object *schema,
                         void (*unknown)(const char *path, void *arg), void *arg)
{
    prune(doc, schema, true, "", &(struct prune){ unknown, arg });
}

/* ---- defaults -----------------------------------------------------------------------------------
 */

void sw_structural_default(json_object *value, json_object *schema)
{
    if (json_object_is_type(value, json_type_array)) {
        json_object *items = sw_structural_items(schema);
        for (size_t i = 0; items && i < json_object_array_length(value); i++)
            sw_structural_default(json_object_array_get_idx(value, i), items);
        return;
    }
    if (!is_map(value))
        return;
    json_object *properties = sw_json_get(schema, "properties");
    if (is_map(properties)) {
        json_object_object_foreach(properties, name, property)
        {
            json_object *given = NULL, *otherwise = sw_json_get(property, "default");
            bool exists = json_object_object_get_ex(value, name, &given);
            if (exists && (given || sw_structural_flag(property, "nullable")))
                continue;
            json_object_object_del(value, name); /* a null that is not allowed counts as missing */
            if (otherwise)
                json_object_object_add(value, name, sw_json_copy(otherwise));
        }
    }
    json_object_object_foreach(value, key, child)
    {
        json_object *child_schema = sw_structural_property(schema, key);
        if (child_schema)
            sw_structural_default(child, child_schema);
    }
}
