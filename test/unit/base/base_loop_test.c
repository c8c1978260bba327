/* The loop's two clocks: timers run in order of their time, and a virtual day takes no time. */
#include "base/loop.h"

#include "base/base.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct seen {
    struct sw_loop *loop;
    int n;
    int64_t at_ms[4];
    struct sw_timer *again;
};

static void note(void *arg)
{
    struct seen *s = arg;
    s->at_ms[s->n++] = sw_loop_now_ms(s->loop);
}

static void note_and_free(void *arg)
{
    struct seen *s = arg;
    note(s);
    sw_timer_free(SW_TAKE(s->again));
}

static void virtual_timers_fire_in_order_and_at_their_time(void **state)
{
    (void)state;
    struct sw_loop *loop = sw_loop_new(
        &(struct sw_loop_opts){ .virtual_clock = true, .start_ms = 1000 });
    struct seen s = { .loop = loop };
    struct sw_timer *late = sw_timer_new(loop, note, &s), *soon = sw_timer_new(loop, note, &s);
    sw_timer_set(late, 86400000);
    sw_timer_set(soon, 5);
    int64_t began = sw_monotonic_ms();
    sw_loop_run(loop);
    assert_int_equal(s.n, 2);
    assert_int_equal(s.at_ms[0], 1005);
    assert_int_equal(s.at_ms[1], 86401000);
    assert_true(sw_monotonic_ms() - began < 60000);
    sw_timer_free(late);
    sw_timer_free(soon);
    sw_loop_free(loop);
}

static void a_timer_set_again_forgets_its_first_time(void **state)
{
    (void)state;
    struct sw_loop *loop = sw_loop_new(
        &(struct sw_loop_opts){ .virtual_clock = true, .start_ms = 1 });
    struct seen s = { .loop = loop };
    struct sw_timer *t = sw_timer_new(loop, note, &s);
    sw_timer_set(t, 10);
    sw_timer_set(t, 20);
    assert_true(sw_timer_is_set(t));
    sw_loop_run(loop);
    assert_int_equal(s.n, 1);
    assert_int_equal(s.at_ms[0], 21);
    assert_false(sw_timer_is_set(t));
    sw_timer_free(t);
    sw_loop_free(loop);
}

static void a_timer_may_free_itself(void **state)
{
    (void)state;
    for (int virtual_clock = 0; virtual_clock < 2; virtual_clock++) {
        struct sw_loop *loop = sw_loop_new(
            &(struct sw_loop_opts){ .virtual_clock = virtual_clock != 0 });
        struct seen s = { .loop = loop };
        s.again = sw_timer_new(loop, note_and_free, &s);
        sw_timer_set(s.again, 0);
        sw_loop_run(loop);
        assert_int_equal(s.n, 1);
        sw_loop_free(loop);
    }
}

static void a_step_waits_no_longer_than_it_may(void **state)
{
    (void)state;
    struct sw_loop *loop = sw_loop_new(
        &(struct sw_loop_opts){ .virtual_clock = true, .start_ms = 1 });
    struct seen s = { .loop = loop };
    struct sw_timer *t = sw_timer_new(loop, note, &s);
    sw_timer_set(t, 100);
    sw_loop_step(loop, 40);
    assert_int_equal(s.n, 0);
    assert_int_equal(sw_loop_now_ms(loop), 41);
    sw_loop_step(loop, 100);
    assert_int_equal(s.n, 1);
    sw_timer_free(t);
    sw_loop_free(loop);
}

static void raise_terminate(void *arg)
{
    (void)arg;
    (void)raise(SIGTERM);
}

static void note_and_stop(void *arg)
{
    struct seen *s = arg;
    note(s);
    sw_loop_stop(s->loop);
}

static void a_signal_ends_the_loop_or_calls_back(void **state)
{
    (void)state;
    struct sw_loop *loop = sw_loop_new(NULL);
    struct seen s = { .loop = loop };
    struct sw_timer *soon = sw_timer_new(loop, raise_terminate, NULL);
    sw_timer_set(soon, 0);
    sw_loop_run_until_signal(loop, NULL, NULL);
    sw_timer_set(soon, 0);
    sw_loop_run_until_signal(loop, note_and_stop, &s);
    assert_int_equal(s.n, 1);
    sw_timer_free(soon);
    sw_loop_free(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(virtual_timers_fire_in_order_and_at_their_time),
        cmocka_unit_test(a_timer_set_again_forgets_its_first_time),
        cmocka_unit_test(a_timer_may_free_itself),
        cmocka_unit_test(a_step_waits_no_longer_than_it_may),
        cmocka_unit_test(a_signal_ends_the_loop_or_calls_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
