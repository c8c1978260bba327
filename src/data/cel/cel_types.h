#pragma once
/* cel_types: the types of CEL that JSON has not: quantities and semantic versions. They are texts
 * that are marked. Internal to cel. Source: Kubernetes "CEL in Kubernetes", quantity and semver
 * libraries. Pinned by test/emulator/emulator/cel_device_test.c. */
#include <json-c/json.h>

#include "base/base.h"

/** Whether it was made by sw_cel_open_map(). */
bool sw_cel_is_open_map(json_object *value);
/** Whether it is a quantity or a version. */
bool sw_cel_is_typed(json_object *value);
/** quantity(text), semver(text), isQuantity(text), isSemver(text): the value, new.
 * @return NULL: there is no such function, or it is an error (*failed) */
json_object *sw_cel_convert(const char *function, json_object *text, bool *failed);
/** A method of a quantity or version, with one argument or none (NULL): the value, new.
 * @return NULL: there is none, or it is an error (*failed) */
json_object *sw_cel_method(json_object *self, const char *method, json_object *argument,
                           bool *failed);
