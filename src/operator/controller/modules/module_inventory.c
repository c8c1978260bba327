/* What a SpecialResourceModule has made: status.inventory. What no version that is still there
 * renders is deleted at the end of a round. SRO drops such versions from the status and leaves
 * their objects; those that it made for versions which are gone by now stay. */
#include "operator/controller/modules/module.h"

#include "operator/manifests/hooks.h"

/* More are not recorded, and stay until the module goes. */
enum { MAX_INVENTORY = 2048 };

static bool has_entry(struct json_object *list, struct json_object *entry)
{
    for (size_t i = 0; i < sw_json_len(list); i++)
        if (sw_json_equal(sw_json_at(list, i), entry))
            return true;
    return false;
}

static void add_entry(struct json_object *list, struct json_object *entry)
{
    if (!has_entry(list, entry) && sw_json_len(list) < MAX_INVENTORY)
        (void)json_object_array_add(list, json_object_get(entry));
}

void module_record(struct module *m, struct json_object *doc)
{
    SW_AUTO_JSON *entry = json_object_new_object();
    sw_json_set_str(entry, sw_obj_api_version(doc), "apiVersion", NULL);
    sw_json_set_str(entry, sw_obj_kind(doc), "kind", NULL);
    if (*sw_obj_namespace(doc))
        sw_json_set_str(entry, sw_obj_namespace(doc), "namespace", NULL);
    sw_json_set_str(entry, sw_obj_name(doc), "name", NULL);
    add_entry(m->made, entry);
    add_entry(m->inventory, entry);
}

/* ---- what no version renders any more ----------------------------------------------------------
 */

/* The first entry that this round has not made; its length: none. */
static size_t find_gone(const struct module *m)
{
    size_t i = 0;
    while (i < sw_json_len(m->inventory) && has_entry(m->made, sw_json_at(m->inventory, i)))
        i++;
    return i;
}

/* A field of the entry that is being deleted. */
static const char *gone(const struct module *m, const char *field)
{
    return sw_json_str(sw_json_at(m->inventory, m->gone), "", field, NULL);
}

static void forget_gone(struct module *m)
{
    (void)json_object_array_del_idx(m->inventory, m->gone, 1);
    module_end_round(m);
}

/* A module that has taken it from others, or a recipe that asks to keep it, does not delete it. */
static bool is_kept(const struct module *m, struct json_object *live)
{
    return !sw_obj_has_owner(live, sw_obj_uid(m->seen)) || sw_hook_asked(live, SW_ANN_ADOPT) ||
           sw_streq(sw_obj_annotation(live, "helm.sh/resource-policy"), "keep") ||
           sw_streq(sw_obj_kind(live), "CustomResourceDefinition");
}

static const struct sw_kind *kind_of_gone(const struct module *m)
{
    return sw_kube_kind_find(m->c->kube, gone(m, "apiVersion"), gone(m, "kind"));
}

static const char *namespace_of_gone(const struct module *m, const struct sw_kind *kind)
{
    return kind->namespaced ? gone(m, "namespace") : NULL;
}

static void on_deleted(const struct sw_kube_answer *a, void *arg)
{
    struct module *m = arg;
    m->req = NULL;
    if (a->code < 0 && a->code != SW_NOTFOUND && a->code != SW_CONFLICT)
        module_refused(m, a->code, sw_err_text(a->err));
    else
        forget_gone(m);
}

static void on_read(const struct sw_kube_answer *a, void *arg)
{
    struct module *m = arg;
    const struct sw_kind *kind = kind_of_gone(m);
    m->req = NULL;
    if (a->code < 0 && a->code != SW_NOTFOUND) {
        module_refused(m, a->code, sw_err_text(a->err));
        return;
    }
    if (a->code == SW_NOTFOUND || !kind || is_kept(m, a->object)) {
        forget_gone(m);
        return;
    }
    m->req = sw_kube_delete(m->c->kube, kind, namespace_of_gone(m, kind), gone(m, "name"),
                            REQUEST_BY(m->account, .uid = sw_obj_uid(a->object),
                                       .propagation = "Background", .retries = 2),
                            on_deleted, m);
}

static void on_kind(int code, const struct sw_kind *kind, const struct sw_err *err, void *arg)
{
    struct module *m = arg;
    m->req = NULL;
    if (code == SW_NOTFOUND) {
        forget_gone(m);
        return;
    }
    if (code < 0) {
        module_fail(m, sw_err_text(err));
        return;
    }
    m->req = sw_kube_get(m->c->kube, kind, namespace_of_gone(m, kind), gone(m, "name"),
                         REQUEST_BY(m->account, .retries = 2), on_read, m);
}

bool module_delete_gone(struct module *m)
{
    /* without a version nobody says what is to be there: a cluster that is imported anew */
    m->gone = sw_json_len(m->entries) ? find_gone(m) : sw_json_len(m->inventory);
    if (m->gone >= sw_json_len(m->inventory))
        return false;
    m->req = sw_kube_kind(m->c->kube, gone(m, "apiVersion"), gone(m, "kind"), on_kind, m);
    return true;
}
