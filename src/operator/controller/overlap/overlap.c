/* Resources that select the same nodes. The nodes that each resource claims are one bit a node, so
 * that the change of a node costs one test a resource, and comparing resources is cheap. A resource
 * claims the nodes that it chooses by a selector or by its taints. Resources that depend on each
 * other are left out: they are meant to share nodes. */
#include "operator/manifests/overlap.h"
#include "operator/controller/core.h"

#include <stdlib.h>
#include <string.h>

#include "data/text/metrics.h"

enum {
    SETTLE_MS = 50,
    MAX_NAMES = 3,   /* of nodes that two resources share */
    MAX_OTHERS = 20, /* resources that one is told to share nodes with, also by metrics */
    BITS = 64
};

/* Another resource that selects some of the same nodes. */
struct overlap_item {
    char *other;
    size_t n_nodes;
};
struct overlap_outcome {
    char *message, *with; /* NULL: there is no other */
    bool is_bad;          /* one of them is of the same chart */
    bool has_more;        /* beyond MAX_OTHERS */
    struct overlap_item *items;
    size_t n, cap;
};
struct overlap {
    uint64_t *claims; /* one bit for each node of the node set */
    size_t n_claims;  /* 64-bit words in @claims */
    struct overlap_outcome outcome;
};

static struct overlap *overlap_of(const struct resource *r)
{
    return r->state[CAPABILITY_overlap];
}

/* Does @r claim @node? @return whether that has changed */
static bool put_claim(struct resource *r, uint32_t node, bool claims)
{
    struct overlap *o = overlap_of(r);
    size_t word = node / BITS;
    if (word >= o->n_claims) {
        if (!claims)
            return false;
        o->claims = sw_realloc(o->claims, word + 1, sizeof *o->claims);
        memset(o->claims + o->n_claims, 0, (word + 1 - o->n_claims) * sizeof *o->claims);
        o->n_claims = word + 1;
    }
    uint64_t bit = UINT64_C(1) << node % BITS;
    if (!(o->claims[word] & bit) == !claims)
        return false;
    o->claims[word] ^= bit;
    return true;
}

static bool selects(const struct resource *r, uint32_t node)
{
    return sw_node_set_matches(r->c->nodes, node,
                               sw_json_find(r->doc, "spec", "nodeSelector", NULL));
}

/* ---- two resources -----------------------------------------------------------------------------
 */

/* A sw_overlap_find_fn; @arg: the controller. */
static struct json_object *find_document(const char *name, void *arg)
{
    const struct resource *r = resource_find(arg, name);
    return r ? r->doc : NULL;
}

/* "node-1, node-2, node-3 and 4 more", of @n nodes that both claim; heap. */
static char *names_of_shared(const struct resource *a, const struct resource *b, size_t n)
{
    char *names = sw_strdup("");
    size_t found = 0;
    for (uint32_t i = 0; found < n && found < MAX_NAMES; i++) {
        uint64_t bit = UINT64_C(1) << i % BITS;
        if (!(overlap_of(a)->claims[i / BITS] & overlap_of(b)->claims[i / BITS] & bit))
            continue;
        const char *name = sw_node_set_name(a->c->nodes, i);
        sw_append(&names, "%s%s", found++ ? ", " : "", name ? name : "?");
    }
    if (n > found)
        sw_append(&names, " and %zu more", n - found);
    return names;
}

static void outcome_done(struct overlap_outcome *o)
{
    for (size_t i = 0; i < o->n; i++)
        free(o->items[i].other);
    free(o->items);
    free(o->message);
    free(o->with);
    *o = (struct overlap_outcome){ 0 };
}

/* Add @other to @o, if it shares nodes with @r. */
static void add_shared(struct resource *r, const struct resource *other, struct overlap_outcome *o)
{
    const struct overlap *a = overlap_of(r), *b = overlap_of(other);
    size_t n = 0;
    for (size_t i = 0; i < a->n_claims && i < b->n_claims; i++)
        n += (size_t)__builtin_popcountll(a->claims[i] & b->claims[i]);
    if (!n || sw_overlap_is_meant(r->doc, other->doc, find_document, r->c))
        return;
    if (o->n == MAX_OTHERS) {
        o->has_more = true;
        return;
    }
    bool same_chart = sw_streq(sw_json_str(r->doc, "", "spec", "chart", "name", NULL),
                               sw_json_str(other->doc, "", "spec", "chart", "name", NULL));
    SW_AUTO_CHARS *names = names_of_shared(r, other, n);
    sw_append(&o->message, "%s%zu node%s selected by %s as well%s: %s", o->message ? "; " : "", n,
              n == 1 ? " is" : "s are", other->name, same_chart ? ", with the same chart" : "",
              names);
    sw_append(&o->with, "%s%s", o->with ? "," : "", other->name);
    o->is_bad |= same_chart;
    SW_GROW(o->items, o->n, o->cap);
    o->items[o->n++] = (struct overlap_item){ sw_strdup(other->name), n };
}

static void compare(struct resource *r)
{
    struct overlap_outcome now = { 0 };
    for (struct resource *other = r->c->resources; other && !now.has_more; other = other->next)
        if (other != r)
            add_shared(r, other, &now);
    if (now.has_more)
        sw_append(&now.message, "; and nodes are selected by more resources");
    bool same = sw_streq(now.message, overlap_of(r)->outcome.message) &&
                now.is_bad == overlap_of(r)->outcome.is_bad;
    outcome_done(&overlap_of(r)->outcome);
    overlap_of(r)->outcome = now;
    if (!same)
        resource_tell_if_walked(r);
}

static void on_timer(void *arg)
{
    struct sw_controller *c = arg;
    for (struct resource *r = c->resources, *next; r; r = next) {
        next = r->next; /* compare() may step the engine */
        compare(r);
    }
}

/* The row's slot is its timer, NULL until two resources may share nodes. */
static void compare_soon(struct sw_controller *c)
{
    struct sw_timer *timer = c->state[CAPABILITY_overlap];
    if (!timer)
        timer = c->state[CAPABILITY_overlap] = sw_timer_new(c->loop, on_timer, c);
    if (!sw_timer_is_set(timer))
        sw_timer_set(timer, SETTLE_MS);
}

static void changed(struct resource *r)
{
    bool claiming = sw_overlap_is_claiming(r->doc), differs = false;
    for (uint32_t i = 0; i < sw_node_set_end(r->c->nodes); i++)
        differs = put_claim(r, i, claiming && selects(r, i)) || differs;
    if (differs || overlap_of(r)->n_claims)
        compare_soon(r->c); /* its chart or its dependencies may have changed, too */
}

static void on_node(struct sw_controller *c, uint32_t node)
{
    for (struct resource *r = c->resources; r; r = r->next)
        if (r->doc && put_claim(r, node, sw_overlap_is_claiming(r->doc) && selects(r, node)))
            compare_soon(c);
}

static void fill_spec(struct resource *r, struct sw_spec *spec)
{
    const struct overlap_outcome *o = &overlap_of(r)->outcome;
    spec->overlap = o->message;
    spec->overlap_with = o->with;
    spec->overlap_is_bad = o->is_bad;
}

static void resource_close(struct resource *r)
{
    struct overlap *o = overlap_of(r);
    if (o->n_claims && r->c->state[CAPABILITY_overlap])
        compare_soon(r->c);
    outcome_done(&o->outcome);
    free(SW_TAKE(o->claims));
    o->n_claims = 0;
}

static void stop(struct sw_controller *c)
{
    sw_timer_free(SW_TAKE(c->state[CAPABILITY_overlap]));
}

static void metrics(struct sw_controller *c, struct sw_metrics *out)
{
    sw_metrics_head(
        out, "slipway_overlapping_nodes", "gauge",
        "Nodes that another resource (of some, the first 20) selects as well, with no dependency "
        "between the two");
    for (const struct resource *r = c->resources; r; r = r->next) {
        const struct overlap_outcome *o = &overlap_of(r)->outcome;
        for (size_t i = 0; i < o->n; i++)
            sw_metrics_add(out, "slipway_overlapping_nodes", o->items[i].n_nodes, "specialresource",
                           r->name, "other", o->items[i].other, NULL);
    }
}

const struct capability capability_overlap = {
    .name = "overlap",
    .summary = "resources that select the same nodes are found and reported",
    .resource_size = sizeof(struct overlap),
    .changed = changed,
    .node_changed = on_node,
    .fill_spec = fill_spec,
    .metrics = metrics,
    .resource_close = resource_close,
    .stop = stop,
};
