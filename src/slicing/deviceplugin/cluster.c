/* Watches of pods and claims, and writes to them. */
#include "slicing/deviceplugin/cluster.h"

#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "net/grpc/grpc.h"

static int64_t created_ms(struct json_object *obj)
{
    int64_t ms = 0;
    const char *text = sw_json_str(obj, "", "metadata", "creationTimestamp", NULL);
    (void)!sw_time_parse(text, &ms, NULL); /* 0 where there is none */
    return ms;
}

/* ---- pods --------------------------------------------------------------------------------------
 */

static const char *const pod_fields[] = { "metadata.creationTimestamp",
                                          "status.phase",
                                          "spec.containers.name",
                                          "spec.containers.resources.limits",
                                          "spec.initContainers.name",
                                          "spec.initContainers.resources.limits",
                                          NULL };

static void read_container(struct json_object *doc, struct dp_pod *pod)
{
    struct dp_container c = { 0 };
    struct json_object *limits = sw_json_find(doc, "resources", "limits", NULL);
    if (!json_object_is_type(limits, json_type_object))
        return;
    c.requests = sw_zalloc(sw_json_len(limits) + 1, sizeof *c.requests);
    json_object_object_foreach(limits, name, amount)
    {
        struct sw_mig_profile p;
        enum sw_mig_owner owner;
        struct sw_quantity q;
        if (sw_mig_resource_parse(name, strlen(name), &p, &owner, NULL) < 0 ||
            owner != SW_MIG_DAS || sw_quantity_from_json(amount, &q, NULL) < 0)
            continue;
        const int64_t n = sw_quantity_value(&q);
        if (n <= 0 || n > SW_MIG_MAX_REQUESTS)
            continue;
        struct dp_request *request = &c.requests[c.n_requests++];
        (void)sw_mig_profile_text(&p, request->profile);
        request->count = (unsigned)n;
    }
    if (!c.n_requests) {
        free(c.requests);
        return;
    }
    c.name = sw_strdup(sw_json_str(doc, "", "name", NULL));
    pod->containers = sw_realloc(pod->containers, pod->n_containers + 1, sizeof *pod->containers);
    pod->containers[pod->n_containers++] = c;
}

static struct dp_pod *read_pod(struct json_object *obj)
{
    struct dp_pod *pod = sw_zalloc(1, sizeof *pod);
    const char *phase = sw_json_str(obj, "", "status", "phase", NULL);
    pod->ref = (struct dp_ref){ sw_strdup(sw_obj_namespace(obj)), sw_strdup(sw_obj_name(obj)),
                                sw_strdup(sw_obj_uid(obj)) };
    pod->created_ms = created_ms(obj);
    pod->ended = sw_streq(phase, "Succeeded") || sw_streq(phase, "Failed");
    struct json_object *init = sw_json_find(obj, "spec", "initContainers", NULL);
    struct json_object *main = sw_json_find(obj, "spec", "containers", NULL);
    for (size_t i = 0; i < sw_json_len(init); i++)
        read_container(sw_json_at(init, i), pod);
    for (size_t i = 0; i < sw_json_len(main); i++)
        read_container(sw_json_at(main, i), pod);
    return pod;
}

static void log_trouble(const struct sw_watch_event *e)
{
    sw_log(SW_LOG_WARN, "cannot watch", "kind", e->kind->kind, "error", sw_err_text(e->err), NULL);
}

static void on_pod(const struct sw_watch_event *e, void *arg)
{
    struct sw_device_plugin *p = arg;
    const int64_t now_ms = dp_now_ms(p);
    if (e->type == SW_WATCH_ADDED || e->type == SW_WATCH_MODIFIED)
        dp_broker_on_pod(p->broker, read_pod(e->object), now_ms);
    else if (e->type == SW_WATCH_DELETED)
        dp_broker_on_pod_gone(p->broker, e->uid, now_ms);
    else if (e->type == SW_WATCH_SYNCED)
        dp_broker_on_pods_synced(p->broker, now_ms);
    else
        log_trouble(e);
    p->perform(p);
}

/* ---- claims ------------------------------------------------------------------------------------
 */

static const char *const claim_fields[] = { "metadata.creationTimestamp", "metadata.labels", "spec",
                                            "status.state", NULL };

/* @return NULL: it is of another node, or invalid */
static struct dp_claim *read_claim(const struct sw_device_plugin *p, struct json_object *obj)
{
    struct sw_claim says;
    if (sw_claim_read(obj, &says, NULL) < 0 || !sw_streq(says.node, p->opts.node))
        return NULL;
    struct dp_claim *c = sw_zalloc(1, sizeof *c);
    c->ns = sw_strdup(sw_obj_namespace(obj));
    c->name = sw_strdup(sw_obj_name(obj));
    (void)sw_mig_profile_text(&says.profile, c->profile);
    c->pod = (struct dp_ref){ sw_strdup(says.pod_ns), sw_strdup(says.pod_name),
                              sw_strdup(says.pod_uid) };
    c->gpu = sw_strdup(says.gpu);
    c->place = says.place;
    /* an orphan is the scheduler's, as one is that has no state yet */
    c->state = says.state == SW_CLAIM_ORPHANED ? SW_CLAIM_STAGED : says.state;
    c->created_ms = created_ms(obj);
    c->version = strtoull(sw_json_str(obj, "0", "metadata", "resourceVersion", NULL), NULL, 10);
    return c;
}

static void on_claim(const struct sw_watch_event *e, void *arg)
{
    struct sw_device_plugin *p = arg;
    const int64_t now_ms = dp_now_ms(p);
    if (e->type == SW_WATCH_ADDED || e->type == SW_WATCH_MODIFIED) {
        struct dp_claim *c = read_claim(p, e->object);
        if (c)
            dp_broker_on_claim(p->broker, c, now_ms);
    } else if (e->type == SW_WATCH_DELETED) {
        dp_broker_on_claim_gone(p->broker, e->ns, e->name, now_ms);
    } else if (e->type == SW_WATCH_ERROR) {
        log_trouble(e);
    }
    p->perform(p);
}

/* ---- writes ------------------------------------------------------------------------------------
 */

struct dp_write {
    LIST_ENTRY(dp_write) link;
    struct sw_device_plugin *p;
    struct sw_kube_request *request;
    enum dp_act act;
    enum sw_claim_state state;
    char *ns, *name;
};

static void free_write(struct dp_write *w)
{
    LIST_REMOVE(w, link);
    free(w->ns);
    free(w->name);
    free(w);
}

static void on_written(const struct sw_kube_answer *answer, void *arg)
{
    struct dp_write *w = arg;
    struct sw_device_plugin *p = w->p;
    const uint64_t version = strtoull(
        sw_json_str(answer->object, "0", "metadata", "resourceVersion", NULL), NULL, 10);
    if (answer->code < 0 && answer->code != SW_NOTFOUND)
        sw_log(SW_LOG_WARN, "write failed", "error", sw_err_text(answer->err), NULL);
    if (w->act != DP_ACT_EVICT)
        dp_broker_on_written(p->broker, w->act, w->ns, w->name, w->state, answer->code, version,
                             dp_now_ms(p));
    free_write(w);
    p->perform(p);
}

static struct json_object *state_patch(const struct sw_device_plugin *p, enum sw_claim_state state)
{
    const char *message = state == SW_CLAIM_PROCESSING ? "The slice is being made"
                          : state == SW_CLAIM_IN_USE   ? "The container has the slice"
                                                       : "The slice waits for its container";
    return sw_claim_status(state, message, sw_loop_wall_ms(p->loop));
}

void dp_cluster_write(struct sw_device_plugin *p, const struct dp_action *a)
{
    struct dp_write *w = sw_zalloc(1, sizeof *w);
    *w = (struct dp_write){ .p = p,
                            .act = a->act,
                            .state = a->state,
                            .ns = sw_strdup(a->ref.ns),
                            .name = sw_strdup(a->ref.name) };
    LIST_INSERT_HEAD(&p->writes, w, link);
    SW_AUTO_JSON *body = NULL;
    const struct dp_claim *c = dp_broker_claim(p->broker, w->ns, w->name);
    if (a->act == DP_ACT_CLAIM_STATE) {
        body = state_patch(p, a->state);
        w->request = sw_kube_patch(p->kube, &sw_kind_claim, w->ns, w->name, SW_PATCH_MERGE, body,
                                   &(struct sw_request_opts){ .subresource = "status" }, on_written,
                                   w);
    } else if (a->act == DP_ACT_CLAIM_POD && c) {
        /* what the scheduler writes of a pod */
        const struct dp_ref *pod = &c->pod;
        body = json_object_new_object();
        sw_json_set_str(body, pod->uid, "metadata", "labels", "slipway.dev/pod-uid", NULL);
        if (c->grant)
            sw_json_set_str(body, c->grant->container, "spec", "containerName", NULL);
        sw_json_set_str(body, pod->ns, "spec", "podRef", "namespace", NULL);
        sw_json_set_str(body, pod->name, "spec", "podRef", "name", NULL);
        sw_json_set_str(body, pod->uid, "spec", "podRef", "uid", NULL);
        p->n.swaps++;
        w->request = sw_kube_patch(p->kube, &sw_kind_claim, w->ns, w->name, SW_PATCH_MERGE, body,
                                   NULL, on_written, w);
    } else if (a->act == DP_ACT_EVICT) {
        p->n.evictions++;
        sw_log(SW_LOG_WARN, "pod deleted: its slices cannot be had again", "pod", w->name,
               "namespace", w->ns, "reason", a->message, NULL);
        w->request = sw_kube_delete(p->kube, &sw_kind_pod, w->ns, w->name,
                                    &(struct sw_request_opts){ .uid = a->ref.uid }, on_written, w);
    } else {
        w->request = sw_kube_delete(p->kube, &sw_kind_claim, w->ns, w->name, NULL, on_written, w);
    }
}

/* ---- events ------------------------------------------------------------------------------------
 */

void dp_cluster_event(struct sw_device_plugin *p, const struct dp_ref *pod, const char *reason,
                      const char *message)
{
    const struct sw_kube_event event = {
        .ns = pod->ns,
        .of = { .api_version = "v1",
                .kind = "Pod",
                .ns = pod->ns,
                .name = pod->name,
                .uid = pod->uid },
        .reason = reason,
        .message = message,
        .warning = true,
        .component = "slipway-device-plugin",
        .host = p->opts.node,
        .at_ms = sw_loop_wall_ms(p->loop),
    };
    sw_kube_event_send(p->kube, &event, p->n.events++);
}

/* ---- opening -----------------------------------------------------------------------------------
 */

void dp_cluster_open(struct sw_device_plugin *p)
{
    SW_AUTO_CHARS *here = sw_printf("spec.nodeName=%s", p->opts.node);
    p->pods = sw_kube_watch_open(
        p->kube, &sw_kind_pod,
        &(struct sw_watch_opts){ .field_selector = here, .fields = pod_fields }, on_pod, p);
    char label[SW_MIG_NODE_LABEL_LEN];
    SW_AUTO_CHARS *ours = sw_printf(SW_MIG_NODE_LABEL "=%s",
                                    sw_mig_node_label(p->opts.node, label));
    p->claims = sw_kube_watch_open(
        p->kube, &sw_kind_claim,
        &(struct sw_watch_opts){ .ns = p->opts.ns, .label_selector = ours, .fields = claim_fields },
        on_claim, p);
}

void dp_cluster_close(struct sw_device_plugin *p)
{
    sw_kube_watch_close(SW_TAKE(p->pods));
    sw_kube_watch_close(SW_TAKE(p->claims));
    sw_grpc_request_cancel(SW_TAKE(p->held_request));
    while (!LIST_EMPTY(&p->writes)) {
        sw_kube_cancel(LIST_FIRST(&p->writes)->request);
        free_write(LIST_FIRST(&p->writes));
    }
}
