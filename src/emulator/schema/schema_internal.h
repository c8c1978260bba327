#pragma once
/* Shared by the files that implement schema.h. */
#include "emulator/schema/schema.h"

/** Is this boolean of @schema there and true? */
bool sw_structural_flag(json_object *schema, const char *name);
/** Does @text match an ECMA 262 / RE2 pattern? Patterns that cannot be translated match all. */
bool sw_pattern_matches(const char *pattern, const char *text);
