#include "chart/template/funcs/cast.h"

#include "chart/template/value/print.h"
#include "data/go/strconv.h"

/* The length of "12.00" without its fraction of zeros, as spf13/cast cuts it. */
static size_t without_zero_fraction(const char *s, size_t len)
{
    size_t n = len;
    while (n > 0 && s[n - 1] == '0')
        n--;
    return n > 0 && n < len && s[n - 1] == '.' ? n - 1 : len;
}

int64_t sw_cast_int64(struct sw_value v)
{
    int64_t i = 0;
    switch (sw_kind(v)) {
    case SW_K_STRING:
        return sw_parse_int(v.as.s, without_zero_fraction(v.as.s, v.len), 0, &i) == SW_PARSE_OK ? i
                                                                                                : 0;
    case SW_K_INT:
        return v.as.i;
    case SW_K_UINT:
        return v.as.u > INT64_MAX ? INT64_MAX : v.as.i;
    case SW_K_FLOAT:
        /* what amd64 makes of floats that no int64 holds, NaN among them */
        if (!(v.as.f >= -9223372036854775808.0 && v.as.f < 9223372036854775808.0))
            return INT64_MIN;
        return (int64_t)v.as.f;
    case SW_K_BOOL:
        return v.as.b;
    default:
        return 0;
    }
}

double sw_cast_float64(struct sw_value v)
{
    double f = 0;
    switch (sw_kind(v)) {
    case SW_K_STRING:
        return sw_parse_float(v.as.s, v.len, &f) == SW_PARSE_OK ? f : 0;
    case SW_K_INT:
        return (double)v.as.i;
    case SW_K_UINT:
        return (double)v.as.u;
    case SW_K_FLOAT:
        return v.as.f;
    case SW_K_BOOL:
        return v.as.b;
    default:
        return 0;
    }
}

struct sw_value sw_cast_string(struct call *c, struct sw_value v)
{
    if (v.type == SW_T_STRING)
        return v;
    if (v.type == SW_T_BYTES)
        return sw_value_text(v.as.s ? v.as.s : "", v.len);
    sw_print_value(c->text, v);
    return sw_call_take(c);
}

struct sw_value sw_cast_strings(struct call *c, struct sw_value v)
{
    if (v.type == SW_T_STRINGS)
        return v;
    bool is_list = sw_kind(v) == SW_K_SLICE;
    size_t n = is_list ? sw_value_len(v) : 1;
    struct sw_list *list = sw_list_new(c->arena, n);
    for (size_t i = 0; i < n; i++) {
        struct sw_value elem = is_list ? sw_value_at(v, i) : v;
        if (!sw_value_is_nil(elem))
            sw_list_add(list, sw_cast_string(c, elem));
    }
    return sw_value_typed_list(SW_T_STRINGS, list);
}
