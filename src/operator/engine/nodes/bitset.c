#include "operator/engine/nodes/bitset.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"

void bitset_done(struct bitset *bitset)
{
    free(bitset->words);
    *bitset = (struct bitset){ 0 };
}

bool bitset_has(const struct bitset *bitset, uint32_t i)
{
    return i / 64 < bitset->n_words && (bitset->words[i / 64] >> (i % 64) & 1);
}

bool bitset_put(struct bitset *bitset, uint32_t i, bool in)
{
    if (bitset_has(bitset, i) == in)
        return false;
    size_t n_words = i / 64 + 1;
    if (n_words > bitset->n_words) {
        bitset->words = sw_realloc(bitset->words, n_words, sizeof *bitset->words);
        memset(bitset->words + bitset->n_words, 0,
               (n_words - bitset->n_words) * sizeof *bitset->words);
        bitset->n_words = n_words;
    }
    bitset->words[i / 64] ^= UINT64_C(1) << (i % 64);
    bitset->count += in ? 1 : -1;
    return true;
}

uint32_t bitset_next(const struct bitset *bitset, uint32_t from)
{
    for (size_t w = from / 64; w < bitset->n_words; w++) {
        uint64_t word = bitset->words[w];
        if (w == from / 64)
            word &= ~UINT64_C(0) << (from % 64);
        if (word)
            return (uint32_t)(w * 64 + (size_t)__builtin_ctzll(word));
    }
    return UINT32_MAX;
}
