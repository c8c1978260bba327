/* What a controller lives through, one thing after the other: the server away for a minute, etcd
 * that answers nothing for a while, a leader that is killed, a lease that cannot be renewed. Each
 * ends as an undisturbed walk does. */
#include "chaos.h"

#include <string.h>

#include <cmocka.h>

static const char kmod[] = SW_SOURCE_DIR "/charts/example/simple-kmod";

struct story {
    int64_t stepped_down_ms, ready_ms; /* 0: it did not happen; the last time */
    int n_ready, n_failed;
};

static void on_line(int64_t at_ms, const char *line, void *arg)
{
    struct story *s = arg;
    if (sw_starts_with(line, "not leading"))
        s->stepped_down_ms = at_ms;
    s->n_failed += sw_starts_with(line, "StateFailed:");
    if (!sw_starts_with(line, "Ready:"))
        return;
    s->n_ready++;
    s->ready_ms = at_ms;
}

static void run(const char *text, struct story *story, struct sw_simulation_end *end)
{
    SW_ERR(err);
    SW_AUTO_JSON *doc = json_tokener_parse(text);
    assert_non_null(doc);
    sw_json_set_str(doc, kmod, "recipe", NULL);
    struct sw_simulation trial;
    uint64_t *kills = NULL;
    assert_int_equal(sw_simulation_read(doc, "trial", &trial, &kills, &err), 0);
    trial.say = on_line;
    trial.arg = story;
    if (sw_simulation_run(&trial, end, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    free(kills);
    if (!end->ready)
        fail_msg("not Ready: %s", end->message);
}

/* The same as without all that. */
static void must_be_the_same(struct sw_simulation_end *end)
{
    struct story story = { 0 };
    struct sw_simulation_end calm;
    run("{}", &story, &calm);
    SW_AUTO_CHARS *diff = sw_snapshot_diff(calm.snapshot, end->snapshot);
    if (diff)
        fail_msg("%s", diff);
    sw_simulation_end_done(&calm);
    sw_simulation_end_done(end);
}

static void server_that_is_away_for_a_minute(void **state)
{
    (void)state;
    struct story story = { 0 };
    struct sw_simulation_end end;
    run("{\"plan\":{\"faults\":[{\"down\":\"1m\",\"from\":\"100ms\"}]}}", &story, &end);
    assert_int_equal(end.n_lives, 1);
    assert_true(story.stepped_down_ms > 0); /* nobody renews a lease then */
    assert_true(story.ready_ms >= 60000 && story.ready_ms < 120000);
    must_be_the_same(&end);
}

static void etcd_that_is_restarted(void **state)
{
    (void)state;
    struct story story = { 0 };
    struct sw_simulation_end end;
    run("{\"plan\":{\"faults\":[{\"answer\":500,\"from\":\"150ms\",\"until\":\"8s\"},"
        "{\"verb\":\"watch\",\"do\":\"expire\",\"event\":1,\"from\":\"100ms\",\"until\":\"9s\"},"
        "{\"verb\":\"watch\",\"answer\":410,\"from\":\"8s\",\"until\":\"9s\"}]}}",
        &story, &end);
    assert_int_equal(end.n_lives, 1);
    assert_int_equal(story.stepped_down_ms, 0); /* shorter than the lease's deadline */
    must_be_the_same(&end);
}

/* It refuses all watches and reads until it has read the roles. */
static void server_that_starts_again_refuses_for_a_moment(void **state)
{
    (void)state;
    struct story story = { 0 };
    struct sw_simulation_end end;
    run("{\"plan\":{\"faults\":[{\"down\":\"1s\",\"from\":\"150ms\"},"
        "{\"verb\":[\"list\",\"watch\",\"get\"],\"answer\":403,\"from\":\"1150ms\",\"until\":"
        "\"4s\"}]}}",
        &story, &end);
    assert_int_equal(end.n_lives, 1);
    assert_int_equal(story.n_failed, 0);
    assert_true(story.ready_ms < 30000);
    must_be_the_same(&end);
}

/* It does so for a minute: that is told, and passes by itself. */
static void server_that_refuses_for_long_is_recovered_from(void **state)
{
    (void)state;
    struct story story = { 0 };
    struct sw_simulation_end end;
    run("{\"plan\":{\"faults\":[{\"down\":\"1s\",\"from\":\"150ms\"},"
        "{\"kind\":[\"DaemonSet\",\"Pod\",\"ConfigMap\"],\"verb\":[\"list\",\"watch\",\"get\"],"
        "\"answer\":403,"
        "\"from\":\"1150ms\",\"until\":\"1m\"}]}}",
        &story, &end);
    assert_int_equal(end.n_lives, 1);
    assert_true(story.n_failed > 0);
    assert_true(story.ready_ms >= 60000 && story.ready_ms < 180000);
    must_be_the_same(&end);
}

static void leader_that_is_killed_goes_on_at_once(void **state)
{
    (void)state;
    struct story story = { 0 };
    struct sw_simulation_end end;
    run("{\"kills\":[20,45]}", &story, &end);
    assert_int_equal(end.n_lives, 3);
    assert_true(end.took_ms < 15000); /* it keeps its name: nobody waits for its lease to end */
    must_be_the_same(&end);
}

/* Nodes cannot be listed any more: only who still knows them can go on. */
static void leader_without_a_lease_keeps_what_it_knows(void **state)
{
    (void)state;
    struct story story = { 0 };
    struct sw_simulation_end end;
    run("{\"plan\":{\"faults\":["
        "{\"kind\":\"Lease\",\"answer\":500,\"from\":\"500ms\",\"until\":\"30s\"},"
        "{\"kind\":\"Node\",\"verb\":\"list\",\"answer\":500,\"from\":\"500ms\",\"until\":\"3m\"}]}"
        "}",
        &story, &end);
    assert_int_equal(end.n_lives, 1);
    assert_true(story.stepped_down_ms > 0 && story.stepped_down_ms < 15000); /* before it ends */
    assert_true(story.n_ready >= 2);
    assert_true(story.ready_ms >= 30000 && story.ready_ms < 60000);
    must_be_the_same(&end);
}

/* Nothing else is answered for a minute. The lease is asked for
 * on a connection of its own. */
static void load_does_not_starve_the_lease(void **state)
{
    (void)state;
    struct story story = { 0 };
    struct sw_simulation_end end;
    run("{\"plan\":{\"faults\":[{\"kind\":\"Lease\",\"delay\":\"1ms\"},"
        "{\"do\":\"hang\",\"from\":\"150ms\",\"until\":\"1m\"}]}}",
        &story, &end);
    assert_int_equal(end.n_lives, 1);
    assert_int_equal(story.stepped_down_ms, 0);
    assert_true(story.ready_ms >= 60000);
    must_be_the_same(&end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(server_that_is_away_for_a_minute),
        cmocka_unit_test(etcd_that_is_restarted),
        cmocka_unit_test(server_that_starts_again_refuses_for_a_moment),
        cmocka_unit_test(server_that_refuses_for_long_is_recovered_from),
        cmocka_unit_test(leader_that_is_killed_goes_on_at_once),
        cmocka_unit_test(load_does_not_starve_the_lease),
        cmocka_unit_test(leader_without_a_lease_keeps_what_it_knows),
    };
    sw_log_set_level(SW_LOG_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
