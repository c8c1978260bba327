/* Eviction of pods of lower priority where kube-scheduler does not evict: it asks its extenders
 * only where its own rules found victims, and its rules do not count slices. The Eviction API is
 * used, so that budgets are kept in any case; meanwhile the GPUs are kept for the pod. */
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "slicing/scheduler/internal.h"
#include "slicing/scheduler/victims.h"

enum {
    WAIT_MS = 3000,     /* kube-scheduler asks within that time if it evicts pods itself */
    OFFERED_MS = 30000, /* it has said by then on which of the nodes that it was told of */
    SPARED_MS = 300000,
    MAX_EVICTS = 16,
};

/* For one pod that found no room. */
struct evict {
    struct sw_scheduler *s;
    char *uid;    /* the pod's */
    char **nodes; /* where others may have to be evicted */
    size_t n_nodes;
    struct sw_timer *timer;
    struct sw_kube_request *req;
    char *node; /* that was chosen; NULL: none yet */
    struct evicted *victims;
    size_t n_victims, at;
    struct evict *next;
};

static void end(struct evict *e)
{
    struct evict **at = &e->s->evicts;
    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    sw_timer_free(e->timer);
    sw_kube_cancel(e->req);
    for (size_t i = 0; i < e->n_nodes; i++)
        free(e->nodes[i]);
    for (size_t i = 0; i < e->n_victims; i++) {
        free(e->victims[i].uid);
        free(e->victims[i].ns);
        free(e->victims[i].name);
    }
    free(e->nodes);
    free(e->victims);
    free(e->node);
    free(e->uid);
    free(e);
}

static struct evict *find(struct sw_scheduler *s, const char *uid, size_t *n)
{
    struct evict *found = NULL;
    *n = 0;
    for (struct evict *e = s->evicts; e; e = e->next, ++*n)
        if (strcmp(e->uid, uid) == 0)
            found = e;
    return found;
}

/* ---- one after another -------------------------------------------------------------------------
 */

static void record_preempted(struct evict *e, const struct evicted *v, const struct pod *pod)
{
    struct sw_scheduler *s = e->s;
    SW_AUTO_CHARS *message = sw_printf("Preempted by %s/%s on node %s, which needs its slices",
                                       pod->ns, pod->name, e->node);
    sched_evict_event(s, v, "Preempted", message, e->at);
}

static void send_next(struct evict *e);

static void on_evicted(const struct sw_kube_answer *a, void *arg)
{
    struct evict *e = arg;
    const struct evicted *v = &e->victims[e->at];
    struct pod *pod = cache_find_pod(e->s->cache, e->uid);
    e->req = NULL;
    if (a->code == SW_INVALID && !e->s->old_evictions) {
        e->s->old_evictions = true; /* servers before 1.22 know policy/v1beta1 only */
        send_next(e);
        return;
    }
    /* another pod of that name: the one that was meant is gone */
    if (a->code < 0 && a->code != SW_NOTFOUND && a->code != SW_CONFLICT) {
        /* Most likely a budget has been used up meanwhile. Pods that are evicted already stay so,
         * and then no other node is touched; the rest is decided when kube-scheduler asks about
         * the pod again. */
        e->s->metrics.evictions_refused++;
        sw_log(SW_LOG_WARN, "eviction refused", "pod", v->name, "namespace", v->ns, "error",
               sw_err_text(a->err), NULL);
        if (pod)
            cache_nominate(e->s->cache, pod, NULL, 0, 0);
        if (pod && e->at == 0) {
            cache_observe_nomination(pod, "", sw_loop_now_ms(e->s->loop));
            (void)sched_nominate(e->s, pod, NULL, sched_on_written, "nomination not taken back");
        }
        end(e);
        return;
    }
    if (a->code == 0) {
        e->s->metrics.evicted++;
        sw_log(SW_LOG_INFO, "pod evicted for its slices", "pod", v->name, "namespace", v->ns, "for",
               pod ? pod->name : "", "node", e->node, NULL);
        if (pod)
            record_preempted(e, v, pod);
    }
    e->at++;
    send_next(e);
}

static void send_next(struct evict *e)
{
    struct sw_scheduler *s = e->s;
    const struct pod *pod = cache_find_pod(s->cache, e->uid);
    /* done, or of no use any more */
    if (e->at == e->n_victims || !pod || !pod->nominated ||
        strcmp(pod->nominated->name, e->node) != 0) {
        end(e);
        return;
    }
    const struct evicted *v = &e->victims[e->at];
    e->req = sched_evict_send(s, v, on_evicted, e);
}

/* From now on every replica and kube-scheduler know where the pod's room is made: none of them
 * begins on another node, a restart included. */
static void on_nominated(const struct sw_kube_answer *a, void *arg)
{
    struct evict *e = arg;
    struct pod *pod = cache_find_pod(e->s->cache, e->uid);
    e->req = NULL;
    if (a->code == 0) {
        if (pod)
            cache_observe_nomination(pod, e->node, sw_loop_now_ms(e->s->loop));
        send_next(e);
        return;
    }
    if (a->code != SW_NOTFOUND && a->code != SW_CONFLICT)
        sw_log(SW_LOG_WARN, "pod not nominated, none is evicted for it", "node", e->node, "error",
               sw_err_text(a->err), NULL);
    if (pod && pod->nominated && strcmp(pod->nominated->name, e->node) == 0)
        cache_nominate(e->s->cache, pod, NULL, 0, 0);
    end(e);
}

/* ---- which pods --------------------------------------------------------------------------------
 */

/* Whether the room there is kept for a pod that is not less important. */
static bool has_priority(const struct node *node, const struct pod *pod)
{
    return node->nominee && node->nominee != pod && node->nominee->priority >= pod->priority;
}

/* The node where it harms least, of those where no budget forbids it. Where evictions for the pod
 * have begun on a node, before a restart or by kube-scheduler, no other node comes into question
 * while the pod may get its room there. @return NULL: none */
static struct node *choose(const struct evict *e, const struct pod *pod, struct victims *best)
{
    const struct cache *p = e->s->cache;
    struct node *chosen = cache_nominated(p, pod, sw_loop_now_ms(e->s->loop));
    if (chosen && victims_none(p, pod, chosen))
        return NULL; /* it comes without */
    if (chosen && !has_priority(chosen, pod) && victims_find(p, pod, chosen, NULL, 0, best))
        return best->n_violations ? NULL : chosen;
    chosen = NULL;
    for (size_t i = 0; i < e->n_nodes; i++) {
        struct victims v = { 0 };
        struct node *node = cache_find_node(p, e->nodes[i]);
        if (!victims_find(p, pod, node, NULL, 0, &v))
            continue;
        if (v.n_violations || has_priority(node, pod) || (chosen && !victims_better(&v, best))) {
            victims_done(&v);
            continue;
        }
        victims_done(best);
        *best = v;
        chosen = node;
    }
    return chosen;
}

static void on_timer(void *arg)
{
    struct evict *e = arg;
    struct pod *pod = cache_find_pod(e->s->cache, e->uid);
    struct victims v = { 0 };
    const bool waits = pod && pod->known && !pod->node && !pod->ended && !pod->leaving &&
                       !pod->binding && pod->refused && !pod->nominated;
    if (waits && pod->offered_ms && !pod->nominated_name &&
        sw_loop_now_ms(e->s->loop) - pod->offered_ms < OFFERED_MS) { /* it is choosing */
        sw_timer_set(e->timer, WAIT_MS);
        return;
    }
    /* Whether it fits once pods that end anyway have ended. They delay evictions for SPARED_MS. */
    const int64_t now_ms = sw_loop_now_ms(e->s->loop);
    bool room_comes = false;
    for (size_t i = 0; waits && i < e->n_nodes && !room_comes; i++)
        room_comes = victims_none(e->s->cache, pod, cache_find_node(e->s->cache, e->nodes[i])) != 0;
    if (room_comes && !pod->spared_ms)
        pod->spared_ms = now_ms;
    const bool delayed = room_comes && now_ms - pod->spared_ms < SPARED_MS;
    struct node *node = waits && !delayed ? choose(e, pod, &v) : NULL;
    if (!node) {
        victims_done(&v);
        end(e);
        return;
    }
    SW_AUTO_CHARS *pod_request = pod_request_text(&pod->pod_request);
    sw_log(SW_LOG_INFO, "less important pods leave", "for", pod->name, "namespace", pod->ns,
           "wants", pod_request, "node", node->name, NULL);
    cache_nominate(e->s->cache, pod, node, v.gpus, now_ms);
    e->node = sw_strdup(node->name);
    e->n_victims = v.n;
    e->victims = sw_zalloc(v.n, sizeof *e->victims);
    for (size_t i = 0; i < v.n; i++)
        e->victims[i] = (struct evicted){ sw_strdup(v.list[i]->uid), sw_strdup(v.list[i]->ns),
                                          sw_strdup(v.list[i]->name) };
    victims_done(&v);
    e->req = sched_nominate(e->s, pod, e->node, on_nominated, e);
}

void sched_evict_consider(struct sw_scheduler *s, const struct extender_outcome *outcome)
{
    size_t n;
    const struct pod *pod = outcome->pod;
    if (s->opts.no_preemption || !outcome->n_likely || pod->nominated || find(s, pod->uid, &n) ||
        n >= MAX_EVICTS)
        return;
    struct evict *e = sw_zalloc(1, sizeof *e);
    *e = (struct evict){ .s = s,
                         .uid = sw_strdup(pod->uid),
                         .nodes = sw_zalloc(outcome->n_likely, sizeof *e->nodes),
                         .n_nodes = outcome->n_likely,
                         .next = s->evicts };
    for (size_t i = 0; i < outcome->n_likely; i++)
        e->nodes[i] = sw_strdup(outcome->likely[i]->name);
    e->timer = sw_timer_new(s->loop, on_timer, e);
    sw_timer_set(e->timer, WAIT_MS);
    s->evicts = e;
}

void sched_evict_cancel(struct sw_scheduler *s, const struct pod *pod)
{
    size_t n;
    struct evict *e = find(s, pod->uid, &n);
    if (e && !e->node)
        end(e);
}

void sched_evict_follow(struct sw_scheduler *s, struct pod *pod, const char *node_name)
{
    struct cache *p = s->cache;
    struct node *node = cache_find_node(p, node_name);
    cache_observe_nomination(pod, node_name, sw_loop_now_ms(s->loop));
    if (pod->node || pod->ended || pod->leaving || !pod->pod_request.n)
        return;
    if (pod->nominated && pod->follows && pod->nominated != node)
        cache_nominate(p, pod, NULL, 0, 0);
    if (!node || pod->nominated || (node->nominee && node->nominee->priority >= pod->priority))
        return;
    const uint64_t gpus = victims_none(p, pod, node);
    if (!gpus)
        return;
    cache_nominate(p, pod, node, gpus, sw_loop_now_ms(s->loop));
    pod->follows = true;
}

void sched_evict_close(struct sw_scheduler *s)
{
    while (s->evicts)
        end(SW_LINKED(s->evicts));
}
