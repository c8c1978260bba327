#pragma once
/* pattern: patterns of schemas and of CEL, on the C library's regular expressions. Source: ECMA 262
 * and RE2, as far as definitions of custom resources use them. Pinned by
 * test/emulator/emulator/api_crd_test.c. */
#include <stdbool.h>

/** Whether @text matches an ECMA 262 / RE2 pattern. Patterns that cannot be translated match all.
 */
bool sw_pattern_matches(const char *pattern, const char *text);
