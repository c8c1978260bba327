/* The claim of a pod's extended resources. */
#include "kube/allocator/internal.h"

#include <stdlib.h>
#include <string.h>

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
    json_object *mapping = json_object_new_object();
    sw_json_set_str(mapping, sw_json_str(container(m, i), "", "name", NULL), "containerName", NULL);
    sw_json_set_str(mapping, request, "requestName", NULL);
    sw_json_set_str(mapping, m->resource, "resourceName", NULL);
    json_object_array_add(mappings, mapping);
}

static void ask(struct builder *m, const char *name, int64_t count)
{
    json_object *request = json_object_new_object();
    sw_json_set_str(request, name, "name", NULL);
    sw_json_set_str(request, m->class, "exactly", "deviceClassName", NULL);
    sw_json_set_str(request, "ExactCount", "exactly", "allocationMode", NULL);
    sw_json_set(request, json_object_new_int64(count), "exactly", "count", NULL);
    json_object_array_add(m->requests, request);
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

/* The containers of the pod, init containers first; new. */
static json_object *containers_of(json_object *pod, size_t *n_init)
{
    json_object *init = sw_json_find(pod, "spec", "initContainers", NULL);
    json_object *main = sw_json_find(pod, "spec", "containers", NULL);
    json_object *containers = json_object_new_array();
    *n_init = sw_json_len(init);
    for (size_t i = 0; i < *n_init; i++)
        json_object_array_add(containers, json_object_get(sw_json_at(init, i)));
    for (size_t i = 0; i < sw_json_len(main); i++)
        json_object_array_add(containers, json_object_get(sw_json_at(main, i)));
    return containers;
}

static json_object *document(json_object *pod, json_object *requests)
{
    json_object *claim = json_object_new_object(), *owner = json_object_new_object();
    sw_json_set_str(owner, "v1", "apiVersion", NULL);
    sw_json_set_str(owner, "Pod", "kind", NULL);
    sw_json_set_str(owner, sw_obj_name(pod), "name", NULL);
    sw_json_set_str(owner, sw_obj_uid(pod), "uid", NULL);
    sw_json_set(owner, json_object_new_boolean(true), "controller", NULL);
    sw_json_set_str(claim, "resource.k8s.io/v1", "apiVersion", NULL);
    sw_json_set_str(claim, "ResourceClaim", "kind", NULL);
    sw_json_set_str(claim, "<extended-resources>", "metadata", "name", NULL);
    sw_json_set_str(claim, sw_obj_namespace(pod), "metadata", "namespace", NULL);
    sw_json_set_str(claim, sw_obj_uid(pod), "metadata", "uid", NULL);
    json_object_array_add(sw_json_need_list(claim, "metadata", "ownerReferences", NULL), owner);
    sw_json_set_str(claim, "true", "metadata", "annotations", SW_EXTENDED_CLAIM, NULL);
    sw_json_set(claim, requests, "spec", "devices", "requests", NULL);
    return claim;
}

json_object *sw_allocator_extended(json_object *pod, const struct sw_allocator_resource *resources,
                                   size_t n, json_object **mappings)
{
    size_t n_init;
    SW_AUTO_JSON *containers = containers_of(pod, &n_init);
    SW_AUTO_JSON *requests = json_object_new_array(), *maps = json_object_new_array();
    for (size_t i = 0; i < n; i++)
        make(&(struct builder){ .resource = resources[i].name,
                                .class = resources[i].class,
                                .containers = containers,
                                .n_init = n_init,
                                .requests = requests,
                                .mappings = maps });
    if (!sw_json_len(requests))
        return NULL;
    json_object_array_sort(requests, by_request);
    if (mappings)
        *mappings = json_object_get(maps);
    return document(pod, json_object_get(requests));
}
