/* A plan: the enabled charts, their values and templates. */
#include "chart/recipe/plan/plan.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chart/recipe/plan/execute.h"
#include "chart/recipe/plan/graph.h"
#include "chart/recipe/plan/own_release.h"
#include "chart/recipe/plan/state_name.h"
#include "chart/recipe/plan/user_values.h"
#include "chart/recipe/schema/schema.h"
#include "data/json/json.h"
#include "data/json/path.h"

const char sw_recipe_kube_version[] = "v1.36.0"; /* Helm 3.21's */
const char sw_recipe_helm_version[] = SW_HELM_VERSION;

/* ---- values -------------------------------------------------------------------------------------
 */

/* Append to @problems what does not fit the schemas of a chart and of its subcharts, and what is
 * wrong with these, as Helm says it. */
static void check_schemas(const struct sw_plan_chart *chart, struct sw_value values,
                          char **problems)
{
    const struct sw_schema *schema = NULL;
    SW_ERR(why);
    int rc = sw_chart_schema(chart->loaded, &schema, &why);
    if (schema)
        rc = sw_schema_check(schema, values, &why);
    if (rc < 0)
        sw_append(problems, "\n%s:\n%s", chart->name, sw_err_text(&why));
    for (size_t i = 0; i < chart->n_subcharts; i++) {
        const struct sw_plan_chart *sub = chart->subcharts[i];
        const struct sw_value *v = sw_map_find_cstr(values.as.map, sub->name);
        if (v && !sw_value_is_nil(*v))
            check_schemas(sub, *v, problems);
    }
}

static int check_schema(const struct sw_plan_chart *chart, struct sw_value values,
                        struct sw_err *err)
{
    SW_AUTO_CHARS *problems = NULL;
    check_schemas(chart, values, &problems);
    if (!problems)
        return 0;
    return sw_err_set(err, SW_INVALID,
                      "values don't meet the specifications of the schema(s) in the following "
                      "chart(s):%s",
                      problems);
}

/* Some schemas forbid unknown keys, such as those of facts; others require them. The values are
 * valid if they are so with facts or without. */
static int check_values(const struct sw_plan *plan, const struct json_object *facts,
                        struct sw_err *err)
{
    SW_ERR(without);
    int rc = check_schema(plan->root, plan->values, &without);
    if (rc == 0)
        return 0;
    if (facts) {
        SW_AUTO(sw_arena) *arena = sw_arena_new();
        if (check_schema(plan->root, sw_plan_render_values(plan, arena, facts), NULL) == 0)
            return 0;
    }
    return sw_err_move(err, &without);
}

/* ---- templates ----------------------------------------------------------------------------------
 */

/* SRO's states: NNNN-name.yaml or NNNN_name.yaml. @return NNNN, or -1 */
static int number_of(const char *base)
{
    int number = 0;
    for (int i = 0; i < 4; i++) {
        if (!isdigit((unsigned char)base[i]))
            return -1;
        number = number * 10 + (base[i] - '0');
    }
    return (base[4] == '-' || base[4] == '_') && sw_ends_with(base, ".yaml") ? number : -1;
}

static size_t count_templates(const struct sw_plan_chart *chart)
{
    size_t n = chart->loaded->n_templates;
    for (size_t i = 0; i < chart->n_subcharts; i++)
        n += count_templates(chart->subcharts[i]);
    return n;
}

static void add_templates(struct sw_plan *plan, const struct sw_plan_chart *chart)
{
    size_t first = plan->n_templates;
    bool grouped = false;
    for (size_t i = 0; i < chart->loaded->n_templates; i++) {
        const struct sw_recipe_file *file = &chart->loaded->templates[i];
        unsigned marks = chart->loaded->marks[i];
        const char *slash = strrchr(file->name, '/');
        bool is_partial = sw_template_is_partial(file->name);
        grouped |= marks & SW_MARK_GROUP;
        if (chart->loaded->is_library && !is_partial)
            continue;
        plan->templates[plan->n_templates++] = (struct sw_plan_template){
            .path = sw_arena_printf(plan->arena, "%s/%s", chart->path, file->name),
            .chart = chart,
            .file = file,
            .is_partial = is_partial,
            .is_notes = sw_ends_with(file->name, "NOTES.txt"),
            .kernel_affine = !is_partial && (marks & SW_MARK_KERNEL_AFFINE),
            .number = is_partial ? -1 : number_of(slash ? slash + 1 : file->name),
            .state = SIZE_MAX,
        };
    }
    for (size_t i = first; grouped && i < plan->n_templates; i++)
        plan->templates[i].grouped = plan->templates[i].number < 0 &&
                                     !plan->templates[i].is_partial && !plan->templates[i].is_notes;
    for (size_t i = 0; i < chart->n_subcharts; i++)
        add_templates(plan, chart->subcharts[i]);
}

static int by_order(const void *a, const void *b)
{
    return sw_template_order(((const struct sw_plan_template *)a)->path,
                             ((const struct sw_plan_template *)b)->path);
}

/* Paths and files, which the parsed set depends on. A file keeps its address. */
static char *signature_of(const struct sw_plan *plan)
{
    size_t len = 1;
    for (size_t i = 0; i < plan->n_templates; i++)
        len += strlen(plan->templates[i].path) + 24;
    char *text = sw_zalloc(len, 1), *at = text;
    for (size_t i = 0; i < plan->n_templates; i++)
        at += snprintf(at, len - (size_t)(at - text), "%s %p\n", plan->templates[i].path,
                       (const void *)plan->templates[i].file);
    return text;
}

void sw_template_cache_unref(struct sw_template_cache *cache)
{
    if (!cache || --cache->refs > 0)
        return;
    sw_template_set_free(cache->set);
    free(cache->signature);
    free(cache);
}

/* List the templates and parse them, unless the recipe has the same set parsed already. */
static int find_templates(struct sw_plan *plan, struct sw_err *err)
{
    size_t n = count_templates(plan->root);
    plan->templates = sw_arena_alloc(plan->arena, (n + 1) * sizeof *plan->templates);
    add_templates(plan, plan->root);
    qsort(plan->templates, plan->n_templates, sizeof *plan->templates, by_order);
    struct sw_recipe *recipe = (struct sw_recipe *)plan->recipe; /* only its cache changes */
    SW_AUTO_CHARS *signature = signature_of(plan);
    if (!recipe->templates || !sw_streq(recipe->templates->signature, signature)) {
        SW_AUTO(sw_template_set) *set = sw_template_set_new();
        for (size_t i = 0; i < plan->n_templates; i++) {
            const struct sw_plan_template *t = &plan->templates[i];
            int rc = sw_template_add(set, t->path, t->file->bytes, t->file->len, err);
            if (rc < 0)
                return rc;
        }
        sw_template_cache_unref(recipe->templates);
        recipe->templates = sw_zalloc(1, sizeof *recipe->templates);
        *recipe->templates = (struct sw_template_cache){ SW_TAKE(set), SW_TAKE(signature), 1 };
    }
    plan->parsed = recipe->templates;
    plan->parsed->refs++;
    return 0;
}

/* ---- the plan -----------------------------------------------------------------------------------
 */

bool sw_recipe_runs_on(const struct sw_recipe *recipe, const char *kube_version)
{
    const char *range = sw_json_str(recipe->root->meta, "", "kubeVersion", NULL);
    return !*range || sw_version_in_range(range, kube_version);
}

int sw_recipe_plan(const struct sw_recipe *recipe, const struct sw_values *values,
                   const struct sw_render_env *env, struct sw_plan **out, struct sw_err *err)
{
    static const struct sw_render_env defaults;
    env = env ? env : &defaults;
    SW_AUTO(sw_plan) *plan = sw_zalloc(1, sizeof *plan);
    plan->recipe = recipe;
    plan->arena = sw_arena_new();
    if (recipe->root->is_library)
        return sw_err_set(err, SW_INVALID, "%s is a library chart: it has nothing to apply",
                          recipe->root->origin);
    struct sw_value given = values ? sw_value_copy(plan->arena, sw_value_map(values->map), true)
                                   : sw_value_map(sw_map_new(plan->arena));
    int rc = sw_plan_charts_build(recipe, plan->arena, given, &plan->root, err);
    if (rc == 0)
        rc = sw_plan_chart_coalesce(plan->root, plan->arena, given.as.map, false, err);
    if (rc < 0)
        return rc;
    plan->values = given;
    const char *range = sw_json_str(recipe->root->meta, "", "kubeVersion", NULL);
    const char *version = env->kube_version ? env->kube_version : sw_recipe_kube_version;
    if (!sw_recipe_runs_on(recipe, version))
        rc = sw_err_set(err, SW_INVALID, "chart '%s' asks for Kubernetes %s, this is %s",
                        plan->root->path, range, version);
    if (rc == 0)
        rc = env->no_schema ? 0 : check_values(plan, env->facts, err);
    if (rc == 0)
        rc = find_templates(plan, err);
    if (rc == 0)
        rc = sw_plan_find_releases(plan, env, err);
    if (rc == 0)
        rc = sw_plan_name_states(plan, env, err);
    if (rc == 0)
        rc = sw_plan_build_graph(plan, env, err);
    if (rc == 0)
        *out = SW_TAKE(plan);
    return rc;
}

void sw_plan_free(struct sw_plan *plan)
{
    if (!plan)
        return;
    sw_template_cache_unref(plan->parsed);
    sw_arena_free(plan->arena);
    free(plan);
}

size_t sw_plan_n_states(const struct sw_plan *plan)
{
    return plan->n_states;
}

const struct sw_recipe_state *sw_plan_state(const struct sw_plan *plan, size_t i)
{
    return &plan->states[i];
}

int sw_plan_find_state(const struct sw_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->n_states; i++)
        if (sw_streq(plan->states[i].name, name))
            return (int)i;
    return -1;
}

struct json_object *sw_plan_values(const struct sw_plan *plan)
{
    return sw_value_to_json(plan->values);
}

const struct sw_plan_chart *sw_plan_chart_at(const struct sw_plan *plan, const char *path)
{
    const struct sw_plan_chart *at = plan->root, *next = at;
    while (next && !sw_streq(at->path, path)) {
        next = NULL;
        for (size_t i = 0; i < at->n_subcharts && !next; i++) {
            const char *sub = at->subcharts[i]->path;
            size_t len = strlen(sub);
            if (strncmp(path, sub, len) == 0 && (path[len] == '/' || !path[len]))
                next = at->subcharts[i];
        }
        at = next;
    }
    return at;
}

struct json_object *sw_plan_values_of(const struct sw_plan *plan, const char *chart)
{
    const struct sw_plan_chart *at = sw_plan_chart_at(plan, chart);
    if (!at)
        return NULL;
    SW_AUTO(sw_arena) *arena = sw_arena_new();
    struct sw_value values = sw_plan_chart_values(plan, at, arena, NULL);
    return sw_value_is_map(values) ? sw_value_to_json(values) : json_object_new_object();
}

bool sw_plan_state_mentions(const struct sw_plan *plan, size_t state, const char *word)
{
    for (size_t i = 0; i < plan->n_templates; i++) {
        const struct sw_plan_template *t = &plan->templates[i];
        if (t->state == state && memmem(t->file->bytes, t->file->len, word, strlen(word)))
            return true;
    }
    return false;
}
