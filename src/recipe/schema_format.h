#pragma once
/* schema_format: the small languages inside of schemas. */
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

/** Whether @text has the form that JSON Schema calls @format; an unknown one fits all. */
bool sw_schema_format(const char *format, const char *text);

/** Search @text for @pattern. @return NULL, or why the pattern is not usable */
const char *sw_schema_match(struct sw_arena *arena, const char *pattern, size_t pattern_len,
                            const char *text, size_t len, bool *found);
