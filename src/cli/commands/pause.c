/* slipway pause, resume: spec.managementState of a SpecialResource. */
#include "base/loop.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/leader.h"
#include "cli/cluster/requests.h"
#include "cli/commands/commands.h"
#include "cli/view/report.h"
#include "data/data.h"

#include <json-c/json.h>
#include <stdio.h>

enum { RETRIES = 3, REQUESTS_MS = 60000 };

struct pause_opts {
    struct sw_connect_opts connect;
};

static const struct sw_flag flags[] = {
    SW_CONNECT_FLAGS(struct pause_opts, connect),
    { 0 },
};

/* Patch @name to @wanted, unless it is so. @changed: whether it was not */
static int set_state(struct sw_connection *conn, const char *name, const char *wanted,
                     bool *changed, struct sw_err *err)
{
    SW_AUTO_JSON *resource = NULL;
    const struct sw_kind *kind;
    int rc = sw_cluster_resource_kind(conn, &kind, err);
    if (rc == 0)
        rc = sw_cluster_resource(conn, name, RETRIES, &resource, err);
    if (rc < 0)
        return rc;
    const char *now = sw_json_str(resource, "Managed", "spec", "managementState", NULL);
    if (sw_json_get(sw_json_get(resource, "metadata"), "deletionTimestamp"))
        return sw_err_set(err, SW_CONFLICT, "%s is being deleted", name);
    if (sw_streq(now, "Removed"))
        return sw_err_set(err, SW_CONFLICT,
                          "%s is removed (spec.managementState: Removed): what it applied is gone; "
                          "set the field to go on",
                          name);
    *changed = sw_streq(now, "Unmanaged") != sw_streq(wanted, "Unmanaged");
    if (!*changed)
        return 0;
    SW_AUTO_JSON *patch = json_object_new_object();
    sw_json_set_str(patch, wanted, "spec", "managementState", NULL);
    if (sw_streq(wanted, "Managed")) /* what is left of it is walked again */
        sw_json_set(patch, NULL, "metadata", "annotations", SW_UNINSTALLING, NULL);
    return sw_cluster_patch(conn, kind, NULL, name, patch, err);
}

/* @done, @already: what is printed behind the name; @alone: behind @done where no operator leads,
 * with the name once more. */
static int change(const struct sw_call *call, const char *wanted, const char *done,
                  const char *alone, const char *already)
{
    const char *command = call->argv[0];
    struct pause_opts opts = { 0 };
    struct sw_connection conn = { 0 };
    struct sw_operands rest;
    bool changed = false;
    SW_ERR(err);
    sw_log_set_level(SW_LOG_WARN);
    int rc = sw_cli_parse(call, &opts, 1, &rest);
    if (rc)
        return rc - 1;
    const char *name = rest.items[0];
    rc = sw_connection_init(&conn, command, &opts.connect, &err);
    conn.until_ms = rc == 0 ? sw_loop_now_ms(conn.loop) + REQUESTS_MS : 0;
    if (rc == 0)
        rc = set_state(&conn, name, wanted, &changed, &err);
    SW_AUTO_CHARS *leader = rc == 0 && changed ? sw_leader_find(&conn) : NULL;
    if (rc < 0)
        rc = sw_cli_fail(command, &err);
    else
        (void)printf("%s: %s%s%s\n", name, changed ? done : already,
                     changed && !leader ? alone : "", changed && !leader && *alone ? name : "");
    sw_connection_done(&conn);
    return rc;
}

static int execute_pause(const struct sw_call *call)
{
    return change(call, "Unmanaged",
                  "paused: nothing of it is applied, repaired or removed until slipway resume", "",
                  "it is paused already");
}

static int execute_resume(const struct sw_call *call)
{
    return change(call, "Managed",
                  "resumed: it is walked, and what was changed meanwhile is repaired",
                  "; no operator is seen to lead, and where none runs it is slipway retry ",
                  "it is not paused");
}

const struct sw_command sw_command_pause = {
    .name = "pause",
    .args = "NAME",
    .missing = "which SpecialResource?",
    .summary = "leave a SpecialResource and all that it applied alone",
    .details =
        "Sets spec.managementState to Unmanaged: nothing of the resource is applied, repaired "
        "or removed,\n"
        "so that you can change its objects by hand. `slipway resume` goes on with it.",
    .flags = flags,
    .execute = execute_pause,
};

const struct sw_command sw_command_resume = {
    .name = "resume",
    .args = "NAME",
    .missing = "which SpecialResource?",
    .summary = "go on with a SpecialResource that was paused",
    .details =
        "Sets spec.managementState to Managed: the recipe is walked again, and objects that were "
        "changed by\n"
        "hand meanwhile are as the recipe has them again.",
    .flags = flags,
    .execute = execute_resume,
};
