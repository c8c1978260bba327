#include "slicing/scheduler/devices/dra_search.h"

#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "data/json/table.h"
#include "kube/allocator/allocator.h"
#include "slicing/dra/dra.h"

bool search_is_leaving(const struct pod *pod)
{
    return pod->leaving || pod->gone || pod->ended;
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
        bool gone = ends && search_is_leaving(p);
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

bool search_fits(struct search *t, bool ends, size_t without, struct json_object **devices)
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
    if (t->asker)
        return other == t->asker;
    return !other || other == t->pod || other->pod->priority < t->pod->pod->priority;
}

struct json_object *search_results_of(struct json_object *claim)
{
    return sw_json_find(claim, "status", "allocation", "devices", "results", NULL);
}

static bool has_devices_of(struct json_object *claim, const char *pool)
{
    struct json_object *results = search_results_of(claim);
    for (size_t i = 0; i < sw_json_len(results); i++)
        if (sw_streq(sw_json_str(sw_json_at(results, i), "", "pool", NULL), pool))
            return true;
    return false;
}

void search_add_use(struct search *t, struct json_object *claim)
{
    struct json_object *users = sw_json_find(claim, "status", "reservedFor", NULL);
    t->uses = sw_realloc(t->uses, t->n_uses + 1, sizeof *t->uses);
    struct use *u = &t->uses[t->n_uses++];
    *u = (struct use){ .doc = claim, .fixed = !sw_json_len(users) };
    for (size_t i = 0; i < sw_json_len(users); i++) {
        struct json_object *user = sw_json_at(users, i);
        const struct dra_pod *p = dra_find_pod(t->v, sw_json_str(user, "", "uid", NULL));
        u->fixed |= !sw_streq(sw_json_str(user, "", "resource", NULL), "pods") ||
                    u->n_pods == DRA_MAX_USERS;
        if (p && !u->fixed)
            u->pods[u->n_pods++] = p->pod;
    }
}

void search_read_node(struct search *t)
{
    SW_AUTO_CHARS *pool = sw_dra_pool(sw_obj_name(t->node));
    for (struct lh_entry *e = lh_table_head(t->v->docs[DRA_CLAIMS]); e; e = e->next) {
        struct json_object *claim = lh_entry_v(e);
        if (has_devices_of(claim, pool) && !is_open_room(t, claim))
            search_add_use(t, claim);
    }
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

bool search_may_be_there(const struct search *t)
{
    struct json_object *pod = t->doc, *taints = sw_json_find(t->node, "spec", "taints", NULL);
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
    return !node_is_lost(taints) && selects(pod, t->node);
}

static int64_t allocatable(struct json_object *node, const char *resource)
{
    struct sw_quantity q = { 0 };
    struct json_object *value = sw_json_find(node, "status", "allocatable", resource, NULL);
    if (!value || sw_quantity_from_json(value, &q, NULL) < 0)
        return INT64_MAX / 2; /* the node does not say */
    return strcmp(resource, "cpu") == 0 ? sw_quantity_milli(&q) : sw_quantity_value(&q);
}

struct search *search_new(const struct dra_view *v, const struct dra_pod *pod,
                          struct json_object *doc, struct json_object *node, unsigned *runs)
{
    struct search *t = sw_zalloc(1, sizeof *t);
    *t = (struct search){ .v = v,
                          .pod = pod,
                          .doc = doc,
                          .node = node,
                          .cpu_milli = allocatable(node, "cpu"),
                          .memory = allocatable(node, "memory"),
                          .n_pods = allocatable(node, "pods"),
                          .runs = runs };
    return t;
}

void search_free(struct search *t)
{
    dra_needs_done(&t->needs);
    free(t->uses);
    free(t);
}

/* ---- what nodes publish ------------------------------------------------------------------------
 */

static int by_node(const void *a, const void *b)
{
    struct json_object *const *x = a, *const *y = b;
    return strcmp(sw_json_str(*x, "", "spec", "nodeName", NULL),
                  sw_json_str(*y, "", "spec", "nodeName", NULL));
}

struct json_object **dra_published(const struct dra_view *v, size_t *n)
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

size_t dra_published_end(struct json_object *const *list, size_t n, size_t i)
{
    size_t next = i + 1;
    while (next < n && by_node(&list[i], &list[next]) == 0)
        next++;
    return next;
}
