/* Pods and claims as they come, and what is written of them. */
#include "slicing/deviceplugin/cluster.h"

#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "net/grpc/grpc.h"
#include "slicing/deviceplugin/broker/kinds.h"

#define GROUP "inference.redhat.com"

const struct sw_kind dp_kind_pod = { .group = "",
                                     .version = "v1",
                                     .api_version = "v1",
                                     .kind = "Pod",
                                     .plural = "pods",
                                     .namespaced = true };
const struct sw_kind dp_kind_node = {
    .group = "", .version = "v1", .api_version = "v1", .kind = "Node", .plural = "nodes"
};
const struct sw_kind dp_kind_event = { .group = "",
                                       .version = "v1",
                                       .api_version = "v1",
                                       .kind = "Event",
                                       .plural = "events",
                                       .namespaced = true };
const struct sw_kind dp_kind_claim = { .group = GROUP,
                                       .version = "v1alpha1",
                                       .api_version = GROUP "/v1alpha1",
                                       .kind = "AllocationClaim",
                                       .plural = "allocationclaims",
                                       .namespaced = true,
                                       .has_status = true };
const struct sw_kind dp_kind_accelerator = { .group = GROUP,
                                             .version = "v1alpha1",
                                             .api_version = GROUP "/v1alpha1",
                                             .kind = "NodeAccelerator",
                                             .plural = "nodeaccelerators",
                                             .namespaced = true,
                                             .has_status = true };

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

static bool read_request(const char *name, struct json_object *amount, struct dp_request *out)
{
    struct sw_mig_profile p;
    enum sw_mig_owner owner;
    struct sw_quantity q;
    if (sw_mig_resource_parse(name, strlen(name), &p, &owner, NULL) < 0 || owner != SW_MIG_DAS ||
        sw_quantity_from_json(amount, &q, NULL) < 0)
        return false;
    const int64_t n = sw_quantity_value(&q);
    if (n <= 0 || n > SW_MIG_MAX_REQUESTS)
        return false;
    (void)sw_mig_profile_text(&p, out->profile);
    out->count = (unsigned)n;
    return true;
}

static void read_container(struct json_object *doc, struct dp_pod *pod)
{
    struct dp_container c = { 0 };
    struct json_object *limits = sw_json_find(doc, "resources", "limits", NULL);
    if (!json_object_is_type(limits, json_type_object))
        return;
    c.requests = sw_zalloc(sw_json_len(limits) + 1, sizeof *c.requests);
    json_object_object_foreach(limits, name, amount)
    {
        c.n_requests += read_request(name, amount, &c.requests[c.n_requests]);
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
    switch (e->type) {
    case SW_WATCH_ADDED:
    case SW_WATCH_MODIFIED:
        dp_broker_on_pod(p->broker, read_pod(e->object), now_ms);
        break;
    case SW_WATCH_DELETED:
        dp_broker_on_pod_gone(p->broker, e->uid, now_ms);
        break;
    case SW_WATCH_SYNCED:
        dp_broker_on_synced(p->broker, true, false, now_ms);
        break;
    case SW_WATCH_ERROR:
        log_trouble(e);
        break;
    }
    p->perform(p);
}

/* ---- claims ------------------------------------------------------------------------------------
 */

static const char *const claim_fields[] = { "metadata.creationTimestamp", "spec", "status.state",
                                            NULL };

static enum dp_claim_state read_state(struct json_object *obj)
{
    const char *text = sw_json_str(obj, "", "status", "state", NULL);
    for (int s = DP_STAGED; s <= DP_IN_USE; s++)
        if (strcmp(text, dp_claim_state_text((enum dp_claim_state)s)) == 0)
            return (enum dp_claim_state)s;
    return DP_STAGED;
}

/* NULL: it is not of this node, or says nothing that could be done. */
static struct dp_claim *read_claim(const struct sw_device_plugin *p, struct json_object *obj)
{
    struct json_object *spec = sw_json_get(obj, "spec");
    const char *profile = sw_json_str(spec, "", "profile", NULL);
    const int64_t start = sw_json_int(spec, -1, "migPlacement", "start", NULL);
    const int64_t size = sw_json_int(spec, -1, "migPlacement", "size", NULL);
    struct sw_mig_profile parsed;
    if (!sw_streq(sw_json_str(spec, "", "nodename", NULL), p->opts.node) ||
        sw_mig_profile_parse(profile, strlen(profile), &parsed, NULL) < 0 || start < 0 ||
        size <= 0 || start + size > SW_MIG_MAX_SLICES)
        return NULL;
    struct dp_claim *c = sw_zalloc(1, sizeof *c);
    c->ns = sw_strdup(sw_obj_namespace(obj));
    c->name = sw_strdup(sw_obj_name(obj));
    (void)sw_mig_profile_text(&parsed, c->profile);
    c->pod = (struct dp_ref){ sw_strdup(sw_json_str(spec, "", "podRef", "namespace", NULL)),
                              sw_strdup(sw_json_str(spec, "", "podRef", "name", NULL)),
                              sw_strdup(sw_json_str(spec, "", "podRef", "uid", NULL)) };
    c->gpu = sw_strdup(sw_json_str(spec, "", "gpuUUID", NULL));
    c->place = (struct sw_mig_place){ (uint8_t)start, (uint8_t)size };
    c->state = read_state(obj);
    c->created_ms = created_ms(obj);
    c->version = strtoull(sw_json_str(obj, "0", "metadata", "resourceVersion", NULL), NULL, 10);
    return c;
}

static void on_claim(const struct sw_watch_event *e, void *arg)
{
    struct sw_device_plugin *p = arg;
    const int64_t now_ms = dp_now_ms(p);
    struct dp_claim *c;
    switch (e->type) {
    case SW_WATCH_ADDED:
    case SW_WATCH_MODIFIED:
        c = read_claim(p, e->object);
        if (c)
            dp_broker_on_claim(p->broker, c, now_ms);
        break;
    case SW_WATCH_DELETED:
        dp_broker_on_claim_gone(p->broker, e->ns, e->name, now_ms);
        break;
    case SW_WATCH_SYNCED:
        dp_broker_on_synced(p->broker, false, true, now_ms);
        break;
    case SW_WATCH_ERROR:
        log_trouble(e);
        break;
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
    enum dp_claim_state state;
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

static struct json_object *state_patch(const struct sw_device_plugin *p, enum dp_claim_state state)
{
    static const char *const messages[] = { [DP_STAGED] = "The slice waits for its container",
                                            [DP_CREATED] = "The slice waits for its container",
                                            [DP_PROCESSING] = "The slice is being made",
                                            [DP_IN_USE] = "The container has the slice" };
    char now[21];
    struct json_object *doc = json_object_new_object(), *c = json_object_new_object();
    sw_json_set_str(doc, dp_claim_state_text(state), "status", "state", NULL);
    sw_json_set_str(c, "State", "type", NULL);
    sw_json_set_str(c, "True", "status", NULL);
    sw_json_set_str(c, dp_claim_state_text(state), "reason", NULL);
    sw_json_set_str(c, messages[state], "message", NULL);
    sw_json_set_str(c, sw_time_rfc3339(dp_now_ms(p), now), "lastTransitionTime", NULL);
    json_object_array_add(sw_json_need_list(doc, "status", "conditions", NULL), c);
    return doc;
}

/* What the scheduler writes of the pod changes with it. */
static struct json_object *pod_patch(const struct dp_claim *c)
{
    const struct dp_ref *pod = &c->pod;
    struct json_object *doc = json_object_new_object();
    sw_json_set_str(doc, pod->uid, "metadata", "labels", "slipway.dev/pod-uid", NULL);
    if (c->grant)
        sw_json_set_str(doc, c->grant->container, "spec", "containerName", NULL);
    sw_json_set_str(doc, pod->ns, "spec", "podRef", "namespace", NULL);
    sw_json_set_str(doc, pod->name, "spec", "podRef", "name", NULL);
    sw_json_set_str(doc, pod->uid, "spec", "podRef", "uid", NULL);
    return doc;
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
        w->request = sw_kube_patch(p->kube, &dp_kind_claim, w->ns, w->name, SW_PATCH_MERGE, body,
                                   &(struct sw_request_opts){ .subresource = "status" }, on_written,
                                   w);
    } else if (a->act == DP_ACT_CLAIM_POD && c) {
        body = pod_patch(c);
        p->n.swaps++;
        w->request = sw_kube_patch(p->kube, &dp_kind_claim, w->ns, w->name, SW_PATCH_MERGE, body,
                                   NULL, on_written, w);
    } else if (a->act == DP_ACT_EVICT) {
        p->n.evictions++;
        sw_log(SW_LOG_WARN, "pod deleted: its slices cannot be had again", "pod", w->name,
               "namespace", w->ns, "reason", a->message, NULL);
        w->request = sw_kube_delete(p->kube, &dp_kind_pod, w->ns, w->name,
                                    &(struct sw_request_opts){ .uid = a->ref.uid }, on_written, w);
    } else {
        w->request = sw_kube_delete(p->kube, &dp_kind_claim, w->ns, w->name, NULL, on_written, w);
    }
}

/* ---- events ------------------------------------------------------------------------------------
 */

static void on_event(const struct sw_kube_answer *answer, void *arg SW_UNUSED)
{
    if (answer->code < 0) /* it is for people: losing one harms nothing, and the log has it */
        sw_log(SW_LOG_DEBUG, "event not recorded", "error", sw_err_text(answer->err), NULL);
}

void dp_cluster_event(struct sw_device_plugin *p, const struct dp_ref *pod, const char *reason,
                      const char *message)
{
    SW_AUTO_CHARS *id = sw_printf(
        "%s.%llx", pod->name, (unsigned long long)dp_now_ms(p) * 1000000 + p->n.events++ % 1000000);
    SW_AUTO_JSON *doc = sw_kube_event_doc(
        &(struct sw_kube_event){ .id = id,
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
                                 .at_ms = dp_now_ms(p) });
    (void)sw_kube_create(p->kube, &dp_kind_event, pod->ns, NULL, doc, NULL, on_event, p);
}

/* ---- opening -----------------------------------------------------------------------------------
 */

void dp_cluster_open(struct sw_device_plugin *p)
{
    SW_AUTO_CHARS *here = sw_printf("spec.nodeName=%s", p->opts.node);
    p->pods = sw_kube_watch_open(
        p->kube, &dp_kind_pod,
        &(struct sw_watch_opts){ .field_selector = here, .fields = pod_fields }, on_pod, p);
    char label[SW_MIG_NODE_LABEL_LEN];
    SW_AUTO_CHARS *ours = sw_printf(SW_MIG_NODE_LABEL "=%s",
                                    sw_mig_node_label(p->opts.node, label));
    p->claims = sw_kube_watch_open(
        p->kube, &dp_kind_claim,
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
