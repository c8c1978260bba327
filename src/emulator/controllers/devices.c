#include "emulator/controllers/devices_internal.h"

#include <stdlib.h>
#include <string.h>

#include "data/selector/selector.h"
#include "data/text/time.h"
#include "kube/allocator/allocator.h"

/* As long as a pod waits for the conditions under which it is bound. */
enum { BINDING_TIMEOUT_MS = 600 * 1000, MOST_RESERVED = 256, MOST_CHOICES = 8 };

struct sw_devices {
    struct sw_ctl *ctl;
    struct sw_pod *pod;
    struct sw_store_list slices, all;
    struct sw_allocator *allocator;
    json_object **claims; /* of the pod; counted */
    size_t n_claims;
    struct sw_devices_resource *resources;
    size_t n_resources;
    json_object *found; /* by node: {allocations, extended} */
};

static json_object *allocation_of(json_object *claim)
{
    return sw_json_find(claim, "status", "allocation", NULL);
}

static json_object *class_of(void *arg, const char *name)
{
    struct sw_ctl *ctl = arg;
    return sw_store_get(ctl->store, ctl->kinds.device_class, NULL, name);
}

/* ---- conditions for binding ---------------------------------------------------------------------
 */

enum binding { BINDING_READY, BINDING_WAITS, BINDING_FAILED };

static json_object *status_of(json_object *claim, json_object *result)
{
    static const char *const keys[] = { "driver", "pool", "device" };
    json_object *devices = sw_json_find(claim, "status", "devices", NULL);
    for (size_t i = 0; i < sw_json_len(devices); i++) {
        json_object *d = sw_json_at(devices, i);
        bool same = true;
        for (size_t k = 0; k < SW_COUNT(keys); k++)
            same &= sw_streq(sw_json_str(d, "", keys[k], NULL),
                             sw_json_str(result, "?", keys[k], NULL));
        if (same)
            return d;
    }
    return NULL;
}

static json_object *true_condition(json_object *status, json_object *types, bool any)
{
    json_object *conditions = sw_json_get(status, "conditions"), *last = NULL;
    for (size_t i = 0; i < sw_json_len(types); i++) {
        json_object *c = sw_json_find_by(conditions, "type",
                                         json_object_get_string(sw_json_at(types, i)));
        const bool holds = sw_streq(sw_json_str(c, "", "status", NULL), "True");
        if (holds == any)
            return any ? c : NULL;
        last = c;
    }
    return any ? NULL : last;
}

/* How far the devices of an allocated claim are. @*why: the caller's. */
static enum binding binding_of(struct sw_ctl *ctl, json_object *claim, char **why)
{
    json_object *results = sw_json_find(allocation_of(claim), "devices", "results", NULL);
    const char *since = sw_json_str(allocation_of(claim), "", "allocationTimestamp", NULL);
    int64_t since_ms = 0;
    SW_ERR(err);
    const bool late = sw_time_parse(since, &since_ms, &err) == 0 &&
                      sw_ctl_now(ctl) - since_ms >= BINDING_TIMEOUT_MS;
    enum binding state = BINDING_READY;
    for (size_t i = 0; i < sw_json_len(results); i++) {
        json_object *r = sw_json_at(results, i), *status = status_of(claim, r);
        json_object *conditions = sw_json_get(r, "bindingConditions");
        json_object *failed = true_condition(status, sw_json_get(r, "bindingFailureConditions"),
                                             true);
        if (!sw_json_len(conditions))
            continue;
        if (failed && !*why)
            *why = sw_printf("device binding failed: claim=%s, reason=%s, message=\"%s\"",
                             sw_obj_name(claim), sw_json_str(failed, "", "reason", NULL),
                             sw_json_str(failed, "", "message", NULL));
        if (!true_condition(status, conditions, false))
            state = BINDING_WAITS;
    }
    if (state == BINDING_WAITS && late && !*why)
        *why = sw_printf("device binding timeout: claim=%s", sw_obj_name(claim));
    return *why ? BINDING_FAILED : state;
}

/* ---- an attempt ---------------------------------------------------------------------------------
 */

static bool is_reserved_for(json_object *claim, json_object *pod)
{
    json_object *list = sw_json_find(claim, "status", "reservedFor", NULL);
    return sw_json_find_by(list, "uid", sw_obj_uid(pod));
}

/* A class that a request names and that does not exist; the scheduler's reason, the caller's. */
static char *missing_class(struct sw_ctl *ctl, json_object *claim)
{
    json_object *requests = sw_json_find(claim, "spec", "devices", "requests", NULL);
    for (size_t i = 0; i < sw_json_len(requests); i++) {
        json_object *request = sw_json_at(requests, i);
        json_object *choices = sw_json_get(request, "firstAvailable");
        const size_t n = sw_json_len(choices) ? sw_json_len(choices) : 1;
        for (size_t k = 0; k < n; k++) {
            json_object *choice = sw_json_len(choices) ? sw_json_at(choices, k)
                                                       : sw_json_get(request, "exactly");
            const char *class = sw_json_str(choice, "", "deviceClassName", NULL);
            if (!class_of(ctl, class))
                return sw_printf(
                    "request %s%s%s: device class %s does not exist",
                    sw_json_str(request, "", "name", NULL), sw_json_len(choices) ? "/" : "",
                    sw_json_len(choices) ? sw_json_str(choice, "", "name", NULL) : "", class);
        }
    }
    return NULL;
}

/* Why the claim keeps the pod from every node; the caller's, NULL: it does not. */
static char *refusal(struct sw_ctl *ctl, struct sw_pod *pod, json_object *claim)
{
    json_object *reserved = sw_json_find(claim, "status", "reservedFor", NULL);
    const bool ours = is_reserved_for(claim, pod->doc);
    char *why = NULL;
    if (sw_doc_is_deleted(claim))
        return sw_printf("resourceclaim \"%s\" is being deleted", sw_obj_name(claim));
    if (!allocation_of(claim))
        return missing_class(ctl, claim);
    if (sw_json_len(reserved) >= MOST_RESERVED && !ours)
        return sw_strdup("resourceclaim in use");
    if (binding_of(ctl, claim, &why) != BINDING_FAILED)
        return NULL;
    if (sw_json_len(reserved) == (size_t)ours)
        sw_devices_deallocate(ctl, claim);
    return why;
}

static void add_claim(struct sw_devices *d, json_object *claim, char **why)
{
    d->claims[d->n_claims++] = json_object_get(claim);
    if (!*why)
        *why = refusal(d->ctl, d->pod, claim);
}

struct sw_devices *sw_devices_open(struct sw_ctl *ctl, struct sw_pod *pod, char **why)
{
    const size_t n = sw_devices_n_claims(pod->doc);
    *why = NULL;
    if (!ctl->kinds.claim)
        return NULL;
    struct sw_devices *d = sw_zalloc(1, sizeof *d);
    d->ctl = ctl;
    d->pod = pod;
    d->resources = sw_devices_resources(ctl, pod, &d->n_resources);
    d->claims = sw_zalloc(n + 1, sizeof(json_object *));
    for (size_t i = 0; i < n; i++)
        if (sw_devices_claim(ctl, pod->doc, i))
            add_claim(d, sw_devices_claim(ctl, pod->doc, i), why);
    json_object *made = d->n_resources ? sw_devices_made_claim(ctl, pod->doc) : NULL;
    if (made) {
        d->n_resources = 0;
        add_claim(d, made, why);
    }
    if (*why || (!d->n_claims && !d->n_resources)) {
        sw_devices_close(d);
        return NULL;
    }
    sw_store_list(ctl->store, ctl->kinds.slice, NULL, &d->slices);
    sw_store_list(ctl->store, ctl->kinds.claim, NULL, &d->all);
    d->allocator = sw_allocator_new(&(struct sw_allocator_input){ .slices = d->slices.items,
                                                                  .n_slices = d->slices.n,
                                                                  .claims = d->all.items,
                                                                  .n_claims = d->all.n,
                                                                  .class_of = class_of,
                                                                  .arg = ctl });
    d->found = json_object_new_object();
    return d;
}

void sw_devices_close(struct sw_devices *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->n_claims; i++)
        json_object_put(d->claims[i]);
    free(d->claims);
    free(d->resources);
    sw_allocator_free(d->allocator);
    sw_store_list_done(&d->slices);
    sw_store_list_done(&d->all);
    json_object_put(d->found);
    free(d);
}

bool sw_devices_provide(const struct sw_devices *d, const struct sw_node *node, uint32_t resource)
{
    for (size_t i = 0; d && i < d->n_resources; i++)
        if (d->resources[i].number == resource)
            return sw_amount_in(&node->allocatable, resource) == 0;
    /* what a claim was made for already needs no device plugin either */
    return d && sw_amount_in(&node->allocatable, resource) == 0 &&
           sw_devices_made_claim(d->ctl, d->pod->doc) &&
           sw_devices_class_of(d->ctl, sw_ctl_resource_name(d->ctl, resource));
}

bool sw_devices_have_choice(const struct sw_devices *d)
{
    for (size_t i = 0; d && i < d->n_claims; i++) {
        json_object *requests = sw_json_find(d->claims[i], "spec", "devices", "requests", NULL);
        for (size_t k = 0; k < sw_json_len(requests); k++)
            if (sw_json_get(sw_json_at(requests, k), "firstAvailable"))
                return true;
    }
    return false;
}

/* The first alternative of a request is worth most. */
static int64_t score_of(json_object *claim, json_object *allocation)
{
    json_object *requests = sw_json_find(claim, "spec", "devices", "requests", NULL);
    json_object *results = sw_json_find(allocation, "devices", "results", NULL);
    int64_t score = 0;
    for (size_t i = 0; i < sw_json_len(requests); i++) {
        json_object *choices = sw_json_get(sw_json_at(requests, i), "firstAvailable");
        for (size_t k = 0; k < sw_json_len(choices); k++) {
            SW_AUTO_CHARS *path = sw_printf("%s/%s",
                                            sw_json_str(sw_json_at(requests, i), "", "name", NULL),
                                            sw_json_str(sw_json_at(choices, k), "", "name", NULL));
            if (sw_json_find_by(results, "request", path))
                score += MOST_CHOICES - (int64_t)k;
        }
    }
    return score;
}

static bool is_on(json_object *claim, json_object *node)
{
    json_object *doc = sw_json_get(allocation_of(claim), "nodeSelector");
    if (!doc)
        return true;
    struct sw_node_selector selector;
    sw_node_selector_init(&selector, doc);
    const bool matches = sw_node_selector_matches(&selector, node);
    sw_node_selector_done(&selector);
    return matches;
}

int sw_devices_find(struct sw_devices *d, const struct sw_node *node, int64_t *score,
                    struct sw_err *err)
{
    SW_AUTO_JSON *extended = sw_devices_extended(d->pod, d->resources, d->n_resources, node);
    json_object **todo = sw_zalloc(d->n_claims + 1, sizeof(json_object *)), *results = NULL;
    size_t n = 0;
    bool elsewhere = false;
    int rc = 0;
    *score = 0;
    for (size_t i = 0; i < d->n_claims; i++) {
        if (!allocation_of(d->claims[i]))
            todo[n++] = d->claims[i];
        else
            elsewhere |= !is_on(d->claims[i], node->doc);
    }
    if (extended)
        todo[n++] = sw_json_get(extended, "claim");
    if (n)
        rc = sw_allocator_run(d->allocator, node->doc, todo, n, &results, err);
    if (rc == 0 && elsewhere)
        rc = sw_err_set(err, SW_NOTFOUND, "resourceclaim not available on the node");
    for (size_t i = 0; rc == 0 && i < n; i++)
        *score += score_of(todo[i], sw_json_at(results, i));
    if (rc == 0)
        json_object_object_add(d->found, sw_obj_name(node->doc),
                               sw_doc_new("allocations", json_object_get(results), "extended",
                                          json_object_get(extended), NULL));
    json_object_put(results);
    free(todo);
    return rc;
}

/* ---- what is written ----------------------------------------------------------------------------
 */

struct taken {
    struct sw_ctl *ctl;
    const struct sw_pod *pod;
    json_object *allocation; /* NULL: it is allocated already */
};

static int protect(json_object *doc, void *arg)
{
    (void)arg;
    json_object *list = sw_json_need_list(doc, "metadata", "finalizers", NULL);
    for (size_t i = 0; i < sw_json_len(list); i++)
        if (sw_streq(json_object_get_string(sw_json_at(list, i)), SW_CLAIM_FINALIZER))
            return 0;
    json_object_array_add(list, sw_str(SW_CLAIM_FINALIZER));
    return 0;
}

static int set_taken(json_object *doc, void *arg)
{
    const struct taken *t = arg;
    if (t->allocation) {
        json_object *own = sw_json_copy(t->allocation);
        json_object_object_add(own, "allocationTimestamp", sw_time(sw_ctl_now(t->ctl)));
        sw_json_set(doc, own, "status", "allocation", NULL);
    }
    if (is_reserved_for(doc, t->pod->doc))
        return 0;
    json_object_array_add(sw_json_need_list(doc, "status", "reservedFor", NULL),
                          sw_doc_new("resource", sw_str("pods"), "name",
                                     sw_str(sw_pod_name(t->pod)), "uid",
                                     sw_str(sw_obj_uid(t->pod->doc)), NULL));
    return 0;
}

static int take_claim(struct sw_devices *d, json_object *claim, json_object *allocation)
{
    struct sw_ctl *ctl = d->ctl;
    struct taken taken = { .ctl = ctl, .pod = d->pod, .allocation = allocation };
    int rc = 0;
    if (allocation)
        rc = sw_ctl_modify(ctl, ctl->kinds.claim, claim, NULL, protect, NULL);
    if (rc == 0 && (allocation || !is_reserved_for(claim, d->pod->doc)))
        rc = sw_ctl_modify(ctl, ctl->kinds.claim, claim, "status", set_taken, &taken);
    return rc;
}

static int note_extended(json_object *doc, void *arg)
{
    sw_json_set(doc, json_object_get(arg), "status", "extendedResourceClaimStatus", NULL);
    return 0;
}

static int take_extended(struct sw_devices *d, json_object *extended, json_object *allocation)
{
    struct sw_ctl *ctl = d->ctl;
    const char *ns = sw_pod_ns(d->pod);
    SW_AUTO_CHARS *base = sw_printf("%.200s-extended-resources-", sw_pod_name(d->pod));
    SW_AUTO_CHARS *name = sw_devices_name(ctl, base);
    json_object *doc = sw_json_copy(sw_json_get(extended, "claim"));
    json_object_object_del(sw_json_get(doc, "metadata"), "uid");
    sw_json_set_str(doc, name, "metadata", "name", NULL);
    int rc = sw_ctl_create(ctl, ctl->kinds.claim, doc, d->pod->doc);
    json_object *made = rc == 0 ? sw_store_get(ctl->store, ctl->kinds.claim, ns, name) : NULL;
    SW_AUTO_JSON *held = json_object_get(made);
    if (held)
        rc = take_claim(d, held, allocation);
    SW_AUTO_JSON *status = sw_doc_new("requestMappings",
                                      json_object_get(sw_json_get(extended, "mappings")),
                                      "resourceClaimName", sw_str(name), NULL);
    if (rc == 0)
        rc = sw_ctl_modify(ctl, ctl->kinds.pod, d->pod->doc, "status", note_extended, status);
    return rc;
}

/* Whether the devices of the pod's claims are ready for it. */
static int readiness(struct sw_devices *d)
{
    for (size_t i = 0; i <= d->n_claims; i++) {
        json_object *claim = i < d->n_claims
                                 ? sw_store_get(d->ctl->store, d->ctl->kinds.claim,
                                                sw_pod_ns(d->pod), sw_obj_name(d->claims[i]))
                                 : sw_devices_made_claim(d->ctl, d->pod->doc);
        SW_AUTO_CHARS *why = NULL;
        if (claim && binding_of(d->ctl, claim, &why) != BINDING_READY)
            return SW_PENDING;
    }
    return 0;
}

int sw_devices_take(struct sw_devices *d, const char *node)
{
    json_object *found = sw_json_get(d->found, node);
    json_object *allocations = sw_json_get(found, "allocations");
    json_object *extended = sw_json_get(found, "extended");
    size_t next = 0;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < d->n_claims; i++) {
        const bool has = allocation_of(d->claims[i]);
        rc = take_claim(d, d->claims[i], has ? NULL : sw_json_at(allocations, next));
        next += !has;
    }
    if (rc == 0 && extended)
        rc = take_extended(d, extended, sw_json_at(allocations, next));
    if (rc == 0)
        rc = readiness(d);
    if (rc == SW_PENDING)
        sw_ctl_enqueue_in(d->ctl, SW_Q_SCHEDULE, sw_pod_ns(d->pod), sw_pod_name(d->pod),
                          BINDING_TIMEOUT_MS);
    return rc;
}
