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

static void creates_only_what_differs(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *want;
    } rows[] = {
        { "{\"a\":1}", "{\"a\":1}", "[]" },
        { "{\"a\":1}", "{\"a\":2}", "[{\"op\":\"replace\",\"path\":\"/a\",\"value\":2}]" },
        { "{\"a\":1}", "{\"b\":null}",
          "[{\"op\":\"remove\",\"path\":\"/a\"},{\"op\":\"add\",\"path\":\"/b\",\"value\":null}]" },
        { "{\"a/b\":{\"c~d\":1}}", "{\"a/b\":{\"c~d\":2}}",
          "[{\"op\":\"replace\",\"path\":\"/a~1b/c~0d\",\"value\":2}]" },
        { "[1,2,3]", "[1,9,2,3]", "[{\"op\":\"add\",\"path\":\"/1\",\"value\":9}]" },
        { "[1,2,3,4]", "[1,4]",
          "[{\"op\":\"remove\",\"path\":\"/2\"},{\"op\":\"remove\",\"path\":\"/1\"}]" },
        { "[{\"a\":1,\"b\":2}]", "[{\"a\":1,\"b\":3}]",
          "[{\"op\":\"replace\",\"path\":\"/0/b\",\"value\":3}]" },
        { "[]", "{}", "[{\"op\":\"replace\",\"path\":\"\",\"value\":{}}]" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_JSON *from = parse(rows[i].from);
        SW_AUTO_JSON *to = parse(rows[i].to);
        SW_AUTO_JSON *patch = sw_jsonpatch_create(from, to);
        check(patch, rows[i].want);
    }
}

/* A small generator: the same documents on every run. */
static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 16 & 0x7fff;
}

static struct json_object *random_document(unsigned *seed, int depth)
{
    static const char *const keys[] = { "a", "b/c", "d~e", "" };
    unsigned kind = next_random(seed) % (depth > 3 ? 3 : 6);
    if (kind == 0)
        return NULL;
    if (kind < 3)
        return json_object_new_int64((int64_t)(next_random(seed) % 3));
    struct json_object *doc = kind < 5 ? json_object_new_array() : json_object_new_object();
    for (unsigned n = next_random(seed) % 5; n > 0; n--) {
        struct json_object *part = random_document(seed, depth + 1);
        if (kind < 5)
            (void)json_object_array_add(doc, part);
        else
            (void)json_object_object_add(doc, keys[next_random(seed) % 4], part);
    }
    return doc;
}

static void what_was_created_gives_the_other_document(void **state)
{
    (void)state;
    unsigned seed = 7;
    for (int i = 0; i < 500; i++) {
        SW_ERR(err);
        SW_AUTO_JSON *from = random_document(&seed, 0);
        SW_AUTO_JSON *to = random_document(&seed, 0);
        SW_AUTO_JSON *patch = sw_jsonpatch_create(from, to);
        SW_AUTO_JSON *got = NULL;
        if (sw_jsonpatch_apply(from, patch, &got, &err) < 0)
            fail_msg("%s", sw_err_text(&err));
        if (!sw_json_equal(got, to))
            fail_msg("round %d: %s", i, json_object_to_json_string(patch));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(applies_as_the_rfc_says),
        cmocka_unit_test(says_which_operation_failed_and_changes_nothing),
        cmocka_unit_test(creates_only_what_differs),
        cmocka_unit_test(what_was_created_gives_the_other_document),
    };
    return cmocka_run_group_tests_name("data_jsonpatch", tests, NULL, NULL);
}
