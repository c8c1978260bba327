#include "operator/engine/nodes/labels.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"

enum {
    NEIGHBOURS = 16, /* numbers of keys that make a piece */
    ROOM = 4,        /* for labels that are set later: a list that is reallocated leaves a hole */
};

static uint32_t place_of(uint32_t key)
{
    return key / NEIGHBOURS;
}

static int by_key(const void *a, const void *b)
{
    uint32_t ka = ((const struct pair *)a)->key, kb = ((const struct pair *)b)->key;
    return (ka > kb) - (ka < kb);
}

static void drop_pairs(struct pool *pool, const struct pair *pairs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        pool_drop(pool, pairs[i].key);
        pool_drop(pool, pairs[i].value);
    }
}

void labels_set(struct pool *pool, struct labels *labels, struct pair *pairs, size_t n)
{
    struct labels fresh = { 0 };
    size_t n_unique = 0; /* of each key the last pair: so a piece has at most NEIGHBOURS */
    if (n > 1)
        qsort(pairs, n, sizeof *pairs, by_key);
    for (size_t i = 0; i < n; i++)
        if (i + 1 == n || pairs[i + 1].key != pairs[i].key)
            pairs[n_unique++] = pairs[i];
        else
            drop_pairs(pool, &pairs[i], 1);
    for (size_t i = 0, end; i < n_unique; i = end) {
        for (end = i + 1; end < n_unique && place_of(pairs[end].key) == place_of(pairs[i].key);)
            end++;
        if (fresh.n == fresh.cap) {
            fresh.cap += ROOM;
            fresh.pieces = sw_realloc(fresh.pieces, fresh.cap, sizeof *fresh.pieces);
        }
        /* a piece has one reference to each of its texts, however many nodes have the piece */
        uint32_t id = pool_hold_bytes(pool, pairs + i, (end - i) * sizeof *pairs);
        if (pool_refs(pool, id) > 1)
            drop_pairs(pool, pairs + i, end - i);
        fresh.pieces[fresh.n++] = id;
    }
    labels_take(pool, labels, &fresh);
}

static void drop_pieces(struct pool *pool, struct labels *labels)
{
    for (uint32_t i = 0; i < labels->n; i++) {
        struct pair last[NEIGHBOURS];
        size_t len, n = 0;
        const void *bytes = pool_bytes(pool, labels->pieces[i], &len);
        if (pool_refs(pool, labels->pieces[i]) == 1) {
            n = len / sizeof *last;
            memcpy(last, bytes, len);
        }
        pool_drop(pool, labels->pieces[i]);
        drop_pairs(pool, last, n);
    }
    labels->n = 0;
}

/* The list is kept where the new labels fit: reallocating thousands would fragment the heap. */
void labels_take(struct pool *pool, struct labels *to, struct labels *from)
{
    drop_pieces(pool, to);
    if (from->n > to->cap) {
        free(to->pieces);
        *to = *from;
    } else {
        if (from->n)
            memcpy(to->pieces, from->pieces, from->n * sizeof *to->pieces);
        to->n = from->n;
        free(from->pieces);
    }
    *from = (struct labels){ 0 };
}

void labels_done(struct pool *pool, struct labels *labels)
{
    drop_pieces(pool, labels);
    free(labels->pieces);
    *labels = (struct labels){ 0 };
}

bool labels_same(const struct labels *a, const struct labels *b)
{
    return a->n == b->n && (!a->n || !memcmp(a->pieces, b->pieces, a->n * sizeof *a->pieces));
}

const struct pair *labels_piece(const struct pool *pool, const struct labels *labels, uint32_t i,
                                size_t *n)
{
    size_t len;
    const struct pair *pairs = pool_bytes(pool, labels->pieces[i], &len);
    *n = len / sizeof *pairs;
    return pairs;
}

const struct pair *labels_find(const struct pool *pool, const struct labels *labels, uint32_t key)
{
    uint32_t low = 0, high = labels->n;
    size_t n = 0;
    const struct pair *pairs = NULL;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        pairs = labels_piece(pool, labels, mid, &n);
        uint32_t here = place_of(pairs[0].key);
        if (here == place_of(key))
            return bsearch(&(struct pair){ .key = key }, pairs, n, sizeof *pairs, by_key);
        if (here < place_of(key))
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}
