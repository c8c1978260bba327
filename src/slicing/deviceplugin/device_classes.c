#include "slicing/deviceplugin/device_classes.h"

#include <stdlib.h>

#include "data/data.h"
#include "slicing/deviceplugin/dra_node.h"

static const struct sw_kind kind_cluster_role = { .group = "rbac.authorization.k8s.io",
                                                  .version = "v1",
                                                  .api_version = "rbac.authorization.k8s.io/v1",
                                                  .kind = "ClusterRole",
                                                  .plural = "clusterroles",
                                                  .served = true };

struct dp_classes {
    struct sw_device_plugin *p;
    void (*done)(const struct sw_err *trouble, void *arg);
    void *arg;
    struct sw_kube_request *request;
    char *owner_uid;             /* "": there is none; NULL: not read yet */
    struct json_object *missing; /* NULL: not looked for yet */
    struct json_object *unowned; /* names of those that lack the owner */
    bool made;
};

static void go_on(struct dp_classes *c);

/* Begin anew when it is tried again. */
static void fail(struct dp_classes *c, const struct sw_err *err)
{
    (void)json_object_put(SW_TAKE(c->missing));
    (void)json_object_put(SW_TAKE(c->unowned));
    c->done(err, c->arg);
}

/* ---- the owner ---------------------------------------------------------------------------------
 */

static void on_owner(const struct sw_kube_answer *answer, void *arg)
{
    struct dp_classes *c = arg;
    c->request = NULL;
    if (answer->code == SW_UNAVAILABLE) {
        fail(c, answer->err);
        return;
    }
    if (answer->code < 0)
        sw_log(SW_LOG_WARN, "DeviceClasses stay when this is taken away: their owner is not known",
               "error", sw_err_text(answer->err), NULL);
    c->owner_uid = sw_strdup(answer->code == 0 ? sw_obj_uid(answer->object) : "");
    go_on(c);
}

/* It may be there with those of others: of no controller, and nothing waits for it. */
static void set_owner(const struct dp_classes *c, struct json_object *doc)
{
    struct json_object *owner = json_object_new_object();
    sw_json_set_str(owner, kind_cluster_role.api_version, "apiVersion", NULL);
    sw_json_set_str(owner, kind_cluster_role.kind, "kind", NULL);
    sw_json_set_str(owner, c->p->opts.class_owner, "name", NULL);
    sw_json_set_str(owner, c->owner_uid, "uid", NULL);
    json_object_array_add(sw_json_need_list(doc, "metadata", "ownerReferences", NULL), owner);
}

static bool is_owned(const struct dp_classes *c, struct json_object *doc)
{
    struct json_object *owners = sw_json_find(doc, "metadata", "ownerReferences", NULL);
    for (size_t i = 0; i < sw_json_len(owners); i++)
        if (sw_streq(sw_json_str(sw_json_at(owners, i), "", "uid", NULL), c->owner_uid))
            return true;
    return !*c->owner_uid;
}

/* ---- which are there ---------------------------------------------------------------------------
 */

static struct json_object *make_classes(const struct dp_classes *c)
{
    const struct dp_driver *d = c->p->driver;
    struct sw_mig_geometry **geometries = sw_zalloc(d->n_gpus + 1, sizeof *geometries);
    size_t n = 0;
    for (size_t i = 0; i < d->n_gpus; i++)
        if (d->gpus[i].geometry)
            geometries[n++] = d->gpus[i].geometry;
    struct json_object *classes = sw_dra_classes(geometries, n);
    free(geometries);
    for (size_t i = 0; *c->owner_uid && i < sw_json_len(classes); i++)
        set_owner(c, sw_json_at(classes, i));
    return classes;
}

static void on_classes(const struct sw_kube_answer *answer, void *arg)
{
    struct dp_classes *c = arg;
    if (answer->code == SW_UNAVAILABLE || answer->code == SW_GONE) {
        c->request = NULL;
        fail(c, answer->err);
        return;
    }
    if (!c->missing) {
        c->missing = make_classes(c);
        c->unowned = json_object_new_array();
    }
    for (size_t i = 0; i < sw_json_len(answer->items); i++) {
        struct json_object *found = sw_json_at(answer->items, i);
        for (size_t k = sw_json_len(c->missing); k-- > 0;)
            if (sw_streq(sw_obj_name(sw_json_at(c->missing, k)), sw_obj_name(found)))
                (void)json_object_array_del_idx(c->missing, k, 1);
        if (!is_owned(c, found))
            json_object_array_add(c->unowned, json_object_new_string(sw_obj_name(found)));
    }
    if (answer->code == 0 && answer->more)
        return;
    c->request = NULL;
    go_on(c);
}

/* ---- what is written ---------------------------------------------------------------------------
 */

static void drop_last(struct json_object *list)
{
    (void)json_object_array_del_idx(list, sw_json_len(list) - 1, 1);
}

/* They may be an administrator's as well as those of another node's plugin: none is replaced, and
 * where they may not be made the slices are published all the same. */
static void on_made(const struct sw_kube_answer *answer, void *arg)
{
    struct dp_classes *c = arg;
    c->request = NULL;
    if (answer->code == SW_UNAVAILABLE) {
        fail(c, answer->err);
        return;
    }
    if (answer->code < 0 && answer->code != SW_CONFLICT)
        sw_log(SW_LOG_WARN, "DeviceClass not made", "error", sw_err_text(answer->err), NULL);
    drop_last(c->missing);
    go_on(c);
}

static void on_owned(const struct sw_kube_answer *answer, void *arg)
{
    struct dp_classes *c = arg;
    c->request = NULL;
    /* of a release that has just gone: it is made anew */
    if (answer->code == SW_UNAVAILABLE || answer->code == SW_NOTFOUND) {
        fail(c, answer->err);
        return;
    }
    if (answer->code < 0)
        sw_log(SW_LOG_WARN, "DeviceClass without this owner", "error", sw_err_text(answer->err),
               NULL);
    drop_last(c->unowned);
    go_on(c);
}

/* Owners are a list with the UID as its key: another release's stay. */
static void add_owner(struct dp_classes *c, const char *name)
{
    SW_AUTO_JSON *patch = json_object_new_object();
    set_owner(c, patch);
    c->request = sw_kube_patch(c->p->kube, &dp_kind_device_class, NULL, name, SW_PATCH_STRATEGIC,
                               patch, NULL, on_owned, c);
}

static void go_on(struct dp_classes *c)
{
    static const char *const owner_fields[] = { "metadata.uid", NULL };
    static const char *const fields[] = { "metadata.name", "metadata.ownerReferences", NULL };
    struct sw_kube *k = c->p->kube;
    const size_t n_missing = sw_json_len(c->missing), n_unowned = sw_json_len(c->unowned);
    if (!c->owner_uid) {
        c->request = sw_kube_get(k, &kind_cluster_role, NULL, c->p->opts.class_owner,
                                 &(struct sw_request_opts){ .fields = owner_fields }, on_owner, c);
    } else if (!c->missing) {
        c->request = sw_kube_list(
            k, &dp_kind_device_class, NULL,
            &(struct sw_request_opts){ .fields = fields,
                                       .label_selector = SW_DRA_LABEL "=" SW_DRA_DRIVER },
            on_classes, c);
    } else if (n_missing) {
        c->request = sw_kube_create(k, &dp_kind_device_class, NULL, NULL,
                                    sw_json_at(c->missing, n_missing - 1), NULL, on_made, c);
    } else if (n_unowned) {
        add_owner(c, json_object_get_string(sw_json_at(c->unowned, n_unowned - 1)));
    } else {
        c->made = true;
        c->done(NULL, c->arg);
    }
}

bool dp_classes_make(struct dp_classes *c)
{
    if (!c->made && !c->request)
        go_on(c);
    return c->made;
}

struct dp_classes *dp_classes_new(struct sw_device_plugin *p,
                                  void (*done)(const struct sw_err *trouble, void *arg), void *arg)
{
    struct dp_classes *c = sw_zalloc(1, sizeof *c);
    *c = (struct dp_classes){ .p = p, .done = done, .arg = arg };
    if (!p->opts.class_owner || !*p->opts.class_owner)
        c->owner_uid = sw_strdup("");
    return c;
}

void dp_classes_free(struct dp_classes *c)
{
    if (!c)
        return;
    sw_kube_cancel(c->request);
    (void)json_object_put(c->missing);
    (void)json_object_put(c->unowned);
    free(c->owner_uid);
    free(c);
}
