/* Semantic versions and constraints on them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "data/text/semver.h"

static struct sw_semver version(const char *text)
{
    struct sw_semver v;
    SW_ERR(err);
    if (sw_semver_parse(text, strlen(text), &v, &err) < 0)
        fail_msg("%s: %s", text, sw_err_text(&err));
    return v;
}

static void versions_are_read(void **state)
{
    static const char *const rows[][2] = {
        { "1.2.3", "1.2.3" },
        { "v1.2.3", "1.2.3" },
        { "1", "1.0.0" },
        { "v1.20", "1.20.0" },
        { "1.2.3-rc.1", "1.2.3-rc.1" },
        { "1.2.3+b.5", "1.2.3+b.5" },
        { "1.2.3-a-b+c-d", "1.2.3-a-b+c-d" },
        { "1.29.3-gke.100", "1.29.3-gke.100" },
    };
    (void)state;
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        struct sw_semver v = version(rows[i][0]);
        SW_AUTO_CHARS *text = sw_semver_text(&v);
        assert_string_equal(text, rows[i][1]);
    }
}

static void no_versions_are_refused(void **state)
{
    static const char *const rows[] = {
        "",  "x",       "1.2.3.4",  "1..2",   "-1",    "1.2.3-", "1.2.3+",
        "v", "1.2.3-é", "1.2.3-01", "1.2.3 ", "1.a.2", "vv1",    "99999999999999999999999.0.0",
    };
    (void)state;
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        struct sw_semver v;
        SW_ERR(err);
        if (sw_semver_parse(rows[i], strlen(rows[i]), &v, &err) == 0)
            fail_msg("'%s' is read as a version", rows[i]);
    }
}

static void precedence_is_the_specifications(void **state)
{
    static const char *const ascending[] = {
        "0.9.9",      "1.0.0-alpha",  "1.0.0-alpha.1", "1.0.0-alpha.beta",
        "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1",
        "1.0.0",      "1.0.1",        "1.10.0",        "2.0.0",
    };
    (void)state;
    for (size_t i = 0; i < SW_COUNT(ascending); i++) {
        for (size_t k = 0; k < SW_COUNT(ascending); k++) {
            struct sw_semver a = version(ascending[i]), b = version(ascending[k]);
            int c = sw_semver_compare(&a, &b);
            assert_int_equal((c > 0) - (c < 0), (i > k) - (i < k));
        }
    }
    struct sw_semver a = version("1.0.0+a"), b = version("1.0.0+b");
    assert_int_equal(sw_semver_compare(&a, &b), 0);
}

static void constraints_hold(void **state)
{
    static const struct {
        const char *range, *in, *out; /* versions, separated by blanks */
    } rows[] = {
        { "1.2.3", "1.2.3", "1.2.4 1.2.2" },
        { "=1.2.3", "1.2.3", "1.2.4" },
        { "!=1.2.3", "1.2.4", "1.2.3" },
        { ">1.2.3", "1.2.4 2.0.0", "1.2.3 1.0.0" },
        { ">=1.2.3", "1.2.3 1.2.4", "1.2.2 1.2.4-rc.1" },
        { ">=1.2.3-0", "1.2.3 1.2.4-rc.1", "1.2.2" },
        { "<2", "1.9.9", "2.0.0 3.0.0" },
        { "<=1.2", "1.2.9 1.0.0", "1.3.0" },
        { "^1.2.3", "1.2.3 1.9.0", "2.0.0 1.2.2" },
        { "^0.2.3", "0.2.3 0.2.9", "0.3.0 0.2.2" },
        { "^0.0.3", "0.0.3", "0.0.4" },
        { "^0", "0.1.0 0.9.9", "1.0.0" },
        { "~1.2.3", "1.2.3 1.2.9", "1.3.0" },
        { "~1.2", "1.2.0 1.2.9", "1.3.0" },
        { "~1", "1.0.0 1.9.0", "2.0.0" },
        { "1.x", "1.0.0 1.9.9", "2.0.0" },
        { "1.2.*", "1.2.0 1.2.9", "1.3.0" },
        { "*", "0.0.1 9.9.9", "1.0.0-rc.1" },
        { "1.0 - 2.0", "1.0.0 1.5.0 2.0.0", "0.9.0 2.1.0" },
        { ">=1.0, <2.0", "1.5.0", "2.0.0 0.9.0" },
        { ">=1.0 <2.0", "1.5.0", "2.0.0 0.9.0" },
        { "<1.0 || >=2.0", "0.9.0 2.0.0", "1.5.0" },
        { ">=1.20.0-0", "v1.29.3 1.29.3-gke.1", "1.19.9" },
    };
    (void)state;
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO(sw_semver_range) *range = NULL;
        SW_ERR(err);
        if (sw_semver_range_parse(rows[i].range, strlen(rows[i].range), &range, &err) < 0)
            fail_msg("%s: %s", rows[i].range, sw_err_text(&err));
        for (int wanted = 0; wanted < 2; wanted++) {
            SW_AUTO_CHARS *list = sw_strdup(wanted ? rows[i].in : rows[i].out);
            char *rest = list;
            for (char *word; (word = strsep(&rest, " "));) {
                struct sw_semver v = version(word);
                if (sw_semver_range_has(range, &v) != wanted)
                    fail_msg("'%s' has %s: %d", rows[i].range, word, !wanted);
            }
        }
    }
}

static void no_constraints_are_refused(void **state)
{
    static const char *const rows[] = { "bad!", ">>1", "1.2.3.4", "^x.y", ">= || 1", "1 -- 2" };
    (void)state;
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO(sw_semver_range) *range = NULL;
        SW_ERR(err);
        if (sw_semver_range_parse(rows[i], strlen(rows[i]), &range, &err) == 0)
            fail_msg("'%s' is read as a constraint", rows[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_are_read),
        cmocka_unit_test(no_versions_are_refused),
        cmocka_unit_test(precedence_is_the_specifications),
        cmocka_unit_test(constraints_hold),
        cmocka_unit_test(no_constraints_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
