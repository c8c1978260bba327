/* A recipe as a ConfigMap: in which form, and that it is read back as it was. */
#include "recipe_util.h"

#include "chart/recipe/package/config_map.h"
#include "data/text/base64.h"

static struct json_object *map_or_fail(const struct sw_recipe *recipe)
{
    struct json_object *map = NULL;
    SW_ERR(err);
    if (sw_recipe_to_config_map(recipe, "carrier", "here", false, &map, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    assert_string_equal(sw_obj_kind(map), "ConfigMap");
    assert_string_equal(sw_obj_name(map), "carrier");
    assert_string_equal(sw_obj_namespace(map), "here");
    return map;
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

static struct sw_recipe *packed_in(struct json_object *map, const char *key)
{
    const char *text = sw_json_str(map, NULL, "binaryData", key, NULL);
    assert_non_null(text);
    size_t len;
    SW_AUTO_CHARS *bytes = sw_base64_decode(text, strlen(text), &len);
    assert_non_null(bytes);
    struct sw_recipe *recipe = NULL;
    SW_ERR(err);
    if (sw_recipe_from_archive(key, bytes, len, NULL, &recipe, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    return recipe;
}

static void one_chart_is_one_key_a_file(void **state SW_UNUSED)
{
    RECIPE(r, CHART("top"), { "values.yaml", "a: 1\n", 0 }, { "README.md", "# top\n", 0 },
           { "templates/_helpers.tpl", "{{ define \"x\" }}y{{ end }}", 0 },
           CONFIG_MAP("templates/0000-a.yaml", "{{ include \"x\" . }}{{ .Values.a }}"));
    SW_AUTO_JSON *map = map_or_fail(r);
    assert_null(sw_json_find(map, "binaryData", NULL));
    assert_int_equal(sw_json_len(sw_json_find(map, "data", NULL)), 5);
    assert_string_equal(sw_json_str(map, "", "data", "values.yaml", NULL), "a: 1\n");
    SW_AUTO(sw_recipe) *again = NULL;
    SW_ERR(err);
    if (sw_recipe_from_config_map(map, NULL, &again, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    expect_equal_render(r, again);
}

static void subcharts_need_an_archive(void **state SW_UNUSED)
{
    RECIPE(r, CHART("top"), SUBCHART("sub", "sub"), CONFIG_MAP("charts/sub/templates/b.yaml", "b"));
    SW_AUTO_JSON *map = map_or_fail(r);
    SW_AUTO(sw_recipe) *again = packed_in(map, "top-1.2.3.tgz");
    expect_equal_render(r, again);
    const char *index = sw_json_str(map, "", "data", "index.yaml", NULL);
    assert_non_null(strstr(index, "  top:\n"));
    assert_non_null(strstr(index, "cm://here/carrier/top-1.2.3.tgz"));
    assert_non_null(strstr(index, "version: 1.2.3\n"));
}

static void what_no_key_stands_for_needs_an_archive(void **state SW_UNUSED)
{
    static const struct sw_recipe_file odd[] = {
        { "templates/deep/a.yaml", "", 0 }, { "crds/a.yaml", "", 0 },
        { "sample.yaml", "a: 1", 0 },       { "templates/notes.md", "x", 0 },
        { "a name with blanks", "x", 0 },   { "bytes", "\xFF\xFE", 0 },
    };
    for (size_t i = 0; i < SW_COUNT(odd); i++) {
        RECIPE(r, CHART("top"), CONFIG_MAP("templates/a.yaml", "a"), odd[i]);
        SW_AUTO_JSON *map = map_or_fail(r);
        SW_AUTO(sw_recipe) *again = packed_in(map, "top-1.2.3.tgz");
        assert_non_null(sw_recipe_find_file(again, odd[i].name));
    }
}

static void more_than_a_mebibyte_is_refused(void **state SW_UNUSED)
{
    SW_AUTO_CHARS *noise = sw_alloc((2U << 20) + 1);
    uint32_t seed = 1;
    for (size_t i = 0; i < 2U << 20; i++) {
        seed = seed * 1664525 + 1013904223;
        noise[i] = (char)('!' + (seed >> 24) % 90); /* does not pack below 1.6 MiB */
    }
    noise[2U << 20] = '\0';
    RECIPE(r, CHART("top"), CONFIG_MAP("templates/a.yaml", "a"), { "noise.txt", noise, 0 });
    struct json_object *map = NULL;
    SW_ERR(err);
    assert_int_equal(sw_recipe_to_config_map(r, NULL, NULL, false, &map, &err), SW_INVALID);
    assert_null(map);
    assert_non_null(strstr(sw_err_text(&err), "more than a ConfigMap may hold"));
    assert_non_null(strstr(sw_err_text(&err), "file://"));
}

static void large_text_is_packed(void **state SW_UNUSED)
{
    SW_AUTO_CHARS *text = sw_alloc((2U << 20) + 1);
    memset(text, 'x', 2U << 20);
    text[2U << 20] = '\0';
    RECIPE(r, CHART("top"), CONFIG_MAP("templates/a.yaml", "a"), { "long.txt", text, 0 });
    SW_AUTO_JSON *map = map_or_fail(r);
    SW_AUTO(sw_recipe) *again = packed_in(map, "top-1.2.3.tgz");
    assert_int_equal(sw_recipe_find_file(again, "long.txt")->len, 2U << 20);
}

static void names_are_checked(void **state SW_UNUSED)
{
    static const struct {
        const char *name, *ns;
    } bad[] = { { "Upper", NULL }, { "", NULL }, { "-a", NULL }, { "a", "b.c" }, { "a/b", NULL } };
    RECIPE(r, CHART("top"), CONFIG_MAP("templates/a.yaml", "a"));
    for (size_t i = 0; i < SW_COUNT(bad); i++) {
        struct json_object *map = NULL;
        assert_int_equal(sw_recipe_to_config_map(r, bad[i].name, bad[i].ns, false, &map, NULL),
                         SW_INVALID);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_chart_is_one_key_a_file),
        cmocka_unit_test(subcharts_need_an_archive),
        cmocka_unit_test(what_no_key_stands_for_needs_an_archive),
        cmocka_unit_test(more_than_a_mebibyte_is_refused),
        cmocka_unit_test(large_text_is_packed),
        cmocka_unit_test(names_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
