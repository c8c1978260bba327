#include "kube/allocator/internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- slices and what is in use ------------------------------------------------------------------
 */

static int by_slice(const void *a, const void *b)
{
    const struct sw_alloc_slice *x = a, *y = b;
    int order = strcmp(x->driver, y->driver);
    if (!order)
        order = strcmp(sw_json_str(x->spec, "", "pool", "name", NULL),
                       sw_json_str(y->spec, "", "pool", "name", NULL));
    return order ? order : strcmp(x->name, y->name);
}

static char *key_of(const char *driver, const char *pool, const char *device)
{
    return sw_printf("%s/%s/%s", driver, pool, device);
}

/* A device of the cluster's claims is its owner's alone, or shared: then its capacities count. */
static void note_claim(struct sw_allocator *a, json_object *claim)
{
    json_object *results = sw_json_find(claim, "status", "allocation", "devices", "results", NULL);
    for (size_t i = 0; i < sw_json_len(results); i++) {
        json_object *r = sw_json_at(results, i), *was = NULL;
        if (sw_json_bool(r, false, "adminAccess", NULL))
            continue;
        SW_AUTO_CHARS *key = key_of(sw_json_str(r, "", "driver", NULL),
                                    sw_json_str(r, "", "pool", NULL),
                                    sw_json_str(r, "", "device", NULL));
        if (!*sw_json_str(r, "", "shareID", NULL)) {
            json_object_object_add(a->in_use, key, json_object_new_boolean(true));
            continue;
        }
        if (!json_object_object_get_ex(a->in_use, key, &was)) {
            was = json_object_new_array();
            json_object_object_add(a->in_use, key, was);
        }
        if (json_object_is_type(was, json_type_array))
            json_object_array_add(was, json_object_get(sw_json_get(r, "consumedCapacity")));
    }
}

void sw_alloc_pools_open(struct sw_allocator *a)
{
    const struct sw_allocator_input *in = &a->input;
    a->in_use = json_object_new_object();
    for (size_t i = 0; i < in->n_claims; i++)
        note_claim(a, in->claims[i]);
    a->slices = sw_zalloc(in->n_slices + 1, sizeof *a->slices);
    for (size_t i = 0; i < in->n_slices; i++) {
        json_object *spec = sw_json_get(in->slices[i], "spec");
        a->slices[i] = (struct sw_alloc_slice){
            .name = sw_json_str(in->slices[i], "", "metadata", "name", NULL),
            .driver = sw_json_str(spec, "", "driver", NULL),
            .doc = in->slices[i],
            .spec = spec,
            .generation = sw_json_int(spec, 0, "pool", "generation", NULL),
        };
    }
    if (in->n_slices)
        qsort(a->slices, in->n_slices, sizeof *a->slices, by_slice);
    for (size_t i = 0; i < in->n_slices; i++) {
        const char *name = sw_json_str(a->slices[i].spec, "", "pool", "name", NULL);
        struct sw_alloc_pool *last = a->n_pools ? &a->pools[a->n_pools - 1] : NULL;
        if (!last || !sw_streq(last->driver, a->slices[i].driver) || !sw_streq(last->name, name)) {
            SW_GROW(a->pools, a->n_pools, a->cap);
            last = &a->pools[a->n_pools++];
            *last = (struct sw_alloc_pool){ .driver = a->slices[i].driver, .name = name };
        }
        SW_GROW(last->slices, last->n_slices, last->cap);
        last->slices[last->n_slices++] = &a->slices[i];
    }
    for (size_t i = 0; i < a->n_pools; i++) {
        for (size_t k = 0; k < a->pools[i].n_slices; k++)
            a->pools[i].slices[k]->pool = &a->pools[i];
        a->pools[i].here = sw_zalloc(a->pools[i].n_slices, sizeof(struct sw_alloc_slice *));
    }
    a->order = sw_zalloc(a->n_pools + 1, sizeof(struct sw_alloc_pool *));
}

void sw_alloc_pools_close(struct sw_allocator *a)
{
    for (size_t i = 0; i < a->input.n_slices; i++) {
        struct sw_alloc_slice *s = &a->slices[i];
        for (size_t k = 0; k < s->n_devices; k++) {
            free(s->devices[k].takes);
            json_object_put(s->devices[k].cel);
            json_object_put(s->devices[k].allocating);
        }
        free(s->devices);
    }
    for (size_t i = 0; i < a->n_pools; i++) {
        free(a->pools[i].slices);
        free(a->pools[i].here);
        free(a->pools[i].counters);
    }
    free(a->slices);
    free(a->pools);
    free(a->order);
    json_object_put(a->in_use);
}

/* ---- devices ------------------------------------------------------------------------------------
 */

static struct sw_quantity quantity_of(json_object *holder)
{
    struct sw_quantity q = { 0 };
    SW_ERR(err);
    if (sw_quantity_from_json(sw_json_get(holder, "value"), &q, &err) < 0)
        q = (struct sw_quantity){ 0 };
    return q;
}

/* Read {set: name, counters: {name: {value}}} into a list. */
static void read_counters(json_object *sets, const char *set_field, struct sw_counter **items,
                          size_t *n)
{
    size_t cap = 0;
    for (size_t i = 0; i < sw_json_len(sets); i++) {
        json_object *set = sw_json_at(sets, i), *counters = sw_json_get(set, "counters");
        if (!json_object_is_type(counters, json_type_object))
            continue;
        const char *of = sw_json_str(set, "", set_field, NULL);
        const uint64_t hash = sw_fnv64a(of, strlen(of));
        json_object_object_foreach(counters, name, value)
        {
            SW_GROW(*items, *n, cap);
            (*items)[(*n)++] = (struct sw_counter){ .set = of,
                                                    .name = name,
                                                    .hash = hash * 31 +
                                                            sw_fnv64a(name, strlen(name)),
                                                    .value = quantity_of(value) };
        }
    }
}

static void read_devices(struct sw_allocator *a, struct sw_alloc_slice *s)
{
    json_object *devices = sw_json_get(s->spec, "devices");
    if (s->is_read)
        return;
    s->is_read = true;
    s->n_devices = sw_json_len(devices);
    s->devices = sw_zalloc(s->n_devices + 1, sizeof *s->devices);
    for (size_t i = 0; i < s->n_devices; i++) {
        struct sw_alloc_device *d = &s->devices[i];
        json_object *use = NULL;
        d->doc = sw_json_at(devices, i);
        d->name = sw_json_str(d->doc, "", "name", NULL);
        d->slice = s;
        d->multiple = sw_json_bool(d->doc, false, "allowMultipleAllocations", NULL);
        read_counters(sw_json_get(d->doc, "consumesCounters"), "counterSet", &d->takes,
                      &d->n_takes);
        SW_AUTO_CHARS *key = key_of(s->driver, s->pool->name, d->name);
        (void)json_object_object_get_ex(a->in_use, key, &use);
        d->shared = json_object_is_type(use, json_type_array);
        d->allocated = use && !d->shared;
        d->consumed = d->shared ? use : NULL;
    }
}

/* ---- counters -----------------------------------------------------------------------------------
 */

static bool is_counter(const struct sw_counter *c, const struct sw_counter *taken)
{
    return c->hash == taken->hash && sw_streq(c->name, taken->name) && sw_streq(c->set, taken->set);
}

/* The pool's counter that a device takes; where it was last time is looked at first. */
static struct sw_counter *counter_of(const struct sw_alloc_pool *pool, struct sw_counter *taken)
{
    if (taken->at < pool->n_counters && is_counter(&pool->counters[taken->at], taken))
        return &pool->counters[taken->at];
    for (size_t i = 0; i < pool->n_counters; i++)
        if (is_counter(&pool->counters[i], taken)) {
            taken->at = i;
            return &pool->counters[i];
        }
    return NULL;
}

bool sw_alloc_counters_take(struct sw_alloc_device *device)
{
    struct sw_alloc_pool *pool = device->slice->pool;
    for (size_t i = 0; i < device->n_takes; i++) {
        struct sw_counter *c = counter_of(pool, &device->takes[i]);
        if (c)
            c->consumed += device->takes[i].value.nano;
    }
    for (size_t i = 0; i < pool->n_counters; i++) {
        if (pool->counters[i].value.nano >= pool->counters[i].consumed)
            continue;
        sw_alloc_counters_give(device);
        return false;
    }
    return true;
}

void sw_alloc_counters_give(struct sw_alloc_device *device)
{
    for (size_t i = 0; i < device->n_takes; i++) {
        struct sw_counter *c = counter_of(device->slice->pool, &device->takes[i]);
        if (c)
            c->consumed -= device->takes[i].value.nano;
    }
}

static bool has_set_twice(const struct sw_alloc_pool *pool)
{
    SW_AUTO_JSON *names = json_object_new_object();
    for (size_t i = 0; i < pool->n_slices; i++) {
        json_object *sets = sw_json_get(pool->slices[i]->spec, "sharedCounters");
        if (pool->slices[i]->generation != pool->generation)
            continue;
        for (size_t k = 0; k < sw_json_len(sets); k++) {
            const char *name = sw_json_str(sw_json_at(sets, k), "", "name", NULL);
            if (json_object_object_get_ex(names, name, NULL))
                return true;
            json_object_object_add(names, name, NULL);
        }
    }
    return false;
}

/* Read the pool's counters, less what the cluster's claims hold. @return whether all devices take
 * counters that exist */
static bool open_counters(struct sw_allocator *a, struct sw_alloc_pool *pool)
{
    bool exist = true;
    free(pool->counters);
    pool->counters = NULL;
    pool->n_counters = 0;
    size_t cap = 0;
    for (size_t i = 0; i < pool->n_slices; i++) {
        struct sw_counter *own = NULL;
        size_t n = 0;
        if (pool->slices[i]->generation != pool->generation)
            continue;
        read_counters(sw_json_get(pool->slices[i]->spec, "sharedCounters"), "name", &own, &n);
        for (size_t k = 0; k < n; k++) {
            SW_GROW(pool->counters, pool->n_counters, cap);
            pool->counters[pool->n_counters++] = own[k];
        }
        free(own);
    }
    for (size_t i = 0; i < pool->n_slices; i++) {
        struct sw_alloc_slice *s = pool->slices[i];
        if (s->generation != pool->generation)
            continue;
        read_devices(a, s);
        for (size_t k = 0; k < s->n_devices; k++) {
            for (size_t t = 0; t < s->devices[k].n_takes; t++) {
                struct sw_counter *c = counter_of(pool, &s->devices[k].takes[t]);
                exist &= c != NULL;
                if (c && (s->devices[k].allocated || s->devices[k].shared))
                    c->value.nano -= s->devices[k].takes[t].value.nano;
            }
        }
    }
    return exist;
}

static bool has_name_twice(struct sw_allocator *a, struct sw_alloc_pool *pool)
{
    SW_AUTO_JSON *names = json_object_new_object();
    for (size_t i = 0; i < pool->n_here; i++) {
        read_devices(a, pool->here[i]);
        for (size_t k = 0; k < pool->here[i]->n_devices; k++) {
            const char *name = pool->here[i]->devices[k].name;
            if (json_object_object_get_ex(names, name, NULL))
                return true;
            json_object_object_add(names, name, NULL);
        }
    }
    return false;
}

bool sw_alloc_pool_is_invalid(struct sw_allocator *a, struct sw_alloc_pool *pool)
{
    if (pool->is_checked || pool->is_incomplete)
        return pool->is_invalid;
    pool->is_checked = true;
    if (pool->n_here || !pool->was_checked || pool->checked_generation != pool->generation) {
        const bool twice = has_set_twice(pool);
        pool->was_invalid = !open_counters(a, pool) || twice;
        pool->was_checked = true;
        pool->checked_generation = pool->generation;
    }
    pool->is_invalid = pool->was_invalid || has_name_twice(a, pool);
    return pool->is_invalid;
}

/* ---- the pools of a node ------------------------------------------------------------------------
 */

bool sw_alloc_is_place(json_object *place, json_object *node)
{
    const char *name = sw_json_str(place, "", "nodeName", NULL);
    json_object *selector = sw_json_get(place, "nodeSelector");
    if (*name)
        return sw_streq(name, sw_json_str(node, "", "metadata", "name", NULL));
    if (sw_json_bool(place, false, "allNodes", NULL))
        return true;
    if (!selector)
        return false;
    struct sw_node_selector parsed;
    sw_node_selector_init(&parsed, selector);
    const bool matches = sw_node_selector_matches(&parsed, node);
    sw_node_selector_done(&parsed);
    return matches;
}

static bool has_counters(const struct sw_alloc_slice *s)
{
    return sw_json_len(sw_json_get(s->spec, "sharedCounters")) > 0;
}

/* Whether the slice has to do with the node: counters have to do with every one. */
static bool concerns(const struct sw_alloc_slice *s, json_object *node)
{
    json_object *devices = sw_json_get(s->spec, "devices");
    if (has_counters(s))
        return true;
    if (!sw_json_bool(s->spec, false, "perDeviceNodeSelection", NULL))
        return sw_alloc_is_place(s->spec, node);
    for (size_t i = 0; i < sw_json_len(devices); i++)
        if (sw_alloc_is_place(sw_json_at(devices, i), node))
            return true;
    return false;
}

/* What of the pool is there for the node. Only the newest generation counts; a pool of which a
 * newer one is on its way, elsewhere, is left out. */
static void gather(struct sw_allocator *a, struct sw_alloc_pool *pool)
{
    size_t n = 0, n_all = 0;
    int64_t count = 0;
    bool newer = false;
    pool->n_here = 0;
    pool->is_used = pool->is_incomplete = pool->is_invalid = pool->is_checked = pool->binds = false;
    for (size_t i = 0; i < pool->n_slices; i++) {
        struct sw_alloc_slice *s = pool->slices[i];
        if (!concerns(s, a->node) || (pool->is_used && s->generation < pool->generation))
            continue;
        if (!pool->is_used || s->generation > pool->generation) {
            pool->is_used = true;
            pool->generation = s->generation;
            count = sw_json_int(s->spec, 0, "pool", "resourceSliceCount", NULL);
            pool->n_here = n = 0;
        }
        n++;
        if (!has_counters(s))
            pool->here[pool->n_here++] = s;
    }
    for (size_t i = 0; i < pool->n_slices; i++) {
        newer |= pool->slices[i]->generation > pool->generation;
        n_all += pool->slices[i]->generation == pool->generation;
    }
    if ((int64_t)n == count)
        return;
    if (newer)
        pool->is_used = false;
    pool->is_incomplete = (int64_t)n_all != count;
}

/* Number the devices of the pool in the order in which they are tried. */
static void number(struct sw_allocator *a, struct sw_alloc_pool *pool)
{
    for (size_t i = 0; i < pool->n_here; i++) {
        struct sw_alloc_slice *s = pool->here[i];
        read_devices(a, s);
        for (size_t k = 0; k < s->n_devices; k++) {
            struct sw_alloc_device *d = &s->devices[k];
            d->number = a->n_numbers++;
            d->n_allocating = 0;
            json_object_put(SW_TAKE(d->allocating));
            pool->binds |= sw_json_get(d->doc, "bindingConditions") != NULL;
        }
    }
}

void sw_alloc_pools_gather(struct sw_allocator *a)
{
    a->n_order = a->n_numbers = 0;
    for (size_t i = 0; i < a->n_pools; i++) {
        gather(a, &a->pools[i]);
        if (a->pools[i].is_used)
            number(a, &a->pools[i]);
    }
    for (int binding = 0; binding < 2; binding++)
        for (size_t i = 0; i < a->n_pools; i++)
            if (a->pools[i].is_used && a->pools[i].binds == binding)
                a->order[a->n_order++] = &a->pools[i];
}
