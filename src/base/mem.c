#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void (*on_end)(void);

void sw_on_out_of_memory(void (*end)(void))
{
    on_end = end;
}

/* Out of memory, or a size that overflowed: the controller survives being killed, so it may end. */
static _Noreturn void die(const char *what)
{
    if (on_end)
        on_end();
    (void)fprintf(stderr, "slipway: %s\n", what);
    abort();
}

void *sw_alloc(size_t len_bytes)
{
    void *p = malloc(len_bytes ? len_bytes : 1);
    if (!p)
        die("out of memory");
    return p;
}

void *sw_zalloc(size_t n, size_t size_bytes)
{
    void *p = calloc(n ? n : 1, size_bytes ? size_bytes : 1);
    if (!p)
        die("out of memory");
    return p;
}

void *sw_realloc(void *p, size_t n, size_t size_bytes)
{
    size_t len_bytes;
    if (__builtin_mul_overflow(n, size_bytes, &len_bytes))
        die("size overflow");
    p = realloc(p, len_bytes ? len_bytes : 1);
    if (!p)
        die("out of memory");
    return p;
}

char *sw_strndup(const char *s, size_t len_bytes)
{
    char *p = sw_alloc(len_bytes + 1);
    if (len_bytes)
        memcpy(p, s, len_bytes);
    p[len_bytes] = '\0';
    return p;
}

char *sw_strtrim(const char *s)
{
    static const char blanks[] = " \t\r\n";
    s += strspn(s, blanks);
    size_t len = strlen(s);
    while (len && strchr(blanks, s[len - 1]))
        len--;
    return sw_strndup(s, len);
}

char *sw_strdup(const char *s)
{
    return s ? sw_strndup(s, strlen(s)) : NULL;
}

void sw_text_set(char **text, const char *with)
{
    if (sw_streq(*text, with))
        return;
    char *copy = sw_strdup(with);
    free(*text);
    *text = copy;
}

char *sw_vprintf(const char *fmt, va_list ap)
{
    char *p;
    if (vasprintf(&p, fmt, ap) < 0)
        die("out of memory");
    return p;
}

char *sw_printf(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *p = sw_vprintf(fmt, ap);
    va_end(ap);
    return p;
}

void sw_append(char **text, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *more = sw_vprintf(fmt, ap);
    va_end(ap);
    size_t old_len = *text ? strlen(*text) : 0, more_len = strlen(more);
    *text = sw_realloc(*text, old_len + more_len + 1, 1);
    memcpy(*text + old_len, more, more_len + 1);
}

void sw_chars_auto(char **p)
{
    free(*p);
}
