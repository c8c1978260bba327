/* JSON Schema: what fits, what does not, and what is said about it. */
#include "recipe_util.h"

#include "chart/recipe/schema/schema.h"

/* @want: NULL: it fits; else the whole message. @value: YAML */
static void check(const char *schema_text, const char *yaml, const char *want)
{
    SW_AUTO(sw_schema) *schema = NULL;
    SW_AUTO(sw_arena) *arena = sw_arena_new();
    struct sw_value value;
    SW_ERR(err);
    int rc = sw_schema_new("s.json", schema_text, strlen(schema_text), &schema, &err);
    if (rc == 0 && sw_value_from_yaml(arena, "v", yaml, strlen(yaml), &value, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    if (rc == 0)
        rc = sw_schema_check(schema, value, &err);
    if (!want && rc < 0)
        fail_msg("%s on %s: %s", schema_text, yaml, sw_err_text(&err));
    if (want && (rc != SW_INVALID || strcmp(sw_err_text(&err), want) != 0))
        fail_msg("%s on %s: %d '%s', wanted '%s'", schema_text, yaml, rc, sw_err_text(&err), want);
}

#define DRAFT(n) "\"$schema\": \"http://json-schema.org/draft-0" n "/schema#\", "
#define DRAFT_2019 "\"$schema\": \"https://json-schema.org/draft/2019-09/schema\", "

static void types_are_checked(SW_UNUSED void **state)
{
    check("{\"type\": \"object\"}", "{}", NULL);
    check("{\"type\": \"object\"}", "[]", "- at '': got array, want object");
    check("{\"type\": \"integer\"}", "1", NULL);
    check("{\"type\": \"integer\"}", "1.0", NULL);
    check("{\"type\": \"integer\"}", "1.5", "- at '': got number, want integer");
    check("{\"type\": \"number\"}", "1", NULL);
    check("{\"type\": \"string\"}", "1", "- at '': got number, want string");
    check("{\"type\": \"null\"}", "null", NULL);
    check("{\"type\": [\"string\", \"null\"]}", "true",
          "- at '': got boolean, want null or string");
    check("{\"type\": \"boolean\"}", "false", NULL);
}

static void a_message_has_the_path(SW_UNUSED void **state)
{
    const char *schema = "{\"properties\": {\"a/b~\": {\"items\": {\"properties\": "
                         "{\"b\": {\"type\": \"string\"}}}}}}";
    check(schema, "{a/b~: [{b: x}, {b: 5}]}", "- at '/a~1b~0/1/b': got number, want string");
}

static void all_problems_are_told(SW_UNUSED void **state)
{
    const char *schema = "{\"required\": [\"p\", \"q\"], \"properties\": {\"r\": {\"type\": "
                         "\"string\"}}}";
    check(schema, "{r: 1}",
          "- at '': missing properties 'p', 'q'\n- at '/r': got number, want string");
}

static void maps_are_checked(SW_UNUSED void **state)
{
    const char *closed = "{\"properties\": {\"a\": {}}, \"patternProperties\": {\"^x-\": "
                         "{\"type\": \"string\"}}, \"additionalProperties\": false}";
    check(closed, "{a: 1, x-b: s}", NULL);
    check(closed, "{b: 1, c: 2}", "- at '': additional properties 'b', 'c' not allowed");
    check(closed, "{x-b: 1}", "- at '/x-b': got number, want string");
    check("{\"additionalProperties\": {\"type\": \"integer\"}}", "{q: s}",
          "- at '/q': got string, want integer");
    check("{\"propertyNames\": {\"maxLength\": 2}}", "{abc: 1}",
          "- at '': invalid propertyName 'abc'\n  - at '': maxLength: got 3, want 2");
    check("{\"minProperties\": 2}", "{a: 1}", "- at '': minProperties: got 1, want 2");
    check("{\"maxProperties\": 0}", "{a: 1}", "- at '': maxProperties: got 1, want 0");
    check("{\"dependencies\": {\"a\": [\"b\"]}}", "{a: 1}",
          "- at '': properties 'b' required, if 'a' exists");
    check("{\"dependencies\": {\"a\": {\"required\": [\"c\"]}}}", "{a: 1}",
          "- at '': missing property 'c'");
    check("{\"dependentRequired\": {\"a\": [\"b\"]}}", "{c: 1}", NULL);
}

static void a_property_may_be_called_like_a_text_for_people(SW_UNUSED void **state)
{
    check("{\"properties\": {\"title\": {\"type\": \"string\"}}, \"description\": \"x\"}",
          "{title: 1}", "- at '/title': got number, want string");
}

static void lists_are_checked(SW_UNUSED void **state)
{
    check("{\"items\": {\"type\": \"string\"}}", "[a, 1]", "- at '/1': got number, want string");
    check("{\"uniqueItems\": true}", "[{a: 1}, 2, {a: 1.0}]",
          "- at '': items at 0 and 2 are equal");
    check("{\"contains\": {\"const\": 3}}", "[1]",
          "- at '': no items match contains schema\n  - at '/0': value must be 3");
    check("{\"contains\": {\"const\": 3}, \"minContains\": 2}", "[3]",
          "- at '': min 2 items required to match contains schema, but matched 1 items at 0");
    check("{\"contains\": {\"const\": 3}, \"maxContains\": 1}", "[3, 3]",
          "- at '': max 1 items required to match contains schema, but matched 2 items at 0 1");
    check("{\"minItems\": 1}", "[]", "- at '': minItems: got 0, want 1");
    check("{\"maxItems\": 1}", "[1, 2]", "- at '': maxItems: got 2, want 1");
}

static void a_schema_for_each_item_has_two_forms(SW_UNUSED void **state)
{
    const char *old = "{" DRAFT("7") "\"items\": [{}], \"additionalItems\": false}";
    check(old, "[a]", NULL);
    check(old, "[a, b]", "- at '': last 1 additionalItem(s) not allowed");
    check("{\"prefixItems\": [{}], \"items\": {\"type\": \"integer\"}}", "[a, 1]", NULL);
    check("{\"prefixItems\": [{\"type\": \"null\"}]}", "[a]", "- at '/0': got string, want null");
}

static void numbers_are_checked(SW_UNUSED void **state)
{
    check("{\"minimum\": 1}", "1", NULL);
    check("{\"minimum\": 1}", "0.5", "- at '': minimum: got 0.5, want 1");
    check("{\"exclusiveMinimum\": 1}", "1", "- at '': exclusiveMinimum: got 1, want 1");
    check("{" DRAFT("4") "\"minimum\": 1, \"exclusiveMinimum\": true}", "1",
          "- at '': exclusiveMinimum: got 1, want 1");
    check("{\"exclusiveMaximum\": 3}", "3", "- at '': exclusiveMaximum: got 3, want 3");
    check("{\"multipleOf\": 0.1}", "0.3", NULL);
    check("{\"multipleOf\": 2}", "3", "- at '': multipleOf: got 3, want 2");
    check("{\"maximum\": -5e-7}", "12345.5", "- at '': maximum: got 12,345.5, want -5×10⁻⁰⁷");
}

static void strings_are_checked(SW_UNUSED void **state)
{
    check("{\"minLength\": 2000}", "\"\xC3\xA4\"", "- at '': minLength: got 1, want 2,000");
    check("{\"maxLength\": 1}", "ab", "- at '': maxLength: got 2, want 1");
    check("{\"pattern\": \"^v\\\\d+$\"}", "v12", NULL);
    check("{\"pattern\": \"^v\\\\d+$\"}", "v1'\"",
          "- at '': 'v1\\'\"' does not match pattern '^v\\\\d+$'");
    check("{\"pattern\": \"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\\\.[a-z]+)*$\"}", "a-b.c", NULL);
}

/* What is wrong with a text of a format. */
static void wrong_format(const char *format, const char *text, const char *why)
{
    SW_AUTO_CHARS *schema = sw_printf("{" DRAFT("7") "\"format\": \"%s\"}", format),
                  *yaml = sw_printf("\"%s\"", text),
                  *want = why ? sw_printf("- at '': '%s' is not valid %s: %s", text, format, why)
                              : NULL;
    check(schema, yaml, want);
}

static void formats_are_checked_up_to_draft_7(SW_UNUSED void **state)
{
    wrong_format("ipv4", "1.2.3.400", "decimal must be between 0 and 255");
    wrong_format("ipv4", "1.2.3", "expected four decimals");
    wrong_format("ipv6", "::1", NULL);
    wrong_format("ipv6", "1", "missing colon");
    wrong_format("date-time", "2024-02-30T00:00:00Z",
                 "invalid date element: parsing time \"2024-02-30\": day out of range");
    wrong_format("date-time", "2024-02-29T00:00:00.5+01:00", NULL);
    wrong_format("time", "24:00:00Z", "hour/min/sec out of range");
    wrong_format("uri", "https://a/b", NULL);
    wrong_format("uri", "a/b", "relative url");
    wrong_format("uri-reference", "a/b", NULL);
    wrong_format("hostname", "a_b", "invalid character '_'");
    wrong_format("email", "a@b", NULL);
    wrong_format("email", "a@", "invalid domain: label must be 1 to 63 characters long");
    wrong_format("uuid", "x", "must have 5 elements");
    wrong_format("duration", "P1D", NULL);
    wrong_format("duration", "1D", "must start with P");
    wrong_format("json-pointer", "a", "not starting with /");
    wrong_format("relative-json-pointer", "1#", NULL);
    wrong_format("semver", "1.2.3-rc.1+x", NULL);
    wrong_format("semver", "1.02.3", "minor starts with zero");
    wrong_format("regex", "(", "error parsing regexp: missing closing ): `(`");
    wrong_format("int32", "abc", NULL);
    check("{\"format\": \"ipv4\"}", "x", NULL);
}

static void enum_and_const_compare_as_json(SW_UNUSED void **state)
{
    check("{\"enum\": [\"a\", 1, null]}", "1.0", NULL);
    check("{\"enum\": [\"a\", 1, null]}", "null", NULL);
    check("{\"enum\": [\"a\", 1, null]}", "b", "- at '': value must be one of 'a', 1, <nil>");
    check("{\"enum\": [\"a\"]}", "b", "- at '': value must be 'a'");
    check("{\"enum\": [\"a\", {}]}", "b", "- at '': 'enum' failed");
    check("{\"const\": {\"a\": [1]}}", "{a: [1]}", NULL);
    check("{\"const\": \"x\"}", "z", "- at '': value must be 'x'");
}

static void schemas_combine(SW_UNUSED void **state)
{
    const char *any = "{\"anyOf\": [{\"type\": \"string\"}, {\"minimum\": 3, \"multipleOf\": 3}]}";
    check(any, "2",
          "- at '': 'anyOf' failed\n  - at '': got number, want string\n"
          "  - at '': validation failed\n    - at '': minimum: got 2, want 3\n"
          "    - at '': multipleOf: got 2, want 3");
    check(any, "6", NULL);
    check("{\"oneOf\": [{\"type\": \"integer\"}, {\"minimum\": 3}]}", "4",
          "- at '': 'oneOf' failed, subschemas 0, 1 matched");
    check("{\"oneOf\": [{\"type\": \"null\"}]}", "4",
          "- at '': 'oneOf' failed, none matched\n  - at '': got number, want null");
    check("{\"allOf\": [{\"type\": \"integer\"}, {\"minimum\": 3}]}", "2",
          "- at '': 'allOf' failed\n  - at '': minimum: got 2, want 3");
    check("{\"not\": {\"type\": \"integer\"}}", "2", "- at '': 'not' failed");
    const char *branch = "{\"if\": {\"type\": \"string\"}, \"then\": {\"minLength\": 2}, "
                         "\"else\": {\"minimum\": 2}}";
    check(branch, "a", "- at '': minLength: got 1, want 2");
    check(branch, "1", "- at '': minimum: got 1, want 2");
    check(branch, "ab", NULL);
    check("{\"properties\": {\"a\": false}}", "{a: 1}", "- at '/a': false schema");
    check("true", "1", NULL);
}

static void references_are_followed(SW_UNUSED void **state)
{
    check("{\"$ref\": \"#/definitions/a~1b%20c\", \"definitions\": {\"a/b c\": {\"type\": "
          "\"string\"}}}",
          "1", "- at '': got number, want string");
    check("{\"$ref\": \"#/allOf/0\", \"allOf\": [{\"type\": \"string\"}]}", "s", NULL);
    check("{\"$ref\": \"#/nowhere\"}", "1",
          "json-pointer in \"file:///values.schema.json#/nowhere\" not found");
    check("{\"$defs\": {\"unused\": {\"$ref\": \"#/nowhere\"}}}", "1", NULL);
    check("{\"$ref\": \"#a\", \"$defs\": {\"x\": {\"$anchor\": \"a\", \"type\": \"string\"}}}", "1",
          "- at '': got number, want string");
    check("{" DRAFT("7") "\"allOf\": [{\"$ref\": \"#a\"}], \"definitions\": {\"x\": {\"$id\": "
                         "\"#a\", \"type\": "
                         "\"string\"}}}",
          "\"t\"", NULL);
    check("{\"$ref\": \"#nowhere\"}", "1",
          "anchor in \"file:///values.schema.json#nowhere\" not found in schema "
          "\"file:///values.schema.json\"");
    const char *tree = "{\"properties\": {\"child\": {\"$ref\": \"#\"}, \"m\": {\"type\": "
                       "\"integer\"}}}";
    check(tree, "{child: {child: {m: x}}}", "- at '/child/child/m': got string, want integer");
}

static void a_reference_is_read_where_its_schema_is(SW_UNUSED void **state)
{
    check("{\"$id\": \"http://e.org/s/top\", \"$ref\": \"inner\", \"$defs\": {\"x\": {\"$id\": "
          "\"inner\", \"$ref\": \"#/$defs/y\", \"$defs\": {\"y\": {\"type\": \"null\"}}}}}",
          "1", "- at '': got number, want null");
    check("{\"$ref\": \"http://example.org/s.json\"}", "1",
          "$ref 'http://example.org/s.json' is outside of the schema, and is not asked for; put "
          "what it names into the schema");
}

static void beside_a_reference_nothing_counts_up_to_draft_7(SW_UNUSED void **state)
{
    check(
        "{" DRAFT("7") "\"properties\": {\"a\": {\"$ref\": \"#/definitions/s\", \"maxLength\": 0}}"
                       ", \"definitions\": {\"s\": {\"type\": \"string\"}}}",
        "{a: x}", NULL);
    check("{\"properties\": {\"a\": {\"$ref\": \"#/$defs/s\", \"maxLength\": 0}}"
          ", \"$defs\": {\"s\": {\"type\": \"string\"}}}",
          "{a: x}", "- at '/a': maxLength: got 1, want 0");
}

static void a_dynamic_reference_takes_the_outermost_anchor(SW_UNUSED void **state)
{
    const char *strict =
        "{\"$id\": \"http://e.org/strict\", \"$dynamicAnchor\": \"node\", "
        "\"$ref\": \"tree\", \"unevaluatedProperties\": false, \"$defs\": {\"t\": "
        "{\"$id\": \"tree\", \"$dynamicAnchor\": \"node\", \"properties\": "
        "{\"value\": true, \"below\": {\"items\": {\"$dynamicRef\": \"#node\"}}}}}}";
    check(strict, "{value: 1, below: [{value: 2}]}", NULL);
    check(strict, "{below: [{valve: 2}]}",
          "- at '/below/0/valve': false schema\n- at '/below': false schema");
    check("{\"$dynamicAnchor\": \"n\", \"properties\": {\"a\": {\"$dynamicRef\": \"#n\"}, \"b\": "
          "{\"type\": \"null\"}}}",
          "{a: {b: 1}}", "- at '/a/b': got number, want null");
}

static void a_recursive_reference_takes_the_outermost_schema(SW_UNUSED void **state)
{
    const char *strict = "{" DRAFT_2019 "\"$id\": \"http://e.org/strict\", \"$recursiveAnchor\": "
                         "true, \"$ref\": \"tree\", \"maxProperties\": 1, \"$defs\": {\"t\": "
                         "{\"$id\": \"tree\", \"$recursiveAnchor\": true, \"properties\": "
                         "{\"below\": {\"$recursiveRef\": \"#\"}}}}}";
    check(strict, "{below: {x: 1}}", NULL);
    check(strict, "{below: {x: 1, y1: 2}}", "- at '/below': maxProperties: got 2, want 1");
}

static void what_no_keyword_spoke_of_is_unevaluated(SW_UNUSED void **state)
{
    const char *schema =
        "{\"properties\": {\"a\": {}}, \"allOf\": [{\"properties\": {\"b\": {}}}], "
        "\"if\": {\"required\": [\"a\"]}, \"then\": {\"properties\": {\"c\": {}}}, "
        "\"anyOf\": [{\"properties\": {\"d\": {\"type\": \"null\"}}}, true], "
        "\"unevaluatedProperties\": false}";
    check(schema, "{a: 1, b: 2, c: 3, d: null}", NULL);
    check(schema, "{b: 2, c: 3}", "- at '/c': false schema");
    check(schema, "{d: 1}", "- at '/d': false schema");
    check("{\"unevaluatedProperties\": {\"type\": \"string\"}}", "{a: 1}",
          "- at '/a': got number, want string");
    check("{\"not\": {\"properties\": {\"a\": false}}, \"unevaluatedProperties\": false}", "{a: 1}",
          "- at '/a': false schema");
    check("{\"prefixItems\": [{}], \"contains\": {\"const\": 3}, \"unevaluatedItems\": false}",
          "[1, 2, 3]", "- at '/1': false schema");
}

static void what_never_ends_is_given_up(SW_UNUSED void **state)
{
    check("{\"$ref\": \"#\"}", "1",
          "- at '': both /$ref and  resolve to \"file:///values.schema.json#\" causing reference "
          "cycle");
    char schema[4096] = "{\"$defs\": {\"d0\": {\"type\": \"string\"}";
    for (int i = 1; i < 30; i++) {
        size_t n = strlen(schema);
        (void)snprintf(schema + n, sizeof schema - n,
                       ", \"d%d\": {\"anyOf\": [{\"$ref\": \"#/$defs/d%d\"}, "
                       "{\"$ref\": \"#/$defs/d%d\"}]}",
                       i, i - 1, i - 1);
    }
    strncat(schema, "}, \"$ref\": \"#/$defs/d29\"}", sizeof schema - strlen(schema) - 1);
    check(schema, "1", "checking the values against the schema takes too long");
}

static void a_schema_must_be_one(SW_UNUSED void **state)
{
    SW_AUTO(sw_schema) *schema = NULL;
    SW_ERR(err);
    assert_int_equal(sw_schema_new("s.json", "[1", 2, &schema, &err), SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), "s.json:1:"));
#define NOT_VALID(url)                                                                             \
    "\"file:///values.schema.json#\" is not valid against metaschema: jsonschema validation "      \
    "failed with '" url "'\n"
    check("5", "1",
          NOT_VALID("https://json-schema.org/draft/2020-12/schema#") "- at '': got number, want "
                                                                     "boolean or object");
    check("{\"properties\": {\"a\": {\"items\": [{}]}}}", "1",
          NOT_VALID(
              "https://json-schema.org/draft/2020-12/schema#") "- at '': 'allOf' failed\n  - at "
                                                               "'/properties/a': 'allOf' failed\n"
                                                               "    - at '/properties/a/items': "
                                                               "got array, want boolean or object");
    check(
        "{" DRAFT("7") "\"minimum\": \"x\", \"pattern\": \"(\"}", "1",
        NOT_VALID(
            "http://json-schema.org/draft-07/schema#") "- at '/minimum': got string, want number\n"
                                                       "- at '/pattern': '(' is not valid regex: "
                                                       "error parsing regexp: missing closing ): "
                                                       "`(`");
    check(
        "{" DRAFT("4") "\"required\": []}", "1",
        NOT_VALID(
            "http://json-schema.org/draft-04/schema#") "- at '/required': minItems: got 0, want 1");
    check("{" DRAFT("6") "\"exclusiveMinimum\": true}", "1",
          NOT_VALID("http://json-schema.org/draft-06/schema#") "- at '/exclusiveMinimum': got "
                                                               "boolean, want number");
    check("{" DRAFT_2019 "\"required\": true}", "1",
          NOT_VALID("https://json-schema.org/draft/2019-09/schema#") "- at '': 'allOf' failed\n  - "
                                                                     "at '/required': got boolean, "
                                                                     "want array");
}

/* ---- in a recipe --------------------------------------------------------------------------------
 */

#define STRICT                                                                                     \
    "{\"properties\": {\"a\": {\"type\": \"integer\"}, \"global\": {}}, "                          \
    "\"additionalProperties\": false}"

#define WORDS "values don't meet the specifications of the schema(s) in the following chart(s):\n"

static void values_of_chart_and_subchart_are_checked(SW_UNUSED void **state)
{
    RECIPE(r, CHART("top"), { "values.schema.json", "{\"required\": [\"must\"]}", 0 },
           SUBCHART("s", "s"), { "charts/s/values.schema.json", STRICT, 0 });
    expect_plan_error(r, NULL, WORDS "top:\n- at '': missing property 'must'");
    expect_plan_error(r, "must: 1\ns: {b: 1}",
                      WORDS "s:\n- at '': additional properties 'b' not allowed");
    expect_plan_error(r, "s: {a: x}",
                      WORDS "top:\n- at '': missing property 'must'\n"
                            "s:\n- at '/a': got string, want integer");
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
    expect_plan_error(asking, NULL, "missing property 'kernel'");
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
        cmocka_unit_test(a_schema_for_each_item_has_two_forms),
        cmocka_unit_test(numbers_are_checked),
        cmocka_unit_test(strings_are_checked),
        cmocka_unit_test(formats_are_checked_up_to_draft_7),
        cmocka_unit_test(enum_and_const_compare_as_json),
        cmocka_unit_test(schemas_combine),
        cmocka_unit_test(references_are_followed),
        cmocka_unit_test(a_reference_is_read_where_its_schema_is),
        cmocka_unit_test(beside_a_reference_nothing_counts_up_to_draft_7),
        cmocka_unit_test(a_dynamic_reference_takes_the_outermost_anchor),
        cmocka_unit_test(a_recursive_reference_takes_the_outermost_schema),
        cmocka_unit_test(what_no_keyword_spoke_of_is_unevaluated),
        cmocka_unit_test(what_never_ends_is_given_up),
        cmocka_unit_test(a_schema_must_be_one),
        cmocka_unit_test(values_of_chart_and_subchart_are_checked),
        cmocka_unit_test(facts_neither_break_nor_miss_a_schema),
        cmocka_unit_test(integers_of_set_fit_integer),
    };
    return cmocka_run_group_tests_name("recipe_schema", tests, NULL, NULL);
}
