#include "emulator/apply/managed_fields.h"
#include "emulator/apply/apply.h"

#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/apply/fieldset.h"

static const char *const unowned_meta[] = {
    "f:name",
    "f:namespace",
    "f:creationTimestamp",
    "f:selfLink",
    "f:uid",
    "f:generation",
    "f:managedFields",
    "f:resourceVersion",
    "f:deletionTimestamp",
    "f:deletionGracePeriodSeconds",
    ".",
};

static bool is_unowned(const char *element)
{
    for (size_t i = 0; i < SW_COUNT(unowned_meta); i++)
        if (strcmp(element, unowned_meta[i]) == 0)
            return true;
    return false;
}

static json_object *strip_meta(json_object *set)
{
    json_object *out = json_object_new_object();
    json_object_object_foreach(set, element, child)
    {
        if (!is_unowned(element))
            json_object_object_add(out, element, json_object_get(child));
    }
    return out;
}

json_object *sw_managed_strip(json_object *set)
{
    if (!set)
        return NULL;
    json_object *out = json_object_new_object();
    json_object_object_foreach(set, element, child)
    {
        bool meta = strcmp(element, "f:metadata") == 0;
        if (strcmp(element, "f:apiVersion") == 0 || strcmp(element, "f:kind") == 0 ||
            strcmp(element, ".") == 0)
            continue;
        json_object *own = meta ? strip_meta(child) : json_object_get(child);
        if (meta && json_object_object_length(own) == 0)
            json_object_put(own);
        else
            json_object_object_add(out, element, own);
    }
    json_object_put(set);
    if (json_object_object_length(out) > 0)
        return out;
    json_object_put(out);
    return NULL;
}

static bool is_entry(json_object *entry, const char *manager, const char *operation,
                     const char *api_version, const char *subresource)
{
    return strcmp(sw_json_str(entry, "", "manager", NULL), manager) == 0 &&
           strcmp(sw_json_str(entry, "", "operation", NULL), operation) == 0 &&
           strcmp(sw_json_str(entry, "", "subresource", NULL), subresource ? subresource : "") ==
               0 &&
           (!api_version || strcmp(sw_json_str(entry, "", "apiVersion", NULL), api_version) == 0);
}

json_object *sw_managed_find(json_object *doc, const char *manager, const char *operation,
                             const char *api_version, const char *subresource)
{
    json_object *list = sw_json_find(doc, "metadata", "managedFields", NULL);
    for (size_t i = 0; i < sw_json_len(list); i++)
        if (is_entry(sw_json_at(list, i), manager, operation, api_version, subresource))
            return sw_json_at(list, i);
    return NULL;
}

/* The version that the caller used, as an entry says it. */
static char *version_of(const struct sw_write *w)
{
    return sw_kind_api_version(w->kind, w->opts->version);
}

bool sw_managed_is_own(const struct sw_write *w, const char *operation, json_object *entry)
{
    SW_AUTO_CHARS *version = version_of(w);
    bool apply = strcmp(operation, "Apply") == 0;
    return is_entry(entry, sw_write_manager(w), operation, apply ? NULL : version, w->subresource);
}

/* The list of entries in w->doc, as a copy that may be changed. */
static json_object *own_list(struct sw_write *w)
{
    json_object *list = sw_json_find(w->doc, "metadata", "managedFields", NULL);
    json_object *copy = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(list); i++)
        json_object_array_add(copy, json_object_get(sw_json_at(list, i)));
    return copy;
}

static void put_list(struct sw_write *w, json_object *list)
{
    if (json_object_array_length(list) > 0) {
        sw_json_set(w->doc, list, "metadata", "managedFields", NULL);
        return;
    }
    (void)sw_json_del(w->doc, "metadata", "managedFields", NULL);
    json_object_put(list);
}

static json_object *new_entry(struct sw_write *w, const char *operation, json_object *fields)
{
    char now[21];
    SW_AUTO_CHARS *version = version_of(w);
    json_object *entry = json_object_new_object();
    sw_json_set_str(entry, sw_write_manager(w), "manager", NULL);
    sw_json_set_str(entry, operation, "operation", NULL);
    sw_json_set_str(entry, version, "apiVersion", NULL);
    sw_json_set_str(entry, sw_store_time(w->store, now), "time", NULL);
    sw_json_set_str(entry, "FieldsV1", "fieldsType", NULL);
    sw_json_set(entry, fields, "fieldsV1", NULL);
    if (w->subresource)
        sw_json_set_str(entry, w->subresource, "subresource", NULL);
    return entry;
}

void sw_managed_set(struct sw_write *w, const char *operation, json_object *fields)
{
    json_object *list = own_list(w), *entry = fields ? new_entry(w, operation, fields) : NULL;
    for (size_t i = 0; i < json_object_array_length(list); i++) {
        if (!sw_managed_is_own(w, operation, json_object_array_get_idx(list, i)))
            continue;
        (void)json_object_array_del_idx(list, i, 1);
        break;
    }
    if (entry)
        json_object_array_add(list, entry);
    put_list(w, list);
}

/* Entries are shared between the versions of an object: never changed, only replaced. */
static json_object *with_fields(json_object *entry, json_object *fields)
{
    json_object *out = json_object_new_object();
    json_object_object_foreach(entry, key, value)
    {
        json_object_object_add(out, key, json_object_get(value));
    }
    json_object_object_add(out, "fieldsV1", fields);
    return out;
}

void sw_managed_take(struct sw_write *w, const char *operation, json_object *fields)
{
    json_object *old = sw_json_find(w->doc, "metadata", "managedFields", NULL);
    json_object *list = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(old); i++) {
        json_object *entry = sw_json_at(old, i), *set = sw_json_get(entry, "fieldsV1");
        json_object *left = sw_managed_is_own(w, operation, entry) ? json_object_get(set)
                                                                   : sw_fields_drop(set, fields);
        if (left && !sw_json_equal(left, set)) {
            json_object_array_add(list, with_fields(entry, left));
        } else if (left) {
            json_object_array_add(list, json_object_get(entry));
            json_object_put(left);
        }
    }
    put_list(w, list);
}

void sw_managed_update(struct sw_write *w)
{
    json_object *added, *touched;
    struct sw_cursor root = sw_cursor_root(w->kind, NULL);
    sw_fields_diff(w->old, w->doc, &root, &added, &touched);
    if (!w->old) /* all is new; touched is everything */
        json_object_put(SW_TAKE(touched));
    added = sw_managed_strip(added);
    touched = sw_managed_strip(touched);
    if (touched)
        sw_managed_take(w, "Update", touched);
    if (added) {
        SW_AUTO_CHARS *version = version_of(w);
        json_object *entry = sw_managed_find(w->doc, sw_write_manager(w), "Update", version,
                                             w->subresource);
        sw_managed_set(w, "Update", sw_fields_union(sw_json_get(entry, "fieldsV1"), added));
    }
    json_object_put(added);
    json_object_put(touched);
}
