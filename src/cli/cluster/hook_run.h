#pragma once
/* hook_run: runs the hooks of a resource's recorded release one after another, as Helm does:
 * `slipway test` those of a test, `slipway uninstall` those of a deletion. */
#include "base/base.h"
#include "operator/release/hooks.h"

struct json_object;
struct sw_connection;
struct sw_kind;

/** The hooks of one release; sw_hook_run_done(). */
struct sw_hook_run {
    struct sw_connection *conn;
    struct json_object *resource; /* borrowed */
    const char *ns;               /* of the release; borrowed */
    const char *only;             /* the hook of this name; NULL: all */
    bool logs;                    /* print the logs of hooks that succeed, too */
    struct json_object *kept;     /* names of shared releases: their hooks do not run; or NULL */
    bool is_deletion; /* hooks have no owner, and a mark by which the operator finds them */
    struct json_object *record, *release;
    struct json_object *past; /* of a deletion: key -> "" (succeeded), or why it failed */

    struct sw_release_hooks hooks; /* of the event */
    const char *event;

    /* the hook that runs */
    const struct sw_kind *kind;
    struct json_object *doc, *live;
    bool synced, want_gone;
};

/** Find the newest record of @resource's release. The options in @run are zero then.
 * @return 0 | SW_NOTFOUND: there is none | SW_INVALID: it is not what slipway wrote | as requests.h
 */
int sw_hook_run_init(struct sw_hook_run *run, struct sw_connection *conn,
                     struct json_object *resource, struct sw_err *err) SW_CHECKED;
/** Free what @run holds; twice is harmless. */
void sw_hook_run_done(struct sw_hook_run *run);

/** Read the hooks of @event (a static string) into run->hooks.
 * @return 0 | SW_INVALID: a manifest cannot be parsed */
int sw_hook_run_read(struct sw_hook_run *run, const char *event, struct sw_err *err) SW_CHECKED;
/** Run the hooks that were read until one fails, and print the result of each. Hooks of a deletion
 * that have succeeded before are skipped. *@n: number of hooks that were selected.
 * @return 0, with the result in *@passed | SW_UNAVAILABLE: conn->until_ms has passed | as
 * requests.h */
int sw_hook_run_all(struct sw_hook_run *run, size_t *n, bool *passed,
                    struct sw_err *err) SW_CHECKED;
