/* Which changes of nodes an engine has to be told of: its own, and no others. */
#include "engine_sim.h"

static const struct sim_recipe config = {
    .states = { { .name = "a",
                  .objects = { { .kind = "ConfigMap", .name = "a1" } },
                  .n_objects = 1 } },
    .n_states = 1,
};
static const struct sim_recipe daemon = {
    .states = { { .name = "a",
                  .objects = { { .kind = "DaemonSet", .name = "a1", .awaited = true } },
                  .n_objects = 1 } },
    .n_states = 1,
};

static struct sim *walked(const struct sim_recipe *recipe)
{
    struct sim *sim = sim_new(recipe, 1);
    sim->node_selector = "{'accel':'1'}";
    sim_node(sim, "mine", "{'accel':'1'}");
    sim_node(sim, "other", "{'accel':'0'}");
    sim_start(sim);
    sim_run(sim, 60000);
    return sim;
}

static bool minds(struct sim *sim, const char *node)
{
    return sw_engine_concerns_node(sim->engine, sw_node_set_find(sim->node_set, node));
}

static void its_own_node_is_minded_and_anothers_not(void **state)
{
    (void)state;
    struct sim *sim = walked(&config);
    assert_non_null(sim_label(sim, "mine", "a"));
    assert_true(minds(sim, "mine"));
    assert_false(minds(sim, "other"));
    sim_free(sim);
}

static void a_node_that_begins_to_match_is_minded(void **state)
{
    (void)state;
    struct sim *sim = walked(&config);
    sim_node(sim, "other", "{'accel':'1'}");
    assert_true(minds(sim, "other"));
    sim_run(sim, 60000);
    assert_non_null(sim_label(sim, "other", "a"));
    sim_free(sim);
}

static void a_node_that_matches_no_more_is_minded(void **state)
{
    (void)state;
    struct sim *sim = walked(&config);
    sim_node(sim, "mine", "{'accel':'0'}");
    assert_true(minds(sim, "mine"));
    sim_free(sim);
}

static void a_node_with_its_label_is_minded(void **state)
{
    (void)state;
    struct sim *sim = walked(&config);
    sim_node(sim, "other", "{'accel':'0','" SIM_LABEL "a':'Ready'}");
    assert_true(minds(sim, "other"));
    sim_free(sim);
}

static void a_node_that_its_pods_run_on_is_minded(void **state)
{
    (void)state;
    struct sim *sim = walked(&daemon); /* its DaemonSet has pods everywhere */
    assert_true(minds(sim, "other"));
    sim_free(sim);
}

static void a_node_that_is_gone_is_minded(void **state)
{
    (void)state;
    struct sim *sim = walked(&config);
    uint32_t node = sw_node_set_remove(sim->node_set, "other");
    assert_true(sw_engine_concerns_node(sim->engine, node));
    sim_free(sim);
}

/* ---- a node that was started anew --------------------------------------------------------------
 */

static size_t times(const struct sim *sim, const char *words)
{
    size_t n = 0;
    for (const char *at = sim->log ? sim->log : ""; (at = strstr(at, words)); at++)
        n++;
    return n;
}

static void set_pod_ready(struct sim *sim, const char *pod, const char *status)
{
    struct json_object *doc = sim_find(sim, "Pod", pod);
    assert_non_null(doc);
    sw_json_set_str(sw_obj_condition(doc, "Ready"), status, "status", NULL);
    sim_touch(sim, doc);
    sim_run(sim, 60000);
}

static void a_reboot_is_told_and_its_pod_takes_the_label(void **state)
{
    (void)state;
    struct sim *sim = sim_new(&daemon, 1);
    sim->boot_id = "b1";
    sim_node(sim, "n0", "{}");
    sim_node(sim, "n1", "{}");
    sim_start(sim);
    sim_run(sim, 60000);
    assert_non_null(sim_label(sim, "n0", "a"));
    size_t n_applies = sim->n_applies, n_deletes = sim->n_deletes;
    sim->frozen = true;
    sim_clear_log(sim);
    sim->boot_id = "b2";
    SW_AUTO_CHARS *labels = sw_json_text(sw_json_get(sim->nodes, "n0"), SW_JSON_PLAIN, NULL);
    sim_node(sim, "n0", labels);
    sim_run(sim, 60000);
    assert_int_equal(times(sim, "event NodeRebooted"), 1);
    set_pod_ready(sim, "a1-n0", "False");
    assert_null(sim_label(sim, "n0", "a"));
    assert_non_null(sim_label(sim, "n1", "a"));
    set_pod_ready(sim, "a1-n0", "True");
    assert_non_null(sim_label(sim, "n0", "a"));
    assert_int_equal(times(sim, "event NodeRebooted"), 1);
    assert_int_equal(sim->n_applies, n_applies); /* no driver is replaced for it */
    assert_int_equal(sim->n_deletes, n_deletes);
    sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_own_node_is_minded_and_anothers_not),
        cmocka_unit_test(a_node_that_begins_to_match_is_minded),
        cmocka_unit_test(a_node_that_matches_no_more_is_minded),
        cmocka_unit_test(a_node_with_its_label_is_minded),
        cmocka_unit_test(a_node_that_its_pods_run_on_is_minded),
        cmocka_unit_test(a_node_that_is_gone_is_minded),
        cmocka_unit_test(a_reboot_is_told_and_its_pod_takes_the_label),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
