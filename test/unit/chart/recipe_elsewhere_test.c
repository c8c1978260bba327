/* Dependencies that lie elsewhere: who is asked for what, what Chart.lock decides, and bundles. */
#include "recipe_util.h"

#include "chart/recipe/load/files.h"

/* What was asked for, one line each; what is given is a chart of the name and version asked for. */
struct giver {
    char log[2048];
    const char *version; /* given whatever was asked; NULL: as asked */
    const char *inside;  /* more of Chart.yaml */
    int code;
    bool allow_stale_lock; /* of the options */
};

static int give(void *arg, const struct sw_recipe_ask *ask, struct sw_recipe_got *got,
                struct sw_err *err)
{
    struct giver *g = arg;
    size_t at = strlen(g->log);
    (void)snprintf(g->log + at, sizeof g->log - at, "%s %s %s %s\n", ask->url,
                   ask->name ? ask->name : "-", ask->version ? ask->version : "-",
                   ask->base ? ask->base : "-");
    if (g->code)
        return sw_err_set(err, g->code, "%s: no", ask->url);
    const char *name = ask->name ? ask->name : "top";
    got->origin = sw_printf("got:%s", name);
    got->files = sw_zalloc(2, sizeof *got->files);
    char *text = sw_printf("apiVersion: v2\nname: %s\nversion: %s\n%s", name,
                           g->version ? g->version : ask->version, g->inside ? g->inside : "");
    got->files[got->n_files++] = (struct sw_recipe_file){ sw_strdup("Chart.yaml"), text,
                                                          strlen(text) };
    text = sw_printf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: of-%s}\n", name);
    got->files[got->n_files++] = (struct sw_recipe_file){ sw_strdup("templates/a.yaml"), text,
                                                          strlen(text) };
    return 0;
}

static int open_with(struct giver *g, const struct sw_recipe_file *files, size_t n,
                     struct sw_recipe **out, struct sw_err *err)
{
    struct sw_recipe_file list[8];
    for (size_t i = 0; i < n; i++) {
        list[i] = files[i];
        list[i].len = strlen(files[i].bytes);
    }
    const struct sw_recipe_opts opts = { .get = give,
                                         .get_arg = g,
                                         .allow_stale_lock = g->allow_stale_lock };
    return sw_recipe_from_files("top", list, n, &opts, out, err);
}

#define DEP                                                                                        \
    "apiVersion: v2\nname: top\nversion: 1.0.0\ndependencies:\n"                                   \
    "- {name: dep, version: '>=1.0.0 <2', repository: 'https://charts.example/a&b', "              \
    "condition: dep.on, tags: [x, z], enabled: true, "                                             \
    "import-values: [data, {parent: b, child: a}], alias: other}\n"
#define LOCK(digest, version)                                                                      \
    "dependencies:\n- name: dep\n  repository: https://charts.example/a&b\n  version: " version    \
    "\ndigest: sha256:" digest "\ngenerated: \"2026-01-01T00:00:00Z\"\n"
/* by Go's rules: the list of what is asked, the list of what is locked */
#define DIGEST "a41fdcbe5f912b5ded6a3aa378e80d357340f269dc2b5af6f693b0761cf5d251"

static void expect(struct giver *g, const struct sw_recipe_file *files, size_t n, const char *log)
{
    SW_AUTO(sw_recipe) *r = NULL;
    SW_ERR(err);
    if (open_with(g, files, n, &r, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    assert_string_equal(g->log, log);
}

static void expect_error(struct giver *g, const struct sw_recipe_file *files, size_t n, int code,
                         const char *words)
{
    SW_AUTO(sw_recipe) *r = NULL;
    SW_ERR(err);
    assert_int_equal(open_with(g, files, n, &r, &err), code);
    assert_null(r);
    if (!strstr(sw_err_text(&err), words))
        fail_msg("'%s' does not contain '%s'", sw_err_text(&err), words);
}

static void asks_for_what_is_missing(void **state SW_UNUSED)
{
    const struct sw_recipe_file files[] = { { "Chart.yaml", DEP, 0 } };
    struct giver g = { .version = "1.9.9" };
    expect(&g, files, 1, "https://charts.example/a&b dep >=1.0.0 <2 -\n");
}

static void asks_for_nothing_that_is_in_charts(void **state SW_UNUSED)
{
    const struct sw_recipe_file files[] = {
        { "Chart.yaml", DEP, 0 },
        { "charts/dep/Chart.yaml", "apiVersion: v2\nname: dep\nversion: 1.2.3\n", 0 },
    };
    struct giver g = { 0 };
    expect(&g, files, 2, "");
}

static void takes_the_locked_version(void **state SW_UNUSED)
{
    const struct sw_recipe_file files[] = { { "Chart.yaml", DEP, 0 },
                                            { "Chart.lock", LOCK(DIGEST, "1.4.0"), 0 } };
    struct giver g = { 0 };
    expect(&g, files, 2, "https://charts.example/a&b dep 1.4.0 -\n");
}

static void refuses_a_lock_of_other_dependencies(void **state SW_UNUSED)
{
    const struct sw_recipe_file files[] = { { "Chart.yaml", DEP, 0 },
                                            { "Chart.lock", LOCK(DIGEST, "1.4.1"), 0 } };
    struct giver g = { 0 };
    expect_error(&g, files, 2, SW_INVALID, "top/Chart.lock: its digest is of other dependencies");
    assert_string_equal(g.log, "");
}

#define STALE                                                                                      \
    "dependencies:\n- {name: raised, version: 1.9.0, repository: https://a}\n"                     \
    "- {name: moved, version: 1.2.0, repository: https://a}\n"                                     \
    "- {name: kept, version: 1.2.0, repository: https://a}\ndigest: sha256:00\n"

static void of_a_stale_lock_counts_what_is_still_asked_for(void **state SW_UNUSED)
{
    const struct sw_recipe_file files[] = {
        { "Chart.yaml",
          "apiVersion: v2\nname: top\nversion: 1.0.0\ndependencies:\n"
          "- {name: kept, version: ^1, repository: https://a}\n"
          "- {name: moved, version: ^1, repository: https://b}\n",
          0 },
        { "Chart.lock", STALE, 0 },
    };
    struct giver g = { .allow_stale_lock = true, .version = "1.2.0" };
    expect(&g, files, 2, "https://a kept 1.2.0 -\nhttps://b moved ^1 -\n");
}

static void of_a_stale_lock_nothing_else_counts(void **state SW_UNUSED)
{
    const struct sw_recipe_file files[] = {
        { "Chart.yaml",
          "apiVersion: v2\nname: top\nversion: 1.0.0\ndependencies:\n"
          "- {name: raised, version: 2.0.0, repository: https://a}\n"
          "- {name: added, version: 3.0.0, repository: https://a}\n",
          0 },
        { "Chart.lock", STALE, 0 },
    };
    struct giver g = { .allow_stale_lock = true };
    expect(&g, files, 2, "https://a raised 2.0.0 -\nhttps://a added 3.0.0 -\n");
}

static void refuses_a_lock_that_is_none(void **state SW_UNUSED)
{
    static const char *const bad[] = { "[]", "dependencies: 1\n", "dependencies: [{version: 1}]\n",
                                       "a: [", "\xff" };
    for (size_t i = 0; i < SW_COUNT(bad); i++) {
        const struct sw_recipe_file files[] = { { "Chart.yaml", DEP, 0 },
                                                { "Chart.lock", bad[i], 0 } };
        struct giver g = { 0 };
        expect_error(&g, files, 2, SW_INVALID, "top/Chart.lock");
    }
}

static void knows_what_helm_2_hashed(void **state SW_UNUSED)
{
    const struct sw_recipe_file files[] = {
        { "Chart.yaml", "apiVersion: v1\nname: top\nversion: 1.0.0\n", 0 },
        { "requirements.yaml",
          "dependencies:\n- {name: dep, version: 1.x, repository: https://charts.example}\n", 0 },
        { "requirements.lock",
          "dependencies:\n- {name: dep, version: 1.8.0, repository: https://charts.example}\n"
          "digest: sha256:31c1ec5898edc3a9d352c4759f05a69ab6c8ec081198016a395672eabe3eda25\n",
          0 },
    };
    struct giver g = { 0 };
    expect(&g, files, 3, "https://charts.example dep 1.8.0 -\n");
}

static void refuses_another_version_than_locked(void **state SW_UNUSED)
{
    const struct sw_recipe_file files[] = { { "Chart.yaml", DEP, 0 },
                                            { "Chart.lock", LOCK(DIGEST, "1.4.0"), 0 } };
    struct giver g = { .version = "1.5.0" };
    expect_error(&g, files, 2, SW_INVALID, "version '1.4.0' is asked for, got:dep is 1.5.0");
}

static void says_where_what_could_not_be_got_was_asked_for(void **state SW_UNUSED)
{
    const struct sw_recipe_file files[] = { { "Chart.yaml", DEP, 0 } };
    struct giver g = { .code = SW_UNAVAILABLE };
    expect_error(&g, files, 1, SW_UNAVAILABLE,
                 "top/Chart.yaml: dependencies[0] 'dep': https://charts.example/a&b: no");
}

static void refuses_charts_that_ask_for_each_other(void **state SW_UNUSED)
{
    const struct sw_recipe_file files[] = { { "Chart.yaml", DEP, 0 } };
    struct giver g = { .version = "1.0.0",
                       .inside = "dependencies: [{name: dep, version: '*', repository: x://y}]\n" };
    expect_error(&g, files, 1, SW_INVALID, "charts depend on each other: dep -> dep");
}

static void gets_the_recipe_itself_too(void **state SW_UNUSED)
{
    struct giver g = { .version = "3.0.0",
                       .inside = "dependencies: [{name: b, version: 1.0.0, "
                                 "repository: file://../b}]\n" };
    SW_AUTO(sw_recipe) *r = NULL;
    SW_ERR(err);
    struct sw_recipe_opts opts = { .get = give, .get_arg = &g, .version = "^3" };
    assert_int_equal(sw_recipe_open("git+https://host/x", &opts, &r, &err), SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), "charts depend on each other: b -> b"));
    /* relative to where its chart came from */
    assert_string_equal(g.log, "git+https://host/x - ^3 -\nfile://../b b 1.0.0 got:top\n"
                               "file://../b b 1.0.0 got:b\n");
}

static void two_versions_of_one_chart(void **state SW_UNUSED)
{
    const struct sw_recipe_file files[] = {
        { "Chart.yaml",
          "apiVersion: v2\nname: top\nversion: 1.0.0\ndependencies:\n"
          "- {name: dep, alias: one, version: 1.0.0, repository: https://a}\n"
          "- {name: dep, alias: two, version: 2.0.0, repository: https://a}\n",
          0 },
    };
    struct giver g = { 0 };
    SW_AUTO(sw_recipe) *r = NULL;
    SW_ERR(err);
    assert_int_equal(open_with(&g, files, 1, &r, &err), 0);
    assert_string_equal(g.log, "https://a dep 1.0.0 -\nhttps://a dep 2.0.0 -\n");
    SW_AUTO_CHARS *bytes = NULL; /* both survive as a bundle */
    size_t len;
    SW_AUTO(sw_recipe) *again = NULL;
    assert_int_equal(sw_recipe_to_bundle(r, &bytes, &len, &err), 0);
    if (sw_recipe_from_bundle("b", bytes, len, NULL, &again, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL), *plan2 = plan_or_fail(again, NULL);
    SW_AUTO_CHARS *text = render_text(plan, NULL, SW_ALL_STATES);
    SW_AUTO_CHARS *text2 = render_text(plan2, NULL, SW_ALL_STATES);
    assert_string_equal(text, text2);
}

/* ---- bundles ----------------------------------------------------------------------------------
 */

static void a_bundle_is_the_recipe(void **state SW_UNUSED)
{
    const struct sw_recipe_file files[] = { { "Chart.yaml", DEP, 0 },
                                            CONFIG_MAP("templates/b.yaml", "mine") };
    struct giver g = { .version = "1.0.0" };
    SW_AUTO(sw_recipe) *r = NULL, *again = NULL;
    SW_AUTO_CHARS *bytes = NULL, *bytes2 = NULL;
    size_t len, len2;
    SW_ERR(err);
    assert_int_equal(open_with(&g, files, 2, &r, &err), 0);
    assert_int_equal(sw_recipe_to_bundle(r, &bytes, &len, &err), 0);
    if (sw_recipe_from_bundle("b", bytes, len, NULL, &again, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL), *plan2 = plan_or_fail(again, NULL);
    SW_AUTO_CHARS *text = render_text(plan, NULL, SW_ALL_STATES);
    SW_AUTO_CHARS *text2 = render_text(plan2, NULL, SW_ALL_STATES);
    assert_non_null(strstr(text, "of-dep"));
    assert_string_equal(text, text2);
    assert_int_equal(sw_recipe_to_bundle(again, &bytes2, &len2, &err), 0);
    assert_int_equal(len, len2);
    assert_memory_equal(bytes, bytes2, len);
}

static void a_damaged_bundle_is_refused(void **state SW_UNUSED)
{
#define MAGIC "slipway bundle 1\n"
    static const char *const bad[] = {
        "",
        "slipway bundle 2\n",
        MAGIC "3 99999999999999999999\nabc",
        MAGIC "3 1\nabcX",
        MAGIC "3 2\nabcX\n",
        MAGIC "3 1\n../X\n",
        MAGIC "4 1\n../aX\n",
        MAGIC "2 1\n/aX\n",
        MAGIC "4 1\na//bX\n",
        MAGIC "0 1\nX\n",
        MAGIC "-1 1\n",
        MAGIC "1 1\naX\n1 1\naX\n",
    };
    for (size_t i = 0; i < SW_COUNT(bad); i++) {
        SW_AUTO(sw_recipe) *r = NULL;
        SW_ERR(err);
        if (sw_recipe_from_bundle("b", bad[i], strlen(bad[i]), NULL, &r, &err) != SW_INVALID)
            fail_msg("%zu: '%s' was read", i, bad[i]);
        assert_non_null(strstr(sw_err_text(&err), "b: "));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asks_for_what_is_missing),
        cmocka_unit_test(asks_for_nothing_that_is_in_charts),
        cmocka_unit_test(takes_the_locked_version),
        cmocka_unit_test(refuses_a_lock_of_other_dependencies),
        cmocka_unit_test(of_a_stale_lock_counts_what_is_still_asked_for),
        cmocka_unit_test(of_a_stale_lock_nothing_else_counts),
        cmocka_unit_test(refuses_a_lock_that_is_none),
        cmocka_unit_test(knows_what_helm_2_hashed),
        cmocka_unit_test(refuses_another_version_than_locked),
        cmocka_unit_test(says_where_what_could_not_be_got_was_asked_for),
        cmocka_unit_test(refuses_charts_that_ask_for_each_other),
        cmocka_unit_test(gets_the_recipe_itself_too),
        cmocka_unit_test(two_versions_of_one_chart),
        cmocka_unit_test(a_bundle_is_the_recipe),
        cmocka_unit_test(a_damaged_bundle_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
