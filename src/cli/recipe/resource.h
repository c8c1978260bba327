#pragma once
/* resource: the SpecialResource that `run RECIPE` applies, made of the recipe's own and of the
 * command line. */
#include "chart/recipe/recipe.h"
#include "cli/command/cli.h"
#include "cli/recipe/source_flags.h"

struct json_object;

/** The input of sw_resource_make(); borrowed for the call. */
struct sw_resource_opts {
    const char *recipe;                    /* folder, archive, URL, or a chart of source->repo */
    const struct sw_source_flags *source;  /* NULL: none */
    const struct sw_connect_opts *connect; /* the cluster for cm:// URLs; NULL: as kubectl's */
    const char *name, *ns;                 /* NULL: the base's */
    struct sw_values_flags values;
};

/** Check that the recipe can be read, and make the resource:
 *   - the base is `<name>.yaml` of kind SpecialResource in the chart's folder, where there is one
 *   - values files and --set go to spec.set; a `specialresource.spec` found in them is merged into
 *     the resource's spec instead
 *   - the chart's place becomes the recipe's, its name and version the chart's
 * @return 0 | SW_NOTFOUND, SW_FORBIDDEN, SW_INVALID: a file, a line, a field. Pinned by
 * test/unit/cli/cli_resource_test.c. */
int sw_resource_make(const struct sw_resource_opts *opts, struct json_object **out,
                     struct sw_err *err) SW_CHECKED;
