#pragma once
/* Points in time as Go's time package has them: formatted and read by layouts such as
 * "2006-01-02 15:04:05 MST", in IANA's time zones. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

struct text;

/** A time zone, in an arena; NULL is UTC. */
struct sw_zone;

/** A point in time, with the zone that it is shown in. */
struct sw_gotime {
    int64_t sec;  /* since 1970 */
    int32_t nsec; /* 0 .. 999999999 */
    const struct sw_zone *zone;
};

/** Go's zero time: 1 January of the year 1, UTC. */
#define SW_GOTIME_ZERO_SEC (-62135596800LL)

/** Date and time of day in some zone. */
struct sw_civil {
    int64_t year;
    int month, day; /* from 1 */
    int hour, minute, second;
    int weekday; /* 0: Sunday */
    int yearday; /* from 1 */
};

/** English names, January first. */
extern const char *const sw_month_names[12];
/** English names, Sunday first. */
extern const char *const sw_weekday_names[7];

/** The calendar's view of a time, in its zone. */
struct sw_civil sw_gotime_civil(struct sw_gotime t);
/** The time with this date and time of day in @zone; values beyond their ranges carry over, as in
 * Go's time.Date. */
struct sw_gotime sw_gotime_make(int64_t year, int64_t month, int64_t day, int64_t hour,
                                int64_t minute, int64_t second, int64_t nsec,
                                const struct sw_zone *zone);
/** @t and @ns nanoseconds. */
struct sw_gotime sw_gotime_add(struct sw_gotime t, int64_t ns);
/** @a - @b in nanoseconds, or the largest duration where that is larger. */
int64_t sw_gotime_sub(struct sw_gotime a, struct sw_gotime b);
/** @return -1, 0 or 1: @a is before, at or after @b */
int sw_gotime_compare(struct sw_gotime a, struct sw_gotime b);

/** Append @t as time.Time's Format(@layout) does. */
void sw_gotime_format(struct text *out, struct sw_gotime t, const char *layout, size_t len);
/** As time.Time's String. */
void sw_gotime_string(struct text *out, struct sw_gotime t);

/** time.ParseInLocation. Times without a zone are in @local. Zones that the text names are made in
 * @arena. @return 0 | SW_INVALID: 'parsing time "x" as "2006": cannot parse "x" as "2006"' */
int sw_gotime_parse(struct sw_arena *arena, const char *layout, size_t layout_len,
                    const char *value, size_t len, const struct sw_zone *local,
                    struct sw_gotime *out, struct sw_err *err);

/** time.ParseDuration: "1h30m", "-1.5h". @return 0 | SW_INVALID: 'time: invalid duration "x"' */
int sw_duration_parse(const char *s, size_t len, int64_t *ns, struct sw_err *err);

/** Cut to a multiple of @m, or with @round to the nearest one, halves away from zero, and the
 * largest duration where that is too large; as it is where @m is not positive. Go's
 * Duration.Truncate and Round. */
int64_t sw_duration_multiple(int64_t ns, int64_t m, bool round);

/* ---- zones ---- */

/** A zone by its IANA name; "" and "UTC" are UTC, "Local" is the process's (TZ, else
 * /etc/localtime, else UTC). @return 0 | SW_NOTFOUND */
int sw_zone_load(struct sw_arena *arena, const char *name, size_t len, const struct sw_zone **out);
/** A zone that is @offset seconds east of UTC at all times, made in @arena. */
const struct sw_zone *sw_zone_fixed(struct sw_arena *arena, const char *abbreviation, size_t len,
                                    int offset);
/** Seconds east of UTC at a time. @abbreviation: "CEST"; "" where the zone has none. */
int sw_zone_offset(const struct sw_zone *zone, int64_t sec, const char **abbreviation);
/** The offset that an abbreviation stands for in the zone, as Go guesses it. */
bool sw_zone_find(const struct sw_zone *zone, const char *abbreviation, size_t len, int64_t sec,
                  int *offset);

/** The process's zone; what cannot be read is UTC. */
const struct sw_zone *sw_zone_local(struct sw_arena *arena);
/** "UTC", "Local", an IANA name, or the abbreviation of a fixed one (often ""). Borrowed. */
const char *sw_zone_name(const struct sw_zone *zone);
