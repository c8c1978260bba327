#pragma once
/* Shared by the files that implement schema.h. */
#include "emulator/schema/schema.h"

/** The boolean @name of @schema; false where it is missing. */
bool sw_structural_flag(json_object *schema, const char *name);
/** Whether @text matches an ECMA 262 / RE2 pattern. Patterns that cannot be translated match all.
 */
bool sw_pattern_matches(const char *pattern, const char *text);
