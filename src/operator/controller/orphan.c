#include "operator/controller/orphan.h"
#include "operator/controller/internal.h"

#include <stdlib.h>

static bool take_off(struct json_object *body, struct json_object *live, const char *where,
                     const char *key)
{
    if (!sw_json_find(live, "metadata", where, key, NULL))
        return false;
    sw_json_set(body, NULL, "metadata", where, key, NULL);
    return true;
}

/* @return the owners that are not @uid, the caller's; NULL: it is none of them. */
static struct json_object *other_owners(struct json_object *live, const char *uid)
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

struct json_object *sw_orphan_patch(struct json_object *live, const char *uid)
{
    static const char *const annotations[] = { SW_SRO_PREFIX "hash", "slipway.dev/resource",
                                               "slipway.dev/adopted" };
    struct json_object *body = json_object_new_object(), *owners = other_owners(live, uid);
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

static void done(struct op *op, int code, const char *words)
{
    if (code == SW_CONFLICT || code == SW_UNAVAILABLE)
        op_again(op);
    else
        op_answer(op, SW_EV_RELEASED, code, words, NULL, NULL);
}

static void on_patched(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    op->req = NULL;
    done(op, a->code, a->code < 0 ? sw_err_text(a->err) : NULL);
}

static void on_read(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    op->req = NULL;
    bool other = a->code == 0 && op->uid && !sw_streq(op->uid, sw_obj_uid(a->object));
    if (a->code < 0 || other) {
        done(op, a->code < 0 ? a->code : SW_NOTFOUND, a->code < 0 ? sw_err_text(a->err) : NULL);
        return;
    }
    const struct sw_kind *kind = sw_kube_kind_find(op->r->c->kube, op->key.api_version,
                                                   op->key.kind);
    struct json_object *body = sw_orphan_patch(a->object, op->r->uid);
    if (!body || !kind) {
        json_object_put(body);
        done(op, kind ? 0 : SW_UNAVAILABLE, NULL);
        return;
    }
    op->req = sw_kube_patch(op->r->c->kube, kind, kind->namespaced ? op->key.ns : NULL,
                            op->key.name, SW_PATCH_MERGE, body,
                            &(struct sw_request_opts){ .retries = 2 }, on_patched, op);
    json_object_put(body);
}

static void begin(struct op *op, const struct sw_kind *kind)
{
    op->req = sw_kube_get(op->r->c->kube, kind, kind->namespaced ? op->key.ns : NULL, op->key.name,
                          &(struct sw_request_opts){ .retries = 2 }, on_read, op);
}

void request_release(struct resource *r, const struct sw_action *a)
{
    struct op *op = op_new(r, &a->key, a->serial);
    op->uid = a->uid ? sw_strdup(a->uid) : NULL;
    op->begin = begin;
    op->failed = done;
    op_with_kind(op);
}
