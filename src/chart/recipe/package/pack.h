#pragma once
/* pack: a recipe as a packaged chart, which sw_recipe_open() reads again: the recipe that comes out
 * renders as the one that went in. */
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "chart/recipe/load/files.h"
#include "chart/recipe/recipe.h"

/** All files of a recipe: its own, and under charts/<name>/ those of dependencies that lie
 * elsewhere (`repository: file://...`), so that the recipe is complete. In the order in which
 * `helm package` writes them: Chart.yaml, Chart.lock, values, schema, templates/, the rest,
 * charts/.
 * @files: initialised by the caller, done by it in any case.
 * @return 0 | SW_INVALID, SW_NOTFOUND, SW_FORBIDDEN: a dependency's folder has changed meanwhile */
int sw_recipe_list_files(const struct sw_recipe *recipe, struct sw_files *files,
                         struct sw_err *err) SW_CHECKED;

/** The same of the chart at @chart, a full path in @plan, as if it were a recipe of its own; and
 * its Chart.yaml as a document, borrowed.
 * @return as sw_recipe_list_files() | SW_NOTFOUND: there is no such chart */
int sw_plan_list_files(const struct sw_plan *plan, const char *chart, struct sw_files *files,
                       const struct json_object **metadata, struct sw_err *err) SW_CHECKED;

/** "<name>-<version>.tgz", the caller's. */
char *sw_recipe_archive_name(const struct sw_recipe *recipe);

/** Any files as tar in gzip, all in one @folder; as sw_recipe_pack() else. */
int sw_files_pack(const struct sw_files *files, const char *folder, char **bytes, size_t *len,
                  struct sw_err *err) SW_CHECKED;

/** The recipe as `helm package` writes it: tar in gzip, all in one folder of the chart's name.
 * Equal files give equal bytes: modes are 0644, owners root, times $SOURCE_DATE_EPOCH, else the
 * start of 1980 (Helm writes the time at which it runs). @*bytes is the caller's.
 * @return 0 | as sw_recipe_list_files() | SW_UNAVAILABLE: no libarchive on this machine
 * Source: Helm 3.7.1 pkg/chartutil/save.go. Pinned by test/unit/chart/recipe_pack_test.c. */
int sw_recipe_pack(const struct sw_recipe *recipe, char **bytes, size_t *len,
                   struct sw_err *err) SW_CHECKED;

/** The time of what is made: $SOURCE_DATE_EPOCH, in seconds since 1970; @otherwise_s where it is
 * not set, or is no such number. */
int64_t sw_build_time_s(int64_t otherwise_s);
