#pragma once
/* What the tests of the recipe module share: recipes written down as C strings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "chart/recipe/recipe.h"
#include "data/json/json.h"
#include "data/json/path.h"

#define FILES_MAX 32

/** Files end with a NULL name; lengths are filled in. */
static inline int open_files(const struct sw_recipe_file *files, struct sw_recipe **out,
                             struct sw_err *err)
{
    struct sw_recipe_file list[FILES_MAX];
    size_t n = 0;
    for (; files[n].name; n++) {
        assert_true(n < FILES_MAX);
        list[n] = files[n];
        list[n].len = files[n].len ? files[n].len : strlen(files[n].bytes);
    }
    return sw_recipe_from_files("test", list, n, NULL, out, err);
}

#define RECIPE(name, ...)                                                                          \
    SW_AUTO(sw_recipe) *name = open_or_fail((const struct sw_recipe_file[]){ __VA_ARGS__, { 0 } })

static inline struct sw_recipe *open_or_fail(const struct sw_recipe_file *files)
{
    struct sw_recipe *recipe = NULL;
    SW_ERR(err);
    if (open_files(files, &recipe, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    return recipe;
}

/** A plan for values given as YAML; NULL: none. */
static inline struct sw_plan *plan_or_fail(const struct sw_recipe *recipe, const char *values)
{
    SW_AUTO(sw_values) *v = sw_values_new();
    struct sw_plan *plan = NULL;
    SW_ERR(err);
    if ((values && sw_values_add_yaml(v, "user.yaml", values, strlen(values), &err) < 0) ||
        sw_recipe_plan(recipe, v, NULL, &plan, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    return plan;
}

/** Expect that planning fails with words that contain @words. */
SW_UNUSED static void expect_plan_error(const struct sw_recipe *recipe, const char *values,
                                        const char *words)
{
    SW_AUTO(sw_values) *v = sw_values_new();
    SW_AUTO(sw_plan) *plan = NULL;
    SW_ERR(err);
    assert_int_equal(values ? sw_values_add_yaml(v, "user.yaml", values, strlen(values), &err) : 0,
                     0);
    assert_int_equal(sw_recipe_plan(recipe, v, NULL, &plan, &err), SW_INVALID);
    if (!strstr(sw_err_text(&err), words))
        fail_msg("'%s' does not contain '%s'", sw_err_text(&err), words);
}

/** Expect that loading fails with words that contain @words. */
SW_UNUSED static void expect_load_error(const struct sw_recipe_file *files, const char *words)
{
    SW_AUTO(sw_recipe) *recipe = NULL;
    SW_ERR(err);
    assert_int_equal(open_files(files, &recipe, &err), SW_INVALID);
    assert_null(recipe);
    if (!strstr(sw_err_text(&err), words))
        fail_msg("'%s' does not contain '%s'", sw_err_text(&err), words);
}

/** The plan's values as sorted JSON equal @json. */
SW_UNUSED static void expect_values(const struct sw_plan *plan, const char *json)
{
    SW_AUTO_JSON *values = sw_plan_values(plan);
    SW_AUTO_CHARS *text = sw_json_text(values, SW_JSON_SORTED, NULL);
    assert_string_equal(text, json);
}

/** "name <- need need; name" for all states, in order. */
SW_UNUSED static char *graph_text(const struct sw_plan *plan)
{
    char *text = sw_strdup("");
    for (size_t i = 0; i < sw_plan_n_states(plan); i++) {
        const struct sw_recipe_state *s = sw_plan_state(plan, i);
        char *more = sw_printf("%s%s%s", text, i ? "; " : "", s->name);
        free(text);
        text = more;
        for (size_t k = 0; k < s->n_needs; k++) {
            more = sw_printf("%s%s%s", text, k ? " " : " <- ",
                             sw_plan_state(plan, s->needs[k])->name);
            free(text);
            text = more;
        }
    }
    return text;
}

SW_UNUSED static void expect_graph(const struct sw_recipe *recipe, const char *values,
                                   const char *want)
{
    SW_AUTO(sw_plan) *plan = plan_or_fail(recipe, values);
    SW_AUTO_CHARS *text = graph_text(plan);
    assert_string_equal(text, want);
}

/** All documents rendered, joined by "\n---\n". */
SW_UNUSED static char *render_text(const struct sw_plan *plan, const struct sw_render_env *env,
                                   size_t state)
{
    SW_AUTO(sw_rendered) *r = NULL;
    SW_ERR(err);
    if (sw_recipe_render(plan, env, state, &r, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    char *text = sw_strdup("");
    for (size_t i = 0; i < sw_rendered_n_docs(r); i++) {
        const struct sw_rendered_doc *d = sw_rendered_doc(r, i);
        char *more = sw_printf("%s%s%.*s", text, i ? "\n---\n" : "", (int)d->len, d->text);
        free(text);
        text = more;
    }
    return text;
}

#define CHART(name)                                                                                \
    {                                                                                              \
        "Chart.yaml", "apiVersion: v2\nname: " name "\nversion: 1.2.3\n", 0                        \
    }
#define SUBCHART(dir, name)                                                                        \
    {                                                                                              \
        "charts/" dir "/Chart.yaml", "apiVersion: v2\nname: " name "\nversion: 1.0.0\n", 0         \
    }
#define CONFIG_MAP(file, name)                                                                     \
    {                                                                                              \
        file, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " name "\n", 0                  \
    }
