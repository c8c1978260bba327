/* The SpecialResource that `run` makes of a chart's folder and the command line. */
#include "cli/recipe/resource.h"

#include "data/data.h"

#include <json-c/json.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[] = "/tmp/cli_resource_test.XXXXXX";
static char *recipe; /* dir/mod */

static void put(const char *name, const char *text)
{
    SW_AUTO_CHARS *path = sw_printf("%s/%s", recipe, name);
    SW_ERR(err);
    assert_int_equal(sw_file_write(path, text, strlen(text), &err), 0);
}

static void drop(const char *name)
{
    SW_AUTO_CHARS *path = sw_printf("%s/%s", recipe, name);
    (void)unlink(path);
}

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(dir))
        return -1;
    recipe = sw_printf("%s/mod", dir);
    SW_AUTO_CHARS *templates = sw_printf("%s/templates", recipe);
    if (mkdir(recipe, 0755) || mkdir(templates, 0755))
        return -1;
    put("Chart.yaml", "apiVersion: v2\nname: mod\nversion: 1.2.3\n");
    put("templates/0000-a.yaml", "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    static const char *const names[] = { "Chart.yaml",  "mod.yaml",
                                         "values.yaml", "templates/0000-a.yaml",
                                         "templates",   "" };
    for (size_t i = 0; i < SW_COUNT(names); i++) {
        SW_AUTO_CHARS *path = sw_printf("%s/%s", recipe, names[i]);
        (void)remove(path);
    }
    free(recipe);
    return rmdir(dir);
}

static struct json_object *made(const struct sw_resource_opts *opts)
{
    struct json_object *doc = NULL;
    SW_ERR(err);
    if (sw_resource_make(opts, &doc, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    return doc;
}

static void assert_refused(const struct sw_resource_opts *opts, int code, const char *want)
{
    struct json_object *doc = NULL;
    SW_ERR(err);
    int rc = sw_resource_make(opts, &doc, &err);
    assert_null(doc);
    if (!strstr(sw_err_text(&err), want))
        fail_msg("'%s' not in: %s", want, sw_err_text(&err));
    assert_int_equal(rc, code);
}

static void chart_alone_gives_a_resource_of_its_name(void **state)
{
    (void)state;
    char absolute[PATH_MAX];
    SW_AUTO_JSON *doc = made(&(struct sw_resource_opts){ .recipe = recipe });
    assert_string_equal(sw_obj_name(doc), "mod");
    assert_string_equal(sw_obj_kind(doc), "SpecialResource");
    assert_string_equal(sw_json_str(doc, "", "spec", "namespace", NULL), "mod");
    assert_string_equal(sw_json_str(doc, "", "spec", "chart", "name", NULL), "mod");
    assert_string_equal(sw_json_str(doc, "", "spec", "chart", "version", NULL), "1.2.3");
    SW_AUTO_CHARS *url = sw_printf("file://%s", realpath(recipe, absolute));
    assert_string_equal(sw_json_str(doc, "", "spec", "chart", "repository", "url", NULL), url);
}

static void resource_beside_the_chart_is_the_base(void **state)
{
    (void)state;
    put("mod.yaml",
        "kind: Namespace\nmetadata: {name: no}\n---\nkind: SpecialResource\n"
        "apiVersion: sro.openshift.io/v1beta1\nmetadata: {name: base}\nspec:\n"
        "  namespace: space\n  chart: {name: x, version: 9.9.9, repository: {name: r, url: "
        "cm://a/b}}\n"
        "  set: {a: 1, b: {c: 2}}\n  nodeSelector: {gpu: \"yes\"}\nstatus: {state: old}\n");
    SW_AUTO_JSON *doc = made(&(struct sw_resource_opts){ .recipe = recipe });
    assert_string_equal(sw_obj_name(doc), "base");
    assert_string_equal(sw_json_str(doc, "", "spec", "namespace", NULL), "space");
    assert_string_equal(sw_json_str(doc, "", "spec", "nodeSelector", "gpu", NULL), "yes");
    assert_string_equal(sw_json_str(doc, "", "spec", "chart", "repository", "name", NULL), "r");
    assert_true(sw_starts_with(sw_json_str(doc, "", "spec", "chart", "repository", "url", NULL),
                               "file:///"));
    assert_null(sw_json_get(doc, "status"));
    SW_AUTO_JSON *named = made(
        &(struct sw_resource_opts){ .recipe = recipe, .name = "other", .ns = "there" });
    assert_string_equal(sw_obj_name(named), "other");
    assert_string_equal(sw_json_str(named, "", "spec", "namespace", NULL), "there");
    drop("mod.yaml");
}

static void values_go_to_set_and_the_resource_in_them_to_spec(void **state)
{
    (void)state;
    put("mod.yaml", "kind: SpecialResource\nmetadata: {name: mod}\n"
                    "spec: {namespace: mod, set: {a: 1, b: {c: 2}}}\n");
    put("values.yaml", "a: 3\nkernelFullVersion: 4.18\nspecialresource:\n"
                       "  metadata: {name: ignored}\n  spec:\n    driverContainer: {x: w}\n"
                       "    dependencies: null\n    set: {z: 26}\n");
    SW_AUTO_CHARS *file = sw_printf("%s/values.yaml", recipe);
    const char *files[] = { file }, *set[] = { "b.d=4,e=x" };
    SW_AUTO_JSON *doc = made(&(struct sw_resource_opts){
        .recipe = recipe, .values = { .files = files, .n_files = 1, .set = set, .n_set = 1 } });
    struct json_object *values = sw_json_find(doc, "spec", "set", NULL);
    assert_int_equal(sw_json_int(values, 0, "a", NULL), 3);
    assert_int_equal(sw_json_int(values, 0, "b", "c", NULL), 2);
    assert_int_equal(sw_json_int(values, 0, "b", "d", NULL), 4);
    assert_int_equal(sw_json_int(values, 0, "z", NULL), 26);
    assert_string_equal(sw_json_str(values, "", "e", NULL), "x");
    assert_null(sw_json_get(values, "specialresource"));
    assert_string_equal(sw_json_str(doc, "", "spec", "driverContainer", "x", NULL), "w");
    assert_null(sw_json_find(doc, "spec", "dependencies", NULL));
    assert_string_equal(sw_obj_name(doc), "mod");
    drop("mod.yaml");
    drop("values.yaml");
}

static void bad_input_is_named(void **state)
{
    (void)state;
    SW_AUTO_CHARS *none = sw_printf("%s/none", dir);
    assert_refused(&(struct sw_resource_opts){ .recipe = none }, SW_NOTFOUND, none);
    const char *missing[] = { "/nonexistent.yaml" }, *odd[] = { "specialresource.spec=7" },
               *bad[] = { "a[" };
    assert_refused(&(struct sw_resource_opts){ .recipe = recipe,
                                               .values = { .files = missing, .n_files = 1 } },
                   SW_NOTFOUND, "/nonexistent.yaml");
    assert_refused(
        &(struct sw_resource_opts){ .recipe = recipe, .values = { .set = odd, .n_set = 1 } },
        SW_INVALID, "specialresource.spec of the values is not a map");
    assert_refused(
        &(struct sw_resource_opts){ .recipe = recipe, .values = { .set = bad, .n_set = 1 } },
        SW_INVALID, "a[");
    assert_refused(&(struct sw_resource_opts){ .recipe = recipe, .name = "Upper" }, SW_INVALID,
                   "name 'Upper'");
    put("mod.yaml", "kind: SpecialResource\n  bad: [\n");
    assert_refused(&(struct sw_resource_opts){ .recipe = recipe }, SW_INVALID, "mod.yaml:2");
    drop("mod.yaml");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chart_alone_gives_a_resource_of_its_name),
        cmocka_unit_test(resource_beside_the_chart_is_the_base),
        cmocka_unit_test(values_go_to_set_and_the_resource_in_them_to_spec),
        cmocka_unit_test(bad_input_is_named),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
