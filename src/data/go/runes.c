#include <stdlib.h>

#include "data/go/regex_ast.h"

void sw_runes_add(struct sw_runes *set, struct sw_arena *arena, uint32_t lo, uint32_t hi)
{
    SW_ARENA_GROW(arena, set->ranges, set->n, set->cap);
    set->ranges[set->n++] = (struct sw_rune_range){ lo, hi };
}

void sw_runes_add_class(struct sw_runes *set, struct sw_arena *arena,
                        const struct sw_rune_class *class)
{
    for (size_t i = 0; i < class->n; i++)
        sw_runes_add(set, arena, class->ranges[i].lo, class->ranges[i].hi);
    for (size_t i = 0; i < class->n_alternating; i++) {
        const struct sw_rune_range *r = &class->alternating[i];
        for (uint32_t c = r->lo; c <= r->hi; c += 2)
            sw_runes_add(set, arena, c, c);
    }
}

static int by_lo(const void *a, const void *b)
{
    const struct sw_rune_range *x = a, *y = b;
    return x->lo < y->lo ? -1 : x->lo > y->lo;
}

void sw_runes_normalize(struct sw_runes *set)
{
    if (set->n < 2)
        return;
    qsort(set->ranges, set->n, sizeof *set->ranges, by_lo);
    size_t n = 1;
    for (size_t i = 1; i < set->n; i++) {
        struct sw_rune_range *last = &set->ranges[n - 1], r = set->ranges[i];
        if (r.lo > last->hi + 1)
            set->ranges[n++] = r;
        else if (r.hi > last->hi)
            last->hi = r.hi;
    }
    set->n = n;
}

void sw_runes_negate(struct sw_runes *set, struct sw_arena *arena)
{
    struct sw_runes out = { 0 };
    uint32_t next = 0;
    for (size_t i = 0; i < set->n; i++) {
        if (set->ranges[i].lo > next)
            sw_runes_add(&out, arena, next, set->ranges[i].lo - 1);
        next = set->ranges[i].hi + 1;
    }
    if (next <= SW_RUNE_MAX)
        sw_runes_add(&out, arena, next, SW_RUNE_MAX);
    *set = out;
}

void sw_runes_fold(struct sw_runes *set, struct sw_arena *arena)
{
    enum { FIRST = 'A', LAST = 0x1E943 }; /* runes with another case lie between */
    size_t n = set->n;
    for (size_t i = 0; i < n; i++) {
        struct sw_rune_range r = set->ranges[i];
        if (r.lo <= FIRST && r.hi >= LAST)
            continue; /* it has all their cases */
        for (uint32_t c = r.lo < FIRST ? FIRST : r.lo; c <= r.hi && c <= LAST; c++) {
            for (uint32_t f = sw_rune_fold(c); f != c; f = sw_rune_fold(f)) {
                if (f < r.lo || f > r.hi)
                    sw_runes_add(set, arena, f, f);
            }
        }
    }
    sw_runes_normalize(set);
}

bool sw_runes_has(const struct sw_runes *set, uint32_t rune)
{
    return sw_rune_in(rune, &(struct sw_rune_class){ .ranges = set->ranges, .n = set->n });
}
