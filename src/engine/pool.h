#pragma once
/* Interned strings, counted: equal texts have equal numbers, and a text that nobody holds any more
 * is freed. Labels of thousands of nodes are mostly the same few texts. */
#include <stdint.h>

struct pool;

struct pool *pool_new(void);
void pool_free(struct pool *pool);

/** The text's number, held once more. */
uint32_t pool_hold(struct pool *pool, const char *text);
void pool_drop(struct pool *pool, uint32_t id);
/** Its number without holding it; UINT32_MAX: nobody holds such a text. */
uint32_t pool_find(const struct pool *pool, const char *text);
const char *pool_text(const struct pool *pool, uint32_t id);
