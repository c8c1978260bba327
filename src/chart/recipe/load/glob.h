#pragma once
/* glob: the patterns of Go's path.Match, for .helmignore and --show-only. Those of .Files.Glob are
 * others, with {a,b}, ** and [!a]: template/go/glob.h. */

/** How a name fits a pattern; BAD: the pattern is malformed. */
enum sw_glob { SW_GLOB_NO, SW_GLOB_YES, SW_GLOB_BAD };

/** Match all of @name: '*' any run without '/', '?' one character but '/', "[a-z]", "[^a]", '\'
 * before a character that is meant as itself. @return SW_GLOB_BAD for a malformed pattern (found
 * only as far as it was read, as in Go). Source: Go's path.Match. Pinned by
 * test/unit/chart/recipe_parts_test.c. */
enum sw_glob sw_recipe_glob(const char *pattern, const char *name);
