#include "chart/template/value/types.h"

#include <stdlib.h>
#include <string.h>

/* The entries are in one array, in any order: a template cannot observe the order of insertion. Up
 * to FEW entries are found by comparing hashes in turn, more by an index with open addressing. The
 * array is sorted by key when it is first ranged over. */
enum { FEW = 8 };

struct sw_map {
    struct sw_arena *arena;
    struct sw_entry *entries;
    uint32_t n, cap;
    uint32_t *index; /* entry number + 1, or 0; NULL while there are few */
    uint32_t index_mask;
    bool sorted;
};

uint32_t sw_name_hash(const char *s, size_t len)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)s[i]) * 16777619u;
    return h ^ h >> 15;
}

struct sw_map *sw_map_new(struct sw_arena *arena)
{
    struct sw_map *map = sw_arena_alloc(arena, sizeof *map);
    map->arena = arena;
    map->sorted = true;
    return map;
}

static void index_entry(struct sw_map *map, uint32_t i)
{
    uint32_t slot = map->entries[i].hash & map->index_mask;
    while (map->index[slot])
        slot = (slot + 1) & map->index_mask;
    map->index[slot] = i + 1;
}

static void build_index(struct sw_map *map)
{
    if (map->n <= FEW) {
        map->index = NULL;
        return;
    }
    uint32_t size = 32;
    while (size < map->cap * 2)
        size *= 2;
    if (!map->index || map->index_mask != size - 1)
        map->index = sw_arena_alloc(map->arena, size * sizeof *map->index);
    else
        memset(map->index, 0, size * sizeof *map->index);
    map->index_mask = size - 1;
    for (uint32_t i = 0; i < map->n; i++)
        index_entry(map, i);
}

static inline bool is_key(const struct sw_entry *e, const char *key, size_t len, uint32_t hash)
{
    return e->hash == hash && e->key_len == len && memcmp(e->key, key, len) == 0;
}

static struct sw_entry *find(const struct sw_map *map, const char *key, size_t len, uint32_t hash)
{
    if (!map->index) {
        for (uint32_t i = 0; i < map->n; i++) {
            if (is_key(&map->entries[i], key, len, hash))
                return &map->entries[i];
        }
        return NULL;
    }
    for (uint32_t slot = hash & map->index_mask; map->index[slot];
         slot = (slot + 1) & map->index_mask) {
        struct sw_entry *e = &map->entries[map->index[slot] - 1];
        if (is_key(e, key, len, hash))
            return e;
    }
    return NULL;
}

struct sw_value *sw_map_find_hashed(const struct sw_map *map, const char *key, size_t key_len,
                                    uint32_t hash)
{
    struct sw_entry *e = map ? find(map, key, key_len, hash) : NULL;
    return e ? &e->value : NULL;
}

struct sw_value *sw_map_find(const struct sw_map *map, const char *key, size_t key_len)
{
    return sw_map_find_hashed(map, key, key_len, sw_name_hash(key, key_len));
}

struct sw_value *sw_map_find_cstr(const struct sw_map *map, const char *key)
{
    return sw_map_find(map, key, strlen(key));
}

static void add_entry(struct sw_map *map, const struct sw_entry *entry)
{
    size_t with_index = sizeof *map->entries + 4 * sizeof *map->index; /* bytes of an entry */
    if (map->n >= map->cap && !sw_arena_has_room(map->arena, (map->cap + 4) * 2 * with_index))
        return;
    SW_ARENA_GROW(map->arena, map->entries, map->n, map->cap);
    if (map->n > 0 && map->sorted) {
        const struct sw_entry *last = &map->entries[map->n - 1];
        map->sorted = sw_bytes_order(last->key, last->key_len, entry->key, entry->key_len) < 0;
    }
    map->entries[map->n++] = *entry;
    if (map->index && map->n * 2 <= map->index_mask + 1)
        index_entry(map, map->n - 1);
    else if (map->n > FEW)
        build_index(map);
}

void sw_map_set_borrowed(struct sw_map *map, const char *key, size_t key_len, struct sw_value v)
{
    uint32_t hash = sw_name_hash(key, key_len);
    struct sw_entry *e = find(map, key, key_len, hash);
    v.extra &= (uint8_t)~SW_V_IFACE;
    if (e)
        e->value = v;
    else
        add_entry(map, &(struct sw_entry){ key, (uint32_t)key_len, hash, v });
}

void sw_map_set(struct sw_map *map, const char *key, size_t key_len, struct sw_value v)
{
    uint32_t hash = sw_name_hash(key, key_len);
    struct sw_entry *e = find(map, key, key_len, hash);
    v.extra &= (uint8_t)~SW_V_IFACE;
    if (e) {
        e->value = v;
        return;
    }
    if (!sw_arena_has_room(map->arena, key_len + 1))
        return;
    const char *copy = sw_arena_strndup(map->arena, key, key_len);
    add_entry(map, &(struct sw_entry){ copy, (uint32_t)key_len, hash, v });
}

void sw_map_set_cstr(struct sw_map *map, const char *key, struct sw_value v)
{
    sw_map_set(map, key, strlen(key), v);
}

bool sw_map_remove(struct sw_map *map, const char *key, size_t key_len)
{
    struct sw_entry *e = find(map, key, key_len, sw_name_hash(key, key_len));
    if (!e)
        return false;
    size_t after = map->n - 1 - (size_t)(e - map->entries);
    memmove(e, e + 1, after * sizeof *e);
    map->n--;
    build_index(map);
    return true;
}

size_t sw_map_count(const struct sw_map *map)
{
    return map ? map->n : 0;
}

static int by_key(const void *a, const void *b)
{
    const struct sw_entry *x = a, *y = b;
    return sw_bytes_order(x->key, x->key_len, y->key, y->key_len);
}

const struct sw_entry *sw_map_sorted(struct sw_map *map)
{
    if (!map)
        return NULL;
    if (!map->sorted) {
        qsort(map->entries, map->n, sizeof *map->entries, by_key);
        map->sorted = true;
        build_index(map);
    }
    return map->entries;
}

struct sw_arena *sw_map_arena(const struct sw_map *map)
{
    return map->arena;
}

struct sw_map *sw_map_copy(struct sw_arena *arena, const struct sw_map *map)
{
    struct sw_map *copy = sw_map_new(arena);
    size_t with_index = sizeof *copy->entries + 4 * sizeof *copy->index; /* bytes of an entry */
    if (!map || map->n == 0 || !sw_arena_has_room(arena, map->n * with_index))
        return copy;
    copy->n = copy->cap = map->n;
    copy->sorted = map->sorted;
    copy->entries = sw_arena_alloc(arena, map->n * sizeof *copy->entries);
    memcpy(copy->entries, map->entries, map->n * sizeof *copy->entries);
    build_index(copy);
    return copy;
}
