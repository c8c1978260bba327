/* Conversions between types, type(), dyn(), size(). */
#include <math.h>
#include <string.h>

#include "data/cel/functions.h"
#include "data/cel/types.h"
#include "data/data.h"
#include "data/go/strconv.h"
#include "data/text/number.h"
#include "data/text/unicode.h"
#include "data/text/utf8.h"

static struct cel_value same(struct cel_run *x, const struct cel_value *args, int variant)
{
    (void)x;
    (void)variant;
    return args[0];
}

static struct cel_value range(struct cel_run *x, bool is_unsigned)
{
    return sw_cel_fail(x, "%s overflow", is_unsigned ? "unsigned integer" : "integer");
}

static struct cel_value to_int(struct cel_run *x, const struct cel_value *args, int variant)
{
    const struct cel_value v = args[0];
    int64_t i;
    (void)variant;
    switch (v.kind) {
    case CEL_UINT:
        return v.u > INT64_MAX ? range(x, false) : sw_cel_int((int64_t)v.u);
    case CEL_DOUBLE:
        return v.d > -9223372036854775808.0 && v.d < 9223372036854775808.0
                   ? sw_cel_int((int64_t)v.d)
                   : range(x, false);
    case CEL_STRING:
        if (sw_parse_int(v.s.p, v.s.len, 10, &i) != SW_PARSE_OK)
            return sw_cel_fail(x, "type conversion error from 'string' to 'int'");
        return sw_cel_int(i);
    default: /* an int, or a timestamp's seconds */
        return sw_cel_int(v.i);
    }
}

static struct cel_value to_uint(struct cel_run *x, const struct cel_value *args, int variant)
{
    const struct cel_value v = args[0];
    struct cel_value out = { .kind = CEL_UINT };
    (void)variant;
    switch (v.kind) {
    case CEL_INT:
        out.u = (uint64_t)v.i;
        return v.i < 0 ? range(x, true) : out;
    case CEL_DOUBLE:
        if (!(v.d >= 0 && v.d < 18446744073709551616.0))
            return range(x, true);
        out.u = (uint64_t)v.d;
        return out;
    case CEL_STRING:
        if (sw_parse_uint(v.s.p, v.s.len, 10, &out.u) != SW_PARSE_OK)
            return sw_cel_fail(x, "type conversion error from 'string' to 'uint'");
        return out;
    default:
        return v;
    }
}

static struct cel_value to_double(struct cel_run *x, const struct cel_value *args, int variant)
{
    const struct cel_value v = args[0];
    struct cel_value out = { .kind = CEL_DOUBLE };
    (void)variant;
    if (v.kind == CEL_STRING && sw_parse_float(v.s.p, v.s.len, &out.d) != SW_PARSE_OK)
        return sw_cel_fail(x, "type conversion error from 'string' to 'double'");
    if (v.kind != CEL_STRING)
        out.d = v.kind == CEL_INT ? (double)v.i : v.kind == CEL_UINT ? (double)v.u : v.d;
    return out;
}

static struct cel_value to_bool(struct cel_run *x, const struct cel_value *args, int variant)
{
    static const char *const truths[] = { "1", "t", "T", "TRUE", "true", "True" };
    static const char *const lies[] = { "0", "f", "F", "FALSE", "false", "False" };
    const char *text = sw_cel_chars(x, args[0]);
    (void)variant;
    for (size_t i = 0; i < SW_COUNT(truths); i++)
        if (sw_streq(text, truths[i]) || sw_streq(text, lies[i]))
            return sw_cel_bool(sw_streq(text, truths[i]));
    return sw_cel_fail(x, "type conversion error from 'string' to 'bool'");
}

static struct cel_value to_bytes(struct cel_run *x, const struct cel_value *args, int variant)
{
    struct cel_value out = args[0];
    (void)x;
    (void)variant;
    out.kind = CEL_BYTES;
    return out;
}

static const char *number_text(struct cel_run *x, double d)
{
    char buf[SW_FLOAT_LEN];
    (void)sw_float_go(d, 'g', 64, buf);
    return sw_arena_strdup(x->arena, buf);
}

struct cel_value sw_cel_to_string(struct cel_run *x, const struct cel_value *args, int variant)
{
    const struct cel_value v = args[0];
    char quantity[64];
    (void)variant;
    switch (v.kind) {
    case CEL_STRING:
        return v;
    case CEL_NULL:
        return sw_cel_static("null");
    case CEL_BOOL:
        return sw_cel_static(v.b ? "true" : "false");
    case CEL_INT:
        return sw_cel_static(sw_arena_printf(x->arena, "%lld", (long long)v.i));
    case CEL_UINT:
        return sw_cel_static(sw_arena_printf(x->arena, "%llu", (unsigned long long)v.u));
    case CEL_DOUBLE:
        return sw_cel_static(number_text(x, v.d));
    case CEL_BYTES: {
        struct cel_value out = v;
        out.kind = CEL_STRING;
        return sw_utf8_valid(v.s.p, v.s.len)
                   ? out
                   : sw_cel_fail(x, "invalid UTF-8 in bytes, cannot convert to string");
    }
    case CEL_TYPE:
        return sw_cel_static(sw_cel_kind_name(v.type->kind));
    case CEL_TIMESTAMP:
    case CEL_DURATION:
        return sw_cel_time_text(x, v);
    case CEL_IP:
    case CEL_CIDR:
        return sw_cel_net_text(x, v);
    case CEL_QUANTITY:
        return sw_cel_static(sw_arena_strdup(x->arena, sw_quantity_text(v.quantity, quantity)));
    case CEL_SEMVER: {
        SW_AUTO_CHARS *text = sw_semver_text(v.semver);
        return sw_cel_static(sw_arena_strdup(x->arena, text));
    }
    default:
        return sw_cel_fail(x, "type conversion error from '%s' to 'string'",
                           sw_cel_kind_name(v.kind));
    }
}

static struct cel_value type_of(struct cel_run *x, const struct cel_value *args, int variant)
{
    (void)x;
    (void)variant;
    return (struct cel_value){ .kind = CEL_TYPE, .type = sw_cel_type(args[0].kind) };
}

static struct cel_value size_of(struct cel_run *x, const struct cel_value *args, int variant)
{
    const struct cel_value v = args[0];
    (void)variant;
    (void)sw_cel_charge(x, v.kind == CEL_STRING ? v.s.len / 10 : 0);
    return sw_cel_int(v.kind == CEL_STRING  ? (int64_t)sw_rune_count(v.s.p, v.s.len)
                      : v.kind == CEL_BYTES ? (int64_t)v.s.len
                      : v.kind == CEL_LIST  ? (int64_t)v.list->n
                                            : (int64_t)v.map->n);
}

const struct cel_function sw_cel_conversions[] = {
    { "int", "i>i", same, 0 },
    { "int", "u>i", to_int, 0 },
    { "int", "d>i", to_int, 0 },
    { "int", "s>i", to_int, 0 },
    { "int", "T>i", to_int, 0 },
    { "uint", "u>u", same, 0 },
    { "uint", "i>u", to_uint, 0 },
    { "uint", "d>u", to_uint, 0 },
    { "uint", "s>u", to_uint, 0 },
    { "double", "d>d", same, 0 },
    { "double", "i>d", to_double, 0 },
    { "double", "u>d", to_double, 0 },
    { "double", "s>d", to_double, 0 },
    { "bool", "b>b", same, 0 },
    { "bool", "s>b", to_bool, 0 },
    { "bytes", "y>y", same, 0 },
    { "bytes", "s>y", to_bytes, 0 },
    { "string", "s>s", same, 0 },
    { "string", "b>s", sw_cel_to_string, 0 },
    { "string", "i>s", sw_cel_to_string, 0 },
    { "string", "u>s", sw_cel_to_string, 0 },
    { "string", "d>s", sw_cel_to_string, 0 },
    { "string", "y>s", sw_cel_to_string, 0 },
    { "string", "T>s", sw_cel_to_string, 0 },
    { "string", "D>s", sw_cel_to_string, 0 },
    { "string", "P>s", sw_cel_to_string, 0 },
    { "string", "C>s", sw_cel_to_string, 0 },
    { "dyn", "A>*", same, 0 },
    { "type", "A>t", type_of, 0 },
    { "size", "s>i", size_of, 0 },
    { "size", "y>i", size_of, 0 },
    { "size", "LA>i", size_of, 0 },
    { "size", "MAB>i", size_of, 0 },
    { "size", "s.>i", size_of, 0 },
    { "size", "y.>i", size_of, 0 },
    { "size", "LA.>i", size_of, 0 },
    { "size", "MAB.>i", size_of, 0 },
    { 0 },
};
