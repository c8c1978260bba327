/* slipway status: the states of the cluster's SpecialResources, as `slipway run` shows them. */
#include "base/loop.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/requests.h"
#include "cli/commands/commands.h"
#include "cli/view/live.h"
#include "data/data.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { RETRIES = 5 };

struct status_opts {
    struct sw_connect_opts connect;
    const char *output;
    int64_t timeout_ms;
};

static const struct sw_flag flags[] = {
    { "output", 'o', SW_FLAG_STRING, offsetof(struct status_opts, output), "FORMAT", "json|text",
      "json: the document of 'slipway run', or a list of them (default text)" },
    { "timeout", 0, SW_FLAG_DURATION, offsetof(struct status_opts, timeout_ms), "TIME", NULL,
      "time limit, such as 90s or 5m (default 30s)" },
    SW_CONNECT_FLAGS(struct status_opts, connect),
    { 0 },
};

/* The SpecialResource @name (NULL: all of them) and the nodes; both are the caller's. */
static int read_cluster(struct sw_connection *conn, const char *name,
                        struct json_object **resources, struct json_object **nodes,
                        struct sw_err *err)
{
    static const char *const fields[] = { "metadata.labels", NULL };
    SW_AUTO_JSON *items = NULL;
    SW_AUTO_JSON *found = NULL;
    int rc = sw_cluster_resource(conn, name, RETRIES, &found, err);
    if (rc == 0)
        rc = sw_cluster_find(conn, "v1", "Node", NULL, NULL,
                             &(struct sw_request_opts){ .fields = fields, .retries = RETRIES },
                             &items, err);
    if (rc < 0)
        return rc;
    *nodes = sw_report_nodes(items);
    *resources = name ? json_object_new_array() : SW_TAKE(found);
    if (name)
        (void)json_object_array_add(*resources, SW_TAKE(found));
    return 0;
}

static int show(struct sw_connection *conn, const struct status_opts *opts, const char *name)
{
    struct sw_style style = sw_style_of(STDOUT_FILENO);
    bool json = sw_streq(opts->output, "json");
    SW_AUTO_JSON *resources = NULL;
    SW_AUTO_JSON *nodes = NULL;
    SW_AUTO_JSON *docs = json_object_new_array();
    SW_ERR(err);
    conn->until_ms = sw_loop_now_ms(conn->loop) + opts->timeout_ms;
    if (read_cluster(conn, name, &resources, &nodes, &err) < 0) {
        (void)fprintf(stderr, "slipway status: %s\n", sw_err_text(&err));
        bool late = sw_loop_now_ms(conn->loop) >= conn->until_ms;
        return conn->signal ? 128 + conn->signal : late ? SW_EXIT_TIMEOUT : SW_EXIT_FAILED;
    }
    for (size_t i = 0; i < sw_json_len(resources); i++) {
        struct json_object *resource = sw_json_at(resources, i);
        const struct sw_report report = { .name = sw_obj_name(resource),
                                          .status = sw_json_get(resource, "status"),
                                          .nodes = nodes,
                                          .now_ms = sw_now_ms() };
        if (json) {
            (void)json_object_array_add(docs, sw_report_json(&report));
            continue;
        }
        SW_AUTO_CHARS *text = sw_report_tables(&report, &style);
        SW_AUTO_CHARS *trouble = report.status
                                     ? sw_report_trouble(&report)
                                     : sw_strdup("no operator has looked at it yet; does one run?");
        (void)printf("%s%s%s%s%s", i ? "\n" : "", text, *trouble ? "\n" : "", trouble,
                     *trouble ? "\n" : "");
    }
    if (json)
        return sw_cli_print_json(name ? sw_json_at(docs, 0) : docs);
    if (!sw_json_len(resources))
        (void)printf("There is no SpecialResource on this cluster.\n");
    return SW_EXIT_OK;
}

static int execute(const struct sw_call *call)
{
    struct status_opts opts = { .timeout_ms = 30000 };
    struct sw_connection conn = { 0 };
    struct sw_operands rest;
    SW_ERR(err);
    sw_log_set_level(SW_LOG_WARN);
    int rc = sw_cli_parse(call, &opts, 1, &rest);
    if (rc)
        return rc - 1;
    rc = sw_connection_init(&conn, "status", &opts.connect, &err) < 0
             ? sw_cli_fail("status", &err)
             : show(&conn, &opts, rest.n ? rest.items[0] : NULL);
    sw_connection_done(&conn);
    return rc;
}

const struct sw_command sw_command_status = {
    .name = "status",
    .args = "[NAME]",
    .summary = "show the status of SpecialResources",
    .details = "Shows the states, the nodes and what is waited for, of one resource or of all.",
    .flags = flags,
    .execute = execute,
};
