#pragma once
/* hook_run: the hooks of a resource's recorded release, run from here one after another, as Helm
 * runs them: `slipway test` those of a test, `slipway uninstall` those of a deletion. */
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
    bool logs;                    /* of what succeeds, too */
    bool is_deletion;             /* nobody owns what is made; the operator knows it again */
    struct json_object *record, *release;
    struct json_object *past; /* of a deletion: key -> "" (succeeded), or why it failed */

    /* the stage */
    struct sw_release_hooks hooks;
    const char *event;

    /* the one that runs */
    const struct sw_kind *kind;
    struct json_object *doc, *live;
    bool synced, want_gone;
};

/** Find the newest record of @resource's release. What else is in @run is zero then, and the
 * caller's to set. @return 0 | SW_NOTFOUND: there is none | as requests.h */
int sw_hook_run_init(struct sw_hook_run *run, struct sw_connection *conn,
                     struct json_object *resource, struct sw_err *err) SW_CHECKED;
/** Free what @run holds; twice is harmless. */
void sw_hook_run_done(struct sw_hook_run *run);

/** Find the hooks of @event (a string that stays), into run->hooks.
 * @return 0 | SW_INVALID: a manifest is none */
int sw_hook_run_read(struct sw_hook_run *run, const char *event, struct sw_err *err) SW_CHECKED;
/** Run those that were read, until the first that fails; each is printed with how it went. Of a
 * deletion those are left out that have succeeded before. *@n: how many there were.
 * @return 0, *@passed says how | SW_UNAVAILABLE: conn->until_ms has come | as requests.h */
int sw_hook_run_all(struct sw_hook_run *run, size_t *n, bool *passed,
                    struct sw_err *err) SW_CHECKED;
