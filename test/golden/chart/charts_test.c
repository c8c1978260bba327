/* Whole charts against what Helm 3.7.1 rendered, byte for byte: those in test/golden/charts, and
 * those in the folder that SW_SHARED names where there is one. Each has goldens/<variant>/ with
 * values.yaml and expected/<path>. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "chart/recipe/recipe.h"

enum { MAX_CASES = 200, MAX_TEXT = 64 << 20 };

struct golden {
    char *name;            /* "chart/variant" */
    char *chart, *variant; /* paths */
};

static struct golden cases[MAX_CASES];
static struct CMUnitTest tests[MAX_CASES];
static size_t n_cases;

static int is_name(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

/* Call @fn for each entry of @dir, in order. A folder that is not there has none. */
static void each_entry(const char *dir, void (*fn)(const char *path, const char *name, void *arg),
                       void *arg)
{
    struct dirent **names = NULL;
    int n = scandir(dir, &names, is_name, alphasort);
    for (int i = 0; i < n; i++) {
        SW_AUTO_CHARS *path = sw_printf("%s/%s", dir, names[i]->d_name);
        fn(path, names[i]->d_name, arg);
        free(names[i]);
    }
    free(names);
}

/* ---- one case -----------------------------------------------------------------------------------
 */

struct wanted {
    const struct sw_rendered *rendered;
    size_t root_len; /* of the path of expected/ */
    size_t n;
};

static const struct sw_rendered_file *find(const struct sw_rendered *r, const char *path)
{
    for (size_t i = 0; i < sw_rendered_n_files(r); i++)
        if (sw_streq(sw_rendered_file(r, i)->path, path))
            return sw_rendered_file(r, i);
    return NULL;
}

/* Where two texts part, for the message. */
static void fail_at(const char *path, const char *got, size_t got_len, const char *want, size_t len)
{
    size_t i = 0, line = 1, start = 0;
    for (; i < got_len && i < len && got[i] == want[i]; i++)
        if (got[i] == '\n') {
            line++;
            start = i + 1;
        }
    fail_msg("%s:%zu: got '%.*s', want '%.*s'", path, line, (int)strcspn(got + start, "\n"),
             got + start, (int)strcspn(want + start, "\n"), want + start);
}

static void compare(const char *path, SW_UNUSED const char *name, void *arg)
{
    struct wanted *w = arg;
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    if (S_ISDIR(st.st_mode)) {
        each_entry(path, compare, w);
        return;
    }
    SW_AUTO_CHARS *want = NULL;
    size_t len;
    assert_int_equal(sw_file_read(path, MAX_TEXT, &want, &len, NULL), 0);
    const struct sw_rendered_file *got = find(w->rendered, path + w->root_len + 1);
    if (!got)
        fail_msg("%s: not rendered", path + w->root_len + 1);
    if (got->len != len || memcmp(got->text, want, len) != 0) {
        SW_AUTO_CHARS *text = sw_strndup(got->text, got->len);
        fail_at(got->path, text, got->len, want, len);
    }
    w->n++;
}

/* The folder's name: what the charts were rendered under. */
static const char *base_of(const char *path)
{
    return strrchr(path, '/') + 1;
}

static void renders_as_helm(void **state)
{
    const struct golden *g = *state;
    SW_AUTO_CHARS *values_path = sw_printf("%s/values.yaml", g->variant);
    SW_AUTO_CHARS *expected = sw_printf("%s/expected", g->variant);
    SW_AUTO(sw_values) *values = sw_values_new();
    SW_AUTO(sw_recipe) *recipe = NULL;
    SW_AUTO(sw_plan) *plan = NULL;
    SW_AUTO(sw_rendered) *rendered = NULL;
    SW_ERR(err);
    struct sw_render_env env = { .release = base_of(g->chart),
                                 .namespace = base_of(g->chart),
                                 .kube_version = "v1.29.0",
                                 .no_crds = true };
    if (sw_values_add_file(values, values_path, &err) < 0 ||
        sw_recipe_open(g->chart, NULL, &recipe, &err) < 0 ||
        sw_recipe_plan(recipe, values, &env, &plan, &err) < 0 ||
        sw_recipe_render_files(plan, &env, SW_ALL_STATES, &rendered, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    struct wanted w = { .rendered = rendered, .root_len = strlen(expected) };
    each_entry(expected, compare, &w);
    assert_int_equal(w.n, sw_rendered_n_files(rendered));

    /* Once more, state by state: each template gives the same by itself. */
    for (size_t i = 0; i < sw_plan_n_states(plan); i++) {
        sw_rendered_free(SW_TAKE(rendered));
        if (sw_recipe_render_files(plan, &env, i, &rendered, &err) < 0)
            fail_msg("%s", sw_err_text(&err));
        for (size_t f = 0; f < sw_rendered_n_files(rendered); f++) {
            SW_AUTO_CHARS *path = sw_printf("%s/%s", expected, sw_rendered_file(rendered, f)->path);
            w.rendered = rendered;
            compare(path, NULL, &w);
        }
    }
}

/* ---- all cases ----------------------------------------------------------------------------------
 */

static void add_variant(const char *path, const char *name, void *arg)
{
    const char *chart = arg;
    assert_true(n_cases < MAX_CASES);
    struct golden *g = &cases[n_cases];
    *g = (struct golden){ sw_printf("%s/%s", base_of(chart), name), sw_strdup(chart),
                          sw_strdup(path) };
    tests[n_cases++] =
        (struct CMUnitTest){ .name = g->name, .test_func = renders_as_helm, .initial_state = g };
}

static void add_chart(const char *path, SW_UNUSED const char *name, SW_UNUSED void *arg)
{
    SW_AUTO_CHARS *goldens = sw_printf("%s/goldens", path);
    each_entry(goldens, add_variant, (void *)path);
}

int main(void)
{
    const char *shared = getenv("SW_SHARED");
    each_entry(SW_SOURCE_DIR "/test/golden/charts", add_chart, NULL);
    SW_AUTO_CHARS *folder = sw_printf("%s/charts", shared ? shared : "");
    if (shared && *shared)
        each_entry(folder, add_chart, NULL);
    int rc = _cmocka_run_group_tests("charts", tests, n_cases, NULL, NULL);
    for (size_t i = 0; i < n_cases; i++) {
        free(cases[i].name);
        free(cases[i].chart);
        free(cases[i].variant);
    }
    return rc;
}
