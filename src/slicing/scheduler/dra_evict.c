/* Eviction where kube-scheduler gives slices away itself: it preempts nobody for devices. Pods that
 * it could not place are looked at, one after the other, the most important first. In nobody's way:
 * nothing asks this, and a pod that fits is left to kube-scheduler.
 *
 * All is decided by what is in the cluster: status.nominatedNodeName says where, the ResourceClaim
 * that keeps the room says how far it is. */
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "data/json/table.h"
#include "slicing/dra/dra.h"
#include "slicing/scheduler/dra_evictor.h"

enum {
    SOON_MS = 50,
    AGAIN_MS = 500,
    WAIT_MS = 3000,        /* what goes by itself has gone by then */
    HOPELESS_MS = 5000,    /* until such a pod is looked at again */
    HANDOVER_MS = 11000,   /* kube-scheduler lets no pod wait longer before it tries it again */
    MOST_KEPT_MS = 300000, /* evicted pods have ended by then */
    MOST_MADE = 3,         /* times in a row: then something else keeps it from the node */
};

static struct dra_wait *wait_of(struct dra_evictor *e, const struct pod *pod, int64_t now_ms)
{
    struct dra_wait *w = sw_table_find(e->waits, pod->uid);
    if (!w) {
        w = sw_zalloc(1, sizeof *w);
        w->since_ms = now_ms;
        if (lh_table_insert(e->waits, sw_strdup(pod->uid), w) != 0)
            abort(); /* no memory */
    }
    w->waits = true;
    return w;
}

/* Those of pods that do not wait any more. */
static void drop_waits(struct dra_evictor *e)
{
    struct lh_entry *next;
    for (struct lh_entry *entry = lh_table_head(e->waits); entry; entry = next) {
        struct dra_wait *w = lh_entry_v(entry);
        next = entry->next;
        if (!w->waits)
            (void)lh_table_delete_entry(e->waits, entry);
        else
            w->waits = false;
    }
}

/* ---- one pod -----------------------------------------------------------------------------------
 */

static const char *node_of(struct json_object *claim)
{
    struct json_object *results = sw_json_find(claim, "status", "allocation", "devices", "results",
                                               NULL);
    const char *pool = sw_json_str(sw_json_at(results, 0), "", "pool", NULL);
    const char *slash = strchr(pool, '/');
    return slash ? slash + 1 : "";
}

static int64_t age_of(const struct dra_evictor *e, struct json_object *claim)
{
    int64_t created_ms;
    if (sw_time_parse(sw_json_str(claim, "", "metadata", "creationTimestamp", NULL), &created_ms,
                      NULL) < 0)
        return 0;
    return sw_loop_wall_ms(e->s->loop) - created_ms;
}

/* What there is to do for the pod, without moves where they are not allowed. */
static enum dra_outcome choose(const struct dra_evictor *e, const struct dra_pod *p,
                               const char *node, bool may_move, struct dra_choice *c)
{
    enum dra_outcome outcome = dra_choose(e->view, p, node,
                                          p->pod->never_preempts ? DRA_MOVE : DRA_PREEMPT, c);
    if (outcome == DRA_EVICT && p->pod->never_preempts && !may_move) {
        dra_choice_done(c);
        return DRA_HOPELESS;
    }
    if (outcome == DRA_HOPELESS && may_move && !p->pod->never_preempts) {
        dra_choice_done(c);
        outcome = dra_choose(e->view, p, node, DRA_MOVE, c);
    }
    return outcome;
}

/* Room is kept for the pod already. */
static void follow(struct dra_evictor *e, const struct dra_pod *p, struct json_object *claim,
                   struct dra_wait *w, int64_t now_ms)
{
    struct dra_choice c;
    const char *node = node_of(claim);
    const int64_t handover_ms = e->s->opts.handover_ms ? e->s->opts.handover_ms : HANDOVER_MS;
    if (age_of(e, claim) > MOST_KEPT_MS || !dra_find(e->view, DRA_NODES, NULL, node)) {
        sw_log(SW_LOG_WARN, "room is kept no longer", "pod", p->pod->name, "node", node, NULL);
        w->again_ms = now_ms + HOPELESS_MS;
        dra_release_room(e, claim, p->pod);
        return;
    }
    const enum dra_outcome outcome = choose(e, p, node, dra_may_defragment(e, p), &c);
    if (outcome != DRA_FITS)
        w->complete_ms = 0;
    else if (!w->complete_ms)
        w->complete_ms = now_ms;
    else if (now_ms - w->complete_ms >= handover_ms)
        dra_release_room(e, claim, NULL);
    if (outcome == DRA_EVICT && now_ms >= w->again_ms) {
        w->again_ms = now_ms + HOPELESS_MS;
        dra_make_room(e, p, &c);
    }
    dra_choice_done(&c);
}

/* Where room has been made, or kube-scheduler evicts pods itself, no other node comes into question
 * for a while. */
static const char *only_node(const struct dra_evictor *e, const struct pod *pod, int64_t now_ms)
{
    const bool recent = now_ms - pod->nominated_ms < CACHE_NOMINATED_MS;
    return pod->nominated_name && recent && dra_find(e->view, DRA_NODES, NULL, pod->nominated_name)
               ? pod->nominated_name
               : NULL;
}

/* @return whether that took its time: others are looked at in the next turn */
static bool consider(struct dra_evictor *e, const struct dra_pod *p, int64_t now_ms)
{
    SW_AUTO_CHARS *name = dra_room_name(p->pod->uid);
    struct json_object *claim = dra_find(e->view, DRA_CLAIMS, p->pod->ns, name);
    struct dra_wait *w = wait_of(e, p->pod, now_ms);
    struct dra_choice c;
    if (now_ms - w->since_ms < WAIT_MS || (w->checked_ms && now_ms - w->checked_ms < AGAIN_MS))
        return false;
    w->checked_ms = now_ms;
    if (claim && sw_json_find(claim, "status", "allocation", NULL)) {
        follow(e, p, claim, w, now_ms);
        return true;
    }
    if (now_ms < w->again_ms)
        return false;
    w->again_ms = now_ms + HOPELESS_MS;
    w->complete_ms = 0;
    const char *node = only_node(e, p->pod, now_ms);
    const enum dra_outcome outcome = choose(e, p, node, false, &c);
    if (outcome == DRA_EVICT) {
        if (++w->n_made % MOST_MADE == 0)
            w->again_ms = now_ms + MOST_KEPT_MS;
        dra_make_room(e, p, &c);
    } else if (outcome == DRA_HOPELESS) {
        sw_log(SW_LOG_DEBUG, "no pod is evicted", "for", p->pod->name, "namespace", p->pod->ns,
               "why", c.why ? c.why : "no node has such devices", NULL);
        dra_defragment(e, p, w, node, now_ms);
    }
    dra_choice_done(&c);
    return true;
}

/* ---- all pods ----------------------------------------------------------------------------------
 */

/* A claim that keeps room for nobody any more. */
static bool release_unused(struct dra_evictor *e)
{
    struct lh_table *claims = e->view->docs[DRA_CLAIMS];
    for (struct lh_entry *entry = lh_table_head(claims); entry; entry = entry->next) {
        struct json_object *claim = lh_entry_v(entry);
        const char *uid = sw_obj_label(claim, DRA_ROOM_LABEL);
        const struct dra_pod *p = uid ? dra_find_pod(e->view, uid) : NULL;
        if (!uid || (p && p->doc && !p->pod->leaving))
            continue;
        dra_release_room(e, claim, NULL);
        return true;
    }
    return false;
}

static bool is_candidate(const struct dra_pod *p)
{
    return p->doc && !p->pod->leaving && dra_is_refused(p->doc);
}

static const struct pod **waiting(const struct dra_evictor *e, size_t *n)
{
    const struct pod **list = NULL;
    size_t cap = 0;
    *n = 0;
    for (struct lh_entry *entry = lh_table_head(e->view->pods); entry; entry = entry->next) {
        const struct dra_pod *p = lh_entry_v(entry);
        if (!is_candidate(p))
            continue;
        SW_GROW(list, *n, cap);
        list[(*n)++] = p->pod;
    }
    if (*n)
        qsort(list, *n, sizeof *list, victims_by_importance);
    return list;
}

static bool is_leading(const struct sw_scheduler *s)
{
    return !s->opts.leader_elect || (s->lease && sw_lease_is_leader(s->lease));
}

static void on_check(void *arg)
{
    struct dra_evictor *e = arg;
    const int64_t now_ms = sw_loop_now_ms(e->s->loop);
    size_t n;
    if (e->preemption || !dra_watches_synced(e))
        return; /* it is called again */
    if (!is_leading(e->s)) {
        sw_timer_set(e->check, WAIT_MS);
        return;
    }
    if (release_unused(e))
        return;
    const struct pod **list = waiting(e, &n);
    for (size_t i = 0; i < n; i++)
        (void)wait_of(e, list[i], now_ms);
    drop_waits(e);
    bool checked = false;
    for (size_t i = 0; i < n && !checked; i++)
        checked = consider(e, dra_find_pod(e->view, list[i]->uid), now_ms);
    free(list);
    if (n && !e->preemption)
        sw_timer_set(e->check, checked ? SOON_MS : AGAIN_MS);
}

void dra_check_soon(struct dra_evictor *e)
{
    if (!sw_timer_is_set(e->check))
        sw_timer_set(e->check, SOON_MS);
}

void sched_dra_open(struct sw_scheduler *s)
{
    struct dra_evictor *e = sw_zalloc(1, sizeof *e);
    e->s = s;
    e->view = dra_view_new();
    e->waits = lh_kchar_table_new(16, sw_table_free_key_and_value);
    e->check = sw_timer_new(s->loop, on_check, e);
    s->dra = e;
    dra_watches_open(e);
}

void sched_dra_close(struct sw_scheduler *s)
{
    struct dra_evictor *e = SW_TAKE(s->dra);
    if (!e)
        return;
    dra_watches_close(e);
    dra_preemption_close(e);
    sw_timer_free(e->check);
    lh_table_free(e->waits);
    dra_view_free(e->view);
    free(e);
}
