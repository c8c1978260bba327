#pragma once
/* keyset: the keys of the maps that are being read, to notice one that comes twice. Internal to
 * data. One table serves all open maps: a key is stored with the number of its map. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sw_keyset_entry {
    uint64_t hash; /* 0: free */
    uint32_t map;
    uint32_t len;
    size_t at; /* in texts */
};

/** Zero-initialise. */
struct sw_keyset {
    struct sw_keyset_entry *table;
    size_t n, cap; /* cap is a power of two */
    char *texts;
    size_t texts_len, texts_cap;
    uint32_t *open; /* the numbers of the open maps */
    size_t n_open, cap_open;
    uint32_t last_map;
};

void sw_keyset_done(struct sw_keyset *set);
void sw_keyset_enter(struct sw_keyset *set);
void sw_keyset_leave(struct sw_keyset *set);
/** Add a key to the innermost map. @return false: it is there already */
bool sw_keyset_add(struct sw_keyset *set, const char *text, size_t len_bytes);
