#pragma once
/* Pods of others, of what is late: watched to tell why it is not ready, and for nothing else. */
#include "means.h"

static size_t pod_watches(const struct sim *sim)
{
    size_t n = 0;
    for (size_t i = 0; i < sim->n_watches; i++)
        n += sw_streq(sim->watches[i].kind, "Pod");
    return n;
}

static const struct sim_recipe observing_workload = STATES(
    { .name = "a",
      .objects = { { .kind = "Deployment",
                     .name = "d",
                     .annotations = "{'slipway.dev/observe':'true'}" } } }, );

#define FAILING                                                                                    \
    "'status':{'phase':'Pending','containerStatuses':[{'name':'c','ready':false,'state':"          \
    "{'waiting':{'reason':'ImagePullBackOff','message':'no such image'}}}]}}"

/* A Deployment of somebody else's with a pod that cannot start. */
static void failing_workload(struct sim *sim)
{
    sim->frozen = true;
    foreign(sim, "Deployment", "d",
            "{'spec':{'replicas':1,'selector':{'matchLabels':{'app':'d'}}},"
            "'status':{'observedGeneration':1,'replicas':1,'updatedReplicas':1}}");
    foreign(sim, "Pod", "d-1", "{'metadata':{'labels':{'app':'d'}}," FAILING);
    foreign(sim, "Pod", "x-1", "{'metadata':{'labels':{'app':'x'}}," FAILING);
}

static void the_pods_of_what_is_observed_say_why_it_is_late(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&observing_workload);
    failing_workload(sim);
    sim_start(sim);
    sim_run(sim, 1000);
    assert_int_equal(pod_watches(sim), 0);
    sim_run(sim, 5000);
    assert_int_equal(pod_watches(sim), 1);
    expect_phase(sim, "a", "Waiting");
    expect_message(sim, "a", "pod d-1: container c: ImagePullBackOff");
    set_status(sim, "Deployment", "d",
               "{'observedGeneration':1,'replicas':1,'updatedReplicas':1,'readyReplicas':1,"
               "'availableReplicas':1}");
    sim_run(sim, 5000);
    expect_phase(sim, "a", "Ready"); /* whatever its pods say: it is not slipway's */
    assert_int_equal(pod_watches(sim), 0);
    sim_free(sim);
}

static void pods_of_others_that_cannot_be_watched_hold_nothing(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&observing_workload);
    failing_workload(sim);
    sim_start(sim);
    sim_run(sim, 5000);
    assert_int_equal(pod_watches(sim), 1);
    for (size_t i = 0; i < sim->n_watches; i++)
        if (sw_streq(sim->watches[i].kind, "Pod"))
            sim_step(sim, &(struct sw_event){ .kind = SW_EV_OBSERVED,
                                              .watch = sim->watches[i].id,
                                              .key = { "v1", "Pod", SIM_NS, NULL },
                                              .code = SW_FORBIDDEN,
                                              .message = "forbidden" });
    sim_run(sim, 5000);
    expect_phase(sim, "a", "Waiting");
    expect_message(sim, "a", "Deployment ns/d");
    sim_free(sim);
}

static void an_operand_that_is_missing_is_told_with_its_operators_pod(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&observing_workload);
    foreign(sim, "Pod", "operator-1", "{" FAILING);
    foreign(sim, "Pod", "starting-1", "{'status':{'phase':'Pending'}}");
    sim->frozen = true;
    sim_start(sim);
    sim_run(sim, 7000);
    expect_message(sim, "a", "Deployment ns/d does not exist");
    assert_int_equal(pod_watches(sim), 0);
    sim_run(sim, 5000);
    expect_message(sim, "a", "does not exist; pod operator-1: container c: ImagePullBackOff");
    failing_workload(sim); /* it comes, and its own pods say more */
    sim_run(sim, 5000);
    expect_message(sim, "a", "pod d-1: container c: ImagePullBackOff");
    sim_free(sim);
}

/* What starts is no trouble; what runs for a minute and is not ready is. */
static void a_pod_that_never_gets_ready_is_told_with_its_log(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&observing_workload);
    failing_workload(sim);
    set_status(sim, "Pod", "d-1",
               "{'phase':'Running','containerStatuses':[{'name':'c','ready':false,"
               "'state':{'running':{}}}]}");
    sim_start(sim);
    sim_run(sim, 5000);
    expect_message(sim, "a", "pod d-1: container c is not ready");
    assert_null(strstr(sim_message(sim, "a"), "log"));
    sim_run(sim, 10000);
    expect_message(sim, "a", "pod d-1: container c is not ready; the end of its log: all is well");
    expect_never(sim, "event StateStuck");
    sim_run(sim, 120000);
    (void)place_in_log(sim, "event StateStuck");
    const char *hint = sw_json_str(sw_json_at(sw_json_get(sim->status, "states"), 0), "", "hint",
                                   NULL);
    assert_non_null(strstr(hint, "readiness probe"));
    sim_free(sim);
}

static const struct CMUnitTest late_tests[] = {
    cmocka_unit_test(a_pod_that_never_gets_ready_is_told_with_its_log),
    cmocka_unit_test(the_pods_of_what_is_observed_say_why_it_is_late),
    cmocka_unit_test(pods_of_others_that_cannot_be_watched_hold_nothing),
    cmocka_unit_test(an_operand_that_is_missing_is_told_with_its_operators_pod),
};
