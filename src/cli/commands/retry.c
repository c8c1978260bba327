/* slipway retry: what has failed of a SpecialResource is tried again now. */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "base/loop.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/requests.h"
#include "cli/commands/commands.h"
#include "cli/commands/run.h"
#include "data/data.h"
#include "operator/inventory/inventory.h"

enum { RETRIES = 3, REQUESTS_MS = 60000 };

struct retry_opts {
    struct sw_connect_opts connect;
    int64_t timeout_ms;
};

static const struct sw_flag flags[] = {
    { "timeout", 0, SW_FLAG_DURATION, offsetof(struct retry_opts, timeout_ms), "TIME", NULL,
      "time limit of the walk, such as 90s or 5m; 0: none (default 30m)" },
    SW_CONNECT_FLAGS(struct retry_opts, connect),
    { 0 },
};

/* Whether @live has run to its end and failed. */
static bool has_failed(struct json_object *live)
{
    const char *kind = sw_obj_kind(live);
    if (sw_streq(kind, "Job"))
        return sw_streq(sw_json_str(sw_obj_condition(live, "Failed"), "", "status", NULL), "True");
    return sw_streq(kind, "Pod") &&
           sw_streq(sw_json_str(live, "", "status", "phase", NULL), "Failed");
}

/* Delete a Job or Pod of the inventory that has failed, if it is the very one that was applied. */
static int drop_failed(struct sw_connection *conn, struct json_object *item, struct sw_err *err)
{
    const char *version = sw_json_str(item, "", "apiVersion", NULL),
               *kind = sw_json_str(item, "", "kind", NULL),
               *ns = sw_json_str(item, "", "namespace", NULL),
               *name = sw_json_str(item, "", "name", NULL),
               *uid = sw_json_str(item, NULL, "uid", NULL);
    const struct sw_kind *k;
    SW_AUTO_JSON *live = NULL;
    if (!sw_streq(kind, "Job") && !sw_streq(kind, "Pod"))
        return 0;
    int rc = sw_cluster_find(conn, version, kind, ns, name,
                             &(struct sw_request_opts){ .retries = RETRIES }, &live, err);
    if (rc == 0 && has_failed(live) && uid && sw_streq(uid, sw_obj_uid(live))) {
        rc = sw_cluster_kind(conn, version, kind, &k, err);
        if (rc == 0)
            rc = sw_cluster_delete(conn, k, ns, name,
                                   &(struct sw_request_opts){ .propagation = "Background",
                                                              .uid = uid,
                                                              .retries = RETRIES },
                                   err);
        if (rc == 0)
            (void)printf("deleted %s %s/%s, which has failed: it is made again\n", kind, ns, name);
    }
    if (rc != SW_NOTFOUND)
        return rc;
    sw_err_done(err);
    return 0;
}

static int drop_all_failed(struct sw_connection *conn, struct json_object *resource,
                           struct sw_err *err)
{
    struct json_object *inventory = sw_inventory_of(sw_json_get(resource, "status")),
                       *states = sw_json_find(resource, "status", "states", NULL);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sw_json_len(inventory); i++) {
        struct json_object *item = sw_json_at(inventory, i);
        struct json_object *state = sw_json_find_by(states, "name",
                                                    sw_json_str(item, "", "state", NULL));
        if (!sw_streq(sw_json_str(state, "", "phase", NULL), "Ready"))
            rc = drop_failed(conn, item, err);
    }
    return rc;
}

/* @*out: the resource as it is then, the caller's */
static int retry(struct sw_connection *conn, const char *name, struct json_object **out,
                 struct sw_err *err)
{
    SW_AUTO_JSON *resource = NULL;
    SW_AUTO_JSON *patch = json_object_new_object();
    const struct sw_kind *kind;
    char now[21];
    int rc = sw_cluster_resource_kind(conn, &kind, err);
    if (rc == 0)
        rc = sw_cluster_resource(conn, name, RETRIES, &resource, err);
    if (rc == 0 && sw_json_find(resource, "metadata", "deletionTimestamp", NULL))
        return sw_err_set(err, SW_CONFLICT, "%s is being deleted", name);
    if (rc == 0 &&
        !sw_streq(sw_json_str(resource, "Managed", "spec", "managementState", NULL), "Managed"))
        return sw_err_set(err, SW_CONFLICT, "%s is paused or removed (spec.managementState)", name);
    if (rc == 0)
        rc = drop_all_failed(conn, resource, err);
    if (rc < 0)
        return rc;
    sw_json_set_str(patch, sw_time_rfc3339(sw_now_ms(), now), "metadata", "annotations",
                    "slipway.dev/retry", NULL);
    rc = sw_cluster_patch(conn, kind, NULL, name, patch, err);
    if (rc == 0)
        *out = SW_TAKE(resource);
    return rc;
}

static int execute(const struct sw_call *call)
{
    struct retry_opts opts = { .timeout_ms = INT64_C(30) * 60 * 1000 };
    struct sw_connection conn = { 0 };
    struct sw_operands rest;
    SW_AUTO_JSON *resource = NULL;
    SW_ERR(err);
    sw_log_set_level(SW_LOG_WARN);
    int rc = sw_cli_parse(call, &opts, 1, &rest);
    if (rc)
        return rc - 1;
    rc = sw_connection_init(&conn, "retry", &opts.connect, &err);
    if (rc == 0) {
        conn.until_ms = sw_loop_now_ms(conn.loop) + REQUESTS_MS;
        conn.end_ms = opts.timeout_ms ? sw_loop_now_ms(conn.loop) + opts.timeout_ms : 0;
        rc = retry(&conn, rest.items[0], &resource, &err);
    }
    rc = rc < 0 ? sw_connection_fail(&conn, &err)
                : sw_walk(&conn, &opts.connect, resource, opts.timeout_ms);
    sw_connection_done(&conn);
    return rc;
}

const struct sw_command sw_command_retry = {
    .name = "retry",
    .args = "NAME",
    .missing = "which SpecialResource?",
    .summary = "try again now what has failed of a SpecialResource",
    .details =
        "Deletes Jobs and Pods of it that have failed, so that they are made again, and has the "
        "operator try all\n"
        "states at once that wait for their next try (annotation slipway.dev/retry). Where no "
        "operator leads it is\n"
        "walked in this process. States that are Ready stay so.\n"
        "\n"
        "Exit status: 0 Ready, 1 it failed, 2 bad usage, 3 time-out, 4 the operator finds it "
        "Errored.",
    .flags = flags,
    .execute = execute,
};
