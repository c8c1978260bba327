/* slipway status: the states of the cluster's SpecialResources, as `slipway run` shows them. */
#include "base/loop.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/follow.h"
#include "cli/cluster/releases.h"
#include "cli/cluster/requests.h"
#include "cli/commands/commands.h"
#include "cli/view/live.h"
#include "cli/view/text.h"
#include "data/data.h"
#include "data/text/nearest.h"
#include "operator/inventory/inventory.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RETRIES = 5, FRAME_MS = 100 };

struct status_opts {
    struct sw_connect_opts connect;
    const char *output, *ns;
    bool watch, all;
    int64_t timeout_ms;
};

static const struct sw_flag flags[] = {
    { "output", 'o', SW_FLAG_STRING, offsetof(struct status_opts, output), "FORMAT",
      "json|name|text|wide|yaml",
      "wide: a line each with the whole message; json, yaml: the document of 'slipway run', or a "
      "list of them (default text)" },
    { "watch", 'w', SW_FLAG_BOOL, offsetof(struct status_opts, watch), NULL, NULL,
      "show changes until interrupted: on a terminal in place, else a line each" },
    { "namespace", 'n', SW_FLAG_STRING, offsetof(struct status_opts, ns), "NAME", NULL,
      "those alone whose objects are in this namespace" },
    { "all-namespaces", 'A', SW_FLAG_BOOL, offsetof(struct status_opts, all), NULL, NULL,
      "those of all namespaces: resources themselves have none (default)" },
    { "timeout", 0, SW_FLAG_DURATION, offsetof(struct status_opts, timeout_ms), "TIME", NULL,
      "time limit, such as 90s or 5m; 0: none (default 30s, with --watch none)" },
    SW_CONNECT_FLAGS(struct status_opts, connect),
    { 0 },
};

struct status {
    const struct status_opts *opts;
    struct sw_connection conn;
    const char *name;          /* NULL: all */
    struct json_object *nodes; /* of the tables; NULL: none */
    struct json_object *docs;  /* the resources that are shown, by name; borrowed */
    struct sw_report *reports; /* one each; owned */
    size_t n;
    char
        *near; /* a namespace that was meant, where there is none in that of --namespace; or NULL */
};

static bool is_format(const struct status *s, const char *format)
{
    return sw_streq(s->opts->output, format);
}

/* ---- what is shown -----------------------------------------------------------------------------
 */

/* Those of @docs that are in the namespace that was asked for; the caller's. */
static struct json_object *chosen(struct status *s, struct json_object *docs)
{
    if (!s->opts->ns)
        return json_object_get(docs);
    struct json_object *some = json_object_new_array();
    const char **names = sw_zalloc(sw_json_len(docs) + 1, sizeof *names);
    for (size_t i = 0; i < sw_json_len(docs); i++) {
        names[i] = sw_releases_namespace(sw_json_at(docs, i));
        if (sw_streq(names[i], s->opts->ns))
            (void)json_object_array_add(some, json_object_get(sw_json_at(docs, i)));
    }
    sw_text_set(&s->near, sw_json_len(some) ? NULL : sw_text_nearest(s->opts->ns, names));
    free(names);
    return some;
}

/* Make the reports of @docs, an array, which stays. */
static void take_resources(struct status *s, struct json_object *docs)
{
    s->docs = docs;
    s->n = sw_json_len(docs);
    free(s->reports);
    s->reports = sw_zalloc(s->n, sizeof *s->reports);
    for (size_t i = 0; i < s->n; i++) {
        struct json_object *doc = sw_json_at(docs, i);
        (void)sw_inventory_of(sw_json_get(doc, "status"));
        SW_ERR(err);
        s->reports[i] = sw_report_of(doc);
        s->reports[i].nodes = s->nodes;
        s->reports[i].packs = true;
        s->reports[i].now_ms = sw_now_ms();
        if (sw_time_parse(sw_json_str(doc, "", "metadata", "creationTimestamp", NULL),
                          &s->reports[i].created_ms, &err) < 0)
            s->reports[i].created_ms = 0;
    }
}

/* The documents, or the one that was asked for; the caller's. */
static struct json_object *documents(const struct status *s)
{
    SW_AUTO_JSON *docs = json_object_new_array();
    for (size_t i = 0; i < s->n; i++)
        (void)json_object_array_add(docs, sw_report_json(&s->reports[i]));
    return s->name && s->n ? json_object_get(sw_json_at(docs, 0)) : SW_TAKE(docs);
}

/* One resource in detail; heap. */
static char *details(const struct sw_report *report, const struct sw_style *style)
{
    SW_AUTO_CHARS *text = sw_report_tables(report, style);
    SW_AUTO_CHARS *whole = sw_report_message(report);
    SW_AUTO_CHARS *trouble = sw_text_break(whole, style->width);
    return sw_printf("%s%s%s%s", text, *trouble ? "\n" : "", trouble, *trouble ? "\n" : "");
}

/* What is printed in the format that was asked for; heap. */
static char *text_of(const struct status *s, const struct sw_style *style)
{
    if (is_format(s, "json") || is_format(s, "yaml")) {
        SW_AUTO_JSON *doc = documents(s);
        if (is_format(s, "yaml"))
            return sw_yaml_text(doc, NULL);
        SW_AUTO_CHARS *json = sw_json_text(doc, SW_JSON_PRETTY, NULL);
        return sw_printf("%s\n", json);
    }
    if (is_format(s, "name")) {
        char *names = sw_strdup("");
        for (size_t i = 0; i < s->n; i++)
            sw_append(&names, "specialresource/%s\n", s->reports[i].name);
        return names;
    }
    if (s->n == 0 && s->opts->ns)
        return sw_printf("There is no SpecialResource in namespace '%s'%s%s%s.\n", s->opts->ns,
                         s->near ? "; there is one in '" : "", s->near ? s->near : "",
                         s->near ? "'" : "");
    if (s->n == 0)
        return sw_strdup("There is no SpecialResource on this cluster.\n");
    if (s->name && !is_format(s, "wide"))
        return details(&s->reports[0], style);
    return sw_report_overview(s->reports, s->n, style, is_format(s, "wide"));
}

static int outcome(const struct status *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (sw_streq(sw_report_phase(&s->reports[i]), "Errored"))
            return SW_EXIT_ERRORED;
    return SW_EXIT_OK;
}

static int fail(const struct status *s, const struct sw_err *err)
{
    const struct sw_connection *conn = &s->conn;
    (void)fprintf(stderr, "slipway status: %s\n", sw_err_text(err));
    bool late = conn->until_ms && sw_loop_now_ms(conn->loop) >= conn->until_ms;
    return conn->signal               ? 128 + conn->signal
           : late                     ? SW_EXIT_TIMEOUT
           : err->code == SW_NOTFOUND ? SW_EXIT_USAGE
                                      : SW_EXIT_FAILED;
}

/* ---- once --------------------------------------------------------------------------------------
 */

/* The nodes' labels, which the tables of one resource and documents need. */
static int read_nodes(struct status *s, struct sw_err *err)
{
    static const char *const fields[] = { "metadata.labels", NULL };
    SW_AUTO_JSON *items = NULL;
    if (is_format(s, "wide") || is_format(s, "name") ||
        (!s->name && (!s->opts->output || is_format(s, "text"))))
        return 0;
    const int rc = sw_cluster_find(
        &s->conn, "v1", "Node", NULL, NULL,
        &(struct sw_request_opts){ .fields = fields, .retries = RETRIES }, &items, err);
    s->nodes = rc < 0 ? NULL : sw_report_nodes(items);
    return rc;
}

static int show(struct status *s)
{
    struct sw_style style = sw_style_of(STDOUT_FILENO);
    SW_AUTO_JSON *found = NULL;
    SW_AUTO_JSON *docs = NULL;
    SW_AUTO_JSON *some = NULL;
    SW_ERR(err);
    if (sw_cluster_resource(&s->conn, s->name, RETRIES, &found, &err) < 0 ||
        read_nodes(s, &err) < 0)
        return fail(s, &err);
    docs = s->name ? json_object_new_array() : json_object_get(found);
    if (s->name)
        (void)json_object_array_add(docs, json_object_get(found));
    some = chosen(s, docs);
    if (s->name && !sw_json_len(some)) {
        (void)sw_err_set(&err, SW_NOTFOUND,
                         "SpecialResource '%s' is in namespace '%s', not in '%s'", s->name,
                         sw_releases_namespace(found), s->opts->ns);
        return fail(s, &err);
    }
    take_resources(s, some);
    SW_AUTO_CHARS *text = text_of(s, &style);
    const int rc = sw_cli_print(text, strlen(text));
    return rc ? rc : outcome(s);
}

/* ---- as it changes -----------------------------------------------------------------------------
 */

static int by_name(const void *a, const void *b)
{
    return strcmp(sw_obj_name(*(struct json_object *const *)a),
                  sw_obj_name(*(struct json_object *const *)b));
}

/* The resources that are followed, by name; the caller's. */
static struct json_object *sorted(const struct sw_follow *f)
{
    struct json_object *docs = json_object_new_array();
    json_object_object_foreach(f->resources, name, doc)
    {
        (void)name;
        (void)json_object_array_add(docs, json_object_get(doc));
    }
    json_object_array_sort(docs, by_name);
    return docs;
}

/* Print the lines of the overview that have changed, the heading once. @last: {name: line} */
static void print_changes(struct status *s, struct json_object *last)
{
    const struct sw_style plain = { 0 };
    bool first = json_object_object_length(last) == 0;
    for (size_t i = 0; i < s->n; i++) {
        SW_AUTO_CHARS *text = sw_report_overview(&s->reports[i], 1, &plain, true);
        SW_AUTO_CHARS *state = sw_report_line(&s->reports[i]);
        const char *line = strchr(text, '\n') + 1;
        if (sw_streq(sw_json_str(last, NULL, s->reports[i].name, NULL), state))
            continue;
        (void)printf("%s", first ? text : line);
        first = false;
        sw_json_set_str(last, state, s->reports[i].name, NULL);
    }
    (void)fflush(stdout);
}

static int watch(struct status *s)
{
    struct sw_follow follow = { 0 };
    bool documents_only = is_format(s, "json") || is_format(s, "yaml") || is_format(s, "name");
    SW_AUTO_JSON *last = json_object_new_object();
    SW_AUTO_JSON *docs = NULL;
    SW_ERR(err);
    if (sw_follow_open(&follow, &s->conn, s->name, &err) < 0)
        return s->conn.signal ? 128 + s->conn.signal : fail(s, &err);
    struct sw_live *live = documents_only ? NULL : sw_live_open(STDOUT_FILENO);
    int rc = 0;
    while (rc == 0 && sw_follow_next(&follow)) {
        if (follow.code == SW_FORBIDDEN) {
            rc = fail(s, &follow.err);
            break;
        }
        SW_AUTO_JSON *all = sorted(&follow);
        struct json_object *now = chosen(s, all);
        take_resources(s, now);
        json_object_put(docs);
        docs = now;
        if (live) {
            struct sw_style style = sw_live_style(live);
            SW_AUTO_CHARS *text = s->name && s->n ? sw_report_frame(&s->reports[0], &style)
                                                  : text_of(s, &style);
            sw_live_draw(live, text);
        } else if (documents_only) {
            const struct sw_style plain = { 0 };
            SW_AUTO_CHARS *text = text_of(s, &plain);
            (void)printf("%s%s", is_format(s, "yaml") ? "---\n" : "", text);
            rc = fflush(stdout) == 0 ? 0 : SW_EXIT_FAILED;
        } else {
            print_changes(s, last);
        }
    }
    sw_live_close(live);
    sw_follow_done(&follow);
    take_resources(s, docs);
    if (rc)
        return rc;
    return s->conn.signal ? 128 + s->conn.signal : SW_EXIT_TIMEOUT;
}

static int execute(const struct sw_call *call)
{
    struct status_opts opts = { .timeout_ms = -1 };
    struct status s = { .opts = &opts };
    struct sw_operands rest;
    SW_ERR(err);
    sw_log_set_level(SW_LOG_WARN);
    int rc = sw_cli_parse(call, &opts, 1, &rest);
    if (rc)
        return rc - 1;
    s.name = rest.n ? rest.items[0] : NULL;
    if (sw_connection_init(&s.conn, "status", &opts.connect, &err) < 0) {
        rc = sw_cli_fail("status", &err);
    } else {
        if (opts.timeout_ms < 0)
            opts.timeout_ms = opts.watch ? 0 : 30000;
        s.conn.until_ms = opts.timeout_ms ? sw_loop_now_ms(s.conn.loop) + opts.timeout_ms : 0;
        s.conn.patient = opts.watch;
        rc = opts.watch ? watch(&s) : show(&s);
    }
    free(s.reports);
    free(s.near);
    json_object_put(s.nodes);
    sw_connection_done(&s.conn);
    return rc;
}

const struct sw_command sw_command_status = {
    .name = "status",
    .args = "[NAME]",
    .summary = "show the status of SpecialResources",
    .details =
        "Shows a line for each resource; of one that is named, the states, the nodes and "
        "what is waited for.\n"
        "\n"
        "Exit status: 0 done, 1 it failed, 2 bad usage or no such resource, 3 time-out, 4 a\n"
        "resource that is "
        "shown is Errored.",
    .flags = flags,
    .execute = execute,
};
