#include "operator/manifests/ownership.h"

#include <json-c/json.h>

#include "data/data.h"
#include "operator/manifests/hooks.h"

#define RESOURCE_MARK "slipway.dev/resource"

static bool take_off(struct json_object *body, struct json_object *live, const char *where,
                     const char *key)
{
    if (!sw_json_find(live, "metadata", where, key, NULL))
        return false;
    sw_json_set(body, NULL, "metadata", where, key, NULL);
    return true;
}

struct json_object *sw_owners_without(struct json_object *live, const char *uid)
{
    struct json_object *owners = sw_json_find(live, "metadata", "ownerReferences", NULL);
    struct json_object *others = json_object_new_array();
    bool found = false;
    for (size_t i = 0; i < sw_json_len(owners); i++) {
        struct json_object *owner = sw_json_at(owners, i);
        if (sw_streq(sw_json_str(owner, "", "uid", NULL), uid))
            found = true;
        else
            (void)json_object_array_add(others, json_object_get(owner));
    }
    if (found)
        return others;
    json_object_put(others);
    return NULL;
}

struct json_object *sw_ownership_release(struct json_object *live, const char *uid)
{
    static const char *const annotations[] = { SW_SRO_PREFIX "hash", RESOURCE_MARK,
                                               "slipway.dev/adopted", "slipway.dev/adopt" };
    struct json_object *body = json_object_new_object(), *owners = sw_owners_without(live, uid);
    bool any = take_off(body, live, "labels", SW_OWNED_LABEL);
    for (size_t i = 0; i < SW_COUNT(annotations); i++)
        any = take_off(body, live, "annotations", annotations[i]) || any;
    if (owners)
        sw_json_set(body, owners, "metadata", "ownerReferences", NULL);
    if (any || owners) {
        sw_json_set_str(body, sw_json_str(live, "", "metadata", "resourceVersion", NULL),
                        "metadata", "resourceVersion", NULL);
        return body;
    }
    json_object_put(body);
    return NULL;
}

struct json_object *sw_ownership_keep(struct json_object *live, const char *uid,
                                      const char *release)
{
    struct json_object *body = sw_ownership_release(live, uid);
    if (!body)
        body = json_object_new_object();
    sw_json_set_str(body, release, "metadata", "annotations", SW_KEPT_NOTE, NULL);
    return body;
}

struct json_object *sw_ownership_hand_over(struct json_object *live, const char *uid,
                                           const char *name, struct json_object *heir)
{
    struct json_object *owners = sw_json_find(live, "metadata", "ownerReferences", NULL);
    struct json_object *body = json_object_new_object(), *fresh = json_object_new_array();
    bool owned = false, marked = sw_streq(sw_obj_annotation(live, RESOURCE_MARK), name);
    for (size_t i = 0; i < sw_json_len(owners); i++) {
        struct json_object *owner = sw_json_copy(sw_json_at(owners, i));
        if (sw_streq(sw_json_str(owner, "", "uid", NULL), uid)) {
            owned = true;
            sw_json_set_str(owner, sw_json_str(heir, "", "name", NULL), "name", NULL);
            sw_json_set_str(owner, sw_json_str(heir, "", "uid", NULL), "uid", NULL);
        }
        (void)json_object_array_add(fresh, owner);
    }
    if (owned)
        sw_json_set(body, fresh, "metadata", "ownerReferences", NULL);
    else
        json_object_put(fresh);
    if (marked)
        sw_json_set_str(body, sw_json_str(heir, "", "name", NULL), "metadata", "annotations",
                        RESOURCE_MARK, NULL);
    if (owned || marked) {
        sw_json_set_str(body, sw_json_str(live, "", "metadata", "resourceVersion", NULL),
                        "metadata", "resourceVersion", NULL);
        return body;
    }
    json_object_put(body);
    return NULL;
}

/* ---- fields -------------------------------------------------------------------------------------
 */

/* Field managers of SRO and DAS, which the server took from their user agents. */
static const char *const managers[] = { "manager", "special-resource-operator", "das-operator" };

bool sw_entry_is_of_predecessor(struct json_object *entry)
{
    const char *manager = sw_json_str(entry, "", "manager", NULL);
    bool update = sw_streq(sw_json_str(entry, "", "operation", NULL), "Update") &&
                  !*sw_json_str(entry, "", "subresource", NULL);
    for (size_t i = 0; update && i < SW_COUNT(managers); i++)
        if (sw_streq(manager, managers[i]))
            return true;
    return false;
}

void sw_fields_add(struct json_object *to, struct json_object *from)
{
    if (!json_object_is_type(from, json_type_object))
        return;
    json_object_object_foreach(from, key, value)
    {
        struct json_object *there = sw_json_get(to, key);
        if (there)
            sw_fields_add(there, value);
        else
            sw_json_set(to, sw_json_copy(value), key, NULL);
    }
}

static struct json_object *replace(const char *path, struct json_object *value)
{
    struct json_object *doc = json_object_new_object();
    sw_json_set_str(doc, "replace", "op", NULL);
    sw_json_set_str(doc, path, "path", NULL);
    sw_json_set(doc, value, "value", NULL);
    return doc;
}

struct json_object *sw_ownership_take_fields(struct json_object *live,
                                             bool (*is_theirs)(struct json_object *entry),
                                             const char *manager)
{
    struct json_object *list = sw_json_find(live, "metadata", "managedFields", NULL), *ours = NULL;
    SW_AUTO_JSON *out = json_object_new_array();
    bool takes = false;
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *entry = sw_json_at(list, i);
        bool is_ours = sw_streq(sw_json_str(entry, "", "manager", NULL), manager) &&
                       sw_streq(sw_json_str(entry, "", "operation", NULL), "Apply") &&
                       !*sw_json_str(entry, "", "subresource", NULL),
             theirs = is_theirs(entry);
        if (!is_ours && !theirs) {
            (void)json_object_array_add(out, json_object_get(entry));
            continue;
        }
        takes = takes || theirs;
        SW_AUTO_JSON *fields = sw_json_copy(sw_json_get(entry, "fieldsV1"));
        (void)sw_json_del(fields, "f:status", NULL);
        if (ours) {
            sw_fields_add(sw_json_get(ours, "fieldsV1"), fields);
            continue;
        }
        ours = sw_json_copy(entry);
        sw_json_set_str(ours, manager, "manager", NULL);
        sw_json_set_str(ours, "Apply", "operation", NULL);
        sw_json_set(ours, json_object_get(fields), "fieldsV1", NULL);
    }
    if (ours)
        (void)json_object_array_add(out, ours);
    if (!takes)
        return NULL;
    struct json_object *patch = json_object_new_array();
    (void)json_object_array_add(patch, replace("/metadata/managedFields", SW_TAKE(out)));
    (void)json_object_array_add(
        patch,
        replace("/metadata/resourceVersion", json_object_new_string(sw_json_str(
                                                 live, "", "metadata", "resourceVersion", NULL))));
    return patch;
}
