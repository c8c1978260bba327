#include "template/toml.h"

int sw_value_write_toml(SW_UNUSED struct text *out, SW_UNUSED struct sw_value v, struct sw_err *err)
{
    return sw_err_set(err, SW_INVALID, "not yet");
}

int sw_value_read_toml(SW_UNUSED struct sw_arena *arena, SW_UNUSED const char *text,
                       SW_UNUSED size_t len, SW_UNUSED struct sw_value *out, struct sw_err *err)
{
    return sw_err_set(err, SW_INVALID, "not yet");
}
