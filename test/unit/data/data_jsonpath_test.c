/* kubectl's JSONPath. What is printed is what k8s.io/client-go/util/jsonpath prints. */
#include "data/jsonpath/jsonpath.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "data/json/json.h"
#include "data/json/path.h"
#include "data_util.h"

static const char pods[] =
    "{\"kind\":\"List\",\"items\":[{\"kind\":\"None\",\"metadata\":{\"name\":\"127.0.0.1\","
    "\"labels\":{"
    "\"kubernetes.io/"
    "hostname\":\"127.0.0.1\"}},\"status\":{\"capacity\":{\"cpu\":\"4\"},\"addresses\":[{"
    "\"type\":\"LegacyHostIP\",\"address\":\"127.0.0.1\"}]}},{\"kind\":\"None\",\"metadata\":{"
    "\"name\":"
    "\"127.0.0.2\"},\"status\":{\"capacity\":{\"cpu\":\"8\"},\"addresses\":[{\"type\":"
    "\"LegacyHostIP\","
    "\"address\":\"127.0.0.2\"},{\"type\":\"another\",\"address\":\"127.0.0.3\"}],\"n\":1.5,\"z\":"
    "null}}],"
    "\"users\":[{\"name\":\"myself\",\"user\":{}},{\"name\":\"e2e\",\"user\":{\"username\":"
    "\"admin\","
    "\"password\":\"secret\"}}]}";

static void prints_as_kubectl_does(void **state)
{
    (void)state;
    static const struct {
        const char *path, *want;
    } rows[] = {
        /* the examples of Kubernetes "JSONPath Support", and edges */
        { "kind is {.kind}", "kind is List" },
        { "{['kind']}", "List" },
        { "{..name}", "127.0.0.1 127.0.0.2 myself e2e" },
        { "{.items[*].metadata.name}", "127.0.0.1 127.0.0.2" },
        { "{.items[*]['metadata.name', 'status.capacity']}",
          "127.0.0.1 127.0.0.2 {\"cpu\":\"4\"} {\"cpu\":\"8\"}" },
        { "{.items[*]['kind','kind']}", "None None None None" },
        { "{.users[?(@.name==\"e2e\")].user.password}", "secret" },
        { "{range .items[*]}[{.metadata.name}, {.status.capacity}] {end}",
          "[127.0.0.1, {\"cpu\":\"4\"}] [127.0.0.2, {\"cpu\":\"8\"}] " },
        { "{range .items[*]}{.metadata.name}{'\\t'}{end}", "127.0.0.1\t127.0.0.2\t" },
        { "{range .items[*]}{range .status.addresses[*]}{.address},{end};{end}",
          "127.0.0.1,;127.0.0.2,127.0.0.3,;" },
        { "{.items[0].metadata.labels.kubernetes\\.io/hostname}", "127.0.0.1" },
        { "{.items[0].metadata.labels['kubernetes.io/hostname']}", "127.0.0.1" },
        { "{.items[0].metadata.labels['kubernetes\\.io/hostname']}", "127.0.0.1" },
        { "{.items[-1].metadata.name}", "127.0.0.2" },
        { "{.items[0:1].kind} {.items[1:].metadata.name}", "None 127.0.0.2" },
        { "{.items[::2].metadata.name}", "127.0.0.1" },
        { "{.items[1,0].metadata.name}", "127.0.0.2 127.0.0.1" },
        { "{.items[*].status.addresses[?(@.type!='LegacyHostIP')].address}", "127.0.0.3" },
        { "{.items[?(@.status.n)].metadata.name}", "127.0.0.2" },
        { "{.items[?(@.status.n > 1)].metadata.name}", "127.0.0.2" },
        { "{.items[?(@.status.n<=1.4)].metadata.name}", "" },
        { "{.items[1].status.n} {.items[1].status.z}", "1.5 <nil>" },
        { "{.users[1].user.*}", "admin secret" },
        { "{@.kind} {$.kind} { .kind }", "List List List" },
        { "{\"a\\\"b\"}{'c'}", "a\"bc" },
    };
    SW_AUTO_JSON *doc = parse(pods);
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_ERR(err);
        SW_AUTO(sw_jsonpath) *path = NULL;
        SW_AUTO_CHARS *got = NULL;
        if (sw_jsonpath_compile(rows[i].path, &path, &err) < 0 ||
            sw_jsonpath_print(path, doc, true, &got, &err) < 0)
            fail_msg("%s: %s", rows[i].path, sw_err_text(&err));
        if (strcmp(got, rows[i].want) != 0)
            fail_msg("%s: want '%s', got '%s'", rows[i].path, rows[i].want, got);
    }
}

static void braces_may_be_left_out_of_one_expression(void **state)
{
    (void)state;
    static const char *const paths[] = { ".items[0].kind", "items[0].kind", "$.items[0].kind",
                                         "['items'][0].kind" };
    SW_AUTO_JSON *doc = parse(pods);
    for (size_t i = 0; i < SW_COUNT(paths); i++) {
        SW_ERR(err);
        SW_AUTO(sw_jsonpath) *path = NULL;
        if (sw_jsonpath_compile(paths[i], &path, &err) < 0)
            fail_msg("%s", sw_err_text(&err));
        assert_string_equal(json_object_get_string(sw_jsonpath_first(path, doc)), "None");
    }
}

static void finds_values_and_never_minds_the_shape(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        size_t n;
    } rows[] = {
        { "{.items[*].status.addresses[*].address}", 3 },
        { "{.nope.deeper}", 0 },
        { "{.items[7]}", 0 },
        { "{.items[0:7]}", 2 },
        { "{.kind[0]}", 0 },
        { "{.kind[?(@.a==1)]}", 0 },
        { "{.items[?(@.status==1)]}", 0 },
        { "{.items[?(@.status.z<1)]}", 0 },
        { "{.items[1].status.z}", 1 },
        { "{range .items[*]}{.kind}{.metadata.name}{end}", 4 },
        { "a{.kind}b{.kind}", 2 },
    };
    SW_AUTO_JSON *doc = parse(pods);
    struct sw_json_list found = { 0 };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_ERR(err);
        SW_AUTO(sw_jsonpath) *path = NULL;
        assert_int_equal(sw_jsonpath_compile(rows[i].path, &path, &err), 0);
        assert_int_equal(sw_jsonpath_find(path, doc, &found, &err), 0);
        if (found.n_values != rows[i].n)
            fail_msg("%s: %zu values", rows[i].path, found.n_values);
    }
    sw_json_list_done(&found);
}

static void printing_minds_what_kubectl_minds(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        bool allow_missing;
        int code;
        const char *want;
    } rows[] = {
        { "{.nope}", false, SW_NOTFOUND, "nope is not found" },
        { "{.nope}", true, 0, "" },
        { "{.items[2]}", true, SW_INVALID, "array index out of bounds: index 2, length 2" },
        { "{.items[0:3]}", true, SW_INVALID, "slice [0:3] of a list of length 2" },
        { "{.kind[0]}", true, SW_INVALID, "what is indexed is no list" },
        { "{.kind[?(@.a)]}", true, SW_INVALID, "what is filtered is no list" },
    };
    SW_AUTO_JSON *doc = parse(pods);
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_ERR(err);
        SW_AUTO(sw_jsonpath) *path = NULL;
        SW_AUTO_CHARS *got = NULL;
        assert_int_equal(sw_jsonpath_compile(rows[i].path, &path, &err), 0);
        assert_int_equal(sw_jsonpath_print(path, doc, rows[i].allow_missing, &got, &err),
                         rows[i].code);
        assert_string_equal(rows[i].code < 0 ? sw_err_text(&err) : got, rows[i].want);
    }
}

static void refuses_what_is_no_path(void **state)
{
    (void)state;
    static const struct {
        const char *path, *want;
    } rows[] = {
        { "{.a", "JSONPath '{.a': column 4: unclosed action" },
        { "{.a[}",
          "JSONPath '{.a[}': column 5: an index, a slice, a quoted key or '*' was expected" },
        { "{.a[1}", "JSONPath '{.a[1}': column 6: ']' was expected" },
        { "{.a[0:2:0]}", "JSONPath '{.a[0:2:0]}': column 10: a step must be greater than 0" },
        { "{.a['b}", "JSONPath '{.a['b}': column 8: unterminated quoted string" },
        { "{foo}",
          "JSONPath '{foo}': column 2: unrecognized identifier; texts stand in quotes, fields "
          "behind a '.'" },
        { "{end}", "JSONPath '{end}': column 5: not in range, nothing to end" },
        { "{range .a}x", "JSONPath '{range .a}x': column 12: {end} is missing" },
        { "{....a}", "JSONPath '{....a}': column 4: invalid multiple recursive descent" },
        { "{.a[?(@.b=1)]}",
          "JSONPath '{.a[?(@.b=1)]}': column 10: ')' or one of ==, !=, <, <=, >, >= was "
          "expected" },
        { "{.a[?(@.b==)]}", "JSONPath '{.a[?(@.b==)]}': column 12: a value was expected" },
        { "{.a[?(@.b==1]}", "JSONPath '{.a[?(@.b==1]}': column 13: unexpected character" },
        { ".a}", "JSONPath '.a}': column 3: '}' without '{'" },
        { "{.a^}{^}", "JSONPath '{.a^}{^}': column 7: unexpected character" },
        { "{\"\\q\"}", "JSONPath '{\"\\q\"}': column 4: unknown escape" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_ERR(err);
        struct sw_jsonpath *path = NULL;
        if (sw_jsonpath_compile(rows[i].path, &path, &err) != SW_INVALID)
            fail_msg("'%s' was accepted", rows[i].path);
        assert_null(path);
        assert_string_equal(sw_err_text(&err), rows[i].want);
    }
}

static void depth_and_number_of_values_are_bounded(void **state)
{
    (void)state;
    char text[200] = "";
    for (int i = 0; i < 17; i++)
        strcat(text, "[?(@");
    SW_ERR(err);
    struct sw_jsonpath *path = NULL;
    assert_int_equal(sw_jsonpath_compile(text, &path, &err), SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), "nested too deep"));

    SW_AUTO_JSON *wide = json_object_new_array();
    for (int i = 0; i < 400; i++)
        (void)json_object_array_add(wide, json_object_new_int(i));
    SW_AUTO_JSON *doc = json_object_new_array();
    for (int i = 0; i < 400; i++)
        (void)json_object_array_add(doc, json_object_get(wide));
    SW_AUTO(sw_jsonpath) *all = NULL;
    struct sw_json_list found = { 0 };
    assert_int_equal(sw_jsonpath_compile("{[*][*]}", &all, &err), 0);
    assert_int_equal(sw_jsonpath_find(all, doc, &found, &err), SW_INVALID);
    assert_int_equal(found.n_values, 0);
}

static void conditions_hold_or_not(void **state)
{
    (void)state;
    static const char status[] = "{\"phase\":\"Running\",\"n\":3,\"f\":2.5,\"up\":true,\"none\":"
                                 "null,\"size\":\"80Gi\",\"v\":\"1.10\","
                                 "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"},{"
                                 "\"type\":\"Failed\",\"status\":\"False\"}],"
                                 "\"l\":[1,2],\"t\":\"a == b\"}";
    static const struct {
        const char *condition;
        bool holds;
    } rows[] = {
        { "{.phase} == Running", true },
        { "{.phase}==Running", true },
        { ".phase == Running", true },
        { "{.phase} == \"Running\"", true },
        { "{.phase} == 'Pending'", false },
        { "{.phase} != Pending", true },
        { "{.phase} != Running", false },
        { "{.missing} == x", false },
        { "{.missing} != x", false },
        { "{.n} == 3", true },
        { "{.n} == 3.0", true },
        { "{.n} >= 4", false },
        { "{.n} < 4", true },
        { "{.f} > 2", true },
        { "{.up} == true", true },
        { "{.up} != true", false },
        { "{.none} == null", true },
        { "{.none} != null", false },
        { "{.size} > 79Gi", true },
        { "{.size} >= 81920Mi", true },
        { "{.size} == 81920Mi", false },
        { "{.v} == 1.1", false },
        { "{.v} == 1.10", true },
        { "{.phase} < S", true },
        { "{.conditions[?(@.type==\"Ready\")].status} == True", true },
        { "{.conditions[?(@.type==\"Failed\")].status} == True", false },
        { ".conditions[?(@.type=='Ready')].status == True", true },
        { "{.l[*]} == 2", true },
        { "{.l} == 2", false },
        { "{.t} == a == b", true },
    };
    SW_AUTO_JSON *doc = parse(status);
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_ERR(err);
        SW_AUTO(sw_condition) *c = NULL;
        if (sw_condition_compile(rows[i].condition, &c, &err) < 0)
            fail_msg("%s", sw_err_text(&err));
        assert_string_equal(sw_condition_text(c), rows[i].condition);
        if (sw_condition_holds(c, doc) != rows[i].holds)
            fail_msg("%s", rows[i].condition);
        assert_false(sw_condition_holds(c, NULL) && rows[i].holds);
    }
}

static void refuses_what_is_no_condition(void **state)
{
    (void)state;
    static const char *const texts[] = { "",     "{.phase}",     "{.phase} Running", "{.phase} ==",
                                         "== x", "{.phase} = x", "{.phase == x",     "{.a[} == x" };
    for (size_t i = 0; i < SW_COUNT(texts); i++) {
        SW_ERR(err);
        struct sw_condition *c = NULL;
        if (sw_condition_compile(texts[i], &c, &err) != SW_INVALID)
            fail_msg("'%s' was accepted", texts[i]);
        assert_true(sw_starts_with(sw_err_text(&err), "condition '"));
    }
}

/* Many steps over many values that find nothing much in the end. */
static void work_is_bounded(void **state)
{
    (void)state;
    SW_AUTO_CHARS *path = sw_strdup("{.a[*]}"); /* each expression looks at all values again */
    SW_AUTO_JSON *doc = json_object_new_object();
    struct json_object *list = json_object_new_array();
    struct sw_json_list found = { 0 };
    SW_AUTO(sw_jsonpath) *p = NULL;
    SW_ERR(err);
    for (int i = 0; i < 30000; i++)
        (void)json_object_array_add(list, json_object_new_string("x"));
    (void)json_object_object_add(doc, "a", list);
    for (int i = 0; i < 500; i++)
        sw_append(&path, "{.a[?(@..b==@..c)]}");
    assert_int_equal(sw_jsonpath_compile(path, &p, &err), 0);
    struct timespec begin, end;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    assert_int_equal(sw_jsonpath_find(p, doc, &found, &err), SW_INVALID);
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    assert_true(end.tv_sec - begin.tv_sec < 5); /* with sanitizers; some 50 ms without */
    assert_non_null(strstr(sw_err_text(&err), "looks at more than"));
    sw_json_list_done(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_as_kubectl_does),
        cmocka_unit_test(braces_may_be_left_out_of_one_expression),
        cmocka_unit_test(finds_values_and_never_minds_the_shape),
        cmocka_unit_test(printing_minds_what_kubectl_minds),
        cmocka_unit_test(refuses_what_is_no_path),
        cmocka_unit_test(depth_and_number_of_values_are_bounded),
        cmocka_unit_test(work_is_bounded),
        cmocka_unit_test(conditions_hold_or_not),
        cmocka_unit_test(refuses_what_is_no_condition),
    };
    return cmocka_run_group_tests_name("data_jsonpath", tests, NULL, NULL);
}
