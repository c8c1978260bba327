#pragma once
/* keyset: the keys of the maps that are being read, to detect duplicates. Internal to data. One
 * hash table serves all open maps: a key is stored with the number of its map. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** One key in the table. */
struct sw_keyset_entry {
    uint64_t hash; /* 0: the entry is free */
    uint32_t map;
    uint32_t len;
    size_t at; /* offset of the key in texts */
};

/** The keys of all open maps. Zero-initialise; sw_keyset_done() frees it. */
struct sw_keyset {
    struct sw_keyset_entry *table;
    size_t n, cap; /* cap is a power of two */
    char *texts;
    size_t texts_len, texts_cap;
    uint32_t *open; /* the numbers of the open maps */
    size_t n_open, cap_open;
    uint32_t last_map;
};

/** Free the memory of @set; it is empty then. */
void sw_keyset_done(struct sw_keyset *set);
/** A map begins: it is the innermost one. */
void sw_keyset_enter(struct sw_keyset *set);
/** The innermost map ends. */
void sw_keyset_leave(struct sw_keyset *set);
/** Add a copy of the key to the innermost map. @return false: the map has the key already */
bool sw_keyset_add(struct sw_keyset *set, const char *text, size_t len_bytes);
