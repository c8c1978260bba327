/* Timestamps (years 1 to 9999) and durations. */
#include <stdio.h>
#include <string.h>

#include "data/cel/functions.h"
#include "data/go/gotime.h"
#include "data/go/text.h"

#define LEAST_SEC (-62135596800LL)
#define MOST_SEC 253402300799LL
enum { NS = 1000000000 };

static struct cel_value timestamp(struct cel_run *x, int64_t sec, uint32_t nsec, int32_t offset)
{
    if (sec < LEAST_SEC || sec > MOST_SEC)
        return sw_cel_fail(x, "timestamp overflow");
    return (struct cel_value){ .kind = CEL_TIMESTAMP, .time = { sec, offset }, .nsec = nsec };
}

static struct cel_value duration(int64_t ns)
{
    return (struct cel_value){ .kind = CEL_DURATION, .i = ns };
}

struct cel_value sw_cel_to_timestamp(struct cel_run *x, const struct cel_value *args, int variant)
{
    static const char layout[] = "2006-01-02T15:04:05.999999999Z07:00";
    struct sw_gotime t;
    const char *unused;
    (void)variant;
    if (args[0].kind == CEL_INT)
        return timestamp(x, args[0].i, 0, 0);
    if (args[0].kind == CEL_TIMESTAMP)
        return args[0];
    SW_ERR(err);
    if (sw_gotime_parse(x->arena, layout, sizeof layout - 1, args[0].s.p, args[0].s.len, NULL, &t,
                        &err) < 0)
        return sw_cel_fail(x, "type conversion error from 'string' to 'google.protobuf.Timestamp'");
    const int offset = t.zone ? sw_zone_offset(t.zone, t.sec, &unused) : 0;
    return timestamp(x, t.sec, (uint32_t)t.nsec, offset);
}

struct cel_value sw_cel_to_duration(struct cel_run *x, const struct cel_value *args, int variant)
{
    int64_t ns;
    (void)variant;
    if (args[0].kind == CEL_DURATION)
        return args[0];
    SW_ERR(err);
    if (sw_duration_parse(args[0].s.p, args[0].s.len, &ns, &err) < 0)
        return sw_cel_fail(x, "type conversion error from 'string' to 'google.protobuf.Duration'");
    return duration(ns);
}

struct cel_value sw_cel_time_text(struct cel_run *x, struct cel_value v)
{
    static const char layout[] = "2006-01-02T15:04:05.999999999Z07:00";
    struct text out = { .limit = 64 };
    if (v.kind == CEL_TIMESTAMP) {
        const struct sw_zone *zone = v.time.offset ? sw_zone_fixed(x->arena, "", 0, v.time.offset)
                                                   : NULL;
        sw_gotime_format(&out,
                         (struct sw_gotime){ .sec = v.i, .nsec = (int32_t)v.nsec, .zone = zone },
                         layout, sizeof layout - 1);
        return sw_cel_static(sw_text_end(&out, x->arena));
    }
    const uint64_t ns = v.i < 0 ? -(uint64_t)v.i : (uint64_t)v.i;
    char fraction[16] = "";
    if (ns % NS) {
        (void)snprintf(fraction, sizeof fraction, ".%09llu", (unsigned long long)(ns % NS));
        for (size_t n = strlen(fraction); fraction[n - 1] == '0'; n--)
            fraction[n - 1] = '\0';
    }
    return sw_cel_static(sw_arena_printf(x->arena, "%s%llu%ss", v.i < 0 ? "-" : "",
                                         (unsigned long long)(ns / NS), fraction));
}

/* ---- arithmetic ---------------------------------------------------------------------------------
 */

static struct cel_value moved(struct cel_run *x, struct cel_value t, int64_t ns)
{
    int64_t sec = ns / NS, rest = ns % NS + t.nsec;
    if (rest < 0) {
        rest += NS;
        sec--;
    }
    return timestamp(x, t.i + sec + rest / NS, (uint32_t)(rest % NS), t.time.offset);
}

/* @op: '+' or '-'; of a timestamp and a duration, in any order for '+'. */
static struct cel_value move(struct cel_run *x, const struct cel_value *args, int op)
{
    const bool first = args[0].kind == CEL_TIMESTAMP;
    const int64_t ns = args[first].i;
    if (op == '-' && ns == INT64_MIN)
        return sw_cel_fail(x, "timestamp overflow");
    return moved(x, args[!first], op == '-' ? -ns : ns);
}

static struct cel_value between(struct cel_run *x, const struct cel_value *args, int variant)
{
    int64_t ns;
    (void)variant;
    if (__builtin_mul_overflow(args[0].i - args[1].i, (int64_t)NS, &ns) ||
        __builtin_add_overflow(ns, (int64_t)args[0].nsec - (int64_t)args[1].nsec, &ns))
        return sw_cel_fail(x, "duration overflow");
    return duration(ns);
}

static struct cel_value add_durations(struct cel_run *x, const struct cel_value *args, int op)
{
    int64_t ns;
    const bool over = op == '+' ? __builtin_add_overflow(args[0].i, args[1].i, &ns)
                                : __builtin_sub_overflow(args[0].i, args[1].i, &ns);
    return over ? sw_cel_fail(x, "duration overflow") : duration(ns);
}

static struct cel_value negate(struct cel_run *x, const struct cel_value *args, int variant)
{
    (void)variant;
    return args[0].i == INT64_MIN ? sw_cel_fail(x, "duration overflow") : duration(-args[0].i);
}

/* ---- getters ------------------------------------------------------------------------------------
 */

enum { YEAR, MONTH, DATE, DAY, WEEKDAY, YEARDAY, HOUR, MINUTE, SECOND, MILLI };

/* "+02:00", "-7:30", or a zone's name. @return false: there is none */
static bool find_zone(struct cel_run *x, const char *name, const struct sw_zone **zone)
{
    const char *colon = strchr(name, ':');
    const bool sign = *name == '+' || *name == '-';
    if (!colon)
        return sw_zone_load(x->arena, name, strlen(name), zone) == 0;
    int hours = 0, minutes = 0;
    for (const char *p = name + sign; p < colon; p++) {
        if (*p < '0' || *p > '9' || p - name > 4)
            return false;
        hours = hours * 10 + (*p - '0');
    }
    for (const char *p = colon + 1; *p; p++) {
        if (*p < '0' || *p > '9' || p - colon > 2)
            return false;
        minutes = minutes * 10 + (*p - '0');
    }
    const int offset = (hours * 60 + minutes) * 60;
    *zone = sw_zone_fixed(x->arena, "", 0, *name == '-' ? -offset : offset);
    return true;
}

static struct cel_value civil(struct cel_run *x, const struct cel_value *args, int field,
                              const struct sw_zone *zone)
{
    const struct sw_civil c = sw_gotime_civil(
        (struct sw_gotime){ .sec = args[0].i, .nsec = (int32_t)args[0].nsec, .zone = zone });
    (void)x;
    const int64_t values[] = {
        [YEAR] = c.year,       [MONTH] = c.month - 1,
        [DATE] = c.day,        [DAY] = c.day - 1,
        [WEEKDAY] = c.weekday, [YEARDAY] = c.yearday - 1,
        [HOUR] = c.hour,       [MINUTE] = c.minute,
        [SECOND] = c.second,   [MILLI] = args[0].nsec / 1000000,
    };
    return sw_cel_int(values[field]);
}

static struct cel_value get(struct cel_run *x, const struct cel_value *args, int field)
{
    return civil(x, args, field, NULL);
}

static struct cel_value get_in(struct cel_run *x, const struct cel_value *args, int field)
{
    const struct sw_zone *zone = NULL;
    const char *name = sw_cel_chars(x, args[1]);
    if (!find_zone(x, name, &zone))
        return sw_cel_fail(x, "unknown time zone %s", name);
    return civil(x, args, field, zone);
}

static struct cel_value get_of_duration(struct cel_run *x, const struct cel_value *args, int field)
{
    const int64_t ns = args[0].i;
    (void)x;
    return sw_cel_int(field == HOUR     ? ns / NS / 3600
                      : field == MINUTE ? ns / NS / 60
                      : field == SECOND ? ns / NS
                                        : ns / 1000000);
}

#define GETTER(name, field)                                                                        \
    { name, "T.>i", get, field },                                                                  \
    {                                                                                              \
        name, "T.s>i", get_in, field                                                               \
    }

const struct cel_function sw_cel_times[] = {
    { "timestamp", "s>T", sw_cel_to_timestamp, 0 },
    { "timestamp", "i>T", sw_cel_to_timestamp, 0 },
    { "timestamp", "T>T", sw_cel_to_timestamp, 0 },
    { "duration", "s>D", sw_cel_to_duration, 0 },
    { "duration", "D>D", sw_cel_to_duration, 0 },
    { "_+_", "TD>T", move, '+' },
    { "_+_", "DT>T", move, '+' },
    { "_-_", "TD>T", move, '-' },
    { "_-_", "TT>D", between, 0 },
    { "_+_", "DD>D", add_durations, '+' },
    { "_-_", "DD>D", add_durations, '-' },
    { "-_", "D>D", negate, 0 },
    GETTER("getFullYear", YEAR),
    GETTER("getMonth", MONTH),
    GETTER("getDate", DATE),
    GETTER("getDayOfMonth", DAY),
    GETTER("getDayOfWeek", WEEKDAY),
    GETTER("getDayOfYear", YEARDAY),
    GETTER("getHours", HOUR),
    GETTER("getMinutes", MINUTE),
    GETTER("getSeconds", SECOND),
    GETTER("getMilliseconds", MILLI),
    { "getHours", "D.>i", get_of_duration, HOUR },
    { "getMinutes", "D.>i", get_of_duration, MINUTE },
    { "getSeconds", "D.>i", get_of_duration, SECOND },
    { "getMilliseconds", "D.>i", get_of_duration, MILLI },
    { 0 },
};
