#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With sanitizers each allocation is its own block: they see its ends. */
#define ARENA_BLOCK_BYTES (SW_IS_SANITIZED ? 0 : 16384)
#define FIRST_BLOCK_BYTES 1024 /* then doubling: there are hundreds of small arenas */

struct block {
    struct block *next;
    size_t size;
    _Alignas(max_align_t) char bytes[];
};

struct sw_arena {
    struct sw_arena_count count; /* first */
    struct block *blocks;        /* the first is being filled */
    struct block *spare;         /* one that a reset has emptied, or NULL */
    size_t next_bytes;           /* of the next block; 0: it is the first */
    char *at, *end;
};

struct sw_arena *sw_arena_new(void)
{
    struct sw_arena *arena = sw_zalloc(1, sizeof *arena);
    arena->count.most = SIZE_MAX;
    return arena;
}

static void free_blocks(struct block *b)
{
    while (b) {
        struct block *next = b->next;
        free(b);
        b = next;
    }
}

void sw_arena_free(struct sw_arena *arena)
{
    if (!arena)
        return;
    free_blocks(arena->blocks);
    free_blocks(arena->spare);
    free(arena);
}

static struct block *new_block(struct sw_arena *arena, size_t size)
{
    struct block *spare = arena->spare;
    if (spare && size <= spare->size) {
        arena->spare = NULL;
        return spare;
    }
    struct block *b = sw_alloc(sizeof *b + size);
    b->size = size;
    return b;
}

/* How large a block is made for a piece of @len bytes. */
static size_t next_size(struct sw_arena *arena, size_t len)
{
    size_t size = arena->next_bytes ? arena->next_bytes : FIRST_BLOCK_BYTES;
    while (size < len)
        size *= 2; /* no piece is larger than a quarter of the largest block */
    size_t most = ARENA_BLOCK_BYTES;
    arena->next_bytes = size * 2 > most ? most : size * 2;
    return size;
}

/* A large piece gets a block of its own behind the one being filled, so that one's rest is not
 * lost. */
static void *alloc_alone(struct sw_arena *arena, size_t len)
{
    struct block *b = sw_alloc(sizeof *b + len);
    b->size = len;
    if (arena->blocks) {
        b->next = arena->blocks->next;
        arena->blocks->next = b;
    } else {
        b->next = NULL;
        arena->blocks = b;
        arena->at = arena->end = b->bytes + len;
    }
    return memset(b->bytes, 0, len);
}

void *sw_arena_alloc(struct sw_arena *arena, size_t len_bytes)
{
    size_t align = _Alignof(max_align_t);
    size_t len = (len_bytes + align - 1) / align * align;
    arena->count.used += len;
    if (len < len_bytes || len > ARENA_BLOCK_BYTES / 4)
        return alloc_alone(arena, len_bytes ? len_bytes : 1);
    if (!arena->blocks || (size_t)(arena->end - arena->at) < len) {
        struct block *b = new_block(arena, next_size(arena, len));
        b->next = arena->blocks;
        arena->blocks = b;
        arena->at = b->bytes;
        arena->end = b->bytes + b->size;
    }
    void *p = arena->at;
    arena->at += len;
    return memset(p, 0, len);
}

void *sw_arena_grow(struct sw_arena *arena, const void *p, size_t len_bytes, size_t new_bytes)
{
    void *copy = sw_arena_alloc(arena, new_bytes);
    return len_bytes ? memcpy(copy, p, len_bytes) : copy;
}

char *sw_arena_strndup(struct sw_arena *arena, const char *s, size_t len_bytes)
{
    char *p = sw_arena_alloc(arena, len_bytes + 1);
    if (len_bytes)
        memcpy(p, s, len_bytes);
    return p;
}

char *sw_arena_strdup(struct sw_arena *arena, const char *s)
{
    return sw_arena_strndup(arena, s, strlen(s));
}

char *sw_arena_printf(struct sw_arena *arena, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int len = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *p = sw_arena_alloc(arena, (size_t)(len < 0 ? 0 : len) + 1);
    if (len > 0)
        (void)vsnprintf(p, (size_t)len + 1, fmt, again);
    va_end(again);
    return p;
}

void sw_arena_reset(struct sw_arena *arena)
{
    struct block *b = arena->blocks;
    arena->blocks = NULL;
    arena->at = arena->end = NULL;
    arena->count.used = 0;
    arena->next_bytes = 0;
    arena->count.over = false;
    while (b) {
        struct block *next = b->next;
        if (!arena->spare && b->size <= ARENA_BLOCK_BYTES) {
            b->next = NULL;
            arena->spare = b;
        } else {
            free(b);
        }
        b = next;
    }
}

size_t sw_arena_used(const struct sw_arena *arena)
{
    return arena->count.used;
}

size_t sw_arena_limit(struct sw_arena *arena, size_t most_bytes)
{
    size_t old = arena->count.most;
    arena->count.most = most_bytes;
    arena->count.over = false;
    return old;
}
