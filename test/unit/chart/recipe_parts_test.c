/* Patterns, .helmignore, versions, the order of kinds, splitting: the small parts. */
#include "recipe_util.h"

#include "chart/recipe/load/chart.h"
#include "chart/recipe/load/glob.h"
#include "chart/recipe/load/ignore.h"
#include "chart/recipe/plan/cycle.h"
#include "chart/recipe/plan/split.h"
#include "chart/recipe/render/order.h"

/* ---- patterns -----------------------------------------------------------------------------------
 */

static void patterns_match_as_gos_path_match(SW_UNUSED void **state)
{
    static const struct {
        const char *pattern, *name;
        enum sw_glob want;
    } cases[] = {
        { "abc", "abc", SW_GLOB_YES },
        { "*", "abc", SW_GLOB_YES },
        { "*c", "abc", SW_GLOB_YES },
        { "a*", "a", SW_GLOB_YES },
        { "a*", "ab/c", SW_GLOB_NO },
        { "a*/b", "abc/b", SW_GLOB_YES },
        { "a*b*c*d*e*/f", "axbxcxdxe/f", SW_GLOB_YES },
        { "a*b*c*d*e*/f", "axbxcxdxe/xxx/f", SW_GLOB_NO },
        { "a*b?c*x", "abxbbxdbxebxczzx", SW_GLOB_YES },
        { "ab[c]", "abc", SW_GLOB_YES },
        { "ab[b-d]", "abc", SW_GLOB_YES },
        { "ab[e-g]", "abc", SW_GLOB_NO },
        { "ab[^c]", "abc", SW_GLOB_NO },
        { "ab[^e-g]", "abc", SW_GLOB_YES },
        { "a\\*b", "a*b", SW_GLOB_YES },
        { "a\\*b", "ab", SW_GLOB_NO },
        { "a?b",
          "a\xE2\x98\xBA"
          "b",
          SW_GLOB_YES },
        { "a???b",
          "a\xE2\x98\xBA"
          "b",
          SW_GLOB_NO },
        { "a[^a]b",
          "a\xE2\x98\xBA"
          "b",
          SW_GLOB_YES },
        { "[a-\xCE\xB6]*", "\xCE\xB1", SW_GLOB_YES },
        { "a?b", "a/b", SW_GLOB_NO },
        { "a*b", "a/b", SW_GLOB_NO },
        { "[\\]a]", "]", SW_GLOB_YES },
        { "[\\-x]", "-", SW_GLOB_YES },
        { "[x\\-]", "z", SW_GLOB_NO },
        { "[]a]", "]", SW_GLOB_BAD },
        { "[-]", "-", SW_GLOB_BAD },
        { "[x-]", "x", SW_GLOB_BAD },
        { "a[", "a", SW_GLOB_BAD },
        { "a[", "ab", SW_GLOB_BAD },
        { "[", "a", SW_GLOB_BAD },
        { "*x", "xxx", SW_GLOB_YES },
        { "", "", SW_GLOB_YES },
        { "", "a", SW_GLOB_NO },
    };
    for (size_t i = 0; i < SW_COUNT(cases); i++)
        if (sw_recipe_glob(cases[i].pattern, cases[i].name) != cases[i].want)
            fail_msg("'%s' on '%s'", cases[i].pattern, cases[i].name);
}

static void rules_leave_out_as_helm_does(SW_UNUSED void **state)
{
    static const struct {
        const char *rules, *path;
        bool is_dir, want;
    } cases[] = {
        { "helm.txt", "helm.txt", false, true },
        { "helm.*", "a/helm.txt", false, true },
        { "tiller*.txt", "helm.txt", false, false },
        { "*/a.txt", "cargo/a.txt", false, true },
        { "/a.txt", "cargo/a.txt", false, false },
        { "/a.txt", "a.txt", false, true },
        { "cargo/*.txt", "cargo/a.txt", false, true },
        { "mast/", "mast", true, true },
        { "mast/", "mast", false, false },
        { "# c\n\n  b.txt \n", "b.txt", false, true },
        { "!helm.txt", "helm.txt", false, false },
        { "!helm.txt", "tiller.txt", false, true },
        { "!*.txt", "cargo", true, true },
        { "", "templates/.dotfile", false, true },
        { "", "templates/a.yaml", false, false },
    };
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        SW_AUTO(sw_ignore) *ignore = NULL;
        assert_int_equal(sw_ignore_new("x", cases[i].rules, strlen(cases[i].rules), &ignore, NULL),
                         0);
        if (sw_ignore_match(ignore, cases[i].path, cases[i].is_dir) != cases[i].want)
            fail_msg("'%s' on '%s'", cases[i].rules, cases[i].path);
    }
}

static void a_bad_rule_is_named_with_its_line(SW_UNUSED void **state)
{
    SW_AUTO(sw_ignore) *ignore = NULL;
    SW_ERR(err);
    assert_int_equal(sw_ignore_new(".helmignore", "a\n**/b\n", 7, &ignore, &err), SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), ".helmignore:2: '**/b': double stars"));
    assert_int_equal(sw_ignore_new(".helmignore", "a[", 2, &ignore, &err), SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), ".helmignore:1: 'a[': malformed"));
}

/* ---- versions -----------------------------------------------------------------------------------
 */

static void ranges_hold_as_masterminds_has_them(SW_UNUSED void **state)
{
    static const struct {
        const char *range, *version;
        bool want;
    } cases[] = {
        { "1.2.3", "1.2.3", true },
        { "=1.2.3", "v1.2.3", true },
        { "1.2.3", "1.2.4", false },
        { "!=1.2.3", "1.2.4", true },
        { "!=1.2", "1.2.9", false },
        { ">1.2", "1.2.9", false },
        { ">1.2", "1.3.0", true },
        { ">= 1.16.0-0", "v1.29.0", true },
        { ">= 1.16.0-0", "v1.29.0-eks-1", true },
        { ">= 1.16.0", "v1.29.0-eks-1", false },
        { "<2", "1.9.9", true },
        { "<=11", "11.5.0", true },
        { "<=11", "12.0.0", false },
        { "=>1.2, <2", "1.5.0", true },
        { ">=1.2 <2", "2.0.0", false },
        { "1.2.x", "1.2.9", true },
        { "1.2.x", "1.3.0", false },
        { "*", "0.0.1", true },
        { "1", "1.9.0", true },
        { "~1.2.3", "1.2.9", true },
        { "~1.2.3", "1.3.0", false },
        { "~1", "1.9.0", true },
        { "~> 1.2", "1.2.7", true },
        { "^1.2.3", "1.9.0", true },
        { "^1.2.3", "2.0.0", false },
        { "^0.2.3", "0.2.9", true },
        { "^0.2.3", "0.3.0", false },
        { "^0.0.3", "0.0.4", false },
        { "^0.0", "0.0.9", true },
        { "^0", "0.9.0", true },
        { "1.2 - 1.4", "1.4.7", true },
        { "1.2 - 1.4.5", "1.4.7", false },
        { "<1 || >2", "3.0.0", true },
        { "<1 || >2", "2.0.0", false },
        { "1.2.3-beta", "1.2.3-beta", true },
        { ">1.2.3-alpha.2", "1.2.3-alpha.10", true },
        { ">=1.2.3-beta.1", "1.2.3-beta", false },
        { "", "1.0.0", false },
        { "one", "1.0.0", false },
        { "1.0.0", "one", false },
        { ">=1.2 ||", "1.3.0", false },
        { "v0.1.x", "v0.1.5", true },
    };
    for (size_t i = 0; i < SW_COUNT(cases); i++)
        if (sw_version_in_range(cases[i].range, cases[i].version) != cases[i].want)
            fail_msg("'%s' on '%s'", cases[i].range, cases[i].version);
}

/* ---- order --------------------------------------------------------------------------------------
 */

static void kinds_have_sros_order(SW_UNUSED void **state)
{
    static const char *const order[] = {
        "Namespace",   "ServiceAccount", "Secret",       "ConfigMap", "CustomResourceDefinition",
        "ClusterRole", "RoleBinding",    "Certificates", "Issuer",    "SecurityContextConstraints",
        "ImageStream", "BuildConfig",    "Service",      "DaemonSet", "Deployment",
        "Job",         "APIService",     "Abc"
    };
    for (size_t i = 1; i < SW_COUNT(order); i++)
        if (sw_kind_rank(order[i - 1]) >= sw_kind_rank(order[i]))
            fail_msg("%s, %s", order[i - 1], order[i]);
    assert_int_equal(sw_kind_rank("Xyz"), sw_kind_rank("Abc"));
}

static void a_cycle_beside_a_chain_is_found(SW_UNUSED void **state)
{
    static const char *const names[] = { "a", "b", "c", "d" };
    struct sw_needs needs = sw_needs_init(4);
    size_t order[4];
    SW_ERR(err);
    sw_needs_add(&needs, 0, 1); /* a leads into the cycle and is none of it */
    sw_needs_add(&needs, 1, 2);
    sw_needs_add(&needs, 2, 1);
    assert_int_equal(sw_needs_sort(&needs, names, order, &err), SW_INVALID);
    assert_string_equal(sw_err_text(&err), "cycle: b -> c -> b");
    sw_needs_done(&needs);
}

/* ---- splitting ----------------------------------------------------------------------------------
 */

static void expect_split(const char *text, const char *want)
{
    struct sw_split s = { .text = text, .len = strlen(text) };
    SW_AUTO_CHARS *got = sw_strdup("");
    while (sw_split_next(&s)) {
        char *more = sw_printf("%s[%d:%.*s]", got, s.line, (int)s.doc_len, s.doc);
        sw_chars_auto(&got);
        got = more;
    }
    assert_string_equal(got, want);
}

static void documents_end_at_three_dashes(SW_UNUSED void **state)
{
    expect_split("a: 1\n---\nb: 2\n", "[1:a: 1][3:b: 2]");
    expect_split("\n\n---\na: 1\n\n---   \n\n\nb: 2\n---\n", "[4:a: 1][9:b: 2]");
    expect_split("--- # c\na: 1", "[1:# c\na: 1]");
    expect_split("a: |\n  ---\nb: 2", "[1:a: |\n  ---\nb: 2]");
    expect_split("a: 1\n---b: 2", "[1:a: 1][2:b: 2]");
    expect_split("", "");
    expect_split(" \n---\n  \n", "");
}

static void a_separator_behind_a_separator_is_text_as_in_helm(SW_UNUSED void **state)
{
    expect_split("a: 1\n---\n---\nb: 2", "[1:a: 1][3:---\nb: 2]");
}

/* Helm writes a line end after each document, which kubectl's splitting leaves. */
static void a_text_at_a_documents_end_keeps_its_line_end(SW_UNUSED void **state)
{
    struct sw_split s = { .text = "a: |\n  x\n\n---\na: |\n  x", .len = 22 };
    for (int i = 0; i < 2; i++) {
        SW_AUTO_JSON *doc = NULL;
        assert_true(sw_split_next(&s));
        assert_int_equal(sw_split_parse(&s, "t.yaml", &doc, NULL), 0);
        assert_string_equal(sw_json_str(doc, "", "a", NULL), "x\n");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_as_gos_path_match),
        cmocka_unit_test(rules_leave_out_as_helm_does),
        cmocka_unit_test(a_bad_rule_is_named_with_its_line),
        cmocka_unit_test(ranges_hold_as_masterminds_has_them),
        cmocka_unit_test(kinds_have_sros_order),
        cmocka_unit_test(a_cycle_beside_a_chain_is_found),
        cmocka_unit_test(documents_end_at_three_dashes),
        cmocka_unit_test(a_separator_behind_a_separator_is_text_as_in_helm),
        cmocka_unit_test(a_text_at_a_documents_end_keeps_its_line_end),
    };
    return cmocka_run_group_tests_name("recipe_parts", tests, NULL, NULL);
}
