#pragma once
/* A growing set of small numbers, one bit each. Zero-initialise. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bitset {
    uint64_t *words;
    size_t n_words;
    size_t count;
};

void bitset_done(struct bitset *bitset);
bool bitset_has(const struct bitset *bitset, uint32_t i);
/** @return whether it was otherwise before. */
bool bitset_put(struct bitset *bitset, uint32_t i, bool in);
/** The first member that is not below @from, or UINT32_MAX. */
uint32_t bitset_next(const struct bitset *bitset, uint32_t from);
