/* Where pods that are evicted find their devices again. Pods cannot be moved: the one that is made
 * in place of an evicted one is scheduled like any other, by kube-scheduler. So what it asks for
 * is allocated here as kube-scheduler will, beside what the pod gets for which it has to go. */
#include "slicing/scheduler/devices/dra_search.h"

#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "slicing/dra/dra.h"

struct moving {
    const struct search *t; /* of the pod for which others move */
    const struct victims *movers;
    struct json_object *taken; /* claims that will be allocated then, as documents */
    struct json_object *to;    /* where those are that have a place by now */
};

struct json_object *dra_ours_of(struct json_object *allocations)
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

/* What is allocated becomes claims in use. */
static void add_taken(struct json_object *taken, struct json_object *allocations)
{
    for (size_t i = 0; i < sw_json_len(allocations); i++) {
        struct json_object *claim = json_object_new_object();
        sw_json_set_str(claim, "-", "metadata", "name", NULL);
        sw_json_set(claim, json_object_get(sw_json_at(allocations, i)), "status", "allocation",
                    NULL);
        json_object_array_add(taken, claim);
    }
}

static void take_room(struct search *t, const struct dra_pod *of)
{
    t->cpu_milli -= of->cpu_milli;
    t->memory -= of->memory;
    t->n_pods--;
}

/* Room for CPU and memory of those that are on the node by then. */
static void take_rooms(const struct moving *m, struct search *t)
{
    const char *node = sw_obj_name(t->node);
    if (strcmp(node, sw_obj_name(m->t->node)) == 0)
        take_room(t, m->t->pod);
    for (size_t i = 0; i < sw_json_len(m->to); i++)
        if (sw_streq(sw_json_str(sw_json_at(m->to, i), "", "node", NULL), node))
            take_room(t, dra_find_pod(t->v, m->movers->list[i]->uid));
}

/* @return the pod's allocations on the node, the caller's; NULL: there is no room */
static struct json_object *place_on(const struct moving *m, const struct dra_pod *pod,
                                    struct json_object *node, struct json_object **slices,
                                    size_t n_slices)
{
    struct search *t = search_new(m->t->v, pod, pod->bound, node, m->t->runs);
    struct json_object *allocations = NULL;
    t->asker = m->t->pod;
    t->slices = slices;
    t->n_slices = n_slices;
    dra_needs_again(t->v, pod, node, &t->needs);
    for (size_t i = 0; i < m->movers->n; i++)
        t->victims[t->n_victims++] = m->movers->list[i];
    if (t->needs.ours && !t->needs.missing && search_may_be_there(t)) {
        search_read_node(t);
        for (size_t i = 0; i < sw_json_len(m->taken); i++)
            search_add_use(t, sw_json_at(m->taken, i));
        take_rooms(m, t);
        (void)search_fits(t, false, SIZE_MAX, &allocations);
    }
    search_free(t);
    return allocations;
}

/* @first: only the node that the pod is on; else only the others */
static bool place_among(struct moving *m, const struct dra_pod *pod, bool first)
{
    size_t n, next;
    struct json_object *allocations = NULL;
    struct json_object **slices = dra_published(m->t->v, &n);
    for (size_t i = 0; i < n && !allocations && *m->t->runs < dra_max_runs(m->t->v); i = next) {
        const char *name = sw_json_str(slices[i], "", "spec", "nodeName", NULL);
        struct json_object *node = dra_find(m->t->v, DRA_NODES, NULL, name);
        next = dra_published_end(slices, n, i);
        if (!node || sw_streq(name, pod->pod->node) != first)
            continue;
        allocations = place_on(m, pod, node, slices + i, next - i);
        if (!allocations)
            continue;
        struct json_object *to = json_object_new_object();
        sw_json_set_str(to, name, "node", NULL);
        sw_json_set(to, dra_ours_of(allocations), "devices", NULL);
        json_object_array_add(m->to, to);
        add_taken(m->taken, allocations);
    }
    free(slices);
    const bool ok = allocations != NULL;
    json_object_put(allocations);
    return ok;
}

char *dra_destination_text(const struct dra_choice *c, size_t i)
{
    struct json_object *to = sw_json_at(c->to, i), *devices = sw_json_get(to, "devices");
    char *text = sw_strdup("");
    for (size_t k = 0; k < sw_json_len(devices); k++)
        sw_append(&text, "%s%s", k ? ", " : "",
                  sw_json_str(sw_json_at(devices, k), "", "device", NULL));
    sw_append(&text, " of node %s", sw_json_str(to, "", "node", NULL));
    return text;
}

struct json_object *dra_destinations(const struct search *t, const struct victims *movers,
                                     struct json_object *allocations)
{
    SW_AUTO_JSON *taken = json_object_new_array();
    struct moving m = { .t = t, .movers = movers, .taken = taken, .to = json_object_new_array() };
    bool ok = true;
    add_taken(taken, allocations);
    for (size_t i = 0; i < movers->n && ok; i++) {
        const struct dra_pod *pod = dra_find_pod(t->v, movers->list[i]->uid);
        ok = pod && pod->bound && (place_among(&m, pod, true) || place_among(&m, pod, false));
    }
    if (!ok)
        json_object_put(SW_TAKE(m.to));
    return m.to;
}
