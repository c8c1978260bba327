/* Which container has which devices: kubelet reports it (PodResources) after Allocate and before
 * the container starts. Slices of one profile on a node are alike, so where kubelet served two pods
 * in another order than the broker, their claims are swapped. */
#include <stdlib.h>
#include <string.h>

#include "slicing/deviceplugin/broker/broker_internal.h"

static bool same_ids(const char *const *a, size_t n_a, char *const *b, size_t n_b)
{
    for (size_t i = 0; i < n_a; i++) {
        bool there = false;
        for (size_t j = 0; j < n_b && !there; j++)
            there = strcmp(a[i], b[j]) == 0;
        if (!there)
            return false;
    }
    return n_a > 0;
}

/* The newest, where an older one with the same ids is being undone. */
struct dp_grant *grant_of_ids(const struct dp_broker *b, const char *profile,
                              const char *const *ids, size_t n_ids)
{
    struct dp_grant *g;
    LIST_FOREACH(g, &b->grants, link)
    for (size_t i = 0; i < g->n_served && g->state != DP_UNDOING; i++)
        if (strcmp(g->served[i].profile, profile) == 0 &&
            same_ids(ids, n_ids, g->served[i].ids, g->served[i].n_ids))
            return g;
    return NULL;
}

const struct dp_grant *dp_broker_holder(const struct dp_broker *b, const char *profile,
                                        const char *id)
{
    return grant_of_ids(b, profile, &id, 1);
}

static void give_claim(struct dp_claim *c, const struct dp_ref *to)
{
    struct dp_ref copy = dp_ref_copy(to);
    dp_ref_done(&c->pod);
    c->pod = copy;
    c->pod_changed = true;
}

static void give_grant(struct dp_broker *b, struct dp_grant *g, const struct dp_ref *to,
                       const char *container)
{
    struct dp_ref copy = dp_ref_copy(to);
    char *name = sw_strdup(container);
    struct dp_claim *c;
    LIST_FOREACH(c, &b->claims, link)
    if (c->grant == g)
        give_claim(c, &copy);
    dp_ref_done(&g->pod);
    free(g->container);
    g->pod = copy;
    g->container = name;
    broker_act(b, DP_ACT_RECORD)->grant_id = sw_strdup(g->id);
}

/* Whether this container requests all that the grant holds, and nothing else. */
static bool fits(const struct dp_grant *g, const struct dp_container *c)
{
    size_t n = 0;
    for (size_t w = 0; w < c->n_requests; w++) {
        size_t has = 0;
        for (size_t i = 0; i < g->n_slices; i++)
            has += strcmp(g->slices[i].profile, c->requests[w].profile) == 0;
        if (has != c->requests[w].count)
            return false;
        n += has;
    }
    return n == g->n_slices;
}

/* Claims of @pod without a grant go to the pod that @g was made for. @return whether they cover it
 */
static bool take_free_claims(struct dp_broker *b, const struct dp_grant *g,
                             const struct dp_pod *pod)
{
    struct dp_claim *taken[SW_MIG_MAX_REQUESTS] = { 0 };
    for (size_t i = 0; i < g->n_slices && i < SW_COUNT(taken); i++) {
        struct dp_claim *c = NULL;
        LIST_FOREACH(c, &b->claims, link)
        {
            bool used = false;
            for (size_t j = 0; j < i; j++)
                used |= taken[j] == c;
            if (!used && !c->grant && c->state == SW_CLAIM_CREATED &&
                sw_streq(c->pod.uid, pod->ref.uid) && strcmp(c->profile, g->slices[i].profile) == 0)
                break;
        }
        if (!c)
            return false;
        taken[i] = c;
    }
    for (size_t i = 0; i < g->n_slices && i < SW_COUNT(taken); i++)
        give_claim(taken[i], &g->pod);
    return true;
}

/* The ids of @g are with @h. @return false: that container may not have them */
static bool move_grant(struct dp_broker *b, struct dp_grant *g, const struct dp_held *h,
                       const struct dp_pod *pod)
{
    const struct dp_container *c = pod_container(pod, h->container);
    if (!c || !fits(g, c))
        return false;
    struct dp_grant *other;
    LIST_FOREACH(other, &b->grants, link)
    if (other != g && other->state != DP_UNDOING && sw_streq(other->pod.uid, pod->ref.uid) &&
        sw_streq(other->container, h->container))
        break;
    if (other) {
        struct dp_ref was = dp_ref_copy(&g->pod);
        SW_AUTO_CHARS *container = sw_strdup(g->container);
        give_grant(b, g, &pod->ref, h->container);
        give_grant(b, other, &was, container);
        dp_ref_done(&was);
    } else if (sw_streq(g->pod.uid, pod->ref.uid)) {
        give_grant(b, g, &pod->ref, h->container); /* another container of the same pod */
    } else if (take_free_claims(b, g, pod)) {
        give_grant(b, g, &pod->ref, h->container);
    } else {
        return false;
    }
    broker_log(b, 0, "kubelet gave the slices to pod %s/%s: claims changed hands", h->ns, h->pod);
    return true;
}

/* Slices that DAS made are found by the container: it wrote down no devices. */
static struct dp_grant *inherited(struct dp_broker *b, const struct dp_held *h)
{
    const struct dp_pod *pod = broker_pod_named(b, h->ns, h->pod);
    struct dp_grant *g;
    LIST_FOREACH(g, &b->grants, link)
    {
        if (!g->cdi || g->n_served || g->adopted || g->state != DP_READY || !pod ||
            !sw_streq(g->pod.uid, pod->ref.uid) || !sw_streq(g->container, h->container) ||
            strcmp(g->slices[0].profile, h->profile) != 0 || g->n_slices != h->n_ids)
            continue;
        dp_grant_serve(g, h->profile, (const char *const *)h->ids, h->n_ids);
        broker_act(b, DP_ACT_RECORD)->grant_id = sw_strdup(g->id);
        return g;
    }
    return NULL;
}

/* ---- PreStartContainer -------------------------------------------------------------------------
 */

static void answer_start(struct dp_broker *b, uint64_t ticket, int code, const char *message)
{
    struct dp_action *a = broker_act(b, DP_ACT_STARTED);
    a->ticket = ticket;
    a->code = code;
    a->message = sw_strdup(message);
}

void dp_broker_on_held(struct dp_broker *b, int code, const struct dp_held *held, size_t n_held,
                       int64_t now_ms)
{
    b->listing_held = false;
    for (size_t i = 0; code == 0 && i < n_held; i++) {
        const struct dp_held *h = &held[i];
        struct dp_grant *g = grant_of_ids(b, h->profile, (const char *const *)h->ids, h->n_ids);
        const struct dp_pod *pod = broker_pod_named(b, h->ns, h->pod);
        g = g ? g : inherited(b, h);
        if (!g || g->adopted || g->state != DP_READY || !pod)
            continue;
        /* init containers are not listed, and their devices are reused: the pod is what counts */
        const bool right = sw_streq(g->pod.uid, pod->ref.uid) &&
                           (sw_streq(g->container, h->container) || g->confirmed);
        if (right || move_grant(b, g, h, pod))
            g->confirmed = true;
        else
            grant_undo(b, g,
                       "kubelet gave them to pod %s/%s, container %s, which has no claim on them",
                       h->ns, h->pod, h->container);
    }
    while (!LIST_EMPTY(&b->starting)) {
        struct waiting *w = LIST_FIRST(&b->starting);
        const struct dp_grant *g = grant_of_ids(b, w->profile, (const char *const *)w->ids,
                                                w->n_ids);
        answer_start(b, w->ticket, g ? 0 : SW_NOTFOUND,
                     g ? NULL : "the container holds devices that no claim of its pod covers");
        waiting_free(w);
    }
    bool all_confirmed = true;
    const struct dp_grant *g;
    LIST_FOREACH(g, &b->grants, link)
    all_confirmed &= g->state != DP_READY || g->confirmed;
    if (!all_confirmed && b->list_held_ms < 0)
        b->list_held_ms = now_ms + LIST_AGAIN_MS;
    broker_allocate_all(b, now_ms);
    broker_settle(b, now_ms);
}

void dp_broker_start(struct dp_broker *b, uint64_t ticket, const char *profile,
                     const char *const *ids, size_t n_ids, int64_t now_ms)
{
    const struct dp_grant *g = grant_of_ids(b, profile, ids, n_ids);
    if (!g || g->confirmed || !b->check_start) {
        answer_start(b, ticket, g ? 0 : SW_NOTFOUND,
                     g ? NULL : "no slice was made for these devices");
        return;
    }
    (void)waiting_new(&b->starting, ticket, profile, ids, n_ids);
    if (!b->listing_held) {
        b->listing_held = true;
        b->list_held_ms = -1;
        (void)broker_act(b, DP_ACT_LIST_HELD);
    }
    (void)now_ms;
}
