/* Resources that select the same nodes. Which nodes each claims is kept as one bit a node, so that
 * a node's change costs one look for each resource, and comparing them costs next to nothing. A
 * resource claims nodes when it chooses some: by a selector, or by its taints. Of resources that
 * depend on each other nothing is said: they are meant to share. */
#include "operator/controller/internal.h"

#include <stdlib.h>
#include <string.h>

enum { SETTLE_MS = 50, MAX_NAMES = 3, BITS = 64, MAX_DEPTH = 16 };

static bool is_claiming(const struct resource *r)
{
    const char *state = sw_json_str(r->doc, "", "spec", "managementState", NULL);
    return (sw_json_len(sw_json_find(r->doc, "spec", "nodeSelector", NULL)) ||
            sw_json_len(sw_json_find(r->doc, "spec", "taints", NULL))) &&
           !sw_streq(state, "Removed") && !sw_streq(state, "Unmanaged") &&
           !sw_json_find(r->doc, "metadata", "deletionTimestamp", NULL);
}

/* @return whether it was otherwise */
static bool put_bit(struct resource *r, uint32_t node, bool on)
{
    size_t word = node / BITS;
    if (word >= r->n_claims) {
        if (!on)
            return false;
        r->claims = sw_realloc(r->claims, word + 1, sizeof *r->claims);
        memset(r->claims + r->n_claims, 0, (word + 1 - r->n_claims) * sizeof *r->claims);
        r->n_claims = word + 1;
    }
    uint64_t bit = UINT64_C(1) << node % BITS;
    if (!(r->claims[word] & bit) == !on)
        return false;
    r->claims[word] ^= bit;
    return true;
}

static bool selects(const struct resource *r, uint32_t node)
{
    return sw_node_set_matches(r->c->roster, node,
                               sw_json_find(r->doc, "spec", "nodeSelector", NULL));
}

/* ---- two of them -------------------------------------------------------------------------------
 */

static bool depends_on(const struct resource *r, const struct resource *other, int depth)
{
    struct json_object *list = sw_json_find(r->doc, "spec", "dependencies", NULL);
    for (size_t i = 0; depth < MAX_DEPTH && i < sw_json_len(list); i++) {
        const char *name = sw_json_str(sw_json_at(list, i), "", "chart", "name", NULL);
        const struct resource *child = resource_find(r->c, name);
        if (sw_streq(name, other->name) || (child && depends_on(child, other, depth + 1)))
            return true;
    }
    return false;
}

static size_t count_shared(const struct resource *a, const struct resource *b)
{
    size_t n = 0;
    for (size_t i = 0; i < a->n_claims && i < b->n_claims; i++)
        n += (size_t)__builtin_popcountll(a->claims[i] & b->claims[i]);
    return n;
}

/* "node-1, node-2, node-3 and 4 more". Heap. */
static char *names_of_shared(const struct resource *a, const struct resource *b, size_t n)
{
    char *names = sw_strdup("");
    size_t found = 0;
    for (uint32_t i = 0; found < n && found < MAX_NAMES; i++) {
        uint64_t bit = UINT64_C(1) << i % BITS;
        if (!(a->claims[i / BITS] & b->claims[i / BITS] & bit))
            continue;
        const char *name = sw_node_set_name(a->c->roster, i);
        char *more = sw_printf("%s%s%s", names, found++ ? ", " : "", name ? name : "?");
        free(names);
        names = more;
    }
    if (n > found) {
        char *more = sw_printf("%s and %zu more", names, n - found);
        free(names);
        names = more;
    }
    return names;
}

static bool same_chart(const struct resource *a, const struct resource *b)
{
    return sw_streq(sw_json_str(a->doc, "", "spec", "chart", "name", NULL),
                    sw_json_str(b->doc, "", "spec", "chart", "name", NULL));
}

/* ---- all of them -------------------------------------------------------------------------------
 */

static void outcome_done(struct overlap *o)
{
    for (size_t i = 0; i < o->n; i++)
        free(o->items[i].other);
    free(o->items);
    free(o->words);
    free(o->with);
    *o = (struct overlap){ 0 };
}

static void append(char **to, const char *between, const char *text)
{
    char *more = sw_printf("%s%s%s", *to ? *to : "", *to ? between : "", text);
    free(*to);
    *to = more;
}

static void note(struct resource *r, const struct resource *other, struct overlap *o)
{
    size_t n = count_shared(r, other);
    if (!n || depends_on(r, other, 0) || depends_on(other, r, 0))
        return;
    bool same = same_chart(r, other);
    SW_AUTO_CHARS *names = names_of_shared(r, other, n);
    SW_AUTO_CHARS *words = sw_printf("%zu node%s selected by %s as well%s: %s", n,
                                     n == 1 ? " is" : "s are", other->name,
                                     same ? ", with the same chart" : "", names);
    append(&o->words, "; ", words);
    append(&o->with, ",", other->name);
    o->is_bad = o->is_bad || same;
    SW_GROW(o->items, o->n, o->cap);
    o->items[o->n++] = (struct overlap_item){ sw_strdup(other->name), n };
}

static void look_at(struct resource *r)
{
    struct overlap now = { 0 };
    for (struct resource *other = r->c->resources; other; other = other->next)
        if (other != r)
            note(r, other, &now);
    bool same = sw_streq(now.words, r->overlap.words) && now.is_bad == r->overlap.is_bad;
    outcome_done(&r->overlap);
    r->overlap = now;
    if (!same)
        resource_overlap_changed(r);
}

static void on_timer(void *arg)
{
    struct sw_controller *c = arg;
    for (struct resource *r = c->resources, *next; r; r = next) {
        next = r->next;
        look_at(r);
    }
}

static void soon(struct sw_controller *c)
{
    if (!c->overlap_timer)
        c->overlap_timer = sw_timer_new(c->loop, on_timer, c);
    if (!sw_timer_is_set(c->overlap_timer))
        sw_timer_set(c->overlap_timer, SETTLE_MS);
}

void overlap_resource(struct resource *r)
{
    bool claiming = is_claiming(r), changed = false;
    for (uint32_t i = 0; i < sw_node_set_end(r->c->roster); i++)
        changed = put_bit(r, i, claiming && selects(r, i)) || changed;
    if (changed || r->n_claims)
        soon(r->c); /* its chart, or what it depends on, may be another too */
}

void overlap_node(struct sw_controller *c, uint32_t node)
{
    for (struct resource *r = c->resources; r; r = r->next)
        if (r->doc && put_bit(r, node, is_claiming(r) && selects(r, node)))
            soon(c);
}

void overlap_drop(struct resource *r)
{
    if (r->n_claims && r->c->overlap_timer)
        soon(r->c);
    outcome_done(&r->overlap);
    free(SW_TAKE(r->claims));
    r->n_claims = 0;
}

void overlap_close(struct sw_controller *c)
{
    sw_timer_free(SW_TAKE(c->overlap_timer));
}
