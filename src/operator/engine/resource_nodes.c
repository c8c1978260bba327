/* The nodes of the resource: which are its own, which are to be updated in this step, and which it
 * has lost, and since when. */
#include <string.h>

#include <json-c/json.h>

#include "data/json/json.h"
#include "data/json/path.h"
#include "data/text/time.h"
#include "operator/engine/internal.h"

bool node_selected(const struct sw_engine *e, uint32_t node)
{
    return sw_node_set_matches(e->nodes, node, e->node_selector) &&
           !sw_node_set_is_tainted(e->nodes, node, e->tolerations);
}

bool node_kept(const struct sw_engine *e, uint32_t node)
{
    return sw_node_set_keeps(e->nodes, node, e->node_selector, e->name) &&
           !sw_node_set_is_tainted(e->nodes, node, e->tolerations);
}

void nodes_mark(struct sw_engine *e, uint32_t node)
{
    if (node != SW_NO_NODE)
        (void)bitset_put(&e->dirty, node, true);
}

void nodes_mark_all(struct sw_engine *e)
{
    for (uint32_t n = 0; n < sw_node_set_end(e->nodes); n++)
        (void)bitset_put(&e->dirty, n, true);
}

/* ---- lost nodes --------------------------------------------------------------------------------
 */

/* Where it is, or would be: they are in the order of their nodes. */
static size_t lost_place(const struct sw_engine *e, uint32_t node)
{
    size_t from = 0, to = e->n_lost;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (e->lost[middle].node < node)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

struct lost_node *lost_find(const struct sw_engine *e, uint32_t node)
{
    const size_t at = lost_place(e, node);
    return at < e->n_lost && e->lost[at].node == node ? &e->lost[at] : NULL;
}

void lost_forget(struct sw_engine *e, uint32_t node)
{
    struct lost_node *l = lost_find(e, node);
    if (!l)
        return;
    memmove(l, l + 1, (size_t)(&e->lost[--e->n_lost] - l) * sizeof *l);
    e->status_dirty = true;
}

void lost_add(struct sw_engine *e, uint32_t node, int64_t since_ms)
{
    struct lost_node *l = lost_find(e, node);
    if (!l) {
        SW_GROW(e->lost, e->n_lost, e->cap_lost);
        l = &e->lost[lost_place(e, node)];
        memmove(l + 1, l, (size_t)(&e->lost[e->n_lost++] - l) * sizeof *l);
        *l = (struct lost_node){ .node = node };
        e->status_dirty = true;
    }
    l->since_ms = since_ms;
    l->expired = since_ms + e->opts.grace_ms <= e->now_ms;
    if (!l->expired)
        act_wake(e, since_ms + e->opts.grace_ms);
}

void lost_update(struct sw_engine *e)
{
    for (size_t i = 0; i < e->n_lost; i++) {
        struct lost_node *l = &e->lost[i];
        if (l->expired)
            continue;
        if (l->since_ms + e->opts.grace_ms > e->now_ms) {
            act_wake(e, l->since_ms + e->opts.grace_ms);
            continue;
        }
        l->expired = true;
        (void)bitset_put(&e->dirty, l->node, true);
    }
}

/* ---- in the status -----------------------------------------------------------------------------
 */

enum { MOST_LOST = 500 /* more names would make the status long */ };

/* Nodes that were lost at the same time share an entry: a rack may have hundreds. Of those that are
 * not named the grace period begins anew after a restart. */
struct json_object *lost_doc(const struct sw_engine *e)
{
    struct json_object *list = NULL, *entry = NULL;
    size_t n_named = 0;
    for (size_t i = 0; i < e->n_lost && n_named < MOST_LOST; i++) {
        const struct lost_node *l = &e->lost[i];
        const char *name = sw_node_set_name(e->nodes, l->node);
        char since[21];
        if (!name || l->expired)
            continue;
        list = list ? list : json_object_new_array();
        sw_time_rfc3339(l->since_ms, since);
        if (!sw_streq(sw_json_str(entry, "", "since", NULL), since))
            entry = sw_json_find_by(list, "since", since);
        if (!entry) {
            entry = json_object_new_object();
            sw_json_set_str(entry, since, "since", NULL);
            (void)json_object_array_add(list, entry);
        }
        (void)json_object_array_add(sw_json_need_list(entry, "nodes", NULL),
                                    json_object_new_string(name));
        n_named++;
    }
    return list;
}

void lost_read(struct sw_engine *e, struct json_object *list)
{
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *entry = sw_json_at(list, i), *nodes = sw_json_get(entry, "nodes");
        int64_t since_ms;
        if (sw_time_parse(sw_json_str(entry, "", "since", NULL), &since_ms, NULL) < 0)
            continue;
        since_ms += 999; /* the text has whole seconds: the grace period is not to be shorter */
        for (size_t k = 0; k < sw_json_len(nodes); k++) {
            const char *name = json_object_get_string(sw_json_at(nodes, k));
            uint32_t node = name ? sw_node_set_find(e->nodes, name) : SW_NO_NODE;
            if (node != SW_NO_NODE)
                lost_add(e, node, since_ms > e->now_ms ? e->now_ms : since_ms);
        }
    }
}
