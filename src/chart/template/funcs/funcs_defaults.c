/* sprig's functions for defaults and choices. */
#include "chart/template/funcs/funcs.h"

static int fn_default(struct call *c)
{
    return sw_return(c, c->n < 2 || sw_value_is_empty(c->args[1]) ? c->args[0] : c->args[1]);
}

static int fn_empty(struct call *c)
{
    return sw_return(c, sw_value_bool(sw_value_is_empty(c->args[0])));
}

static int fn_coalesce(struct call *c)
{
    for (size_t i = 0; i < c->n; i++) {
        if (!sw_value_is_empty(c->args[i]))
            return sw_return(c, c->args[i]);
    }
    return sw_return(c, sw_value_nil());
}

enum { ANY, ALL };

/* any: whether one argument is not empty; all: whether each is not. */
static int fn_any(struct call *c)
{
    bool all = c->func->variant == ALL, result = all;
    for (size_t i = 0; i < c->n && result == all; i++)
        result = !sw_value_is_empty(c->args[i]);
    return sw_return(c, sw_value_bool(result));
}

static int fn_ternary(struct call *c)
{
    return sw_return(c, c->args[2].as.b ? c->args[0] : c->args[1]);
}

const struct func sw_funcs_defaults[] = {
    { "default", fn_default, "vv*", "the second, or the first where that is empty", 0, 0 },
    { "empty", fn_empty, "v", "whether it is nil, 0, false or of no length", 0, 0 },
    { "coalesce", fn_coalesce, "v*", "the first that is not empty, or nil", 0, 0 },
    { "all", fn_any, "v*", "whether none is empty", ALL, 0 },
    { "any", fn_any, "v*", "whether one is not empty", ANY, 0 },
    { "ternary", fn_ternary, "vvb", "the first where the third is true, else the second", 0, 0 },
    { 0 },
};
