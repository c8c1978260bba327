#include "kube/allocator/internal.h"

#include <string.h>

char *sw_alloc_request_name(const struct sw_alloc_request *request,
                            const struct sw_alloc_wish *wish)
{
    return request->is_list ? sw_printf("%s/%s", request->name, wish->name)
                            : sw_strdup(request->name);
}

static json_object *text(const char *value)
{
    return json_object_new_string(value);
}

static void copy_list(json_object *to, const char *field, json_object *list)
{
    if (sw_json_len(list))
        json_object_object_add(to, field, sw_json_copy(list));
}

/* ---- devices ------------------------------------------------------------------------------------
 */

/* A share's own id: by what it is a share of, and how much of it is given already. */
static char *share_id(const struct sw_alloc_grant *grant, json_object *claim, size_t i)
{
    SW_AUTO_CHARS *of = sw_printf("%s/%s/%s/%s/%zu", grant->device->slice->driver,
                                  grant->device->slice->pool->name, grant->device->name,
                                  sw_json_str(claim, "", "metadata", "uid", NULL), i);
    const uint64_t a = sw_fnv64a(of, strlen(of)), b = sw_fnv64a(&a, sizeof a);
    return sw_printf("%08x-%04x-4%03x-8%03x-%012llx", (unsigned)(a >> 32),
                     (unsigned)(a >> 16) & 0xffff, (unsigned)a & 0xfff, (unsigned)(b >> 48) & 0xfff,
                     (unsigned long long)(b & 0xffffffffffffULL));
}

static json_object *device_result(const struct sw_alloc_grant *grant, json_object *claim, size_t i)
{
    const struct sw_alloc_device *d = grant->device;
    SW_AUTO_CHARS *request = sw_alloc_request_name(grant->request, grant->wish);
    json_object *r = json_object_new_object();
    json_object_object_add(r, "request", text(request));
    json_object_object_add(r, "driver", text(d->slice->driver));
    json_object_object_add(r, "pool", text(d->slice->pool->name));
    json_object_object_add(r, "device", text(d->name));
    if (grant->wish->admin)
        json_object_object_add(r, "adminAccess", json_object_new_boolean(true));
    copy_list(r, "tolerations", sw_json_get(grant->wish->doc, "tolerations"));
    copy_list(r, "bindingConditions", sw_json_get(d->doc, "bindingConditions"));
    copy_list(r, "bindingFailureConditions", sw_json_get(d->doc, "bindingFailureConditions"));
    if (d->multiple) {
        SW_AUTO_CHARS *id = share_id(grant, claim, i);
        json_object_object_add(r, "shareID", text(id));
    }
    if (json_object_object_length(grant->consumed ? grant->consumed : r) && grant->consumed)
        json_object_object_add(r, "consumedCapacity", json_object_get(grant->consumed));
    return r;
}

/* ---- configuration ------------------------------------------------------------------------------
 */

static json_object *config_of(const char *source, json_object *requests, json_object *config)
{
    json_object *doc = json_object_new_object();
    json_object_object_add(doc, "source", text(source));
    copy_list(doc, "requests", requests);
    json_object_object_add(doc, "opaque", sw_json_copy(sw_json_get(config, "opaque")));
    return doc;
}

/* A class's configuration comes once, with all requests that have the class. */
static void add_class(json_object *list, struct sw_alloc_claim *claim, size_t i)
{
    const struct sw_alloc_request *r = &claim->requests[i];
    const struct sw_alloc_wish *wish = &r->wishes[r->chosen];
    json_object *configs = sw_json_find(wish->class, "spec", "config", NULL);
    SW_AUTO_JSON *names = json_object_new_array();
    for (size_t k = 0; k < claim->n_requests; k++) {
        const struct sw_alloc_request *other = &claim->requests[k];
        if (other->wishes[other->chosen].class != wish->class)
            continue;
        if (k < i)
            return;
        SW_AUTO_CHARS *name = sw_alloc_request_name(other, &other->wishes[other->chosen]);
        json_object_array_add(names, text(name));
    }
    for (size_t k = 0; k < sw_json_len(configs); k++)
        json_object_array_add(list, config_of("FromClass", names, sw_json_at(configs, k)));
}

static bool names(json_object *requests, const char *name)
{
    for (size_t i = 0; i < sw_json_len(requests); i++)
        if (sw_streq(json_object_get_string(sw_json_at(requests, i)), name))
            return true;
    return false;
}

static void add_own(json_object *list, struct sw_alloc_claim *claim, json_object *config)
{
    json_object *requests = sw_json_get(config, "requests");
    if (!sw_json_len(requests))
        json_object_array_add(list, config_of("FromClaim", NULL, config));
    for (size_t i = 0; sw_json_len(requests) && i < claim->n_requests; i++) {
        const struct sw_alloc_request *r = &claim->requests[i];
        SW_AUTO_CHARS *full = sw_alloc_request_name(r, &r->wishes[r->chosen]);
        if (names(requests, r->name) || names(requests, full))
            json_object_array_add(list, config_of("FromClaim", requests, config));
    }
}

/* ---- nodes --------------------------------------------------------------------------------------
 */

static json_object *terms(json_object *term)
{
    json_object *list = json_object_new_array();
    json_object_array_add(list, term);
    json_object *selector = json_object_new_object();
    json_object_object_add(selector, "nodeSelectorTerms", list);
    return selector;
}

static json_object *only(const char *node)
{
    json_object *values = json_object_new_array(), *fields = json_object_new_array();
    json_object_array_add(values, text(node));
    json_object *field = json_object_new_object(), *term = json_object_new_object();
    json_object_object_add(field, "key", text("metadata.name"));
    json_object_object_add(field, "operator", text("In"));
    json_object_object_add(field, "values", values);
    json_object_array_add(fields, field);
    json_object_object_add(term, "matchFields", fields);
    return terms(term);
}

static void add_missing(json_object *term, const char *field, json_object *from)
{
    for (size_t i = 0; i < sw_json_len(from); i++) {
        json_object *list = sw_json_need_list(term, field, NULL);
        bool has = false;
        for (size_t k = 0; k < sw_json_len(list); k++)
            has |= sw_json_equal(sw_json_at(list, k), sw_json_at(from, i));
        if (!has)
            json_object_array_add(list, sw_json_copy(sw_json_at(from, i)));
    }
}

/* Where the devices can be used; NULL: everywhere. */
static json_object *node_selector(struct sw_allocator *a, const struct sw_alloc_claim *claim)
{
    SW_AUTO_JSON *term = json_object_new_object();
    for (size_t i = 0; i < claim->n_grants; i++) {
        const struct sw_alloc_device *d = claim->grants[i].device;
        json_object *place = sw_json_bool(d->slice->spec, false, "perDeviceNodeSelection", NULL)
                                 ? d->doc
                                 : d->slice->spec;
        json_object *selector = sw_json_find(place, "nodeSelector", "nodeSelectorTerms", NULL);
        if (sw_json_get(place, "nodeName") || sw_json_bool(d->doc, false, "bindsToNode", NULL))
            return only(sw_json_str(a->node, "", "metadata", "name", NULL));
        add_missing(term, "matchFields", sw_json_get(sw_json_at(selector, 0), "matchFields"));
        add_missing(term, "matchExpressions",
                    sw_json_get(sw_json_at(selector, 0), "matchExpressions"));
    }
    return json_object_object_length(term) ? terms(SW_TAKE(term)) : NULL;
}

json_object *sw_alloc_result(struct sw_allocator *a, struct sw_alloc_claim *claim)
{
    json_object *results = json_object_new_array(), *config = json_object_new_array();
    json_object *own = sw_json_find(claim->doc, "spec", "devices", "config", NULL);
    for (size_t i = 0; i < claim->n_grants; i++)
        json_object_array_add(results, device_result(&claim->grants[i], claim->doc, i));
    for (size_t i = 0; i < claim->n_requests; i++)
        add_class(config, claim, i);
    for (size_t i = 0; i < sw_json_len(own); i++)
        add_own(config, claim, sw_json_at(own, i));
    json_object *devices = json_object_new_object(), *allocation = json_object_new_object();
    json_object_object_add(devices, "results", results);
    if (sw_json_len(config))
        json_object_object_add(devices, "config", config);
    else
        json_object_put(config);
    json_object_object_add(allocation, "devices", devices);
    json_object *selector = node_selector(a, claim);
    if (selector)
        json_object_object_add(allocation, "nodeSelector", selector);
    return allocation;
}
