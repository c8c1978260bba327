#include "slicing/deviceplugin/claim_views.h"

#include <stdlib.h>

#include "data/data.h"
#include "slicing/deviceplugin/dra_node.h"

enum { RETRIES = 3 };

/* A write under way. */
struct view {
    LIST_ENTRY(view) link;
    struct dp_views *of;
    struct sw_kube_request *request;
    char *uid;               /* of the ResourceClaim */
    struct json_object *doc; /* NULL: it is deleted */
    bool has_status;         /* which is written now */
};

struct dp_views {
    struct sw_device_plugin *p;
    LIST_HEAD(view_list, view) writes;
};

static void free_view(struct view *w)
{
    LIST_REMOVE(w, link);
    sw_kube_cancel(w->request);
    (void)json_object_put(w->doc);
    free(w->uid);
    free(w);
}

static struct view *new_view(struct dp_views *v, const char *uid, struct json_object *doc)
{
    struct view *w = sw_zalloc(1, sizeof *w);
    *w = (struct view){ .of = v, .uid = sw_strdup(uid), .doc = doc };
    LIST_INSERT_HEAD(&v->writes, w, link);
    return w;
}

/* ---- what it says ------------------------------------------------------------------------------
 */

/* The first of the pods for which the claim is; there may be several. */
static void set_pod(struct json_object *doc, struct json_object *claim)
{
    struct json_object *users = sw_json_find(claim, "status", "reservedFor", NULL);
    struct json_object *pod = sw_json_find_by(users, "resource", "pods");
    if (!pod)
        return;
    sw_json_set_str(doc, "Pod", "spec", "podRef", "kind", NULL);
    sw_json_set_str(doc, sw_obj_namespace(claim), "spec", "podRef", "namespace", NULL);
    sw_json_set_str(doc, sw_json_str(pod, "", "name", NULL), "spec", "podRef", "name", NULL);
    sw_json_set_str(doc, sw_json_str(pod, "", "uid", NULL), "spec", "podRef", "uid", NULL);
}

static struct json_object *view_of(const struct sw_device_plugin *p, struct json_object *claim,
                                   const struct dp_slice *slice, size_t i)
{
    struct json_object *doc = json_object_new_object(), *owner = json_object_new_object();
    SW_AUTO_CHARS *name = sw_printf("%s-%zu", sw_obj_uid(claim), i);
    sw_json_set_str(doc, SW_CLAIM_API, "apiVersion", NULL);
    sw_json_set_str(doc, sw_kind_claim.kind, "kind", NULL);
    sw_json_set_str(doc, name, "metadata", "name", NULL);
    sw_json_set_str(doc, sw_obj_namespace(claim), "metadata", "namespace", NULL);
    sw_json_set_str(doc, "ResourceClaim", "metadata", "labels", SW_CLAIM_VIEW, NULL);
    sw_json_set_str(doc, sw_obj_name(claim), "metadata", "annotations", SW_CLAIM_VIEW_OF, NULL);
    sw_json_set_str(owner, dp_kind_resource_claim.api_version, "apiVersion", NULL);
    sw_json_set_str(owner, dp_kind_resource_claim.kind, "kind", NULL);
    sw_json_set_str(owner, sw_obj_name(claim), "name", NULL);
    sw_json_set_str(owner, sw_obj_uid(claim), "uid", NULL);
    json_object_array_add(sw_json_need_list(doc, "metadata", "ownerReferences", NULL), owner);
    sw_json_set_str(doc, slice->profile, "spec", "profile", NULL);
    sw_json_set_str(doc, p->opts.node, "spec", "nodename", NULL);
    sw_json_set_str(doc, slice->gpu, "spec", "gpuUUID", NULL);
    sw_json_set(doc, json_object_new_int(slice->place.start), "spec", "migPlacement", "start",
                NULL);
    sw_json_set(doc, json_object_new_int(slice->place.size), "spec", "migPlacement", "size", NULL);
    set_pod(doc, claim);
    return doc;
}

/* ---- writing -----------------------------------------------------------------------------------
 */

static void on_written(const struct sw_kube_answer *answer, void *arg)
{
    struct view *w = arg;
    struct sw_device_plugin *p = w->of->p;
    w->request = NULL;
    /* where there is no such kind nobody looks for them */
    if (answer->code < 0 && answer->code != SW_NOTFOUND)
        sw_log(SW_LOG_WARN, "AllocationClaim of a ResourceClaim not written", "error",
               sw_err_text(answer->err), NULL);
    if (answer->code < 0 || !w->doc || w->has_status) {
        free_view(w);
        return;
    }
    w->has_status = true;
    SW_AUTO_JSON *status = sw_claim_status(
        SW_CLAIM_IN_USE, "The ResourceClaim has the slice; nothing acts on this object",
        sw_loop_wall_ms(p->loop));
    w->request = sw_kube_patch(
        p->kube, &sw_kind_claim, sw_obj_namespace(w->doc), sw_obj_name(w->doc), SW_PATCH_MERGE,
        status, &(struct sw_request_opts){ .subresource = "status", .retries = RETRIES },
        on_written, w);
}

void dp_views_show(struct dp_views *v, struct json_object *claim)
{
    struct sw_device_plugin *p = v->p;
    const struct dp_grant *g = dp_broker_prepared(p->broker, sw_obj_uid(claim));
    for (size_t i = 0; g && p->opts.claim_views && i < g->n_slices; i++) {
        struct view *w = new_view(v, g->claim.uid, view_of(p, claim, &g->slices[i], i));
        w->request = sw_kube_apply(
            p->kube, &sw_kind_claim, g->claim.ns, sw_obj_name(w->doc), w->doc,
            &(struct sw_request_opts){ .force = true, .retries = RETRIES }, on_written, w);
    }
}

void dp_views_hide(struct dp_views *v, const char *uid)
{
    struct sw_device_plugin *p = v->p;
    const struct dp_grant *g = dp_broker_prepared(p->broker, uid);
    struct view *w = LIST_FIRST(&v->writes), *next;
    for (; w; w = next) {
        next = LIST_NEXT(w, link);
        if (w->doc && sw_streq(w->uid, uid))
            free_view(w);
    }
    for (size_t i = 0; g && p->opts.claim_views && i < g->n_slices; i++) {
        SW_AUTO_CHARS *name = sw_printf("%s-%zu", uid, i);
        w = new_view(v, uid, NULL);
        w->request = sw_kube_delete(p->kube, &sw_kind_claim, g->claim.ns, name,
                                    &(struct sw_request_opts){ .retries = RETRIES }, on_written, w);
    }
}

struct dp_views *dp_views_new(struct sw_device_plugin *p)
{
    struct dp_views *v = sw_zalloc(1, sizeof *v);
    v->p = p;
    LIST_INIT(&v->writes);
    return v;
}

void dp_views_free(struct dp_views *v)
{
    if (!v)
        return;
    while (!LIST_EMPTY(&v->writes))
        free_view(SW_LINKED(LIST_FIRST(&v->writes)));
    free(v);
}
