#pragma once
/* What comes first: the straight walk, order within a state, gates. */
#include "means.h"

/* ---- the straight walk -------------------------------------------------------------------------
 */

static void states_follow_each_other(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    expect_phase(sim, "a", "Ready");
    expect_phase(sim, "c", "Ready");
    expect_order(sim, "apply Deployment a2", "apply DaemonSet b1");
    expect_order(sim, "apply DaemonSet b1", "apply Pod c1");
    assert_string_equal(sim_label(sim, "n0", "a"), "Ready");
    assert_string_equal(sim_label(sim, "n1", "c"), "Ready");
    assert_int_equal(sim->n_applies, 4);
    assert_int_equal(sw_engine_phase(sim->engine), SW_PHASE_READY);
    assert_string_equal(condition(sim, "Ready", "status"), "True");
    assert_string_equal(condition(sim, "Ready", "reason"), "Success");
    assert_string_equal(condition(sim, "Progressing", "status"), "False");
    assert_string_equal(condition(sim, "Progressing", "reason"), "SpecialResourceIsReady");
    sim_free(sim);
}

static void few_writes_are_enough(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    assert_between(sim->n_statuses, 2, 3); /* the plan, and that it is ready */
    assert_between(sim->n_labels, 2, 6);   /* at most one a node and state */
    assert_int_equal(sim->n_useless, 0);
    sim_free(sim);
}

static void at_rest_nothing_is_written(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    size_t before = sim->n_applies + sim->n_labels + sim->n_statuses;
    sim_resync(sim);
    sim_run(sim, 3600000);
    sim_step(sim, &(struct sw_event){ .kind = SW_EV_FACTS });
    sim_run(sim, 3600000);
    assert_int_equal(sim->n_applies + sim->n_labels + sim->n_statuses, before);
    sim_free(sim);
}

static void a_status_that_is_removed_is_written_again(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    SW_AUTO_JSON *before = sw_json_copy(sim->status);
    size_t statuses = sim->n_statuses, others = sim->n_applies + sim->n_labels;
    sim_clear_log(sim);
    sim_step(sim, &(struct sw_event){ .kind = SW_EV_STATUS_LOST });
    sim_run(sim, 3600000);
    assert_int_equal(sim->n_statuses, statuses + 1);
    assert_true(sw_json_equal(sim->status, before));
    assert_int_equal(sim->n_applies + sim->n_labels, others);
    expect_never(sim, "event");
    sim_free(sim);
}

static void a_restart_writes_nothing(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    size_t before = sim->n_applies + sim->n_labels + sim->n_statuses;
    sim_clear_log(sim);
    sim_restart(sim);
    sim_run(sim, 3600000);
    expect_phase(sim, "c", "Ready");
    assert_int_equal(sim->n_applies + sim->n_labels + sim->n_statuses, before);
    expect_never(sim, "event");
    sim_free(sim);
}

/* A workload's own status is written after that of its pod, each time. */
static void a_workload_is_not_ready_whose_pod_has_just_ended(void **state)
{
    (void)state;
    static const struct sim_recipe one = STATES(
        { .name = "a", .objects = { { .kind = "ReplicaSet", .name = "r", .awaited = true } } }, );
    struct sim *sim = walked(&one);
    set_status(sim, "ReplicaSet", "r",
               "{'replicas':1,'readyReplicas':1,'availableReplicas':1,'observedGeneration':9}");
    foreign(sim, "Pod", "r-x", "{'metadata':{'labels':{'app':'r'}},'spec':{'nodeName':'n0'}}");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    sim->frozen = true;
    set_status(sim, "Pod", "r-x",
               "{'phase':'Running','conditions':[{'type':'Ready','status':'False'}],"
               "'containerStatuses':[{'name':'c','state':{'terminated':{'exitCode':3}}}]}");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Waiting");
    expect_message(sim, "a", "1 of its pods ends and starts again; pod r-x");
    expect_message(sim, "a", ": container c ended: exit code 3");
    set_status(
        sim, "Pod", "r-x", /* it ended at once, four times: 16 s */
        "{'phase':'Running','conditions':[{'type':'Ready','status':'True'}],"
        "'containerStatuses':[{'name':'c','restartCount':4,'ready':true,"
        "'state':{'running':{'startedAt':'2026-01-01T00:00:09Z'}},'lastState':{'terminated':{"
        "'exitCode':3,'startedAt':'2026-01-01T00:00:01Z','finishedAt':'2026-01-01T00:00:01Z'"
        "}}}]}");
    sim_run(sim, 15000);
    expect_phase(sim, "a", "Waiting");
    expect_message(sim, "a", "container c runs again, after 4 restarts; last exit code 3");
    sim_run(sim, 2000);
    expect_phase(sim, "a", "Ready");
    sim_free(sim);
}

static void independent_states_run_side_by_side(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a", .objects = { { .kind = "Deployment", .name = "a1", .awaited = true } } },
        { .name = "b", .objects = { { .kind = "Deployment", .name = "b1", .awaited = true } } },
        { .name = "c", NEEDS(0, 1), .objects = { { .kind = "ConfigMap", .name = "c1" } } }, );
    struct sim *sim = new_sim(&recipe);
    sim->frozen = true;
    sim_start(sim);
    sim_run(sim, 1000);
    expect_phase(sim, "a", "Waiting");
    expect_phase(sim, "b", "Waiting");
    expect_phase(sim, "c", "Pending");
    expect_message(sim, "c", "waits for a (Waiting), b (Waiting)");
    sim->frozen = false;
    sim_run(sim, 1000);
    expect_phase(sim, "c", "Ready");
    sim_free(sim);
}

static void nothing_is_applied_before_it_is_written_down(void **state)
{
    (void)state;
    struct refusal no = { SW_ACT_STATUS, NULL, SW_UNAVAILABLE, 0 };
    struct sim *sim = new_sim(&chain);
    sim->arg = &no;
    sim->refuse = refuse;
    sim_start(sim);
    sim_run(sim, 5000);
    assert_int_equal(sim->n_applies, 0);
    assert_between(no.n, 2, 10); /* it backs off */
    no.code = 0;
    sim_run(sim, 60000);
    expect_phase(sim, "c", "Ready");
    assert_int_equal(sw_json_len(sw_json_get(sim->status, "inventory")), 4);
    sim_free(sim);
}

/* ---- order within a state ----------------------------------------------------------------------
 */

static void objects_are_applied_by_stage_and_kind(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "ValidatingWebhookConfiguration", .name = "a1" },
                       { .kind = "Deployment", .name = "a2", .awaited = true },
                       { .kind = "ConfigMap", .name = "a3" },
                       { .kind = "Namespace", .name = "a4" },
                       { .kind = "Job", .name = "a5", .awaited = true, .stage = -1 },
                       { .kind = "ConfigMap", .name = "a6", .stage = 1 } } }, );
    struct sim *sim = new_sim(&recipe);
    sim->frozen = true;
    sim_start(sim);
    sim_run(sim, 1000);
    assert_int_equal(sim->n_applies, 1); /* the hook before all, which has not ended */
    sim->frozen = false;
    sim_run(sim, 60000);
    expect_order(sim, "apply Job a5", "apply Namespace a4");
    expect_order(sim, "apply Namespace a4", "apply ConfigMap a3");
    expect_order(sim, "apply ConfigMap a3", "apply Deployment a2");
    expect_order(sim, "apply Deployment a2", "apply ValidatingWebhookConfiguration a1");
    expect_order(sim, "apply ValidatingWebhookConfiguration a1", "apply ConfigMap a6");
    expect_phase(sim, "a", "Ready");
    sim_free(sim);
}

/* A chart may fail without the API of an earlier state, or render otherwise: it is rendered again
 * when its turn comes and there is a new kind. Until then its failure is nobody's. */
static void a_state_is_rendered_when_its_turn_comes(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "CustomResourceDefinition", .name = "a1", .awaited = true },
                       { .kind = "Deployment", .name = "a2", .awaited = true } } },
        { .name = "b", NEEDS(0), .objects = { { .kind = "ConfigMap", .name = "b1" } } }, );
    struct refusal no = { SW_ACT_RENDER, "b", SW_INVALID, 0 };
    struct sim *sim = new_sim(&recipe);
    sim->arg = &no;
    sim->refuse = refuse;
    sim->frozen = true;
    sim_start(sim);
    sim_run(sim, 60000);
    expect_phase(sim, "b", "Pending");
    assert_string_equal(condition(sim, "Errored", "status"), "False");
    assert_int_equal(no.n, 1);
    no.code = 0;
    sim->frozen = false;
    size_t before = sim->n_renders;
    sim_run(sim, 60000);
    expect_phase(sim, "b", "Ready");
    assert_int_equal(sim->n_renders, before + 1);
    sim_free(sim);

    sim = new_sim(&recipe); /* one that rendered well, too: it may come out otherwise now */
    sim_start(sim);
    sim_run(sim, 60000);
    expect_phase(sim, "b", "Ready");
    assert_int_equal(sim->n_renders, 3);
    sim_restart(sim); /* what is in place is not touched */
    size_t writes = sim->n_applies;
    sim_run(sim, 60000);
    assert_int_equal(sim->n_applies, writes);
    sim_free(sim);
}

/* What Helm does with an account of both sides, and with the Jobs that use it. */
static const struct sim_recipe two_events = STATES(
    { .name = "a",
      .objects = {
          { .kind = "ServiceAccount",
            .name = "acc",
            .stage = -9,
            .again = 1,
            .drop_ready = true,
            .drop_before = true },
          { .kind = "Job", .name = "pre", .awaited = true, .stage = -9, .drop_ready = true },
          { .kind = "ConfigMap", .name = "main" },
          { .kind = "Job", .name = "post", .awaited = true, .stage = 1, .drop_ready = true } } }, );

static size_t count_in_log(const struct sim *sim, const char *what)
{
    size_t n = 0;
    for (const char *at = sim->log; at && (at = strstr(at, what)); at++)
        n++;
    return n;
}

static void hook_of_two_events_runs_twice(void **state)
{
    (void)state;
    struct sim *sim = walked(&two_events);
    expect_phase(sim, "a", "Ready");
    expect_order(sim, "apply ServiceAccount acc", "apply Job pre");
    expect_order(sim, "apply Job pre", "delete ServiceAccount acc");
    expect_order(sim, "apply Job pre", "apply ConfigMap main");
    expect_order(sim, "delete ServiceAccount acc", "apply Job post");
    assert_int_equal(count_in_log(sim, "apply ServiceAccount acc"), 2);
    assert_int_equal(count_in_log(sim, "apply Job"), 2);
    assert_null(sim_find(sim, "ServiceAccount", "acc"));
    size_t before = sim->n_applies;
    sim_restart(sim);
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    assert_int_equal(sim->n_applies, before);
    sim_free(sim);
}

/* A controller that is killed at any time goes on with the run that was under way. */
static void hook_of_two_events_outlives_restarts(void **state)
{
    (void)state;
    for (int64_t at_ms = 0; at_ms < 3000; at_ms += 100) {
        struct sim *sim = new_sim(&two_events);
        sim_start(sim);
        sim_run(sim, at_ms);
        sim_restart(sim);
        sim_run(sim, 60000);
        expect_phase(sim, "a", "Ready");
        assert_between(count_in_log(sim, "apply ServiceAccount acc"), 2, 3);
        assert_int_equal(count_in_log(sim, "apply Job pre"), 1);
        assert_int_equal(count_in_log(sim, "apply Job post"), 1);
        assert_null(sim_find(sim, "ServiceAccount", "acc"));
        sim_free(sim);
    }
}

/* A Job that is gone without a record would run again after a restart, without its account. */
static void check_done_is_recorded(struct sim *sim, const struct sw_action *a)
{
    struct json_object *inventory = sw_json_get(sim->status, "inventory");
    const char *name = strcmp(a->key.kind ? a->key.kind : "", "Job") == 0 ? a->key.name : "pre";
    if (a->kind == SW_ACT_DELETE)
        assert_true(sw_json_bool(sw_json_find_by(inventory, "name", name), false, "done", NULL));
}

static void hooks_that_succeeded_go_when_that_is_recorded(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&two_events);
    sim->check = check_done_is_recorded;
    sim_start(sim);
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    assert_null(sim_find(sim, "Job", "post"));
    assert_null(sim_find(sim, "ServiceAccount", "acc"));
    sim_free(sim);
}

/* A hook without a policy stays between its runs, and is replaced by the second. */
static void hook_of_two_events_is_made_anew(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "Job",
                         .name = "both",
                         .awaited = true,
                         .stage = -1,
                         .again = 1,
                         .drop_before = true },
                       { .kind = "ConfigMap", .name = "main" } } }, );
    struct sim *sim = walked(&recipe);
    expect_phase(sim, "a", "Ready");
    expect_order(sim, "apply Job both", "apply ConfigMap main");
    expect_order(sim, "apply ConfigMap main", "delete Job both");
    assert_int_equal(count_in_log(sim, "apply Job both"), 2);
    assert_non_null(sim_find(sim, "Job", "both"));
    sim_free(sim);
}

/* Helm makes one after the other: by weight, and within one weight by kind and name. */
static void hooks_of_one_weight_run_one_by_one(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "Job", .name = "b", .awaited = true, .stage = -1 },
                       { .kind = "Job",
                         .name = "a",
                         .awaited = true,
                         .annotations = "{'sim/stuck':'1'}",
                         .stage = -1 } } }, );
    struct sim *sim = walked(&recipe);
    expect_never(sim, "apply Job b");
    set_status(sim, "Job", "a", "{'conditions':[{'type':'Complete','status':'True'}]}");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    sim_free(sim);
}

static void webhooks_are_published_when_their_server_is_ready(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "ValidatingWebhookConfiguration", .name = "a1" },
                       { .kind = "Deployment", .name = "a2", .awaited = true } } }, );
    struct sim *sim = new_sim(&recipe);
    sim->frozen = true;
    sim_start(sim);
    sim_run(sim, 60000);
    expect_never(sim, "apply ValidatingWebhookConfiguration");
    expect_phase(sim, "a", "Applying");
    expect_message(sim, "a", "Deployment ns/a2");
    sim->frozen = false;
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    sim_free(sim);
}

static void a_failed_stage_fails_the_state(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "Job",
                         .name = "a1",
                         .awaited = true,
                         .annotations = "{'sim/stuck':'1','slipway.dev/retries':'0'}",
                         .stage = -1 },
                       { .kind = "ConfigMap", .name = "a2" } } }, );
    struct sim *sim = walked(&recipe);
    expect_phase(sim, "a", "Applying");
    set_status(sim, "Job", "a1",
               "{'conditions':[{'type':'Failed','status':'True','reason':'Backoff'}]}");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Failed");
    expect_message(sim, "a", "Job ns/a1 condition Failed is True: Backoff");
    assert_string_equal(condition(sim, "Errored", "status"), "True");
    assert_string_equal(condition(sim, "Errored", "reason"), "FailedToDeployChart");
    expect_never(sim, "apply ConfigMap a2");
    sim_free(sim);
}

/* ---- gates -------------------------------------------------------------------------------------
 */

static void only_what_is_awaited_is_waited_for(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = {
              { .kind = "Deployment", .name = "a1", .annotations = "{'sim/stuck':'1'}" } } }, );
    struct sim *sim = walked(&recipe);
    expect_phase(sim, "a", "Ready");
    sim_free(sim);
}

static void a_shut_gate_takes_ready_back(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    sim->frozen = true;
    set_status(sim, "Deployment", "a2",
               "{'observedGeneration':1,'replicas':1,'updatedReplicas':1}");
    sim_run(sim, 2000);
    expect_phase(sim, "a", "Waiting");
    expect_message(sim, "a", "Deployment ns/a2 0 of 1 pods are ready");
    expect_phase(sim, "b", "Ready"); /* what runs goes on */
    assert_string_equal(condition(sim, "Ready", "status"), "False");
    assert_string_equal(sim_label(sim, "n0", "a"), "Ready"); /* for a while */
    sim_run(sim, 600000);
    assert_null(sim_label(sim, "n0", "a"));
    sim->frozen = false;
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    assert_string_equal(sim_label(sim, "n0", "a"), "Ready");
    sim_free(sim);
}

static void what_failed_may_recover(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "Deployment",
                         .name = "a1",
                         .awaited = true,
                         .annotations = "{'sim/stuck':'1'}" } } }, );
    struct sim *sim = walked(&recipe);
    const char *timed_out = "{'observedGeneration':1,'conditions':[{'type':'Progressing',"
                            "'status':'False','reason':'ProgressDeadlineExceeded'}]}";
    set_status(sim, "Deployment", "a1", timed_out);
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Failed");
    set_status(sim, "Deployment", "a1", "{'observedGeneration':1,'replicas':1}");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Waiting");
    sim_live_deployment(sim, sim_find(sim, "Deployment", "a1"));
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    set_status(sim, "Deployment", "a1", timed_out);
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Failed");
    sim_live_deployment(sim, sim_find(sim, "Deployment", "a1"));
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    sim_free(sim);
}

static const struct sim_recipe observing = STATES(
    { .name = "a",
      .objects = { { .kind = "ClusterPolicy",
                     .name = "p",
                     .annotations = "{'slipway.dev/observe':'true'}" } } },
    { .name = "b",
      NEEDS(0),
      .objects = { { .kind = "DaemonSet",
                     .name = "b1",
                     .awaited = true,
                     .needs_label = SIM_LABEL "a" } } },
    { .name = "c", NEEDS(0), .objects = { { .kind = "ConfigMap", .name = "c1" } } }, );

static void what_others_own_is_waited_for_and_never_written(void **state)
{
    (void)state;
    struct sim *sim = walked(&observing);
    expect_phase(sim, "a", "Waiting");
    expect_message(sim, "a", "ClusterPolicy ns/p does not exist");
    foreign(sim, "ClusterPolicy", "p", "{}");
    sim_run(sim, 60000);
    expect_message(sim, "a", "has no status.state yet");
    assert_int_equal(sim->n_applies, 0);
    set_status(sim, "ClusterPolicy", "p", "{'state':'ready'}");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    expect_phase(sim, "b", "Ready");
    expect_never(sim, "ClusterPolicy");
    sim_free(sim);
}

static void what_others_take_back_holds_new_nodes_only(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&observing);
    foreign(sim, "ClusterPolicy", "p", "{'status':{'state':'ready'}}");
    sim_start(sim);
    sim_run(sim, 60000);
    expect_phase(sim, "b", "Ready");
    sim_clear_log(sim);
    set_status(sim, "ClusterPolicy", "p", "{'state':'notReady'}");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Held");
    expect_phase(sim, "b", "Ready");
    (void)place_in_log(sim, "event StateHeld");
    assert_string_equal(condition(sim, "Ready", "status"), "False");
    sim_node(sim, "n2", "{'kernel':'k1'}");
    sim_run(sim, 3600000);
    assert_null(sim_label(sim, "n2", "a"));
    assert_null(sim_label(sim, "n2", "b"));
    assert_null(sim_find(sim, "Pod", "b1-n2"));
    assert_string_equal(sim_label(sim, "n0", "a"), "Ready"); /* running payload stays */
    assert_non_null(sim_find(sim, "Pod", "b1-n0"));
    sim_remove(sim, sim_find(sim, "ConfigMap", "c1")); /* nothing new begins, not even a repair */
    sim_run(sim, 60000);
    assert_null(sim_find(sim, "ConfigMap", "c1"));
    sim_restart(sim); /* all of this is found again */
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Held");
    expect_phase(sim, "b", "Ready");
    set_status(sim, "ClusterPolicy", "p", "{'state':'ready'}");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    assert_string_equal(sim_label(sim, "n2", "b"), "Ready");
    assert_non_null(sim_find(sim, "ConfigMap", "c1"));
    sim_free(sim);
}

static void what_others_bring_ready_holds_though_slipway_applied_it(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "ClusterPolicy",
                         .name = "p",
                         .awaited = true,
                         .annotations = "{'slipway.dev/hold':'true'}" } } },
        { .name = "b", NEEDS(0), .objects = { { .kind = "ConfigMap", .name = "b1" } } }, );
    struct sim *sim = walked(&recipe);
    set_status(sim, "ClusterPolicy", "p", "{'state':'ready'}");
    sim_run(sim, 60000);
    expect_phase(sim, "b", "Ready");
    set_status(sim, "ClusterPolicy", "p", "{'state':'notReady'}");
    sim_node(sim, "n2", "{'kernel':'k1'}");
    sim_run(sim, 3600000);
    expect_phase(sim, "a", "Held");
    assert_string_equal(sim_label(sim, "n0", "a"), "Ready");
    assert_null(sim_label(sim, "n2", "a"));
    sim_remove(sim, sim_find(sim, "ClusterPolicy", "p")); /* it is slipway's to put right */
    sim_run(sim, 60000);
    assert_non_null(sim_find(sim, "ClusterPolicy", "p"));
    set_status(sim, "ClusterPolicy", "p", "{'state':'ready'}");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    assert_string_equal(sim_label(sim, "n2", "b"), "Ready");
    sim_free(sim);
}

static void held_states_follow_the_recipe_too(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "ClusterPolicy",
                         .name = "p",
                         .annotations = "{'slipway.dev/observe':'true',"
                                        "'helm.sh/readiness-success':'[\\\"{"
                                        ".state} == ready\\\"]','helm.sh/"
                                        "readiness-failure':'[\\\"{.state} "
                                        "== broken\\\"]'}" },
                       { .kind = "ConfigMap", .name = "a2" } } }, );
    struct sim *sim = new_sim(&recipe);
    foreign(sim, "ClusterPolicy", "p", "{'status':{'state':'ready'}}");
    sim_start(sim);
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    set_status(sim, "ClusterPolicy", "p", "{'state':'busy'}");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Held");
    sim_remove(sim, sim_find(sim, "ConfigMap", "a2")); /* its own objects are kept in order */
    sim_run(sim, 60000);
    assert_non_null(sim_find(sim, "ConfigMap", "a2"));
    expect_phase(sim, "a", "Held");
    set_status(sim, "ClusterPolicy", "p", "{'state':'broken'}");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Failed");
    expect_message(sim, "a", "{.state} == broken holds");
    set_status(sim, "ClusterPolicy", "p", "{'state':'ready'}");
    sim_run(sim, 60000);
    set_status(sim, "ClusterPolicy", "p", "{'state':'busy'}");
    sim_run(sim, 60000);
    edit(sim, 0, 1);
    sim_run(sim, 60000);
    assert_int_equal(sw_json_int(sim_find(sim, "ConfigMap", "a2"), 0, "spec", "content", NULL), 1);
    set_status(sim, "ClusterPolicy", "p", "{'state':'ready'}");
    sim_run(sim, 60000);
    set_status(sim, "ClusterPolicy", "p", "{'state':'busy'}");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Held");
    sim->recipe.states[0].objects[2] = (struct sim_object){ .kind = "ConfigMap", .name = "a3" };
    sim->recipe.states[0].n_objects = 3;
    edit(sim, 0, 1); /* another object */
    sim_run(sim, 60000);
    assert_non_null(sim_find(sim, "ConfigMap", "a3"));
    sim_free(sim);
}

/* ---- assertions --------------------------------------------------------------------------------
 */

static void none_of_a_namespace_may_be_as_asserted(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "Deployment",
                         .name = "no-broken-one",
                         .annotations = "{'slipway.dev/observe':'none',"
                                        "'slipway.dev/assert-message':'it is to be mended',"
                                        "'slipway.dev/assert':'{status: {phase: Broken}}'}" } } },
        { .name = "b", NEEDS(0), .objects = { { .kind = "ConfigMap", .name = "b1" } } }, );
    struct sim *sim = new_sim(&recipe);
    sim->frozen = true;
    foreign(sim, "Deployment", "x", "{'status':{'phase':'Broken'}}");
    foreign(sim, "Deployment", "y", "{'status':{'phase':'Fine'}}");
    sim_start(sim);
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Waiting");
    expect_message(sim, "a",
                   "assertion 'no-broken-one' about no Deployment of ns: x has what none may "
                   "have: status.phase is Broken; it is to be mended");
    set_status(sim, "Deployment", "x", "{'phase':'Fine'}");
    sim_run(sim, 1000);
    expect_phase(sim, "b", "Ready");
    set_status(sim, "Deployment", "y", "{'phase':'Broken'}"); /* others bring it ready */
    sim_run(sim, 1000);
    expect_phase(sim, "a", "Held");
    sim_remove(sim, sim_find(sim, "Deployment", "y"));
    sim_run(sim, 1000);
    expect_phase(sim, "a", "Ready");
    expect_never(sim, "apply Deployment");
    assert_int_equal(sw_json_len(sw_json_get(sim->status, "inventory")), 1);
    sim_free(sim);
}

static void any_of_a_namespace_must_be_as_asserted(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = {
              { .kind = "Deployment",
                .name = "one-works",
                .annotations =
                    "{'slipway.dev/observe':'any','slipway.dev/assert':"
                    "'{metadata: {labels: {app: x}}, status: {(n > `1`): true}}'}" } } }, );
    struct sim *sim = new_sim(&recipe);
    sim->frozen = true;
    foreign(sim, "Deployment", "other", "{'status':{'n':5}}");
    sim_start(sim);
    sim_run(sim, 1000);
    expect_message(sim, "a",
                   "assertion 'one-works' about any Deployment of ns: there is none with "
                   "app=x");
    foreign(sim, "Deployment", "x", "{'metadata':{'labels':{'app':'x'}},'status':{'n':1}}");
    sim_run(sim, 1000);
    expect_message(sim, "a",
                   "none of 1 is as asserted: x: status.(n > `1`) is false, not true: what "
                   "is compared is 1");
    set_status(sim, "Deployment", "x", "{'n':2}");
    sim_run(sim, 1000);
    expect_phase(sim, "a", "Ready");
    sim_restart(sim);
    sim_run(sim, 1000);
    expect_phase(sim, "a", "Ready");
    sim_free(sim);
}

static void what_is_asserted_may_change(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "Deployment",
                         .name = "one",
                         .annotations = "{'slipway.dev/observe':'none',"
                                        "'slipway.dev/assert':'{status: {phase: Broken}}'}" },
                       { .kind = "Deployment",
                         .name = "two",
                         .annotations = "{'slipway.dev/observe':'none',"
                                        "'slipway.dev/assert':'{status: {phase: Lost}}'}" } } }, );
    struct sim *sim = new_sim(&recipe);
    sim->frozen = true;
    foreign(sim, "Deployment", "x", "{'status':{'phase':'Gone'}}");
    foreign(sim, "Deployment", "y", "{'status':{'phase':'Lost'}}");
    sim_start(sim);
    sim_run(sim, 1000);
    expect_message(sim, "a", "assertion 'two' about no Deployment of ns: y has");
    sim->recipe.states[0].objects[0].annotations =
        "{'slipway.dev/observe':'none','slipway.dev/assert':'{status: {phase: Gone}}'}";
    edit(sim, 0, 0);
    sim_run(sim, 60000);
    expect_message(sim, "a", "assertion 'one' about no Deployment of ns: x has");
    set_status(sim, "Deployment", "x", "{'phase':'Fine'}");
    set_status(sim, "Deployment", "y", "{'phase':'Fine'}");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    sim->recipe.states[0].n_objects = 1;
    edit(sim, 0, 0);
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    sim->deleting = true;
    sim_spec(sim);
    sim_run(sim, 60000);
    assert_true(sim->finalized);
    sim_free(sim);
}

static const struct CMUnitTest gates_tests[] = {
    cmocka_unit_test(none_of_a_namespace_may_be_as_asserted),
    cmocka_unit_test(any_of_a_namespace_must_be_as_asserted),
    cmocka_unit_test(what_is_asserted_may_change),
    cmocka_unit_test(states_follow_each_other),
    cmocka_unit_test(few_writes_are_enough),
    cmocka_unit_test(a_status_that_is_removed_is_written_again),
    cmocka_unit_test(at_rest_nothing_is_written),
    cmocka_unit_test(a_restart_writes_nothing),
    cmocka_unit_test(a_workload_is_not_ready_whose_pod_has_just_ended),
    cmocka_unit_test(independent_states_run_side_by_side),
    cmocka_unit_test(nothing_is_applied_before_it_is_written_down),
    cmocka_unit_test(objects_are_applied_by_stage_and_kind),
    cmocka_unit_test(a_state_is_rendered_when_its_turn_comes),
    cmocka_unit_test(hook_of_two_events_runs_twice),
    cmocka_unit_test(hook_of_two_events_outlives_restarts),
    cmocka_unit_test(hooks_that_succeeded_go_when_that_is_recorded),
    cmocka_unit_test(hook_of_two_events_is_made_anew),
    cmocka_unit_test(hooks_of_one_weight_run_one_by_one),
    cmocka_unit_test(webhooks_are_published_when_their_server_is_ready),
    cmocka_unit_test(a_failed_stage_fails_the_state),
    cmocka_unit_test(only_what_is_awaited_is_waited_for),
    cmocka_unit_test(a_shut_gate_takes_ready_back),
    cmocka_unit_test(what_failed_may_recover),
    cmocka_unit_test(what_others_own_is_waited_for_and_never_written),
    cmocka_unit_test(what_others_take_back_holds_new_nodes_only),
    cmocka_unit_test(what_others_bring_ready_holds_though_slipway_applied_it),
    cmocka_unit_test(what_others_bring_ready_holds_though_slipway_applied_it),
    cmocka_unit_test(held_states_follow_the_recipe_too),
};
