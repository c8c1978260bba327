#include "kube/allocator/internal.h"

#include <stdlib.h>

/* The search is exhaustive; kube-scheduler ends it after ten seconds, this after so many steps. */
enum { MAX_STEPS = 2000000 };

/* What a step of the search came to, besides the negative codes. */
enum { NOT = 0, DONE = 1, TOO_MANY = 2 };

/* Which device of which request of which claim is looked for. */
struct step {
    size_t claim, request, wish, device;
    bool in_wish; /* the wish is one of several, and chosen */
};
/* Where the search goes on: devices of one request keep the order of the pools. */
struct place {
    size_t pool, slice, device;
};

struct sw_allocator *sw_allocator_new(const struct sw_allocator_input *input)
{
    struct sw_allocator *a = sw_zalloc(1, sizeof *a);
    a->input = *input;
    sw_alloc_pools_open(a);
    return a;
}

static void claims_done(struct sw_allocator *a)
{
    for (size_t i = 0; i < a->n_claims; i++) {
        struct sw_alloc_claim *c = &a->claims[i];
        for (size_t k = 0; k < c->n_requests; k++) {
            for (size_t w = 0; w < c->requests[k].n_wishes; w++) {
                free(c->requests[k].wishes[w].devices);
                free(c->requests[k].wishes[w].matches);
            }
            free(c->requests[k].wishes);
        }
        for (size_t k = 0; k < c->n_constraints; k++)
            json_object_put(c->constraints[k].values);
        for (size_t k = 0; k < c->n_grants; k++)
            json_object_put(c->grants[k].consumed);
        free(c->requests);
        free(c->constraints);
    }
    free(SW_TAKE(a->claims));
    a->n_claims = 0;
}

void sw_allocator_free(struct sw_allocator *a)
{
    if (!a)
        return;
    claims_done(a);
    sw_alloc_pools_close(a);
    free(a);
}

/* ---- claims and their requests ------------------------------------------------------------------
 */

static int fault(struct sw_allocator *a, const struct sw_alloc_claim *claim, const char *request,
                 const char *text)
{
    return sw_err_set(a->err, SW_INVALID, "claim %s/%s, request %s: %s",
                      sw_json_str(claim->doc, "", "metadata", "namespace", NULL),
                      sw_json_str(claim->doc, "", "metadata", "name", NULL), request, text);
}

/* Find the devices of a wish for all. */
static int find_all(struct sw_allocator *a, struct sw_alloc_claim *claim,
                    struct sw_alloc_wish *wish)
{
    for (size_t p = 0; p < a->n_order; p++) {
        struct sw_alloc_pool *pool = a->order[p];
        if (pool->is_incomplete || sw_alloc_pool_is_invalid(a, pool)) {
            SW_AUTO_CHARS *why = sw_printf("asks for all devices, but resource pool %s/%s is "
                                           "currently %s",
                                           pool->driver, pool->name,
                                           pool->is_incomplete ? "being updated" : "invalid");
            return fault(a, claim, wish->name, why);
        }
        for (size_t s = 0; s < pool->n_here; s++)
            for (size_t i = 0; i < pool->here[s]->n_devices; i++) {
                struct sw_alloc_device *d = &pool->here[s]->devices[i];
                const int rc = sw_alloc_selects(a, claim->doc, wish, d);
                if (rc < 0)
                    return rc;
                if (!rc || !sw_alloc_capacity_fits(d, wish->doc))
                    continue;
                SW_GROW(wish->devices, wish->n_devices, wish->cap);
                wish->devices[wish->n_devices++] = d;
            }
    }
    wish->count = (int64_t)wish->n_devices;
    return 0;
}

static int open_wish(struct sw_allocator *a, struct sw_alloc_claim *claim,
                     struct sw_alloc_wish *wish, json_object *doc, const char *name)
{
    const char *class = sw_json_str(doc, "", "deviceClassName", NULL);
    wish->doc = doc;
    wish->name = name;
    wish->all = sw_streq(sw_json_str(doc, "", "allocationMode", NULL), "All");
    wish->admin = sw_json_bool(doc, false, "adminAccess", NULL);
    wish->count = sw_json_int(doc, 1, "count", NULL);
    wish->class = a->input.class_of(a->input.arg, class);
    if (!wish->class) {
        SW_AUTO_CHARS *why = sw_printf("could not retrieve device class %s: "
                                       "deviceclass.resource.k8s.io \"%s\" not found",
                                       class, class);
        return fault(a, claim, name, why);
    }
    return wish->all ? find_all(a, claim, wish) : 0;
}

/* @*least: the devices that the request needs at least. */
static int open_request(struct sw_allocator *a, struct sw_alloc_claim *claim,
                        struct sw_alloc_request *r, json_object *doc, int64_t *least)
{
    json_object *choices = sw_json_get(doc, "firstAvailable");
    r->name = sw_json_str(doc, "", "name", NULL);
    r->is_list = sw_json_len(choices) > 0;
    r->n_wishes = r->is_list ? sw_json_len(choices) : 1;
    r->wishes = sw_zalloc(r->n_wishes, sizeof *r->wishes);
    for (size_t i = 0; i < r->n_wishes; i++) {
        json_object *choice = r->is_list ? sw_json_at(choices, i) : sw_json_get(doc, "exactly");
        const char *name = r->is_list ? sw_json_str(choice, "", "name", NULL) : r->name;
        const int rc = open_wish(a, claim, &r->wishes[i], choice, name);
        if (rc < 0)
            return rc;
        if (i == 0 || r->wishes[i].count < *least)
            *least = r->wishes[i].count;
    }
    return 0;
}

static int open_claim(struct sw_allocator *a, struct sw_alloc_claim *claim, json_object *doc)
{
    json_object *requests = sw_json_find(doc, "spec", "devices", "requests", NULL);
    json_object *constraints = sw_json_find(doc, "spec", "devices", "constraints", NULL);
    int64_t total = 0;
    claim->doc = doc;
    claim->n_requests = sw_json_len(requests);
    claim->requests = sw_zalloc(claim->n_requests + 1, sizeof *claim->requests);
    for (size_t i = 0; i < claim->n_requests; i++) {
        int64_t least = 0;
        const int rc = open_request(a, claim, &claim->requests[i], sw_json_at(requests, i), &least);
        if (rc < 0)
            return rc;
        total += least;
    }
    if (total > SW_MAX_RESULTS)
        return sw_err_set(a->err, SW_INVALID,
                          "claim %s/%s: number of requested devices %lld exceeds the claim limit "
                          "of %d",
                          sw_json_str(doc, "", "metadata", "namespace", NULL),
                          sw_json_str(doc, "", "metadata", "name", NULL), (long long)total,
                          SW_MAX_RESULTS);
    claim->n_constraints = sw_json_len(constraints);
    claim->constraints = sw_zalloc(claim->n_constraints + 1, sizeof *claim->constraints);
    for (size_t i = 0; i < claim->n_constraints; i++) {
        json_object *c = sw_json_at(constraints, i);
        const char *same = sw_json_str(c, NULL, "matchAttribute", NULL);
        claim->constraints[i] = (struct sw_alloc_constraint){
            .requests = sw_json_get(c, "requests"),
            .attribute = same ? same : sw_json_str(c, "", "distinctAttribute", NULL),
            .distinct = !same,
        };
    }
    return 0;
}

/* ---- one device ---------------------------------------------------------------------------------
 */

static bool is_in_use(const struct sw_allocator *a, const struct step *at,
                      const struct sw_alloc_wish *wish, const struct sw_alloc_device *d)
{
    if (!wish->admin)
        return d->allocated || d->n_allocating > 0;
    for (size_t i = 0; !d->multiple && i < a->claims[at->claim].n_grants; i++)
        if (a->claims[at->claim].grants[i].device == d)
            return true;
    return false;
}

/* Try to take the device; what a refusal leaves behind is as kube-scheduler leaves it: counters of
 * a device that a taint or a constraint then refused stay taken for this attempt.
 * @return 1 | 0 | SW_INVALID */
static int take(struct sw_allocator *a, const struct step *at, struct sw_alloc_device *d)
{
    struct sw_alloc_claim *claim = &a->claims[at->claim];
    struct sw_alloc_request *request = &claim->requests[at->request];
    struct sw_alloc_wish *wish = &request->wishes[at->wish];
    if (is_in_use(a, at, wish, d))
        return 0;
    const bool shares = d->multiple && (d->shared || sw_json_len(d->allocating) > 0);
    if (!shares && d->n_takes && !sw_alloc_counters_take(d))
        return 0;
    if (sw_alloc_is_tainted(d, wish->doc))
        return 0;
    for (size_t i = 0; i < claim->n_constraints; i++) {
        if (sw_alloc_constraint_add(&claim->constraints[i], request, wish, d))
            continue;
        if (wish->all) {
            SW_AUTO_CHARS *why = sw_printf("cannot add device %s/%s/%s because a claim constraint "
                                           "would not be satisfied",
                                           d->slice->driver, d->slice->pool->name, d->name);
            return fault(a, claim, wish->name, why);
        }
        while (i-- > 0)
            sw_alloc_constraint_remove(&claim->constraints[i], request, wish);
        return 0;
    }
    d->n_allocating += !d->multiple;
    if (!sw_alloc_capacity_fits(d, wish->doc))
        return 0;
    struct sw_alloc_grant *grant = &claim->grants[claim->n_grants++];
    *grant = (struct sw_alloc_grant){ .device = d, .request = request, .wish = wish };
    if (d->multiple) {
        grant->consumed = sw_alloc_capacity_of(d, wish->doc);
        d->allocating = d->allocating ? d->allocating : json_object_new_array();
        json_object_array_add(d->allocating, json_object_get(grant->consumed));
    }
    return 1;
}

/* Undo the last take(). */
static void give(struct sw_allocator *a, const struct step *at)
{
    struct sw_alloc_claim *claim = &a->claims[at->claim];
    struct sw_alloc_grant *grant = &claim->grants[--claim->n_grants];
    struct sw_alloc_device *d = grant->device;
    for (size_t i = 0; i < claim->n_constraints; i++)
        sw_alloc_constraint_remove(&claim->constraints[i], grant->request, grant->wish);
    if (d->multiple) {
        (void)json_object_array_del_idx(d->allocating, sw_json_len(d->allocating) - 1, 1);
        json_object_put(grant->consumed);
        return;
    }
    d->n_allocating--;
    if (d->n_takes)
        sw_alloc_counters_give(d);
}

/* ---- the search ---------------------------------------------------------------------------------
 */

static int search(struct sw_allocator *a, struct step at, struct place from);

/* Take the device, and go on with the next one of the request. */
static int take_and_go_on(struct sw_allocator *a, const struct step *at, struct sw_alloc_device *d,
                          struct place from)
{
    int rc = take(a, at, d);
    if (rc <= 0)
        return rc;
    struct step next = *at;
    next.device++;
    rc = search(a, next, from);
    if (rc != DONE)
        give(a, at);
    return rc;
}

/* Try the alternatives of a request in their order. */
static int search_wishes(struct sw_allocator *a, struct step at)
{
    struct sw_alloc_request *request = &a->claims[at.claim].requests[at.request];
    bool all_too_many = true;
    at.in_wish = true;
    for (at.wish = 0; at.wish < request->n_wishes; at.wish++) {
        const int rc = search(a, at, (struct place){ 0 });
        if (rc == TOO_MANY)
            continue;
        all_too_many = false;
        if (rc == DONE)
            request->chosen = at.wish;
        if (rc != NOT)
            return rc;
    }
    return all_too_many ? TOO_MANY : NOT;
}

/* Try the devices of the node in their order. */
static int search_devices(struct sw_allocator *a, const struct step *at, struct place from)
{
    struct sw_alloc_claim *claim = &a->claims[at->claim];
    struct sw_alloc_wish *wish = &claim->requests[at->request].wishes[at->wish];
    for (size_t p = from.pool; p < a->n_order; p++) {
        struct sw_alloc_pool *pool = a->order[p];
        if (pool->is_incomplete || (pool->n_here && sw_alloc_pool_is_invalid(a, pool)))
            continue;
        for (size_t s = p == from.pool ? from.slice : 0; s < pool->n_here; s++) {
            const bool first = p == from.pool && s == from.slice;
            struct sw_alloc_slice *slice = pool->here[s];
            for (size_t i = first ? from.device : 0; i < slice->n_devices; i++) {
                struct sw_alloc_device *d = &slice->devices[i];
                if (is_in_use(a, at, wish, d))
                    continue;
                int rc = sw_alloc_selects(a, claim->doc, wish, d);
                if (rc < 0)
                    return rc;
                if (!rc || !sw_alloc_capacity_fits(d, wish->doc))
                    continue;
                rc = take_and_go_on(a, at, d, (struct place){ p, s, i + 1 });
                if (rc != NOT)
                    return rc;
            }
        }
    }
    return NOT;
}

static int search(struct sw_allocator *a, struct step at, struct place from)
{
    if (++a->n_steps > MAX_STEPS)
        return sw_err_set(a->err, SW_INVALID, "node %s: timed out trying to allocate devices",
                          sw_json_str(a->node, "", "metadata", "name", NULL));
    if (at.claim >= a->n_claims)
        return DONE;
    struct sw_alloc_claim *claim = &a->claims[at.claim];
    if (at.request >= claim->n_requests) {
        const int rc = search(a, (struct step){ .claim = at.claim + 1 }, (struct place){ 0 });
        return rc == TOO_MANY ? NOT : rc;
    }
    struct sw_alloc_request *request = &claim->requests[at.request];
    if (request->is_list && !at.in_wish)
        return search_wishes(a, at);
    struct sw_alloc_wish *wish = &request->wishes[at.wish];
    if (wish->all && !wish->n_devices)
        return NOT;
    if ((int64_t)at.device >= wish->count)
        return search(a, (struct step){ .claim = at.claim, .request = at.request + 1 },
                      (struct place){ 0 });
    if ((int64_t)claim->n_grants + wish->count - (int64_t)at.device > SW_MAX_RESULTS)
        return TOO_MANY;
    if (wish->all)
        return take_and_go_on(a, &at, wish->devices[at.device], (struct place){ 0 });
    return search_devices(a, &at, from);
}

int sw_allocator_run(struct sw_allocator *a, json_object *node, json_object *const *claims,
                     size_t n_claims, json_object **results, struct sw_err *err)
{
    *results = NULL;
    a->err = err;
    a->node = node;
    a->n_steps = 0;
    claims_done(a);
    sw_alloc_pools_gather(a);
    a->claims = sw_zalloc(n_claims + 1, sizeof *a->claims);
    a->n_claims = n_claims;
    for (size_t i = 0; i < n_claims; i++) {
        const int rc = open_claim(a, &a->claims[i], claims[i]);
        if (rc < 0)
            return rc;
    }
    const int rc = search(a, (struct step){ 0 }, (struct place){ 0 });
    if (rc < 0)
        return rc;
    if (rc == DONE) {
        *results = json_object_new_array();
        for (size_t i = 0; i < n_claims; i++)
            json_object_array_add(*results, sw_alloc_result(a, &a->claims[i]));
        return 0;
    }
    for (size_t i = 0; i < a->n_order; i++)
        if (sw_alloc_pool_is_invalid(a, a->order[i]))
            return sw_err_set(err, SW_NOTFOUND, "invalid resource pools were encountered");
    return sw_err_set(err, SW_NOTFOUND, "cannot allocate all claims");
}
