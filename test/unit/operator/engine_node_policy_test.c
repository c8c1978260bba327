/* What the cluster's admins allow resources to do to nodes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "data/data.h"
#include "operator/engine/nodes/node_policy.h"
#include "operator/engine/nodes/node_set.h"

static void put(struct sw_node_set *set, const char *name, const char *key, const char *value)
{
    const char *labels[] = { key, value };
    (void)sw_node_set_put(
        set, &(struct sw_node_set_facts){ .name = name, .labels = labels, .n_labels = 1 }, NULL);
}

static void the_default_is_careful(void **state)
{
    (void)state;
    struct sw_node_policy policy = { 0 };
    struct sw_node_set *set = sw_node_set_new();
    put(set, "worker", "zone", "a");
    put(set, "old", "node-role.kubernetes.io/master", "");
    put(set, "new", "node-role.kubernetes.io/control-plane", "");
    assert_true(sw_node_policy_allows(&policy, set, sw_node_set_find(set, "worker")));
    assert_false(sw_node_policy_allows(&policy, set, sw_node_set_find(set, "old")));
    assert_false(sw_node_policy_allows(&policy, set, sw_node_set_find(set, "new")));
    assert_int_equal(sw_node_policy_at_work(&policy, 1000), 1);
    assert_false(policy.force);
    policy.control_plane = true;
    assert_true(sw_node_policy_allows(&policy, set, sw_node_set_find(set, "new")));
    sw_node_set_free(set);
}

static void flags_say_more(void **state)
{
    (void)state;
    struct sw_node_policy policy = { 0 };
    SW_ERR(err);
    struct sw_node_set *set = sw_node_set_new();
    put(set, "in", "zone", "a");
    put(set, "out", "zone", "b");
    assert_int_equal(sw_node_policy_read(&policy, "zone in (a)", "10%", NULL, &err), 0);
    assert_true(sw_node_policy_allows(&policy, set, sw_node_set_find(set, "in")));
    assert_false(sw_node_policy_allows(&policy, set, sw_node_set_find(set, "out")));
    assert_int_equal(sw_node_policy_at_work(&policy, 3), 1);
    assert_int_equal(sw_node_policy_at_work(&policy, 101), 11);
    sw_node_policy_done(&policy);
    assert_int_equal(sw_node_policy_read(&policy, NULL, "7", "20%", &err), 0);
    assert_int_equal(sw_node_policy_tainted(&policy, 11), 3);
    assert_int_equal(sw_node_policy_tainted(&(struct sw_node_policy){ 0 }, 5), 3);
    assert_int_equal(sw_node_policy_at_work(&policy, 3), 7);
    static const char *const bad[][3] = {
        { "zone in", NULL, "--nodes-selector: " }, { NULL, "0", "--nodes-at-work: '0'" },
        { NULL, "101%", "--nodes-at-work: " },     { NULL, "some", "--nodes-at-work: " },
        { NULL, "", "--nodes-at-work: " },         { NULL, "-1", "--nodes-at-work: " },
    };
    for (size_t i = 0; i < SW_COUNT(bad); i++) {
        struct sw_node_policy p = { 0 };
        assert_int_equal(sw_node_policy_read(&p, bad[i][0], bad[i][1], NULL, &err), SW_INVALID);
        if (!strstr(sw_err_text(&err), bad[i][2]))
            fail_msg("%s", sw_err_text(&err));
        sw_node_policy_done(&p);
    }
    sw_node_policy_done(&policy);
    sw_node_set_free(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_default_is_careful),
                                        cmocka_unit_test(flags_say_more) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
