#pragma once
/* Layouts, between gotime.c and gotime_parse.c. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What stands for a part of a time in a layout. */
enum layout_element {
    LP_NONE,
    LP_YEAR,
    LP_YEAR_SHORT,
    LP_MONTH_NAME,
    LP_MONTH_SHORT,
    LP_MONTH,
    LP_MONTH_ZERO,
    LP_WEEKDAY_NAME,
    LP_WEEKDAY_SHORT,
    LP_DAY,
    LP_DAY_SPACE,
    LP_DAY_ZERO,
    LP_YEARDAY_SPACE,
    LP_YEARDAY_ZERO,
    LP_HOUR,
    LP_HOUR12,
    LP_HOUR12_ZERO,
    LP_MINUTE,
    LP_MINUTE_ZERO,
    LP_SECOND,
    LP_SECOND_ZERO,
    LP_PM,
    LP_PM_LOWER,
    LP_FRACTION,
    LP_FRACTION_TRIMMED,
    LP_ZONE_NAME,
    LP_ZONE, /* -0700 */
    LP_ZONE_COLON,
    LP_ZONE_SHORT,
    LP_ZONE_SECONDS,
    LP_ZONE_COLON_SECONDS,
    LP_ISO, /* Z0700; from here on Z stands for UTC */
    LP_ISO_COLON,
    LP_ISO_SHORT,
    LP_ISO_SECONDS,
    LP_ISO_COLON_SECONDS,
};

/** A layout's beginning: literal text, then a part. */
struct layout_chunk {
    size_t prefix_len;
    enum layout_element part; /* LP_NONE: only text is left */
    size_t len;               /* of the part in the layout */
};

/** The first part of a layout of @len bytes, and the text in front of it. */
struct layout_chunk sw_layout_next(const char *layout, size_t len);

/** The year has 366 days. */
static inline bool sw_is_leap_year(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}
/** The days of a month, from 1. */
static inline int sw_days_in(int month, int64_t year)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    return month == 2 && sw_is_leap_year(year) ? 29 : days[month - 1];
}
/** Whether a part is an offset from UTC with colons. */
static inline bool sw_layout_has_colons(enum layout_element part)
{
    return part == LP_ZONE_COLON || part == LP_ISO_COLON || part == LP_ZONE_COLON_SECONDS ||
           part == LP_ISO_COLON_SECONDS;
}
/** Whether a part is an offset from UTC with seconds. */
static inline bool sw_layout_has_seconds(enum layout_element part)
{
    return part == LP_ZONE_SECONDS || part == LP_ISO_SECONDS || part == LP_ZONE_COLON_SECONDS ||
           part == LP_ISO_COLON_SECONDS;
}
