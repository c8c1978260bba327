/* slipway logs: what the pods of a SpecialResource have written. */
#include "cli/commands/logs.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/requests.h"
#include "cli/commands/commands.h"
#include "data/data.h"
#include "operator/engine/readiness/pod_maker.h"
#include "operator/inventory/inventory.h"

#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RETRIES = 2, MAX_BYTES = 4 << 20 };

struct logs_opts {
    struct sw_connect_opts connect;
    int64_t tail;
    bool previous, follow;
    const char *container;
};

#define FIELD(member) offsetof(struct logs_opts, member)

static const struct sw_flag flags[] = {
    { "tail", 0, SW_FLAG_NUMBER, FIELD(tail), "LINES", NULL,
      "lines of each container, from the end (default 20; 0: all)" },
    { "follow", 'f', SW_FLAG_BOOL, FIELD(follow), NULL, NULL,
      "go on with what is written from now on, until Ctrl-C" },
    { "previous", 'p', SW_FLAG_BOOL, FIELD(previous), NULL, NULL,
      "of the containers that ran before the present ones" },
    { "container", 'c', SW_FLAG_STRING, FIELD(container), "NAME", NULL,
      "of the containers of that name alone" },
    SW_CONNECT_FLAGS(struct logs_opts, connect),
    { 0 },
};

struct logs {
    const struct logs_opts *opts;
    struct sw_connection *conn;
    size_t n_shown, n_failed; /* containers */
};

/* ---- a container -------------------------------------------------------------------------------
 */

void sw_logs_print(const char *pod, const char *container, const char *line, size_t len)
{
    (void)printf("[%s/%s] %.*s\n", pod, container, (int)len, line);
}

static void print_lines(const char *pod, const char *container, const char *text)
{
    for (const char *at = text; *at;) {
        size_t len = strcspn(at, "\n");
        sw_logs_print(pod, container, at, len);
        at += len + (at[len] != '\0');
    }
}

static int tail_lines(const struct logs_opts *opts)
{
    return (int)(opts->tail < INT_MAX ? opts->tail : 0);
}

static void show_container(struct logs *l, const char *ns, const char *pod, const char *container)
{
    const struct sw_request_opts opts = { .container = container,
                                          .tail_lines = tail_lines(l->opts),
                                          .limit_bytes = MAX_BYTES,
                                          .previous = l->opts->previous,
                                          .retries = RETRIES };
    SW_AUTO_CHARS *text = NULL;
    size_t len;
    SW_ERR(err);
    if (l->opts->container && !sw_streq(l->opts->container, container))
        return;
    int rc = sw_cluster_logs(l->conn, ns, pod, &opts, &text, &len, &err);
    if (rc == 0) {
        print_lines(pod, container, text);
        l->n_shown++;
        return;
    }
    if (l->opts->previous) /* there was none */
        return;
    l->n_failed++;
    (void)fprintf(stderr, "slipway logs: %s/%s: %s\n", pod, container, sw_err_text(&err));
}

static void show_pod(struct logs *l, struct json_object *pod)
{
    struct json_object *container;
    for (size_t i = 0; (container = sw_pod_container(pod, i)); i++)
        show_container(l, sw_obj_namespace(pod), sw_obj_name(pod),
                       sw_json_str(container, "", "name", NULL));
}

/* ---- an object ---------------------------------------------------------------------------------
 */

/* The pods of the builds of a BuildConfig. */
static int find_build_pods(struct logs *l, struct json_object *config, struct json_object **pods,
                           struct sw_err *err)
{
    SW_AUTO_JSON *builds = NULL;
    int rc = sw_cluster_builds(l->conn, config, RETRIES, &builds, err);
    *pods = json_object_new_array();
    for (size_t i = 0; rc == 0 && i < sw_json_len(builds); i++) {
        SW_AUTO_CHARS *name = sw_printf("%s-build", sw_obj_name(sw_json_at(builds, i)));
        struct json_object *pod = NULL;
        SW_ERR(none);
        if (sw_cluster_find(l->conn, "v1", "Pod", sw_obj_namespace(config), name,
                            &(struct sw_request_opts){ .retries = RETRIES }, &pod, &none) == 0)
            (void)json_object_array_add(*pods, pod);
    }
    return rc;
}

static int show_object(struct logs *l, struct json_object *item, struct sw_err *err)
{
    const char *kind = sw_json_str(item, "", "kind", NULL);
    const struct sw_pod_maker *maker = sw_pod_maker_find(kind);
    if (!sw_streq(kind, "BuildConfig") && !sw_streq(kind, "Pod") && !(maker && maker->selects))
        return 0;
    SW_AUTO_JSON *live = NULL, *pods = NULL;
    int rc = sw_cluster_find(l->conn, sw_json_str(item, "", "apiVersion", NULL), kind,
                             sw_json_str(item, "", "namespace", NULL),
                             sw_json_str(item, "", "name", NULL),
                             &(struct sw_request_opts){ .retries = RETRIES }, &live, err);
    if (rc == SW_NOTFOUND)
        return 0;
    if (rc == 0 && sw_streq(kind, "Pod"))
        show_pod(l, live);
    else if (rc == 0)
        rc = sw_streq(kind, "BuildConfig") ? find_build_pods(l, live, &pods, err)
                                           : sw_cluster_pods(l->conn, live, RETRIES, &pods, err);
    for (size_t k = 0; rc == 0 && k < sw_json_len(pods); k++)
        show_pod(l, sw_json_at(pods, k));
    return rc;
}

/* ---- the resource ------------------------------------------------------------------------------
 */

int sw_logs_check_state(struct json_object *resource, const char *state, struct sw_err *err)
{
    struct json_object *states = sw_json_find(resource, "status", "states", NULL);
    if (!state || sw_json_find_by(states, "name", state))
        return 0;
    SW_AUTO_CHARS *names = sw_strdup("");
    for (size_t i = 0; i < sw_json_len(states); i++)
        sw_append(&names, "%s%s", *names ? ", " : "",
                  sw_json_str(sw_json_at(states, i), "", "name", NULL));
    return sw_err_set(err, SW_INVALID, "%s has no state '%s'; it has %s", sw_obj_name(resource),
                      state, *names ? names : "none yet");
}

static int show(struct logs *l, const char *name, const char *state, struct sw_err *err)
{
    SW_AUTO_JSON *resource = NULL;
    int rc = sw_cluster_resource(l->conn, name, RETRIES, &resource, err);
    if (rc == 0)
        rc = sw_logs_check_state(resource, state, err);
    struct json_object *inventory = sw_inventory_of(sw_json_get(resource, "status"));
    for (size_t i = 0; rc == 0 && i < sw_json_len(inventory); i++) {
        struct json_object *item = sw_json_at(inventory, i);
        if (!state || sw_streq(sw_json_str(item, "", "state", NULL), state))
            rc = show_object(l, item, err);
    }
    return rc;
}

static int print_once(const struct logs_opts *opts, struct sw_connection *conn, const char *name,
                      const char *state, struct sw_err *err)
{
    struct logs l = { opts, conn, 0, 0 };
    if (show(&l, name, state, err) < 0)
        return sw_cli_fail("logs", err);
    if (!l.n_shown && !l.n_failed)
        (void)fprintf(stderr, "slipway logs: there is no container%s that has a log\n",
                      opts->container ? " of that name" : "");
    return l.n_failed ? SW_EXIT_FAILED : opts->container && !l.n_shown ? SW_EXIT_USAGE : SW_EXIT_OK;
}

static int print_on(const struct logs_opts *opts, struct sw_connection *conn, const char *name,
                    const char *state, struct sw_err *err)
{
    const struct sw_logs_choice choice = { name, state, opts->container, tail_lines(opts) };
    conn->patient = true;
    int rc = sw_logs_follow(conn, &choice, err);
    if (conn->signal)
        return 128 + conn->signal;
    return rc < 0 ? sw_cli_fail("logs", err) : SW_EXIT_OK;
}

static int execute(const struct sw_call *call)
{
    struct logs_opts opts = { .tail = 20 };
    struct sw_connection conn = { 0 };
    struct sw_operands rest;
    SW_ERR(err);
    sw_log_set_level(SW_LOG_WARN);
    int rc = sw_cli_parse(call, &opts, 2, &rest);
    if (rc)
        return rc - 1;
    if (opts.follow && opts.previous)
        return sw_cli_usage("logs", "--follow and --previous exclude each other: what ran before "
                                    "writes no more");
    const char *state = rest.n > 1 ? rest.items[1] : NULL;
    if (sw_connection_init(&conn, "logs", &opts.connect, &err) < 0)
        rc = sw_cli_fail("logs", &err);
    else
        rc = (opts.follow ? print_on : print_once)(&opts, &conn, rest.items[0], state, &err);
    sw_connection_done(&conn);
    return rc;
}

const struct sw_command sw_command_logs = {
    .name = "logs",
    .args = "NAME [STATE]",
    .missing = "which SpecialResource?",
    .summary = "print what the pods of a SpecialResource have written",
    .details =
        "Prints the end of the log of each container of all pods that the resource's objects made, "
        "those of builds,\n"
        "hooks and init containers, too; with STATE of that state's alone. Before each line are "
        "its "
        "pod and container.\n"
        "With -f it goes on with what is written from then on, by pods that are made later as "
        "well, "
        "until Ctrl-C\n"
        "or the end of the resource. A log that breaks off, as when the API server is restarted, "
        "is "
        "taken up again\n"
        "where it was, as long as the pod is there.",
    .flags = flags,
    .execute = execute,
};
