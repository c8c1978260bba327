/* Values of a chart and its subcharts coalesced as in Helm 3.7.1, odd cases included: charts that
 * were tested with Helm may depend on them. */
#include <string.h>

#include "chart/recipe/plan/plan_chart.h"

static struct sw_map *map_of(const struct sw_value *v)
{
    return v && v->type == SW_T_MAP ? v->as.map : NULL;
}

/* Helm merges a map into itself in one place, which takes the nulls out of it. */
static void drop_nulls(struct sw_map *map)
{
    for (size_t i = 0; i < sw_map_count(map);) {
        const struct sw_entry *e = &sw_map_sorted(map)[i];
        struct sw_map *inner = map_of(&e->value);
        if (inner)
            drop_nulls(inner);
        if (e->value.type == SW_T_NIL)
            (void)sw_map_remove(map, e->key, e->key_len);
        else
            i++;
    }
}

void sw_coalesce_tables(struct sw_map *dst, struct sw_map *src)
{
    if (dst == src) {
        drop_nulls(dst);
        return;
    }
    size_t n = sw_map_count(src);
    const struct sw_entry *all = sw_map_sorted(src);
    for (size_t i = 0; i < n; i++) {
        const struct sw_entry *e = &all[i];
        struct sw_value *there = sw_map_find(dst, e->key, e->key_len);
        struct sw_map *into = map_of(there), *from = map_of(&e->value);
        if (!there)
            sw_map_set(dst, e->key, e->key_len, e->value);
        else if (there->type == SW_T_NIL)
            (void)sw_map_remove(dst, e->key, e->key_len);
        else if (into && from)
            sw_coalesce_tables(into, from);
    }
}

/* Add the chart's own defaults to @dest, whose values win. */
static void coalesce_defaults(struct sw_map *defaults, struct sw_arena *arena, struct sw_map *dest,
                              bool share)
{
    size_t n = defaults ? sw_map_count(defaults) : 0;
    const struct sw_entry *all = n ? sw_map_sorted(defaults) : NULL;
    for (size_t i = 0; i < n; i++) {
        const struct sw_entry *e = &all[i];
        struct sw_value *there = sw_map_find(dest, e->key, e->key_len);
        if (!there) {
            sw_map_set(dest, e->key, e->key_len,
                       share ? e->value : sw_value_copy(arena, e->value, false));
        } else if (there->type == SW_T_NIL) {
            (void)sw_map_remove(dest, e->key, e->key_len);
        } else if (map_of(there) && map_of(&e->value)) {
            struct sw_value src = share ? e->value : sw_value_copy(arena, e->value, false);
            sw_coalesce_tables(map_of(there), src.as.map);
        }
    }
}

/* Merge the parent's globals into the child's. The parent's win. */
static void coalesce_globals(struct sw_arena *arena, struct sw_map *dest, const struct sw_map *src)
{
    static const char global[] = "global";
    struct sw_value *to = sw_map_find_cstr(dest, global), *from = sw_map_find_cstr(src, global);
    if ((to && !map_of(to)) || (from && !map_of(from)))
        return; /* not a table: Helm warns and goes on */
    struct sw_map *into = to ? map_of(to) : sw_map_new(arena);
    size_t n = from ? sw_map_count(map_of(from)) : 0;
    const struct sw_entry *all = n ? sw_map_sorted(map_of(from)) : NULL;
    for (size_t i = 0; i < n; i++) {
        const struct sw_entry *e = &all[i];
        struct sw_map *table = map_of(sw_map_find(into, e->key, e->key_len));
        if (map_of(&e->value)) {
            struct sw_value copy = sw_value_copy(arena, e->value, false);
            if (table)
                sw_coalesce_tables(copy.as.map, table);
            sw_map_set(into, e->key, e->key_len, copy);
        } else if (!table) {
            sw_map_set(into, e->key, e->key_len, e->value);
        }
    }
    sw_map_set_cstr(dest, global, sw_value_map(into));
}

int sw_plan_chart_coalesce(const struct sw_plan_chart *chart, struct sw_arena *arena,
                           struct sw_map *dest, bool share, struct sw_err *err)
{
    coalesce_defaults(map_of(&chart->values), arena, dest, share);
    for (size_t i = 0; i < chart->n_subcharts; i++) {
        const struct sw_plan_chart *sub = chart->subcharts[i];
        struct sw_value *there = sw_map_find_cstr(dest, sub->name);
        if (there && !map_of(there))
            return sw_err_set(err, SW_INVALID,
                              "values: '%s' must be a map, since it is the name of a subchart (%s)",
                              sub->name, sub->path);
        struct sw_map *values = there ? map_of(there) : sw_map_new(arena);
        if (!there)
            sw_map_set_cstr(dest, sub->name, sw_value_map(values));
        coalesce_globals(arena, values, dest);
        int rc = sw_plan_chart_coalesce(sub, arena, values, share, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}
