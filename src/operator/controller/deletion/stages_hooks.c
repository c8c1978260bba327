/* The hooks of one stage, one after the other: applied, watched until they end, noted on the
 * release's record, and deleted as their delete policy says. */
#include "operator/controller/deletion/stages.h"
#include "operator/manifests/hooks.h"

#include <stdlib.h>

#include "data/text/time.h"
#include "operator/engine/readiness/gate.h"

enum { KNOWN_MS = 100, AGAIN_MS = 30000, TIMEOUT_MS = 5 * 60000 };

/* ---- one hook ----------------------------------------------------------------------------------
 */

static struct sw_release_hooks *hooks_of(struct deletion *f)
{
    return f->stage == DELETION_AFTER ? &f->after : &f->before;
}

static const struct sw_release_hook *current(struct deletion *f)
{
    return &hooks_of(f)->items[f->at];
}

void deletion_leave_hook(struct deletion *f)
{
    sw_kube_cancel(SW_TAKE(f->req));
    sw_kube_watch_close(SW_TAKE(f->watch));
    json_object_put(SW_TAKE(f->doc));
    json_object_put(SW_TAKE(f->live));
    f->kind = NULL;
    f->synced = f->succeeded = false;
}

static void fail(struct deletion *f, const char *why)
{
    SW_AUTO_CHARS *message = sw_printf(
        "hook %s failed: %s [Failed: the deletion waits. Mend the cause and delete the hook's "
        "object, or annotate the resource with " SW_DELETION_NO_HOOKS "=true to go without]",
        current(f)->key, why);
    deletion_report(f, true, message);
}

/* A request about the hook has failed: try again later. */
static void trouble(struct deletion *f, int code, const char *why)
{
    if (f->tidying)
        deletion_leave_hook(f);
    if (code == SW_UNAVAILABLE || code == SW_CONFLICT || code == SW_GONE) {
        sw_timer_set(f->timer, DELETION_RETRY_MS);
        return;
    }
    fail(f, why);
    sw_timer_set(f->timer, AGAIN_MS); /* permissions, quotas and webhooks may change */
}

/* The same of a request that was made as the resource's account. */
static void trouble_as(struct deletion *f, const struct sw_kube_answer *a)
{
    SW_AUTO_CHARS *why = account_message(f->r, a->code, sw_err_text(a->err));
    trouble(f, a->code, why);
}

static void on_noted(const struct sw_kube_answer *a, void *arg)
{
    struct deletion *f = arg;
    f->req = NULL;
    if (a->code < 0 &&
        a->code != SW_NOTFOUND) { /* NOTFOUND: without a record it is not run again */
        (void)json_object_object_del(f->done, current(f)->key);
        trouble(f, a->code, sw_err_text(a->err));
        return;
    }
    if (*sw_json_str(f->done, "", current(f)->key, NULL) == '\0') {
        deletion_tell_success(f);
        deletion_leave_hook(f);
    }
    deletion_run_hooks(f);
}

/* Note the end of the hook on the record. @why "": it has succeeded. */
static void note(struct deletion *f, const char *why)
{
    (void)json_object_object_add(f->done, current(f)->key, json_object_new_string(why));
    SW_AUTO_JSON *patch = sw_release_hooks_note(f->done, f->r->uid, !resource_is_deleting(f->r));
    f->req = sw_kube_patch(f->r->c->kube, records_kind(f->r), resource_namespace(f->r), f->record,
                           SW_PATCH_MERGE, patch, REQUEST_OWN(RECORDS, .retries = DELETION_RETRIES),
                           on_noted, f);
}

static void on_applied(const struct sw_kube_answer *a, void *arg)
{
    struct deletion *f = arg;
    f->req = NULL;
    if (a->code == SW_NOTFOUND) { /* its namespace is gone: it can never run */
        deletion_give_up(f, sw_err_text(a->err));
        return;
    }
    if (a->code < 0) {
        trouble_as(f, a);
        return;
    }
    if (!f->live)
        f->live = json_object_get(a->object);
    deletion_run_hooks(f);
}

static void on_deleted(const struct sw_kube_answer *a, void *arg)
{
    struct deletion *f = arg;
    f->req = NULL;
    if (a->code < 0 && a->code != SW_NOTFOUND && a->code != SW_CONFLICT)
        trouble_as(f, a);
    else if (f->tidying) {
        f->at++;
        deletion_leave_hook(f);
        deletion_run_hooks(f);
    }
}

static void remove_live(struct deletion *f, const char *uid)
{
    const char *ns = f->kind->namespaced ? sw_obj_namespace(f->doc) : NULL;
    f->req = sw_kube_delete(
        f->r->c->kube, f->kind, ns, sw_obj_name(f->doc),
        REQUEST_AS(f->r, .propagation = "Background", .uid = uid, .retries = DELETION_RETRIES),
        on_deleted, f);
}

static void apply_hook(struct deletion *f)
{
    const char *why_failed = sw_json_str(f->done, "", current(f)->key, NULL);
    if (*why_failed) {
        fail(f, why_failed);
        return;
    }
    const char *ns = f->kind->namespaced ? sw_obj_namespace(f->doc) : NULL;
    f->req = sw_kube_apply(f->r->c->kube, f->kind, ns, sw_obj_name(f->doc), f->doc,
                           REQUEST_AS(f->r, .force = true, .retries = DELETION_RETRIES), on_applied,
                           f);
}

/* Its timeout is that of its annotation, else that of states, else Helm's. A late hook is left to
 * run; if it succeeds, the deletion goes on. */
static bool is_late(struct deletion *f)
{
    int64_t since_ms = 0, timeout_ms = 0, now_ms = sw_loop_wall_ms(f->r->c->loop);
    const char *since = sw_json_str(f->live, "", "metadata", "creationTimestamp", NULL),
               *own = sw_obj_annotation(f->live, SW_ANN_TIMEOUT);
    if (sw_time_parse(since, &since_ms, NULL) < 0)
        return false;
    if (!own || sw_span_parse(own, &timeout_ms, NULL) < 0 || !timeout_ms) {
        struct sw_policy policy;
        (void)sw_policy_read(f->r->doc, &policy, NULL);
        timeout_ms = policy.timeout_ms ? policy.timeout_ms : TIMEOUT_MS;
    }
    int64_t left_ms = since_ms + timeout_ms - now_ms;
    if (left_ms > 0)
        sw_timer_set(f->timer, left_ms);
    return left_ms <= 0;
}

/* The hook's object has failed. */
static void failed(struct deletion *f, const char *reason)
{
    const struct sw_release_hook *hook = current(f);
    bool is_noted = sw_json_get(f->done, hook->key);
    SW_AUTO_CHARS *why = deletion_with_log(f, reason);
    fail(f, why);
    if (!(hook->policies & SW_HOOK_DELETE_FAILED))
        return;
    if (!is_noted)
        note(f, why); /* before it is deleted: after a restart it would be run again */
    else if (!f->req)
        remove_live(f, sw_obj_uid(f->live));
}

static void check_hook(struct deletion *f)
{
    const struct sw_release_hook *hook = current(f);
    const char *why;
    if (!f->synced || f->req)
        return;
    if (f->succeeded) { /* and its log is read; its object may be gone by now */
        note(f, "");
        return;
    }
    if (!f->live) {
        apply_hook(f);
        return;
    }
    if (sw_json_find(f->live, "metadata", "deletionTimestamp", NULL))
        return; /* its end comes through the watch */
    if (!sw_streq(sw_obj_annotation(f->live, SW_DELETION_RUN_MARK),
                  sw_obj_annotation(f->doc, SW_DELETION_RUN_MARK))) { /* not of this run */
        if (hook->policies & SW_HOOK_DELETE_BEFORE_CREATION)
            remove_live(f, sw_obj_uid(f->live));
        else
            fail(f, "an object of that name is there already");
        return;
    }
    switch (sw_release_hook_outcome(f->live, &why)) {
    case SW_HOOK_SUCCEEDED:
        f->succeeded = true;
        if (deletion_tells_log(f))
            deletion_read_log(f);
        else
            note(f, "");
        break;
    case SW_HOOK_FAILED:
        if (deletion_has_log(f))
            failed(f, why);
        else
            deletion_read_log(f);
        break;
    case SW_HOOK_RUNS:
        if (is_late(f)) {
            fail(f, "it has not ended in time");
        } else {
            SW_AUTO_CHARS *message = sw_printf("hook %s: %s", hook->key, why);
            deletion_report(f, false, message);
        }
        break;
    }
}

static void on_watch(const struct sw_watch_event *w, void *arg)
{
    struct deletion *f = arg;
    if (w->type == SW_WATCH_ERROR)
        return;
    if (w->type == SW_WATCH_SYNCED)
        f->synced = true;
    else if (sw_streq(w->name, sw_obj_name(f->doc))) {
        json_object_put(f->live);
        f->live = w->type == SW_WATCH_DELETED ? NULL : json_object_get(w->object);
        if (f->live && !*sw_obj_kind(f->live)) /* items of a list have no kind */
            sw_json_set_str(f->live, f->kind->kind, "kind", NULL);
    }
    check_hook(f);
}

/* Make f->doc of the hook, as a render does, but without an owner: objects of hooks are not deleted
 * with the resource, as with Helm. @return 0 | SW_INVALID | SW_UNAVAILABLE: try again later */
static int prepare(struct deletion *f, const struct sw_kind *kind, struct sw_err *err)
{
    struct resource *r = f->r;
    SW_AUTO_JSON *doc = sw_json_copy(current(f)->doc);
    SW_AUTO_JSON *values = resource_values(r, NULL);
    const char *event = f->stage == DELETION_AFTER ? "post-delete" : "pre-delete";
    SW_AUTO_CHARS *mark = sw_release_hooks_mark(event, f->record_uid, !resource_is_deleting(r));
    struct sw_hook_env env = {
        .resource = r->doc, .ns = current(f)->ns, .values = values, .namespaced = kind->namespaced
    };
    if (sw_hook_asked(doc, SW_SRO_PREFIX "proxy") && !fact_source_ready(r->c, "proxy"))
        return sw_err_set(err, SW_UNAVAILABLE, "the cluster's proxy is being read");
    int rc = hook_env_fill(r, NULL, doc, &env, err);
    if (rc == SW_PENDING)
        rc = SW_UNAVAILABLE;
    if (rc == 0)
        rc = sw_hooks_apply(doc, &env, err);
    if (rc < 0)
        return rc;
    (void)sw_json_del(doc, "metadata", "ownerReferences", NULL);
    sw_json_set_str(doc, mark, "metadata", "annotations", SW_DELETION_RUN_MARK, NULL);
    f->doc = SW_TAKE(doc);
    f->kind = kind;
    return 0;
}

static void on_kind(int code, const struct sw_kind *kind, const struct sw_err *kind_err, void *arg)
{
    struct deletion *f = arg;
    SW_ERR(err);
    f->req = NULL;
    if (code < 0) {
        trouble(f, code, sw_err_text(kind_err));
        return;
    }
    int rc = prepare(f, kind, &err);
    if (rc < 0) {
        trouble(f, rc, sw_err_text(&err));
        return;
    }
    if (f->tidying) {
        remove_live(f, NULL);
        return;
    }
    f->watch = sw_kube_watch_open(
        f->r->c->kube, kind,
        WATCH_OWN(OBJECTS, .ns = kind->namespaced ? sw_obj_namespace(f->doc) : NULL,
                  .name = sw_obj_name(f->doc)),
        on_watch, f);
}

/* ---- all of the stage --------------------------------------------------------------------------
 */

/* What others use is not removed: its hooks do not run, and had nothing to be deleted. */
static bool is_due(struct deletion *f, const struct sw_release_hook *hook)
{
    if (hook->shared && resource_release_is_used(f->r, hook->shared))
        return false;
    bool succeeded = sw_streq(sw_json_str(f->done, NULL, hook->key, NULL), "");
    return f->tidying ? hook->policies & SW_HOOK_DELETE_SUCCEEDED : !succeeded;
}

void deletion_run_hooks(struct deletion *f)
{
    if (f->req)
        return;
    if (f->doc && !f->tidying) {
        check_hook(f);
        return;
    }
    const struct sw_release_hooks *hooks = hooks_of(f);
    for (size_t i = f->at; i < hooks->n; i++)
        if (hooks->items[i].shared &&
            resource_release_is_used(f->r, hooks->items[i].shared) == SW_PENDING) {
            sw_timer_set(f->timer, KNOWN_MS);
            return;
        }
    while (f->at < hooks->n && !is_due(f, &hooks->items[f->at]))
        f->at++;
    if (f->at < hooks->n) {
        struct json_object *doc = hooks->items[f->at].doc;
        if (!f->tidying) {
            SW_AUTO_CHARS *message = sw_printf("hook %s", hooks->items[f->at].key);
            deletion_report(f, false, message);
        }
        f->req = sw_kube_kind(f->r->c->kube, sw_obj_api_version(doc), sw_obj_kind(doc), on_kind, f);
        return;
    }
    if (!f->tidying && hooks->n) { /* Helm deletes what has succeeded when all of them have */
        f->tidying = true;
        f->at = 0;
        deletion_run_hooks(f);
        return;
    }
    deletion_enter(f, f->stage == DELETION_BEFORE ? DELETION_REMOVING : DELETION_OVER);
}

void deletion_retry_failed(struct deletion *f)
{
    const char *key = current(f)->key;
    if (f->failed && !f->live && sw_json_get(f->done, key))
        (void)json_object_object_del(f->done, key);
}
