#pragma once
/* Interned texts and bytes, counted: equal ones have equal numbers, and what nobody holds any more
 * is freed. Labels of thousands of nodes are mostly the same few texts. */
#include <stddef.h>
#include <stdint.h>

struct pool;

struct pool *pool_new(void);
void pool_free(struct pool *pool);

/** The text's number, held once more. */
uint32_t pool_hold(struct pool *pool, const char *text);
/** The same for bytes, which may be held beside texts: with a NUL among them they equal none. */
uint32_t pool_hold_bytes(struct pool *pool, const void *bytes, size_t len_bytes);
void pool_drop(struct pool *pool, uint32_t id);
/** Its number without holding it; UINT32_MAX: nobody holds such a text. */
uint32_t pool_find(const struct pool *pool, const char *text);
const char *pool_text(const struct pool *pool, uint32_t id);
/** Aligned for uint32_t; borrowed while it is held. */
const void *pool_bytes(const struct pool *pool, uint32_t id, size_t *len_bytes);
/** How often it is held. */
uint32_t pool_refs(const struct pool *pool, uint32_t id);
