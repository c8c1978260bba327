#pragma once
/* The values that templates work on. A value is sixteen bytes and is passed by value; what it
 * points to is in an arena, the caller's for what goes in and the render's for what a template
 * makes. Each carries its Go type, since templates can observe it: an int and a float64 do not
 * compare equal, 1000000.0 prints as 1e+06, typeOf names it.
 *
 * Where an arena has a limit (sw_arena_limit()), what does not fit is left out: a text is empty, an
 * element or entry is not added. Who set the limit looks at sw_arena_is_over(). */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

struct json_object;

/** Go types that a value can have; sw_types[] in value.c has a row for each. */
enum sw_type {
    SW_T_INVALID, /* no value at all: a key that is not there, Go's zero reflect.Value */
    SW_T_NIL,     /* a nil interface{} */
    SW_T_BOOL,
    SW_T_INT,
    SW_T_INT8,
    SW_T_INT16,
    SW_T_INT32, /* rune */
    SW_T_INT64,
    SW_T_UINT,
    SW_T_UINT8,
    SW_T_UINT16,
    SW_T_UINT32,
    SW_T_UINT64,
    SW_T_FLOAT32,
    SW_T_FLOAT64,
    SW_T_COMPLEX128, /* as.c */
    SW_T_STRING,     /* as.s, len */
    SW_T_DURATION,   /* time.Duration: as.i, nanoseconds */
    SW_T_MONTH,      /* time.Month: as.i */
    SW_T_WEEKDAY,    /* time.Weekday: as.i */
    SW_T_BYTES,      /* []uint8: as.s, len */
    SW_T_LIST,       /* []interface {}: as.list */
    SW_T_STRINGS,    /* []string */
    SW_T_INTS,       /* []int */
    SW_T_LISTS,      /* [][]interface {} */
    SW_T_VERSIONS,   /* chartutil.VersionSet, a []string with methods */
    SW_T_POINTERS,   /* a list of pointers to structs (.Chart.Dependencies) */
    SW_T_MAP,        /* map[string]interface {}: as.map */
    SW_T_STRING_MAP, /* map[string]string */
    SW_T_BYTES_MAP,  /* map[string][]uint8 */
    SW_T_VALUES,     /* chartutil.Values, a map[string]interface {} with methods */
    SW_T_FILES,      /* engine.files, a map[string][]uint8 with methods */
    SW_T_OBJECT,     /* a struct or a pointer to one: as.object says which */
    SW_T_ERROR,      /* error: as.s, len */
    SW_T_COUNT
};

struct sw_list;
struct sw_map;
struct sw_object;

/** A value of any type. */
struct sw_value {
    uint8_t type;  /* enum sw_type */
    uint8_t extra; /* the type's own */
    uint32_t len;  /* strings: bytes */
    union {
        bool b;
        int64_t i;
        uint64_t u;
        double f;
        const double *c; /* real, imaginary */
        const char *s;   /* not NUL-terminated */
        struct sw_list *list;
        struct sw_map *map;
        struct sw_object *object;
    } as;
};

/* ---- construction ---- */

/** A nil interface {}. */
static inline struct sw_value sw_value_nil(void)
{
    return (struct sw_value){ .type = SW_T_NIL };
}
/** A bool. */
static inline struct sw_value sw_value_bool(bool b)
{
    return (struct sw_value){ .type = SW_T_BOOL, .as.b = b };
}
/** Go's int. */
static inline struct sw_value sw_value_int(int64_t i)
{
    return (struct sw_value){ .type = SW_T_INT, .as.i = i };
}
/** Go's int64. */
static inline struct sw_value sw_value_int64(int64_t i)
{
    return (struct sw_value){ .type = SW_T_INT64, .as.i = i };
}
/** Go's float64. */
static inline struct sw_value sw_value_float(double f)
{
    return (struct sw_value){ .type = SW_T_FLOAT64, .as.f = f };
}
/** Borrows @s: it must live as long as the value. */
static inline struct sw_value sw_value_text(const char *s, size_t len)
{
    return (struct sw_value){ .type = SW_T_STRING, .len = (uint32_t)len, .as.s = s };
}
/** The same for a NUL-terminated string. */
struct sw_value sw_value_cstr(const char *s);
/** Copies @s into @arena. */
struct sw_value sw_value_str(struct sw_arena *arena, const char *s, size_t len);
/** A []interface {}; NULL: Go's nil slice. */
static inline struct sw_value sw_value_list(struct sw_list *list)
{
    return (struct sw_value){ .type = SW_T_LIST, .as.list = list };
}
/** A map[string]interface {}; NULL: Go's nil map. */
static inline struct sw_value sw_value_map(struct sw_map *map)
{
    return (struct sw_value){ .type = SW_T_MAP, .as.map = map };
}

/** A whole JSON document. Numbers become float64, as in Helm's values; keys and strings are copied.
 * NULL is nil. */
struct sw_value sw_value_from_json(struct sw_arena *arena, const struct json_object *json);

/** Most memory that the values of one YAML text may take. */
enum { SW_VALUES_BYTES = 16 << 20 };

/** YAML text as Helm reads values: YAML 1.1 mapped to JSON by Kubernetes' rules, numbers float64.
 * Empty text is nil. @name is put in front of errors ("values.yaml").
 * @return 0 | SW_INVALID with line and column; also for values over SW_VALUES_BYTES */
int sw_value_from_yaml(struct sw_arena *arena, const char *name, const char *text, size_t len,
                       struct sw_value *out, struct sw_err *err) SW_CHECKED;

/** JSON text, likewise; a key that comes twice has its last value.
 * @return 0 | SW_INVALID with line and column */
int sw_value_from_json_text(struct sw_arena *arena, const char *name, const char *text, size_t len,
                            struct sw_value *out, struct sw_err *err) SW_CHECKED;

/** @return a new document, the caller's (json_object_put); NULL for nil. */
struct json_object *sw_value_to_json(struct sw_value v);

/** A copy that shares no map or list with @v; strings are shared unless @strings. */
struct sw_value sw_value_copy(struct sw_arena *arena, struct sw_value v, bool strings);

/* ---- queries ---- */

/** Nil or invalid. */
static inline bool sw_value_is_nil(struct sw_value v)
{
    return v.type <= SW_T_NIL;
}
bool sw_value_is_map(struct sw_value v);  /* any of the map types */
bool sw_value_is_list(struct sw_value v); /* any of the list types, not bytes */
/** Whether @v is of SW_T_STRING. */
static inline bool sw_value_is_string(struct sw_value v)
{
    return v.type == SW_T_STRING;
}
/** An integer or float of any size. */
bool sw_value_is_number(struct sw_value v);
/** Truth as `if` sees it. */
bool sw_value_truth(struct sw_value v);
/** Go's reflect.DeepEqual. */
bool sw_value_equal(struct sw_value a, struct sw_value b);
/** The value as `print` writes it, cut off after 1 MiB; NUL-terminated, in @arena. */
const char *sw_value_print(struct sw_arena *arena, struct sw_value v);
/** Follow a dotted path ("a.b.c") through maps. @return the value, or invalid. */
struct sw_value sw_value_path(struct sw_value v, const char *dotted);

/* ---- lists ---- */

/** A growing list of values. */
struct sw_list {
    struct sw_value *items;
    size_t n;
    size_t cap;
    struct sw_arena *arena;
};

/** An empty list in @arena with room for @cap values. */
struct sw_list *sw_list_new(struct sw_arena *arena, size_t cap);
/** Append @v. */
void sw_list_add(struct sw_list *list, struct sw_value v);

/* ---- maps ---- */

/** A key of a map with its value. */
struct sw_entry {
    const char *key; /* NUL-terminated, in the map's arena or borrowed */
    uint32_t key_len;
    uint32_t hash;
    struct sw_value value;
};

struct sw_map;

/** An empty map in @arena. */
struct sw_map *sw_map_new(struct sw_arena *arena);
/** Add or replace; the key is copied into the map's arena. */
void sw_map_set(struct sw_map *map, const char *key, size_t key_len, struct sw_value v);
/** The same for a NUL-terminated key. */
void sw_map_set_cstr(struct sw_map *map, const char *key, struct sw_value v);
/** As sw_map_set, but @key is borrowed for the map's life. */
void sw_map_set_borrowed(struct sw_map *map, const char *key, size_t key_len, struct sw_value v);
/** @return the value, borrowed until the map changes, or NULL. */
struct sw_value *sw_map_find(const struct sw_map *map, const char *key, size_t key_len);
/** The same for a NUL-terminated key. */
struct sw_value *sw_map_find_cstr(const struct sw_map *map, const char *key);
/** @return whether the key was there */
bool sw_map_remove(struct sw_map *map, const char *key, size_t key_len);
/** The number of entries; 0 for NULL. */
size_t sw_map_count(const struct sw_map *map);
/** All entries in the byte order of their keys, as Go prints and ranges over maps; borrowed until
 * the map changes. */
const struct sw_entry *sw_map_sorted(struct sw_map *map);
/** The arena of the map. */
struct sw_arena *sw_map_arena(const struct sw_map *map);
