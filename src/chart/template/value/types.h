#pragma once
/* The Go side of a value's type: its kind, its name, what it holds. */
#include <string.h>

#include "chart/template/value/value.h"

/** Go's reflect.Kind, as far as templates can tell kinds apart. */
enum sw_kind {
    SW_K_INVALID,
    SW_K_BOOL,
    SW_K_INT, /* int .. int64 */
    SW_K_UINT,
    SW_K_FLOAT,
    SW_K_COMPLEX,
    SW_K_STRING,
    SW_K_SLICE,
    SW_K_MAP,
    SW_K_STRUCT, /* or a pointer to one */
};

/** What is the same for all values of a type. */
struct sw_type_info {
    enum sw_kind kind;
    enum sw_type elem;     /* of slices and maps; SW_T_NIL: interface {} */
    const char *name;      /* as %T prints it */
    const char *kind_name; /* as reflect.Kind prints it */
};

/** By enum sw_type. */
extern const struct sw_type_info sw_types[SW_T_COUNT];

/* struct sw_value.extra */
enum {
    SW_V_KIND_MASK = 0x0F, /* SW_T_POINTERS: 0: of *chart.Dependency, 1: of *chart.Maintainer */
    SW_V_IFACE = 0x80,     /* read out of an interface {}: errors name that type */
};

/** The kind of a value. */
static inline enum sw_kind sw_kind(struct sw_value v)
{
    return sw_types[v.type].kind;
}

/** The type's name as %T prints it; a struct's comes from its object. */
const char *sw_value_type_name(struct sw_value v);
/** The kind's name as kindOf prints it. */
const char *sw_value_kind_name(struct sw_value v);

/** Go's and sprig's empty: a zero value, or a composite without elements; structs are never. */
static inline bool sw_value_is_empty(struct sw_value v)
{
    return v.type != SW_T_OBJECT && !sw_value_truth(v);
}

/** Whether two values of the same kind, SW_K_BOOL to SW_K_STRING, are equal. */
static inline bool sw_value_basic_equal(struct sw_value a, struct sw_value b)
{
    switch (sw_kind(a)) {
    case SW_K_BOOL:
        return a.as.b == b.as.b;
    case SW_K_FLOAT:
        return a.as.f == b.as.f;
    case SW_K_COMPLEX:
        return a.as.c[0] == b.as.c[0] && a.as.c[1] == b.as.c[1];
    case SW_K_STRING:
        return a.len == b.len && memcmp(a.as.s, b.as.s, a.len) == 0;
    default:
        return a.as.u == b.as.u;
    }
}
/** Byte order. @return negative, 0 or positive: @a is before, equal to or after @b */
static inline int sw_bytes_order(const char *a, size_t a_len, const char *b, size_t b_len)
{
    int order = memcmp(a, b, a_len < b_len ? a_len : b_len);
    return order ? order : a_len < b_len ? -1 : a_len > b_len;
}

/** Elements of a slice (bytes included), entries of a map, bytes of a string; else 0. */
size_t sw_value_len(struct sw_value v);
/** Element @i of a slice, of its Go type. */
struct sw_value sw_value_at(struct sw_value v, size_t i);
/** A slice or map that is nil in Go; prints like an empty one, but is null in JSON. */
bool sw_value_is_nil_ref(struct sw_value v);
/** Nothing, nil, or a nil slice or map. */
static inline bool sw_value_is_any_nil(struct sw_value v)
{
    return sw_value_is_nil(v) || sw_value_is_nil_ref(v);
}
/** sw_value_copy() for values that a template made, which may contain themselves, or be larger than
 * any memory: at most @*steps values are copied.
 * @return of copying: whether the steps were enough */
bool sw_value_copy_steps(struct sw_arena *arena, struct sw_value *v, bool strings, uint64_t *steps);
/** As sw_value_equal(), with at most @*steps values; false where they are not enough. */
bool sw_value_equal_steps(struct sw_value a, struct sw_value b, uint64_t *steps);
/** The zero value of a map's element, for a key that is not there. */
struct sw_value sw_value_zero_elem(struct sw_value map);

/** @list as a value of a list type; NULL: Go's nil slice. */
static inline struct sw_value sw_value_typed_list(enum sw_type type, struct sw_list *list)
{
    return (struct sw_value){ .type = (uint8_t)type, .as.list = list };
}
/** @map as a value of a map type; NULL: Go's nil map. */
static inline struct sw_value sw_value_typed_map(enum sw_type type, struct sw_map *map)
{
    return (struct sw_value){ .type = (uint8_t)type, .as.map = map };
}

/** The hash of a name or key. */
uint32_t sw_name_hash(const char *s, size_t len);
/** As sw_map_find(), with the hash of the key, sw_name_hash(). @map may be NULL. */
struct sw_value *sw_map_find_hashed(const struct sw_map *map, const char *key, size_t key_len,
                                    uint32_t hash);
/** A new map with the same keys and values; @map may be NULL. */
struct sw_map *sw_map_copy(struct sw_arena *arena, const struct sw_map *map);
