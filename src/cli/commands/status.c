/* status: what the cluster says about its SpecialResources, as run shows it. */
#include "base/loop.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/requests.h"
#include "cli/command/cli.h"
#include "cli/commands/commands.h"
#include "cli/view/live.h"
#include "data/data.h"
#include "kube/kube.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct status_opts {
    struct sw_connect_opts connect;
    const char *output;
    int64_t timeout_ms;
};

static const struct sw_flag flags[] = {
    { "output", 'o', SW_FLAG_STRING, offsetof(struct status_opts, output), "FORMAT", "json|text",
      "json: the document of run, or a list of them" },
    { "timeout", 0, SW_FLAG_DURATION, offsetof(struct status_opts, timeout_ms), "TIME", NULL,
      "give up after so long (default 30s)" },
    SW_CONNECT_FLAGS(struct status_opts, connect),
    { 0 },
};

static const char *const node_fields[] = { "metadata.labels", NULL };

struct status_run {
    struct status_opts opts;
    struct sw_connection conn;
    const char *name; /* NULL: all */
    struct sw_kube_request *req;
    struct sw_timer *timer;
    struct json_object *resources; /* list of documents */
    struct json_object *nodes;     /* [{"name", "labels"}] */
    struct sw_err err;
    int exit;
};

static void end(struct status_run *status_run, int exit, const char *words)
{
    status_run->exit = exit;
    if (words)
        sw_err_set(&status_run->err, SW_UNAVAILABLE, "%s", words);
    sw_loop_stop(status_run->conn.loop);
}

/* ---- asking ------------------------------------------------------------------------------------
 */

static int by_name(const void *a, const void *b)
{
    struct json_object *x = *(struct json_object *const *)a, *y = *(struct json_object *const *)b;
    return strcmp(sw_json_str(x, "", "name", NULL), sw_json_str(y, "", "name", NULL));
}

static void on_nodes(const struct sw_kube_answer *a, void *arg)
{
    struct status_run *status_run = arg;
    if (a->code < 0) {
        status_run->req = NULL;
        end(status_run, SW_EXIT_FAILED, sw_err_text(a->err));
        return;
    }
    for (size_t i = 0; i < sw_json_len(a->items); i++) {
        struct json_object *from = sw_json_at(a->items, i), *node = json_object_new_object();
        sw_json_set_str(node, sw_obj_name(from), "name", NULL);
        sw_json_set(node, json_object_get(sw_json_find(from, "metadata", "labels", NULL)), "labels",
                    NULL);
        (void)json_object_array_add(status_run->nodes, node);
    }
    if (a->more)
        return;
    status_run->req = NULL;
    json_object_array_sort(status_run->nodes, by_name);
    end(status_run, SW_EXIT_OK, NULL);
}

static void on_node_kind(int code, const struct sw_kind *kind, const struct sw_err *err, void *arg)
{
    struct status_run *status_run = arg;
    status_run->req = NULL;
    if (code < 0)
        end(status_run, SW_EXIT_FAILED, sw_err_text(err));
    else
        status_run->req = sw_kube_list(
            status_run->conn.kube, kind, NULL,
            &(struct sw_request_opts){ .fields = node_fields, .retries = 5 }, on_nodes, status_run);
}

static void on_resources(const struct sw_kube_answer *a, void *arg)
{
    struct status_run *status_run = arg;
    if (a->code < 0) {
        status_run->req = NULL;
        end(status_run, SW_EXIT_FAILED, sw_err_text(a->err));
        return;
    }
    if (a->object)
        (void)json_object_array_add(status_run->resources, json_object_get(a->object));
    for (size_t i = 0; i < sw_json_len(a->items); i++)
        (void)json_object_array_add(status_run->resources,
                                    json_object_get(sw_json_at(a->items, i)));
    if (a->more)
        return;
    status_run->req = sw_kube_kind(status_run->conn.kube, "v1", "Node", on_node_kind, status_run);
}

static void on_kind(int code, const struct sw_kind *kind, const struct sw_err *err, void *arg)
{
    struct status_run *status_run = arg;
    const struct sw_request_opts opts = { .retries = 5 };
    status_run->req = NULL;
    if (code < 0)
        end(status_run, SW_EXIT_FAILED, code == SW_NOTFOUND ? SW_NOT_INSTALLED : sw_err_text(err));
    else if (status_run->name)
        status_run->req = sw_kube_get(status_run->conn.kube, kind, NULL, status_run->name, &opts,
                                      on_resources, status_run);
    else
        status_run->req = sw_kube_list(status_run->conn.kube, kind, NULL, &opts, on_resources,
                                       status_run);
}

static void on_timeout(void *arg)
{
    end(arg, SW_EXIT_TIMEOUT, "the API server did not answer in time");
}

/* ---- telling -----------------------------------------------------------------------------------
 */

static struct sw_report report_of(struct status_run *status_run, struct json_object *resource)
{
    return (struct sw_report){
        .name = sw_obj_name(resource),
        .status = sw_json_get(resource, "status"),
        .nodes = status_run->nodes,
        .now_ms = sw_now_ms(),
    };
}

static int print_json(struct status_run *status_run)
{
    SW_AUTO_JSON *list = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(status_run->resources); i++) {
        struct sw_report report = report_of(status_run, sw_json_at(status_run->resources, i));
        (void)json_object_array_add(list, sw_report_json(&report));
    }
    return sw_cli_print_json(status_run->name ? sw_json_at(list, 0) : list);
}

static int print_text(struct status_run *status_run)
{
    struct sw_style style = sw_style_of(STDOUT_FILENO);
    size_t n = sw_json_len(status_run->resources);
    for (size_t i = 0; i < n; i++) {
        struct sw_report report = report_of(status_run, sw_json_at(status_run->resources, i));
        SW_AUTO_CHARS *text = sw_report_tables(&report, &style);
        SW_AUTO_CHARS *trouble = report.status
                                     ? sw_report_trouble(&report)
                                     : sw_strdup("no operator has looked at it yet; does one run?");
        (void)printf("%s%s%s%s%s", i ? "\n" : "", text, *trouble ? "\n" : "", trouble,
                     *trouble ? "\n" : "");
    }
    if (!n)
        (void)printf("There is no SpecialResource on this cluster.\n");
    return SW_EXIT_OK;
}

static int read_resources(struct status_run *status_run)
{
    SW_ERR(err);
    if (sw_connection_init(&status_run->conn, "status", &status_run->opts.connect, &err) < 0)
        return sw_cli_fail("status", &err);
    status_run->timer = sw_timer_new(status_run->conn.loop, on_timeout, status_run);
    sw_timer_set(status_run->timer, status_run->opts.timeout_ms);
    status_run->req = sw_kube_kind(status_run->conn.kube, "sro.openshift.io/v1beta1",
                                   "SpecialResource", on_kind, status_run);
    status_run->exit = SW_EXIT_FAILED;
    sw_loop_run(status_run->conn.loop);
    if (status_run->exit) {
        (void)fprintf(stderr, "slipway status: %s\n",
                      status_run->conn.signal ? "interrupted" : sw_err_text(&status_run->err));
        return status_run->conn.signal ? 128 + status_run->conn.signal : status_run->exit;
    }
    return sw_streq(status_run->opts.output, "json") ? print_json(status_run)
                                                     : print_text(status_run);
}

static int execute(const struct sw_call *call)
{
    struct status_run status_run = { .opts = { .timeout_ms = 30000 },
                                     .resources = json_object_new_array(),
                                     .nodes = json_object_new_array() };
    struct sw_operands rest;
    sw_log_set_level(SW_LOG_WARN);
    int rc = sw_cli_parse(call, &status_run.opts, 1, &rest);
    if (rc == 0)
        status_run.name = rest.n ? rest.items[0] : NULL;
    rc = rc ? rc - 1 : read_resources(&status_run);
    sw_kube_cancel(status_run.req);
    sw_timer_free(status_run.timer);
    sw_connection_done(&status_run.conn);
    json_object_put(status_run.resources);
    json_object_put(status_run.nodes);
    sw_err_done(&status_run.err);
    return rc;
}

const struct sw_command sw_command_status = {
    .name = "status",
    .args = "[NAME]",
    .summary = "show what the cluster says about its SpecialResources",
    .details = "States, nodes and what is waited for, of one resource or of all.",
    .flags = flags,
    .execute = execute,
};
