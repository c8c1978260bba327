#include "slicing/scheduler/devices/dra_view.h"

#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "data/json/table.h"
#include "kube/allocator/allocator.h"
#include "slicing/dra/dra.h"

#define CONTAINERS(list)                                                                           \
    "spec." list ".name", "spec." list ".resources.limits", "spec." list ".resources.requests",    \
        "spec." list ".restartPolicy"

const char *const dra_node_fields[] = { "metadata.labels", "spec.taints", "spec.unschedulable",
                                        "status.allocatable", NULL };
const char *const dra_budget_fields[] = { "spec.selector", "status.disruptionsAllowed",
                                          "status.disruptedPods", NULL };
const char *const dra_pod_fields[] = {
    "metadata.labels",
    "metadata.annotations",
    "metadata.ownerReferences",
    "metadata.deletionTimestamp",
    "metadata.creationTimestamp",
    "spec.nodeName",
    "spec.nodeSelector",
    "spec.affinity.nodeAffinity",
    "spec.tolerations",
    "spec.overhead",
    "spec.priority",
    "spec.preemptionPolicy",
    "spec.resourceClaims",
    "status.phase",
    "status.conditions",
    "status.nominatedNodeName",
    "status.resourceClaimStatuses",
    CONTAINERS("containers"),
    CONTAINERS("initContainers"),
    NULL,
};

static void free_doc(struct lh_entry *e)
{
    free(lh_entry_k(e));
    json_object_put(lh_entry_v(e));
}

static void free_pod(struct lh_entry *e)
{
    struct dra_pod *p = lh_entry_v(e);
    json_object_put(p->doc);
    json_object_put(p->bound);
    sw_table_free_key_and_value(e);
}

struct dra_view *dra_view_new(void)
{
    struct dra_view *v = sw_zalloc(1, sizeof *v);
    v->cache = cache_new(SW_MIG_PACKED, true);
    for (size_t i = 0; i < DRA_N_KINDS; i++)
        v->docs[i] = lh_kchar_table_new(64, free_doc);
    v->pods = lh_kchar_table_new(64, free_pod);
    return v;
}

void dra_view_free(struct dra_view *v)
{
    if (!v)
        return;
    for (size_t i = 0; i < DRA_N_KINDS; i++)
        lh_table_free(v->docs[i]);
    lh_table_free(v->pods);
    cache_free(v->cache);
    free(v);
}

/* ---- what was observed --------------------------------------------------------------------------
 */

static char *key_of(const char *ns, const char *name)
{
    return ns && *ns ? sw_printf("%s/%s", ns, name) : sw_strdup(name);
}

static void insert(struct lh_table *table, char *key, void *value)
{
    if (lh_table_insert(table, key, value) != 0)
        abort(); /* no memory */
}

void dra_observe(struct dra_view *v, enum dra_kind kind, const char *ns, const char *name,
                 struct json_object *obj)
{
    SW_AUTO_CHARS *key = key_of(ns, name);
    (void)lh_table_delete(v->docs[kind], key);
    if (obj)
        insert(v->docs[kind], SW_TAKE(key), json_object_get(obj));
}

/* What the containers of a list take: together, or the most that one takes. */
static int64_t amount_of(struct json_object *list, const char *resource, bool together)
{
    int64_t amount = 0;
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *c = sw_json_at(list, i);
        const bool stays = sw_streq(sw_json_str(c, "", "restartPolicy", NULL), "Always");
        struct json_object *value = sw_json_find(c, "resources", "requests", resource, NULL);
        struct sw_quantity q = { 0 };
        value = value ? value : sw_json_find(c, "resources", "limits", resource, NULL);
        if (!value || sw_quantity_from_json(value, &q, NULL) < 0)
            continue;
        const int64_t n = strcmp(resource, "cpu") == 0 ? sw_quantity_milli(&q)
                                                       : sw_quantity_value(&q);
        if (together || stays)
            amount += n;
        else if (n > amount)
            amount = n;
    }
    return amount;
}

/* Source: Kubernetes "Init Containers", resource sharing within containers. */
static int64_t taken_by(struct json_object *pod, const char *resource)
{
    const int64_t main = amount_of(sw_json_find(pod, "spec", "containers", NULL), resource, true);
    const int64_t init = amount_of(sw_json_find(pod, "spec", "initContainers", NULL), resource,
                                   false);
    struct sw_quantity q = { 0 };
    struct json_object *more = sw_json_find(pod, "spec", "overhead", resource, NULL);
    int64_t amount = main > init ? main : init;
    if (more && sw_quantity_from_json(more, &q, NULL) == 0)
        amount += strcmp(resource, "cpu") == 0 ? sw_quantity_milli(&q) : sw_quantity_value(&q);
    return amount;
}

/* Names of extended resources that the containers name, each once. */
static struct json_object *resources_of(struct json_object *pod)
{
    static const char *const lists[] = { "initContainers", "containers" };
    static const char *const fields[] = { "limits", "requests" };
    struct json_object *names = json_object_new_object();
    for (size_t k = 0; k < SW_COUNT(lists); k++) {
        struct json_object *list = sw_json_find(pod, "spec", lists[k], NULL);
        for (size_t i = 0; i < sw_json_len(list) * SW_COUNT(fields); i++) {
            struct json_object *amounts = sw_json_find(sw_json_at(list, i / 2), "resources",
                                                       fields[i % 2], NULL);
            if (!json_object_is_type(amounts, json_type_object))
                continue;
            json_object_object_foreach(amounts, name, value)
            {
                (void)value;
                if (strchr(name, '/'))
                    json_object_object_add(names, name, NULL);
            }
        }
    }
    return names;
}

/* It names claims or extended resources. */
static bool may_hold_devices(struct json_object *pod)
{
    SW_AUTO_JSON *names = resources_of(pod);
    return sw_json_len(names) || sw_json_len(sw_json_find(pod, "spec", "resourceClaims", NULL));
}

void dra_observe_pod(struct dra_view *v, struct json_object *obj, int64_t now_ms)
{
    struct pod *pod = cache_observe_pod(v->cache, obj, true, now_ms);
    struct dra_pod *p = dra_find_pod(v, pod->uid);
    if (!p) {
        p = sw_zalloc(1, sizeof *p);
        insert(v->pods, sw_strdup(pod->uid), p);
    }
    p->pod = pod;
    json_object_put(SW_TAKE(p->doc));
    json_object_put(SW_TAKE(p->bound));
    p->movable = sw_streq(sw_obj_annotation(obj, DRA_MAY_MOVE), "true") && sw_obj_controller(obj);
    if (!pod->node && !pod->ended)
        p->doc = json_object_get(obj);
    else if (!pod->ended && (p->movable || (v->every_pod && may_hold_devices(obj))))
        p->bound = json_object_get(obj);
    p->cpu_milli = taken_by(obj, "cpu");
    p->memory = taken_by(obj, "memory");
    cache_observe_nomination(pod, sw_json_str(obj, "", "status", "nominatedNodeName", NULL),
                             now_ms);
}

void dra_pod_gone(struct dra_view *v, const char *uid)
{
    (void)lh_table_delete(v->pods, uid);
    cache_pod_gone(v->cache, uid);
}

/* ---- queries -----------------------------------------------------------------------------------
 */

struct json_object *dra_find(const struct dra_view *v, enum dra_kind kind, const char *ns,
                             const char *name)
{
    SW_AUTO_CHARS *key = key_of(ns, name);
    return sw_table_find(v->docs[kind], key);
}

struct dra_pod *dra_find_pod(const struct dra_view *v, const char *uid)
{
    return sw_table_find(v->pods, uid);
}

static bool is_before(struct json_object *a, struct json_object *b)
{
    const int newer = strcmp(sw_json_str(a, "", "metadata", "creationTimestamp", NULL),
                             sw_json_str(b, "", "metadata", "creationTimestamp", NULL));
    return newer > 0 || (newer == 0 && strcmp(sw_obj_name(a), sw_obj_name(b)) < 0);
}

struct json_object *dra_class_of(const struct dra_view *v, const char *resource)
{
    static const char prefix[] = "deviceclass.resource.kubernetes.io/";
    struct json_object *best = NULL;
    if (sw_starts_with(resource, prefix))
        return dra_find(v, DRA_CLASSES, NULL, resource + sizeof prefix - 1);
    for (struct lh_entry *e = lh_table_head(v->docs[DRA_CLASSES]); e; e = e->next) {
        struct json_object *c = lh_entry_v(e);
        if (sw_streq(sw_json_str(c, "", "spec", "extendedResourceName", NULL), resource) &&
            (!best || is_before(c, best)))
            best = c;
    }
    return best;
}

bool dra_class_is_ours(struct json_object *class)
{
    const char *label = sw_obj_label(class, SW_DRA_LABEL);
    struct json_object *selectors = sw_json_find(class, "spec", "selectors", NULL);
    bool ours = label && strcmp(label, SW_DRA_DRIVER) == 0;
    for (size_t i = 0; i < sw_json_len(selectors) && !ours; i++)
        ours = strstr(sw_json_str(sw_json_at(selectors, i), "", "cel", "expression", NULL),
                      "\"" SW_DRA_DRIVER "\"") != NULL;
    return ours;
}

char *dra_room_name(const char *uid)
{
    return sw_printf("slipway-room-%s", uid);
}

bool dra_is_refused(struct json_object *pod)
{
    struct json_object *c = sw_obj_condition(pod, "PodScheduled");
    return sw_streq(sw_json_str(c, "", "status", NULL), "False") &&
           sw_streq(sw_json_str(c, "", "reason", NULL), "Unschedulable") &&
           strstr(sw_json_str(c, "", "message", NULL), "cannot allocate all claims");
}

/* ---- what a pod asks for -----------------------------------------------------------------------
 */

static bool asks_for_ours(const struct dra_view *v, struct json_object *claim)
{
    struct json_object *requests = sw_json_find(claim, "spec", "devices", "requests", NULL);
    for (size_t i = 0; i < sw_json_len(requests); i++) {
        struct json_object *r = sw_json_at(requests, i);
        struct json_object *choices = sw_json_get(r, "firstAvailable");
        const size_t n = sw_json_len(choices) ? sw_json_len(choices) : 1;
        for (size_t k = 0; k < n; k++) {
            struct json_object *choice = sw_json_len(choices) ? sw_json_at(choices, k)
                                                              : sw_json_get(r, "exactly");
            const char *name = sw_json_str(choice, "", "deviceClassName", NULL);
            if (dra_class_is_ours(dra_find(v, DRA_CLASSES, NULL, name)))
                return true;
        }
    }
    return false;
}

static void add_claim(const struct dra_view *v, struct dra_needs *needs, struct json_object *claim)
{
    if (!claim || sw_json_find(claim, "metadata", "deletionTimestamp", NULL)) {
        needs->missing = true;
    } else if (sw_json_find(claim, "status", "allocation", NULL)) {
        needs->done = sw_realloc(needs->done, needs->n_done + 1, sizeof *needs->done);
        needs->done[needs->n_done++] = json_object_get(claim);
    } else {
        needs->todo = sw_realloc(needs->todo, needs->n_todo + 1, sizeof *needs->todo);
        needs->todo[needs->n_todo++] = json_object_get(claim);
        needs->ours |= asks_for_ours(v, claim);
    }
}

/* What the node's device plugins offer is not a claim's. */
static bool is_plugged(struct json_object *node, const char *resource)
{
    struct sw_quantity q = { 0 };
    struct json_object *value = sw_json_find(node, "status", "allocatable", resource, NULL);
    return value && sw_quantity_from_json(value, &q, NULL) == 0 && sw_quantity_value(&q) > 0;
}

static void add_extended(const struct dra_view *v, struct json_object *pod,
                         struct json_object *node, struct dra_needs *needs)
{
    SW_AUTO_JSON *names = resources_of(pod);
    struct sw_allocator_resource *list = sw_zalloc(sw_json_len(names) + 1, sizeof *list);
    size_t n = 0;
    json_object_object_foreach(names, name, value)
    {
        struct json_object *class = dra_class_of(v, name);
        (void)value;
        if (class && !is_plugged(node, name))
            list[n++] = (struct sw_allocator_resource){ name, sw_obj_name(class) };
    }
    SW_AUTO_JSON *claim = n ? sw_allocator_extended(pod, list, n, NULL) : NULL;
    free(list);
    if (!claim)
        return;
    needs->extended = true;
    add_claim(v, needs, claim);
}

void dra_needs_read(const struct dra_view *v, struct json_object *pod, struct json_object *node,
                    struct dra_needs *out)
{
    struct json_object *list = sw_json_find(pod, "spec", "resourceClaims", NULL);
    struct json_object *made = sw_json_find(pod, "status", "resourceClaimStatuses", NULL);
    *out = (struct dra_needs){ 0 };
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *c = sw_json_at(list, i);
        const char *name = sw_json_str(c, "", "resourceClaimName", NULL);
        if (!*name) {
            struct json_object *s = sw_json_find_by(made, "name", sw_json_str(c, "", "name", NULL));
            name = sw_json_str(s, "", "resourceClaimName", NULL);
            if (s && !*name)
                continue; /* none is needed */
        }
        add_claim(v, out, dra_find(v, DRA_CLAIMS, sw_obj_namespace(pod), name));
    }
    add_extended(v, pod, node, out);
}

/* Whether only the pod uses it: it is given up when the pod has gone. */
static bool is_alone(struct json_object *claim, const struct dra_pod *pod)
{
    struct json_object *users = sw_json_find(claim, "status", "reservedFor", NULL);
    return sw_json_len(users) == 0 ||
           (sw_json_len(users) == 1 &&
            sw_streq(sw_json_str(sw_json_at(users, 0), "", "uid", NULL), pod->pod->uid));
}

void dra_needs_again(const struct dra_view *v, const struct dra_pod *pod, struct json_object *node,
                     struct dra_needs *out)
{
    struct dra_needs now;
    dra_needs_read(v, pod->bound, node, &now);
    struct json_object **done = now.done;
    const size_t n_done = now.n_done;
    now.done = NULL;
    now.n_done = 0;
    for (size_t i = 0; i < n_done; i++) {
        SW_AUTO_JSON *claim = done[i];
        if (!is_alone(claim, pod)) {
            add_claim(v, &now, claim);
            continue;
        }
        SW_AUTO_JSON *again = sw_json_copy(claim);
        json_object_object_del(again, "status");
        add_claim(v, &now, again);
    }
    free(done);
    *out = now;
}

void dra_needs_done(struct dra_needs *needs)
{
    for (size_t i = 0; i < needs->n_todo; i++)
        json_object_put(needs->todo[i]);
    for (size_t i = 0; i < needs->n_done; i++)
        json_object_put(needs->done[i]);
    free(needs->todo);
    free(needs->done);
    *needs = (struct dra_needs){ 0 };
}
