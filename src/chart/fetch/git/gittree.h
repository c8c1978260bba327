#pragma once
/* gittree: the files of a chart in a commit. */
#include "base/base.h"
#include "chart/recipe/load/files.h"

/** Read the folder @path of @commit, or its folder @name or charts/<name> where only that holds a
 * Chart.yaml; @found: which one, heap. What .helmignore names is left out; links are followed
 * within the repository. @dir: as git_child_fetch() left it.
 * @return 0 | SW_NOTFOUND: no chart there | SW_INVALID: a limit, a link that leads outside |
 *         SW_UNAVAILABLE: no libgit2 */
int git_tree_read(const char *dir, const char *commit, const char *path, const char *name,
                  struct sw_files *files, char **found, struct sw_err *err) SW_CHECKED;
