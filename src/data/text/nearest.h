#pragma once
/* nearest: suggests the correct name for a misspelt one. */
#include <stdbool.h>
#include <stddef.h>

/** How many letters must be added, left out or changed to make @b of @a. More than 2 is returned as
 * 3 or more, and always for texts of more than 64 letters.
 * @loosely: case does not matter, and two neighbours that changed places count once */
int sw_text_distance(const char *a, size_t n, const char *b, size_t m, bool loosely);

/** @return the one of @names (ends with NULL) that is nearest to @typed, borrowed; NULL: none is
 * near */
const char *sw_text_nearest(const char *typed, const char *const *names);
/** The same, with a place where two neighbours changed counted once and no matter the case; NULL,
 * too, where two names are equally near. Pinned by test/unit/cli/cli_fix_test.c. */
const char *sw_text_nearest_only(const char *typed, const char *const *names);
