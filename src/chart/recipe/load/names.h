#pragma once
/* names: lists of names in annotations. */
#include "base/base.h"

struct json_object;

/** An annotation's value: a JSON list of strings in a string, as HIP-0025 has it; a list itself and
 * "a, b" are taken too. @return a list of strings, the caller's, or NULL with @err set */
struct json_object *sw_recipe_names(struct json_object *value, struct sw_err *err);
