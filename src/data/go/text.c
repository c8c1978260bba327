#include "data/go/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "data/text/unicode.h"

bool sw_text_grow(struct text *t, size_t n)
{
    if (n > t->limit || t->len > t->limit - n) {
        t->over = true;
        return false;
    }
    size_t need = t->len + n;
    if (need < t->cap) /* one byte is kept for a final NUL */
        return true;
    size_t cap = t->cap ? t->cap : 4096;
    while (cap <= need)
        cap *= 2;
    if (cap - 1 > t->limit) /* the limit holds to the byte */
        cap = t->limit + 1;
    t->p = sw_realloc(t->p, cap, 1);
    t->cap = cap;
    return true;
}

void sw_text_printf(struct text *t, const char *fmt, ...)
{
    char small[256];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(small, sizeof small, fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < sizeof small) {
        sw_text_put(t, small, (size_t)n);
        return;
    }
    va_start(ap, fmt);
    SW_AUTO_CHARS *s = sw_vprintf(fmt, ap);
    va_end(ap);
    sw_text_puts(t, s);
}

void sw_text_rune(struct text *t, uint32_t rune)
{
    char utf8[4];
    sw_text_put(t, utf8, sw_utf8_encode(rune, utf8));
}

void sw_text_fill(struct text *t, char c, size_t n)
{
    if (t->cap - t->len <= n && !sw_text_grow(t, n))
        return;
    memset(t->p + t->len, c, n);
    t->len += n;
}

char *sw_text_end(struct text *t, struct sw_arena *arena)
{
    size_t len;
    char *s = sw_text_take(t, 0, arena, &len);
    free(t->p);
    *t = (struct text){ .limit = t->limit };
    return s;
}
