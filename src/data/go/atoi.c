#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/go/strconv.h"

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* Underscores may only stand between digits, or between a base's prefix and a digit. */
static bool underscores_ok(const char *s, size_t len)
{
    size_t i = 0;
    char last = '^'; /* '0': a digit, '_', '!': anything else */
    bool hex = false;
    if (len > 0 && (s[0] == '-' || s[0] == '+'))
        i = 1;
    if (len - i >= 2 && s[i] == '0' && strchr("box", lower(s[i + 1])) && s[i + 1]) {
        hex = lower(s[i + 1]) == 'x';
        i += 2;
        last = '0'; /* the prefix counts as a digit */
    }
    for (; i < len; i++) {
        if ((s[i] >= '0' && s[i] <= '9') || (hex && lower(s[i]) >= 'a' && lower(s[i]) <= 'f')) {
            last = '0';
        } else if (s[i] == '_') {
            if (last != '0')
                return false;
            last = '_';
        } else {
            if (last == '_')
                return false;
            last = '!';
        }
    }
    return last != '_';
}

enum sw_parse_error sw_parse_uint(const char *s, size_t len, int base, uint64_t *out)
{
    bool any_base = base == 0, underscores = false, over = false;
    size_t skip = 0;
    uint64_t u = 0;
    *out = 0;
    if (len == 0)
        return SW_PARSE_SYNTAX;
    if (any_base) { /* the prefix decides */
        char c = s[0] == '0' && len >= 3 ? lower(s[1]) : '\0';
        base = c == 'b' ? 2 : c == 'x' ? 16 : s[0] == '0' ? 8 : 10;
        skip = c == 'b' || c == 'o' || c == 'x' ? 2 : s[0] == '0';
    }
    for (size_t i = skip; i < len; i++) {
        if (s[i] == '_' && any_base) {
            underscores = true;
            continue;
        }
        char c = lower(s[i]);
        int d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'z' ? c - 'a' + 10 : 99;
        if (d >= base)
            return SW_PARSE_SYNTAX;
        over = over || __builtin_mul_overflow(u, (uint64_t)base, &u) ||
               __builtin_add_overflow(u, (uint64_t)d, &u);
    }
    if (underscores && !underscores_ok(s, len))
        return SW_PARSE_SYNTAX;
    *out = over ? UINT64_MAX : u;
    return over ? SW_PARSE_RANGE : SW_PARSE_OK;
}

enum sw_parse_error sw_parse_int(const char *s, size_t len, int base, int64_t *out)
{
    bool negative = len > 0 && s[0] == '-';
    size_t skip = negative || (len > 0 && s[0] == '+');
    uint64_t u;
    *out = 0;
    enum sw_parse_error e = sw_parse_uint(s + skip, len - skip, base, &u);
    if (e == SW_PARSE_SYNTAX)
        return e;
    uint64_t limit = (uint64_t)INT64_MAX + negative;
    if (u > limit) {
        e = SW_PARSE_RANGE;
        u = limit;
    }
    *out = negative ? (int64_t)(0 - u) : (int64_t)u;
    return e;
}

/* The characters of a Go float, without underscores, or false. A hex float needs its exponent. */
static bool clean_float(const char *s, size_t len, char *out)
{
    size_t i = 0, digits = 0;
    bool hex = false, dot = false, exp = false;
    if (i < len && (s[i] == '+' || s[i] == '-'))
        *out++ = s[i++];
    if (len - i > 2 && s[i] == '0' && lower(s[i + 1]) == 'x') {
        hex = true;
        *out++ = s[i++];
        *out++ = s[i++];
    }
    for (; i < len; i++) {
        char c = lower(s[i]);
        if (c == '_')
            continue;
        if (c == '.' && !dot)
            dot = true;
        else if ((c >= '0' && c <= '9') || (hex && c >= 'a' && c <= 'f'))
            digits++;
        else
            break;
        *out++ = s[i];
    }
    if (digits == 0)
        return false;
    if (i < len && lower(s[i]) == (hex ? 'p' : 'e')) {
        *out++ = s[i++];
        exp = true;
        if (i < len && (s[i] == '+' || s[i] == '-'))
            *out++ = s[i++];
        if (i == len || s[i] < '0' || s[i] > '9')
            return false;
        for (; i < len && ((s[i] >= '0' && s[i] <= '9') || s[i] == '_'); i++) {
            if (s[i] != '_')
                *out++ = s[i];
        }
    }
    *out = '\0';
    return i == len && (!hex || exp);
}

enum sw_parse_error sw_parse_float(const char *s, size_t len, double *out)
{
    char buf[512];
    size_t sign = len > 0 && (s[0] == '+' || s[0] == '-'), n = len - sign;
    *out = 0;
    if ((n == 3 && strncasecmp(s + sign, "inf", 3) == 0) ||
        (n == 8 && strncasecmp(s + sign, "infinity", 8) == 0)) {
        *out = s[0] == '-' ? -INFINITY : INFINITY;
        return SW_PARSE_OK;
    }
    if (len == 3 && strncasecmp(s, "nan", 3) == 0) {
        *out = NAN;
        return SW_PARSE_OK;
    }
    if (len >= sizeof buf || !clean_float(s, len, buf))
        return SW_PARSE_SYNTAX;
    if (memchr(s, '_', len) && !underscores_ok(s, len))
        return SW_PARSE_SYNTAX;
    *out = strtod(buf, NULL);
    return isinf(*out) ? SW_PARSE_RANGE : SW_PARSE_OK;
}
