/* Durations as Go's time.ParseDuration reads them. */
#include <stdlib.h>
#include <string.h>

#include "chart/template/go/gotime.h"
#include "chart/template/go/strconv.h"
#include "chart/template/go/text.h"

static const struct {
    const char *name;
    int64_t ns;
} units[] = {
    { "ns", 1 },           { "us", 1000 },        { "\302\265s", 1000 }, /* micro sign */
    { "\316\274s", 1000 },                                               /* mu */
    { "ms", 1000000 },     { "s", 1000000000LL }, { "m", 60000000000LL }, { "h", 3600000000000LL },
};

static int bad_duration(struct sw_err *err, const char *what, const char *s, size_t len,
                        const char *unit, size_t unit_len)
{
    struct text t = { .limit = 1 << 20 };
    sw_text_printf(&t, "time: %s ", what);
    if (unit) {
        sw_quote(&t, unit, unit_len, 0);
        sw_text_puts(&t, " in duration ");
    }
    sw_quote(&t, s, len, 0);
    int rc = sw_err_set(err, SW_INVALID, "%.*s", (int)t.len, t.p);
    free(t.p);
    return rc;
}

/* Digits at @p; more than 63 bits are marked in @over. */
static const char *read_digits(const char *p, const char *end, uint64_t *out, bool *over)
{
    for (*out = 0; p < end && *p >= '0' && *p <= '9'; p++) {
        if (*out > (1ULL << 63) / 10)
            *over = true;
        else
            *out = *out * 10 + (uint64_t)(*p - '0');
    }
    return p;
}

/* "1.5h" at @*p, added to @sum. */
static int add_term(const char **p, const char *end, const char *s, size_t len, uint64_t *sum,
                    struct sw_err *err)
{
    uint64_t whole;
    uint64_t fraction = 0; /* the digits behind the point, divided by scale */
    double scale = 1;
    bool over = false;
    const char *start = *p, *digits_end = read_digits(*p, end, &whole, &over);
    bool any = digits_end > start;
    *p = digits_end;
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
        return bad_duration(err, "invalid duration", s, len, NULL, 0);
    const char *unit = *p;
    while (*p < end && **p != '.' && (**p < '0' || **p > '9'))
        ++*p;
    size_t unit_len = (size_t)(*p - unit);
    if (unit_len == 0)
        return bad_duration(err, "missing unit in duration", s, len, NULL, 0);
    for (size_t i = 0; i < SW_COUNT(units); i++) {
        if (strlen(units[i].name) != unit_len || memcmp(units[i].name, unit, unit_len) != 0)
            continue;
        uint64_t ns;
        if (__builtin_mul_overflow(whole, (uint64_t)units[i].ns, &ns) ||
            __builtin_add_overflow(ns, (uint64_t)((double)fraction * ((double)units[i].ns / scale)),
                                   &ns) ||
            __builtin_add_overflow(*sum, ns, sum) || *sum > 1ULL << 63)
            return bad_duration(err, "invalid duration", s, len, NULL, 0);
        return 0;
    }
    return bad_duration(err, "unknown unit", s, len, unit, unit_len);
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
        return bad_duration(err, "invalid duration", s, len, NULL, 0);
    while (p < end) {
        int rc = add_term(&p, end, s, len, &sum, err);
        if (rc < 0)
            return rc;
    }
    if (!negative && sum > INT64_MAX)
        return bad_duration(err, "invalid duration", s, len, NULL, 0);
    *ns = negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return 0;
}

int64_t sw_duration_multiple(int64_t ns, int64_t m, bool round)
{
    if (m <= 0)
        return ns;
    int64_t r = ns % m;
    ns -= r;
    if (round && r > 0 && r >= m - r && ns <= INT64_MAX - m)
        ns += m;
    if (round && r < 0 && -r >= m + r && ns >= INT64_MIN + m)
        ns -= m;
    return ns;
}
