/* Reservations: slices that are taken before their claim is written. */
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
    return w && c->own && c->state <= SW_CLAIM_CREATED && c->kind && *c->uid && !c->held &&
           sw_mig_profile_equal(&c->profile, &w->profile) && !c->node->gpus[c->gpu].barred;
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
    size_t n = 0; /* requests that no claim serves yet */
    for (const struct claim *c = pod->claims; c; c = c->pod_next)
        if (!cache_serves(c, name))
            return sw_err_set(err, SW_CONFLICT, "claim '%s' is in the way", c->name);
    for (size_t i = 0; i < pod->pod_request.n; i++) {
        SW_AUTO_CHARS *own = claim_name(pod, name, &pod->pod_request.list[i]);
        if (cache_find_claim(p, own))
            continue;
        profiles[n] = pod->pod_request.list[i].profile;
        which[n++] = (uint16_t)i;
    }
    struct sw_mig_gpu *gpus = sw_alloc((node->n_gpus + 1) * sizeof *gpus);
    cache_without(node, NULL, 0, gpus);
    cache_mark_begun(node, pod, gpus);
    cache_bar_held(node, pod, gpus);
    const int rc = n ? sw_mig_place(gpus, node->n_gpus, profiles, n, p->policy, choices, err) : 0;
    free(gpus);
    if (rc < 0)
        return rc;
    for (struct claim *c = pod->claims; c; c = c->pod_next) { /* of an earlier attempt */
        c->want = (uint16_t)(want_of(c, name) - pod->pod_request.list);
        c->held = true;
    }
    for (size_t i = 0; i < n; i++) {
        SW_AUTO_CHARS *own = claim_name(pod, name, &pod->pod_request.list[which[i]]);
        struct claim *c = cache_new_claim(p, own, node, pod, now_ms);
        c->held = true;
        c->want = which[i];
        c->gpu = choices[i].gpu;
        cache_place_claim(c, node->uuids[c->gpu], &profiles[i], choices[i].place);
    }
    return 0;
}
