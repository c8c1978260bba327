#pragma once
/* What changes under a walk: objects, the recipe, and what belongs to others. */
#include "means.h"

/* ---- drift -------------------------------------------------------------------------------------
 */

static void what_is_deleted_comes_back(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    sim_clear_log(sim);
    sim_remove(sim, sim_find(sim, "ConfigMap", "a1"));
    sim_run(sim, 1000);
    assert_non_null(sim_find(sim, "ConfigMap", "a1"));
    expect_never(sim, "label"); /* no flapping */
    expect_phase(sim, "a", "Ready");
    sim_free(sim);
}

static void what_is_changed_is_put_right(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    struct json_object *other = sw_json_copy(sim_find(sim, "ConfigMap", "a1"));
    sw_json_set(other, json_object_new_int(77), "spec", "content", NULL);
    assert_true(sim_put(sim, other));
    sim_run(sim, 1000);
    assert_int_equal(sw_json_int(sim_find(sim, "ConfigMap", "a1"), 0, "spec", "content", NULL), 0);
    sim_free(sim);
}

static void what_others_add_is_left_alone(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    sim_clear_log(sim);
    struct json_object *more = sw_json_copy(sim_find(sim, "ConfigMap", "a1"));
    sw_json_set_str(more, "mine", "metadata", "annotations", "somebody", NULL);
    assert_true(sim_put(sim, more));
    sim_run(sim, 60000);
    expect_never(sim, "apply");
    sim_free(sim);
}

/* What was handed over is in the list of who gave it until the status lists it, whatever a status
 * from before says. */
static void what_is_inherited_is_not_listed_by_an_old_status(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    struct sim_state *a = &sim->recipe.states[0];
    a->objects[a->n_objects++] =
        (struct sim_object){ .kind = "ConfigMap", .name = "a3", .shared = "x/y" };
    sim->inherited = "[{'apiVersion':'v1','kind':'ConfigMap','namespace':'" SIM_NS
                     "','name':'a3','state':'a','release':'x/y'}]";
    sim_restart(sim);
    assert_int_equal(sw_engine_phase(sim->engine), SW_PHASE_READY);
    assert_false(sw_engine_has_recorded(sim->engine, "x/y"));
    sim_run(sim, 60000);
    assert_true(sw_engine_has_recorded(sim->engine, "x/y"));
    assert_non_null(sw_json_find_by(sw_json_get(sim->status, "inventory"), "name", "a3"));
    sim_free(sim);
}

static void nobody_is_fought_at_full_speed(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    size_t before = sim->n_applies;
    for (int i = 0; i < 30; i++) {
        struct json_object *other = sw_json_copy(sim_find(sim, "ConfigMap", "a1"));
        sw_json_set(other, json_object_new_int(1000 + i), "spec", "content", NULL);
        (void)sim_put(sim, other);
        sim_run(sim, 1000);
        sim->now_ms += 1000;
    }
    assert_between(sim->n_applies - before, 3, 8);
    expect_message(sim, "a", "ConfigMap ns/a1 is changed again and again");
    sim_run(sim, 3600000);
    expect_phase(sim, "a", "Ready");
    sim_free(sim);
}

static void what_has_run_to_its_end_is_not_run_again(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    size_t before = sim->n_applies;
    sim_remove(sim, sim_find(sim, "Pod", "c1"));
    sim_run(sim, 60000);
    sim_restart(sim);
    sim_run(sim, 60000);
    expect_phase(sim, "c", "Ready");
    assert_int_equal(sim->n_applies, before);
    edit(sim, 2, 0); /* but for new content it is */
    sim_run(sim, 60000);
    assert_int_equal(sim->n_applies, before + 1);
    sim_free(sim);
}

/* ---- changes of the recipe ---------------------------------------------------------------------
 */

static void new_content_goes_through_the_gates_again(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    sim_clear_log(sim);
    sim->recipe.states[0].objects[1].content++;
    edit(sim, 1, 0);
    sim_run(sim, 60000);
    expect_order(sim, "apply Deployment a2", "apply DaemonSet b1");
    expect_order(sim, "event StateReady", "apply DaemonSet b1");
    expect_never(sim, "ConfigMap");
    expect_never(sim, "Pod");
    assert_int_equal(sw_json_int(sim->status, 0, "observedGeneration", NULL), 2);
    sim_free(sim);
}

static void what_cannot_be_changed_is_replaced(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    sim_clear_log(sim);
    edit(sim, 2, 0);
    sim_run(sim, 60000);
    expect_order(sim, "delete Pod c1", "apply Pod c1");
    expect_phase(sim, "c", "Ready");
    sim_free(sim);
}

static void objects_that_are_dropped_are_pruned(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    sim_clear_log(sim);
    sim->recipe.states[0].objects[0] = sim->recipe.states[0].objects[1];
    sim->recipe.states[0].n_objects = 1;
    edit(sim, 0, 0);
    sim_run(sim, 60000);
    expect_order(sim, "apply Deployment a2", "delete ConfigMap a1"); /* the new is there first */
    assert_null(sim_find(sim, "ConfigMap", "a1"));
    assert_int_equal(sw_json_len(sw_json_get(sim->status, "inventory")), 3);
    sim_free(sim);
}

static void states_that_are_dropped_are_removed(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    sim_clear_log(sim);
    sim->recipe.n_states = 1;
    sim->revision = "2";
    sim_spec(sim);
    sim_run(sim, 60000);
    expect_order(sim, "delete Pod c1", "delete DaemonSet b1");
    assert_null(sim_label(sim, "n0", "b"));
    assert_null(sim_label(sim, "n0", "c"));
    assert_string_equal(sim_label(sim, "n0", "a"), "Ready");
    assert_int_equal(sw_json_len(sw_json_get(sim->status, "states")), 1);
    expect_phase(sim, "a", "Ready");
    sim_free(sim);
}

/* Object a1 is the last state's from now on. */
static struct sim *moved(void)
{
    struct sim *sim = walked(&chain);
    sim_clear_log(sim);
    sim->recipe.states[2].objects[1] = sim->recipe.states[0].objects[0];
    sim->recipe.states[2].n_objects = 2;
    sim->recipe.states[0].objects[0] = sim->recipe.states[0].objects[1];
    sim->recipe.states[0].n_objects = 1;
    sim->revision = "2";
    sim_spec(sim);
    return sim;
}

static void expect_moved(struct sim *sim)
{
    sim_run(sim, 60000);
    expect_never(sim, "delete");
    assert_non_null(sim_find(sim, "ConfigMap", "a1"));
    expect_phase(sim, "c", "Ready");
    sim_free(sim);
}

static void objects_may_move_to_another_state(void **state)
{
    (void)state;
    expect_moved(moved());
}

static void objects_may_move_to_a_state_that_is_rendered_first(void **state)
{
    (void)state;
    struct sim *sim = moved();
    for (size_t n = sim->n_queue; n-- > 0;) { /* the newest answers first */
        struct sim_pending p = sim->queue[n];
        memmove(&sim->queue[1], &sim->queue[0], n * sizeof p);
        sim->queue[0] = p;
        (void)sim_deliver(sim);
    }
    expect_moved(sim);
}

static void a_state_that_is_renamed_keeps_its_objects(void **state)
{
    (void)state;
    for (size_t late = 0; late < 2; late++) {
        struct sim *sim = walked(&chain);
        sim_clear_log(sim);
        sim->recipe.states[2].name = "renamed";
        sim->recipe.states[2].objects[0].stage = late ? -1 : 0; /* another content, or the same */
        sim->revision = "2";
        sim_spec(sim);
        sim_run(sim, 60000);
        expect_never(sim, "delete");
        assert_non_null(sim_find(sim, "Pod", "c1"));
        expect_phase(sim, "renamed", "Ready");
        sim_free(sim);
    }
}

static void a_state_being_applied_takes_new_content(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "Job",
                         .name = "a1",
                         .awaited = true,
                         .annotations = "{'sim/stuck':'1'}",
                         .stage = -1 },
                       { .kind = "ConfigMap", .name = "a2" } } }, );
    struct sim *sim = walked(&recipe);
    expect_phase(sim, "a", "Applying");
    edit(sim, 0, 1); /* content */
    sim_run(sim, 1000);
    expect_phase(sim, "a", "Applying");
    sim->recipe.states[0].objects[2] =
        (struct sim_object){ .kind = "ConfigMap", .name = "a3", .stage = -1 };
    sim->recipe.states[0].n_objects = 3;
    edit(sim, 0, 1); /* another object */
    sim_run(sim, 1000);
    (void)place_in_log(sim, "apply ConfigMap a3");
    sim_free(sim);
}

static void a_state_waiting_takes_new_content(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "Deployment",
                         .name = "a1",
                         .awaited = true,
                         .annotations = "{'sim/stuck':'1'}" } } },
        { .name = "b", NEEDS(0), .objects = { { .kind = "ConfigMap", .name = "b1" } } }, );
    struct sim *sim = walked(&recipe);
    expect_phase(sim, "a", "Waiting");
    sim->recipe.states[0].objects[1] = (struct sim_object){ .kind = "ConfigMap", .name = "a2" };
    sim->recipe.states[0].n_objects = 2;
    sim->recipe.states[1].objects[1] = (struct sim_object){ .kind = "ConfigMap", .name = "b2" };
    sim->recipe.states[1].n_objects = 2;
    edit(sim, 0, 0);
    sim_run(sim, 1000);
    expect_phase(sim, "a", "Waiting");
    expect_phase(sim, "b", "Pending");
    edit(sim, 0, 0);
    sim_remove(sim, sim_find(sim, "ConfigMap", "a2"));
    sim_run(sim, 1000);
    assert_non_null(sim_find(sim, "ConfigMap", "a2"));
    sim_free(sim);
}

static void what_it_needs_may_be_lost_while_it_applies(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a", .objects = { { .kind = "Deployment", .name = "a1", .awaited = true } } },
        { .name = "b",
          NEEDS(0),
          .objects = { { .kind = "Job",
                         .name = "b1",
                         .awaited = true,
                         .annotations = "{'sim/stuck':'1'}",
                         .stage = -1 },
                       { .kind = "ConfigMap", .name = "b2" } } }, );
    struct sim *sim = walked(&recipe);
    expect_phase(sim, "b", "Applying");
    sim->frozen = true;
    edit(sim, 0, 0); /* what it needs gets new content, and is not ready with it yet */
    sim_run(sim, 1000);
    expect_phase(sim, "a", "Waiting");
    expect_phase(sim, "b", "Pending");
    sim->frozen = false;
    sim_run(sim, 1000);
    expect_phase(sim, "b", "Applying");
    sim_free(sim);
}

/* ---- what belongs to others --------------------------------------------------------------------
 */

static void a_foreign_object_is_not_taken_over(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&chain);
    foreign(sim, "ConfigMap", "a1", "{'data':{'x':'y'}}");
    sim_start(sim);
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Failed");
    expect_message(sim, "a", "ConfigMap ns/a1 exists and is not slipway's");
    assert_int_equal(sim->n_applies, 0);
    sim_remove(sim, sim_find(sim, "ConfigMap", "a1"));
    sim_run(sim, 60000);
    expect_phase(sim, "c", "Ready");
    sim_free(sim);
}

static void what_another_one_was_first_with_is_looked_up_again(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&chain);
    sim->recipe.states[0].looks_up = true;
    foreign(sim, "ConfigMap", "a1", "{'data':{'x':'y'}}");
    sim_start(sim);
    sim_run(sim, 2000);
    expect_phase(sim, "a", "Failed");
    /* its templates would find it, and observe it */
    sim->recipe.states[0].objects[0].annotations = "{'slipway.dev/observe':'true'}";
    sim_run(sim, 20000);
    expect_phase(sim, "c", "Ready");
    sim_free(sim);
}

static void a_foreign_object_may_be_adopted_and_is_kept_at_the_end(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = {
              { .kind = "ConfigMap", .name = "a1", .annotations = "{'slipway.dev/adopt':'true'}" },
              { .kind = "ConfigMap",
                .name = "a2",
                .annotations = "{'helm.sh/resource-policy':'keep'}" },
              { .kind = "ConfigMap", .name = "a3" } } }, );
    struct sim *sim = new_sim(&recipe);
    foreign(sim, "ConfigMap", "a1", "{'data':{'x':'y'}}");
    sim_start(sim);
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    (void)place_in_log(sim, "apply ConfigMap a1");
    sim_restart(sim);
    sim_run(sim, 60000);
    sim->deleting = true;
    sim_spec(sim);
    sim_run(sim, 60000);
    assert_true(sim->finalized);
    assert_non_null(sim_find(sim, "ConfigMap", "a1"));
    assert_non_null(sim_find(sim, "ConfigMap", "a2"));
    assert_null(sim_find(sim, "ConfigMap", "a3"));
    sim_free(sim);
}

static void a_namespace_of_others_is_used_and_left(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "pre", .hidden = true, .objects = { { .kind = "Namespace", .name = SIM_NS } } },
        { .name = "a", NEEDS(0), .objects = { { .kind = "ConfigMap", .name = "a1" } } }, );
    struct sim *sim = new_sim(&recipe);
    foreign(sim, "Namespace", SIM_NS, "{'status':{'phase':'Active'}}");
    sim_start(sim);
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    expect_never(sim, "apply Namespace");
    assert_int_equal(sw_json_len(sw_json_get(sim->status, "states")), 1); /* hidden */
    sim->deleting = true;
    sim_spec(sim);
    sim_run(sim, 60000);
    assert_true(sim->finalized);
    assert_non_null(sim_find(sim, "Namespace", SIM_NS));
    sim_free(sim);
}

static void a_namespace_of_our_own_goes_last(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "pre", .hidden = true, .objects = { { .kind = "Namespace", .name = SIM_NS } } },
        { .name = "a", .objects = { { .kind = "ConfigMap", .name = "a1" } } }, );
    struct sim *sim = walked(&recipe);
    (void)place_in_log(sim, "apply Namespace ns");
    sim->deleting = true;
    sim_restart(sim);
    sim_run(sim, 60000);
    assert_true(sim->finalized);
    expect_order(sim, "delete ConfigMap a1", "delete Namespace ns");
    sim_free(sim);
}

static void a_dying_namespace_is_waited_for(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "pre", .hidden = true, .objects = { { .kind = "Namespace", .name = SIM_NS } } },
        { .name = "a", NEEDS(0), .objects = { { .kind = "ConfigMap", .name = "a1" } } }, );
    struct sim *sim = new_sim(&recipe);
    foreign(sim, "Namespace", SIM_NS,
            "{'metadata':{'deletionTimestamp':'2026-01-01T00:00:00Z','finalizers':['kubernetes']},"
            "'status':{'phase':'Terminating'}}");
    sim_start(sim);
    sim_run(sim, 60000);
    assert_int_equal(sim->n_applies, 0);
    assert_non_null(strstr(condition(sim, "Progressing", "message"),
                           "Namespace ns is being deleted (finalizers: kubernetes)"));
    sim_remove(sim, sim_find(sim, "Namespace", SIM_NS));
    sim_run(sim, 60000);
    expect_order(sim, "apply Namespace ns", "apply ConfigMap a1");
    sim_free(sim);
}

static void a_dry_run_is_tried_until_it_passes(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "Deployment", .name = "a1", .awaited = true },
                       { .kind = "Issuer",
                         .name = "a2",
                         .annotations = "{'slipway.dev/dry-run':'true'}" } } }, );
    struct refusal no = { SW_ACT_APPLY, "a2", SW_UNAVAILABLE, 0 };
    struct sim *sim = new_sim(&recipe);
    sim->arg = &no;
    sim->refuse = refuse;
    sim_start(sim);
    sim_run(sim, 3000);
    expect_order(sim, "apply Deployment a1", "try Issuer a2");
    expect_phase(sim, "a", "Retrying");
    no.code = 0;
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    assert_null(sim_find(sim, "Issuer", "a2"));
    size_t tries = sim->n_applies;
    sim->deleting = true;
    sim_spec(sim);
    sim_run(sim, 60000);
    assert_true(sim->finalized);
    assert_int_equal(sim->n_applies, tries);
    sim_free(sim);
}

static const struct CMUnitTest changes_tests[] = {
    cmocka_unit_test(what_is_deleted_comes_back),
    cmocka_unit_test(what_is_changed_is_put_right),
    cmocka_unit_test(what_others_add_is_left_alone),
    cmocka_unit_test(what_is_inherited_is_not_listed_by_an_old_status),
    cmocka_unit_test(nobody_is_fought_at_full_speed),
    cmocka_unit_test(what_has_run_to_its_end_is_not_run_again),
    cmocka_unit_test(new_content_goes_through_the_gates_again),
    cmocka_unit_test(what_cannot_be_changed_is_replaced),
    cmocka_unit_test(objects_that_are_dropped_are_pruned),
    cmocka_unit_test(states_that_are_dropped_are_removed),
    cmocka_unit_test(objects_may_move_to_another_state),
    cmocka_unit_test(objects_may_move_to_a_state_that_is_rendered_first),
    cmocka_unit_test(a_state_that_is_renamed_keeps_its_objects),
    cmocka_unit_test(a_state_being_applied_takes_new_content),
    cmocka_unit_test(a_state_waiting_takes_new_content),
    cmocka_unit_test(what_it_needs_may_be_lost_while_it_applies),
    cmocka_unit_test(a_foreign_object_is_not_taken_over),
    cmocka_unit_test(what_another_one_was_first_with_is_looked_up_again),
    cmocka_unit_test(a_foreign_object_may_be_adopted_and_is_kept_at_the_end),
    cmocka_unit_test(a_namespace_of_others_is_used_and_left),
    cmocka_unit_test(a_namespace_of_our_own_goes_last),
    cmocka_unit_test(a_dying_namespace_is_waited_for),
    cmocka_unit_test(a_dry_run_is_tried_until_it_passes),
};
