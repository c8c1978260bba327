/* Extended resources that a DeviceClass stands for: the scheduler makes one claim of all that a
 * node has no device plugin for. Source: KEP-5004. */
#include "emulator/controllers/devices_internal.h"

#include <stdlib.h>
#include <string.h>

#include "data/text/quantity.h"
#include "emulator/store/objects.h"

enum { FIRST_MINOR = 36 };

#define CLASS_PREFIX "deviceclass.resource.kubernetes.io/"

/* ---- which class --------------------------------------------------------------------------------
 */

/* Of two classes with one name of a resource the newer one counts, else the first by name. */
static bool is_before(json_object *a, json_object *b)
{
    const int newer = strcmp(sw_json_str(a, "", "metadata", "creationTimestamp", NULL),
                             sw_json_str(b, "", "metadata", "creationTimestamp", NULL));
    return newer > 0 || (newer == 0 && strcmp(sw_obj_name(a), sw_obj_name(b)) < 0);
}

json_object *sw_devices_class_of(struct sw_ctl *ctl, const char *resource)
{
    json_object *best = NULL;
    if (!ctl->kinds.device_class || !strchr(resource, '/') ||
        sw_store_minor(ctl->store) < FIRST_MINOR)
        return NULL;
    if (sw_starts_with(resource, CLASS_PREFIX))
        return sw_store_get(ctl->store, ctl->kinds.device_class, NULL,
                            resource + strlen(CLASS_PREFIX));
    SW_STORE_LIST(classes);
    sw_store_list(ctl->store, ctl->kinds.device_class, NULL, &classes);
    for (size_t i = 0; i < classes.n; i++) {
        json_object *c = classes.items[i];
        if (sw_streq(sw_json_str(c, "", "spec", "extendedResourceName", NULL), resource) &&
            (!best || is_before(c, best)))
            best = c;
    }
    return best;
}

static int by_name(const void *a, const void *b)
{
    const struct sw_devices_resource *x = a, *y = b;
    return strcmp(x->name, y->name);
}

struct sw_devices_resource *sw_devices_resources(struct sw_ctl *ctl, const struct sw_pod *pod,
                                                 size_t *n)
{
    struct sw_devices_resource *list = NULL;
    size_t cap = 0;
    *n = 0;
    for (size_t i = 0; i < pod->requests.n; i++) {
        const struct sw_amount *want = &pod->requests.items[i];
        const char *name = sw_ctl_resource_name(ctl, want->resource);
        json_object *class = want->milli > 0 ? sw_devices_class_of(ctl, name) : NULL;
        if (!class)
            continue;
        SW_GROW(list, *n, cap);
        list[(*n)++] =
            (struct sw_devices_resource){ .name = name, .number = want->resource, .class = class };
    }
    if (*n)
        qsort(list, *n, sizeof *list, by_name);
    return list;
}

/* ---- requests -----------------------------------------------------------------------------------
 */

/* What is made for one resource. */
struct builder {
    const char *resource, *class;
    json_object *containers; /* init containers first */
    size_t n_init;
    json_object *requests, *mappings;
};

static json_object *container(const struct builder *m, size_t i)
{
    return sw_json_at(m->containers, i);
}

/* An init container that ends: what it used is free for those that come later. */
static bool is_short_lived(const struct builder *m, size_t i)
{
    return i < m->n_init &&
           !sw_streq(sw_json_str(container(m, i), "", "restartPolicy", NULL), "Always");
}

static json_object *requests_of(json_object *container)
{
    json_object *requests = sw_json_find(container, "resources", "requests", NULL);
    return requests ? requests : sw_json_find(container, "resources", "limits", NULL);
}

static int64_t asked_of(const struct builder *m, size_t i)
{
    struct sw_quantity q = { 0 };
    SW_ERR(err);
    json_object *value = sw_json_get(requests_of(container(m, i)), m->resource);
    return value && sw_quantity_from_json(value, &q, &err) == 0 ? sw_quantity_value(&q) : 0;
}

/* "container-0-request-1": the place of the resource among the container's, by name. */
static char *request_name(const struct builder *m, size_t i)
{
    size_t place = 0;
    json_object *requests = requests_of(container(m, i));
    if (json_object_is_type(requests, json_type_object)) {
        json_object_object_foreach(requests, name, value)
        {
            (void)value;
            place += strcmp(name, m->resource) < 0;
        }
    }
    return sw_printf("container-%zu-request-%zu", i, place);
}

static void map(struct builder *m, json_object *mappings, size_t i, const char *request)
{
    json_object_array_add(
        mappings,
        sw_doc_new("containerName", sw_str(sw_json_str(container(m, i), "", "name", NULL)),
                   "requestName", sw_str(request), "resourceName", sw_str(m->resource), NULL));
}

static void ask(struct builder *m, const char *name, int64_t count)
{
    json_object *exactly = sw_doc_new("deviceClassName", sw_str(m->class), "allocationMode",
                                      sw_str("ExactCount"), "count", sw_int(count), NULL);
    json_object_array_add(m->requests, sw_doc_new("name", sw_str(name), "exactly", exactly, NULL));
}

/* Init containers that end use what the later ones have; the most that is lacking is asked for
 * once.
 */
static void ask_for_short_lived(struct builder *m)
{
    int64_t most = 0;
    SW_AUTO_CHARS *name = NULL;
    const size_t n = sw_json_len(m->containers);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < m->n_init; i++) {
            int64_t left = is_short_lived(m, i) ? asked_of(m, i) : 0;
            for (size_t k = i; k < n && left > 0; k++) {
                const int64_t has = is_short_lived(m, k) ? 0 : asked_of(m, k);
                SW_AUTO_CHARS *own = has ? request_name(m, k) : NULL;
                if (has && round)
                    map(m, m->mappings, i, own);
                left -= has;
            }
            if (left > most) {
                most = left;
                free(name);
                name = request_name(m, i);
            }
            if (left > 0 && round)
                map(m, m->mappings, i, name);
        }
    }
    if (most)
        ask(m, name, most);
}

static void make(struct builder *m)
{
    for (size_t i = 0; i < sw_json_len(m->containers); i++) {
        const int64_t count = is_short_lived(m, i) ? 0 : asked_of(m, i);
        if (!count)
            continue;
        SW_AUTO_CHARS *name = request_name(m, i);
        ask(m, name, count);
        map(m, m->mappings, i, name);
    }
    ask_for_short_lived(m);
}

static int by_request(const void *a, const void *b)
{
    json_object *const *x = a, *const *y = b;
    return strcmp(sw_json_str(*x, "", "name", NULL), sw_json_str(*y, "", "name", NULL));
}

json_object *sw_devices_extended(struct sw_ctl *ctl, const struct sw_pod *pod,
                                 const struct sw_devices_resource *resources, size_t n,
                                 const struct sw_node *node)
{
    (void)ctl;
    json_object *init = sw_json_find(pod->doc, "spec", "initContainers", NULL);
    json_object *main = sw_json_find(pod->doc, "spec", "containers", NULL);
    SW_AUTO_JSON *containers = json_object_new_array(), *requests = json_object_new_array();
    SW_AUTO_JSON *mappings = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(init) + sw_json_len(main); i++)
        json_object_array_add(containers,
                              json_object_get(i < sw_json_len(init)
                                                  ? sw_json_at(init, i)
                                                  : sw_json_at(main, i - sw_json_len(init))));
    for (size_t i = 0; i < n; i++) {
        struct builder m = { .resource = resources[i].name,
                             .class = sw_obj_name(resources[i].class),
                             .containers = containers,
                             .n_init = sw_json_len(init),
                             .requests = requests,
                             .mappings = mappings };
        if (sw_amount_in(&node->allocatable, resources[i].number) == 0)
            make(&m);
    }
    if (!sw_json_len(requests))
        return NULL;
    json_object_array_sort(requests, by_request);
    json_object *owner = sw_doc_new("apiVersion", sw_str("v1"), "kind", sw_str("Pod"), "name",
                                    sw_str(sw_pod_name(pod)), "uid", sw_str(sw_obj_uid(pod->doc)),
                                    "controller", sw_bool(true), NULL);
    json_object *meta = sw_doc_new("name", sw_str("<extended-resources>"), "namespace",
                                   sw_str(sw_pod_ns(pod)), "uid", sw_str(sw_obj_uid(pod->doc)),
                                   "ownerReferences", sw_doc_list(owner, NULL), NULL);
    sw_json_set_str(meta, "true", "annotations", "resource.kubernetes.io/extended-resource-claim",
                    NULL);
    json_object *claim = sw_doc_new("apiVersion", sw_str("resource.k8s.io/v1"), "kind",
                                    sw_str("ResourceClaim"), "metadata", meta, NULL);
    sw_json_set(claim, json_object_get(requests), "spec", "devices", "requests", NULL);
    return sw_doc_new("claim", claim, "mappings", json_object_get(mappings), NULL);
}
