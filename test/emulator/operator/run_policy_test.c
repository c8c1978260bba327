/* What a resource's spec says about time and removal, on whole walks. */
#include "run_world.h"

#define KMOD "charts/example/simple-kmod"
#define SR "sro.openshift.io/v1beta1", "SpecialResource"

static bool is_gone(struct world *w, void *arg SW_UNUSED)
{
    return !world_get(w, SR, NULL, "simple-kmod");
}

static void orphans_stay_and_belong_to_nobody(void **state)
{
    (void)state;
    struct world w = { 0 };
    world_open(&w);
    world_run(&w, KMOD);
    world_must_be_ready(&w);
    assert_int_equal(
        world_patch(&w, SR, NULL, w.name, NULL, "{\"spec\":{\"deletionPolicy\":\"orphan\"}}"), 0);
    world_must_be_ready(&w);
    assert_int_equal(world_delete(&w, SR, NULL, w.name), 0);
    assert_true(world_until(&w, is_gone, NULL, 10 * 60000));
    world_wait(&w, 10 * 60000); /* whoever collects garbage has had time */
    struct json_object *sets = world_get(&w, "apps/v1", "DaemonSet", "simple-kmod", NULL);
    assert_int_equal(sw_json_len(sets), 2);
    int64_t ready = 0;
    for (size_t i = 0; i < 2; i++) {
        struct json_object *ds = sw_json_at(sets, i);
        assert_null(sw_json_find(ds, "metadata", "ownerReferences", NULL));
        assert_null(sw_obj_label(ds, "specialresource.openshift.io/owned"));
        assert_null(sw_obj_annotation(ds, "slipway.dev/resource"));
        ready += sw_json_int(ds, 0, "status", "numberReady", NULL);
    }
    assert_int_equal(ready, 4);
    struct json_object *ns = world_get(&w, "v1", "Namespace", NULL, "simple-kmod");
    assert_non_null(ns);
    assert_null(sw_obj_annotation(ns, "slipway.dev/resource"));
    struct json_object *nodes = world_get(&w, "v1", "Node", NULL, NULL);
    size_t labelled = 0;
    for (size_t i = 0; i < sw_json_len(nodes); i++)
        labelled += sw_obj_label(sw_json_at(nodes, i),
                                 "specialresource.openshift.io/state-simple-kmod-1000") != NULL;
    assert_int_equal(labelled, 4); /* what selects by them runs on */
    world_close(&w);
}

static size_t events_with(struct world *w, const char *reason, const char *part)
{
    struct json_object *events = world_get(w, "v1", "Event", "default", NULL);
    size_t n = 0;
    for (size_t i = 0; i < sw_json_len(events); i++) {
        struct json_object *e = sw_json_at(events, i);
        n += sw_streq(sw_json_str(e, "", "reason", NULL), reason) &&
             strstr(sw_json_str(e, "", "message", NULL), part);
    }
    return n;
}

static void a_state_may_have_a_deadline_of_its_own(void **state)
{
    (void)state;
    struct world w = { 0 };
    world_open(&w);
    SW_AUTO_CHARS *path = sw_printf("%s/" KMOD, SW_SOURCE_DIR);
    world_apply(&w, &(struct sw_resource_opts){ .recipe = path });
    assert_int_equal(world_patch(&w, SR, NULL, w.name, NULL,
                                 "{\"spec\":{\"stateTimeout\":\"1h\","
                                 "\"stateTimeouts\":{\"1000\":\"100ms\"}}}"),
                     0);
    world_start(&w);
    world_must_be_ready(&w); /* late, but ready at last */
    assert_int_equal(events_with(&w, "StateFailed", "not ready within 100ms"), 1);
    assert_int_equal(events_with(&w, "StateFailed", ""), 1);
    world_close(&w);
}

static void a_deadline_that_is_none_is_named(void **state)
{
    (void)state;
    struct world w = { 0 };
    world_open(&w);
    SW_AUTO_CHARS *path = sw_printf("%s/" KMOD, SW_SOURCE_DIR);
    world_apply(&w, &(struct sw_resource_opts){ .recipe = path });
    assert_int_equal(world_patch(&w, SR, NULL, w.name, NULL,
                                 "{\"spec\":{\"stateTimeouts\":{\"1000\":\"3 weeks\"}}}") < 0,
                     1); /* by the server's schema */
    assert_int_equal(world_patch(&w, SR, NULL, w.name, NULL,
                                 "{\"spec\":{\"stateTimeouts\":{\"1000\":\"99999h\"}}}"),
                     0);
    world_start(&w);
    assert_true(world_until(&w, world_is_errored, NULL, 10 * 60000));
    SW_AUTO_JSON *status = sw_controller_status(w.controller, w.name);
    assert_non_null(strstr(json_object_to_json_string(status),
                           "spec.stateTimeouts.1000: '99999h' is not a duration"));
    world_close(&w);
}

/* A node that the resource's pods run on. */
static const char *some_node(struct world *w)
{
    struct json_object *pods = world_get(w, "v1", "Pod", "simple-kmod", NULL);
    return sw_json_str(sw_json_at(pods, 0), "", "spec", "nodeName", NULL);
}

static bool is_told_of_reboot(struct world *w, void *arg)
{
    return events_with(w, "NodeRebooted", arg) > 0;
}

static void a_reboot_is_told_once_and_replaces_nothing(void **state)
{
    (void)state;
    struct world w = { 0 };
    world_open(&w);
    world_run(&w, KMOD);
    world_must_be_ready(&w);
    world_wait(&w, 60000);
    SW_AUTO_CHARS *node = sw_strdup(some_node(&w));
    SW_AUTO_JSON *before = sw_json_copy(
        sw_json_find(sw_json_at(world_get(&w, "apps/v1", "DaemonSet", "simple-kmod", NULL), 0),
                     "metadata", "generation", NULL));
    assert_int_equal(world_patch(&w, "v1", "Node", NULL, node, "status",
                                 "{\"status\":{\"nodeInfo\":{\"bootID\":\"another\"}}}"),
                     0);
    assert_true(world_until(&w, is_told_of_reboot, node, 60000));
    world_wait(&w, 10 * 60000);
    assert_int_equal(events_with(&w, "NodeRebooted", ""), 1);
    struct json_object *sets = world_get(&w, "apps/v1", "DaemonSet", "simple-kmod", NULL);
    assert_true(
        sw_json_equal(before, sw_json_find(sw_json_at(sets, 0), "metadata", "generation", NULL)));
    world_must_be_ready(&w);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orphans_stay_and_belong_to_nobody),
        cmocka_unit_test(a_state_may_have_a_deadline_of_its_own),
        cmocka_unit_test(a_deadline_that_is_none_is_named),
        cmocka_unit_test(a_reboot_is_told_once_and_replaces_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
