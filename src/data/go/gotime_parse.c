#include <stdlib.h>
#include <string.h>

#include "data/go/gotime.h"
#include "data/go/gotime_layout.h"
#include "data/go/strconv.h"

/* A time while it is read; -1: not read. */
struct reading {
    struct sw_arena *arena;
    const char *v, *end; /* what is left of the value */
    const char *layout, *layout_end;
    int64_t year;
    int month, day, yearday, hour, minute, second, nsec;
    bool pm, am;
    bool utc;
    bool has_offset;
    int offset;
    const char *zone;
    size_t zone_len;
    const char *range; /* what was out of its range */
};

static size_t left(const struct reading *r)
{
    return (size_t)(r->end - r->v);
}

static bool digit_at(const struct reading *r, size_t i)
{
    return i < left(r) && r->v[i] >= '0' && r->v[i] <= '9';
}

/* One or two digits; with @fixed two. */
static bool read_number(struct reading *r, bool fixed, int *out)
{
    if (!digit_at(r, 0))
        return false;
    if (!digit_at(r, 1)) {
        if (fixed)
            return false;
        *out = *r->v++ - '0';
        return true;
    }
    *out = (r->v[0] - '0') * 10 + (r->v[1] - '0');
    r->v += 2;
    return true;
}

static bool in_range(struct reading *r, int value, int least, int most, const char *what)
{
    if (value < least || value > most)
        r->range = what;
    return !r->range;
}

/* One of @names, in any case; @short_len: its first letters only, or 0. */
static bool read_name(struct reading *r, const char *const *names, size_t n, size_t short_len,
                      int *out)
{
    for (size_t i = 0; i < n; i++) {
        size_t len = short_len ? short_len : strlen(names[i]);
        if (left(r) >= len && strncasecmp(r->v, names[i], len) == 0) {
            *out = (int)i;
            r->v += len;
            return true;
        }
    }
    return false;
}

/* The literal text of a layout; a space there matches any number of spaces. */
static bool skip_prefix(struct reading *r, const char *prefix, size_t len)
{
    const char *p = prefix, *end = prefix + len;
    while (p < end) {
        if (*p == ' ') {
            if (left(r) > 0 && *r->v != ' ')
                return false;
            while (p < end && *p == ' ')
                p++;
            while (left(r) > 0 && *r->v == ' ')
                r->v++;
            continue;
        }
        if (left(r) == 0 || *r->v != *p)
            return false;
        p++;
        r->v++;
    }
    return true;
}

/* A separator and @n - 1 digits. */
static bool read_fraction(struct reading *r, size_t n)
{
    if (left(r) < n || (r->v[0] != '.' && r->v[0] != ','))
        return false;
    int ns = 0, scale = 100000000;
    for (size_t i = 1; i < n; i++, scale /= 10) {
        if (!digit_at(r, i))
            return false;
        ns += (r->v[i] - '0') * scale;
    }
    r->nsec = ns;
    r->v += n;
    return true;
}

static size_t fraction_ahead(const struct reading *r)
{
    size_t n = 1;
    if (left(r) < 2 || (r->v[0] != '.' && r->v[0] != ',') || !digit_at(r, 1))
        return 0;
    while (digit_at(r, n))
        n++;
    return n;
}

static bool read_pm(struct reading *r, const char *am, const char *pm)
{
    if (left(r) < 2)
        return false;
    bool is_pm = memcmp(r->v, pm, 2) == 0, is_am = memcmp(r->v, am, 2) == 0;
    r->pm |= is_pm; /* where a layout has it twice, one PM is enough */
    r->am |= is_am;
    r->v += 2;
    return is_pm || is_am;
}

/* "+02:00" in the form that the layout has. */
static bool read_offset(struct reading *r, enum layout_element part)
{
    bool is_short = part == LP_ZONE_SHORT || part == LP_ISO_SHORT;
    int parts[3] = { 0 }, n = is_short ? 1 : sw_layout_has_seconds(part) ? 3 : 2;
    static const char *const names[] = { "time zone offset hour", "time zone offset minute",
                                         "time zone offset second" };
    if (part >= LP_ISO && left(r) > 0 && *r->v == 'Z') {
        r->v++;
        r->utc = true;
        return true;
    }
    if (left(r) == 0 || (*r->v != '+' && *r->v != '-'))
        return false;
    int sign = *r->v++ == '-' ? -1 : 1;
    for (int i = 0; i < n; i++) {
        if (i > 0 && sw_layout_has_colons(part) && (left(r) == 0 || *r->v++ != ':'))
            return false;
        if (!read_number(r, true, &parts[i]))
            return false;
    }
    for (int i = 0; i < n; i++) {
        if (!in_range(r, parts[i], 0, i == 0 ? 24 : 60, names[i]))
            return false;
    }
    r->offset = sign * (parts[0] * 3600 + parts[1] * 60 + parts[2]);
    r->has_offset = true;
    return true;
}

static size_t signed_offset_len(const char *s, size_t len)
{
    size_t n = 1;
    int value = 0;
    if (len < 2 || (s[0] != '+' && s[0] != '-'))
        return 0;
    for (; n < len && s[n] >= '0' && s[n] <= '9' && n < 4; n++)
        value = value * 10 + (s[n] - '0');
    return n == 1 || value > 23 ? 0 : n;
}

/* "CET", "GMT-3", "ChST", "+03": what Go takes for a zone's name. */
static size_t zone_name_len(const char *s, size_t len)
{
    if (len < 3)
        return 0;
    if (len >= 4 && (memcmp(s, "ChST", 4) == 0 || memcmp(s, "MeST", 4) == 0))
        return 4;
    if (memcmp(s, "GMT", 3) == 0)
        return 3 + signed_offset_len(s + 3, len - 3);
    if (s[0] == '+' || s[0] == '-')
        return signed_offset_len(s, len);
    size_t upper = 0;
    while (upper < 6 && upper < len && s[upper] >= 'A' && s[upper] <= 'Z')
        upper++;
    if (upper == 5)
        return s[4] == 'T' ? 5 : 0;
    if (upper == 4)
        return s[3] == 'T' || memcmp(s, "WITA", 4) == 0 ? 4 : 0;
    return upper == 3 ? 3 : 0;
}

static bool read_element(struct reading *r, const struct layout_chunk *chunk)
{
    int ignored;
    enum layout_element next;
    bool spaces;
    size_t n, len;
    switch (chunk->part) {
    case LP_YEAR:
    case LP_YEAR_SHORT:
        len = chunk->part == LP_YEAR_SHORT ? 2 : 4;
        r->year = 0;
        for (n = 0; n < len && digit_at(r, n); n++)
            r->year = r->year * 10 + (r->v[n] - '0');
        if (n < len)
            return false;
        if (len == 2)
            r->year += r->year >= 69 ? 1900 : 2000;
        r->v += len;
        return true;
    case LP_MONTH_NAME:
    case LP_MONTH_SHORT:
        if (!read_name(r, sw_month_names, 12, chunk->part == LP_MONTH_SHORT ? 3 : 0, &r->month))
            return false;
        r->month++;
        return true;
    case LP_MONTH:
    case LP_MONTH_ZERO:
        return read_number(r, chunk->part == LP_MONTH_ZERO, &r->month) &&
               in_range(r, r->month, 1, 12, "month");
    case LP_WEEKDAY_NAME:
    case LP_WEEKDAY_SHORT:
        return read_name(r, sw_weekday_names, 7, chunk->part == LP_WEEKDAY_SHORT ? 3 : 0, &ignored);
    case LP_DAY:
    case LP_DAY_SPACE:
    case LP_DAY_ZERO:
        if (chunk->part == LP_DAY_SPACE && left(r) > 0 && *r->v == ' ')
            r->v++;
        return read_number(r, chunk->part == LP_DAY_ZERO, &r->day);
    case LP_YEARDAY_SPACE:
    case LP_YEARDAY_ZERO:
        spaces = chunk->part == LP_YEARDAY_SPACE;
        for (int i = 0; spaces && i < 2 && left(r) > 0 && *r->v == ' '; i++)
            r->v++;
        n = 0;
        for (r->yearday = 0; n < 3 && digit_at(r, n); n++)
            r->yearday = r->yearday * 10 + (r->v[n] - '0');
        r->v += n;
        return n == 3 || (spaces && n > 0);
    case LP_HOUR:
        return read_number(r, false, &r->hour) && in_range(r, r->hour, 0, 23, "hour");
    case LP_HOUR12:
    case LP_HOUR12_ZERO:
        return read_number(r, chunk->part == LP_HOUR12_ZERO, &r->hour) &&
               in_range(r, r->hour, 0, 12, "hour");
    case LP_MINUTE:
    case LP_MINUTE_ZERO:
        return read_number(r, chunk->part == LP_MINUTE_ZERO, &r->minute) &&
               in_range(r, r->minute, 0, 59, "minute");
    case LP_SECOND:
    case LP_SECOND_ZERO:
        if (!read_number(r, chunk->part == LP_SECOND_ZERO, &r->second) ||
            !in_range(r, r->second, 0, 59, "second"))
            return false;
        n = fraction_ahead(r); /* read here unless the layout has it next */
        next = sw_layout_next(r->layout, (size_t)(r->layout_end - r->layout)).part;
        return n == 0 || next == LP_FRACTION || next == LP_FRACTION_TRIMMED || read_fraction(r, n);
    case LP_PM:
        return read_pm(r, "AM", "PM");
    case LP_PM_LOWER:
        return read_pm(r, "am", "pm");
    case LP_FRACTION:
        return read_fraction(r, chunk->len);
    case LP_FRACTION_TRIMMED:
        n = fraction_ahead(r);
        return n == 0 || read_fraction(r, n);
    case LP_ZONE_NAME:
        if (left(r) >= 3 && memcmp(r->v, "UTC", 3) == 0) {
            r->utc = true;
            r->v += 3;
            return true;
        }
        r->zone = r->v;
        r->zone_len = zone_name_len(r->v, left(r));
        r->v += r->zone_len;
        return r->zone_len > 0;
    default:
        return read_offset(r, chunk->part);
    }
}

/* ---- the result ---- */

/* Month and day; a day of the year, where there is one, must agree with them. @return the error, or
 * NULL */
static const char *check_day(struct reading *r)
{
    if (r->yearday >= 0) {
        if (r->yearday < 1 || r->yearday > 365 + sw_is_leap_year(r->year))
            return "day-of-year out of range";
        int month = 1, day = r->yearday;
        while (day > sw_days_in(month, r->year))
            day -= sw_days_in(month++, r->year);
        if (r->month >= 0 && r->month != month)
            return "day-of-year does not match month";
        if (r->day >= 0 && r->day != day)
            return "day-of-year does not match day";
        r->month = month;
        r->day = day;
    }
    r->month = r->month < 0 ? 1 : r->month;
    r->day = r->day < 0 ? 1 : r->day;
    return r->day < 1 || r->day > sw_days_in(r->month, r->year) ? "day out of range" : NULL;
}

static struct sw_gotime make(const struct reading *r, const struct sw_zone *zone)
{
    return sw_gotime_make(r->year, r->month, r->day, r->hour, r->minute, r->second, r->nsec, zone);
}

static struct sw_gotime finish(struct reading *r, const struct sw_zone *local)
{
    if (r->pm && r->hour < 12)
        r->hour += 12;
    else if (r->am && r->hour == 12)
        r->hour = 0;
    if (r->utc || (!r->has_offset && !r->zone))
        return make(r, r->utc ? NULL : local);
    struct sw_gotime t = make(r, NULL);
    const char *name;
    if (r->has_offset) {
        t.sec -= r->offset;
        if (sw_zone_offset(local, t.sec, &name) == r->offset &&
            (!r->zone || (strlen(name) == r->zone_len && memcmp(name, r->zone, r->zone_len) == 0)))
            t.zone = local;
        else
            t.zone = sw_zone_fixed(r->arena, r->zone ? r->zone : "", r->zone_len, r->offset);
        return t;
    }
    int offset = 0;
    if (sw_zone_find(local, r->zone, r->zone_len, t.sec, &offset)) {
        t.sec -= offset;
        t.zone = local;
        return t;
    }
    offset = r->zone_len > 3 && memcmp(r->zone, "GMT", 3) == 0 ? atoi(r->zone + 3) * 3600 : 0;
    t.sec -= offset;
    t.zone = sw_zone_fixed(r->arena, r->zone, r->zone_len, offset);
    return t;
}

/* ---- errors ---- */

static int fail(struct sw_err *err, const char *value, size_t len, const char *message)
{
    SW_AUTO_CHARS *quoted = sw_time_quote_dup(value, len);
    return sw_err_set(err, SW_INVALID, "parsing time %s: %s", quoted, message);
}

int sw_gotime_parse(struct sw_arena *arena, const char *layout, size_t layout_len,
                    const char *value, size_t len, const struct sw_zone *local,
                    struct sw_gotime *out, struct sw_err *err)
{
    struct reading r = { .arena = arena,
                         .v = value,
                         .end = value + len,
                         .layout = layout,
                         .layout_end = layout + layout_len,
                         .month = -1,
                         .day = -1,
                         .yearday = -1 };
    for (;;) {
        struct layout_chunk chunk = sw_layout_next(r.layout, (size_t)(r.layout_end - r.layout));
        const char *part = r.layout;
        size_t part_len = chunk.prefix_len;
        bool ok = skip_prefix(&r, part, part_len);
        const char *at = r.v;
        if (ok && chunk.part == LP_NONE)
            break;
        if (ok) {
            part += chunk.prefix_len;
            part_len = chunk.len;
            r.layout = part + part_len;
            ok = read_element(&r, &chunk);
        }
        if (ok)
            continue;
        if (r.range) {
            SW_AUTO_CHARS *message = sw_printf("%s out of range", r.range);
            return fail(err, value, len, message);
        }
        SW_AUTO_CHARS *quoted = sw_time_quote_dup(value, len);
        SW_AUTO_CHARS *quoted_layout = sw_time_quote_dup(layout, layout_len);
        SW_AUTO_CHARS *quoted_rest = sw_time_quote_dup(at, (size_t)(r.end - at));
        SW_AUTO_CHARS *quoted_part = sw_time_quote_dup(part, part_len);
        return sw_err_set(err, SW_INVALID, "parsing time %s as %s: cannot parse %s as %s", quoted,
                          quoted_layout, quoted_rest, quoted_part);
    }
    if (left(&r) > 0) {
        SW_AUTO_CHARS *rest = sw_time_quote_dup(r.v, left(&r));
        SW_AUTO_CHARS *message = sw_printf("extra text: %s", rest);
        return fail(err, value, len, message);
    }
    const char *message = check_day(&r);
    if (message)
        return fail(err, value, len, message);
    *out = finish(&r, local);
    return 0;
}
