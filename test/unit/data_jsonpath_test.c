/* kubectl's JSONPath, and conditions over it. Expected texts are what `kubectl get -o jsonpath`
 * prints. */
#include "data/jsonpath.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/json.h"

static const char *const pods =
    "{\"kind\":\"List\",\"items\":["
    "{\"metadata\":{\"name\":\"a\",\"labels\":{\"app.k8s.io/x\":\"1\"}},"
    "\"status\":{\"phase\":\"Running\",\"n\":2,\"conditions\":[{\"type\":\"Ready\",\"status\":"
    "\"True\"},"
    "{\"type\":\"Scheduled\",\"status\":\"False\"}]}},"
    "{\"metadata\":{\"name\":\"b\"},\"status\":{\"phase\":\"Pending\",\"n\":10,\"mem\":\"1Gi\"}},"
    "{\"metadata\":{\"name\":\"c\"},\"status\":{\"phase\":\"Failed\"}}]}";

static struct json_object *parse(const char *text)
{
    struct json_object *doc = NULL;
    SW_ERR(err);
    if (sw_json_parse(text, strlen(text), NULL, &doc, &err) < 0)
        fail_msg("%s: %s", text, sw_err_text(&err));
    return doc;
}

static void prints(const char *text, const char *want)
{
    SW_ERR(err);
    SW_AUTO_JSON *doc = parse(pods);
    SW_AUTO(sw_jsonpath) *path = NULL;
    SW_AUTO_CHARS *got = NULL;
    if (sw_jsonpath_compile(text, &path, &err) < 0 ||
        sw_jsonpath_print(path, doc, true, &got, &err) < 0)
        fail_msg("%s: %s", text, sw_err_text(&err));
    if (strcmp(got, want) != 0)
        fail_msg("%s: want '%s', got '%s'", text, want, got);
}

static void refuses(const char *text, const char *words)
{
    SW_ERR(err);
    struct sw_jsonpath *path = NULL;
    assert_int_equal(sw_jsonpath_compile(text, &path, &err), SW_INVALID);
    assert_string_equal(err.text, words);
}

static void keys_indexes_and_wildcards_find_values(void **state)
{
    (void)state;
    prints("{.kind}", "List");
    prints("{.items[0].metadata.name}", "a");
    prints("{.items[-1].metadata.name}", "c");
    prints("{.items[*].metadata.name}", "a b c");
    prints("{$.items[0,2].metadata.name}", "a c");
    prints("{.items[0].metadata.labels.app\\.k8s\\.io/x}", "1");
    prints("{.items[0]['metadata']['name']}", "a");
    prints("{.items[0].metadata.*}", "a {\"app.k8s.io/x\":\"1\"}");
    prints(".items[1].status.n", "10");
    prints("{.items[7].metadata.name}", "");
    prints("{.nothing.here}", "");
}

static void slices_are_as_in_python(void **state)
{
    (void)state;
    prints("{.items[0:2].metadata.name}", "a b");
    prints("{.items[1:].metadata.name}", "b c");
    prints("{.items[:-1].metadata.name}", "a b");
    prints("{.items[::2].metadata.name}", "a c");
    prints("{.items[-2:].metadata.name}", "b c");
}

static void filters_compare_and_ask_for_presence(void **state)
{
    (void)state;
    prints("{.items[?(@.status.phase==\"Running\")].metadata.name}", "a");
    prints("{.items[?(@.status.phase!='Running')].metadata.name}", "b c");
    prints("{.items[?(@.status.n>2)].metadata.name}", "b");
    prints("{.items[?(@.status.n >= 2)].metadata.name}", "a b");
    prints("{.items[?(@.status.mem)].metadata.name}", "b");
    prints("{.items[*].status.conditions[?(@.type==\"Ready\")].status}", "True");
}

static void descent_finds_a_name_at_any_depth(void **state)
{
    (void)state;
    prints("{..name}", "a b c");
    prints("{.items..phase}", "Running Pending Failed");
}

static void ranges_repeat_what_is_in_them(void **state)
{
    (void)state;
    prints("{range .items[*]}{.metadata.name}={.status.phase}{\"\\n\"}{end}",
           "a=Running\nb=Pending\nc=Failed\n");
    prints("names: {.items[*].metadata.name}.", "names: a b c.");
}

static void missing_values_are_an_error_where_they_must_be_there(void **state)
{
    (void)state;
    SW_ERR(err);
    SW_AUTO_JSON *doc = parse(pods);
    SW_AUTO(sw_jsonpath) *path = NULL;
    char *got = NULL;
    assert_int_equal(sw_jsonpath_compile("{.nothing}", &path, &err), 0);
    assert_int_equal(sw_jsonpath_print(path, doc, false, &got, &err), SW_NOTFOUND);
    assert_null(sw_jsonpath_first(path, doc));
}

static void bad_paths_say_where_and_what_was_expected(void **state)
{
    (void)state;
    refuses("{.a[}", "JSONPath '{.a[}', column 5: expected an index, a slice, *, a quoted name or "
                     "a filter");
    refuses("{.a", "JSONPath '{.a', column 4: expected a path or '}'");
    refuses("{.a['b}", "JSONPath '{.a['b}', column 8: expected the closing quote");
    refuses("{.a[?(@.b=1)]}", "JSONPath '{.a[?(@.b=1)]}', column 10: expected ==, !=, <, <=, > or "
                              ">=");
    refuses("{range .a[*]}", "JSONPath '{range .a[*]}', column 14: expected {end}");
    refuses("a.b", "JSONPath 'a.b', column 1: expected '.', '[' or '{'");
    refuses("{.a[::0]}", "JSONPath '{.a[::0]}', column 8: expected a positive step");
}

static bool holds(const char *condition, const char *doc_text)
{
    SW_ERR(err);
    SW_AUTO_JSON *doc = parse(doc_text);
    SW_AUTO(sw_condition) *c = NULL;
    if (sw_condition_compile(condition, &c, &err) < 0)
        fail_msg("%s: %s", condition, sw_err_text(&err));
    assert_string_equal(sw_condition_text(c), condition);
    return sw_condition_holds(c, doc);
}

static void conditions_compare_texts_numbers_and_quantities(void **state)
{
    (void)state;
    assert_true(holds("{.phase} == Running", "{\"phase\":\"Running\"}"));
    assert_false(holds("{.phase} == Running", "{\"phase\":\"Pending\"}"));
    assert_true(holds("{.phase} != \"Running\"", "{\"phase\":\"Pending\"}"));
    assert_true(holds("{.n} >= 9", "{\"n\":10}"));
    assert_true(holds("{.n}<11", "{\"n\":\"10\"}"));
    assert_true(holds("{.mem} == 1024Mi", "{\"mem\":\"1Gi\"}"));
    assert_true(holds("{.ok} == true", "{\"ok\":true}"));
    assert_false(holds("{.ok} < true", "{\"ok\":false}"));
    assert_true(holds("{.conditions[?(@.type==\"Ready\")].status} == True",
                      "{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}"));
}

static void what_is_not_there_satisfies_nothing(void **state)
{
    (void)state;
    assert_false(holds("{.phase} != Running", "{}"));
    assert_false(holds("{.phase} == null", "{}"));
}

static void bad_conditions_are_explained(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } rows[] = {
        { "{.phase}", "'{.phase}' is no condition: expected a path, ==, !=, <, <=, > or >=, a "
                      "value" },
        { "{.phase} =", "'{.phase} =' is no condition: '=' is no comparison" },
        { "{.phase} ==", "'{.phase} ==' is no condition: it has no value" },
        { "== 1", "'== 1' is no condition: it has no path" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_ERR(err);
        struct sw_condition *c = NULL;
        assert_int_equal(sw_condition_compile(rows[i].text, &c, &err), SW_INVALID);
        assert_string_equal(err.text, rows[i].words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_indexes_and_wildcards_find_values),
        cmocka_unit_test(slices_are_as_in_python),
        cmocka_unit_test(filters_compare_and_ask_for_presence),
        cmocka_unit_test(descent_finds_a_name_at_any_depth),
        cmocka_unit_test(ranges_repeat_what_is_in_them),
        cmocka_unit_test(missing_values_are_an_error_where_they_must_be_there),
        cmocka_unit_test(bad_paths_say_where_and_what_was_expected),
        cmocka_unit_test(conditions_compare_texts_numbers_and_quantities),
        cmocka_unit_test(what_is_not_there_satisfies_nothing),
        cmocka_unit_test(bad_conditions_are_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
