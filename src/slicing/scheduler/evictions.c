/* What is written when pods are evicted for the slices of another one, whoever places these. */
#include "data/data.h"
#include "slicing/scheduler/internal.h"

enum { WRITE_MS = 10 * 1000 };

struct sw_kube_request *sched_nominate(struct sw_scheduler *s, const struct pod *pod,
                                       const char *node, sw_kube_answer_fn *cb, void *arg)
{
    const struct sw_request_opts opts = { .subresource = "status",
                                          .timeout_ms = WRITE_MS,
                                          .retries = 2 };
    SW_AUTO_JSON *body = json_object_new_object();
    sw_json_set_str(body, pod->uid, "metadata", "uid", NULL);
    sw_json_set(body, node ? json_object_new_string(node) : NULL, "status", "nominatedNodeName",
                NULL);
    return sw_kube_patch(s->kube, &sw_kind_pod, pod->ns, pod->name, SW_PATCH_MERGE, body, &opts, cb,
                         arg);
}

struct sw_kube_request *sched_evict_send(struct sw_scheduler *s, const struct evicted *v,
                                         sw_kube_answer_fn *cb, void *arg)
{
    SW_AUTO_JSON *body = json_object_new_object();
    sw_json_set_str(body, s->old_evictions ? "policy/v1beta1" : "policy/v1", "apiVersion", NULL);
    sw_json_set_str(body, "Eviction", "kind", NULL);
    sw_json_set_str(body, v->name, "metadata", "name", NULL);
    sw_json_set_str(body, v->ns, "metadata", "namespace", NULL);
    sw_json_set_str(body, v->uid, "deleteOptions", "preconditions", "uid", NULL);
    return sw_kube_create(
        s->kube, &sw_kind_pod, v->ns, v->name, body,
        &(struct sw_request_opts){ .subresource = "eviction", .timeout_ms = WRITE_MS }, cb, arg);
}

void sched_evict_event(struct sw_scheduler *s, const struct evicted *of, const char *reason,
                       const char *message, uint64_t serial)
{
    const struct sw_kube_event event = {
        .ns = of->ns,
        .of = { .api_version = "v1",
                .kind = "Pod",
                .ns = of->ns,
                .name = of->name,
                .uid = of->uid },
        .reason = reason,
        .message = message,
        .component = "slipway-scheduler",
        .at_ms = sw_loop_wall_ms(s->loop),
    };
    sw_kube_event_send(s->kube, &event, serial);
}
