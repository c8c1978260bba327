#pragma once
/* glob: shell patterns as Go's path.Match has them, for .helmignore and --show-only. */

enum sw_glob { SW_GLOB_NO, SW_GLOB_YES, SW_GLOB_BAD };

/** Match all of @name: '*' any run without '/', '?' one character but '/', "[a-z]", "[^a]", '\'
 * before a character that is meant as itself. @return SW_GLOB_BAD for a malformed pattern (found
 * only as far as it was read, as in Go). Source: Go's path.Match. Pinned by
 * test/unit/chart/recipe_parts_test.c. */
enum sw_glob sw_recipe_glob(const char *pattern, const char *name);
