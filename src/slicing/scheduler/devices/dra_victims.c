#include "slicing/scheduler/devices/dra_victims.h"

#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "slicing/dra/dra.h"
#include "slicing/scheduler/devices/dra_search.h"

enum {
    MAX_TRIED = 8, /* places of a node, those of least harm by estimate */
    MAX_MOVES = 8, /* pods that move for one other */
};

void dra_choice_done(struct dra_choice *c)
{
    victims_done(&c->victims);
    json_object_put(c->devices);
    json_object_put(c->to);
    *c = (struct dra_choice){ 0 };
}

/* ---- who may leave ------------------------------------------------------------------------------
 */

static bool is_among(const struct pod *pod, const struct pod *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == pod)
            return true;
    return false;
}

/* Pods that move are made again, by whoever made them: one that nobody would make again is not
 * moved. */
static bool may_leave(const struct search *t, const struct pod *p)
{
    if (search_is_leaving(p) || !p->node || strcmp(p->node, sw_obj_name(t->node)) != 0)
        return false;
    if (t->way == DRA_PREEMPT)
        return p->priority < t->pod->pod->priority;
    const struct dra_pod *other = dra_find_pod(t->v, p->uid);
    return other && other->bound && (other->movable || t->way == DRA_MOVE_ANY);
}

/* All that hold devices here and may leave; budgets count in the order of priority. */
static void add_candidates(struct search *t)
{
    const struct pod **list = t->list, **open = t->open;
    size_t n = 0, n_open = 0;
    for (size_t i = 0; i < t->n_uses; i++)
        for (size_t k = 0; k < t->uses[i].n_pods && n < DRA_MAX_VICTIMS; k++) {
            const struct pod *p = t->uses[i].pods[k];
            if (!t->uses[i].fixed && may_leave(t, p) && !is_among(p, list, n))
                list[n++] = p;
        }
    qsort(list, n, sizeof list[0], victims_by_importance);
    cache_begin_spending(t->v->cache);
    for (size_t i = 0; i < n; i++) {
        if (cache_spend(t->v->cache, list[i]))
            t->all[t->n_all++] = list[i];
        else
            open[n_open++] = list[i];
    }
    t->n_all_protected = t->n_all;
    memcpy(t->all + t->n_all, open, n_open * sizeof open[0]);
    t->n_all += n_open;
}

/* ---- who leaves --------------------------------------------------------------------------------
 */

/* Take those of the candidates that @chosen says. */
static void take(struct search *t, const bool *chosen)
{
    t->n_victims = t->n_protected = 0;
    for (size_t i = 0; i < t->n_all; i++) {
        if (!chosen[i])
            continue;
        t->victims[t->n_victims++] = t->all[i];
        t->n_protected += i < t->n_all_protected;
    }
}

/* Pods whose eviction is not needed after all stay: first those that a budget protects, then the
 * most important ones. */
static void reprieve(struct search *t)
{
    for (size_t i = 0; i < t->n_victims;) {
        if (!search_fits(t, true, i, NULL)) {
            i++;
            continue;
        }
        memmove(&t->victims[i], &t->victims[i + 1], (t->n_victims - i - 1) * sizeof t->victims[0]);
        t->n_victims--;
        t->n_protected -= i < t->n_protected;
    }
}

static void victims_of(const struct search *t, struct victims *out)
{
    *out = (struct victims){ .list = sw_alloc((t->n_victims + 1) * sizeof *out->list),
                             .n = t->n_victims,
                             .n_violations = (int64_t)t->n_protected };
    memcpy(out->list, t->victims, t->n_victims * sizeof t->victims[0]);
    qsort(out->list, out->n, sizeof *out->list, victims_by_importance);
}

/* Whether each of them finds another place. */
static bool may_all_move(struct search *t, const struct victims *movers)
{
    SW_AUTO_JSON *allocations = NULL;
    if (movers->n > MAX_MOVES || !search_fits(t, true, SIZE_MAX, &allocations))
        return false;
    SW_AUTO_JSON *to = dra_destinations(t, movers, allocations);
    return to != NULL;
}

/* Keep the victims in @best if they are better. */
static void offer(struct search *t, struct victims *best)
{
    struct victims v;
    if (!t->n_victims)
        return;
    victims_of(t, &v);
    if ((best->n && !victims_better(&v, best)) || (t->way != DRA_PREEMPT && !may_all_move(t, &v))) {
        victims_done(&v);
        return;
    }
    victims_done(best);
    *best = v;
}

/* ---- places ------------------------------------------------------------------------------------
 * Leaving out one pod after the other ends with pods that all are needed, but not with the fewest:
 * seven small slices of one GPU may go instead of a large one on another. So for a pod that asks
 * for one device each place of it is tried, beginning with that of least harm.
 */

static struct json_object *device_of(const struct search *t, const char *name)
{
    for (size_t i = 0; i < t->n_slices; i++) {
        struct json_object *d = sw_json_find_by(sw_json_find(t->slices[i], "spec", "devices", NULL),
                                                "name", name);
        if (d)
            return d;
    }
    return NULL;
}

/* Whether both take of one memory slice, or are the same device. */
static bool overlap(struct json_object *a, struct json_object *b)
{
    struct json_object *takes = sw_json_get(a, "consumesCounters");
    if (a == b)
        return true;
    for (size_t i = 0; i < sw_json_len(takes); i++) {
        struct json_object *x = sw_json_at(takes, i);
        struct json_object *y = sw_json_find_by(sw_json_get(b, "consumesCounters"), "counterSet",
                                                sw_json_str(x, "", "counterSet", NULL));
        struct json_object *counters = sw_json_get(x, "counters"),
                           *others = sw_json_get(y, "counters");
        if (!json_object_is_type(counters, json_type_object))
            continue;
        json_object_object_foreach(counters, name, value)
        {
            (void)value;
            if (sw_starts_with(name, "memory-") && sw_json_get(others, name))
                return true;
        }
    }
    return false;
}

static const char *profile_of(struct json_object *device)
{
    return sw_json_str(device, "", "attributes", "profile", "string", NULL);
}

/* Mark whose devices are in the way of @device. */
static void mark(const struct search *t, struct json_object *device, bool *chosen)
{
    for (size_t i = 0; i < t->n_uses; i++) {
        struct json_object *results = search_results_of(t->uses[i].doc);
        bool in_the_way = false;
        for (size_t k = 0; k < sw_json_len(results) && !in_the_way; k++) {
            struct json_object *other = device_of(
                t, sw_json_str(sw_json_at(results, k), "", "device", NULL));
            in_the_way = other && overlap(device, other);
        }
        for (size_t k = 0; in_the_way && k < t->n_all; k++)
            chosen[k] |= is_among(t->all[k], t->uses[i].pods, t->uses[i].n_pods);
    }
}

struct place {
    bool chosen[DRA_MAX_VICTIMS];
    struct victims harm;
};

/* Keep the best MAX_TRIED places, each set of victims once. */
static void add_place(struct search *t, struct place *places, size_t *n, struct place *new)
{
    for (size_t i = 0; i < *n; i++)
        if (memcmp(places[i].chosen, new->chosen, sizeof new->chosen) == 0)
            return;
    take(t, new->chosen);
    if (!t->n_victims)
        return;
    victims_of(t, &new->harm);
    size_t at = *n;
    while (at > 0 && victims_better(&new->harm, &places[at - 1].harm))
        at--;
    if (at == MAX_TRIED) {
        victims_done(&new->harm);
        return;
    }
    if (*n == MAX_TRIED)
        victims_done(&places[--*n].harm);
    memmove(&places[at + 1], &places[at], (*n - at) * sizeof *places);
    places[at] = *new;
    ++*n;
}

static void try_places(struct search *t, const char *profile, struct victims *best)
{
    struct place *places = sw_zalloc(MAX_TRIED, sizeof *places);
    size_t n = 0;
    for (size_t i = 0; i < t->n_slices; i++) {
        struct json_object *devices = sw_json_find(t->slices[i], "spec", "devices", NULL);
        for (size_t k = 0; k < sw_json_len(devices); k++) {
            struct place new = { 0 };
            if (strcmp(profile_of(sw_json_at(devices, k)), profile) != 0)
                continue;
            mark(t, sw_json_at(devices, k), new.chosen);
            add_place(t, places, &n, &new);
        }
    }
    for (size_t i = 0; i < n; i++) {
        take(t, places[i].chosen);
        if (search_fits(t, true, SIZE_MAX, NULL)) {
            reprieve(t);
            offer(t, best);
        }
        victims_done(&places[i].harm);
    }
    free(places);
}

/* Of a pod that asks for several devices: is one pod alone in its way? */
static void try_each(struct search *t, struct victims *best)
{
    for (size_t i = 0; i < t->n_all; i++) {
        bool one[DRA_MAX_VICTIMS] = { 0 };
        one[i] = true;
        take(t, one);
        if (search_fits(t, true, SIZE_MAX, NULL))
            offer(t, best);
    }
}

/* @return DRA_EVICT with the victims in @best, or DRA_HOPELESS */
static enum dra_outcome find_victims(struct search *t, struct victims *best, const char **why)
{
    static const bool none[DRA_MAX_VICTIMS];
    bool every[DRA_MAX_VICTIMS];
    SW_AUTO_JSON *allocations = NULL;
    add_candidates(t);
    memset(every, 1, sizeof every);
    take(t, every);
    if (!t->n_all || !search_fits(t, true, SIZE_MAX, &allocations)) {
        *why = t->way == DRA_PREEMPT
                   ? "no room there for it even without the pods of lower priority"
                   : "no room there for it even without the pods that may move";
        return DRA_HOPELESS;
    }
    SW_AUTO_JSON *devices = dra_ours_of(allocations);
    if (sw_json_len(devices) == 1)
        try_places(
            t, profile_of(device_of(t, sw_json_str(sw_json_at(devices, 0), "", "device", NULL))),
            best);
    if (!best->n && t->way != DRA_PREEMPT)
        try_each(t, best);
    if (!best->n) {
        take(t, every);
        reprieve(t);
        offer(t, best);
    }
    take(t, none);
    if (best->n && !best->n_violations)
        return DRA_EVICT;
    *why = best->n ? "a PodDisruptionBudget does not allow the evictions"
                   : "the pods in its way find no other place";
    return DRA_HOPELESS;
}

static void devices_in(struct search *t, enum dra_outcome outcome, struct dra_choice *out)
{
    SW_AUTO_JSON *allocations = NULL;
    t->n_victims = 0;
    for (size_t i = 0; i < out->victims.n; i++)
        t->victims[t->n_victims++] = out->victims.list[i];
    (void)search_fits(t, outcome != DRA_FITS, SIZE_MAX, &allocations);
    out->devices = dra_ours_of(allocations);
    out->node = sw_obj_name(t->node);
    if (outcome == DRA_EVICT && t->way != DRA_PREEMPT)
        out->to = dra_destinations(t, &out->victims, allocations);
}

/* @t has the slices of its node. @out is empty; with DRA_HOPELESS it stays so but for the reason.
 */
static enum dra_outcome choose_on(struct search *t, struct dra_choice *out)
{
    enum dra_outcome outcome = DRA_HOPELESS;
    dra_needs_read(t->v, t->doc, t->node, &t->needs);
    if (t->needs.ours && !t->needs.missing && search_may_be_there(t)) {
        search_read_node(t);
        if (search_fits(t, false, SIZE_MAX, NULL))
            outcome = DRA_FITS;
        else if (search_fits(t, true, SIZE_MAX, NULL))
            outcome = DRA_COMES;
        else
            outcome = find_victims(t, &out->victims, &out->why);
    } else {
        out->why = t->needs.missing ? "a ResourceClaim that it names does not exist yet"
                                    : "the pod cannot be there";
    }
    if (outcome == DRA_HOPELESS)
        victims_done(&out->victims);
    else
        devices_in(t, outcome, out);
    return outcome;
}

/* ---- several nodes -----------------------------------------------------------------------------
 */

static bool is_better(enum dra_outcome outcome, const struct dra_choice *c, enum dra_outcome best,
                      const struct dra_choice *b)
{
    if (outcome == DRA_HOPELESS || best == DRA_FITS)
        return false;
    if (best == DRA_HOPELESS || outcome == DRA_FITS)
        return true;
    if (outcome != best)
        return outcome == DRA_COMES;
    return outcome == DRA_EVICT && victims_better(&c->victims, &b->victims);
}

enum dra_outcome dra_choose(const struct dra_view *v, const struct dra_pod *pod, const char *node,
                            enum dra_way way, struct dra_choice *out)
{
    enum dra_outcome best = DRA_HOPELESS;
    unsigned runs = 0;
    size_t n, next;
    struct json_object **slices = dra_published(v, &n);
    *out = (struct dra_choice){ 0 };
    for (size_t i = 0; i < n && best != DRA_FITS && runs < dra_max_runs(v); i = next) {
        const char *name = sw_json_str(slices[i], "", "spec", "nodeName", NULL);
        struct json_object *doc = dra_find(v, DRA_NODES, NULL, name);
        struct dra_choice c = { 0 };
        next = dra_published_end(slices, n, i);
        if (!doc || (node && strcmp(node, name) != 0))
            continue;
        struct search *t = search_new(v, pod, pod->doc, doc, &runs);
        t->way = way;
        t->slices = slices + i;
        t->n_slices = next - i;
        const enum dra_outcome outcome = choose_on(t, &c);
        search_free(t);
        if (is_better(outcome, &c, best, out)) {
            dra_choice_done(out);
            *out = c;
            best = outcome;
        } else {
            if (best == DRA_HOPELESS)
                out->why = c.why;
            c.why = NULL;
            dra_choice_done(&c);
        }
    }
    free(slices);
    if (best == DRA_HOPELESS && runs >= dra_max_runs(v))
        out->why = "it would take too long to look for room on all nodes";
    return best;
}
