/* slipway rollback: a SpecialResource gets the chart and the values of an earlier revision. */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/loop.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/install.h"
#include "cli/cluster/leader.h"
#include "cli/cluster/requests.h"
#include "cli/commands/commands.h"
#include "cli/commands/revisions.h"
#include "cli/commands/run.h"
#include "cli/recipe/changes.h"
#include "cli/recipe/recorded.h"
#include "cli/recipe/resource_chart.h"
#include "data/data.h"

enum { RETRIES = 3, REQUESTS_MS = 60000 };

struct rollback_opts {
    struct sw_connect_opts connect;
    bool yes, recorded;
    int64_t timeout_ms;
};

static const struct sw_flag flags[] = {
    { "yes", 0, SW_FLAG_BOOL, offsetof(struct rollback_opts, yes), NULL, NULL,
      "do it; without it only the plan is printed" },
    { "recorded", 0, SW_FLAG_BOOL, offsetof(struct rollback_opts, recorded), NULL, NULL,
      "take the recipe out of the record: what its files were, where they have changed in place" },
    { "timeout", 0, SW_FLAG_DURATION, offsetof(struct rollback_opts, timeout_ms), "TIME", NULL,
      "time limit of the walk, such as 90s or 5m; 0: none (default 30m)" },
    SW_CONNECT_FLAGS(struct rollback_opts, connect),
    { 0 },
};

/* ---- which revision ----------------------------------------------------------------------------
 */

/* The last one before the newest that was Ready; @changed: or that one. */
static const struct sw_revision *previous(const struct sw_revisions *all, bool changed)
{
    for (size_t i = changed ? all->n : all->n - 1; i-- > 0;) {
        const char *status = sw_revision_status(&all->items[i]);
        if (sw_streq(status, "superseded") || sw_streq(status, "deployed"))
            return &all->items[i];
    }
    return NULL;
}

static int check_record(struct json_object *resource, const struct sw_revision *r,
                        struct sw_err *err)
{
    char digest[SW_SHA256_HEX] = "";
    if (!r->release)
        return sw_err_set(err, SW_INVALID, "the record of revision %lld cannot be read",
                          (long long)r->number);
    if (r->trust == SW_RECORD_TRUSTED)
        return 0;
    sw_release_digest(r->record, r->release, digest);
    SW_AUTO_CHARS *why = sw_record_why_not(r->trust, sw_obj_name(resource), sw_obj_kind(r->record),
                                           sw_obj_namespace(r->record), sw_obj_name(r->record),
                                           digest);
    return sw_err_set(err, SW_INVALID, "revision %lld: %s", (long long)r->number, why);
}

/* ---- what the resource becomes -----------------------------------------------------------------
 */

/* The spec.chart of @r, the caller's. User and password are not recorded: they stay what they are
 * where the place is the same. */
static struct json_object *chart_of(struct json_object *resource, const struct sw_revision *r)
{
    struct json_object *now = sw_json_find(resource, "spec", "chart", NULL),
                       *then = sw_json_get(r->origin, "chart"),
                       *metadata = sw_json_find(r->release, "chart", "metadata", NULL);
    if (!then) { /* the record of an older version */
        struct json_object *chart = sw_json_copy(now);
        sw_json_set_str(chart, sw_json_str(metadata, "", "name", NULL), "name", NULL);
        sw_json_set_str(chart, sw_json_str(metadata, "", "version", NULL), "version", NULL);
        return chart;
    }
    static const char *const logins[] = { "username", "password" };
    struct json_object *chart = sw_json_copy(then);
    bool is_here = sw_streq(sw_json_str(now, "", "repository", "url", NULL),
                            sw_json_str(then, "-", "repository", "url", NULL));
    for (size_t i = 0; is_here && i < SW_COUNT(logins); i++) {
        const char *text = sw_json_str(now, NULL, "repository", logins[i], NULL);
        if (text)
            sw_json_set_str(chart, text, "repository", logins[i], NULL);
    }
    return chart;
}

/* Whether a field of spec goes back with the rest: chart and values do by themselves. */
static bool is_of_rest(const char *field)
{
    return !sw_streq(field, "chart") && !sw_streq(field, "set") &&
           !sw_streq(field, "managementState");
}

/* The other fields of spec become those of @rest; NULL: they stay (the record of an older version).
 */
static void set_rest(struct json_object *doc, struct json_object *rest)
{
    SW_AUTO_JSON *spec = sw_json_copy(sw_json_get(doc, "spec"));
    if (!json_object_is_type(rest, json_type_object) || !spec)
        return;
    json_object_object_foreach(spec, key, value)
    {
        (void)value;
        if (is_of_rest(key))
            (void)sw_json_del(doc, "spec", key, NULL);
    }
    json_object_object_foreach(rest, field, then)
    {
        if (is_of_rest(field))
            sw_json_set(doc, sw_json_copy(then), "spec", field, NULL);
    }
}

/* @resource as of @r: its chart, its values and what else its spec said; the caller's. */
static struct json_object *as_of(struct json_object *resource, const struct sw_revision *r)
{
    struct json_object *doc = sw_json_copy(resource), *set = sw_json_get(r->origin, "set");
    if (!set)
        set = sw_json_get(r->release, "config");
    sw_json_set(doc, chart_of(resource, r), "spec", "chart", NULL);
    if (set)
        sw_json_set(doc, sw_json_copy(set), "spec", "set", NULL);
    else
        (void)sw_json_del(doc, "spec", "set", NULL);
    set_rest(doc, sw_json_get(r->origin, "spec"));
    return doc;
}

static bool is_same(struct json_object *a, struct json_object *b, const char *field)
{
    return sw_json_equal(sw_json_find(a, "spec", field, NULL),
                         sw_json_find(b, "spec", field, NULL));
}

/* Has the resource been changed since its newest revision, @now, was begun? */
static bool is_changed_since(struct json_object *resource, const struct sw_revision *now)
{
    SW_AUTO_JSON *then = now->origin ? as_of(resource, now) : NULL;
    return then && !sw_json_equal(sw_json_get(then, "spec"), sw_json_get(resource, "spec"));
}

static int choose(struct json_object *resource, struct sw_revisions *all, const char *number,
                  const struct sw_revision **out, struct sw_err *err)
{
    const char *name = sw_obj_name(resource);
    char *end = NULL;
    const struct sw_revision *now = all->n ? &all->items[all->n - 1] : NULL;
    if (!now)
        return sw_err_set(err, SW_NOTFOUND,
                          "%s has no records of its revisions (slipway history %s)", name, name);
    const bool changed = is_changed_since(resource, now);
    *out = number ? sw_revisions_find(all, strtoll(number, &end, 10)) : previous(all, changed);
    if (!*out || (end && *end))
        return sw_err_set(err, SW_NOTFOUND,
                          number ? "%s has no revision '%s': slipway history %s lists them"
                                 : "%s has no earlier revision that was Ready%s: slipway history "
                                   "%s lists them",
                          name, number ? number : "", name);
    if (*out == now && !changed)
        return sw_err_set(err, SW_INVALID, "%s is at revision %lld already", name,
                          (long long)now->number);
    return check_record(resource, *out, err);
}

/* ---- the plan ----------------------------------------------------------------------------------
 */

/* The fields of spec that become others, a line each: @a's and not @b's, or different ones. */
static void print_fields(struct json_object *a, struct json_object *b, bool only_new)
{
    struct json_object *spec = sw_json_get(a, "spec");
    if (!spec)
        return;
    json_object_object_foreach(spec, key, value)
    {
        struct json_object *other = sw_json_find(b, "spec", key, NULL);
        if (!is_of_rest(key) || sw_json_equal(value, other) || (only_new && other))
            continue;
        SW_AUTO_CHARS *before = sw_json_text(only_new ? NULL : value, SW_JSON_PLAIN, NULL);
        SW_AUTO_CHARS *after = sw_json_text(only_new ? value : other, SW_JSON_PLAIN, NULL);
        (void)printf("  ~ spec.%s: %s -> %s\n", key, only_new ? "nothing" : before,
                     !only_new && !other ? "nothing" : after);
    }
}

/* What people have changed since @now, by name: values may be secret. */
static void print_changed(struct json_object *resource, const struct sw_revision *now)
{
    SW_AUTO_JSON *then = as_of(resource, now);
    struct json_object *sides[] = { resource, then };
    (void)printf("The resource was changed since revision %lld, which is overwritten:\n",
                 (long long)now->number);
    if (!is_same(resource, then, "chart"))
        (void)printf("  spec.chart\n");
    for (size_t i = 0; i < SW_COUNT(sides); i++) {
        struct json_object *set = sw_json_find(sides[i], "spec", "set", NULL),
                           *other = sw_json_find(sides[1 - i], "spec", "set", NULL);
        if (!set)
            continue;
        json_object_object_foreach(set, key, value)
        {
            struct json_object *its = sw_json_get(other, key);
            if (i == 0 ? !sw_json_equal(value, its) : its == NULL)
                (void)printf("  spec.set.%s\n", key);
        }
    }
}

static int print_plan(struct json_object *resource, struct json_object *wanted,
                      const struct sw_revision *now, const struct sw_revision *then,
                      struct json_object *config_map, struct sw_err *err)
{
    SW_AUTO_JSON *changes = sw_changes_of_releases(now->release, then->release);
    bool has_files = sw_json_get(changes, "files"), same_chart = is_same(resource, wanted, "chart");
    const char *url = sw_json_str(wanted, "", "spec", "chart", "repository", "url", NULL);
    const bool same_spec = sw_json_equal(sw_json_get(resource, "spec"),
                                         sw_json_get(wanted, "spec"));
    if (same_spec && sw_json_len(changes) == 0)
        return sw_err_set(err, SW_INVALID, "%s is as it was in revision %lld already",
                          sw_obj_name(resource), (long long)then->number);
    if (same_spec)
        return sw_err_set(
            err, SW_INVALID,
            "the resource itself is as it was in revision %lld: what differs are the "
            "files of its recipe. Bring those of then back at %s, or take them out of the record "
            "with --recorded",
            (long long)then->number, url);
    (void)printf("%s: %s %lld -> what revision %lld was (%s%s%s)\n", sw_obj_name(resource),
                 then == now ? "changed since revision" : "revision", (long long)now->number,
                 (long long)then->number, sw_revision_time(then),
                 *sw_revision_by(then, NULL) ? ", by " : "", sw_revision_by(then, NULL));
    if (is_changed_since(resource, now))
        print_changed(resource, now);
    sw_changes_print(changes, sw_cli_colours(STDOUT_FILENO));
    if (config_map)
        (void)printf("The recipe comes out of the record, from then on from ConfigMap %s/%s, which "
                     "goes with the resource.\n",
                     sw_obj_namespace(config_map), sw_obj_name(config_map));
    else if (has_files && same_chart)
        (void)printf("warning: the files of the recipe at %s have changed under the same version: "
                     "they stay what they are now\n",
                     url);
    print_fields(resource, wanted, false);
    print_fields(wanted, resource, true);
    (void)printf("%s\n", sw_json_get(then->origin, "spec")
                             ? "The resource's spec goes back, but for managementState."
                             : "Of the resource spec.chart and spec.set go back, all else stays.");
    return 0;
}

/* ---- a recipe out of the record -----------------------------------------------------------------
 */

/* The ConfigMap with the recipe of @then, the caller's; @wanted has its recipe from there. */
static int use_record(struct json_object *resource, const struct sw_revision *then,
                      struct json_object *wanted, struct json_object **out, struct sw_err *err)
{
    const char *ns = sw_json_str(then->release, "", "namespace", NULL);
    SW_AUTO_CHARS *name = sw_printf("%s-revision-%lld", sw_obj_name(resource),
                                    (long long)then->number);
    SW_AUTO_CHARS *url = sw_printf("cm://%s/%s", ns, name);
    int rc = sw_recorded_config_map(then->release, ns, name, out, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "--recorded");
    struct json_object *owners = sw_json_need_list(*out, "metadata", "ownerReferences", NULL);
    struct json_object *owner = json_object_new_object();
    sw_json_set_str(owner, sw_obj_api_version(resource), "apiVersion", NULL);
    sw_json_set_str(owner, sw_obj_kind(resource), "kind", NULL);
    sw_json_set_str(owner, sw_obj_name(resource), "name", NULL);
    sw_json_set_str(owner, sw_obj_uid(resource), "uid", NULL);
    (void)json_object_array_add(owners, owner);
    SW_AUTO_JSON *chart = json_object_new_object();
    struct json_object *metadata = sw_json_find(then->release, "chart", "metadata", NULL);
    sw_json_set_str(chart, sw_json_str(metadata, "", "name", NULL), "name", NULL);
    sw_json_set_str(chart, sw_json_str(metadata, "", "version", NULL), "version", NULL);
    sw_json_set_str(chart, name, "repository", "name", NULL);
    sw_json_set_str(chart, url, "repository", "url", NULL);
    sw_json_set(wanted, SW_TAKE(chart), "spec", "chart", NULL);
    return 0;
}

static int write_config_map(struct sw_connection *conn, struct json_object *config_map,
                            struct sw_err *err)
{
    const struct sw_request_opts opts = { .field_manager = SW_ROLLBACK_MANAGER,
                                          .retries = RETRIES };
    const struct sw_kind *kind;
    SW_AUTO_JSON *written = NULL;
    int rc = sw_cluster_kind(conn, "v1", "ConfigMap", &kind, err);
    return rc < 0 ? rc
                  : sw_cluster_apply(conn, kind, sw_obj_namespace(config_map),
                                     sw_obj_name(config_map), config_map, &opts, &written, err);
}

/* ---- can the recipe still be had? --------------------------------------------------------------
 */

/* Is it in a folder of the operator's, which cannot be read from here? */
static bool is_of_operator(struct sw_connection *conn, struct json_object *wanted)
{
    const char *url = sw_json_str(wanted, "", "spec", "chart", "repository", "url", NULL);
    if (!sw_starts_with(url, "file://"))
        return false;
    SW_AUTO_CHARS *leader = sw_leader_find(conn);
    return leader;
}

/* Fetch the recipe of @wanted, so that a resource does not lose the one that works for one that is
 * gone. Secrets that this user may not read are left to the operator. */
static int try_chart(struct sw_connection *conn, struct json_object *wanted,
                     const struct sw_revision *then, struct sw_err *err)
{
    const struct sw_resource_chart chart = { .conn = conn,
                                             .operator_ns = sw_cli_operator_namespace(),
                                             .timeout_ms = REQUESTS_MS };
    SW_AUTO(sw_recipe) *recipe = NULL;
    SW_ERR(why);
    int rc = is_of_operator(conn, wanted) ? 0
                                          : sw_resource_chart_open(&chart, wanted, &recipe, &why);
    if (rc == SW_FORBIDDEN || rc == 0)
        return 0;
    return sw_err_set(err, rc,
                      "the recipe of revision %lld cannot be had any more: %s; --recorded takes it "
                      "out of the record",
                      (long long)then->number, sw_err_text(&why));
}

/* ---- the command -------------------------------------------------------------------------------
 */

static int check_resource(struct json_object *resource, struct sw_err *err)
{
    const char *name = sw_obj_name(resource),
               *state = sw_json_str(resource, "", "spec", "managementState", NULL);
    if (sw_json_find(resource, "metadata", "deletionTimestamp", NULL))
        return sw_err_set(err, SW_CONFLICT, "%s is being deleted", name);
    if (sw_streq(state, "Unmanaged"))
        return sw_err_set(err, SW_CONFLICT, "%s is paused: slipway resume %s first", name, name);
    if (sw_streq(state, "Removed"))
        return sw_err_set(err, SW_CONFLICT, "%s is removed (spec.managementState)", name);
    return 0;
}

/* @*changed: the resource as it was written, the caller's; NULL: only the plan was printed */
static int rollback(struct sw_connection *conn, const struct rollback_opts *opts, const char *name,
                    const char *number, struct json_object **changed, struct sw_err *err)
{
    SW_AUTO_JSON *resource = NULL;
    SW_AUTO_JSON *wanted = NULL;
    SW_AUTO_JSON *config_map = NULL;
    struct sw_revisions all = { 0 };
    const struct sw_revision *then = NULL;
    const struct sw_kind *kind;
    int rc = sw_cluster_resource_kind(conn, &kind, err);
    if (rc == 0)
        rc = sw_cluster_resource(conn, name, RETRIES, &resource, err);
    if (rc == 0)
        rc = check_resource(resource, err);
    if (rc == 0)
        rc = sw_revisions_read(conn, resource, &all, err);
    if (rc == 0)
        rc = choose(resource, &all, number, &then, err);
    if (rc == 0) {
        wanted = as_of(resource, then);
        rc = opts->recorded ? use_record(resource, then, wanted, &config_map, err)
                            : try_chart(conn, wanted, then, err);
    }
    if (rc == 0)
        rc = print_plan(resource, wanted, &all.items[all.n - 1], then, config_map, err);
    if (rc == 0 && !opts->yes)
        (void)printf("Nothing was done; slipway rollback %s %lld%s --yes does it.\n", name,
                     (long long)then->number, opts->recorded ? " --recorded" : "");
    if (rc == 0 && opts->yes && config_map)
        rc = write_config_map(conn, config_map, err);
    if (rc == 0 && opts->yes)
        rc = sw_cluster_update(
            conn, kind, NULL, name, wanted,
            &(struct sw_request_opts){ .field_manager = SW_ROLLBACK_MANAGER, .retries = RETRIES },
            changed, err);
    sw_revisions_done(&all);
    return rc;
}

static int execute(const struct sw_call *call)
{
    struct rollback_opts opts = { .timeout_ms = INT64_C(30) * 60 * 1000 };
    struct sw_connection conn = { 0 };
    struct sw_operands rest;
    SW_AUTO_JSON *changed = NULL;
    SW_ERR(err);
    sw_log_set_level(SW_LOG_WARN);
    int rc = sw_cli_parse(call, &opts, 2, &rest);
    if (rc)
        return rc - 1;
    rc = sw_connection_init(&conn, "rollback", &opts.connect, &err);
    if (rc == 0) {
        conn.until_ms = sw_loop_now_ms(conn.loop) + REQUESTS_MS;
        conn.end_ms = opts.timeout_ms ? sw_loop_now_ms(conn.loop) + opts.timeout_ms : 0;
        rc = rollback(&conn, &opts, rest.items[0], rest.n > 1 ? rest.items[1] : NULL, &changed,
                      &err);
    }
    if (rc < 0)
        rc = sw_connection_fail(&conn, &err);
    else if (changed)
        rc = sw_walk(&conn, &opts.connect, changed, opts.timeout_ms);
    sw_connection_done(&conn);
    return rc;
}

const struct sw_command sw_command_rollback = {
    .name = "rollback",
    .args = "NAME [REVISION]",
    .missing = "which SpecialResource?",
    .summary = "give a SpecialResource the chart, values and spec of an earlier revision",
    .details =
        "Prints what would change. With --yes it sets the resource's spec to what is recorded\n"
        "(chart and values alone, where an older version wrote the record), and waits until the\n"
        "operator has walked that, or walks it in this process where no operator leads. Without\n"
        "REVISION it is the last one before that was Ready (`slipway history NAME`). What comes\n"
        "of it is a new revision.\n"
        "\n"
        "The recipe comes from where the resource says: one whose files were changed under the\n"
        "same version is not brought back, unless --recorded takes it out of the record, which\n"
        "has the recipe's files (no schema; charts that it depends on, up to 4 MiB), into a\n"
        "ConfigMap beside the release. For a state that fails to go back by itself there is "
        "spec.rollback.\n"
        "\n"
        "Exit status: 0 done, 1 it failed, 2 bad usage or no such revision, 3 time-out, 4 the "
        "operator finds it Errored.",
    .flags = flags,
    .execute = execute,
};
