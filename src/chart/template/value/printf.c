#include "chart/template/value/print.h"
#include "chart/template/value/printer.h"
#include "data/text/unicode.h"

/* The state of fmt.Sprintf: its place in the format and in the operands. */
struct formatter {
    struct printer p;
    const char *f;
    size_t at, end;
    const struct sw_value *args;
    size_t n, next;
    bool reordered; /* a directive had an index, such as %[3]d */
    bool good_index;
};

enum { TOO_LARGE = 1000000 };

/* Digits at @at. @return whether there were any and they are not too large */
static bool parse_number(const char *f, size_t *at, size_t end, int *num)
{
    size_t start = *at;
    *num = 0;
    for (; *at < end && f[*at] >= '0' && f[*at] <= '9'; (*at)++) {
        if (*num > TOO_LARGE) { /* Go reads no further */
            *at = end;
            return false;
        }
        *num = *num * 10 + (f[*at] - '0');
    }
    return *at > start && *num <= TOO_LARGE;
}

/* "[3]": the operand to use next. */
static bool arg_number(struct formatter *s)
{
    if (s->at >= s->end || s->f[s->at] != '[')
        return false;
    s->reordered = true;
    const char *close = s->end - s->at < 3 ? NULL /* no room for "[1]" */
                                           : memchr(s->f + s->at, ']', s->end - s->at);
    if (!close) {
        s->good_index = false;
        s->at++;
        return false;
    }
    size_t to = (size_t)(close - s->f), i = s->at + 1;
    int index;
    bool ok = parse_number(s->f, &i, to, &index) && i == to;
    s->at = to + 1;
    if (!ok || index < 1 || (size_t)index > s->n) {
        s->good_index = false;
        return ok;
    }
    s->next = (size_t)index - 1;
    return true;
}

/* "*": a width or precision out of the operands. */
static bool int_from_arg(struct formatter *s, int *num)
{
    *num = 0;
    if (s->next >= s->n)
        return false;
    struct sw_value v = s->args[s->next++];
    bool ok = (sw_kind(v) == SW_K_INT || sw_kind(v) == SW_K_UINT) && v.as.i <= TOO_LARGE &&
              v.as.i >= -TOO_LARGE;
    *num = ok ? (int)v.as.i : 0;
    return ok;
}

static void parse_width(struct formatter *s, bool *after_index)
{
    struct printer *p = &s->p;
    if (s->at < s->end && s->f[s->at] == '*') {
        s->at++;
        p->wid_present = int_from_arg(s, &p->wid);
        if (!p->wid_present)
            sw_text_puts(p->out, "%!(BADWIDTH)");
        if (p->wid < 0) {
            p->wid = -p->wid;
            p->minus = true;
            p->zero = false;
        }
        *after_index = false;
        return;
    }
    p->wid_present = parse_number(s->f, &s->at, s->end, &p->wid);
    if (*after_index && p->wid_present)
        s->good_index = false; /* "%[3]2d" */
}

static void parse_precision(struct formatter *s, bool *after_index)
{
    struct printer *p = &s->p;
    if (s->at + 1 >= s->end || s->f[s->at] != '.') /* at the end it is a verb */
        return;
    s->at++;
    if (*after_index)
        s->good_index = false; /* "%[3].2d" */
    *after_index = arg_number(s);
    if (s->at < s->end && s->f[s->at] == '*') {
        s->at++;
        p->prec_present = int_from_arg(s, &p->prec);
        if (p->prec < 0) {
            p->prec = 0;
            p->prec_present = false;
        }
        if (!p->prec_present)
            sw_text_puts(p->out, "%!(BADPREC)");
        *after_index = false;
        return;
    }
    if (!parse_number(s->f, &s->at, s->end, &p->prec))
        p->prec = 0;
    p->prec_present = true;
}

static void put_complaint(struct printer *p, uint32_t verb, const char *text)
{
    sw_text_puts(p->out, "%!");
    sw_text_rune(p->out, verb);
    sw_text_puts(p->out, text);
}

/* One "%..." directive; the % is past. */
static void format_directive(struct formatter *s)
{
    struct printer *p = &s->p;
    *p = (struct printer){ .out = p->out };
    s->good_index = true;
    for (char f; s->at < s->end && (f = s->f[s->at]) && strchr("#0+- ", f); s->at++) {
        p->sharp |= f == '#';
        p->zero |= f == '0';
        p->plus |= f == '+';
        p->minus |= f == '-';
        p->space |= f == ' ';
    }
    bool after_index = arg_number(s);
    parse_width(s, &after_index);
    parse_precision(s, &after_index);
    if (!after_index)
        after_index = arg_number(s);
    if (s->at >= s->end) {
        sw_text_puts(p->out, "%!(NOVERB)");
        return;
    }
    uint32_t verb;
    s->at += sw_rune_decode(s->f + s->at, s->end - s->at, &verb);
    if (verb == '%')
        sw_text_char(p->out, '%');
    else if (!s->good_index)
        put_complaint(p, verb, "(BADINDEX)");
    else if (s->next >= s->n)
        put_complaint(p, verb, "(MISSING)");
    else {
        if (verb == 'v') {
            p->sharp_v = p->sharp;
            p->plus_v = p->plus;
            p->sharp = p->plus = false;
        }
        sw_printer_arg(p, s->args[s->next++], verb);
    }
}

void sw_printf_values(struct text *out, const char *format, size_t len, const struct sw_value *args,
                      size_t n)
{
    struct formatter s = { .p = { .out = out }, .f = format, .end = len, .args = args, .n = n };
    while (s.at < len) {
        const char *percent = memchr(format + s.at, '%', len - s.at);
        size_t to = percent ? (size_t)(percent - format) : len;
        sw_text_put(out, format + s.at, to - s.at);
        s.at = to;
        if (!percent)
            break;
        s.at++;
        format_directive(&s);
    }
    if (s.reordered || s.next >= n)
        return;
    sw_text_puts(out, "%!(EXTRA ");
    for (size_t i = s.next; i < n; i++) {
        if (i > s.next)
            sw_text_puts(out, ", ");
        if (sw_value_is_nil(args[i])) {
            sw_text_puts(out, "<nil>");
            continue;
        }
        sw_text_printf(out, "%s=", sw_value_type_name(args[i]));
        sw_print_value(out, args[i]);
    }
    sw_text_char(out, ')');
}
