/* Durations as Go's time.ParseDuration reads them. */

#include "data/go/gotime.h"
#include "data/go/strconv.h"
#include "data/go/text.h"

static const struct {
    const char *name;
    int64_t ns;
} units[] = {
    { "ns", 1 },           { "us", 1000 },        { "\302\265s", 1000 }, /* micro sign */
    { "\316\274s", 1000 },                                               /* mu */
    { "ms", 1000000 },     { "s", 1000000000LL }, { "m", 60000000000LL }, { "h", 3600000000000LL },
};

static int bad_duration(struct sw_err *err, const char *what, const char *s, size_t len)
{
    SW_AUTO_CHARS *quoted = sw_time_quote_dup(s, len);
    return sw_err_set(err, SW_INVALID, "time: %s %s", what, quoted);
}

/* "1.5h" at @*p, added to @sum. */
static int add_term(const char **p, const char *end, const char *s, size_t len, uint64_t *sum,
                    struct sw_err *err)
{
    uint64_t whole = 0;
    uint64_t fraction = 0; /* the digits behind the point, divided by scale */
    double scale = 1;
    bool any = false, over = false;
    for (; *p < end && **p >= '0' && **p <= '9'; ++*p) {
        any = true;
        over = over || whole > (1ULL << 63) / 10;
        whole = over ? 0 : whole * 10 + (uint64_t)(**p - '0');
    }
    if (*p < end && **p == '.') {
        for (++*p; *p < end && **p >= '0' && **p <= '9'; ++*p) {
            any = true;
            if (fraction > (INT64_MAX - 9) / 10)
                continue; /* no room for more digits */
            fraction = fraction * 10 + (uint64_t)(**p - '0');
            scale *= 10;
        }
    }
    if (!any || over)
        return bad_duration(err, "invalid duration", s, len);
    const char *unit = *p;
    while (*p < end && **p != '.' && (**p < '0' || **p > '9'))
        ++*p;
    size_t unit_len = (size_t)(*p - unit);
    if (unit_len == 0)
        return bad_duration(err, "missing unit in duration", s, len);
    for (size_t i = 0; i < SW_COUNT(units); i++) {
        if (!sw_is_text(unit, unit_len, units[i].name))
            continue;
        uint64_t ns;
        if (__builtin_mul_overflow(whole, (uint64_t)units[i].ns, &ns) ||
            __builtin_add_overflow(ns, (uint64_t)((double)fraction * ((double)units[i].ns / scale)),
                                   &ns) ||
            __builtin_add_overflow(*sum, ns, sum) || *sum > 1ULL << 63)
            return bad_duration(err, "invalid duration", s, len);
        return 0;
    }
    SW_AUTO_CHARS *quoted = sw_time_quote_dup(unit, unit_len);
    SW_AUTO_CHARS *what = sw_printf("unknown unit %s in duration", quoted);
    return bad_duration(err, what, s, len);
}

int sw_duration_parse(const char *s, size_t len, int64_t *ns, struct sw_err *err)
{
    const char *p = s, *end = s + len;
    bool negative = len > 0 && *p == '-';
    uint64_t sum = 0;
    p += len > 0 && (*p == '-' || *p == '+');
    if (end - p == 1 && *p == '0') {
        *ns = 0;
        return 0;
    }
    if (p == end)
        return bad_duration(err, "invalid duration", s, len);
    while (p < end) {
        int rc = add_term(&p, end, s, len, &sum, err);
        if (rc < 0)
            return rc;
    }
    if (!negative && sum > INT64_MAX)
        return bad_duration(err, "invalid duration", s, len);
    *ns = negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return 0;
}

int64_t sw_duration_multiple(int64_t ns, int64_t m, bool round)
{
    if (m <= 0)
        return ns;
    int64_t rest = ns % m, away = rest < 0 ? -m : m;
    ns -= rest;
    bool is_half = rest < 0 ? -rest >= m + rest : rest >= m - rest;
    if (round && is_half && __builtin_add_overflow(ns, away, &ns))
        return away < 0 ? INT64_MIN : INT64_MAX;
    return ns;
}
