#pragma once
/* user_values: what users set, as other files of this module see it. */
#include "chart/recipe/recipe.h"
#include "chart/template/value/value.h"

struct sw_values {
    struct sw_arena *arena;
    struct sw_map *map;
};

/** Merge @src into @dst: maps are merged, all else of @src replaces. Values are shared.
 * Source: Helm's cli/values mergeMaps. */
void sw_values_merge(struct sw_map *dst, struct sw_map *src);
