#include "emulator/controllers/core.h"

#include "data/json/table.h"
#include "data/text/quantity.h"
#include "data/text/time.h"

#include <stdlib.h>

/* The list of a controller's pods. */
struct owner {
    struct sw_pod *first;
};

struct sw_ctl_index {
    struct lh_table *pods;   /* "ns/name" -> struct sw_pod; owns both */
    struct lh_table *owners; /* uid -> struct owner; owns both */
    struct lh_table *nodes;  /* name -> struct sw_node */
    struct sw_node **by_number;
    size_t n_numbers, cap_numbers;
    struct sw_pod *waiting; /* pods without a node */
    char **resources;
    size_t n_resources, cap_resources;
};

const char *sw_pod_ns(const struct sw_pod *pod)
{
    return sw_obj_namespace(pod->doc);
}

const char *sw_pod_name(const struct sw_pod *pod)
{
    return sw_obj_name(pod->doc);
}

const char *sw_pod_phase(const struct sw_pod *pod)
{
    return sw_json_str(pod->doc, "", "status", "phase", NULL);
}

bool sw_pod_is_over(const struct sw_pod *pod)
{
    return sw_doc_is_over(pod->doc);
}

bool sw_pod_is_ready(const struct sw_pod *pod)
{
    return pod->ready;
}

bool sw_pod_is_available(struct sw_ctl *ctl, const struct sw_pod *pod, int64_t min_s,
                         int64_t *wait_ms)
{
    int64_t since = 0;
    *wait_ms = -1;
    if (!pod->ready)
        return false;
    if (min_s <= 0)
        return true;
    json_object *ready = sw_obj_condition(pod->doc, "Ready");
    if (sw_time_parse(sw_json_str(ready, "", "lastTransitionTime", NULL), &since, NULL) < 0)
        return false;
    int64_t left = since + min_s * 1000 - sw_ctl_now(ctl);
    *wait_ms = left > 0 ? left : -1;
    return left <= 0;
}

int64_t sw_ctl_sooner(int64_t a_ms, int64_t b_ms)
{
    return a_ms < 0 || (b_ms >= 0 && b_ms < a_ms) ? b_ms : a_ms;
}

/* ---- resources ----------------------------------------------------------------------------------
 */

uint32_t sw_ctl_resource(struct sw_ctl *ctl, const char *name)
{
    struct sw_ctl_index *index = ctl->index;
    for (size_t i = 0; i < index->n_resources; i++)
        if (sw_streq(index->resources[i], name))
            return (uint32_t)i;
    SW_GROW(index->resources, index->n_resources, index->cap_resources);
    index->resources[index->n_resources] = sw_strdup(name);
    return (uint32_t)index->n_resources++;
}

const char *sw_ctl_resource_name(const struct sw_ctl *ctl, uint32_t resource)
{
    return ctl->index->resources[resource];
}

static int64_t milli_of(json_object *value)
{
    struct sw_quantity q;
    return sw_quantity_from_json(value, &q, NULL) < 0 ? 0 : sw_quantity_milli(&q);
}

int64_t sw_amount_in(const struct sw_amounts *set, uint32_t resource)
{
    for (size_t i = 0; i < set->n; i++)
        if (set->items[i].resource == resource)
            return set->items[i].milli;
    return 0;
}

/* Where @set has the amount of @resource; 0 is added where it has none. */
static int64_t *amount_of(struct sw_amounts *set, uint32_t resource)
{
    for (size_t i = 0; i < set->n; i++)
        if (set->items[i].resource == resource)
            return &set->items[i].milli;
    SW_GROW(set->items, set->n, set->cap);
    set->items[set->n] = (struct sw_amount){ .resource = resource };
    return &set->items[set->n++].milli;
}

/* Add a container's requests, and its limits where it has no request. */
static void add_container(struct sw_ctl *ctl, struct sw_amounts *set, json_object *container)
{
    json_object *requests = sw_json_find(container, "resources", "requests", NULL);
    json_object *limits = sw_json_find(container, "resources", "limits", NULL);
    if (requests) {
        json_object_object_foreach(requests, name, value)
        {
            *amount_of(set, sw_ctl_resource(ctl, name)) += milli_of(value);
        }
    }
    if (limits) {
        json_object_object_foreach(limits, limit, most)
        {
            if (!sw_json_get(requests, limit))
                *amount_of(set, sw_ctl_resource(ctl, limit)) += milli_of(most);
        }
    }
}

/* A pod's requests as kube-scheduler adds them up: the sum of the containers, or the largest init
 * container where that is more. */
static void measure_pod(struct sw_ctl *ctl, struct sw_pod *pod)
{
    json_object *spec = sw_json_get(pod->doc, "spec"), *list = sw_json_get(spec, "containers");
    struct sw_amounts set = { 0 };
    *amount_of(&set, sw_ctl_resource(ctl, "pods")) = 1000;
    for (size_t i = 0; i < sw_json_len(list); i++)
        add_container(ctl, &set, sw_json_at(list, i));
    list = sw_json_get(spec, "initContainers");
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct sw_amounts one = { 0 };
        add_container(ctl, &one, sw_json_at(list, i));
        for (size_t k = 0; k < one.n; k++) {
            int64_t *all = amount_of(&set, one.items[k].resource);
            *all = one.items[k].milli > *all ? one.items[k].milli : *all;
        }
        free(one.items);
    }
    json_object *overhead = sw_json_get(spec, "overhead");
    if (overhead) {
        json_object_object_foreach(overhead, name, value)
        {
            *amount_of(&set, sw_ctl_resource(ctl, name)) += milli_of(value);
        }
    }
    free(pod->requests.items);
    pod->requests = set;
}

static void count_pod(struct sw_node *node, const struct sw_pod *pod, int sign)
{
    for (size_t i = 0; i < pod->requests.n; i++)
        *amount_of(&node->used, pod->requests.items[i].resource) += sign *
                                                                    pod->requests.items[i].milli;
}

/* ---- lists --------------------------------------------------------------------------------------
 */

#define LINK(head, pod, side)                                                                      \
    do {                                                                                           \
        (pod)->side##_next = *(head);                                                              \
        if (*(head))                                                                               \
            (*(head))->side##_link = &(pod)->side##_next;                                          \
        *(head) = (pod);                                                                           \
        (pod)->side##_link = (head);                                                               \
    } while (0)

#define UNLINK(pod, side)                                                                          \
    do {                                                                                           \
        if ((pod)->side##_link) {                                                                  \
            *(pod)->side##_link = (pod)->side##_next;                                              \
            if ((pod)->side##_next)                                                                \
                (pod)->side##_next->side##_link = (pod)->side##_link;                              \
            (pod)->side##_next = NULL;                                                             \
            (pod)->side##_link = NULL;                                                             \
        }                                                                                          \
    } while (0)

static struct owner *owner_of(struct sw_ctl_index *index, const char *uid, bool make)
{
    struct owner *owner = sw_table_find(index->owners, uid);
    if (!owner && make) {
        owner = sw_zalloc(1, sizeof *owner);
        (void)lh_table_insert(index->owners, sw_strdup(uid), owner);
    }
    return owner;
}

static void link_owner(struct sw_ctl_index *index, struct sw_pod *pod)
{
    const char *uid = sw_json_str(sw_doc_controller(pod->doc), "", "uid", NULL);
    if (*uid)
        LINK(&owner_of(index, uid, true)->first, pod, owner);
}

static void unlink_owner(struct sw_ctl_index *index, struct sw_pod *pod)
{
    const char *uid = sw_json_str(sw_doc_controller(pod->doc), "", "uid", NULL);
    UNLINK(pod, owner);
    struct owner *owner = owner_of(index, uid, false);
    if (owner && !owner->first)
        (void)lh_table_delete(index->owners, uid);
}

static void link_node(struct sw_ctl *ctl, struct sw_pod *pod)
{
    const char *name = sw_json_str(pod->doc, "", "spec", "nodeName", NULL);
    pod->node = *name ? sw_ctl_node(ctl, name) : NULL;
    if (!pod->node) {
        LINK(&ctl->index->waiting, pod, wait);
        return;
    }
    LINK(&pod->node->pods, pod, node);
    pod->node->n_pods++;
}

static void unlink_node(struct sw_pod *pod)
{
    UNLINK(pod, wait);
    if (!pod->node)
        return;
    if (pod->counted)
        count_pod(pod->node, pod, -1);
    pod->counted = false;
    UNLINK(pod, node);
    pod->node->n_pods--;
    pod->node = NULL;
}

/* Add the pod's requests to its node's sum, or subtract them when the pod is over. */
static void recount(struct sw_pod *pod)
{
    bool counts = pod->node && !sw_pod_is_over(pod);
    if (counts != pod->counted)
        count_pod(pod->node, pod, counts ? 1 : -1);
    pod->counted = counts;
}

/* ---- pods ---------------------------------------------------------------------------------------
 */

static void notify_of_pod(struct sw_ctl *ctl, json_object *before, json_object *after)
{
    for (enum sw_queue q = 0; q < SW_N_QUEUES; q++) {
        if (sw_controllers[q]->owns_pods)
            sw_ctl_enqueue_owner(ctl, q, after ? after : before);
        if (sw_controllers[q]->on_pod)
            sw_controllers[q]->on_pod(ctl, before, after);
    }
}

static void free_pod(struct sw_ctl *ctl, struct sw_pod *pod)
{
    sw_alarm_stop(ctl, &pod->alarm);
    unlink_owner(ctl->index, pod);
    unlink_node(pod);
    json_object_put(pod->doc);
    free(pod->requests.items);
    free(pod);
}

static void note_ready(struct sw_pod *pod)
{
    pod->ready = sw_streq(sw_cond_status(pod->doc, "Ready"), "True");
}

static void change_pod(struct sw_ctl *ctl, struct sw_pod *pod, json_object *doc)
{
    json_object *before = pod->doc;
    unlink_owner(ctl->index, pod);
    pod->doc = json_object_get(doc);
    pod->n_changes++;
    note_ready(pod);
    link_owner(ctl->index, pod);
    const char *name = sw_json_str(doc, "", "spec", "nodeName", NULL);
    if (!sw_streq(name, sw_json_str(before, "", "spec", "nodeName", NULL))) {
        unlink_node(pod);
        link_node(ctl, pod);
    }
    recount(pod);
    notify_of_pod(ctl, before, doc);
    json_object_put(before);
}

void sw_ctl_refresh_pod(struct sw_ctl *ctl, const char *ns, const char *name)
{
    SW_AUTO_CHARS *key = sw_printf("%s/%s", ns, name);
    json_object *doc = sw_store_get(ctl->store, ctl->kinds.pod, ns, name);
    struct sw_pod *pod = sw_table_find(ctl->index->pods, key);
    if (pod && pod->doc == doc)
        return;
    json_object_get(doc); /* a controller that is notified may replace it */
    if (pod && (!doc || !sw_streq(sw_obj_uid(doc), sw_obj_uid(pod->doc)))) {
        json_object *before = json_object_get(pod->doc);
        (void)lh_table_delete(ctl->index->pods, key);
        free_pod(ctl, SW_TAKE(pod));
        notify_of_pod(ctl, before, NULL);
        json_object_put(before);
    }
    if (doc && pod) {
        change_pod(ctl, pod, doc);
    } else if (doc) {
        pod = sw_zalloc(1, sizeof *pod);
        pod->doc = json_object_get(doc);
        (void)lh_table_insert(ctl->index->pods, SW_TAKE(key), pod);
        note_ready(pod);
        measure_pod(ctl, pod);
        link_owner(ctl->index, pod);
        link_node(ctl, pod);
        recount(pod);
        notify_of_pod(ctl, NULL, doc);
    }
    json_object_put(doc);
}

struct sw_pod *sw_ctl_pod(struct sw_ctl *ctl, const char *ns, const char *name)
{
    SW_AUTO_CHARS *key = sw_printf("%s/%s", ns, name);
    return sw_table_find(ctl->index->pods, key);
}

struct sw_pod *sw_ctl_owned_pods(struct sw_ctl *ctl, const char *uid)
{
    struct owner *owner = owner_of(ctl->index, uid, false);
    return owner ? owner->first : NULL;
}

struct sw_pod *sw_ctl_waiting_pods(struct sw_ctl *ctl)
{
    return ctl->index->waiting;
}

/* ---- nodes --------------------------------------------------------------------------------------
 */

/* Add a node, with the pods that are bound to it already. */
static struct sw_node *add_node(struct sw_ctl *ctl, const char *name, json_object *doc)
{
    struct sw_ctl_index *index = ctl->index;
    struct sw_node *node = sw_zalloc(1, sizeof *node);
    node->doc = json_object_get(doc);
    node->images = lh_kchar_table_new(8, sw_table_free_key);
    node->number = index->n_numbers;
    SW_GROW(index->by_number, index->n_numbers, index->cap_numbers);
    index->by_number[index->n_numbers++] = node;
    (void)lh_table_insert(index->nodes, sw_strdup(name), node);
    for (struct sw_pod *pod = index->waiting, *next; pod; pod = next) {
        next = pod->wait_next;
        if (!sw_streq(sw_json_str(pod->doc, "", "spec", "nodeName", NULL), name))
            continue;
        UNLINK(pod, wait);
        link_node(ctl, pod);
        recount(pod);
    }
    return node;
}

static void free_node(struct sw_ctl *ctl, struct sw_node *node)
{
    for (struct sw_pod *pod = node->pods, *next; pod; pod = next) {
        next = pod->node_next;
        unlink_node(pod);
        LINK(&ctl->index->waiting, pod, wait);
    }
    lh_table_free(node->images);
    ctl->index->by_number[node->number] = NULL;
    json_object_put(node->doc);
    free(node->allocatable.items);
    free(node->used.items);
    free(node);
}

struct sw_node *sw_ctl_node(struct sw_ctl *ctl, const char *name)
{
    return sw_table_find(ctl->index->nodes, name);
}

struct sw_node *const *sw_ctl_nodes(const struct sw_ctl *ctl, size_t *n)
{
    *n = ctl->index->n_numbers;
    return ctl->index->by_number;
}

size_t sw_ctl_n_nodes(const struct sw_ctl *ctl)
{
    return (size_t)lh_table_length(ctl->index->nodes);
}

/* ---- set-up -------------------------------------------------------------------------------------
 */

static void on_pod_event(const struct sw_store_event *event, void *arg)
{
    sw_ctl_refresh_pod(arg, sw_obj_namespace(event->object), sw_obj_name(event->object));
}

static void on_node_event(const struct sw_store_event *event, void *arg)
{
    struct sw_ctl *ctl = arg;
    const char *name = sw_obj_name(event->object);
    json_object *doc = sw_store_get(ctl->store, ctl->kinds.node, NULL, name), *before = NULL;
    struct sw_node *node = sw_ctl_node(ctl, name);
    if ((node && node->doc == doc) || (!node && !doc))
        return;
    if (node) {
        before = node->doc;
        node->doc = json_object_get(doc);
        node->n_changes++;
    } else {
        node = add_node(ctl, name, doc);
    }
    json_object *allocatable = sw_json_find(doc, "status", "allocatable", NULL);
    if (!allocatable)
        allocatable = sw_json_find(doc, "status", "capacity", NULL);
    node->allocatable.n = 0;
    if (allocatable) {
        json_object_object_foreach(allocatable, resource, value)
        {
            *amount_of(&node->allocatable, sw_ctl_resource(ctl, resource)) = milli_of(value);
        }
    }
    for (enum sw_queue q = 0; q < SW_N_QUEUES; q++)
        if (sw_controllers[q]->on_node)
            sw_controllers[q]->on_node(ctl, node, before, doc);
    if (!doc) {
        (void)lh_table_delete(ctl->index->nodes, name);
        free_node(ctl, node);
    }
    json_object_put(before);
}

void sw_ctl_index_open(struct sw_ctl *ctl)
{
    ctl->index = sw_zalloc(1, sizeof *ctl->index);
    ctl->index->pods = lh_kchar_table_new(64, sw_table_free_key);
    ctl->index->owners = lh_kchar_table_new(64, sw_table_free_key_and_value);
    ctl->index->nodes = lh_kchar_table_new(64, sw_table_free_key);
    ctl->subs[ctl->n_subs++] = sw_store_subscribe(ctl->store, ctl->kinds.node, on_node_event, ctl);
    ctl->subs[ctl->n_subs++] = sw_store_subscribe(ctl->store, ctl->kinds.pod, on_pod_event, ctl);
}

void sw_ctl_index_close(struct sw_ctl *ctl)
{
    struct sw_ctl_index *index = ctl->index;
    if (!index)
        return;
    struct lh_entry *entry;
    lh_foreach(index->pods, entry)
    {
        free_pod(ctl, lh_entry_v(entry));
    }
    for (size_t i = 0; i < index->n_numbers; i++)
        if (index->by_number[i])
            free_node(ctl, index->by_number[i]);
    lh_table_free(index->pods);
    lh_table_free(index->owners);
    lh_table_free(index->nodes);
    for (size_t i = 0; i < index->n_resources; i++)
        free(index->resources[i]);
    free(index->resources);
    free(index->by_number);
    free(SW_TAKE(ctl->index));
}
