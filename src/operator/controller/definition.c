/* The deletion of a CustomResourceDefinition of a shared release: with it all objects of its kind
 * would go. Where there is one that neither slipway nor the release made, the definition stays,
 * without an owner, for who installs the release again. */
#include "operator/controller/private.h"
#include "operator/manifests/ownership.h"
#include "operator/manifests/shared_release.h"

enum { RETRIES = 4 };

static void on_deleted(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    op->req = NULL;
    op_answer_of(op, a);
}

static const struct sw_kind *own_kind(const struct op *op)
{
    return sw_kube_kind_find(op->r->c->kube, op->key.api_version, op->key.kind);
}

static void delete_it(struct op *op)
{
    op->req = sw_kube_delete(
        op->r->c->kube, own_kind(op), NULL, op->key.name,
        REQUEST_AS(op->r, .uid = op->uid, .propagation = op->propagation, .retries = RETRIES),
        on_deleted, op);
}

static void keep_it(struct op *op, struct json_object *object)
{
    struct resource *r = op->r;
    const char *ns = sw_obj_namespace(object);
    SW_AUTO_CHARS *text = sw_printf("CustomResourceDefinition %s stays: %s %s%s%s is not slipway's",
                                    op->key.name, sw_obj_kind(object), ns, *ns ? "/" : "",
                                    sw_obj_name(object));
    event_record(r, &(struct sw_action){ .reason = "DefinitionKept", .message = text });
    SW_AUTO_JSON *patch = sw_ownership_keep(op->doc, r->uid, op->shared);
    op->answer = SW_EV_RELEASED;
    op->req = sw_kube_patch(r->c->kube, own_kind(op), NULL, op->key.name, SW_PATCH_MERGE, patch,
                            REQUEST_AS(r, .retries = RETRIES), on_deleted, op);
}

static void on_objects(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    struct json_object *foreign = NULL;
    for (size_t i = 0; a->code == 0 && !foreign && i < sw_json_len(a->items); i++)
        if (sw_shared_is_foreign(sw_json_at(a->items, i), op->shared))
            foreign = sw_json_at(a->items, i);
    if (foreign) {
        SW_AUTO_JSON *held = json_object_get(foreign);
        sw_kube_cancel(op->req);
        keep_it(op, held);
        return;
    }
    if (a->code == 0 && a->more)
        return;
    op->req = NULL;
    if (a->code < 0 && a->code != SW_NOTFOUND)
        op_answer_of(op, a); /* the engine tries again */
    else
        delete_it(op);
}

/* The kind that @definition defines, in a version that is served; NULL: none is. */
static const struct sw_kind *defined_kind(struct sw_kube *kube, struct json_object *definition)
{
    const char *group = sw_json_str(definition, "", "spec", "group", NULL),
               *name = sw_json_str(definition, "", "spec", "names", "kind", NULL);
    struct json_object *versions = sw_json_find(definition, "spec", "versions", NULL);
    const struct sw_kind *kind = NULL;
    for (size_t i = 0; !kind && i < sw_json_len(versions); i++) {
        SW_AUTO_CHARS *version = sw_printf("%s/%s", group,
                                           sw_json_str(sw_json_at(versions, i), "", "name", NULL));
        kind = sw_kube_kind_find(kube, version, name);
    }
    return kind;
}

static void on_read(const struct sw_kube_answer *a, void *arg)
{
    static const char *const fields[] = { "kind", "metadata.labels", "metadata.ownerReferences",
                                          NULL };
    struct op *op = arg;
    struct sw_kube *kube = op->r->c->kube;
    op->req = NULL;
    bool other = a->code == 0 && op->uid && !sw_streq(op->uid, sw_obj_uid(a->object));
    if (a->code < 0 || other) { /* another one is not slipway's to delete */
        op_answer_of(op, a);
        return;
    }
    json_object_put(op->doc);
    op->doc = json_object_get(a->object);
    const struct sw_kind *kind = defined_kind(kube, a->object);
    if (kind)
        op->req = sw_kube_list(kube, kind, NULL,
                               REQUEST_OWN(OBJECTS, .fields = fields, .retries = RETRIES),
                               on_objects, op);
    else
        delete_it(op);
}

void definition_begin_delete(struct op *op, const struct sw_kind *kind)
{
    op->req = sw_kube_get(op->r->c->kube, kind, NULL, op->key.name,
                          REQUEST_AS(op->r, .retries = RETRIES), on_read, op);
}
