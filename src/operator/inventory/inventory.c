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

bool sw_inventory_is_plain(struct json_object *status)
{
    struct json_object *inventory = sw_json_get(status, "inventory");
    return sw_json_len(inventory) > 0 && !packed_of(inventory);
}

void sw_inventory_pack(struct json_object *status)
{
    if (!sw_inventory_is_plain(status))
        return;
    struct json_object *inventory = sw_json_get(status, "inventory"),
                       *list = json_object_new_array(), *item = json_object_new_object();
    SW_AUTO_JSON *whole = json_object_new_object();
    sw_json_set(whole, json_object_get(inventory), "inventory", NULL);
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
