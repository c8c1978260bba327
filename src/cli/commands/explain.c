/* slipway explain: why a resource is not Ready. */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/loop.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/requests.h"
#include "cli/command/cli.h"
#include "cli/commands/commands.h"
#include "cli/commands/explain_topic.h"
#include "cli/commands/logs.h"
#include "cli/view/explain.h"
#include "cli/view/live.h"
#include "data/data.h"
#include "data/text/nearest.h"

struct explain_opts {
    struct sw_connect_opts connect;
    const char *output;
    int64_t timeout_ms;
};

static const struct sw_flag flags[] = {
    { "output", 'o', SW_FLAG_STRING, offsetof(struct explain_opts, output), "FORMAT", "text|json",
      "json: the chain as one document (default text)" },
    { "timeout", 0, SW_FLAG_DURATION, offsetof(struct explain_opts, timeout_ms), "TIME", NULL,
      "time limit, such as 90s or 5m (default 30s)" },
    SW_CONNECT_FLAGS(struct explain_opts, connect),
    { 0 },
};

/* @name: of the topic; NULL: all of them */
static int print_topic(const struct explain_opts *opts, const char *topic, const char *name,
                       const char *text)
{
    if (!sw_streq(opts->output, "json"))
        return sw_cli_print(text, strlen(text));
    SW_AUTO_JSON *doc = json_object_new_object();
    sw_json_set_str(doc, topic, "topic", NULL);
    if (name)
        sw_json_set_str(doc, name, "name", NULL);
    sw_json_set_str(doc, text, "text", NULL);
    return sw_cli_print_json(doc);
}

/* A topic alone: the names that it has, unless a resource is called so. */
static int list_topic(const struct explain_opts *opts, const char *topic, bool *is_resource)
{
    enum { PATIENCE_MS = 2000 };
    struct sw_connection conn = { 0 };
    SW_ERR(err);
    SW_AUTO_JSON *resource = NULL;
    int rc = sw_connection_init(&conn, "explain", &opts->connect, &err);
    if (rc == 0) {
        conn.until_ms = sw_loop_now_ms(conn.loop) + PATIENCE_MS;
        rc = sw_cluster_resource(&conn, topic, 0, &resource, &err);
    }
    sw_connection_done(&conn);
    *is_resource = rc == 0;
    SW_AUTO_CHARS *list = *is_resource ? NULL : explain_topic_list(topic);
    return list ? print_topic(opts, topic, NULL, list) : SW_EXIT_OK;
}

static int explain(struct sw_connection *conn, const struct explain_opts *opts, const char *name,
                   const char *state)
{
    SW_ERR(err);
    SW_AUTO_JSON *resource = NULL;
    conn->until_ms = sw_loop_now_ms(conn->loop) + opts->timeout_ms;
    int rc = sw_cluster_resource(conn, name, 5, &resource, &err);
    if (rc == 0)
        rc = sw_logs_check_state(resource, state, &err);
    const char *topic = rc < 0 ? sw_text_nearest(name, explain_topics()) : NULL;
    if (topic) {
        SW_AUTO_CHARS *why = sw_strdup(sw_err_text(&err));
        sw_err_set(&err, rc, "%s; for a topic: slipway explain %s%s%s", why, topic,
                   state ? " " : "", state ? state : "");
    }
    if (rc < 0)
        return sw_cli_fail("explain", &err);
    SW_AUTO_JSON *chain = sw_explain(conn, resource, state);
    const struct sw_report report = sw_report_of(resource);
    const int outcome = sw_streq(sw_report_phase(&report), "Errored") ? SW_EXIT_ERRORED
                                                                      : SW_EXIT_OK;
    if (sw_streq(opts->output, "json")) {
        rc = sw_cli_print_json(chain);
        return rc ? rc : outcome;
    }
    struct sw_style style = sw_style_of(STDOUT_FILENO);
    SW_AUTO_CHARS *text = sw_explain_text(chain, &style, sw_now_ms());
    rc = sw_cli_print(text, strlen(text));
    return rc ? rc : outcome;
}

static int execute(const struct sw_call *call)
{
    struct explain_opts opts = { .timeout_ms = 30000 };
    struct sw_operands rest;
    struct sw_connection conn = { 0 };
    SW_ERR(err);
    int rc = sw_cli_parse(call, &opts, 2, &rest);
    if (rc)
        return rc - 1;
    if (rest.n == 2 && explain_is_topic(rest.items[0])) {
        SW_AUTO_CHARS *text = NULL;
        rc = explain_topic(rest.items[0], rest.items[1], &text, &err);
        return rc < 0 ? sw_cli_fail("explain", &err)
                      : print_topic(&opts, rest.items[0], rest.items[1], text);
    }
    if (rest.n == 1 && explain_is_topic(rest.items[0])) {
        bool is_resource;
        rc = list_topic(&opts, rest.items[0], &is_resource);
        if (!is_resource)
            return rc;
    }
    rc = sw_connection_init(&conn, "explain", &opts.connect, &err) < 0
             ? sw_cli_fail("explain", &err)
             : explain(&conn, &opts, rest.items[0], rest.n > 1 ? rest.items[1] : NULL);
    sw_connection_done(&conn);
    return rc;
}

const struct sw_command sw_command_explain = {
    .name = "explain",
    .args = "NAME [STATE]",
    .missing = "which resource? 'slipway status' lists them",
    .summary = "explain why a SpecialResource is not Ready, or what a name means",
    .details =
        "Prints the chain from the resource through its states, objects and pods to the cause: a\n"
        "container's reason and exit code, the end of its log, Events, finalizers. With STATE only "
        "that\n"
        "state, else all states that are not Ready.\n"
        "\n"
        "slipway explain annotation NAME, field PATH, hook NAME or state NAME says what that "
        "means, "
        "with an\n"
        "example; no cluster is asked: explain annotation timeout, explain field spec.chart, "
        "explain state Held.\n"
        "Without a name, as in explain hook, it lists what there is.\n"
        "\n"
        "Exit status: 0 done, 1 it failed, 2 bad usage or no such resource, 4 the resource is "
        "Errored.",
    .flags = flags,
    .execute = execute,
};
