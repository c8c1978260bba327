#include "slicing/scheduler/victims.h"

#include <stdlib.h>
#include <string.h>

#include "slicing/scheduler/placement.h"

enum { MAX_VICTIMS = 512 };

static bool is_among(const struct pod *pod, const struct pod *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == pod)
            return true;
    return false;
}

/* ---- one node ----------------------------------------------------------------------------------
 */

struct eviction {
    const struct cache *p;
    const struct node *node;
    const struct pod *pod;
    struct sw_mig_gpu *gpus;
    struct sw_mig_choice *choices;
    const struct pod
        *gone[MAX_VICTIMS * 2]; /* the pod, pods that leave anyway, given ones, victims */
    size_t n_gone;
    const struct pod *victims[MAX_VICTIMS]; /* beginning with those that a budget protects */
    size_t n_protected, n_victims;
    const struct pod *candidates[MAX_VICTIMS], *open[MAX_VICTIMS]; /* while they are sorted */
};

/* @without: the index of a victim that is not evicted */
static bool fits_without(struct eviction *t, size_t without)
{
    size_t n = t->n_gone;
    for (size_t i = 0; i < t->n_victims; i++)
        if (i != without)
            t->gone[n++] = t->victims[i];
    return decide_place(t->p, t->node, t->pod, t->gone, n, t->gpus, t->choices, NULL) == 0;
}

static bool fits(struct eviction *t)
{
    return fits_without(t, SIZE_MAX);
}

/* Its slices will be free without an eviction. */
static bool is_leaving(const struct pod *pod)
{
    return pod->leaving || pod->gone || pod->ended;
}

static void add_leaving(struct eviction *t)
{
    for (const struct claim *c = t->node->claims; c && t->n_gone < MAX_VICTIMS; c = c->next)
        if (is_leaving(c->pod) && !is_among(c->pod, t->gone, t->n_gone))
            t->gone[t->n_gone++] = c->pod;
}

static bool is_less(const struct pod *other, const struct pod *pod, const struct node *node)
{
    return other->known && !is_leaving(other) && other->node &&
           strcmp(other->node, node->name) == 0 && other->priority < pod->priority;
}

/* All pods of lower priority that hold slices here. Budgets are counted in the order of priority,
 * as kube-scheduler does. */
static void add_candidates(struct eviction *t)
{
    const struct pod **all = t->candidates, **open = t->open;
    size_t n = 0, n_open = 0;
    for (const struct claim *c = t->node->claims; c && n < MAX_VICTIMS; c = c->next)
        if (is_less(c->pod, t->pod, t->node) && !is_among(c->pod, t->gone, t->n_gone) &&
            !is_among(c->pod, all, n))
            all[n++] = c->pod;
    qsort(all, n, sizeof all[0], victims_by_importance);
    for (size_t i = 0; i < n; i++) {
        if (cache_spend(t->p, all[i]))
            t->victims[t->n_victims++] = all[i];
        else
            open[n_open++] = all[i];
    }
    t->n_protected = t->n_victims;
    memcpy(t->victims + t->n_victims, open, n_open * sizeof open[0]);
    t->n_victims += n_open;
}

/* Pods whose eviction is not needed after all stay: first those that a budget protects, then those
 * of the highest priority.
 */
static void reprieve(struct eviction *t)
{
    for (size_t i = 0; i < t->n_victims;) {
        if (!fits_without(t, i)) {
            i++;
            continue;
        }
        memmove(&t->victims[i], &t->victims[i + 1], (t->n_victims - i - 1) * sizeof t->victims[0]);
        t->n_victims--;
        t->n_protected -= i < t->n_protected;
    }
}

/* The GPUs that the pod gets: it is placed once more. */
static uint64_t find_gpus(struct eviction *t)
{
    uint64_t gpus = 0;
    (void)fits(t);
    for (size_t i = 0; i < t->pod->pod_request.n; i++)
        gpus |= t->choices[i].gpu < 64 ? UINT64_C(1) << t->choices[i].gpu : 0;
    return gpus;
}

/* Nobody ends an evicted pod where kubelet is not heard. */
static bool may_help(const struct cache *p, const struct pod *pod, const struct node *node)
{
    return !pod->fault && decide_usable(p, node, NULL) == 0 && !node->lost;
}

static struct eviction *begin(const struct cache *p, const struct pod *pod, const struct node *node)
{
    struct eviction *t = sw_zalloc(1, sizeof *t);
    *t = (struct eviction){ .p = p, .node = node, .pod = pod };
    t->gpus = decide_room_for_gpus(node);
    t->choices = sw_alloc((pod->pod_request.n + 1) * sizeof *t->choices);
    t->gone[t->n_gone++] = pod;
    return t;
}

static void end(struct eviction *t)
{
    free(t->choices);
    free(t->gpus);
    free(t);
}

bool victims_find(const struct cache *p, const struct pod *pod, const struct node *node,
                  const struct pod *const *given, size_t n_given, struct victims *out)
{
    if (n_given > MAX_VICTIMS / 2 || !may_help(p, pod, node))
        return false;
    struct eviction *t = begin(p, pod, node);
    cache_begin_spending(p);
    for (size_t i = 0; i < n_given; i++) {
        t->gone[t->n_gone++] = given[i];
        (void)cache_spend(p, given[i]);
    }
    add_leaving(t);
    bool ok = fits(t);
    if (!ok) {
        add_candidates(t);
        ok = fits(t);
        if (ok)
            reprieve(t);
    }
    ok = ok && n_given + t->n_victims > 0;
    if (ok) {
        const size_t n = n_given + t->n_victims;
        *out = (struct victims){ .list = sw_alloc(n * sizeof *out->list),
                                 .n = n,
                                 .n_violations = (int64_t)t->n_protected };
        if (n_given)
            memcpy(out->list, given, n_given * sizeof *given);
        memcpy(out->list + n_given, t->victims, t->n_victims * sizeof *given);
        qsort(out->list, n, sizeof *out->list, victims_by_importance);
        out->gpus = find_gpus(t);
    }
    end(t);
    return ok;
}

uint64_t victims_none(const struct cache *p, const struct pod *pod, const struct node *node)
{
    if (!may_help(p, pod, node))
        return 0;
    struct eviction *t = begin(p, pod, node);
    add_leaving(t);
    const uint64_t gpus = fits(t) ? find_gpus(t) : 0;
    end(t);
    return gpus;
}

/* ---- several nodes -----------------------------------------------------------------------------
 */

bool victims_likely(const struct node *node, const struct pod *pod, size_t *budget, bool *less)
{
    bool likely = false;
    for (const struct claim *c = node->claims; c && *budget && !node->lost;
         c = c->next, --*budget) {
        if (is_less(c->pod, pod, node))
            return *less = true;
        likely |= is_leaving(c->pod);
    }
    return likely;
}
