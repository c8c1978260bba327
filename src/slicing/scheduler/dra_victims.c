#include "slicing/scheduler/dra_victims.h"

#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "data/json/table.h"
#include "kube/allocator/allocator.h"
#include "slicing/dra/dra.h"

enum {
    MAX_VICTIMS = 256,
    MAX_USERS = 8,   /* pods that share a claim; one with more of them stays */
    MAX_TRIED = 8,   /* places of a node, those of least harm by estimate */
    MAX_RUNS = 4000, /* of the allocator for one pod: then the best so far counts */
};

void dra_choice_done(struct dra_choice *c)
{
    victims_done(&c->victims);
    json_object_put(c->devices);
    *c = (struct dra_choice){ 0 };
}

/* ---- one node ----------------------------------------------------------------------------------
 */

/* An allocated claim with devices of the node. */
struct use {
    struct json_object *doc;
    const struct pod *pods[MAX_USERS];
    size_t n_pods;
    bool fixed; /* none of its pods' ends frees it */
};

struct search {
    const struct dra_view *v;
    const struct dra_pod *pod;
    struct json_object *node;
    struct dra_needs needs;
    struct json_object **slices; /* of the node; borrowed */
    size_t n_slices;
    struct use *uses;
    size_t n_uses;
    int64_t cpu_milli, memory, n_pods;      /* free, with the candidates that stay */
    const struct pod *victims[MAX_VICTIMS]; /* beginning with those that a budget protects */
    size_t n_protected, n_victims;
    const struct pod *all[MAX_VICTIMS]; /* candidates; the protected first */
    size_t n_all, n_all_protected;
    const struct pod *list[MAX_VICTIMS], *open[MAX_VICTIMS]; /* while they are sorted */
    unsigned *runs;
};

static bool is_leaving(const struct pod *pod)
{
    return pod->leaving || pod->gone || pod->ended;
}

static bool is_among(const struct pod *pod, const struct pod *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == pod)
            return true;
    return false;
}

static struct json_object *class_of(void *arg, const char *name)
{
    return dra_find(arg, DRA_CLASSES, NULL, name);
}

/* @ends: pods that end anyway have ended. @without: the index of a victim that stays. */
static bool is_freed(const struct search *t, const struct use *u, bool ends, size_t without)
{
    if (u->fixed)
        return false;
    for (size_t i = 0; i < u->n_pods; i++) {
        const struct pod *p = u->pods[i];
        bool gone = ends && is_leaving(p);
        for (size_t k = 0; k < t->n_victims && !gone; k++)
            gone = k != without && t->victims[k] == p;
        if (!gone)
            return false;
    }
    return ends || u->n_pods;
}

/* What the pod takes besides devices. */
static bool has_other_room(const struct search *t, bool ends, size_t without)
{
    int64_t cpu = t->cpu_milli, memory = t->memory, n = t->n_pods;
    for (struct lh_entry *e = lh_table_head(t->v->pods); e; e = e->next) {
        const struct dra_pod *p = lh_entry_v(e);
        if (!p->pod->node || p->pod->ended || strcmp(p->pod->node, sw_obj_name(t->node)) != 0)
            continue;
        bool gone = ends && p->pod->leaving;
        for (size_t k = 0; k < t->n_victims && !gone; k++)
            gone = k != without && t->victims[k] == p->pod;
        cpu -= gone ? 0 : p->cpu_milli;
        memory -= gone ? 0 : p->memory;
        n -= gone ? 0 : 1;
    }
    return cpu >= t->pod->cpu_milli && memory >= t->pod->memory && n >= 1;
}

/* @devices (may be NULL): what it gets, a list of allocations; the caller's. */
static bool fits(struct search *t, bool ends, size_t without, struct json_object **devices)
{
    struct json_object **in_use = sw_zalloc(t->n_uses + 1, sizeof(struct json_object *));
    struct json_object *results = NULL;
    size_t n = 0;
    SW_ERR(err);
    ++*t->runs;
    for (size_t i = 0; i < t->n_uses; i++)
        if (!is_freed(t, &t->uses[i], ends, without))
            in_use[n++] = t->uses[i].doc;
    struct sw_allocator *a = sw_allocator_new(&(struct sw_allocator_input){ .slices = t->slices,
                                                                            .n_slices = t->n_slices,
                                                                            .claims = in_use,
                                                                            .n_claims = n,
                                                                            .class_of = class_of,
                                                                            .arg = (void *)t->v });
    const bool ok = sw_allocator_run(a, t->node, t->needs.todo, t->needs.n_todo, &results, &err) ==
                        0 &&
                    has_other_room(t, ends, without);
    sw_allocator_free(a);
    free(in_use);
    if (ok && devices)
        *devices = SW_TAKE(results);
    json_object_put(results);
    return ok;
}

/* ---- what is on the node -----------------------------------------------------------------------
 */

/* Whether the claim keeps room that the pod may take. */
static bool is_open_room(const struct search *t, struct json_object *claim)
{
    const char *uid = sw_obj_label(claim, DRA_ROOM_LABEL);
    if (!uid)
        return false;
    const struct dra_pod *other = dra_find_pod(t->v, uid);
    return !other || other == t->pod || other->pod->priority < t->pod->pod->priority;
}

static struct json_object *results_of(struct json_object *claim)
{
    return sw_json_find(claim, "status", "allocation", "devices", "results", NULL);
}

static bool has_devices_of(struct json_object *claim, const char *pool)
{
    struct json_object *results = results_of(claim);
    for (size_t i = 0; i < sw_json_len(results); i++)
        if (sw_streq(sw_json_str(sw_json_at(results, i), "", "pool", NULL), pool))
            return true;
    return false;
}

static void add_use(struct search *t, struct json_object *claim)
{
    struct json_object *users = sw_json_find(claim, "status", "reservedFor", NULL);
    t->uses = sw_realloc(t->uses, t->n_uses + 1, sizeof *t->uses);
    struct use *u = &t->uses[t->n_uses++];
    *u = (struct use){ .doc = claim, .fixed = !sw_json_len(users) };
    for (size_t i = 0; i < sw_json_len(users); i++) {
        struct json_object *user = sw_json_at(users, i);
        const struct dra_pod *p = dra_find_pod(t->v, sw_json_str(user, "", "uid", NULL));
        u->fixed |= !sw_streq(sw_json_str(user, "", "resource", NULL), "pods") ||
                    u->n_pods == MAX_USERS;
        if (p && !u->fixed)
            u->pods[u->n_pods++] = p->pod;
    }
}

static void read_node(struct search *t)
{
    SW_AUTO_CHARS *pool = sw_dra_pool(sw_obj_name(t->node));
    for (struct lh_entry *e = lh_table_head(t->v->docs[DRA_CLAIMS]); e; e = e->next) {
        struct json_object *claim = lh_entry_v(e);
        if (has_devices_of(claim, pool) && !is_open_room(t, claim))
            add_use(t, claim);
    }
}

/* All pods of lower priority that hold devices here; budgets count in the order of priority. */
static void add_candidates(struct search *t)
{
    const struct pod **list = t->list, **open = t->open;
    size_t n = 0, n_open = 0;
    for (size_t i = 0; i < t->n_uses; i++)
        for (size_t k = 0; k < t->uses[i].n_pods && n < MAX_VICTIMS; k++) {
            const struct pod *p = t->uses[i].pods[k];
            if (!t->uses[i].fixed && p->node && strcmp(p->node, sw_obj_name(t->node)) == 0 &&
                p->priority < t->pod->pod->priority && !is_leaving(p) && !is_among(p, list, n))
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
        if (!fits(t, true, i, NULL)) {
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

/* Keep the victims in @best if they are better. */
static void offer(const struct search *t, struct victims *best)
{
    struct victims v;
    if (!t->n_victims)
        return;
    victims_of(t, &v);
    if (best->n && !victims_better(&v, best)) {
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
        struct json_object *results = results_of(t->uses[i].doc);
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
    bool chosen[MAX_VICTIMS];
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
        if (fits(t, true, SIZE_MAX, NULL)) {
            reprieve(t);
            offer(t, best);
        }
        victims_done(&places[i].harm);
    }
    free(places);
}

/* Of all allocations the results of our driver. */
static struct json_object *ours_of(struct json_object *allocations)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(allocations); i++) {
        struct json_object *results = sw_json_find(sw_json_at(allocations, i), "devices", "results",
                                                   NULL);
        for (size_t k = 0; k < sw_json_len(results); k++) {
            struct json_object *r = sw_json_at(results, k);
            if (sw_streq(sw_json_str(r, "", "driver", NULL), SW_DRA_DRIVER) &&
                !sw_json_bool(r, false, "adminAccess", NULL))
                json_object_array_add(list, json_object_get(r));
        }
    }
    return list;
}

/* @return DRA_EVICT with the victims in @best, or DRA_HOPELESS */
static enum dra_outcome find_victims(struct search *t, struct victims *best, const char **why)
{
    static const bool none[MAX_VICTIMS];
    bool every[MAX_VICTIMS];
    SW_AUTO_JSON *allocations = NULL;
    add_candidates(t);
    memset(every, 1, sizeof every);
    take(t, every);
    if (!t->n_all || !fits(t, true, SIZE_MAX, &allocations)) {
        *why = "no room there for it even without the pods of lower priority";
        return DRA_HOPELESS;
    }
    SW_AUTO_JSON *devices = ours_of(allocations);
    if (sw_json_len(devices) == 1)
        try_places(
            t, profile_of(device_of(t, sw_json_str(sw_json_at(devices, 0), "", "device", NULL))),
            best);
    if (!best->n) {
        take(t, every);
        reprieve(t);
        offer(t, best);
    }
    take(t, none);
    if (best->n && !best->n_violations)
        return DRA_EVICT;
    *why = "a PodDisruptionBudget does not allow the evictions";
    return DRA_HOPELESS;
}

/* ---- whether the node comes into question ------------------------------------------------------
 */

static bool tolerates(struct json_object *pod, const char *key, const char *value,
                      const char *effect)
{
    struct json_object *list = sw_json_find(pod, "spec", "tolerations", NULL);
    for (size_t i = 0; i < sw_json_len(list); i++)
        if (sw_toleration_tolerates(sw_json_at(list, i), key, value, effect))
            return true;
    return false;
}

/* Nobody ends an evicted pod where kubelet is not heard. Source: kube-controller-manager's node
 * lifecycle controller. */
static bool is_lost(struct json_object *taints)
{
    static const char *const keys[] = { "node.kubernetes.io/unreachable",
                                        "node.kubernetes.io/not-ready",
                                        "node.kubernetes.io/out-of-service" };
    for (size_t i = 0; i < SW_COUNT(keys); i++)
        if (sw_json_find_by(taints, "key", keys[i]))
            return true;
    return false;
}

static bool selects(struct json_object *pod, struct json_object *node)
{
    struct sw_selector labels = { 0 };
    struct sw_node_selector affinity = { 0 };
    bool ok = sw_selector_from_map(sw_json_find(pod, "spec", "nodeSelector", NULL), &labels,
                                   NULL) == 0;
    sw_node_selector_init(&affinity,
                          sw_json_find(pod, "spec", "affinity", "nodeAffinity",
                                       "requiredDuringSchedulingIgnoredDuringExecution", NULL));
    ok = ok && sw_selector_matches_object(&labels, node) &&
         sw_node_selector_matches(&affinity, node);
    sw_selector_done(&labels);
    sw_node_selector_done(&affinity);
    return ok;
}

static bool is_on(struct json_object *claim, struct json_object *node)
{
    struct json_object *doc = sw_json_find(claim, "status", "allocation", "nodeSelector", NULL);
    struct sw_node_selector selector = { 0 };
    if (!doc)
        return true;
    sw_node_selector_init(&selector, doc);
    const bool ok = sw_node_selector_matches(&selector, node);
    sw_node_selector_done(&selector);
    return ok;
}

static bool may_be_on(struct search *t)
{
    struct json_object *pod = t->pod->doc, *taints = sw_json_find(t->node, "spec", "taints", NULL);
    if (sw_json_bool(t->node, false, "spec", "unschedulable", NULL) &&
        !tolerates(pod, "node.kubernetes.io/unschedulable", "", "NoSchedule"))
        return false;
    for (size_t i = 0; i < sw_json_len(taints); i++) {
        struct json_object *taint = sw_json_at(taints, i);
        const char *effect = sw_json_str(taint, "", "effect", NULL);
        if (strcmp(effect, "PreferNoSchedule") != 0 &&
            !tolerates(pod, sw_json_str(taint, "", "key", NULL),
                       sw_json_str(taint, "", "value", NULL), effect))
            return false;
    }
    for (size_t i = 0; i < t->needs.n_done; i++)
        if (!is_on(t->needs.done[i], t->node))
            return false;
    return !is_lost(taints) && selects(pod, t->node);
}

static int64_t allocatable(struct json_object *node, const char *resource)
{
    struct sw_quantity q = { 0 };
    struct json_object *value = sw_json_find(node, "status", "allocatable", resource, NULL);
    if (!value || sw_quantity_from_json(value, &q, NULL) < 0)
        return INT64_MAX / 2; /* the node does not say */
    return strcmp(resource, "cpu") == 0 ? sw_quantity_milli(&q) : sw_quantity_value(&q);
}

static void devices_in(struct search *t, enum dra_outcome outcome, struct dra_choice *out)
{
    SW_AUTO_JSON *allocations = NULL;
    t->n_victims = 0;
    for (size_t i = 0; i < out->victims.n; i++)
        t->victims[t->n_victims++] = out->victims.list[i];
    (void)fits(t, outcome != DRA_FITS, SIZE_MAX, &allocations);
    out->devices = ours_of(allocations);
    out->node = sw_obj_name(t->node);
}

/* @out is empty; with DRA_HOPELESS it stays so but for the reason. */
static enum dra_outcome choose_on(const struct dra_view *v, const struct dra_pod *pod,
                                  struct json_object *node, struct json_object **slices,
                                  size_t n_slices, unsigned *runs, struct dra_choice *out)
{
    struct search *t = sw_zalloc(1, sizeof *t);
    enum dra_outcome outcome = DRA_HOPELESS;
    *t = (struct search){ .v = v,
                          .pod = pod,
                          .node = node,
                          .slices = slices,
                          .n_slices = n_slices,
                          .cpu_milli = allocatable(node, "cpu"),
                          .memory = allocatable(node, "memory"),
                          .n_pods = allocatable(node, "pods"),
                          .runs = runs };
    dra_needs_read(v, pod->doc, node, &t->needs);
    if (t->needs.ours && !t->needs.missing && may_be_on(t)) {
        read_node(t);
        if (fits(t, false, SIZE_MAX, NULL))
            outcome = DRA_FITS;
        else if (fits(t, true, SIZE_MAX, NULL))
            outcome = DRA_COMES;
        else
            outcome = find_victims(t, &out->victims, &out->why);
    } else {
        out->why = "the pod cannot be there";
    }
    if (outcome == DRA_HOPELESS)
        victims_done(&out->victims);
    else
        devices_in(t, outcome, out);
    dra_needs_done(&t->needs);
    free(t->uses);
    free(t);
    return outcome;
}

/* ---- several nodes -----------------------------------------------------------------------------
 */

/* Our driver's slices, by node. */
static int by_node(const void *a, const void *b)
{
    struct json_object *const *x = a, *const *y = b;
    return strcmp(sw_json_str(*x, "", "spec", "nodeName", NULL),
                  sw_json_str(*y, "", "spec", "nodeName", NULL));
}

static struct json_object **slices_by_node(const struct dra_view *v, size_t *n)
{
    struct lh_table *table = v->docs[DRA_SLICES];
    struct json_object **list = sw_zalloc((size_t)lh_table_length(table) + 1,
                                          sizeof(struct json_object *));
    *n = 0;
    for (struct lh_entry *e = lh_table_head(table); e; e = e->next)
        list[(*n)++] = lh_entry_v(e);
    if (*n)
        qsort(list, *n, sizeof *list, by_node);
    return list;
}

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
                            struct dra_choice *out)
{
    enum dra_outcome best = DRA_HOPELESS;
    unsigned runs = 0;
    size_t n, next;
    struct json_object **slices = slices_by_node(v, &n);
    *out = (struct dra_choice){ 0 };
    for (size_t i = 0; i < n && best != DRA_FITS && runs < MAX_RUNS; i = next) {
        const char *name = sw_json_str(slices[i], "", "spec", "nodeName", NULL);
        struct json_object *doc = dra_find(v, DRA_NODES, NULL, name);
        struct dra_choice c = { 0 };
        for (next = i + 1; next < n && by_node(&slices[i], &slices[next]) == 0; next++)
            ;
        if (!doc || (node && strcmp(node, name) != 0))
            continue;
        const enum dra_outcome outcome = choose_on(v, pod, doc, slices + i, next - i, &runs, &c);
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
    return best;
}
