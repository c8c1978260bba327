#include "web/slices.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "data/data.h"
#include "data/json/table.h"
#include "kube/kube.h"
#include "slicing/scheduler/devices/gpu_slices.h"

enum {
    SOON_MS = 200,
    REST = 10,           /* times as long as a turn took */
    MAX_RUNS = 150,      /* of the allocator for one question: a turn is to be short */
    MOST_EXPLAINED = 100 /* pods; of the others the scheduler's words are shown alone */
};

/* A pod that waits. */
struct wait {
    char *uid;
    struct json_object *doc; /* what is shown, without why */
    struct json_object *why; /* gpu_slices_explain()'s; NULL: not yet */
    uint64_t at;             /* when that was, in turns */
    bool stale;              /* something has changed since */
    bool waits;              /* while they are swept */
};

struct web_slices {
    struct sw_loop *loop;
    struct dra_view *view;
    struct json_object *accelerators, *allocations; /* by name */
    struct json_object *gpus;                       /* those shown, by key */
    struct lh_table *waits;                         /* struct wait, by "namespace/name" */
    uint64_t turns;
    web_slices_fn *show;
    void *arg;
    struct sw_timer *turn;
    bool changed;  /* since all was laid out */
    bool complete; /* all that there is is known */
    bool done;     /* once: it need not hurry any more */
};

static void free_wait(struct lh_entry *e)
{
    struct wait *w = lh_entry_v(e);
    free(w->uid);
    json_object_put(w->doc);
    json_object_put(w->why);
    sw_table_free_key_and_value(e);
}

/* ---- GPUs --------------------------------------------------------------------------------------
 */

/* The values of a map. The caller's. */
static struct json_object *values_of(struct json_object *map)
{
    struct json_object *list = json_object_new_array();
    json_object_object_foreach(map, key, value)
    {
        (void)key;
        json_object_array_add(list, json_object_get(value));
    }
    return list;
}

static char *gpu_key(struct json_object *gpu)
{
    const int64_t index = sw_json_int(gpu, 0, "gpu", NULL);
    return index < 0 ? sw_printf("%s/%s", sw_json_str(gpu, "", "node", NULL),
                                 sw_json_str(gpu, "", "uuid", NULL))
                     : sw_printf("%s/%lld", sw_json_str(gpu, "", "node", NULL), (long long)index);
}

static void show_gpus(struct web_slices *s)
{
    SW_AUTO_JSON *accelerators = values_of(s->accelerators);
    SW_AUTO_JSON *allocations = values_of(s->allocations);
    const struct gpu_slices_source from = { .view = s->view,
                                            .accelerators = accelerators,
                                            .claims = allocations };
    SW_AUTO_JSON *gpus = gpu_slices_gpus(&from);
    SW_AUTO_JSON *before = s->gpus;
    s->gpus = json_object_new_object();
    for (size_t i = 0; i < sw_json_len(gpus); i++) {
        SW_AUTO_CHARS *key = gpu_key(sw_json_at(gpus, i));
        json_object_object_add(s->gpus, key, NULL);
        json_object_object_del(before, key);
        s->show("gpu", key, sw_json_at(gpus, i), s->arg);
    }
    json_object_object_foreach(before, gone, value)
    {
        (void)value;
        s->show("gpu", gone, NULL, s->arg);
    }
}

/* ---- pods that wait ----------------------------------------------------------------------------
 */

static void show_wait(struct web_slices *s, const char *key, const struct wait *w)
{
    SW_AUTO_JSON *doc = sw_json_copy(w->doc);
    if (w->why) {
        json_object_object_foreach(w->why, field, value)
        {
            json_object_object_add(doc, field, json_object_get(value));
        }
    }
    s->show("waiting", key, doc, s->arg);
}

/* The pod waits: show it at once, and why as it was. */
static void observe_wait(struct web_slices *s, const struct dra_pod *p, struct json_object *doc)
{
    const char *key = sw_json_str(doc, "", "pod", NULL);
    struct wait *w = sw_table_find(s->waits, key);
    if (!w) {
        w = sw_zalloc(1, sizeof *w);
        if (lh_table_insert(s->waits, sw_strdup(key), w) != 0)
            abort(); /* no memory */
    }
    if (!sw_streq(w->uid, p->pod->uid)) {
        sw_text_set(&w->uid, p->pod->uid);
        json_object_put(SW_TAKE(w->why));
    }
    json_object_put(w->doc);
    w->doc = doc;
    w->waits = w->stale = true;
    if (!s->complete)
        json_object_put(SW_TAKE(w->why));
    show_wait(s, key, w);
}

static void show_waits(struct web_slices *s)
{
    struct lh_entry *next;
    for (struct lh_entry *e = lh_table_head(s->view->pods); e; e = e->next) {
        struct json_object *doc = gpu_slices_waiting(s->view, lh_entry_v(e));
        if (doc)
            observe_wait(s, lh_entry_v(e), doc);
    }
    for (struct lh_entry *e = lh_table_head(s->waits); e; e = next) {
        struct wait *w = lh_entry_v(e);
        next = e->next;
        if (w->waits) {
            w->waits = false;
            continue;
        }
        s->show("waiting", lh_entry_k(e), NULL, s->arg);
        (void)lh_table_delete_entry(s->waits, e);
    }
}

/* The pod whose explanation is the oldest of those that may be wrong; NULL: none. */
static struct lh_entry *next_to_explain(const struct web_slices *s)
{
    struct lh_entry *oldest = NULL;
    size_t n = 0;
    for (struct lh_entry *e = lh_table_head(s->waits); e && n < MOST_EXPLAINED; e = e->next, n++) {
        const struct wait *w = lh_entry_v(e);
        if (w->stale && (!oldest || w->at < ((struct wait *)lh_entry_v(oldest))->at))
            oldest = e;
    }
    return oldest;
}

/* @return whether there was a pod to be explained */
static bool explain_next(struct web_slices *s)
{
    struct lh_entry *e = s->complete ? next_to_explain(s) : NULL;
    if (!e)
        return false;
    struct wait *w = lh_entry_v(e);
    const struct dra_pod *p = dra_find_pod(s->view, w->uid);
    json_object_put(w->why);
    w->why = json_object_new_object();
    w->stale = false;
    w->at = ++s->turns;
    if (p)
        gpu_slices_explain(s->view, p, w->why);
    show_wait(s, lh_entry_k(e), w);
    return true;
}

/* ---- turns -------------------------------------------------------------------------------------
 */

static void on_turn(void *arg)
{
    struct web_slices *s = arg;
    const int64_t began_ms = sw_loop_now_ms(s->loop);
    if (s->changed) {
        s->changed = false;
        show_gpus(s);
        show_waits(s);
    }
    const bool more = explain_next(s);
    s->done |= !more && s->complete;
    if (more)
        sw_timer_set(s->turn, (s->done ? REST : 1) * (sw_loop_now_ms(s->loop) - began_ms));
}

static void turn_soon(struct web_slices *s)
{
    s->changed = true;
    if (!sw_timer_is_set(s->turn))
        sw_timer_set(s->turn, s->done ? SOON_MS : 0);
}

/* Of AllocationClaims and NodeAccelerators. */
static void keep(struct json_object *map, const struct sw_watch_event *e)
{
    SW_AUTO_CHARS *key = sw_printf("%s/%s", e->ns ? e->ns : "", e->name);
    if (e->type == SW_WATCH_DELETED)
        json_object_object_del(map, key);
    else
        json_object_object_add(map, key, json_object_get(e->object));
}

void web_slices_observe(struct web_slices *s, int which, const struct sw_watch_event *e)
{
    struct json_object *obj = e->type == SW_WATCH_DELETED ? NULL : e->object;
    if (which == WEB_SLICES_ACCELERATORS)
        keep(s->accelerators, e);
    else if (which == WEB_SLICES_ALLOCATIONS)
        keep(s->allocations, e);
    else if (which == WEB_SLICES_BUDGETS)
        cache_observe_budget(s->view->cache, e->ns, e->name, obj);
    else if (which != WEB_SLICES_PODS)
        dra_observe(s->view, (enum dra_kind)which, e->ns, e->name, obj);
    else if (obj)
        dra_observe_pod(s->view, obj, sw_loop_now_ms(s->loop));
    else
        dra_pod_gone(s->view, e->uid);
    turn_soon(s);
}

void web_slices_forget_pods(struct web_slices *s)
{
    while (lh_table_head(s->view->pods)) {
        SW_AUTO_CHARS *uid = sw_strdup(lh_entry_k(lh_table_head(s->view->pods)));
        dra_pod_gone(s->view, uid);
    }
    turn_soon(s);
}

void web_slices_set_complete(struct web_slices *s, bool complete)
{
    if (s->complete == complete)
        return;
    s->complete = complete;
    turn_soon(s);
}

bool web_slices_is_done(const struct web_slices *s)
{
    return !sw_timer_is_set(s->turn);
}

struct web_slices *web_slices_new(struct sw_loop *loop, web_slices_fn *show, void *arg)
{
    struct web_slices *s = sw_zalloc(1, sizeof *s);
    s->loop = loop;
    s->view = dra_view_new();
    s->view->every_pod = true;
    s->view->max_runs = MAX_RUNS;
    s->accelerators = json_object_new_object();
    s->allocations = json_object_new_object();
    s->gpus = json_object_new_object();
    s->waits = lh_kchar_table_new(16, free_wait);
    s->show = show;
    s->arg = arg;
    s->turn = sw_timer_new(loop, on_turn, s);
    return s;
}

void web_slices_free(struct web_slices *s)
{
    if (!s)
        return;
    sw_timer_free(s->turn);
    lh_table_free(s->waits);
    json_object_put(s->gpus);
    json_object_put(s->allocations);
    json_object_put(s->accelerators);
    dra_view_free(s->view);
    free(s);
}
