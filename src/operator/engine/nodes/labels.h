#pragma once
/* labels: those of one node, as numbers of interned texts. They are kept in pieces, each the pairs
 * whose keys' numbers are neighbours, and a piece is interned, too: of the labels that thousands of
 * nodes have in common a node keeps a few numbers, and to set a label replaces one of them. Equal
 * labels make equal pieces. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "operator/engine/nodes/intern.h"

/** A label: numbers of its key and value in the pool. */
struct pair {
    uint32_t key, value;
};

/** Zero-initialise: no labels. labels_done(). */
struct labels {
    uint32_t *pieces;
    uint32_t n, cap;
};

/** Replace all labels by @pairs (in any order; sorted by this), which have a reference to each text
 * that is taken over. */
void labels_set(struct pool *pool, struct labels *labels, struct pair *pairs, size_t n);
/** Replace @to's labels by @from's, which is empty then. */
void labels_take(struct pool *pool, struct labels *to, struct labels *from);
/** Free them; there are none then. */
void labels_done(struct pool *pool, struct labels *labels);
/** Are they equal? Both of one pool. */
bool labels_same(const struct labels *a, const struct labels *b);
/** NULL: no such key. Borrowed until the next change. */
const struct pair *labels_find(const struct pool *pool, const struct labels *labels, uint32_t key);
/** The pairs of piece @i < labels->n. */
const struct pair *labels_piece(const struct pool *pool, const struct labels *labels, uint32_t i,
                                size_t *n);
