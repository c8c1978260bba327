/* Which charts are enabled: aliases, tags, conditions; then import-values. */
#include "chart/recipe/plan/plan_chart.h"

#include <string.h>

#include "data/json/path.h"

enum {
    MAX_CHARTS = 10000, /* an alias of an alias of ... doubles at each level */
    MAX_PATH = 1000,    /* of import-values' parent */
};

/* Helm changes the entries of `dependencies:` as it goes, and where a chart is there under several
 * aliases, they share these entries: the second finds an alias in the place of a name, and what it
 * would import is imported already. Charts were tested with that. */
struct sw_plan_dep_state {
    bool renamed;
    unsigned imported; /* how often */
};

struct builder {
    struct sw_arena *arena;
    size_t n_charts;
};

static int too_many(const struct sw_chart *loaded, struct sw_err *err)
{
    return sw_err_set(err, SW_INVALID, "%s: more than %d charts in each other", loaded->origin,
                      MAX_CHARTS);
}

static struct sw_map *table_at(struct sw_value values, const char *path)
{
    struct sw_value v = sw_value_path(values, path);
    return v.type == SW_T_MAP ? v.as.map : NULL;
}

/* ---- all charts, under their own names ----------------------------------------------------------
 */

static int build_raw(struct builder *b, const struct sw_chart *loaded, struct sw_plan_chart **out,
                     struct sw_err *err)
{
    if (b->n_charts++ > MAX_CHARTS)
        return too_many(loaded, err);
    struct sw_plan_chart *chart = sw_arena_alloc(b->arena, sizeof *chart);
    chart->loaded = loaded;
    chart->name = loaded->name;
    chart->values = loaded->values;
    chart->states = sw_arena_alloc(b->arena, (loaded->n_deps + 1) * sizeof *chart->states);
    chart->deps = sw_arena_alloc(b->arena, (loaded->n_deps + 1) * sizeof *chart->deps);
    chart->n_deps = loaded->n_deps;
    for (size_t d = 0; d < loaded->n_deps; d++) /* until they are chosen from */
        chart->deps[d] = (struct sw_plan_chart_dep){ &loaded->deps[d], loaded->deps[d].name,
                                                     false };
    chart->subcharts = sw_arena_alloc(b->arena, (loaded->n_charts + 1) * sizeof *chart->subcharts);
    for (size_t i = 0; i < loaded->n_charts; i++) {
        int rc = build_raw(b, loaded->charts[i], &chart->subcharts[chart->n_subcharts++], err);
        if (rc < 0)
            return rc;
    }
    *out = chart;
    return 0;
}

/* The same subcharts again, for an alias. */
static struct sw_plan_chart *clone(struct builder *b, const struct sw_plan_chart *raw)
{
    b->n_charts++;
    struct sw_plan_chart *copy = sw_arena_alloc(b->arena, sizeof *copy);
    *copy = *raw;
    copy->subcharts = sw_arena_alloc(b->arena, (raw->n_subcharts + 1) * sizeof *copy->subcharts);
    for (size_t i = 0; i < raw->n_subcharts; i++)
        copy->subcharts[i] = clone(b, raw->subcharts[i]);
    return copy;
}

/* ---- the enabled ones ---------------------------------------------------------------------------
 */

/* Whether the @i-th dependency of @parent names @chart. */
static bool is_for(const struct sw_plan_chart *parent, size_t i, const struct sw_plan_chart *chart)
{
    const struct sw_dependency *dep = &parent->loaded->deps[i];
    const char *name = parent->states[i].renamed ? dep->alias : dep->name;
    return sw_streq(name, chart->loaded->name) && sw_chart_fits(chart->loaded, dep->version);
}

/* The subcharts under their aliases: first those that no dependency names, as Helm has them. */
static void name_subcharts(struct builder *b, struct sw_plan_chart *chart)
{
    const struct sw_chart *loaded = chart->loaded;
    struct sw_plan_chart **raw = chart->subcharts;
    size_t n_raw = chart->n_subcharts;
    chart->subcharts = sw_arena_alloc(b->arena,
                                      (n_raw + loaded->n_deps) * sizeof *chart->subcharts);
    chart->n_subcharts = 0;
    for (size_t i = 0; i < n_raw; i++) {
        size_t d = 0;
        while (d < loaded->n_deps && !is_for(chart, d, raw[i]))
            d++;
        if (d == loaded->n_deps)
            chart->subcharts[chart->n_subcharts++] = raw[i];
    }
    chart->deps = sw_arena_alloc(b->arena, loaded->n_deps * sizeof *chart->deps);
    for (size_t d = 0; d < loaded->n_deps; d++) {
        const struct sw_dependency *dep = &loaded->deps[d];
        chart->deps[d] = (struct sw_plan_chart_dep){ dep, *dep->alias ? dep->alias : dep->name,
                                                     true };
        for (size_t i = 0; i < n_raw; i++) {
            if (!is_for(chart, d, raw[i]))
                continue;
            struct sw_plan_chart *copy = clone(b, raw[i]);
            copy->name = chart->deps[d].name;
            chart->subcharts[chart->n_subcharts++] = copy;
            break;
        }
        chart->states[d].renamed = *dep->alias != '\0';
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

static bool is_disabled(const struct sw_plan_chart *chart, const char *name)
{
    for (size_t i = 0; i < chart->n_deps; i++)
        if (!chart->deps[i].enabled && sw_streq(chart->deps[i].name, name))
            return true;
    return false;
}

/* Name the subcharts of @chart and drop the disabled ones. @values: the root's, as coalesced by the
 * chart above. @prefix: the path of the chart's own values in it ("a.b."). */
static int choose(struct builder *b, struct sw_plan_chart *chart, struct sw_value values,
                  const char *prefix, struct sw_err *err)
{
    if (!chart->loaded->n_deps)
        return 0; /* as Helm, which does not process its subcharts then */
    name_subcharts(b, chart);
    if (b->n_charts > MAX_CHARTS)
        return too_many(chart->loaded, err);
    struct sw_value all = sw_value_copy(b->arena, values, false);
    int rc = sw_plan_chart_coalesce(chart, b->arena, all.as.map, false, err);
    if (rc < 0)
        return rc;
    struct sw_map *tags = table_at(all, "tags");
    for (size_t i = 0; i < chart->n_deps; i++) {
        if (tags)
            apply_tags(&chart->deps[i], tags);
        apply_condition(b, &chart->deps[i], all, prefix);
    }
    size_t kept = 0;
    for (size_t i = 0; i < chart->n_subcharts; i++)
        if (!is_disabled(chart, chart->subcharts[i]->name))
            chart->subcharts[kept++] = chart->subcharts[i];
    chart->n_subcharts = kept;
    for (size_t i = 0; i < chart->n_deps; i++)
        chart->deps[i].enabled &= !is_disabled(chart, chart->deps[i].name);
    kept = 0;
    for (size_t i = 0; i < chart->n_deps; i++)
        if (chart->deps[i].enabled)
            chart->deps[kept++] = chart->deps[i];
    chart->n_deps = kept;
    for (size_t i = 0; i < chart->n_subcharts; i++) {
        struct sw_plan_chart *sub = chart->subcharts[i];
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

/* Merge one entry of import-values into @into. */
static int import_entry(struct builder *b, struct sw_map *values, const struct sw_plan_chart_dep *d,
                        struct json_object *entry, struct sw_map *into, struct sw_err *err)
{
    bool is_name = json_object_is_type(entry, json_type_string);
    const char *child = is_name
                            ? sw_arena_printf(b->arena, "exports.%s", json_object_get_string(entry))
                            : sw_json_str(entry, NULL, "child", NULL);
    const char *parent = is_name ? "." : sw_json_str(entry, NULL, "parent", NULL);
    if (!child || !parent)
        return sw_err_set(err, SW_INVALID, "expected a string, or a map with child and parent");
    if (strlen(parent) > MAX_PATH)
        return sw_err_set(err, SW_INVALID, "parent: longer than %d characters", MAX_PATH);
    struct sw_map *table = table_at(sw_value_map(values),
                                    sw_arena_printf(b->arena, "%s.%s", d->name, child));
    if (table) { /* a copy: it may be imported into itself, which does not end in Helm */
        struct sw_value copy = sw_value_copy(b->arena, sw_value_map(table), false);
        sw_coalesce_tables(into, wrap(b, parent, copy.as.map), true);
    }
    return 0;
}

static struct sw_plan_dep_state *state_of(struct sw_plan_chart *chart,
                                          const struct sw_plan_chart_dep *d)
{
    return &chart->states[d->dep - chart->loaded->deps];
}

/* The chart's values, under those that its dependencies export: these are its defaults from now on.
 */
static int import_values(struct builder *b, struct sw_plan_chart *chart, struct sw_err *err)
{
    for (size_t i = 0; i < chart->n_subcharts; i++) {
        int rc = import_values(b, chart->subcharts[i], err);
        if (rc < 0)
            return rc;
    }
    if (chart->n_deps == 0)
        return 0;
    struct sw_map *values = sw_map_new(b->arena), *imported = sw_map_new(b->arena);
    int rc = sw_plan_chart_coalesce(chart, b->arena, values, true, err);
    for (size_t i = 0; i < chart->n_deps && rc == 0; i++) {
        const struct sw_plan_chart_dep *d = &chart->deps[i];
        unsigned *before = &state_of(chart, d)->imported;
        for (size_t j = 0; !*before && j < sw_json_len(d->dep->import_values) && rc == 0; j++) {
            rc = import_entry(b, values, d, sw_json_at(d->dep->import_values, j), imported, err);
            if (rc < 0)
                rc = sw_err_wrap(err, rc, "%s/Chart.yaml: dependency '%s': import-values[%zu]",
                                 chart->loaded->origin, d->name, j);
        }
        (*before)++;
    }
    if (rc < 0)
        return rc;
    sw_coalesce_tables(values, imported, true);
    chart->values = sw_value_map(values);
    return 0;
}

/* The entries of import-values as Helm leaves them for templates: all in the long form. They are
 * gone where they were imported twice. */
static struct sw_value imported_values(struct builder *b, struct sw_plan_chart *chart,
                                       const struct sw_plan_chart_dep *d)
{
    size_t n = state_of(chart, d)->imported > 1 ? 0 : sw_json_len(d->dep->import_values);
    struct sw_list *list = n ? sw_list_new(b->arena, n) : NULL;
    for (size_t i = 0; i < n; i++) {
        struct json_object *entry = sw_json_at(d->dep->import_values, i);
        bool is_name = json_object_is_type(entry, json_type_string);
        const char *child = is_name ? sw_arena_printf(b->arena, "exports.%s",
                                                      json_object_get_string(entry))
                                    : sw_json_str(entry, "", "child", NULL);
        struct sw_map *map = sw_map_new(b->arena);
        sw_map_set_cstr(map, "child", sw_value_cstr(child));
        sw_map_set_cstr(map, "parent",
                        sw_value_cstr(is_name ? "." : sw_json_str(entry, "", "parent", NULL)));
        sw_list_add(list, sw_value_map(map));
    }
    return list ? sw_value_list(list) : sw_value_nil();
}

/* Set path and parent, and Chart.yaml for templates: with the alias and the enabled dependencies.
 */
static void place_chart(struct builder *b, struct sw_plan_chart *chart,
                        struct sw_plan_chart *parent)
{
    chart->parent = parent;
    chart->state_name = chart->name;
    chart->path = parent ? sw_arena_printf(b->arena, "%s/charts/%s", parent->path, chart->name)
                         : chart->name;
    chart->meta = sw_value_from_json(b->arena, chart->loaded->meta);
    sw_map_set_cstr(chart->meta.as.map, "name", sw_value_cstr(chart->name));
    struct sw_list *deps = sw_list_new(b->arena, chart->n_deps);
    for (size_t i = 0; i < chart->n_deps; i++) {
        struct sw_value dep = sw_value_from_json(b->arena, chart->deps[i].dep->doc);
        sw_map_set_cstr(dep.as.map, "name", sw_value_cstr(chart->deps[i].name));
        sw_map_set_cstr(dep.as.map, "enabled", sw_value_bool(chart->deps[i].enabled));
        sw_map_set_cstr(dep.as.map, "import-values", imported_values(b, chart, &chart->deps[i]));
        sw_list_add(deps, dep);
    }
    if (chart->loaded->n_deps)
        sw_map_set_cstr(chart->meta.as.map, "dependencies", sw_value_list(deps));
    for (size_t i = 0; i < chart->n_subcharts; i++)
        place_chart(b, chart->subcharts[i], chart);
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
