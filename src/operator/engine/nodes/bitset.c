#include "operator/engine/nodes/bitset.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"

void bits_done(struct bits *bits)
{
    free(bits->words);
    *bits = (struct bits){ 0 };
}

bool bits_has(const struct bits *bits, uint32_t i)
{
    return i / 64 < bits->n_words && (bits->words[i / 64] >> (i % 64) & 1);
}

static void make_room(struct bits *bits, size_t n_words)
{
    if (n_words <= bits->n_words)
        return;
    bits->words = sw_realloc(bits->words, n_words, sizeof *bits->words);
    memset(bits->words + bits->n_words, 0, (n_words - bits->n_words) * sizeof *bits->words);
    bits->n_words = n_words;
}

bool bits_put(struct bits *bits, uint32_t i, bool in)
{
    if (bits_has(bits, i) == in)
        return false;
    make_room(bits, i / 64 + 1);
    bits->words[i / 64] ^= UINT64_C(1) << (i % 64);
    if (in)
        bits->count++;
    else
        bits->count--;
    return true;
}

uint32_t bits_next(const struct bits *bits, uint32_t from)
{
    for (size_t w = from / 64; w < bits->n_words; w++) {
        uint64_t word = bits->words[w];
        if (w == from / 64)
            word &= ~UINT64_C(0) << (from % 64);
        if (word)
            return (uint32_t)(w * 64 + (size_t)__builtin_ctzll(word));
    }
    return UINT32_MAX;
}
