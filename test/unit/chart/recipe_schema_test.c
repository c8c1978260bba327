/* JSON Schema: what fits, what does not, and what is said about it. */
#include "recipe_util.h"

#include "chart/recipe/schema/schema.h"

/* @want: NULL: it fits; else words of the message. @value: YAML */
static void check(const char *schema_text, const char *yaml, const char *want)
{
    SW_AUTO(sw_schema) *schema = NULL;
    SW_AUTO(sw_arena) *arena = sw_arena_new();
    struct sw_value value;
    SW_ERR(err);
    if (sw_schema_new("s.json", schema_text, strlen(schema_text), &schema, &err) < 0 ||
        sw_value_from_yaml(arena, "v", yaml, strlen(yaml), &value, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    int rc = sw_schema_check(schema, value, &err);
    if (!want && rc < 0)
        fail_msg("%s on %s: %s", schema_text, yaml, sw_err_text(&err));
    if (want && (rc != SW_INVALID || !strstr(sw_err_text(&err), want)))
        fail_msg("%s on %s: %d '%s', wanted '%s'", schema_text, yaml, rc, sw_err_text(&err), want);
}

static void types_are_checked(SW_UNUSED void **state)
{
    check("{\"type\": \"object\"}", "{}", NULL);
    check("{\"type\": \"object\"}", "[]", "- (root): expected object, found array");
    check("{\"type\": \"integer\"}", "1", NULL);
    check("{\"type\": \"integer\"}", "1.0", NULL);
    check("{\"type\": \"integer\"}", "1.5", "expected integer, found number");
    check("{\"type\": \"number\"}", "1", NULL);
    check("{\"type\": \"string\"}", "1", "expected string, found integer");
    check("{\"type\": \"null\"}", "null", NULL);
    check("{\"type\": [\"string\", \"null\"]}", "true", "expected string or null, found boolean");
    check("{\"type\": \"boolean\"}", "false", NULL);
}

static void a_message_has_the_path(SW_UNUSED void **state)
{
    const char *schema = "{\"properties\": {\"a\": {\"items\": {\"properties\": "
                         "{\"b\": {\"type\": \"string\"}}}}}}";
    check(schema, "{a: [{b: x}, {b: 5}]}", "- a[1].b: expected string, found integer");
}

static void all_problems_are_told(SW_UNUSED void **state)
{
    const char *schema = "{\"required\": [\"p\", \"q\"], \"properties\": {\"r\": {\"type\": "
                         "\"string\"}}}";
    check(schema, "{r: 1}",
          "- r: expected string, found integer\n- (root): 'p' is missing\n"
          "- (root): 'q' is missing");
}

static void maps_are_checked(SW_UNUSED void **state)
{
    const char *closed = "{\"properties\": {\"a\": {}}, \"patternProperties\": {\"^x-\": "
                         "{\"type\": \"string\"}}, \"additionalProperties\": false}";
    check(closed, "{a: 1, x-b: s}", NULL);
    check(closed, "{b: 1}", "- (root): 'b' is not known here");
    check(closed, "{x-b: 1}", "- x-b: expected string");
    check("{\"additionalProperties\": {\"type\": \"integer\"}}", "{q: s}", "- q: expected integer");
    check("{\"propertyNames\": {\"maxLength\": 2}}", "{abc: 1}", "'abc' is not allowed as a name");
    check("{\"minProperties\": 2}", "{a: 1}", "1 keys, expected at least 2");
    check("{\"maxProperties\": 0}", "{a: 1}", "1 keys, expected at most 0");
    check("{\"dependencies\": {\"a\": [\"b\"]}}", "{a: 1}", "'b' is missing");
    check("{\"dependencies\": {\"a\": {\"required\": [\"c\"]}}}", "{a: 1}", "'c' is missing");
    check("{\"dependencies\": {\"a\": [\"b\"]}}", "{c: 1}", NULL);
}

static void a_property_may_be_called_like_a_text_for_people(SW_UNUSED void **state)
{
    check("{\"properties\": {\"title\": {\"type\": \"string\"}}, \"description\": \"x\"}",
          "{title: 1}", "- title: expected string");
    check("{\"title\": {\"type\": \"string\"}, \"type\": \"object\"}", "{}", NULL);
}

static void lists_are_checked(SW_UNUSED void **state)
{
    check("{\"items\": {\"type\": \"string\"}}", "[a, 1]", "- [1]: expected string");
    check("{\"items\": [{\"type\": \"string\"}], \"additionalItems\": false}", "[a, b]",
          "2 items, expected at most 1");
    check("{\"prefixItems\": [{\"type\": \"string\"}], \"items\": {\"type\": \"integer\"}}",
          "[a, b]", "- [1]: expected integer");
    check("{\"uniqueItems\": true}", "[{a: 1}, 2, {a: 1.0}]", "items 0 and 2 are the same");
    check("{\"contains\": {\"const\": 3}}", "[1, 2]", "no item fits");
    check("{\"minItems\": 1}", "[]", "0 items, expected at least 1");
    check("{\"maxItems\": 1}", "[1, 2]", "2 items, expected at most 1");
}

static void numbers_are_checked(SW_UNUSED void **state)
{
    check("{\"minimum\": 1}", "1", NULL);
    check("{\"minimum\": 1}", "0.5", "0.5, expected at least 1");
    check("{\"exclusiveMinimum\": 1}", "1", "1, expected more than 1");
    check("{\"minimum\": 1, \"exclusiveMinimum\": true}", "1", "expected more than 1");
    check("{\"maximum\": 3, \"exclusiveMaximum\": true}", "3", "expected less than 3");
    check("{\"exclusiveMaximum\": 3}", "3", "expected less than 3");
    check("{\"multipleOf\": 0.1}", "0.3", NULL);
    check("{\"multipleOf\": 2}", "3", "3 is no multiple of 2");
}

static void strings_are_checked(SW_UNUSED void **state)
{
    check("{\"minLength\": 2}", "\"\xC3\xA4\"", "1 characters, expected at least 2");
    check("{\"maxLength\": 1}", "ab", "2 characters, expected at most 1");
    check("{\"pattern\": \"^v\\\\d+$\"}", "v12", NULL);
    check("{\"pattern\": \"^v\\\\d+$\"}", "v1x", "'v1x' does not match '^v\\d+$'");
    check("{\"pattern\": \"b\"}", "abc", NULL);
    check("{\"pattern\": \"(\"}", "abc", "missing closing )");
    check("{\"pattern\": \"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\\\.[a-z]+)*$\"}", "a-b.c", NULL);
    check("{\"format\": \"ipv4\"}", "1.2.3.400", "'1.2.3.400' is no ipv4");
    check("{\"format\": \"date-time\"}", "\"2024-02-30T00:00:00Z\"", "is no date-time");
    check("{\"format\": \"date-time\"}", "\"2024-02-29T00:00:00.5+01:00\"", NULL);
    check("{\"format\": \"uri\"}", "\"https://a/b\"", NULL);
    check("{\"format\": \"hostname\"}", "a_b", "is no hostname");
    check("{\"format\": \"int32\"}", "abc", NULL);
}

static void enum_and_const_compare_as_json(SW_UNUSED void **state)
{
    check("{\"enum\": [\"a\", 1, null]}", "1.0", NULL);
    check("{\"enum\": [\"a\", 1, null]}", "null", NULL);
    check("{\"enum\": [\"a\", 1, null]}", "b", "'b' is not one of 'a', 1, null");
    check("{\"const\": {\"a\": [1]}}", "{a: [1]}", NULL);
    check("{\"const\": \"x\"}", "z", "'z' is not 'x'");
}

static void schemas_combine(SW_UNUSED void **state)
{
    check("{\"anyOf\": [{\"type\": \"string\"}, {\"minimum\": 3}]}", "2", "none of the 2 forms");
    check("{\"anyOf\": [{\"type\": \"string\"}, {\"minimum\": 3}]}", "4", NULL);
    check("{\"oneOf\": [{\"type\": \"integer\"}, {\"minimum\": 3}]}", "4", "fits 2 of the 2 forms");
    check("{\"allOf\": [{\"type\": \"integer\"}, {\"minimum\": 3}]}", "2", "expected at least 3");
    check("{\"not\": {\"type\": \"integer\"}}", "2", "forbidden");
    const char *branch = "{\"if\": {\"type\": \"string\"}, \"then\": {\"minLength\": 2}, "
                         "\"else\": {\"minimum\": 2}}";
    check(branch, "a", "at least 2");
    check(branch, "1", "at least 2");
    check(branch, "ab", NULL);
    check("{\"properties\": {\"a\": false}}", "{a: 1}", "- a: nothing is allowed here");
    check("true", "1", NULL);
}

static void references_are_followed(SW_UNUSED void **state)
{
    check("{\"$ref\": \"#/definitions/a~1b%20c\", \"definitions\": {\"a/b c\": {\"type\": "
          "\"string\"}}}",
          "1", "expected string");
    check("{\"definitions\": {\"l\": [{\"type\": \"string\"}]}, \"$ref\": \"#/definitions/l/0\"}",
          "1", "expected string");
    check("{\"$ref\": \"#/nowhere\"}", "1", "$ref '#/nowhere' leads nowhere");
    check("{\"$ref\": \"http://example.org/s.json\"}", "1", "is on another host");
    check("{\"$ref\": \"#a\", \"$defs\": {\"x\": {\"$anchor\": \"a\", \"type\": \"string\"}}}", "1",
          "expected");
    check("{\"$ref\": \"#a\", \"$defs\": {\"x\": {\"$id\": \"#a\", \"type\": \"string\"}}}",
          "\"t\"", NULL);
    check("{\"$id\": \"http://e.org/s\", \"$ref\": \"http://e.org/s#/d\", \"d\": {\"type\": "
          "\"null\"}}",
          "null", NULL);
    check("{\"$ref\": \"#nowhere\"}", "1", "leads nowhere");
    const char *tree = "{\"properties\": {\"child\": {\"$ref\": \"#\"}, \"m\": {\"type\": "
                       "\"integer\"}}}";
    check(tree, "{child: {child: {m: x}}}", "- child.child.m: expected integer");
}

static void what_never_ends_is_given_up(SW_UNUSED void **state)
{
    check("{\"$ref\": \"#\"}", "1", "go in circles");
    check("{\"allOf\": [{\"$ref\": \"#\"}, {\"$ref\": \"#\"}]}", "1", "circles, or too deep");
    char schema[4096] = "{\"definitions\": {\"d0\": {\"type\": \"string\"}";
    for (int i = 1; i < 30; i++) {
        size_t n = strlen(schema);
        (void)snprintf(schema + n, sizeof schema - n,
                       ", \"d%d\": {\"anyOf\": [{\"$ref\": \"#/definitions/d%d\"}, "
                       "{\"$ref\": \"#/definitions/d%d\"}]}",
                       i, i - 1, i - 1);
    }
    strncat(schema, "}, \"$ref\": \"#/definitions/d29\"}", sizeof schema - strlen(schema) - 1);
    check(schema, "1", "takes too long");
}

static void a_schema_must_be_one(SW_UNUSED void **state)
{
    SW_AUTO(sw_schema) *schema = NULL;
    SW_ERR(err);
    assert_int_equal(sw_schema_new("s.json", "[1", 2, &schema, &err), SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), "s.json:1:"));
    assert_int_equal(sw_schema_new("s.json", "5", 1, &schema, &err), SW_INVALID);
    assert_string_equal(sw_err_text(&err), "s.json: a schema is a map or a bool");
    check("{\"items\": 5}", "[1]", "neither a map nor a bool");
}

/* ---- in a recipe --------------------------------------------------------------------------------
 */

#define STRICT                                                                                     \
    "{\"properties\": {\"a\": {\"type\": \"integer\"}, \"global\": {}}, "                          \
    "\"additionalProperties\": false}"

static void values_of_chart_and_subchart_are_checked(SW_UNUSED void **state)
{
    RECIPE(r, CHART("top"), { "values.schema.json", "{\"required\": [\"must\"]}", 0 },
           SUBCHART("s", "s"), { "charts/s/values.schema.json", STRICT, 0 });
    expect_plan_error(r, NULL, "schema of chart 'top':\n- (root): 'must' is missing");
    expect_plan_error(r, "must: 1\ns: {b: 1}",
                      "schema of chart 'top/charts/s':\n- (root): 'b' is not known here");
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, "must: 1\ns: {a: 1}");
}

static void facts_neither_break_nor_miss_a_schema(SW_UNUSED void **state)
{
    RECIPE(strict, CHART("top"), { "values.schema.json", STRICT, 0 });
    RECIPE(asking, CHART("top"), { "values.schema.json", "{\"required\": [\"kernel\"]}", 0 });
    SW_AUTO_JSON *facts = json_object_new_object();
    json_object_object_add(facts, "kernel", json_object_new_string("x"));
    struct sw_render_env env = { .facts = facts };
    SW_AUTO(sw_plan) *a = NULL;
    SW_AUTO(sw_plan) *b = NULL;
    assert_int_equal(sw_recipe_plan(strict, NULL, &env, &a, NULL), 0);
    assert_int_equal(sw_recipe_plan(asking, NULL, &env, &b, NULL), 0);
    expect_plan_error(asking, NULL, "'kernel' is missing");
}

static void integers_of_set_fit_integer(SW_UNUSED void **state)
{
    RECIPE(r, CHART("top"), { "values.schema.json", STRICT, 0 });
    SW_AUTO(sw_values) *v = sw_values_new();
    SW_AUTO(sw_plan) *plan = NULL;
    assert_int_equal(sw_values_set(v, SW_VALUES_TYPED, "a=5", NULL), 0);
    assert_int_equal(sw_recipe_plan(r, v, NULL, &plan, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_checked),
        cmocka_unit_test(a_message_has_the_path),
        cmocka_unit_test(all_problems_are_told),
        cmocka_unit_test(maps_are_checked),
        cmocka_unit_test(a_property_may_be_called_like_a_text_for_people),
        cmocka_unit_test(lists_are_checked),
        cmocka_unit_test(numbers_are_checked),
        cmocka_unit_test(strings_are_checked),
        cmocka_unit_test(enum_and_const_compare_as_json),
        cmocka_unit_test(schemas_combine),
        cmocka_unit_test(references_are_followed),
        cmocka_unit_test(what_never_ends_is_given_up),
        cmocka_unit_test(a_schema_must_be_one),
        cmocka_unit_test(values_of_chart_and_subchart_are_checked),
        cmocka_unit_test(facts_neither_break_nor_miss_a_schema),
        cmocka_unit_test(integers_of_set_fit_integer),
    };
    return cmocka_run_group_tests_name("recipe_schema", tests, NULL, NULL);
}
