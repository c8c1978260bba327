#pragma once
/* The buffer that output is appended to. It grows up to a limit; what would pass the limit is
 * dropped and remembered, so that only the evaluator has to check, not each writer. */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/base.h"

/** A growing buffer; zero-initialise all but @limit. free() its @p. */
struct text {
    char *p;
    size_t len, cap;
    size_t limit;
    bool over; /* something was dropped */
};

/** Whether the @len bytes at @s, which may hold NULs, are the text @word. */
static inline bool sw_is_text(const char *s, size_t len, const char *word)
{
    return strlen(word) == len && memcmp(s, word, len) == 0;
}

/** Room for @n more bytes. @return false: over the limit */
bool sw_text_grow(struct text *t, size_t n);
/** Append formatted text. */
void sw_text_printf(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** Append @rune as UTF-8. */
void sw_text_rune(struct text *t, uint32_t rune);
/** @n times @c. */
void sw_text_fill(struct text *t, char c, size_t n);

/** Append @n bytes. */
static inline void sw_text_put(struct text *t, const char *s, size_t n)
{
    if (t->cap - t->len <= n && !sw_text_grow(t, n))
        return;
    if (n)
        memcpy(t->p + t->len, s, n);
    t->len += n;
}

/** Append one byte. */
static inline void sw_text_char(struct text *t, char c)
{
    if (t->cap - t->len <= 1 && !sw_text_grow(t, 1))
        return;
    t->p[t->len++] = c;
}

/** Append a string. */
static inline void sw_text_puts(struct text *t, const char *s)
{
    sw_text_put(t, s, strlen(s));
}

/** Cut off what was appended since the buffer had @mark bytes, as a string in @arena; an empty one
 * where the arena's limit leaves no room. */
static inline char *sw_text_take(struct text *t, size_t mark, struct sw_arena *arena, size_t *len)
{
    *len = sw_arena_has_room(arena, t->len - mark + 1) ? t->len - mark : 0;
    char *s = sw_arena_strndup(arena, t->p ? t->p + mark : "", *len);
    t->len = mark;
    return s;
}

/** The whole buffer as a string in @arena; the buffer is freed. */
char *sw_text_end(struct text *t, struct sw_arena *arena);
