#include "emulator/apply/managed_fields.h"
#include "emulator/apply/apply.h"

#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/apply/fieldset.h"

/* Whether @set has the form of fieldsV1: maps whose keys are path elements. */
static bool is_set(json_object *set)
{
    if (!json_object_is_type(set, json_type_object))
        return false;
    json_object_object_foreach(set, element, child)
    {
        bool prefixed = element[0] && strchr("fkvi", element[0]) && element[1] == ':';
        if ((!prefixed && strcmp(element, ".") != 0) || !is_set(child))
            return false;
    }
    return true;
}

void sw_managed_check(struct sw_write *w)
{
    json_object *list = sw_json_find(w->doc, "metadata", "managedFields", NULL);
    if (!list || list == sw_json_find(w->old, "metadata", "managedFields", NULL))
        return;
    bool readable = json_object_is_type(list, json_type_array);
    for (size_t i = 0; readable && i < json_object_array_length(list); i++)
        readable = is_set(sw_json_get(sw_json_at(list, i), "fieldsV1"));
    if (!readable)
        (void)sw_json_del(w->doc, "metadata", "managedFields", NULL);
}

/* The set without some elements, @names, which ends with NULL. NULL where nothing is left. */
static json_object *without(json_object *set, const char *const *names)
{
    json_object *out = sw_doc_shallow_copy(set);
    for (; *names; names++)
        json_object_object_del(out, *names);
    if (json_object_object_length(out) > 0)
        return out;
    json_object_put(out);
    return NULL;
}

json_object *sw_managed_strip(json_object *set)
{
    static const char *const unowned[] = { "f:apiVersion", "f:kind", ".", NULL };
    static const char *const unowned_metadata[] = { "f:name",
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
                                                    NULL };
    static const char *const metadata[] = { "f:metadata", NULL };
    SW_AUTO_JSON *rest = set ? without(set, unowned) : NULL;
    json_object_put(set);
    json_object *meta = sw_json_get(rest, metadata[0]);
    json_object *owned = meta ? without(meta, unowned_metadata) : NULL;
    if (meta && !owned)
        return without(rest, metadata);
    if (owned)
        json_object_object_add(rest, metadata[0], owned);
    return SW_TAKE(rest);
}

bool sw_managed_is_own(const struct sw_write *w, const char *operation, json_object *entry)
{
    SW_AUTO_CHARS *version = sw_kind_api_version(w->kind, w->opts->version);
    const char *subresource = w->subresource ? w->subresource : "";
    return strcmp(sw_json_str(entry, "", "manager", NULL), sw_write_manager(w)) == 0 &&
           strcmp(sw_json_str(entry, "", "operation", NULL), operation) == 0 &&
           strcmp(sw_json_str(entry, "", "subresource", NULL), subresource) == 0 &&
           (strcmp(operation, "Apply") == 0 ||
            strcmp(sw_json_str(entry, "", "apiVersion", NULL), version) == 0);
}

json_object *sw_managed_find(const struct sw_write *w, json_object *doc, const char *operation)
{
    json_object *list = sw_json_find(doc, "metadata", "managedFields", NULL);
    for (size_t i = 0; i < sw_json_len(list); i++)
        if (sw_managed_is_own(w, operation, sw_json_at(list, i)))
            return sw_json_get(sw_json_at(list, i), "fieldsV1");
    return NULL;
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

void sw_managed_set(struct sw_write *w, const char *operation, json_object *fields)
{
    char now[21];
    SW_AUTO_CHARS *version = sw_kind_api_version(w->kind, w->opts->version);
    json_object *old = sw_json_find(w->doc, "metadata", "managedFields", NULL);
    json_object *list = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(old); i++)
        if (!sw_managed_is_own(w, operation, sw_json_at(old, i)))
            json_object_array_add(list, json_object_get(sw_json_at(old, i)));
    if (fields)
        json_object_array_add(list,
                              sw_doc_new("manager", sw_str(sw_write_manager(w)), "operation",
                                         sw_str(operation), "apiVersion", sw_str(version), "time",
                                         sw_str(sw_store_time(w->store, now)), "fieldsType",
                                         sw_str("FieldsV1"), "fieldsV1", fields, "subresource",
                                         w->subresource ? sw_str(w->subresource) : NULL, NULL));
    put_list(w, list);
}

void sw_managed_take(struct sw_write *w, const char *operation, json_object *fields)
{
    json_object *old = sw_json_find(w->doc, "metadata", "managedFields", NULL);
    json_object *list = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(old); i++) {
        json_object *entry = sw_json_at(old, i), *set = sw_json_get(entry, "fieldsV1");
        SW_AUTO_JSON *left = sw_managed_is_own(w, operation, entry) ? json_object_get(set)
                                                                    : sw_fields_drop(set, fields);
        if (left && !sw_json_equal(left, set)) {
            entry = sw_doc_shallow_copy(entry); /* versions of the object share entries */
            json_object_object_add(entry, "fieldsV1", SW_TAKE(left));
            json_object_array_add(list, entry);
        } else if (left) {
            json_object_array_add(list, json_object_get(entry));
        }
    }
    put_list(w, list);
}

void sw_managed_update(struct sw_write *w)
{
    json_object *added, *touched;
    struct sw_cursor root = sw_cursor_root(w->kind, NULL);
    sw_fields_diff(w->old, w->doc, &root, &added, &touched);
    added = sw_managed_strip(added);
    touched = sw_managed_strip(touched);
    if (touched && w->old)
        sw_managed_take(w, "Update", touched);
    /* what is not there any more is nobody's, nor the writer's */
    json_object *own = sw_managed_find(w, w->doc, "Update");
    SW_AUTO_JSON *removed = sw_fields_minus(touched, added);
    SW_AUTO_JSON *left = removed ? sw_fields_drop(own, removed) : json_object_get(own);
    if (added || !sw_json_equal(left, own))
        sw_managed_set(w, "Update", sw_fields_union(left, added));
    json_object_put(added);
    json_object_put(touched);
}
