#include "cli/cluster/hook_run.h"

#include <json-c/json.h>
#include <stdio.h>

#include "base/loop.h"
#include "chart/recipe/recipe.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/releases.h"
#include "cli/cluster/requests.h"
#include "data/data.h"
#include "operator/manifests/hooks.h"
#include "operator/release/record.h"

/* ---- waiting -----------------------------------------------------------------------------------
 */

static void on_watch(const struct sw_watch_event *w, void *arg)
{
    struct sw_hook_run *run = arg;
    if (w->type == SW_WATCH_ERROR)
        return;
    if (w->type == SW_WATCH_SYNCED) {
        run->synced = true;
        return;
    }
    json_object_put(run->live);
    run->live = w->type == SW_WATCH_DELETED ? NULL : json_object_get(w->object);
    if (run->live && !*sw_obj_kind(run->live)) /* items of a list have no kind */
        sw_json_set_str(run->live, run->kind->kind, "kind", NULL);
}

static bool is_over(const struct sw_hook_run *run)
{
    const char *why;
    if (!run->synced)
        return false;
    if (run->want_gone || !run->live)
        return !run->live;
    return sw_release_hook_outcome(run->live, &why) != SW_HOOK_RUNS;
}

static const char *namespace_of(const struct sw_hook_run *run)
{
    return run->kind->namespaced ? sw_obj_namespace(run->doc) : NULL;
}

/* Wait until the hook is deleted or has ended. @return 0 | SW_UNAVAILABLE: deadline or signal */
static int await(struct sw_hook_run *run, bool want_gone, struct sw_err *err)
{
    struct sw_connection *conn = run->conn;
    json_object_put(SW_TAKE(run->live));
    run->synced = false;
    run->want_gone = want_gone;
    struct sw_kube_watch *watch = sw_kube_watch_open(
        conn->kube, run->kind,
        &(struct sw_watch_opts){ .ns = namespace_of(run), .name = sw_obj_name(run->doc) }, on_watch,
        run);
    while (!is_over(run) && !conn->signal && sw_loop_now_ms(conn->loop) < conn->until_ms)
        sw_loop_step(conn->loop, conn->until_ms - sw_loop_now_ms(conn->loop));
    bool over = is_over(run);
    sw_kube_watch_close(watch);
    if (over)
        return 0;
    return sw_err_set(err, SW_UNAVAILABLE, "%s has not %s in time", sw_obj_name(run->doc),
                      want_gone ? "gone" : "ended");
}

/* ---- logs --------------------------------------------------------------------------------------
 */

static void print_logs_of(struct sw_hook_run *run, const char *pod)
{
    SW_AUTO_CHARS *text = NULL;
    size_t len = 0;
    SW_ERR(err);
    int rc = sw_cluster_logs(run->conn, sw_obj_namespace(run->doc), pod,
                             &(struct sw_request_opts){ .retries = 2 }, &text, &len, &err);
    (void)printf("POD LOGS: %s\n%s%s", pod, rc == 0 ? text : sw_err_text(&err),
                 rc < 0 || (len && text[len - 1] != '\n') ? "\n" : "");
}

/* ---- one hook ----------------------------------------------------------------------------------
 */

static void print_logs(struct sw_hook_run *run)
{
    SW_AUTO_CHARS *selector = sw_printf("job-name=%s", sw_obj_name(run->doc));
    SW_AUTO_JSON *pods = NULL;
    SW_ERR(err);
    if (sw_streq(run->kind->kind, "Pod"))
        print_logs_of(run, sw_obj_name(run->doc));
    if (!sw_streq(run->kind->kind, "Job"))
        return;
    if (sw_cluster_find(run->conn, "v1", "Pod", sw_obj_namespace(run->doc), NULL,
                        &(struct sw_request_opts){ .label_selector = selector, .retries = 2 },
                        &pods, &err) < 0)
        (void)printf("POD LOGS: %s\n", sw_err_text(&err));
    for (size_t i = 0; i < sw_json_len(pods); i++)
        print_logs_of(run, sw_obj_name(sw_json_at(pods, i)));
}

/* Make run->doc and run->kind of the hook. */
static int prepare(struct sw_hook_run *run, const struct sw_release_hook *hook, struct sw_err *err)
{
    json_object_put(run->doc);
    run->doc = sw_json_copy(hook->doc);
    int rc = sw_cluster_kind(run->conn, sw_obj_api_version(run->doc), sw_obj_kind(run->doc),
                             &run->kind, err);
    if (rc < 0)
        return rc;
    rc = sw_hooks_apply(run->doc,
                        &(struct sw_hook_env){ .resource = run->resource,
                                               .ns = hook->ns,
                                               .namespaced = run->kind->namespaced },
                        err);
    if (rc == 0 && run->is_deletion) { /* without an owner it is not deleted, as with Helm */
        SW_AUTO_CHARS *mark = sw_release_hooks_mark(run->event, sw_obj_uid(run->record), false);
        (void)sw_json_del(run->doc, "metadata", "ownerReferences", NULL);
        sw_json_set_str(run->doc, mark, "metadata", "annotations", SW_DELETION_RUN_MARK, NULL);
    }
    return rc;
}

/* Delete the hook's object and wait until it is gone. */
static int remove_object(struct sw_hook_run *run, struct sw_err *err)
{
    int rc = sw_cluster_delete(
        run->conn, run->kind, namespace_of(run), sw_obj_name(run->doc),
        &(struct sw_request_opts){ .propagation = "Background", .retries = 3 }, err);
    return rc == SW_NOTFOUND ? 0 : rc < 0 ? rc : await(run, true, err);
}

/* Remove the object of an earlier run of the hook, if its delete policy allows that. */
static int make_room(struct sw_hook_run *run, const struct sw_release_hook *hook,
                     struct sw_err *err)
{
    SW_AUTO_JSON *there = NULL;
    SW_ERR(why);
    int rc = sw_cluster_get(run->conn, run->kind, namespace_of(run), sw_obj_name(run->doc),
                            &(struct sw_request_opts){ .retries = 3 }, &there, &why);
    if (rc == SW_NOTFOUND)
        return 0;
    if (rc < 0)
        return sw_err_move(err, &why);
    /* of this deletion: begun by the operator, or by an uninstall that was interrupted */
    const char *mark = sw_obj_annotation(run->doc, SW_DELETION_RUN_MARK), *outcome;
    if (mark && sw_streq(sw_obj_annotation(there, SW_DELETION_RUN_MARK), mark) &&
        sw_release_hook_outcome(there, &outcome) != SW_HOOK_FAILED)
        return 0;
    if (hook->policies & SW_HOOK_DELETE_BEFORE_CREATION)
        return remove_object(run, err);
    return sw_err_set(err, SW_CONFLICT,
                      "%s '%s' is there already, and its delete policy is not before-hook-creation",
                      run->kind->kind, sw_obj_name(run->doc));
}

/* Record the result of a hook: `helm status` shows it, and the operator reads which hooks of a
 * deletion have run. A failure is only printed. */
static void record_result(struct sw_hook_run *run, const struct sw_release_hook *hook,
                          const char *why)
{
    struct json_object *item = sw_json_at(sw_json_get(run->release, "hooks"), hook->at);
    const struct sw_kind *kind;
    SW_AUTO_JSON *note = NULL;
    SW_ERR(err);
    if (run->live)
        (void)json_object_object_add(item, "last_run", sw_release_run_of_object(run->live));
    SW_AUTO_JSON *patch = sw_release_patch(run->record, run->release);
    if (run->is_deletion) {
        (void)json_object_object_add(run->past, hook->key, json_object_new_string(why));
        note = sw_release_hooks_note(run->past, sw_obj_uid(run->resource), false);
        (void)json_object_object_add(patch, "metadata",
                                     json_object_get(sw_json_get(note, "metadata")));
    }
    int rc = sw_cluster_kind(run->conn, "v1", sw_obj_kind(run->record), &kind, &err);
    if (rc == 0)
        rc = sw_cluster_patch(run->conn, kind, run->ns, sw_obj_name(run->record), patch, &err);
    if (rc < 0)
        (void)fprintf(stderr, "slipway: how %s went is not recorded: %s\n", hook->key,
                      sw_err_text(&err));
}

/* @return 0: the hook has ended, with the result in *@passed | a code: it could not be run */
static int run_hook(struct sw_hook_run *run, const struct sw_release_hook *hook, bool *passed,
                    struct sw_err *err)
{
    SW_AUTO_JSON *made = NULL;
    const char *why = "is gone";
    int rc = prepare(run, hook, err);
    if (rc == 0)
        rc = make_room(run, hook, err);
    if (rc == 0)
        rc = sw_cluster_apply(run->conn, run->kind, namespace_of(run), sw_obj_name(run->doc),
                              run->doc, &(struct sw_request_opts){ .force = true, .retries = 3 },
                              &made, err);
    if (rc == 0)
        rc = await(run, false, err);
    if (rc < 0)
        return rc;
    *passed = run->live && sw_release_hook_outcome(run->live, &why) == SW_HOOK_SUCCEEDED;
    (void)printf("%s: %s%s%s\n", hook->key, *passed ? "Succeeded" : "Failed", *passed ? "" : ": ",
                 *passed ? "" : why);
    if (!*passed || run->logs || sw_release_hook_shows_log(run->doc))
        print_logs(run);
    if (run->live || run->is_deletion)
        record_result(run, hook, *passed ? "" : why);
    return !*passed && (hook->policies & SW_HOOK_DELETE_FAILED) ? remove_object(run, err) : 0;
}

/* ---- all hooks ---------------------------------------------------------------------------------
 */

static bool is_selected(const struct sw_hook_run *run, const struct sw_release_hook *hook)
{
    return !run->only || sw_streq(sw_obj_name(hook->doc), run->only);
}

int sw_hook_run_all(struct sw_hook_run *run, size_t *n, bool *passed, struct sw_err *err)
{
    int rc = 0;
    *n = 0;
    *passed = true;
    for (size_t i = 0; rc == 0 && *passed && i < run->hooks.n; i++) {
        const struct sw_release_hook *hook = &run->hooks.items[i];
        if (!is_selected(run, hook))
            continue;
        ++*n;
        bool is_done = run->is_deletion &&
                       sw_streq(sw_json_str(run->past, NULL, hook->key, NULL), "");
        if (!is_done)
            rc = run_hook(run, hook, passed, err);
    }
    /* as Helm: delete what has succeeded when all hooks have */
    for (size_t i = 0; rc == 0 && *passed && i < run->hooks.n; i++) {
        const struct sw_release_hook *hook = &run->hooks.items[i];
        if (!is_selected(run, hook) || !(hook->policies & SW_HOOK_DELETE_SUCCEEDED))
            continue;
        rc = prepare(run, hook, err);
        if (rc == 0)
            rc = remove_object(run, err);
    }
    return rc;
}

/* Is @hook one of a shared release that stays? */
static bool is_kept(const struct sw_hook_run *run, const struct sw_release_hook *hook)
{
    return hook->shared && sw_json_get(run->kept, hook->shared);
}

int sw_hook_run_read(struct sw_hook_run *run, const char *event, struct sw_err *err)
{
    sw_release_hooks_done(&run->hooks);
    run->event = event;
    int rc = sw_release_hooks_read(run->release, event, run->ns, &run->hooks, err);
    size_t n = 0;
    for (size_t i = 0; rc == 0 && i < run->hooks.n; i++)
        if (is_kept(run, &run->hooks.items[i]))
            sw_release_hook_done(&run->hooks.items[i]);
        else
            run->hooks.items[n++] = run->hooks.items[i];
    run->hooks.n = n;
    return rc;
}

/* ---- the record --------------------------------------------------------------------------------
 */

/* The newest record that slipway wrote, or that somebody has accepted. */
static int find_record(struct sw_hook_run *run, struct sw_err *err)
{
    struct json_object *resource = run->resource;
    SW_AUTO_JSON *list = NULL;
    SW_AUTO_JSON *known = json_object_new_array();
    int rc = sw_releases_list(run->conn, resource, &list, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < sw_json_len(list); i++)
        if (sw_record_is_known(resource, sw_json_find(resource, "status", "records", NULL),
                               sw_obj_name(sw_json_at(list, i))))
            (void)json_object_array_add(known, json_object_get(sw_json_at(list, i)));
    if (sw_json_len(list) && !sw_releases_are_begun(resource))
        return sw_err_set(err, SW_INVALID,
                          "whose the records of '%s' are is not known yet: an operator of this "
                          "version has to walk it first",
                          sw_obj_name(resource));
    struct json_object *newest = sw_release_newest(known), *last = sw_release_newest(list);
    if (last && last != newest) {
        SW_AUTO_CHARS *why = sw_record_why_not(SW_RECORD_UNKNOWN, sw_obj_name(resource),
                                               sw_obj_kind(last), run->ns, sw_obj_name(last), NULL);
        (void)fprintf(stderr, "slipway: %s\n", why);
    }
    if (!newest)
        return sw_err_set(err, SW_NOTFOUND,
                          "no release of '%s' is recorded: it was not Ready yet, or the operator "
                          "keeps no records (--releases)",
                          sw_obj_name(resource));
    return sw_releases_read(run->conn, newest, &run->record, &run->release, err);
}

int sw_hook_run_init(struct sw_hook_run *run, struct sw_connection *conn,
                     struct json_object *resource, struct sw_err *err)
{
    const char *state = sw_json_str(resource, "", "spec", "managementState", NULL);
    char digest[SW_SHA256_HEX];
    *run = (struct sw_hook_run){ .conn = conn,
                                 .resource = resource,
                                 .ns = sw_releases_namespace(resource) };
    int rc = find_record(run, err);
    if (rc < 0)
        return rc;
    enum sw_record_trust trust = sw_releases_check(resource, run->record, run->release, digest);
    if (trust != SW_RECORD_TRUSTED) {
        SW_AUTO_CHARS *why = sw_record_why_not(trust, sw_obj_name(resource),
                                               sw_obj_kind(run->record), run->ns,
                                               sw_obj_name(run->record), *digest ? digest : NULL);
        return sw_err_set(err, SW_INVALID, "%s", why);
    }
    run->past = sw_release_hooks_past(run->record, sw_obj_uid(resource),
                                      sw_streq(state, "Removed"));
    return 0;
}

void sw_hook_run_done(struct sw_hook_run *run)
{
    sw_release_hooks_done(&run->hooks);
    json_object_put(SW_TAKE(run->record));
    json_object_put(SW_TAKE(run->release));
    json_object_put(SW_TAKE(run->past));
    json_object_put(SW_TAKE(run->doc));
    json_object_put(SW_TAKE(run->live));
}
