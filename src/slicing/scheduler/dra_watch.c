/* The watches of the evictor. */
#include "data/data.h"
#include "slicing/dra/dra.h"
#include "slicing/scheduler/dra_evictor.h"

enum { RETRY_MS = 60 * 1000 };

#define API "resource.k8s.io/v1"
static const char *const whole[] = { "!metadata.managedFields", NULL };

static const struct {
    const char *api_version, *kind, *selector;
    const char *const *fields;
} sources[DRA_N_SOURCES] = {
    [DRA_NODES] = { "v1", "Node", NULL, dra_node_fields },
    [DRA_SLICES] = { API, "ResourceSlice", "spec.driver=" SW_DRA_DRIVER, whole },
    [DRA_CLASSES] = { API, "DeviceClass", NULL, whole },
    [DRA_CLAIMS] = { API, "ResourceClaim", NULL, whole },
    [DRA_PODS] = { "v1", "Pod", NULL, dra_pod_fields },
    [DRA_BUDGETS] = { "policy/v1", "PodDisruptionBudget", NULL, dra_budget_fields },
};

static void find_kind(void *arg);

/* Nodes publish slices of ours: now the rest is needed. */
static void watch_all(struct dra_evictor *e)
{
    if (e->all_watched)
        return;
    e->all_watched = true;
    sw_log(SW_LOG_INFO, "evicting for devices, too", "driver", SW_DRA_DRIVER, NULL);
    for (int i = 0; i < DRA_N_SOURCES; i++)
        if (i != DRA_SLICES)
            find_kind(&e->sources[i]);
}

static void observe(struct dra_evictor *e, int which, const struct sw_watch_event *w)
{
    struct json_object *obj = w->type == SW_WATCH_DELETED ? NULL : w->object;
    if (which == DRA_BUDGETS)
        cache_observe_budget(e->view->cache, w->ns, w->name, obj);
    else if (which != DRA_PODS)
        dra_observe(e->view, (enum dra_kind)which, w->ns, w->name, obj);
    else if (obj)
        dra_observe_pod(e->view, obj, sw_loop_now_ms(e->s->loop));
    else
        dra_pod_gone(e->view, w->uid);
    if (which == DRA_SLICES && obj)
        watch_all(e);
}

static void on_event(const struct sw_watch_event *w, void *arg)
{
    struct dra_source *f = arg;
    if (w->type == SW_WATCH_ERROR)
        sw_log(SW_LOG_WARN, "cannot watch", "kind", sources[f->which].kind, "error",
               sw_err_text(w->err), NULL);
    else if (w->type != SW_WATCH_SYNCED)
        observe(f->e, f->which, w);
    dra_check_soon(f->e);
}

static void on_kind(int code, const struct sw_kind *kind, const struct sw_err *err, void *arg)
{
    struct dra_source *f = arg;
    f->kind_request = NULL;
    if (code < 0) { /* an older server, which may be upgraded */
        sw_log(SW_LOG_DEBUG, "nothing is evicted for devices", "error", sw_err_text(err), NULL);
        sw_timer_set(f->retry, RETRY_MS);
        return;
    }
    f->kind = kind;
    const struct sw_watch_opts opts = { .field_selector = sources[f->which].selector,
                                        .fields = sources[f->which].fields };
    f->watch = sw_kube_watch_open(f->e->s->kube, kind, &opts, on_event, f);
}

static void find_kind(void *arg)
{
    struct dra_source *f = arg;
    f->kind_request = sw_kube_kind(f->e->s->kube, sources[f->which].api_version,
                                   sources[f->which].kind, on_kind, f);
}

void dra_watches_open(struct dra_evictor *e)
{
    for (int i = 0; i < DRA_N_SOURCES; i++) {
        e->sources[i] = (struct dra_source){ .e = e, .which = i };
        e->sources[i].retry = sw_timer_new(e->s->loop, find_kind, &e->sources[i]);
    }
    find_kind(&e->sources[DRA_SLICES]);
}

void dra_watches_close(struct dra_evictor *e)
{
    for (int i = 0; i < DRA_N_SOURCES; i++) {
        sw_kube_cancel(e->sources[i].kind_request);
        sw_kube_watch_close(e->sources[i].watch);
        sw_timer_free(e->sources[i].retry);
    }
}

bool dra_watches_synced(const struct dra_evictor *e)
{
    for (int i = 0; i < DRA_N_SOURCES; i++)
        if (!e->sources[i].watch || !sw_kube_watch_is_synced(e->sources[i].watch))
            return false;
    return true;
}
