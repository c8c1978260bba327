/* The states of a grant: made step by step, ready, undone step by step. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "slicing/deviceplugin/broker/broker_internal.h"
#include "slicing/deviceplugin/broker/journal.h"

/* The name goes along: the grant may have ended when it is done. */
static void remove_cdi(struct dp_broker *b, const struct dp_grant *g)
{
    SW_AUTO_CHARS *name = dp_cdi_file(g);
    if (name)
        broker_act(b, DP_ACT_UNCDI)->message = SW_TAKE(name);
}

/* A step of slice @i, or (DP_ACT_SET) of setting @i. */
static void ask(struct dp_broker *b, struct dp_grant *g, enum dp_act act, size_t i,
                enum dp_step step)
{
    struct dp_action *a = broker_act(b, act);
    a->grant_id = sw_strdup(g->id);
    a->i = i;
    a->step = step;
    g->busy = true;
}

static void act_on(struct dp_broker *b, const struct dp_grant *g, enum dp_act act)
{
    broker_act(b, act)->grant_id = sw_strdup(g->id);
}

/* ---- making ------------------------------------------------------------------------------------
 */

/* The next step of the slice at work, or the next slice; then the settings, which may be of their
 * UUIDs. */
static void make_next(struct dp_broker *b, struct dp_grant *g)
{
    while (g->at < g->n_slices && g->slices[g->at].step == DP_MADE)
        g->at++;
    for (size_t i = 0; g->at == g->n_slices && i < g->n_settings; i++)
        if (g->settings[i].step != DP_MADE) {
            g->settings[i].step = DP_INTENT;
            ask(b, g, DP_ACT_SET, i, DP_STEP_SET);
            return;
        }
    if (g->at == g->n_slices) {
        g->busy = true;
        act_on(b, g, DP_ACT_COMMIT);
        return;
    }
    static const enum dp_step next[] = {
        [DP_NOTHING] = DP_STEP_PROBE, [DP_INTENT] = DP_STEP_MAKE_GI, [DP_INSTANCE] = DP_STEP_MAKE_CI
    };
    ask(b, g, DP_ACT_STEP, g->at, next[g->slices[g->at].step]);
}

bool grant_is_claims(const struct dp_grant *g)
{
    return g->claim.uid != NULL;
}

/* For people: who holds it. The caller's. */
static char *holder(const struct dp_grant *g)
{
    return grant_is_claims(g)
               ? sw_printf("ResourceClaim %s/%s", g->claim.ns, g->claim.name)
               : sw_printf("pod %s/%s, container %s", g->pod.ns, g->pod.name, g->container);
}

static const char *ended_text(const struct dp_grant *g)
{
    return grant_is_claims(g) ? "kubelet needs them no more" : "its pod has ended";
}

void grant_begin(struct dp_broker *b, struct dp_grant *g)
{
    g->state = DP_MAKING;
    g->at = 0;
    make_next(b, g);
}

static void answer(struct dp_broker *b, struct dp_grant *g, int code, const char *message)
{
    if (!g->ticket)
        return;
    struct dp_action *a = broker_act(b, grant_is_claims(g) ? DP_ACT_PREPARED : DP_ACT_ALLOCATED);
    a->ticket = g->ticket;
    a->code = code;
    a->message = sw_strdup(message);
    a->grant_id = sw_strdup(g->id);
    g->ticket = 0;
}

void grant_committed(struct dp_broker *b, struct dp_grant *g, int code, const char *message,
                     int64_t now_ms)
{
    bool same_uuids =
        true; /* after a reboot containers have the environment that they had before */
    for (size_t i = 0; i < g->n_slices; i++)
        same_uuids &= !g->slices[i].old_uuid || sw_streq(g->slices[i].old_uuid, g->slices[i].uuid);
    g->busy = false;
    if (code < 0) {
        grant_undo(b, g, "%s", message);
    } else if (g->undo_next) {
        grant_undo(b, g, "%s", ended_text(g));
    } else if (g->remaking && !same_uuids && !grant_is_claims(g)) {
        grant_undo(b, g, "the node was booted anew and its slices have other UUIDs now");
    } else {
        g->state = DP_READY;
        answer(b, g, 0, NULL);
        act_on(b, g, DP_ACT_RECORD);
        g->remaking = false;
        if (grant_is_claims(g))
            return; /* its containers have the names of CDI devices, and kubelet lists nothing */
        if (b->list_held_ms < 0 || b->list_held_ms > now_ms + LIST_SOON_MS)
            b->list_held_ms = now_ms + LIST_SOON_MS;
    }
}

static void made(struct dp_broker *b, struct dp_grant *g, struct dp_slice *s, enum dp_step step,
                 const struct dp_step_result *r)
{
    if (step == DP_STEP_PROBE && r->code == SW_NOTFOUND) {
        s->step = DP_INTENT;
    } else if (step == DP_STEP_MAKE_GI && r->code == 0) {
        s->step = DP_INSTANCE;
        s->gi = r->gi;
    } else if (step == DP_STEP_MAKE_CI && r->code == 0) {
        s->step = DP_MADE;
        s->ci = r->ci;
        sw_text_set(&s->uuid, r->uuid);
    } else {
        if (step == DP_STEP_MAKE_GI && r->code == SW_CONFLICT)
            s->step =
                DP_NOTHING; /* another process was faster, and the instance there is its own */
        grant_undo(b, g, "slice %s at %u of %s: %s", s->profile, s->place.start, s->gpu,
                   step == DP_STEP_PROBE && r->code == 0 ? "there is a GPU instance already"
                                                         : r->message);
        return;
    }
    if (g->undo_next)
        grant_undo(b, g, "%s", ended_text(g));
    else
        make_next(b, g);
}

/* ---- undoing -----------------------------------------------------------------------------------
 */

static void answer_undone(struct dp_broker *b, struct dp_grant *g, int code, const char *message)
{
    if (!g->undo_ticket)
        return;
    struct dp_action *a = broker_act(b, DP_ACT_UNPREPARED);
    a->ticket = g->undo_ticket;
    a->code = code;
    a->message = sw_strdup(message);
    g->undo_ticket = 0;
}

/* The last setting first, then the last slice: a daemon may use it. */
static void undo_next(struct dp_broker *b, struct dp_grant *g)
{
    for (size_t i = g->n_settings; i-- > 0;)
        if (g->settings[i].step != DP_NOTHING) {
            ask(b, g, DP_ACT_SET, i, DP_STEP_UNSET);
            return;
        }
    for (size_t i = g->n_slices; i-- > 0;)
        if (g->slices[i].step != DP_NOTHING) {
            ask(b, g, DP_ACT_STEP, i, DP_STEP_REMOVE);
            return;
        }
    SW_AUTO_CHARS *who = holder(g);
    broker_log(b, 0, "slices of %s are gone", who);
    act_on(b, g, DP_ACT_FORGET);
    answer_undone(b, g, 0, NULL);
    struct dp_grant *follower = SW_TAKE(g->follower);
    struct dp_claim *c;
    LIST_FOREACH(c, &b->claims, link)
    if (c->grant == g)
        c->grant = NULL;
    LIST_REMOVE(g, link);
    dp_grant_free(g);
    if (!follower)
        return;
    LIST_INSERT_HEAD(&b->grants, follower, link);
    grant_begin(b, follower);
}

void grant_undo(struct dp_broker *b, struct dp_grant *g, const char *fmt, ...)
{
    if (g->state == DP_UNDOING)
        return;
    if (g->busy) { /* a step cannot be called back */
        g->undo_next = true;
        return;
    }
    va_list ap;
    va_start(ap, fmt);
    free(g->why);
    g->why = sw_vprintf(fmt, ap);
    va_end(ap);
    const bool failed = g->state == DP_MAKING;
    g->state = DP_UNDOING;
    g->undo_next = false;
    SW_AUTO_CHARS *who = holder(g);
    struct dp_action *log = broker_log(b, failed ? SW_UNAVAILABLE : 0,
                                       "slices of %s are taken down: %s", who, g->why);
    log->ref = dp_ref_copy(&g->pod);
    answer(b, g, SW_UNAVAILABLE, g->why);
    if (g->remaking && broker_pod(b, g->pod.uid)) {
        struct dp_action *evict = broker_act(b, DP_ACT_EVICT);
        evict->ref = dp_ref_copy(&g->pod);
        evict->message = sw_strdup(g->why);
    }
    g->remaking = false;
    remove_cdi(b, g);
    undo_next(b, g);
}

void grant_retry(struct dp_broker *b, struct dp_grant *g)
{
    g->retry_ms = 0;
    if (g->state == DP_UNDOING && !g->busy)
        undo_next(b, g);
}

/* Logged once, tried until it works. @what is for people. */
static void undo_failed(struct dp_broker *b, struct dp_grant *g, const char *what,
                        const struct dp_step_result *result, int64_t now_ms)
{
    if (g->n_failed++ == 0) {
        SW_AUTO_CHARS *who = holder(g);
        broker_log(b, result->code, "%s, held by %s: %s; trying again", what, who, result->message)
            ->ref = dp_ref_copy(&g->pod);
    }
    answer_undone(b, g, result->code, result->message); /* kubelet asks again */
    g->retry_ms = now_ms + broker_backoff_ms(g->n_failed);
}

void grant_stepped(struct dp_broker *b, struct dp_grant *g, size_t i, enum dp_step step,
                   const struct dp_step_result *result, int64_t now_ms)
{
    g->busy = false;
    struct dp_slice *s = &g->slices[i];
    if (g->state != DP_UNDOING) {
        made(b, g, s, step, result);
        return;
    }
    if (result->code == 0 || result->code == SW_NOTFOUND) {
        s->step = DP_NOTHING;
        g->n_failed = 0;
        undo_next(b, g);
        return;
    }
    SW_AUTO_CHARS *what = sw_printf("slice %s at %u of %s", s->profile, s->place.start, s->gpu);
    undo_failed(b, g, what, result, now_ms);
}

/* ---- settings ----------------------------------------------------------------------------------
 */

/* For people: what is set. The caller's. */
static char *setting_text(const struct dp_setting *s)
{
    static const char *const texts[] = { [DP_SET_TIMESLICE] = "time slice of ",
                                         [DP_SET_EXCLUSIVE] = "compute mode of ",
                                         [DP_SET_MPS] = "MPS control daemon" };
    return sw_printf("%s%s", texts[s->kind], s->gpu ? s->gpu : "");
}

void grant_set(struct dp_broker *b, struct dp_grant *g, size_t i, enum dp_step step,
               const struct dp_step_result *result, int64_t now_ms)
{
    struct dp_setting *s = &g->settings[i];
    SW_AUTO_CHARS *what = setting_text(s);
    g->busy = false;
    if (step == DP_STEP_SET && result->code < 0) { /* unless it was refused it may be set */
        if (result->code == SW_INVALID || result->code == SW_FORBIDDEN)
            s->step = DP_NOTHING;
        grant_undo(b, g, "%s: %s", what, result->message);
    } else if (step == DP_STEP_SET) {
        s->step = DP_MADE;
        if (g->undo_next)
            grant_undo(b, g, "%s", ended_text(g));
        else
            make_next(b, g);
    } else if (result->code == 0 || result->code == SW_NOTFOUND) {
        s->step = DP_NOTHING;
        g->n_failed = 0;
        undo_next(b, g);
    } else {
        undo_failed(b, g, what, result, now_ms);
    }
}

/* ---- ResourceClaims ----------------------------------------------------------------------------
 */

static struct dp_grant *of_claim(const struct dp_broker *b, const char *uid)
{
    struct dp_grant *g;
    LIST_FOREACH(g, &b->grants, link)
    if (grant_is_claims(g) && sw_streq(g->claim.uid, uid))
        return g;
    return NULL;
}

struct dp_grant *dp_broker_prepared(const struct dp_broker *b, const char *uid)
{
    struct dp_grant *g = of_claim(b, uid);
    return g && g->state != DP_UNDOING && !g->undo_next ? g : NULL;
}

void dp_broker_prepare(struct dp_broker *b, uint64_t ticket, struct dp_grant *grant, int64_t now_ms)
{
    struct dp_grant *old = of_claim(b, grant->claim.uid);
    SW_AUTO_CHARS *seed = sw_printf("%s/%lld/%llu", grant->claim.uid, (long long)now_ms,
                                    (unsigned long long)b->n_grants++);
    grant->id = sw_printf("%016llx", (unsigned long long)sw_fnv64a(seed, strlen(seed)));
    grant->boot_id = sw_strdup(b->boot_id);
    grant->ticket = ticket;
    grant->confirmed = true;
    if (!old) {
        LIST_INSERT_HEAD(&b->grants, grant, link);
        grant_begin(b, grant);
    } else if (old->state == DP_UNDOING || old->undo_next ||
               (old->adopted && old->state == DP_MAKING)) {
        if (old->follower)
            answer(b, old->follower, SW_UNAVAILABLE, "kubelet has asked again");
        dp_grant_free(old->follower);
        old->follower = grant;
    } else {
        answer(b, old, SW_UNAVAILABLE, "kubelet has asked again");
        old->ticket = ticket;
        dp_grant_free(grant);
        if (old->state == DP_READY && !old->adopted)
            answer(b, old, 0, NULL);
    }
}

void dp_broker_unprepare(struct dp_broker *b, uint64_t ticket, const char *uid, int64_t now_ms)
{
    (void)now_ms;
    struct dp_grant *g = of_claim(b, uid);
    if (!g) {
        broker_act(b, DP_ACT_UNPREPARED)->ticket = ticket;
        return;
    }
    if (g->follower)
        answer(b, g->follower, SW_UNAVAILABLE, "kubelet needs it no more");
    dp_grant_free(SW_TAKE(g->follower));
    answer_undone(b, g, SW_UNAVAILABLE, "kubelet has asked again");
    g->undo_ticket = ticket;
    if (g->state == DP_UNDOING && !g->busy && !g->adopted) /* not later: kubelet waits */
        undo_next(b, g);
    else if (!g->adopted)
        grant_undo(b, g, "%s", ended_text(g));
    else
        g->undo_next = true; /* when there are GPUs */
}

/* ---- records of an earlier process
 * ----------------------------------------------------------------------------
 */

void dp_broker_adopt(struct dp_broker *b, struct dp_grant *grant)
{
    grant->adopted = true;
    grant->confirmed = grant_is_claims(grant);
    LIST_INSERT_HEAD(&b->grants, grant, link);
}

static bool overlap(const struct dp_slice *a, const struct dp_slice *b)
{
    return sw_streq(a->gpu, b->gpu) && a->place.start < b->place.start + b->place.size &&
           b->place.start < a->place.start + a->place.size;
}

/* Between two lives of slipway's DAS was here, and took down what the records speak of. */
void dp_broker_inherit(struct dp_broker *b, struct dp_grant *grant)
{
    struct dp_grant *g;
    LIST_FOREACH(g, &b->grants, link)
    for (size_t i = 0; i < g->n_slices; i++)
        for (size_t k = 0; k < grant->n_slices; k++)
            if (overlap(&g->slices[i], &grant->slices[k]))
                g->slices[i].step = DP_NOTHING;
    dp_broker_adopt(b, grant);
}

static void review_adopted(struct dp_broker *b, struct dp_grant *g, int64_t now_ms)
{
    g->adopted = false;
    const bool rebooted = !sw_streq(g->boot_id, b->boot_id);
    const struct dp_pod *pod = broker_pod(b, g->pod.uid);
    const bool runs = grant_is_claims(g) || (pod && !pod->ended);
    for (size_t i = 0; rebooted && i < g->n_slices; i++) { /* no slice outlives a boot */
        struct dp_slice *s = &g->slices[i];
        s->step = DP_NOTHING;
        free(s->old_uuid);
        s->old_uuid = SW_TAKE(s->uuid);
    }
    for (size_t i = 0; rebooted && i < g->n_settings; i++) /* nor does what is set */
        g->settings[i].step = DP_NOTHING;
    sw_text_set(&g->boot_id, b->boot_id);
    SW_AUTO_CHARS *who = holder(g);
    if (g->state == DP_UNDOING) {
        remove_cdi(b, g);
        undo_next(b, g);
    } else if (g->undo_next) {
        grant_undo(b, g, "%s", ended_text(g));
    } else if (g->state == DP_MAKING) {
        grant_undo(b, g, "the plugin ended while they were made");
    } else if (!runs) {
        grant_undo(b, g, "its pod has ended");
    } else if (rebooted) {
        broker_log(b, 0, "the node was booted anew: making the slices of %s again", who);
        remove_cdi(b, g); /* of the slices it had */
        g->remaking = true;
        grant_begin(b, g);
    } else {
        if (g->cdi || grant_is_claims(g)) /* the CDI file may be gone */
            act_on(b, g, DP_ACT_RECORD);
        answer(b, g, 0, NULL);
        if (b->list_held_ms < 0 && !grant_is_claims(g))
            b->list_held_ms = now_ms + LIST_SOON_MS;
    }
}

void grant_review(struct dp_broker *b, struct dp_grant *g, int64_t now_ms)
{
    if (!b->pods_synced && !grant_is_claims(g))
        return;
    if (g->adopted) {
        if (b->has_gpus)
            review_adopted(b, g, now_ms);
        return;
    }
    if (grant_is_claims(g))
        return;
    const struct dp_pod *pod = broker_pod(b, g->pod.uid);
    if (!pod || pod->ended)
        grant_undo(b, g, "its pod has ended");
    else if (g->cdi && g->state == DP_READY) /* a container that ends removes DAS's file */
        act_on(b, g, DP_ACT_RECORD);
}
