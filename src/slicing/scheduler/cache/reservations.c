/* Reservations: slices that are taken before a claim says so. */
#include "slicing/scheduler/cache/cache_internal.h"

#include <stdlib.h>
#include <string.h>

#include "data/data.h"

/* DAS's <podUID>-<node>-<container>-<n>. A node's name may be as long as any name: then a hash. */
static char *claim_name(const struct pod *pod, const char *node, const struct slice_request *w)
{
    enum { MAX_NAME = 253 };
    const char *container = pod->pod_request.names[w->container];
    char *name = sw_printf("%s-%s-%s-%u", pod->uid, node, container, w->n);
    if (strlen(name) <= MAX_NAME)
        return name;
    free(name);
    return sw_printf("%s-%016llx-%s-%u", pod->uid,
                     (unsigned long long)sw_fnv64a(node, strlen(node)), container, w->n);
}

/* @return the pod's request that the claim is for, or NULL */
static const struct slice_request *want_of(const struct claim *c, const char *node)
{
    const struct pod *pod = c->pod;
    for (size_t i = 0; i < pod->pod_request.n; i++) {
        SW_AUTO_CHARS *name = claim_name(pod, node, &pod->pod_request.list[i]);
        if (strcmp(name, c->name) == 0)
            return &pod->pod_request.list[i];
    }
    return NULL;
}

bool cache_serves(const struct claim *c, const char *node)
{
    const struct slice_request *w = strcmp(c->node->name, node) == 0 ? want_of(c, node) : NULL;
    return w && c->own && c->state <= CLAIM_CREATED && c->kind && *c->uid && !c->held &&
           sw_mig_profile_equal(&c->profile, &w->profile) && !c->node->gpus[c->gpu].barred;
}

static void reserve_one(struct cache *p, struct pod *pod, struct node *node, size_t want,
                        const struct sw_mig_choice *choice, int64_t now_ms)
{
    SW_AUTO_CHARS *name = claim_name(pod, node->name, &pod->pod_request.list[want]);
    struct claim *c = cache_new_claim(p, name, node, pod, now_ms);
    c->held = true;
    c->want = (uint16_t)want;
    c->gpu = choice->gpu;
    cache_place_claim(c, node->uuids[choice->gpu], &pod->pod_request.list[want].profile,
                      choice->place);
}

/* The requests that no claim serves yet. @return how many, or SW_CONFLICT */
static int open_slices(const struct cache *p, const struct pod *pod, const char *node,
                       uint16_t *which, struct sw_err *err)
{
    int n = 0;
    for (const struct claim *c = pod->claims; c; c = c->pod_next)
        if (!cache_serves(c, node))
            return sw_err_set(err, SW_CONFLICT, "claim '%s' is in the way", c->name);
    for (size_t i = 0; i < pod->pod_request.n; i++) {
        SW_AUTO_CHARS *name = claim_name(pod, node, &pod->pod_request.list[i]);
        if (!cache_find_claim(p, name))
            which[n++] = (uint16_t)i;
    }
    return n;
}

static void take_over(const struct pod *pod)
{
    for (struct claim *c = pod->claims; c; c = c->pod_next) {
        c->want = (uint16_t)(want_of(c, c->node->name) - pod->pod_request.list);
        c->held = true;
    }
}

int cache_reserve(struct cache *p, struct pod *pod, const char *name, int64_t now_ms,
                  struct sw_err *err)
{
    struct node *node = cache_find_node(p, name);
    if (!node || !node->is_mig)
        return sw_err_set(err, SW_NOTFOUND, "node '%s' has no GPUs that can be cut", name);
    uint16_t which[SW_MIG_MAX_REQUESTS];
    struct sw_mig_profile profiles[SW_MIG_MAX_REQUESTS];
    struct sw_mig_choice choices[SW_MIG_MAX_REQUESTS];
    const int n = open_slices(p, pod, name, which, err);
    struct sw_mig_gpu *gpus = sw_alloc((node->n_gpus + 1) * sizeof *gpus);
    cache_without(node, NULL, 0, gpus);
    cache_bar_held(node, pod, gpus);
    for (int i = 0; i < n; i++)
        profiles[i] = pod->pod_request.list[which[i]].profile;
    int rc = n > 0 ? sw_mig_place(gpus, node->n_gpus, profiles, (size_t)n, p->policy, choices, err)
                   : n;
    free(gpus);
    if (rc < 0)
        return rc;
    take_over(pod);
    for (int i = 0; i < n; i++)
        reserve_one(p, pod, node, which[i], &choices[i], now_ms);
    return 0;
}
