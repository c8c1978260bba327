#include "emulator/controllers/workload.h"

#include "data/json/table.h"
#include "data/selector/selector.h"

#include <stdlib.h>
#include <string.h>

/* Endpoints and EndpointSlices of Services with a selector. */

/* A Service with a selector. */
struct service {
    struct service *next; /* of the same namespace */
    char *name;
    struct sw_selector selector;
};

struct sw_services {
    struct lh_table *by_ns; /* namespace -> struct service; owns both */
};

static void free_service(struct service *s)
{
    free(s->name);
    sw_selector_done(&s->selector);
    free(s);
}

static void free_services(struct lh_entry *entry)
{
    for (struct service *s = lh_entry_v(entry), *next; s; s = next) {
        next = s->next;
        free_service(s);
    }
    free(lh_entry_k(entry));
}

/* Where the list of a namespace's services begins; NULL: it has none, unless @make. */
static struct service **services_of(struct sw_ctl *ctl, const char *ns, bool make)
{
    struct lh_table *table = ctl->services->by_ns;
    struct lh_entry *entry = lh_table_lookup_entry(table, ns);
    if (!entry && make) {
        (void)lh_table_insert(table, sw_strdup(ns), NULL);
        entry = lh_table_lookup_entry(table, ns);
    }
    return entry ? (struct service **)&entry->v : NULL;
}

/* Update the entry of a service; @doc NULL: remove it. */
static void note_service(struct sw_ctl *ctl, const char *ns, const char *name, json_object *doc)
{
    struct service **link = services_of(ctl, ns, true);
    while (*link && !sw_streq((*link)->name, name))
        link = &(*link)->next;
    struct service *s = *link;
    json_object *selector = sw_json_find(doc, "spec", "selector", NULL);
    if (s) {
        *link = s->next;
        free_service(s);
    }
    if (!sw_json_len(selector))
        return;
    s = sw_zalloc(1, sizeof *s);
    s->name = sw_strdup(name);
    s->next = *link;
    *link = s;
    if (sw_selector_from_map(selector, &s->selector, NULL) < 0)
        s->selector.nothing = true;
}

/* ---- ports and addresses ------------------------------------------------------------------------
 */

/* The number of the container port @name; 0: there is none. */
static int64_t container_port(json_object *pod, const char *name)
{
    json_object *list = sw_json_find(pod, "spec", "containers", NULL);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        json_object *p = sw_json_find_by(sw_json_get(sw_json_at(list, i), "ports"), "name", name);
        if (p)
            return sw_json_int(p, 0, "containerPort", NULL);
    }
    return 0;
}

/* A new list of the service's ports as endpoints have them: numbers, with the service's names.
 * Named target ports are looked up in @pod. */
static json_object *ports_of(json_object *service, json_object *pod)
{
    json_object *list = sw_json_find(service, "spec", "ports", NULL);
    json_object *out = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(list); i++) {
        json_object *port = sw_json_at(list, i), *target = sw_json_get(port, "targetPort");
        const char *name = sw_json_str(port, NULL, "name", NULL);
        int64_t n = sw_json_int(port, 0, "port", NULL);
        if (json_object_is_type(target, json_type_int))
            n = json_object_get_int64(target);
        else if (target)
            n = container_port(pod, json_object_get_string(target));
        if (n <= 0)
            continue;
        json_object_array_add(
            out, sw_doc_new("name", name ? sw_str(name) : NULL, "port", sw_int(n), "protocol",
                            sw_str(sw_json_str(port, "TCP", "protocol", NULL)), NULL));
    }
    return out;
}

static json_object *target_ref(const struct sw_pod *pod)
{
    return sw_doc_new("kind", sw_str("Pod"), "namespace", sw_str(sw_pod_ns(pod)), "name",
                      sw_str(sw_pod_name(pod)), "uid", sw_str(sw_obj_uid(pod->doc)), NULL);
}

/* The endpoints of one service. */
struct endpoints {
    json_object *ready, *unready; /* addresses of Endpoints */
    json_object *in_slice;        /* endpoints of an EndpointSlice */
    json_object *pod;             /* one of the pods, borrowed; NULL: none */
};

static void add_pod(struct endpoints *g, const struct sw_pod *pod)
{
    const char *ip = sw_json_str(pod->doc, "", "status", "podIP", NULL);
    const char *node = sw_json_str(pod->doc, "", "spec", "nodeName", NULL);
    bool ready = sw_pod_is_ready(pod), dying = sw_doc_is_deleted(pod->doc);
    if (!*ip || sw_pod_is_over(pod))
        return;
    g->pod = pod->doc;
    json_object_array_add(
        g->in_slice, sw_doc_new("addresses", sw_doc_list(sw_str(ip), NULL), "conditions",
                                sw_doc_new("ready", sw_bool(ready && !dying), "serving",
                                           sw_bool(ready), "terminating", sw_bool(dying), NULL),
                                "nodeName", sw_str(node), "targetRef", target_ref(pod), NULL));
    if (!dying)
        json_object_array_add(ready ? g->ready : g->unready,
                              sw_doc_new("ip", sw_str(ip), "nodeName", sw_str(node), "targetRef",
                                         target_ref(pod), NULL));
}

static int by_pod_name(const void *a, const void *b)
{
    json_object *p = *(json_object *const *)a, *q = *(json_object *const *)b;
    return strcmp(sw_json_str(p, "", "targetRef", "name", NULL),
                  sw_json_str(q, "", "targetRef", "name", NULL));
}

static void find_endpoints(struct sw_ctl *ctl, json_object *service, struct endpoints *g)
{
    struct sw_selector selector = { 0 };
    size_t n;
    struct sw_node *const *nodes = sw_ctl_nodes(ctl, &n);
    if (sw_selector_from_map(sw_json_find(service, "spec", "selector", NULL), &selector, NULL) < 0)
        selector.nothing = true;
    *g = (struct endpoints){ .ready = json_object_new_array(),
                             .unready = json_object_new_array(),
                             .in_slice = json_object_new_array() };
    for (size_t i = 0; i < n; i++)
        for (struct sw_pod *p = nodes[i] ? nodes[i]->pods : NULL; p; p = p->node_next)
            if (sw_streq(sw_pod_ns(p), sw_obj_namespace(service)) &&
                sw_selector_matches_object(&selector, p->doc))
                add_pod(g, p);
    json_object_array_sort(g->ready, by_pod_name);
    json_object_array_sort(g->unready, by_pod_name);
    json_object_array_sort(g->in_slice, by_pod_name);
    sw_selector_done(&selector);
}

/* ---- writing ------------------------------------------------------------------------------------
 */

/* The fields of an object that are replaced by those of @want. */
struct change {
    json_object *want;
    const char *const *keys; /* ended by NULL */
};

static int set_keys(json_object *doc, void *arg)
{
    const struct change *c = arg;
    for (const char *const *key = c->keys; *key; key++) {
        json_object_object_del(doc, *key);
        if (sw_json_get(c->want, *key))
            json_object_object_add(doc, *key, json_object_get(sw_json_get(c->want, *key)));
    }
    return 0;
}

/* Store the fields @keys of @want (taken) in the object of its name, created where it is missing.
 */
static void put(struct sw_ctl *ctl, const struct sw_emu_kind *kind, json_object *want,
                const char *const *keys)
{
    json_object *have = sw_store_get(ctl->store, kind, sw_obj_namespace(want), sw_obj_name(want));
    struct change c = { want, keys };
    bool same = have != NULL;
    for (const char *const *key = keys; have && *key; key++)
        same &= sw_doc_same(sw_json_get(have, *key), sw_json_get(want, *key));
    if (!have)
        (void)sw_ctl_create(ctl, kind, json_object_get(want), NULL);
    else if (!same)
        (void)sw_ctl_modify(ctl, kind, have, NULL, set_keys, &c);
    json_object_put(want);
}

static json_object *metadata(json_object *service, const char *name)
{
    json_object *labels = sw_json_copy(sw_json_find(service, "metadata", "labels", NULL));
    return sw_doc_new("name", sw_str(name), "namespace", sw_str(sw_obj_namespace(service)),
                      "labels", labels, NULL);
}

static void put_endpoints(struct sw_ctl *ctl, json_object *service, const struct endpoints *g)
{
    static const char *const keys[] = { "subsets", NULL };
    json_object *subsets = json_object_new_array();
    if (sw_json_len(g->ready) + sw_json_len(g->unready))
        json_object_array_add(
            subsets,
            sw_doc_new("addresses", sw_json_len(g->ready) ? json_object_get(g->ready) : NULL,
                       "notReadyAddresses",
                       sw_json_len(g->unready) ? json_object_get(g->unready) : NULL, "ports",
                       ports_of(service, g->pod), NULL));
    put(ctl, ctl->kinds.endpoints,
        sw_doc_new("apiVersion", sw_str("v1"), "kind", sw_str("Endpoints"), "metadata",
                   metadata(service, sw_obj_name(service)), "subsets", subsets, NULL),
        keys);
}

static void put_slice(struct sw_ctl *ctl, json_object *service, const struct endpoints *g)
{
    static const char *const keys[] = { "endpoints", "ports", NULL };
    const struct sw_emu_kind *kind = ctl->kinds.endpointslice;
    if (!kind)
        return;
    const char *service_name = sw_obj_name(service);
    uint64_t hash = sw_fnv64a(service_name, strlen(service_name));
    SW_AUTO_CHARS *name = sw_printf("%s-%05x", service_name, (unsigned)(hash & 0xfffff));
    SW_AUTO_CHARS *version = sw_printf("%s/%s", kind->group, kind->storage_version);
    json_object *meta = metadata(service, name);
    json_object *labels = sw_json_need_map(meta, "labels", NULL);
    sw_json_set_str(labels, service_name, "kubernetes.io/service-name", NULL);
    sw_json_set_str(labels, "endpointslice-controller.k8s.io",
                    "endpointslice.kubernetes.io/managed-by", NULL);
    json_object_object_add(meta, "ownerReferences", sw_doc_list(sw_doc_owner_ref(service), NULL));
    put(ctl, kind,
        sw_doc_new("apiVersion", sw_str(version), "kind", sw_str("EndpointSlice"), "metadata", meta,
                   "addressType", sw_str("IPv4"), "endpoints", json_object_get(g->in_slice),
                   "ports", ports_of(service, g->pod), NULL),
        keys);
}

static void work(struct sw_ctl *ctl, const char *ns, const char *name)
{
    json_object *service = sw_store_get(ctl->store, ctl->kinds.service, ns, name);
    note_service(ctl, ns, name, service);
    if (!service) { /* slices go with their owner */
        json_object *doc = sw_store_get(ctl->store, ctl->kinds.endpoints, ns, name);
        if (doc)
            (void)sw_ctl_delete(ctl, ctl->kinds.endpoints, doc, false);
        return;
    }
    if (!sw_json_len(sw_json_find(service, "spec", "selector", NULL)) || sw_doc_is_deleted(service))
        return;
    struct endpoints g;
    json_object_get(service);
    find_endpoints(ctl, service, &g);
    put_endpoints(ctl, service, &g);
    put_slice(ctl, service, &g);
    json_object_put(g.ready);
    json_object_put(g.unready);
    json_object_put(g.in_slice);
    json_object_put(service);
}

/* Whether all fields of a pod that endpoints depend on are the same. */
static bool is_same_endpoint(json_object *a, json_object *b)
{
    return a && b && sw_doc_is_deleted(a) == sw_doc_is_deleted(b) &&
           sw_streq(sw_json_str(a, "", "status", "podIP", NULL),
                    sw_json_str(b, "", "status", "podIP", NULL)) &&
           sw_streq(sw_cond_status(a, "Ready"), sw_cond_status(b, "Ready")) &&
           sw_streq(sw_json_str(a, "", "status", "phase", NULL),
                    sw_json_str(b, "", "status", "phase", NULL)) &&
           sw_doc_same(sw_json_find(a, "metadata", "labels", NULL),
                       sw_json_find(b, "metadata", "labels", NULL));
}

static void on_pod(struct sw_ctl *ctl, json_object *before, json_object *after)
{
    const char *ns = sw_obj_namespace(after ? after : before);
    struct service **list = services_of(ctl, ns, false);
    if (!list || !*list || is_same_endpoint(before, after))
        return;
    for (const struct service *s = *list; s; s = s->next)
        if ((before && sw_selector_matches_object(&s->selector, before)) ||
            (after && sw_selector_matches_object(&s->selector, after)))
            sw_ctl_enqueue(ctl, SW_Q_SERVICE, ns, s->name);
}

static void open_services(struct sw_ctl *ctl)
{
    ctl->services = sw_zalloc(1, sizeof *ctl->services);
    ctl->services->by_ns = lh_kchar_table_new(16, free_services);
}

static void close_services(struct sw_ctl *ctl)
{
    lh_table_free(ctl->services->by_ns);
    free(SW_TAKE(ctl->services));
}

const struct sw_controller sw_service_controller = {
    .group = "",
    .kind = "Service",
    .work = work,
    .on_pod = on_pod,
    .open = open_services,
    .close = close_services,
};
