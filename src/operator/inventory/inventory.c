#include "operator/inventory/inventory.h"

#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "data/json/json.h"
#include "data/json/path.h"
#include "operator/release/record.h"

/* What an API server takes of an object is 1.5 MiB, of which the engine fills a half with plain
 * entries (engine/spec.c); as a tree they take some ten times as much. */
enum { MAX_BYTES = 32 << 20 };

static const char *packed_of(struct json_object *inventory)
{
    return sw_json_str(sw_json_at(inventory, 0), NULL, "packed", NULL);
}

/* ---- details of states --------------------------------------------------------------------------
 *
 * What people hardly ask of a state, and of a Ready one all but its phase, stands in "states"
 * beside the packed inventory, by the state's name. A Ready state that has nothing to do is there
 * as a whole, with its place ("at"). A state with "needs" is whole: so older versions wrote all of
 * them, and what stands packed beside is then not of it. */

static bool is_whole(struct json_object *state)
{
    return sw_json_get(state, "needs");
}

static bool are_any_whole(struct json_object *states)
{
    bool any = false;
    for (size_t i = 0; i < sw_json_len(states); i++)
        any = any || is_whole(sw_json_at(states, i));
    return any;
}

static bool has_all(struct json_object *state, const char *field, const char *some)
{
    struct json_object *counts = sw_json_get(state, field);
    return counts && sw_json_int(counts, -1, some, NULL) == sw_json_int(counts, -2, "total", NULL);
}

/* Is it ready for each kernel? */
static bool has_all_variants(struct json_object *state)
{
    struct json_object *list = sw_json_get(state, "variants");
    bool all = !sw_json_get(state, "moreVariants");
    for (size_t i = 0; i < sw_json_len(list); i++)
        all = all && !sw_json_get(sw_json_at(list, i), "message") &&
              has_all(sw_json_at(list, i), "objects", "ready");
    return all;
}

static void move(struct json_object *state, const char *field, struct json_object *details)
{
    struct json_object *value = sw_json_get(state, field);
    if (!value)
        return;
    sw_json_set(details, json_object_get(value), field, NULL);
    (void)sw_json_del(state, field, NULL);
}

/* All of a Ready state but its nodes. */
static void fold_ready(struct json_object *state, struct json_object *details)
{
    static const char *const fields[] = { "label",   "readyLabel", "note",
                                          "readyAt", "startedAt",  "since" };
    struct json_object *release = sw_json_get(state, "release");
    for (size_t i = 0; i < SW_COUNT(fields); i++)
        move(state, fields[i], details);
    if (has_all(state, "objects", "ready"))
        move(state, "objects", details);
    if (has_all_variants(state))
        move(state, "variants", details);
    if (!sw_json_get(release, "version") && !sw_json_get(release, "owner"))
        move(state, "release", details); /* it is not installed */
}

/* Had it nothing to do, and has nothing to tell? Then it has but a name, a phase and nodes. */
static bool is_idle(struct json_object *state, struct json_object *details)
{
    struct json_object *nodes = sw_json_get(state, "nodes");
    return sw_json_int(details, -1, "objects", "total", NULL) == 0 &&
           (!nodes || has_all(state, "nodes", "labelled")) &&
           json_object_object_length(state) == (nodes ? 3 : 2);
}

/* The column NODES of `kubectl get` is that of the first state that is left. */
static void fold_states(struct json_object *states, struct json_object *whole)
{
    struct json_object *all = sw_json_need_map(whole, "states", NULL);
    const size_t n = sw_json_len(states);
    size_t n_left = 0;
    for (size_t i = 0; i < n; i++) {
        struct json_object *state = sw_json_at(states, n_left), *details;
        if (!is_whole(state)) {
            n_left++;
            continue;
        }
        details = sw_json_need_map(all, sw_json_str(state, "", "name", NULL), NULL);
        move(state, "needs", details);
        move(state, "revision", details);
        const bool is_ready = sw_streq(sw_json_str(state, "", "phase", NULL), "Ready");
        if (is_ready)
            fold_ready(state, details);
        if (is_ready && is_idle(state, details) && (n_left > 0 || i + 1 < n)) {
            move(state, "phase", details);
            move(state, "nodes", details);
            sw_json_set(details, json_object_new_int64((int64_t)i), "at", NULL);
            (void)json_object_array_del_idx(states, n_left, 1);
            continue;
        }
        if (is_ready && n_left > 0 && has_all(state, "nodes", "labelled"))
            move(state, "nodes", details);
        n_left++;
    }
}

/* The state @name as it was, of @details with its place; the caller's. */
static struct json_object *idle_state(const char *name, struct json_object *details)
{
    struct json_object *state = json_object_new_object();
    sw_json_set_str(state, name, "name", NULL);
    json_object_object_foreach(details, field, value)
    {
        if (!sw_streq(field, "at") && !sw_streq(field, "name"))
            sw_json_set(state, json_object_get(value), field, NULL);
    }
    return state;
}

/* Where the state of @details is among @n; -1: it is among those that are listed. */
static int64_t place_of(struct json_object *details, size_t n)
{
    int64_t at = sw_json_int(details, -1, "at", NULL);
    return at >= 0 && (uint64_t)at < n ? at : -1;
}

/* Put the states that stand in @all alone back to their places, in the same list. */
static void insert_idle(struct json_object *states, struct json_object *all)
{
    SW_AUTO_JSON *listed = json_object_new_object();
    const size_t n = sw_json_len(states), n_all = n + (size_t)json_object_object_length(all);
    struct json_object **slots = sw_zalloc(n_all + 1, sizeof(struct json_object *));
    size_t n_taken = 0;
    for (size_t i = 0; i < n; i++)
        sw_json_set(listed, json_object_new_boolean(true),
                    sw_json_str(sw_json_at(states, i), "", "name", NULL), NULL);
    json_object_object_foreach(all, name, details)
    {
        const int64_t at = place_of(details, n_all);
        if (at >= 0 && !slots[at] && !sw_json_get(listed, name))
            slots[at] = idle_state(name, details);
    }
    for (size_t i = 0, k = 0; i < n_all; i++) {
        struct json_object *state = slots[i];
        if (!state && k < n)
            state = json_object_get(sw_json_at(states, k++));
        if (state)
            slots[n_taken++] = state;
    }
    for (size_t i = 0; i < n_taken; i++)
        (void)json_object_array_put_idx(states, i, slots[i]);
    free(slots);
}

static void unfold_states(struct json_object *states, struct json_object *whole)
{
    struct json_object *all = sw_json_get(whole, "states");
    if (!json_object_is_type(states, json_type_array) ||
        !json_object_is_type(all, json_type_object))
        return;
    const bool has_whole = are_any_whole(states);
    for (size_t i = 0; i < sw_json_len(states); i++) {
        struct json_object *state = sw_json_at(states, i),
                           *details = sw_json_get(all, sw_json_str(state, "", "name", NULL));
        if (is_whole(state) || !json_object_is_type(details, json_type_object))
            continue;
        json_object_object_foreach(details, field, value)
        {
            if (!sw_json_get(state, field) && !sw_streq(field, "at"))
                sw_json_set(state, json_object_get(value), field, NULL);
        }
    }
    if (!has_whole)
        insert_idle(states, all);
}

/* ---- the inventory ------------------------------------------------------------------------------
 */

static bool is_list_plain(struct json_object *inventory)
{
    return sw_json_len(inventory) > 0 && !packed_of(inventory);
}

bool sw_inventory_is_plain(struct json_object *status)
{
    struct json_object *inventory = sw_json_get(status, "inventory"),
                       *states = sw_json_get(status, "states");
    return is_list_plain(inventory) || (sw_json_len(inventory) && are_any_whole(states));
}

void sw_inventory_pack(struct json_object *status)
{
    struct json_object *inventory = sw_json_get(status, "inventory");
    if (!is_list_plain(inventory))
        return;
    struct json_object *list = json_object_new_array(), *item = json_object_new_object();
    SW_AUTO_JSON *whole = json_object_new_object();
    sw_json_set(whole, json_object_get(inventory), "inventory", NULL);
    fold_states(sw_json_get(status, "states"), whole);
    SW_AUTO_CHARS *packed = sw_release_pack(whole);
    sw_json_set_str(item, packed, "packed", NULL);
    (void)json_object_array_add(list, item);
    sw_json_set(status, list, "inventory", NULL);
}

int sw_inventory_unpack(struct json_object *status, struct sw_err *err)
{
    const char *packed = packed_of(sw_json_get(status, "inventory"));
    SW_AUTO_JSON *whole = NULL;
    if (!packed)
        return 0;
    int rc = sw_release_unpack(packed, strlen(packed), MAX_BYTES, &whole, NULL);
    struct json_object *list = sw_json_get(whole, "inventory");
    bool is_list = rc == 0 && json_object_is_type(list, json_type_array);
    unfold_states(sw_json_get(status, "states"), whole);
    sw_json_set(status, is_list ? json_object_get(list) : json_object_new_array(), "inventory",
                NULL);
    return is_list ? 0
                   : sw_err_set(err, SW_INVALID,
                                "status.inventory cannot be read: others have written it");
}

struct json_object *sw_inventory_of(struct json_object *status)
{
    int rc = sw_inventory_unpack(status, NULL);
    (void)rc; /* what cannot be read is empty */
    return sw_json_get(status, "inventory");
}

bool sw_inventory_needs_namespace(struct json_object *inventory, const char *ns)
{
    for (size_t i = 0; i < sw_json_len(inventory); i++)
        if (sw_streq(sw_json_str(sw_json_at(inventory, i), "", "namespace", NULL), ns))
            return true;
    return false;
}

bool sw_inventory_needs_kind(struct json_object *inventory, const char *group, const char *kind)
{
    size_t len = strlen(group);
    for (size_t i = 0; i < sw_json_len(inventory); i++) {
        struct json_object *object = sw_json_at(inventory, i);
        const char *version = sw_json_str(object, "", "apiVersion", NULL);
        if (strncmp(version, group, len) == 0 && version[len] == '/' &&
            sw_streq(sw_json_str(object, "", "kind", NULL), kind))
            return true;
    }
    return false;
}

bool sw_inventory_leaves_daemonset(struct json_object *inventory)
{
    for (size_t i = 0; i < sw_json_len(inventory); i++) {
        struct json_object *object = sw_json_at(inventory, i);
        if (sw_streq(sw_json_str(object, "", "kind", NULL), "DaemonSet") &&
            (sw_json_bool(object, false, "keep", NULL) ||
             sw_json_bool(object, false, "adopted", NULL)))
            return true;
    }
    return false;
}
