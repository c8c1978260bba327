/* RFC 6902, JSON patch. */
#include "data/patch/merge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/json/json.h"
#include "data_util.h"

static void applies_as_the_rfc_says(void **state)
{
    (void)state;
    static const struct {
        const char *target, *patch, *want;
    } rows[] = {
        /* RFC 6902, appendix A, and edges of it */
        { "{\"foo\":\"bar\"}", "[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\"}]",
          "{\"baz\":\"qux\",\"foo\":\"bar\"}" },
        { "{\"foo\":[\"bar\",\"baz\"]}", "[{\"op\":\"add\",\"path\":\"/foo/1\",\"value\":\"qux\"}]",
          "{\"foo\":[\"bar\",\"qux\",\"baz\"]}" },
        { "{\"baz\":\"qux\",\"foo\":\"bar\"}", "[{\"op\":\"remove\",\"path\":\"/baz\"}]",
          "{\"foo\":\"bar\"}" },
        { "{\"foo\":[\"bar\",\"qux\",\"baz\"]}", "[{\"op\":\"remove\",\"path\":\"/foo/1\"}]",
          "{\"foo\":[\"bar\",\"baz\"]}" },
        { "{\"baz\":\"qux\"}", "[{\"op\":\"replace\",\"path\":\"/baz\",\"value\":\"boo\"}]",
          "{\"baz\":\"boo\"}" },
        { "{\"foo\":{\"bar\":\"baz\",\"waldo\":\"fred\"},\"qux\":{\"corge\":\"grault\"}}",
          "[{\"op\":\"move\",\"from\":\"/foo/waldo\",\"path\":\"/qux/thud\"}]",
          "{\"foo\":{\"bar\":\"baz\"},\"qux\":{\"corge\":\"grault\",\"thud\":\"fred\"}}" },
        { "{\"foo\":[\"all\",\"grass\",\"cows\",\"eat\"]}",
          "[{\"op\":\"move\",\"from\":\"/foo/1\",\"path\":\"/foo/3\"}]",
          "{\"foo\":[\"all\",\"cows\",\"eat\",\"grass\"]}" },
        { "{\"baz\":\"qux\",\"foo\":[\"a\",2,\"c\"]}",
          "[{\"op\":\"test\",\"path\":\"/baz\",\"value\":\"qux\"},{\"op\":\"test\",\"path\":\"/foo/"
          "1\",\"value\":2}]",
          "{\"baz\":\"qux\",\"foo\":[\"a\",2,\"c\"]}" },
        { "{\"foo\":\"bar\"}",
          "[{\"op\":\"add\",\"path\":\"/child\",\"value\":{\"grandchild\":{}},\"xyz\":1}]",
          "{\"foo\":\"bar\",\"child\":{\"grandchild\":{}}}" },
        { "{\"/\":9,\"~1\":10}", "[{\"op\":\"test\",\"path\":\"/~01\",\"value\":10}]",
          "{\"/\":9,\"~1\":10}" },
        { "{\"foo\":[\"bar\"]}",
          "[{\"op\":\"add\",\"path\":\"/foo/-\",\"value\":[\"abc\",\"def\"]}]",
          "{\"foo\":[\"bar\",[\"abc\",\"def\"]]}" },
        { "{\"a\":1}", "[{\"op\":\"add\",\"path\":\"\",\"value\":[null]}]", "[null]" },
        { "{\"a\":[]}", "[{\"op\":\"add\",\"path\":\"/a/0\",\"value\":null}]", "{\"a\":[null]}" },
        { "{\"a\":{\"b\":1}}", "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a/c\"}]",
          "{\"a\":{\"b\":1,\"c\":{\"b\":1}}}" },
        { "{\"a\":null}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":null}]", "{\"a\":null}" },
        { "{\"a\":1}", "[]", "{\"a\":1}" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_ERR(err);
        SW_AUTO_JSON *target = parse(rows[i].target);
        SW_AUTO_JSON *patch = parse(rows[i].patch);
        SW_AUTO_JSON *got = NULL;
        if (sw_jsonpatch_apply(target, patch, &got, &err) < 0)
            fail_msg("%s: %s", rows[i].patch, sw_err_text(&err));
        check(got, rows[i].want);
        check(target, rows[i].target);
    }
}

static void says_which_operation_failed_and_changes_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *patch;
        int code;
        const char *want;
    } rows[] = {
        { "{}", SW_INVALID, "a JSON patch must be a list of operations" },
        { "[1]", SW_INVALID, "operation 0: '' is none of add, remove, replace, move, copy, test" },
        { "[{\"op\":\"add\",\"path\":\"/x\",\"value\":1},{\"op\":\"put\",\"path\":\"/x\"}]",
          SW_INVALID, "operation 1: 'put' is none of add, remove, replace, move, copy, test" },
        { "[{\"op\":\"add\",\"path\":\"/x\"}]", SW_INVALID,
          "operation 0 (add /x): 'value' is missing" },
        { "[{\"op\":\"remove\"}]", SW_INVALID,
          "operation 0 (remove ?): 'path' is missing or not a string" },
        { "[{\"op\":\"copy\",\"path\":\"/x\"}]", SW_INVALID,
          "operation 0 (copy /x): 'from' is missing or not a string" },
        { "[{\"op\":\"remove\",\"path\":\"/x\"}]", SW_NOTFOUND,
          "operation 0 (remove /x): nothing is at 'x'" },
        { "[{\"op\":\"replace\",\"path\":\"/l/2\",\"value\":1}]", SW_NOTFOUND,
          "operation 0 (replace /l/2): nothing is at '2'" },
        { "[{\"op\":\"add\",\"path\":\"/l/3\",\"value\":1}]", SW_NOTFOUND,
          "operation 0 (add /l/3): nothing is at '3'" },
        { "[{\"op\":\"add\",\"path\":\"/l/01\",\"value\":1}]", SW_INVALID,
          "operation 0 (add /l/01): '01' is no index of a list" },
        { "[{\"op\":\"add\",\"path\":\"/s/x\",\"value\":1}]", SW_NOTFOUND,
          "operation 0 (add /s/x): nothing is at 'x'" },
        { "[{\"op\":\"test\",\"path\":\"/s\",\"value\":\"u\"}]", SW_CONFLICT,
          "operation 0 (test /s): the value is another one" },
        { "[{\"op\":\"move\",\"from\":\"/l\",\"path\":\"/l/0\"}]", SW_INVALID,
          "operation 0 (move /l/0): a value cannot be moved into itself" },
        { "[{\"op\":\"add\",\"path\":\"x\",\"value\":1}]", SW_INVALID,
          "operation 0 (add x): 'x' is no JSON pointer: it does not begin with '/'" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_ERR(err);
        SW_AUTO_JSON *target = parse("{\"l\":[1,2],\"s\":\"t\"}");
        SW_AUTO_JSON *patch = parse(rows[i].patch);
        SW_AUTO_JSON *got = NULL;
        assert_int_equal(sw_jsonpatch_apply(target, patch, &got, &err), rows[i].code);
        assert_string_equal(sw_err_text(&err), rows[i].want);
        assert_null(got);
        check(target, "{\"l\":[1,2],\"s\":\"t\"}");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(applies_as_the_rfc_says),
        cmocka_unit_test(says_which_operation_failed_and_changes_nothing),
    };
    return cmocka_run_group_tests_name("data_jsonpatch", tests, NULL, NULL);
}
