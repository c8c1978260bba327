/* A Module of Kernel Module Management, which becomes a recipe's values. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/recipe/kmm.h"
#include "data/json/json.h"
#include "data/yaml/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct sw_kmm_recipe recipe;
    SW_AUTO_JSON *values = NULL;
    SW_ERR(err);
    if (sw_kmm_read("fuzz", (const char *)data, len, NULL, &recipe, &err) < 0)
        return 0;
    if (sw_yaml_parse(recipe.values, strlen(recipe.values), NULL, &values, &err) < 0)
        abort(); /* its values are YAML again */
    sw_kmm_recipe_done(&recipe);
    return 0;
}
