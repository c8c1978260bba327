/* What only the leader of several replicas does: unused claims are deleted, and waiting pods are
 * tried again when room appears. kube-scheduler tries a pod again when the pod or a node changes,
 * not when a claim does; so the pods that would fit are written to (wake.c). Where that has not
 * helped, since kube-scheduler finds something else missing or does not go by it, the node's label
 * SW_SCHEDULER_EPOCH is changed, which makes it try all; at most once a second. Hints are given by
 * any replica. */
#include <json-c/linkhash.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "slicing/scheduler/internal.h"
#include "slicing/scheduler/placement.h"

enum {
    TOUCH_SOON_MS = 10, /* changes that come together cause one write */
    TOUCH_EVERY_MS = 1000,
    WOKEN_MS = 150, /* a pod that was woken is being bound by then */
    COLLECT_MS = 2000,
    COLLECT_SOON_MS = 10,   /* what goes together is deleted together */
    COLLECT_MORE_MS = 100,  /* where the last time was not enough */
    MAX_CHECKS = 32,        /* at a time */
    MAX_WAITING = 256,      /* checked; with more, one of them will fit */
    MAX_TOUCHED = 16,       /* at once */
    UNSEEN_MS = 5000,       /* a claim may be seen before its pod is */
    UNCONFIRMED_MS = 60000, /* a pod that was only asked about */
    LOST_NODE_MS = 60000,
    DESELECTED_MS = 60000,
};

struct collector {
    struct sw_scheduler *s;
    struct sw_timer *touch, *collect;
    struct check *checks;
    size_t n_checks;
    bool waits; /* nodes that have grown are looked at again later: others need not wait for that */
    bool more;  /* claims were left for the next time */
    bool leading;
};

/* Whether a claim's pod is what it seems to be. */
struct check {
    struct collector *t;
    char *claim, *uid, *version; /* of the claim when it was asked */
    struct check *prev, *next;
};

/* ---- waking ------------------------------------------------------------------------------------
 */

/* Whether a pod that was refused would fit on the node now. One that was not asked about yet is in
 * the scheduler's queue and needs no hint. */
static bool is_awaited(const struct cache *p, struct node *n)
{
    unsigned n_checked = 0;
    for (struct lh_entry *e = lh_table_head(p->pods); e; e = e->next) {
        const struct pod *pod = lh_entry_v(e);
        if (!pod->known || pod->node || pod->ended || !pod->refused || pod->binding)
            continue;
        if (++n_checked > MAX_WAITING || decide_fit(p, pod, n, NULL, NULL) == 0)
            return true;
    }
    return false;
}

/* For writes whose failure is only logged. @what: the message */
static void on_written(const struct sw_kube_answer *a, void *what)
{
    if (a->code < 0 && a->code != SW_NOTFOUND)
        sw_log(SW_LOG_WARN, what, "error", sw_err_text(a->err), NULL);
}

/* @return a merge patch, the caller's */
static struct json_object *epoch_patch(int64_t now_ms)
{
    char epoch[24];
    struct json_object *body = json_object_new_object();
    (void)snprintf(epoch, sizeof epoch, "%lld", (long long)now_ms);
    sw_json_set_str(body, epoch, "metadata", "labels", SW_SCHEDULER_EPOCH, NULL);
    return body;
}

static void on_touch(void *arg)
{
    struct collector *t = arg;
    struct cache *p = t->s->cache;
    const int64_t now_ms = sw_loop_now_ms(t->s->loop);
    int64_t later_ms = 0;
    unsigned n_touched = 0;
    p->any_grown = t->waits = false;
    for (struct lh_entry *e = lh_table_head(p->nodes); e; e = e->next) {
        struct node *n = lh_entry_v(e);
        if (!n->grown)
            continue;
        if (!p->n_waiting || !is_awaited(p, n)) {
            n->grown = false;
        } else if (!n->woken) {
            n->woken = true;
            n->woken_ms = now_ms;
            later_ms = WOKEN_MS;
            sched_wake_pods(t->s, n);
        } else if (now_ms - n->woken_ms < WOKEN_MS || now_ms - n->touched_ms < TOUCH_EVERY_MS ||
                   n_touched == MAX_TOUCHED) {
            later_ms = later_ms ? later_ms : TOUCH_EVERY_MS / 4;
        } else {
            SW_AUTO_JSON *body = epoch_patch(now_ms);
            n->grown = false;
            n->touched_ms = now_ms;
            n_touched++;
            t->s->metrics.touched++;
            (void)sw_kube_patch(t->s->kube, t->s->informers[INFORMER_NODES].kind, NULL, n->name,
                                SW_PATCH_MERGE, body, &(struct sw_request_opts){ .retries = 3 },
                                on_written, "node not touched");
        }
    }
    if (later_ms) {
        t->waits = true;
        sw_timer_set(t->touch, later_ms);
    }
}

/* A pod that was just refused has to wait before it is tried again, two seconds at most; but
 * kube-scheduler 1.20 tries a pod that is written to at once. Source: PriorityQueue.Update, and
 * kubernetes/kubernetes#98829, by which it waits all the same. */
void sched_collector_hint(struct sw_scheduler *s, const struct pod *pod, struct node *n)
{
    s->metrics.sent_again++;
    sched_wake_write(s, pod);
    cache_has_grown(s->cache, n);
    n->woken = true; /* that is what it was just now: next is the node */
    n->woken_ms = sw_loop_now_ms(s->loop) - WOKEN_MS;
    if (s->collector && !sw_timer_is_set(s->collector->touch))
        sw_timer_set(s->collector->touch, TOUCH_SOON_MS);
}

/* ---- collecting --------------------------------------------------------------------------------
 */

static void free_check(struct check *k)
{
    *(k->prev ? &k->prev->next : &k->t->checks) = k->next;
    if (k->next)
        k->next->prev = k->prev;
    k->t->n_checks--;
    free(k->claim);
    free(k->uid);
    free(k->version);
    free(k);
}

/* The claim that was asked about, if it is still the same. */
static struct claim *claim_of(const struct check *k)
{
    struct claim *c = cache_find_claim(k->t->s->cache, k->claim);
    return c && !c->held && strcmp(c->uid, k->uid) == 0 ? c : NULL;
}

static void end_check(struct check *k)
{
    struct claim *c = claim_of(k);
    if (c) {
        c->checking = false;
        c->since_ms = sw_loop_now_ms(k->t->s->loop);
    }
    free_check(k);
}

static void on_collected(const struct sw_kube_answer *a, void *arg)
{
    struct check *k = arg;
    struct sw_scheduler *s = k->t->s;
    struct claim *c = claim_of(k);
    if (a->code == 0 || a->code == SW_NOTFOUND) {
        s->metrics.collected += a->code == 0;
        if (a->code == 0)
            sw_log(SW_LOG_INFO, "claim collected", "claim", k->claim, NULL);
        if (c)
            cache_drop_claim(s->cache, c);
    } else if (a->code != SW_CONFLICT) { /* changed meanwhile: checked again later */
        sw_log(SW_LOG_WARN, "claim not collected", "claim", k->claim, "error", sw_err_text(a->err),
               NULL);
    }
    struct collector *t = k->t;
    end_check(k);
    if (a->code == 0 && t->more && t->n_checks == 0)
        sw_timer_set(t->collect, COLLECT_MORE_MS);
    sched_collector_check(s);
}

static void collect_claim(struct check *k)
{
    const struct sw_scheduler *s = k->t->s;
    const struct sw_request_opts opts = { .uid = k->uid,
                                          .resource_version = *k->version ? k->version : NULL };
    (void)sw_kube_delete(s->kube, &sw_kind_claim, s->opts.ns, k->claim, &opts, on_collected, k);
}

static void on_pod_read(const struct sw_kube_answer *a, void *arg)
{
    struct check *k = arg;
    const struct claim *c = claim_of(k);
    bool useless = a->code == SW_NOTFOUND;
    if (c && a->code == 0) {
        const char *phase = sw_json_str(a->object, "", "status", "phase", NULL);
        const char *node = sw_json_str(a->object, "", "spec", "nodeName", NULL);
        useless = strcmp(sw_obj_uid(a->object), c->pod->uid) != 0 || sw_streq(phase, "Succeeded") ||
                  sw_streq(phase, "Failed") || strcmp(node, c->node->name) != 0;
    }
    if (c && useless && k->t->leading && !c->pod->binding)
        collect_claim(k);
    else
        end_check(k);
}

static void on_node_read(const struct sw_kube_answer *a, void *arg)
{
    struct check *k = arg;
    if (a->code == SW_NOTFOUND && claim_of(k) && k->t->leading)
        collect_claim(k);
    else
        end_check(k);
}

static bool is_suspect(const struct sw_scheduler *s, const struct claim *c, int64_t now_ms)
{
    const struct pod *pod = c->pod;
    const int64_t age_ms = now_ms - c->since_ms;
    if (c->state > SW_CLAIM_CREATED || pod->binding)
        return false;
    if (!pod->known)
        return pod->gone || age_ms > UNSEEN_MS;
    if (pod->ended)
        return true;
    if (!pod->node)
        return age_ms > s->opts.unbound_ms;
    return strcmp(pod->node, c->node->name) != 0;
}

static void start_check(struct collector *t, struct claim *c, bool lost)
{
    static const char *const fields[] = { "spec.nodeName", "status.phase", NULL };
    const struct sw_scheduler *s = t->s;
    const struct sw_request_opts opts = { .fields = fields };
    struct check *k = sw_zalloc(1, sizeof *k);
    *k = (struct check){ .t = t,
                         .claim = sw_strdup(c->name),
                         .uid = sw_strdup(c->uid),
                         .version = sw_strdup(c->resource_version),
                         .next = t->checks };
    if (t->checks)
        t->checks->prev = k;
    t->checks = k;
    t->n_checks++;
    c->checking = true;
    if (lost)
        (void)sw_kube_get(s->kube, s->informers[INFORMER_NODES].kind, NULL, c->node->name, &opts,
                          on_node_read, k);
    else
        (void)sw_kube_get(s->kube, s->informers[INFORMER_PODS].kind, c->pod->ns, c->pod->name,
                          &opts, on_pod_read, k);
}

static void collect_claims(struct collector *t, int64_t now_ms)
{
    struct lh_entry *e = lh_table_head(t->s->cache->claims);
    for (; e && t->n_checks < MAX_CHECKS; e = e->next) {
        struct claim *c = lh_entry_v(e);
        if (c->held || c->checking || !*c->uid || !*c->pod->name)
            continue;
        /* Slices that exist are destroyed by the node's device plugin, which then deletes the
         * claim. Where the node is gone, the claim is deleted here. */
        const bool lost = c->state > SW_CLAIM_CREATED && !c->pod->known && !c->node->is_mig &&
                          !c->node->labelled && now_ms - c->since_ms > LOST_NODE_MS;
        if (lost || is_suspect(t->s, c, now_ms))
            start_check(t, c, lost);
    }
    t->more = e != NULL;
}

/* Without its label a node has no device plugin, and without claims nothing updates its
 * NodeAccelerator any more. (With the Node its NodeAccelerator is deleted by the API server.) */
static void delete_accelerators(struct collector *t, int64_t now_ms)
{
    const struct cache *p = t->s->cache;
    for (struct lh_entry *e = lh_table_head(p->nodes); e && !p->any_node; e = e->next) {
        struct node *n = lh_entry_v(e);
        if (n->labelled || !n->is_mig || n->claims)
            n->deselected_ms = 0;
        else if (!n->deselected_ms)
            n->deselected_ms = now_ms;
        else if (now_ms - n->deselected_ms > DESELECTED_MS) {
            n->deselected_ms = now_ms; /* the next time after as long */
            sw_log(SW_LOG_INFO, "node deselected: its NodeAccelerator goes", "node", n->name, NULL);
            (void)sw_kube_delete(t->s->kube, &sw_kind_accelerator, t->s->opts.ns, n->name,
                                 &(struct sw_request_opts){ .retries = 1 }, on_written,
                                 "NodeAccelerator not deleted");
        }
    }
}

/* Claims of another scheduler, or of an older version: without the label the node's plugin does not
 * watch them. */
static void label_claims(struct collector *t)
{
    enum { MAX_LABELLED = 32 }; /* at once */
    unsigned n = 0;
    for (struct lh_entry *e = lh_table_head(t->s->cache->claims); e && n < MAX_LABELLED;
         e = e->next) {
        struct claim *c = lh_entry_v(e);
        if (!c->seen || c->held || c->labelled)
            continue;
        char label[SW_MIG_NODE_LABEL_LEN];
        SW_AUTO_JSON *body = json_object_new_object();
        sw_json_set_str(body, sw_mig_node_label(c->node->name, label), "metadata", "labels",
                        SW_MIG_NODE_LABEL, NULL);
        c->labelled = true; /* until it is seen without */
        n++;
        (void)sw_kube_patch(t->s->kube, &sw_kind_claim, t->s->opts.ns, c->name, SW_PATCH_MERGE,
                            body, &(struct sw_request_opts){ .retries = 3 }, on_written,
                            "claim not labelled");
    }
}

/* ---- leading -----------------------------------------------------------------------------------
 */

static void on_collect(void *arg)
{
    struct collector *t = arg;
    const int64_t now_ms = sw_loop_now_ms(t->s->loop);
    sw_timer_set(t->collect, COLLECT_MS);
    if (sched_informers_trouble(t->s))
        return;
    struct cache *p = t->s->cache;
    for (struct lh_entry *e = lh_table_head(p->pods), *next; e; e = next) {
        struct pod *pod = lh_entry_v(e);
        next = e->next;
        if (pod->nominated && now_ms - pod->nominated->nominated_ms > CACHE_NOMINATED_MS)
            cache_nominate(p, pod, NULL, 0, 0);
        /* known only from a request of kube-scheduler: it was deleted before the watch began */
        if (pod->known && !pod->watched && !pod->binding && now_ms - pod->asked_ms > UNCONFIRMED_MS)
            cache_pod_gone(p, pod->uid);
    }
    if (t->leading) {
        label_claims(t);
        delete_accelerators(t, now_ms);
        collect_claims(t, now_ms);
    }
    sched_collector_check(t->s);
}

void sched_collector_check(struct sw_scheduler *s)
{
    struct collector *t = s->collector;
    if (!t || !t->leading || sched_informers_trouble(s))
        return;
    if (s->cache->any_grown && (t->waits || !sw_timer_is_set(t->touch))) {
        t->waits = false;
        sw_timer_set(t->touch, TOUCH_SOON_MS);
    }
    if (s->cache->any_useless) {
        s->cache->any_useless = false;
        sw_timer_set(t->collect, COLLECT_SOON_MS);
    }
}

static void on_started(void *arg)
{
    struct collector *t = arg;
    t->leading = true;
    sw_log(SW_LOG_INFO, "collecting", "lease", t->s->opts.lease_name, NULL);
    sched_collector_check(t->s);
}

static void on_stopped(const char *why, void *arg)
{
    struct collector *t = arg;
    t->leading = false;
    sw_timer_stop(t->touch);
    sw_log(SW_LOG_WARN, "not collecting any more", "why", why, NULL);
}

static void on_trouble(const char *why, void *arg SW_UNUSED)
{
    if (why)
        sw_log(SW_LOG_WARN, "lease trouble", "error", why, NULL);
}

int sched_collector_open(struct sw_scheduler *s, const struct sw_kube_config *config,
                         struct sw_err *err)
{
    struct collector *t = s->collector = sw_zalloc(1, sizeof *t);
    t->s = s;
    t->touch = sw_timer_new(s->loop, on_touch, t);
    t->collect = sw_timer_new(s->loop, on_collect, t);
    sw_timer_set(t->collect, COLLECT_MS);
    t->leading = !s->opts.leader_elect;
    if (t->leading)
        return 0;
    const struct sw_lease_opts opts = { .ns = s->opts.lease_ns,
                                        .name = s->opts.lease_name,
                                        .identity = s->opts.identity,
                                        .user_agent = "slipway-scheduler",
                                        .on_started = on_started,
                                        .on_stopped = on_stopped,
                                        .on_trouble = on_trouble,
                                        .arg = t };
    return sw_lease_open(s->loop, config, &opts, &s->lease, err);
}

void sched_collector_close(struct sw_scheduler *s)
{
    struct collector *t = s->collector;
    if (!t)
        return;
    while (t->checks)
        free_check(SW_LINKED(t->checks));
    sw_timer_free(t->touch);
    sw_timer_free(t->collect);
    free(t);
    s->collector = NULL;
}
