#include "chart/template/value/print.h"

#include <stdlib.h>

#include "chart/template/value/object.h"
#include "chart/template/value/printer.h"
#include "data/go/gotime.h"
#include "data/go/strconv.h"

static void print_nested(struct printer *p, struct sw_value v, uint32_t verb, int depth);

/* ---- String methods ---- */

/* 1h2m3.5s: time.Duration's String. */
static void put_duration(struct text *out, int64_t ns)
{
    uint64_t u = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    if (ns < 0)
        sw_text_char(out, '-');
    if (u == 0) {
        sw_text_puts(out, "0s");
        return;
    }
    uint64_t unit = 1000000000;
    const char *suffix = "s";
    if (u < 1000)
        unit = 1, suffix = "ns";
    else if (u < 1000000)
        unit = 1000, suffix = "\302\265s";
    else if (u < 1000000000)
        unit = 1000000, suffix = "ms";
    uint64_t whole = u / unit, frac = u % unit;
    if (unit == 1000000000) {
        if (whole >= 3600)
            sw_text_printf(out, "%lluh", (unsigned long long)(whole / 3600));
        if (whole >= 60)
            sw_text_printf(out, "%llum", (unsigned long long)(whole / 60 % 60));
        whole %= 60;
    }
    sw_text_printf(out, "%llu", (unsigned long long)whole);
    if (frac) {
        char digits[16];
        int n = 0;
        for (uint64_t place = unit / 10; frac; place /= 10) {
            digits[n++] = (char)('0' + frac / place);
            frac %= place;
        }
        sw_text_printf(out, ".%.*s", n, digits);
    }
    sw_text_puts(out, suffix);
}

bool sw_value_stringer(struct text *out, struct sw_value v)
{
    switch (v.type) {
    case SW_T_OBJECT:
        if (!v.as.object->type->string || v.as.object->type->string_of_pointer)
            return false;
        v.as.object->type->string(v.as.object, out);
        return true;
    case SW_T_ERROR:
        sw_text_put(out, v.as.s, v.len);
        return true;
    case SW_T_DURATION:
        put_duration(out, v.as.i);
        return true;
    case SW_T_MONTH:
        sw_text_puts(out, v.as.i >= 1 && v.as.i <= 12 ? sw_month_names[v.as.i - 1] : "%!Month()");
        return true;
    case SW_T_WEEKDAY:
        sw_text_puts(out, v.as.i >= 0 && v.as.i <= 6 ? sw_weekday_names[v.as.i] : "%!Weekday()");
        return true;
    default:
        return false;
    }
}

/* ---- the verbs ---- */

static void bad_verb(struct printer *p, uint32_t verb)
{
    p->erroring = true;
    sw_text_puts(p->out, "%!");
    sw_text_rune(p->out, verb);
    sw_text_char(p->out, '(');
    if (sw_value_is_nil(p->arg)) {
        sw_text_puts(p->out, "<nil>");
    } else {
        sw_text_puts(p->out, sw_value_type_name(p->arg));
        sw_text_char(p->out, '=');
        sw_printer_arg(p, p->arg, 'v');
    }
    sw_text_char(p->out, ')');
    p->erroring = false;
}

static void print_integer(struct printer *p, uint64_t u, bool is_signed, uint32_t verb)
{
    bool sharp = p->sharp;
    unsigned base = 10;
    switch (verb) {
    case 'v':
        if (p->sharp_v && !is_signed) {
            p->sharp = true;
            base = 16;
        }
        break;
    case 'd':
        break;
    case 'b':
        base = 2;
        break;
    case 'o':
    case 'O':
        base = 8;
        break;
    case 'x':
    case 'X':
        base = 16;
        break;
    case 'c':
        sw_printer_rune(p, u);
        return;
    case 'q':
        sw_printer_quoted_rune(p, u);
        return;
    case 'U':
        sw_printer_unicode(p, u);
        return;
    default:
        bad_verb(p, verb);
        return;
    }
    sw_printer_integer(p, u, base, is_signed, verb);
    p->sharp = sharp;
}

/* The verb of strconv.FormatFloat for a float's %-verb, or 0. */
static char float_verb(uint32_t verb, int *prec)
{
    bool is_known = verb && verb < 0x80 && strchr("vbgGxXfFeE", (int)verb);
    *prec = is_known && strchr("fFeE", (int)verb) ? 6 : -1;
    return !is_known ? 0 : verb == 'v' ? 'g' : verb == 'F' ? 'f' : (char)verb;
}

static void print_float(struct printer *p, double f, uint32_t verb)
{
    int prec;
    char as = float_verb(verb, &prec);
    if (as)
        sw_printer_float(p, f, as, prec);
    else
        bad_verb(p, verb);
}

static void print_string(struct printer *p, const char *s, size_t len, uint32_t verb)
{
    switch (verb) {
    case 'v':
    case 's':
    case 'q':
        if (verb == 'q' || (verb == 'v' && p->sharp_v))
            sw_printer_quoted(p, s, len);
        else
            sw_printer_string(p, s, len);
        return;
    case 'x':
    case 'X':
        sw_printer_hex(p, s, len, verb == 'X');
        return;
    default:
        bad_verb(p, verb);
    }
}

/* A list or a map. */
static void print_items(struct printer *p, struct sw_value v, uint32_t verb, int depth)
{
    const struct sw_entry *e = sw_value_is_map(v) ? sw_map_sorted(v.as.map) : NULL;
    if (p->sharp_v)
        sw_text_puts(p->out, sw_value_type_name(v));
    if (p->sharp_v && sw_value_is_nil_ref(v)) {
        sw_text_puts(p->out, "(nil)");
        return;
    }
    sw_text_puts(p->out, p->sharp_v ? "{" : sw_value_is_map(v) ? "map[" : "[");
    for (size_t i = 0; i < sw_value_len(v); i++) {
        if (i > 0)
            sw_text_puts(p->out, p->sharp_v ? ", " : " ");
        if (e) {
            print_nested(p, sw_value_text(e[i].key, e[i].key_len), verb, depth + 1);
            sw_text_char(p->out, ':');
        }
        print_nested(p, e ? e[i].value : sw_value_at(v, i), verb, depth + 1);
    }
    sw_text_char(p->out, p->sharp_v ? '}' : ']');
}

static void print_fields(struct printer *p, const struct sw_object *o, uint32_t verb, int depth)
{
    if (p->sharp_v)
        sw_text_puts(p->out, o->type->name + (o->type->pointer ? 1 : 0));
    sw_text_char(p->out, '{');
    for (size_t i = 0; i < o->type->n_fields; i++) {
        if (i > 0)
            sw_text_puts(p->out, p->sharp_v ? ", " : " ");
        if (p->plus_v || p->sharp_v)
            sw_text_printf(p->out, "%s:", o->type->fields[i].name);
        print_nested(p, o->fields[i], verb, depth + 1);
    }
    sw_text_char(p->out, '}');
}

/* fmt's handleMethods: whether a String, Error or (%#v) GoString method wrote it. */
static bool print_by_method(struct printer *p, struct sw_value v, uint32_t verb)
{
    if (p->erroring)
        return false;
    if (p->sharp_v) {
        if (v.type != SW_T_OBJECT || !v.as.object->type->go_string)
            return false;
        v.as.object->type->go_string(v.as.object, p->out);
        return true;
    }
    if (verb != 'v' && verb != 's' && verb != 'x' && verb != 'X' && verb != 'q')
        return false;
    if (v.type != SW_T_OBJECT && v.type != SW_T_ERROR && v.type != SW_T_DURATION &&
        v.type != SW_T_MONTH && v.type != SW_T_WEEKDAY)
        return false;
    struct text s = { .limit = 1 << 20 };
    bool has = sw_value_stringer(&s, v);
    if (has)
        print_string(p, s.p ? s.p : "", s.len, verb);
    free(s.p);
    return has;
}

static void print_by_kind(struct printer *p, struct sw_value v, uint32_t verb, int depth)
{
    int prec;
    bool plus;
    switch (sw_kind(v)) {
    case SW_K_INVALID:
        sw_text_puts(p->out, p->sharp_v ? "interface {}(nil)" : "<nil>");
        return;
    case SW_K_BOOL:
        if (verb == 't' || verb == 'v')
            sw_printer_bool(p, v.as.b);
        else
            bad_verb(p, verb);
        return;
    case SW_K_INT:
    case SW_K_UINT:
        print_integer(p, v.as.u, sw_kind(v) == SW_K_INT, verb);
        return;
    case SW_K_FLOAT:
        print_float(p, v.as.f, verb);
        return;
    case SW_K_COMPLEX:
        if (!float_verb(verb, &prec)) {
            bad_verb(p, verb);
            return;
        }
        plus = p->plus;
        sw_text_char(p->out, '(');
        print_float(p, v.as.c[0], verb);
        p->plus = true;
        print_float(p, v.as.c[1], verb);
        sw_text_puts(p->out, "i)");
        p->plus = plus;
        return;
    case SW_K_STRING:
        print_string(p, v.as.s, v.len, verb);
        return;
    case SW_K_SLICE:
        if (v.type == SW_T_BYTES && verb != 'v' && verb != 'd') {
            print_string(p, v.as.s, v.len, verb);
            return;
        } /* fall through */
    case SW_K_MAP:
        print_items(p, v, verb, depth);
        return;
    case SW_K_STRUCT:
        if (v.type != SW_T_OBJECT) {
            sw_text_printf(p->out, "&{%.*s}", (int)v.len, v.as.s);
        } else if (v.as.object->type->pointer && depth > 0) {
            sw_text_puts(p->out, "0xc000000000"); /* fmt prints an address, which means nothing */
        } else {
            if (v.as.object->type->pointer)
                sw_text_char(p->out, '&');
            print_fields(p, v.as.object, verb, depth);
        }
        return;
    }
}

/* Depth and length are limited: a template can put a map into itself. */
static void print_nested(struct printer *p, struct sw_value v, uint32_t verb, int depth)
{
    enum { DEEPEST = 1000 };
    if (depth > DEEPEST || !sw_stack_has_room())
        p->out->over = true;
    if (p->out->over)
        return;
    p->arg = v;
    if (!print_by_method(p, v, verb))
        print_by_kind(p, v, verb, depth);
}

void sw_printer_arg(struct printer *p, struct sw_value v, uint32_t verb)
{
    bool is_nil = sw_value_is_nil(v);
    p->arg = v;
    if (is_nil && (verb == 'T' || verb == 'v')) {
        sw_printer_pad(p, "<nil>", 5);
    } else if (is_nil || verb == 'w') { /* %w is for Errorf only */
        bad_verb(p, verb);
    } else if (verb == 'T') {
        const char *name = sw_value_type_name(v);
        sw_printer_string(p, name, strlen(name));
    } else if (verb == 'p') {
        if (sw_kind(v) == SW_K_MAP || sw_kind(v) == SW_K_SLICE ||
            (v.type == SW_T_OBJECT && v.as.object->type->pointer)) {
            p->sharp = !p->sharp; /* as %#x */
            print_integer(p, 0xc000000000, false, 'x');
        } else {
            bad_verb(p, verb);
        }
    } else if (!print_by_method(p, v, verb)) {
        print_by_kind(p, v, verb, 0);
    }
}

/* ---- print, println ---- */

void sw_print_value(struct text *out, struct sw_value v)
{
    switch (v.type) {
    case SW_T_STRING:
        sw_text_put(out, v.as.s, v.len);
        return;
    case SW_T_INT:
    case SW_T_INT64:
        if (v.as.i >= 0 && v.as.i < 10) {
            sw_text_char(out, (char)('0' + v.as.i));
            return;
        }
        break;
    case SW_T_FLOAT64:
        sw_float_format(out, v.as.f, 'g', -1);
        return;
    case SW_T_BOOL:
        sw_text_puts(out, v.as.b ? "true" : "false");
        return;
    default:
        break;
    }
    sw_printer_arg(&(struct printer){ .out = out }, v, 'v');
}

void sw_print_indirect(struct text *out, struct sw_value v)
{
    const struct sw_object_type *type = v.type == SW_T_OBJECT ? v.as.object->type : NULL;
    if (type && type->string_of_pointer)
        type->string(v.as.object, out);
    else if (type && type->pointer && !type->string)
        print_fields(&(struct printer){ .out = out }, v.as.object, 'v', 0);
    else
        sw_print_value(out, v);
}

void sw_print(struct text *out, const struct sw_value *args, size_t n)
{
    bool was_string = false;
    for (size_t i = 0; i < n; i++) {
        bool is_string = sw_kind(args[i]) == SW_K_STRING;
        if (i > 0 && !is_string && !was_string)
            sw_text_char(out, ' ');
        sw_print_value(out, args[i]);
        was_string = is_string;
    }
}

void sw_println(struct text *out, const struct sw_value *args, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            sw_text_char(out, ' ');
        sw_print_value(out, args[i]);
    }
    sw_text_char(out, '\n');
}

const char *sw_value_print(struct sw_arena *arena, struct sw_value v)
{
    struct text out = { .limit = 1 << 20 };
    sw_print_value(&out, v);
    return sw_text_end(&out, arena);
}
