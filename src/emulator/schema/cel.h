#pragma once
/* cel: the part of the Common Expression Language that matchConditions of admission webhooks use to
 * leave out users, kinds and objects: paths with optional steps (.?name), orValue(), ['key'],
 * has(), exists() over lists and the keys of maps, startsWith(), !, ==, !=, &&, ||, + of lists and
 * texts, parentheses, texts, numbers, booleans, [] and {}. Internal to emulator. Source: Kubernetes
 * "CEL in Kubernetes"; the language definition's short-circuit rules. */
#include <json-c/json.h>

#include "base/base.h"

/** Whether the expression holds. @root: {variable: value, ...}.
 * @return 1 | 0 | SW_INVALID (it comes to no boolean: a key is missing) | SW_NOTFOUND (more of the
 * language than is known here)
 * Pinned by test/emulator/emulator/api_webhook_test.c. */
int sw_cel_holds(const char *expression, json_object *root, struct sw_err *err) SW_CHECKED;
