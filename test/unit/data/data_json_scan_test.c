/* JSON in pieces: wherever it is cut, the same events come, and the same mistake is found. */
#include "data/json/json_scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Each event as a line. */
static void put(void *arg, const char *what, const char *text, size_t len)
{
    struct sw_buffer *out = arg;
    sw_buffer_put(out, what, strlen(what));
    sw_buffer_put(out, text, len);
    sw_buffer_char(out, '\n');
}

static int on_word(void *arg, enum sw_json_word word, struct sw_err *err SW_UNUSED)
{
    static const char *const names[] = { "null", "false", "true" };
    put(arg, names[word], "", 0);
    return 0;
}

static int on_number(void *arg, const char *text, size_t len, struct sw_err *err SW_UNUSED)
{
    put(arg, "number ", text, len);
    return 0;
}

static int on_string(void *arg, const char *text, size_t len, struct sw_err *err)
{
    if (len == 6 && memcmp(text, "refuse", 6) == 0)
        return sw_err_set(err, SW_FORBIDDEN, "refused");
    put(arg, "string ", text, len);
    return 0;
}

static int on_key(void *arg, const char *text, size_t len, struct sw_err *err SW_UNUSED)
{
    put(arg, "key ", text, len);
    return 0;
}

static int on_begin(void *arg, bool map, struct sw_err *err SW_UNUSED)
{
    put(arg, map ? "{" : "[", "", 0);
    return 0;
}

static int on_end(void *arg, bool map, struct sw_err *err SW_UNUSED)
{
    put(arg, map ? "}" : "]", "", 0);
    return 0;
}

static const struct sw_json_scan_ops ops = { .word = on_word,
                                             .number = on_number,
                                             .string = on_string,
                                             .key = on_key,
                                             .begin = on_begin,
                                             .end = on_end };

/* @step bytes a piece, the first of @first. @return the events, then how it ended; the caller's */
static char *scan(const char *text, size_t len, size_t first, size_t step, bool many)
{
    struct sw_buffer out = { 0 };
    struct sw_json_scan s = { .ops = &ops, .arg = &out, .many = many };
    SW_ERR(err);
    int rc = 0;
    for (size_t at = 0, n = first; rc == 0 && at < len; at += n, n = step) {
        if (n > len - at)
            n = len - at;
        char *exact = malloc(n ? n : 1); /* no byte more is there to be read */
        memcpy(exact, text + at, n);
        rc = sw_json_scan_feed(&s, exact, n, &err);
        free(exact);
    }
    if (rc == 0)
        rc = sw_json_scan_end(&s, &err);
    SW_AUTO_CHARS *end = rc < 0 ? sw_printf("%zu: %s", s.offset, sw_err_text(&err))
                                : sw_strdup("complete");
    put(&out, end, "", 0);
    sw_json_scan_done(&s);
    return sw_buffer_take(&out, NULL);
}

static void check(const char *text, bool many, const char *want)
{
    const size_t len = strlen(text);
    for (size_t first = 0; first <= len; first++) {
        SW_AUTO_CHARS *got = scan(text, len, first, len + 1, many);
        if (strcmp(got, want) != 0)
            fail_msg("%s cut at %zu: want\n%sgot\n%s", text, first, want, got);
    }
    for (size_t step = 1; step < 4; step++) {
        SW_AUTO_CHARS *got = scan(text, len, step, step, many);
        if (strcmp(got, want) != 0)
            fail_msg("%s by %zu: want\n%sgot\n%s", text, step, want, got);
    }
}

static void tells_each_event(void **state)
{
    (void)state;
    check("{}", false, "{\n}\ncomplete\n");
    check(" [ ]\r\n\t", false, "[\n]\ncomplete\n");
    check("{\"a\":[1,{\"b\":null}],\"c\":true}", false,
          "{\nkey a\n[\nnumber 1\n{\nkey b\nnull\n}\n]\nkey c\ntrue\n}\ncomplete\n");
    check("[false,\"\",[[]],\"x\"]", false,
          "[\nfalse\nstring \n[\n[\n]\n]\nstring x\n]\ncomplete\n");
}

static void a_scalar_may_be_all_there_is(void **state)
{
    (void)state;
    check("null", false, "null\ncomplete\n");
    check("-1.25e+10", false, "number -1.25e+10\ncomplete\n");
    check("0", false, "number 0\ncomplete\n");
    check("\"s\" ", false, "string s\ncomplete\n");
}

static void resolves_escapes(void **state)
{
    (void)state;
    check("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", false, "string \"\\/\b\f\n\r\t\ncomplete\n");
    check("{\"\\u0061\\u00e9\\u20AC\\uD83D\\uDE00\":1}", false,
          "{\nkey aé€😀\nnumber 1\n}\ncomplete\n");
    check("\"\\ud800 \\ud800\\u0041 \\udc00\\\\\"", false,
          "string \xef\xbf\xbd \xef\xbf\xbd"
          "A \xef\xbf\xbd\\\ncomplete\n");
}

static void strings_of_any_length_are_whole(void **state)
{
    (void)state;
    for (size_t n = 0; n < 40; n++) {
        char text[64], want[80];
        (void)snprintf(text, sizeof text, "\"%.*s\"", (int)n,
                       "0123456789abcdefghijklmnopqrstuvwxyzABCDEF");
        (void)snprintf(want, sizeof want, "string %.*s\ncomplete\n", (int)n, text + 1);
        check(text, false, want);
        /* a letter beyond ASCII and an escape at each place of it */
        (void)snprintf(text, sizeof text, "\"%.*sé\\n.\"", (int)n,
                       "0123456789abcdefghijklmnopqrstuvwxyzABCDEF");
        (void)snprintf(want, sizeof want, "string %.*sé\n.\ncomplete\n", (int)n, text + 1);
        check(text, false, want);
    }
}

static void every_byte_that_may_not_stand_in_a_string_is_found(void **state)
{
    (void)state;
    for (size_t at = 0; at < 20; at++)
        for (int c = 0; c < 256; c++) {
            char text[] = "\"abcdefghijklmnopqrstuvwxyz\"";
            const size_t len = sizeof text - 1;
            text[1 + at] = (char)c;
            SW_AUTO_CHARS *got = scan(text, len, len, len, false);
            const bool plain = c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
            const bool fine = strstr(got, "complete") != NULL;
            /* \k to \u are no escapes but these */
            const bool escape = c == '\\' && strchr("bfnrt", text[2 + at]);
            if (fine != (plain || escape))
                fail_msg("byte 0x%02x at %zu: %s", (unsigned)c, at, got);
        }
}

static void values_may_follow_one_another_where_asked_for(void **state)
{
    (void)state;
    check("{}\n{} [1]2 \"x\"", true, "{\n}\n{\n}\n[\nnumber 1\n]\nnumber 2\nstring x\ncomplete\n");
    check("", true, "complete\n");
    check("{}{", true, "{\n}\n{\n4: unexpected end\n");
    check("{},", true, "{\n}\n3: expected a value, not ','\n");
}

static void a_mistake_is_the_same_wherever_the_text_is_cut(void **state)
{
    (void)state;
    check("", false, "1: unexpected end\n");
    check("  ", false, "3: unexpected end\n");
    check("[1,", false, "[\nnumber 1\n4: unexpected end\n");
    check("{\"abc", false, "{\n6: unexpected end\n");
    check("[01]", false, "[\n3: a malformed number\n");
    check("[1.5.5]", false, "[\n5: a malformed number\n");
    check("[truth]", false, "[\n2: expected a value or ']', not 't'\n");
    check("[\"abcdefghijkl\\q\"]", false, "[\n15: a malformed escape in a string\n");
    check("[\"ab\n\"]", false, "[\n5: a control character in a string\n");
    check("[\"ab\xc3(\"]", false, "[\n5: a string is not UTF-8\n");
    check("{} {}", false, "{\n}\n4: expected nothing more, not '{'\n");
}

static void what_the_caller_refuses_ends_it_behind_the_token(void **state)
{
    (void)state;
    check("[\"a\",\"refuse\",\"b\"]", false, "[\nstring a\n13: refused\n");
    check("[\"\\u0072efuse\"]", false, "[\n14: refused\n");
}

static void depth_is_bounded(void **state)
{
    (void)state;
    char text[2 * SW_JSON_SCAN_DEPTH + 2];
    memset(text, '[', sizeof text);
    memset(text + SW_JSON_SCAN_DEPTH, ']', SW_JSON_SCAN_DEPTH);
    SW_AUTO_CHARS *most = scan(text, 2 * (size_t)SW_JSON_SCAN_DEPTH, 100, 7, false);
    assert_non_null(strstr(most, "complete"));
    memset(text, '[', sizeof text);
    SW_AUTO_CHARS *more = scan(text, sizeof text, 100, 7, false);
    assert_non_null(strstr(more, "513: nested more than 512 levels deep"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_each_event),
        cmocka_unit_test(a_scalar_may_be_all_there_is),
        cmocka_unit_test(resolves_escapes),
        cmocka_unit_test(strings_of_any_length_are_whole),
        cmocka_unit_test(every_byte_that_may_not_stand_in_a_string_is_found),
        cmocka_unit_test(values_may_follow_one_another_where_asked_for),
        cmocka_unit_test(a_mistake_is_the_same_wherever_the_text_is_cut),
        cmocka_unit_test(what_the_caller_refuses_ends_it_behind_the_token),
        cmocka_unit_test(depth_is_bounded),
    };
    return cmocka_run_group_tests_name("data_json_scan", tests, NULL, NULL);
}
