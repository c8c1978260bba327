#pragma once
/* A growing set of small numbers, one bit each. Zero-initialise. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bits {
    uint64_t *words;
    size_t n_words;
    size_t count;
};

void bits_done(struct bits *bits);
bool bits_has(const struct bits *bits, uint32_t i);
/** @return whether it was otherwise before. */
bool bits_put(struct bits *bits, uint32_t i, bool in);
/** The first member that is not below @from, or UINT32_MAX. */
uint32_t bits_next(const struct bits *bits, uint32_t from);
