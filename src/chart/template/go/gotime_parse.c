#include <stdlib.h>
#include <string.h>

#include "chart/template/go/gotime.h"
#include "chart/template/go/gotime_layout.h"
#include "chart/template/go/strconv.h"
#include "chart/template/go/text.h"

/* What has been read of a time so far; -1: nothing. */
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

/* A name out of @names, in any case; @short_len: only so much of it. */
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

/* The literal text of a layout; a space stands for any number of them. */
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

/* A fraction that the layout does not name is taken with the seconds. */
static bool read_second(struct reading *r, bool fixed)
{
    if (!read_number(r, fixed, &r->second))
        return false;
    if (!in_range(r, r->second, 0, 59, "second"))
        return false;
    size_t n = fraction_ahead(r);
    if (n == 0)
        return true;
    struct layout_chunk next = sw_layout_next(r->layout, (size_t)(r->layout_end - r->layout));
    if (next.part == LP_FRACTION || next.part == LP_FRACTION_TRIMMED)
        return true;
    return read_fraction(r, n);
}

static bool read_year(struct reading *r, bool is_short)
{
    size_t n = is_short ? 2 : 4;
    if (left(r) < n)
        return false;
    r->year = 0;
    for (size_t i = 0; i < n; i++) {
        if (!digit_at(r, i))
            return false;
        r->year = r->year * 10 + (r->v[i] - '0');
    }
    if (is_short)
        r->year += r->year >= 69 ? 1900 : 2000;
    r->v += n;
    return true;
}

static bool read_yearday(struct reading *r, bool spaces)
{
    for (int i = 0; spaces && i < 2 && left(r) > 0 && *r->v == ' '; i++)
        r->v++;
    size_t n = 0;
    for (r->yearday = 0; n < 3 && digit_at(r, n); n++)
        r->yearday = r->yearday * 10 + (r->v[n] - '0');
    r->v += n;
    return n == 3 || (spaces && n > 0);
}

static bool read_pm(struct reading *r, const char *am, const char *pm)
{
    if (left(r) < 2)
        return false;
    bool is_pm = memcmp(r->v, pm, 2) == 0, is_am = memcmp(r->v, am, 2) == 0;
    r->pm |= is_pm; /* a layout can ask twice: once PM is always PM */
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

static bool read_zone_name(struct reading *r)
{
    if (left(r) >= 3 && memcmp(r->v, "UTC", 3) == 0) {
        r->utc = true;
        r->v += 3;
        return true;
    }
    r->zone = r->v;
    r->zone_len = zone_name_len(r->v, left(r));
    r->v += r->zone_len;
    return r->zone_len > 0;
}

static bool read_element(struct reading *r, const struct layout_chunk *chunk)
{
    int ignored;
    switch (chunk->part) {
    case LP_YEAR:
    case LP_YEAR_SHORT:
        return read_year(r, chunk->part == LP_YEAR_SHORT);
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
        return read_yearday(r, chunk->part == LP_YEARDAY_SPACE);
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
        return read_second(r, chunk->part == LP_SECOND_ZERO);
    case LP_PM:
        return read_pm(r, "AM", "PM");
    case LP_PM_LOWER:
        return read_pm(r, "am", "pm");
    case LP_FRACTION:
        return read_fraction(r, chunk->len);
    case LP_FRACTION_TRIMMED: {
        size_t n = fraction_ahead(r);
        return n == 0 || read_fraction(r, n);
    }
    case LP_ZONE_NAME:
        return read_zone_name(r);
    default:
        return read_offset(r, chunk->part);
    }
}

/* ---- the result ---- */

static int days_in(int month, int64_t year)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    return month == 2 && sw_is_leap_year(year) ? 29 : days[month - 1];
}

/* The day of the year, where there is one, has to agree with month and day. */
static const char *check_day(struct reading *r)
{
    if (r->yearday >= 0) {
        if (r->yearday < 1 || r->yearday > 365 + sw_is_leap_year(r->year))
            return "day-of-year out of range";
        int month = 1, day = r->yearday;
        while (day > days_in(month, r->year))
            day -= days_in(month++, r->year);
        if (r->month >= 0 && r->month != month)
            return "day-of-year does not match month";
        if (r->day >= 0 && r->day != day)
            return "day-of-year does not match day";
        r->month = month;
        r->day = day;
    }
    r->month = r->month < 0 ? 1 : r->month;
    r->day = r->day < 0 ? 1 : r->day;
    return r->day < 1 || r->day > days_in(r->month, r->year) ? "day out of range" : NULL;
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

static int fail(struct sw_err *err, const char *layout, size_t layout_len, const char *value,
                size_t len, const char *layout_part, size_t part_len, const char *at, size_t at_len,
                const char *message)
{
    struct text t = { .limit = 1 << 20 };
    sw_text_puts(&t, "parsing time ");
    sw_quote(&t, value, len, 0);
    if (message) {
        sw_text_printf(&t, ": %s", message);
    } else {
        sw_text_puts(&t, " as ");
        sw_quote(&t, layout, layout_len, 0);
        sw_text_puts(&t, ": cannot parse ");
        sw_quote(&t, at, at_len, 0);
        sw_text_puts(&t, " as ");
        sw_quote(&t, layout_part, part_len, 0);
    }
    int rc = sw_err_set(err, SW_INVALID, "%.*s", (int)t.len, t.p);
    free(t.p);
    return rc;
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
        const char *chunk_start = r.layout;
        struct layout_chunk chunk = sw_layout_next(r.layout, (size_t)(r.layout_end - r.layout));
        if (!skip_prefix(&r, r.layout, chunk.prefix_len))
            return fail(err, layout, layout_len, value, len, chunk_start, chunk.prefix_len, r.v,
                        left(&r), NULL);
        const char *part = r.layout + chunk.prefix_len, *at = r.v;
        r.layout = part + chunk.len;
        if (chunk.part == LP_NONE)
            break;
        if (read_element(&r, &chunk))
            continue;
        SW_AUTO_CHARS *message = r.range ? sw_printf("%s out of range", r.range) : NULL;
        return fail(err, layout, layout_len, value, len, part, chunk.len, at, (size_t)(r.end - at),
                    message);
    }
    if (left(&r) > 0) {
        struct text t = { .limit = 1 << 20 };
        sw_text_puts(&t, "extra text: ");
        sw_quote(&t, r.v, left(&r), 0);
        sw_text_char(&t, '\0');
        int rc = fail(err, layout, layout_len, value, len, NULL, 0, NULL, 0, t.p);
        free(t.p);
        return rc;
    }
    const char *message = check_day(&r);
    if (message)
        return fail(err, layout, layout_len, value, len, NULL, 0, NULL, 0, message);
    *out = finish(&r, local);
    return 0;
}
