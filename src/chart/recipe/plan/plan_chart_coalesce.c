/* Values of a chart and its subcharts coalesced as in Helm 3.21, odd cases included: charts that
 * were tested with Helm may depend on them. */
#include <string.h>

#include "chart/recipe/plan/plan_chart.h"

static struct sw_map *map_of(const struct sw_value *v)
{
    return v && v->type == SW_T_MAP ? v->as.map : NULL;
}

void sw_coalesce_tables(struct sw_map *dst, struct sw_map *src, bool keep_nulls)
{
    size_t n = sw_map_count(src);
    const struct sw_entry *all = sw_map_sorted(src);
    for (size_t i = 0; i < n; i++) {
        const struct sw_entry *e = &all[i];
        struct sw_value *there = sw_map_find(dst, e->key, e->key_len);
        struct sw_map *into = map_of(there), *from = map_of(&e->value);
        if (!there)
            sw_map_set(dst, e->key, e->key_len, e->value);
        else if (there->type == SW_T_NIL && e->value.type != SW_T_NIL && !keep_nulls)
            (void)sw_map_remove(dst, e->key, e->key_len);
        else if (into && from && into != from)
            sw_coalesce_tables(into, from, keep_nulls);
    }
}

static bool has_subchart(const struct sw_plan_chart *chart, const struct sw_entry *e)
{
    for (size_t i = 0; i < chart->n_subcharts; i++) {
        const char *name = chart->subcharts[i]->name;
        if (strlen(name) == e->key_len && memcmp(name, e->key, e->key_len) == 0)
            return true;
    }
    return false;
}

/* Add the chart's own defaults to @dest, whose values win. A null for a value of a subchart stays,
 * for the subchart's own default. */
static void coalesce_defaults(const struct sw_plan_chart *chart, struct sw_arena *arena,
                              struct sw_map *dest, bool keep_nulls)
{
    struct sw_map *defaults = map_of(&chart->values);
    size_t n = defaults ? sw_map_count(defaults) : 0;
    const struct sw_entry *all = n ? sw_map_sorted(defaults) : NULL;
    for (size_t i = 0; i < n; i++) {
        const struct sw_entry *e = &all[i];
        struct sw_value *there = sw_map_find(dest, e->key, e->key_len);
        if (!there)
            sw_map_set(dest, e->key, e->key_len, sw_value_copy(arena, e->value, false));
        else if (there->type == SW_T_NIL && !keep_nulls)
            (void)sw_map_remove(dest, e->key, e->key_len);
        else if (map_of(there) && map_of(&e->value))
            sw_coalesce_tables(map_of(there), sw_value_copy(arena, e->value, false).as.map,
                               keep_nulls || has_subchart(chart, e));
    }
}

/* A map with the same entries: maps in it are shared. */
static struct sw_map *same_entries(struct sw_arena *arena, struct sw_map *map)
{
    struct sw_map *copy = sw_map_new(arena);
    const struct sw_entry *all = sw_map_sorted(map);
    for (size_t i = 0; i < sw_map_count(map); i++)
        sw_map_set(copy, all[i].key, all[i].key_len, all[i].value);
    return copy;
}

/* Merge the parent's globals into the child's. The parent's win. As in Helm, maps three levels
 * below `global` are shared: what the child has there reaches its parent. */
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
        struct sw_value *there = sw_map_find(into, e->key, e->key_len);
        struct sw_map *table = map_of(there);
        if (map_of(&e->value) && (!there || table)) {
            struct sw_map *copy = same_entries(arena, map_of(&e->value));
            if (table)
                sw_coalesce_tables(copy, table, true);
            sw_map_set(into, e->key, e->key_len, sw_value_map(copy));
        } else if (!map_of(&e->value) && !table) {
            sw_map_set(into, e->key, e->key_len, e->value);
        }
    }
    sw_map_set_cstr(dest, global, sw_value_map(into));
}

int sw_plan_chart_coalesce(const struct sw_plan_chart *chart, struct sw_arena *arena,
                           struct sw_map *dest, bool keep_nulls, struct sw_err *err)
{
    coalesce_defaults(chart, arena, dest, keep_nulls);
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
        int rc = sw_plan_chart_coalesce(sub, arena, values, keep_nulls, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}
