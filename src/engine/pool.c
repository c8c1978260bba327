#include "engine/pool.h"

#include <stdlib.h>

#include <json-c/json.h>
#include <json-c/linkhash.h>

#include "base/base.h"

struct entry {
    char *text; /* NULL: free, @next is the next free one */
    uint32_t refs;
    uint32_t next;
};

struct pool {
    struct entry *entries;
    size_t n, cap;
    uint32_t first_free;
    struct lh_table *by_text; /* text -> number + 1 */
};

struct pool *pool_new(void)
{
    struct pool *p = sw_zalloc(1, sizeof *p);
    p->by_text = lh_kchar_table_new(256, NULL);
    if (!p->by_text)
        abort();
    p->first_free = UINT32_MAX;
    return p;
}

void pool_free(struct pool *pool)
{
    if (!pool)
        return;
    lh_table_free(pool->by_text);
    for (size_t i = 0; i < pool->n; i++)
        free(pool->entries[i].text);
    free(pool->entries);
    free(pool);
}

uint32_t pool_find(const struct pool *pool, const char *text)
{
    void *found = NULL;
    if (!lh_table_lookup_ex(pool->by_text, text, &found))
        return UINT32_MAX;
    return (uint32_t)(uintptr_t)found - 1;
}

static uint32_t new_entry(struct pool *pool)
{
    if (pool->first_free != UINT32_MAX) {
        uint32_t id = pool->first_free;
        pool->first_free = pool->entries[id].next;
        return id;
    }
    SW_GROW(pool->entries, pool->n, pool->cap);
    return (uint32_t)pool->n++;
}

uint32_t pool_hold(struct pool *pool, const char *text)
{
    uint32_t id = pool_find(pool, text);
    if (id == UINT32_MAX) {
        id = new_entry(pool);
        pool->entries[id] = (struct entry){ .text = sw_strdup(text) };
        if (lh_table_insert(pool->by_text, pool->entries[id].text, (void *)(uintptr_t)(id + 1)))
            abort();
    }
    pool->entries[id].refs++;
    return id;
}

void pool_drop(struct pool *pool, uint32_t id)
{
    struct entry *e = &pool->entries[id];
    if (--e->refs > 0)
        return;
    (void)lh_table_delete(pool->by_text, e->text); /* it is there: it was inserted when made */
    free(e->text);
    *e = (struct entry){ .next = pool->first_free };
    pool->first_free = id;
}

const char *pool_text(const struct pool *pool, uint32_t id)
{
    return pool->entries[id].text;
}
