/* sprig's dates and durations, and the methods of time.Time. */
#include <stdlib.h>

#include "template/func_tables.h"
#include "template/gotime.h"
#include "template/object.h"
#include "template/print.h"
#include "template/strconv.h"

/* ---- time.Time ---- */

static void time_string(const struct sw_object *o, struct text *out)
{
    sw_gotime_string(out, *(const struct sw_gotime *)o->data);
}

static struct sw_value time_json(const struct sw_object *o, struct sw_arena *arena)
{
    static const char layout[] = "2006-01-02T15:04:05.999999999Z07:00";
    struct text t = { .limit = 1 << 10 };
    size_t len;
    sw_gotime_format(&t, *(const struct sw_gotime *)o->data, layout, sizeof layout - 1);
    const char *s = sw_text_take(&t, 0, arena, &len);
    free(t.p);
    return sw_value_text(s, len);
}

static bool time_equal(const struct sw_object *a, const struct sw_object *b)
{
    const struct sw_gotime *x = a->data, *y = b->data;
    return sw_gotime_compare(*x, *y) == 0 && x->zone == y->zone;
}

static const struct func time_methods[];

static const struct sw_object_type time_type = {
    .name = "time.Time",
    .methods = time_methods,
    .string = time_string,
    .json = time_json,
    .equal = time_equal,
};

struct sw_value sw_gotime_value(struct sw_arena *arena, struct sw_gotime t)
{
    struct sw_object *o = sw_object_new(arena, &time_type);
    struct sw_gotime *data = sw_arena_alloc(arena, sizeof *data);
    *data = t;
    o->data = data;
    return sw_value_object(o);
}

static int return_time(struct call *c, struct sw_gotime t)
{
    return sw_return(c, sw_gotime_value(c->arena, t));
}

static struct sw_gotime time_of(struct sw_value v)
{
    return *(const struct sw_gotime *)v.as.object->data;
}

static const struct sw_zone *local_zone(struct call *c)
{
    const struct sw_zone *zone = NULL;
    (void)sw_zone_load(c->arena, "Local", 5, &zone); /* what cannot be read is UTC */
    return zone;
}

static struct sw_gotime now(struct call *c)
{
    struct sw_gotime epoch = { 0 }, t = sw_gotime_add(epoch, c->x->opts.now_ns);
    t.zone = local_zone(c);
    return t;
}

enum { YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, YEARDAY, WEEKDAY };

static int fn_time_part(struct call *c)
{
    struct sw_civil v = sw_gotime_civil(time_of(c->self));
    struct sw_value out = sw_value_int(0);
    switch (c->func->variant) {
    case YEAR:
        out.as.i = v.year;
        break;
    case MONTH:
        out.type = SW_T_MONTH;
        out.as.i = v.month;
        break;
    case DAY:
        out.as.i = v.day;
        break;
    case HOUR:
        out.as.i = v.hour;
        break;
    case MINUTE:
        out.as.i = v.minute;
        break;
    case SECOND:
        out.as.i = v.second;
        break;
    case YEARDAY:
        out.as.i = v.yearday;
        break;
    default:
        out.type = SW_T_WEEKDAY;
        out.as.i = v.weekday;
    }
    return sw_return(c, out);
}

static int fn_time_nanosecond(struct call *c)
{
    return sw_return(c, sw_value_int(time_of(c->self).nsec));
}

/* Unix, UnixMilli, UnixMicro, UnixNano: so many units a second. */
static int fn_time_unix(struct call *c)
{
    struct sw_gotime t = time_of(c->self);
    int64_t per_second = 1;
    for (unsigned i = 0; i < c->func->variant; i++)
        per_second *= 10;
    return sw_return(c, sw_value_int64((int64_t)((uint64_t)t.sec * (uint64_t)per_second +
                                                 (uint64_t)(t.nsec / (1000000000 / per_second)))));
}

static int fn_time_format(struct call *c)
{
    size_t mark;
    struct text *t = sw_call_text(c, &mark);
    sw_gotime_format(t, time_of(c->self), c->args[0].as.s, c->args[0].len);
    return sw_return_text(c, mark);
}

static int fn_time_string(struct call *c)
{
    size_t mark;
    struct text *t = sw_call_text(c, &mark);
    sw_gotime_string(t, time_of(c->self));
    return sw_return_text(c, mark);
}

static int fn_time_utc(struct call *c)
{
    struct sw_gotime t = time_of(c->self);
    t.zone = NULL;
    return return_time(c, t);
}

static int fn_time_local(struct call *c)
{
    struct sw_gotime t = time_of(c->self);
    t.zone = local_zone(c);
    return return_time(c, t);
}

static int fn_time_add(struct call *c)
{
    return return_time(c, sw_gotime_add(time_of(c->self), c->args[0].as.i));
}

static int fn_time_add_date(struct call *c)
{
    struct sw_gotime t = time_of(c->self);
    struct sw_civil v = sw_gotime_civil(t);
    for (size_t i = 0; i < 3; i++) {
        if (c->args[i].as.i > 1000000000 || c->args[i].as.i < -1000000000)
            return sw_call_fail(c, "date out of range");
    }
    return return_time(c, sw_gotime_make(v.year + c->args[0].as.i, v.month + c->args[1].as.i,
                                         v.day + c->args[2].as.i, v.hour, v.minute, v.second,
                                         t.nsec, t.zone));
}

static int fn_time_sub(struct call *c)
{
    struct sw_value v = sw_value_int(sw_gotime_sub(time_of(c->self), time_of(c->args[0])));
    v.type = SW_T_DURATION;
    return sw_return(c, v);
}

enum { BEFORE, AFTER, EQUAL, COMPARE };

static int fn_time_compare(struct call *c)
{
    int order = sw_gotime_compare(time_of(c->self), time_of(c->args[0]));
    switch (c->func->variant) {
    case BEFORE:
        return sw_return(c, sw_value_bool(order < 0));
    case AFTER:
        return sw_return(c, sw_value_bool(order > 0));
    case EQUAL:
        return sw_return(c, sw_value_bool(order == 0));
    default:
        return sw_return(c, sw_value_int(order));
    }
}

static int fn_time_is_zero(struct call *c)
{
    struct sw_gotime t = time_of(c->self);
    return sw_return(c, sw_value_bool(t.sec == SW_GOTIME_ZERO_SEC && t.nsec == 0));
}

/* Truncate, Round: to a multiple since the zero time. */
static int fn_time_multiple(struct call *c)
{
    struct sw_gotime t = time_of(c->self);
    int64_t m = c->args[0].as.i;
    if (m <= 0)
        return return_time(c, t);
    __int128 since = ((__int128)t.sec - SW_GOTIME_ZERO_SEC) * 1000000000 + t.nsec, rest = since % m;
    if (rest < 0)
        rest += m;
    bool up = c->func->variant && rest + rest >= m;
    return return_time(c, sw_gotime_add(t, up ? m - (int64_t)rest : -(int64_t)rest));
}

static const struct func time_methods[] = {
    { "Year", fn_time_part, "", "the year", YEAR, 0 },
    { "Month", fn_time_part, "", "the month", MONTH, 0 },
    { "Day", fn_time_part, "", "the day of the month", DAY, 0 },
    { "Hour", fn_time_part, "", "the hour", HOUR, 0 },
    { "Minute", fn_time_part, "", "the minute", MINUTE, 0 },
    { "Second", fn_time_part, "", "the second", SECOND, 0 },
    { "YearDay", fn_time_part, "", "the day of the year", YEARDAY, 0 },
    { "Weekday", fn_time_part, "", "the day of the week", WEEKDAY, 0 },
    { "Nanosecond", fn_time_nanosecond, "", "the nanosecond in the second", 0, 0 },
    { "Unix", fn_time_unix, "", "seconds since 1970", 0, 0 },
    { "UnixMilli", fn_time_unix, "", "milliseconds since 1970", 3, 0 },
    { "UnixMicro", fn_time_unix, "", "microseconds since 1970", 6, 0 },
    { "UnixNano", fn_time_unix, "", "nanoseconds since 1970", 9, 0 },
    { "Format", fn_time_format, "s", "as a layout says", 0, 0 },
    { "String", fn_time_string, "", "in full", 0, 0 },
    { "UTC", fn_time_utc, "", "the same in UTC", 0, 0 },
    { "Local", fn_time_local, "", "the same in the local zone", 0, 0 },
    { "Add", fn_time_add, "d", "later by a duration", 0, 0 },
    { "AddDate", fn_time_add_date, "iii", "later by years, months and days", 0, 0 },
    { "Sub", fn_time_sub, "t", "the duration since another", 0, 0 },
    { "Before", fn_time_compare, "t", "whether it is before another", BEFORE, 0 },
    { "After", fn_time_compare, "t", "whether it is after another", AFTER, 0 },
    { "Equal", fn_time_compare, "t", "whether it is the same instant", EQUAL, 0 },
    { "Compare", fn_time_compare, "t", "-1, 0 or 1", COMPARE, 0 },
    { "IsZero", fn_time_is_zero, "", "whether it is the zero time", 0, 0 },
    { "Truncate", fn_time_multiple, "d", "down to a multiple", 0, 0 },
    { "Round", fn_time_multiple, "d", "to the nearest multiple", 1, 0 },
    { 0 },
};

/* ---- dates ---- */

static int fn_now(struct call *c)
{
    return return_time(c, now(c));
}

/* What date functions take for a time: one, or seconds since 1970; anything else is now. */
static struct sw_gotime any_time(struct call *c, struct sw_value v)
{
    if (sw_value_is_object(v, &time_type))
        return time_of(v);
    if (v.type == SW_T_INT || v.type == SW_T_INT64 || v.type == SW_T_INT32)
        return (struct sw_gotime){ .sec = v.as.i, .zone = local_zone(c) };
    return now(c);
}

static int format_in(struct call *c, struct sw_value layout, struct sw_value date,
                     struct sw_value zone)
{
    struct sw_gotime t = any_time(c, date);
    if (sw_zone_load(c->arena, zone.as.s, zone.len, &t.zone) < 0)
        t.zone = NULL;
    size_t mark;
    struct text *out = sw_call_text(c, &mark);
    sw_gotime_format(out, t, layout.as.s, layout.len);
    return sw_return_text(c, mark);
}

static int fn_date(struct call *c)
{
    return format_in(c, c->args[0], c->args[1], sw_value_cstr("Local"));
}

static int fn_date_in_zone(struct call *c)
{
    return format_in(c, c->args[0], c->args[1], c->args[2]);
}

static int fn_html_date(struct call *c)
{
    return format_in(c, sw_value_cstr("2006-01-02"), c->args[0], sw_value_cstr("Local"));
}

static int fn_html_date_in_zone(struct call *c)
{
    return format_in(c, sw_value_cstr("2006-01-02"), c->args[0], c->args[1]);
}

enum { LENIENT, MUST };

static int fn_date_modify(struct call *c)
{
    int64_t ns;
    SW_ERR(err);
    if (sw_duration_parse(c->args[0].as.s, c->args[0].len, &ns, &err) == 0)
        return return_time(c, sw_gotime_add(time_of(c->args[1]), ns));
    if (c->func->variant == MUST)
        return sw_call_fail(c, "%s", sw_err_text(&err));
    return sw_return(c, c->args[1]);
}

static int fn_to_date(struct call *c)
{
    struct sw_value layout = c->args[0], s = c->args[1];
    struct sw_gotime t = { .sec = SW_GOTIME_ZERO_SEC };
    SW_ERR(err);
    int rc = sw_gotime_parse(c->arena, layout.as.s, layout.len, s.as.s, s.len, local_zone(c), &t,
                             &err);
    if (rc < 0 && c->func->variant == MUST)
        return sw_call_fail(c, "%s", sw_err_text(&err));
    return return_time(c, t);
}

static int return_duration(struct call *c, int64_t ns)
{
    size_t mark;
    struct text *t = sw_call_text(c, &mark);
    struct sw_value v = { .type = SW_T_DURATION, .as.i = ns };
    sw_value_stringer(t, v);
    return sw_return_text(c, mark);
}

/* How long ago, in whole seconds. */
static int fn_ago(struct call *c)
{
    int64_t ns = sw_gotime_sub(now(c), any_time(c, c->args[0]));
    int64_t rest = ns % 1000000000, half = 500000000, whole = ns - rest;
    int64_t away = rest >= half ? 2 * half : rest <= -half ? -2 * half : 0;
    if (__builtin_add_overflow(whole, away, &whole)) /* stays as far away as possible */
        whole = away > 0 ? INT64_MAX : INT64_MIN;
    return return_duration(c, whole);
}

static int fn_unix_epoch(struct call *c)
{
    const char *s = sw_arena_printf(c->arena, "%lld", (long long)time_of(c->args[0]).sec);
    return sw_return(c, sw_value_cstr(s));
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

/* Nanoseconds as the largest unit of which there is more than one, cut off. */
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
        (void)sw_duration_parse(v.as.s, v.len, &ns, NULL); /* what is none is 0 */
    else if (sw_value_is_object(v, &time_type))
        ns = sw_gotime_sub(now(c), time_of(v));
    uint64_t u = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    for (size_t i = 0; i < SW_COUNT(units); i++) {
        uint64_t unit = units[i].seconds * 1000000000;
        if (u > unit) {
            const char *s = sw_arena_printf(c->arena, "%llu%s", (unsigned long long)(u / unit),
                                            units[i].suffix);
            return sw_return(c, sw_value_cstr(s));
        }
    }
    return sw_return(c, sw_value_cstr("0s"));
}

const struct func sw_funcs_dates[] = {
    { "now", fn_now, "", "the current time", 0, 0 },
    { "date", fn_date, "sv", "a time as a layout says", 0, 0 },
    { "dateInZone", fn_date_in_zone, "svs", "a time as a layout says, in a zone", 0, 0 },
    { "date_in_zone", fn_date_in_zone, "svs", "as dateInZone", 0, 0 },
    { "htmlDate", fn_html_date, "v", "a time as 2006-01-02", 0, 0 },
    { "htmlDateInZone", fn_html_date_in_zone, "vs", "a time as 2006-01-02, in a zone", 0, 0 },
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
