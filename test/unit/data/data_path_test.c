/* Looks into documents and changes to them. */
#include "data/json/path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "data/json/condition.h"
#include "data/json/json.h"
#include "data_util.h"

static void check_text(struct json_object *doc, const char *want)
{
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_PLAIN, NULL);
    assert_string_equal(text, want);
}

static void finds_values_by_path(void **state)
{
    (void)state;
    SW_AUTO_JSON *doc = parse(
        "{\"spec\":{\"nodeName\":\"n1\",\"n\":3,\"f\":4.0,\"h\":4.5,\"on\":true,"
        "\"z\":null}}");
    assert_string_equal(sw_json_str(doc, "-", "spec", "nodeName", NULL), "n1");
    assert_int_equal(sw_json_int(doc, -1, "spec", "n", NULL), 3);
    assert_int_equal(sw_json_int(doc, -1, "spec", "f", NULL), 4);
    assert_int_equal(sw_json_int(doc, -1, "spec", "h", NULL), -1);
    assert_true(sw_json_bool(doc, false, "spec", "on", NULL));
    assert_null(sw_json_find(doc, "spec", "z", NULL));
}

static void gives_the_default_where_the_shape_is_another(void **state)
{
    (void)state;
    SW_AUTO_JSON *doc = parse("{\"a\":[1],\"s\":\"x\"}");
    assert_null(sw_json_find(doc, "a", "b", NULL));
    assert_null(sw_json_find(NULL, "a", NULL));
    assert_string_equal(sw_json_str(doc, "-", "a", NULL), "-");
    assert_int_equal(sw_json_int(doc, 7, "s", NULL), 7);
    assert_true(sw_json_bool(doc, true, "s", NULL));
    assert_int_equal(sw_json_len(sw_json_get(doc, "a")), 1);
    assert_null(sw_json_at(sw_json_get(doc, "a"), 1));
    assert_null(sw_json_at(doc, 0));
}

static void sets_and_deletes_by_path(void **state)
{
    (void)state;
    SW_AUTO_JSON *doc = parse("{\"a\":1}");
    sw_json_set_str(doc, "v", "m", "n", "o", NULL);
    sw_json_set(doc, json_object_new_int64(5), "a", "b", NULL);
    check_text(doc, "{\"a\":{\"b\":5},\"m\":{\"n\":{\"o\":\"v\"}}}");
    assert_true(sw_json_del(doc, "m", "n", "o", NULL));
    assert_false(sw_json_del(doc, "m", "n", "o", NULL));
    (void)json_object_array_add(sw_json_need_list(doc, "m", "l", NULL), NULL);
    (void)sw_json_need_map(doc, "m", "l2", "x", NULL);
    check_text(doc, "{\"a\":{\"b\":5},\"m\":{\"n\":{},\"l\":[null],\"l2\":{\"x\":{}}}}");
}

static void knows_the_parts_of_an_object(void **state)
{
    (void)state;
    SW_AUTO_JSON *pod = parse(
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"p\",\"labels\":{"
        "\"a/b\":\"c\"}},\"status\":{\"conditions\":[{\"type\":\"A\"},{\"type\":\"Ready\","
        "\"status\":\"True\"}]}}");
    assert_string_equal(sw_obj_name(pod), "p");
    assert_string_equal(sw_obj_namespace(pod), "");
    assert_string_equal(sw_obj_kind(pod), "Pod");
    assert_string_equal(sw_obj_label(pod, "a/b"), "c");
    assert_null(sw_obj_annotation(pod, "a/b"));
    assert_string_equal(sw_json_str(sw_obj_condition(pod, "Ready"), "", "status", NULL), "True");
    assert_null(sw_obj_condition(pod, "None"));
}

static void writes_conditions(void **state)
{
    (void)state;
    SW_AUTO_JSON *old = parse("[{\"type\":\"Ready\",\"status\":\"True\","
                              "\"lastTransitionTime\":\"2020-01-02T03:04:05Z\"}]");
    SW_AUTO_JSON *list = json_object_new_array();
    const int64_t generation = 7;
    sw_condition_add(list, old, &(struct sw_condition){ "Ready", true, "R", "m", &generation, 0 });
    sw_condition_add(list, old, &(struct sw_condition){ "Ready", false, "R", "m", NULL, 0 });
    sw_condition_add(list, NULL, &(struct sw_condition){ "Ready", true, "R", "m", NULL, 0 });
    check_text(list, "[{\"type\":\"Ready\",\"status\":\"True\",\"observedGeneration\":7,"
                     "\"lastTransitionTime\":\"2020-01-02T03:04:05Z\",\"reason\":\"R\","
                     "\"message\":\"m\"},{\"type\":\"Ready\",\"status\":\"False\","
                     "\"lastTransitionTime\":\"1970-01-01T00:00:00Z\",\"reason\":\"R\","
                     "\"message\":\"m\"},{\"type\":\"Ready\",\"status\":\"True\","
                     "\"lastTransitionTime\":\"1970-01-01T00:00:00Z\",\"reason\":\"R\","
                     "\"message\":\"m\"}]");
}

static void follows_json_pointers(void **state)
{
    (void)state;
    SW_AUTO_JSON *doc = parse("{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"m~n\":8}");
    static const struct {
        const char *pointer, *want;
    } rows[] = {
        /* RFC 6901, section 5 */
        { "/foo", "[\"bar\",\"baz\"]" },
        { "/foo/0", "\"bar\"" },
        { "/", "0" },
        { "/a~1b", "1" },
        { "/m~0n", "8" },
    };
    SW_ERR(err);
    struct json_object *found;
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        assert_int_equal(sw_json_pointer(doc, rows[i].pointer, &found, &err), 0);
        check_text(found, rows[i].want);
    }
    assert_int_equal(sw_json_pointer(doc, "", &found, &err), 0);
    assert_ptr_equal(found, doc);
    assert_int_equal(sw_json_pointer(doc, "/foo/2", &found, &err), SW_NOTFOUND);
    assert_int_equal(sw_json_pointer(doc, "/foo/00", &found, &err), SW_NOTFOUND);
    assert_int_equal(sw_json_pointer(doc, "/foo/-1", &found, &err), SW_NOTFOUND);
    assert_int_equal(sw_json_pointer(doc, "/x", &found, &err), SW_NOTFOUND);
    assert_int_equal(sw_json_pointer(doc, "x", &found, &err), SW_INVALID);
    assert_int_equal(sw_json_pointer(doc, "/a~2", &found, &err), SW_INVALID);
}

static void strings_of_a_list_are_joined(void **state SW_UNUSED)
{
    SW_AUTO_JSON *list = json_tokener_parse("[\"a\", 1, \"b\"]");
    SW_AUTO_CHARS *all = sw_json_joined(list, "; "), *none = sw_json_joined(NULL, "; ");
    assert_string_equal(all, "a; ; b");
    assert_string_equal(none, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_of_a_list_are_joined),
        cmocka_unit_test(finds_values_by_path),
        cmocka_unit_test(gives_the_default_where_the_shape_is_another),
        cmocka_unit_test(sets_and_deletes_by_path),
        cmocka_unit_test(knows_the_parts_of_an_object),
        cmocka_unit_test(writes_conditions),
        cmocka_unit_test(follows_json_pointers),
    };
    return cmocka_run_group_tests_name("data_path", tests, NULL, NULL);
}
