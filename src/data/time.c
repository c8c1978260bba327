#include "data/time.h"

#include <stdbool.h>

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

static int days_in(int year, int month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 && leap ? 29 : days[month - 1];
}

static bool take_date(const char **p, int64_t *days)
{
    int year, month, day;
    if (!take_digits(p, 4, &year) || !take(p, '-') || !take_digits(p, 2, &month) || month < 1 ||
        month > 12 || !take(p, '-') || !take_digits(p, 2, &day) || day < 1 ||
        day > days_in(year, month))
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
