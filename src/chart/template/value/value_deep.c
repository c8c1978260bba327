/* Deep copies of values, and their comparison as by Go's reflect.DeepEqual. */
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

static bool copy(const struct copier *k, struct sw_value *v, int depth)
{
    if (depth > DEEPEST || *k->steps == 0 || !sw_stack_has_room() || sw_arena_is_over(k->arena))
        return false;
    --*k->steps;
    if (v->type == SW_T_STRING && k->strings)
        *v = sw_value_str(k->arena, v->as.s, v->len);
    if (sw_value_is_list(*v) && v->as.list) {
        struct sw_list *list = sw_list_new(k->arena, v->as.list->n);
        for (size_t i = 0; i < v->as.list->n; i++) {
            struct sw_value item = v->as.list->items[i];
            if (!copy(k, &item, depth + 1))
                return false;
            sw_list_add(list, item);
        }
        v->as.list = list;
    } else if (sw_value_is_map(*v) && v->as.map) {
        struct sw_map *map = sw_map_copy(k->arena, v->as.map);
        struct sw_entry *e = (struct sw_entry *)sw_map_sorted(map); /* our own: may be written */
        for (size_t i = 0; i < sw_map_count(map); i++) {
            if (!copy(k, &e[i].value, depth + 1))
                return false;
            if (k->strings)
                e[i].key = sw_arena_strndup(k->arena, e[i].key, e[i].key_len);
        }
        v->as.map = map;
    }
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

/* @steps: how many values may still be compared */
static bool equal(uint64_t *steps, int depth, struct sw_value a, struct sw_value b)
{
    if (sw_value_is_nil(a) || sw_value_is_nil(b))
        return sw_value_is_nil(a) && sw_value_is_nil(b);
    if (a.type != b.type)
        return false;
    if (sw_kind(a) <= SW_K_STRING)
        return sw_value_basic_equal(a, b);
    if (*steps == 0 || depth > DEEPEST || !sw_stack_has_room())
        return false;
    --*steps;
    if (a.type != SW_T_BYTES && a.as.s == b.as.s) /* the same list, map, struct or error */
        return true;
    size_t n = sw_value_len(a);
    if (*steps < n / 4)
        *steps = 0;
    else
        *steps -= n / 4;
    bool same = n == sw_value_len(b) && sw_value_is_nil_ref(a) == sw_value_is_nil_ref(b);
    if (sw_kind(a) == SW_K_SLICE) {
        for (size_t i = 0; i < n && same; i++)
            same = equal(steps, depth + 1, sw_value_at(a, i), sw_value_at(b, i));
    } else if (sw_kind(a) == SW_K_MAP) {
        const struct sw_entry *e = sw_map_sorted(a.as.map);
        for (size_t i = 0; i < n && same; i++) {
            const struct sw_value *other = sw_map_find_hashed(b.as.map, e[i].key, e[i].key_len,
                                                              e[i].hash);
            same = other && equal(steps, depth + 1, e[i].value, *other);
        }
    } else if (a.type == SW_T_OBJECT) {
        const struct sw_object *x = a.as.object, *y = b.as.object;
        if (x->type != y->type)
            return false;
        if (x->type->equal)
            return x->type->equal(x, y);
        for (size_t i = 0; i < x->type->n_fields && same; i++)
            same = equal(steps, depth + 1, x->fields[i], y->fields[i]);
    } else {
        same = false;
    }
    return same;
}

bool sw_value_equal_steps(struct sw_value a, struct sw_value b, uint64_t *steps)
{
    return equal(steps, 0, a, b);
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
