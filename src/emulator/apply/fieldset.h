#pragma once
/* fieldset: sets of field paths, in the form of managedFields' fieldsV1: a tree of maps whose keys
 * are "f:<field>", "k:<keys of a list element>", "v:<a set's value>". A path is a member of the set
 * where its node is empty or has the key ".". Sets are json-c documents, as they are stored.
 * Source: sigs.k8s.io/structured-merge-diff's serialisation. Pinned by
 * test/emulator/emulator/api_apply_test.c. */
#include "emulator/apply/list_types.h"

/* Each function returns a new set, the caller's; NULL is the empty set. */

/** All leaves of @value. @dots: also the maps and lists that are no Go struct, as updates own them.
 */
json_object *sw_fields_of(json_object *value, const struct sw_cursor *at, bool dots);
/** Paths that are in @a or in @b. */
json_object *sw_fields_union(json_object *a, json_object *b);
/** Paths of @a that are not in @b. */
json_object *sw_fields_minus(json_object *a, json_object *b);
/** Paths of @a that a change of @b's leaves affects: those in @b, and those below a leaf of @b. */
json_object *sw_fields_touched(json_object *a, json_object *b);
/** @a without those paths. */
json_object *sw_fields_drop(json_object *a, json_object *b);

/** Compare two documents: *@added gets the leaves that are new or have another value in @to,
 * *@touched those and the removed ones. Either may be NULL. */
void sw_fields_diff(json_object *from, json_object *to, const struct sw_cursor *at,
                    json_object **added, json_object **touched);

/** Whether the path of @node itself is a member of its set, not only paths below it. */
bool sw_fields_is_member(json_object *node);

/** The path element of a list's element, "k:{...}" or "v:..."; heap. */
char *sw_fields_item(const struct sw_list_type_info *info, json_object *item);
/** The element of @list with the path element @element; borrowed, NULL: none. */
json_object *sw_fields_find_item(json_object *list, const struct sw_list_type_info *info,
                                 const char *element);
/** Call @cb with each member in the form of messages: ".spec.containers[name=\"a\"].image". */
void sw_fields_each(json_object *set, void (*cb)(const char *path, void *arg), void *arg);
