/* The template module against its cases: those of test/golden/template, and those of SW_SHARED
 * where they are there: there those of the newest Helm win. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "template_cases.h"

static size_t n_changed; /* cases of an older Helm that the newest answers differently */

/* @arg: the text of the cases that have changed since, or NULL: they may fail */
static void report(const struct template_case *c, const char *got, size_t got_len, void *arg)
{
    SW_AUTO_CHARS *id = sw_printf("{\"id\":\"%s\"", c->id);
    if (arg && strstr(arg, id)) {
        n_changed++;
        return;
    }
    print_message("%s: want %s%s\n%s: got  %.*s\n", c->id, c->error ? "error " : "",
                  c->error ? c->error : c->want, c->id, (int)got_len, got);
}

/* @changed: as in report(). @return the number of cases that passed; no other one failed */
static size_t run_all(const char *pattern, char *changed)
{
    n_changed = 0;
    struct template_tally tally = { 0 };
    glob_t files = { 0 };
    if (glob(pattern, 0, NULL, &files) == 0) {
        for (size_t i = 0; i < files.gl_pathc; i++) {
            SW_ERR(err);
            if (template_cases_run(files.gl_pathv[i], report, changed, &tally, &err) < 0)
                fail_msg("%s", sw_err_text(&err));
        }
    }
    globfree(&files);
    assert_int_equal(tally.failed, n_changed);
    return tally.passed;
}

static void own_cases_pass(void **state)
{
    (void)state;
    assert_true(run_all(SW_SOURCE_DIR "/test/golden/template/*.jsonl", NULL) > 300);
}

static void shared_cases_pass(void **state)
{
    (void)state;
    const char *shared = getenv("SW_SHARED");
    if (!shared || !*shared)
        skip();
    SW_AUTO_CHARS *newest = sw_printf("%s/template-cases-newest/changed.jsonl", shared);
    SW_AUTO_CHARS *pattern = sw_printf("%s/template-cases/*.jsonl", shared);
    SW_AUTO_CHARS *changed = NULL;
    size_t len;
    SW_ERR(err);
    if (sw_file_read(newest, 1 << 20, &changed, &len, &err) < 0)
        skip();
    assert_true(run_all(newest, NULL) > 0);
    assert_true(run_all(pattern, changed) > 0);
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
