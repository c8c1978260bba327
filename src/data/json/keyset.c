#include "data/json/keyset.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"

void sw_keyset_done(struct sw_keyset *set)
{
    free(set->table);
    free(set->texts);
    free(set->open);
    *set = (struct sw_keyset){ 0 };
}

void sw_keyset_enter(struct sw_keyset *set)
{
    SW_GROW(set->open, set->n_open, set->cap_open);
    set->open[set->n_open++] = ++set->last_map;
}

void sw_keyset_leave(struct sw_keyset *set)
{
    if (--set->n_open == 0 && set->n > 0) {
        memset(set->table, 0, set->cap * sizeof *set->table);
        set->n = 0;
        set->texts_len = 0;
    }
}

static void grow(struct sw_keyset *set)
{
    struct sw_keyset_entry *old = set->table;
    size_t old_cap = set->cap;
    set->cap = old_cap ? old_cap * 2 : 64;
    set->table = sw_zalloc(set->cap, sizeof *set->table);
    for (size_t i = 0; i < old_cap; i++) {
        if (!old[i].hash)
            continue;
        size_t at = old[i].hash & (set->cap - 1);
        while (set->table[at].hash)
            at = (at + 1) & (set->cap - 1);
        set->table[at] = old[i];
    }
    free(old);
}

bool sw_keyset_add(struct sw_keyset *set, const char *text, size_t len_bytes)
{
    if (set->n * 2 >= set->cap)
        grow(set);
    uint32_t map = set->open[set->n_open - 1];
    /* multiply the map's number so that the same key in many maps does not cluster */
    uint64_t hash = sw_fnv64a(text, len_bytes) ^ map * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 32;
    hash += hash == 0;
    size_t i = hash & (set->cap - 1);
    for (; set->table[i].hash; i = (i + 1) & (set->cap - 1)) {
        const struct sw_keyset_entry *e = &set->table[i];
        if (e->hash == hash && e->map == map && e->len == len_bytes &&
            memcmp(set->texts + e->at, text, len_bytes) == 0)
            return false;
    }
    set->table[i] = (struct sw_keyset_entry){
        .hash = hash, .map = map, .len = (uint32_t)len_bytes, .at = set->texts_len
    };
    set->n++;
    if (set->texts_cap - set->texts_len <= len_bytes) {
        set->texts_cap = set->texts_cap * 2 + len_bytes + 256;
        set->texts = sw_realloc(set->texts, set->texts_cap, 1);
    }
    memcpy(set->texts + set->texts_len, text, len_bytes);
    set->texts_len += len_bytes;
    return true;
}
