/* Texts that are cut to a length. */
#include "data/text/cut.h"

#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"

static void test_cut(void **state SW_UNUSED)
{
    static const struct {
        const char *text;
        size_t most;
        const char *cut;
    } cases[] = {
        { "", 0, "" },
        { "", 5, "" },
        { "hello", 5, "hello" },
        { "hello!", 5, "he..." },
        { "hello", 4, "h..." },
        { "h\xc3\xa4llo", 5, "h..." }, /* not the half of a character */
        { "h\xc3\xa4llo", 6, "h\xc3\xa4llo" },
        { "\xf0\x9f\x98\x80\xf0\x9f\x98\x80", 7, "\xf0\x9f\x98\x80..." },
        { "\x80\x80\x80\x80\x80", 4, "..." },
    };
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        SW_AUTO_CHARS *cut = sw_text_cut(cases[i].text, cases[i].most);
        assert_string_equal(cut, cases[i].cut);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_cut) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
