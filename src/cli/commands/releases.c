/* slipway releases: Helm's records of what is deployed, whether they are as slipway wrote them, and
 * ConfigMaps that become Secrets. */
#include <json-c/json.h>
#include <stdio.h>

#include "base/loop.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/releases.h"
#include "cli/cluster/requests.h"
#include "cli/commands/commands.h"
#include "data/data.h"

enum { RETRIES = 3, LOOK_MS = 500 };

struct releases_opts {
    struct sw_connect_opts connect;
    int64_t timeout_ms;
    bool to_secrets;
};

static const struct sw_flag flags[] = {
    { "to-secrets", 0, SW_FLAG_BOOL, offsetof(struct releases_opts, to_secrets), NULL, NULL,
      "make Secrets of records that are ConfigMaps" },
    { "timeout", 0, SW_FLAG_DURATION, offsetof(struct releases_opts, timeout_ms), "TIME", NULL,
      "time limit, such as 90s or 5m (default 1m)" },
    SW_CONNECT_FLAGS(struct releases_opts, connect),
    { 0 },
};

/* ---- what there is -----------------------------------------------------------------------------
 */

static const char *text_of(struct json_object *resource, enum sw_record_trust trust)
{
    if (!sw_releases_are_begun(resource))
        return "no digest yet";
    return trust == SW_RECORD_TRUSTED   ? "yes"
           : trust == SW_RECORD_CHANGED ? "no: it was changed"
                                        : "no: not slipway's";
}

static int print_records(struct sw_connection *conn, struct json_object *resource,
                         struct sw_err *err)
{
    SW_AUTO_JSON *list = NULL;
    int rc = sw_releases_list(conn, resource, &list, err);
    for (size_t i = 0; rc == 0 && i < sw_json_len(list); i++) {
        struct json_object *item = sw_json_at(list, i);
        SW_AUTO_JSON *record = NULL;
        SW_AUTO_JSON *release = NULL;
        char digest[SW_SHA256_HEX];
        rc = sw_releases_read(conn, item, &record, &release, err);
        if (rc == SW_NOTFOUND) {
            sw_err_done(err);
            rc = 0;
            continue;
        }
        if (rc < 0)
            break;
        const char *status = sw_obj_label(item, "status");
        SW_AUTO_CHARS *object = sw_printf("%s %s/%s", sw_obj_kind(item),
                                          sw_releases_namespace(resource), sw_obj_name(item));
        enum sw_record_trust trust = sw_releases_check(resource, record, release, digest);
        (void)printf("%-20s %8s  %-16s %-56s %s\n", sw_obj_name(resource),
                     sw_obj_label(item, "version"), status ? status : "", object,
                     text_of(resource, trust));
    }
    return rc;
}

/* ---- ConfigMaps become Secrets -----------------------------------------------------------------
 */

static const char *home_of(struct json_object *resource)
{
    return sw_json_str(resource, "", "status", "recordsIn", NULL);
}

static void pause_for(struct sw_connection *conn, int64_t ms)
{
    int64_t until_ms = sw_loop_now_ms(conn->loop) + ms;
    while (!conn->signal && sw_loop_now_ms(conn->loop) < until_ms)
        sw_loop_step(conn->loop, until_ms - sw_loop_now_ms(conn->loop));
}

/* Ask for it, and wait until the operator has done it. */
static int move(struct sw_connection *conn, struct json_object *resource, struct sw_err *err)
{
    const char *name = sw_obj_name(resource);
    SW_AUTO_JSON *patch = json_object_new_object();
    const struct sw_kind *kind;
    bool is_moved = false;
    if (sw_streq(home_of(resource), "Secret"))
        (void)printf("the records of '%s' are Secrets\n", name);
    if (!*home_of(resource) || sw_streq(home_of(resource), "Secret"))
        return 0;
    sw_json_set_str(patch, "secret", "metadata", "annotations", "slipway.dev/releases", NULL);
    int rc = sw_cluster_kind(conn, "sro.openshift.io/v1beta1", "SpecialResource", &kind, err);
    if (rc == 0)
        rc = sw_cluster_patch(conn, kind, NULL, name, patch, err);
    while (rc == 0 && !is_moved) {
        SW_AUTO_JSON *now = NULL;
        if (sw_loop_now_ms(conn->loop) + LOOK_MS >= conn->until_ms)
            return sw_err_set(err, SW_UNAVAILABLE,
                              "the records of '%s' are ConfigMaps still: no operator answers, or "
                              "its Events say why it could not (kubectl get events); it goes on by "
                              "itself",
                              name);
        pause_for(conn, LOOK_MS);
        rc = sw_cluster_resource(conn, name, RETRIES, &now, err);
        is_moved = rc == 0 && sw_streq(home_of(now), "Secret");
    }
    if (rc == 0)
        (void)printf("the records of '%s' are Secrets\n", name);
    return rc;
}

/* ---- the command -------------------------------------------------------------------------------
 */

static int releases(struct sw_connection *conn, const struct releases_opts *opts, const char *name)
{
    SW_AUTO_JSON *found = NULL;
    SW_AUTO_JSON *all = json_object_new_array();
    SW_ERR(err);
    conn->until_ms = sw_loop_now_ms(conn->loop) + opts->timeout_ms;
    int rc = sw_cluster_resource(conn, name, RETRIES, &found, &err);
    if (rc == 0 && name)
        (void)json_object_array_add(all, json_object_get(found));
    struct json_object *list = name ? all : found;
    if (rc == 0 && !opts->to_secrets)
        (void)printf("%-20s %8s  %-16s %-56s %s\n", "RESOURCE", "REVISION", "STATUS", "OBJECT",
                     "USED");
    for (size_t i = 0; rc == 0 && i < sw_json_len(list); i++)
        rc = opts->to_secrets ? move(conn, sw_json_at(list, i), &err)
                              : print_records(conn, sw_json_at(list, i), &err);
    if (rc == 0)
        return SW_EXIT_OK;
    bool late = rc == SW_UNAVAILABLE && sw_loop_now_ms(conn->loop) + LOOK_MS >= conn->until_ms;
    rc = sw_cli_fail("releases", &err);
    return late ? SW_EXIT_TIMEOUT : rc;
}

static int execute(const struct sw_call *call)
{
    struct releases_opts opts = { .timeout_ms = 60000 };
    struct sw_connection conn = { 0 };
    struct sw_operands rest;
    SW_ERR(err);
    sw_log_set_level(SW_LOG_WARN);
    int rc = sw_cli_parse(call, &opts, 1, &rest);
    if (rc)
        return rc - 1;
    rc = sw_connection_init(&conn, "releases", &opts.connect, &err) < 0
             ? sw_cli_fail("releases", &err)
             : releases(&conn, &opts, rest.n ? rest.items[0] : NULL);
    sw_connection_done(&conn);
    return rc;
}

const struct sw_command sw_command_releases = {
    .name = "releases",
    .args = "[NAME]",
    .summary = "show the records of releases, or make Secrets of them",
    .details =
        "Shows Helm's records of what is deployed, of one resource or of all, and whether they are "
        "used: a\n"
        "record that others have changed is not.\n"
        "\n"
        "With --to-secrets the operator makes Secrets of records that are ConfigMaps, as SRO and "
        "older\n"
        "versions of slipway keep them: they hold all that a recipe renders to, Secrets included. "
        "SRO cannot\n"
        "go on from them then. It can be interrupted, and begun again.\n"
        "\n"
        "Exit status: 0 done, 1 it failed, 2 bad usage, 3 time-out.",
    .flags = flags,
    .execute = execute,
};
