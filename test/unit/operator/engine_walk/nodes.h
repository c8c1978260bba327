#pragma once
/* Nodes and kernels that come, go and change. */
#include "means.h"

/* ---- nodes -------------------------------------------------------------------------------------
 */

static void a_new_node_walks_by_itself(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    sim_clear_log(sim);
    sim_node(sim, "n2", "{'kernel':'k1'}");
    sim_run(sim, 60000);
    assert_string_equal(sim_label(sim, "n2", "a"), "Ready");
    assert_string_equal(sim_label(sim, "n2", "b"), "Ready");
    assert_string_equal(sim_label(sim, "n2", "c"), "Ready");
    expect_never(sim, "apply");
    expect_never(sim, "label n0");
    sim_free(sim);
}

static void a_slow_node_holds_nobody_up(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a", .objects = { { .kind = "DaemonSet", .name = "a1", .awaited = true } } },
        { .name = "b",
          NEEDS(0),
          .objects = { { .kind = "DaemonSet",
                         .name = "b1",
                         .awaited = true,
                         .needs_label = SIM_LABEL "a" } } },
        { .name = "c",
          NEEDS(0),
          .objects = { { .kind = "Deployment", .name = "c1", .awaited = true } } }, );
    struct sim *sim = new_sim(&recipe);
    sim->frozen = true;
    sim_start(sim);
    sim_run(sim, 1000);
    struct json_object *a1 = sim_find(sim, "DaemonSet", "a1");
    for (int i = 0; i < 2; i++)
        (void)sim_live_daemon_set(sim, a1);                 /* both pods are made... */
    (void)sim_live_pod(sim, sim_find(sim, "Pod", "a1-n0")); /* ...and one becomes ready */
    (void)sim_live_daemon_set(sim, a1);
    sim_run(sim, 1000);
    assert_string_equal(sim_label(sim, "n0", "a"), "Ready");
    assert_null(sim_label(sim, "n1", "a"));
    expect_phase(sim, "a", "Waiting");
    expect_phase(sim, "b", "Waiting"); /* begun: its pods run where a has finished */
    expect_phase(sim, "c", "Pending"); /* this one might run anywhere */
    sim->frozen = false;
    sim_run(sim, 60000);
    expect_phase(sim, "c", "Ready");
    sim_free(sim);
}

static void a_broken_pod_takes_its_node_s_label_off(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    sim->frozen = true;
    struct json_object *pod = sim_find(sim, "Pod", "b1-n0");
    (void)sim_set_status(sim, pod,
                         sim_json("{'phase':'Running','containerStatuses':[{'name':'driver',"
                                  "'state':{'waiting':{'reason':'CrashLoopBackOff'}},'lastState':{"
                                  "'terminated':{'exitCode':7}}}]}"));
    sim_run(sim, 1000);
    assert_null(sim_label(sim, "n0", "b"));
    assert_string_equal(sim_label(sim, "n1", "b"), "Ready");
    expect_message(sim, "b", "pod b1-n0 on node n0: container driver: CrashLoopBackOff");
    expect_message(sim, "b", "exit code 7");
    sim->frozen = false;
    sim_run(sim, 60000);
    assert_string_equal(sim_label(sim, "n0", "b"), "Ready");
    sim_free(sim);
}

static void a_missed_heartbeat_takes_nothing_off_for_a_while(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    sim->frozen = true;
    sim_push(sim, SW_EV_NODE)->event.node = sim_put_node(sim, "n0", "k1", false);
    (void)sim_set_status(sim, sim_find(sim, "Pod", "b1-n0"), sim_json("{'phase':'Running'}"));
    sim_run(sim, 200000);
    assert_string_equal(sim_label(sim, "n0", "b"), "Ready");
    sim_run(sim, 200000);
    assert_null(sim_label(sim, "n0", "b"));
    sim_free(sim);
}

static void deselected_nodes_lose_their_labels(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a", .objects = { { .kind = "ConfigMap", .name = "a1" } } }, );
    struct sim *sim = new_sim(&recipe);
    sim->node_selector = "{'gpu':'yes'}";
    sim_node(sim, "n0", "{'kernel':'k1','gpu':'yes'}");
    sim_start(sim);
    sim_run(sim, 60000);
    assert_string_equal(sim_label(sim, "n0", "a"), "Ready");
    assert_null(sim_label(sim, "n1", "a"));
    /* The node lost its label: wait, it may come back. */
    json_object_object_del(sw_json_get(sim->nodes, "n0"), "gpu");
    sim_push(sim, SW_EV_NODE)->event.node = sim_put_node(sim, "n0", "k1", true);
    sim_run(sim, 200000);
    assert_string_equal(sim_label(sim, "n0", "a"), "Ready");
    sim_run(sim, 200000);
    assert_null(sim_label(sim, "n0", "a"));
    /* The user chose other nodes: at once. */
    json_object_object_add(sw_json_get(sim->nodes, "n0"), "gpu", json_object_new_string("yes"));
    sim_push(sim, SW_EV_NODE)->event.node = sim_put_node(sim, "n0", "k1", true);
    sim_run(sim, 1000);
    assert_string_equal(sim_label(sim, "n0", "a"), "Ready");
    sim->node_selector = "{'gpu':'no'}";
    sim->generation++;
    sim_spec(sim);
    sim_run(sim, 1000);
    assert_null(sim_label(sim, "n0", "a"));
    sim_free(sim);
}

static void no_matching_node_is_not_ready(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "DaemonSet",
                         .name = "a1",
                         .awaited = true,
                         .needs_label = "nobody-has-this" } } },
        { .name = "b",
          .affine = true,
          .objects = { { .kind = "DaemonSet", .name = "b1-%s", .awaited = true } } },
        { .name = "c",
          .objects = { { .kind = "ConfigMap",
                         .name = "c1",
                         .annotations = "{'slipway.dev/wait-for-node-labels':'x'}" } } }, );
    struct sim *sim = new_sim(&recipe);
    sim->node_selector = "{'none':'has'}";
    sim_start(sim);
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Waiting");
    expect_message(sim, "a", "matches no node");
    expect_phase(sim, "b", "Waiting");
    expect_message(sim, "b", "no node matches");
    expect_phase(sim, "c", "Waiting");
    expect_message(sim, "c", "no node of the resource");
    sim_free(sim);
}

static void node_labels_may_be_waited_for(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = {
              { .kind = "ConfigMap",
                .name = "a1",
                .annotations = "{'slipway.dev/wait-for-node-labels':'nfd, other'}" } } }, );
    struct sim *sim = walked(&recipe);
    expect_phase(sim, "a", "Waiting");
    expect_message(sim, "a", "2 of 2 nodes have no label nfd yet");
    sim_node(sim, "n0", "{'kernel':'k1','nfd':'1','other':''}");
    sim_run(sim, 60000);
    assert_string_equal(sim_label(sim, "n0", "a"), "Ready");
    assert_null(sim_label(sim, "n1", "a"));
    expect_message(sim, "a", "1 of 2 nodes");
    sim_node(sim, "n1", "{'kernel':'k1','nfd':'1','other':''}");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    sim_node(sim, "n2", "{'kernel':'k1'}");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Waiting");
    assert_string_equal(sim_label(sim, "n0", "a"), "Ready");
    sim_node_gone(sim, "n2");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    sim_free(sim);
}

/* As of a driver that says by a label's value that it is there. */
static void a_node_label_may_be_waited_for_by_its_value(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = {
              { .kind = "ConfigMap",
                .name = "a1",
                .annotations = "{'slipway.dev/wait-for-node-labels':'wait=false'}" } } }, );
    struct sim *sim = walked(&recipe);
    sim_node(sim, "n0", "{'kernel':'k1','wait':'true'}");
    sim_run(sim, 60000);
    expect_message(sim, "a", "2 of 2 nodes have no label wait=false yet");
    sim_node(sim, "n0", "{'kernel':'k1','wait':'false'}");
    sim_run(sim, 60000);
    assert_string_equal(sim_label(sim, "n0", "a"), "Ready");
    assert_null(sim_label(sim, "n1", "a"));
    sim_free(sim);
}

/* Nodes with devices may come later: each finishes when it has them. */
static void no_node_may_be_waited_for(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "ConfigMap",
                         .name = "a1",
                         .on_label = "gpu",
                         .annotations = "{'slipway.dev/wait-for-node-resources':'b/c',"
                                        "'slipway.dev/may-match-no-node':'true'}" } } }, );
    struct sim *sim = walked(&recipe);
    expect_phase(sim, "a", "Ready");
    assert_null(sim_label(sim, "n0", "a"));
    sim_node(sim, "n0", "{'kernel':'k1','gpu':'yes'}");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Waiting");
    assert_null(sim_label(sim, "n0", "a"));
    sim_node(sim, "n0", "{'kernel':'k1','gpu':'yes','sim/resources':'b/c'}");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    assert_string_equal(sim_label(sim, "n0", "a"), "Ready");
    assert_null(sim_label(sim, "n1", "a"));
    sim_free(sim);
}

/* An operator makes devices of the nodes that its custom resource selects. */
static void node_resources_may_be_waited_for(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = {
              { .kind = "ConfigMap",
                .name = "a1",
                .on_label = "gpu",
                .annotations =
                    "{'slipway.dev/wait-for-node-resources':'gpu.example/*, b/c'}" } } }, );
    struct sim *sim = walked(&recipe);
    expect_phase(sim, "a", "Waiting");
    expect_message(sim, "a", "no node of the resource is one that it waits for");
    sim_node(sim, "n0", "{'kernel':'k1','gpu':'yes','sim/resources':'b/c gpu.example.other/x'}");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Waiting");
    expect_message(sim, "a", "1 of 1 nodes have no allocatable gpu.example/* yet (n0)");
    assert_null(sim_label(sim, "n0", "a"));
    sim_node(sim, "n0", "{'kernel':'k1','gpu':'yes','sim/resources':'b/c gpu.example/x'}");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    assert_string_equal(sim_label(sim, "n0", "a"), "Ready");
    assert_null(sim_label(sim, "n1", "a")); /* not selected */
    sim_node(sim, "n1", "{'kernel':'k1','gpu':'yes'}");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Waiting");
    assert_string_equal(sim_label(sim, "n0", "a"), "Ready");
    sim_free(sim);
}

/* The answer to our own patch may be the first to show what others have set. */
static void labels_that_come_with_an_answer_count(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a", .objects = { { .kind = "ConfigMap", .name = "a1" } } },
        { .name = "b",
          .objects = { { .kind = "ConfigMap",
                         .name = "b1",
                         .annotations = "{'slipway.dev/wait-for-node-labels':'nfd'}" } } }, );
    struct sim *sim = new_sim(&recipe);
    sim_start(sim);
    while (!sim->n_labels && sim_deliver(sim))
        continue;
    for (size_t i = 0; i < sim->n_queue; i++) /* watch events tell nothing new */
        if (sim->queue[i].event.kind == SW_EV_NODE)
            sim->queue[i--] = sim->queue[--sim->n_queue];
    for (uint32_t n = 0; n < 2; n++) {
        struct json_object *labels = sw_json_get(sim->nodes, n ? "n1" : "n0");
        json_object_object_add(labels, "nfd", json_object_new_string("1"));
        (void)sw_node_set_put_labels(sim->node_set, n, labels, ++sim->version);
    }
    sim_run(sim, 5000);
    expect_phase(sim, "b", "Ready");
    sim_free(sim);
}

static void logs_may_be_waited_for(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "DaemonSet",
                         .name = "a1",
                         .awaited = true,
                         .annotations = "{'specialresource.openshift.io/wait-for-logs':'all is "
                                        "\\\\w+'}" } } },
        { .name = "b",
          .objects = {
              { .kind = "DaemonSet",
                .name = "b1",
                .awaited = true,
                .annotations = "{'specialresource.openshift.io/wait-for-logs':'never'}" } } }, );
    struct sim *sim = walked(&recipe);
    expect_phase(sim, "a", "Ready");
    expect_phase(sim, "b", "Waiting");
    expect_message(sim, "b", "does not match 'never' yet");
    assert_null(sim_label(sim, "n0", "b"));
    sim_free(sim);
}

/* ---- kernels -----------------------------------------------------------------------------------
 */

static const struct sim_recipe kmod = STATES(
    { .name = "0000",
      .affine = true,
      .objects = { { .kind = "ConfigMap", .name = "stream" },
                   { .kind = "BuildConfig", .name = "build-%s", .awaited = true } } },
    { .name = "1000",
      NEEDS(0),
      .affine = true,
      .objects = { { .kind = "ConfigMap", .name = "account" },
                   { .kind = "DaemonSet", .name = "driver-%s", .awaited = true } } }, );

static void each_kernel_has_its_own_objects(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&kmod);
    sim_node(sim, "n2", "{'kernel':'k2'}");
    sim_start(sim);
    sim_run(sim, 60000);
    expect_phase(sim, "1000", "Ready");
    assert_non_null(sim_find(sim, "DaemonSet", "driver-k1"));
    assert_non_null(sim_find(sim, "DaemonSet", "driver-k2"));
    assert_int_equal(sim->n_applies, 6); /* what is not renamed is applied once */
    sim_free(sim);
}

static void a_new_kernel_is_built_for_and_an_old_one_retired(void **state)
{
    (void)state;
    struct sim *sim = walked(&kmod);
    sim_clear_log(sim);
    sim_node(sim, "n2", "{'kernel':'k2'}");
    sim_run(sim, 60000);
    expect_order(sim, "apply BuildConfig build-k2", "apply DaemonSet driver-k2");
    expect_never(sim, "build-k1");
    expect_phase(sim, "1000", "Ready");
    sim_node_gone(sim, "n0");
    sim_run(sim, 60000);
    expect_never(sim, "delete");
    sim_node_gone(sim, "n1"); /* the last one */
    sim_run(sim, 60000);
    (void)place_in_log(sim, "delete DaemonSet driver-k1");
    (void)place_in_log(sim, "delete BuildConfig build-k1");
    assert_non_null(sim_find(sim, "ConfigMap", "account"));
    expect_phase(sim, "1000", "Ready");
    sim_free(sim);
}

static int refuse_k2(struct sim *sim, const struct sw_action *a)
{
    (void)sim;
    return a->kind == SW_ACT_RENDER && sw_streq(a->variant, "k2") ? SW_INVALID : 0;
}

static void a_kernel_that_fails_does_not_hide_nor_hold_the_others(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&kmod);
    sim->refuse = refuse_k2;
    sim_node(sim, "n2", "{'kernel':'k2'}");
    sim_start(sim);
    sim_run(sim, 60000);
    expect_phase(sim, "0000", "Failed");
    expect_message(sim, "0000", "k2: templates/x.yaml:1: no");
    struct json_object *s = sw_json_find_by(sw_json_get(sim->status, "states"), "name", "0000");
    struct json_object *k2 = sw_json_find_by(sw_json_get(s, "variants"), "name", "k2");
    assert_string_equal(sw_json_str(k2, "", "message", NULL), "templates/x.yaml:1: no");
    sim->refuse = NULL;
    sim_run(sim, 600000);
    expect_phase(sim, "1000", "Ready");
    sim_free(sim);
}

static const struct CMUnitTest nodes_tests[] = {
    cmocka_unit_test(a_new_node_walks_by_itself),
    cmocka_unit_test(a_slow_node_holds_nobody_up),
    cmocka_unit_test(a_broken_pod_takes_its_node_s_label_off),
    cmocka_unit_test(a_missed_heartbeat_takes_nothing_off_for_a_while),
    cmocka_unit_test(deselected_nodes_lose_their_labels),
    cmocka_unit_test(no_matching_node_is_not_ready),
    cmocka_unit_test(a_node_label_may_be_waited_for_by_its_value),
    cmocka_unit_test(node_labels_may_be_waited_for),
    cmocka_unit_test(no_node_may_be_waited_for),
    cmocka_unit_test(node_resources_may_be_waited_for),
    cmocka_unit_test(labels_that_come_with_an_answer_count),
    cmocka_unit_test(logs_may_be_waited_for),
    cmocka_unit_test(each_kernel_has_its_own_objects),
    cmocka_unit_test(a_new_kernel_is_built_for_and_an_old_one_retired),
    cmocka_unit_test(a_kernel_that_fails_does_not_hide_nor_hold_the_others),
};
