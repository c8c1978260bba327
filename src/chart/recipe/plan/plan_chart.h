#pragma once
/* plan_chart: a chart that is enabled in a plan, under its alias, and the values that reach it. One
 * chart of the recipe may be in a plan twice, or not at all. */
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "chart/recipe/load/chart.h"
#include "chart/template/value/value.h"

struct sw_plan_release;

/** An enabled dependency and its name. */
struct sw_plan_chart_dep {
    const struct sw_dependency *dep;
    const char *name; /* alias, else name */
    bool enabled;     /* false: of a chart that no dependency lists, where Helm does not ask */
};

struct sw_plan_dep_state;

/** See above. All is in the plan's arena. */
struct sw_plan_chart {
    const struct sw_chart *loaded; /* before values were known */
    const char *name;       /* alias, else the chart's name; the key of its values in the parent */
    const char *state_name; /* of its states; @name, unless the chart says otherwise */
    const char *path;       /* "root/charts/a/charts/b" */
    struct sw_value values; /* the chart's defaults, as import-values left them */
    struct sw_value meta;   /* Chart.yaml under this name, with the enabled dependencies: a map */
    const struct sw_plan_release *release;       /* that begins with it; NULL: none does */
    const char *shared_objects, *shared_version; /* of its own states: see sw_recipe_state */
    struct sw_plan_chart *parent;                /* NULL: the root */
    struct sw_plan_chart **subcharts; /* enabled subcharts, in the order of dependencies: */
    size_t n_subcharts;
    struct sw_plan_chart_dep *deps; /* the enabled entries of dependencies: */
    size_t n_deps;
    struct sw_plan_dep_state *states; /* of all entries, while the tree is built */
};

/** Build the tree of enabled charts for user values @values (a map, not changed): aliases, tags,
 * conditions, import-values. All in @arena.
 * @return 0 | SW_INVALID: a subchart's value that is no map
 * Source: Helm 3.21 chartutil.ProcessDependenciesWithMerge. Pinned by
 * test/unit/chart/recipe_coalesce_test.c. */
int sw_plan_charts_build(const struct sw_recipe *recipe, struct sw_arena *arena,
                         struct sw_value values, struct sw_plan_chart **out,
                         struct sw_err *err) SW_CHECKED;

/** Coalesce: user values @dest (a map, changed) over @chart's defaults, and so on down the tree;
 * a subchart's values end up in its parent's under its name. Defaults are copied, so that templates
 * may change the result. A null in @dest deletes a default; @keep_nulls: it stays, instead.
 * @return 0 | SW_INVALID: a subchart's value that is no map
 * Source: Helm 3.21 chartutil.CoalesceValues and (@keep_nulls) MergeValues. Pinned by
 * test/unit/chart/recipe_coalesce_test.c. */
int sw_plan_chart_coalesce(const struct sw_plan_chart *chart, struct sw_arena *arena,
                           struct sw_map *dest, bool keep_nulls, struct sw_err *err) SW_CHECKED;

/** Merge map @src into @dst, which wins; a null in @dst deletes, or (@keep_nulls) stays. Values are
 * shared, not copied. Source: Helm 3.21 chartutil.CoalesceTables and MergeTables. */
void sw_coalesce_tables(struct sw_map *dst, struct sw_map *src, bool keep_nulls);
