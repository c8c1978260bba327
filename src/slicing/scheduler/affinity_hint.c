#include "slicing/scheduler/affinity_hint.h"

#include <json-c/printbuf.h>
#include <stdlib.h>
#include <string.h>

#include "slicing/scheduler/placement.h"

/* ---- a quick check ------------------------------------------------------------------------------
 */

static const struct sw_mig_kind *kind_on(const struct sw_mig_gpu *gpu,
                                         const struct sw_mig_profile *profile)
{
    return gpu->barred ? NULL : sw_mig_kind_find(gpu->geometry, profile);
}

/* How many memory slices @profile takes on the first GPU that has it; 0: none. */
static unsigned size_on(const struct node *node, const struct sw_mig_profile *profile)
{
    for (size_t i = 0; i < node->n_gpus; i++) {
        const struct sw_mig_kind *kind = kind_on(&node->gpus[i], profile);
        if (kind)
            return kind->places[0].size;
    }
    return 0;
}

bool advice_count(const struct cache *p, const struct node *node, const struct pod *pod,
                  unsigned *wanted, unsigned *free_slices)
{
    unsigned all = 0;
    *wanted = *free_slices = 0;
    if (pod->fault || !pod->pod_request.n || pod->pod_request.n > ADVICE_MAX_MOVES ||
        decide_usable(p, node, NULL) < 0)
        return false;
    for (size_t i = 0; i < node->n_gpus; i++) {
        if (!node->gpus[i].geometry || node->gpus[i].barred)
            continue;
        all += node->gpus[i].geometry->n_slices;
        *free_slices += sw_mig_free_slices(node->gpus[i].geometry, &node->gpus[i].use);
    }
    for (size_t i = 0; i < pod->pod_request.n; i++) {
        const unsigned size = size_on(node, &pod->pod_request.list[i].profile);
        if (!size)
            return false;
        *wanted += size;
    }
    return *wanted <= all;
}

/* ---- one slice that does not fit ---------------------------------------------------------------
 */

struct search {
    const struct cache *p;
    const struct node *node;
    const struct pod *pod;
    struct node *const *others;
    size_t n_others;
    struct sw_mig_gpu *gpus; /* as they are after what was decided so far */
    struct sw_mig_gpu *best_gpus, *attempt;
    struct advice a, best;
    struct sw_mig_profile nowhere; /* that no other node had room for; zero: none yet */
};

static size_t gpus_bytes(const struct search *s)
{
    return s->node->n_gpus * sizeof *s->gpus;
}

static bool has_moved(const struct advice *a, const struct claim *c)
{
    for (size_t i = 0; i < a->n; i++)
        if (a->moves[i] == c)
            return true;
    return false;
}

/* Take the claims off @place of a GPU of the trial.
 * @return false: something there cannot move, or it is too much */
static bool clear_place(struct search *s, size_t gpu, const struct sw_mig_kind *kind,
                        struct sw_mig_place place, struct advice *a)
{
    struct sw_mig_use *use = &s->attempt[gpu].use;
    for (const struct claim *c = s->node->claims; c; c = c->next) {
        /* media engines run out before slices do: a claim that has one is in the way as well */
        const bool media = c->kind && kind->n_media && c->kind->n_media;
        if (c->gpu != gpu || has_moved(&s->a, c) || !(sw_mig_overlap(c->place, place) || media))
            continue;
        if (a->n == ADVICE_MAX_MOVES || !c->kind || c->held || c->pod == s->pod || !c->pod->known ||
            c->pod->leaving)
            return false;
        sw_mig_give(use, c->kind, c->place);
        a->moves[a->n++] = c;
    }
    return sw_mig_fits(s->attempt[gpu].geometry, use, kind, place);
}

/* Another node that has room for the slice of @c. */
static const struct node *another(struct search *s, const struct advice *a, const struct claim *c)
{
    enum { MAX_CHECKED = 256 };
    if (sw_mig_profile_equal(&s->nowhere, &c->profile))
        return NULL;
    for (size_t i = 0; i < s->n_others && i < MAX_CHECKED; i++) {
        struct node *n = s->others[i];
        bool taken = false;
        if (!n || n == s->node || n->nominee)
            continue;
        for (size_t k = 0; k < a->n; k++)
            taken |= a->to[k] == n; /* one each, so that none has to be counted */
        const struct sw_mig_kind *kind = taken ? NULL : sw_mig_kind_find(n->common, &c->profile);
        if (kind && decide_usable(s->p, n, NULL) == 0 &&
            cache_room(n) >> (kind - n->common->kinds) & 1)
            return n;
    }
    s->nowhere = c->profile; /* or taken by those of this trial: then the next one may miss it */
    return NULL;
}

/* Those from @from on, to other places of the trial, or to other nodes. */
static bool move_all(struct search *s, struct advice *a, size_t from)
{
    for (size_t i = from; i < a->n; i++) {
        struct sw_mig_choice c;
        a->to[i] = NULL;
        if (sw_mig_place(s->attempt, s->node->n_gpus, &a->moves[i]->profile, 1, s->p->policy, &c,
                         NULL) == 0) {
            sw_mig_take(&s->attempt[c.gpu].use, c.kind, c.place);
            a->to[i] = s->node;
        } else {
            a->to[i] = another(s, a, a->moves[i]);
        }
        if (!a->to[i])
            return false;
    }
    return true;
}

/* Fewer moves, then smaller ones. */
static bool is_less(const struct advice *a, const struct advice *b)
{
    unsigned x = 0, y = 0;
    if (!b->node || a->n != b->n)
        return !b->node || a->n < b->n;
    for (size_t i = 0; i < a->n; i++) {
        x += a->moves[i]->place.size;
        y += b->moves[i]->place.size;
    }
    return x < y;
}

static void try_place(struct search *s, size_t gpu, const struct sw_mig_kind *kind,
                      struct sw_mig_place place)
{
    struct advice a = s->a;
    memcpy(s->attempt, s->gpus, gpus_bytes(s));
    if (!clear_place(s, gpu, kind, place, &a) || !is_less(&a, &s->best))
        return;
    sw_mig_take(&s->attempt[gpu].use, kind, place);
    if (!move_all(s, &a, s->a.n))
        return;
    s->best = a;
    s->best.node = s->node;
    memcpy(s->best_gpus, s->attempt, gpus_bytes(s));
}

/* Put a slice of @profile somewhere, with the fewest moves. */
static bool make_room(struct search *s, const struct sw_mig_profile *profile)
{
    struct sw_mig_choice c;
    if (sw_mig_place(s->gpus, s->node->n_gpus, profile, 1, s->p->policy, &c, NULL) == 0) {
        sw_mig_take(&s->gpus[c.gpu].use, c.kind, c.place);
        return true;
    }
    s->best = (struct advice){ 0 };
    for (size_t i = 0; i < s->node->n_gpus; i++) {
        const struct sw_mig_kind *kind = kind_on(&s->gpus[i], profile);
        for (size_t k = 0; kind && k < kind->n_places; k++)
            try_place(s, i, kind, kind->places[k]);
    }
    if (!s->best.node)
        return false;
    s->a = s->best;
    memcpy(s->gpus, s->best_gpus, gpus_bytes(s));
    return true;
}

/* ---- all of them -------------------------------------------------------------------------------
 */

bool advice_find(const struct cache *p, const struct node *node, const struct pod *pod,
                 struct node *const *others, size_t n_others, struct advice *out)
{
    size_t order[ADVICE_MAX_MOVES]; /* the pod's requests, the largest first */
    const struct slice_request *requests = pod->pod_request.list;
    struct search s = { .p = p, .node = node, .pod = pod, .others = others, .n_others = n_others };
    unsigned wanted, free_slices;
    if (!advice_count(p, node, pod, &wanted, &free_slices))
        return false;
    s.gpus = decide_room_for_gpus(node);
    s.best_gpus = decide_room_for_gpus(node);
    s.attempt = decide_room_for_gpus(node);
    cache_without(node, &pod, 1, s.gpus);
    cache_bar_held(node, pod, s.gpus);
    for (size_t i = 0; i < pod->pod_request.n; i++) {
        const unsigned size = size_on(node, &requests[i].profile);
        size_t at = i;
        for (; at && size_on(node, &requests[order[at - 1]].profile) < size; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    bool ok = true;
    for (size_t i = 0; i < pod->pod_request.n && ok; i++)
        ok = make_room(&s, &requests[order[i]].profile);
    free(s.gpus);
    free(s.best_gpus);
    free(s.attempt);
    if (!ok || !s.a.n)
        return false;
    *out = s.a;
    out->node = node;
    return true;
}

char *advice_text(const struct advice *a)
{
    struct printbuf *out = printbuf_new();
    char profile[SW_MIG_NAME_LEN];
    sprintbuf(out, "would fit if these moved: ");
    for (size_t i = 0; i < a->n; i++)
        sprintbuf(out, "%s%s/%s (%s) to %s%s", i ? ", " : "", a->moves[i]->pod->ns,
                  a->moves[i]->pod->name, sw_mig_profile_text(&a->moves[i]->profile, profile),
                  a->to[i] == a->node ? "another place here" : "node ",
                  a->to[i] == a->node ? "" : a->to[i]->name);
    char *text = sw_strndup(out->buf, (size_t)out->bpos);
    printbuf_free(out);
    return text;
}
