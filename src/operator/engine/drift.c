/* How drift is seen: not by comparing what was applied with what the server made of it (which fills
 * in defaults and writes "1000m" as "1"), but by comparing how the fields that were applied look
 * now with how they looked right after they were applied. */
#include <string.h>

#include <json-c/json.h>

#include "data/data.h"
#include "data/json/path.h"
#include "operator/engine/internal.h"

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t x = a ^ (b + UINT64_C(0x9e3779b97f4a7c15) + (a << 6) + (a >> 2));
    x ^= x >> 32;
    return x * UINT64_C(0xd6e8feb86659fd93);
}

static uint64_t text_hash(const char *text)
{
    return sw_fnv64a(text, strlen(text));
}

/* The element of the list @live that is @mine, the @i-th of its list. One with a name is found by
 * it: other clients may have added elements. */
static struct json_object *counterpart(struct json_object *mine, struct json_object *live, size_t i)
{
    static const char *const names[] = { "name", "key",  "mountPath", "containerPort",
                                         "port", "type", "ip" };
    for (size_t n = 0; n < SW_COUNT(names); n++) {
        struct json_object *name = sw_json_get(mine, names[n]);
        if (name && json_object_is_type(name, json_type_string))
            return sw_json_find_by(live, names[n], json_object_get_string(name));
    }
    return sw_json_at(live, i);
}

/* Of what @live has where @ours has something. */
static uint64_t hash_value(struct json_object *ours, struct json_object *live)
{
    if (json_object_is_type(ours, json_type_object) &&
        json_object_is_type(live, json_type_object)) {
        uint64_t sum = 2;
        json_object_object_foreach(ours, key, value)
            sum += mix(text_hash(key), hash_value(value, sw_json_get(live, key)));
        return sum;
    }
    if (!json_object_is_type(ours, json_type_array) || !json_object_is_type(live, json_type_array))
        return live ? text_hash(json_object_to_json_string_ext(live, JSON_C_TO_STRING_PLAIN)) : 1;
    uint64_t all = 3;
    size_t n = json_object_array_length(ours);
    bool scalars = n > 0;
    for (size_t i = 0; i < n; i++) {
        struct json_object *mine = json_object_array_get_idx(ours, i);
        scalars = scalars && !json_object_is_type(mine, json_type_object);
        all = mix(all, hash_value(mine, counterpart(mine, live, i)));
    }
    return scalars ? mix(all, sw_json_len(live)) : all;
}

/* The same of metadata. A manifest may have "creationTimestamp: null", as generators write it: what
 * the server has there says nothing of what was applied, and is another one each time that the
 * object is made. */
static uint64_t hash_metadata(struct json_object *ours, struct json_object *live)
{
    if (!json_object_object_get_ex(ours, "creationTimestamp", NULL))
        return hash_value(ours, live);
    SW_AUTO_JSON *counts = sw_json_copy(ours);
    (void)sw_json_del(counts, "creationTimestamp", NULL);
    return hash_value(counts, live);
}

uint64_t drift_fingerprint(struct json_object *ours, struct json_object *live)
{
    uint64_t sum = 0;
    json_object_object_foreach(ours, key, value)
    {
        struct json_object *there = sw_json_get(live, key);
        if (strcmp(key, "metadata") == 0)
            sum += mix(text_hash(key), hash_metadata(value, there));
        else if (strcmp(key, "status") != 0)
            sum += mix(text_hash(key), hash_value(value, there));
    }
    return sum ? sum : 1; /* 0 means unknown */
}
