#pragma once
/* Interned texts and bytes with reference counts: equal ones have equal numbers, and those without
 * a reference are freed. The labels of thousands of nodes are mostly the same few texts. */
#include <stddef.h>
#include <stdint.h>

struct pool;

/** Empty; pool_free(). */
struct pool *pool_new(void);
/** Free it with all that it holds; NULL is accepted. */
void pool_free(struct pool *pool);

/** The text's number, with one reference more. */
uint32_t pool_hold(struct pool *pool, const char *text);
/** The same for bytes, which may stand in one pool with texts: those with a NUL equal no text. */
uint32_t pool_hold_bytes(struct pool *pool, const void *bytes, size_t len_bytes);
/** One reference less. */
void pool_drop(struct pool *pool, uint32_t id);
/** Its number without a reference; UINT32_MAX: the pool has no such text. */
uint32_t pool_find(const struct pool *pool, const char *text);
/** Borrowed while it has a reference. */
const char *pool_text(const struct pool *pool, uint32_t id);
/** Aligned for uint32_t; borrowed likewise. */
const void *pool_bytes(const struct pool *pool, uint32_t id, size_t *len_bytes);
/** How many references it has. */
uint32_t pool_refs(const struct pool *pool, uint32_t id);
