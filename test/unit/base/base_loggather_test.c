/* Lines of the log that are written together: later, all of them, in their order. */
#include "base/loggather.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/loop.h"
#include "ranges.h"

struct scene {
    struct sw_loop *loop;
    struct sw_log_gather *log;
    int pipe[2], stderr_fd;
};

static int set_up(void **state)
{
    struct scene *s = sw_zalloc(1, sizeof *s);
    s->loop = sw_loop_new(&(struct sw_loop_opts){ .virtual_clock = true, .start_ms = 1 });
    s->stderr_fd = dup(STDERR_FILENO);
    assert_int_equal(pipe(s->pipe), 0);
    assert_true(dup2(s->pipe[1], STDERR_FILENO) >= 0);
    s->log = sw_log_gather_open(s->loop);
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *s = *state;
    sw_log_gather_close(s->log);
    assert_true(dup2(s->stderr_fd, STDERR_FILENO) >= 0);
    (void)close(s->stderr_fd);
    (void)close(s->pipe[0]);
    (void)close(s->pipe[1]);
    sw_loop_free(s->loop);
    free(s);
    return 0;
}

/* How many lines one read gives; 0: nothing was written. @text: their bytes */
static size_t written(const struct scene *s, char text[static 16384])
{
    size_t n = 0;
    /* a mark of our own: the read never waits */
    assert_int_equal(write(s->pipe[1], "|", 1), 1);
    const ssize_t len = read(s->pipe[0], text, 16383);
    assert_true(len > 0 && text[len - 1] == '|');
    text[len - 1] = '\0';
    for (const char *c = text; *c; c++)
        n += *c == '\n';
    return n;
}

static void stop_loop(void *arg)
{
    sw_loop_stop(arg);
}

static void wait_a_while(struct scene *s)
{
    struct sw_timer *timer = sw_timer_new(s->loop, stop_loop, s->loop);
    sw_timer_set(timer, 1000);
    sw_loop_run(s->loop);
    sw_timer_free(timer);
}

static void test_lines_wait_and_are_written_together(void **state)
{
    struct scene *s = *state;
    char text[16384];
    sw_log(SW_LOG_INFO, "one", NULL);
    sw_log(SW_LOG_INFO, "two", NULL);
    assert_int_equal(written(s, text), 0);
    wait_a_while(s);
    assert_int_equal(written(s, text), 2);
    assert_true(strstr(text, "one") < strstr(text, "two"));
    wait_a_while(s);
    assert_int_equal(written(s, text), 0);
}

static void test_warning_takes_what_waits_along(void **state)
{
    struct scene *s = *state;
    char text[16384];
    sw_log(SW_LOG_INFO, "one", NULL);
    sw_log(SW_LOG_WARN, "two", NULL);
    assert_int_equal(written(s, text), 2);
    assert_true(strstr(text, "one") < strstr(text, "two"));
}

static void test_much_is_written_at_once(void **state)
{
    struct scene *s = *state;
    char text[16384];
    for (int i = 0; i < 200; i++)
        sw_log(SW_LOG_INFO, "a line of some length", "and", "what it says of itself", NULL);
    assert_between(written(s, text), 50, 199);
    wait_a_while(s);
    assert_true(written(s, text) > 0);
}

static void test_end_writes_what_waits(void **state)
{
    struct scene *s = *state;
    char text[16384];
    sw_log(SW_LOG_INFO, "one", NULL);
    sw_log_gather_close(SW_TAKE(s->log));
    assert_int_equal(written(s, text), 1);
    sw_log(SW_LOG_INFO, "two", NULL);
    assert_int_equal(written(s, text), 1);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_lines_wait_and_are_written_together),
        T(test_warning_takes_what_waits_along),
        T(test_much_is_written_at_once),
        T(test_end_writes_what_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
