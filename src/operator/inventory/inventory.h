#pragma once
/* The inventory in a SpecialResource's status: all objects that were applied for it. The engine
 * makes and reads it as a list of maps (engine.h, docs/engine.md). On the cluster that list is one
 * item, {"objects": their number, "packed": the list as JSON, gzip, base64}: plain, it made two
 * thirds of what `kubectl describe` prints. Statuses of older versions have the plain list. */
#include "base/base.h"

struct json_object;

/** Pack the inventory of @status (a status, or a patch of one) in place. An empty list, and one
 * that is packed, stay as they are. */
void sw_inventory_pack(struct json_object *status);

/** Is the inventory of @status one that sw_inventory_pack() would change? */
bool sw_inventory_is_plain(struct json_object *status);

/** Unpack the inventory of @status in place; a plain list stays. On failure the list is empty.
 * @return 0 | SW_INVALID: others have written it, or it takes more memory than one may have
 * Pinned by test/unit/operator/inventory_test.c. */
int sw_inventory_unpack(struct json_object *status, struct sw_err *err) SW_CHECKED;

/** The inventory of @status, unpacked in place, borrowed; NULL: there is none. One that cannot be
 * read is empty. */
struct json_object *sw_inventory_of(struct json_object *status);
