/* JSON to documents and back. */
#include "data/json/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check(const char *text, unsigned style, const char *want)
{
    SW_ERR(err);
    SW_AUTO_JSON *doc = NULL;
    /* a block of the exact size, without a NUL */
    size_t len = strlen(text);
    char *exact = malloc(len ? len : 1);
    memcpy(exact, text, len);
    int rc = sw_json_parse(exact, len, NULL, &doc, &err);
    free(exact);
    if (rc < 0)
        fail_msg("%s: %s", text, sw_err_text(&err));
    SW_AUTO_CHARS *got = sw_json_text(doc, style, NULL);
    assert_string_equal(got, want);
}

static void reads_and_writes_each_kind(void **state)
{
    (void)state;
    static const char *const same[] = {
        "null",
        "true",
        "false",
        "0",
        "-1",
        "1.5",
        "\"\"",
        "[]",
        "{}",
        "[1,[2,{\"a\":null}]]",
        "{\"b\":1,\"a\":{\"d\":[],\"c\":\"x\"}}",
        "\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001é世😀/\"",
    };
    for (size_t i = 0; i < SW_COUNT(same); i++)
        check(same[i], SW_JSON_PLAIN, same[i]);
    check(" { \"a\" :\n[ 1 , 2 ]\t}\n", SW_JSON_PLAIN, "{\"a\":[1,2]}");
}

static void numbers_keep_their_exactness_and_text(void **state)
{
    (void)state;
    static const char same[] = "[9223372036854775807,18446744073709551615,-9223372036854775808,"
                               "1.10,1e3,-0,123456789012345678901234567890,1E-7]";
    check(same, SW_JSON_PLAIN, same);
}

static void the_last_of_equal_keys_wins(void **state)
{
    (void)state;
    check("{\"a\":1,\"b\":2,\"a\":3}", SW_JSON_PLAIN, "{\"a\":3,\"b\":2}");
}

static void refuses_equal_keys_on_request(void **state)
{
    (void)state;
    static const char text[] = "{\"a\":{\"x\":1},\n \"b\":{\"x\":1},\n \"a\":3}";
    SW_ERR(err);
    SW_AUTO_JSON *doc = NULL;
    const struct sw_json_opts opts = { .file = "f.json", .refuse_duplicate = true };
    assert_int_equal(sw_json_parse(text, strlen(text), &opts, &doc, &err), SW_INVALID);
    assert_true(sw_starts_with(sw_err_text(&err), "f.json:3:"));
    assert_non_null(strstr(sw_err_text(&err), "duplicate key 'a'"));
}

static void half_surrogates_are_replaced_as_in_go(void **state)
{
    (void)state;
    check("\"\\ud800\"", SW_JSON_PLAIN, "\"\xef\xbf\xbd\"");
    check("\"\\ud800x\\udc00\"", SW_JSON_PLAIN, "\"\xef\xbf\xbdx\xef\xbf\xbd\"");
    check("\"\\ud83d\\ude00 \\\\ud800\"", SW_JSON_PLAIN, "\"😀 \\\\ud800\"");
}

static void check_error(const char *text, size_t len, const char *want)
{
    SW_ERR(err);
    SW_AUTO_JSON *doc = NULL;
    if (sw_json_parse(text, len, NULL, &doc, &err) != SW_INVALID)
        fail_msg("accepted: %s", text);
    assert_null(doc);
    if (!sw_starts_with(sw_err_text(&err), want))
        fail_msg("%s: want %s, got %s", text, want, sw_err_text(&err));
}

static void refuses_what_is_no_json_and_says_where(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        { "", "1:1: unexpected end" },
        { "{", "1:2: unexpected end" },
        { "[1", "1:3: unexpected end" },
        { "\"a", "1:3: unexpected end" },
        { "\"\\", "1:3: unexpected end" },
        { "{\"a\":1,}", "1:8: expected a key, not '}'" },
        { "{1:1}", "1:2: expected a key or '}', not '1'" },
        { "{'a':1}", "1:2: expected a key or '}', not '''" },
        { "{\"a\" 1}", "1:6: expected ':', not '1'" },
        { "{\"a\":}", "1:6: expected a value, not '}'" },
        { "{\"a\":1]", "1:7: expected ',' or '}', not ']'" },
        { "{]", "1:2: expected a key or '}', not ']'" },
        { "[}", "1:2: expected a value or ']', not '}'" },
        { "[1,\n 2,\n x]", "3:2: expected a value, not 'x'" },
        { "[1 2]", "1:4: expected ',' or ']', not '2'" },
        { "[1] // c", "1:5: expected nothing more, not '/'" },
        { "{\"a\":1} x", "1:9: expected nothing more, not 'x'" },
        { "{}{}", "1:3: expected nothing more, not '{'" },
        { "[\v]", "1:2: expected a value or ']', not byte 0x0b" },
        { "[é]", "1:2: expected a value or ']', not 'é'" },
        { "\xff", "1:1: expected a value, not byte 0xff" },
        { "01", "1:2: a malformed number" },
        { "[-01]", "1:4: a malformed number" },
        { "[.5]", "1:2: expected a value or ']', not '.'" },
        { "[1.]", "1:4: a malformed number" },
        { "[1.e5]", "1:4: a malformed number" },
        { "[1e+]", "1:5: a malformed number" },
        { "[1x]", "1:3: a malformed number" },
        { "[+1]", "1:2: expected a value or ']', not '+'" },
        { "[-]", "1:3: a malformed number" },
        { "[1e999]", "1:6: number '1e999' is out of range" },
        { "[NaN]", "1:2: expected a value or ']', not 'N'" },
        { "[True]", "1:2: expected a value or ']', not 'T'" },
        { "[nulll]", "1:2: expected a value or ']', not 'n'" },
        { "\"a\nb\"", "1:3: a control character in a string" },
        { "\"ä\t\"", "1:3: a control character in a string" },
        { "\"a\\x\"", "1:3: a malformed escape in a string" },
        { "\"\\\n\"", "1:2: a malformed escape in a string" },
        { "\"\\u12g4\"", "1:2: a malformed escape in a string" },
        { "\"\\u12\"", "1:2: a malformed escape in a string" },
        { "\"aaaaaaaaaaaaa\xff\"", "1:15: a string is not UTF-8" },
        { "\"\xed\xa0\x80\"", "1:2: a string is not UTF-8" },
        { "{\"a\\u0000b\":1}", "1:" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++)
        check_error(rows[i].text, strlen(rows[i].text), rows[i].want);
    check_error("[1]\0", 4, "1:4: expected nothing more, not byte 0x00");
}

static void depth_and_size_are_bounded(void **state)
{
    (void)state;
    char text[1025];
    memset(text, '[', 512);
    memset(text + 512, ']', 512);
    text[1024] = '\0';
    check(text, SW_JSON_PLAIN, text);
    char deep[2000];
    memset(deep, '[', sizeof deep);
    check_error(deep, sizeof deep, "1:5");
    SW_ERR(err);
    SW_AUTO_JSON *doc = NULL;
    const struct sw_json_opts opts = { .max_bytes = 2 };
    assert_int_equal(sw_json_parse("[1]", 3, &opts, &doc, &err), SW_INVALID);
}

static void sorts_escapes_and_indents_on_request(void **state)
{
    (void)state;
    check("{\"b\":1,\"a\":{\"d\":2,\"c\":3}}", SW_JSON_SORTED, "{\"a\":{\"c\":3,\"d\":2},\"b\":1}");
    check("[\"<a&b>\\u2028\\u2029é\"]", SW_JSON_HTML,
          "[\"\\u003ca\\u0026b\\u003e\\u2028\\u2029é\"]");
    check("{\"a\":[1,{\"c\":\"<x>\"}],\"d\":{},\"e\":[]}", SW_JSON_PRETTY,
          "{\n  \"a\": [\n    1,\n    {\n      \"c\": \"<x>\"\n    }\n  ],\n  \"d\": {},\n  \"e\": "
          "[]\n}");
}

static void copies_share_nothing(void **state)
{
    (void)state;
    static const char text[] = "{\"a\":[1,1.50,\"x\\u0000y\",null,true,18446744073709551615]}";
    SW_ERR(err);
    SW_AUTO_JSON *doc = NULL;
    assert_int_equal(sw_json_parse(text, strlen(text), NULL, &doc, &err), 0);
    SW_AUTO_JSON *copy = sw_json_copy(doc);
    assert_true(sw_json_equal(doc, copy));
    SW_AUTO_CHARS *got = sw_json_text(copy, SW_JSON_PLAIN, NULL);
    assert_string_equal(got, text);
    json_object_object_del(copy, "a");
    assert_false(sw_json_equal(doc, copy));
    assert_null(sw_json_copy(NULL));
}

static void compares_as_json_does(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        bool equal;
    } rows[] = {
        { "{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", true },
        { "{\"a\":1}", "{\"a\":1,\"b\":null}", false },
        { "{\"a\":null}", "{\"b\":null}", false },
        { "[1,2]", "[2,1]", false },
        { "[1]", "[1,1]", false },
        { "1", "1.0", true },
        { "1", "\"1\"", false },
        { "null", "false", false },
        { "true", "true", true },
        { "-1", "18446744073709551615", false },
        { "\"a\\u0000b\"", "\"a\\u0000c\"", false },
        { "9007199254740993", "9007199254740992", false },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_ERR(err);
        SW_AUTO_JSON *a = NULL, *b = NULL;
        assert_int_equal(sw_json_parse(rows[i].a, strlen(rows[i].a), NULL, &a, &err), 0);
        assert_int_equal(sw_json_parse(rows[i].b, strlen(rows[i].b), NULL, &b, &err), 0);
        if (sw_json_equal(a, b) != rows[i].equal)
            fail_msg("%s and %s", rows[i].a, rows[i].b);
    }
}

static size_t heap_of(struct json_object *doc)
{
    size_t n = 0;
    if (json_object_is_type(doc, json_type_object))
        n = (size_t)json_object_get_object(doc)->size;
    else if (json_object_is_type(doc, json_type_array))
        for (size_t i = 0; i < json_object_array_length(doc); i++)
            n += heap_of(json_object_array_get_idx(doc, i));
    json_object *child = NULL;
    if (json_object_is_type(doc, json_type_object) &&
        json_object_object_get_ex(doc, "list", &child))
        n += heap_of(child);
    return n;
}

static void packed_documents_are_the_same_and_smaller(void **state)
{
    (void)state;
    SW_AUTO_JSON *doc = json_tokener_parse(
        "{\"b\":1,\"a\":{},\"list\":[{\"x\":null},{\"y\":\"z\"},[]]}");
    SW_AUTO_JSON *twin = sw_json_copy(doc);
    size_t before = heap_of(doc);
    sw_json_pack(doc);
    assert_true(heap_of(doc) * 3 < before);
    assert_string_equal(json_object_to_json_string(doc), json_object_to_json_string(twin));
    for (int i = 0; i < 100; i++) { /* it can grow again */
        SW_AUTO_CHARS *key = sw_printf("key-%d", i);
        json_object_object_add(doc, key, json_object_new_int(i));
        json_object_object_add(twin, key, json_object_new_int(i));
    }
    assert_true(sw_json_equal(doc, twin));
    sw_json_pack(doc);
    assert_true(sw_json_equal(doc, twin));
    sw_json_pack(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_and_writes_each_kind),
        cmocka_unit_test(numbers_keep_their_exactness_and_text),
        cmocka_unit_test(the_last_of_equal_keys_wins),
        cmocka_unit_test(refuses_equal_keys_on_request),
        cmocka_unit_test(half_surrogates_are_replaced_as_in_go),
        cmocka_unit_test(refuses_what_is_no_json_and_says_where),
        cmocka_unit_test(depth_and_size_are_bounded),
        cmocka_unit_test(sorts_escapes_and_indents_on_request),
        cmocka_unit_test(copies_share_nothing),
        cmocka_unit_test(compares_as_json_does),
        cmocka_unit_test(packed_documents_are_the_same_and_smaller),
    };
    return cmocka_run_group_tests_name("data_json", tests, NULL, NULL);
}
