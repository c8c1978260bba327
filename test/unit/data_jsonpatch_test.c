/* RFC 6902: operations on a copy, all or nothing, and the shortest way from one document to
 * another. */
#include "data/merge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "data/json.h"

static struct json_object *parse(const char *text)
{
    struct json_object *doc = NULL;
    SW_ERR(err);
    if (sw_json_parse(text, strlen(text), NULL, &doc, &err) < 0)
        fail_msg("%s: %s", text, sw_err_text(&err));
    return doc;
}

static void applies(const char *target, const char *patch, const char *want)
{
    SW_AUTO_JSON *t = parse(target), *p = parse(patch), *w = parse(want), *got = NULL;
    SW_ERR(err);
    if (sw_jsonpatch_apply(t, p, &got, &err) < 0)
        fail_msg("%s: %s", patch, sw_err_text(&err));
    if (!sw_json_equal(got, w))
        fail_msg("%s: want %s, got %s", patch, want, json_object_to_json_string(got));
    SW_AUTO_JSON *untouched = parse(target);
    assert_true(sw_json_equal(t, untouched));
}

static void refuses(const char *target, const char *patch, int code, const char *words)
{
    SW_AUTO_JSON *t = parse(target), *p = parse(patch), *got = NULL;
    SW_ERR(err);
    assert_int_equal(sw_jsonpatch_apply(t, p, &got, &err), code);
    assert_null(got);
    assert_string_equal(err.text, words);
}

static void add_sets_a_key_or_inserts_into_a_list(void **state)
{
    (void)state;
    applies("{\"a\":1}", "[{\"op\":\"add\",\"path\":\"/b\",\"value\":2}]", "{\"a\":1,\"b\":2}");
    applies("[1,3]", "[{\"op\":\"add\",\"path\":\"/1\",\"value\":2}]", "[1,2,3]");
    applies("[1]", "[{\"op\":\"add\",\"path\":\"/-\",\"value\":2}]", "[1,2]");
    applies("{\"a\":1}", "[{\"op\":\"add\",\"path\":\"\",\"value\":[]}]", "[]");
    applies("{}", "[{\"op\":\"add\",\"path\":\"/a~1b~0c\",\"value\":null}]", "{\"a/b~c\":null}");
}

static void remove_replace_test_move_and_copy_do_what_they_say(void **state)
{
    (void)state;
    applies("{\"a\":[1,2]}", "[{\"op\":\"remove\",\"path\":\"/a/0\"}]", "{\"a\":[2]}");
    applies("{\"a\":1}", "[{\"op\":\"replace\",\"path\":\"/a\",\"value\":{}}]", "{\"a\":{}}");
    applies("{\"a\":1}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":1}]", "{\"a\":1}");
    applies("{\"a\":{\"b\":1},\"c\":{}}", "[{\"op\":\"move\",\"from\":\"/a/b\",\"path\":\"/c/d\"}]",
            "{\"a\":{},\"c\":{\"d\":1}}");
    applies("[1,2,3]", "[{\"op\":\"move\",\"from\":\"/0\",\"path\":\"/2\"}]", "[2,3,1]");
    applies("{\"a\":[1]}", "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"}]",
            "{\"a\":[1],\"b\":[1]}");
}

static void a_bad_operation_is_named_and_nothing_is_done(void **state)
{
    (void)state;
    refuses("{\"a\":1}",
            "[{\"op\":\"remove\",\"path\":\"/a\"},{\"op\":\"remove\",\"path\":\"/b\"}]",
            SW_NOTFOUND, "operation 1: remove '/b': nothing is at '/b'");
    refuses("{}", "[{\"op\":\"add\",\"path\":\"/a/b\",\"value\":1}]", SW_NOTFOUND,
            "operation 0: add '/a/b': nothing is at '/a/b'");
    refuses("{\"a\":1}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":2}]", SW_CONFLICT,
            "operation 0: test '/a': it has another value");
    refuses("{\"a\":1}", "[{\"op\":\"add\",\"path\":\"/a\"}]", SW_INVALID,
            "operation 0: add '/a': it has no value");
    refuses("{\"a\":{}}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a/b\"}]", SW_INVALID,
            "operation 0: move '/a/b': '/a' cannot be moved into itself");
    refuses("{}", "[{\"op\":\"frob\",\"path\":\"/a\"}]", SW_INVALID,
            "operation 0: 'frob' is no operation");
    refuses("{}", "[{\"path\":\"/a\"}]", SW_INVALID, "operation 0: it needs an op and a path");
    refuses("{}", "{}", SW_INVALID, "a JSON patch is a list of operations");
    refuses("[1]", "[{\"op\":\"add\",\"path\":\"/2\",\"value\":1}]", SW_NOTFOUND,
            "operation 0: add '/2': nothing is at '/2'");
}

/* Both ways, for every pair. */
static void created_patches_lead_from_one_to_the_other(void **state)
{
    (void)state;
    static const char *const docs[] = {
        "{}",
        "{\"a\":null}",
        "{\"a\":1,\"b\":{\"c\":[1,2,3]}}",
        "{\"b\":{\"c\":[1,3]}}",
        "{\"b\":{\"c\":[0,1,2,3,4]}}",
        "{\"b\":{\"c\":[3,2,1]},\"x/y\":{\"~\":1}}",
        "[1,[2],{\"a\":3}]",
        "[[2],{\"a\":4}]",
        "\"text\"",
        "null",
    };
    for (size_t i = 0; i < SW_COUNT(docs); i++) {
        for (size_t j = 0; j < SW_COUNT(docs); j++) {
            SW_AUTO_JSON *from = parse(docs[i]), *to = parse(docs[j]), *got = NULL;
            SW_AUTO_JSON *patch = sw_jsonpatch_create(from, to);
            SW_ERR(err);
            assert_int_equal(sw_jsonpatch_apply(from, patch, &got, &err), 0);
            if (!sw_json_equal(got, to))
                fail_msg("%s to %s by %s gave %s", docs[i], docs[j],
                         json_object_to_json_string(patch), json_object_to_json_string(got));
            assert_true((json_object_array_length(patch) == 0) == (i == j));
        }
    }
}

static void a_created_patch_holds_only_what_differs(void **state)
{
    (void)state;
    SW_AUTO_JSON *from = parse("{\"a\":1,\"l\":[1,2,3],\"m\":{\"x\":1,\"y\":2}}");
    SW_AUTO_JSON *to = parse("{\"a\":1,\"l\":[1,9,2,3],\"m\":{\"x\":1,\"y\":3}}");
    SW_AUTO_JSON *patch = sw_jsonpatch_create(from, to);
    SW_AUTO_JSON *want = parse("[{\"op\":\"add\",\"path\":\"/l/1\",\"value\":9},"
                               "{\"op\":\"replace\",\"path\":\"/m/y\",\"value\":3}]");
    assert_true(sw_json_equal(patch, want));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(add_sets_a_key_or_inserts_into_a_list),
        cmocka_unit_test(remove_replace_test_move_and_copy_do_what_they_say),
        cmocka_unit_test(a_bad_operation_is_named_and_nothing_is_done),
        cmocka_unit_test(created_patches_lead_from_one_to_the_other),
        cmocka_unit_test(a_created_patch_holds_only_what_differs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
