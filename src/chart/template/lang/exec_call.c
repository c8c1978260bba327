/* What a template function can ask of the execution that calls it. */
#include <stdarg.h>

#include "chart/template/lang/exec.h"
#include "chart/template/lang/function.h"

int sw_call_fail(struct call *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *what = sw_vprintf(fmt, ap); /* may quote the present text of the error */
    va_end(ap);
    return sw_err_set(c->x->err, SW_INVALID, "%s", what);
}

int sw_call_nil_deref(struct call *c)
{
    return sw_call_fail(c, "runtime error: invalid memory address or nil pointer dereference");
}

int sw_return_text(struct call *c, size_t mark)
{
    size_t len;
    const char *s = sw_text_take(c->text, mark, c->arena, &len);
    return sw_return(c, sw_value_text(s, len));
}

int sw_call_charge(struct call *c, uint64_t n)
{
    struct exec *x = c->x;
    if (x->fuel >= n) {
        x->fuel -= n;
        return 0;
    }
    x->fuel = 0;
    return sw_call_fail(c, "the template takes more than %llu steps",
                        (unsigned long long)x->opts.fuel);
}

bool sw_call_equal(struct call *c, struct sw_value a, struct sw_value b)
{
    return sw_value_equal_steps(a, b, &c->x->fuel); /* without fuel: false, and the call's end */
}

int sw_call_check_size(struct call *c, double bytes)
{
    size_t limit = c->x->opts.max_output_bytes;
    if (bytes <= (double)limit)
        return 0;
    return sw_call_fail(c, "the result would be larger than %zu bytes", limit);
}
