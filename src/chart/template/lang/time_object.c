#include "chart/template/lang/time_object.h"

#include "chart/template/lang/function.h"
#include "chart/template/value/object.h"
#include "data/go/strconv.h"

static void time_string(const struct sw_object *o, struct text *out)
{
    sw_gotime_string(out, *(const struct sw_gotime *)o->data);
}

/* time.Date(2006, time.January, 2, 15, 4, 5, 0, time.UTC) */
static void time_go_string(const struct sw_object *o, struct text *out)
{
    const struct sw_gotime *t = o->data;
    struct sw_civil v = sw_gotime_civil(*t);
    const char *zone = sw_zone_name(t->zone);
    sw_text_printf(out, "time.Date(%lld, time.%s, %d, %d, %d, %d, %d, ", (long long)v.year,
                   sw_month_names[v.month - 1], v.day, v.hour, v.minute, v.second, (int)t->nsec);
    if (strcmp(zone, "UTC") == 0 || strcmp(zone, "Local") == 0) {
        sw_text_printf(out, "time.%s)", zone);
        return;
    }
    sw_text_puts(out, "time.Location(");
    sw_quote(out, zone, strlen(zone), 0);
    sw_text_puts(out, "))");
}

static struct sw_value time_json(const struct sw_object *o, struct sw_arena *arena)
{
    static const char layout[] = "2006-01-02T15:04:05.999999999Z07:00";
    struct text t = { .limit = 1 << 10 };
    sw_gotime_format(&t, *(const struct sw_gotime *)o->data, layout, sizeof layout - 1);
    return sw_value_cstr(sw_text_end(&t, arena));
}

static bool time_equal(const struct sw_object *a, const struct sw_object *b)
{
    const struct sw_gotime *x = a->data, *y = b->data;
    return sw_gotime_compare(*x, *y) == 0 && x->zone == y->zone;
}

/* A *time.Location: its name. */
static void location_string(const struct sw_object *o, struct text *out)
{
    sw_text_puts(out, o->data);
}

static int fn_location_string(struct call *c)
{
    return sw_return(c, sw_value_cstr(c->self.as.object->data));
}

static const struct func location_methods[] = {
    { "String", fn_location_string, "", "the zone's name", 0, 0 },
    { 0 },
};

static const struct sw_object_type location_type = {
    .name = "*time.Location",
    .pointer = true,
    .methods = location_methods,
    .string = location_string,
};

static const struct func time_methods[];

static const struct sw_object_type time_type = {
    .name = "time.Time",
    .methods = time_methods,
    .string = time_string,
    .go_string = time_go_string,
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

int sw_return_time(struct call *c, struct sw_gotime t)
{
    return sw_return(c, sw_gotime_value(c->arena, t));
}

bool sw_value_is_time(struct sw_value v)
{
    return sw_value_is_object(v, &time_type);
}

struct sw_gotime sw_gotime_of(struct sw_value v)
{
    return *(const struct sw_gotime *)v.as.object->data;
}

enum { YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, YEARDAY, WEEKDAY };

static int fn_time_field(struct call *c)
{
    struct sw_civil v = sw_gotime_civil(sw_gotime_of(c->self));
    const int64_t fields[] = {
        [YEAR] = v.year,     [MONTH] = v.month,   [DAY] = v.day,         [HOUR] = v.hour,
        [MINUTE] = v.minute, [SECOND] = v.second, [YEARDAY] = v.yearday, [WEEKDAY] = v.weekday,
    };
    struct sw_value out = sw_value_int(fields[c->func->variant]);
    if (c->func->variant == MONTH || c->func->variant == WEEKDAY)
        out.type = c->func->variant == MONTH ? SW_T_MONTH : SW_T_WEEKDAY;
    return sw_return(c, out);
}

static int fn_time_nanosecond(struct call *c)
{
    return sw_return(c, sw_value_int(sw_gotime_of(c->self).nsec));
}

/* Unix, UnixMilli, UnixMicro, UnixNano: a second has 10^variant units. */
static int fn_time_unix(struct call *c)
{
    struct sw_gotime t = sw_gotime_of(c->self);
    int64_t per_second = 1;
    for (unsigned i = 0; i < c->func->variant; i++)
        per_second *= 10;
    return sw_return(c, sw_value_int64((int64_t)((uint64_t)t.sec * (uint64_t)per_second +
                                                 (uint64_t)(t.nsec / (1000000000 / per_second)))));
}

static int fn_time_format(struct call *c)
{
    sw_gotime_format(c->text, sw_gotime_of(c->self), c->args[0].as.s, c->args[0].len);
    return sw_return_text(c);
}

/* String, GoString */
static int fn_time_string(struct call *c)
{
    (c->func->variant ? time_go_string : time_string)(c->self.as.object, c->text);
    return sw_return_text(c);
}

static int fn_time_marshal(struct call *c)
{
    struct sw_value v = time_json(c->self.as.object, c->arena);
    if (c->func->variant) { /* JSON: in quotes */
        v.as.s = sw_arena_printf(c->arena, "\"%.*s\"", (int)v.len, v.as.s);
        v.len += 2;
    }
    v.type = SW_T_BYTES;
    return sw_return(c, v);
}

static int fn_time_location(struct call *c)
{
    struct sw_object *o = sw_object_new(c->arena, &location_type);
    o->data = (void *)sw_zone_name(sw_gotime_of(c->self).zone);
    return sw_return(c, sw_value_object(o));
}

enum { UTC, LOCAL };

static int fn_time_in(struct call *c)
{
    struct sw_gotime t = sw_gotime_of(c->self);
    t.zone = c->func->variant == LOCAL ? sw_zone_local(c->arena) : NULL;
    return sw_return_time(c, t);
}

static int fn_time_add(struct call *c)
{
    return sw_return_time(c, sw_gotime_add(sw_gotime_of(c->self), c->args[0].as.i));
}

static int fn_time_add_date(struct call *c)
{
    struct sw_gotime t = sw_gotime_of(c->self);
    struct sw_civil v = sw_gotime_civil(t);
    for (size_t i = 0; i < 3; i++) {
        if (c->args[i].as.i > 1000000000 || c->args[i].as.i < -1000000000)
            return sw_call_fail(c, "date out of range");
    }
    return sw_return_time(c, sw_gotime_make(v.year + c->args[0].as.i, v.month + c->args[1].as.i,
                                            v.day + c->args[2].as.i, v.hour, v.minute, v.second,
                                            t.nsec, t.zone));
}

static int fn_time_sub(struct call *c)
{
    struct sw_value v = sw_value_int(
        sw_gotime_sub(sw_gotime_of(c->self), sw_gotime_of(c->args[0])));
    v.type = SW_T_DURATION;
    return sw_return(c, v);
}

static int fn_time_compare(struct call *c)
{
    return sw_return_order(c, sw_gotime_compare(sw_gotime_of(c->self), sw_gotime_of(c->args[0])));
}

static int fn_time_is_zero(struct call *c)
{
    struct sw_gotime t = sw_gotime_of(c->self);
    return sw_return(c, sw_value_bool(t.sec == SW_GOTIME_ZERO_SEC && t.nsec == 0));
}

/* Truncate, Round: to a multiple since the zero time. */
static int fn_time_multiple(struct call *c)
{
    struct sw_gotime t = sw_gotime_of(c->self);
    int64_t m = c->args[0].as.i;
    if (m <= 0)
        return sw_return_time(c, t);
    __int128 since = ((__int128)t.sec - SW_GOTIME_ZERO_SEC) * 1000000000 + t.nsec, rest = since % m;
    if (rest < 0)
        rest += m;
    bool up = c->func->variant && rest + rest >= m;
    return sw_return_time(c, sw_gotime_add(t, up ? m - (int64_t)rest : -(int64_t)rest));
}

static const struct func time_methods[] = {
    { "Year", fn_time_field, "", "the year", YEAR, 0 },
    { "Month", fn_time_field, "", "the month", MONTH, 0 },
    { "Day", fn_time_field, "", "the day of the month", DAY, 0 },
    { "Hour", fn_time_field, "", "the hour", HOUR, 0 },
    { "Minute", fn_time_field, "", "the minute", MINUTE, 0 },
    { "Second", fn_time_field, "", "the second", SECOND, 0 },
    { "YearDay", fn_time_field, "", "the day of the year", YEARDAY, 0 },
    { "Weekday", fn_time_field, "", "the day of the week", WEEKDAY, 0 },
    { "Nanosecond", fn_time_nanosecond, "", "the nanosecond in the second", 0, 0 },
    { "Unix", fn_time_unix, "", "seconds since 1970", 0, 0 },
    { "UnixMilli", fn_time_unix, "", "milliseconds since 1970", 3, 0 },
    { "UnixMicro", fn_time_unix, "", "microseconds since 1970", 6, 0 },
    { "UnixNano", fn_time_unix, "", "nanoseconds since 1970", 9, 0 },
    { "Format", fn_time_format, "s", "as a layout says", 0, 0 },
    { "String", fn_time_string, "", "in full", 0, 0 },
    { "GoString", fn_time_string, "", "as Go's source", 1, 0 },
    { "MarshalText", fn_time_marshal, "", "in RFC 3339, as bytes", 0, 0 },
    { "MarshalJSON", fn_time_marshal, "", "in RFC 3339 and quotes, as bytes", 1, 0 },
    { "Location", fn_time_location, "", "the zone", 0, 0 },
    { "UTC", fn_time_in, "", "the same in UTC", UTC, 0 },
    { "Local", fn_time_in, "", "the same in the local zone", LOCAL, 0 },
    { "Add", fn_time_add, "d", "later by a duration", 0, 0 },
    { "AddDate", fn_time_add_date, "iii", "later by years, months and days", 0, 0 },
    { "Sub", fn_time_sub, "t", "the duration since another", 0, 0 },
    { "Before", fn_time_compare, "t", "whether it is before another", SW_ORDER_LESS, 0 },
    { "After", fn_time_compare, "t", "whether it is after another", SW_ORDER_GREATER, 0 },
    { "Equal", fn_time_compare, "t", "whether it is the same instant", SW_ORDER_EQUAL, 0 },
    { "Compare", fn_time_compare, "t", "-1, 0 or 1", SW_ORDER_NUMBER, 0 },
    { "IsZero", fn_time_is_zero, "", "whether it is the zero time", 0, 0 },
    { "Truncate", fn_time_multiple, "d", "down to a multiple", 0, 0 },
    { "Round", fn_time_multiple, "d", "to the nearest multiple", 1, 0 },
    { 0 },
};
