/* Helm 4's functions on durations. */
#include <stdlib.h>
#include <string.h>

#include "chart/template/funcs/funcs.h"
#include "chart/template/go/gotime.h"
#include "chart/template/go/strconv.h"

enum { SECOND = 1000000000 };

/* A float of nanoseconds as Go converts it to an int64. */
static int64_t from_seconds(double seconds)
{
    double ns = seconds * SECOND;
    return ns >= -9223372036854775808.0 && ns < 9223372036854775808.0 ? (int64_t)ns : INT64_MIN;
}

static int read_text(struct sw_value text, int64_t *ns, struct sw_err *err)
{
    struct sw_value s = text; /* without white space around it */
    double seconds;
    SW_ERR(ignored);
    for (; s.len > 0 && s.as.s[0] && strchr(" \t\n\v\f\r", s.as.s[0]); s.len--)
        s.as.s++;
    while (s.len > 0 && s.as.s[s.len - 1] && strchr(" \t\n\v\f\r", s.as.s[s.len - 1]))
        s.len--;
    if (s.len == 0)
        return sw_err_set(err, SW_INVALID, "empty duration");
    if (sw_duration_parse(s.as.s, s.len, ns, &ignored) == 0)
        return 0;
    if (sw_parse_float(s.as.s, s.len, &seconds) == SW_PARSE_OK) {
        *ns = from_seconds(seconds);
        return 0;
    }
    struct text quoted = { .limit = 1 << 16 };
    sw_quote(&quoted, text.as.s, text.len, 0);
    int rc = sw_err_set(err, SW_INVALID, "could not parse duration %.*s", (int)quoted.len,
                        quoted.p);
    free(quoted.p);
    return rc;
}

/* A duration; "1h30m"; a number, also as text: seconds. */
static int read_duration(struct sw_value v, int64_t *ns, struct sw_err *err)
{
    if (v.type == SW_T_DURATION) {
        *ns = v.as.i;
        return 0;
    }
    switch (sw_kind(v)) {
    case SW_K_STRING:
        return read_text(v, ns, err);
    case SW_K_INVALID:
        return sw_err_set(err, SW_INVALID, "invalid duration");
    case SW_K_UINT:
        if (v.as.u > INT64_MAX)
            return sw_err_set(err, SW_INVALID, "duration seconds overflow: %llu",
                              (unsigned long long)v.as.u);
        *ns = (int64_t)(v.as.u * SECOND);
        return 0;
    case SW_K_INT:
        *ns = (int64_t)(v.as.u * SECOND); /* Go's multiplication wraps */
        return 0;
    case SW_K_FLOAT:
        *ns = from_seconds(v.as.f);
        return 0;
    default:
        return sw_err_set(err, SW_INVALID, "unsupported duration type %s", sw_value_type_name(v));
    }
}

/* As read_duration(), with 0 for an invalid duration. @return whether it is valid */
static bool lenient(struct sw_value v, int64_t *ns)
{
    SW_ERR(ignored);
    *ns = 0;
    return read_duration(v, ns, &ignored) == 0;
}

static int return_duration(struct call *c, int64_t ns)
{
    return sw_return(c, (struct sw_value){ .type = SW_T_DURATION, .as.i = ns });
}

static int fn_must_to_duration(struct call *c)
{
    int64_t ns;
    SW_ERR(err);
    if (read_duration(c->args[0], &ns, &err) < 0)
        return sw_call_fail(c, "%s", sw_err_text(&err));
    return return_duration(c, ns);
}

/* A whole part and a fraction, as Go computes them; days and weeks are computed from hours. */
static int fn_duration_float(struct call *c)
{
    int64_t ns, unit = SECOND;
    double by = 1;
    switch (c->func->variant) {
    case 'm':
        unit *= 60;
        break;
    case 'w':
        by = 7;
        /* fall through */
    case 'd':
    case 'h':
        unit *= 3600;
        break;
    default:
        break;
    }
    (void)lenient(c->args[0], &ns);
    double f = (double)(ns / unit) + (double)(ns % unit) / ((double)unit);
    if (c->func->variant == 'd' || c->func->variant == 'w')
        f = f / 24 / by;
    return sw_return(c, sw_value_float(f));
}

/* In units of so many powers of ten of nanoseconds. */
static int fn_duration_int(struct call *c)
{
    int64_t ns, unit = 1;
    for (unsigned i = 0; i < c->func->variant; i++)
        unit *= 10;
    (void)lenient(c->args[0], &ns);
    return sw_return(c, sw_value_int64(ns / unit));
}

enum { TRUNCATE, ROUND };

static int fn_duration_multiple(struct call *c)
{
    int64_t ns, m;
    if (lenient(c->args[0], &ns) && lenient(c->args[1], &m))
        ns = sw_duration_multiple(ns, m, c->func->variant == ROUND);
    return return_duration(c, ns);
}

const struct func sw_funcs_durations[] = {
    { "mustToDuration", fn_must_to_duration, "v", "a duration out of 1h2m3s or seconds", 0, 0 },
    { "durationSeconds", fn_duration_float, "v", "a duration in seconds", 's', 0 },
    { "durationMinutes", fn_duration_float, "v", "a duration in minutes", 'm', 0 },
    { "durationHours", fn_duration_float, "v", "a duration in hours", 'h', 0 },
    { "durationDays", fn_duration_float, "v", "a duration in days", 'd', 0 },
    { "durationWeeks", fn_duration_float, "v", "a duration in weeks", 'w', 0 },
    { "durationMilliseconds", fn_duration_int, "v", "a duration in milliseconds", 6, 0 },
    { "durationMicroseconds", fn_duration_int, "v", "a duration in microseconds", 3, 0 },
    { "durationNanoseconds", fn_duration_int, "v", "a duration in nanoseconds", 0, 0 },
    { "durationRoundTo", fn_duration_multiple, "vv", "to the nearest multiple of another", ROUND,
      0 },
    { "durationTruncateTo", fn_duration_multiple, "vv", "down to a multiple of another", TRUNCATE,
      0 },
    { 0 },
};
