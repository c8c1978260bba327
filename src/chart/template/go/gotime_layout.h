#pragma once
/* Layouts, between gotime.c and gotime_parse.c. */
#include <stddef.h>

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

struct layout_chunk sw_layout_next(const char *layout, size_t len);

extern const char *const sw_month_names[12];
extern const char *const sw_weekday_names[7];
