#pragma once
/* What goes wrong: faults, patience, grace over restarts. */
#include "means.h"

/* ---- faults ------------------------------------------------------------------------------------
 */

static void what_passes_is_tried_again(void **state)
{
    (void)state;
    struct refusal no = { SW_ACT_APPLY, "a1", SW_UNAVAILABLE, 0 };
    struct sim *sim = new_sim(&chain);
    sim->arg = &no;
    sim->refuse = refuse;
    sim_start(sim);
    sim_run(sim, 10000);
    expect_phase(sim, "a", "Retrying");
    expect_message(sim, "a", "ConfigMap ns/a1: the server says no");
    assert_between(no.n, 4, 8); /* 0, 0.5, 1.5, 3.5, 7.5 s */
    assert_string_equal(condition(sim, "Progressing", "status"), "True");
    no.code = 0;
    sim_run(sim, 60000);
    expect_phase(sim, "c", "Ready");
    sim_free(sim);
}

static struct json_object *failures_of(struct sim *sim, const char *state)
{
    return sw_json_get(sw_json_find_by(sw_json_get(sim->status, "states"), "name", state),
                       "failures");
}

static void what_was_tried_again_is_counted_and_no_reason_to_write(void **state)
{
    (void)state;
    struct refusal no = { SW_ACT_APPLY, "a1", SW_UNAVAILABLE, 0 };
    struct sim *sim = new_sim(&chain);
    sim->arg = &no;
    sim->refuse = refuse;
    sim_start(sim);
    sim_run(sim, 20000);
    size_t tries = no.n, writes = sim->n_statuses;
    sim_run(sim, 600000);
    assert_true(no.n > tries);
    assert_int_equal(sim->n_statuses, writes);
    sim_restart(sim);
    sim_run(sim, 30000);
    no.code = 0;
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    assert_true(sw_json_int(failures_of(sim, "a"), 0, "count", NULL) >= 2);
    assert_true(strcmp(sw_json_str(failures_of(sim, "a"), "", "first", NULL),
                       sw_json_str(failures_of(sim, "a"), "", "last", NULL)) < 0);
    assert_null(failures_of(sim, "b"));
    edit(sim, 0, 0);
    sim_run(sim, 60000);
    assert_null(failures_of(sim, "a")); /* other content */
    sim_free(sim);
}

static void what_lasts_is_an_error_and_tried_seldom(void **state)
{
    (void)state;
    struct refusal no = { SW_ACT_APPLY, "a1", SW_FORBIDDEN, 0 };
    struct sim *sim = new_sim(&chain);
    sim->arg = &no;
    sim->refuse = refuse;
    sim_start(sim);
    sim_run(sim, 30000);
    expect_phase(sim, "a", "Failed");
    assert_string_equal(condition(sim, "Errored", "status"), "True");
    assert_between(no.n, 2, 4);
    no.code = 0;
    sim_run(sim, 600000);
    expect_phase(sim, "c", "Ready");
    sim_free(sim);
}

static void a_changed_cause_ends_the_back_off(void **state)
{
    (void)state;
    struct refusal no = { SW_ACT_APPLY, "a1", SW_INVALID, 0 };
    struct sim *sim = new_sim(&chain);
    sim->arg = &no;
    sim->refuse = refuse;
    sim_start(sim);
    sim_run(sim, 20000);
    expect_phase(sim, "a", "Failed");
    no.code = 0;
    edit(sim, 0, 0);
    sim_run(sim, 1000);
    expect_phase(sim, "c", "Ready");
    sim_free(sim);
}

static void a_kind_that_is_not_served_is_waited_for(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "ConfigMap", .name = "a0" },
                       { .kind = "Issuer", .name = "a1", .awaited = true } } }, );
    struct sim *sim = new_sim(&recipe);
    sim_start(sim);
    sim_step(sim, &(struct sw_event){ .kind = SW_EV_TIMER });
    while (sim->n_queue) { /* what is told of the Issuer is that there is no such thing */
        struct sw_event *e = &sim->queue[0].event;
        if (e->kind == SW_EV_OBSERVED && strcmp(e->key.kind, "Issuer") == 0) {
            e->code = SW_NOTFOUND;
            e->message = "cert-manager.io/v1 is not served";
        }
        (void)sim_deliver(sim);
    }
    expect_phase(sim, "a", "Applying");
    expect_message(sim, "a", "Issuer ns/a1 is not served yet: cert-manager.io/v1 is not served");
    expect_never(sim, "apply Issuer");
    sim_resync(sim); /* now it is */
    sim_run(sim, 1000);
    (void)place_in_log(sim, "apply Issuer a1");
    sim_free(sim);
}

static void what_cannot_be_looked_at_is_not_taken_for_absent(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&chain);
    sim_start(sim);
    while (sim->n_queue) {
        struct sw_event *e = &sim->queue[0].event;
        if (e->kind == SW_EV_OBSERVED && strcmp(e->key.kind, "ConfigMap") == 0) {
            e->code = SW_FORBIDDEN;
            e->message = "cannot list configmaps";
        }
        (void)sim_deliver(sim);
    }
    expect_phase(sim, "a", "Failed");
    expect_message(sim, "a", "ConfigMap ns/a1 cannot be looked at: cannot list configmaps");
    assert_int_equal(sim->n_applies, 0);
    sim_resync(sim);
    sim_run(sim, 600000);
    expect_phase(sim, "c", "Ready");
    sim_free(sim);
}

static void a_recipe_that_does_not_render_is_shown_when_its_turn_comes(void **state)
{
    (void)state;
    struct refusal no = { SW_ACT_RENDER, "b", SW_INVALID, 0 };
    struct sim *sim = new_sim(&chain);
    sim->arg = &no;
    sim->refuse = refuse;
    sim->frozen = true;
    sim_start(sim);
    sim_run(sim, 5000);
    expect_phase(sim, "a", "Waiting");
    expect_phase(sim, "b", "Pending"); /* it may yet, when what it needs is there */
    sim->frozen = false;
    sim_run(sim, 5000);
    expect_phase(sim, "b", "Failed");
    expect_message(sim, "b", "templates/x.yaml:1: no");
    no.code = 0;
    sim_step(sim, &(struct sw_event){ .kind = SW_EV_FACTS });
    sim_run(sim, 5000);
    expect_phase(sim, "c", "Ready");
    sim_free(sim);
}

/* From whatever it is in, a bad edit is shown and harms nothing that runs. */
static void a_bad_edit_harms_nothing(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a", .objects = { { .kind = "Deployment", .name = "a1", .awaited = true } } },
        { .name = "b",
          .objects = { { .kind = "Deployment",
                         .name = "b1",
                         .awaited = true,
                         .annotations = "{'sim/stuck':'1'}" } } },
        { .name = "c", NEEDS(1), .objects = { { .kind = "ConfigMap", .name = "c1" } } },
        { .name = "d",
          .objects = { { .kind = "Job",
                         .name = "d1",
                         .awaited = true,
                         .annotations = "{'sim/stuck':'1'}",
                         .stage = -1 },
                       { .kind = "ConfigMap", .name = "d2" } } },
        { .name = "e",
          .objects = { { .kind = "ClusterPolicy",
                         .name = "p",
                         .annotations = "{'slipway.dev/observe':'true'}" } } }, );
    static const int codes[] = { SW_INVALID, SW_UNAVAILABLE };
    for (size_t i = 0; i < SW_COUNT(codes); i++) {
        struct refusal no = { SW_ACT_RENDER, NULL, 0, 0 };
        struct sim *sim = new_sim(&recipe);
        sim->arg = &no;
        sim->refuse = refuse;
        foreign(sim, "ClusterPolicy", "p", "{'status':{'state':'ready'}}");
        sim_start(sim);
        sim_run(sim, 5000);
        set_status(sim, "ClusterPolicy", "p", "{'state':'notReady'}");
        sim_run(sim, 5000);
        expect_phase(sim, "e", "Held");
        size_t before = sim->n_applies + sim->n_deletes;
        no.code = codes[i];
        edit(sim, 0, 0);
        sim_run(sim, 5000);
        expect_phase(sim, "a", i == 0 ? "Failed" : "Retrying");
        expect_phase(sim, "b", i == 0 ? "Failed" : "Retrying");
        expect_phase(sim, "d", i == 0 ? "Failed" : "Retrying");
        expect_phase(sim, "e", i == 0 ? "Failed" : "Retrying");
        assert_int_equal(sim->n_applies + sim->n_deletes, before);
        sim_run(sim, 900000);
        assert_string_equal(sim_label(sim, "n0", "a"), "Ready");
        no.code = 0;
        sim_step(sim, &(struct sw_event){ .kind = SW_EV_FACTS });
        sim_run(sim, 600000);
        expect_phase(sim, "a", "Ready");
        sim_free(sim);
    }
}

static void a_chart_that_is_gone_is_an_error(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    struct sw_spec spec = { .name = "r",
                            .uid = SIM_UID,
                            .generation = 2,
                            .revision = "2",
                            .code = SW_NOTFOUND,
                            .message = "chart x 1.2 is not in the repository",
                            .reason = "ChartFailure" };
    sim_clear_log(sim);
    sim_step(sim, &(struct sw_event){ .kind = SW_EV_SPEC, .spec = &spec });
    sim_run(sim, 60000);
    assert_string_equal(condition(sim, "Errored", "reason"), "ChartFailure");
    assert_string_equal(condition(sim, "Errored", "message"),
                        "chart x 1.2 is not in the repository [Failed: check name, version and "
                        "repository.url of spec.chart]");
    expect_never(sim, "delete");
    expect_never(sim, "label");
    (void)place_in_log(sim, "event ChartFailure");
    sim_spec(sim);
    sim_run(sim, 60000);
    assert_string_equal(condition(sim, "Ready", "status"), "True");
    sim_free(sim);
}

static void labels_that_are_refused_are_reported(void **state)
{
    (void)state;
    struct refusal no = { SW_ACT_LABEL, NULL, SW_FORBIDDEN, 0 };
    struct sim *sim = new_sim(&chain);
    sim->arg = &no;
    sim->refuse = refuse;
    sim_start(sim);
    sim_run(sim, 20000);
    assert_string_equal(condition(sim, "Progressing", "status"), "True");
    assert_string_equal(condition(sim, "Progressing", "message"),
                        "Labelling nodes: the server says no");
    assert_between(no.n, 2, 12);
    no.code = 0;
    sim_run(sim, 600000);
    assert_string_equal(condition(sim, "Ready", "status"), "True");
    sim_free(sim);
}

/* ---- patience ----------------------------------------------------------------------------------
 */

static const char *reason_of(struct sim *sim, const char *state)
{
    struct json_object *doc = sw_engine_status(sim->engine, sim->now_ms);
    struct json_object *s = sw_json_find_by(sw_json_get(doc, "states"), "name", state);
    const char *reason = sim_keep(sim, sw_json_str(s, "", "reason", NULL));
    json_object_put(doc);
    return reason;
}

static const struct sim_recipe slow = STATES(
    { .name = "a",
      .objects = { { .kind = "Deployment",
                     .name = "a1",
                     .awaited = true,
                     .annotations = "{'sim/stuck':'1','slipway.dev/timeout':'2m'}" } } },
    { .name = "b", NEEDS(0), .objects = { { .kind = "ConfigMap", .name = "b1" } } }, );

static void a_state_that_takes_too_long_fails_and_still_recovers(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&slow);
    sim_start(sim);
    sim_run(sim, 100000);
    expect_phase(sim, "a", "Waiting");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Failed");
    assert_string_equal(reason_of(sim, "a"), "Timeout");
    expect_message(sim, "a", "not ready within 2m: Deployment ns/a1");
    assert_string_equal(condition(sim, "Errored", "status"), "True");
    size_t writes = sim->n_applies + sim->n_statuses;
    sim_run(sim, 3600000);
    assert_int_equal(sim->n_applies + sim->n_statuses, writes); /* told once */
    (void)sim_live_deployment(sim, sim_find(sim, "Deployment", "a1"));
    sim_run(sim, 10000);
    expect_phase(sim, "a", "Ready");
    expect_phase(sim, "b", "Ready");
    sim_free(sim);
}

/* What one assertion may take is no limit of the others of its state. */
static void an_assertion_has_a_time_of_its_own(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "Deployment",
                         .name = "a1",
                         .awaited = true,
                         .annotations = "{'sim/stuck':'1','slipway.dev/assert-timeout':'30s'}" },
                       { .kind = "Deployment",
                         .name = "a2",
                         .awaited = true,
                         .annotations = "{'sim/stuck':'1','slipway.dev/timeout':'20m'}" } } }, );
    struct sim *sim = new_sim(&recipe);
    sim_start(sim);
    sim_run(sim, 20000);
    expect_phase(sim, "a", "Waiting");
    sim_run(sim, 20000);
    expect_phase(sim, "a", "Failed");
    expect_message(sim, "a", "not ready within 30s: Deployment ns/a1");
    (void)sim_live_deployment(sim, sim_find(sim, "Deployment", "a1"));
    sim_run(sim, 300000);
    expect_phase(sim, "a", "Waiting");
    (void)sim_live_deployment(sim, sim_find(sim, "Deployment", "a2"));
    sim_run(sim, 10000);
    expect_phase(sim, "a", "Ready");
    sim_free(sim);
}

static void a_restart_does_not_move_the_deadline(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&slow);
    sim_start(sim);
    sim_run(sim, 100000);
    sim_restart(sim);
    sim_run(sim, 15000);
    expect_phase(sim, "a", "Waiting");
    sim_run(sim, 10000);
    expect_phase(sim, "a", "Failed");
    sim_restart(sim);
    sim_run(sim, 1000);
    expect_phase(sim, "a", "Failed");
    sim_free(sim);
}

static void new_content_gets_time_anew(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&slow);
    sim_start(sim);
    sim_run(sim, 160000);
    expect_phase(sim, "a", "Failed");
    edit(sim, 0, 0);
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Waiting");
    sim_run(sim, 120000);
    expect_phase(sim, "a", "Failed");
    sim_free(sim);
}

static void a_stage_may_take_too_long_as_well(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "Deployment",
                         .name = "a1",
                         .awaited = true,
                         .stage = -1,
                         .annotations = "{'sim/stuck':'1'}" },
                       { .kind = "ConfigMap", .name = "a2" } } }, );
    struct sim *sim = new_sim(&recipe);
    sim->timeout_ms = 60000; /* the resource's own, for all states */
    sim_start(sim);
    sim_run(sim, 70000);
    expect_phase(sim, "a", "Failed");
    (void)sim_live_deployment(sim, sim_find(sim, "Deployment", "a1"));
    sim_run(sim, 3600000);
    expect_phase(sim, "a", "Ready");
    sim_free(sim);
}

static void a_late_node_holds_no_other_up(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a", .objects = { { .kind = "DaemonSet", .name = "a1", .awaited = true } } },
        { .name = "b",
          NEEDS(0),
          .objects = { { .kind = "DaemonSet",
                         .name = "b1",
                         .awaited = true,
                         .needs_label = SIM_LABEL "a" } } }, );
    struct sim *sim = new_sim(&recipe);
    sim->timeout_ms = 60000;
    sim->frozen = true;
    sim_start(sim);
    sim_run(sim, 1000);
    while (!sim_find(sim, "Pod", "a1-n0") || !sim_find(sim, "Pod", "a1-n1"))
        (void)sim_live_daemon_set(sim, sim_find(sim, "DaemonSet", "a1"));
    (void)sim_live_daemon_set(sim, sim_find(sim, "DaemonSet", "a1"));
    sim_run(sim, 70000);
    expect_phase(sim, "a", "Failed");
    (void)sim_live_pod(sim, sim_find(sim, "Pod", "a1-n0"));
    sim_run(sim, 10000);
    assert_non_null(sim_find(sim, "DaemonSet", "b1")); /* n0 goes on */
    assert_null(sim_label(sim, "n1", "a"));
    sim->frozen = false;
    sim_run(sim, 60000);
    expect_phase(sim, "b", "Ready");
    sim_free(sim);
}

#define JOB_FAILED                                                                                 \
    "{'conditions':[{'type':'Failed','status':'True','reason':'BackoffLimitExceeded',"             \
    "'message':'it failed'}]}"

static const struct sim_recipe job = STATES(
    { .name = "a",
      .objects = { { .kind = "ConfigMap", .name = "a0" },
                   { .kind = "Job",
                     .name = "a1",
                     .awaited = true,
                     .annotations = "{'slipway.dev/retries':'2'}" },
                   { .kind = "Pod", .name = "a2", .awaited = true } } }, );

static void fail_job(struct sim *sim)
{
    if (sim_find(sim, "Job", "a1"))
        set_status(sim, "Job", "a1", JOB_FAILED);
}

static void what_ran_and_failed_is_run_again_for_a_while(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&job);
    sim->frozen = true;
    sim_start(sim);
    sim_run(sim, 1000);
    for (size_t i = 0; i < 20; i++) {
        fail_job(sim);
        sim_run(sim, 1000);
        if (i == 0)
            expect_phase(sim, "a", "Failed");
    }
    sim_run(sim, 3600000);
    assert_int_equal(sim->n_deletes, 2); /* as often as it may */
    expect_phase(sim, "a", "Failed");
    edit(sim, 0,
         0); /* the cause may be another now: it is run again at once, and may be twice more */
    sim_run(sim, 1000);
    assert_int_equal(sim->n_deletes, 3);
    sim->frozen = false;
    sim_run(sim, 1000);
    expect_phase(sim, "a", "Ready");
    sim_free(sim);
}

static void it_is_run_again_less_and_less_often(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a", .objects = { { .kind = "Pod", .name = "a1", .awaited = true } } }, );
    struct sim *sim = new_sim(&recipe);
    sim->frozen = true;
    sim_start(sim);
    sim_run(sim, 1000);
    for (size_t i = 0; i < 3600; i++) {
        if (sim_find(sim, "Pod", "a1"))
            set_status(sim, "Pod", "a1", "{'phase':'Failed'}");
        sim_run(sim, 1000);
    }
    assert_between(sim->n_deletes, 10, 20); /* every 5 minutes at last */
    sim->frozen = false;
    sim_run(sim, 600000);
    expect_phase(sim, "a", "Ready");
    sim_free(sim);
}

/* ---- grace over restarts -----------------------------------------------------------------------
 */

static void a_restart_neither_prolongs_nor_ends_the_grace(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    sim_put_node(sim, "n1", "k1", false);
    struct json_object *pod = sim_find(sim, "Pod", "b1-n1");
    (void)sim_set_status(sim, pod, sim_json("{'phase':'Running'}"));
    sim_step(sim, &(struct sw_event){ .kind = SW_EV_NODE,
                                      .node = sw_node_set_find(sim->node_set, "n1") });
    sim->frozen = true;
    sim_run(sim, 180000);
    assert_string_equal(sim_label(sim, "n1", "b"), "Ready");
    struct json_object *lost = sw_json_at(sw_json_get(sim->status, "lostNodes"), 0);
    assert_string_equal(json_object_get_string(sw_json_at(sw_json_get(lost, "nodes"), 0)), "n1");
    sim_restart(sim);
    sim_run(sim, 100000);
    assert_string_equal(sim_label(sim, "n1", "b"), "Ready"); /* 4:40 */
    sim_run(sim, 40000);
    assert_null(sim_label(sim, "n1", "b")); /* 5:20: not 5 minutes after the restart */
    assert_string_equal(sim_label(sim, "n0", "b"), "Ready");
    assert_null(sw_json_get(sim->status, "lostNodes"));
    sim_free(sim);
}

static void a_node_that_comes_back_in_time_is_forgiven(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    uint32_t n1 = sw_node_set_find(sim->node_set, "n1");
    sim->frozen = true;
    for (int i = 0; i < 4; i++) {
        sim_put_node(sim, "n1", "k1", i % 2);
        (void)sim_set_status(sim, sim_find(sim, "Pod", "b1-n1"),
                             i % 2 ? sim_json("{'phase':'Running','conditions':[{'type':'Ready',"
                                              "'status':'True'}]}")
                                   : sim_json("{'phase':'Running'}"));
        sim_step(sim, &(struct sw_event){ .kind = SW_EV_NODE, .node = n1 });
        sim_run(sim, 240000);
        assert_string_equal(sim_label(sim, "n1", "b"), "Ready");
        sim_restart(sim);
        sim_run(sim, 1000);
    }
    assert_null(sw_json_get(sim->status, "lostNodes"));
    sim_free(sim);
}

/* A Job that fails at once may be observed before its pod: what its log says is told with it. */
static void a_job_that_failed_waits_for_the_log_of_its_pod(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "Job",
                         .name = "j",
                         .awaited = true,
                         .annotations = "{'sim/pods':'','slipway.dev/retries':'0'}" } } }, );
    for (int has_pod = 0; has_pod < 2; has_pod++) {
        struct sim *sim = new_sim(&recipe);
        sim->frozen = true;
        sim_start(sim);
        sim_run(sim, 1000);
        set_status(sim, "Job", "j", JOB_FAILED);
        sim_run(sim, 1000);
        expect_phase(sim, "a", "Waiting");
        if (has_pod)
            foreign(sim, "Pod", "j-1",
                    "{'metadata':{'labels':{'app':'j'}},'status':{'phase':'Failed',"
                    "'containerStatuses':[{'name':'c','state':{'terminated':{'exitCode':1}}}]}}");
        sim_run(sim, has_pod ? 1000 : 5000); /* where there is none it is told without one */
        expect_phase(sim, "a", "Failed");
        (void)place_in_log(sim, "event StateFailed");
        if (has_pod)
            expect_message(sim, "a", "ended: exit code 1; the end of its log: all is well");
        sim_free(sim);
    }
}

static const struct CMUnitTest faults_tests[] = {
    cmocka_unit_test(a_job_that_failed_waits_for_the_log_of_its_pod),
    cmocka_unit_test(what_passes_is_tried_again),
    cmocka_unit_test(what_lasts_is_an_error_and_tried_seldom),
    cmocka_unit_test(what_was_tried_again_is_counted_and_no_reason_to_write),
    cmocka_unit_test(a_changed_cause_ends_the_back_off),
    cmocka_unit_test(a_kind_that_is_not_served_is_waited_for),
    cmocka_unit_test(what_cannot_be_looked_at_is_not_taken_for_absent),
    cmocka_unit_test(a_recipe_that_does_not_render_is_shown_when_its_turn_comes),
    cmocka_unit_test(a_bad_edit_harms_nothing),
    cmocka_unit_test(a_chart_that_is_gone_is_an_error),
    cmocka_unit_test(labels_that_are_refused_are_reported),
    cmocka_unit_test(a_state_that_takes_too_long_fails_and_still_recovers),
    cmocka_unit_test(an_assertion_has_a_time_of_its_own),
    cmocka_unit_test(a_restart_does_not_move_the_deadline),
    cmocka_unit_test(new_content_gets_time_anew),
    cmocka_unit_test(a_stage_may_take_too_long_as_well),
    cmocka_unit_test(a_late_node_holds_no_other_up),
    cmocka_unit_test(what_ran_and_failed_is_run_again_for_a_while),
    cmocka_unit_test(it_is_run_again_less_and_less_often),
    cmocka_unit_test(a_restart_neither_prolongs_nor_ends_the_grace),
    cmocka_unit_test(a_node_that_comes_back_in_time_is_forgiven),
};
