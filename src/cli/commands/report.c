/* slipway report: the page of a cluster, or of a recording, as one file of HTML. */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/loop.h"
#include "cli/cluster/connect.h"
#include "cli/commands/commands.h"
#include "data/data.h"
#include "operator/engine/engine.h"
#include "operator/engine/recording/replay.h"
#include "web/web.h"

enum { MAX_RECORDING = 1 << 30 };

struct report_opts {
    struct sw_connect_opts connect;
    const char *output;
    int64_t timeout_ms;
};

static const struct sw_flag flags[] = {
    { "output", 'o', SW_FLAG_STRING, offsetof(struct report_opts, output), "FILE", NULL,
      "file to write; -: stdout (default slipway-report.html)" },
    { "timeout", 0, SW_FLAG_DURATION, offsetof(struct report_opts, timeout_ms), "TIME", NULL,
      "time limit of reading, such as 90s or 5m (default 1m)" },
    SW_CONNECT_FLAGS(struct report_opts, connect),
    { 0 },
};

/* ---- a recording -------------------------------------------------------------------------------
 */

/* What a replay has come to. */
struct recorded {
    struct json_object *resources; /* {name: SpecialResource} */
    struct json_object *events;    /* of kind Event */
};

/* An Event of the action @text, where it is one. */
static void take_event(struct recorded *r, const struct sw_replay_step *step, const char *text)
{
    SW_AUTO_JSON *action = NULL;
    char at[21];
    if (sw_json_parse(text, strlen(text), NULL, &action, NULL) < 0 ||
        !sw_streq(sw_json_str(action, "", "action", NULL), "event"))
        return;
    struct json_object *event = json_object_new_object();
    SW_AUTO_CHARS *name = sw_printf("%zu", sw_json_len(r->events));
    sw_json_set_str(event, name, "metadata", "name", NULL);
    sw_json_set_str(event, step->resource, "involvedObject", "name", NULL);
    sw_json_set_str(event, sw_json_str(action, "", "reason", NULL), "reason", NULL);
    sw_json_set_str(event, sw_json_str(action, "", "message", NULL), "message", NULL);
    sw_json_set_str(event, sw_json_int(action, 0, "warning", NULL) ? "Warning" : "Normal", "type",
                    NULL);
    sw_json_set_str(event, sw_time_rfc3339(step->now_ms, at), "lastTimestamp", NULL);
    (void)json_object_array_add(r->events, event);
}

static void on_step(const struct sw_replay_step *step, void *arg)
{
    struct recorded *r = arg;
    char at[21];
    struct json_object *resource = sw_json_get(r->resources, step->resource);
    bool is_written = false; /* the status, where it has changed */
    for (size_t i = 0; i < step->n_actions; i++) {
        take_event(r, step, step->actions[i]);
        is_written |= sw_starts_with(step->actions[i], "{\"action\":\"status\"");
    }
    if (!resource) {
        resource = json_object_new_object();
        sw_json_set_str(resource, step->resource, "metadata", "name", NULL);
        sw_json_set_str(resource, sw_time_rfc3339(step->now_ms, at), "metadata",
                        "creationTimestamp", NULL);
        sw_json_set(r->resources, resource, step->resource, NULL);
    }
    if (is_written)
        sw_json_set(resource, sw_engine_status(step->engine, step->now_ms), "status", NULL);
}

/* @*document: the caller's */
static int read_recording(const char *path, const char *text, size_t len,
                          struct json_object **document, struct sw_err *err)
{
    struct recorded r = { .resources = json_object_new_object(),
                          .events = json_object_new_array() };
    struct sw_replay_result end;
    SW_AUTO_JSON *list = json_object_new_array();
    int rc = sw_replay(text, len, path, on_step, &r, &end, err);
    if (rc == 0) {
        json_object_object_foreach(r.resources, name, resource)
        {
            (void)name;
            (void)json_object_array_add(list, json_object_get(resource));
        }
        SW_AUTO_CHARS *source = sw_printf("recording %s", path);
        *document = sw_web_document(source, end.ended_ms, list, r.events);
    }
    (void)json_object_put(r.resources);
    (void)json_object_put(r.events);
    return rc;
}

/* ---- the command -------------------------------------------------------------------------------
 */

static int read_cluster(const struct report_opts *opts, const char *name,
                        struct json_object **document, struct sw_err *err)
{
    struct sw_connection conn = { 0 };
    int rc = sw_connection_init(&conn, "report", &opts->connect, err);
    if (rc == 0)
        rc = sw_web_read(conn.loop,
                         &(struct sw_web_opts){ .config = conn.config, .version = sw_version },
                         name, opts->timeout_ms, &conn.signal, document, err);
    sw_connection_done(&conn);
    return rc;
}

static int write_report(const char *path, struct json_object *document, struct sw_err *err)
{
    size_t len;
    SW_AUTO_CHARS *html = sw_web_report(document, &len);
    if (sw_streq(path, "-"))
        return sw_cli_print(html, len);
    if (sw_file_write(path, html, len, err) < 0)
        return sw_cli_fail("report", err);
    (void)printf("%s\n", path);
    return SW_EXIT_OK;
}

static int execute(const struct sw_call *call)
{
    struct report_opts opts = { .output = "slipway-report.html", .timeout_ms = 60 * 1000 };
    struct sw_operands rest;
    SW_AUTO_JSON *document = NULL;
    SW_AUTO_CHARS *text = NULL;
    size_t len = 0;
    SW_ERR(err);
    sw_log_set_level(SW_LOG_WARN);
    int rc = sw_cli_parse(call, &opts, 1, &rest);
    if (rc)
        return rc - 1;
    const char *what = rest.n ? rest.items[0] : NULL;
    /* no resource's name has a '/' in it */
    if (!what || (!strchr(what, '/') && (!strchr(what, '.') || access(what, F_OK) != 0)))
        rc = read_cluster(&opts, what, &document, &err);
    else if ((rc = sw_file_read(what, MAX_RECORDING, &text, &len, &err)) == 0)
        rc = sw_recording_is(text, len)
                 ? read_recording(what, text, len, &document, &err)
                 : sw_err_set(&err, SW_INVALID, "%s: not a recording of --record", what);
    return rc < 0 ? sw_cli_fail("report", &err) : write_report(opts.output, document, &err);
}

const struct sw_command sw_command_report = {
    .name = "report",
    .args = "[NAME|RECORDING]",
    .summary = "write what 'slipway dashboard' shows as one file",
    .details =
        "Writes a file of HTML with the SpecialResources of the cluster (or one of them), "
        "their states\n"
        "and timeline, nodes, slices, and the ends of the logs of what is not ready. It can be "
        "opened, sent and\n"
        "kept; it asks no server for anything. RECORDING is a file that --record of 'slipway run' "
        "or\n"
        "'slipway controller' wrote, named with a '.' or '/'.",
    .flags = flags,
    .execute = execute,
};
