/* sprig's dates and durations. */

#include "chart/template/funcs/funcs.h"
#include "chart/template/lang/exec.h"
#include "chart/template/lang/time_object.h"
#include "chart/template/value/print.h"
#include "data/go/strconv.h"

/* ---- dates ---- */

static struct sw_gotime now(struct call *c)
{
    struct sw_gotime epoch = { 0 }, t = sw_gotime_add(epoch, c->x->opts.now_ns);
    t.zone = sw_zone_local(c->arena);
    return t;
}

static int fn_now(struct call *c)
{
    return sw_return_time(c, now(c));
}

/* The time of an argument: a time, or seconds since 1970; now for anything else. */
static struct sw_gotime any_time(struct call *c, struct sw_value v)
{
    if (sw_value_is_time(v))
        return sw_gotime_of(v);
    if (v.type == SW_T_INT || v.type == SW_T_INT64 || v.type == SW_T_INT32)
        return (struct sw_gotime){ .sec = v.as.i, .zone = sw_zone_local(c->arena) };
    return now(c);
}

enum { HTML = 1, IN_ZONE = 2 };

/* [LAYOUT] DATE [ZONE] */
static int fn_date(struct call *c)
{
    bool html = c->func->variant & HTML, in_zone = c->func->variant & IN_ZONE;
    struct sw_value layout = html ? sw_value_cstr("2006-01-02") : c->args[0];
    const struct sw_value *date = &c->args[html ? 0 : 1];
    struct sw_value zone = in_zone ? date[1] : sw_value_cstr("Local");
    struct sw_gotime t = any_time(c, *date);
    if (sw_zone_load(c->arena, zone.as.s, zone.len, &t.zone) < 0)
        t.zone = NULL;
    sw_gotime_format(c->text, t, layout.as.s, layout.len);
    return sw_return_text(c);
}

enum { LENIENT, MUST };

static int fn_date_modify(struct call *c)
{
    int64_t ns;
    SW_ERR(err);
    if (sw_duration_parse(c->args[0].as.s, c->args[0].len, &ns, &err) == 0)
        return sw_return_time(c, sw_gotime_add(sw_gotime_of(c->args[1]), ns));
    if (c->func->variant == MUST)
        return sw_call_fail(c, "%s", sw_err_text(&err));
    return sw_return(c, c->args[1]);
}

static int fn_to_date(struct call *c)
{
    struct sw_value layout = c->args[0], s = c->args[1];
    struct sw_gotime t = { .sec = SW_GOTIME_ZERO_SEC };
    SW_ERR(err);
    int rc = sw_gotime_parse(c->arena, layout.as.s, layout.len, s.as.s, s.len,
                             sw_zone_local(c->arena), &t, &err);
    if (rc < 0 && c->func->variant == MUST)
        return sw_call_fail(c, "%s", sw_err_text(&err));
    return sw_return_time(c, t);
}

static int return_duration(struct call *c, int64_t ns)
{
    struct sw_value v = { .type = SW_T_DURATION, .as.i = ns };
    sw_value_stringer(c->text, v);
    return sw_return_text(c);
}

/* How long ago, in whole seconds. */
static int fn_ago(struct call *c)
{
    int64_t ns = sw_gotime_sub(now(c), any_time(c, c->args[0]));
    return return_duration(c, sw_duration_multiple(ns, 1000000000, true));
}

static int fn_unix_epoch(struct call *c)
{
    sw_text_printf(c->text, "%lld", (long long)sw_gotime_of(c->args[0]).sec);
    return sw_return_text(c);
}

/* Seconds, as an int64 or as text. */
static int fn_duration(struct call *c)
{
    int64_t n = 0;
    struct sw_value v = c->args[0];
    if (v.type == SW_T_INT64)
        n = v.as.i;
    else if (v.type == SW_T_STRING)
        sw_parse_int(v.as.s, v.len, 10, &n);
    return return_duration(c, (int64_t)((uint64_t)n * 1000000000));
}

/* Nanoseconds in the largest unit of which they are more than one, cut to a whole number. */
static int fn_duration_round(struct call *c)
{
    static const struct {
        uint64_t seconds;
        const char *suffix;
    } units[] = { { 365 * 86400, "y" }, { 30 * 86400, "mo" }, { 86400, "d" },
                  { 3600, "h" },        { 60, "m" },          { 1, "s" } };
    struct sw_value v = c->args[0];
    int64_t ns = 0;
    if (v.type == SW_T_INT64)
        ns = v.as.i;
    else if (v.type == SW_T_STRING)
        (void)sw_duration_parse(v.as.s, v.len, &ns, NULL); /* 0 for an invalid duration */
    else if (sw_value_is_time(v))
        ns = sw_gotime_sub(now(c), sw_gotime_of(v));
    uint64_t u = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    for (size_t i = 0; i < SW_COUNT(units); i++) {
        uint64_t unit = units[i].seconds * 1000000000;
        if (u > unit) {
            sw_text_printf(c->text, "%llu%s", (unsigned long long)(u / unit), units[i].suffix);
            return sw_return_text(c);
        }
    }
    return sw_return(c, sw_value_cstr("0s"));
}

const struct func sw_funcs_dates[] = {
    { "now", fn_now, "", "the current time", 0, 0 },
    { "date", fn_date, "sv", "a time as a layout says", 0, 0 },
    { "dateInZone", fn_date, "svs", "a time as a layout says, in a zone", IN_ZONE, 0 },
    { "date_in_zone", fn_date, "svs", "as dateInZone", IN_ZONE, 0 },
    { "htmlDate", fn_date, "v", "a time as 2006-01-02", HTML, 0 },
    { "htmlDateInZone", fn_date, "vs", "a time as 2006-01-02, in a zone", HTML | IN_ZONE, 0 },
    { "dateModify", fn_date_modify, "st", "a time later by a duration", LENIENT, 0 },
    { "date_modify", fn_date_modify, "st", "as dateModify", LENIENT, 0 },
    { "mustDateModify", fn_date_modify, "st", "as dateModify, or an error", MUST, 0 },
    { "must_date_modify", fn_date_modify, "st", "as mustDateModify", MUST, 0 },
    { "toDate", fn_to_date, "ss", "the time that a text is by a layout", LENIENT, 0 },
    { "mustToDate", fn_to_date, "ss", "as toDate, or an error", MUST, 0 },
    { "ago", fn_ago, "v", "how long ago a time was", 0, 0 },
    { "unixEpoch", fn_unix_epoch, "t", "seconds since 1970", 0, 0 },
    { "duration", fn_duration, "v", "seconds as 1h2m3s", 0, 0 },
    { "durationRound", fn_duration_round, "v", "a duration in its largest unit", 0, 0 },
    { 0 },
};
