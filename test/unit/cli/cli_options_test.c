/* The tables of commands and options, and what is made of a command line. */
#include "cli/commands/commands.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "data/text/nearest.h"
#include "data/text/time.h"

const char *sw_version = "test";
const struct sw_build sw_build = { "", "", "" };

static void duration_is_read_as_go_writes_it(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ms;
    } good[] = { { "0", 0 },           { "90", 90000 },     { "90s", 90000 },
                 { "1h30m", 5400000 }, { "250ms", 250 },    { "1.5s", 1500 },
                 { "2m", 120000 },     { "1m0.5s", 60500 }, { "0.25", 250 } };
    static const char *const bad[] = { "",       "s",  "-1s", "1x",           "1s2",  "1m 2s",
                                       "1e999s", "h1", "ms",  "99999999999h", "1..2s" };
    int64_t ms;
    for (size_t i = 0; i < SW_COUNT(good); i++) {
        SW_ERR(err);
        assert_int_equal(sw_span_parse(good[i].text, &ms, &err), 0);
        assert_int_equal(ms, good[i].ms);
    }
    for (size_t i = 0; i < SW_COUNT(bad); i++) {
        SW_ERR(err);
        assert_int_equal(sw_span_parse(bad[i], &ms, &err), SW_INVALID);
        assert_non_null(strstr(sw_err_text(&err), "is not a duration"));
    }
}

static void near_words_are_found_and_far_ones_are_not(void **state)
{
    (void)state;
    static const char *const names[] = { "run", "controller", "completion", "status", NULL };
    assert_string_equal(sw_text_nearest("rum", names), "run");
    assert_string_equal(sw_text_nearest("stats", names), "status");
    assert_string_equal(sw_text_nearest("controler", names), "controller");
    assert_null(sw_text_nearest("banana", names));
    assert_null(sw_text_nearest("", names));
}

static void a_distance_may_be_taken_loosely(void **state)
{
    (void)state;
    assert_int_equal(sw_text_distance("run", 3, "urn", 3, false), 2);
    assert_int_equal(sw_text_distance("run", 3, "urn", 3, true), 1);
    assert_int_equal(sw_text_distance("RUn", 3, "run", 3, false), 2);
    assert_int_equal(sw_text_distance("RUn", 3, "run", 3, true), 0);
    assert_true(sw_text_distance("run", 3, "rainbow", 7, true) > 2);
}

static void every_command_and_option_is_documented_once(void **state)
{
    (void)state;
    for (const struct sw_command *c, *const *at = sw_commands; (c = *at); at++) {
        assert_non_null(c->args);
        assert_non_null(c->execute);
        assert_true(c->summary && *c->summary);
        assert_ptr_equal(sw_command_find(sw_commands, c->name), c);
        for (const struct sw_flag *f = c->flags; f->name; f++) {
            assert_true(f->doc && *f->doc && f->doc[strlen(f->doc) - 1] != '.');
            assert_int_equal(f->arg != NULL, f->kind != SW_FLAG_BOOL);
            assert_string_not_equal(f->name, "help");
            assert_string_not_equal(f->name, "log-level");
            for (const struct sw_flag *o = f + 1; o->name; o++) {
                assert_string_not_equal(f->name, o->name);
                assert_false(f->letter && f->letter == o->letter);
            }
        }
    }
}

/* Run a command with stdout and stderr into a file; its text is the caller's. */
static char *output_of(const struct sw_command *command, char **argv, int *exit)
{
    char path[] = "/tmp/cli_options_test.XXXXXX";
    int fd = mkstemp(path), out = dup(1), argc = 0;
    while (argv[argc])
        argc++;
    (void)fflush(NULL);
    int errfd = dup(2);
    (void)dup2(fd, 1);
    (void)dup2(fd, 2);
    *exit = command->execute(&(struct sw_call){ command, sw_commands, argc, argv });
    (void)fflush(NULL);
    (void)dup2(out, 1);
    (void)dup2(errfd, 2);
    close(out);
    close(errfd);
    close(fd);
    char *text;
    size_t len;
    SW_ERR(err);
    assert_int_equal(sw_file_read(path, 1 << 20, &text, &len, &err), 0);
    unlink(path);
    return text;
}

static void assert_said(char **argv, int want_exit, const char *want)
{
    int exit;
    const struct sw_command *c = sw_command_find(sw_commands, argv[0]);
    assert_non_null(c);
    SW_AUTO_CHARS *text = output_of(c, argv, &exit);
    if (!strstr(text, want))
        fail_msg("'%s' not in: %s", want, text);
    assert_int_equal(exit, want_exit);
}
#define SAID(exit, want, ...) assert_said((char *[]){ __VA_ARGS__, NULL }, exit, want)

static char arg[][32] = { "run",
                          "--emulatte",
                          "--nodes",
                          "many",
                          "--platform",
                          "mars",
                          "completion",
                          "tcsh",
                          "--help",
                          "-x",
                          "version",
                          "more",
                          "--emulate=perhaps",
                          "hooks",
                          "-o",
                          "yaml",
                          "--timeout",
                          "soon",
                          "--nodes=3",
                          "status",
                          "a",
                          "b",
                          "emulate",
                          "--nodes=0",
                          "--nodes=4294967301",
                          "--no-nodes",
                          "--emulate",
                          "--registries-conf=/nowhere" };

static void bad_usage_exits_2_and_says_what_is_wrong(void **state)
{
    (void)state;
    SAID(2, "unknown option '--emulatte', did you mean '--emulate'", arg[0], arg[1]);
    SAID(2, "option '--nodes' needs a value", arg[0], arg[2]);
    SAID(2, "--nodes: 'many' is not a number", arg[0], arg[2], arg[3]);
    SAID(2, "--platform: 'mars' is not one of openshift|kubernetes|eks|gke|aks|oke|kind", arg[0],
         arg[4], arg[5]);
    SAID(2, "--timeout: 'soon' is not a duration", arg[0], arg[16], arg[17]);
    SAID(2, "'perhaps' is neither true nor false", arg[0], arg[12]);
    SAID(2, "which recipe?", arg[0]);
    SAID(2, "are for --emulate", arg[0], arg[18], arg[20]);
    SAID(2, "unknown option '-x'", arg[10], arg[9]);
    SAID(2, "'more' is one argument too many", arg[10], arg[11]);
    SAID(2, "no completion for 'tcsh'", arg[6], arg[7]);
    SAID(2, "--output: 'yaml' is not one of json|text", arg[13], arg[14], arg[15]);
    SAID(2, "'b' is one argument too many", arg[19], arg[20], arg[21]);
    SAID(2, "--nodes: '0' is not a number of 1 to", arg[22], arg[23]);
    SAID(2, "--nodes: '4294967301' is not a number of 1 to", arg[22], arg[24]);
    SAID(2, "either --nodes or --no-nodes", arg[22], arg[18], arg[25]);
    SAID(2, "--registries-conf: /nowhere: No such file", arg[0], arg[26], arg[27], arg[20]);
}

static void help_of_every_command_lists_its_options(void **state)
{
    (void)state;
    for (const struct sw_command *c, *const *at = sw_commands; (c = *at); at++) {
        char name[32];
        (void)strncpy(name, c->name, sizeof name - 1);
        name[sizeof name - 1] = '\0';
        char *argv[] = { name, arg[8], NULL };
        int exit;
        SW_AUTO_CHARS *text = output_of(c, argv, &exit);
        assert_int_equal(exit, 0);
        assert_non_null(strstr(text, "Usage: slipway "));
        for (const struct sw_flag *f = c->flags; f->name; f++) {
            SW_AUTO_CHARS *option = sw_printf("--%s", f->name);
            assert_non_null(strstr(text, option));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(duration_is_read_as_go_writes_it),
        cmocka_unit_test(near_words_are_found_and_far_ones_are_not),
        cmocka_unit_test(a_distance_may_be_taken_loosely),
        cmocka_unit_test(every_command_and_option_is_documented_once),
        cmocka_unit_test(bad_usage_exits_2_and_says_what_is_wrong),
        cmocka_unit_test(help_of_every_command_lists_its_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
