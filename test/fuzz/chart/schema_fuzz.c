/* A schema and a value, parted by a line end. */
#include <string.h>

#include "chart/recipe/schema/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    const char *text = (const char *)data, *end = memchr(data, '\n', len);
    if (!end)
        return 0;
    SW_AUTO(sw_schema) *schema = NULL;
    SW_AUTO(sw_arena) *arena = sw_arena_new();
    struct sw_value value;
    SW_ERR(err);
    if (sw_schema_new("s", text, (size_t)(end - text), &schema, &err) == 0 &&
        sw_value_from_yaml(arena, "v", end + 1, len - (size_t)(end + 1 - text), &value, &err) ==
            0 &&
        sw_schema_check(schema, value, &err) < 0)
        return 0;
    return 0;
}
