/* OpenShift builds as the ServiceAccount `builder`, which must be allowed to pull images: it is
 * added to the namespace's RoleBinding system:image-pullers, if there is one. The cluster creates
 * that binding a little after the namespace. */
#include "operator/controller/builds/builds.h"

#include <stdlib.h>
#include <string.h>

#define BINDING "system:image-pullers"
#define RBAC "rbac.authorization.k8s.io/v1"
#define ACCOUNT "builder"

enum { RETRY_MIN_MS = 500, RETRY_MAX_MS = 60000 };

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

/* The answer of the patch. After a failure the binding is read and written again later. */
static void bound(struct op *op, int code, const char *message)
{
    struct builds *b = builds_of(op->r);
    if (code == 0) {
        b->wait_ms = 0;
    } else if (code != SW_NOTFOUND) {
        bool lasts = code == SW_FORBIDDEN || code == SW_INVALID;
        sw_log(lasts ? SW_LOG_WARN : SW_LOG_DEBUG, "builder not bound to image pullers", "resource",
               op->r->name, "error", message, NULL);
        int64_t wait_ms = b->wait_ms ? b->wait_ms * 2 : RETRY_MIN_MS;
        b->wait_ms = lasts || wait_ms > RETRY_MAX_MS ? RETRY_MAX_MS : wait_ms;
        sw_timer_set(b->timer, b->wait_ms);
    }
    op_free(op);
}

static void on_bound(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    op->req = NULL;
    bound(op, a->code, a->code < 0 ? sw_err_text(a->err) : NULL);
}

static void begin_bind(struct op *op, const struct sw_kind *kind)
{
    op->req = sw_kube_patch(op->r->c->kube, kind, op->key.ns, BINDING, SW_PATCH_MERGE, op->doc,
                            REQUEST_AS(op->r, .retries = 4), on_bound, op);
}

/* A merge patch replaces the list, so it is sent with the version that was read. */
static void bind(struct builds *b, struct json_object *binding)
{
    struct json_object *list = sw_json_copy(sw_json_get(binding, "subjects")),
                       *builder = json_object_new_object();
    if (!list)
        list = json_object_new_array();
    sw_json_set_str(builder, "ServiceAccount", "kind", NULL);
    sw_json_set_str(builder, ACCOUNT, "name", NULL);
    sw_json_set_str(builder, b->puller_ns, "namespace", NULL);
    (void)json_object_array_add(list, builder);
    struct op *op = op_new(b->r, &(struct sw_key){ RBAC, "RoleBinding", b->puller_ns, BINDING }, 0);
    op->doc = json_object_new_object();
    sw_json_set_str(op->doc, sw_json_str(binding, "", "metadata", "resourceVersion", NULL),
                    "metadata", "resourceVersion", NULL);
    sw_json_set(op->doc, list, "subjects", NULL);
    op->begin = begin_bind;
    op->failed = bound;
    op_with_kind(op);
}

static void on_binding(const struct informer_event *event, void *arg, uint64_t watch SW_UNUSED)
{
    struct builds *b = arg;
    if (event->object && !has_builder(event->object, b->puller_ns))
        bind(b, event->object);
}

static void watch_binding(struct builds *b)
{
    informer_subscribe(b->r->c->informer,
                       &(struct sw_action){ .key = { RBAC, "RoleBinding", b->puller_ns, BINDING },
                                            .use = SW_USE_STATUS },
                       on_binding, b);
}

static void on_timer(void *arg)
{
    struct builds *b = arg;
    informer_unsubscribe_all(b->r->c->informer, b);
    watch_binding(b); /* which reports the binding as it is now */
}

void image_puller_close(struct builds *b)
{
    if (!b->puller_ns)
        return;
    informer_unsubscribe_all(b->r->c->informer, b);
    sw_timer_free(SW_TAKE(b->timer));
    free(SW_TAKE(b->puller_ns));
}

void image_puller_open(struct builds *b)
{
    struct resource *r = b->r;
    const char *ns = resource_namespace(r);
    if (!sw_kube_serves(r->c->kube, "build.openshift.io") || sw_streq(ns, b->puller_ns))
        return;
    image_puller_close(b);
    b->puller_ns = sw_strdup(ns);
    b->wait_ms = 0;
    b->timer = sw_timer_new(r->c->loop, on_timer, b);
    watch_binding(b);
}
