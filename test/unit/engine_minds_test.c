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
    return sw_engine_minds_node(sim->engine, sw_roster_find(sim->roster, node));
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
    uint32_t node = sw_roster_remove(sim->roster, "other");
    assert_true(sw_engine_minds_node(sim->engine, node));
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
