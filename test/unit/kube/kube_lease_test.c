/* Leader election: one leader at a time, whatever happens to it or to the server. On a virtual
 * clock.
 */
#include "kube/lease.h"

#include "base/base.h"
#include "base/loop.h"
#include "data/data.h"
#include "kube_server.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

/** A server that keeps one Lease, with optimistic locking. */
struct fixture {
    struct sw_loop *loop;
    struct server srv;
    struct json_object *lease;
    int version;
    int n_writes, n_reads;
    int status;  /* not 0: every answer is that */
    bool silent; /* nothing is answered */
};

/** One candidate. What it is told is written down: "+" started, "-" stopped, "@x" x leads. */
struct candidate {
    struct fixture *f;
    struct sw_lease *lease;
    char *told;
    char *why;
    int n_released, n_started;
    bool close_at_start;
    bool release_at_new_leader;
};

static void answer_lease(struct fixture *f, struct sreq *req, int status)
{
    reply(req, status, json_object_to_json_string_ext(f->lease, JSON_C_TO_STRING_PLAIN));
}

static void store(struct fixture *f, const char *body)
{
    char version[16];
    (void)json_object_put(f->lease);
    f->lease = json_tokener_parse(body);
    (void)snprintf(version, sizeof version, "%d", ++f->version);
    sw_json_set_str(f->lease, version, "metadata", "resourceVersion", NULL);
}

static void on_write(struct fixture *f, struct sreq *req)
{
    bool create = sw_streq(req->method, "POST");
    struct json_object *body = json_tokener_parse(req->body);
    const char *sent = sw_json_str(body, "", "metadata", "resourceVersion", NULL);
    const char *ours = sw_json_str(f->lease, "", "metadata", "resourceVersion", NULL);
    f->n_writes++;
    if (create && f->lease)
        reply_status(req, 409, "AlreadyExists", "it is there");
    else if (!create && !f->lease)
        reply_status(req, 404, "NotFound", "no lease");
    else if (!create && !sw_streq(sent, ours))
        reply_status(req, 409, "Conflict", "changed");
    else {
        store(f, req->body);
        answer_lease(f, req, create ? 201 : 200);
    }
    (void)json_object_put(body);
}

static void on_request(struct server *srv SW_UNUSED, struct sreq *req, void *arg)
{
    struct fixture *f = arg;
    assert_true(sw_starts_with(req->path, "/apis/coordination.k8s.io/v1/namespaces/ns/leases"));
    if (f->silent)
        return;
    if (f->status) {
        reply_status(req, f->status, "", "out of order");
    } else if (!sw_streq(req->method, "GET")) {
        on_write(f, req);
    } else {
        f->n_reads++;
        if (f->lease)
            answer_lease(f, req, 200);
        else
            reply_status(req, 404, "NotFound", "no lease");
    }
}

static void note(struct candidate *c, const char *mark, const char *text)
{
    char *longer = sw_printf("%s%s%s", c->told, mark, text);
    free(c->told);
    c->told = longer;
}

static void on_started(void *arg)
{
    struct candidate *c = arg;
    c->n_started++;
    note(c, "+", "");
    if (c->close_at_start)
        sw_lease_close(SW_TAKE(c->lease));
}

static void on_stopped(const char *why, void *arg)
{
    struct candidate *c = arg;
    note(c, "-", "");
    free(c->why);
    c->why = sw_strdup(why);
}

static void on_released(void *arg)
{
    struct candidate *c = arg;
    c->n_released++;
}

static void on_new_leader(const char *identity, void *arg)
{
    struct candidate *c = arg;
    note(c, "@", identity);
    if (c->release_at_new_leader)
        sw_lease_release(c->lease, on_released, c);
}

static void on_trouble(const char *why, void *arg)
{
    note(arg, why ? "!" : "ok", "");
}

static void start(struct fixture *f)
{
    f->loop = sw_loop_new(
        &(struct sw_loop_opts){ .virtual_clock = true, .start_ms = 1000000000000 });
    f->srv.on_request = on_request;
    f->srv.arg = f;
    server_start(&f->srv, f->loop);
}

static void tear_down(struct fixture *f)
{
    server_stop(&f->srv);
    sw_loop_free(f->loop);
    (void)json_object_put(f->lease);
}

static void join(struct candidate *c, struct fixture *f, const char *identity)
{
    struct sw_kube_config *config = server_config(&f->srv);
    SW_ERR(err);
    c->f = f;
    c->told = sw_strdup("");
    struct sw_lease_opts o = { .ns = "ns",
                               .name = "slipway",
                               .identity = identity,
                               .seed = 7,
                               .on_started = on_started,
                               .on_stopped = on_stopped,
                               .on_new_leader = on_new_leader,
                               .on_trouble = on_trouble,
                               .arg = c };
    assert_int_equal(sw_lease_open(f->loop, config, &o, &c->lease, &err), 0);
    assert_string_equal(c->told, "");
    sw_kube_config_free(config);
}

static void leave(struct candidate *c)
{
    sw_lease_close(c->lease);
    free(c->told);
    free(c->why);
}

static void a_lease_that_nobody_has_is_taken_and_kept(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    struct candidate a = { 0 };
    start(&f);
    join(&a, &f, "a");
    run_for(f.loop, 100);
    assert_string_equal(a.told, "@a+");
    assert_true(sw_lease_is_leader(a.lease));
    struct json_object *spec = sw_json_get(f.lease, "spec");
    assert_string_equal(sw_json_str(spec, "", "holderIdentity", NULL), "a");
    assert_int_equal(sw_json_int(spec, 0, "leaseDurationSeconds", NULL), 15);
    assert_int_equal(sw_json_int(spec, -1, "leaseTransitions", NULL), 0);
    assert_string_equal(sw_json_str(spec, "", "acquireTime", NULL), "2001-09-09T01:46:40.000000Z");
    int writes = f.n_writes, reads = f.n_reads;
    run_for(f.loop, 60000);
    assert_string_equal(a.told, "@a+");
    assert_true(f.n_writes - writes >= 29 && f.n_writes - writes <= 30); /* a minute */
    assert_int_equal(f.n_reads, reads);
    assert_string_equal(sw_json_str(f.lease, "", "spec", "acquireTime", NULL),
                        "2001-09-09T01:46:40.000000Z");
    leave(&a);
    tear_down(&f);
}

static void a_second_candidate_waits_and_takes_over_when_the_first_is_silent(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    struct candidate a = { 0 }, b = { 0 };
    start(&f);
    join(&a, &f, "a");
    run_for(f.loop, 100);
    join(&b, &f, "b");
    run_for(f.loop, 60000);
    assert_string_equal(b.told, "@a");
    assert_string_equal(sw_lease_holder(b.lease), "a");
    leave(&a); /* it dies: tells nobody */
    int64_t died_ms = sw_loop_now_ms(f.loop);
    while (!b.n_started)
        sw_loop_step(f.loop, 10);
    int64_t took_ms = sw_loop_now_ms(f.loop) - died_ms;
    assert_true(took_ms > 13000 && took_ms < 15000 + 2 * 2000 * 12 / 10 + 2000);
    assert_string_equal(b.told, "@a@b+");
    assert_int_equal(sw_json_int(f.lease, -1, "spec", "leaseTransitions", NULL), 1);
    leave(&b);
    tear_down(&f);
}

static void the_holders_clock_does_not_matter(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    struct candidate b = { 0 };
    start(&f);
    /* held by somebody whose clock is years ahead, and who is dead */
    store(&f, "{\"metadata\":{\"name\":\"slipway\"},\"spec\":{\"holderIdentity\":\"a\","
              "\"leaseDurationSeconds\":15,\"renewTime\":\"2099-01-01T00:00:00.000000Z\"}}");
    join(&b, &f, "b");
    run_for(f.loop, 14000);
    assert_string_equal(b.told, "@a"); /* it may be alive: seen for the first time 14 s ago */
    run_for(f.loop, 6000);
    assert_string_equal(b.told, "@a@b+");
    leave(&b);
    tear_down(&f);
}

static void a_leader_that_cannot_renew_stops_before_another_may_start(void **state)
{
    (void)state;
    for (int mode = 0; mode < 3; mode++) {
        struct fixture f = { 0 };
        struct candidate a = { 0 };
        start(&f);
        join(&a, &f, "a");
        run_for(f.loop, 20000);
        int64_t began_ms = sw_loop_now_ms(f.loop);
        if (mode == 0)
            f.silent = true;
        else if (mode == 1)
            f.status = 500;
        else
            server_down(&f.srv);
        while (sw_lease_is_leader(a.lease))
            sw_loop_step(f.loop, 10);
        int64_t took_ms = sw_loop_now_ms(f.loop) - began_ms;
        assert_true(took_ms >= 8000 && took_ms <= 10000);
        assert_string_equal(a.why, "the lease could not be renewed in time");
        run_for(f.loop, 60000); /* competes on, and leads again when it can */
        f.silent = false;
        f.status = 0;
        if (mode == 2)
            server_listen(&f.srv);
        run_for(f.loop, 20000);
        assert_string_equal(a.told, "@a+!-ok+");
        leave(&a);
        tear_down(&f);
    }
}

static void a_leader_whose_lease_was_taken_stops_at_once(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    struct candidate a = { 0 };
    start(&f);
    join(&a, &f, "a");
    run_for(f.loop, 5000);
    store(&f, "{\"metadata\":{\"name\":\"slipway\"},\"spec\":{\"holderIdentity\":\"thief\","
              "\"leaseDurationSeconds\":15,\"renewTime\":\"2001-09-09T01:46:45.000000Z\"}}");
    run_for(f.loop, 2100);
    assert_string_equal(a.told, "@a+@thief-");
    assert_string_equal(a.why, "'thief' holds the lease");
    run_for(f.loop, 30000);
    assert_string_equal(a.told, "@a+@thief-@a+");
    leave(&a);
    tear_down(&f);
}

static void a_lease_deleted_under_its_leader_is_made_again(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    struct candidate a = { 0 };
    start(&f);
    join(&a, &f, "a");
    run_for(f.loop, 5000);
    json_object_put(SW_TAKE(f.lease));
    run_for(f.loop, 5000);
    assert_non_null(f.lease);
    assert_true(sw_lease_is_leader(a.lease));
    assert_int_equal(a.n_started, 1);
    leave(&a);
    tear_down(&f);
}

static void one_that_was_changed_by_others_is_still_ours(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    struct candidate a = { 0 };
    start(&f);
    join(&a, &f, "a");
    run_for(f.loop, 5000);
    sw_json_set_str(f.lease, "y", "metadata", "labels", "x", NULL);
    SW_AUTO_CHARS *text = sw_json_text(f.lease, SW_JSON_PLAIN, NULL);
    store(&f, text);
    run_for(f.loop, 30000);
    assert_string_equal(a.told, "@a+");
    assert_string_equal(sw_obj_label(f.lease, "x"), "y"); /* and what they wrote survives */
    leave(&a);
    tear_down(&f);
}

static void released_it_may_be_taken_at_once(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    struct candidate a = { 0 }, b = { 0 };
    start(&f);
    join(&a, &f, "a");
    run_for(f.loop, 1000);
    join(&b, &f, "b");
    run_for(f.loop, 1000);
    sw_lease_release(a.lease, on_released, &a);
    assert_string_equal(a.told, "@a+-");
    assert_int_equal(a.n_released, 0);
    run_until(f.loop, &a.n_released, 1);
    assert_string_equal(sw_json_str(f.lease, "?", "spec", "holderIdentity", NULL), "");
    run_for(f.loop, 2 * 2000 * 12 / 10 + 200);
    assert_string_equal(b.told, "@a@b+");
    assert_string_equal(a.told, "@a+-"); /* it does not compete any more */
    leave(&a);
    leave(&b);
    tear_down(&f);
}

static void a_release_does_not_wait_for_a_server_that_is_silent(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    struct candidate a = { 0 };
    start(&f);
    join(&a, &f, "a");
    run_for(f.loop, 1000);
    f.silent = true;
    int64_t began_ms = sw_loop_now_ms(f.loop);
    sw_lease_release(a.lease, on_released, &a);
    run_until(f.loop, &a.n_released, 1);
    assert_true(sw_loop_now_ms(f.loop) - began_ms <= 2200);
    leave(&a);
    tear_down(&f);
}

static void a_candidate_that_holds_nothing_releases_nothing(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    struct candidate a = { 0 }, b = { 0 };
    start(&f);
    join(&a, &f, "a");
    run_for(f.loop, 100);
    join(&b, &f, "b");
    run_for(f.loop, 100);
    sw_lease_release(b.lease, on_released, &b);
    run_until(f.loop, &b.n_released, 1);
    assert_string_equal(sw_json_str(f.lease, "?", "spec", "holderIdentity", NULL), "a");
    leave(&a);
    leave(&b);
    tear_down(&f);
}

static void a_lease_released_in_its_callback_does_not_lead(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    struct candidate a = { .release_at_new_leader = true };
    start(&f);
    join(&a, &f, "a");
    run_until(f.loop, &a.n_released, 1);
    run_for(f.loop, 20000);
    assert_string_equal(a.told, "@a");
    assert_int_equal(a.n_released, 1);
    assert_false(sw_lease_is_leader(a.lease));
    leave(&a);
    tear_down(&f);
}

static void after_a_restart_the_same_identity_leads_at_once(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    struct candidate a = { 0 }, again = { 0 };
    start(&f);
    join(&a, &f, "a");
    run_for(f.loop, 1000);
    leave(&a);
    join(&again, &f, "a");
    run_for(f.loop, 100);
    assert_string_equal(again.told, "@a+");
    assert_int_equal(sw_json_int(f.lease, -1, "spec", "leaseTransitions", NULL), 0);
    leave(&again);
    tear_down(&f);
}

static void a_lease_that_may_not_be_made_is_told_once(void **state)
{
    (void)state;
    struct fixture f = { .status = 403 };
    struct candidate a = { 0 };
    start(&f);
    join(&a, &f, "a");
    run_for(f.loop, 60000);
    assert_string_equal(a.told, "!");
    assert_true(f.srv.n_requests < 32); /* and not asked for in a loop */
    f.status = 0;
    run_for(f.loop, 5000);
    assert_string_equal(a.told, "!ok@a+");
    leave(&a);
    tear_down(&f);
}

static void a_missing_namespace_is_not_asked_for_in_a_loop(void **state)
{
    (void)state;
    struct fixture f = { .status = 404 };
    struct candidate a = { 0 };
    start(&f);
    join(&a, &f, "a");
    run_for(f.loop, 60000);
    assert_string_equal(a.told, "!");
    assert_true(f.srv.n_requests > 10 && f.srv.n_requests < 64);
    leave(&a);
    tear_down(&f);
}

static void it_may_be_closed_when_told_that_it_leads(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    struct candidate a = { .close_at_start = true };
    start(&f);
    join(&a, &f, "a");
    run_for(f.loop, 60000);
    assert_string_equal(a.told, "@a+");
    leave(&a);
    tear_down(&f);
}

static void options_that_cannot_work_are_refused(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f);
    struct sw_kube_config *config = server_config(&f.srv);
    const struct sw_lease_opts bad[] = {
        { .ns = "ns", .name = "n" },
        { .ns = "", .name = "n", .identity = "a" },
        { .ns = "ns", .name = "n", .identity = "a", .lease_ms = 5000 },
        { .ns = "ns", .name = "n", .identity = "a", .renew_ms = 2000 },
    };
    for (size_t i = 0; i < SW_COUNT(bad); i++) {
        SW_ERR(err);
        struct sw_lease *lease;
        assert_int_equal(sw_lease_open(f.loop, config, &bad[i], &lease, &err), SW_INVALID);
    }
    sw_kube_config_free(config);
    tear_down(&f);
}

static void an_identity_is_the_pods_name_or_the_hosts(void **state)
{
    (void)state;
    (void)setenv("POD_NAME", "scheduler-0", 1);
    SW_AUTO_CHARS *pod = sw_lease_identity("program");
    (void)setenv("POD_NAME", "", 1);
    SW_AUTO_CHARS *host = sw_lease_identity("program");
    assert_string_equal(pod, "scheduler-0");
    assert_true(*host && strcmp(host, pod) != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lease_that_nobody_has_is_taken_and_kept),
        cmocka_unit_test(a_second_candidate_waits_and_takes_over_when_the_first_is_silent),
        cmocka_unit_test(the_holders_clock_does_not_matter),
        cmocka_unit_test(a_leader_that_cannot_renew_stops_before_another_may_start),
        cmocka_unit_test(a_leader_whose_lease_was_taken_stops_at_once),
        cmocka_unit_test(a_lease_deleted_under_its_leader_is_made_again),
        cmocka_unit_test(one_that_was_changed_by_others_is_still_ours),
        cmocka_unit_test(released_it_may_be_taken_at_once),
        cmocka_unit_test(a_release_does_not_wait_for_a_server_that_is_silent),
        cmocka_unit_test(a_candidate_that_holds_nothing_releases_nothing),
        cmocka_unit_test(a_lease_released_in_its_callback_does_not_lead),
        cmocka_unit_test(after_a_restart_the_same_identity_leads_at_once),
        cmocka_unit_test(a_lease_that_may_not_be_made_is_told_once),
        cmocka_unit_test(a_missing_namespace_is_not_asked_for_in_a_loop),
        cmocka_unit_test(it_may_be_closed_when_told_that_it_leads),
        cmocka_unit_test(options_that_cannot_work_are_refused),
        cmocka_unit_test(an_identity_is_the_pods_name_or_the_hosts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
