#pragma once
/* diff: what changed between two texts, line by line. */
#include <stddef.h>

/** A unified diff with three lines of context, as `diff -u` writes it: NULL if the texts are equal,
 * else the caller's. Very different large texts give a correct, not the shortest, diff (work is
 * bounded). @from_name and @to_name follow --- and +++. */
char *sw_diff(const char *from, const char *to, const char *from_name, const char *to_name);
