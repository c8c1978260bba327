#pragma once
/* fieldset: sets of field paths, as managedFields' fieldsV1 has them: a tree of maps whose keys are
 * "f:<field>", "k:<keys of a list element>", "v:<a set's value>", and where an empty map, or one
 * with ".", says that the path itself is in the set. They are json-c documents: what is stored is
 * what is computed with. Source: sigs.k8s.io/structured-merge-diff's serialisation. Pinned by
 * test/unit/emulator_fieldset_test.c. */
#include "emulator/apply/list_types.h"

/* Each gives a new set, the caller's, NULL where it would be empty; NULL arguments are empty sets.
 */

/** All leaves of @value. @dots: containers that are no struct are in it too, as in an update's. */
json_object *sw_fields_of(json_object *value, const struct sw_cursor *at, bool dots);
/** Paths that are in @a or in @b. */
json_object *sw_fields_union(json_object *a, json_object *b);
/** Paths of @a that are not in @b. */
json_object *sw_fields_minus(json_object *a, json_object *b);
/** Paths of @a at or below a leaf of @b, or in it: what a change of @b's leaves touches. */
json_object *sw_fields_touched(json_object *a, json_object *b);
/** @a without these. */
json_object *sw_fields_drop(json_object *a, json_object *b);

/** What differs: *@added gets the leaves that are new or have another value in @to, *@touched those
 * and the removed ones. Both may come out NULL. */
void sw_fields_diff(json_object *from, json_object *to, const struct sw_cursor *at,
                    json_object **added, json_object **touched);

/** Does the path itself (not only something below it) belong to the set whose node this is? */
bool sw_fields_is_member(json_object *node);

/** The path element of a list's element, "k:{...}" or "v:..."; heap. */
char *sw_fields_item(const struct sw_list_type_info *info, json_object *item);
/** Call @cb with each member as people write it: ".spec.containers[name=\"a\"].image". */
void sw_fields_each(json_object *set, void (*cb)(const char *path, void *arg), void *arg);
