/* What a template function can use of the execution that calls it. */
#include <stdarg.h>

#include "chart/template/lang/exec.h"
#include "chart/template/lang/function.h"

int sw_call_fail(struct call *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    sw_err_vset(c->x->err, SW_INVALID, fmt, ap);
    va_end(ap);
    return SW_INVALID;
}

int sw_call_nil_deref(struct call *c)
{
    return sw_call_fail(c, "runtime error: invalid memory address or nil pointer dereference");
}

int sw_return_order(struct call *c, int order)
{
    switch (c->func->variant) {
    case SW_ORDER_LESS:
        return sw_return(c, sw_value_bool(order < 0));
    case SW_ORDER_GREATER:
        return sw_return(c, sw_value_bool(order > 0));
    case SW_ORDER_EQUAL:
        return sw_return(c, sw_value_bool(order == 0));
    default:
        return sw_return(c, sw_value_int(order < 0 ? -1 : order > 0));
    }
}

int sw_call_charge(struct call *c, uint64_t n)
{
    struct exec *x = c->x;
    if (x->fuel >= n) {
        x->fuel -= n;
        return 0;
    }
    x->fuel = 0;
    return sw_call_fail(c, "took more than its %llu steps", (unsigned long long)x->opts.fuel);
}

int sw_call_room(struct call *c, size_t bytes)
{
    if (sw_arena_has_room(c->arena, bytes))
        return 0;
    return sw_call_fail(c, "took more than its %zu MiB of memory",
                        c->x->opts.max_memory_bytes >> 20);
}

bool sw_call_equal(struct call *c, struct sw_value a, struct sw_value b)
{
    return sw_value_equal_steps(a, b,
                                &c->x->fuel); /* false when the fuel ends: the next step fails */
}

int sw_call_check_size(struct call *c, double bytes)
{
    size_t limit = c->x->opts.max_output_bytes;
    if (bytes <= (double)limit)
        return 0;
    return sw_call_fail(c, "the result would be larger than %zu bytes", limit);
}
