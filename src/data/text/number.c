#include "data/text/number.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* A finite positive number's shortest decimal digits: 0.d1d2d3... * 10^point, as Go names them. */
struct decimal {
    char digits[24];
    int n;
    int point;
};

/* strtod() reads the program's locale; numbers here are always "1.5". */
static locale_t c_locale(void)
{
    static locale_t c;
    if (!c)
        c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return c;
}

/* The digits of @v rounded to @n_digits, whatever the locale's decimal point looks like. */
static struct decimal round_to(double v, int n_digits)
{
    char text[64];
    (void)snprintf(text, sizeof text, "%.*e", n_digits - 1, v);
    struct decimal d = { 0 };
    const char *p = text;
    for (; *p && *p != 'e'; p++)
        if (*p >= '0' && *p <= '9')
            d.digits[d.n++] = *p;
    d.point = (int)strtol(p + 1, NULL, 10) + 1;
    return d;
}

static double value_of(const struct decimal *d)
{
    char text[48];
    (void)snprintf(text, sizeof text, "%.*se%d", d->n, d->digits, d->point - d->n);
    return strtod_l(text, NULL, c_locale());
}

static bool reads_back(const struct decimal *d, double v, int bits)
{
    return bits == 32 ? (float)value_of(d) == (float)v : value_of(d) == v;
}

/* At a power of two the interval that reads back is wider below than above, so that the nearest
 * 16-digit decimal can lie outside of it and its neighbour inside. */
static bool neighbour_reads_back(struct decimal *d, double v, int bits)
{
    for (int step = -1; step <= 1; step += 2) {
        struct decimal near = *d;
        char *last = &near.digits[near.n - 1];
        if ((step < 0 && *last == '0') || (step > 0 && *last == '9'))
            continue;
        *last = (char)(*last + step);
        if (reads_back(&near, v, bits)) {
            *d = near;
            return true;
        }
    }
    return false;
}

/* A whole number of up to 15 digits, which most are, is its own shortest text. */
static bool whole(double v, struct decimal *d)
{
    if (v < 1 || v >= 1e15 || v != (double)(uint64_t)v)
        return false;
    char digits[24];
    size_t at = sizeof digits;
    for (uint64_t u = (uint64_t)v; u > 0; u /= 10)
        digits[--at] = (char)('0' + u % 10);
    *d = (struct decimal){ .n = (int)(sizeof digits - at), .point = (int)(sizeof digits - at) };
    memcpy(d->digits, digits + at, sizeof digits - at);
    return true;
}

static struct decimal shortest(double v, int bits)
{
    /* Up to 15 (float: 6) digits survive in a normal number, so that the first try finds anything
     * shorter too; what it finds is then stripped of zeros. Subnormal ones hold fewer. */
    bool normal = bits == 32 ? isnormal((float)v) : isnormal(v);
    int full = bits == 32 ? 6 : 15, most = bits == 32 ? 9 : 17;
    int exp2;
    bool power_of_two = frexp(v, &exp2) == 0.5;
    struct decimal d = { 0 };
    bool found = bits == 64 && whole(v, &d);
    for (int n = normal ? full : 1; !found && n <= most; n++) {
        d = round_to(v, n);
        if (reads_back(&d, v, bits) || (power_of_two && neighbour_reads_back(&d, v, bits)))
            break;
    }
    while (d.n > 1 && d.digits[d.n - 1] == '0')
        d.n--;
    return d;
}

static char *put_exponential(char *p, const struct decimal *d)
{
    *p++ = d->digits[0];
    if (d->n > 1) {
        *p++ = '.';
        memcpy(p, d->digits + 1, (size_t)d->n - 1);
        p += d->n - 1;
    }
    int exp = d->point - 1;
    return p + sprintf(p, "e%c%02d", exp < 0 ? '-' : '+', abs(exp));
}

static char *put_plain(char *p, const struct decimal *d)
{
    for (int i = 0; i < d->point; i++)
        *p++ = i < d->n ? d->digits[i] : '0';
    if (d->point <= 0)
        *p++ = '0';
    if (d->n > d->point) {
        *p++ = '.';
        for (int i = d->point; i < d->n; i++)
            *p++ = i >= 0 ? d->digits[i] : '0';
    }
    *p = '\0';
    return p;
}

size_t sw_float_go(double value, char verb, int bits, char buf[static SW_FLOAT_LEN])
{
    char *p = buf;
    if (bits == 32)
        value = (double)(float)value;
    if (isnan(value) || isinf(value))
        return (size_t)sprintf(buf, "%s", isnan(value) ? "NaN" : value < 0 ? "-Inf" : "+Inf");
    if (signbit(value)) {
        *p++ = '-';
        value = -value;
    }
    struct decimal d = { .digits = "0", .n = 1, .point = 1 };
    if (value != 0)
        d = shortest(value, bits);
    /* strconv's %g has an exponent from 1e6 on and below 1e-4 */
    bool exponential = verb == 'e' || (verb == 'g' && (d.point < -3 || d.point > 6));
    p = exponential ? put_exponential(p, &d) : put_plain(p, &d);
    return (size_t)(p - buf);
}

size_t sw_float_json(double value, char buf[static SW_FLOAT_LEN])
{
    double size = fabs(value);
    if (size == 0 || (size >= 1e-6 && size < 1e21))
        return sw_float_go(value, 'f', 64, buf);
    size_t len = sw_float_go(value, 'e', 64, buf);
    /* encoding/json writes e-9, not e-09 */
    if (len >= 4 && buf[len - 4] == 'e' && buf[len - 3] == '-' && buf[len - 2] == '0') {
        buf[len - 2] = buf[len - 1];
        buf[--len] = '\0';
    }
    return len;
}

bool sw_number_read(const char *text, size_t len_bytes, double *out)
{
    char local[64];
    char *copy = len_bytes < sizeof local ? local : sw_alloc(len_bytes + 1);
    memcpy(copy, text, len_bytes);
    copy[len_bytes] = '\0';
    *out = strtod_l(copy, NULL, c_locale());
    if (copy != local)
        free(copy);
    return isfinite(*out);
}

struct sw_number sw_number_classify(const char *text, size_t len_bytes)
{
    const char *end = text + len_bytes, *p = text;
    bool negative = len_bytes && *p == '-';
    p += negative;
    bool fits = true; /* digits only, in 64 bits */
    uint64_t size = 0;
    for (; p < end && fits; p++)
        fits = *p >= '0' && *p <= '9' && !__builtin_mul_overflow(size, 10u, &size) &&
               !__builtin_add_overflow(size, (uint64_t)(*p - '0'), &size);

    struct sw_number n = { .kind = SW_NUMBER_REAL };
    if (fits && !(negative && size == 0)) {
        if (size <= INT64_MAX || (negative && size == (uint64_t)INT64_MAX + 1)) {
            n.kind = SW_NUMBER_INT;
            n.i = negative ? (int64_t)-size : (int64_t)size;
            return n;
        }
        if (!negative) {
            n.kind = SW_NUMBER_UINT;
            n.u = size;
            return n;
        }
    }
    if (!sw_number_read(text, len_bytes, &n.d))
        n.kind = SW_NUMBER_RANGE;
    return n;
}
