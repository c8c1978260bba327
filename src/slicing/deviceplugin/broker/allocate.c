/* Allocate: kubelet names devices, not the pod. The claims say which pod is next. */
#include <stdlib.h>
#include <string.h>

#include "slicing/deviceplugin/broker/broker_internal.h"

struct dp_container *pod_container(const struct dp_pod *pod, const char *name)
{
    for (size_t i = 0; i < pod->n_containers; i++)
        if (sw_streq(pod->containers[i].name, name))
            return &pod->containers[i];
    return NULL;
}

static bool is_free(const struct dp_claim *c, const char *pod_uid, const char *profile)
{
    return c->state == SW_CLAIM_CREATED && !c->grant && sw_streq(c->pod.uid, pod_uid) &&
           strcmp(c->profile, profile) == 0;
}

static size_t n_free(const struct dp_broker *b, const char *pod_uid, const char *profile)
{
    size_t n = 0;
    const struct dp_claim *c;
    LIST_FOREACH(c, &b->claims, link)
    n += is_free(c, pod_uid, profile);
    return n;
}

/* The first container of the pod that has no grant, requests just that, and has free claims for its
 * other requests, too: kubelet goes through them in order. */
static struct dp_container *next_container(const struct dp_broker *b, const struct dp_pod *pod,
                                           const char *profile, size_t count)
{
    for (size_t i = 0; i < pod->n_containers; i++) {
        struct dp_container *c = &pod->containers[i];
        bool all = true, requested = false;
        for (size_t w = 0; w < c->n_requests; w++) {
            const struct dp_request *r = &c->requests[w];
            requested |= strcmp(r->profile, profile) == 0 && r->count == count;
            all &= n_free(b, pod->ref.uid, r->profile) >= r->count;
        }
        const struct dp_grant *g;
        LIST_FOREACH(g, &b->grants, link)
        all &= !sw_streq(g->pod.uid, pod->ref.uid) || !sw_streq(g->container, c->name);
        if (requested && all)
            return c;
    }
    return NULL;
}

/* Which of two claims comes first: the older one, of the older pod, the one that was observed
 * first. */
static bool before(const struct dp_claim *a, const struct dp_pod *pa, const struct dp_claim *b,
                   const struct dp_pod *pb)
{
    if (a->created_ms != b->created_ms)
        return a->created_ms < b->created_ms;
    if (pa->created_ms != pb->created_ms)
        return pa->created_ms < pb->created_ms;
    return a->seq < b->seq;
}

static struct dp_pod *find_candidate(const struct dp_broker *b, const char *profile, size_t count,
                                     struct dp_container **container)
{
    const struct dp_claim *c = NULL, *best = NULL;
    struct dp_pod *best_pod = NULL;
    LIST_FOREACH(c, &b->claims, link)
    {
        struct dp_pod *pod = broker_pod(b, c->pod.uid);
        if (!pod || pod->ended || !is_free(c, pod->ref.uid, profile) ||
            (best && !before(c, pod, best, best_pod)))
            continue;
        struct dp_container *its = next_container(b, pod, profile, count);
        if (!its)
            continue;
        best = c;
        best_pod = pod;
        *container = its;
    }
    return best_pod;
}

/* A container with several profiles has a grant after the first call already. */
static struct dp_grant *find_unserved(const struct dp_broker *b, const char *profile, size_t count)
{
    struct dp_grant *g = NULL, *best = NULL;
    LIST_FOREACH(g, &b->grants, link)
    {
        size_t n = 0;
        bool served = false;
        for (size_t i = 0; i < g->n_slices; i++)
            n += strcmp(g->slices[i].profile, profile) == 0;
        for (size_t i = 0; i < g->n_served; i++)
            served |= strcmp(g->served[i].profile, profile) == 0;
        if (g->state == DP_READY && n == count && !served && !grant_is_claims(g))
            best = g; /* the list has the newest first */
    }
    return best;
}

/* ---- the grant ---------------------------------------------------------------------------------
 */

/* The first by name: names end in the order in which slices were placed. */
static struct dp_claim *first_free(const struct dp_broker *b, const char *uid, const char *profile)
{
    struct dp_claim *c, *first = NULL;
    LIST_FOREACH(c, &b->claims, link)
    if (is_free(c, uid, profile) && (!first || strcmp(c->name, first->name) < 0))
        first = c;
    return first;
}

static struct dp_grant *new_grant(struct dp_broker *b, const struct dp_pod *pod,
                                  const struct dp_container *container, int64_t now_ms)
{
    struct dp_grant *g = dp_grant_new();
    for (size_t w = 0; w < container->n_requests; w++)
        for (unsigned i = 0; i < container->requests[w].count; i++) {
            struct dp_claim *c = first_free(b, pod->ref.uid, container->requests[w].profile);
            struct dp_slice *s = dp_grant_add_slice(g);
            s->claim_ns = sw_strdup(c->ns);
            s->claim = sw_strdup(c->name);
            s->gpu = sw_strdup(c->gpu);
            s->place = c->place;
            memcpy(s->profile, c->profile, sizeof s->profile);
            c->grant = g;
        }
    SW_AUTO_CHARS *seed = sw_printf("%s/%s/%lld/%llu", pod->ref.uid, container->name,
                                    (long long)now_ms, (unsigned long long)b->n_grants++);
    g->id = sw_printf("%016llx", (unsigned long long)sw_fnv64a(seed, strlen(seed)));
    g->state = DP_MAKING;
    g->pod = dp_ref_copy(&pod->ref);
    g->container = sw_strdup(container->name);
    g->boot_id = sw_strdup(b->boot_id);
    LIST_INSERT_HEAD(&b->grants, g, link);
    return g;
}

/* @return whether the call is answered, or its slices are being made */
static bool try_allocate(struct dp_broker *b, const struct waiting *w, int64_t now_ms)
{
    struct dp_grant *g = find_unserved(b, w->profile, w->n_ids);
    if (g) {
        dp_grant_serve(g, w->profile, (const char *const *)w->ids, w->n_ids);
        broker_act(b, DP_ACT_RECORD)->grant_id = sw_strdup(g->id);
        struct dp_action *a = broker_act(b, DP_ACT_ALLOCATED);
        a->ticket = w->ticket;
        a->grant_id = sw_strdup(g->id);
        return true;
    }
    struct dp_container *container;
    const struct dp_pod *pod = find_candidate(b, w->profile, w->n_ids, &container);
    if (!pod)
        return false;
    g = new_grant(b, pod, container, now_ms);
    dp_grant_serve(g, w->profile, (const char *const *)w->ids, w->n_ids);
    g->ticket = w->ticket;
    grant_begin(b, g);
    return true;
}

void broker_allocate_all(struct dp_broker *b, int64_t now_ms)
{
    struct waiting *w, *next;
    for (w = LIST_FIRST(&b->allocating); w; w = next) {
        next = LIST_NEXT(w, link);
        bool over = try_allocate(b, w, now_ms);
        if (!over && w->deadline_ms <= now_ms) {
            struct dp_action *a = broker_act(b, DP_ACT_ALLOCATED);
            a->ticket = w->ticket;
            a->code = SW_NOTFOUND;
            size_t n_claims = 0;
            const struct dp_claim *c;
            LIST_FOREACH(c, &b->claims, link)
            n_claims += c->state == SW_CLAIM_CREATED && !c->grant &&
                        strcmp(c->profile, w->profile) == 0;
            a->message = sw_printf(
                "no AllocationClaim for %zu x %s within %lld s: of this node's claims in state "
                "'created' %zu are of this profile, none belongs to a pod here with a container "
                "that wants just so many%s",
                w->n_ids, w->profile, (long long)(b->wait_ms / 1000), n_claims,
                n_claims ? "" : "; was the pod placed by das-scheduler?");
            over = true;
        }
        if (over)
            waiting_free(w);
    }
}

void dp_broker_cancel(struct dp_broker *b, uint64_t ticket)
{
    struct waiting *w, *next;
    for (w = LIST_FIRST(&b->allocating); w; w = next) {
        next = LIST_NEXT(w, link);
        if (w->ticket == ticket)
            waiting_free(w);
    }
    for (w = LIST_FIRST(&b->starting); w; w = next) {
        next = LIST_NEXT(w, link);
        if (w->ticket == ticket)
            waiting_free(w);
    }
    /* The slices that were made for it stay: kubelet may ask again, for other devices, or the pod
     * ends. */
    struct dp_grant *g;
    LIST_FOREACH(g, &b->grants, link)
    {
        if (g->undo_ticket == ticket)
            g->undo_ticket = 0;
        if (g->follower && g->follower->ticket == ticket)
            g->follower->ticket = 0;
        if (g->ticket == ticket) {
            g->ticket = 0;
            dp_grant_unserve(g);
        }
    }
}
