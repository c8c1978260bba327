/* Names of profiles and of the resources that stand for them. */
#include "slicing/mig/mig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void reads_and_prints_names(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        struct sw_mig_profile p;
        const char *resource;
    } rows[] = {
        { "1g.5gb", { 0, 1, 5, 0 }, "1g.5gb" },
        { "7g.80gb", { 0, 7, 80, 0 }, "7g.80gb" },
        { "1g.5gb+me", { 0, 1, 5, SW_MIG_ME }, "1g.5gb-plus-me" },
        { "1c.2g.10gb", { 1, 2, 10, 0 }, "1c.2g.10gb" },
        { "2c.7g.141gb", { 2, 7, 141, 0 }, "2c.7g.141gb" },
        { "1c.3g.20gb+me", { 1, 3, 20, SW_MIG_ME }, "1c.3g.20gb-plus-me" },
        { "1g.24gb+me.all", { 0, 1, 24, SW_MIG_ME_ALL }, "1g.24gb-plus-me.all" },
        { "4g.96gb+gfx", { 0, 4, 96, SW_MIG_GFX }, "4g.96gb-plus-gfx" },
        { "1g.24gb-me", { 0, 1, 24, SW_MIG_NO_ME }, "1g.24gb-me" },
        { "1g.24gb+me+gfx", { 0, 1, 24, SW_MIG_ME | SW_MIG_GFX }, "1g.24gb-plus-me-plus-gfx" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        struct sw_mig_profile p;
        char buf[SW_MIG_NAME_LEN];
        SW_ERR(err);
        if (sw_mig_profile_parse(rows[i].text, strlen(rows[i].text), &p, &err) < 0)
            fail_msg("%s", sw_err_text(&err));
        assert_true(sw_mig_profile_equal(&p, &rows[i].p));
        assert_string_equal(sw_mig_profile_text(&p, buf), rows[i].text);
        assert_string_equal(sw_mig_resource_text(&p, buf), rows[i].resource);
        char name[80];
        (void)snprintf(name, sizeof name, SW_MIG_DAS_PREFIX "%s", rows[i].resource);
        struct sw_mig_profile again;
        enum sw_mig_owner owner;
        assert_int_equal(sw_mig_resource_parse(name, strlen(name), &again, &owner, NULL), 0);
        assert_true(sw_mig_profile_equal(&p, &again));
        assert_int_equal(owner, SW_MIG_DAS);
    }
}

static void refuses_what_is_no_profile(void **state)
{
    (void)state;
    static const char *const bad[] = { "",         "1g",         "1g.5",         "1g.5GB",
                                       "0g.5gb",   "01g.5gb",    "1g.05gb",      "1g.0gb",
                                       "1g.5gb+",  "1g.5gb+mee", "1g.5gb me",    "g.5gb",
                                       "256g.5gb", "1g.65536gb", "3c.2g.10gb",   "1c.5gb",
                                       "-1g.5gb",  "1g.5gb-",    "1g.5gb+me+me", "1g.5gb+me-me",
                                       " 1g.5gb",  "1g.5gb\n",   "1g.5gb.",      "1c.1c.2g.10gb" };
    for (size_t i = 0; i < SW_COUNT(bad); i++) {
        struct sw_mig_profile p;
        SW_ERR(err);
        if (sw_mig_profile_parse(bad[i], strlen(bad[i]), &p, &err) != SW_INVALID)
            fail_msg("'%s' was taken", bad[i]);
        assert_non_null(strstr(sw_err_text(&err), "MIG profile"));
    }
}

static void a_compute_instance_of_everything_goes_unsaid(void **state)
{
    (void)state;
    struct sw_mig_profile p;
    char buf[SW_MIG_NAME_LEN];
    assert_int_equal(sw_mig_profile_parse("2c.2g.10gb", 10, &p, NULL), 0);
    assert_string_equal(sw_mig_profile_text(&p, buf), "2g.10gb");
}

static void reads_resource_names_of_both_owners(void **state)
{
    (void)state;
    static const struct {
        const char *name, *profile;
        int rc;
        enum sw_mig_owner owner;
    } rows[] = {
        { "nvidia.com/mig-1g.5gb", "1g.5gb", 0, SW_MIG_NVIDIA },
        { "nvidia.com/mig-1g.5gb.me", "1g.5gb+me", 0, SW_MIG_NVIDIA },
        { "nvidia.com/mig-1g.24gb.me.all", "1g.24gb+me.all", 0, SW_MIG_NVIDIA },
        { "nvidia.com/mig-1g.24gb.gfx", "1g.24gb+gfx", 0, SW_MIG_NVIDIA },
        { "nvidia.com/mig-1g.24gb-me", "1g.24gb-me", 0, SW_MIG_NVIDIA },
        { "nvidia.com/mig-1g.24gb-plus-me.all", "1g.24gb+me.all", 0, SW_MIG_NVIDIA },
        { "nvidia.com/mig-1c.2g.10gb", "1c.2g.10gb", 0, SW_MIG_NVIDIA },
        { "mig.das.com/1g.5gb", "1g.5gb", 0, SW_MIG_DAS },
        { "mig.das.com/mig-1g.5gb", "1g.5gb", 0, SW_MIG_DAS },
        { "mig.das.com/1g.5gb-plus-me", "1g.5gb+me", 0, SW_MIG_DAS },
        { "mig.das.com/1g.5gb.me", "1g.5gb+me", 0, SW_MIG_DAS },
        { "mig.das.com/1g.5gb+me", "1g.5gb+me", 0, SW_MIG_DAS },
        { "nvidia.com/gpu", NULL, SW_NOTFOUND, 0 },
        { "nvidia.com/gpu.shared", NULL, SW_NOTFOUND, 0 },
        { "cpu", NULL, SW_NOTFOUND, 0 },
        { "", NULL, SW_NOTFOUND, 0 },
        { "nvidia.com/mig-", NULL, SW_INVALID, 0 },
        { "nvidia.com/mig-all", NULL, SW_INVALID, 0 },
        { "mig.das.com/gpu", NULL, SW_INVALID, 0 },
        { "mig.das.com/1g.5gb-plus-", NULL, SW_INVALID, 0 },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        struct sw_mig_profile p;
        enum sw_mig_owner owner;
        char buf[SW_MIG_NAME_LEN];
        int rc = sw_mig_resource_parse(rows[i].name, strlen(rows[i].name), &p, &owner, NULL);
        if (rc != rows[i].rc)
            fail_msg("%s: %d", rows[i].name, rc);
        if (rc < 0)
            continue;
        assert_string_equal(sw_mig_profile_text(&p, buf), rows[i].profile);
        assert_int_equal(owner, rows[i].owner);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_and_prints_names),
        cmocka_unit_test(refuses_what_is_no_profile),
        cmocka_unit_test(a_compute_instance_of_everything_goes_unsaid),
        cmocka_unit_test(reads_resource_names_of_both_owners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
