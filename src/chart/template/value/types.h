#pragma once
/* The Go side of a value's type: its kind, its name, what it holds. */
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
    SW_V_KIND_MASK = 0x0F, /* SW_T_POINTERS: which struct, enum sw_pointers */
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
struct sw_value sw_value_typed_list(enum sw_type type, struct sw_list *list);
/** @map as a value of a map type; NULL: Go's nil map. */
struct sw_value sw_value_typed_map(enum sw_type type, struct sw_map *map);

/** The hash of a key, for sw_map_find_hashed(). */
uint32_t sw_name_hash(const char *s, size_t len);
/** As sw_map_find(), for a caller that knows the hash of the key. @map may be NULL. */
struct sw_value *sw_map_find_hashed(const struct sw_map *map, const char *key, size_t key_len,
                                    uint32_t hash);
/** A new map with the same keys and values; @map may be NULL. */
struct sw_map *sw_map_copy(struct sw_arena *arena, const struct sw_map *map);
