#pragma once
/* The inventory in a SpecialResource's status: all objects that were applied for it. The engine
 * makes and reads it as a list of maps (engine.h, docs/engine.md). On the cluster that list is one
 * item, {"packed": the list as JSON, gzip, base64}: plain, it made two thirds of what `kubectl
 * describe` prints. With it is packed what programs ask of states: `needs` and `revision` of each;
 * of one that is Ready its labels, times, note, and what all of it is ready: `objects`, `nodes`,
 * `variants`, and a `release` that is not installed; and as a whole one that is Ready and has
 * nothing to do. Statuses of older versions have the plain list, and whole states. */
#include "base/base.h"

struct json_object;

/** Pack the inventory and the details of the states of @status (a status, or a patch that has both)
 * in place. With an empty list, or one that is packed, all stays as it is. */
void sw_inventory_pack(struct json_object *status);

/** Has an older version written @status, or a part of it: is something plain that
 * sw_inventory_pack() packs? */
bool sw_inventory_is_plain(struct json_object *status);

/** Unpack the inventory of @status in place, and what is packed of its states; a plain list, and a
 * state that is whole, stay. On failure the list is empty.
 * @return 0 | SW_INVALID: others have written it, or it takes more memory than one may have
 * Pinned by test/unit/operator/inventory_test.c. */
int sw_inventory_unpack(struct json_object *status, struct sw_err *err) SW_CHECKED;

/** sw_inventory_unpack(): the inventory of @status, borrowed; NULL: there is none. One that cannot
 * be read is empty. The list of states stays the same one. Whoever reads states asks this first. */
struct json_object *sw_inventory_of(struct json_object *status);
/** Does @inventory (NULL: none) need the namespace @ns: is there an object in it? */
bool sw_inventory_needs_namespace(struct json_object *inventory, const char *ns);
/** Does it need the definition of @kind of @group: is there such an object, of any version? */
bool sw_inventory_needs_kind(struct json_object *inventory, const char *group, const char *kind);
/** Does @inventory (NULL: none) have a DaemonSet that stays when its resource is deleted? It
 * selects nodes by the labels that they have then. */
bool sw_inventory_leaves_daemonset(struct json_object *inventory);
