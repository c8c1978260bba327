#pragma once
/* ignore: .helmignore, the files of a directory that do not belong to the chart. */
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

/** The rules of one .helmignore. */
struct sw_ignore;

/** Read the rules of @text (NULL: none) and add Helm's own. @name is for messages.
 * @return 0 | SW_INVALID "name:line: ..." */
int sw_ignore_new(const char *name, const char *text, size_t len, struct sw_ignore **out,
                  struct sw_err *err) SW_CHECKED;
/** NULL is accepted. */
void sw_ignore_free(struct sw_ignore *ignore);
SW_DEFINE_AUTO(sw_ignore, sw_ignore_free)

/** Whether the file or directory at @path, relative to the chart, is left out. Call it
 * for directories first: what is in one that is left out is left out, too. Source: Helm 3.7.1
 * pkg/ignore: the first rule that fits decides, and a rule with '!' leaves out all that it does not
 * fit. Pinned by test/unit/chart/recipe_parts_test.c. */
bool sw_ignore_match(const struct sw_ignore *ignore, const char *path, bool is_dir);
