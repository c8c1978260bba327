/* The tables, the queue of actions, and what is done when something has happened. */
#include "slicing/deviceplugin/broker/broker.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "slicing/deviceplugin/broker/broker_internal.h"

/* ---- memory ------------------------------------------------------------------------------------
 */

void dp_ref_done(struct dp_ref *ref)
{
    free(SW_TAKE(ref->ns));
    free(SW_TAKE(ref->name));
    free(SW_TAKE(ref->uid));
}

struct dp_ref dp_ref_copy(const struct dp_ref *ref)
{
    return (struct dp_ref){ sw_strdup(ref->ns), sw_strdup(ref->name), sw_strdup(ref->uid) };
}

static void free_texts(char **texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(texts[i]);
    free(texts);
}

static char **copy_texts(const char *const *texts, size_t n)
{
    char **out = sw_zalloc(n + 1, sizeof *out);
    for (size_t i = 0; i < n; i++)
        out[i] = sw_strdup(texts[i]);
    return out;
}

void dp_pod_free(struct dp_pod *pod)
{
    if (!pod)
        return;
    for (size_t i = 0; i < pod->n_containers; i++) {
        free(pod->containers[i].name);
        free(pod->containers[i].wants);
    }
    free(pod->containers);
    dp_ref_done(&pod->ref);
    free(pod);
}

void dp_claim_free(struct dp_claim *claim)
{
    if (!claim)
        return;
    free(claim->ns);
    free(claim->name);
    free(claim->gpu);
    dp_ref_done(&claim->pod);
    free(claim);
}

struct dp_grant *dp_grant_new(void)
{
    return sw_zalloc(1, sizeof(struct dp_grant));
}

void dp_grant_free(struct dp_grant *grant)
{
    if (!grant)
        return;
    for (size_t i = 0; i < grant->n_slices; i++) {
        struct dp_slice *s = &grant->slices[i];
        free(s->claim_ns);
        free(s->claim);
        free(s->gpu);
        free(s->uuid);
        free(s->old_uuid);
    }
    dp_grant_unserve(grant);
    free(grant->slices);
    dp_ref_done(&grant->pod);
    free(grant->id);
    free(grant->container);
    free(grant->boot_id);
    free(grant->why);
    free(grant);
}

struct dp_slice *dp_grant_add_slice(struct dp_grant *grant)
{
    grant->slices = sw_realloc(grant->slices, grant->n_slices + 1, sizeof *grant->slices);
    struct dp_slice *s = &grant->slices[grant->n_slices++];
    *s = (struct dp_slice){ 0 };
    return s;
}

void dp_grant_serve(struct dp_grant *grant, const char *profile, const char *const *ids,
                    size_t n_ids)
{
    grant->served = sw_realloc(grant->served, grant->n_served + 1, sizeof *grant->served);
    struct dp_served *s = &grant->served[grant->n_served++];
    *s = (struct dp_served){ .ids = copy_texts(ids, n_ids), .n_ids = n_ids };
    (void)strncpy(s->profile, profile, sizeof s->profile - 1);
}

void dp_grant_unserve(struct dp_grant *grant)
{
    for (size_t i = 0; i < grant->n_served; i++)
        free_texts(grant->served[i].ids, grant->served[i].n_ids);
    free(SW_TAKE(grant->served));
    grant->n_served = 0;
}

void waiting_free(struct waiting *w)
{
    LIST_REMOVE(w, link);
    free_texts(w->ids, w->n_ids);
    free(w);
}

struct waiting *waiting_new(struct waiting_list *list, uint64_t ticket, const char *profile,
                            const char *const *ids, size_t n_ids)
{
    struct waiting *w = sw_zalloc(1, sizeof *w), *last = NULL, *at;
    w->ticket = ticket;
    w->ids = copy_texts(ids, n_ids);
    w->n_ids = n_ids;
    (void)strncpy(w->profile, profile, sizeof w->profile - 1);
    LIST_FOREACH(at, list, link)
    last = at;
    if (last) /* who came first is served first */
        LIST_INSERT_AFTER(last, w, link);
    else
        LIST_INSERT_HEAD(list, w, link);
    return w;
}

/* ---- actions -----------------------------------------------------------------------------------
 */

struct dp_action *broker_act(struct dp_broker *b, enum dp_act act)
{
    struct dp_action *a = sw_zalloc(1, sizeof *a);
    a->act = act;
    STAILQ_INSERT_TAIL(&b->actions, a, link);
    return a;
}

struct dp_action *broker_tell(struct dp_broker *b, int code, const char *fmt, ...)
{
    struct dp_action *a = broker_act(b, DP_ACT_TELL);
    va_list ap;
    va_start(ap, fmt);
    a->words = sw_vprintf(fmt, ap);
    va_end(ap);
    a->code = code;
    return a;
}

struct dp_action *dp_broker_next(struct dp_broker *b)
{
    struct dp_action *a = STAILQ_FIRST(&b->actions);
    if (a)
        STAILQ_REMOVE_HEAD(&b->actions, link);
    return a;
}

void dp_action_free(struct dp_action *a)
{
    if (!a)
        return;
    free(a->grant_id);
    free(a->profile);
    free(a->words);
    dp_ref_done(&a->ref);
    free(a);
}

/* ---- the broker --------------------------------------------------------------------------------
 */

struct dp_broker *dp_broker_new(const struct dp_opts *opts)
{
    struct dp_broker *b = sw_zalloc(1, sizeof *b);
    b->boot_id = sw_strdup(opts->boot_id);
    b->wait_ms = opts->wait_ms ? opts->wait_ms : WAIT_MS;
    b->check_start = opts->check_start;
    b->look_ms = -1;
    STAILQ_INIT(&b->actions);
    return b;
}

void dp_broker_free(struct dp_broker *b)
{
    if (!b)
        return;
    while (!LIST_EMPTY(&b->pods)) {
        struct dp_pod *p = LIST_FIRST(&b->pods);
        LIST_REMOVE(p, link);
        dp_pod_free(p);
    }
    while (!LIST_EMPTY(&b->claims)) {
        struct dp_claim *c = LIST_FIRST(&b->claims);
        LIST_REMOVE(c, link);
        dp_claim_free(c);
    }
    while (!LIST_EMPTY(&b->grants)) {
        struct dp_grant *g = LIST_FIRST(&b->grants);
        LIST_REMOVE(g, link);
        dp_grant_free(g);
    }
    while (!LIST_EMPTY(&b->allocating))
        waiting_free(LIST_FIRST(&b->allocating));
    while (!LIST_EMPTY(&b->starting))
        waiting_free(LIST_FIRST(&b->starting));
    struct dp_action *a;
    while ((a = dp_broker_next(b)))
        dp_action_free(a);
    free(b->boot_id);
    free(b);
}

struct dp_pod *broker_pod(const struct dp_broker *b, const char *uid)
{
    struct dp_pod *p;
    LIST_FOREACH(p, &b->pods, link)
    if (sw_streq(p->ref.uid, uid))
        return p;
    return NULL;
}

struct dp_pod *broker_pod_named(const struct dp_broker *b, const char *ns, const char *name)
{
    struct dp_pod *p;
    LIST_FOREACH(p, &b->pods, link)
    if (sw_streq(p->ref.ns, ns) && sw_streq(p->ref.name, name))
        return p;
    return NULL;
}

struct dp_grant *dp_broker_grant(const struct dp_broker *b, const char *id)
{
    struct dp_grant *g;
    LIST_FOREACH(g, &b->grants, link)
    if (sw_streq(g->id, id))
        return g;
    return NULL;
}

struct dp_claim *dp_broker_claim(const struct dp_broker *b, const char *ns, const char *name)
{
    struct dp_claim *c;
    LIST_FOREACH(c, &b->claims, link)
    if (sw_streq(c->name, name) && sw_streq(c->ns, ns))
        return c;
    return NULL;
}

void dp_broker_each(const struct dp_broker *b, void (*each)(struct dp_grant *g, void *arg),
                    void *arg)
{
    struct dp_grant *g;
    LIST_FOREACH(g, &b->grants, link)
    each(g, arg);
}

void dp_broker_count(const struct dp_broker *b, struct dp_counts *out)
{
    const struct dp_pod *p;
    const struct dp_claim *c;
    const struct dp_grant *g;
    const struct waiting *w;
    *out = (struct dp_counts){ 0 };
    LIST_FOREACH(p, &b->pods, link)
    out->n_pods++;
    LIST_FOREACH(c, &b->claims, link)
    out->n_claims++;
    LIST_FOREACH(g, &b->grants, link)
    out->n_grants[g->state]++;
    LIST_FOREACH(w, &b->allocating, link)
    out->n_waiting++;
}

int64_t broker_backoff_ms(unsigned n_failed)
{
    int64_t ms = RETRY_FIRST_MS;
    for (unsigned i = 1; i < n_failed && ms < RETRY_MOST_MS; i++)
        ms *= 2;
    return ms < RETRY_MOST_MS ? ms : RETRY_MOST_MS;
}

/* ---- time --------------------------------------------------------------------------------------
 */

static void earlier(int64_t *ms, int64_t other)
{
    if (other >= 0 && (*ms < 0 || other < *ms))
        *ms = other;
}

int64_t dp_broker_next_ms(const struct dp_broker *b)
{
    int64_t ms = -1;
    const struct waiting *w;
    const struct dp_grant *g;
    const struct dp_claim *c;
    LIST_FOREACH(w, &b->allocating, link)
    earlier(&ms, w->deadline_ms);
    LIST_FOREACH(g, &b->grants, link)
    if (g->retry_ms)
        earlier(&ms, g->retry_ms);
    LIST_FOREACH(c, &b->claims, link)
    if (c->retry_ms)
        earlier(&ms, c->retry_ms);
    if (!b->looking)
        earlier(&ms, b->look_ms);
    return ms;
}

void dp_broker_tick(struct dp_broker *b, int64_t now_ms)
{
    struct dp_grant *g, *next;
    for (g = LIST_FIRST(&b->grants); g; g = next) {
        next = LIST_NEXT(g, link);
        if (g->retry_ms && g->retry_ms <= now_ms)
            grant_retry(b, g, now_ms);
    }
    broker_allocate_all(b, now_ms);
    broker_settle(b, now_ms);
    if (b->look_ms >= 0 && b->look_ms <= now_ms && !b->looking) {
        b->look_ms = -1;
        b->looking = true;
        (void)broker_act(b, DP_ACT_LOOK);
    }
}

/* ---- pods --------------------------------------------------------------------------------------
 */

static void review_pod(struct dp_broker *b, const char *uid, int64_t now_ms)
{
    struct dp_grant *g, *next;
    for (g = LIST_FIRST(&b->grants); g; g = next) {
        next = LIST_NEXT(g, link);
        if (sw_streq(g->pod.uid, uid))
            grant_review(b, g, now_ms);
    }
    broker_allocate_all(b, now_ms);
    broker_settle(b, now_ms);
}

void dp_broker_on_pod(struct dp_broker *b, struct dp_pod *pod, int64_t now_ms)
{
    struct dp_pod *old = broker_pod(b, pod->ref.uid);
    if (old) {
        pod->ended |= old->ended; /* a pod does not begin again */
        LIST_REMOVE(old, link);
        dp_pod_free(old);
    }
    LIST_INSERT_HEAD(&b->pods, pod, link);
    review_pod(b, pod->ref.uid, now_ms);
}

void dp_broker_on_pod_gone(struct dp_broker *b, const char *uid, int64_t now_ms)
{
    struct dp_claim *c;
    LIST_FOREACH(c, &b->claims, link)
    if (sw_streq(c->pod.uid, uid))
        c->pod_gone = true;
    struct dp_pod *p = broker_pod(b, uid);
    if (!p)
        return;
    LIST_REMOVE(p, link);
    review_pod(b, uid, now_ms);
    dp_pod_free(p);
}

/* ---- claims ------------------------------------------------------------------------------------
 */

static struct dp_grant *grant_of_claim(const struct dp_broker *b, const struct dp_claim *c)
{
    struct dp_grant *g;
    LIST_FOREACH(g, &b->grants, link)
    for (size_t i = 0; i < g->n_slices; i++)
        if (sw_streq(g->slices[i].claim, c->name) && sw_streq(g->slices[i].claim_ns, c->ns))
            return g;
    return NULL;
}

static void keep_own(struct dp_claim *claim, struct dp_claim *old)
{
    if (old->pod_changed) { /* ours is the newer word */
        dp_ref_done(&claim->pod);
        claim->pod = old->pod;
        old->pod = (struct dp_ref){ 0 };
    }
    claim->seq = old->seq;
    claim->grant = old->grant;
    claim->pod_gone = old->pod_gone;
    claim->pod_changed = old->pod_changed;
    claim->writing = old->writing;
    claim->n_failed = old->n_failed;
    claim->retry_ms = old->retry_ms;
}

void dp_broker_on_claim(struct dp_broker *b, struct dp_claim *claim, int64_t now_ms)
{
    struct dp_claim *old = dp_broker_claim(b, claim->ns, claim->name);
    if (old && claim->version && claim->version < old->version) {
        dp_claim_free(claim); /* an old tale: we wrote since */
        return;
    }
    if (old) {
        keep_own(claim, old);
        LIST_REMOVE(old, link);
        dp_claim_free(old);
    } else {
        claim->grant = grant_of_claim(b, claim);
        claim->seq = ++b->n_claims;
    }
    LIST_INSERT_HEAD(&b->claims, claim, link);
    broker_allocate_all(b, now_ms);
    broker_settle(b, now_ms);
}

void dp_broker_on_claim_gone(struct dp_broker *b, const char *ns, const char *name, int64_t now_ms)
{
    struct dp_claim *c = dp_broker_claim(b, ns, name);
    if (!c)
        return;
    const struct dp_grant *g = c->grant;
    if (g && g->state == DP_READY)
        broker_tell(b, SW_NOTFOUND, "claim %s/%s was deleted; its slice stays until pod %s/%s ends",
                    ns, name, g->pod.ns, g->pod.name);
    LIST_REMOVE(c, link);
    dp_claim_free(c);
    broker_settle(b, now_ms);
}

static void review_all(struct dp_broker *b, int64_t now_ms)
{
    struct dp_grant *g, *next;
    for (g = LIST_FIRST(&b->grants); g && b->pods_synced; g = next) {
        next = LIST_NEXT(g, link);
        grant_review(b, g, now_ms);
    }
    broker_settle(b, now_ms);
}

void dp_broker_on_synced(struct dp_broker *b, bool pods, bool claims, int64_t now_ms)
{
    b->pods_synced |= pods;
    b->claims_synced |= claims;
    review_all(b, now_ms);
}

void dp_broker_on_gpus(struct dp_broker *b, int64_t now_ms)
{
    b->has_gpus = true;
    review_all(b, now_ms);
}
