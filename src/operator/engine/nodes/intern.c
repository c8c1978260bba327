#include "operator/engine/nodes/intern.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"

struct bytes {
    uint32_t len;
    char at[]; /* and a NUL */
};

struct entry {
    struct bytes *bytes; /* NULL: free */
    uint32_t refs;
    uint32_t next; /* with the same hash, or the next free one; NONE: the last */
};

enum { FIRST_HEADS = 256 };
#define NONE UINT32_MAX

/* The index is a number for each hash, and one in each entry: a hash table of json-c takes 40 bytes
 * a slot, which would be a good part of the memory of a node. */
struct pool {
    struct entry *entries;
    size_t n, cap;
    uint32_t first_free;
    uint32_t *heads;
    size_t n_heads; /* a power of two */
    size_t n_used;
};

static uint32_t *new_heads(size_t n)
{
    uint32_t *heads = sw_alloc(n * sizeof *heads);
    for (size_t i = 0; i < n; i++)
        heads[i] = NONE;
    return heads;
}

struct pool *pool_new(void)
{
    struct pool *p = sw_zalloc(1, sizeof *p);
    p->first_free = NONE;
    p->n_heads = FIRST_HEADS;
    p->heads = new_heads(p->n_heads);
    return p;
}

void pool_free(struct pool *pool)
{
    if (!pool)
        return;
    for (size_t i = 0; i < pool->n; i++)
        free(pool->entries[i].bytes);
    free(pool->entries);
    free(pool->heads);
    free(pool);
}

/* The place of the number of the first entry with this hash. */
static uint32_t *head_of(const struct pool *pool, const void *bytes, size_t len_bytes)
{
    return &pool->heads[sw_fnv64a(bytes, len_bytes) & (pool->n_heads - 1)];
}

static uint32_t find(const struct pool *pool, uint32_t id, const void *bytes, size_t len_bytes)
{
    for (; id != NONE; id = pool->entries[id].next) {
        const struct bytes *b = pool->entries[id].bytes;
        if (b->len == len_bytes && memcmp(b->at, bytes, len_bytes) == 0)
            break;
    }
    return id;
}

uint32_t pool_find(const struct pool *pool, const char *text)
{
    size_t len = strlen(text);
    return find(pool, *head_of(pool, text, len), text, len);
}

uint32_t pool_hold_bytes(struct pool *pool, const void *bytes, size_t len_bytes)
{
    uint32_t id = find(pool, *head_of(pool, bytes, len_bytes), bytes, len_bytes);
    if (id != NONE) {
        pool->entries[id].refs++;
        return id;
    }
    if (pool->n_used++ >= pool->n_heads) {
        free(pool->heads);
        pool->n_heads *= 2;
        pool->heads = new_heads(pool->n_heads);
        for (uint32_t i = 0; i < pool->n; i++) {
            struct entry *e = &pool->entries[i];
            if (!e->bytes)
                continue;
            uint32_t *head = head_of(pool, e->bytes->at, e->bytes->len);
            e->next = *head;
            *head = i;
        }
    }
    struct bytes *b = sw_alloc(sizeof *b + len_bytes + 1);
    b->len = (uint32_t)len_bytes;
    memcpy(b->at, bytes, len_bytes);
    b->at[len_bytes] = '\0';
    uint32_t *head = head_of(pool, bytes, len_bytes);
    id = pool->first_free;
    if (id != NONE) {
        pool->first_free = pool->entries[id].next;
    } else {
        SW_GROW(pool->entries, pool->n, pool->cap);
        id = (uint32_t)pool->n++;
    }
    pool->entries[id] = (struct entry){ .bytes = b, .next = *head, .refs = 1 };
    *head = id;
    return id;
}

uint32_t pool_hold(struct pool *pool, const char *text)
{
    return pool_hold_bytes(pool, text, strlen(text));
}

void pool_drop(struct pool *pool, uint32_t id)
{
    struct entry *e = &pool->entries[id];
    if (--e->refs > 0)
        return;
    uint32_t *link = head_of(pool, e->bytes->at, e->bytes->len);
    while (*link != id)
        link = &pool->entries[*link].next;
    *link = e->next;
    free(e->bytes);
    *e = (struct entry){ .next = pool->first_free };
    pool->first_free = id;
    pool->n_used--;
}

const char *pool_text(const struct pool *pool, uint32_t id)
{
    return pool->entries[id].bytes->at;
}

const void *pool_bytes(const struct pool *pool, uint32_t id, size_t *len_bytes)
{
    *len_bytes = pool->entries[id].bytes->len;
    return pool->entries[id].bytes->at;
}

uint32_t pool_refs(const struct pool *pool, uint32_t id)
{
    return pool->entries[id].refs;
}
