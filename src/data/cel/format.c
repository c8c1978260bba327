/* "%s has %d".format([a, b]): the verbs s, d, f, e, b, x, X, o, %. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/cel/functions.h"
#include "data/cel/types.h"
#include "data/go/strconv.h"
#include "data/text/buffer.h"

static void put_text(struct sw_buffer *b, const char *text)
{
    sw_buffer_put(b, text, strlen(text));
}

/* What %s prints of a value; lists and maps with their elements, whose texts are quoted. @return
 * false: not of this type */
static bool put_value(struct cel_run *x, struct sw_buffer *b, struct cel_value v, bool inside);

static bool put_list(struct cel_run *x, struct sw_buffer *b, const struct cel_list *list)
{
    put_text(b, "[");
    for (size_t i = 0; i < list->n; i++) {
        put_text(b, i ? ", " : "");
        if (!put_value(x, b, sw_cel_at(x, list, i), true))
            return false;
    }
    put_text(b, "]");
    return true;
}

struct pair {
    const char *sort;
    struct cel_value key, value;
};

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct pair *)a)->sort, ((const struct pair *)b)->sort);
}

static bool put_map(struct cel_run *x, struct sw_buffer *b, const struct cel_map *map)
{
    const struct cel_value *entries = sw_cel_entries(x, map);
    struct pair *pairs = sw_arena_alloc(x->arena, (map->n + 1) * sizeof *pairs);
    for (size_t i = 0; i < map->n; i++) {
        const struct cel_value text = sw_cel_to_string(x, &entries[2 * i], 0);
        pairs[i] = (struct pair){ sw_cel_chars(x, text), entries[2 * i], entries[2 * i + 1] };
    }
    qsort(pairs, map->n, sizeof *pairs, by_key);
    put_text(b, "{");
    for (size_t i = 0; i < map->n; i++) {
        put_text(b, i ? ", " : "");
        if (!put_value(x, b, pairs[i].key, true))
            return false;
        put_text(b, ":");
        if (!put_value(x, b, pairs[i].value, true))
            return false;
    }
    put_text(b, "}");
    return true;
}

static void put_quoted(struct cel_run *x, struct sw_buffer *b, struct cel_value v)
{
    put_text(b, v.kind == CEL_BYTES ? "b" : "");
    put_text(b, sw_quoted(x->arena, v.s.p, v.s.len));
}

static bool put_value(struct cel_run *x, struct sw_buffer *b, struct cel_value v, bool inside)
{
    const bool is_text = v.kind == CEL_STRING || v.kind == CEL_BYTES;
    if (!sw_cel_charge(x, 1 + (is_text ? v.s.len / 10 : 0)))
        return false;
    if (v.kind == CEL_LIST)
        return put_list(x, b, v.list);
    if (v.kind == CEL_MAP)
        return put_map(x, b, v.map);
    if (is_text && inside) {
        put_quoted(x, b, v);
        return true;
    }
    if (v.kind == CEL_DOUBLE && !isfinite(v.d)) {
        put_text(b, isnan(v.d) ? "NaN" : v.d > 0 ? "Infinity" : "-Infinity");
        return true;
    }
    if (v.kind == CEL_DOUBLE && inside) {
        char buf[512];
        (void)snprintf(buf, sizeof buf, "%f", v.d);
        put_text(b, buf);
        return true;
    }
    const struct cel_value text = sw_cel_to_string(x, &v, 0);
    if (text.kind == CEL_STRING)
        sw_buffer_put(b, text.s.p, text.s.len);
    return text.kind == CEL_STRING;
}

static bool put_decimal(struct cel_run *x, struct sw_buffer *b, struct cel_value v)
{
    const bool whole = v.kind == CEL_INT || v.kind == CEL_UINT;
    const bool special = v.kind == CEL_DOUBLE && !isfinite(v.d);
    return (whole || special) && put_value(x, b, v, false);
}

/* A mantissa and a power of ten: 1.500000×10⁰⁰, whatever precision was asked for. */
static void put_scientific(struct sw_buffer *b, double d)
{
    static const char *const raised[] = { "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹" };
    char buf[64];
    (void)snprintf(buf, sizeof buf, "%e", d);
    const char *e = strchr(buf, 'e');
    sw_buffer_put(b, buf, (size_t)(e - buf));
    put_text(b, "×10");
    put_text(b, e[1] == '-' ? "⁻" : "");
    for (const char *p = e + 2; *p; p++)
        put_text(b, raised[*p - '0']);
}

/* With a comma between thousands. */
static void put_fixed(struct sw_buffer *b, double d, int precision)
{
    char buf[512];
    (void)snprintf(buf, sizeof buf, "%.*f", precision, d);
    const char *p = buf;
    if (*p == '-')
        sw_buffer_char(b, *p++);
    for (size_t left = strcspn(p, "."); left; left--) {
        sw_buffer_char(b, *p++);
        if (left > 1 && left % 3 == 1)
            sw_buffer_char(b, ',');
    }
    put_text(b, p);
}

static bool put_float(struct cel_run *x, struct sw_buffer *b, struct cel_value v, char verb,
                      int precision)
{
    if (v.kind != CEL_DOUBLE)
        return false;
    if (!isfinite(v.d))
        return put_value(x, b, v, false);
    if (verb == 'f')
        put_fixed(b, v.d, precision);
    else
        put_scientific(b, v.d);
    return true;
}

/* Digits of a whole number; texts and bytes in hexadecimal. */
static bool put_base(struct sw_buffer *b, struct cel_value v, char verb)
{
    char buf[72];
    size_t at = sizeof buf - 1;
    const char *digits = verb == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
    const bool hex = verb == 'x' || verb == 'X';
    const unsigned base = hex ? 16 : verb == 'o' ? 8 : 2;
    if (hex && (v.kind == CEL_STRING || v.kind == CEL_BYTES)) {
        for (size_t i = 0; i < v.s.len; i++) {
            sw_buffer_char(b, digits[(unsigned char)v.s.p[i] >> 4]);
            sw_buffer_char(b, digits[v.s.p[i] & 15]);
        }
        return true;
    }
    if (v.kind == CEL_BOOL && verb == 'b') {
        sw_buffer_char(b, v.b ? '1' : '0');
        return true;
    }
    if (v.kind != CEL_INT && v.kind != CEL_UINT)
        return false;
    const bool negative = v.kind == CEL_INT && v.i < 0;
    uint64_t u = negative ? -(uint64_t)v.i : v.u;
    buf[at] = '\0';
    do
        buf[--at] = digits[u % base];
    while (u /= base);
    if (negative)
        buf[--at] = '-';
    put_text(b, buf + at);
    return true;
}

/* The error of a verb that does not take such a value. */
static struct cel_value refuse(struct cel_run *x, char verb, struct cel_value v)
{
    static const struct {
        char verb;
        const char *text;
    } rows[] = {
        { 's', "string clause can only be used on strings, bools, bytes, ints, doubles, maps, "
               "lists, types, durations, and timestamps" },
        { 'd', "decimal clause can only be used on integers" },
        { 'f', "fixed-point clause can only be used on doubles" },
        { 'e', "scientific clause can only be used on doubles" },
        { 'b', "only integers and bools can be formatted as binary" },
        { 'o', "octal clause can only be used on integers" },
        { 'x', "only integers, byte buffers, and strings can be formatted as hex" },
    };
    const char *text = rows[SW_COUNT(rows) - 1].text;
    for (size_t i = 0; i < SW_COUNT(rows); i++)
        if (rows[i].verb == verb)
            text = rows[i].text;
    return sw_cel_fail(x, "error during formatting: %s, was given %s", text,
                       sw_cel_kind_name(v.kind));
}

static bool put(struct cel_run *x, struct sw_buffer *b, struct cel_value v, char verb,
                int precision)
{
    switch (verb) {
    case 's':
        return put_value(x, b, v, false);
    case 'd':
        return put_decimal(x, b, v);
    case 'f':
    case 'e':
        return put_float(x, b, v, verb, precision);
    default:
        return put_base(b, v, verb);
    }
}

/* A clause behind '%': its precision and verb. @return what follows; NULL: there is no such verb */
static const char *read_clause(const char *p, const char *end, char *verb, int *precision)
{
    *precision = 6;
    if (p < end && *p == '.') {
        *precision = 0;
        for (p++; p < end && *p >= '0' && *p <= '9' && *precision <= 100; p++)
            *precision = *precision * 10 + (*p - '0');
    }
    if (p >= end || !strchr("sdfebxXo", *p) || !*p || *precision > 100)
        return NULL;
    *verb = *p;
    return p + 1;
}

#define UNKNOWN "could not parse formatting clause: unrecognized formatting clause "

char *sw_cel_format_fault(struct cel_value format, size_t n)
{
    const char *end = format.s.p + format.s.len;
    size_t places = 0;
    for (const char *p = format.s.p; p < end;) {
        char verb;
        int precision;
        if (*p != '%' || (p + 1 < end && p[1] == '%')) {
            p += *p == '%' ? 2 : 1;
            continue;
        }
        const char *from = p + 1;
        p = read_clause(from, end, &verb, &precision);
        if (!p)
            return sw_printf(UNKNOWN "\"%.*s\"", (int)(from < end), from);
        if (places++ == n)
            return sw_printf("index %zu out of range", n);
    }
    return places < n ? sw_printf("too many arguments supplied to string.format (expected %zu, "
                                  "got %zu)",
                                  places, n)
                      : NULL;
}

struct cel_value sw_cel_format_text(struct cel_run *x, const struct cel_value *args, int variant)
{
    const char *p = args[0].s.p, *end = p + args[0].s.len;
    const struct cel_list *list = args[1].list;
    struct sw_buffer b = { 0 };
    struct cel_value error = { .kind = CEL_NULL };
    size_t used = 0, len;
    (void)variant;
    while (p < end && error.kind == CEL_NULL) {
        char verb = 0;
        int precision;
        if (*p != '%' || (p + 1 < end && p[1] == '%')) {
            sw_buffer_char(&b, *p);
            p += *p == '%' ? 2 : 1;
            continue;
        }
        const char *from = p + 1;
        p = read_clause(from, end, &verb, &precision);
        if (!p) {
            error = sw_cel_fail(x, UNKNOWN "\"%c\"", from < end ? *from : ' ');
            break;
        }
        if (used == list->n) {
            error = sw_cel_fail(x, "index %zu out of range", used);
            break;
        }
        const struct cel_value v = sw_cel_at(x, list, used++);
        if (v.kind == CEL_ERROR)
            error = v;
        else if (!put(x, &b, v, verb, precision))
            error = refuse(x, verb, v);
    }
    SW_AUTO_CHARS *text = sw_buffer_take(&b, &len);
    return error.kind == CEL_NULL ? sw_cel_text(x, text, len) : error;
}
