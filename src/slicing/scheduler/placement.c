#include "slicing/scheduler/placement.h"

#include <stdlib.h>
#include <string.h>

/* One slice, and no claims to be left out: the common case, for thousands of nodes. */
static bool is_simple(const struct pod *pod, const struct node *node)
{
    return pod->pod_request.n == 1 && !pod->claims && !node->nominee;
}

/* The index of the pod's profile in the geometry of all the node's GPUs; -1: it is not there. */
static int common_kind(const struct node *node, const struct slice_request *want,
                       struct decide_common *common)
{
    if (common->geometry != node->common) {
        const struct sw_mig_kind *kind = sw_mig_kind_find(node->common, &want->profile);
        *common = (struct decide_common){ node->common,
                                          kind ? (int)(kind - node->common->kinds) : -1 };
    }
    return common->kind;
}

static int one_fit(struct node *node, const struct slice_request *want,
                   struct decide_common *common, struct sw_err *err)
{
    char name[SW_MIG_NAME_LEN];
    bool known = false, fits = false;
    if (node->common) {
        const int kind = common_kind(node, want, common);
        known = kind >= 0;
        fits = known && cache_room(node) >> kind & 1;
    }
    for (size_t i = 0; !node->common && i < node->n_gpus && !fits; i++) {
        const struct sw_mig_gpu *gpu = &node->gpus[i];
        const struct sw_mig_kind *kind = sw_mig_kind_find(gpu->geometry, &want->profile);
        known |= kind != NULL;
        fits = kind && !gpu->barred && sw_mig_room(gpu->geometry, &gpu->use, kind);
    }
    if (fits)
        return 0;
    (void)sw_mig_profile_text(&want->profile, name);
    if (!known)
        return sw_err_set(err, SW_INVALID, "no GPU here can be cut into %s", name);
    return sw_err_set(err, SW_PENDING, "room for 0 of 1 x %s", name);
}

int decide_place(const struct cache *p, const struct node *node, const struct pod *pod,
                 const struct pod *const *gone, size_t n_gone, struct sw_mig_gpu *gpus,
                 struct sw_mig_choice *choices, struct sw_err *err)
{
    struct sw_mig_profile profiles[SW_MIG_MAX_REQUESTS];
    struct sw_mig_choice own[SW_MIG_MAX_REQUESTS];
    for (size_t i = 0; i < pod->pod_request.n; i++)
        profiles[i] = pod->pod_request.list[i].profile;
    cache_without(node, gone, n_gone, gpus);
    cache_mark_begun(node, pod, gpus);
    cache_bar_held(node, pod, gpus);
    return sw_mig_place(gpus, node->n_gpus, profiles, pod->pod_request.n, p->policy,
                        choices ? choices : own, err);
}

struct sw_mig_gpu *decide_room_for_gpus(const struct node *node)
{
    return sw_alloc((node->n_gpus + 1) * sizeof(struct sw_mig_gpu));
}

int decide_usable(const struct cache *p, const struct node *node, struct sw_err *err)
{
    if (!node || !node->is_mig)
        return sw_err_set(err, SW_NOTFOUND, "no GPU here that can be cut");
    if (!node->labelled && !p->any_node)
        return sw_err_set(err, SW_FORBIDDEN, "not labelled as able to cut GPUs");
    if (node->unready)
        return sw_err_set(err, SW_UNAVAILABLE, "%s", node->unready);
    return 0;
}

int decide_fit(const struct cache *p, const struct pod *pod, struct node *node,
               struct decide_common *common, struct sw_err *err)
{
    struct decide_common none = { 0 };
    if (pod->fault)
        return sw_err_set(err, SW_INVALID, "%s", pod->fault);
    if (pod->pod_request.n == 0)
        return 0;
    int rc = decide_usable(p, node, err);
    if (rc < 0)
        return rc;
    if (is_simple(pod, node))
        return one_fit(node, &pod->pod_request.list[0], common ? common : &none, err);
    struct sw_mig_gpu *gpus = decide_room_for_gpus(node);
    rc = decide_place(p, node, pod, &pod, 1, gpus, NULL, err);
    free(gpus);
    return rc;
}

static unsigned score_now(const struct cache *p, const struct pod *pod, const struct node *node)
{
    struct sw_mig_choice choices[SW_MIG_MAX_REQUESTS];
    struct sw_mig_gpu *gpus = decide_room_for_gpus(node);
    unsigned score = 0;
    if (decide_place(p, node, pod, &pod, 1, gpus, choices, NULL) == 0)
        score = sw_mig_node_score(gpus, node->n_gpus, choices, pod->pod_request.n, p->policy);
    free(gpus);
    return score;
}

unsigned decide_score(const struct cache *p, const struct pod *pod, struct node *node,
                      struct decide_common *common)
{
    struct decide_common none = { 0 };
    if (pod->fault || pod->pod_request.n == 0 || decide_usable(p, node, NULL) < 0)
        return 0;
    if (!node->common || !is_simple(pod, node))
        return score_now(p, pod, node);
    const int kind = common_kind(node, &pod->pod_request.list[0], common ? common : &none);
    if (kind < 0)
        return 0;
    if (!(node->scored >> kind & 1)) {
        node->scores[kind] = (uint8_t)score_now(p, pod, node);
        node->scored |= 1u << kind;
    }
    return node->scores[kind];
}
