/* Helm 4's functions on durations, and the methods of time.Duration. */
#include <string.h>

#include "chart/template/funcs/funcs.h"
#include "data/go/gotime.h"
#include "data/go/strconv.h"

enum { SECOND = 1000000000 };

/* A float of nanoseconds as Go converts it to an int64. */
static int64_t from_seconds(double seconds)
{
    double ns = seconds * SECOND;
    return ns >= -9223372036854775808.0 && ns < 9223372036854775808.0 ? (int64_t)ns : INT64_MIN;
}

/* A duration; "1h30m"; a number, also as text: seconds. */
static int read_duration(struct sw_value v, int64_t *ns, struct sw_err *err)
{
    static const char blanks[] = " \t\n\v\f\r";
    struct sw_value s = v; /* text without white space around it */
    double seconds;
    if (v.type == SW_T_DURATION) {
        *ns = v.as.i;
        return 0;
    }
    switch (sw_kind(v)) {
    case SW_K_STRING:
        for (; s.len > 0 && s.as.s[0] && strchr(blanks, s.as.s[0]); s.len--)
            s.as.s++;
        while (s.len > 0 && s.as.s[s.len - 1] && strchr(blanks, s.as.s[s.len - 1]))
            s.len--;
        if (s.len == 0)
            return sw_err_set(err, SW_INVALID, "empty duration");
        if (sw_duration_parse(s.as.s, s.len, ns, NULL) == 0)
            return 0;
        if (sw_parse_float(s.as.s, s.len, &seconds) != SW_PARSE_OK) {
            SW_AUTO_CHARS *quoted = sw_quote_dup(v.as.s, v.len);
            return sw_err_set(err, SW_INVALID, "could not parse duration %s", quoted);
        }
        *ns = from_seconds(seconds);
        return 0;
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

/* The duration: the receiver of a method, else the first argument. @return false: it is not valid,
 * and @ns is 0 */
static bool operand(struct call *c, int64_t *ns)
{
    *ns = 0;
    return read_duration(c->self.type == SW_T_DURATION ? c->self : c->args[0], ns, NULL) == 0;
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
    unsigned letter = c->func->variant;
    int64_t ns, unit = letter == 's' ? SECOND : letter == 'm' ? 60ll * SECOND : 3600ll * SECOND;
    (void)operand(c, &ns);
    double f = (double)(ns / unit) + (double)(ns % unit) / ((double)unit);
    if (letter == 'd' || letter == 'w')
        f /= 24;
    return sw_return(c, sw_value_float(letter == 'w' ? f / 7 : f));
}

/* In units of so many powers of ten of nanoseconds. */
static int fn_duration_int(struct call *c)
{
    int64_t ns, unit = 1;
    for (unsigned i = 0; i < c->func->variant; i++)
        unit *= 10;
    (void)operand(c, &ns);
    return sw_return(c, sw_value_int64(ns / unit));
}

enum { TRUNCATE, ROUND };

static int fn_duration_multiple(struct call *c)
{
    int64_t ns, m;
    if (operand(c, &ns) && read_duration(c->args[c->n - 1], &m, NULL) == 0)
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

static int fn_duration_abs(struct call *c)
{
    int64_t ns = c->self.as.i;
    return return_duration(c, ns == INT64_MIN ? INT64_MAX : ns < 0 ? -ns : ns);
}

const struct func sw_methods_duration[] = {
    { "String", sw_method_string, "", "such as 1h2m3s", 0, 0 },
    { "Hours", fn_duration_float, "", "in hours", 'h', 0 },
    { "Minutes", fn_duration_float, "", "in minutes", 'm', 0 },
    { "Seconds", fn_duration_float, "", "in seconds", 's', 0 },
    { "Milliseconds", fn_duration_int, "", "in milliseconds", 6, 0 },
    { "Microseconds", fn_duration_int, "", "in microseconds", 3, 0 },
    { "Nanoseconds", fn_duration_int, "", "in nanoseconds", 0, 0 },
    { "Abs", fn_duration_abs, "", "without its sign", 0, 0 },
    { "Truncate", fn_duration_multiple, "d", "down to a multiple", TRUNCATE, 0 },
    { "Round", fn_duration_multiple, "d", "to the nearest multiple", ROUND, 0 },
    { 0 },
};
