#include "data/json/pool.h"

#include <json-c/linkhash.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "data/json/json.h"

/* A map or list in the pool; the user data of its object, which takes it away when it is freed. */
struct slot {
    struct slot *next; /* of the same bucket */
    struct sw_json_pool *pool;
    json_object *object; /* borrowed: it has gone when its count is 0 */
    uint64_t hash;
    size_t bytes;
};

struct sw_json_pool {
    struct slot **buckets;
    size_t n_buckets; /* a power of two */
    size_t n, bytes;
    bool closed; /* freed; the last slot frees the memory */
};

enum { FIRST_BUCKETS = 64 };

/* ---- hashes -------------------------------------------------------------------------------------
 */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15;
    return hash ^ hash >> 29;
}

/* Eight bytes at a time: most of a document is text. */
static uint64_t mix_bytes(uint64_t hash, const char *bytes, size_t len)
{
    uint64_t word;
    hash = mix(hash, len);
    for (; len >= sizeof word; bytes += sizeof word, len -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        hash = mix(hash, word);
    }
    word = 0;
    memcpy(&word, bytes, len);
    return mix(hash, word);
}

static bool is_container(json_object *value)
{
    const enum json_type type = json_object_get_type(value);
    return type == json_type_object || type == json_type_array;
}

/* Of a map or list by its address: those inside another are in the pool already. */
static uint64_t mix_value(uint64_t hash, json_object *value)
{
    const enum json_type type = json_object_get_type(value);
    hash = mix(hash, type);
    switch (type) {
    case json_type_null:
        return hash;
    case json_type_boolean:
        return mix(hash, (uint64_t)json_object_get_boolean(value));
    case json_type_int:
        return mix(hash, json_object_get_uint64(value));
    case json_type_double:
        return mix(hash, (uint64_t)json_object_get_double(value));
    case json_type_string:
        return mix_bytes(hash, json_object_get_string(value),
                         (size_t)json_object_get_string_len(value));
    default:
        return mix(hash, (uintptr_t)value);
    }
}

static uint64_t hash_of(json_object *container)
{
    uint64_t hash = 1;
    if (json_object_is_type(container, json_type_array)) {
        const size_t n = json_object_array_length(container);
        for (size_t i = 0; i < n; i++)
            hash = mix_value(hash, json_object_array_get_idx(container, i));
        return hash;
    }
    json_object_object_foreach(container, key, value)
    {
        hash = mix_value(mix_bytes(hash, key, strlen(key)), value);
    }
    return hash;
}

/* ---- sizes --------------------------------------------------------------------------------------
 */

/* What json-c allocates for a value, with malloc's own; for an entry of a map; for the map. */
enum { VALUE_BYTES = 64, ENTRY_BYTES = 3 * sizeof(struct lh_entry) / 2 + 32, TABLE_BYTES = 200 };

static size_t bytes_of(json_object *value)
{
    const bool is_text = json_object_is_type(value, json_type_string);
    return !value || is_container(value)
               ? 0
               : VALUE_BYTES + (is_text ? (size_t)json_object_get_string_len(value) : 0);
}

size_t sw_json_own_bytes(json_object *doc)
{
    size_t bytes = VALUE_BYTES;
    if (json_object_is_type(doc, json_type_array)) {
        const size_t n = json_object_array_length(doc);
        for (size_t i = 0; i < n; i++)
            bytes += sizeof doc + bytes_of(json_object_array_get_idx(doc, i));
        return bytes;
    }
    bytes += TABLE_BYTES;
    json_object_object_foreach(doc, key, value)
    {
        (void)key;
        bytes += ENTRY_BYTES + bytes_of(value);
    }
    return bytes;
}

/* ---- equality -----------------------------------------------------------------------------------
 */

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Stricter than sw_json_equal(): both are written as the same text. */
static bool same_value(json_object *a, json_object *b)
{
    const enum json_type type = json_object_get_type(a);
    if (a == b)
        return true;
    if (type != json_object_get_type(b) || is_container(a) || !sw_json_equal(a, b))
        return false;
    return type != json_type_double ||
           same_text(json_object_get_userdata(a), json_object_get_userdata(b));
}

static bool same_lists(json_object *a, json_object *b)
{
    const size_t n = json_object_array_length(a);
    if (n != json_object_array_length(b))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!same_value(json_object_array_get_idx(a, i), json_object_array_get_idx(b, i)))
            return false;
    return true;
}

static bool same_maps(json_object *a, json_object *b)
{
    if (json_object_object_length(a) != json_object_object_length(b))
        return false;
    const struct lh_entry *other = lh_table_head(json_object_get_object(b));
    json_object_object_foreach(a, key, value)
    {
        if (strcmp(key, lh_entry_k(other)) != 0 || !same_value(value, lh_entry_v(other)))
            return false;
        other = lh_entry_next(other);
    }
    return true;
}

static bool same(json_object *a, json_object *b)
{
    if (json_object_get_type(a) != json_object_get_type(b))
        return false;
    return json_object_is_type(a, json_type_array) ? same_lists(a, b) : same_maps(a, b);
}

/* ---- slots --------------------------------------------------------------------------------------
 */

static struct slot **bucket_of(struct sw_json_pool *pool, uint64_t hash)
{
    return &pool->buckets[hash & (pool->n_buckets - 1)];
}

static void grow(struct sw_json_pool *pool)
{
    struct slot **old = pool->buckets;
    const size_t n_old = pool->n_buckets;
    pool->n_buckets = n_old ? n_old * 2 : FIRST_BUCKETS;
    pool->buckets = sw_zalloc(pool->n_buckets, sizeof(struct slot *));
    for (size_t i = 0; i < n_old; i++) {
        for (struct slot *slot = old[i], *next; slot; slot = next) {
            next = slot->next;
            struct slot **bucket = bucket_of(pool, slot->hash);
            slot->next = *bucket;
            *bucket = slot;
        }
    }
    free(old);
}

static void free_pool(struct sw_json_pool *pool)
{
    free(pool->buckets);
    free(pool);
}

/* The object of a slot is freed. */
static void on_freed(json_object *object SW_UNUSED, void *arg)
{
    struct slot *slot = arg;
    struct sw_json_pool *pool = slot->pool;
    struct slot **link = bucket_of(pool, slot->hash);
    while (*link != slot)
        link = &(*link)->next;
    *link = slot->next;
    pool->bytes -= slot->bytes;
    free(slot);
    if (--pool->n == 0 && pool->closed)
        free_pool(pool);
}

static json_object *find_or_add(struct sw_json_pool *pool, json_object *object)
{
    const uint64_t hash = hash_of(object);
    if (pool->n >= pool->n_buckets)
        grow(pool);
    struct slot **bucket = bucket_of(pool, hash);
    for (struct slot *slot = *bucket; slot; slot = slot->next)
        if (slot->hash == hash && same(slot->object, object))
            return slot->object;
    struct slot *slot = sw_zalloc(1, sizeof *slot);
    *slot = (struct slot){ .next = *bucket,
                           .pool = pool,
                           .object = object,
                           .hash = hash,
                           .bytes = sizeof *slot + sw_json_own_bytes(object) };
    *bucket = slot;
    pool->bytes += slot->bytes;
    sw_json_fit(object);
    pool->n++;
    json_object_set_userdata(object, slot, on_freed);
    return object;
}

/* ---- documents ----------------------------------------------------------------------------------
 */

static void share_items(struct sw_json_pool *pool, json_object *container);

/* What stands for @value in the pool, borrowed. User data says that it is in a pool already. */
static json_object *share_value(struct sw_json_pool *pool, json_object *value)
{
    if (!is_container(value) || json_object_get_userdata(value))
        return value;
    share_items(pool, value);
    return find_or_add(pool, value);
}

static void share_items(struct sw_json_pool *pool, json_object *container)
{
    if (json_object_is_type(container, json_type_array)) {
        for (size_t i = 0; i < json_object_array_length(container); i++) {
            json_object *value = json_object_array_get_idx(container, i);
            json_object *shared = share_value(pool, value);
            if (shared != value)
                (void)json_object_array_put_idx(container, i, json_object_get(shared));
        }
        return;
    }
    struct lh_entry *entry;
    lh_foreach(json_object_get_object(container), entry)
    {
        json_object *value = lh_entry_v(entry), *shared = share_value(pool, value);
        if (shared == value)
            continue;
        entry->v = json_object_get(shared);
        json_object_put(value);
    }
}

struct sw_json_pool *sw_json_pool_new(void)
{
    return sw_zalloc(1, sizeof(struct sw_json_pool));
}

void sw_json_pool_free(struct sw_json_pool *pool)
{
    if (!pool)
        return;
    pool->closed = true;
    if (!pool->n)
        free_pool(pool);
}

void sw_json_pool_share(struct sw_json_pool *pool, json_object *doc)
{
    if (!is_container(doc))
        return;
    share_items(pool, doc);
    sw_json_fit(doc);
}

size_t sw_json_pool_bytes(const struct sw_json_pool *pool)
{
    return pool->bytes;
}

size_t sw_json_pool_count(const struct sw_json_pool *pool)
{
    return pool->n;
}
