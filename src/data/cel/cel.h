#pragma once
/* cel: the subset of the Common Expression Language that matchConditions of admission webhooks and
 * rules of custom resources mostly need: paths with optional steps (.?name), orValue(), ['key'],
 * [0], has(), size(), exists() and all() over lists and the keys of maps, startsWith(), endsWith(),
 * contains(), matches(), !, ==, !=, <, <=, >, >=, in, &&, ||, a ? b : c, + of lists and strings,
 * parentheses, lists, strings without escapes, numbers, booleans and {}; quantity() and semver()
 * with their comparisons.
 * Source: Kubernetes "CEL in Kubernetes"; the language definition's short-circuit rules. */
#include <json-c/json.h>

#include "base/base.h"

/** A quantity ("10Gi"), as CEL has it in a document; new. */
json_object *sw_cel_quantity(const char *text);
/** A semantic version, likewise. */
json_object *sw_cel_semver(const char *text);
/** A map in which a key that is missing is an empty map, as `device.attributes` is; new. */
json_object *sw_cel_open_map(void);

/** Evaluate a boolean expression. @root: {variable: value, ...}.
 * @return 1 (true) | 0 (false) | SW_INVALID (an error: a key is missing) | SW_NOTFOUND (it uses a
 * part of the language that is not implemented)
 * Pinned by test/emulator/emulator/api_webhook_test.c. */
int sw_cel_holds(const char *expression, json_object *root, struct sw_err *err) SW_CHECKED;
