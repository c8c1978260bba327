/* Values through and through: copied, and compared as Go's reflect.DeepEqual does. */
#include <string.h>

#include "chart/template/value/object.h"
#include "chart/template/value/types.h"

/* ---- copying ---- */

enum { DEEPEST = 1000 }; /* a template can put a map into itself */

struct copier {
    struct sw_arena *arena;
    bool strings;
    uint64_t *steps; /* how many values it may still copy */
};

static bool copy(const struct copier *k, struct sw_value *v, int depth);

static bool copy_list(const struct copier *k, struct sw_value *v, int depth)
{
    struct sw_list *list = sw_list_new(k->arena, v->as.list->n);
    for (size_t i = 0; i < v->as.list->n; i++) {
        struct sw_value item = v->as.list->items[i];
        if (!copy(k, &item, depth + 1))
            return false;
        sw_list_add(list, item);
    }
    v->as.list = list;
    return true;
}

static bool copy_map(const struct copier *k, struct sw_value *v, int depth)
{
    struct sw_map *map = sw_map_copy(k->arena, v->as.map);
    struct sw_entry *e = (struct sw_entry *)sw_map_sorted(map); /* our own: may be written */
    for (size_t i = 0; i < sw_map_count(map); i++) {
        if (!copy(k, &e[i].value, depth + 1))
            return false;
        if (k->strings)
            e[i].key = sw_arena_strndup(k->arena, e[i].key, e[i].key_len);
    }
    v->as.map = map;
    return true;
}

static bool copy(const struct copier *k, struct sw_value *v, int depth)
{
    if (depth > DEEPEST || *k->steps == 0 || !sw_stack_has_room())
        return false;
    --*k->steps;
    if (v->type == SW_T_STRING && k->strings)
        *v = sw_value_str(k->arena, v->as.s, v->len);
    if (sw_value_is_list(*v) && v->as.list)
        return copy_list(k, v, depth);
    if (sw_value_is_map(*v) && v->as.map)
        return copy_map(k, v, depth);
    return true;
}

bool sw_value_copy_steps(struct sw_arena *arena, struct sw_value *v, bool strings, uint64_t *steps)
{
    const struct copier k = { arena, strings, steps };
    return copy(&k, v, 0);
}

struct sw_value sw_value_copy(struct sw_arena *arena, struct sw_value v, bool strings)
{
    uint64_t steps = UINT64_MAX;
    return sw_value_copy_steps(arena, &v, strings, &steps) ? v : sw_value_nil();
}

/* ---- equality ---- */

struct comparer {
    uint64_t *steps; /* how many values it may still compare */
    int depth;
};

static bool equal(struct comparer *k, struct sw_value a, struct sw_value b);

static bool lists_equal(struct comparer *k, struct sw_value a, struct sw_value b)
{
    size_t n = sw_value_len(a);
    if (n != sw_value_len(b) || sw_value_is_nil_ref(a) != sw_value_is_nil_ref(b))
        return false;
    if (a.type != SW_T_BYTES && a.as.list == b.as.list)
        return true;
    for (size_t i = 0; i < n; i++) {
        if (!equal(k, sw_value_at(a, i), sw_value_at(b, i)))
            return false;
    }
    return true;
}

static bool maps_equal(struct comparer *k, struct sw_map *a, struct sw_map *b)
{
    if (a == b)
        return true;
    if (sw_map_count(a) != sw_map_count(b) || !a != !b)
        return false;
    const struct sw_entry *e = sw_map_sorted(a);
    for (size_t i = 0; i < sw_map_count(a); i++) {
        struct sw_value *other = sw_map_find_hashed(b, e[i].key, e[i].key_len, e[i].hash);
        if (!other || !equal(k, e[i].value, *other))
            return false;
    }
    return true;
}

static bool objects_equal(struct comparer *k, const struct sw_object *a, const struct sw_object *b)
{
    if (a == b)
        return true;
    if (a->type != b->type)
        return false;
    if (a->type->equal)
        return a->type->equal(a, b);
    for (size_t i = 0; i < a->type->n_fields; i++) {
        if (!equal(k, a->fields[i], b->fields[i]))
            return false;
    }
    return true;
}

static bool composites_equal(struct comparer *k, struct sw_value a, struct sw_value b)
{
    bool same;
    if (*k->steps == 0 || k->depth > DEEPEST || !sw_stack_has_room())
        return false;
    --*k->steps;
    k->depth++;
    if (sw_kind(a) == SW_K_SLICE)
        same = lists_equal(k, a, b);
    else if (sw_kind(a) == SW_K_MAP)
        same = maps_equal(k, a.as.map, b.as.map);
    else if (a.type == SW_T_OBJECT)
        same = objects_equal(k, a.as.object, b.as.object);
    else
        same = a.as.s == b.as.s;
    k->depth--;
    return same;
}

static bool equal(struct comparer *k, struct sw_value a, struct sw_value b)
{
    if (sw_value_is_nil(a) || sw_value_is_nil(b))
        return sw_value_is_nil(a) && sw_value_is_nil(b);
    if (a.type != b.type)
        return false;
    switch (sw_kind(a)) {
    case SW_K_BOOL:
        return a.as.b == b.as.b;
    case SW_K_INT:
    case SW_K_UINT:
        return a.as.u == b.as.u;
    case SW_K_FLOAT:
        return a.as.f == b.as.f;
    case SW_K_COMPLEX:
        return a.as.c[0] == b.as.c[0] && a.as.c[1] == b.as.c[1];
    case SW_K_STRING:
        return a.len == b.len && memcmp(a.as.s, b.as.s, a.len) == 0;
    default:
        return composites_equal(k, a, b);
    }
}

bool sw_value_equal_steps(struct sw_value a, struct sw_value b, uint64_t *steps)
{
    return equal(&(struct comparer){ steps, 0 }, a, b);
}

bool sw_value_equal(struct sw_value a, struct sw_value b)
{
    uint64_t steps = UINT64_MAX;
    return sw_value_equal_steps(a, b, &steps);
}

struct sw_value sw_value_path(struct sw_value v, const char *dotted)
{
    for (;;) {
        const char *dot = strchrnul(dotted, '.');
        struct sw_value *found = sw_value_is_map(v)
                                     ? sw_map_find(v.as.map, dotted, (size_t)(dot - dotted))
                                     : NULL;
        if (!found)
            return (struct sw_value){ 0 };
        if (*dot == '\0')
            return *found;
        v = *found;
        dotted = dot + 1;
    }
}

const char *sw_value_type_name(struct sw_value v)
{
    if (v.type == SW_T_OBJECT)
        return v.as.object->type->name;
    if (v.type == SW_T_NIL)
        return "<nil>";
    if (v.type == SW_T_POINTERS && (v.extra & SW_V_KIND_MASK) == 1)
        return "[]*chart.Maintainer";
    return sw_types[v.type].name;
}

const char *sw_value_kind_name(struct sw_value v)
{
    if (v.type == SW_T_OBJECT)
        return v.as.object->type->pointer ? "ptr" : "struct";
    return sw_types[v.type].kind_name;
}
