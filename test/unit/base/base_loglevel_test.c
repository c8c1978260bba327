/* The log level while a process runs: words for it, and a file that is followed. */
#include "base/loglevel.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/loop.h"

enum { STEP_MS = 10000 };

struct scene {
    struct sw_loop *loop;
    char dir[32], path[64];
};

static void put(const struct scene *s, const char *text)
{
    FILE *f = fopen(s->path, "w");
    assert_non_null(f);
    (void)fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void stop_loop(void *arg)
{
    sw_loop_stop(arg);
}

static void wait_a_while(struct scene *s)
{
    struct sw_timer *timer = sw_timer_new(s->loop, stop_loop, s->loop);
    sw_timer_set(timer, STEP_MS);
    sw_loop_run(s->loop);
    sw_timer_free(timer);
}

static int set_up(void **state)
{
    struct scene *s = sw_zalloc(1, sizeof *s);
    s->loop = sw_loop_new(&(struct sw_loop_opts){ .virtual_clock = true, .start_ms = 1 });
    (void)snprintf(s->dir, sizeof s->dir, "/tmp/level.XXXXXX");
    assert_non_null(mkdtemp(s->dir));
    (void)snprintf(s->path, sizeof s->path, "%s/level", s->dir);
    sw_log_set_level(SW_LOG_WARN);
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *s = *state;
    (void)unlink(s->path);
    (void)rmdir(s->dir);
    sw_loop_free(s->loop);
    free(s);
    sw_log_set_level(SW_LOG_INFO);
    return 0;
}

static void the_words_of_both_are_known(void **state SW_UNUSED)
{
    enum sw_log_level level;
    assert_true(sw_log_level_parse("debug", &level));
    assert_int_equal(level, SW_LOG_DEBUG);
    assert_true(sw_log_level_parse("Normal", &level));
    assert_int_equal(level, SW_LOG_INFO);
    assert_true(sw_log_level_parse("TraceAll", &level));
    assert_int_equal(level, SW_LOG_DEBUG);
    level = SW_LOG_WARN;
    assert_false(sw_log_level_parse("loud", &level));
    assert_int_equal(level, SW_LOG_WARN);
}

static void a_file_is_followed(void **state)
{
    struct scene *s = *state;
    struct sw_log_file *f = sw_log_file_open(s->loop, s->path);
    assert_false(sw_log_enabled(SW_LOG_INFO));
    put(s, "debug\n");
    wait_a_while(s);
    assert_true(sw_log_enabled(SW_LOG_DEBUG));
    put(s, "error");
    wait_a_while(s);
    assert_false(sw_log_enabled(SW_LOG_WARN));
    sw_log_file_close(f);
}

static void without_the_file_what_was_set_holds_again(void **state)
{
    struct scene *s = *state;
    put(s, "Debug");
    struct sw_log_file *f = sw_log_file_open(s->loop, s->path);
    assert_true(sw_log_enabled(SW_LOG_DEBUG));
    (void)unlink(s->path);
    wait_a_while(s);
    assert_false(sw_log_enabled(SW_LOG_INFO));
    assert_true(sw_log_enabled(SW_LOG_WARN));
    sw_log_file_close(f);
}

static void a_word_that_is_no_level_changes_nothing(void **state)
{
    struct scene *s = *state;
    put(s, "loud");
    struct sw_log_file *f = sw_log_file_open(s->loop, s->path);
    wait_a_while(s);
    assert_true(sw_log_enabled(SW_LOG_WARN));
    assert_false(sw_log_enabled(SW_LOG_INFO));
    sw_log_file_close(f);
}

static void no_path_is_no_file(void **state)
{
    struct scene *s = *state;
    assert_null(sw_log_file_open(s->loop, NULL));
    assert_null(sw_log_file_open(s->loop, ""));
    sw_log_file_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_words_of_both_are_known),
        cmocka_unit_test_setup_teardown(a_file_is_followed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_the_file_what_was_set_holds_again, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_word_that_is_no_level_changes_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_path_is_no_file, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
