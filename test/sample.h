#pragma once
/* A sample of what takes too long to be tried whole in each test run: of consecutive numbers one in
 * so many, and which one says the seed. SW_SEED=n repeats a run; SW_ALL=1 (make test-all) tries
 * all.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct sample {
    uint64_t every, seed; /* every: 0 or 1 for all */
};

/** One in @every; says so on standard output, in TAP. */
static inline struct sample sample_of(uint64_t every)
{
    const char *all = getenv("SW_ALL"), *seed = getenv("SW_SEED");
    if (all && *all)
        return (struct sample){ 0 };
    struct sample s = { .every = every, .seed = seed ? strtoull(seed, NULL, 10) : 0 };
    (void)printf("# one in %" PRIu64 ", SW_SEED=%" PRIu64 "; all: SW_ALL=1\n", every, s.seed);
    return s;
}

static inline bool sample_has(const struct sample *s, uint64_t i)
{
    return s->every <= 1 || (i + s->seed) % s->every == 0;
}

/** How many of 1 to @n are in it. */
static inline uint64_t sample_count(const struct sample *s, uint64_t n)
{
    uint64_t count = 0;
    for (uint64_t i = 1; i <= n; i++)
        count += sample_has(s, i);
    return count;
}
