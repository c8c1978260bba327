/* What the device plugin's broker does for ResourceClaims: made when kubelet prepares them, taken
 * down when it says so, whatever a process before this one has left. */
#include "slicing/deviceplugin/broker/journal.h"

#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/data.h"

enum { N_PLACES = 7 };

struct world {
    struct dp_broker *b;
    int64_t now_ms;
    bool gi[N_PLACES];
    int fail;  /* this code for each step that changes something */
    bool slow; /* steps are asked for and do not end */
    struct dp_action *step;
    uint64_t ticket; /* answered last */
    int code;
    enum dp_act act;
    char *grant_id, *message;
    size_t n_answers, n_steps, n_cdi;
    int refuse_set, refuse_unset; /* with this code */
    char *did;                    /* steps of settings and slices that change something, in order */
};

static void open_world(struct world *w)
{
    *w = (struct world){ .now_ms = 1000 };
    w->b = dp_broker_new(&(struct dp_opts){ .boot_id = "boot", .check_start = true });
    dp_broker_on_gpus(w->b, w->now_ms);
}

static void close_world(struct world *w)
{
    dp_action_free(w->step);
    dp_broker_free(w->b);
    free(w->grant_id);
    free(w->message);
    free(w->did);
}

static void end_step(struct world *w, const struct dp_action *a)
{
    const struct dp_grant *g = dp_broker_grant(w->b, a->grant_id);
    assert_non_null(g);
    const unsigned place = g->slices[a->i].place.start;
    struct dp_step_result r = { .gi = place + 100, .uuid = "MIG-x", .message = "told to fail" };
    w->n_steps++;
    if (a->step == DP_STEP_MAKE_GI || a->step == DP_STEP_REMOVE)
        sw_append(&w->did, "%cslice%u ", a->step == DP_STEP_MAKE_GI ? '+' : '-', place);
    if (a->step == DP_STEP_PROBE) {
        r.code = w->gi[place] ? 0 : SW_NOTFOUND;
    } else if (w->fail) {
        r.code = w->fail;
    } else if (a->step == DP_STEP_MAKE_GI) {
        assert_false(w->gi[place]);
        w->gi[place] = true;
    } else if (a->step == DP_STEP_REMOVE) {
        w->gi[place] = false;
    }
    dp_broker_on_step(w->b, a->grant_id, a->i, a->step, &r, w->now_ms);
}

static void end_setting(struct world *w, const struct dp_action *a)
{
    const struct dp_grant *g = dp_broker_grant(w->b, a->grant_id);
    const bool set = a->step == DP_STEP_SET;
    const struct dp_step_result r = { .code = set ? w->refuse_set : w->refuse_unset,
                                      .message = "told to fail" };
    /* recorded before */
    assert_true(g->settings[a->i].step == DP_INTENT || (!set && g->settings[a->i].step == DP_MADE));
    sw_append(&w->did, "%cset%zu ", set ? '+' : '-', a->i);
    dp_broker_on_setting(w->b, a->grant_id, a->i, a->step, &r, w->now_ms);
}

static void carry_out(struct world *w, struct dp_action *a)
{
    if (a->act == DP_ACT_STEP) {
        if (w->slow) {
            w->step = a;
            return;
        }
        end_step(w, a);
    } else if (a->act == DP_ACT_SET) {
        end_setting(w, a);
    } else if (a->act == DP_ACT_COMMIT) {
        w->n_cdi++;
        dp_broker_on_commit(w->b, a->grant_id, 0, "", w->now_ms);
    } else if (a->act == DP_ACT_UNCDI) {
        w->n_cdi--;
    } else if (a->act == DP_ACT_PREPARED || a->act == DP_ACT_UNPREPARED) {
        w->n_answers++;
        w->ticket = a->ticket;
        w->act = a->act;
        w->code = a->code;
        sw_text_set(&w->grant_id, a->grant_id);
        sw_text_set(&w->message, a->message);
    } else {
        /* neither pods nor kubelet's lists are of interest */
        assert_true(a->act == DP_ACT_RECORD || a->act == DP_ACT_FORGET || a->act == DP_ACT_LOG);
    }
    dp_action_free(a);
}

static void settle(struct world *w)
{
    struct dp_action *a;
    while ((a = dp_broker_next(w->b)))
        carry_out(w, a);
}

/* The step under way has ended. */
static void go_on(struct world *w)
{
    struct dp_action *a = SW_TAKE(w->step);
    w->slow = false;
    end_step(w, a);
    dp_action_free(a);
    settle(w);
}

static void add_slice(struct dp_grant *g, const char *request, const char *group, unsigned place)
{
    struct dp_slice *s = dp_grant_add_slice(g);
    SW_AUTO_CHARS *name = sw_printf("gpu-0-mig-1g5gb-%u", place);
    s->gpu = sw_strdup("GPU-0");
    s->place = (struct sw_mig_place){ (uint8_t)place, 1 };
    (void)strcpy(s->profile, "1g.5gb");
    dp_grant_add_device(g, request, group, name, "GPU-0", g->n_slices - 1);
}

/* A claim of two slices. */
static struct dp_grant *claim_of(const char *uid, unsigned place)
{
    struct dp_grant *g = dp_grant_new();
    g->claim = (struct dp_ref){ sw_strdup("ns"), sw_strdup("claim"), sw_strdup(uid) };
    add_slice(g, "one", "one", place);
    add_slice(g, "two", "two", place + 1);
    return g;
}

static void prepare(struct world *w, uint64_t ticket, const char *uid, unsigned place)
{
    dp_broker_prepare(w->b, ticket, claim_of(uid, place), w->now_ms);
    settle(w);
}

static void unprepare(struct world *w, uint64_t ticket, const char *uid)
{
    dp_broker_unprepare(w->b, ticket, uid, w->now_ms);
    settle(w);
}

static void assert_answer(const struct world *w, enum dp_act act, uint64_t ticket, int code)
{
    assert_int_equal(w->act, act);
    assert_int_equal(w->ticket, ticket);
    assert_int_equal(w->code, code);
}

static void all_slices_of_a_claim_are_made_and_taken_down(void **state SW_UNUSED)
{
    struct world w;
    open_world(&w);
    prepare(&w, 1, "u1", 2);
    assert_answer(&w, DP_ACT_PREPARED, 1, 0);
    assert_true(w.gi[2] && w.gi[3] && w.n_cdi == 1);
    unprepare(&w, 2, "u1");
    assert_answer(&w, DP_ACT_UNPREPARED, 2, 0);
    assert_true(!w.gi[2] && !w.gi[3] && w.n_cdi == 0);
    assert_null(dp_broker_prepared(w.b, "u1"));
    close_world(&w);
}

static void prepared_twice_is_made_once(void **state SW_UNUSED)
{
    struct world w;
    open_world(&w);
    prepare(&w, 1, "u1", 2);
    const size_t n_steps = w.n_steps;
    SW_AUTO_CHARS *first = sw_strdup(w.grant_id);
    prepare(&w, 2, "u1", 5);
    assert_answer(&w, DP_ACT_PREPARED, 2, 0);
    assert_string_equal(w.grant_id, first);
    assert_int_equal(w.n_steps, n_steps);
    close_world(&w);
}

static void a_claim_that_is_not_known_has_nothing_to_take_down(void **state SW_UNUSED)
{
    struct world w;
    open_world(&w);
    unprepare(&w, 7, "never");
    assert_answer(&w, DP_ACT_UNPREPARED, 7, 0);
    close_world(&w);
}

static void claims_are_made_side_by_side(void **state SW_UNUSED)
{
    struct world w;
    open_world(&w);
    w.slow = true;
    prepare(&w, 1, "u1", 0);
    struct dp_action *first = SW_TAKE(w.step);
    w.slow = false;
    prepare(&w, 2, "u2", 2);
    assert_answer(&w, DP_ACT_PREPARED, 2, 0);
    w.step = first;
    go_on(&w);
    assert_answer(&w, DP_ACT_PREPARED, 1, 0);
    close_world(&w);
}

static void asked_again_meanwhile_the_last_call_is_answered(void **state SW_UNUSED)
{
    struct world w;
    open_world(&w);
    w.slow = true;
    prepare(&w, 1, "u1", 0);
    dp_broker_cancel(w.b, 1);
    prepare(&w, 2, "u1", 0);
    assert_int_equal(w.n_answers, 0);
    go_on(&w);
    assert_answer(&w, DP_ACT_PREPARED, 2, 0);
    assert_int_equal(w.n_answers, 1);
    close_world(&w);
}

static void a_slice_that_cannot_be_made_is_an_error_and_leaves_nothing(void **state SW_UNUSED)
{
    struct world w;
    open_world(&w);
    w.gi[1] = true; /* another's */
    prepare(&w, 1, "u1", 0);
    assert_answer(&w, DP_ACT_PREPARED, 1, SW_UNAVAILABLE);
    assert_non_null(strstr(w.message, "there is a GPU instance already"));
    assert_true(!w.gi[0] && w.gi[1]);
    w.gi[1] = false;
    prepare(&w, 2, "u1", 0);
    assert_answer(&w, DP_ACT_PREPARED, 2, 0);
    close_world(&w);
}

static void unprepared_while_it_is_made_is_taken_down(void **state SW_UNUSED)
{
    struct world w;
    open_world(&w);
    w.slow = true;
    prepare(&w, 1, "u1", 0);
    unprepare(&w, 2, "u1");
    assert_int_equal(w.n_answers, 0);
    go_on(&w);
    assert_answer(&w, DP_ACT_UNPREPARED, 2, 0);
    assert_int_equal(w.n_answers, 2);
    assert_false(w.gi[0]);
    close_world(&w);
}

static void prepared_while_it_is_taken_down_is_made_after_that(void **state SW_UNUSED)
{
    struct world w;
    open_world(&w);
    prepare(&w, 1, "u1", 0);
    w.slow = true;
    unprepare(&w, 2, "u1");
    prepare(&w, 3, "u1", 0);
    assert_int_equal(w.n_answers, 1);
    go_on(&w);
    assert_answer(&w, DP_ACT_PREPARED, 3, 0);
    assert_int_equal(w.n_answers, 3);
    assert_true(w.gi[0] && w.gi[1]);
    close_world(&w);
}

static void a_slice_in_use_is_an_error_and_goes_when_it_is_free(void **state SW_UNUSED)
{
    struct world w;
    open_world(&w);
    prepare(&w, 1, "u1", 0);
    w.fail = SW_CONFLICT;
    unprepare(&w, 2, "u1");
    assert_answer(&w, DP_ACT_UNPREPARED, 2, SW_CONFLICT);
    w.fail = 0;
    w.now_ms = dp_broker_next_ms(w.b);
    dp_broker_tick(w.b, w.now_ms);
    settle(&w);
    assert_false(w.gi[0] || w.gi[1]);
    unprepare(&w, 3, "u1");
    assert_answer(&w, DP_ACT_UNPREPARED, 3, 0);
    close_world(&w);
}

static void a_whole_gpu_needs_no_step(void **state SW_UNUSED)
{
    struct world w;
    open_world(&w);
    struct dp_grant *g = dp_grant_new();
    g->claim = (struct dp_ref){ sw_strdup("ns"), sw_strdup("claim"), sw_strdup("u1") };
    dp_grant_add_device(g, "gpu", "gpu", "gpu-1", "GPU-1", DP_NO_SLICE);
    dp_broker_prepare(w.b, 1, g, w.now_ms);
    settle(&w);
    assert_answer(&w, DP_ACT_PREPARED, 1, 0);
    assert_int_equal(w.n_steps, 0);
    unprepare(&w, 2, "u1");
    assert_answer(&w, DP_ACT_UNPREPARED, 2, 0);
    close_world(&w);
}

/* ---- settings ----------------------------------------------------------------------------------
 */

/* A slice and a whole GPU, which are shared by MPS. */
static struct dp_grant *shared_claim(void)
{
    struct dp_grant *g = dp_grant_new();
    g->claim = (struct dp_ref){ sw_strdup("ns"), sw_strdup("claim"), sw_strdup("u1") };
    add_slice(g, "one", "one", 0);
    dp_grant_add_device(g, "gpu", "gpu", "gpu-1", "GPU-1", DP_NO_SLICE);
    g->devices[0].mps = g->devices[1].mps = true;
    dp_grant_add_setting(g, DP_SET_EXCLUSIVE, "GPU-1", 0);
    dp_grant_add_setting(g, DP_SET_MPS, NULL, 0);
    g->mps.threads = 30;
    dp_grant_add_limit(g, "*", 512);
    return g;
}

static void prepare_shared(struct world *w, uint64_t ticket)
{
    dp_broker_prepare(w->b, ticket, shared_claim(), w->now_ms);
    settle(w);
}

static void settings_are_made_after_the_slices_and_undone_before_them(void **state SW_UNUSED)
{
    struct world w;
    open_world(&w);
    prepare_shared(&w, 1);
    assert_answer(&w, DP_ACT_PREPARED, 1, 0);
    assert_string_equal(w.did, "+slice0 +set0 +set1 ");
    unprepare(&w, 2, "u1");
    assert_answer(&w, DP_ACT_UNPREPARED, 2, 0);
    assert_string_equal(w.did, "+slice0 +set0 +set1 -set1 -set0 -slice0 ");
    close_world(&w);
}

static void a_setting_that_is_refused_is_not_set_back_and_one_that_failed_is(void **state SW_UNUSED)
{
    static const struct {
        int code;
        const char *did;
    } rows[] = { { SW_INVALID, "+slice0 +set0 -slice0 " },
                 { SW_UNAVAILABLE, "+slice0 +set0 -set0 -slice0 " } };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        struct world w;
        open_world(&w);
        w.refuse_set = rows[i].code;
        prepare_shared(&w, 1);
        assert_answer(&w, DP_ACT_PREPARED, 1, SW_UNAVAILABLE);
        assert_string_equal(w.message, "compute mode of GPU-1: told to fail");
        assert_string_equal(w.did, rows[i].did);
        close_world(&w);
    }
}

static void what_cannot_be_set_back_is_an_error_and_tried_again(void **state SW_UNUSED)
{
    struct world w;
    open_world(&w);
    prepare_shared(&w, 1);
    w.refuse_unset = SW_CONFLICT;
    unprepare(&w, 2, "u1");
    assert_answer(&w, DP_ACT_UNPREPARED, 2, SW_CONFLICT);
    assert_true(w.gi[0]);         /* the daemon may use it */
    w.refuse_unset = SW_NOTFOUND; /* its GPU has gone */
    w.now_ms = dp_broker_next_ms(w.b);
    dp_broker_tick(w.b, w.now_ms);
    settle(&w);
    assert_false(w.gi[0]);
    close_world(&w);
}

/* ---- another life ------------------------------------------------------------------------------
 */

/* The record that the grant has in @w, read by a new process. */
static void begin_anew(struct world *w, const char *uid, const char *boot_id, bool gpus)
{
    SW_ERR(err);
    struct dp_grant *g = NULL, *old = dp_broker_prepared(w->b, uid);
    SW_AUTO_JSON *record = dp_record_make(old);
    assert_int_equal(dp_record_read(record, &g, &err), 0);
    SW_AUTO_JSON *again = dp_record_make(g);
    assert_true(sw_json_equal(record, again));
    bool gi[N_PLACES];
    memcpy(gi, w->gi, sizeof gi);
    close_world(w);
    *w = (struct world){ .now_ms = 2000, .n_cdi = 1 };
    memcpy(w->gi, gi, sizeof gi);
    w->b = dp_broker_new(&(struct dp_opts){ .boot_id = boot_id, .check_start = true });
    dp_broker_adopt(w->b, g);
    if (gpus) {
        dp_broker_on_gpus(w->b, w->now_ms);
        settle(w);
    }
}

static void what_was_ready_is_answered_by_the_next_life(void **state SW_UNUSED)
{
    struct world w;
    open_world(&w);
    prepare(&w, 1, "u1", 0);
    SW_AUTO_CHARS *id = sw_strdup(w.grant_id);
    begin_anew(&w, "u1", "boot", true);
    prepare(&w, 1, "u1", 0);
    assert_answer(&w, DP_ACT_PREPARED, 1, 0);
    assert_string_equal(w.grant_id, id);
    assert_int_equal(w.n_steps, 0);
    close_world(&w);
}

static void what_was_being_made_is_made_anew(void **state SW_UNUSED)
{
    for (int gpus = 0; gpus < 2; gpus++) {
        struct world w;
        open_world(&w);
        w.slow = true;
        prepare(&w, 1, "u1", 0); /* the first probe */
        go_on(&w);
        dp_broker_prepared(w.b, "u1")->state = DP_MAKING;
        begin_anew(&w, "u1", "boot", gpus);
        dp_broker_prepare(w.b, 2, claim_of("u1", 4), w.now_ms);
        dp_broker_on_gpus(w.b, w.now_ms);
        settle(&w);
        assert_answer(&w, DP_ACT_PREPARED, 2, 0);
        assert_true(!w.gi[0] && w.gi[4]);
        close_world(&w);
    }
}

static void unprepared_before_the_gpus_are_there_is_taken_down_when_they_are(void **state SW_UNUSED)
{
    struct world w;
    open_world(&w);
    prepare(&w, 1, "u1", 0);
    begin_anew(&w, "u1", "boot", false);
    unprepare(&w, 2, "u1");
    assert_int_equal(w.n_answers, 0);
    dp_broker_on_gpus(w.b, w.now_ms);
    settle(&w);
    assert_answer(&w, DP_ACT_UNPREPARED, 2, 0);
    assert_false(w.gi[0]);
    close_world(&w);
}

static void after_a_boot_the_slices_are_made_again(void **state SW_UNUSED)
{
    struct world w;
    open_world(&w);
    prepare(&w, 1, "u1", 0);
    memset(w.gi, 0, sizeof w.gi);
    begin_anew(&w, "u1", "another boot", true);
    assert_true(w.gi[0] && w.gi[1]);
    prepare(&w, 2, "u1", 0);
    assert_answer(&w, DP_ACT_PREPARED, 2, 0);
    close_world(&w);
}

static void settings_outlive_the_plugin_and_no_boot(void **state SW_UNUSED)
{
    for (int boot = 0; boot < 2; boot++) {
        struct world w;
        open_world(&w);
        prepare_shared(&w, 1);
        if (boot)
            memset(w.gi, 0, sizeof w.gi);
        begin_anew(&w, "u1", boot ? "another boot" : "boot", true);
        prepare_shared(&w, 2);
        assert_answer(&w, DP_ACT_PREPARED, 2, 0);
        if (boot)
            assert_string_equal(w.did, "+slice0 +set0 +set1 ");
        else
            assert_null(w.did);
        const struct dp_grant *g = dp_broker_prepared(w.b, "u1");
        assert_int_equal(g->mps.threads, 30);
        assert_int_equal(g->mps.limits[0].mib, 512);
        close_world(&w);
    }
}

/* ---- CDI ---------------------------------------------------------------------------------------
 */

static const char *env_of(struct json_object *doc, size_t i)
{
    struct json_object *device = sw_json_at(sw_json_get(doc, "devices"), i);
    return json_object_get_string(
        sw_json_at(sw_json_find(device, "containerEdits", "env", NULL), 0));
}

static void a_claims_file_has_a_device_for_each_group_and_one_of_all(void **state SW_UNUSED)
{
    SW_AUTO(dp_grant) *g = claim_of("u-1", 0);
    add_slice(g, "two", "two", 2);
    for (size_t i = 0; i < g->n_slices; i++)
        g->slices[i].uuid = sw_printf("MIG-%zu", i);
    SW_AUTO_JSON *doc = dp_cdi_make(g, NULL);
    assert_int_equal(sw_json_len(sw_json_get(doc, "devices")), 3);
    assert_string_equal(env_of(doc, 0), "NVIDIA_VISIBLE_DEVICES=MIG-0");
    assert_string_equal(env_of(doc, 1), "NVIDIA_VISIBLE_DEVICES=MIG-1,MIG-2");
    assert_string_equal(env_of(doc, 2), "NVIDIA_VISIBLE_DEVICES=MIG-0,MIG-1,MIG-2");
    SW_AUTO_CHARS *group = dp_cdi_group(g, "two"), *all = dp_cdi_group(g, NULL), *own = NULL;
    assert_string_equal(group, "mig.slipway.dev/claim=u-1-two");
    assert_string_equal(all, "mig.slipway.dev/claim=u-1");
    assert_true(dp_device_leads(g, 0) && dp_device_leads(g, 1) && !dp_device_leads(g, 2));
    SW_AUTO_CHARS *file = dp_cdi_file(g), *device = dp_cdi_device(g);
    assert_string_equal(file, "claim_u-1.cdi.json");
    SW_ERR(err);
    assert_int_equal(dp_cdi_read(doc, &own, &err), 0);
    assert_string_equal(own, device);
}

static void records_of_claims_are_read_by_field(void **state SW_UNUSED)
{
    static const struct {
        const char *path[4], *value, *message;
    } cases[] = {
        { { "resourceClaim", "uid" }, "\"a/b\"", "uid" },
        { { "devices" }, "[]", "devices: expected" },
        { { "devices" }, "[{}]", "devices[0]: request" },
        { { "devices" },
          "[{\"request\":\"a\",\"group\":\"a\",\"device\":\"d\",\"gpu\":\"g\",\"slice\":9}]",
          "devices[0]: slice" },
        { { "slices" }, "7", "slices: expected" },
        { { "settings" }, "[{\"kind\":\"other\"}]", "settings[0]: kind" },
        { { "settings" }, "[{\"kind\":\"timeSlice\"}]", "settings[0]: gpu" },
        { { "settings" },
          "[{\"kind\":\"timeSlice\",\"gpu\":\"g\",\"value\":4}]",
          "settings[0]: value" },
        { { "settings" },
          "[{\"kind\":\"mps\",\"value\":0,\"step\":\"instance\"}]",
          "settings[0]: step" },
        { { "mps" }, "{\"limits\":[{\"device\":\"a\\nquit\",\"mib\":1}]}", "mps.limits[0]" },
    };
    SW_AUTO(dp_grant) *g = claim_of("u1", 0);
    g->id = sw_strdup("0011223344556677");
    g->boot_id = sw_strdup("boot");
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        SW_ERR(err);
        SW_AUTO_JSON *doc = dp_record_make(g), *value = NULL;
        struct dp_grant *out = NULL;
        assert_int_equal(sw_json_parse(cases[i].value, strlen(cases[i].value), NULL, &value, &err),
                         0);
        sw_json_set(doc, SW_TAKE(value), cases[i].path[0], cases[i].path[1], NULL);
        assert_int_equal(dp_record_read(doc, &out, &err), SW_INVALID);
        assert_non_null(strstr(sw_err_text(&err), cases[i].message));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_slices_of_a_claim_are_made_and_taken_down),
        cmocka_unit_test(prepared_twice_is_made_once),
        cmocka_unit_test(a_claim_that_is_not_known_has_nothing_to_take_down),
        cmocka_unit_test(claims_are_made_side_by_side),
        cmocka_unit_test(asked_again_meanwhile_the_last_call_is_answered),
        cmocka_unit_test(a_slice_that_cannot_be_made_is_an_error_and_leaves_nothing),
        cmocka_unit_test(unprepared_while_it_is_made_is_taken_down),
        cmocka_unit_test(prepared_while_it_is_taken_down_is_made_after_that),
        cmocka_unit_test(a_slice_in_use_is_an_error_and_goes_when_it_is_free),
        cmocka_unit_test(a_whole_gpu_needs_no_step),
        cmocka_unit_test(settings_are_made_after_the_slices_and_undone_before_them),
        cmocka_unit_test(a_setting_that_is_refused_is_not_set_back_and_one_that_failed_is),
        cmocka_unit_test(what_cannot_be_set_back_is_an_error_and_tried_again),
        cmocka_unit_test(settings_outlive_the_plugin_and_no_boot),
        cmocka_unit_test(what_was_ready_is_answered_by_the_next_life),
        cmocka_unit_test(what_was_being_made_is_made_anew),
        cmocka_unit_test(unprepared_before_the_gpus_are_there_is_taken_down_when_they_are),
        cmocka_unit_test(after_a_boot_the_slices_are_made_again),
        cmocka_unit_test(a_claims_file_has_a_device_for_each_group_and_one_of_all),
        cmocka_unit_test(records_of_claims_are_read_by_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
