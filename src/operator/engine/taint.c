/* Node taints: the resource's own are set on its nodes and removed again, and no others. The PATCH
 * that sets taints records in an annotation of the node for which resources slipway has set which,
 * so that a taint that was there before stays. A node has one taint for each key and effect. */
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "data/data.h"
#include "operator/engine/internal.h"

static const char *key_of(struct json_object *taint)
{
    return sw_json_str(taint, "", "key", NULL);
}

static const char *value_of(struct json_object *taint)
{
    return sw_json_str(taint, "", "value", NULL);
}

static const char *effect_of(struct json_object *taint)
{
    return sw_json_str(taint, "", "effect", NULL);
}

/* As `kubectl taint` takes it. */
static const char *taint_text(struct sw_engine *e, struct json_object *taint)
{
    return sw_arena_printf(e->arena, "%s=%s:%s", key_of(taint), value_of(taint), effect_of(taint));
}

/* The record on the node, a map, the caller's; empty where it cannot be read. */
static struct json_object *read_record(const struct sw_engine *e, uint32_t node)
{
    const char *text = sw_node_set_taint_record(e->nodes, node);
    struct json_object *record = NULL;
    SW_ERR(err);
    if (*text && sw_json_parse(text, strlen(text), NULL, &record, &err) == 0 &&
        json_object_is_type(record, json_type_object))
        return record;
    json_object_put(record);
    return json_object_new_object();
}

bool taint_is_set(struct sw_engine *e, uint32_t node)
{
    if (!*sw_node_set_taint_record(e->nodes, node))
        return false;
    SW_AUTO_JSON *record = read_record(e, node);
    return sw_json_len(sw_json_get(record, e->name)) > 0;
}

/* ---- the node's list ---------------------------------------------------------------------------
 */

static struct json_object *find(struct json_object *list, struct json_object *taint)
{
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *t = sw_json_at(list, i);
        if (sw_streq(key_of(t), key_of(taint)) && sw_streq(effect_of(t), effect_of(taint)))
            return t;
    }
    return NULL;
}

/* Is it recorded for another resource? */
static bool is_shared(const struct sw_engine *e, struct json_object *record, const char *text)
{
    bool shared = false;
    json_object_object_foreach(record, name, list)
        shared = shared || (!sw_streq(name, e->name) && sw_json_has_text(list, text));
    return shared;
}

/* Add the resource's. @return the texts of those to be recorded as set by slipway, the caller's;
 * NULL: there are none */
static struct json_object *add_taints(struct sw_engine *e, uint32_t node, struct json_object *list,
                                      struct json_object *record)
{
    struct json_object *mine = NULL;
    for (size_t i = 0; i < sw_json_len(e->taints); i++) {
        struct json_object *taint = sw_json_at(e->taints, i), *there = find(list, taint);
        const char *text = taint_text(e, taint);
        bool same = there && sw_streq(value_of(there), value_of(taint));
        if (there && !same) {
            const char *clash = sw_arena_printf(
                e->arena, "node %s has taint %s, which slipway has not set: %s cannot be set",
                sw_node_set_name(e->nodes, node), taint_text(e, there), text);
            if (!sw_streq(clash, e->reported_clash))
                act_event(e, true, "TaintClash", "%s", clash);
            sw_text_set(&e->reported_clash, clash);
        }
        if (!there)
            (void)json_object_array_add(list, sw_json_copy(taint));
        bool ours = sw_json_has_text(sw_json_get(record, e->name), text) ||
                    is_shared(e, record, text);
        if (!there || (same && ours)) {
            mine = mine ? mine : json_object_new_array();
            (void)json_object_array_add(mine, json_object_new_string(text));
        }
    }
    return mine;
}

bool taint_difference(struct sw_engine *e, uint32_t node, bool set, struct taint_patch *out)
{
    const char *before = sw_node_set_taint_record(e->nodes, node);
    if (!*before && !(set && sw_json_len(e->taints)))
        return false;
    SW_AUTO_JSON *record = read_record(e, node);
    SW_AUTO_JSON *list = json_object_new_array();
    struct json_object *recorded = sw_json_get(record, e->name);
    size_t n_before = sw_node_set_n_taints(e->nodes, node);
    for (size_t i = 0; i < n_before; i++) {
        struct sw_taint t = sw_node_set_taint(e->nodes, node, i);
        struct json_object *doc = json_object_new_object(), *own;
        sw_json_set_str(doc, t.key, "key", NULL);
        if (*t.value)
            sw_json_set_str(doc, t.value, "value", NULL);
        sw_json_set_str(doc, t.effect, "effect", NULL);
        if (*t.added)
            sw_json_set_str(doc, t.added, "timeAdded", NULL);
        const char *text = taint_text(e, doc);
        bool stays = set && (own = find(e->taints, doc)) && sw_streq(value_of(own), t.value);
        if (sw_json_has_text(recorded, text) && !stays && !is_shared(e, record, text))
            json_object_put(doc);
        else
            (void)json_object_array_add(list, doc);
    }
    size_t n_kept = sw_json_len(list);
    struct json_object *mine = set ? add_taints(e, node, list, record) : NULL;
    bool differs = n_kept != n_before || sw_json_len(list) != n_kept ||
                   !sw_json_equal(mine, recorded);
    if (mine)
        (void)json_object_object_add(record, e->name, mine);
    else
        json_object_object_del(record, e->name);
    if (!differs)
        return false;
    SW_AUTO_CHARS *text = sw_json_text(record, SW_JSON_PLAIN, NULL);
    *out = (struct taint_patch){
        .taints = json_object_get(list),
        .record = sw_json_len(record) ? sw_arena_strdup(e->arena, text) : NULL,
    };
    return true;
}
