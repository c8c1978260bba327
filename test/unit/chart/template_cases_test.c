/* The template module against its cases: those of test/golden/template, and those of SW_SHARED
 * where they are there. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "template_cases.h"

static void report(const struct template_case *c, const char *got, size_t got_len, void *arg)
{
    (void)arg;
    print_message("%s: want %s%s\n%s: got  %.*s\n", c->id, c->error ? "error " : "",
                  c->error ? c->error : c->want, c->id, (int)got_len, got);
}

/* @return the number of cases, all of which passed */
static size_t run_all(const char *pattern)
{
    struct template_tally tally = { 0 };
    glob_t files = { 0 };
    if (glob(pattern, 0, NULL, &files) == 0) {
        for (size_t i = 0; i < files.gl_pathc; i++) {
            SW_ERR(err);
            if (template_cases_run(files.gl_pathv[i], report, NULL, &tally, &err) < 0)
                fail_msg("%s", sw_err_text(&err));
        }
    }
    globfree(&files);
    assert_int_equal(tally.failed, 0);
    return tally.passed;
}

static void own_cases_pass(void **state)
{
    (void)state;
    assert_true(run_all(SW_SOURCE_DIR "/test/golden/template/*.jsonl") > 300);
}

static void shared_cases_pass(void **state)
{
    (void)state;
    const char *shared = getenv("SW_SHARED");
    if (!shared || !*shared)
        skip();
    SW_AUTO_CHARS *pattern = sw_printf("%s/template-cases/*.jsonl", shared);
    assert_true(run_all(pattern) > 0);
}

int main(void)
{
    setenv("TZ", "UTC", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_cases_pass),
        cmocka_unit_test(shared_cases_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
