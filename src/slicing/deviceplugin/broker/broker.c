/* The events that the broker receives. */
#include "slicing/deviceplugin/broker/broker.h"

#include <stdlib.h>
#include <string.h>

#include "slicing/deviceplugin/broker/broker_internal.h"

/* ---- the broker --------------------------------------------------------------------------------
 */

struct dp_broker *dp_broker_new(const struct dp_opts *opts)
{
    struct dp_broker *b = sw_zalloc(1, sizeof *b);
    b->boot_id = sw_strdup(opts->boot_id);
    b->wait_ms = opts->wait_ms ? opts->wait_ms : WAIT_MS;
    b->check_start = opts->check_start;
    b->list_held_ms = -1;
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

void dp_broker_each(const struct dp_broker *b, void (*each)(struct dp_grant *g, void *arg),
                    void *arg)
{
    struct dp_grant *g;
    LIST_FOREACH(g, &b->grants, link)
    each(g, arg);
}

void dp_broker_each_claim(const struct dp_broker *b,
                          void (*each)(const struct dp_claim *c, void *arg), void *arg)
{
    const struct dp_claim *c;
    LIST_FOREACH(c, &b->claims, link)
    each(c, arg);
}

void dp_broker_count(const struct dp_broker *b, struct dp_counts *out)
{
    const struct dp_claim *c;
    const struct dp_grant *g;
    const struct waiting *w;
    *out = (struct dp_counts){ 0 };
    LIST_FOREACH(c, &b->claims, link)
    out->n_claims++;
    LIST_FOREACH(g, &b->grants, link)
    out->n_grants[g->state]++;
    LIST_FOREACH(w, &b->allocating, link)
    out->n_waiting++;
}

/* After every event: calls that wait may succeed now, and the claims follow the grants. */
static void proceed(struct dp_broker *b, int64_t now_ms)
{
    broker_allocate_all(b, now_ms);
    broker_settle(b, now_ms);
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
    if (!b->listing_held)
        earlier(&ms, b->list_held_ms);
    return ms;
}

void dp_broker_tick(struct dp_broker *b, int64_t now_ms)
{
    struct dp_grant *g, *next;
    for (g = LIST_FIRST(&b->grants); g; g = next) {
        next = LIST_NEXT(g, link);
        if (g->retry_ms && g->retry_ms <= now_ms)
            grant_retry(b, g);
    }
    proceed(b, now_ms);
    if (b->list_held_ms >= 0 && b->list_held_ms <= now_ms && !b->listing_held) {
        b->list_held_ms = -1;
        b->listing_held = true;
        (void)broker_act(b, DP_ACT_LIST_HELD);
    }
}

/* ---- pods --------------------------------------------------------------------------------------
 */

/* Review the grants of the pod of @uid; NULL: all grants. */
static void review(struct dp_broker *b, const char *uid, int64_t now_ms)
{
    struct dp_grant *g, *next;
    for (g = LIST_FIRST(&b->grants); g; g = next) {
        next = LIST_NEXT(g, link);
        if (!uid || sw_streq(g->pod.uid, uid))
            grant_review(b, g, now_ms);
    }
    proceed(b, now_ms);
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
    review(b, pod->ref.uid, now_ms);
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
    review(b, uid, now_ms);
    dp_pod_free(p);
}

/* ---- claims ------------------------------------------------------------------------------------
 */

void dp_broker_on_claim(struct dp_broker *b, struct dp_claim *claim, int64_t now_ms)
{
    struct dp_claim *old = dp_broker_claim(b, claim->ns, claim->name);
    if (old && claim->version && claim->version < old->version) {
        dp_claim_free(claim); /* outdated: it was written since */
        return;
    }
    if (old) {
        if (old->pod_changed) { /* podRef is to be written: keep the new one */
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
        LIST_REMOVE(old, link);
        dp_claim_free(old);
    } else {
        struct dp_grant *g;
        LIST_FOREACH(g, &b->grants, link)
        for (size_t i = 0; i < g->n_slices; i++)
            if (sw_streq(g->slices[i].claim, claim->name) &&
                sw_streq(g->slices[i].claim_ns, claim->ns))
                claim->grant = g;
        claim->seq = ++b->n_claims;
    }
    LIST_INSERT_HEAD(&b->claims, claim, link);
    proceed(b, now_ms);
}

void dp_broker_on_claim_gone(struct dp_broker *b, const char *ns, const char *name, int64_t now_ms)
{
    struct dp_claim *c = dp_broker_claim(b, ns, name);
    if (!c)
        return;
    const struct dp_grant *g = c->grant;
    if (g && g->state == DP_READY)
        broker_log(b, SW_NOTFOUND, "claim %s/%s was deleted; its slice stays until pod %s/%s ends",
                   ns, name, g->pod.ns, g->pod.name);
    LIST_REMOVE(c, link);
    dp_claim_free(c);
    broker_settle(b, now_ms);
}

void dp_broker_on_pods_synced(struct dp_broker *b, int64_t now_ms)
{
    b->pods_synced = true;
    review(b, NULL, now_ms);
}

void dp_broker_on_gpus(struct dp_broker *b, int64_t now_ms)
{
    b->has_gpus = true;
    review(b, NULL, now_ms);
}

/* ---- calls and steps ---------------------------------------------------------------------------
 */

void dp_broker_allocate(struct dp_broker *b, uint64_t ticket, const char *profile,
                        const char *const *ids, size_t n_ids, int64_t now_ms)
{
    waiting_new(&b->allocating, ticket, profile, ids, n_ids)->deadline_ms = now_ms + b->wait_ms;
    proceed(b, now_ms);
}

void dp_broker_on_step(struct dp_broker *b, const char *grant_id, size_t i, enum dp_step step,
                       const struct dp_step_result *result, int64_t now_ms)
{
    struct dp_grant *g = dp_broker_grant(b, grant_id);
    if (!g || !g->busy || i >= g->n_slices)
        return;
    grant_stepped(b, g, i, step, result, now_ms);
    proceed(b, now_ms);
}

void dp_broker_on_setting(struct dp_broker *b, const char *grant_id, size_t i, enum dp_step step,
                          const struct dp_step_result *result, int64_t now_ms)
{
    struct dp_grant *g = dp_broker_grant(b, grant_id);
    if (!g || i >= g->n_settings)
        return;
    grant_set(b, g, i, step, result, now_ms);
    proceed(b, now_ms);
}

void dp_broker_on_commit(struct dp_broker *b, const char *grant_id, int code, const char *message,
                         int64_t now_ms)
{
    struct dp_grant *g = dp_broker_grant(b, grant_id);
    if (!g || g->state != DP_MAKING)
        return;
    grant_committed(b, g, code, message, now_ms);
    proceed(b, now_ms);
}

void dp_broker_on_written(struct dp_broker *b, enum dp_act act, const char *ns, const char *name,
                          enum sw_claim_state state, int code, uint64_t version, int64_t now_ms)
{
    struct dp_claim *c = dp_broker_claim(b, ns, name);
    if (!c || !c->writing)
        return;
    claim_written(c, act, state, code, version, now_ms);
    proceed(b, now_ms);
}
