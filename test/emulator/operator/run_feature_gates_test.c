/* nvidia-mig goes by the feature gates that the API server has on, not by its version. */
#include "run_world.h"

#define MIG "recipes/nvidia-mig"
#define NS "das-operator"

static unsigned n_questions; /* dry runs */
static int refuse;           /* their status; 0: they are answered */

static void on_request(const struct sw_emu_request *req, struct sw_emu_fault *fault,
                       struct world *w SW_UNUSED)
{
    if (!sw_streq(req->verb, "create") || !sw_streq(req->resource, "resourceslices"))
        return;
    n_questions++;
    if (refuse)
        *fault = (struct sw_emu_fault){ .type = SW_FAULT_ERROR, .code = refuse };
}

static void begin(struct world *w, const char *version, const char *gates)
{
    n_questions = 0;
    w->on_request = on_request;
    world_open_with(w,
                    &(struct sw_emulator_opts){ .kube_version = version, .feature_gates = gates });
    world_run(w, MIG);
    world_must_be_ready(w);
}

static struct json_object *daemon_set(struct world *w)
{
    return world_get(w, "apps/v1", "DaemonSet", NS, "das-daemonset");
}

static const char *face_of(struct world *w)
{
    return sw_json_str(daemon_set(w), "deviceplugin", "spec", "template", "metadata", "labels",
                       "slipway.dev/api", NULL);
}

static const char *note_of(struct world *w)
{
    return sw_json_str(daemon_set(w), "", "metadata", "annotations", "slipway.dev/note", NULL);
}

/* @arg: the face */
static bool has_face(struct world *w, void *arg)
{
    return world_is_ready(w, NULL) && sw_streq(face_of(w), arg);
}

static void switch_gates(struct world *w, const char *gates)
{
    SW_ERR(err);
    assert_int_equal(sw_emulator_set_feature_gates(w->conn.emulator, gates, &err), 0);
}

static void a_new_server_with_a_gate_off_gets_the_device_plugin_and_says_why(void **state SW_UNUSED)
{
    struct world w = { 0 };
    begin(&w, "1.36", "DRAExtendedResource=false");
    assert_string_equal(face_of(&w), "deviceplugin");
    assert_non_null(strstr(note_of(&w), "feature gate DRAExtendedResource off"));
    world_close(&w);
}

static void
an_older_server_with_the_gates_on_gets_dynamic_resource_allocation(void **state SW_UNUSED)
{
    struct world w = { 0 };
    begin(&w, "1.35", "DRAPartitionableDevices=true,DRAExtendedResource=true");
    assert_string_equal(face_of(&w), "dra");
    world_close(&w);
}

static void a_server_that_is_restarted_with_a_gate_off_is_followed_and_back(void **state SW_UNUSED)
{
    struct world w = { 0 };
    begin(&w, "1.36", NULL);
    assert_string_equal(face_of(&w), "dra");
    switch_gates(&w, "DRAPartitionableDevices=false");
    assert_true(world_until(&w, has_face, "deviceplugin", 10 * 60000));
    switch_gates(&w, NULL);
    assert_true(world_until(&w, has_face, "dra", 10 * 60000));
    world_close(&w);
}

static void the_gates_are_asked_for_once_and_never_at_rest(void **state SW_UNUSED)
{
    struct world w = { 0 };
    begin(&w, "1.36", NULL);
    assert_int_equal(n_questions, 1);
    world_wait(&w, 3600000);
    assert_int_equal(n_questions, 1);
    world_close(&w);
}

static void who_may_not_ask_goes_by_the_version(void **state SW_UNUSED)
{
    struct world w = { 0 };
    refuse = 403;
    begin(&w, "1.36", "DRAPartitionableDevices=false");
    assert_string_equal(face_of(&w), "dra");
    assert_int_equal(n_questions, 3);
    world_wait(&w, 3600000);
    assert_int_equal(n_questions, 3);
    refuse = 0;
    world_close(&w);
}

/* What was chosen is not given up for an answer that says nothing. */
static void a_restarted_server_that_does_not_answer_changes_nothing(void **state SW_UNUSED)
{
    struct world w = { 0 };
    begin(&w, "1.35", "DRAPartitionableDevices=true,DRAExtendedResource=true");
    assert_string_equal(face_of(&w), "dra");
    refuse = 500;
    sw_emulator_drop(w.conn.emulator);
    world_wait(&w, 60000);
    assert_string_equal(face_of(&w), "dra");
    refuse = 403;
    sw_emulator_drop(w.conn.emulator);
    world_wait(&w, 60000);
    assert_string_equal(face_of(&w), "dra");
    refuse = 0;
    switch_gates(&w, NULL);
    assert_true(world_until(&w, has_face, "deviceplugin", 10 * 60000));
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_server_with_a_gate_off_gets_the_device_plugin_and_says_why),
        cmocka_unit_test(an_older_server_with_the_gates_on_gets_dynamic_resource_allocation),
        cmocka_unit_test(a_server_that_is_restarted_with_a_gate_off_is_followed_and_back),
        cmocka_unit_test(the_gates_are_asked_for_once_and_never_at_rest),
        cmocka_unit_test(who_may_not_ask_goes_by_the_version),
        cmocka_unit_test(a_restarted_server_that_does_not_answer_changes_nothing),
    };
    return cmocka_run_group_tests_name("run_feature_gates", tests, NULL, NULL);
}
