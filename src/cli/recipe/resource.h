#pragma once
/* resource: the SpecialResource that `slipway run` applies, made from the recipe and the command
 * line. */
#include "chart/recipe/recipe.h"
#include "cli/recipe/source_flags.h"

struct json_object;

/** The input of sw_resource_make(); borrowed for the call. */
struct sw_resource_opts {
    const char *recipe;                    /* folder, archive, URL, or a chart of source->repo */
    const struct sw_source_flags *source;  /* NULL: none */
    const struct sw_connect_opts *connect; /* the cluster for cm:// URLs; NULL: as kubectl's */
    const char *name, *ns;                 /* NULL: the base's */
    struct sw_values_flags values;
    const char *command;     /* warns on stderr of @values that nothing reads; NULL: nobody does */
    bool ignore_constraints; /* what the recipe asks of the cluster is told only */
    const char *allow_upgrades; /* components, see SW_ANN_UPGRADES; borrowed; NULL: none */
    /** Where to put the newest release of the emulator that the recipe runs on ("1.34"; the
     * caller's); NULL: not wanted. Untouched where that is the default, or none. */
    char **kube_version;
    /** {kind: bool}, borrowed; NULL: not wanted. Those that a file of the recipe names become true.
     */
    struct json_object *kinds;
};

/** The resource or module of @kind that the chart of @recipe has for itself, in <chart>.yaml or
 * <folder>.yaml, the caller's; NULL if there is none. @path: of the recipe
 * @return 0 | SW_INVALID: the file, and the line */
int sw_resource_base(const struct sw_recipe *recipe, const char *path, const char *kind,
                     struct json_object **out, struct sw_err *err) SW_CHECKED;
/** Read the recipe and make the resource, the caller's:
 *   - the base is the SpecialResource in `<name>.yaml` of the chart's folder, if there is one
 *   - values files and --set go to spec.set; a `specialresource.spec` in them is merged into the
 *     resource's spec instead
 *   - spec.chart gets the place of the recipe, and the chart's name and version
 * @return 0 | SW_NOTFOUND, SW_FORBIDDEN, SW_INVALID: a file, a line, a field. Pinned by
 * test/unit/cli/cli_resource_test.c. */
int sw_resource_make(const struct sw_resource_opts *opts, struct json_object **out,
                     struct sw_err *err) SW_CHECKED;
