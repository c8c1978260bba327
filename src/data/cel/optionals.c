/* Optional values. */
#include "data/cel/functions.h"

static struct cel_value of(struct cel_run *x, const struct cel_value *args, int variant)
{
    (void)variant;
    return sw_cel_optional(x, args);
}

static struct cel_value none(struct cel_run *x, const struct cel_value *args, int variant)
{
    (void)args;
    (void)variant;
    return sw_cel_optional(x, NULL);
}

static bool is_zero(struct cel_value v)
{
    switch (v.kind) {
    case CEL_NULL:
        return true;
    case CEL_BOOL:
        return !v.b;
    case CEL_INT:
    case CEL_UINT:
    case CEL_DURATION:
        return v.i == 0;
    case CEL_DOUBLE:
        return v.d == 0;
    case CEL_STRING:
    case CEL_BYTES:
        return v.s.len == 0;
    case CEL_LIST:
        return v.list->n == 0;
    case CEL_MAP:
        return v.map->n == 0;
    default:
        return false;
    }
}

static struct cel_value of_non_zero(struct cel_run *x, const struct cel_value *args, int variant)
{
    (void)variant;
    return sw_cel_optional(x, is_zero(args[0]) ? NULL : args);
}

static struct cel_value has_value(struct cel_run *x, const struct cel_value *args, int variant)
{
    (void)x;
    (void)variant;
    return sw_cel_bool(args[0].some != NULL);
}

static struct cel_value value(struct cel_run *x, const struct cel_value *args, int variant)
{
    (void)variant;
    return args[0].some ? *args[0].some : sw_cel_fail(x, "optional.none() dereference");
}

/* or(optional), orValue(value) */
static struct cel_value other(struct cel_run *x, const struct cel_value *args, int plain)
{
    (void)x;
    if (!args[0].some)
        return args[1];
    return plain ? *args[0].some : args[0];
}

const struct cel_function sw_cel_optionals[] = {
    { "optional.of", "A>OA", of, 0 },
    { "optional.none", ">O*", none, 0 },
    { "optional.ofNonZeroValue", "A>OA", of_non_zero, 0 },
    { "hasValue", "OA.>b", has_value, 0 },
    { "value", "OA.>A", value, 0 },
    { "or", "OA.OA>OA", other, 0 },
    { "orValue", "OA.A>A", other, 1 },
    { 0 },
};
