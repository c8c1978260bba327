#pragma once
/* labels: those of one node, as numbers of interned texts. They stand in pieces, each the pairs
 * whose keys' numbers are neighbours, and a piece is interned, too: of what thousands of nodes have
 * in common a node keeps a few numbers, and to set a label rewrites one of them. Equal labels make
 * equal pieces. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "operator/engine/nodes/intern.h"

struct pair {
    uint32_t key, value;
};

/** Zero is: none. */
struct labels {
    uint32_t *pieces;
    uint32_t n, cap;
};

/** Takes @pairs, whose texts are held once for each, in any order (it is sorted), in place of what
 * was there. */
void labels_set(struct pool *pool, struct labels *labels, struct pair *pairs, size_t n);
/** @from's in place of @to's; @from is empty then. */
void labels_take(struct pool *pool, struct labels *to, struct labels *from);
void labels_done(struct pool *pool, struct labels *labels);
bool labels_same(const struct labels *a, const struct labels *b);
/** NULL: no such key. Borrowed until the next change. */
const struct pair *labels_find(const struct pool *pool, const struct labels *labels, uint32_t key);
/** The pairs of piece @i < labels->n. */
const struct pair *labels_piece(const struct pool *pool, const struct labels *labels, uint32_t i,
                                size_t *n);
