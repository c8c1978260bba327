#include <stdlib.h>
#include <string.h>

#include "data/go/strconv.h"
#include "data/go/text.h"
#include "data/text/unicode.h"

static void put_quoted_rune(struct text *out, uint32_t r, char quote, unsigned flags)
{
    if (r == (uint32_t)quote || r == '\\') {
        sw_text_char(out, '\\');
        sw_text_char(out, (char)r);
        return;
    }
    if (r < 0x80 ? sw_rune_is_print(r) : !(flags & SW_QUOTE_ASCII) && sw_rune_is_print(r)) {
        sw_text_rune(out, r);
        return;
    }
    if (r >= '\a' && r <= '\r') {
        sw_text_char(out, '\\');
        sw_text_char(out, "abtnvfr"[r - '\a']);
    } else if (r < ' ' || r == 0x7F) {
        sw_text_printf(out, "\\x%02x", r);
    } else if (r > SW_RUNE_MAX || (r >= 0xD800 && r <= 0xDFFF)) {
        sw_text_puts(out, "\\ufffd");
    } else {
        sw_text_printf(out, r < 0x10000 ? "\\u%04x" : "\\U%08x", r);
    }
}

void sw_quote(struct text *out, const char *s, size_t len, unsigned flags)
{
    sw_text_char(out, '"');
    for (size_t i = 0; i < len;) {
        size_t start = i; /* of bytes that stand for themselves */
        while (i < len && s[i] >= 0x20 && s[i] < 0x7F && s[i] != '"' && s[i] != '\\')
            i++;
        sw_text_put(out, s + start, i - start);
        if (i == len)
            break;
        uint32_t r;
        size_t w = sw_rune_decode(s + i, len - i, &r);
        if (w == 1 && r == SW_RUNE_ERROR)
            sw_text_printf(out, "\\x%02x", (unsigned char)s[i]);
        else
            put_quoted_rune(out, r, '"', flags);
        i += w;
    }
    sw_text_char(out, '"');
}

char *sw_quote_dup(const char *s, size_t len)
{
    struct text t = { .limit = 1 << 26 };
    sw_quote(&t, s, len, 0);
    t.p[t.len] = '\0'; /* there is room for it */
    return t.p;
}

char *sw_time_quote_dup(const char *s, size_t len)
{
    struct text t = { .limit = 1 << 26 };
    sw_text_char(&t, '"');
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c >= 0x80 || c < ' ')
            sw_text_printf(&t, "\\x%02x", c);
        else if (c == '"' || c == '\\')
            sw_text_printf(&t, "\\%c", c);
        else
            sw_text_char(&t, (char)c);
    }
    sw_text_char(&t, '"');
    char *quoted = sw_strndup(t.p, t.len);
    free(t.p);
    return quoted;
}

const char *sw_quoted(struct sw_arena *arena, const char *s, size_t len)
{
    SW_AUTO_CHARS *quoted = sw_quote_dup(s, len);
    return sw_arena_strdup(arena, quoted);
}

void sw_quote_rune(struct text *out, uint32_t rune, unsigned flags)
{
    if (rune > SW_RUNE_MAX || (rune >= 0xD800 && rune <= 0xDFFF))
        rune = SW_RUNE_ERROR;
    sw_text_char(out, '\'');
    put_quoted_rune(out, rune, '\'', flags);
    sw_text_char(out, '\'');
}

bool sw_can_backquote(const char *s, size_t len)
{
    for (size_t i = 0; i < len;) {
        uint32_t r;
        size_t w = sw_rune_decode(s + i, len - i, &r);
        i += w;
        if (w > 1 ? r == 0xFEFF
                  : r == SW_RUNE_ERROR || (r < ' ' && r != '\t') || r == '`' || r == 0x7F)
            return false;
    }
    return true;
}

/* ---- unquoting ---- */

/* @n digits of a base of 1 << @bits at @s. @return @n, or -1 */
static long unquote_digits(const char *s, size_t len, size_t n, unsigned bits, uint32_t *rune)
{
    if (len < n)
        return -1;
    *rune = 0;
    for (size_t i = 0; i < n; i++) {
        int d = sw_hex_digit(s[i]);
        if (d < 0 || d >> bits)
            return -1;
        *rune = *rune << bits | (uint32_t)d;
    }
    return (long)n;
}

/* After the backslash. */
static long unquote_escape(const char *s, size_t len, char quote, uint32_t *rune, bool *multibyte)
{
    static const char names[] = "abfnrtv\\", values[] = "\a\b\f\n\r\t\v\\";
    if (len == 0)
        return -1;
    const char *simple = s[0] ? strchr(names, s[0]) : NULL;
    if (simple) {
        *rune = (unsigned char)values[simple - names];
        return 1;
    }
    if (s[0] == '\'' || s[0] == '"') {
        *rune = (unsigned char)s[0];
        return s[0] == quote ? 1 : -1;
    }
    if (s[0] >= '0' && s[0] <= '7')
        return unquote_digits(s, len, 3, 3, rune) < 0 || *rune > 255 ? -1 : 3;
    size_t digits = s[0] == 'x' ? 2 : s[0] == 'u' ? 4 : s[0] == 'U' ? 8 : 0;
    if (!digits)
        return -1;
    *multibyte = digits > 2;
    long n = unquote_digits(s + 1, len - 1, digits, 4, rune);
    if (n < 0 || (*multibyte && (*rune > SW_RUNE_MAX || (*rune >= 0xD800 && *rune <= 0xDFFF))))
        return -1;
    return n + 1;
}

long sw_unquote_char(const char *s, size_t len, char quote, uint32_t *rune, bool *multibyte)
{
    *multibyte = false;
    if (len == 0 || (s[0] == quote && (quote == '\'' || quote == '"')))
        return -1;
    if (s[0] == '\\') {
        long n = unquote_escape(s + 1, len - 1, quote, rune, multibyte);
        return n < 0 ? -1 : n + 1;
    }
    *multibyte = (unsigned char)s[0] >= 0x80;
    return (long)sw_rune_decode(s, len, rune);
}

long sw_unquote(const char *s, size_t len, char *out)
{
    if (len < 2 || s[0] != s[len - 1])
        return -1;
    long n = 0;
    if (s[0] == '`') {
        for (size_t i = 1; i < len - 1; i++) {
            if (s[i] == '`')
                return -1;
            if (s[i] != '\r')
                out[n++] = s[i];
        }
        return n;
    }
    for (size_t i = 1; i < len - 1;) {
        uint32_t r = 0;
        bool multibyte;
        long used = s[i] == '\n' ? -1 : sw_unquote_char(s + i, len - 1 - i, '"', &r, &multibyte);
        if (used < 0)
            return -1;
        if (multibyte) {
            char utf8[4];
            size_t w = sw_utf8_encode(r, utf8);
            /* an invalid byte becomes three; the caller's room allows for it */
            memcpy(out + n, utf8, w);
            n += (long)w;
        } else {
            out[n++] = (char)r;
        }
        i += (size_t)used;
    }
    return n;
}
