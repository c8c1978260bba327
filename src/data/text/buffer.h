#pragma once
/* buffer: a growing text, for writers that append many bytes at once. json-c's printbuf is limited
 * to INT_MAX bytes and checks its size for each append. */
#include <stddef.h>
#include <string.h>

#include "base/base.h"

/** A growing text. Zero-initialise; the owner frees text. */
struct sw_buffer {
    char *text;
    size_t len, cap;
};

/** Make room for @more bytes and a NUL. */
static inline void sw_buffer_need(struct sw_buffer *b, size_t more)
{
    if (!b->text || b->cap - b->len <= more) {
        b->cap = b->cap * 2 + more + 256;
        b->text = sw_realloc(b->text, b->cap, 1);
    }
}

/** Append @len bytes of @text. */
static inline void sw_buffer_put(struct sw_buffer *b, const char *text, size_t len)
{
    sw_buffer_need(b, len);
    memcpy(b->text + b->len, text, len);
    b->len += len;
}

/** Append the byte @c. */
static inline void sw_buffer_char(struct sw_buffer *b, char c)
{
    sw_buffer_need(b, 1);
    b->text[b->len++] = c;
}

/** Append the byte @c @n times. */
static inline void sw_buffer_fill(struct sw_buffer *b, char c, size_t n)
{
    sw_buffer_need(b, n);
    memset(b->text + b->len, c, n);
    b->len += n;
}

/** The text, NUL-terminated; the caller frees it. The buffer is empty then. @len_bytes may be NULL.
 */
static inline char *sw_buffer_take(struct sw_buffer *b, size_t *len_bytes)
{
    sw_buffer_need(b, 0);
    b->text[b->len] = '\0';
    if (len_bytes)
        *len_bytes = b->len;
    char *text = b->text;
    *b = (struct sw_buffer){ 0 };
    return text;
}
