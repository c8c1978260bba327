/* --set and --set-json on anything. */
#include <stdlib.h>
#include <string.h>

#include <json-c/json_object.h>

#include "chart/recipe/recipe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const enum sw_values_syntax syntaxes[] = { SW_VALUES_TYPED, SW_VALUES_STRING,
                                                      SW_VALUES_JSON };
    if (len == 0 || len > 4096)
        return 0;
    SW_AUTO_CHARS *text = sw_strndup((const char *)data + 1, len - 1);
    SW_AUTO(sw_values) *values = sw_values_new();
    SW_ERR(err);
    if (sw_values_set(values, syntaxes[data[0] % SW_COUNT(syntaxes)], text, &err) < 0)
        return 0;
    (void)json_object_put(sw_values_json(values));
    return 0;
}
