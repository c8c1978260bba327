/* What grows with the cluster and with a recipe has a bound in the status, whatever comes. */
#include "engine_sim.h"

enum { MANY = 10000, MANY_KERNELS = 300, MOST_BYTES = 1536 * 1024 /* that an API server takes */ };

static const struct sim_recipe config = {
    .states = { { .name = "a",
                  .objects = { { .kind = "ConfigMap", .name = "a1" } },
                  .n_objects = 1 } },
    .n_states = 1,
};
static const struct sim_recipe drivers = {
    .states = { { .name = "a",
                  .affine = true,
                  .objects = { { .kind = "ConfigMap", .name = "a1" } },
                  .n_objects = 1 } },
    .n_states = 1,
};

static size_t status_bytes(const struct sim *sim)
{
    size_t len;
    SW_AUTO_CHARS *text = sw_json_text(sim->status, SW_JSON_PLAIN, &len);
    return len;
}

static const char *node_name(struct sim *sim, int i)
{
    return sw_arena_printf(sim->arena, "node-%05d.accelerators.example.com", i);
}

static void a_recipe_of_500_objects_is_walked(void **state SW_UNUSED)
{
    struct sim *sim = sim_new(&config, 1);
    sim->opts.status_gap_ms = 1000;
    sim->n_more = 499;
    sim_node(sim, "n0", "{}");
    sim_start(sim);
    sim_run(sim, 60000);
    assert_int_equal(sw_json_len(sw_json_get(sim->status, "inventory")), 500);
    assert_string_equal(sw_json_str(sim->status, "", "state", NULL), "Ready: ");
    assert_true(status_bytes(sim) < MOST_BYTES / 2);
    sim_free(sim);
}

static void a_recipe_of_10000_objects_is_refused(void **state SW_UNUSED)
{
    struct sim *sim = sim_new(&config, 1);
    sim->opts.status_gap_ms = 1000;
    sim->n_more = MANY;
    sim_node(sim, "n0", "{}");
    sim_start(sim);
    sim_run(sim, 10);
    struct json_object *first = sw_json_at(sw_json_get(sim->status, "states"), 0);
    assert_non_null(strstr(sw_json_str(first, "", "message", NULL), "one object too many"));
    assert_int_equal(sim->n_applies, 0);
    assert_true(status_bytes(sim) < MOST_BYTES / 2);
    sim_free(sim);
}

/* All are lost at once: a status names 500. */
static void a_cluster_of_10000_lost_nodes_has_a_short_status(void **state SW_UNUSED)
{
    struct sim *sim = sim_new(&config, 1);
    sim->opts.grace_ms = 600000;
    sim->node_selector = "{'accel':'1'}";
    sim->opts.status_gap_ms = 1000;
    for (int i = 0; i < MANY; i++)
        sim_node(sim, node_name(sim, i), "{'accel':'1','" SIM_LABEL "a':'Ready'}");
    sim_start(sim);
    sim_run(sim, 10000);
    for (int i = 0; i < MANY; i++)
        sim_node(sim, node_name(sim, i), "{'" SIM_LABEL "a':'Ready'}");
    sim_run(sim, 10000);
    struct json_object *lost = sw_json_get(sim->status, "lostNodes");
    size_t n_names = 0;
    for (size_t i = 0; i < sw_json_len(lost); i++)
        n_names += sw_json_len(sw_json_get(sw_json_at(lost, i), "nodes"));
    assert_int_equal(n_names, 500);
    assert_true(status_bytes(sim) < 64 * 1024);
    sim_free(sim);
}

/* The status says when a node was lost in whole seconds. */
static void a_restart_makes_the_grace_no_shorter(void **state SW_UNUSED)
{
    enum { GRACE_MS = 600000 };
    struct sim *sim = sim_new(&config, 1);
    sim->opts.grace_ms = GRACE_MS;
    sim->node_selector = "{'accel':'1'}";
    sim->opts.status_gap_ms = 1000;
    sim_node(sim, "n0", "{'accel':'1'}");
    sim_start(sim);
    sim_run(sim, 10000 + 1900 - sim->now_ms % 1000); /* late in a second */
    assert_string_equal(sim_label(sim, "n0", "a"), "Ready");
    const int64_t lost_ms = sim->now_ms;
    sim_node(sim, "n0", "{'" SIM_LABEL "a':'Ready'}");
    sim_run(sim, 10000);
    sim_restart(sim);
    sim_run(sim, lost_ms + GRACE_MS - 10 - sim->now_ms);
    assert_string_equal(sim_label(sim, "n0", "a"), "Ready");
    sim_run(sim, 10000);
    assert_null(sim_label(sim, "n0", "a"));
    sim_free(sim);
}

static void a_state_for_many_kernels_lists_100(void **state SW_UNUSED)
{
    struct sim *sim = sim_new(&drivers, 1);
    sim->opts.status_gap_ms = 1000;
    for (int i = 0; i < MANY_KERNELS; i++) {
        SW_AUTO_CHARS *labels = sw_printf("{'kernel':'5.%d.0'}", i);
        sim_node(sim, node_name(sim, i), labels);
    }
    sim_start(sim);
    sim_run(sim, 60000);
    struct json_object *first = sw_json_at(sw_json_get(sim->status, "states"), 0);
    assert_int_equal(sw_json_len(sw_json_get(first, "variants")), 100);
    assert_int_equal(sw_json_int(first, 0, "moreVariants", NULL), MANY_KERNELS - 100);
    assert_true(status_bytes(sim) < 64 * 1024);
    sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recipe_of_500_objects_is_walked),
        cmocka_unit_test(a_recipe_of_10000_objects_is_refused),
        cmocka_unit_test(a_restart_makes_the_grace_no_shorter),
        cmocka_unit_test(a_cluster_of_10000_lost_nodes_has_a_short_status),
        cmocka_unit_test(a_state_for_many_kernels_lists_100),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
