/* Which feature gates an API server has on, asked of the emulator of a release with some of them
 * switched. */
#include "emulator/operator/run_world.h"

#include "kube/feature_gates/feature_gates.h"

#define GATE(name) SW_GATE_##name

struct asked {
    struct world w;
    int refuse; /* status of dry runs of @refused; 0: they are not touched */
    const char *refused;
    unsigned n_writes;
    bool answered;
    int code;
    enum sw_gate_state gates[SW_N_FEATURE_GATES];
    char *why;
};

static struct asked *of_world(struct world *w)
{
    return (struct asked *)w;
}

static void on_request(const struct sw_emu_request *req, struct sw_emu_fault *fault,
                       struct world *w)
{
    struct asked *a = of_world(w);
    if (!sw_streq(req->verb, "create"))
        return;
    a->n_writes++;
    if (a->refuse && sw_streq(req->resource, a->refused))
        *fault = (struct sw_emu_fault){ .type = SW_FAULT_ERROR, .code = a->refuse };
}

static void on_gates(int code, const struct sw_gates_answer *answer, const struct sw_err *err,
                     void *arg)
{
    struct asked *a = arg;
    a->answered = true;
    a->code = code;
    memcpy(a->gates, answer->gates, sizeof a->gates);
    sw_text_set(&a->why, code < 0 ? sw_err_text(err) : answer->why);
}

static bool is_answered(struct world *w, void *arg SW_UNUSED)
{
    return of_world(w)->answered;
}

static void begin(struct asked *a, const char *version, const char *gates)
{
    a->w.on_request = on_request;
    world_open_with(&a->w, &(struct sw_emulator_opts){ .no_nodes = true,
                                                       .no_controllers = true,
                                                       .kube_version = version,
                                                       .feature_gates = gates });
}

static void ask(struct asked *a)
{
    a->answered = false;
    a->n_writes = 0;
    assert_non_null(
        sw_gates_ask(a->w.conn.kube, &(struct sw_gates_ask){ .node = "node" }, on_gates, a));
    assert_true(world_until(&a->w, is_answered, NULL, 120000));
}

static void end(struct asked *a)
{
    world_close(&a->w);
    free(a->why);
}

static void must_be(const struct asked *a, enum sw_gate_state devices, enum sw_gate_state resource)
{
    assert_int_equal(a->code, 0);
    assert_int_equal(a->gates[GATE(PARTITIONABLE_DEVICES)], devices);
    assert_int_equal(a->gates[GATE(EXTENDED_RESOURCE)], resource);
}

static void a_server_of_1_36_has_them_on_and_stores_nothing_of_the_question(void **state SW_UNUSED)
{
    struct asked a = { 0 };
    begin(&a, "1.36", NULL);
    ask(&a);
    must_be(&a, SW_GATE_ON, SW_GATE_ON);
    assert_null(a.why);
    assert_int_equal(a.n_writes, 2);
    assert_null(world_get(&a.w, "resource.k8s.io/v1", "DeviceClass", NULL,
                          "api-check.api-check.slipway.dev"));
    assert_null(world_get(&a.w, "resource.k8s.io/v1", "ResourceSlice", NULL,
                          "api-check.api-check.slipway.dev"));
    end(&a);
}

static void a_gate_that_is_switched_off_is_off_and_the_other_one_is_on(void **state SW_UNUSED)
{
    struct asked a = { 0 };
    begin(&a, "1.36", "DRAPartitionableDevices=false");
    ask(&a);
    must_be(&a, SW_GATE_OFF, SW_GATE_ON);
    assert_non_null(strstr(a.why, "DRAPartitionableDevices"));
    end(&a);
    a = (struct asked){ 0 };
    begin(&a, "1.36", "DRAExtendedResource=false");
    ask(&a);
    must_be(&a, SW_GATE_ON, SW_GATE_OFF);
    assert_non_null(strstr(a.why, "DRAExtendedResource"));
    end(&a);
}

static void an_older_server_has_them_where_they_are_switched_on(void **state SW_UNUSED)
{
    struct asked a = { 0 };
    begin(&a, "1.35", NULL);
    ask(&a);
    must_be(&a, SW_GATE_OFF, SW_GATE_OFF);
    end(&a);
    a = (struct asked){ 0 };
    begin(&a, "1.35", "DRAPartitionableDevices=true,DRAExtendedResource=true");
    ask(&a);
    must_be(&a, SW_GATE_ON, SW_GATE_ON);
    end(&a);
}

static void a_server_without_the_api_has_them_off_and_is_sent_no_object(void **state SW_UNUSED)
{
    struct asked a = { 0 };
    begin(&a, "1.30", NULL);
    ask(&a);
    must_be(&a, SW_GATE_OFF, SW_GATE_OFF);
    assert_string_equal(a.why, "resource.k8s.io/v1 is not served");
    assert_int_equal(a.n_writes, 0);
    end(&a);
}

static void a_gate_that_may_not_be_asked_for_is_unknown(void **state SW_UNUSED)
{
    struct asked a = { .refuse = 403, .refused = "resourceslices" };
    begin(&a, "1.36", NULL);
    ask(&a);
    must_be(&a, SW_GATE_UNKNOWN, SW_GATE_ON);
    assert_non_null(a.why);
    a.refused = "deviceclasses";
    ask(&a);
    must_be(&a, SW_GATE_ON, SW_GATE_UNKNOWN);
    end(&a);
}

/* As a server of 1.34 says where the gate's first form is on: counters and what takes them are to
 * be in one slice. */
static void a_server_that_refuses_the_object_has_the_gate_off(void **state SW_UNUSED)
{
    struct asked a = { .refuse = 422, .refused = "resourceslices" };
    begin(&a, "1.36", NULL);
    ask(&a);
    must_be(&a, SW_GATE_OFF, SW_GATE_ON);
    end(&a);
}

static void a_server_that_fails_says_nothing_of_its_gates(void **state SW_UNUSED)
{
    struct asked a = { .refuse = 500, .refused = "deviceclasses" };
    begin(&a, "1.36", NULL);
    ask(&a);
    assert_int_equal(a.code, SW_UNAVAILABLE);
    end(&a);
}

static void a_question_that_is_cancelled_is_not_answered(void **state SW_UNUSED)
{
    struct asked a = { 0 };
    begin(&a, "1.36", NULL);
    struct sw_gates_question *q = sw_gates_ask(a.w.conn.kube, &(struct sw_gates_ask){ 0 }, on_gates,
                                               &a);
    sw_gates_cancel(q);
    sw_gates_cancel(NULL);
    world_wait(&a.w, 60000);
    assert_false(a.answered);
    end(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_of_1_36_has_them_on_and_stores_nothing_of_the_question),
        cmocka_unit_test(a_gate_that_is_switched_off_is_off_and_the_other_one_is_on),
        cmocka_unit_test(an_older_server_has_them_where_they_are_switched_on),
        cmocka_unit_test(a_server_without_the_api_has_them_off_and_is_sent_no_object),
        cmocka_unit_test(a_gate_that_may_not_be_asked_for_is_unknown),
        cmocka_unit_test(a_server_that_refuses_the_object_has_the_gate_off),
        cmocka_unit_test(a_server_that_fails_says_nothing_of_its_gates),
        cmocka_unit_test(a_question_that_is_cancelled_is_not_answered),
    };
    return cmocka_run_group_tests_name("feature_gates", tests, NULL, NULL);
}
