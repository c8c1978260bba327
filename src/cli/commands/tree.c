/* slipway tree: a SpecialResource, its states, their objects and the pods of these. */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/loop.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/requests.h"
#include "cli/commands/commands.h"
#include "cli/view/live.h"
#include "cli/view/report.h"
#include "cli/view/text.h"
#include "data/data.h"
#include "operator/engine/readiness/pod.h"
#include "operator/engine/readiness/pod_maker.h"
#include "operator/engine/readiness/readiness.h"
#include "operator/inventory/inventory.h"

enum { RETRIES = 2, MAX_PODS = 5 };

struct tree_opts {
    struct sw_connect_opts connect;
    const char *output;
    bool all;
};

static const struct sw_flag flags[] = {
    { "all", 'a', SW_FLAG_BOOL, offsetof(struct tree_opts, all), NULL, NULL,
      "all pods, not the first five of an object, those that are not ready first" },
    { "output", 'o', SW_FLAG_STRING, offsetof(struct tree_opts, output), "FORMAT", "json",
      "a document" },
    SW_CONNECT_FLAGS(struct tree_opts, connect),
    { 0 },
};

/* ---- the tree as a document: {"name", "is", "why", "children"} ---------------------------------
 */

static struct json_object *node_new(const char *kind, const char *ns, const char *name)
{
    struct json_object *node = json_object_new_object();
    SW_AUTO_CHARS *text = sw_printf("%s%s%s%s%s", kind, *kind ? " " : "", ns, *ns ? "/" : "", name);
    sw_json_set_str(node, text, "name", NULL);
    return node;
}

static void add_child(struct json_object *node, struct json_object *child)
{
    (void)json_object_array_add(sw_json_need_list(node, "children", NULL), child);
}

static void put_readiness(struct json_object *node, const struct sw_readiness *readiness)
{
    static const char *const words[] = { [SW_READINESS_WAITING] = "waiting",
                                         [SW_READINESS_READY] = "ready",
                                         [SW_READINESS_FAILED] = "failed" };
    sw_json_set_str(node, words[readiness->kind], "is", NULL);
    if (readiness->message)
        sw_json_set_str(node, readiness->message, "why", NULL);
}

static struct json_object *pod_node(struct json_object *pod)
{
    struct json_object *node = node_new("Pod", "", sw_obj_name(pod));
    const char *host = sw_json_str(pod, "", "spec", "nodeName", NULL);
    SW_READINESS(readiness);
    pod_judge(pod, &readiness);
    put_readiness(node, &readiness);
    if (*host)
        sw_json_set_str(node, host, "node", NULL);
    return node;
}

static bool is_ready(struct json_object *node)
{
    return sw_streq(sw_json_str(node, "", "is", NULL), "ready");
}

/* Those that are not ready first. */
static int by_readiness(const void *a, const void *b)
{
    struct json_object *x = *(struct json_object *const *)a, *y = *(struct json_object *const *)b;
    return is_ready(x) != is_ready(y)
               ? (is_ready(x) ? 1 : -1)
               : strcmp(sw_json_str(x, "", "name", NULL), sw_json_str(y, "", "name", NULL));
}

static int add_pods(struct sw_connection *conn, struct json_object *node, struct json_object *live,
                    struct sw_err *err)
{
    const struct sw_pod_maker *maker = sw_pod_maker_find(sw_obj_kind(live));
    SW_AUTO_JSON *pods = NULL;
    if (!maker || !maker->selects)
        return 0;
    int rc = sw_cluster_pods(conn, live, RETRIES, &pods, err);
    for (size_t i = 0; rc == 0 && i < sw_json_len(pods); i++)
        add_child(node, pod_node(sw_json_at(pods, i)));
    if (sw_json_get(node, "children"))
        json_object_array_sort(sw_json_get(node, "children"), by_readiness);
    return rc;
}

/* @*out: the object of the inventory as it is now, the caller's */
static int object_node(struct sw_connection *conn, struct json_object *item,
                       struct json_object **out, struct sw_err *err)
{
    const char *kind = sw_json_str(item, "", "kind", NULL),
               *ns = sw_json_str(item, "", "namespace", NULL),
               *name = sw_json_str(item, "", "name", NULL);
    SW_AUTO_JSON *node = node_new(kind, ns, name);
    SW_AUTO_JSON *live = NULL;
    SW_READINESS(readiness);
    int rc = sw_cluster_find(conn, sw_json_str(item, "", "apiVersion", NULL), kind, ns, name,
                             &(struct sw_request_opts){ .retries = RETRIES }, &live, err);
    if (rc == SW_NOTFOUND && sw_json_bool(item, false, "done", NULL)) {
        sw_json_set_str(node, "done, and gone", "is", NULL);
    } else if (rc == SW_NOTFOUND) {
        sw_json_set_str(node, "missing", "is", NULL);
    } else if (rc < 0 && rc != SW_FORBIDDEN) {
        return rc;
    } else if (rc == SW_FORBIDDEN) {
        sw_json_set_str(node, "not known", "is", NULL);
        sw_json_set_str(node, sw_err_text(err), "why", NULL);
    } else {
        sw_cluster_judge(conn, live, RETRIES, &readiness);
        put_readiness(node, &readiness);
    }
    sw_err_done(err);
    rc = live ? add_pods(conn, node, live, err) : 0;
    if (rc == 0)
        *out = SW_TAKE(node);
    return rc;
}

static struct json_object *state_node(struct json_object *state)
{
    struct json_object *node = node_new("", "", sw_json_str(state, "", "name", NULL));
    const char *message = sw_json_str(state, "", "message", NULL);
    sw_json_set_str(node, sw_json_str(state, "", "phase", NULL), "is", NULL);
    if (*message)
        sw_json_set_str(node, message, "why", NULL);
    if (sw_json_len(sw_json_get(state, "needs")))
        sw_json_set(node, sw_json_copy(sw_json_get(state, "needs")), "needs", NULL);
    return node;
}

static int tree_of(struct sw_connection *conn, struct json_object *resource,
                   struct json_object **out, struct sw_err *err)
{
    struct json_object *inventory = sw_inventory_of(sw_json_get(resource, "status")),
                       *states = sw_json_find(resource, "status", "states", NULL);
    const struct sw_report report = sw_report_of(resource);
    SW_AUTO_JSON *root = node_new("SpecialResource", "", report.name);
    int rc = 0;
    sw_json_set_str(root, sw_report_phase(&report), "is", NULL);
    for (size_t i = 0; rc == 0 && i < sw_json_len(inventory); i++) {
        struct json_object *item = sw_json_at(inventory, i), *node;
        if (sw_json_find_by(states, "name", sw_json_str(item, "", "state", NULL)))
            continue;
        rc = object_node(conn, item, &node, err); /* the namespace is of no state */
        if (rc == 0)
            add_child(root, node);
    }
    for (size_t s = 0; rc == 0 && s < sw_json_len(states); s++) {
        struct json_object *of = state_node(sw_json_at(states, s));
        add_child(root, of);
        for (size_t i = 0; rc == 0 && i < sw_json_len(inventory); i++) {
            struct json_object *item = sw_json_at(inventory, i), *node;
            if (!sw_streq(sw_json_str(item, "", "state", NULL),
                          sw_json_str(sw_json_at(states, s), "", "name", NULL)))
                continue;
            rc = object_node(conn, item, &node, err);
            if (rc == 0)
                add_child(of, node);
        }
    }
    if (rc == 0)
        *out = SW_TAKE(root);
    return rc;
}

/* ---- for people --------------------------------------------------------------------------------
 */

struct drawing {
    struct sw_line line;
    bool all;
};

static enum sw_colour colour_of(const char *is)
{
    return sw_streq(is, "ready") || sw_streq(is, "Ready") ? SW_GREEN
           : sw_streq(is, "failed") || sw_streq(is, "Failed") || sw_streq(is, "Errored") ||
                   sw_streq(is, "missing")
               ? SW_RED
               : SW_YELLOW;
}

static void draw_node(struct drawing *d, struct json_object *node)
{
    const char *is = sw_json_str(node, "", "is", NULL), *host = sw_json_str(node, "", "node", NULL),
               *why = sw_json_str(node, "", "why", NULL);
    struct json_object *needs = sw_json_get(node, "needs");
    sw_line_printf(&d->line, SW_PLAIN, "%s  ", sw_json_str(node, "", "name", NULL));
    sw_line_put(&d->line, colour_of(is), is);
    if (*host)
        sw_line_printf(&d->line, SW_DIM, "  on %s", host);
    for (size_t i = 0; i < sw_json_len(needs); i++)
        sw_line_printf(&d->line, SW_DIM, "%s%s", i ? ", " : "  needs ",
                       json_object_get_string(sw_json_at(needs, i)));
    if (*why && !sw_streq(is, "ready")) {
        const int room = d->line.style->width ? d->line.style->width - d->line.at - 2 : 0;
        SW_AUTO_CHARS *shown = sw_text_shorter(why, room < 0 ? 1 : room);
        sw_line_printf(&d->line, SW_PLAIN, ": %s", shown);
    }
    sw_line_end(&d->line);
}

static void draw(struct drawing *d, struct json_object *node, const char *indent)
{
    static const char *const forks[2][4] = {
        { "|- ", "`- ", "|  ", "   " }, { "\u251c\u2500 ", "\u2514\u2500 ", "\u2502  ", "   " }
    };
    const char *const *fork = forks[d->line.style->utf8];
    struct json_object *children = sw_json_get(node, "children");
    size_t n = sw_json_len(children);
    bool is_pods = n &&
                   sw_starts_with(sw_json_str(sw_json_at(children, 0), "", "name", NULL), "Pod ");
    size_t shown = is_pods && !d->all && n > MAX_PODS ? MAX_PODS : n;
    for (size_t i = 0; i < shown; i++) {
        bool is_last = i + 1 == n;
        SW_AUTO_CHARS *inner = sw_printf("%s%s", indent, fork[is_last ? 3 : 2]);
        sw_line_printf(&d->line, SW_DIM, "%s%s", indent, fork[is_last ? 1 : 0]);
        draw_node(d, sw_json_at(children, i));
        draw(d, sw_json_at(children, i), inner);
    }
    if (shown < n) {
        sw_line_printf(&d->line, SW_DIM, "%s%s%zu more, %s", indent, fork[1], n - shown,
                       is_ready(sw_json_at(children, shown)) ? "which are ready (-a)" : "(-a)");
        sw_line_end(&d->line);
    }
}

static int print_tree(struct json_object *root, const struct tree_opts *opts)
{
    if (opts->output)
        return sw_cli_print_json(root);
    struct sw_style style = sw_style_of(STDOUT_FILENO);
    struct drawing d = { .line = { .out = printbuf_new(), .style = &style }, .all = opts->all };
    draw_node(&d, root);
    draw(&d, root, "");
    int rc = sw_cli_print(d.line.out->buf, (size_t)d.line.out->bpos);
    printbuf_free(d.line.out);
    return rc;
}

static int execute(const struct sw_call *call)
{
    struct tree_opts opts = { 0 };
    struct sw_connection conn = { 0 };
    struct sw_operands rest;
    SW_AUTO_JSON *resource = NULL;
    SW_AUTO_JSON *root = NULL;
    SW_ERR(err);
    sw_log_set_level(SW_LOG_WARN);
    int rc = sw_cli_parse(call, &opts, 1, &rest);
    if (rc)
        return rc - 1;
    rc = sw_connection_init(&conn, "tree", &opts.connect, &err);
    if (rc == 0)
        rc = sw_cluster_resource(&conn, rest.items[0], RETRIES, &resource, &err);
    if (rc == 0)
        rc = tree_of(&conn, resource, &root, &err);
    rc = rc < 0 ? sw_cli_fail("tree", &err) : print_tree(root, &opts);
    sw_connection_done(&conn);
    return rc;
}

const struct sw_command sw_command_tree = {
    .name = "tree",
    .args = "NAME",
    .missing = "which SpecialResource?",
    .summary = "show a SpecialResource's states, their objects and pods, as a tree",
    .details =
        "Each state with what it needs, its objects as the cluster has them, and the pods of "
        "these: ready or not, and why\n"
        "not. Readiness is that of the object's kind; what annotations ask for besides is in the "
        "state's message.",
    .flags = flags,
    .execute = execute,
};
