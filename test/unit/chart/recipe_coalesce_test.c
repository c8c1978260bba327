/* Values of a chart and its subcharts, one over the other, and which subcharts take part. Where
 * Helm's versions differ, 3.21 is followed. */
#include "recipe_util.h"

static void expect_coalesced(const struct sw_recipe *recipe, const char *user, const char *json)
{
    SW_AUTO(sw_plan) *plan = plan_or_fail(recipe, user);
    expect_values(plan, json);
}

#define TOP(deps)                                                                                  \
    {                                                                                              \
        "Chart.yaml", "apiVersion: v2\nname: top\nversion: 1.0.0\n" deps, 0                        \
    }
#define VALUES(text)                                                                               \
    {                                                                                              \
        "values.yaml", text, 0                                                                     \
    }
#define SUB_VALUES(name, text)                                                                     \
    SUBCHART(name, name),                                                                          \
    {                                                                                              \
        "charts/" name "/values.yaml", text, 0                                                     \
    }

/* ---- one chart ----------------------------------------------------------------------------------
 */

static void user_values_win_and_maps_are_merged(SW_UNUSED void **state)
{
    RECIPE(r, TOP(""), VALUES("a: 1\nb: {x: 1, v: 2}\nl: [1, 2]\n"));
    expect_coalesced(r, "a: 9\nb: {v: 8, z: 7}\nl: [3]\n",
                     "{\"a\":9,\"b\":{\"v\":8,\"x\":1,\"z\":7},\"l\":[3]}");
    expect_coalesced(r, NULL, "{\"a\":1,\"b\":{\"v\":2,\"x\":1},\"l\":[1,2]}");
}

static void null_deletes_a_default(SW_UNUSED void **state)
{
    RECIPE(r, TOP(""), VALUES("a: 1\nb: {x: 1, v: 2}\n"));
    expect_coalesced(r, "a: null\nb: {x: null}\n", "{\"b\":{\"v\":2}}");
}

static void a_null_without_a_default_stays(SW_UNUSED void **state)
{
    RECIPE(r, TOP(""), VALUES("m: null\n"));
    expect_coalesced(r, "q: null\n", "{\"m\":null,\"q\":null}");
}

static void a_table_and_a_scalar_do_not_mix(SW_UNUSED void **state)
{
    RECIPE(r, TOP(""), VALUES("a: {x: 1}\nb: 2\n"));
    expect_coalesced(r, "a: 5\nb: {v: 1}\n", "{\"a\":5,\"b\":{\"v\":1}}");
}

/* ---- subcharts ----------------------------------------------------------------------------------
 */

static void a_parents_values_win_over_a_subcharts(SW_UNUSED void **state)
{
    RECIPE(r, TOP(""), VALUES("sub: {a: parent}\n"), SUB_VALUES("sub", "a: sub\nb: sub\nc: sub\n"));
    expect_coalesced(r, "sub: {b: user}\n",
                     "{\"sub\":{\"a\":\"parent\",\"b\":\"user\",\"c\":\"sub\",\"global\":{}}}");
}

static void globals_reach_down(SW_UNUSED void **state)
{
    RECIPE(r, TOP(""), VALUES("global: {a: top, t: {x: 1}}\n"),
           SUB_VALUES("sub", "global: {a: sub, b: sub, t: {v: 2}}\n"));
    expect_coalesced(r, "global: {c: user}\n",
                     "{\"global\":{\"a\":\"top\",\"c\":\"user\",\"t\":{\"x\":1}},"
                     "\"sub\":{\"global\":{\"a\":\"top\",\"b\":\"sub\",\"c\":\"user\","
                     "\"t\":{\"v\":2,\"x\":1}}}}");
}

static void a_subcharts_value_must_be_a_map(SW_UNUSED void **state)
{
    RECIPE(r, TOP(""), SUB_VALUES("sub", "a: 1\n"));
    expect_plan_error(r, "sub: 5", "'sub' must be a map");
}

static void null_deletes_a_subcharts_default_that_no_dependency_lists(SW_UNUSED void **state)
{
    RECIPE(r, TOP(""), SUB_VALUES("sub", "a: 1\nb: 2\n"));
    expect_coalesced(r, "sub: {a: null}", "{\"sub\":{\"b\":2,\"global\":{}}}");
}

static void null_deletes_the_default_of_a_dependency(SW_UNUSED void **state)
{
    RECIPE(r, TOP("dependencies: [{name: sub, version: 1.0.0}]\n"), SUB_VALUES("sub", "a: 1\n"));
    expect_coalesced(r, "sub: {a: null}", "{\"sub\":{\"global\":{}}}");
}

static void a_parents_null_deletes_the_default_of_a_subchart(SW_UNUSED void **state)
{
    RECIPE(r, TOP("dependencies: [{name: sub, version: 1.0.0}]\n"), VALUES("sub: {a: null}\n"),
           SUB_VALUES("sub", "a: 1\nb: 2\n"));
    expect_coalesced(r, NULL, "{\"sub\":{\"b\":2,\"global\":{}}}");
}

/* ---- condition, tags, alias ---------------------------------------------------------------------
 */

static void a_condition_decides(SW_UNUSED void **state)
{
    RECIPE(r, TOP("dependencies: [{name: sub, version: 1.0.0, condition: 'x.up,sub.up'}]\n"),
           VALUES("sub: {up: false}\n"), SUBCHART("sub", "sub"),
           CONFIG_MAP("charts/sub/templates/a.yaml", "a"));
    expect_graph(r, NULL, "");
    expect_graph(r, "sub: {up: true}", "sub");
    expect_graph(r, "x: {up: true}", "sub");
    expect_graph(r, "x: {up: maybe}\nsub: {up: true}", "sub");
}

static void tags_decide_where_no_condition_does(SW_UNUSED void **state)
{
    RECIPE(r,
           TOP("dependencies:\n"
               "- {name: a, version: 1.0.0, tags: [front, both]}\n"
               "- {name: b, version: 1.0.0, tags: [both], condition: b.up}\n"),
           SUBCHART("a", "a"), CONFIG_MAP("charts/a/templates/a.yaml", "a"), SUBCHART("b", "b"),
           CONFIG_MAP("charts/b/templates/b.yaml", "b"));
    expect_graph(r, NULL, "a; b");
    expect_graph(r, "tags: {both: false}", "");
    expect_graph(r, "tags: {both: false, front: true}", "a");
    expect_graph(r, "tags: {both: false}\nb: {up: true}", "b");
}

static void an_alias_takes_its_own_values(SW_UNUSED void **state)
{
    RECIPE(r,
           TOP("dependencies:\n"
               "- {name: sub, version: 1.0.0, alias: one}\n"
               "- {name: sub, version: 1.0.0, alias: two}\n"),
           VALUES("one: {a: 1}\n"), SUBCHART("sub", "sub"),
           { "charts/sub/values.yaml", "a: 0\n", 0 },
           { "charts/sub/templates/t.yaml", "# {{ .Chart.Name }} {{ .Values.a }}", 0 });
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, "two: {a: 2}");
    SW_AUTO_CHARS *text = render_text(plan, NULL, SW_ALL_STATES);
    assert_string_equal(text, "# one 1\n---\n# two 2");
}

static void a_nested_condition_is_read_at_the_subcharts_path(SW_UNUSED void **state)
{
    RECIPE(r, TOP("dependencies: [{name: a, version: 1.0.0}]\n"),
           { "charts/a/Chart.yaml",
             "apiVersion: v2\nname: a\nversion: 1.0.0\n"
             "dependencies: [{name: b, version: 1.0.0, condition: b.up}]\n",
             0 },
           SUBCHART("a/charts/b", "b"), CONFIG_MAP("charts/a/charts/b/templates/b.yaml", "b"));
    expect_graph(r, NULL, "a.b");
    expect_graph(r, "a: {b: {up: false}}", "");
}

static void templates_see_the_dependencies_that_are_on(SW_UNUSED void **state)
{
    RECIPE(r,
           TOP("dependencies:\n"
               "- {name: a, version: 1.0.0, condition: a.up}\n"
               "- {name: b, version: 1.0.0, alias: c}\n"),
           SUBCHART("a", "a"), SUBCHART("b", "b"),
           { "templates/t.yaml", "#{{ range .Chart.Dependencies }} {{ .Name }}{{ end }}", 0 });
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, "a: {up: false}");
    SW_AUTO_CHARS *text = render_text(plan, NULL, SW_ALL_STATES);
    assert_string_equal(text, "# c");
}

static void charts_of_an_alias_of_an_alias_are_bounded(SW_UNUSED void **state)
{
    struct sw_recipe_file files[17] = { 0 };
    char names[17][192], texts[17][8192];
    char path[160] = "";
    for (int i = 0; i < 15; i++) {
        (void)snprintf(names[i], sizeof names[i], "%sChart.yaml", path);
        size_t len = strlen(path);
        (void)snprintf(path + len, sizeof path - len, "charts/c/");
        int n = snprintf(texts[i], sizeof texts[i],
                         "apiVersion: v2\nname: c\nversion: 1.0.0\ndependencies:\n");
        for (int k = 0; i < 14 && k < 120; k++)
            n += snprintf(texts[i] + n, sizeof texts[i] - (size_t)n,
                          "- {name: c, version: 1.0.0, alias: a%d}\n", k);
        files[i] = (struct sw_recipe_file){ names[i], texts[i], 0 };
    }
    SW_AUTO(sw_recipe) *r = open_or_fail(files);
    expect_plan_error(r, NULL, "more than 10000 charts");
}

/* Helm writes the alias in the place of the name, in entries that both instances of `sub` share. */
static void an_alias_inside_a_chart_that_is_there_twice_is_one_of_the_first(SW_UNUSED void **state)
{
    RECIPE(r,
           TOP("dependencies:\n"
               "- {name: sub, version: 1.0.0, alias: one}\n"
               "- {name: sub, version: 1.0.0, alias: two}\n"),
           { "charts/sub/Chart.yaml",
             "apiVersion: v2\nname: sub\nversion: 1.0.0\n"
             "dependencies: [{name: low, version: 1.0.0, alias: other}]\n",
             0 },
           SUBCHART("sub/charts/low", "low"));
    expect_coalesced(r, NULL,
                     "{\"one\":{\"global\":{},\"other\":{\"global\":{}}},"
                     "\"two\":{\"global\":{},\"low\":{\"global\":{}}}}");
}

/* ---- import-values ------------------------------------------------------------------------------
 */

static void exports_are_imported(SW_UNUSED void **state)
{
    RECIPE(r, TOP("dependencies: [{name: sub, version: 1.0.0, import-values: [data]}]\n"),
           VALUES("mine: 1\n"), SUB_VALUES("sub", "exports: {data: {port: 80}}\n"));
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    SW_AUTO_JSON *values = sw_plan_values(plan);
    struct json_object *port;
    assert_true(json_object_object_get_ex(values, "port", &port));
    assert_int_equal(json_object_get_int(port), 80);
}

static void child_and_parent_name_the_places(SW_UNUSED void **state)
{
    RECIPE(r,
           TOP("dependencies:\n- name: sub\n  version: 1.0.0\n"
               "  import-values: [{child: data.in, parent: got.here}]\n"),
           VALUES("got: {here: {a: top}}\n"), SUB_VALUES("sub", "data: {in: {a: sub, b: sub}}\n"));
    expect_coalesced(r, NULL,
                     "{\"got\":{\"here\":{\"a\":\"top\",\"b\":\"sub\"}},"
                     "\"sub\":{\"data\":{\"in\":{\"a\":\"sub\",\"b\":\"sub\"}},\"global\":{}}}");
}

static void an_import_into_what_is_imported_ends(SW_UNUSED void **state)
{
    RECIPE(r,
           TOP("dependencies:\n- name: sub\n  version: 1.0.0\n"
               "  import-values: [{child: data, parent: sub.data.data}]\n"),
           SUB_VALUES("sub", "data: {a: 1}\n"));
    expect_coalesced(r, NULL, "{\"sub\":{\"data\":{\"a\":1,\"data\":{\"a\":1}},\"global\":{}}}");
}

static void an_export_may_be_imported_into_a_part_of_itself(SW_UNUSED void **state)
{
    RECIPE(r,
           TOP("dependencies:\n"
               "- name: sub\n  version: 1.0.0\n  import-values:\n"
               "  - {child: exports.p, parent: a}\n  - {child: exports, parent: a.b}\n"),
           SUB_VALUES("sub", "exports: {p: {v: 1}}\n"));
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    SW_AUTO_JSON *values = sw_plan_values(plan);
    SW_AUTO_CHARS *text = sw_json_text(sw_json_get(values, "a"), SW_JSON_SORTED, NULL);
    assert_string_equal(text, "{\"b\":{\"p\":{\"v\":1}},\"v\":1}");
}

static void a_malformed_import_is_named(SW_UNUSED void **state)
{
    RECIPE(r, TOP("dependencies: [{name: sub, version: 1.0.0, import-values: [{child: x}]}]\n"),
           SUBCHART("sub", "sub"));
    expect_plan_error(r, NULL, "dependency 'sub': import-values[0]");
}

/* ---- facts --------------------------------------------------------------------------------------
 */

static void expect_with_facts(const struct sw_recipe *r, const char *user, const char *json,
                              const char *want)
{
    SW_AUTO_JSON *facts = NULL;
    assert_int_equal(sw_json_parse(json, strlen(json), NULL, &facts, NULL), 0);
    struct sw_render_env env = { .facts = facts };
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, user);
    SW_AUTO_CHARS *text = render_text(plan, &env, SW_ALL_STATES);
    assert_string_equal(text, want);
}

static void facts_win_in_every_chart(SW_UNUSED void **state)
{
    RECIPE(r, TOP(""), VALUES("kernel: none\n"), SUBCHART("sub", "sub"),
           { "templates/t.yaml", "# top {{ .Values.kernel }}", 0 },
           { "charts/sub/templates/t.yaml", "# sub {{ .Values.kernel }}", 0 });
    expect_with_facts(r, "kernel: mine\nsub: {kernel: mine}", "{\"kernel\": \"5.14\"}",
                      "# sub 5.14\n---\n# top 5.14");
}

static void a_fact_spares_a_table_of_the_charts_own(SW_UNUSED void **state)
{
    RECIPE(r, TOP(""), VALUES("platform: {openshift: true}\nproxy: {a: 1, b: 2}\n"),
           { "templates/t.yaml",
             "# {{ .Values.platform.openshift }} {{ .Values.proxy.a }} {{ .Values.proxy.b }}", 0 });
    expect_with_facts(r, NULL, "{\"platform\": \"OCP\", \"proxy\": {\"a\": 9}}", "# true 9 2");
}

static void facts_of_one_render_do_not_stay_for_the_next(SW_UNUSED void **state)
{
    RECIPE(r, TOP(""), { "templates/t.yaml", "# {{ .Values.kernel }}", 0 });
    SW_AUTO_JSON *facts = json_object_new_object();
    json_object_object_add(facts, "kernel", json_object_new_string("x"));
    struct sw_render_env env = { .facts = facts };
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    SW_AUTO_CHARS *with = render_text(plan, &env, 0), *without = render_text(plan, NULL, 0);
    assert_string_equal(with, "# x");
    assert_string_equal(without, "#");
}

static void what_a_template_sets_does_not_stay_for_the_next_render(SW_UNUSED void **state)
{
    RECIPE(r, TOP(""), VALUES("a: {m: 1}\n"),
           { "templates/t.yaml", "# {{ .Values.a.m }}{{ $_ := set .Values.a \"m\" 2 }}", 0 });
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, "b: 1");
    SW_AUTO_CHARS *first = render_text(plan, NULL, 0), *second = render_text(plan, NULL, 0);
    assert_string_equal(first, "# 1");
    assert_string_equal(second, "# 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(user_values_win_and_maps_are_merged),
        cmocka_unit_test(null_deletes_a_default),
        cmocka_unit_test(a_null_without_a_default_stays),
        cmocka_unit_test(a_table_and_a_scalar_do_not_mix),
        cmocka_unit_test(a_parents_values_win_over_a_subcharts),
        cmocka_unit_test(globals_reach_down),
        cmocka_unit_test(a_subcharts_value_must_be_a_map),
        cmocka_unit_test(null_deletes_a_subcharts_default_that_no_dependency_lists),
        cmocka_unit_test(null_deletes_the_default_of_a_dependency),
        cmocka_unit_test(a_parents_null_deletes_the_default_of_a_subchart),
        cmocka_unit_test(a_condition_decides),
        cmocka_unit_test(tags_decide_where_no_condition_does),
        cmocka_unit_test(an_alias_takes_its_own_values),
        cmocka_unit_test(a_nested_condition_is_read_at_the_subcharts_path),
        cmocka_unit_test(templates_see_the_dependencies_that_are_on),
        cmocka_unit_test(charts_of_an_alias_of_an_alias_are_bounded),
        cmocka_unit_test(an_alias_inside_a_chart_that_is_there_twice_is_one_of_the_first),
        cmocka_unit_test(exports_are_imported),
        cmocka_unit_test(child_and_parent_name_the_places),
        cmocka_unit_test(an_import_into_what_is_imported_ends),
        cmocka_unit_test(an_export_may_be_imported_into_a_part_of_itself),
        cmocka_unit_test(a_malformed_import_is_named),
        cmocka_unit_test(facts_win_in_every_chart),
        cmocka_unit_test(a_fact_spares_a_table_of_the_charts_own),
        cmocka_unit_test(facts_of_one_render_do_not_stay_for_the_next),
        cmocka_unit_test(what_a_template_sets_does_not_stay_for_the_next_render),
    };
    return cmocka_run_group_tests_name("recipe_coalesce", tests, NULL, NULL);
}
