#include "base/base.h"

#include <stdlib.h>

static const char *const code_names[] = {
    "ok",      "pending",   "conflict",  "gone",     "unavailable",
    "invalid", "forbidden", "not found", "canceled",
};

const char *sw_code_name(int code)
{
    size_t i = (size_t) - (int64_t)code;
    return code <= 0 && i < SW_COUNT(code_names) ? code_names[i] : "unknown";
}

int sw_err_vset(struct sw_err *err, int code, const char *fmt, va_list ap)
{
    if (!err)
        return code;
    char *text = sw_vprintf(fmt, ap); /* before the old text goes: it may be an argument */
    free(err->text);
    *err = (struct sw_err){ .code = code, .text = text };
    return code;
}

int sw_err_set(struct sw_err *err, int code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    sw_err_vset(err, code, fmt, ap);
    va_end(ap);
    return code;
}

int sw_err_wrap(struct sw_err *err, int code, const char *fmt, ...)
{
    if (!err)
        return code;
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *where = sw_vprintf(fmt, ap);
    va_end(ap);
    return sw_err_set(err, code, "%s: %s", where, err->text ? err->text : sw_code_name(code));
}

int sw_err_move(struct sw_err *to, struct sw_err *from)
{
    if (!from)
        return SW_OK;
    int code = from->code;
    if (to) {
        sw_err_done(to);
        *to = *from;
        *from = (struct sw_err){ 0 };
    } else {
        sw_err_done(from);
    }
    return code;
}

const char *sw_err_text(const struct sw_err *err)
{
    return err->text ? err->text : sw_code_name(err->code);
}

void sw_err_done(struct sw_err *err)
{
    free(err->text);
    *err = (struct sw_err){ 0 };
}
