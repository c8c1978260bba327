#pragma once
/* A set of small numbers, one bit each, that grows with them. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Zero-initialise; bitset_done(). */
struct bitset {
    uint64_t *words;
    size_t n_words;
    size_t count; /* of members */
};

/** Free it; it is empty then. */
void bitset_done(struct bitset *bitset);
/** Is @i a member? */
bool bitset_has(const struct bitset *bitset, uint32_t i);
/** Make @i a member, or (!@in) no member. @return whether that changed anything */
bool bitset_put(struct bitset *bitset, uint32_t i, bool in);
/** The first member that is not below @from, or UINT32_MAX. */
uint32_t bitset_next(const struct bitset *bitset, uint32_t from);
