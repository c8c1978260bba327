/* Unified diffs, as `diff -u` writes them. */
#include "data/text/diff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "data/text/buffer.h"

static void check(const char *from, const char *to, const char *want)
{
    SW_AUTO_CHARS *got = sw_diff(from, to, "a", "b");
    assert_non_null(got);
    assert_string_equal(got, want);
}

static void equal_texts_have_none(void **state)
{
    (void)state;
    assert_null(sw_diff("", "", "a", "b"));
    assert_null(sw_diff("x\n", "x\n", "a", "b"));
}

static void shows_what_changed_with_three_lines_around(void **state)
{
    (void)state;
    check("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n",
          "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
    check("a\n", "", "--- a\n+++ b\n@@ -1 +0,0 @@\n-a\n");
    check("", "a\nb\n", "--- a\n+++ b\n@@ -0,0 +1,2 @@\n+a\n+b\n");
    check("a\nb\nc\n", "a\nc\n", "--- a\n+++ b\n@@ -1,3 +1,2 @@\n a\n-b\n c\n");
}

static void changes_far_apart_are_hunks_of_their_own(void **state)
{
    (void)state;
    check(
        "a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n",
        "--- a\n+++ b\n@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n");
    check("a\n1\n2\n3\n4\n5\n6\nb\n", "A\n1\n2\n3\n4\n5\n6\nB\n",
          "--- a\n+++ b\n@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B\n");
}

static void a_missing_line_end_is_said(void **state)
{
    (void)state;
    check("a\nb", "a\nb\n",
          "--- a\n+++ b\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n");
}

/* What stands behind ' ' and '+' (or '-') of all hunks of a diff with the whole text as context. */
static char *side(const char *diff, char sign)
{
    struct sw_buffer out = { 0 };
    for (const char *p = diff; *p;) {
        size_t len = strcspn(p, "\n") + 1;
        if (*p == ' ' || *p == sign)
            sw_buffer_put(&out, p + 1, len - 1);
        p += len;
    }
    return sw_buffer_take(&out, NULL);
}

/* Random texts of at most six lines, the middle ones different: all of it is one hunk, so that both
 * can be put together again. */
static void both_texts_are_in_it(void **state)
{
    (void)state;
    unsigned seed = 3;
    for (int round = 0; round < 2000; round++) {
        char texts[2][32] = { "", "" };
        for (int t = 0; t < 2; t++) {
            for (int n = 0; n < 6; n++) {
                seed = seed * 1103515245u + 12345u;
                const char line[] = { (char)('a' + (seed >> 16) % 3), '\n', '\0' };
                strcat(texts[t], n == 3 ? (t ? "x\n" : "y\n") : (seed >> 20) % 3 ? line : "");
            }
        }
        SW_AUTO_CHARS *diff = sw_diff(texts[0], texts[1], "", "");
        const char *hunk = strstr(diff, "@@ -");
        SW_AUTO_CHARS *old = side(hunk, '-');
        SW_AUTO_CHARS *now = side(hunk, '+');
        assert_string_equal(old, texts[0]);
        assert_string_equal(now, texts[1]);
    }
}

static void very_different_texts_are_replaced_as_a_whole(void **state)
{
    (void)state;
    enum { N = 3000 };
    struct sw_buffer a = { 0 }, b = { 0 };
    char line[32];
    for (int i = 0; i < N; i++) {
        sw_buffer_put(&a, line, (size_t)sprintf(line, "a%d\n", i));
        sw_buffer_put(&b, line, (size_t)sprintf(line, "b%d\n", i));
    }
    SW_AUTO_CHARS *from = sw_buffer_take(&a, NULL);
    SW_AUTO_CHARS *to = sw_buffer_take(&b, NULL);
    SW_AUTO_CHARS *diff = sw_diff(from, to, "a", "b");
    assert_true(sw_starts_with(diff, "--- a\n+++ b\n@@ -1,3000 +1,3000 @@\n-a0\n-a1\n"));
    assert_true(sw_ends_with(diff, "+b2998\n+b2999\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_texts_have_none),
        cmocka_unit_test(shows_what_changed_with_three_lines_around),
        cmocka_unit_test(changes_far_apart_are_hunks_of_their_own),
        cmocka_unit_test(a_missing_line_end_is_said),
        cmocka_unit_test(both_texts_are_in_it),
        cmocka_unit_test(very_different_texts_are_replaced_as_a_whole),
    };
    return cmocka_run_group_tests_name("data_diff", tests, NULL, NULL);
}
