/* "%s has %d".format([a, b]): the verbs s, d, f, e, b, x, X, o, %. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/cel/functions.h"
#include "data/cel/types.h"
#include "data/text/buffer.h"

static void put_text(struct sw_buffer *b, const char *text)
{
    sw_buffer_put(b, text, strlen(text));
}

/* What %s prints of a value; lists and maps with their elements. @return false: not of this type */
static bool put_value(struct cel_run *x, struct sw_buffer *b, struct cel_value v);

static bool put_list(struct cel_run *x, struct sw_buffer *b, const struct cel_list *list)
{
    put_text(b, "[");
    for (size_t i = 0; i < list->n; i++) {
        put_text(b, i ? ", " : "");
        if (!put_value(x, b, sw_cel_at(x, list, i)))
            return false;
    }
    put_text(b, "]");
    return true;
}

struct pair {
    const char *key;
    struct cel_value value;
};

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct pair *)a)->key, ((const struct pair *)b)->key);
}

static bool put_map(struct cel_run *x, struct sw_buffer *b, const struct cel_map *map)
{
    const struct cel_value *entries = sw_cel_entries(x, map);
    struct pair *pairs = sw_arena_alloc(x->arena, (map->n + 1) * sizeof *pairs);
    for (size_t i = 0; i < map->n; i++) {
        const struct cel_value key = sw_cel_to_string(x, &entries[2 * i], 0);
        pairs[i] = (struct pair){ sw_cel_chars(x, key), entries[2 * i + 1] };
    }
    qsort(pairs, map->n, sizeof *pairs, by_key);
    put_text(b, "{");
    for (size_t i = 0; i < map->n; i++) {
        put_text(b, i ? ", " : "");
        put_text(b, pairs[i].key);
        put_text(b, ": ");
        if (!put_value(x, b, pairs[i].value))
            return false;
    }
    put_text(b, "}");
    return true;
}

static bool put_value(struct cel_run *x, struct sw_buffer *b, struct cel_value v)
{
    if (!sw_cel_charge(x, 1 + (v.kind == CEL_STRING ? v.s.len / 10 : 0)))
        return false;
    if (v.kind == CEL_LIST)
        return put_list(x, b, v.list);
    if (v.kind == CEL_MAP)
        return put_map(x, b, v.map);
    if (v.kind == CEL_DOUBLE && !isfinite(v.d)) {
        put_text(b, isnan(v.d) ? "NaN" : v.d > 0 ? "Infinity" : "-Infinity");
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
    return (whole || special) && put_value(x, b, v);
}

static bool put_float(struct cel_run *x, struct sw_buffer *b, struct cel_value v, char verb,
                      int precision)
{
    char buf[512];
    double d = v.d;
    if (v.kind == CEL_INT)
        d = (double)v.i;
    else if (v.kind == CEL_UINT)
        d = (double)v.u;
    else if (v.kind != CEL_DOUBLE)
        return false;
    if (!isfinite(d))
        return put_value(x, b, v);
    (void)snprintf(buf, sizeof buf, verb == 'f' ? "%.*f" : "%.*e", precision, d);
    put_text(b, buf);
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
    const char *is = sw_cel_type_text(x->arena, sw_cel_type(v.kind));
    if (v.kind == CEL_MAP || v.kind == CEL_LIST)
        is = sw_cel_kind_name(v.kind);
    const char *wanted = verb == 's'                  ? "strings, bools, ints, and similar"
                         : verb == 'd'                ? "integers"
                         : verb == 'f' || verb == 'e' ? "doubles"
                         : verb == 'o'                ? "integers"
                         : verb == 'b'                ? "integers and bools"
                                                      : "integers, byte buffers, and strings";
    const char *clause = verb == 's'   ? "string"
                         : verb == 'd' ? "decimal"
                         : verb == 'f' ? "fixed-point"
                         : verb == 'e' ? "scientific"
                         : verb == 'b' ? "binary"
                         : verb == 'o' ? "octal"
                                       : "hex";
    return sw_cel_fail(x, "error during formatting: %s clause can only be used on %s, was given %s",
                       clause, wanted, is);
}

static bool put(struct cel_run *x, struct sw_buffer *b, struct cel_value v, char verb,
                int precision)
{
    switch (verb) {
    case 's':
        return put_value(x, b, v);
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
        p = read_clause(p + 1, end, &verb, &precision);
        if (!p) {
            error = sw_cel_fail(x, "could not parse formatting clause: unrecognized formatting "
                                   "clause");
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
