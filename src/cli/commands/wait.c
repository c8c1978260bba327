/* slipway wait: until a SpecialResource is as it is wanted. */
#include "base/loop.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/follow.h"
#include "cli/cluster/requests.h"
#include "cli/commands/commands.h"
#include "cli/view/report.h"
#include "data/data.h"
#include "operator/inventory/inventory.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct wait_opts {
    struct sw_connect_opts connect;
    const char *until;
    bool fail_fast;
    int64_t timeout_ms;
};

static const struct sw_flag flags[] = {
    { "for", 0, SW_FLAG_STRING, offsetof(struct wait_opts, until), "WHAT", "Ready|Errored|deleted",
      "what to wait for (default Ready)" },
    { "fail-fast", 0, SW_FLAG_BOOL, offsetof(struct wait_opts, fail_fast), NULL, NULL,
      "end as soon as the resource is Errored, though that may pass by itself" },
    { "timeout", 0, SW_FLAG_DURATION, offsetof(struct wait_opts, timeout_ms), "TIME", NULL,
      "time limit, such as 90s or 5m; 0: none (default 30m)" },
    SW_CONNECT_FLAGS(struct wait_opts, connect),
    { 0 },
};

/* Print on stderr what is waited for, when that has changed. */
static void tell(const char *name, const struct sw_report *report, char **last)
{
    SW_AUTO_CHARS *trouble = report->is_paused
                                 ? sw_printf("paused: slipway resume %s goes on", name)
                                 : sw_report_trouble(report);
    trouble[strcspn(trouble, "\n")] = '\0';
    if (!*trouble || sw_streq(trouble, *last))
        return;
    (void)fprintf(stderr, "slipway wait: %s: %s\n", name, trouble);
    sw_text_set(last, trouble);
}

/* There is no such resource: it may be made yet, or have another name. */
static void tell_missing(struct sw_connection *conn, const char *name, char **last)
{
    static const char text[] = "there is no such";
    if (sw_streq(*last, text))
        return;
    SW_AUTO_CHARS *meant = sw_cluster_nearest_resource(conn, name);
    (void)fprintf(stderr, "slipway wait: %s: %s%s%s%s\n", name, text,
                  meant ? " SpecialResource; did you mean '" : "", meant ? meant : "",
                  meant ? "'?" : "");
    sw_text_set(last, text);
}

/* @return an enum sw_exit; -1: it is not over */
static int judge(struct sw_connection *conn, const struct wait_opts *opts, const char *name,
                 struct json_object *doc, char **last)
{
    const struct sw_report report = sw_report_of(doc);
    (void)sw_inventory_of(report.status);
    const char *phase = doc ? sw_report_phase(&report) : "deleted";
    if (!doc)
        tell_missing(conn, name, last);
    if (sw_streq(phase, sw_text_or(opts->until, "Ready"))) {
        if (report.is_paused && !report.is_deleting)
            (void)printf("%s: %s, and paused: slipway resume %s goes on\n", name, phase, name);
        else
            (void)printf("%s: %s\n", name, phase);
        return SW_EXIT_OK;
    }
    if (doc)
        tell(name, &report, last);
    return opts->fail_fast && sw_streq(phase, "Errored") ? SW_EXIT_ERRORED : -1;
}

/* Why the API server says nothing any more: a watch on which nothing happens does not show that.
 * Heap; NULL: it answers. @rc: what it answered when the watch was opened */
static char *why_silent(struct sw_connection *conn, const char *name, int rc)
{
    enum { ANSWER_MS = 1000 };
    SW_AUTO_JSON *resource = NULL;
    SW_ERR(err);
    conn->until_ms = sw_loop_now_ms(conn->loop) + ANSWER_MS;
    if (rc == 0)
        rc = sw_cluster_resource(conn, name, 0, &resource, &err);
    return rc == SW_UNAVAILABLE
               ? sw_printf("the API server at %s does not answer", sw_kube_server(conn->kube))
               : NULL;
}

static int wait_for(struct sw_connection *conn, const struct wait_opts *opts, const char *name)
{
    struct sw_follow follow = { 0 };
    SW_AUTO_CHARS *last = NULL;
    int rc = -1;
    SW_ERR(err);
    conn->until_ms = opts->timeout_ms ? sw_loop_now_ms(conn->loop) + opts->timeout_ms : 0;
    const int opened = sw_follow_open(&follow, conn, name, &err);
    if (opened < 0 && opened != SW_UNAVAILABLE)
        return sw_cli_fail("wait", &err);
    while (opened == 0 && rc < 0 && sw_follow_next(&follow)) {
        if (follow.code == SW_FORBIDDEN)
            rc = sw_cli_fail("wait", &follow.err);
        else if (!follow.code)
            rc = judge(conn, opts, name, sw_json_get(follow.resources, name), &last);
    }
    sw_follow_done(&follow);
    if (rc >= 0)
        return rc;
    if (conn->signal)
        return 128 + conn->signal;
    SW_AUTO_CHARS *silent = why_silent(conn, name, opened);
    (void)fprintf(stderr, "slipway wait: %s: not %s in time%s%s\n", name,
                  sw_text_or(opts->until, "Ready"), silent ? ", as far as is known: " : "",
                  silent ? silent : "");
    return SW_EXIT_TIMEOUT;
}

static int execute(const struct sw_call *call)
{
    struct wait_opts opts = { .timeout_ms = INT64_C(30) * 60 * 1000 };
    struct sw_connection conn = { 0 };
    struct sw_operands rest;
    SW_ERR(err);
    sw_log_set_level(SW_LOG_WARN);
    int rc = sw_cli_parse(call, &opts, 1, &rest);
    if (rc)
        return rc - 1;
    conn.patient = true;
    rc = sw_connection_init(&conn, "wait", &opts.connect, &err) < 0
             ? sw_cli_fail("wait", &err)
             : wait_for(&conn, &opts, rest.items[0]);
    sw_connection_done(&conn);
    return rc;
}

const struct sw_command sw_command_wait = {
    .name = "wait",
    .args = "NAME",
    .missing = "which SpecialResource?",
    .summary = "wait until a SpecialResource is Ready, Errored or deleted",
    .details = "Prints the resource's name and what it is by then; on stderr, what is waited for, "
               "when that changes.\n"
               "\n"
               "Exit status: 0 it is, 1 it failed, 2 bad usage, 3 time-out, 4 it is Errored (with "
               "--fail-fast).",
    .flags = flags,
    .execute = execute,
};
