/* Fault plans: which requests they strike, and what they say about bad ones. */
#include "base/loop.h"
#include "data/data.h"
#include "emulator/emulator.h"
#include "emulator/faults/faults.h"

#include <json-c/json.h>
#include <string.h>

#include <cmocka.h>

#include "ranges.h"

struct world {
    struct sw_loop *loop;
    struct sw_emulator *emu;
    struct sw_faults *faults;
};

static void open_world(struct world *w, const char *plan)
{
    SW_ERR(err);
    SW_AUTO_JSON *doc = json_tokener_parse(plan);
    assert_non_null(doc);
    w->loop = sw_loop_new(&(struct sw_loop_opts){ .virtual_clock = true, .start_ms = 1000 });
    struct sw_emulator_opts opts = { .no_controllers = true, .no_nodes = true, .seed = 1 };
    assert_int_equal(sw_emulator_open(w->loop, &opts, &w->emu, &err), 0);
    if (sw_faults_new(doc, "plan", &w->faults, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    sw_emulator_start_faults(w->emu, w->faults);
}

static void close_world(struct world *w)
{
    sw_faults_free(w->faults);
    sw_emulator_close(w->emu);
    sw_loop_free(w->loop);
}

static struct sw_emu_fault ask(struct world *w, const char *verb, const char *resource)
{
    struct sw_emu_request req = {
        .verb = verb, .group = "", .version = "v1", .resource = resource, .name = "a"
    };
    struct sw_emu_fault fault = { 0 };
    sw_faults_on_request(&req, &fault, w->faults);
    return fault;
}

static void wait_ms(struct world *w, int64_t ms)
{
    int64_t end_ms = sw_loop_now_ms(w->loop) + ms;
    while (sw_loop_now_ms(w->loop) < end_ms)
        sw_loop_step(w->loop, end_ms - sw_loop_now_ms(w->loop));
}

static void an_entry_strikes_its_verb_and_kind_only(void **state)
{
    (void)state;
    struct world w = { 0 };
    open_world(&w, "{\"faults\":[{\"verb\":[\"get\",\"patch\"],\"kind\":\"configmap\","
                   "\"answer\":409,\"retryAfter\":\"1500ms\"}]}");
    struct sw_emu_fault hit = ask(&w, "patch", "configmaps");
    assert_int_equal(hit.type, SW_FAULT_ERROR);
    assert_int_equal(hit.code, 409);
    assert_int_equal(hit.retry_after_s, 2);
    assert_int_equal(ask(&w, "list", "configmaps").type, SW_FAULT_NONE);
    assert_int_equal(ask(&w, "get", "secrets").type, SW_FAULT_NONE);
    assert_int_equal(ask(&w, "get", NULL).type, SW_FAULT_NONE);
    assert_int_equal(sw_faults_count(w.faults), 1);
    close_world(&w);
}

static void it_strikes_the_nth_every_nth_and_so_many_times(void **state)
{
    (void)state;
    struct world w = { 0 };
    open_world(&w, "{\"faults\":[{\"verb\":\"get\",\"nth\":2,\"do\":\"lost\"},"
                   "{\"verb\":\"list\",\"every\":2,\"times\":2,\"do\":\"stale\"}]}");
    assert_int_equal(ask(&w, "get", "pods").type, SW_FAULT_NONE);
    assert_int_equal(ask(&w, "get", "pods").type, SW_FAULT_LOST);
    assert_int_equal(ask(&w, "get", "pods").type, SW_FAULT_NONE);
    static const bool strikes[] = { false, true, false, true, false, false };
    for (size_t i = 0; i < SW_COUNT(strikes); i++)
        assert_int_equal(ask(&w, "list", "pods").type == SW_FAULT_STALE, strikes[i]);
    close_world(&w);
}

static void probabilities_are_the_seed_s(void **state)
{
    (void)state;
    static const char plan[] = "{\"seed\":5,\"faults\":[{\"probability\":0.3,\"do\":\"reset\"}]}";
    struct world a = { 0 }, b = { 0 };
    int n = 0;
    open_world(&a, plan);
    open_world(&b, plan);
    for (int i = 0; i < 1000; i++) {
        enum sw_emu_fault_type type = ask(&a, "get", "pods").type;
        assert_int_equal(type, ask(&b, "get", "pods").type);
        n += type == SW_FAULT_RESET;
    }
    assert_between(n, 230, 370);
    close_world(&a);
    close_world(&b);
}

static void it_strikes_in_its_time_only(void **state)
{
    (void)state;
    struct world w = { 0 };
    open_world(&w, "{\"faults\":[{\"from\":\"1s\",\"until\":\"2s\",\"do\":\"hang\"},"
                   "{\"down\":\"1s\",\"from\":\"1m\"},{\"clock\":\"-1h\",\"from\":\"2m\"}]}");
    assert_int_equal(ask(&w, "get", "pods").type, SW_FAULT_NONE);
    wait_ms(&w, 1500);
    assert_int_equal(ask(&w, "get", "pods").type, SW_FAULT_HANG);
    wait_ms(&w, 1000);
    assert_int_equal(ask(&w, "get", "pods").type, SW_FAULT_NONE);
    wait_ms(&w, 58000);
    assert_int_equal(ask(&w, "get", "pods").type, SW_FAULT_RESET);
    assert_int_equal(sw_loop_wall_ms(w.loop), sw_loop_now_ms(w.loop));
    wait_ms(&w, 60000);
    assert_int_equal(sw_loop_wall_ms(w.loop), sw_loop_now_ms(w.loop) - 3600000);
    assert_int_equal(sw_faults_end_ms(w.faults), 120000);
    close_world(&w);
}

static void a_bad_plan_is_refused_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *plan, *want;
    } cases[] = {
        { "[]", "plan: expected a mapping" },
        { "{\"fault\":[]}", "plan: fault: no such key" },
        { "{\"faults\":{}}", "plan: faults: expected a list" },
        { "{\"faults\":[1]}", "plan: faults[0]: expected a mapping" },
        { "{\"faults\":[{\"verb\":\"get\"}]}", "faults[0]: one of answer, do, delay" },
        { "{\"faults\":[{\"do\":\"reset\"},{\"do\":\"explode\"}]}", "faults[1].do: expected lost" },
        { "{\"faults\":[{\"answer\":200}]}", "faults[0].answer: expected a number from 400" },
        { "{\"faults\":[{\"do\":\"reset\",\"probability\":2}]}", "faults[0].probability" },
        { "{\"faults\":[{\"do\":\"reset\",\"until\":\"soon\"}]}",
          "faults[0].until: expected a time" },
        { "{\"faults\":[{\"do\":\"reset\",\"kind\":[1]}]}", "faults[0].kind: expected a word" },
        { "{\"faults\":[{\"do\":\"reset\",\"verb\":[\"p*\",\"fly\"]}]}",
          "faults[0].verb: expected get, list" },
        { "{\"faults\":[{\"do\":\"reset\",\"kinds\":\"x\"}]}", "faults[0].kinds: no such key" },
    };
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        SW_ERR(err);
        SW_AUTO_JSON *doc = json_tokener_parse(cases[i].plan);
        struct sw_faults *faults = NULL;
        assert_int_equal(sw_faults_new(doc, "plan", &faults, &err), SW_INVALID);
        assert_null(faults);
        if (!strstr(sw_err_text(&err), cases[i].want))
            fail_msg("%s: %s", cases[i].plan, sw_err_text(&err));
    }
}

static void random_plans_are_plans(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 500; seed++) {
        SW_ERR(err);
        SW_AUTO_JSON *doc = sw_faults_random(seed, 60000), *again = sw_faults_random(seed, 60000);
        assert_true(sw_json_equal(doc, again));
        struct sw_faults *faults = NULL;
        if (sw_faults_new(doc, "plan", &faults, &err) < 0)
            fail_msg("%s", sw_err_text(&err));
        assert_true(sw_faults_end_ms(faults) <= 90000);
        sw_faults_free(faults);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entry_strikes_its_verb_and_kind_only),
        cmocka_unit_test(it_strikes_the_nth_every_nth_and_so_many_times),
        cmocka_unit_test(probabilities_are_the_seed_s),
        cmocka_unit_test(it_strikes_in_its_time_only),
        cmocka_unit_test(a_bad_plan_is_refused_with_its_place),
        cmocka_unit_test(random_plans_are_plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
