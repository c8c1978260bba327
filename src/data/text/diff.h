#pragma once
/* diff: the differences of two texts, line by line. */
#include <stddef.h>

/** A unified diff with three lines of context, as `diff -u` writes it; the caller frees it. NULL if
 * the texts are equal. The work is bounded: the diff of large texts with many differences is
 * correct but not the shortest. @from_name and @to_name follow --- and +++. */
char *sw_diff(const char *from, const char *to, const char *from_name, const char *to_name);
