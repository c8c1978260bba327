/* The resource's own taints on its nodes: set, mended, taken off, and nobody else's touched. */
#include "engine_sim.h"
#include "operator/engine/nodes/node_policy.h"

#define GPU "[{'key':'gpu','value':'yes','effect':'NoSchedule'}]"
#define GPU_RECORD "{\"r\":[\"gpu=yes:NoSchedule\"]}"

static const struct sim_recipe daemon = {
    .states = { { .name = "a",
                  .objects = { { .kind = "DaemonSet", .name = "a1", .awaited = true } },
                  .n_objects = 1 } },
    .n_states = 1,
};
static const struct sim_recipe config = {
    .states = { { .name = "a",
                  .objects = { { .kind = "ConfigMap", .name = "a1" } },
                  .n_objects = 1 } },
    .n_states = 1,
};

static struct sim *new_sim(const struct sim_recipe *recipe)
{
    struct sim *sim = sim_new(recipe, 1);
    sim->node_selector = "{'accel':'1'}";
    sim->own_taints = GPU;
    sim_node(sim, "n0", "{'accel':'1'}");
    sim_node(sim, "n1", "{'accel':'1'}");
    sim_node(sim, "n2", "{}");
    return sim;
}

static struct sim *walked(const struct sim_recipe *recipe)
{
    struct sim *sim = new_sim(recipe);
    sim_start(sim);
    sim_run(sim, 60000);
    return sim;
}

/* The node's taints as kubectl shows them, with times; of the simulator's arena. */
static const char *taints(struct sim *sim, const char *node)
{
    struct json_object *list = sw_json_find(sim->taints, node, "taints", NULL);
    const char *all = "";
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *t = sw_json_at(list, i);
        const char *at = sw_json_str(t, "", "timeAdded", NULL);
        all = sw_arena_printf(sim->arena, "%s%s%s=%s:%s%s%s", all, *all ? " " : "",
                              sw_json_str(t, "", "key", NULL), sw_json_str(t, "", "value", NULL),
                              sw_json_str(t, "", "effect", NULL), *at ? "@" : "", at);
    }
    return all;
}

static const char *record(struct sim *sim, const char *node)
{
    return sw_json_str(sim->taints, "", node, "record", NULL);
}

static void change(struct sim *sim, int64_t for_ms)
{
    sim->generation++;
    sim_spec(sim);
    sim_run(sim, for_ms);
}

static void selected_nodes_are_tainted_and_no_others(void **state)
{
    (void)state;
    struct sim *sim = walked(&daemon);
    assert_string_equal(taints(sim, "n0"), "gpu=yes:NoSchedule");
    assert_string_equal(record(sim, "n0"), GPU_RECORD);
    assert_string_equal(taints(sim, "n1"), "gpu=yes:NoSchedule");
    assert_string_equal(taints(sim, "n2"), "");
    sim_free(sim);
}

static void own_taints_do_not_exclude_a_node(void **state)
{
    (void)state;
    struct sim *sim = walked(&config);
    assert_string_equal(sim_phase(sim, "a"), "Ready");
    assert_string_equal(sim_label(sim, "n0", "a"), "Ready");
    assert_null(sim_label(sim, "n2", "a"));
    sim_free(sim);
}

static void taint_and_label_that_are_due_together_are_one_patch(void **state)
{
    (void)state;
    struct sim *sim = walked(&config);
    size_t before = sim->n_labels;
    sim_node(sim, "n3", "{'accel':'1'}"); /* its state is finished already */
    sim_run(sim, 5000);
    assert_string_equal(taints(sim, "n3"), "gpu=yes:NoSchedule");
    assert_string_equal(sim_label(sim, "n3", "a"), "Ready");
    assert_int_equal(sim->n_labels - before, 1);
    sim_free(sim);
}

/* Admins bound how many nodes have taints of resources, whatever resource has set them. */
static void no_more_nodes_are_tainted_than_admins_allow(void **state)
{
    (void)state;
    static const struct sw_node_policy one = { .tainted = 1 };
    struct sim *sim = new_sim(&config);
    sim->opts.node_policy = &one;
    sim_start(sim);
    sim_run(sim, 60000);
    assert_string_equal(taints(sim, "n0"), "gpu=yes:NoSchedule");
    assert_string_equal(taints(sim, "n1"), "");
    assert_string_equal(sim_label(sim, "n1", "a"), "Ready");
    assert_non_null(strstr(sim->log, "TooManyTaints"));
    sim_node(sim, "n0", "{}"); /* its taint goes, and another node may have one */
    sim_run(sim, 600000);
    assert_string_equal(taints(sim, "n0"), "");
    assert_string_equal(taints(sim, "n1"), "gpu=yes:NoSchedule");
    sim_free(sim);
}

static void taints_of_other_resources_count(void **state)
{
    (void)state;
    static const struct sw_node_policy one = { .tainted = 1 };
    struct sim *sim = new_sim(&config);
    sim->opts.node_policy = &one;
    sw_json_set_str(sim->taints, "{\"other\":[\"x=:NoSchedule\"]}", "n2", "record", NULL);
    sim_node(sim, "n2", "{}");
    sim_start(sim);
    sim_run(sim, 60000);
    assert_string_equal(taints(sim, "n0"), "");
    assert_string_equal(taints(sim, "n1"), "");
    sim_free(sim);
}

/* Those that another resource is setting right now, too. */
static void taints_that_are_on_their_way_count(void **state)
{
    (void)state;
    static const struct sw_node_policy one = { .tainted = 1 };
    struct sim *sim = new_sim(&config);
    const uint32_t n2 = sw_node_set_find(sim->node_set, "n2");
    sim->opts.node_policy = &one;
    sw_node_set_begin_taint(sim->node_set, n2, true);
    sim_start(sim);
    sim_run(sim, 60000);
    assert_string_equal(taints(sim, "n0"), "");
    assert_string_equal(taints(sim, "n1"), "");
    sw_node_set_begin_taint(sim->node_set, n2, false); /* it was refused */
    sim_node(sim, "n0", "{'accel':'1','new':'1'}");
    sim_run(sim, 60000);
    assert_string_equal(taints(sim, "n0"), "gpu=yes:NoSchedule");
    assert_string_equal(taints(sim, "n1"), "");
    sim_free(sim);
}

static void nothing_is_written_once_they_are_set(void **state)
{
    (void)state;
    struct sim *sim = walked(&config);
    size_t before = sim->n_labels;
    sim_restart(sim);
    sim_run(sim, 60000);
    assert_int_equal(sim->n_labels, before);
    assert_string_equal(taints(sim, "n0"), "gpu=yes:NoSchedule");
    sim_free(sim);
}

static void foreign_taints_stay_with_their_times(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&config);
    sim->tolerations = "[{'operator':'Exists'}]";
    sim_taint(sim, "n0",
              "[{'key':'x','effect':'NoExecute','timeAdded':'2026-01-02T03:04:05Z'},"
              "{'key':'gpu','effect':'NoExecute'}]");
    sim_start(sim);
    sim_run(sim, 60000);
    assert_string_equal(taints(sim, "n0"),
                        "x=:NoExecute@2026-01-02T03:04:05Z gpu=:NoExecute gpu=yes:NoSchedule");
    sim->deleting = true;
    change(sim, 60000);
    assert_true(sim->finalized);
    assert_string_equal(taints(sim, "n0"), "x=:NoExecute@2026-01-02T03:04:05Z gpu=:NoExecute");
    assert_string_equal(record(sim, "n0"), "");
    assert_string_equal(taints(sim, "n1"), "");
    sim_free(sim);
}

static void a_taint_that_was_there_before_is_not_taken_off(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&config);
    sim_taint(sim, "n0", GPU);
    sim_start(sim);
    sim_run(sim, 60000);
    assert_string_equal(record(sim, "n0"), "");
    sim->deleting = true;
    change(sim, 60000);
    assert_string_equal(taints(sim, "n0"), "gpu=yes:NoSchedule");
    assert_string_equal(taints(sim, "n1"), "");
    sim_free(sim);
}

static void another_value_of_somebody_elses_is_left_and_said(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&config);
    sim->tolerations = "[{'key':'gpu','operator':'Exists'}]";
    sim_taint(sim, "n0", "[{'key':'gpu','value':'no','effect':'NoSchedule'}]");
    sim_start(sim);
    sim_run(sim, 60000);
    assert_string_equal(taints(sim, "n0"), "gpu=no:NoSchedule");
    assert_string_equal(record(sim, "n0"), "");
    assert_string_equal(taints(sim, "n1"), "gpu=yes:NoSchedule");
    assert_non_null(strstr(sim->log, "TaintClash"));
    sim_free(sim);
}

static void one_that_is_taken_off_by_hand_is_set_again(void **state)
{
    (void)state;
    struct sim *sim = walked(&config);
    sim_taint(sim, "n0", "[]");
    sim_run(sim, 5000);
    assert_string_equal(taints(sim, "n0"), "gpu=yes:NoSchedule");
    sim_free(sim);
}

static void a_node_that_loses_its_label_keeps_them_for_the_grace(void **state)
{
    (void)state;
    struct sim *sim = walked(&config);
    sim_node(sim, "n0", "{'specialresource.openshift.io/state-r-a':'Ready'}");
    sim_run(sim, 60000);
    assert_string_equal(taints(sim, "n0"), "gpu=yes:NoSchedule");
    sim_run(sim, 6 * 60000);
    assert_string_equal(taints(sim, "n0"), "");
    assert_string_equal(record(sim, "n0"), "");
    assert_null(sim_label(sim, "n0", "a"));
    sim_free(sim);
}

static void a_changed_selector_takes_them_off_at_once(void **state)
{
    (void)state;
    struct sim *sim = walked(&config);
    sim_node(sim, "n1", "{'accel':'1','other':'1'}");
    sim_run(sim, 5000);
    sim->node_selector = "{'other':'1'}";
    change(sim, 5000);
    assert_string_equal(taints(sim, "n0"), "");
    assert_string_equal(taints(sim, "n1"), "gpu=yes:NoSchedule");
    sim_free(sim);
}

static void changed_taints_replace_those_of_before(void **state)
{
    (void)state;
    struct sim *sim = walked(&config);
    sim->own_taints = "[{'key':'gpu','value':'other','effect':'NoSchedule'},"
                      "{'key':'gpu','effect':'NoExecute'}]";
    change(sim, 10000);
    assert_string_equal(taints(sim, "n0"), "gpu=other:NoSchedule gpu=:NoExecute");
    sim->own_taints = NULL;
    change(sim, 10000);
    assert_string_equal(taints(sim, "n0"), "");
    assert_string_equal(record(sim, "n0"), "");
    sim_free(sim);
}

/* The other resource is played by its entry in the node's record. */
static void what_another_resource_needs_too_stays(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&config);
    sw_json_set_str(sim->taints, "{\"other\":[\"gpu=yes:NoSchedule\"]}", "n0", "record", NULL);
    sim_taint(sim, "n0", GPU);
    sim_start(sim);
    sim_run(sim, 60000);
    assert_string_equal(record(sim, "n0"),
                        "{\"other\":[\"gpu=yes:NoSchedule\"],\"r\":[\"gpu=yes:NoSchedule\"]}");
    sim->deleting = true;
    change(sim, 60000);
    assert_string_equal(taints(sim, "n0"), "gpu=yes:NoSchedule");
    assert_string_equal(record(sim, "n0"), "{\"other\":[\"gpu=yes:NoSchedule\"]}");
    sim_free(sim);
}

static void a_record_that_cannot_be_read_is_no_reason_to_fail(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&config);
    sw_json_set_str(sim->taints, "{\"r\":", "n0", "record", NULL);
    sw_json_set_str(sim->taints, "[1]", "n1", "record", NULL);
    sim_taint(sim, "n0", "[]");
    sim_taint(sim, "n1", "[]");
    sim_start(sim);
    sim_run(sim, 60000);
    assert_string_equal(record(sim, "n0"), GPU_RECORD);
    assert_string_equal(record(sim, "n1"), GPU_RECORD);
    sim_free(sim);
}

static int conflict_once(struct sim *sim, const struct sw_action *action)
{
    int *left = sim->arg;
    return action->kind == SW_ACT_LABEL && (*left)-- > 0 ? SW_CONFLICT : 0;
}

static void a_conflict_is_tried_again_at_once(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&config);
    int left = 3;
    sim->refuse = conflict_once;
    sim->arg = &left;
    sim_start(sim);
    sim_run(sim, 60000);
    assert_string_equal(taints(sim, "n0"), "gpu=yes:NoSchedule");
    assert_string_equal(taints(sim, "n1"), "gpu=yes:NoSchedule");
    sim_free(sim);
}

/* ---- overlap -----------------------------------------------------------------------------------
 */

static const char *overlapping(struct sim *sim, const char *field)
{
    struct json_object *all = sw_json_get(sim->status, "conditions");
    return sw_json_str(sw_json_find_by(all, "type", "Overlapping"), "", field, NULL);
}

static void shared_nodes_are_a_condition_and_one_event(void **state)
{
    (void)state;
    struct sim *sim = walked(&config);
    assert_string_equal(overlapping(sim, "status"), "");
    sim->overlap = "2 nodes are other's as well";
    change(sim, 10000);
    assert_string_equal(overlapping(sim, "status"), "True");
    assert_string_equal(overlapping(sim, "message"), sim->overlap);
    assert_string_equal(sim_phase(sim, "a"), "Ready"); /* it holds nothing up */
    assert_non_null(strstr(sim->log, "Overlap"));
    sim_clear_log(sim);
    sim_restart(sim);
    sim_run(sim, 60000);
    assert_true(!sim->log || !strstr(sim->log, "Overlap"));
    sim->overlap = NULL;
    change(sim, 10000);
    assert_string_equal(overlapping(sim, "status"), "False");
    sim_free(sim);
}

#define TEST(f) cmocka_unit_test(f)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(selected_nodes_are_tainted_and_no_others),
        TEST(own_taints_do_not_exclude_a_node),
        TEST(taint_and_label_that_are_due_together_are_one_patch),
        TEST(no_more_nodes_are_tainted_than_admins_allow),
        TEST(taints_of_other_resources_count),
        TEST(taints_that_are_on_their_way_count),
        TEST(nothing_is_written_once_they_are_set),
        TEST(foreign_taints_stay_with_their_times),
        TEST(a_taint_that_was_there_before_is_not_taken_off),
        TEST(another_value_of_somebody_elses_is_left_and_said),
        TEST(one_that_is_taken_off_by_hand_is_set_again),
        TEST(a_node_that_loses_its_label_keeps_them_for_the_grace),
        TEST(a_changed_selector_takes_them_off_at_once),
        TEST(changed_taints_replace_those_of_before),
        TEST(what_another_resource_needs_too_stays),
        TEST(a_record_that_cannot_be_read_is_no_reason_to_fail),
        TEST(a_conflict_is_tried_again_at_once),
        TEST(shared_nodes_are_a_condition_and_one_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
