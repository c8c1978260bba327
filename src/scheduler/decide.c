#include "scheduler/decide.h"

#include <stdlib.h>
#include <string.h>

static bool has_room(const struct node *node, const struct sw_mig_profile *profile, bool *known)
{
    for (size_t i = 0; i < node->n_gpus; i++) {
        const struct sw_mig_gpu *gpu = &node->gpus[i];
        const struct sw_mig_kind *kind = gpu->geometry ? sw_mig_kind_find(gpu->geometry, profile)
                                                       : NULL;
        *known |= kind != NULL;
        if (kind && !gpu->barred && sw_mig_room(gpu->geometry, &gpu->use, kind))
            return true;
    }
    return false;
}

static int number_of(const struct sw_mig_geometry *g, const struct sw_mig_profile *profile)
{
    const struct sw_mig_kind *kind = sw_mig_kind_find(g, profile);
    return kind ? (int)(kind - g->kinds) : -1;
}

/* One slice, nobody's claims to look away from: the common case, made for thousands of nodes. */
static int one_fit(struct node *node, const struct want *want, struct decide_look *look,
                   struct sw_err *err)
{
    char name[SW_MIG_NAME_LEN];
    bool known = false, fits;
    if (node->common) {
        if (look->geometry != node->common)
            *look = (struct decide_look){ node->common, number_of(node->common, &want->profile) };
        known = look->kind >= 0;
        fits = known && picture_room(node) >> look->kind & 1;
    } else {
        fits = has_room(node, &want->profile, &known);
    }
    if (fits)
        return 0;
    (void)sw_mig_profile_text(&want->profile, name);
    if (!known)
        return sw_err_set(err, SW_INVALID, "no GPU here can be cut into %s", name);
    return sw_err_set(err, SW_PENDING, "room for 0 of 1 x %s", name);
}

/* @choices: NULL, or room for as many as the pod wants. */
static int place(const struct picture *p, const struct node *node, const struct pod *pod,
                 const struct pod *const *gone, size_t n_gone, struct sw_mig_gpu *gpus,
                 struct sw_mig_choice *choices, struct sw_err *err)
{
    struct sw_mig_profile profiles[SW_MIG_MAX_WANTS];
    struct sw_mig_choice own[SW_MIG_MAX_WANTS];
    for (size_t i = 0; i < pod->wants.n; i++)
        profiles[i] = pod->wants.list[i].profile;
    picture_without(node, gone, n_gone, gpus);
    return sw_mig_place(gpus, node->n_gpus, profiles, pod->wants.n, p->policy,
                        choices ? choices : own, err);
}

static struct sw_mig_gpu *room_for_gpus(const struct node *node)
{
    return sw_alloc((node->n_gpus + 1) * sizeof(struct sw_mig_gpu));
}

static int check_usable(const struct picture *p, const struct node *node, struct sw_err *err)
{
    if (!node || !node->is_mig)
        return sw_err_set(err, SW_NOTFOUND, "no GPU here that can be cut");
    if (!node->labelled && !p->any_node)
        return sw_err_set(err, SW_FORBIDDEN, "not labelled as able to cut GPUs");
    if (node->unready)
        return sw_err_set(err, SW_UNAVAILABLE, "%s", node->unready);
    return 0;
}

int decide_fit(const struct picture *p, const struct pod *pod, struct node *node,
               struct decide_look *look, struct sw_err *err)
{
    struct decide_look none = { 0 };
    if (pod->fault)
        return sw_err_set(err, SW_INVALID, "%s", pod->fault);
    if (pod->wants.n == 0)
        return 0;
    int rc = check_usable(p, node, err);
    if (rc < 0)
        return rc;
    if (pod->wants.n == 1 && !pod->claims)
        return one_fit(node, &pod->wants.list[0], look ? look : &none, err);
    struct sw_mig_gpu *gpus = room_for_gpus(node);
    rc = place(p, node, pod, &pod, 1, gpus, NULL, err);
    free(gpus);
    return rc;
}

unsigned decide_score(const struct picture *p, const struct pod *pod, const struct node *node)
{
    struct sw_mig_choice choices[SW_MIG_MAX_WANTS];
    if (pod->fault || pod->wants.n == 0 || check_usable(p, node, NULL) < 0)
        return 0;
    struct sw_mig_gpu *gpus = room_for_gpus(node);
    unsigned score = 0;
    if (place(p, node, pod, &pod, 1, gpus, choices, NULL) == 0)
        score = sw_mig_node_score(gpus, node->n_gpus, choices, pod->wants.n, p->policy);
    free(gpus);
    return score;
}

/* ---- who has to go -----------------------------------------------------------------------------
 */

/* The most important first, as the scheduler wants its victims; then those that are there longest.
 */
static int by_importance(const void *a, const void *b)
{
    const struct pod *x = *(const struct pod *const *)a, *y = *(const struct pod *const *)b;
    if (x->priority != y->priority)
        return x->priority < y->priority ? 1 : -1;
    if (x->created_ms != y->created_ms)
        return x->created_ms < y->created_ms ? -1 : 1;
    return strcmp(x->uid, y->uid);
}

static bool is_among(const struct pod *pod, const struct pod *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == pod)
            return true;
    return false;
}

struct trial {
    const struct picture *p;
    const struct node *node;
    const struct pod *pod;
    struct sw_mig_gpu *gpus;
    const struct pod **gone; /* the pod itself, then the victims */
    size_t n;
};

static bool fits(const struct trial *t)
{
    return place(t->p, t->node, t->pod, t->gone, t->n, t->gpus, NULL, NULL) == 0;
}

/* All who hold slices here and are less important. */
static void add_candidates(struct trial *t, size_t cap)
{
    const size_t from = t->n;
    for (const struct claim *c = t->node->claims; c && t->n < cap; c = c->next)
        if (c->pod->known && c->pod->node && c->pod->priority < t->pod->priority &&
            !is_among(c->pod, t->gone, t->n))
            t->gone[t->n++] = c->pod;
    qsort(t->gone + from, t->n - from, sizeof *t->gone, by_importance);
}

/* Whoever need not go after all stays, the most important first. */
static void reprieve(struct trial *t, size_t from)
{
    for (size_t i = from; i < t->n;) {
        const struct pod *spared = t->gone[i];
        memmove(&t->gone[i], &t->gone[i + 1], (t->n - i - 1) * sizeof *t->gone);
        t->n--;
        if (fits(t))
            continue;
        memmove(&t->gone[i + 1], &t->gone[i], (t->n - i) * sizeof *t->gone);
        t->gone[i++] = spared;
        t->n++;
    }
}

bool decide_victims(const struct picture *p, const struct pod *pod, const struct node *node,
                    const struct pod **victims, size_t *n, size_t cap)
{
    struct trial t = { .p = p, .pod = pod, .node = node };
    if (pod->fault || check_usable(p, node, NULL) < 0)
        return false;
    t.gpus = room_for_gpus(t.node);
    t.gone = sw_alloc((cap + 1) * sizeof *t.gone);
    t.gone[0] = pod;
    memcpy(t.gone + 1, victims, *n * sizeof *victims);
    t.n = *n + 1;
    bool ok = fits(&t);
    if (!ok) {
        add_candidates(&t, cap + 1);
        ok = fits(&t);
        if (ok)
            reprieve(&t, *n + 1);
    }
    ok = ok && t.n > 1;
    if (ok) {
        *n = t.n - 1;
        memcpy(victims, t.gone + 1, *n * sizeof *victims);
        qsort(victims, *n, sizeof *victims, by_importance);
    }
    free(t.gone);
    free(t.gpus);
    return ok;
}
