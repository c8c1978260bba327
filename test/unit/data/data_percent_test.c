/* %XX, as in URLs. */
#include "data/text/percent.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"

static void all_but_what_may_stay_is_encoded(void **state SW_UNUSED)
{
    static const struct {
        const char *text, *keep, *encoded;
    } rows[] = {
        { "azAZ09", "", "azAZ09" },
        { "a-b.c_d~e", SW_PERCENT_UNRESERVED, "a-b.c_d~e" },
        { "a-b", "", "a%2Db" },
        { "a/b c%", "/", "a/b%20c%25" },
        { "\xc3\xa9\x7f", "-", "%C3%A9%7F" },
        { "", "", "" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_CHARS *encoded = sw_percent_encode(rows[i].text, rows[i].keep);
        assert_string_equal(encoded, rows[i].encoded);
    }
}

static void what_is_no_code_stays(void **state SW_UNUSED)
{
    static const struct {
        const char *text, *decoded;
    } rows[] = {
        { "a%2Fb%2f", "a/b/" },   { "%", "%" },       { "%2", "%2" },
        { "%g0%0g", "%g0%0g" },   { "%00x", "%00x" }, { "%25%32%35", "%25" },
        { "%C3%A9", "\xc3\xa9" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_CHARS *text = sw_strdup(rows[i].text);
        size_t len = sw_percent_decode(text, strlen(text), text); /* in its place */
        assert_int_equal(len, strlen(rows[i].decoded));
        assert_string_equal(text, rows[i].decoded);
    }
}

static void what_was_encoded_is_decoded_to_the_same(void **state SW_UNUSED)
{
    char all[256];
    for (size_t i = 0; i < sizeof all; i++)
        all[i] = (char)(i + 1); /* and a NUL at the end */
    SW_AUTO_CHARS *encoded = sw_percent_encode(all, "");
    size_t len = sw_percent_decode(encoded, strlen(encoded), encoded);
    assert_int_equal(len, 255);
    assert_memory_equal(encoded, all, sizeof all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_but_what_may_stay_is_encoded),
        cmocka_unit_test(what_is_no_code_stays),
        cmocka_unit_test(what_was_encoded_is_decoded_to_the_same),
    };
    return cmocka_run_group_tests_name("data_percent", tests, NULL, NULL);
}
