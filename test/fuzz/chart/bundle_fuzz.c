/* Bundles: what a cache or another process gives as a recipe. */
#include "chart/recipe/recipe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct sw_recipe_opts opts = { .max_bytes = 1 << 20, .max_files = 100 };
    SW_AUTO(sw_recipe) *recipe = NULL;
    SW_ERR(err);
    if (sw_recipe_from_bundle("fuzz", data, len, &opts, &recipe, &err) < 0)
        return 0;
    return 0;
}
