#include "operator/inventory/inventory.h"

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
 * What people hardly ask of a state, and of a Ready one its counts, stands in "states" beside the
 * packed inventory, by the state's name. A state with "needs" is whole: so older versions wrote all
 * of them, and what stands packed beside is then not of it. */

static bool is_whole(struct json_object *state)
{
    return sw_json_get(state, "needs");
}

static bool has_all(struct json_object *state, const char *field, const char *some)
{
    struct json_object *counts = sw_json_get(state, field);
    return counts && sw_json_int(counts, -1, some, NULL) == sw_json_int(counts, -2, "total", NULL);
}

static void move(struct json_object *state, const char *field, struct json_object *details)
{
    struct json_object *value = sw_json_get(state, field);
    if (!value)
        return;
    sw_json_set(details, json_object_get(value), field, NULL);
    (void)sw_json_del(state, field, NULL);
}

/* The column NODES of `kubectl get` is the first state's. */
static void fold_states(struct json_object *states, struct json_object *whole)
{
    struct json_object *all = sw_json_need_map(whole, "states", NULL);
    for (size_t i = 0; i < sw_json_len(states); i++) {
        struct json_object *state = sw_json_at(states, i), *details;
        if (!is_whole(state))
            continue;
        details = sw_json_need_map(all, sw_json_str(state, "", "name", NULL), NULL);
        move(state, "needs", details);
        move(state, "revision", details);
        if (!sw_streq(sw_json_str(state, "", "phase", NULL), "Ready"))
            continue;
        move(state, "startedAt", details);
        move(state, "since", details);
        if (has_all(state, "objects", "ready"))
            move(state, "objects", details);
        if (i > 0 && has_all(state, "nodes", "labelled"))
            move(state, "nodes", details);
        struct json_object *release = sw_json_get(state, "release");
        if (!sw_json_get(release, "version") && !sw_json_get(release, "owner"))
            move(state, "release", details); /* it is not installed */
    }
}

static void unfold_states(struct json_object *states, struct json_object *whole)
{
    struct json_object *all = sw_json_get(whole, "states");
    for (size_t i = 0; i < sw_json_len(states); i++) {
        struct json_object *state = sw_json_at(states, i),
                           *details = sw_json_get(all, sw_json_str(state, "", "name", NULL));
        if (is_whole(state) || !json_object_is_type(details, json_type_object))
            continue;
        json_object_object_foreach(details, field, value)
        {
            if (!sw_json_get(state, field))
                sw_json_set(state, json_object_get(value), field, NULL);
        }
    }
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
    bool is_plain = is_list_plain(inventory);
    for (size_t i = 0; i < sw_json_len(states); i++)
        is_plain = is_plain || (sw_json_len(inventory) && is_whole(sw_json_at(states, i)));
    return is_plain;
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
    sw_json_set(item, json_object_new_int64((int64_t)sw_json_len(inventory)), "objects", NULL);
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
