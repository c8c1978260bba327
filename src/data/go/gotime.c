#include "data/go/gotime.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "data/go/gotime_layout.h"
#include "data/go/text.h"

/* ---- the calendar ---- */

/* Bring @*low into 0 .. @base - 1. @return the carry to the next higher unit */
static int64_t carry(int64_t *low, int64_t base)
{
    int64_t up = *low / base;
    *low %= base;
    if (*low < 0) {
        *low += base;
        up--;
    }
    return up;
}

/* Days since 1970 of a date; months and days may be beyond their ranges. Years begin in March
 * here, so that the leap day is the last. */
static int64_t days_from_civil(int64_t year, int64_t month, int64_t day)
{
    month -= 1;
    year += carry(&month, 12);
    month = (month + 10) % 12; /* March: 0 */
    year -= month >= 10;
    int64_t era = (year >= 0 ? year : year - 399) / 400, of_era = year - era * 400;
    int64_t of_year = (153 * month + 2) / 5;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year + day - 1 - 719468;
}

struct sw_civil sw_gotime_civil(struct sw_gotime t)
{
    struct sw_civil c;
    int64_t sec = t.sec + sw_zone_offset(t.zone, t.sec, NULL), days = carry(&sec, 86400);
    int64_t since = days + 719468; /* 1 March of the year 0 */
    int64_t era = (since >= 0 ? since : since - 146096) / 146097, of_era = since - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int month = (int)((5 * of_year + 2) / 153);
    c.day = (int)(of_year - (153 * month + 2) / 5 + 1);
    c.month = month < 10 ? month + 3 : month - 9;
    c.year = year + era * 400 + (c.month <= 2);
    c.hour = (int)(sec / 3600);
    c.minute = (int)(sec / 60 % 60);
    c.second = (int)(sec % 60);
    c.weekday = (int)((days % 7 + 11) % 7);
    c.yearday = (int)(days - days_from_civil(c.year, 1, 1)) + 1;
    return c;
}

struct sw_gotime sw_gotime_make(int64_t year, int64_t month, int64_t day, int64_t hour,
                                int64_t minute, int64_t second, int64_t nsec,
                                const struct sw_zone *zone)
{
    second += carry(&nsec, 1000000000);
    int64_t sec = days_from_civil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
    /* the offset of that local time: that of the same time in UTC, corrected once */
    int offset = sw_zone_offset(zone, sec, NULL);
    if (offset != 0) {
        int64_t utc = sec - offset;
        int other = sw_zone_offset(zone, utc, NULL);
        if (other != offset && sw_zone_offset(zone, sec - other, NULL) == other)
            offset = other;
    }
    return (struct sw_gotime){ sec - offset, (int32_t)nsec, zone };
}

struct sw_gotime sw_gotime_add(struct sw_gotime t, int64_t ns)
{
    int64_t nsec = t.nsec + ns % 1000000000;
    t.sec += ns / 1000000000 + carry(&nsec, 1000000000);
    t.nsec = (int32_t)nsec;
    return t;
}

int64_t sw_gotime_sub(struct sw_gotime a, struct sw_gotime b)
{
    int64_t ns;
    if (__builtin_mul_overflow(a.sec - b.sec, 1000000000LL, &ns) ||
        __builtin_add_overflow(ns, (int64_t)a.nsec - b.nsec, &ns))
        return a.sec < b.sec ? INT64_MIN : INT64_MAX;
    return ns;
}

int sw_gotime_compare(struct sw_gotime a, struct sw_gotime b)
{
    if (a.sec != b.sec)
        return a.sec < b.sec ? -1 : 1;
    return a.nsec < b.nsec ? -1 : a.nsec > b.nsec;
}

/* ---- layouts ---- */

const char *const sw_month_names[12] = { "January",   "February", "March",    "April",
                                         "May",       "June",     "July",     "August",
                                         "September", "October",  "November", "December" };
const char *const sw_weekday_names[7] = { "Sunday",   "Monday", "Tuesday", "Wednesday",
                                          "Thursday", "Friday", "Saturday" };

/* What stands for a part of a time; the longer ones first where one begins another. */
static const struct {
    const char *text;
    enum layout_element part;
    bool no_lower_after; /* "Jan", but not in "Janet" */
} parts[] = {
    { "January", LP_MONTH_NAME, false },
    { "Jan", LP_MONTH_SHORT, true },
    { "Monday", LP_WEEKDAY_NAME, false },
    { "Mon", LP_WEEKDAY_SHORT, true },
    { "MST", LP_ZONE_NAME, false },
    { "002", LP_YEARDAY_ZERO, false },
    { "01", LP_MONTH_ZERO, false },
    { "02", LP_DAY_ZERO, false },
    { "03", LP_HOUR12_ZERO, false },
    { "04", LP_MINUTE_ZERO, false },
    { "05", LP_SECOND_ZERO, false },
    { "06", LP_YEAR_SHORT, false },
    { "15", LP_HOUR, false },
    { "1", LP_MONTH, false },
    { "2006", LP_YEAR, false },
    { "2", LP_DAY, false },
    { "_2", LP_DAY_SPACE, false },
    { "__2", LP_YEARDAY_SPACE, false },
    { "3", LP_HOUR12, false },
    { "4", LP_MINUTE, false },
    { "5", LP_SECOND, false },
    { "PM", LP_PM, false },
    { "pm", LP_PM_LOWER, false },
    { "-070000", LP_ZONE_SECONDS, false },
    { "-07:00:00", LP_ZONE_COLON_SECONDS, false },
    { "-0700", LP_ZONE, false },
    { "-07:00", LP_ZONE_COLON, false },
    { "-07", LP_ZONE_SHORT, false },
    { "Z070000", LP_ISO_SECONDS, false },
    { "Z07:00:00", LP_ISO_COLON_SECONDS, false },
    { "Z0700", LP_ISO, false },
    { "Z07:00", LP_ISO_COLON, false },
    { "Z07", LP_ISO_SHORT, false },
};

/* The part that @s begins with. @return its length, or 0 */
static size_t element_at(const char *s, size_t len, enum layout_element *part)
{
    for (size_t i = 0; i < SW_COUNT(parts); i++) {
        size_t n = strlen(parts[i].text);
        if (len < n || memcmp(s, parts[i].text, n) != 0)
            continue;
        if (parts[i].no_lower_after && len > n && s[n] >= 'a' && s[n] <= 'z')
            continue;
        if (parts[i].part == LP_DAY_SPACE && len >= 5 && memcmp(s, "_2006", 5) == 0)
            return 0; /* an underscore and a year */
        *part = parts[i].part;
        return n;
    }
    if (len < 2 || (s[0] != '.' && s[0] != ',') || (s[1] != '0' && s[1] != '9'))
        return 0;
    size_t n = 1; /* ".000", ",999": a fraction of a second */
    while (n < len && s[n] == s[1])
        n++;
    *part = s[1] == '0' ? LP_FRACTION : LP_FRACTION_TRIMMED;
    return n < len && s[n] >= '0' && s[n] <= '9' ? 0 : n;
}

struct layout_chunk sw_layout_next(const char *layout, size_t len)
{
    struct layout_chunk c = { .part = LP_NONE, .prefix_len = len };
    for (size_t i = 0; i < len; i++) {
        size_t n = element_at(layout + i, len - i, &c.part);
        if (n > 0) {
            c.prefix_len = i;
            c.len = n;
            break;
        }
    }
    return c;
}

static void put_zone(struct text *out, enum layout_element part, int offset)
{
    const char *colon = sw_layout_has_colons(part) ? ":" : "";
    if (part >= LP_ISO && offset == 0) {
        sw_text_char(out, 'Z');
        return;
    }
    int abs = offset < 0 ? -offset : offset;
    sw_text_printf(out, "%c%02d", offset < 0 ? '-' : '+', abs / 3600);
    if (part == LP_ZONE_SHORT || part == LP_ISO_SHORT)
        return;
    sw_text_printf(out, "%s%02d", colon, abs / 60 % 60);
    if (sw_layout_has_seconds(part))
        sw_text_printf(out, "%s%02d", colon, abs % 60);
}

/* The parts that are one number of the calendar, and their least width. */
static const struct {
    size_t at; /* in struct sw_civil */
    int width;
    bool zeros; /* in front, else spaces */
} numbers[] = {
    [LP_MONTH] = { offsetof(struct sw_civil, month), 1, false },
    [LP_MONTH_ZERO] = { offsetof(struct sw_civil, month), 2, true },
    [LP_DAY] = { offsetof(struct sw_civil, day), 1, false },
    [LP_DAY_SPACE] = { offsetof(struct sw_civil, day), 2, false },
    [LP_DAY_ZERO] = { offsetof(struct sw_civil, day), 2, true },
    [LP_YEARDAY_SPACE] = { offsetof(struct sw_civil, yearday), 3, false },
    [LP_YEARDAY_ZERO] = { offsetof(struct sw_civil, yearday), 3, true },
    [LP_HOUR] = { offsetof(struct sw_civil, hour), 2, true },
    [LP_HOUR12] = { offsetof(struct sw_civil, hour), 1, false },
    [LP_HOUR12_ZERO] = { offsetof(struct sw_civil, hour), 2, true },
    [LP_MINUTE] = { offsetof(struct sw_civil, minute), 1, false },
    [LP_MINUTE_ZERO] = { offsetof(struct sw_civil, minute), 2, true },
    [LP_SECOND] = { offsetof(struct sw_civil, second), 1, false },
    [LP_SECOND_ZERO] = { offsetof(struct sw_civil, second), 2, true },
};

static void put_element(struct text *out, const struct layout_chunk *chunk, const char *text,
                        const struct sw_civil *c, struct sw_gotime t)
{
    const char *name;
    int offset = sw_zone_offset(t.zone, t.sec, &name);
    char digits[10];
    bool trim;
    size_t n;
    if ((size_t)chunk->part < SW_COUNT(numbers) && numbers[chunk->part].width) {
        int value = *(const int *)((const char *)c + numbers[chunk->part].at);
        if (chunk->part == LP_HOUR12 || chunk->part == LP_HOUR12_ZERO)
            value = value % 12 == 0 ? 12 : value % 12;
        sw_text_printf(out, numbers[chunk->part].zeros ? "%0*d" : "%*d", numbers[chunk->part].width,
                       value);
        return;
    }
    switch (chunk->part) {
    case LP_YEAR:
        sw_text_printf(out, "%s%04lld", c->year < 0 ? "-" : "",
                       (long long)(c->year < 0 ? -c->year : c->year));
        return;
    case LP_YEAR_SHORT:
        sw_text_printf(out, "%02d", (int)(c->year < 0 ? 0 : c->year % 100));
        return;
    case LP_MONTH_NAME:
        sw_text_puts(out, sw_month_names[c->month - 1]);
        return;
    case LP_MONTH_SHORT:
        sw_text_put(out, sw_month_names[c->month - 1], 3);
        return;
    case LP_WEEKDAY_NAME:
        sw_text_puts(out, sw_weekday_names[c->weekday]);
        return;
    case LP_WEEKDAY_SHORT:
        sw_text_put(out, sw_weekday_names[c->weekday], 3);
        return;
    case LP_PM:
        sw_text_puts(out, c->hour >= 12 ? "PM" : "AM");
        return;
    case LP_PM_LOWER:
        sw_text_puts(out, c->hour >= 12 ? "pm" : "am");
        return;
    case LP_FRACTION:
    case LP_FRACTION_TRIMMED:
        trim = chunk->part == LP_FRACTION_TRIMMED;
        n = chunk->len - 1 > 9 ? 9 : chunk->len - 1;
        (void)snprintf(digits, sizeof digits, "%09d", (int)t.nsec);
        while (trim && n > 0 && digits[n - 1] == '0')
            n--;
        if (trim && n == 0)
            return;
        sw_text_char(out, text[0]);
        sw_text_put(out, digits, n);
        return;
    case LP_ZONE_NAME:
        if (name[0])
            sw_text_puts(out, name);
        else
            put_zone(out, LP_ZONE, offset);
        return;
    default:
        put_zone(out, chunk->part, offset);
    }
}

void sw_gotime_format(struct text *out, struct sw_gotime t, const char *layout, size_t len)
{
    struct sw_civil c = sw_gotime_civil(t);
    while (len > 0) {
        struct layout_chunk chunk = sw_layout_next(layout, len);
        size_t used = chunk.prefix_len + chunk.len;
        sw_text_put(out, layout, chunk.prefix_len);
        if (chunk.part != LP_NONE)
            put_element(out, &chunk, layout + chunk.prefix_len, &c, t);
        layout += used;
        len -= used;
    }
}

void sw_gotime_string(struct text *out, struct sw_gotime t)
{
    static const char layout[] = "2006-01-02 15:04:05.999999999 -0700 MST";
    sw_gotime_format(out, t, layout, sizeof layout - 1);
}
