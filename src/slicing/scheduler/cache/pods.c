/* Pods. */
#include "slicing/scheduler/cache/cache_internal.h"

#include <stdlib.h>
#include <string.h>

#include "data/data.h"

static bool is_waiting(const struct pod *pod)
{
    return pod->known && pod->pod_request.n && !pod->node && !pod->ended;
}

struct pod *cache_find_pod(const struct cache *p, const char *uid)
{
    return sw_table_find(p->pods, uid);
}

struct pod *cache_need_pod(struct cache *p, const char *uid, const char *ns, const char *name)
{
    struct pod *pod = cache_find_pod(p, uid);
    if (pod)
        return pod;
    pod = sw_zalloc(1, sizeof *pod);
    pod->uid = sw_strdup(uid);
    pod->ns = sw_strdup(ns);
    pod->name = sw_strdup(name);
    cache_insert(p->pods, pod->uid, pod);
    return pod;
}

void cache_free_pod(struct cache *p, struct pod *pod)
{
    cache_nominate(p, pod, NULL, 0, 0);
    cache_set_labels(p, pod, NULL);
    pod_request_done(&pod->pod_request);
    free(pod->nominated_name);
    free(pod->advice);
    free(pod->fault);
    free(pod->node);
    free(pod->uid);
    free(pod->ns);
    free(pod->name);
    free(pod);
}

void cache_maybe_forget_pod(struct cache *p, struct pod *pod)
{
    if (pod->known || pod->claims || pod->binding)
        return;
    (void)lh_table_delete(p->pods, pod->uid);
    cache_free_pod(p, pod);
}

/* Clear what only a waiting pod has. */
static void waits_no_more(struct cache *p, struct pod *pod)
{
    cache_nominate(p, pod, NULL, 0, 0);
    pod->spared_ms = 0;
    free(SW_TAKE(pod->advice));
}

static void see_bound(struct cache *p, struct pod *pod, const char *node, int64_t now_ms)
{
    if (pod->node || !*node)
        return;
    pod->node = sw_strdup(node);
    waits_no_more(p, pod);
    for (struct claim *c = pod->claims; c; c = c->pod_next)
        c->since_ms = now_ms; /* the collector counts from now on */
}

struct pod *cache_observe_pod(struct cache *p, struct json_object *obj, bool watched,
                              int64_t now_ms)
{
    struct pod *pod = cache_need_pod(p, sw_obj_uid(obj), sw_obj_namespace(obj), sw_obj_name(obj));
    const char *phase = sw_json_str(obj, "", "status", "phase", NULL);
    const char *created = sw_json_str(obj, "", "metadata", "creationTimestamp", NULL);
    if (pod->known && !watched)
        return pod;
    p->n_waiting -= is_waiting(pod);
    pod->watched |= watched;
    pod->known = true;
    pod->gone = false;
    see_bound(p, pod, sw_json_str(obj, "", "spec", "nodeName", NULL), now_ms);
    pod->ended = sw_streq(phase, "Succeeded") || sw_streq(phase, "Failed");
    pod->refused |= sw_streq(sw_json_str(sw_obj_condition(obj, "PodScheduled"), "", "status", NULL),
                             "False");
    pod->leaving = sw_json_find(obj, "metadata", "deletionTimestamp", NULL) != NULL;
    pod->never_preempts = sw_streq(sw_json_str(obj, "", "spec", "preemptionPolicy", NULL), "Never");
    if (pod->ended || pod->leaving)
        waits_no_more(p, pod);
    p->any_useless |= pod->ended && pod->claims;
    if (watched)
        cache_set_labels(p, pod, sw_json_find(obj, "metadata", "labels", NULL));
    pod->priority = (int32_t)sw_json_int(obj, 0, "spec", "priority", NULL);
    if (!pod->created_ms && *created && sw_time_parse(created, &pod->created_ms, NULL) < 0)
        pod->created_ms = 0;
    SW_ERR(fault);
    pod_request_done(&pod->pod_request);
    free(SW_TAKE(pod->fault));
    if (!pod->node && pod_request_read(obj, &pod->pod_request, &fault) < 0)
        pod->fault = sw_strdup(sw_err_text(&fault));
    p->n_waiting += is_waiting(pod);
    return pod;
}

void cache_pod_gone(struct cache *p, const char *uid)
{
    struct pod *pod = cache_find_pod(p, uid);
    if (!pod)
        return;
    p->n_waiting -= is_waiting(pod);
    pod->known = pod->watched = false;
    pod->gone = true;
    p->any_useless |= pod->claims != NULL;
    waits_no_more(p, pod);
    cache_maybe_forget_pod(p, pod);
}

void cache_pod_bound(struct cache *p, struct pod *pod, const char *node)
{
    p->n_waiting -= is_waiting(pod);
    see_bound(p, pod, node, 0);
    pod_request_done(&pod->pod_request);
}

void cache_bind_ended(struct cache *p, struct pod *pod)
{
    pod->binding = false;
    cache_maybe_forget_pod(p, pod);
}
