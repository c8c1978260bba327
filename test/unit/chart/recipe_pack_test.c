/* A recipe as a package: what is in it, that it loads again, that its bytes are always the same. */
#include "recipe_util.h"

#include <sys/stat.h>

#include "chart/recipe/package/pack.h"

static void put(const char *dir, const char *name, const char *text)
{
    SW_AUTO_CHARS *path = sw_printf("%s/%s", dir, name);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0777); /* mostly there */
        *slash = '/';
    }
    SW_ERR(err);
    if (sw_file_write(path, text, strlen(text), &err) < 0)
        fail_msg("%s", sw_err_text(&err));
}

static char *names_of(const struct sw_recipe *recipe)
{
    struct sw_files files = sw_files_init(NULL);
    SW_ERR(err);
    if (sw_recipe_list_files(recipe, &files, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    char *text = sw_strdup("");
    for (size_t i = 0; i < files.n; i++) {
        char *more = sw_printf("%s%s%s", text, i ? " " : "", files.items[i].name);
        free(text);
        text = more;
    }
    sw_files_done(&files);
    return text;
}

static struct sw_recipe *repack(const struct sw_recipe *recipe, char **bytes, size_t *len)
{
    struct sw_recipe *again = NULL;
    SW_ERR(err);
    if (sw_recipe_pack(recipe, bytes, len, &err) < 0 ||
        sw_recipe_from_archive("packed", *bytes, *len, NULL, &again, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    return again;
}

static void expect_equal_render(const struct sw_recipe *a, const struct sw_recipe *b)
{
    SW_AUTO(sw_plan) *plan_a = plan_or_fail(a, NULL);
    SW_AUTO(sw_plan) *plan_b = plan_or_fail(b, NULL);
    SW_AUTO_CHARS *text_a = render_text(plan_a, NULL, SW_ALL_STATES);
    SW_AUTO_CHARS *text_b = render_text(plan_b, NULL, SW_ALL_STATES);
    assert_true(strlen(text_a) > 0);
    assert_string_equal(text_a, text_b);
}

static void loads_again_and_renders_the_same(void **state SW_UNUSED)
{
    RECIPE(r, CHART("top"), { "values.yaml", "a: 1\n", 0 }, SUBCHART("sub", "sub"),
           CONFIG_MAP("charts/sub/templates/0000-b.yaml", "b"),
           { "templates/0000-a.yaml",
             "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n"
             "data: {x: '{{ .Values.a }}{{ .Files.Get \"t\xC3\xA9.txt\" }}'}\n",
             0 },
           { "t\xC3\xA9.txt", "text", 0 });
    SW_AUTO_CHARS *bytes = NULL;
    size_t len;
    SW_AUTO(sw_recipe) *again = repack(r, &bytes, &len);
    expect_equal_render(r, again);
    SW_AUTO_CHARS *name = sw_recipe_archive_name(again);
    assert_string_equal(name, "top-1.2.3.tgz");
}

static void the_bytes_are_always_the_same(void **state SW_UNUSED)
{
    RECIPE(r, CHART("top"), CONFIG_MAP("templates/a.yaml", "a"));
    SW_AUTO_CHARS *first = NULL, *second = NULL, *third = NULL;
    size_t n_first, n_second, n_third;
    SW_AUTO(sw_recipe) *again = repack(r, &first, &n_first);
    SW_AUTO(sw_recipe) *once_more = repack(again, &second, &n_second);
    assert_int_equal(n_first, n_second);
    assert_memory_equal(first, second, n_first);
    setenv("SOURCE_DATE_EPOCH", "1700000000", 1);
    SW_AUTO(sw_recipe) *later = repack(r, &third, &n_third);
    unsetenv("SOURCE_DATE_EPOCH");
    assert_true(n_third != n_first || memcmp(first, third, n_first) != 0);
}

static void files_come_in_helms_order(void **state SW_UNUSED)
{
    RECIPE(r, CHART("top"), { "A.txt", "a", 0 }, { "values.schema.json", "{}", 0 },
           { "values.yaml", "", 0 }, CONFIG_MAP("templates/a.yaml", "a"),
           { "charts/sub/A.txt", "a", 0 }, SUBCHART("sub", "sub"), { "crds/c.yaml", "", 0 });
    SW_AUTO_CHARS *names = names_of(r);
    assert_string_equal(names, "Chart.yaml values.yaml values.schema.json templates/a.yaml A.txt "
                               "crds/c.yaml charts/sub/Chart.yaml charts/sub/A.txt");
}

static void dependencies_elsewhere_are_put_into_charts(void **state SW_UNUSED)
{
    char dir[] = "/tmp/recipe_pack_test.XXXXXX";
    assert_non_null(mkdtemp(dir));
    put(dir, "top/Chart.yaml",
        "apiVersion: v2\nname: top\nversion: 1.0.0\ndependencies:\n"
        "- {name: dep, version: 1.0.0, repository: 'file://../other'}\n");
    put(dir, "top/.helmignore", "secret*\n");
    put(dir, "top/secret.txt", "not to be seen");
    put(dir, "other/Chart.yaml",
        "apiVersion: v2\nname: dep\nversion: 1.0.0\ndependencies:\n"
        "- {name: deep, version: 1.0.0, repository: 'file://../deep'}\n");
    put(dir, "other/templates/0000-b.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n");
    put(dir, "deep/Chart.yaml", "apiVersion: v2\nname: deep\nversion: 1.0.0\n");
    put(dir, "deep/templates/c.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n");
    SW_AUTO_CHARS *top = sw_printf("%s/top", dir);
    SW_AUTO(sw_recipe) *r = NULL;
    SW_ERR(err);
    if (sw_recipe_open(top, NULL, &r, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    SW_AUTO_CHARS *names = names_of(r);
    SW_AUTO_CHARS *bytes = NULL;
    size_t len;
    SW_AUTO(sw_recipe) *again = repack(r, &bytes, &len);
    expect_equal_render(r, again);
    SW_AUTO_CHARS *clean = sw_printf("rm -r %s", dir);
    assert_int_equal(system(clean), 0);
    assert_string_equal(names, "Chart.yaml .helmignore charts/dep/Chart.yaml "
                               "charts/dep/templates/0000-b.yaml charts/dep/charts/deep/Chart.yaml "
                               "charts/dep/charts/deep/templates/c.yaml");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_again_and_renders_the_same),
        cmocka_unit_test(the_bytes_are_always_the_same),
        cmocka_unit_test(files_come_in_helms_order),
        cmocka_unit_test(dependencies_elsewhere_are_put_into_charts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
