#include "data/yaml/yaml_scalar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/text/number.h"

/* ---- words -------------------------------------------------------------------------------------
 */

/* clang-format off */
#define WORD_TRUE { .kind = SW_YAML_BOOL, .b = true }
#define WORD_FALSE { .kind = SW_YAML_BOOL }
#define WORD_NULL { .kind = SW_YAML_NULL }
#define WORD_FLOAT(v) { .kind = SW_YAML_FLOAT, .d = (v) }
/* clang-format on */

static const struct {
    const char *text;
    struct sw_yaml_scalar is;
} words[] = {
    { "y", WORD_TRUE },
    { "Y", WORD_TRUE },
    { "yes", WORD_TRUE },
    { "Yes", WORD_TRUE },
    { "YES", WORD_TRUE },
    { "true", WORD_TRUE },
    { "True", WORD_TRUE },
    { "TRUE", WORD_TRUE },
    { "on", WORD_TRUE },
    { "On", WORD_TRUE },
    { "ON", WORD_TRUE },
    { "n", WORD_FALSE },
    { "N", WORD_FALSE },
    { "no", WORD_FALSE },
    { "No", WORD_FALSE },
    { "NO", WORD_FALSE },
    { "false", WORD_FALSE },
    { "False", WORD_FALSE },
    { "FALSE", WORD_FALSE },
    { "off", WORD_FALSE },
    { "Off", WORD_FALSE },
    { "OFF", WORD_FALSE },
    { "~", WORD_NULL },
    { "null", WORD_NULL },
    { "Null", WORD_NULL },
    { "NULL", WORD_NULL },
    { ".nan", WORD_FLOAT(NAN) },
    { ".NaN", WORD_FLOAT(NAN) },
    { ".NAN", WORD_FLOAT(NAN) },
    { ".inf", WORD_FLOAT(INFINITY) },
    { ".Inf", WORD_FLOAT(INFINITY) },
    { ".INF", WORD_FLOAT(INFINITY) },
    { "+.inf", WORD_FLOAT(INFINITY) },
    { "+.Inf", WORD_FLOAT(INFINITY) },
    { "+.INF", WORD_FLOAT(INFINITY) },
    { "-.inf", WORD_FLOAT(-INFINITY) },
    { "-.Inf", WORD_FLOAT(-INFINITY) },
    { "-.INF", WORD_FLOAT(-INFINITY) },
};

static const struct sw_yaml_scalar *find_word(const char *text, size_t len)
{
    if (len > 5)
        return NULL;
    for (size_t i = 0; i < SW_COUNT(words); i++)
        if (words[i].text[0] == text[0] && strlen(words[i].text) == len &&
            memcmp(words[i].text, text, len) == 0)
            return &words[i].is;
    return NULL;
}

/* ---- numbers -----------------------------------------------------------------------------------
 */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits of a base, none or more. @return false: another character, or more than 64 bits */
static bool read_base(const char *p, const char *end, unsigned base, uint64_t *out)
{
    uint64_t v = 0;
    for (; p < end; p++) {
        char low = *p | 32;
        unsigned d = is_digit(*p)               ? (unsigned)(*p - '0')
                     : low >= 'a' && low <= 'f' ? (unsigned)(low - 'a' + 10)
                                                : 99;
        if (d >= base || __builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, d, &v))
            return false;
    }
    *out = v;
    return true;
}

/* A magnitude with its sign as INT or UINT. @return false: it does not fit */
static bool set_integer(bool negative, bool signs, uint64_t size, struct sw_yaml_scalar *out)
{
    if (size <= INT64_MAX || (negative && size == (uint64_t)INT64_MAX + 1))
        *out = (struct sw_yaml_scalar){ .kind = SW_YAML_INT,
                                        .i = (int64_t)(negative ? -size : size) };
    else if (!signs)
        *out = (struct sw_yaml_scalar){ .kind = SW_YAML_UINT, .u = size };
    else
        return false;
    return true;
}

/* strconv.ParseInt(s, 0, 64), or else ParseUint, which takes no sign. */
static bool read_integer(const char *text, const char *end, struct sw_yaml_scalar *out)
{
    const char *p = text;
    bool sign = p < end && (*p == '+' || *p == '-');
    bool negative = sign && *p == '-';
    p += sign;
    if (p == end)
        return false;
    unsigned base = 10;
    if (*p == '0') { /* 0x, 0o, 0b, 0 */
        char c = end - p >= 3 ? (char)(p[1] | 32) : '\0';
        bool letter = c == 'x' || c == 'o' || c == 'b';
        base = c == 'x' ? 16 : c == 'b' ? 2 : 8;
        p += letter ? 2 : 1;
    }
    uint64_t size;
    return read_base(p, end, base, &size) && set_integer(negative, sign, size, out);
}

/* What yaml.v2 tries last: "0b" or "-0b" and a base 2 number that may have a sign of its own. */
static bool read_odd_binary(const char *p, const char *end, struct sw_yaml_scalar *out)
{
    if (end - p < 4 || p[0] != '0' || p[1] != 'b' || (p[2] != '+' && p[2] != '-'))
        return false;
    uint64_t size;
    return read_base(p + 3, end, 2, &size) && set_integer(p[2] == '-', true, size, out);
}

static const char *skip_digits(const char *p, const char *end)
{
    while (p < end && is_digit(*p))
        p++;
    return p;
}

/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? */
static bool is_float_text(const char *p, const char *end)
{
    p += p < end && (*p == '+' || *p == '-');
    const char *whole = skip_digits(p, end);
    bool any = whole > p;
    p = whole;
    if (p < end && *p == '.') {
        const char *fraction = skip_digits(p + 1, end);
        if (!any && fraction == p + 1)
            return false;
        any = true;
        p = fraction;
    }
    if (any && p < end && (*p | 32) == 'e') {
        p++;
        p += p < end && (*p == '+' || *p == '-');
        const char *exponent = skip_digits(p, end);
        any = exponent > p;
        p = exponent;
    }
    return any && p == end;
}

static bool read_float(const char *p, const char *end, struct sw_yaml_scalar *out)
{
    double d;
    if (!is_float_text(p, end) || !sw_number_read(p, (size_t)(end - p), &d))
        return false;
    *out = (struct sw_yaml_scalar){ .kind = SW_YAML_FLOAT, .d = d };
    return true;
}

/* Copy without '_'. @return the length */
static size_t drop_underscores(const char *text, size_t len, char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        if (text[i] != '_')
            out[n++] = text[i];
    return n;
}

static struct sw_yaml_scalar resolve_number(const char *text, size_t len)
{
    struct sw_yaml_scalar is = { .kind = SW_YAML_STRING };
    enum { LONGEST = 400 }; /* a double's plain text; what is longer is still read, on the heap */
    char local[LONGEST];
    char *plain = len <= LONGEST ? local : sw_alloc(len);
    const char *end = plain + drop_underscores(text, len, plain);
    if (!read_integer(plain, end, &is) && !read_float(plain, end, &is))
        (void)read_odd_binary(plain, end, &is);
    if (plain != local)
        free(plain);
    return is;
}

/* A float that begins with its point: as Go reads it, where '_' may only stand between digits. */
static struct sw_yaml_scalar resolve_pointed(const char *text, size_t len)
{
    struct sw_yaml_scalar is = { .kind = SW_YAML_STRING };
    for (size_t i = 0; i < len; i++)
        if (text[i] == '_' && (i + 1 == len || !is_digit(text[i - 1]) || !is_digit(text[i + 1])))
            return is;
    char local[400];
    if (len > sizeof local)
        return is; /* no such number is written by anyone */
    const char *end = local + drop_underscores(text, len, local);
    (void)read_float(local, end, &is);
    return is;
}

struct sw_yaml_scalar sw_yaml_resolve(const char *text, size_t len_bytes)
{
    if (len_bytes == 0)
        return (struct sw_yaml_scalar){ .kind = SW_YAML_NULL };
    char c = text[0];
    if (is_digit(c))
        return resolve_number(text, len_bytes);
    const struct sw_yaml_scalar *word = memchr("yYnNtTfFoO~.+-", c, 14) ? find_word(text, len_bytes)
                                                                        : NULL;
    if (word)
        return *word;
    if (c == '.')
        return resolve_pointed(text, len_bytes);
    if (c == '+' || c == '-')
        return resolve_number(text, len_bytes);
    return (struct sw_yaml_scalar){ .kind = SW_YAML_STRING };
}

/* ---- timestamps --------------------------------------------------------------------------------
 */

struct cursor {
    const char *p, *end;
};

static bool take_char(struct cursor *c, char wanted)
{
    if (c->p == c->end || *c->p != wanted)
        return false;
    c->p++;
    return true;
}

/* One or two digits (exactly two where @fixed) up to @most. */
static bool take_number(struct cursor *c, bool fixed, int most, int *out)
{
    if (c->p == c->end || !is_digit(*c->p))
        return false;
    int v = *c->p++ - '0';
    if (c->p < c->end && is_digit(*c->p))
        v = v * 10 + (*c->p++ - '0');
    else if (fixed)
        return false;
    *out = v;
    return v <= most;
}

static bool take_date(struct cursor *c)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    int year = 0, month, day;
    for (int i = 0; i < 4; i++) {
        if (c->p == c->end || !is_digit(*c->p))
            return false;
        year = year * 10 + (*c->p++ - '0');
    }
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return take_char(c, '-') && take_number(c, false, 12, &month) && month >= 1 &&
           take_char(c, '-') && take_number(c, false, 31, &day) && day >= 1 &&
           day <= days[month - 1] + (leap && month == 2);
}

static bool take_clock(struct cursor *c)
{
    int ignored;
    if (!take_number(c, false, 23, &ignored) || !take_char(c, ':') ||
        !take_number(c, false, 59, &ignored) || !take_char(c, ':') ||
        !take_number(c, false, 59, &ignored))
        return false;
    if (c->end - c->p >= 2 && (*c->p == '.' || *c->p == ',') && is_digit(c->p[1])) {
        c->p++;
        while (c->p < c->end && is_digit(*c->p))
            c->p++;
    }
    return true;
}

bool sw_yaml_is_timestamp(const char *text, size_t len_bytes)
{
    struct cursor c = { text, text + len_bytes };
    if (!take_date(&c))
        return false;
    if (c.p == c.end)
        return true;
    if (take_char(&c, ' '))
        return take_clock(&c) && c.p == c.end;
    if ((!take_char(&c, 'T') && !take_char(&c, 't')) || !take_clock(&c))
        return false;
    int ignored;
    bool zone = take_char(&c, 'Z') || ((take_char(&c, '+') || take_char(&c, '-')) &&
                                       take_number(&c, true, 24, &ignored) && take_char(&c, ':') &&
                                       take_number(&c, true, 60, &ignored));
    return zone && c.p == c.end;
}

/* [-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)? */
static bool is_base60(const char *p, size_t len)
{
    const char *end = p + len;
    p += p < end && (*p == '+' || *p == '-');
    if (p == end || !is_digit(*p))
        return false;
    while (p < end && (is_digit(*p) || *p == '_'))
        p++;
    int groups = 0;
    for (; p < end && *p == ':'; groups++) {
        p++;
        if (p == end || !is_digit(*p))
            return false;
        if (*p++ <= '5' && p < end && is_digit(*p))
            p++;
    }
    if (p < end && *p == '.')
        for (p++; p < end && (is_digit(*p) || *p == '_');)
            p++;
    return groups > 0 && p == end;
}

bool sw_yaml_needs_quotes(const char *text, size_t len_bytes)
{
    if (sw_yaml_resolve(text, len_bytes).kind != SW_YAML_STRING)
        return true;
    char c = len_bytes ? text[0] : 0;
    if (!is_digit(c) && c != '+' && c != '-')
        return false;
    return sw_yaml_is_timestamp(text, len_bytes) || is_base60(text, len_bytes);
}
