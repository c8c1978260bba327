#include <string.h>

#include "base/base.h"
#include "base/loop.h"
#include "data/data.h"
#include "emulator/store/change.h"
#include "emulator/store/status.h"

/* The fields of metadata in the order in which they are kept; all others are dropped. */
static const struct {
    const char *key;
    bool system; /* set by the server: a client's value is ignored */
} meta_fields[] = {
    { "name", false },
    { "generateName", false },
    { "namespace", false },
    { "uid", true },
    { "resourceVersion", true },
    { "generation", true },
    { "creationTimestamp", true },
    { "deletionTimestamp", true },
    { "deletionGracePeriodSeconds", true },
    { "labels", false },
    { "annotations", false },
    { "ownerReferences", false },
    { "finalizers", false },
    { "managedFields", false },
};

json_object *sw_meta_order_root(json_object *doc, const char *api_version, const char *kind)
{
    json_object *out = json_object_new_object();
    sw_json_set_str(out, api_version, "apiVersion", NULL);
    sw_json_set_str(out, kind, "kind", NULL);
    json_object *meta = sw_json_find(doc, "metadata", NULL);
    json_object_object_add(out, "metadata",
                           json_object_is_type(meta, json_type_object) ? json_object_get(meta)
                                                                       : json_object_new_object());
    json_object_object_foreach(doc, key, value)
    {
        if (strcmp(key, "apiVersion") != 0 && strcmp(key, "kind") != 0 &&
            strcmp(key, "metadata") != 0)
            json_object_object_add(out, key, json_object_get(value));
    }
    json_object_put(doc);
    return out;
}

json_object *sw_meta_copy(json_object *doc)
{
    json_object *managed = sw_json_find(doc, "metadata", "managedFields", NULL);
    json_object *bare = sw_meta_without_managed(doc), *copy = sw_json_copy(bare);
    json_object_put(bare);
    if (managed)
        sw_json_set(copy, json_object_get(managed), "metadata", "managedFields", NULL);
    return copy;
}

json_object *sw_meta_without_managed(json_object *doc)
{
    json_object *meta = sw_json_get(doc, "metadata");
    if (!sw_json_get(meta, "managedFields"))
        return json_object_get(doc);
    json_object *out = sw_doc_shallow_copy(doc), *rest = sw_doc_shallow_copy(meta);
    json_object_object_del(rest, "managedFields");
    json_object_object_add(out, "metadata", rest);
    return out;
}

/* Replace the metadata of @doc: the client's fields stay, the server's come from @old (NULL: none).
 * Empty values are left out. */
static void rebuild(json_object *doc, json_object *old)
{
    json_object *given = sw_json_find(doc, "metadata", NULL);
    json_object *meta = json_object_new_object();
    for (size_t i = 0; i < SW_COUNT(meta_fields); i++) {
        json_object *from = meta_fields[i].system ? sw_json_find(old, "metadata", NULL) : given;
        json_object *value = sw_json_get(from, meta_fields[i].key);
        bool empty_text = json_object_is_type(value, json_type_string) &&
                          json_object_get_string_len(value) == 0;
        if (!empty_text && !sw_doc_is_empty(value))
            json_object_object_add(meta, meta_fields[i].key, json_object_get(value));
    }
    json_object_object_add(doc, "metadata", meta);
}

/* Check the namespace of the document, and set it where it is missing. */
static int meta_namespace(struct sw_write *w)
{
    const char *given = sw_obj_namespace(w->doc);
    bool namespaced = w->kind->namespaced;
    if (!namespaced) { /* as a server: what is given is cleared */
        (void)sw_json_del(w->doc, "metadata", "namespace", NULL);
        return 0;
    }
    if (given[0] && w->ns[0] && strcmp(given, w->ns) != 0)
        return sw_status_bad_request(w->status, "the namespace of the provided object does not "
                                                "match the namespace sent on the request");
    if (given[0])
        return 0;
    if (!w->ns[0])
        return sw_status_bad_request(w->status, "namespace is required for %s", w->kind->plural);
    sw_json_set_str(w->doc, w->ns, "metadata", "namespace", NULL);
    return 0;
}

int sw_meta_create(struct sw_write *w)
{
    if (sw_json_str(w->doc, "", "metadata", "resourceVersion", NULL)[0])
        return sw_status_bad_request(w->status,
                                     "resourceVersion should not be set on objects to be created");
    int rc = meta_namespace(w);
    if (rc < 0)
        return rc;
    const char *prefix = sw_json_str(w->doc, "", "metadata", "generateName", NULL);
    if (!sw_obj_name(w->doc)[0] && prefix[0]) {
        char suffix[6] = "";
        for (int i = 0; i < 5; i++)
            suffix[i] = SW_NAME_LETTER(sw_store_random(w->store));
        SW_AUTO_CHARS *name = sw_printf("%.*s%s", 253 - 5, prefix, suffix);
        sw_json_set_str(w->doc, name, "metadata", "name", NULL);
    }
    rebuild(w->doc, NULL);
    char uid[37], now[21];
    json_object *meta = sw_json_find(w->doc, "metadata", NULL);
    sw_json_set_str(meta, sw_store_uid(w->store, uid), "uid", NULL);
    sw_json_set_str(meta, "0", "resourceVersion", NULL); /* keeps its place */
    if (sw_kind_has_generation(w->kind))
        sw_json_set(meta, json_object_new_int64(1), "generation", NULL);
    sw_json_set_str(meta, sw_store_time(w->store, now), "creationTimestamp", NULL);
    rebuild(w->doc, w->doc);
    w->ns = sw_obj_namespace(w->doc);
    w->name = sw_obj_name(w->doc);
    return 0;
}

static int check_version(struct sw_write *w)
{
    const char *kind = w->kind->kind;
    const char *given = sw_json_str(w->doc, "", "metadata", "resourceVersion", NULL);
    const char *now = sw_json_str(w->old, "", "metadata", "resourceVersion", NULL);
    bool required = !w->kind->builtin || strcmp(kind, "Lease") == 0 ||
                    strcmp(kind, "CustomResourceDefinition") == 0 ||
                    strcmp(kind, "APIService") == 0;
    if (!given[0] && required) {
        SW_FIELD_ERRORS(errors);
        sw_field_error_raw(&errors, SW_FIELD_INVALID, "metadata.resourceVersion", "0x0",
                           "must be specified for an update");
        return sw_status_invalid(w->status, w->kind, w->name, &errors);
    }
    if (given[0] && strcmp(given, now) != 0)
        return sw_status_modified(w->status, w->kind, w->name);
    const char *uid = sw_obj_uid(w->doc), *own = sw_obj_uid(w->old);
    if (uid[0] && strcmp(uid, own) != 0)
        return sw_status_conflict(w->status, w->kind, w->name,
                                  "Precondition failed: UID in precondition: %s, "
                                  "UID in object meta: %s",
                                  uid, own);
    return 0;
}

int sw_meta_update(struct sw_write *w)
{
    int rc = meta_namespace(w);
    if (rc < 0)
        return rc;
    rc = check_version(w);
    if (rc < 0)
        return rc;
    json_object *given = sw_json_find(w->doc, "metadata", "managedFields", NULL);
    json_object *kept = sw_json_find(w->old, "metadata", "managedFields", NULL);
    if (kept && given != kept && (!given || sw_json_equal(given, kept)))
        sw_json_set(w->doc, json_object_get(kept), "metadata", "managedFields", NULL);
    rebuild(w->doc, w->old);
    return 0;
}

static size_t find_finalizer(json_object *list, const char *finalizer)
{
    size_t n = sw_json_len(list);
    for (size_t i = 0; i < n; i++)
        if (sw_streq(json_object_get_string(sw_json_at(list, i)), finalizer))
            return i;
    return n;
}

bool sw_meta_has_finalizer(json_object *doc, const char *finalizer)
{
    json_object *list = sw_json_find(doc, "metadata", "finalizers", NULL);
    return find_finalizer(list, finalizer) < sw_json_len(list);
}

void sw_meta_add_finalizer(json_object *doc, const char *finalizer)
{
    if (!sw_meta_has_finalizer(doc, finalizer))
        json_object_array_add(sw_json_need_list(doc, "metadata", "finalizers", NULL),
                              json_object_new_string(finalizer));
}

void sw_meta_drop_finalizer(json_object *doc, const char *finalizer)
{
    json_object *list = sw_json_find(doc, "metadata", "finalizers", NULL);
    size_t i = find_finalizer(list, finalizer);
    if (i < sw_json_len(list))
        (void)json_object_array_del_idx(list, i, 1);
    if (list && sw_json_len(list) == 0)
        (void)sw_json_del(doc, "metadata", "finalizers", NULL);
}
