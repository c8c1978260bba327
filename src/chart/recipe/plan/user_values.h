#pragma once
/* user_values: what users set, as other files of this module see it. */
#include "chart/recipe/recipe.h"
#include "chart/template/value/value.h"

/** See recipe.h. */
struct sw_values {
    struct sw_arena *arena; /* owned; all values are in it */
    struct sw_map *map;
};
