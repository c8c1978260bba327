#include "chart/recipe/plan/execute.h"

#include <stdlib.h>
#include <string.h>

#include "chart/recipe/plan/own_release.h"
#include "chart/recipe/plan/split.h"
#include "data/json/json.h"
#include "data/json/path.h"

/* ---- values ------------------------------------------------------------------------------------
 */

/* Facts over the values of the chart and of all below it, where they win; see struct
 * sw_render_env. */
static void add_facts(struct sw_arena *arena, const struct sw_plan_chart *chart,
                      struct sw_map *values, struct sw_map *facts)
{
    for (size_t i = 0; i < chart->n_subcharts; i++) {
        struct sw_value *sub = sw_map_find_cstr(values, chart->subcharts[i]->name);
        if (sub && sw_value_is_map(*sub))
            add_facts(arena, chart->subcharts[i], sub->as.map, facts);
    }
    size_t n = sw_map_count(facts);
    const struct sw_entry *all = sw_map_sorted(facts);
    for (size_t i = 0; i < n; i++) {
        struct sw_value *there = sw_map_find(values, all[i].key, all[i].key_len);
        struct sw_value fact = sw_value_copy(arena, all[i].value, false);
        bool is_table = sw_value_is_map(fact);
        if (there && !sw_value_is_nil(*there)) {
            if (sw_value_is_map(*there) != is_table)
                continue;
            if (is_table)
                sw_coalesce_tables(fact.as.map, there->as.map, false);
        }
        sw_map_set(values, all[i].key, all[i].key_len, fact);
    }
}

struct sw_value sw_plan_render_values(const struct sw_plan *plan, struct sw_arena *arena,
                                      const struct json_object *facts)
{
    struct sw_value values = sw_value_copy(arena, plan->values, false);
    struct sw_value f = facts ? sw_value_from_json(arena, facts) : sw_value_nil();
    if (sw_value_is_map(f))
        add_facts(arena, plan->root, values.as.map, f.as.map);
    return values;
}

struct sw_value sw_plan_chart_values(const struct sw_plan *plan, const struct sw_plan_chart *chart,
                                     struct sw_arena *arena, const struct json_object *facts)
{
    if (!chart->parent)
        return sw_plan_render_values(plan, arena, facts);
    struct sw_value above = sw_plan_chart_values(plan, chart->parent, arena, facts);
    return sw_value_path(above, chart->name);
}

/* ---- the data of templates ----------------------------------------------------------------------
 */

/* The objects that templates see as ".", in an arena of their own. */
struct execution {
    const struct sw_plan *plan;
    const struct sw_render_env *env;
    struct sw_arena *arena;
    struct sw_value caps;
    struct sw_map *roots; /* by the chart's path */
    bool *is_asked;       /* by number of releases of their own: left_out is known */
    struct sw_outputs *run;
    uint64_t fuel, fuel_left; /* steps for all templates together */
    size_t max_memory;        /* bytes, of the values and the templates */
};

static int on_lookup(void *arg, const char *api_version, const char *kind, const char *namespace,
                     const char *name, struct sw_arena *arena, struct sw_value *out,
                     struct sw_err *err)
{
    const struct sw_render_env *env = arg;
    SW_AUTO_JSON *doc = NULL;
    int rc = env->lookup(env->lookup_arg, api_version, kind, namespace, name, &doc, err);
    if (rc == 0)
        *out = sw_value_from_json(arena, doc);
    return rc;
}

static struct sw_value caps_of(struct execution *s)
{
    const struct sw_render_env *env = s->env;
    struct sw_template_caps caps = {
        .kube_version = env->kube_version,
        .api_versions = env->api_versions,
        .n_api_versions = env->n_api_versions,
    };
    const char **all = NULL;
    if (env->api_versions && env->add_api_versions) {
        const char *const *defaults = sw_template_default_api_versions();
        size_t n = 0;
        while (defaults[n])
            n++;
        all = sw_arena_alloc(s->arena, (n + env->n_api_versions) * sizeof *all);
        memcpy(all, defaults, n * sizeof *all);
        memcpy(all + n, env->api_versions, env->n_api_versions * sizeof *all);
        caps.api_versions = all;
        caps.n_api_versions += n;
    }
    return sw_template_caps_value(s->arena, &caps);
}

/* @own: NULL for the recipe's. */
static struct sw_value release_of(struct execution *s, const struct sw_plan_release *own)
{
    const struct sw_render_env *env = s->env;
    struct sw_template_release release = {
        .name = own            ? own->of.name
                : env->release ? env->release
                               : s->plan->recipe->root->name,
        .namespace = own && own->of.namespace ? own->of.namespace
                     : env->namespace         ? env->namespace
                                              : "default",
        .revision = env->revision,
        .is_upgrade = env->is_upgrade,
    };
    return sw_template_release_value(s->arena, &release);
}

/* @release: of the chart above. */
static struct sw_value make_root(struct execution *s, const struct sw_plan_chart *chart,
                                 struct sw_value values, struct sw_value release)
{
    if (chart->release)
        release = release_of(s, chart->release);
    struct sw_map *subcharts = sw_map_new(s->arena);
    for (size_t i = 0; i < chart->n_subcharts; i++) {
        const struct sw_plan_chart *sub = chart->subcharts[i];
        struct sw_value v = sw_value_path(values, sub->name);
        if (!sw_value_is_map(v))
            v = sw_value_map(sw_map_new(s->arena));
        sw_map_set_cstr(subcharts, sub->name, make_root(s, sub, v, release));
    }
    struct sw_template_root root = {
        .values = values,
        .chart = chart->meta,
        .is_root = !chart->parent,
        .release = release,
        .caps = s->caps,
        .files = chart->loaded->template_files,
        .n_files = chart->loaded->n_files,
        .subcharts = sw_value_map(subcharts),
    };
    struct sw_value v = sw_template_root_value(s->arena, &root);
    sw_map_set_cstr(s->roots, chart->path, v);
    return v;
}

enum { MAX_OUTPUT = 16 << 20 }; /* of all templates together */

static struct sw_template_opts options(struct execution *s, size_t used)
{
    return (struct sw_template_opts){
        .fuel = s->fuel,
        .fuel_left = &s->fuel_left,
        .max_memory_bytes = s->max_memory,
        .max_output_bytes = used < MAX_OUTPUT ? MAX_OUTPUT - used : 1,
        .lookup = s->env->lookup ? on_lookup : NULL,
        .lookup_arg = (void *)s->env,
        .now_ns = s->env->now_ns,
        .is_lint = s->env->is_lint,
    };
}

/* The caller's. */
static char *trimmed(const char *text, size_t len)
{
    size_t from = 0;
    while (from < len && sw_split_is_blank(text[from]))
        from++;
    while (len > from && sw_split_is_blank(text[len - 1]))
        len--;
    return sw_strndup(text ? text + from : "", len - from);
}

/* @text is what a condition printed. @return 0 | SW_INVALID: neither true nor false */
static int read_answer(const struct sw_template_out *text, bool *yes, struct sw_err *err)
{
    SW_AUTO_CHARS *answer = trimmed(text->text, text->len);
    *yes = sw_streq(answer, "true");
    return *yes || !*answer || sw_streq(answer, "false")
               ? 0
               : sw_err_set(err, SW_INVALID, "it printed '%.40s', expected true or false", answer);
}

/* Has another resource installed it? */
static bool is_of_another(const struct execution *s, const struct sw_plan_release *release)
{
    struct json_object *others = sw_json_get((struct json_object *)s->env->facts,
                                             SW_RELEASES_OF_OTHERS);
    return release->of.shared && sw_json_get(others, release->of.shared);
}

/* Find out whether @release is to be installed. */
static int ask(struct execution *s, const struct sw_plan_release *release, struct sw_err *err)
{
    if (release && is_of_another(s, release)) {
        s->run->left_out[release->number] = true;
        return 0;
    }
    if (!release || !release->only_if || s->is_asked[release->number])
        return 0;
    struct sw_template_out text = { 0 };
    struct sw_template_opts opts = options(s, 0);
    const struct sw_value *root = sw_map_find_cstr(s->roots, release->above->path);
    int rc = sw_template_exec(s->plan->parsed->set, release->only_if, *root, s->arena, &opts, &text,
                              err);
    bool yes = false;
    if (rc == 0)
        rc = read_answer(&text, &yes, err);
    s->run->left_out[release->number] = !yes;
    s->is_asked[release->number] = true;
    sw_template_out_done(&text);
    return rc < 0 && rc != SW_PENDING
               ? sw_err_wrap(err, rc, "%s/Chart.yaml: slipway.dev/releases: '%s'",
                             release->above->loaded->origin, release->only_if)
               : rc;
}

/* Ask the releases of the plan's states that @filter names. */
static int ask_for_states(struct execution *s, const struct sw_plan_filter *filter,
                          struct sw_err *err)
{
    int rc = 0;
    for (size_t i = 0; filter->asks && rc == 0 && i < s->plan->n_states; i++)
        if (filter->state == SW_ALL_STATES || filter->state == i)
            rc = ask(s, s->plan->state_releases[i], err);
    return rc;
}

static int run_one(struct execution *s, const struct sw_plan_template *t, struct sw_outputs *run,
                   struct sw_err *err)
{
    size_t start = run->out.len;
    if (t->chart->loaded->not_fetched)
        return sw_err_set(err, SW_NOTFOUND, "%s", t->chart->loaded->not_fetched);
    struct sw_template_opts opts = options(s, start);
    const struct sw_value *root = sw_map_find_cstr(s->roots, t->chart->path);
    int rc = sw_template_exec(s->plan->parsed->set, t->path, *root, s->arena, &opts, &run->out,
                              err);
    if (rc < 0)
        return rc;
    size_t len = run->out.len - start, blank = 0;
    while (blank < len && sw_split_is_blank(run->out.text[start + blank]))
        blank++;
    if (t->is_notes && s->env->keep_notes) {
        SW_GROW(run->notes, run->n_notes, run->cap_notes);
        run->notes[run->n_notes++] = (struct sw_output){ t, start, len };
        return 0;
    }
    if (t->is_notes || blank == len) {
        run->out.len = start;
        return 0;
    }
    SW_GROW(run->files, run->n_files, run->cap_files);
    run->files[run->n_files++] = (struct sw_output){ t, start, len };
    return 0;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct sw_output *)a)->tmpl->path,
                  ((const struct sw_output *)b)->tmpl->path);
}

/* Make what templates see, in @arena. @s->run is the caller's. */
static int begin(struct execution *s, const struct sw_plan *plan, const struct sw_render_env *env,
                 struct sw_arena *arena, struct sw_err *err)
{
    *s = (struct execution){
        .plan = plan,
        .env = env,
        .arena = arena,
        .roots = sw_map_new(arena),
        .is_asked = sw_arena_alloc(arena, plan->n_releases + 1),
        .run = s->run,
        .fuel = env->fuel ? env->fuel : SW_TEMPLATE_FUEL,
        .max_memory = env->max_memory_bytes ? env->max_memory_bytes : SW_TEMPLATE_BYTES,
    };
    s->fuel_left = s->fuel;
    size_t values = sw_arena_used(plan->arena);
    sw_arena_limit(arena, s->max_memory > values ? s->max_memory - values : 0);
    s->caps = caps_of(s);
    (void)make_root(s, plan->root, sw_plan_render_values(plan, arena, env->facts),
                    release_of(s, NULL));
    return sw_arena_is_over(arena)
               ? sw_err_set(err, SW_INVALID,
                            "the values of chart '%s' take more than %zu MiB of memory",
                            plan->root->path, s->max_memory >> 20)
               : 0;
}

int sw_plan_run_named(const struct sw_plan *plan, const struct sw_render_env *env,
                      const struct sw_plan_chart *chart, const char *name, char **out,
                      struct sw_err *err)
{
    SW_AUTO(sw_arena) *arena = sw_arena_new();
    struct execution s = { 0 };
    struct sw_template_out text = { 0 };
    int rc = begin(&s, plan, env, arena, err);
    if (rc < 0)
        return rc;
    struct sw_template_opts opts = options(&s, 0);
    const struct sw_value *root = sw_map_find_cstr(s.roots, chart->path);
    rc = sw_template_exec(plan->parsed->set, name, *root, arena, &opts, &text, err);
    if (rc == 0)
        *out = trimmed(text.text, text.len);
    sw_template_out_done(&text);
    return rc;
}

int sw_plan_run(const struct sw_plan *plan, const struct sw_render_env *env,
                const struct sw_plan_filter *filter, struct sw_outputs *run, struct sw_err *err)
{
    SW_AUTO(sw_arena) *arena = sw_arena_new();
    struct execution s = { .run = run };
    run->left_out = sw_zalloc(plan->n_releases + 1, sizeof *run->left_out);
    int rc = begin(&s, plan, env, arena, err);
    if (rc < 0)
        return rc;
    rc = ask_for_states(&s, filter, err);
    for (size_t i = 0; rc == 0 && i < plan->n_templates; i++) {
        const struct sw_plan_template *t = &plan->templates[i];
        const struct sw_plan_release *release = sw_plan_release_of(t->chart);
        if (t->is_partial || !filter->takes(filter->arg, t))
            continue;
        rc = filter->asks ? ask(&s, release, err) : 0;
        if (rc == 0 && !(release && run->left_out[release->number]))
            rc = run_one(&s, t, run, err);
    }
    if (rc < 0)
        return rc;
    if (run->n_files > 0)
        qsort(run->files, run->n_files, sizeof *run->files, by_path);
    if (run->n_notes > 0)
        qsort(run->notes, run->n_notes, sizeof *run->notes, by_path);
    return 0;
}

char *sw_outputs_notes(const struct sw_outputs *run, bool of_all)
{
    static const char blanks[] = " \t\r\n\f\v";
    SW_AUTO_CHARS *all = sw_strdup("");
    for (size_t i = 0; i < run->n_notes; i++) {
        const struct sw_output *o = &run->notes[i];
        const struct sw_plan_chart *chart = o->tmpl->chart;
        SW_AUTO_CHARS *own = sw_printf("%s/templates/NOTES.txt", chart->path);
        if (of_all || (!strchr(chart->path, '/') && sw_streq(o->tmpl->path, own)))
            sw_append(&all, "%s%.*s", *all ? "\n" : "", (int)o->len, run->out.text + o->start);
    }
    size_t len = strlen(all), from = strspn(all, blanks);
    while (len > from && strchr(blanks, all[len - 1]))
        len--;
    return sw_strndup(all + from, len - from);
}

void sw_outputs_done(struct sw_outputs *run)
{
    sw_template_out_done(&run->out);
    free(run->files);
    free(run->notes);
    free(run->left_out);
    *run = (struct sw_outputs){ 0 };
}
