#include "operator/engine/nodes/node_set.h"

#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <json-c/linkhash.h>

#include "base/base.h"
#include "data/json/path.h"
#include "data/json/table.h"
#include "operator/engine/nodes/intern.h"
#include "operator/engine/nodes/labels.h"

struct taint {
    uint32_t key, value, effect, added;
};

struct node {
    char *name; /* NULL: no node has this number */
    uint32_t group, record, resources;
    uint32_t n_taints, n_tainting;
    struct labels labels;
    struct taint *taints; /* NULL: none */
    uint64_t version;
    bool ready, unschedulable;
    bool changed_by_others; /* a PATCH's answer has labels that no put had */
    bool rebooted;          /* the last put brought another @boot */
    uint32_t boot; /* hash of its bootID: only whether it is another one matters; 0: not known */
};

struct sw_node_set {
    struct pool *pool;
    struct node *nodes;
    size_t n, cap; /* numbers in use are below n */
    size_t count, n_tainted;
    struct lh_table *by_name; /* name -> number + 1 */
    struct sw_node_set_observer observer;
};

struct sw_node_set *sw_node_set_new(void)
{
    struct sw_node_set *r = sw_zalloc(1, sizeof *r);
    r->pool = pool_new();
    r->by_name = lh_kchar_table_new(64, NULL);
    if (!r->by_name)
        abort();
    return r;
}

static void drop_taints(struct sw_node_set *r, struct node *n)
{
    for (uint32_t i = 0; i < n->n_taints; i++) {
        pool_drop(r->pool, n->taints[i].key);
        pool_drop(r->pool, n->taints[i].value);
        pool_drop(r->pool, n->taints[i].effect);
        pool_drop(r->pool, n->taints[i].added);
    }
    free(n->taints);
    pool_drop(r->pool, n->record);
}

/* Has it taints of resources, or is it getting some? */
static bool is_tainted(const struct sw_node_set *r, const struct node *n)
{
    return n->name && (n->n_tainting || *pool_text(r->pool, n->record));
}

/* Call it after a change of @n. @before: whether it was before. */
static void count_tainted(struct sw_node_set *r, const struct node *n, bool before)
{
    r->n_tainted += is_tainted(r, n);
    r->n_tainted -= before;
}

static void node_done(struct sw_node_set *r, struct node *n)
{
    if (!n->name)
        return;
    labels_done(r->pool, &n->labels);
    drop_taints(r, n);
    pool_drop(r->pool, n->group);
    pool_drop(r->pool, n->resources);
    free(n->name);
    *n = (struct node){ 0 };
}

void sw_node_set_observe(struct sw_node_set *set, const struct sw_node_set_observer *observer)
{
    set->observer = *observer;
}

void sw_node_set_free(struct sw_node_set *set)
{
    if (!set)
        return;
    lh_table_free(set->by_name);
    for (size_t i = 0; i < set->n; i++)
        node_done(set, &set->nodes[i]);
    free(set->nodes);
    pool_free(set->pool);
    free(set);
}

/* ---- putting nodes in --------------------------------------------------------------------------
 */

static const char *or_empty(const char *s)
{
    return s ? s : "";
}

static struct taint hold_taint(struct sw_node_set *r, const struct sw_taint *t)
{
    return (struct taint){ pool_hold(r->pool, or_empty(t->key)),
                           pool_hold(r->pool, or_empty(t->value)),
                           pool_hold(r->pool, or_empty(t->effect)),
                           pool_hold(r->pool, or_empty(t->added)) };
}

static uint32_t boot_hash(const char *boot_id)
{
    uint64_t h = boot_id && *boot_id ? sw_fnv64a(boot_id, strlen(boot_id)) : 0;
    uint32_t folded = (uint32_t)(h ^ (h >> 32));
    return h && !folded ? 1 : folded;
}

static struct taint *new_taints(size_t n)
{
    return n ? sw_zalloc(n, sizeof(struct taint)) : NULL;
}

static void node_init(struct sw_node_set *r, struct node *n, const struct sw_node_set_facts *f)
{
    *n = (struct node){
        .name = sw_strdup(f->name),
        .group = pool_hold(r->pool, or_empty(f->group)),
        .record = pool_hold(r->pool, or_empty(f->taint_record)),
        .resources = pool_hold(r->pool, or_empty(f->resources)),
        .n_taints = (uint32_t)f->n_taints,
        .taints = new_taints(f->n_taints),
        .version = f->version,
        .ready = f->ready,
        .unschedulable = f->unschedulable,
        .boot = boot_hash(f->boot_id),
    };
    struct pair *pairs = sw_zalloc(f->n_labels, sizeof *pairs);
    for (size_t i = 0; i < f->n_labels; i++)
        pairs[i] = (struct pair){ pool_hold(r->pool, f->labels[2 * i]),
                                  pool_hold(r->pool, f->labels[2 * i + 1]) };
    labels_set(r->pool, &n->labels, pairs, f->n_labels);
    free(pairs);
    for (size_t i = 0; i < f->n_taints; i++)
        n->taints[i] = hold_taint(r, &f->taints[i]);
}

static bool same_node(const struct node *a, const struct node *b)
{
    return a->group == b->group && a->record == b->record && a->resources == b->resources &&
           a->ready == b->ready && a->unschedulable == b->unschedulable && !b->rebooted &&
           labels_same(&a->labels, &b->labels) && a->n_taints == b->n_taints &&
           (a->n_taints == 0 || !memcmp(a->taints, b->taints, a->n_taints * sizeof *a->taints));
}

static uint32_t add(struct sw_node_set *r, struct node fresh)
{
    uint32_t number = r->count < r->n ? 0 : (uint32_t)r->n;
    while (number < r->n && r->nodes[number].name)
        number++;
    if (number == r->n) {
        SW_GROW(r->nodes, r->n, r->cap);
        r->n++;
    }
    r->nodes[number] = fresh;
    if (lh_table_insert(r->by_name, fresh.name, (void *)(uintptr_t)(number + 1)))
        abort();
    r->count++;
    return number;
}

uint32_t sw_node_set_put(struct sw_node_set *set, const struct sw_node_set_facts *facts,
                         bool *changed)
{
    uint32_t number = sw_node_set_find(set, facts->name);
    bool differs = true;
    if (set->observer.put)
        set->observer.put(facts, set->observer.arg);
    if (number == SW_NO_NODE) {
        struct node fresh;
        node_init(set, &fresh, facts);
        number = add(set, fresh);
        count_tainted(set, &set->nodes[number], false);
    } else if (facts->version && facts->version < set->nodes[number].version) {
        differs = false;
    } else {
        struct node *old = &set->nodes[number], fresh;
        const bool was_tainted = is_tainted(set, old);
        node_init(set, &fresh, facts);
        fresh.n_tainting = old->n_tainting;
        fresh.boot = fresh.boot ? fresh.boot : old->boot; /* a put without bootID is no reboot */
        fresh.rebooted = old->boot && fresh.boot != old->boot;
        differs = old->changed_by_others || !same_node(old, &fresh);
        /* The table's key is the old node's name: it is kept. */
        char *name = old->name;
        old->name = fresh.name;
        fresh.name = name;
        labels_take(set->pool, &old->labels, &fresh.labels);
        fresh.labels = old->labels;
        old->labels = (struct labels){ 0 };
        node_done(set, old);
        *old = fresh;
        count_tainted(set, old, was_tainted);
    }
    if (changed)
        *changed = differs;
    return number;
}

/* Has @a a label that @b lacks, other than those that engines set? */
static bool has_more(const struct sw_node_set *r, const struct labels *a, const struct labels *b)
{
    for (uint32_t i = 0; i < a->n; i++) {
        size_t n;
        const struct pair *pairs = labels_piece(r->pool, a, i, &n);
        for (size_t k = 0; k < n; k++) {
            const struct pair *other = labels_find(r->pool, b, pairs[k].key);
            const char *key = pool_text(r->pool, pairs[k].key);
            if ((!other || other->value != pairs[k].value) &&
                !sw_starts_with(key, SW_STATE_LABEL) && !sw_starts_with(key, SW_GRACE_PERIOD_LABEL))
                return true;
        }
    }
    return false;
}

bool sw_node_set_put_labels(struct sw_node_set *set, uint32_t node, struct json_object *labels,
                            uint64_t version)
{
    if (node >= set->n || !set->nodes[node].name)
        return false;
    struct node *n = &set->nodes[node];
    if (set->observer.put_labels)
        set->observer.put_labels(node, labels, version, set->observer.arg);
    if (version && version < n->version)
        return false;
    struct labels fresh = { 0 };
    struct pair *pairs = sw_zalloc(sw_json_len(labels), sizeof *pairs);
    size_t n_pairs = 0;
    if (json_object_is_type(labels, json_type_object)) {
        json_object_object_foreach(labels, key, value)
        {
            const char *text = value ? json_object_get_string(value) : "";
            pairs[n_pairs++] = (struct pair){ pool_hold(set->pool, key),
                                              pool_hold(set->pool, text) };
        }
    }
    labels_set(set->pool, &fresh, pairs, n_pairs);
    free(pairs);
    n->changed_by_others = n->changed_by_others || has_more(set, &fresh, &n->labels) ||
                           has_more(set, &n->labels, &fresh);
    labels_take(set->pool, &n->labels, &fresh);
    n->version = version ? version : n->version;
    n->rebooted = false; /* the put has reported it */
    return true;
}

void sw_node_set_put_taints(struct sw_node_set *set, uint32_t node, struct json_object *taints,
                            const char *record)
{
    if (node >= set->n || !set->nodes[node].name)
        return;
    struct node *n = &set->nodes[node], fresh = { 0 };
    if (set->observer.put_taints)
        set->observer.put_taints(node, taints, record, set->observer.arg);
    size_t count = json_object_is_type(taints, json_type_array) ? sw_json_len(taints) : 0;
    fresh.taints = new_taints(count);
    for (size_t i = 0; i < count; i++) {
        struct json_object *t = sw_json_at(taints, i);
        struct sw_taint facts = { sw_json_str(t, "", "key", NULL),
                                  sw_json_str(t, "", "value", NULL),
                                  sw_json_str(t, "", "effect", NULL),
                                  sw_json_str(t, "", "timeAdded", NULL) };
        fresh.taints[fresh.n_taints++] = hold_taint(set, &facts);
    }
    fresh.record = pool_hold(set->pool, or_empty(record));
    const bool was_tainted = is_tainted(set, n);
    drop_taints(set, n);
    n->taints = fresh.taints;
    n->n_taints = fresh.n_taints;
    n->record = fresh.record;
    count_tainted(set, n, was_tainted);
}

void sw_node_set_begin_taint(struct sw_node_set *set, uint32_t node, bool begins)
{
    if (node >= set->n || !set->nodes[node].name)
        return;
    struct node *n = &set->nodes[node];
    const bool was_tainted = is_tainted(set, n);
    if (begins)
        n->n_tainting++;
    else if (n->n_tainting)
        n->n_tainting--;
    count_tainted(set, n, was_tainted);
}

uint32_t sw_node_set_remove(struct sw_node_set *set, const char *name)
{
    uint32_t number = sw_node_set_find(set, name);
    if (number == SW_NO_NODE)
        return SW_NO_NODE;
    if (set->observer.remove)
        set->observer.remove(name, set->observer.arg);
    (void)lh_table_delete(set->by_name, name); /* it was found just now */
    const bool was_tainted = is_tainted(set, &set->nodes[number]);
    node_done(set, &set->nodes[number]);
    count_tainted(set, &set->nodes[number], was_tainted);
    set->count--;
    return number;
}

/* ---- reading -----------------------------------------------------------------------------------
 */

static const struct node *get(const struct sw_node_set *r, uint32_t number)
{
    return number < r->n && r->nodes[number].name ? &r->nodes[number] : NULL;
}

bool sw_node_set_is_unschedulable(const struct sw_node_set *set, uint32_t node)
{
    const struct node *n = get(set, node);
    return n && n->unschedulable;
}

bool sw_node_set_has_rebooted(const struct sw_node_set *set, uint32_t node)
{
    const struct node *n = get(set, node);
    return n && n->rebooted;
}

uint64_t sw_node_set_version(const struct sw_node_set *set, uint32_t node)
{
    const struct node *n = get(set, node);
    return n ? n->version : 0;
}

void sw_node_set_each_label(const struct sw_node_set *set, uint32_t node,
                            void (*each)(const char *key, const char *value, void *arg), void *arg)
{
    const struct node *n = get(set, node);
    for (uint32_t i = 0; n && i < n->labels.n; i++) {
        size_t n_pairs;
        const struct pair *pairs = labels_piece(set->pool, &n->labels, i, &n_pairs);
        for (size_t k = 0; k < n_pairs; k++)
            each(pool_text(set->pool, pairs[k].key), pool_text(set->pool, pairs[k].value), arg);
    }
}

uint32_t sw_node_set_end(const struct sw_node_set *set)
{
    return (uint32_t)set->n;
}

size_t sw_node_set_n_tainted(const struct sw_node_set *set)
{
    return set->n_tainted;
}

bool sw_node_set_counts_as_tainted(const struct sw_node_set *set, uint32_t node)
{
    return node < set->n && is_tainted(set, &set->nodes[node]);
}

size_t sw_node_set_count(const struct sw_node_set *set)
{
    return set->count;
}

uint32_t sw_node_set_find(const struct sw_node_set *set, const char *name)
{
    void *found = name ? sw_table_find(set->by_name, name) : NULL;
    return found ? (uint32_t)(uintptr_t)found - 1 : SW_NO_NODE;
}

const char *sw_node_set_name(const struct sw_node_set *set, uint32_t node)
{
    const struct node *n = get(set, node);
    return n ? n->name : NULL;
}

const char *sw_node_set_group(const struct sw_node_set *set, uint32_t node)
{
    const struct node *n = get(set, node);
    return n ? pool_text(set->pool, n->group) : "";
}

uint32_t sw_node_set_text(const struct sw_node_set *set, const char *text)
{
    return pool_find(set->pool, text);
}

bool sw_node_set_has(const struct sw_node_set *set, uint32_t node, uint32_t key, uint32_t value)
{
    const struct node *n = get(set, node);
    const struct pair *found = n && key != UINT32_MAX ? labels_find(set->pool, &n->labels, key)
                                                      : NULL;
    return found && found->value == value;
}

const char *sw_node_set_label(const struct sw_node_set *set, uint32_t node, const char *key)
{
    const struct node *n = get(set, node);
    uint32_t id = n ? pool_find(set->pool, key) : UINT32_MAX;
    const struct pair *found = id != UINT32_MAX ? labels_find(set->pool, &n->labels, id) : NULL;
    return found ? pool_text(set->pool, found->value) : NULL;
}

bool sw_node_set_has_resource(const struct sw_node_set *set, uint32_t node, const char *name)
{
    const struct node *n = get(set, node);
    size_t len = strlen(name);
    bool any = len > 1 && sw_ends_with(name, "/*");
    len -= any ? 1 : 0; /* without the star */
    for (const char *at = n ? pool_text(set->pool, n->resources) : ""; *at;) {
        size_t here = strcspn(at, " ");
        if ((any ? here > len : here == len) && strncmp(at, name, len) == 0)
            return true;
        at += here + (at[here] == ' ');
    }
    return false;
}

bool sw_node_set_is_ready(const struct sw_node_set *set, uint32_t node)
{
    const struct node *n = get(set, node);
    return n && n->ready;
}

size_t sw_node_set_n_taints(const struct sw_node_set *set, uint32_t node)
{
    const struct node *n = get(set, node);
    return n ? n->n_taints : 0;
}

struct sw_taint sw_node_set_taint(const struct sw_node_set *set, uint32_t node, size_t i)
{
    const struct taint *t = &get(set, node)->taints[i];
    return (struct sw_taint){ pool_text(set->pool, t->key), pool_text(set->pool, t->value),
                              pool_text(set->pool, t->effect), pool_text(set->pool, t->added) };
}

const char *sw_node_set_taint_record(const struct sw_node_set *set, uint32_t node)
{
    const struct node *n = get(set, node);
    return n ? pool_text(set->pool, n->record) : "";
}

char *sw_ready_version_label(const char *ready_label, char **chosen)
{
    static const char prefix[] = SW_READY_LABEL, suffix[] = ".ready";
    if (!ready_label || !sw_starts_with(ready_label, prefix) ||
        !sw_ends_with(ready_label, suffix) ||
        strlen(ready_label) < sizeof prefix + sizeof suffix - 1)
        return NULL;
    const char *module = ready_label + sizeof prefix - 1;
    const int len = (int)(strlen(module) - (sizeof suffix - 1));
    *chosen = sw_printf("%sversion-module.%.*s", prefix, len, module);
    return sw_printf("%s%.*s.version.ready", prefix, len, module);
}
