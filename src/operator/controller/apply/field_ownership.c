/* What SRO left behind was written by whole-object updates: the server holds its fields as those of
 * another manager, and what a recipe drops would stay for ever. Before such an object is applied
 * for the first time its fields are handed over to slipway.
 * Source: Kubernetes "Server-Side Apply", transferring ownership; client-go's csaupgrade. */
#include "operator/controller/apply/apply.h"
#include "operator/controller/core.h"

/* SRO's program, as the server took it from the user agent. */
static const char *const managers[] = { "manager", "special-resource-operator" };

enum { MAX_TRIES = 8 };

static bool is_handed_over(struct json_object *entry)
{
    const char *who = sw_json_str(entry, "", "manager", NULL);
    bool update = sw_streq(sw_json_str(entry, "", "operation", NULL), "Update") &&
                  !*sw_json_str(entry, "", "subresource", NULL);
    for (size_t i = 0; update && i < SW_COUNT(managers); i++)
        if (sw_streq(who, managers[i]))
            return true;
    return false;
}

/* Sets of fields are maps of maps: their union. */
static void add_fields(struct json_object *to, struct json_object *from)
{
    if (!json_object_is_type(from, json_type_object))
        return;
    json_object_object_foreach(from, key, value)
    {
        struct json_object *there = sw_json_get(to, key);
        if (there)
            add_fields(there, value);
        else
            (void)json_object_object_add(to, key, sw_json_copy(value));
    }
}

/* Status is not slipway's to own; on servers without entries of subresources it stands with the
 * rest. */
static struct json_object *handed_over(struct json_object *entry)
{
    struct json_object *fields = sw_json_copy(sw_json_get(entry, "fieldsV1"));
    if (json_object_is_type(fields, json_type_object))
        json_object_object_del(fields, "f:status");
    return fields;
}

/* @live's managedFields with SRO's handed to @manager: a new list, the caller's; NULL: SRO has none
 * there. */
static struct json_object *inherit_managed_fields(struct json_object *live, const char *manager)
{
    struct json_object *list = sw_json_find(live, "metadata", "managedFields", NULL),
                       *out = json_object_new_array(), *ours = NULL;
    bool any = false;
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *entry = sw_json_at(list, i);
        if (!is_handed_over(entry)) {
            (void)json_object_array_add(out, json_object_get(entry));
            continue;
        }
        any = true;
        SW_AUTO_JSON *fields = handed_over(entry);
        if (ours) {
            add_fields(sw_json_get(ours, "fieldsV1"), fields);
            continue;
        }
        ours = sw_json_copy(entry);
        sw_json_set_str(ours, manager, "manager", NULL);
        sw_json_set_str(ours, "Apply", "operation", NULL);
        sw_json_set(ours, json_object_get(fields), "fieldsV1", NULL);
    }
    if (ours)
        (void)json_object_array_add(out, ours);
    if (any)
        return out;
    json_object_put(out);
    return NULL;
}

/* ---- requests ----------------------------------------------------------------------------------
 */

static void on_handed_over(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    op->req = NULL;
    if ((a->code == SW_CONFLICT || a->code == SW_UNAVAILABLE) && op->n_tries++ < MAX_TRIES) {
        inherit_begin(op, op->more); /* somebody wrote meanwhile: look again */
        return;
    }
    if (a->code < 0) /* what a recipe drops later stays then; the apply itself does not suffer */
        sw_log(SW_LOG_WARN, "fields not taken over", "resource", op->r->name, "object",
               op->key.name, "error", sw_err_text(a->err), NULL);
    op->apply(op, op->more);
}

static struct json_object *replace(const char *path, struct json_object *value)
{
    struct json_object *doc = json_object_new_object();
    sw_json_set_str(doc, "replace", "op", NULL);
    sw_json_set_str(doc, path, "path", NULL);
    sw_json_set(doc, value, "value", NULL);
    return doc;
}

static void on_read(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    const struct sw_kind *kind = op->more;
    op->req = NULL;
    struct json_object *fields = a->code < 0 ? NULL : inherit_managed_fields(a->object, "slipway");
    if (!fields) {
        op->apply(op, kind);
        return;
    }
    const char *version = sw_json_str(a->object, "", "metadata", "resourceVersion", NULL);
    struct json_object *patch = json_object_new_array();
    (void)json_object_array_add(patch, replace("/metadata/managedFields", fields));
    (void)json_object_array_add(
        patch, replace("/metadata/resourceVersion", json_object_new_string(version)));
    op->req = sw_kube_patch(op->r->c->kube, kind, kind->namespaced ? op->key.ns : NULL,
                            op->key.name, SW_PATCH_JSON, patch, NULL, on_handed_over, op);
    json_object_put(patch);
}

void inherit_begin(struct op *op, const struct sw_kind *kind)
{
    op->more = (void *)kind; /* good as long as the client */
    op->req = sw_kube_get(op->r->c->kube, kind, kind->namespaced ? op->key.ns : NULL, op->key.name,
                          &(struct sw_request_opts){ .retries = 2 }, on_read, op);
}
