#include "data/text/time.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Exactly @n digits. */
static bool take_digits(const char **p, int n, int *out)
{
    *out = 0;
    for (; n > 0; n--, (*p)++) {
        if (**p < '0' || **p > '9')
            return false;
        *out = *out * 10 + (**p - '0');
    }
    return true;
}

static bool take(const char **p, char c)
{
    if (**p != c)
        return false;
    (*p)++;
    return true;
}

/* Days since 1970-01-01 in the Gregorian calendar: years counted from March, so that the leap day
 * is a year's last. */
static int64_t days_from_civil(int year, int month, int day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t era = y / 400, year_of_era = y % 400;
    int64_t day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

static bool take_date(const char **p, int64_t *days)
{
    static const int lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    int year, month, day;
    if (!take_digits(p, 4, &year) || !take(p, '-') || !take_digits(p, 2, &month) || month < 1 ||
        month > 12 || !take(p, '-') || !take_digits(p, 2, &day) || day < 1)
        return false;
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (day > lengths[month - 1] + (leap && month == 2))
        return false;
    *days = year == 0 && month <= 2 ? days_from_civil(400, month, day) - 146097
                                    : days_from_civil(year, month, day);
    return true;
}

/* The first three digits of a fraction of a second; the others are cut off. */
static bool take_fraction(const char **p, int *ms)
{
    *ms = 0;
    if (!take(p, '.'))
        return true;
    int scale = 100;
    const char *from = *p;
    for (; **p >= '0' && **p <= '9'; (*p)++, scale /= 10)
        *ms += (**p - '0') * scale;
    return *p > from;
}

/* "Z" or "+01:30", in minutes. */
static bool take_offset(const char **p, int *minutes)
{
    *minutes = 0;
    if (take(p, 'Z') || take(p, 'z'))
        return true;
    int sign = **p == '-' ? -1 : 1, hours, rest;
    if (!take(p, '+') && !take(p, '-'))
        return false;
    if (!take_digits(p, 2, &hours) || hours > 23 || !take(p, ':') || !take_digits(p, 2, &rest) ||
        rest > 59)
        return false;
    *minutes = sign * (hours * 60 + rest);
    return true;
}

int sw_time_parse(const char *text, int64_t *ms, struct sw_err *err)
{
    const char *p = text;
    int64_t days;
    int hour, minute, second, fraction, offset;
    bool good = take_date(&p, &days) && (take(&p, 'T') || take(&p, 't')) &&
                take_digits(&p, 2, &hour) && hour <= 23 && take(&p, ':') &&
                take_digits(&p, 2, &minute) && minute <= 59 && take(&p, ':') &&
                take_digits(&p, 2, &second) && second <= 60 && take_fraction(&p, &fraction) &&
                take_offset(&p, &offset) && *p == '\0';
    if (!good)
        return sw_err_set(err, SW_INVALID, "'%s' is no time such as 2026-01-02T03:04:05Z", text);
    int64_t minutes = days * 1440 + hour * 60 + minute - offset;
    *ms = (minutes * 60 + second) * 1000 + fraction;
    return 0;
}

/* ---- spans -------------------------------------------------------------------------------------
 */

enum { DAY_MS = 86400000 };

/* One number with its unit, added to @ms. */
static bool take_unit(const char **p, double *ms, bool *plain)
{
    static const struct {
        const char *name;
        double ms;
    } units[] = { { "ms", 1 }, { "h", 3600000 }, { "m", 60000 }, { "s", 1000 } };
    double n = 0, scale = 1;
    const char *from = *p;
    for (; **p >= '0' && **p <= '9' && *p - from < 12; (*p)++)
        n = n * 10 + (**p - '0');
    bool digits = *p > from;
    if (take(p, '.'))
        for (from = *p; **p >= '0' && **p <= '9' && *p - from < 9; (*p)++, digits = true)
            n += (**p - '0') * (scale /= 10);
    if (!digits)
        return false;
    *plain = **p == '\0';
    for (size_t i = 0; i < SW_COUNT(units); i++) {
        size_t len = strlen(units[i].name);
        if (strncmp(*p, units[i].name, len) != 0)
            continue;
        *p += len;
        *ms += n * units[i].ms;
        return true;
    }
    *ms += n * 1000;
    return *plain;
}

int sw_span_parse(const char *text, int64_t *ms, struct sw_err *err)
{
    const char *p = text;
    double sum = 0;
    size_t n = 0;
    bool good = *p != '\0', plain = false;
    for (; good && *p; n++)
        good = take_unit(&p, &sum, &plain);
    if (!good || (plain && n > 1) || sum > 366.0 * DAY_MS)
        return sw_err_set(err, SW_INVALID, "'%s' is not a duration such as 90s, 5m or 1h30m", text);
    *ms = (int64_t)(sum + 0.5);
    return 0;
}

char *sw_span_text(int64_t ms)
{
    static const struct {
        const char *name;
        int64_t ms;
    } units[] = { { "h", 3600000 }, { "m", 60000 }, { "s", 1000 }, { "ms", 1 } };
    char *text = sw_strdup("");
    for (size_t i = 0; i < SW_COUNT(units); i++) {
        if (ms < units[i].ms)
            continue;
        char *longer = sw_printf("%s%" PRId64 "%s", text, ms / units[i].ms, units[i].name);
        free(text);
        text = longer;
        ms %= units[i].ms;
    }
    if (!*text) {
        sw_text_set(&text, "0s");
    }
    return text;
}
