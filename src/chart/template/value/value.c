#include "chart/template/value/value.h"

#include <json-c/json.h>
#include <string.h>

#include "chart/template/value/object.h"
#include "chart/template/value/types.h"
#include "data/go/text.h"

const struct sw_type_info sw_types[SW_T_COUNT] = {
    [SW_T_INVALID] = { SW_K_INVALID, 0, "<nil>", "invalid" },
    [SW_T_NIL] = { SW_K_INVALID, 0, "interface {}", "invalid" },
    [SW_T_BOOL] = { SW_K_BOOL, 0, "bool", "bool" },
    [SW_T_INT] = { SW_K_INT, 0, "int", "int" },
    [SW_T_INT8] = { SW_K_INT, 0, "int8", "int8" },
    [SW_T_INT16] = { SW_K_INT, 0, "int16", "int16" },
    [SW_T_INT32] = { SW_K_INT, 0, "int32", "int32" },
    [SW_T_INT64] = { SW_K_INT, 0, "int64", "int64" },
    [SW_T_UINT] = { SW_K_UINT, 0, "uint", "uint" },
    [SW_T_UINT8] = { SW_K_UINT, 0, "uint8", "uint8" },
    [SW_T_UINT16] = { SW_K_UINT, 0, "uint16", "uint16" },
    [SW_T_UINT32] = { SW_K_UINT, 0, "uint32", "uint32" },
    [SW_T_UINT64] = { SW_K_UINT, 0, "uint64", "uint64" },
    [SW_T_FLOAT32] = { SW_K_FLOAT, 0, "float32", "float32" },
    [SW_T_FLOAT64] = { SW_K_FLOAT, 0, "float64", "float64" },
    [SW_T_COMPLEX128] = { SW_K_COMPLEX, 0, "complex128", "complex128" },
    [SW_T_STRING] = { SW_K_STRING, 0, "string", "string" },
    [SW_T_DURATION] = { SW_K_INT, 0, "time.Duration", "int64" },
    [SW_T_MONTH] = { SW_K_INT, 0, "time.Month", "int" },
    [SW_T_WEEKDAY] = { SW_K_INT, 0, "time.Weekday", "int" },
    [SW_T_BYTES] = { SW_K_SLICE, SW_T_UINT8, "[]uint8", "slice" },
    [SW_T_LIST] = { SW_K_SLICE, SW_T_NIL, "[]interface {}", "slice" },
    [SW_T_STRINGS] = { SW_K_SLICE, SW_T_STRING, "[]string", "slice" },
    [SW_T_INTS] = { SW_K_SLICE, SW_T_INT, "[]int", "slice" },
    [SW_T_LISTS] = { SW_K_SLICE, SW_T_LIST, "[][]interface {}", "slice" },
    [SW_T_VERSIONS] = { SW_K_SLICE, SW_T_STRING, "chartutil.VersionSet", "slice" },
    [SW_T_POINTERS] = { SW_K_SLICE, SW_T_OBJECT, "[]*chart.Dependency", "slice" },
    [SW_T_MAP] = { SW_K_MAP, SW_T_NIL, "map[string]interface {}", "map" },
    [SW_T_STRING_MAP] = { SW_K_MAP, SW_T_STRING, "map[string]string", "map" },
    [SW_T_BYTES_MAP] = { SW_K_MAP, SW_T_BYTES, "map[string][]uint8", "map" },
    [SW_T_VALUES] = { SW_K_MAP, SW_T_NIL, "chartutil.Values", "map" },
    [SW_T_FILES] = { SW_K_MAP, SW_T_BYTES, "engine.files", "map" },
    [SW_T_OBJECT] = { SW_K_STRUCT, 0, "struct {}", "struct" },
    [SW_T_ERROR] = { SW_K_STRUCT, 0, "*errors.errorString", "ptr" },
};

/* ---- construction ---- */

struct sw_value sw_value_cstr(const char *s)
{
    return sw_value_text(s, strlen(s));
}

struct sw_value sw_value_str(struct sw_arena *arena, const char *s, size_t len)
{
    if (!sw_arena_has_room(arena, len + 1))
        return sw_value_text("", 0);
    return sw_value_text(sw_arena_strndup(arena, s, len), len);
}

struct sw_value sw_value_from_json(struct sw_arena *arena, const struct json_object *json)
{
    switch (json_object_get_type(json)) {
    case json_type_null:
        return sw_value_nil();
    case json_type_boolean:
        return sw_value_bool(json_object_get_boolean(json));
    case json_type_double:
    case json_type_int:
        return sw_value_float(json_object_get_double(json));
    case json_type_string: {
        struct json_object *s = (struct json_object *)json; /* json-c takes no const here */
        return sw_value_str(arena, json_object_get_string(s),
                            (size_t)json_object_get_string_len(json));
    }
    case json_type_array: {
        size_t n = json_object_array_length(json);
        struct sw_list *list = sw_list_new(arena, n);
        for (size_t i = 0; i < n; i++)
            sw_list_add(list, sw_value_from_json(arena, json_object_array_get_idx(json, i)));
        return sw_value_list(list);
    }
    case json_type_object: {
        struct sw_map *map = sw_map_new(arena);
        json_object_object_foreach(json, key, val)
        {
            sw_map_set_cstr(map, key, sw_value_from_json(arena, val));
        }
        return sw_value_map(map);
    }
    }
    return sw_value_nil();
}

struct json_object *sw_value_to_json(struct sw_value v)
{
    struct json_object *json;
    switch (sw_kind(v)) {
    case SW_K_BOOL:
        return json_object_new_boolean(v.as.b);
    case SW_K_INT:
        return json_object_new_int64(v.as.i);
    case SW_K_UINT:
        return json_object_new_uint64(v.as.u);
    case SW_K_FLOAT:
        /* whole numbers become integers: 3.0 in values is 3 to the schema and the cluster */
        if (v.as.f >= -9007199254740992.0 && v.as.f <= 9007199254740992.0 &&
            v.as.f == (double)(int64_t)v.as.f)
            return json_object_new_int64((int64_t)v.as.f);
        return json_object_new_double(v.as.f);
    case SW_K_STRING:
        return json_object_new_string_len(v.as.s, (int)v.len);
    case SW_K_SLICE:
        if (v.type == SW_T_BYTES)
            return json_object_new_string_len(v.as.s, (int)v.len);
        json = json_object_new_array();
        for (size_t i = 0; i < sw_value_len(v); i++)
            json_object_array_add(json, sw_value_to_json(sw_value_at(v, i)));
        return json;
    case SW_K_MAP: {
        const struct sw_entry *e = sw_map_sorted(v.as.map);
        json = json_object_new_object();
        for (size_t i = 0; i < sw_map_count(v.as.map); i++)
            json_object_object_add(json, e[i].key, sw_value_to_json(e[i].value));
        return json;
    }
    default:
        return NULL;
    }
}

/* ---- queries ---- */

bool sw_value_is_map(struct sw_value v)
{
    return sw_kind(v) == SW_K_MAP;
}

bool sw_value_is_list(struct sw_value v)
{
    return sw_kind(v) == SW_K_SLICE && v.type != SW_T_BYTES;
}

bool sw_value_is_number(struct sw_value v)
{
    return sw_kind(v) >= SW_K_INT && sw_kind(v) <= SW_K_FLOAT;
}

bool sw_value_is_nil_ref(struct sw_value v)
{
    if (sw_kind(v) == SW_K_SLICE)
        return v.type == SW_T_BYTES ? !v.as.s : !v.as.list;
    return sw_kind(v) == SW_K_MAP && !v.as.map;
}

size_t sw_value_len(struct sw_value v)
{
    switch (sw_kind(v)) {
    case SW_K_STRING:
        return v.len;
    case SW_K_SLICE:
        return v.type == SW_T_BYTES ? v.len : v.as.list ? v.as.list->n : 0;
    case SW_K_MAP:
        return sw_map_count(v.as.map);
    default:
        return 0;
    }
}

struct sw_value sw_value_at(struct sw_value v, size_t i)
{
    if (v.type == SW_T_BYTES)
        return (struct sw_value){ .type = SW_T_UINT8, .as.u = (unsigned char)v.as.s[i] };
    return v.as.list->items[i];
}

struct sw_value sw_value_zero_elem(struct sw_value map)
{
    switch (sw_types[map.type].elem) {
    case SW_T_STRING:
        return sw_value_text("", 0);
    case SW_T_BYTES:
        return (struct sw_value){ .type = SW_T_BYTES };
    default:
        return sw_value_nil();
    }
}

bool sw_value_truth(struct sw_value v)
{
    switch (sw_kind(v)) {
    case SW_K_INVALID:
        return false;
    case SW_K_BOOL:
        return v.as.b;
    case SW_K_INT:
    case SW_K_UINT:
        return v.as.u != 0;
    case SW_K_FLOAT:
        return v.as.f != 0;
    case SW_K_COMPLEX:
        return v.as.c[0] != 0 || v.as.c[1] != 0;
    case SW_K_STRING:
    case SW_K_SLICE:
    case SW_K_MAP:
        return sw_value_len(v) > 0;
    case SW_K_STRUCT:
        return true;
    }
    return false;
}

/* ---- lists ---- */

struct sw_list *sw_list_new(struct sw_arena *arena, size_t cap)
{
    struct sw_list *list = sw_arena_alloc(arena, sizeof *list);
    list->arena = arena;
    if (cap > SIZE_MAX / sizeof *list->items ||
        !sw_arena_has_room(arena, cap * sizeof *list->items))
        cap = 0;
    list->cap = cap;
    list->items = cap ? sw_arena_alloc(arena, cap * sizeof *list->items) : NULL;
    return list;
}

void sw_list_add(struct sw_list *list, struct sw_value v)
{
    if (list->n >= list->cap &&
        !sw_arena_has_room(list->arena, (list->cap + 4) * 2 * sizeof *list->items))
        return;
    SW_ARENA_GROW(list->arena, list->items, list->n, list->cap);
    v.extra &= (uint8_t)~SW_V_IFACE;
    list->items[list->n++] = v;
}

/* ---- objects ---- */

struct sw_object *sw_object_new(struct sw_arena *arena, const struct sw_object_type *type)
{
    struct sw_object *o = sw_arena_alloc(arena, sizeof *o);
    o->type = type;
    if (type->n_fields)
        o->fields = sw_arena_alloc(arena, type->n_fields * sizeof *o->fields);
    return o;
}

struct sw_value *sw_object_field(const struct sw_object *o, const char *name, size_t len)
{
    const struct sw_object_type *type = o->type;
    for (size_t i = 0; i < type->n_fields; i++) {
        const struct sw_field *f = &type->fields[i];
        if (f->name[0] == name[0] && sw_is_text(name, len, f->name) && sw_field_is_exported(f))
            return &o->fields[i];
    }
    struct sw_value *found = NULL;
    for (size_t i = 0; i < type->n_fields && !found; i++) {
        if (type->fields[i].embedded)
            found = sw_object_field(o->fields[i].as.object, name, len);
    }
    return found;
}
