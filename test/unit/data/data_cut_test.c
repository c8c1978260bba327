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

static void the_cause_stands_before_the_last_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "one\nUnable to find a match: kernel-devel-5.14\nskipping\nerror: build error: exit "
          "status 1\n",
          "Unable to find a match: kernel-devel-5.14 ... error: build error: exit status 1" },
        { "a.c:3: error: no x\na.c:9: error: no y\nmake: *** Error 2\n",
          "a.c:3: error: no x ... make: *** Error 2" },
        { "all went well\nno such device\n\n", "no such device" },
        { "fine\nbye\n", "bye" },
        { "no such file\nno such file\n", "no such file" },
    };
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        SW_AUTO_CHARS *got = sw_text_failure(cases[i].text, 100);
        assert_string_equal(got, cases[i].want);
    }
    assert_null(sw_text_failure(" \n", 100));
    SW_AUTO_CHARS *far = sw_strdup("error: long ago\n");
    for (int i = 0; i < 30; i++)
        sw_append(&far, "line %d\n", i);
    SW_AUTO_CHARS *got = sw_text_failure(far, 100);
    assert_string_equal(got, "line 29");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_cut),
                                        cmocka_unit_test(the_cause_stands_before_the_last_line) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
