/* The watches that fill the cache. */
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "slicing/scheduler/devices/harm.h"
#include "slicing/scheduler/internal.h"

enum { RETRY_MS = 2000 };

#define CONTAINER(list)                                                                            \
    "spec." list ".name", "spec." list ".resources.limits", "spec." list ".resources.requests"

static const char *const node_fields[] = { "metadata.name", "spec.taints", NULL };
static const char *const accelerator_fields[] = { "spec.acceleratorType", "status.nodeResources",
                                                  "status.conditions", NULL };
static const char *const claim_fields[] = { "metadata.labels",   "spec.profile",
                                            "spec.podRef",       "spec.gpuUUID",
                                            "spec.migPlacement", "spec.nodename",
                                            "status.state",      NULL };
static const char *const budget_fields[] = { "spec.selector", "status.disruptionsAllowed",
                                             "status.disruptedPods", NULL };
static const char *const pod_fields[] = {
    "metadata.labels",
    "metadata.deletionTimestamp",
    "metadata.creationTimestamp",
    "spec.nodeName",
    "spec.priority",
    "spec.preemptionPolicy",
    "status.phase",
    "status.conditions",
    "status.nominatedNodeName",
    CONTAINER("containers"),
    CONTAINER("initContainers"),
    CONTAINER("ephemeralContainers"),
    NULL,
};

static void on_node(struct sw_scheduler *s, const struct sw_watch_event *e)
{
    const bool there = e->type != SW_WATCH_DELETED;
    struct json_object *taints = there ? sw_json_find(e->object, "spec", "taints", NULL) : NULL;
    cache_observe_node(s->cache, e->name, there,
                       sw_json_find_by(taints, "effect", "PreferNoSchedule") != NULL);
    cache_observe_lost(s->cache, e->name, there && node_is_lost(taints));
    const char *epoch = there ? sw_obj_label(e->object, SW_SCHEDULER_EPOCH) : NULL;
    cache_observe_epoch(s->cache, e->name, epoch ? epoch : "", sw_loop_now_ms(s->loop));
}

static void on_accelerator(struct sw_scheduler *s, const struct sw_watch_event *e)
{
    SW_ERR(err);
    struct json_object *obj = e->type == SW_WATCH_DELETED ? NULL : e->object;
    if (cache_observe_accelerator(s->cache, e->name, obj, &err) < 0)
        sw_log(SW_LOG_WARN, "node left out", "error", sw_err_text(&err), NULL);
}

static void on_claim(struct sw_scheduler *s, const struct sw_watch_event *e)
{
    SW_ERR(err);
    struct json_object *obj = e->type == SW_WATCH_DELETED ? NULL : e->object;
    const int rc = cache_observe_claim(s->cache, e->name, e->uid, obj, sw_loop_now_ms(s->loop),
                                       &err);
    if (rc < 0 && rc != SW_NOTFOUND) /* one that claims nothing is somebody's view */
        sw_log(SW_LOG_WARN, "claim left out", "error", sw_err_text(&err), NULL);
    sched_bind_observed(s, e->name);
}

static void on_pod(struct sw_scheduler *s, const struct sw_watch_event *e)
{
    if (e->type == SW_WATCH_DELETED) {
        cache_pod_gone(s->cache, e->uid);
        return;
    }
    struct pod *pod = cache_observe_pod(s->cache, e->object, true, sw_loop_now_ms(s->loop));
    if (!s->opts.no_preemption)
        sched_evict_follow(s, pod, sw_json_str(e->object, "", "status", "nominatedNodeName", NULL));
}

static void on_budget(struct sw_scheduler *s, const struct sw_watch_event *e)
{
    cache_observe_budget(s->cache, e->ns, e->name, e->type == SW_WATCH_DELETED ? NULL : e->object);
}

static const struct {
    const char *api_version, *kind;
    const char *const *fields;
    bool in_ns; /* only in the scheduler's namespace */
    void (*observe)(struct sw_scheduler *s, const struct sw_watch_event *e);
    const char *older; /* the apiVersion of older servers; NULL: there is none */
    bool optional;     /* requests are answered before it is known */
} sources[N_INFORMERS] = {
    [INFORMER_NODES] = { "v1", "Node", node_fields, false, on_node, NULL, false },
    [INFORMER_ACCELERATORS] = { SW_CLAIM_API, "NodeAccelerator", accelerator_fields, true,
                                on_accelerator, NULL, false },
    [INFORMER_CLAIMS] = { SW_CLAIM_API, "AllocationClaim", claim_fields, true, on_claim, NULL,
                          false },
    [INFORMER_PODS] = { "v1", "Pod", pod_fields, false, on_pod, NULL, false },
    /* the API server enforces them in evictions: answers do not wait for them */
    [INFORMER_BUDGETS] = { "policy/v1", "PodDisruptionBudget", budget_fields, false, on_budget,
                           "policy/v1beta1", true },
};

static void set_trouble(struct informer *f, const char *why)
{
    if (sw_streq(f->trouble, why))
        return;
    sw_text_set(&f->trouble, why);
    if (why)
        sw_log(SW_LOG_WARN, "cannot watch", "kind", sources[f->source].kind, "error", why, NULL);
    else
        sw_log(SW_LOG_INFO, "watching", "kind", sources[f->source].kind, NULL);
}

static void on_event(const struct sw_watch_event *e, void *arg)
{
    struct informer *f = arg;
    if (e->type == SW_WATCH_ERROR)
        set_trouble(f, sw_err_text(e->err));
    else if (e->type == SW_WATCH_SYNCED)
        set_trouble(f, NULL);
    else
        sources[f->source].observe(f->s, e);
    f->s->changed(f->s);
}

static void on_kind(int code, const struct sw_kind *kind, const struct sw_err *err, void *arg)
{
    struct informer *f = arg;
    f->kind_request = NULL;
    if (code < 0) { /* its CRD may come later */
        f->older = !f->older && sources[f->source].older;
        if (!f->older)
            set_trouble(f, sw_err_text(err));
        sw_timer_set(f->retry, f->older ? 0 : RETRY_MS);
        return;
    }
    f->kind = kind;
    const struct sw_scheduler_opts *o = &f->s->opts;
    SW_AUTO_CHARS *selector = f->source == INFORMER_PODS && o->scheduler_name
                                  ? sw_printf("spec.schedulerName=%s", o->scheduler_name)
                                  : NULL;
    const struct sw_watch_opts opts = {
        .ns = sources[f->source].in_ns ? o->ns : NULL,
        .label_selector = f->source == INFORMER_NODES ? o->node_label : NULL,
        .field_selector = selector,
        .fields = sources[f->source].fields,
    };
    f->watch = sw_kube_watch_open(f->s->kube, kind, &opts, on_event, f);
}

static void find_kind(void *arg)
{
    struct informer *f = arg;
    const char *api = f->older ? sources[f->source].older : sources[f->source].api_version;
    f->kind_request = sw_kube_kind(f->s->kube, api, sources[f->source].kind, on_kind, f);
}

void sched_informers_open(struct sw_scheduler *s)
{
    for (size_t i = 0; i < N_INFORMERS; i++) {
        struct informer *f = &s->informers[i];
        *f = (struct informer){ .s = s, .source = (enum informer_source)i };
        f->retry = sw_timer_new(s->loop, find_kind, f);
        if (i != INFORMER_BUDGETS || !s->opts.no_preemption)
            find_kind(f);
    }
}

void sched_informers_close(struct sw_scheduler *s)
{
    for (size_t i = 0; i < N_INFORMERS; i++) {
        struct informer *f = &s->informers[i];
        sw_kube_cancel(f->kind_request);
        sw_kube_watch_close(f->watch);
        sw_timer_free(f->retry);
        free(f->trouble);
        *f = (struct informer){ 0 };
    }
}

const char *sched_informers_trouble(const struct sw_scheduler *s)
{
    for (size_t i = 0; i < N_INFORMERS; i++) {
        const struct informer *f = &s->informers[i];
        if (sources[i].optional)
            continue;
        if (f->trouble)
            return f->trouble;
        if (!f->watch || !sw_kube_watch_is_synced(f->watch))
            return "the cluster has not been read yet";
    }
    return NULL;
}
