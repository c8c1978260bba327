/* The stages of a deletion or removal; see stages.h. */
#include "operator/controller/deletion/stages.h"
#include "operator/release/record.h"

#include <stdlib.h>
#include <string.h>

enum { DOUBT_MS = 30000 };

/* ---- the status --------------------------------------------------------------------------------
 */

void deletion_report(struct deletion *f, bool failed, const char *message)
{
    if (sw_streq(f->message, message) && f->failed == failed)
        return;
    sw_text_set(&f->message, message);
    f->failed = failed;
    if (failed) {
        sw_log(SW_LOG_WARN, "hook of the deletion failed", "resource", f->r->name, "why", message,
               NULL);
        event_record(f->r, &(struct sw_action){ .warning = true,
                                                .reason = "DeletionHookFailed",
                                                .message = message });
    }
    resource_tell(f->r);
}

bool deletion_runs_hooks(const struct deletion *f)
{
    return f->stage == DELETION_BEFORE || f->stage == DELETION_AFTER;
}

static void fill_spec(struct resource *r, struct sw_spec *spec)
{
    const struct deletion *f = deletion_of(r);
    if (!f || !(spec->deleting || spec->management == SW_REMOVED))
        return;
    if (f->stage == DELETION_BEFORE || f->stage == DELETION_DOUBTING)
        spec->hold = SW_HOLD_ALL;
    else if ((f->stage == DELETION_REMOVING && f->after.n) || f->stage == DELETION_AFTER)
        spec->hold = SW_HOLD_LAST;
    spec->hold_message = deletion_runs_hooks(f) || f->stage == DELETION_DOUBTING ? f->message
                                                                                 : NULL;
    spec->hold_failed = f->failed;
}

/* ---- stages ------------------------------------------------------------------------------------
 */

static void end_hooks(struct deletion *f)
{
    f->stage = DELETION_OVER;
    if (!resource_is_deleting(f->r)) /* else the records are deleted with their owner */
        resource_hooks_over(f->r);
}

void deletion_enter(struct deletion *f, enum deletion_stage stage)
{
    deletion_leave_hook(f);
    sw_timer_stop(f->timer);
    f->stage = stage;
    if (stage == DELETION_OVER || (stage == DELETION_REMOVING && !f->after.n))
        end_hooks(f);
    f->at = 0;
    f->tidying = f->failed = false;
    free(SW_TAKE(f->message));
    if (deletion_runs_hooks(f))
        deletion_run_hooks(f);
    else
        resource_tell(f->r);
}

void deletion_give_up(struct deletion *f, const char *why)
{
    sw_log(SW_LOG_WARN, "hooks of the deletion are left out", "resource", f->r->name, "why", why,
           NULL);
    event_record(f->r, &(struct sw_action){
                           .warning = true, .reason = "DeletionHooksLeftOut", .message = why });
    deletion_enter(f, DELETION_OVER);
}

/* ---- the records -------------------------------------------------------------------------------
 */

/* What keeps the hooks from being known lasts until somebody decides. */
static void wait_for_somebody(struct deletion *f, const char *why)
{
    SW_AUTO_CHARS *message = sw_printf("%s [Failed: the deletion waits. To go on without hooks, "
                                       "annotate the resource with " SW_DELETION_NO_HOOKS "=true]",
                                       why);
    f->stage = DELETION_DOUBTING;
    deletion_report(f, true, message);
    sw_timer_set(f->timer, DOUBT_MS);
}

static int read_hooks(struct deletion *f, struct json_object *record, struct json_object *release,
                      struct sw_err *err)
{
    const char *ns = resource_namespace(f->r);
    int rc = sw_release_hooks_read(release, "pre-delete", ns, &f->before, err);
    if (rc == 0)
        rc = sw_release_hooks_read(release, "post-delete", ns, &f->after, err);
    if (rc == 0) {
        json_object_put(f->done);
        f->done = sw_release_hooks_past(record, f->r->uid, resource_is_removed(f->r));
    }
    return rc;
}

static void on_status_read(int code, const char *message SW_UNUSED, void *arg)
{
    struct deletion *f = arg;
    f->status = NULL;
    f->status_is_new = code == 0;
    sw_timer_set(f->timer, code == 0 ? 0 : DELETION_RETRY_MS); /* the records are read again */
}

/* The record is not what slipway wrote: nothing is deleted before somebody has decided. */
static void doubt(struct deletion *f, enum sw_record_trust trust, const char *digest)
{
    struct resource *r = f->r;
    const struct sw_kind *kind = records_kind(r);
    if (!f->status_is_new) {
        f->status = records_read_again(r, on_status_read, f);
        return;
    }
    f->status_is_new = false;
    SW_AUTO_CHARS *why = sw_record_why_not(trust, r->name, kind ? kind->kind : "",
                                           resource_namespace(r), f->record, digest);
    record_refused(r, trust, kind ? kind->kind : "", f->record, digest, false);
    wait_for_somebody(f, why);
}

/* The hooks of @record, if it can be trusted. @return whether that is decided */
static bool take_record(struct deletion *f, struct json_object *record, struct sw_err *err)
{
    SW_AUTO_JSON *release = NULL;
    char digest[SW_SHA256_HEX] = "";
    int rc = sw_release_of_record(record, &release, err);
    if (rc == 0)
        sw_release_digest(record, release, digest);
    enum sw_record_trust trust = record_check(f->r, sw_obj_name(record), digest);
    if (trust != SW_RECORD_TRUSTED) {
        doubt(f, trust, rc == 0 ? digest : NULL);
        return false;
    }
    (void)read_hooks(f, record, release, err);
    return true;
}

static void on_record(const struct sw_kube_answer *a, void *arg)
{
    struct deletion *f = arg;
    SW_ERR(err);
    f->req = NULL;
    if (a->code == SW_UNAVAILABLE) {
        sw_timer_set(f->timer, DELETION_RETRY_MS);
        return;
    }
    if (a->code < 0)
        (void)sw_err_set(&err, a->code, "%s", sw_err_text(a->err));
    else if (!take_record(f, a->object, &err))
        return;
    free(SW_TAKE(f->record_uid));
    f->record_uid = err.code == 0 ? sw_strdup(sw_obj_uid(a->object)) : NULL;
    if (err.code < 0)
        deletion_give_up(f, sw_err_text(&err));
    else
        deletion_enter(f, f->before.n ? DELETION_BEFORE : DELETION_REMOVING);
}

/* The newest record that slipway wrote; others are left alone. */
static struct json_object *newest_known(struct deletion *f)
{
    struct resource *r = f->r;
    const struct sw_kind *kind = records_kind(r);
    SW_AUTO_JSON *known = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(f->list); i++)
        if (record_is_known(r, sw_obj_name(sw_json_at(f->list, i))))
            (void)json_object_array_add(known, json_object_get(sw_json_at(f->list, i)));
    struct json_object *newest = sw_release_newest(f->list), *best = sw_release_newest(known);
    if (newest != best)
        record_refused(r, SW_RECORD_UNKNOWN, kind ? kind->kind : "", sw_obj_name(newest), NULL,
                       false);
    return best; /* in @f->list, too */
}

static void on_namespace(const struct sw_kube_answer *a, void *arg)
{
    struct deletion *f = arg;
    f->req = NULL;
    if (a->code == SW_UNAVAILABLE)
        sw_timer_set(f->timer, DELETION_RETRY_MS);
    else if (a->code == SW_NOTFOUND) /* the records went with it */
        deletion_enter(f, DELETION_REMOVING);
    else
        wait_for_somebody(f, f->forbidden);
}

/* The records may not be listed: the right to them went, alone or with their namespace. */
static void on_forbidden(struct deletion *f, const char *why)
{
    struct resource *r = f->r;
    const struct sw_kind *kind = sw_kube_kind_find(r->c->kube, "v1", "Namespace");
    SW_AUTO_CHARS *command = account_rights_command(r);
    free(f->forbidden);
    f->forbidden = sw_printf("%s%s%s", why, command ? "; to give the rights again: " : "",
                             command ? command : "");
    if (kind)
        f->req = sw_kube_get(r->c->kube, kind, NULL, resource_namespace(r),
                             REQUEST_OWN(OBJECTS, .retries = DELETION_RETRIES), on_namespace, f);
    else
        wait_for_somebody(f, f->forbidden);
}

static void on_list(const struct sw_kube_answer *a, void *arg)
{
    struct deletion *f = arg;
    if (sw_release_list_add(f->list, a))
        return;
    f->req = NULL;
    if (a->code == SW_UNAVAILABLE || a->code == SW_GONE) {
        sw_timer_set(f->timer, DELETION_RETRY_MS);
        return;
    }
    if (a->code == SW_FORBIDDEN && f->stage != DELETION_OVER && records_are_kept(f->r)) {
        on_forbidden(f, sw_err_text(a->err));
        return;
    }
    if (a->code < 0 && a->code != SW_NOTFOUND && f->stage == DELETION_DOUBTING) {
        sw_timer_set(f->timer, DOUBT_MS);
        return;
    }
    if (a->code < 0 && a->code != SW_NOTFOUND && f->stage == DELETION_READING) {
        deletion_give_up(f, sw_err_text(a->err));
        return;
    }
    if (f->stage == DELETION_OVER) {
        deletion_release_records(f);
        return;
    }
    struct json_object *newest = newest_known(f);
    if (!newest) {
        deletion_enter(f, DELETION_REMOVING);
        return;
    }
    sw_text_set(&f->record, sw_obj_name(newest));
    f->req = sw_kube_get(f->r->c->kube, records_kind(f->r), resource_namespace(f->r), f->record,
                         REQUEST_OWN(RECORDS, .retries = DELETION_RETRIES), on_record, f);
}

static void list_records(struct deletion *f);

static void on_adopted(int code, const char *message, void *arg)
{
    struct deletion *f = arg;
    f->adoption = NULL;
    if (code == SW_UNAVAILABLE || code == SW_GONE || code == SW_CONFLICT)
        sw_timer_set(f->timer, DELETION_RETRY_MS);
    else if (code < 0 && f->stage != DELETION_OVER)
        deletion_give_up(f, message);
    else if (code < 0)
        finalize_done(f->r, CAPABILITY_deletion);
    else
        list_records(f);
}

static void list_records(struct deletion *f)
{
    json_object_put(f->list);
    f->list = json_object_new_array();
    f->next_record = 0;
    if (records_are_begun(f->r))
        f->req = sw_release_list(f->r->c->kube, records_kind(f->r), resource_namespace(f->r),
                                 f->r->name, NULL, on_list, f);
    else
        f->adoption = records_adopt(f->r, on_adopted, f);
}

/* ---- the row ------------------------------------------------------------------------------------
 */

static void on_timer(void *arg)
{
    struct deletion *f = arg;
    if (f->req || f->adoption || f->status)
        return;
    if (f->stage == DELETION_READING || f->stage == DELETION_DOUBTING || f->stage == DELETION_OVER)
        list_records(f);
    else if (deletion_runs_hooks(f))
        deletion_run_hooks(f);
}

/* Are no hooks to be run? */
static bool goes_without(const struct resource *r)
{
    return (resource_is_deleting(r) && resource_is_orphaning(r)) ||
           sw_streq(sw_obj_annotation(r->doc, SW_DELETION_NO_HOOKS), "true");
}

/* The resource is deleted or removed, or has changed since: a hook that failed may be run again, or
 * be left out. @return false: the hooks are not known yet; the engine gets its event then */
static bool begin(struct resource *r)
{
    struct deletion *f = deletion_of(r);
    if (f) {
        if (f->stage != DELETION_OVER && goes_without(r)) {
            deletion_enter(f, DELETION_OVER);
        } else if (f->stage == DELETION_DOUBTING) {
            sw_timer_set(f->timer, 0); /* it may be accepted by now */
        } else if (deletion_runs_hooks(f)) {
            deletion_retry_failed(f);
            deletion_run_hooks(f);
        }
        return f->stage != DELETION_READING;
    }
    f = r->state[CAPABILITY_deletion] = sw_zalloc(1, sizeof *f);
    *f = (struct deletion){ .r = r, .done = json_object_new_object() };
    f->timer = sw_timer_new(r->c->loop, on_timer, f);
    if (goes_without(r) || !records_kind(r)) {
        end_hooks(f);
        return true;
    }
    list_records(f);
    return false;
}

static void on_emptied(void *arg)
{
    struct deletion *f = arg;
    if (f->stage == DELETION_REMOVING)
        deletion_enter(f, DELETION_AFTER);
}

/* By a timer, since the engine's next event cannot be sent inside this step. */
static void emptied(struct resource *r)
{
    struct deletion *f = deletion_of(r);
    if (!f)
        return;
    if (!f->emptied)
        f->emptied = sw_timer_new(r->c->loop, on_emptied, f);
    sw_timer_set(f->emptied, 0);
}

static bool finalize(struct resource *r)
{
    struct deletion *f = deletion_of(r);
    if (!f || !resource_is_orphaning(r) || !records_kind(r) || f->req || f->adoption)
        return true;
    f->stage = DELETION_OVER;
    list_records(f);
    return false;
}

static void resource_close(struct resource *r)
{
    struct deletion *f = SW_TAKE(r->state[CAPABILITY_deletion]);
    if (!f)
        return;
    deletion_leave_hook(f);
    adoption_cancel(f->adoption);
    records_cancel(f->status);
    sw_timer_free(f->timer);
    sw_timer_free(f->emptied);
    sw_release_hooks_done(&f->before);
    sw_release_hooks_done(&f->after);
    json_object_put(f->list);
    json_object_put(f->done);
    free(f->record);
    free(f->record_uid);
    free(f->forbidden);
    free(f->message);
    free(f->log_of);
    free(f->log);
    free(f);
}

static bool intent(struct resource *r, enum resource_intent intent)
{
    if (intent == INTENT_REMOVE || intent == INTENT_DELETE)
        return begin(r);
    resource_close(r);
    return true;
}

const struct capability capability_deletion = {
    .name = "deletion",
    .summary = "pre-delete and post-delete hooks; with deletionPolicy orphan, records that outlive "
               "the resource",
    .intent = intent,
    .fill_spec = fill_spec,
    .emptied = emptied,
    .finalize = finalize,
    .resource_close = resource_close,
};
