/* Which charts are enabled: aliases, tags, conditions; then import-values. */
#include "chart/recipe/plan/plan_chart.h"

#include <string.h>

#include "data/json/path.h"

enum {
    MAX_PARTS = 10000, /* an alias of an alias of ... doubles at each level */
    MAX_PATH = 1000,   /* of import-values' parent */
};

struct builder {
    struct sw_arena *arena;
    size_t n_parts;
};

static int too_many(const struct sw_chart *chart, struct sw_err *err)
{
    return sw_err_set(err, SW_INVALID, "%s: more than %d charts in each other", chart->origin,
                      MAX_PARTS);
}

static struct sw_map *table_at(struct sw_value values, const char *path)
{
    struct sw_value v = sw_value_path(values, path);
    return v.type == SW_T_MAP ? v.as.map : NULL;
}

/* ---- all charts, under their own names ----------------------------------------------------------
 */

static int build_raw(struct builder *b, const struct sw_chart *chart, struct sw_plan_chart **out,
                     struct sw_err *err)
{
    if (b->n_parts++ > MAX_PARTS)
        return too_many(chart, err);
    struct sw_plan_chart *part = sw_arena_alloc(b->arena, sizeof *part);
    part->chart = chart;
    part->name = chart->name;
    part->values = sw_value_copy(b->arena, chart->values, false);
    part->parts = sw_arena_alloc(b->arena, (chart->n_charts + 1) * sizeof *part->parts);
    for (size_t i = 0; i < chart->n_charts; i++) {
        int rc = build_raw(b, chart->charts[i], &part->parts[part->n_parts++], err);
        if (rc < 0)
            return rc;
    }
    *out = part;
    return 0;
}

/* The same parts again, for an alias. The values are shared, as in Helm. */
static struct sw_plan_chart *clone(struct builder *b, const struct sw_plan_chart *raw)
{
    b->n_parts++;
    struct sw_plan_chart *copy = sw_arena_alloc(b->arena, sizeof *copy);
    *copy = *raw;
    copy->parts = sw_arena_alloc(b->arena, (raw->n_parts + 1) * sizeof *copy->parts);
    for (size_t i = 0; i < raw->n_parts; i++)
        copy->parts[i] = clone(b, raw->parts[i]);
    return copy;
}

/* ---- the enabled ones ---------------------------------------------------------------------------
 */

static bool is_for(const struct sw_dependency *dep, const struct sw_plan_chart *part)
{
    return sw_streq(dep->name, part->chart->name) &&
           (!*dep->version || sw_version_in_range(dep->version, part->chart->version));
}

/* The subcharts under their aliases: first those that no dependency names, as Helm has them. */
static void name_parts(struct builder *b, struct sw_plan_chart *part)
{
    const struct sw_chart *chart = part->chart;
    struct sw_plan_chart **raw = part->parts;
    size_t n_raw = part->n_parts;
    part->parts = sw_arena_alloc(b->arena, (n_raw + chart->n_deps) * sizeof *part->parts);
    part->n_parts = 0;
    for (size_t i = 0; i < n_raw; i++) {
        size_t d = 0;
        while (d < chart->n_deps && !is_for(&chart->deps[d], raw[i]))
            d++;
        if (d == chart->n_deps)
            part->parts[part->n_parts++] = raw[i];
    }
    part->deps = sw_arena_alloc(b->arena, chart->n_deps * sizeof *part->deps);
    part->n_deps = chart->n_deps;
    for (size_t d = 0; d < chart->n_deps; d++) {
        const struct sw_dependency *dep = &chart->deps[d];
        part->deps[d] = (struct sw_plan_chart_dep){ dep, *dep->alias ? dep->alias : dep->name,
                                                    true };
        for (size_t i = 0; i < n_raw; i++) {
            if (!is_for(dep, raw[i]))
                continue;
            struct sw_plan_chart *copy = clone(b, raw[i]);
            copy->name = part->deps[d].name;
            part->parts[part->n_parts++] = copy;
            break;
        }
    }
}

static void apply_tags(struct sw_plan_chart_dep *d, struct sw_map *tags)
{
    bool has_true = false, has_false = false;
    for (size_t i = 0; i < sw_json_len(d->dep->tags); i++) {
        const char *tag = json_object_get_string(sw_json_at(d->dep->tags, i));
        const struct sw_value *v = sw_map_find_cstr(tags, tag);
        if (v && v->type == SW_T_BOOL) {
            has_true |= v->as.b;
            has_false |= !v->as.b;
        }
    }
    d->enabled = has_true || !has_false;
}

/* The first path of a comma-separated list that leads to a bool decides; it overrules tags. */
static void apply_condition(struct builder *b, struct sw_plan_chart_dep *d, struct sw_value values,
                            const char *prefix)
{
    const char *at = d->dep->condition;
    at += strspn(at, " \t\r\n");
    size_t left = strlen(at);
    while (left > 0 && strchr(" \t\r\n", at[left - 1]))
        left--;
    while (left > 0) {
        const char *comma = memchr(at, ',', left);
        size_t len = comma ? (size_t)(comma - at) : left;
        const char *path = sw_arena_printf(b->arena, "%s%.*s", prefix, (int)len, at);
        struct sw_value v = len ? sw_value_path(values, path) : (struct sw_value){ 0 };
        if (v.type == SW_T_BOOL) {
            d->enabled = v.as.b;
            return;
        }
        at += len + (comma != NULL);
        left -= len + (comma != NULL);
    }
}

static bool is_disabled(const struct sw_plan_chart *part, const char *name)
{
    for (size_t i = 0; i < part->n_deps; i++)
        if (!part->deps[i].enabled && sw_streq(part->deps[i].name, name))
            return true;
    return false;
}

static void drop_disabled(struct sw_plan_chart *part)
{
    size_t kept = 0;
    for (size_t i = 0; i < part->n_parts; i++)
        if (!is_disabled(part, part->parts[i]->name))
            part->parts[kept++] = part->parts[i];
    part->n_parts = kept;
    for (size_t i = 0; i < part->n_deps; i++)
        part->deps[i].enabled &= !is_disabled(part, part->deps[i].name);
    kept = 0;
    for (size_t i = 0; i < part->n_deps; i++)
        if (part->deps[i].enabled)
            part->deps[kept++] = part->deps[i];
    part->n_deps = kept;
}

/* Name the subcharts of @part and drop the disabled ones. @values: the root's, as coalesced by the
 * chart above. @prefix: the path of the part's own values in it ("a.b."). */
static int choose(struct builder *b, struct sw_plan_chart *part, struct sw_value values,
                  const char *prefix, struct sw_err *err)
{
    if (!part->chart->n_deps)
        return 0; /* as Helm, which does not process its subcharts then */
    name_parts(b, part);
    if (b->n_parts > MAX_PARTS)
        return too_many(part->chart, err);
    struct sw_value all = sw_value_copy(b->arena, values, false);
    int rc = sw_plan_chart_coalesce(part, b->arena, all.as.map, true, err);
    if (rc < 0)
        return rc;
    struct sw_map *tags = table_at(all, "tags");
    for (size_t i = 0; i < part->n_deps; i++) {
        if (tags)
            apply_tags(&part->deps[i], tags);
        apply_condition(b, &part->deps[i], all, prefix);
    }
    drop_disabled(part);
    for (size_t i = 0; i < part->n_parts; i++) {
        struct sw_plan_chart *sub = part->parts[i];
        rc = choose(b, sub, all, sw_arena_printf(b->arena, "%s%s.", prefix, sub->name), err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- import-values ------------------------------------------------------------------------------
 */

/* @data at @path, in new maps; @data itself for ".". */
static struct sw_map *wrap(struct builder *b, const char *path, struct sw_map *data)
{
    if (sw_streq(path, "."))
        return data;
    const char *dot = strchr(path, '.');
    struct sw_map *map = sw_map_new(b->arena);
    sw_map_set(map, path, dot ? (size_t)(dot - path) : strlen(path),
               sw_value_map(dot ? wrap(b, dot + 1, data) : data));
    return map;
}

static struct sw_map *exported(struct builder *b, struct sw_map *values, const char *name,
                               const char *child)
{
    struct sw_map *table = table_at(sw_value_map(values),
                                    sw_arena_printf(b->arena, "%s.%s", name, child));
    return table ? sw_value_copy(b->arena, sw_value_map(table), false).as.map : NULL;
}

/* One entry of import-values. @into: where it goes; Helm 3.7.1 turns it into the chart's values
 * themselves as soon as an entry is a map, so that these overrule the child's from then on. */
static int import_entry(struct builder *b, struct sw_map *values, const struct sw_plan_chart_dep *d,
                        struct json_object *entry, struct sw_map **into, struct sw_err *err)
{
    if (json_object_is_type(entry, json_type_string)) {
        const char *child = sw_arena_printf(b->arena, "exports.%s", json_object_get_string(entry));
        struct sw_map *table = exported(b, values, d->name, child);
        if (table)
            sw_coalesce_tables(*into, table);
        return 0;
    }
    const char *child = sw_json_str(entry, NULL, "child", NULL);
    const char *parent = sw_json_str(entry, NULL, "parent", NULL);
    if (!child || !parent)
        return sw_err_set(err, SW_INVALID, "expected a string, or a map with child and parent");
    if (strlen(parent) > MAX_PATH)
        return sw_err_set(err, SW_INVALID, "parent: longer than %d characters", MAX_PATH);
    struct sw_map *table = exported(b, values, d->name, child);
    if (table) {
        sw_coalesce_tables(values, wrap(b, parent, table));
        *into = values;
    }
    return 0;
}

static int import_values(struct builder *b, struct sw_plan_chart *part, struct sw_err *err)
{
    for (size_t i = 0; i < part->n_parts; i++) {
        int rc = import_values(b, part->parts[i], err);
        if (rc < 0)
            return rc;
    }
    if (part->n_deps == 0)
        return 0;
    struct sw_map *values = sw_map_new(b->arena), *into = sw_map_new(b->arena);
    int rc = sw_plan_chart_coalesce(part, b->arena, values, true, err);
    for (size_t i = 0; i < part->n_deps && rc == 0; i++) {
        const struct sw_plan_chart_dep *d = &part->deps[i];
        for (size_t j = 0; j < sw_json_len(d->dep->import_values) && rc == 0; j++) {
            rc = import_entry(b, values, d, sw_json_at(d->dep->import_values, j), &into, err);
            if (rc < 0)
                rc = sw_err_wrap(err, rc, "%s/Chart.yaml: dependency '%s': import-values[%zu]",
                                 part->chart->origin, d->name, j);
        }
    }
    if (rc < 0)
        return rc;
    sw_coalesce_tables(into, values);
    part->values = sw_value_map(into);
    return 0;
}

/* Chart.yaml as templates see it: under the alias, with the dependencies that take part. */
static struct sw_value meta_of(struct builder *b, const struct sw_plan_chart *part)
{
    struct sw_value meta = sw_value_from_json(b->arena, part->chart->meta);
    sw_map_set_cstr(meta.as.map, "name", sw_value_cstr(part->name));
    if (!part->chart->n_deps)
        return meta;
    struct sw_list *deps = sw_list_new(b->arena, part->n_deps);
    for (size_t i = 0; i < part->n_deps; i++) {
        struct sw_value dep = sw_value_from_json(b->arena, part->deps[i].dep->doc);
        sw_map_set_cstr(dep.as.map, "name", sw_value_cstr(part->deps[i].name));
        sw_map_set_cstr(dep.as.map, "enabled", sw_value_bool(true));
        sw_list_add(deps, dep);
    }
    sw_map_set_cstr(meta.as.map, "dependencies", sw_value_list(deps));
    return meta;
}

static void place_chart(struct builder *b, struct sw_plan_chart *part, struct sw_plan_chart *parent)
{
    part->parent = parent;
    part->path = parent ? sw_arena_printf(b->arena, "%s/charts/%s", parent->path, part->name)
                        : part->name;
    part->meta = meta_of(b, part);
    for (size_t i = 0; i < part->n_parts; i++)
        place_chart(b, part->parts[i], part);
}

int sw_plan_charts_build(const struct sw_recipe *recipe, struct sw_arena *arena,
                         struct sw_value values, struct sw_plan_chart **out, struct sw_err *err)
{
    struct builder b = { .arena = arena };
    struct sw_plan_chart *root;
    int rc = build_raw(&b, recipe->root, &root, err);
    if (rc == 0)
        rc = choose(&b, root, values, "", err);
    if (rc == 0)
        rc = import_values(&b, root, err);
    if (rc < 0)
        return rc;
    place_chart(&b, root, NULL);
    *out = root;
    return 0;
}
