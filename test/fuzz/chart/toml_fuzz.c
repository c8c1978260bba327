/* Any bytes as TOML: values, or one error with its line. */
#include <stdlib.h>
#include <string.h>

#include "chart/template/toml/toml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sw_arena *arena = sw_arena_new();
    struct sw_value v;
    SW_ERR(err);
    if (sw_value_read_toml(arena, (const char *)data, size, &v, &err) < 0 &&
        strncmp(sw_err_text(&err), "toml: line ", strlen("toml: line ")) != 0)
        abort();
    sw_arena_free(arena);
    return 0;
}
