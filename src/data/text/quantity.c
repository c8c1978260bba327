#include "data/text/quantity.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/text/number.h"

static const __int128 nano = 1000000000;
/* Kubernetes cuts quantities down to what an int64 of units holds. */
#define MOST ((__int128)INT64_MAX * nano)

/* ---- suffixes ----------------------------------------------------------------------------------
 */

struct suffix {
    const char *text;
    int exponent; /* of 10, or of 2 where binary */
    enum sw_quantity_format format;
};

static const struct suffix suffixes[] = {
    { "n", -9, SW_QUANTITY_DECIMAL_SI }, { "u", -6, SW_QUANTITY_DECIMAL_SI },
    { "m", -3, SW_QUANTITY_DECIMAL_SI }, { "", 0, SW_QUANTITY_DECIMAL_SI },
    { "k", 3, SW_QUANTITY_DECIMAL_SI },  { "M", 6, SW_QUANTITY_DECIMAL_SI },
    { "G", 9, SW_QUANTITY_DECIMAL_SI },  { "T", 12, SW_QUANTITY_DECIMAL_SI },
    { "P", 15, SW_QUANTITY_DECIMAL_SI }, { "E", 18, SW_QUANTITY_DECIMAL_SI },
    { "Ki", 10, SW_QUANTITY_BINARY_SI }, { "Mi", 20, SW_QUANTITY_BINARY_SI },
    { "Gi", 30, SW_QUANTITY_BINARY_SI }, { "Ti", 40, SW_QUANTITY_BINARY_SI },
    { "Pi", 50, SW_QUANTITY_BINARY_SI }, { "Ei", 60, SW_QUANTITY_BINARY_SI },
};

/* ---- reading -----------------------------------------------------------------------------------
 */

/* digits[.digits] as a whole number and how many of its digits are behind the point */
struct mantissa {
    unsigned __int128 digits;
    int n_fraction;
    bool more;     /* digits that did not fit were cut off: not zero */
    int n_dropped; /* whole ones that did not fit */
    int n_read;
};

static const char *read_mantissa(const char *p, struct mantissa *m)
{
    bool fraction = false;
    *m = (struct mantissa){ 0 };
    for (; (*p >= '0' && *p <= '9') || (*p == '.' && !fraction); p++) {
        if (*p == '.') {
            fraction = true;
            continue;
        }
        m->n_read++;
        unsigned __int128 next;
        if (m->n_dropped == 0 && !m->more &&
            !__builtin_mul_overflow(m->digits, (unsigned __int128)10, &next) &&
            !__builtin_add_overflow(next, (unsigned __int128)(*p - '0'), &next)) {
            m->digits = next;
            m->n_fraction += fraction;
        } else {
            m->more = m->more || *p != '0';
            m->n_dropped += !fraction;
        }
    }
    return p;
}

/* @v * @base^@exponent in nano units, rounded up, cut down to MOST. */
static __int128 scale(unsigned __int128 v, bool more, int base, int exponent)
{
    for (; exponent > 0; exponent--) {
        if (v > (unsigned __int128)MOST)
            return MOST;
        v *= (unsigned)base;
    }
    for (; exponent < 0 && (v != 0 || more); exponent++) {
        more = more || v % (unsigned)base != 0;
        v /= (unsigned)base;
        if (exponent < -200)
            exponent = -200;
    }
    if (more)
        v++;
    return v > (unsigned __int128)MOST ? MOST : (__int128)v;
}

static __int128 decimal_nano(const struct mantissa *m, int exponent)
{
    if (m->digits == 0 && !m->more)
        return 0;
    int shift = exponent - m->n_fraction + m->n_dropped + 9;
    return scale(m->digits, m->more, 10, shift > 100 ? 100 : shift < -100 ? -100 : shift);
}

/* The fraction goes first, in nano units; so "1.5Gi" is exact and "0.1Ki" is rounded up. */
static __int128 binary_nano(const struct mantissa *m, int exponent)
{
    unsigned __int128 v = m->digits;
    int bits = exponent;
    int shift = 9 + m->n_dropped - m->n_fraction;
    for (; shift > 0 && v <= (unsigned __int128)MOST; shift--)
        v *= 10;
    if (shift > 0)
        return MOST;
    /* v * 2^bits / 10^-shift, dividing as late as the width allows */
    bool more = m->more;
    while (bits > 0 && v <= ~(unsigned __int128)0 >> 1) {
        v <<= 1;
        bits--;
    }
    for (; shift < 0; shift++) {
        more = more || v % 10 != 0;
        v /= 10;
        while (bits > 0 && v <= ~(unsigned __int128)0 >> 1) {
            v <<= 1;
            bits--;
        }
    }
    return scale(v, more, 2, bits);
}

static int fail(const char *text, struct sw_err *err)
{
    return sw_err_set(err, SW_INVALID,
                      "'%s' is no quantity: a number with a suffix such as m, k, M, "
                      "Ki, Mi or an exponent e3 is",
                      text);
}

/* @return false: no exponent such as "e3", "E-6" */
static bool read_exponent(const char *p, int *exponent)
{
    char *end;
    if ((*p | 32) != 'e' || !p[1])
        return false;
    p++;
    const char *digits = p + (*p == '+' || *p == '-');
    if (*digits < '0' || *digits > '9')
        return false;
    long v = strtol(p, &end, 10);
    *exponent = v > 1000 ? 1000 : v < -1000 ? -1000 : (int)v;
    return *end == '\0';
}

int sw_quantity_parse(const char *text, struct sw_quantity *out, struct sw_err *err)
{
    const char *p = text;
    bool negative = *p == '-';
    p += *p == '-' || *p == '+';
    struct mantissa m;
    p = read_mantissa(p, &m);
    if (m.n_read == 0)
        return fail(text, err);

    struct sw_quantity q = { .format = SW_QUANTITY_DECIMAL_SI };
    const struct suffix *suffix = NULL;
    for (size_t i = 0; i < SW_COUNT(suffixes) && !suffix; i++)
        suffix = strcmp(suffixes[i].text, p) == 0 ? &suffixes[i] : NULL;
    int exponent;
    if (suffix) {
        q.format = suffix->format;
        q.nano = suffix->format == SW_QUANTITY_BINARY_SI ? binary_nano(&m, suffix->exponent)
                                                         : decimal_nano(&m, suffix->exponent);
    } else if (read_exponent(p, &exponent)) {
        q.format = SW_QUANTITY_DECIMAL_EXP;
        q.nano = decimal_nano(&m, exponent);
    } else {
        return fail(text, err);
    }
    if (negative)
        q.nano = -q.nano;
    *out = q;
    return 0;
}

int sw_quantity_from_json(struct json_object *value, struct sw_quantity *out, struct sw_err *err)
{
    if (json_object_is_type(value, json_type_int) || json_object_is_type(value, json_type_string))
        return sw_quantity_parse(json_object_get_string(value), out, err);
    if (!json_object_is_type(value, json_type_double))
        return sw_err_set(err, SW_INVALID, "neither a string nor a number is no quantity");
    char text[SW_FLOAT_LEN];
    (void)sw_float_go(json_object_get_double(value), 'f', 64, text);
    return sw_quantity_parse(text, out, err);
}

/* ---- arithmetic --------------------------------------------------------------------------------
 */

int sw_quantity_cmp(const struct sw_quantity *a, const struct sw_quantity *b)
{
    return (a->nano > b->nano) - (a->nano < b->nano);
}

void sw_quantity_add(struct sw_quantity *a, const struct sw_quantity *b)
{
    if (a->nano == 0)
        a->format = b->format;
    a->nano += b->nano; /* each within 2^94: the sum of many still fits */
}

struct sw_quantity sw_quantity_from_int(int64_t units)
{
    return (struct sw_quantity){ .nano = (__int128)units * nano, .format = SW_QUANTITY_DECIMAL_SI };
}

/* Rounded away from zero, as Kubernetes does. */
static int64_t in_units_of(__int128 v, __int128 unit)
{
    __int128 q = v / unit;
    if (v % unit != 0)
        q += v > 0 ? 1 : -1;
    return q > INT64_MAX ? INT64_MAX : q < INT64_MIN ? INT64_MIN : (int64_t)q;
}

int64_t sw_quantity_value(const struct sw_quantity *q)
{
    return in_units_of(q->nano, nano);
}

int64_t sw_quantity_milli(const struct sw_quantity *q)
{
    return in_units_of(q->nano, nano / 1000);
}

/* ---- writing -----------------------------------------------------------------------------------
 */

char *sw_quantity_text(const struct sw_quantity *q, char buf[static 64])
{
    char *p = buf;
    unsigned __int128 v = (unsigned __int128)(q->nano < 0 ? -q->nano : q->nano);
    if (q->nano == 0)
        return memcpy(buf, "0", sizeof "0");
    if (q->nano < 0)
        *p++ = '-';
    /* fractions, and less than 1024, have no binary suffix */
    bool binary = q->format == SW_QUANTITY_BINARY_SI && v % (unsigned __int128)nano == 0 &&
                  v / (unsigned __int128)nano >= 1024;
    int exponent = binary ? 0 : -9, base = binary ? 1024 : 1000, step = binary ? 10 : 3;
    if (binary)
        v /= (unsigned __int128)nano;
    /* the largest suffix that leaves no fraction; without suffixes any exponent does */
    while (v % (unsigned)base == 0 &&
           (exponent < (binary ? 60 : 18) || q->format == SW_QUANTITY_DECIMAL_EXP)) {
        v /= (unsigned)base;
        exponent += step;
    }
    char digits[48];
    int n = 0;
    do
        digits[n++] = (char)('0' + (int)(v % 10));
    while ((v /= 10) > 0);
    while (n > 0)
        *p++ = digits[--n];
    if (q->format == SW_QUANTITY_DECIMAL_EXP) {
        if (exponent != 0)
            p += sprintf(p, "e%d", exponent);
        *p = '\0';
        return buf;
    }
    enum sw_quantity_format format = binary ? SW_QUANTITY_BINARY_SI : SW_QUANTITY_DECIMAL_SI;
    for (size_t i = 0; i < SW_COUNT(suffixes); i++)
        if (suffixes[i].exponent == exponent && suffixes[i].format == format)
            memcpy(p, suffixes[i].text, strlen(suffixes[i].text) + 1);
    if (exponent == 0)
        *p = '\0';
    return buf;
}
