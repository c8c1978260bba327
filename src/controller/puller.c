/* OpenShift builds as the ServiceAccount `builder`, which must be allowed to pull the images that
 * it builds from: it is added to the namespace's RoleBinding system:image-pullers, where there is
 * one. That binding is the cluster's own; it comes a little after the namespace. */
#include "controller/internal.h"

#include <stdlib.h>
#include <string.h>

#define BINDING "system:image-pullers"
#define RBAC "rbac.authorization.k8s.io/v1"
#define ACCOUNT "builder"

static bool has_builder(struct json_object *binding, const char *ns)
{
    struct json_object *subjects = sw_json_get(binding, "subjects");
    for (size_t i = 0; i < sw_json_len(subjects); i++) {
        struct json_object *s = sw_json_at(subjects, i);
        if (sw_streq(sw_json_str(s, "", "kind", NULL), "ServiceAccount") &&
            sw_streq(sw_json_str(s, "", "name", NULL), ACCOUNT) &&
            sw_streq(sw_json_str(s, "", "namespace", NULL), ns))
            return true;
    }
    return false;
}

static void on_bound(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    op->req = NULL;
    if (a->code < 0 && a->code != SW_CONFLICT && a->code != SW_NOTFOUND)
        sw_log(SW_LOG_WARN, "builder not bound to image pullers", "resource", op->r->name, "error",
               sw_err_text(a->err), NULL);
    op_free(op); /* on a conflict the watch brings what it is now */
}

static void begin_bind(struct op *op, const struct sw_kind *kind)
{
    op->req = sw_kube_patch(op->r->c->kube, kind, op->key.ns, BINDING, SW_PATCH_MERGE, op->doc,
                            &(struct sw_request_opts){ .retries = 4 }, on_bound, op);
}

static void bind_failed(struct op *op, int code SW_UNUSED, const char *words SW_UNUSED)
{
    op_free(op);
}

/* The list is replaced as a whole, and only as it was seen. */
static void bind(struct resource *r, struct json_object *binding)
{
    struct json_object *list = sw_json_copy(sw_json_get(binding, "subjects")),
                       *builder = json_object_new_object();
    if (!list)
        list = json_object_new_array();
    sw_json_set_str(builder, "ServiceAccount", "kind", NULL);
    sw_json_set_str(builder, ACCOUNT, "name", NULL);
    sw_json_set_str(builder, r->puller_ns, "namespace", NULL);
    (void)json_object_array_add(list, builder);
    struct op *op = op_new(r, &(struct sw_key){ RBAC, "RoleBinding", r->puller_ns, BINDING }, 0);
    op->doc = json_object_new_object();
    sw_json_set_str(op->doc, sw_json_str(binding, "", "metadata", "resourceVersion", NULL),
                    "metadata", "resourceVersion", NULL);
    sw_json_set(op->doc, list, "subjects", NULL);
    op->begin = begin_bind;
    op->failed = bind_failed;
    op_with_kind(op);
}

static void on_binding(const struct sw_watch_event *w, void *arg)
{
    struct resource *r = arg;
    bool there = w->type == SW_WATCH_ADDED || w->type == SW_WATCH_MODIFIED;
    if (there && !has_builder(w->object, r->puller_ns))
        bind(r, w->object);
}

void puller_close(struct resource *r)
{
    sw_kube_watch_close(SW_TAKE(r->puller_watch));
    free(SW_TAKE(r->puller_ns));
}

void puller_want(struct resource *r)
{
    const char *ns = resource_namespace(r);
    struct sw_kube *kube = r->c->kube;
    const struct sw_kind *kind = sw_kube_kind_find(kube, RBAC, "RoleBinding");
    if (!kind || !sw_kube_serves(kube, "build.openshift.io") || sw_streq(ns, r->puller_ns))
        return;
    puller_close(r);
    r->puller_ns = sw_strdup(ns);
    r->puller_watch = sw_kube_watch_open(
        kube, kind, &(struct sw_watch_opts){ .ns = r->puller_ns, .name = BINDING }, on_binding, r);
}
