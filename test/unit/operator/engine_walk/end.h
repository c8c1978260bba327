#pragma once
/* How it ends, and what stays. */
#include "means.h"

/* ---- the end -----------------------------------------------------------------------------------
 */

static void removal_goes_backwards_and_leaves_nothing(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    sim_clear_log(sim);
    sim->deleting = true;
    sim_spec(sim);
    sim_run(sim, 60000);
    assert_true(sim->finalized);
    expect_order(sim, "delete Pod c1", "delete DaemonSet b1");
    expect_order(sim, "delete DaemonSet b1", "delete Deployment a2");
    expect_order(sim, "delete Deployment a2", "delete ConfigMap a1");
    expect_order(sim, "delete ConfigMap a1", "label n0 -a");
    expect_order(sim, "label n1 -", "finalized");
    assert_int_equal(json_object_object_length(sim->store), 0);
    assert_int_equal(json_object_object_length(sw_json_get(sim->nodes, "n0")), 1);
    sim_free(sim);
}

static void a_held_deletion_touches_nothing_and_keeps_the_hidden_state(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "base",
          .hidden = true,
          .objects = { { .kind = "Namespace", .name = "n1" } },
          .n_objects = 1 },
        { .name = "a", .objects = { { .kind = "ConfigMap", .name = "a1" } }, .n_objects = 1 }, );
    struct sim *sim = new_sim(&recipe);
    sim_start(sim);
    sim_run(sim, 60000);
    sim->deleting = true;
    sim->hold = SW_HOLD_ALL;
    sim_spec(sim);
    sim_run(sim, 60000);
    sim_restart(sim);
    sim_run(sim, 60000);
    assert_int_equal(sim->n_deletes, 0);
    assert_string_equal(condition(sim, "Errored", "reason"), "DeletionHookFailed");
    sim->hold = SW_HOLD_LAST;
    sim_spec(sim);
    sim_run(sim, 60000);
    assert_null(sim_find(sim, "ConfigMap", "a1"));
    assert_non_null(sim_find(sim, "Namespace", "n1"));
    expect_order(sim, "delete ConfigMap a1", "emptied");
    sim_clear_log(sim);
    sim_restart(sim);
    sim_run(sim, 60000);
    assert_non_null(strstr(sim->log, "emptied")); /* told again to who was not there */
    assert_false(sim->finalized);
    sim->hold = SW_HOLD_NONE;
    sim_spec(sim);
    sim_run(sim, 60000);
    assert_true(sim->finalized);
    assert_null(sim_find(sim, "Namespace", "n1"));
    sim_free(sim);
}

/* Hooks after the objects run in namespaces of states, too: these go last, in whatever state. */
static void a_held_deletion_keeps_the_namespaces_of_states(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a", .objects = { { .kind = "ConfigMap", .name = "a1" } }, .n_objects = 1 },
        { .name = "b",
          .needs = { 0 },
          .n_needs = 1,
          .objects = { { .kind = "Namespace", .name = "n2" },
                       { .kind = "ConfigMap", .name = "b1" } },
          .n_objects = 2 }, );
    struct sim *sim = new_sim(&recipe);
    sim_start(sim);
    sim_run(sim, 60000);
    sim->deleting = true;
    sim->hold = SW_HOLD_LAST;
    sim_spec(sim);
    sim_run(sim, 60000);
    assert_null(sim_find(sim, "ConfigMap", "a1"));
    assert_null(sim_find(sim, "ConfigMap", "b1"));
    assert_non_null(sim_find(sim, "Namespace", "n2"));
    expect_order(sim, "delete ConfigMap b1", "delete ConfigMap a1");
    expect_order(sim, "delete ConfigMap a1", "emptied");
    sim->hold = SW_HOLD_NONE;
    sim_spec(sim);
    sim_run(sim, 60000);
    assert_true(sim->finalized);
    assert_null(sim_find(sim, "Namespace", "n2"));
    sim_free(sim);
}

static void removal_needs_no_recipe(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    sim->recipe.n_states = 0; /* the chart is gone */
    sim->deleting = true;
    sim_clear_log(sim);
    sim_restart(sim);
    sim_run(sim, 60000);
    assert_true(sim->finalized);
    expect_order(sim, "delete Pod c1", "delete DaemonSet b1");
    expect_order(sim, "delete DaemonSet b1", "delete Deployment a2");
    assert_int_equal(json_object_object_length(sim->store), 0);
    assert_null(sim_label(sim, "n0", "b"));
    sim_free(sim);
}

/* The controller was killed between handing it over and writing the status, which still lists it.
 */
static void what_was_handed_over_is_not_removed(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "ConfigMap", .name = "a1", .shared = "n/r" },
                       { .kind = "ConfigMap", .name = "a2", .shared = "n/r" } },
          .n_objects = 2 }, );
    struct sim *sim = walked(&recipe);
    struct json_object *a1 = sim_find(sim, "ConfigMap", "a1");
    sw_json_set_str(a1, "heir", "metadata", "annotations", "slipway.dev/resource", NULL);
    sw_json_set(a1, sim_json("[{'uid':'heir','kind':'SpecialResource','name':'heir'}]"), "metadata",
                "ownerReferences", NULL);
    sim_touch(sim, a1);
    sim->deleting = true;
    sim_restart(sim);
    sim_run(sim, 60000);
    assert_true(sim->finalized);
    assert_non_null(sim_find(sim, "ConfigMap", "a1"));
    assert_null(sim_find(sim, "ConfigMap", "a2"));
    sim_free(sim);
}

static void labels_of_others_are_left(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&chain);
    sim_node(sim, "n0", "{'kernel':'k1','" SIM_LABEL "a-b':'Ready','" SIM_LABEL "x':'Ready'}");
    sim_start(sim);
    sim_run(sim, 60000);
    sim->deleting = true;
    sim_spec(sim);
    sim_run(sim, 60000);
    assert_true(sim->finalized);
    assert_string_equal(sim_label(sim, "n0", "a-b"), "Ready"); /* of a resource named r-a */
    assert_string_equal(sim_label(sim, "n0", "x"), "Ready");
    assert_null(sim_label(sim, "n0", "a"));
    sim_free(sim);
}

static void a_deletion_that_is_refused_is_tried_again(void **state)
{
    (void)state;
    struct refusal no = { SW_ACT_DELETE, "b1", SW_FORBIDDEN, 0 };
    struct sim *sim = walked(&chain);
    sim->arg = &no;
    sim->refuse = refuse;
    sim->deleting = true;
    sim_spec(sim);
    sim_run(sim, 20000);
    assert_false(sim->finalized);
    assert_string_equal(condition(sim, "Progressing", "reason"), "MarkedForDeletion");
    assert_non_null(
        strstr(condition(sim, "Progressing", "message"), "DaemonSet ns/b1: the server says no"));
    no.code = 0;
    sim_run(sim, 600000);
    assert_true(sim->finalized);
    sim_free(sim);
}

static void removed_states_can_come_back(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    sim->management = SW_REMOVED;
    sim_spec(sim);
    sim_run(sim, 60000);
    assert_int_equal(json_object_object_length(sim->store), 0);
    assert_null(sim_label(sim, "n0", "a"));
    assert_false(sim->finalized);
    assert_string_equal(condition(sim, "Progressing", "reason"), "Removed");
    sim->management = SW_MANAGED;
    sim_spec(sim);
    sim_run(sim, 60000);
    expect_phase(sim, "c", "Ready");
    assert_string_equal(sim_label(sim, "n0", "c"), "Ready");
    sim_free(sim);
}

static void unmanaged_is_left_alone(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    sim->management = SW_UNMANAGED;
    sim_spec(sim);
    size_t before = sim->n_applies + sim->n_labels + sim->n_statuses;
    sim_remove(sim, sim_find(sim, "ConfigMap", "a1"));
    sim_run(sim, 60000);
    assert_int_equal(sim->n_applies + sim->n_labels + sim->n_statuses, before);
    sim->management = SW_MANAGED;
    sim_spec(sim);
    sim_run(sim, 60000);
    assert_non_null(sim_find(sim, "ConfigMap", "a1"));
    sim_free(sim);
}

/* From each phase a state can be removed. */
static void any_state_can_be_removed(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "ready", .objects = { { .kind = "ConfigMap", .name = "a1" } } },
        { .name = "gated",
          .objects = { { .kind = "Deployment",
                         .name = "b1",
                         .awaited = true,
                         .annotations = "{'sim/stuck':'1'}" } } },
        { .name = "pending", NEEDS(1), .objects = { { .kind = "ConfigMap", .name = "c1" } } },
        { .name = "applying",
          .objects = { { .kind = "Job",
                         .name = "d1",
                         .awaited = true,
                         .annotations = "{'sim/stuck':'1'}",
                         .stage = -1 },
                       { .kind = "ConfigMap", .name = "d2" } } },
        { .name = "failed", .objects = { { .kind = "ConfigMap", .name = "e1" } } },
        { .name = "retrying", .objects = { { .kind = "ConfigMap", .name = "f1" } } },
        { .name = "held",
          .objects = { { .kind = "ClusterPolicy",
                         .name = "p",
                         .annotations = "{'slipway.dev/observe':'true'}" },
                       { .kind = "ConfigMap", .name = "g1" } } }, );
    struct refusal no = { SW_ACT_APPLY, "f1", SW_UNAVAILABLE, 0 };
    struct sim *sim = new_sim(&recipe);
    sim->arg = &no;
    sim->refuse = refuse;
    foreign(sim, "ConfigMap", "e1", "{}");
    foreign(sim, "ClusterPolicy", "p", "{'status':{'state':'ready'}}");
    sim_start(sim);
    sim_run(sim, 5000);
    set_status(sim, "ClusterPolicy", "p", "{'state':'notReady'}");
    sim_run(sim, 5000);
    expect_phase(sim, "failed", "Failed");
    expect_phase(sim, "retrying", "Retrying");
    expect_phase(sim, "held", "Held");
    sim->deleting = true;
    sim_spec(sim);
    sim_run(sim, 60000);
    assert_true(sim->finalized);
    assert_int_equal(json_object_object_length(sim->store), 2); /* those of others */
    sim_free(sim);
}

static void it_can_be_removed_before_it_began(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&chain);
    sim_start(sim);
    sim->deleting = true;
    sim_spec(sim); /* still being rendered */
    sim_run(sim, 60000);
    assert_true(sim->finalized);
    assert_int_equal(sim->n_applies, 0);
    sim_free(sim);

    sim = new_sim(&chain);
    sim_start(sim);
    while (sim->n_queue && sim->queue[0].event.kind == SW_EV_RENDERED)
        (void)sim_deliver(sim);
    sim->deleting = true;
    sim_spec(sim); /* being looked at */
    sim_run(sim, 60000);
    assert_true(sim->finalized);
    assert_int_equal(sim->n_applies, 0);
    sim_free(sim);
}

static const int both_codes[] = { SW_INVALID, SW_UNAVAILABLE };

static void expect_trouble(struct sim *sim, const char *name, int code)
{
    expect_phase(sim, name, code == SW_INVALID ? "Failed" : "Retrying");
}

static void a_render_may_fail_while_objects_are_looked_at(void **state)
{
    (void)state;
    for (size_t i = 0; i < SW_COUNT(both_codes); i++) {
        struct refusal no = { SW_ACT_RENDER, NULL, 0, 0 };
        struct sim *sim = new_sim(&chain);
        sim->arg = &no;
        sim->refuse = refuse;
        sim_start(sim);
        while (sim->n_queue && sim->queue[0].event.kind == SW_EV_RENDERED)
            (void)sim_deliver(sim);
        no.code = both_codes[i];
        edit(sim, 0, 0);
        for (size_t n = 0; n < 40 && sim->n_queue; n++) { /* the newest answers first */
            size_t last = sim->n_queue - 1;
            struct sim_pending p = sim->queue[last];
            memmove(&sim->queue[1], &sim->queue[0], last * sizeof p);
            sim->queue[0] = p;
            (void)sim_deliver(sim);
        }
        expect_trouble(sim, "a", no.code);
        no.code = 0;
        sim_run(sim, 600000);
        expect_phase(sim, "c", "Ready");
        sim_free(sim);
    }
}

static void a_render_may_fail_just_when_the_turn_comes(void **state)
{
    (void)state;
    for (size_t i = 0; i < SW_COUNT(both_codes); i++) {
        struct refusal no = { SW_ACT_RENDER, "b", 0, 0 };
        struct sim *sim = new_sim(&chain);
        sim->arg = &no;
        sim->refuse = refuse;
        sim->frozen = true;
        sim_start(sim);
        sim_run(sim, 5000);
        no.code = both_codes[i];
        sim_step(sim, &(struct sw_event){ .kind = SW_EV_FACTS });
        sim_run(sim, 5000);
        expect_phase(sim, "b", "Pending");
        sim->frozen = false;
        sim_run(sim, 2000);
        expect_trouble(sim, "b", no.code);
        no.code = 0;
        sim_run(sim, 600000);
        expect_phase(sim, "c", "Ready");
        sim_free(sim);
    }
}

/* ---- what stays --------------------------------------------------------------------------------
 */

static void what_is_orphaned_stays_without_slipway_s_marks(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    sim_clear_log(sim);
    sim->deleting = sim->orphan = true;
    sim_spec(sim);
    sim_run(sim, 60000);
    assert_true(sim->finalized);
    expect_never(sim, "delete");
    expect_order(sim, "release Pod c1", "release DaemonSet b1");
    struct json_object *kept = sim_find(sim, "DaemonSet", "b1");
    assert_non_null(kept);
    assert_null(sw_obj_annotation(kept, "slipway.dev/resource"));
    assert_string_equal(sim_label(sim, "n0", "b"), "Ready"); /* pods select by it */
    sim_free(sim);
}

static void a_release_that_is_refused_or_cut_short_is_tried_again(void **state)
{
    (void)state;
    struct refusal no = { SW_ACT_RELEASE, "b1", SW_FORBIDDEN, 0 };
    struct sim *sim = walked(&chain);
    sim->arg = &no;
    sim->refuse = refuse;
    sim->deleting = sim->orphan = true;
    sim_spec(sim);
    sim_run(sim, 60000);
    assert_false(sim->finalized);
    assert_true(no.n > 1);
    sim_restart(sim);
    no.code = 0;
    sim_run(sim, 600000);
    assert_true(sim->finalized);
    assert_non_null(sim_find(sim, "DaemonSet", "b1"));
    sim_free(sim);
}

static void what_is_to_be_kept_is_released(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "ConfigMap", .name = "a1" },
                       { .kind = "Secret",
                         .name = "a2",
                         .annotations = "{'helm.sh/resource-policy':'keep'}" } } }, );
    struct sim *sim = walked(&recipe);
    sim->deleting = true;
    sim_spec(sim);
    sim_run(sim, 60000);
    assert_true(sim->finalized);
    assert_null(sim_find(sim, "ConfigMap", "a1"));
    struct json_object *kept = sim_find(sim, "Secret", "a2");
    assert_non_null(kept);
    assert_null(sw_json_find(kept, "metadata", "ownerReferences", NULL));
    sim_free(sim);
}

static const struct CMUnitTest end_tests[] = {
    cmocka_unit_test(removal_goes_backwards_and_leaves_nothing),
    cmocka_unit_test(a_held_deletion_touches_nothing_and_keeps_the_hidden_state),
    cmocka_unit_test(a_held_deletion_keeps_the_namespaces_of_states),
    cmocka_unit_test(removal_needs_no_recipe),
    cmocka_unit_test(what_was_handed_over_is_not_removed),
    cmocka_unit_test(labels_of_others_are_left),
    cmocka_unit_test(a_deletion_that_is_refused_is_tried_again),
    cmocka_unit_test(removed_states_can_come_back),
    cmocka_unit_test(unmanaged_is_left_alone),
    cmocka_unit_test(any_state_can_be_removed),
    cmocka_unit_test(it_can_be_removed_before_it_began),
    cmocka_unit_test(a_render_may_fail_while_objects_are_looked_at),
    cmocka_unit_test(a_render_may_fail_just_when_the_turn_comes),
    cmocka_unit_test(what_is_orphaned_stays_without_slipway_s_marks),
    cmocka_unit_test(a_release_that_is_refused_or_cut_short_is_tried_again),
    cmocka_unit_test(what_is_to_be_kept_is_released),
};
