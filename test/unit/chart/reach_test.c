/* What sources may reach, by address and by name. */
#include "chart/fetch/reach/reach.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct sw_reach *reach_of(const char *list)
{
    struct sw_reach *r = NULL;
    SW_ERR(err);
    assert_int_equal(sw_reach_new(list, &r, &err), 0);
    return r;
}

static bool has(const struct sw_reach *r, const char *address)
{
    struct sw_range range;
    assert_true(sw_range_parse(address, &range));
    return sw_reach_has_address(r, &range.base, 443);
}

static void addresses_without_a_list(void **state SW_UNUSED)
{
    static const char *const refused[] = {
        "127.0.0.1",
        "127.255.255.254",
        "0.0.0.0",
        "169.254.169.254",
        "100.100.100.200",
        "192.0.0.192",
        "168.63.129.16",
        "224.0.0.251",
        "255.255.255.255",
        "::",
        "::1",
        "fe80::1",
        "ff02::1",
        "fd00:ec2::254",
        "fd20:ce::254",
        "::127.0.0.1",
        "64:ff9b::169.254.169.254",
        "64:ff9b:1::7f00:1",
        "2002:a9fe:a9fe::1",
        "2001:0:1:2::80ff:fffe",
        "2a00::5efe:127.0.0.1",
        "2a00::200:5efe:127.0.0.1", /* private ones: nobody wrote them */
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "100.64.0.1",
        "fc00::1",
        "fd12::1",
        "64:ff9b::10.0.0.1",
    };
    static const char *const reached[] = {
        "1.1.1.1",         "172.32.0.1",           "11.0.0.0",        "126.255.255.255",
        "128.0.0.1",       "100.128.0.1",          "2606:4700::1111", "64:ff9b::1.1.1.1",
        "2002:101:101::1", "2a00::5eff:127.0.0.1",
    };
    SW_AUTO(sw_reach) *r = reach_of("");
    for (size_t i = 0; i < SW_COUNT(refused); i++)
        if (has(r, refused[i]))
            fail_msg("%s is reached", refused[i]);
    for (size_t i = 0; i < SW_COUNT(reached); i++)
        if (!has(r, reached[i]))
            fail_msg("%s is refused", reached[i]);
}

static void private_addresses_that_were_written(void **state SW_UNUSED)
{
    SW_AUTO(sw_reach) *r = reach_of("");
    sw_reach_add_written(r, "10.1.2.3:5000");
    sw_reach_add_written(r, "[fd12::1]:443");
    sw_reach_add_written(r, "localhost");
    assert_true(has(r, "10.1.2.3"));
    assert_true(has(r, "fd12::1"));
    assert_false(has(r, "10.1.2.4"));  /* a redirect leads there */
    assert_false(has(r, "127.0.0.1")); /* whoever wrote it */
    assert_true(sw_reach_has_host(r, "10.1.2.3", 80));
    assert_false(sw_reach_has_host(r, "10.1.2.4", 80));
    struct sw_range pods;
    assert_true(sw_range_parse("10.1.0.0/16", &pods));
    sw_reach_add_cluster(r, &pods);
    assert_false(has(r, "10.1.2.3")); /* a pod */
    assert_false(has(r, "64:ff9b::10.1.2.3"));
}

static void lists(void **state SW_UNUSED)
{
    SW_AUTO(sw_reach) *r = reach_of("*.corp, [fd12::]/16:443 10.0.0.0/8,!10.9.0.0/16,!bad.corp");
    assert_true(has(r, "10.0.0.1"));
    assert_false(has(r, "10.9.0.1"));
    assert_true(has(r, "fd12::9"));
    assert_true(has(r, "1.1.1.1"));
    assert_true(sw_reach_has_host(r, "Charts.CORP.", 443));
    assert_true(sw_reach_has_host(r, "[fd12::9]", 443));
    assert_false(sw_reach_has_host(r, "[fd12::9]", 80));
    assert_false(sw_reach_has_host(r, "bad.corp", 443));
    assert_false(sw_reach_has_host(r, "corp", 443));
    assert_false(sw_reach_has_host(r, "example.com", 443));
    assert_true(sw_reach_is_by_name(r));
    SW_AUTO(sw_reach) *any = reach_of("*,reg.corp:5000,!*:22");
    assert_true(sw_reach_has_host(any, "example.com", 443));
    assert_false(sw_reach_has_host(any, "example.com", 22));
    assert_false(sw_reach_has_host(any, "example.com:22", 443));
    assert_false(sw_reach_has_host(any, "a.svc", 443));
    assert_false(sw_reach_is_by_name(any));
}

static void faults(void **state SW_UNUSED)
{
    static const char *const bad[] = { "10.0.0.0/33", "::/129",    "a b..c", "host:0", "host:70000",
                                       "host:x",      "10.0.0.0/", "a/b",    "!",      "*x" };
    for (size_t i = 0; i < SW_COUNT(bad); i++) {
        struct sw_reach *r = NULL;
        SW_ERR(err);
        if (sw_reach_new(bad[i], &r, &err) != SW_INVALID)
            fail_msg("'%s' is taken", bad[i]);
    }
}

static void proxies(void **state SW_UNUSED)
{
    SW_AUTO(sw_reach) *r = reach_of("");
    sw_reach_add_proxy(r, "http://user:pw@127.0.0.3:3128/");
    struct sw_range at;
    assert_true(sw_range_parse("127.0.0.3", &at));
    assert_true(sw_reach_has_address(r, &at.base, 3128));
    assert_false(sw_reach_has_address(r, &at.base, 80));
    assert_true(sw_reach_is_by_name(r));
}

static void ranges(void **state SW_UNUSED)
{
    static const char *const in[] = { "10.0.1.0/24", "10.0.0.0/24", "10.0.3.0/24", "fd00:1::/64",
                                      "10.0.2.0/24", "10.0.2.7",    "10.0.0.0/22" };
    struct sw_ranges set = { 0 };
    for (size_t i = 0; i < SW_COUNT(in); i++) {
        struct sw_range range;
        assert_true(sw_range_parse(in[i], &range));
        sw_ranges_add(&set, range);
    }
    assert_int_equal(set.n, 2);
    for (size_t i = 0; i < set.n; i++) {
        SW_AUTO_CHARS *text = sw_range_text(&set.items[i]);
        assert_true(sw_streq(text, "10.0.0.0/22") || sw_streq(text, "fd00:1::/64"));
    }
    sw_ranges_done(&set);
}

static void places_that_admins_name(void **state SW_UNUSED)
{
    struct sw_reach *r = reach_of("!10.9.0.0/16");
    sw_reach_add_admins(r, "127.0.0.1:5000");
    sw_reach_add_admins(r, "10.8.0.1");
    sw_reach_add_admins(r, "10.9.0.1:443");
    assert_true(sw_reach_has_host(r, "127.0.0.1:5000", 443));
    assert_false(sw_reach_has_host(r, "127.0.0.1:5001", 443));
    assert_false(sw_reach_has_host(r, "127.0.0.1", 443));
    assert_true(has(r, "10.8.0.1"));
    assert_false(has(r, "10.8.0.2"));
    assert_false(has(r, "10.9.0.1"));
    sw_reach_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_without_a_list),
        cmocka_unit_test(private_addresses_that_were_written),
        cmocka_unit_test(lists),
        cmocka_unit_test(faults),
        cmocka_unit_test(proxies),
        cmocka_unit_test(places_that_admins_name),
        cmocka_unit_test(ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
