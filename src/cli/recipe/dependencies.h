#pragma once
/* dependencies: the charts/ folder of a chart, as `helm dependency` keeps it: what is in it, and
 * getting what Chart.yaml or Chart.lock asks for. */
#include <stdbool.h>
#include <stdio.h>

#include "base/base.h"
#include "chart/recipe/recipe.h"

struct json_object;
struct sw_source_flags;

/** The dependencies of the chart in the folder @chart, the caller's: a list of maps with name,
 * version, repository and status: ok, unpacked, missing, "wrong version", "too many matches",
 * corrupt, misnamed, "invalid version". @*unknown: those in charts/ that are no chart or no
 * dependency, a list of sentences, the caller's.
 * @return 0 | SW_INVALID, SW_NOTFOUND: no such chart
 * Source: Helm 3.21 pkg/action/dependency.go. Pinned by test/emulator/chart/dependency_test.sh. */
int sw_dependencies_list(const char *chart, struct json_object **list, struct json_object **unknown,
                         struct sw_err *err) SW_CHECKED;

/** Get the dependencies of the chart in the folder @chart that have a repository, and put them into
 * its charts/ as archives, byte for byte as they came; older archives of them go. @locked: in the
 * versions of Chart.lock, which must be of these dependencies; where there is none, and without
 * @locked, the newest ones that fit, and Chart.lock is written. @progress: where it says what it
 * does.
 * @return 0 | as sw_source_open() | SW_UNAVAILABLE: a file cannot be written */
int sw_dependencies_get(const struct sw_source_flags *source, const char *chart, bool locked,
                        FILE *progress, struct sw_err *err) SW_CHECKED;
/** The same, without @locked, where something is missing in charts/. */
int sw_dependencies_get_missing(const struct sw_source_flags *source, const char *chart,
                                FILE *progress, struct sw_err *err) SW_CHECKED;

/** A sw_recipe_get_fn: an empty chart, where only what is asked for is of interest. */
int sw_dependency_empty(void *arg, const struct sw_recipe_ask *ask, struct sw_recipe_got *got,
                        struct sw_err *err);
