/* Objects that SRO or DAS wrote, by updates: their fields belong to its field manager, and those
 * that a recipe drops would never be removed. Before such an object is applied for the first time,
 * its fields are handed over to slipway's manager. Source: Kubernetes "Server-Side Apply",
 * transferring ownership; client-go's csaupgrade. */
#include "operator/controller/apply/apply.h"
#include "operator/controller/core.h"
#include "operator/manifests/ownership.h"

enum { MAX_TRIES = 8 };

/* The managedFields of @live with their entries made one of slipway's: a new list, the caller's;
 * NULL: they have none. Status is left out: on servers without entries for subresources it is in
 * the entry of the object. */
static struct json_object *inherit_managed_fields(struct json_object *live)
{
    struct json_object *list = sw_json_find(live, "metadata", "managedFields", NULL), *ours = NULL;
    SW_AUTO_JSON *out = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *entry = sw_json_at(list, i);
        if (!sw_entry_is_of_predecessor(entry)) {
            (void)json_object_array_add(out, json_object_get(entry));
            continue;
        }
        SW_AUTO_JSON *fields = sw_json_copy(sw_json_get(entry, "fieldsV1"));
        (void)sw_json_del(fields, "f:status", NULL);
        if (ours) {
            sw_fields_add(sw_json_get(ours, "fieldsV1"), fields);
            continue;
        }
        ours = sw_json_copy(entry);
        sw_json_set_str(ours, "slipway", "manager", NULL);
        sw_json_set_str(ours, "Apply", "operation", NULL);
        sw_json_set(ours, json_object_get(fields), "fieldsV1", NULL);
    }
    if (!ours)
        return NULL;
    (void)json_object_array_add(out, ours);
    return SW_TAKE(out);
}

/* ---- requests ----------------------------------------------------------------------------------
 */

static void on_handed_over(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    op->req = NULL;
    if ((a->code == SW_CONFLICT || a->code == SW_UNAVAILABLE) && op->n_tries++ < MAX_TRIES) {
        inherit_begin(op, op->more); /* it was changed meanwhile: read it again */
        return;
    }
    if (a->code < 0) /* only fields that a recipe drops later are not removed then */
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

struct json_object *inherit_patch(struct json_object *live)
{
    struct json_object *fields = inherit_managed_fields(live);
    if (!fields)
        return NULL;
    const char *version = sw_json_str(live, "", "metadata", "resourceVersion", NULL);
    struct json_object *patch = json_object_new_array();
    (void)json_object_array_add(patch, replace("/metadata/managedFields", fields));
    (void)json_object_array_add(
        patch, replace("/metadata/resourceVersion", json_object_new_string(version)));
    return patch;
}

static void on_read(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    const struct sw_kind *kind = op->more;
    op->req = NULL;
    SW_AUTO_JSON *patch = a->code < 0 ? NULL : inherit_patch(a->object);
    if (!patch) {
        op->apply(op, kind);
        return;
    }
    op->req = sw_kube_patch(op->r->c->kube, kind, kind->namespaced ? op->key.ns : NULL,
                            op->key.name, SW_PATCH_JSON, patch, REQUEST_AS(op->r), on_handed_over,
                            op);
}

void inherit_begin(struct op *op, const struct sw_kind *kind)
{
    op->more = (void *)kind; /* good as long as the client */
    op->req = sw_kube_get(op->r->c->kube, kind, kind->namespaced ? op->key.ns : NULL, op->key.name,
                          REQUEST_AS(op->r, .retries = 2), on_read, op);
}
