#include "emulator/write/write.h"

#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/admission/admission.h"
#include "emulator/admission/policies.h"
#include "emulator/admission/webhook.h"
#include "emulator/apply/apply.h"
#include "emulator/apply/field_types.h"
#include "emulator/apply/unknown_fields.h"
#include "emulator/schema/crd.h"
#include "emulator/store/change.h"
#include "emulator/store/status.h"

/* Decoding a built-in kind drops null fields. */
static void drop_nulls(json_object *value)
{
    if (json_object_is_type(value, json_type_array)) {
        for (size_t i = 0; i < json_object_array_length(value); i++)
            drop_nulls(json_object_array_get_idx(value, i));
        return;
    }
    if (!json_object_is_type(value, json_type_object))
        return;
    struct json_object_iterator it = json_object_iter_begin(value);
    struct json_object_iterator end = json_object_iter_end(value);
    while (!json_object_iter_equal(&it, &end)) {
        const char *key = json_object_iter_peek_name(&it);
        json_object *child = json_object_iter_peek_value(&it);
        json_object_iter_next(&it);
        if (child)
            drop_nulls(child);
        else
            json_object_object_del(value, key);
    }
}

static int decode(struct sw_write *w, json_object *doc)
{
    json_object_put(w->doc);
    w->doc = doc;
    if (!json_object_is_type(doc, json_type_object))
        return sw_status_bad_request(w->status, "the object provided is unrecognized (must be "
                                                "an object)");
    SW_AUTO_CHARS *api_version = sw_kind_api_version(w->kind, NULL);
    w->doc = sw_meta_order_root(doc, api_version, w->kind->kind);
    sw_managed_check(w);
    int rc = sw_typed_check(w->kind, w->opts->version, w->doc, w->status);
    if (rc < 0)
        return rc;
    if (w->kind->crd)
        return sw_crd_decode(w);
    drop_nulls(w->doc);
    sw_unknown_fields_drop(w->kind, sw_store_minor(w->store), w->doc);
    return 0;
}

/* Take the document that a webhook returned, with the identity of the object as it was. */
static int redecode(struct sw_write *w, json_object *doc)
{
    static const char *const fixed[] = { "name", "namespace", "uid", "creationTimestamp" };
    SW_AUTO_JSON *before = json_object_get(w->doc);
    for (size_t i = 0; i < SW_COUNT(fixed); i++) {
        json_object *value = sw_json_find(before, "metadata", fixed[i], NULL);
        if (value)
            sw_json_set(doc, json_object_get(value), "metadata", fixed[i], NULL);
    }
    int rc = decode(w, doc);
    w->name = sw_obj_name(w->doc);
    w->ns = w->kind->namespaced ? sw_obj_namespace(w->doc) : w->ns;
    if (rc == 0)
        sw_defaults(w);
    return rc;
}

/* Whether both are equal, without regard to the resourceVersion. */
static bool same_but_version(json_object *a, json_object *b)
{
    size_t n = 0;
    json_object_object_foreach(a, key, value)
    {
        if (strcmp(key, "metadata") == 0)
            continue;
        if (!sw_json_equal(value, sw_json_get(b, key)))
            return false;
        n++;
    }
    if ((size_t)json_object_object_length(b) != n + 1)
        return false;
    json_object *meta_a = sw_json_get(a, "metadata"), *meta_b = sw_json_get(b, "metadata");
    if (json_object_object_length(meta_a) != json_object_object_length(meta_b))
        return false;
    json_object_object_foreach(meta_a, field, was)
    {
        if (strcmp(field, "resourceVersion") != 0 &&
            !sw_json_equal(was, sw_json_get(meta_b, field)))
            return false;
    }
    return true;
}

static int give(json_object *doc, json_object **out)
{
    if (out)
        *out = json_object_get(doc);
    return 0;
}

bool sw_write_is_held(const struct sw_write *w)
{
    return sw_json_len(sw_json_find(w->doc, "metadata", "finalizers", NULL)) > 0 ||
           (sw_write_is(w, "", "Namespace") &&
            sw_json_len(sw_json_find(w->doc, "spec", "finalizers", NULL)) > 0);
}

int sw_write_remove(struct sw_write *w, json_object **out)
{
    (void)give(w->doc, out);
    if (!w->opts->dry_run)
        sw_store_remove(w->store, SW_TAKE(w->object), SW_TAKE(w->doc));
    return 0;
}

int sw_write_store_update(struct sw_write *w, json_object **out)
{
    if (sw_doc_is_deleted(w->doc) && !sw_write_is_held(w) &&
        sw_json_int(w->doc, 0, "metadata", "deletionGracePeriodSeconds", NULL) == 0)
        return sw_write_remove(w, out);
    if (w->opts->dry_run)
        return give(w->doc, out);
    if (!same_but_version(w->doc, w->old))
        (void)sw_store_commit(w->store, w->kind, w->object, SW_TAKE(w->doc));
    return give(w->object->now->doc, out);
}

/* The stages of a create or update, in order. Takes @doc. */
static int run(struct sw_write *w, json_object *doc, json_object **out)
{
    bool create = w->op == SW_OP_CREATE;
    w->redecode = redecode;
    int rc = decode(w, doc);
    if (rc == 0)
        rc = create ? sw_meta_create(w) : sw_meta_update(w);
    if (rc < 0)
        return rc;
    if (create)
        sw_strategy_create(w);
    else
        sw_strategy_update(w);
    if (w->kind->crd && create)
        sw_crd_default(w);
    sw_defaults(w);
    rc = sw_admit_mutate(w);
    if (rc == 0)
        rc = sw_webhooks_mutate(w);
    if (rc == 0 && w->opts->guard)
        rc = w->opts->guard(w->kind, w->ns, w->doc, w->old, w->status, w->opts->guard_arg);
    if (rc < 0)
        return rc;
    sw_strategy_generation(w);
    rc = sw_validate(w);
    if (rc == 0)
        rc = sw_admit_validate(w);
    if (rc == 0)
        rc = sw_policies_validate(w);
    if (rc == 0)
        rc = sw_webhooks_validate(w);
    if (rc < 0)
        return rc;
    if (!w->patch)
        sw_managed_update(w);
    if (!create)
        return sw_write_store_update(w, out);
    if (sw_store_object(w->store, w->kind, w->ns, w->name))
        return sw_status_exists(w->status, w->kind, w->name);
    if (w->opts->dry_run) {
        (void)sw_json_del(w->doc, "metadata", "resourceVersion", NULL);
        return give(w->doc, out);
    }
    w->object = sw_store_commit(w->store, w->kind, NULL, SW_TAKE(w->doc));
    return give(w->object->now->doc, out);
}

/* ---- the calls ----------------------------------------------------------------------------------
 */

int sw_write_create(struct sw_store *store, const struct sw_emu_kind *kind, const char *ns,
                    json_object *doc, const struct sw_store_opts *opts, json_object **out,
                    struct sw_status *status)
{
    struct sw_write w;
    sw_write_init(&w, store, kind, ns, opts, status);
    int rc = run(&w, doc, out);
    sw_write_done(&w);
    return rc;
}

int sw_store_create(struct sw_store *store, const struct sw_emu_kind *kind, const char *ns,
                    json_object *doc, const struct sw_store_opts *opts, json_object **out,
                    struct sw_status *status)
{
    return sw_write_create(store, kind, ns, sw_meta_copy(doc), opts, out, status);
}

int sw_write_update(struct sw_store *store, const struct sw_emu_kind *kind, const char *ns,
                    json_object *doc, const struct sw_store_opts *opts, json_object **out,
                    struct sw_status *status)
{
    struct sw_write w;
    sw_write_init(&w, store, kind, ns && ns[0] ? ns : sw_obj_namespace(doc), opts, status);
    w.doc = doc;
    int rc = sw_write_find(&w, sw_obj_name(doc));
    if (rc == 0)
        rc = run(&w, SW_TAKE(w.doc), out);
    sw_write_done(&w);
    return rc;
}

int sw_store_modify(struct sw_store *store, const struct sw_emu_kind *kind, const char *ns,
                    const char *name, const struct sw_store_opts *opts,
                    int (*edit)(json_object *doc, void *arg), void *arg, struct sw_status *status)
{
    struct sw_write w;
    sw_write_init(&w, store, kind, ns, opts, status);
    int rc = sw_write_find(&w, name);
    if (rc < 0)
        return rc;
    SW_AUTO_JSON *doc = sw_meta_copy(w.old);
    rc = edit(doc, arg);
    if (rc == 0)
        rc = run(&w, SW_TAKE(doc), NULL);
    sw_write_done(&w);
    return rc;
}

static int drop_finalizer(json_object *doc, void *finalizer)
{
    sw_meta_drop_finalizer(doc, finalizer);
    return 0;
}

void sw_store_drop_finalizer(struct sw_store *store, const struct sw_emu_kind *kind,
                             json_object *doc, const char *finalizer)
{
    (void)sw_store_modify(store, kind, sw_obj_namespace(doc), sw_obj_name(doc), NULL,
                          drop_finalizer, (void *)finalizer, NULL);
}

/* Whether a patch reads or writes managedFields. */
static bool names_managed(json_object *patch)
{
    for (size_t i = 0; i < sw_json_len(patch); i++) {
        const char *path = sw_json_str(sw_json_at(patch, i), "", "path", NULL);
        const char *from = sw_json_str(sw_json_at(patch, i), "", "from", NULL);
        if (!path[0] || strcmp(path, "/metadata") == 0 || strcmp(from, "/metadata") == 0 ||
            sw_starts_with(path, "/metadata/managedFields") ||
            sw_starts_with(from, "/metadata/managedFields"))
            return true;
    }
    return sw_json_find(patch, "metadata", "managedFields", NULL) != NULL;
}

static int patch_version(struct sw_write *w, enum sw_patch_type type, json_object *from,
                         json_object *patch, json_object **out)
{
    SW_ERR(err);
    if (type == SW_PATCH_MERGE) {
        if (!json_object_is_type(patch, json_type_object))
            return sw_status_bad_request(w->status, "a merge patch must be a JSON object");
        *out = sw_merge_apply(from, patch);
        return 0;
    }
    if (type == SW_PATCH_STRATEGIC) {
        if (w->kind->crd)
            return sw_status_set(w->status, 415, "UnsupportedMediaType",
                                 "the body of the request was in an unknown format - accepted "
                                 "media types include: application/json-patch+json, "
                                 "application/merge-patch+json, application/apply-patch+yaml");
        if (sw_strategic_apply(from, patch, w->kind->kind, out, &err) < 0)
            return sw_status_bad_request(w->status, "%s", sw_err_text(&err));
        return 0;
    }
    int rc = sw_jsonpatch_apply(from, patch, out, &err);
    if (rc == SW_INVALID)
        return sw_status_bad_request(w->status, "error decoding patch: %s", sw_err_text(&err));
    if (rc < 0)
        return sw_status_set(w->status, 422, "Invalid",
                             "the server rejected our request due to an error in our request: %s",
                             sw_err_text(&err));
    return 0;
}

/* Apply a patch to w->old. managedFields are left out where possible: they are large, and
 * sw_meta_update() brings them back. */
static int patch_doc(struct sw_write *w, enum sw_patch_type type, json_object *patch,
                     json_object **out)
{
    SW_AUTO_JSON *from = names_managed(patch) ? json_object_get(w->old)
                                              : sw_meta_without_managed(w->old);
    if (w->opts->to)
        from = w->opts->to(from, w->opts->version_arg);
    const int rc = patch_version(w, type, from, patch, out);
    if (rc == 0 && w->opts->from)
        *out = w->opts->from(*out, w->opts->version_arg);
    return rc;
}

int sw_store_patch(struct sw_store *store, const struct sw_emu_kind *kind, const char *ns,
                   const char *name, enum sw_patch_type type, json_object *patch,
                   const struct sw_store_opts *opts, json_object **out, struct sw_status *status)
{
    struct sw_write w;
    SW_AUTO_JSON *doc = NULL;
    sw_write_init(&w, store, kind, ns, opts, status);
    int rc = sw_write_find(&w, name);
    if (rc == SW_NOTFOUND && type == SW_PATCH_APPLY && !w.subresource) {
        sw_write_init(&w, store, kind, ns, opts, status);
        rc = 0;
    }
    if (rc < 0)
        return rc;
    if (type == SW_PATCH_APPLY) {
        w.patch = patch;
        rc = sw_apply_merge(&w, &doc);
    } else {
        rc = patch_doc(&w, type, patch, &doc);
    }
    if (rc == 0)
        rc = run(&w, SW_TAKE(doc), out);
    sw_write_done(&w);
    return rc;
}
