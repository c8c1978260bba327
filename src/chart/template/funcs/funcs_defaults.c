/* sprig's functions for defaults and choices, and for JSON. */
#include "chart/template/funcs/cast.h"
#include "chart/template/funcs/funcs.h"
#include "chart/template/value/value_text.h"

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

/* ---- JSON ---- */

enum { MUST = 0x100 }; /* besides the style, in a row's variant */

static int fn_write_json(struct call *c)
{
    size_t mark;
    SW_ERR(err);
    struct text *t = sw_call_text(c, &mark);
    if (sw_value_write_json(t, c->args[0], c->func->variant & 0xFF, &err) < 0) {
        t->len = mark;
        if (c->func->variant & MUST)
            return sw_call_fail(c, "%s", sw_err_text(&err));
    }
    return sw_return_text(c, mark);
}

static int fn_must_from_json(struct call *c)
{
    struct sw_value v;
    SW_ERR(err);
    int rc = sw_call_charge(c, c->args[0].len / 16);
    if (rc < 0)
        return rc;
    if (sw_value_read_json(c->arena, c->args[0].as.s, c->args[0].len, &v, &err) < 0)
        return sw_call_fail(c, "%s", sw_err_text(&err));
    return sw_return(c, v);
}

const struct func sw_funcs_json[] = {
    { "toPrettyJson", fn_write_json, "v", "the value as JSON in lines",
      SW_VALUE_JSON_HTML | SW_VALUE_JSON_PRETTY, 0 },
    { "toRawJson", fn_write_json, "v", "the value as JSON, <, > and & as they are", 0, 0 },
    { "mustToJson", fn_write_json, "v", "as toJson, or an error", SW_VALUE_JSON_HTML | MUST, 0 },
    { "mustToPrettyJson", fn_write_json, "v", "as toPrettyJson, or an error",
      SW_VALUE_JSON_HTML | SW_VALUE_JSON_PRETTY | MUST, 0 },
    { "mustToRawJson", fn_write_json, "v", "as toRawJson, or an error", MUST, 0 },
    { "mustFromJson", fn_must_from_json, "s", "a value out of JSON, or an error", 0, 0 },
    { 0 },
};
