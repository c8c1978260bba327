#include <stdlib.h>
#include <string.h>

#include "chart/template/value/printer.h"
#include "data/go/strconv.h"
#include "data/text/unicode.h"

static void pad_around(struct printer *p, const char *s, size_t len, size_t width)
{
    size_t fill = p->wid_present && (size_t)p->wid > width ? (size_t)p->wid - width : 0;
    /* zeros go in front only */
    if (!p->minus)
        sw_text_fill(p->out, p->zero ? '0' : ' ', fill);
    sw_text_put(p->out, s, len);
    if (p->minus)
        sw_text_fill(p->out, ' ', fill);
}

void sw_printer_pad(struct printer *p, const char *s, size_t len)
{
    pad_around(p, s, len, p->wid_present ? sw_rune_count(s, len) : 0);
}

/* What was written to @out since @mark, padded. */
static void pad_written(struct printer *p, size_t mark)
{
    struct text *out = p->out;
    if (!p->wid_present)
        return;
    size_t len = out->len - mark, width = sw_rune_count(out->p + mark, len);
    if ((size_t)p->wid <= width)
        return;
    size_t fill = (size_t)p->wid - width;
    sw_text_fill(out, ' ', fill);
    if (!p->minus && !out->over) {
        memmove(out->p + mark + fill, out->p + mark, len);
        memset(out->p + mark, p->zero ? '0' : ' ', fill);
    }
}

void sw_printer_bool(struct printer *p, bool b)
{
    sw_printer_pad(p, b ? "true" : "false", b ? 4 : 5);
}

void sw_printer_integer(struct printer *p, uint64_t u, unsigned base, bool is_signed, uint32_t verb)
{
    const char *digits = verb == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
    bool negative = is_signed && (int64_t)u < 0;
    if (negative)
        u = 0 - u;
    size_t room = 3 + 64 + (p->wid_present ? (size_t)p->wid : 0) +
                  (p->prec_present ? (size_t)p->prec : 0);
    char small[160], *big = room > sizeof small ? sw_alloc(room) : NULL;
    char *end = big ? big + room : small + sizeof small, *at = end; /* written backwards */
    size_t prec = 0;
    if (p->prec_present) {
        prec = (size_t)p->prec;
        if (prec == 0 && u == 0) { /* nothing but the padding, which is of spaces */
            sw_text_fill(p->out, ' ', p->wid_present ? (size_t)p->wid : 0);
            free(big);
            return;
        }
    } else if (p->zero && !p->minus && p->wid_present) {
        prec = (size_t)p->wid;
        if ((negative || p->plus || p->space) && prec > 0)
            prec--; /* room for the sign */
    }
    do {
        *--at = digits[u % base];
        u /= base;
    } while (u > 0);
    while ((size_t)(end - at) < prec)
        *--at = '0';
    if (p->sharp && (base == 2 || base == 16 || (base == 8 && *at != '0'))) {
        if (base != 8)
            *--at = base == 2 ? 'b' : verb == 'X' ? 'X' : 'x';
        *--at = '0';
    }
    if (verb == 'O') {
        *--at = 'o';
        *--at = '0';
    }
    if (negative || p->plus || p->space)
        *--at = negative ? '-' : p->plus ? '+' : ' ';
    bool zero = p->zero;
    p->zero = false;
    sw_printer_pad(p, at, (size_t)(end - at));
    p->zero = zero;
    free(big);
}

void sw_printer_unicode(struct printer *p, uint64_t u)
{
    size_t mark = p->out->len;
    int prec = p->prec_present && p->prec > 4 ? p->prec : 4;
    sw_text_printf(p->out, "U+%0*llX", prec, (unsigned long long)u);
    if (p->sharp && u <= SW_RUNE_MAX && sw_rune_is_print((uint32_t)u)) {
        sw_text_puts(p->out, " '");
        sw_text_rune(p->out, (uint32_t)u);
        sw_text_char(p->out, '\'');
    }
    bool zero = p->zero;
    p->zero = false;
    pad_written(p, mark);
    p->zero = zero;
}

void sw_printer_rune(struct printer *p, uint64_t c)
{
    char utf8[4];
    size_t n = sw_utf8_encode(c > SW_RUNE_MAX ? SW_RUNE_ERROR : (uint32_t)c, utf8);
    pad_around(p, utf8, n, 1);
}

void sw_printer_quoted_rune(struct printer *p, uint64_t c)
{
    size_t mark = p->out->len;
    sw_quote_rune(p->out, c > SW_RUNE_MAX ? SW_RUNE_ERROR : (uint32_t)c,
                  p->plus ? SW_QUOTE_ASCII : 0);
    pad_written(p, mark);
}

/* %#g and the like: always a decimal point, and as many digits as the precision. */
static size_t alternate_float(char *num, size_t len, char verb, int prec)
{
    bool hex = verb == 'x' || verb == 'X';
    int want = verb == 'g' || verb == 'G' || verb == 'x' ? (prec < 0 ? 6 : prec) : 0;
    char tail[16] = "";
    bool point = false, nonzero = false;
    size_t i = 1;
    for (; i < len; i++) {
        char c = num[i];
        if (c == '.') {
            point = true;
        } else if (c == 'p' || c == 'P' || (!hex && (c == 'e' || c == 'E'))) {
            memcpy(tail, num + i, len - i < sizeof tail - 1 ? len - i : sizeof tail - 1);
            break;
        } else {
            nonzero = nonzero || c != '0';
            if (nonzero)
                want--;
        }
    }
    len = i;
    if (!point) {
        if (len == 2 && num[1] == '0')
            want--; /* the single zero counts as a digit */
        num[len++] = '.';
    }
    for (; want > 0 && len < 480; want--)
        num[len++] = '0';
    size_t n = strlen(tail);
    memcpy(num + len, tail, n);
    return len + n;
}

void sw_printer_float(struct printer *p, double f, char verb, int prec)
{
    if (p->prec_present)
        prec = p->prec;
    struct text num = { .limit = 1 << 20 };
    sw_text_char(&num, '+');
    sw_float_format(&num, f, verb, prec);
    char *s = num.p;
    size_t len = num.len;
    if (s[1] == '-' || s[1] == '+') {
        s++;
        len--;
    }
    if (p->space && s[0] == '+' && !p->plus)
        s[0] = ' ';
    bool zero = p->zero;
    if (s[1] == 'I' || s[1] == 'N') { /* no zeros before infinities; NaN has no sign */
        p->zero = false;
        if (s[1] == 'N' && !p->space && !p->plus) {
            s++;
            len--;
        }
    } else if (p->sharp && verb != 'b') {
        sw_text_fill(&num, ' ', 500);
        s = num.p + (num.p[1] == '-' || num.p[1] == '+');
        len = alternate_float(s, len, verb, prec);
    }
    bool sign = p->plus || s[0] != '+';
    if (sign && p->zero && !p->minus && p->wid_present && (size_t)p->wid > len) {
        sw_text_char(p->out, s[0]);
        sw_text_fill(p->out, '0', (size_t)p->wid - len);
        sw_text_put(p->out, s + 1, len - 1);
    } else {
        sw_printer_pad(p, s + !sign, len - !sign);
    }
    p->zero = zero;
    free(num.p);
}

static size_t truncated(const struct printer *p, const char *s, size_t len)
{
    return p->prec_present ? sw_rune_offset(s, len, (size_t)p->prec) : len;
}

void sw_printer_string(struct printer *p, const char *s, size_t len)
{
    sw_printer_pad(p, s, truncated(p, s, len));
}

void sw_printer_quoted(struct printer *p, const char *s, size_t len)
{
    len = truncated(p, s, len);
    size_t mark = p->out->len;
    if (p->sharp && sw_can_backquote(s, len)) {
        sw_text_char(p->out, '`');
        sw_text_put(p->out, s, len);
        sw_text_char(p->out, '`');
    } else {
        sw_quote(p->out, s, len, p->plus ? SW_QUOTE_ASCII : 0);
    }
    pad_written(p, mark);
}

void sw_printer_hex(struct printer *p, const char *s, size_t len, bool upper)
{
    const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    size_t mark = p->out->len;
    if (p->prec_present && (size_t)p->prec < len)
        len = (size_t)p->prec;
    for (size_t i = 0; i < len; i++) {
        if (p->space && i > 0)
            sw_text_char(p->out, ' ');
        if (p->sharp && (p->space || i == 0))
            sw_text_put(p->out, upper ? "0X" : "0x", 2);
        sw_text_char(p->out, digits[(unsigned char)s[i] >> 4]);
        sw_text_char(p->out, digits[(unsigned char)s[i] & 15]);
    }
    pad_written(p, mark);
}
