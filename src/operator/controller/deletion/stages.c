/* The stages of a deletion or removal; see stages.h. */
#include "operator/controller/deletion/stages.h"
#include "operator/release/record.h"

#include <stdlib.h>
#include <string.h>

/* ---- the status --------------------------------------------------------------------------------
 */

void deletion_report(struct deletion *f, bool failed, const char *message)
{
    if (sw_streq(f->message, message) && f->failed == failed)
        return;
    free(f->message);
    f->message = sw_strdup(message);
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
    if (f->stage == DELETION_BEFORE)
        spec->hold = SW_HOLD_ALL;
    else if ((f->stage == DELETION_REMOVING && f->after.n) || f->stage == DELETION_AFTER)
        spec->hold = SW_HOLD_LAST;
    spec->hold_message = deletion_runs_hooks(f) ? f->message : NULL;
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

static int read_hooks(struct deletion *f, struct json_object *record, struct sw_err *err)
{
    const char *ns = resource_namespace(f->r);
    SW_AUTO_JSON *release = NULL;
    int rc = sw_release_of_record(record, &release, err);
    if (rc == 0)
        rc = sw_release_hooks_read(release, "pre-delete", ns, &f->before, err);
    if (rc == 0)
        rc = sw_release_hooks_read(release, "post-delete", ns, &f->after, err);
    if (rc == 0) {
        json_object_put(f->done);
        f->done = sw_release_hooks_past(record, f->r->uid, resource_is_removed(f->r));
    }
    return rc;
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
    int rc = a->code < 0 ? sw_err_set(&err, a->code, "%s", sw_err_text(a->err))
                         : read_hooks(f, a->object, &err);
    f->record_uid = rc == 0 ? sw_strdup(sw_obj_uid(a->object)) : NULL;
    if (rc < 0)
        deletion_give_up(f, sw_err_text(&err));
    else
        deletion_enter(f, f->before.n ? DELETION_BEFORE : DELETION_REMOVING);
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
    if (a->code < 0 && a->code != SW_NOTFOUND && f->stage == DELETION_READING) {
        deletion_give_up(f, sw_err_text(a->err));
        return;
    }
    if (f->stage == DELETION_OVER) {
        deletion_release_records(f);
        return;
    }
    struct json_object *newest = sw_release_newest(f->list);
    if (!newest) {
        deletion_enter(f, DELETION_REMOVING);
        return;
    }
    f->record = sw_strdup(sw_obj_name(newest));
    f->req = sw_kube_get(f->r->c->kube, deletion_record_kind(f), resource_namespace(f->r),
                         f->record, &(struct sw_request_opts){ .retries = DELETION_RETRIES },
                         on_record, f);
}

static void list_records(struct deletion *f)
{
    json_object_put(f->list);
    f->list = json_object_new_array();
    f->next_record = 0;
    f->req = sw_release_list(f->r->c->kube, deletion_record_kind(f), resource_namespace(f->r),
                             f->r->name, on_list, f);
}

/* ---- the row ------------------------------------------------------------------------------------
 */

static void on_timer(void *arg)
{
    struct deletion *f = arg;
    if (f->req)
        return;
    if (f->stage == DELETION_READING || f->stage == DELETION_OVER)
        list_records(f);
    else if (deletion_runs_hooks(f))
        deletion_run_hooks(f);
}

static bool orphans(const struct resource *r)
{
    struct sw_policy policy;
    (void)sw_policy_read(r->doc, &policy, NULL); /* its errors are reported by the core */
    return policy.orphan;
}

/* Are no hooks to be run? */
static bool goes_without(const struct resource *r)
{
    return (resource_is_deleting(r) && orphans(r)) ||
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
        } else if (deletion_runs_hooks(f)) {
            deletion_retry_failed(f);
            deletion_run_hooks(f);
        }
        return f->stage != DELETION_READING;
    }
    f = r->state[CAPABILITY_deletion] = sw_zalloc(1, sizeof *f);
    *f = (struct deletion){ .r = r, .done = json_object_new_object() };
    f->timer = sw_timer_new(r->c->loop, on_timer, f);
    if (goes_without(r) || !deletion_record_kind(f)) {
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
    if (!f || !orphans(r) || !deletion_record_kind(f) || f->req)
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
    sw_timer_free(f->timer);
    sw_timer_free(f->emptied);
    sw_release_hooks_done(&f->before);
    sw_release_hooks_done(&f->after);
    json_object_put(f->list);
    json_object_put(f->done);
    free(f->record);
    free(f->record_uid);
    free(f->message);
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
