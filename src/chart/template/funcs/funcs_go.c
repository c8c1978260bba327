/* The functions that Go's text/template itself has. */
#include <stdio.h>

#include "chart/template/funcs/funcs.h"
#include "chart/template/value/object.h"
#include "chart/template/value/print.h"
#include "data/text/unicode.h"

/* ---- comparison ---- */

/* The kind of a scalar; SW_K_INVALID for others. */
static enum sw_kind basic_kind(struct sw_value v)
{
    return sw_kind(v) <= SW_K_STRING ? sw_kind(v) : SW_K_INVALID;
}

static int incompatible(struct call *c, struct sw_value a, struct sw_value b)
{
    return sw_call_fail(c, "incompatible types for comparison: %s and %s", sw_value_type_name(a),
                        sw_value_type_name(b));
}

static const char *sprint_s(struct call *c, struct sw_value v)
{
    sw_printf_values(c->text, "%s", 2, &v, 1);
    return sw_call_take(c).as.s;
}

static bool is_comparable(struct sw_value v)
{
    if (v.type != SW_T_OBJECT)
        return v.type == SW_T_ERROR;
    if (v.as.object->type->pointer)
        return true;
    for (size_t i = 0; i < v.as.object->type->n_fields; i++) {
        enum sw_kind k = sw_kind(v.as.object->fields[i]);
        if (k == SW_K_SLICE || k == SW_K_MAP)
            return false;
    }
    return true;
}

static int equal(struct call *c, struct sw_value a, struct sw_value b, bool *equal)
{
    enum sw_kind ka = basic_kind(a), kb = basic_kind(b);
    *equal = false;
    if ((ka == SW_K_INT && kb == SW_K_UINT) || (ka == SW_K_UINT && kb == SW_K_INT)) {
        int64_t i = ka == SW_K_INT ? a.as.i : b.as.i;
        *equal = i >= 0 && a.as.u == b.as.u;
        return 0;
    }
    if (ka != kb)
        return sw_value_is_nil(a) || sw_value_is_nil(b) ? 0 : incompatible(c, a, b);
    if (ka != SW_K_INVALID) {
        *equal = sw_value_basic_equal(a, b);
        return 0;
    }
    if (sw_kind(a) != sw_kind(b) && !sw_value_is_nil(a) && !sw_value_is_nil(b))
        return sw_call_fail(c, "non-comparable types %s: %s, %s: %s", sprint_s(c, a),
                            sw_value_type_name(a), sw_value_type_name(b), sprint_s(c, b));
    if (sw_value_is_any_nil(a) || sw_value_is_any_nil(b)) {
        *equal = sw_value_is_any_nil(a) == sw_value_is_any_nil(b);
        return 0;
    }
    if (!is_comparable(b))
        return sw_call_fail(c, "non-comparable type %s: %s", sprint_s(c, b), sw_value_type_name(b));
    *equal = sw_call_equal(c, a, b);
    return 0;
}

static int fn_eq(struct call *c)
{
    bool same = false;
    if (c->n < 2)
        return sw_call_fail(c, "missing argument for comparison");
    for (size_t i = 1; i < c->n && !same; i++) {
        int rc = equal(c, c->args[0], c->args[i], &same);
        if (rc < 0)
            return rc;
    }
    return sw_return(c, sw_value_bool(same));
}

static int fn_ne(struct call *c)
{
    bool same;
    int rc = equal(c, c->args[0], c->args[1], &same);
    return rc < 0 ? rc : sw_return(c, sw_value_bool(!same));
}

static int less(struct call *c, struct sw_value a, struct sw_value b, bool *less)
{
    enum sw_kind ka = basic_kind(a), kb = basic_kind(b);
    if (ka == SW_K_INT && kb == SW_K_UINT) {
        *less = a.as.i < 0 || a.as.u < b.as.u;
        return 0;
    }
    if (ka == SW_K_UINT && kb == SW_K_INT) {
        *less = b.as.i >= 0 && a.as.u < b.as.u;
        return 0;
    }
    if (ka != kb && ka != SW_K_INVALID && kb != SW_K_INVALID)
        return incompatible(c, a, b);
    switch (ka == kb ? ka : SW_K_INVALID) {
    case SW_K_INT:
        *less = a.as.i < b.as.i;
        return 0;
    case SW_K_UINT:
        *less = a.as.u < b.as.u;
        return 0;
    case SW_K_FLOAT:
        *less = a.as.f < b.as.f;
        return 0;
    case SW_K_STRING:
        *less = sw_bytes_order(a.as.s, a.len, b.as.s, b.len) < 0;
        return 0;
    default:
        return sw_call_fail(c, "invalid type for comparison");
    }
}

enum order { LT, LE, GT, GE };

/* le is lt or eq; gt and ge are their opposites. */
static int fn_order(struct call *c)
{
    struct sw_value a = c->args[0], b = c->args[1];
    enum order order = c->func->variant;
    bool yes = false;
    int rc = less(c, a, b, &yes);
    if (rc == 0 && !yes && (order == LE || order == GT))
        rc = equal(c, a, b, &yes);
    if (rc < 0)
        return rc;
    return sw_return(c, sw_value_bool(order == LT || order == LE ? yes : !yes));
}

static int fn_not(struct call *c)
{
    return sw_return(c, sw_value_bool(!sw_value_truth(c->args[0])));
}

/* ---- index, len, call ---- */

static int fn_index(struct call *c)
{
    struct sw_value item = c->args[0];
    if (sw_value_is_nil(item))
        return sw_call_fail(c, "index of untyped nil");
    for (size_t i = 1; i < c->n; i++) {
        struct sw_value index = c->args[i];
        const struct sw_value *found;
        size_t len = sw_value_len(item);
        switch (sw_kind(item)) {
        case SW_K_STRING:
        case SW_K_SLICE:
            if (sw_value_is_nil(index))
                return sw_call_fail(c, "cannot index slice/array with nil");
            if (sw_kind(index) != SW_K_INT && sw_kind(index) != SW_K_UINT)
                return sw_call_fail(c, "cannot index slice/array with type %s",
                                    sw_value_type_name(index));
            if (index.as.i < 0 || index.as.u > len)
                return sw_call_fail(c, "index out of range: %lld", (long long)index.as.i);
            if (index.as.u == len) /* an error of reflect in Go */
                return sw_call_fail(c, "reflect: %s index out of range", sw_value_kind_name(item));
            if (item.type == SW_T_STRING) /* its bytes */
                item.type = SW_T_BYTES;
            item = sw_value_at(item, (size_t)index.as.u);
            break;
        case SW_K_MAP:
            if (sw_value_is_nil(index))
                return sw_call_fail(c, "value is nil; should be of type string");
            if (index.type != SW_T_STRING)
                return sw_call_fail(c, "value has type %s; should be string",
                                    sw_value_type_name(index));
            found = sw_map_find(item.as.map, index.as.s, index.len);
            item = found ? *found : sw_value_zero_elem(item);
            break;
        case SW_K_INVALID:
            return sw_call_fail(c, "index of nil pointer");
        default:
            return sw_call_fail(c, "can't index item of type %s", sw_value_type_name(item));
        }
    }
    return sw_return(c, item);
}

static int fn_len(struct call *c)
{
    struct sw_value v = c->args[0];
    if (sw_value_is_nil(v))
        return sw_call_fail(c, c->is_element ? "len of nil pointer"
                                             : "reflect: call of reflect.Value.Type on zero Value");
    if (sw_kind(v) < SW_K_STRING || sw_kind(v) > SW_K_MAP)
        return sw_call_fail(c, "len of type %s",
                            sw_value_type_name(v) +
                                (v.type == SW_T_OBJECT && v.as.object->type->pointer));
    return sw_return(c, sw_value_int((int64_t)sw_value_len(v)));
}

/* No value in a chart's templates is a function. */
static int fn_call(struct call *c)
{
    if (sw_value_is_nil(c->args[0]))
        return sw_call_fail(c, "call of nil");
    return sw_call_fail(c, "non-function %.*s of type %s", (int)c->self.len, c->self.as.s,
                        sw_value_type_name(c->args[0]));
}

/* ---- printing ---- */

static int fn_print(struct call *c)
{
    sw_print(c->text, c->args, c->n);
    return sw_return_text(c);
}

static int fn_println(struct call *c)
{
    sw_println(c->text, c->args, c->n);
    return sw_return_text(c);
}

static int fn_printf(struct call *c)
{
    sw_printf_values(c->text, c->args[0].as.s, c->args[0].len, c->args + 1, c->n - 1);
    return sw_return_text(c);
}

/* ---- escaping ---- */

/* The text to escape: a single string itself, else the operands as by print. */
static struct sw_value joined_args(struct call *c)
{
    if (c->n == 1 && c->args[0].type == SW_T_STRING)
        return c->args[0];
    struct sw_value *args = sw_arena_alloc(c->arena, (c->n + 1) * sizeof *args);
    for (size_t i = 0; i < c->n; i++)
        args[i] = sw_value_is_nil(c->args[i]) ? sw_value_cstr("<no value>") : c->args[i];
    sw_print(c->text, args, c->n);
    return sw_call_take(c);
}

struct escape {
    uint32_t rune;
    const char *text;
};

/* The escape of @rune, or NULL. The last row has no text. */
static const char *escape_of(const struct escape *table, uint32_t rune)
{
    while (table->text && table->rune != rune)
        table++;
    return table->text;
}

static int fn_html(struct call *c)
{
    static const struct escape escapes[] = {
        { 0, "\xEF\xBF\xBD" }, { '"', "&#34;" }, { '\'', "&#39;" }, { '&', "&amp;" },
        { '<', "&lt;" },       { '>', "&gt;" },  { 0, NULL },
    };
    struct sw_value v = joined_args(c);
    for (size_t i = 0; i < v.len; i++) {
        const char *escape = escape_of(escapes, (unsigned char)v.as.s[i]);
        if (escape)
            sw_text_puts(c->text, escape);
        else
            sw_text_char(c->text, v.as.s[i]);
    }
    return sw_return_text(c);
}

static int fn_js(struct call *c)
{
    static const struct escape escapes[] = {
        { '\\', "\\\\" },   { '\'', "\\'" },    { '"', "\\\"" },    { '<', "\\u003C" },
        { '>', "\\u003E" }, { '&', "\\u0026" }, { '=', "\\u003D" }, { 0, NULL },
    };
    struct sw_value v = joined_args(c);
    struct text *t = c->text;
    for (size_t i = 0; i < v.len;) {
        uint32_t r;
        size_t w = sw_rune_decode(v.as.s + i, v.len - i, &r);
        const char *escape = escape_of(escapes, r);
        if (escape)
            sw_text_puts(t, escape);
        else if (r < ' ' || (r >= 0x80 && !sw_rune_is_print(r)))
            sw_text_printf(t, "\\u%04X", r);
        else
            sw_text_put(t, v.as.s + i, w);
        i += w;
    }
    return sw_return_text(c);
}

static int fn_urlquery(struct call *c)
{
    struct sw_value v = joined_args(c);
    struct text *t = c->text;
    for (size_t i = 0; i < v.len; i++) {
        unsigned char ch = (unsigned char)v.as.s[i];
        if (ch == ' ')
            sw_text_char(t, '+');
        else if ((ch < 0x80 && (sw_rune_is_letter(ch) || sw_rune_is_digit(ch))) ||
                 (ch && strchr("-_.~", ch)))
            sw_text_char(t, (char)ch);
        else
            sw_text_printf(t, "%%%02X", ch);
    }
    return sw_return_text(c);
}

const struct func sw_funcs_go[] = {
    { "and", fn_not, "rr*", "the first argument that is false, or the last", 0, FUNC_AND },
    { "or", fn_not, "rr*", "the first argument that is true, or the last", 0, FUNC_OR },
    { "not", fn_not, "r", "true where the argument is false or empty", 0, 0 },
    { "eq", fn_eq, "rr*", "whether the first argument equals one of the others", 0, 0 },
    { "ne", fn_ne, "rr", "whether the two differ", 0, 0 },
    { "lt", fn_order, "rr", "whether the first argument is less than the second", LT, 0 },
    { "le", fn_order, "rr", "whether the first argument is at most the second", LE, 0 },
    { "gt", fn_order, "rr", "whether the first argument is greater than the second", GT, 0 },
    { "ge", fn_order, "rr", "whether the first argument is at least the second", GE, 0 },
    { "index", fn_index, "rr*", "an element of a list, map or string, by index after index", 0, 0 },
    { "len", fn_len, "r", "elements of a list or map, bytes of a string", 0, 0 },
    { "call", fn_call, "rr*", "call a function value; charts have none", 0, FUNC_CALL },
    { "print", fn_print, "v*", "the operands as text, spaces between those that are no strings", 0,
      0 },
    { "println", fn_println, "v*", "the operands as text, spaces between, a newline last", 0, 0 },
    { "printf", fn_printf, "sv*", "the operands as the format says", 0, 0 },
    { "html", fn_html, "v*", "the text with HTML's special characters escaped", 0, 0 },
    { "js", fn_js, "v*", "the text escaped for a JavaScript string", 0, 0 },
    { "urlquery", fn_urlquery, "v*", "the text escaped for a URL's query", 0, 0 },
    { 0 },
};
