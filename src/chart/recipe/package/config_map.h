#pragma once
/* config_map: ConfigMaps as recipes, and recipes as ConfigMaps. What is written here is read here:
 * the recipe that comes out renders as the one that went in. */
#include <stddef.h>

#include "base/base.h"
#include "chart/recipe/recipe.h"

struct json_object;

/** A recipe from a ConfigMap whose keys are files. Keys cannot hold '/', so those that are no file
 * of the chart's top (Chart.yaml, values.yaml, values.schema.json, README.md, ...) but end in
 * .yaml, .yml or .tpl, and NOTES.txt, are its templates/. Without Chart.yaml the ConfigMap's name
 * is the chart's, its version 0.0.0.
 * @return as sw_recipe_open */
int sw_recipe_from_config_map(const struct json_object *config_map,
                              const struct sw_recipe_opts *opts, struct sw_recipe **out,
                              struct sw_err *err) SW_CHECKED;

/** Its files alone, the caller's with their names and bytes. @return 0 | SW_INVALID */
int sw_recipe_config_map_files(const struct json_object *config_map, struct sw_recipe_file **files,
                               size_t *n, struct sw_err *err) SW_CHECKED;

enum { SW_CONFIG_MAP_MAX = 1024 * 1024 }; /* bytes of all values: the API server's limit */

/** The recipe as a ConfigMap's manifest. Where it is one chart of plain text files whose paths
 * follow from keys, each file is a key of `data`, to be read and edited in place. Else, since keys
 * cannot hold '/', it is a Helm repository as SRO's users write it: `index.yaml` in `data`, the
 * packaged chart in `binaryData`.
 * @name NULL: the recipe's; @ns NULL: none is written; @packed: a repository in any case, which is
 * all that SRO reads. @*out is the caller's.
 * @return 0 | SW_INVALID: over SW_CONFIG_MAP_MAX; names that no ConfigMap may have | as
 *         sw_recipe_pack()
 * Read by sw_recipe_from_config_map() and the controller's cm:// URLs. Pinned by
 * test/unit/chart/recipe_config_map_test.c and test/emulator/cli/tools_test.sh. */
int sw_recipe_to_config_map(const struct sw_recipe *recipe, const char *name, const char *ns,
                            bool packed, struct json_object **out, struct sw_err *err) SW_CHECKED;
