/* slipway test: run the test hooks of a SpecialResource's release, as `helm test` does. */
#include <json-c/json.h>
#include <stdio.h>

#include "base/loop.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/hook_run.h"
#include "cli/cluster/requests.h"
#include "cli/commands/commands.h"
#include "data/data.h"

struct test_opts {
    struct sw_connect_opts connect;
    int64_t timeout_ms;
    bool logs;
    const char *only;
};

static const struct sw_flag flags[] = {
    { "timeout", 0, SW_FLAG_DURATION, offsetof(struct test_opts, timeout_ms), "TIME", NULL,
      "time limit, such as 90s or 5m (default 5m)" },
    { "logs", 0, SW_FLAG_BOOL, offsetof(struct test_opts, logs), NULL, NULL,
      "print the logs of tests that succeed, too" },
    { "only", 0, SW_FLAG_STRING, offsetof(struct test_opts, only), "NAME", NULL,
      "run only the test of this name" },
    SW_CONNECT_FLAGS(struct test_opts, connect),
    { 0 },
};

struct test {
    struct test_opts opts;
    struct sw_connection conn;
    struct json_object *resource;
    struct sw_hook_run run;
};

static int test(struct test *t, const char *name)
{
    SW_ERR(err);
    bool passed = false;
    size_t n = 0;
    t->conn.until_ms = sw_loop_now_ms(t->conn.loop) + t->opts.timeout_ms;
    int rc = sw_cluster_resource(&t->conn, name, 3, &t->resource, &err);
    if (rc == 0)
        rc = sw_hook_run_init(&t->run, &t->conn, t->resource, &err);
    t->run.only = t->opts.only;
    t->run.logs = t->opts.logs;
    if (rc == 0)
        rc = sw_hook_run_read(&t->run, "test", &err);
    if (rc == 0)
        rc = sw_hook_run_all(&t->run, &n, &passed, &err);
    if (rc == 0 && n == 0 && t->opts.only)
        rc = sw_err_set(&err, SW_NOTFOUND, "the release has no test '%s'", t->opts.only);
    else if (rc == 0 && n == 0)
        (void)printf("the recipe of '%s' has no tests\n", name);
    if (rc == 0)
        return passed ? SW_EXIT_OK : SW_EXIT_FAILED;
    bool late = rc == SW_UNAVAILABLE && sw_loop_now_ms(t->conn.loop) >= t->conn.until_ms;
    rc = sw_cli_fail("test", &err);
    return late ? SW_EXIT_TIMEOUT : rc;
}

static int execute(const struct sw_call *call)
{
    struct test t = { .opts = { .timeout_ms = 5 * 60000 } };
    struct sw_operands rest;
    SW_ERR(err);
    int rc = sw_cli_parse(call, &t.opts, 1, &rest);
    if (rc)
        return rc - 1;
    rc = sw_connection_init(&t.conn, "test", &t.opts.connect, &err) < 0 ? sw_cli_fail("test", &err)
                                                                        : test(&t, rest.items[0]);
    sw_hook_run_done(&t.run);
    json_object_put(t.resource);
    sw_connection_done(&t.conn);
    return rc;
}

const struct sw_command sw_command_test = {
    .name = "test",
    .args = "NAME",
    .missing = "which resource? 'slipway status' lists them",
    .summary = "run the tests of a SpecialResource's release, as `helm test` does",
    .details =
        "Runs the `test` hooks of the latest recorded release one after another, by weight: Pods "
        "and Jobs\n"
        "until they end, with their delete policies. If a test fails, its logs are printed and no "
        "further\n"
        "test is run.\n"
        "\n"
        "Exit status: 0 all have succeeded, 1 one has failed, 2 bad usage or input, 3 time-out.",
    .flags = flags,
    .execute = execute,
};
