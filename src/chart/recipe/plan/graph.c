/* The states of a plan and their dependencies: numbered templates, resource groups, subcharts. */
#include "chart/recipe/plan/graph.h"

#include <stdlib.h>
#include <string.h>

#include "chart/recipe/load/names.h"
#include "chart/recipe/plan/cycle.h"
#include "chart/recipe/plan/groups.h"
#include "chart/recipe/plan/own_release.h"
#include "chart/recipe/plan/plan.h"
#include "data/json/json.h"
#include "data/json/path.h"

/* The status of a resource names for each state those that it needs: 128 KiB are for these names,
 * some 60 needs of each of 100 states. */
enum { MAX_STATES = 1000, MAX_NEEDS_BYTES = 128 * 1024, QUOTES_BYTES = 3 };

static const char ann_wait[] = "slipway.dev/wait";
static const char ann_subcharts[] = "helm.sh/depends-on/subcharts";

/* Numbers of states, from @first up to @end. */
struct span {
    size_t first, end;
};

struct graph {
    struct sw_plan *plan;
    const struct sw_render_env *env;
    struct sw_arena *arena;
    struct sw_recipe_state *states; /* in the arena; so are their owners */
    const struct sw_plan_chart **owners;
    size_t n, cap;
    struct sw_needs needs; /* among @cap */
    struct sw_err *err;
};

/* ---- making states ------------------------------------------------------------------------------
 */

/* "a.b." for the chart at root/charts/a/charts/b, "" for the root. @by_chart: by the charts' own
 * names. */
static const char *prefix_of(struct graph *g, const struct sw_plan_chart *chart, bool by_chart)
{
    return chart->parent ? sw_arena_printf(g->arena, "%s%s.", prefix_of(g, chart->parent, by_chart),
                                           by_chart ? chart->name : chart->state_name)
                         : "";
}

/* The name of the state of the root's own templates. Subcharts come first: one of them may be
 * called as the chart is, as in umbrellas over a vendor's chart. */
static const char *own_name(struct graph *g, const char *chart)
{
    for (size_t i = 0; i < g->n; i++)
        if (sw_streq(g->states[i].name, chart))
            return sw_arena_printf(g->arena, "%s-own", chart);
    return chart;
}

/* @name: NULL for the chart's own. */
static const char *state_name(struct graph *g, const struct sw_plan_chart *chart, const char *name,
                              bool by_chart)
{
    const char *prefix = prefix_of(g, chart, by_chart);
    size_t len = strlen(prefix);
    return name  ? sw_arena_printf(g->arena, "%s%s", prefix, name)
           : len ? sw_arena_strndup(g->arena, prefix, len - 1)
                 : own_name(g, by_chart ? chart->name : chart->state_name);
}

/* @name: NULL for the chart's own. @return the state's number, or -1 with g->err set. */
static int add_state(struct graph *g, const struct sw_plan_chart *chart, const char *name)
{
    if (g->n == g->cap)
        return sw_err_set(g->err, SW_INVALID, "more than %zu states", g->cap), -1;
    struct sw_recipe_state *s = &g->states[g->n];
    s->name = state_name(g, chart, name, false);
    s->chart_name = state_name(g, chart, name, true);
    s->label = s->name;
    s->chart = chart->path;
    const char *wait = NULL; /* the nearest annotation decides */
    for (const struct sw_plan_chart *p = chart; p && !wait; p = p->parent)
        wait = sw_chart_annotation(p->loaded, ann_wait);
    s->wait_all = sw_streq(wait, "all");
    const struct sw_plan_release *release = sw_plan_release_of(chart);
    s->release = release && !release->is_recipes ? &release->of : NULL;
    s->shared_objects = chart->shared_objects;
    s->shared_version = chart->shared_version;
    g->owners[g->n] = chart;
    return (int)g->n++;
}

/* The template's objects belong to the state. */
static void take_template(struct graph *g, size_t state, struct sw_plan_template *t)
{
    t->state = state;
    g->states[state].kernel_affine |= t->kernel_affine;
}

/* ---- one chart's own templates ------------------------------------------------------------------
 */

static int next_number(const struct sw_plan *plan, const struct sw_plan_chart *chart, int after)
{
    int next = -1;
    for (size_t i = 0; i < plan->n_templates; i++) {
        int n = plan->templates[i].number;
        if (plan->templates[i].chart == chart && n > after && (next < 0 || n < next))
            next = n;
    }
    return next;
}

/* A state for each number, each after the one before. */
static int add_numbered(struct graph *g, const struct sw_plan_chart *chart)
{
    struct sw_plan *plan = g->plan;
    size_t first = g->n;
    for (int n = next_number(plan, chart, -1); n >= 0; n = next_number(plan, chart, n)) {
        int state = add_state(g, chart, sw_arena_printf(g->arena, "%04d", n));
        if (state < 0)
            return SW_INVALID;
        for (size_t i = 0; i < plan->n_templates; i++)
            if (plan->templates[i].chart == chart && plan->templates[i].number == n)
                take_template(g, (size_t)state, &plan->templates[i]);
        if ((size_t)state > first)
            sw_needs_add(&g->needs, (size_t)state, (size_t)state - 1);
    }
    return 0;
}

static bool is_rest(const struct sw_plan_template *t, const struct sw_plan_chart *chart)
{
    return t->chart == chart && t->number < 0 && !t->is_partial && !t->is_notes;
}

/* States of the resource groups in @chart's unnumbered templates; none is the usual case.
 * @rest: whether something is left that is in no group. */
static int add_groups(struct graph *g, const struct sw_plan_chart *chart, bool *rest)
{
    bool any = *rest = false;
    for (size_t i = 0; i < g->plan->n_templates; i++) {
        bool unnumbered = is_rest(&g->plan->templates[i], chart);
        *rest |= unnumbered;
        any |= unnumbered && g->plan->templates[i].grouped;
    }
    if (!any)
        return 0;
    SW_AUTO(sw_resource_groups) *gs = NULL;
    int rc = sw_resource_groups_find(g->plan, chart, g->env, &gs, g->err);
    if (rc < 0)
        return rc;
    *rest = gs->rest || gs->n == 0;
    size_t first = g->n;
    for (size_t i = 0; i < gs->n; i++) {
        int state = add_state(g, chart, gs->all[i].name);
        if (state < 0)
            return SW_INVALID;
        g->states[state].group = gs->all[i].name;
    }
    for (size_t i = 0; i < gs->n; i++)
        for (size_t j = 0; j < gs->n; j++)
            if (sw_needs_has(&gs->needs, i, j))
                sw_needs_add(&g->needs, first + i, first + j);
    return 0;
}

/* ---- a chart and what is below it ---------------------------------------------------------------
 */

/* Whether @i needs a state of @within. */
static bool needs_any(const struct graph *g, size_t i, struct span within)
{
    for (size_t j = within.first; j < within.end; j++)
        if (sw_needs_has(&g->needs, i, j))
            return true;
    return false;
}

/* The first states of @later wait for the last ones of @earlier. */
static void put_after(struct graph *g, struct span later, struct span earlier)
{
    bool *entry = sw_zalloc(g->cap, sizeof *entry), *exit = sw_zalloc(g->cap, sizeof *exit);
    for (size_t i = later.first; i < later.end; i++)
        entry[i] = !needs_any(g, i, later);
    for (size_t i = earlier.first; i < earlier.end; i++) {
        exit[i] = true;
        for (size_t j = earlier.first; j < earlier.end; j++)
            exit[i] &= !sw_needs_has(&g->needs, j, i);
    }
    for (size_t i = later.first; i < later.end; i++)
        for (size_t j = earlier.first; j < earlier.end; j++)
            if (entry[i] && exit[j])
                sw_needs_add(&g->needs, i, j);
    free(entry);
    free(exit);
}

/* The objects of crds/ belong to the first state; where several are first, to a state before them.
 */
static int place_crds(struct graph *g, const struct sw_plan_chart *chart, struct span *own)
{
    size_t n_first = 0, first = own->first;
    for (size_t i = own->end; i-- > own->first;)
        if (!needs_any(g, i, *own)) {
            n_first++;
            first = i;
        }
    if (n_first != 1) {
        int state = add_state(g, chart, n_first ? "crds" : NULL);
        if (state < 0)
            return SW_INVALID;
        first = (size_t)state;
        for (size_t i = own->first; i < own->end; i++)
            if (!needs_any(g, i, *own))
                sw_needs_add(&g->needs, i, first);
        own->end = first + 1;
    }
    g->states[first].has_crds = true;
    struct sw_plan *plan = g->plan;
    plan->crd_charts[plan->n_crd_charts] = chart;
    plan->crd_states[plan->n_crd_charts++] = first;
    return 0;
}

/* The states of @chart's own templates: numbers, then groups, then the rest. */
static int add_own(struct graph *g, const struct sw_plan_chart *chart, struct span *own)
{
    *own = (struct span){ g->n, g->n };
    bool rest;
    if (chart->loaded->is_library)
        return 0;
    int rc = add_numbered(g, chart);
    struct span numbered = { own->first, g->n };
    if (rc == 0)
        rc = add_groups(g, chart, &rest);
    if (rc < 0)
        return rc;
    struct span groups = { numbered.end, g->n };
    put_after(g, groups, numbered);
    own->end = g->n;
    if (rest) {
        int state = add_state(g, chart, NULL);
        if (state < 0)
            return SW_INVALID;
        if (numbered.end > numbered.first)
            g->states[state].label = NULL;
        put_after(g, (struct span){ (size_t)state, (size_t)state + 1 }, *own);
        own->end = g->n;
        for (size_t i = 0; i < g->plan->n_templates; i++)
            if (is_rest(&g->plan->templates[i], chart))
                take_template(g, (size_t)state, &g->plan->templates[i]);
    }
    for (size_t i = 0; i < chart->loaded->n_files; i++)
        if (sw_recipe_is_crd(chart->loaded->files[i].name))
            return place_crds(g, chart, own);
    return 0;
}

/* ---- edges between subcharts --------------------------------------------------------------------
 */

/* A subchart by the name that `depends-on` uses: alias or name.
 * @return its number; SIZE_MAX where it is disabled; -1 with g->err set: unknown */
static int find_sibling(struct graph *g, const struct sw_plan_chart *chart, const char *name,
                        size_t *found)
{
    size_t n_by_name = 0;
    for (size_t i = 0; i < chart->n_subcharts; i++)
        if (sw_streq(chart->subcharts[i]->name, name)) {
            *found = i;
            return 0;
        }
    for (size_t i = 0; i < chart->n_subcharts; i++)
        if (sw_streq(chart->subcharts[i]->loaded->name, name)) {
            *found = i;
            n_by_name++;
        }
    if (n_by_name == 1)
        return 0;
    if (n_by_name > 1)
        return sw_err_set(g->err, SW_INVALID, "'%s' is the name of several; use the alias", name);
    *found = SIZE_MAX;
    for (size_t i = 0; i < chart->loaded->n_deps; i++)
        if (sw_streq(chart->loaded->deps[i].name, name) ||
            sw_streq(chart->loaded->deps[i].alias, name))
            return 0;
    return sw_err_set(g->err, SW_INVALID, "there is no subchart '%s'", name);
}

static int read_depends_on(struct graph *g, const struct sw_plan_chart *chart,
                           struct sw_needs *between)
{
    for (size_t d = 0; d < chart->n_deps; d++) {
        const struct sw_dependency *dep = chart->deps[d].dep;
        size_t who, what;
        for (size_t k = 0; k < sw_json_len(dep->depends_on); k++) {
            int rc = find_sibling(g, chart, chart->deps[d].name, &who);
            const char *name = json_object_get_string(sw_json_at(dep->depends_on, k));
            if (rc == 0)
                rc = find_sibling(g, chart, name, &what);
            if (rc != 0)
                return sw_err_wrap(g->err, rc, "%s/Chart.yaml: dependency '%s': depends-on",
                                   chart->loaded->origin, chart->deps[d].name);
            if (who != SIZE_MAX && what != SIZE_MAX)
                sw_needs_add(between, who, what);
        }
    }
    return 0;
}

/* The chart's own states after the subcharts that its annotation names. @spans: of the subcharts.
 */
static int read_annotation(struct graph *g, const struct sw_plan_chart *chart, struct span own,
                           const struct span *spans)
{
    struct json_object *value = sw_json_find(chart->loaded->meta, "annotations", ann_subcharts,
                                             NULL);
    if (!value)
        return 0;
    SW_AUTO_JSON *names = sw_recipe_names(value, g->err);
    int rc = names ? 0 : SW_INVALID;
    for (size_t i = 0; rc == 0 && i < sw_json_len(names); i++) {
        size_t what;
        rc = find_sibling(g, chart, json_object_get_string(sw_json_at(names, i)), &what);
        if (rc == 0 && what != SIZE_MAX)
            put_after(g, own, spans[what]);
    }
    return rc < 0 ? sw_err_wrap(g->err, rc, "%s/Chart.yaml: annotation %s", chart->loaded->origin,
                                ann_subcharts)
                  : 0;
}

/* Subcharts that need one without states need what that one needs. @order: needs first. */
static void bridge_empty(struct sw_needs *between, const struct span *spans, const size_t *order)
{
    for (size_t k = 0; k < between->n; k++) {
        size_t empty = order[k];
        if (spans[empty].first < spans[empty].end)
            continue;
        for (size_t i = 0; i < between->n; i++)
            for (size_t j = 0; sw_needs_has(between, i, empty) && j < between->n; j++)
                if (sw_needs_has(between, empty, j))
                    sw_needs_add(between, i, j);
    }
}

static int link_subcharts(struct graph *g, const struct sw_plan_chart *chart,
                          const struct span *spans)
{
    struct sw_needs between = sw_needs_init(chart->n_subcharts);
    const char **names = sw_arena_alloc(g->arena, (chart->n_subcharts + 1) * sizeof *names);
    size_t *order = sw_arena_alloc(g->arena, (chart->n_subcharts + 1) * sizeof *order);
    for (size_t i = 0; i < chart->n_subcharts; i++)
        names[i] = chart->subcharts[i]->name;
    int rc = read_depends_on(g, chart, &between);
    if (rc == 0) {
        rc = sw_needs_sort(&between, names, order, g->err);
        if (rc < 0)
            rc = sw_err_wrap(g->err, rc, "%s/Chart.yaml: depends-on", chart->loaded->origin);
    }
    if (rc == 0)
        bridge_empty(&between, spans, order);
    for (size_t i = 0; rc == 0 && i < chart->n_subcharts; i++)
        for (size_t j = 0; j < chart->n_subcharts; j++)
            if (sw_needs_has(&between, i, j))
                put_after(g, spans[i], spans[j]);
    sw_needs_done(&between);
    return rc;
}

static int add_chart(struct graph *g, const struct sw_plan_chart *chart, struct span *all)
{
    struct span *spans = sw_arena_alloc(g->arena, (chart->n_subcharts + 1) * sizeof *spans);
    size_t first = g->n;
    for (size_t i = 0; i < chart->n_subcharts; i++) {
        int rc = add_chart(g, chart->subcharts[i], &spans[i]);
        if (rc < 0)
            return rc;
    }
    int rc = link_subcharts(g, chart, spans);
    struct span own;
    if (rc == 0)
        rc = add_own(g, chart, &own);
    if (rc == 0)
        rc = read_annotation(g, chart, own, spans);
    *all = (struct span){ first, g->n };
    return rc;
}

/* ---- into the plan, in order --------------------------------------------------------------------
 */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Whether state @i may get documents of @t. */
static bool is_of_state(const struct graph *g, const struct sw_plan_template *t, size_t i)
{
    return t->state == i || (g->states[i].group && t->grouped && is_rest(t, g->owners[i]));
}

static void list_templates(struct graph *g, size_t i)
{
    struct sw_plan *plan = g->plan;
    struct sw_recipe_state *s = &g->states[i];
    size_t n = 0;
    for (size_t t = 0; t < plan->n_templates; t++)
        n += is_of_state(g, &plan->templates[t], i);
    const char **paths = sw_arena_alloc(g->arena, (n + 1) * sizeof *paths);
    for (size_t t = 0; t < plan->n_templates; t++)
        if (is_of_state(g, &plan->templates[t], i))
            paths[s->n_templates++] = plan->templates[t].path;
    qsort(paths, s->n_templates, sizeof *paths, by_text);
    s->templates = paths;
}

/* The needs of state @i, by place; @bytes: of all names so far. */
static int list_needs(struct graph *g, const size_t *order, size_t i, size_t *bytes)
{
    struct sw_recipe_state *s = &g->plan->states[i];
    size_t *needs = sw_arena_alloc(g->arena, (i + 1) * sizeof *needs);
    for (size_t k = 0; k < i; k++)
        if (sw_needs_has(&g->needs, order[i], order[k])) {
            needs[s->n_needs++] = k;
            *bytes += strlen(g->plan->states[k].name) + QUOTES_BYTES;
        }
    s->needs = needs;
    return *bytes <= MAX_NEEDS_BYTES
               ? 0
               : sw_err_set(g->err, SW_INVALID,
                            "%s: state '%s' needs too many others: the status of a resource names "
                            "all needs of its states, and has room for %d KiB of names",
                            s->chart, s->name, MAX_NEEDS_BYTES / 1024);
}

/* Sort the states into the plan. */
static int finish(struct graph *g)
{
    struct sw_plan *plan = g->plan;
    for (size_t i = 0; i < g->n; i++)
        for (size_t j = 0; j < i; j++)
            if (sw_streq(g->states[i].name, g->states[j].name))
                return sw_err_set(g->err, SW_INVALID, "two states are called '%s': of %s and of %s",
                                  g->states[i].name, g->states[j].chart, g->states[i].chart);
    g->needs.n = g->n;
    const char **names = sw_arena_alloc(g->arena, (g->n + 1) * sizeof *names);
    size_t *order = sw_arena_alloc(g->arena, (g->n + 1) * sizeof *order);
    size_t *place = sw_arena_alloc(g->arena, (g->n + 1) * sizeof *place);
    for (size_t i = 0; i < g->n; i++)
        names[i] = g->states[i].name;
    int rc = sw_needs_sort(&g->needs, names, order, g->err);
    if (rc < 0)
        return rc;
    plan->states = sw_arena_alloc(g->arena, (g->n + 1) * sizeof *plan->states);
    plan->n_states = g->n;
    plan->state_releases = sw_arena_alloc(g->arena, (g->n + 1) * sizeof *plan->state_releases);
    for (size_t i = 0; i < g->n; i++)
        place[order[i]] = i;
    size_t n_bytes = 0;
    for (size_t i = 0; i < g->n; i++) {
        list_templates(g, order[i]);
        plan->states[i] = g->states[order[i]];
        plan->state_releases[i] = sw_plan_release_of(g->owners[order[i]]);
        rc = list_needs(g, order, i, &n_bytes);
        if (rc < 0)
            return rc;
    }
    for (size_t t = 0; t < plan->n_templates; t++)
        if (plan->templates[t].state != SIZE_MAX)
            plan->templates[t].state = place[plan->templates[t].state];
    for (size_t i = 0; i < plan->n_crd_charts; i++)
        plan->crd_states[i] = place[plan->crd_states[i]];
    return 0;
}

static size_t count_charts(const struct sw_plan_chart *chart)
{
    size_t n = 1;
    for (size_t i = 0; i < chart->n_subcharts; i++)
        n += count_charts(chart->subcharts[i]);
    return n;
}

int sw_plan_build_graph(struct sw_plan *plan, const struct sw_render_env *env, struct sw_err *err)
{
    struct graph g = { .plan = plan, .env = env, .arena = plan->arena, .err = err };
    size_t n_charts = count_charts(plan->root), most = 2 * n_charts;
    bool grouped = false;
    for (size_t i = 0; i < plan->n_templates; i++) {
        most += plan->templates[i].number >= 0;
        grouped |= plan->templates[i].grouped;
    }
    /* at most a state for each number, group, chart's rest and chart's crds/ */
    g.cap = grouped || most > MAX_STATES ? MAX_STATES : most;
    g.needs = sw_needs_init(g.cap);
    g.states = sw_arena_alloc(g.arena, g.cap * sizeof *g.states);
    g.owners = sw_arena_alloc(g.arena, g.cap * sizeof *g.owners);
    plan->crd_charts = sw_arena_alloc(plan->arena, n_charts * sizeof *plan->crd_charts);
    plan->crd_states = sw_arena_alloc(plan->arena, n_charts * sizeof *plan->crd_states);
    struct span all;
    int rc = add_chart(&g, plan->root, &all);
    if (rc == 0)
        rc = finish(&g);
    sw_needs_done(&g.needs);
    return rc;
}
