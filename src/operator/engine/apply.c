/* Applying a state's objects in order, retiring those that it does not render any more, and
 * removing all of them in the opposite order. */
#include <json-c/json.h>

#include "base/kept.h"
#include "data/json/path.h"
#include "operator/engine/internal.h"

enum { LARGE_BYTES = 64 << 10 };

/* ---- requests ----------------------------------------------------------------------------------
 */

static struct sw_action *send(struct sw_engine *e, struct object *o, enum doing doing)
{
    static const enum sw_action_kind kinds[] = { [DOING_APPLY] = SW_ACT_APPLY,
                                                 [DOING_DELETE] = SW_ACT_DELETE,
                                                 [DOING_RELEASE] = SW_ACT_RELEASE };
    struct sw_action *a = act_add(e, kinds[doing]);
    a->serial = o->serial = act_serial(e);
    a->key = act_key(e, &o->key);
    if (doing != DOING_APPLY && o->uid && *o->uid)
        a->uid = sw_arena_strdup(e->arena, o->uid);
    o->doing = doing;
    e->status_dirty = true;
    return a;
}

static void send_delete(struct sw_engine *e, struct object *o)
{
    struct sw_action *a = send(e, o, DOING_DELETE);
    /* A workload is gone when its pods are: only then may go what it needs. */
    a->propagation = o->rank == RANK_WORKLOAD ? "Foreground" : "Background";
    if (o->rank == RANK_CRD && o->shared)
        a->shared = sw_arena_strdup(e->arena, o->shared);
}

/* ---- applying ----------------------------------------------------------------------------------
 */

/* Where another client keeps changing what was applied, slipway repairs it three times at once,
 * then with a back-off. */
static bool repair_is_due(struct sw_engine *e, struct object *o)
{
    if (o->fingerprint_of != o->hash)
        return true; /* no repair: this content was not applied before */
    if (e->now_ms - o->repaired_ms > 20 * e->opts.retry_max_ms)
        o->n_repairs = 0;
    int64_t due_ms = o->n_repairs < REPAIRS_AT_ONCE
                         ? e->now_ms
                         : o->repaired_ms + act_backoff(e, o->n_repairs - REPAIRS_AT_ONCE, true);
    if (due_ms > e->now_ms) {
        act_wake(e, due_ms);
        return false;
    }
    o->n_repairs++;
    o->repaired_ms = e->now_ms;
    return true;
}

static bool same_group(const struct object *a, const struct object *b)
{
    return a->stage == b->stage && a->rank == b->rank;
}

/* Does @next have to wait for @earlier, which is in a group before its own? */
static bool must_wait(const struct object *earlier, const struct object *next)
{
    /* hooks of one weight run one after the other; what only has to exist is not waited for */
    bool hooks = next->stage && next->stage != SW_STAGE_CRDS && earlier->stage == next->stage;
    bool until_ready = earlier->stage < next->stage || next->rank == RANK_LAST ||
                       earlier->rank == RANK_NAMESPACE || earlier->rank == RANK_CRD ||
                       (hooks && earlier->gate && earlier->gate->runs_to_completion);
    if (object_waits_again(earlier) && earlier->again <= next->stage)
        return true;
    return earlier->text && (hooks || !same_group(earlier, next)) &&
           (!object_is_applied(earlier) || (until_ready && !object_is_ready(earlier)));
}

/* Large objects are applied one at a time: a request has its document, its text and the answer's.
 */
static bool is_large(const struct object *o)
{
    return sw_kept_len(o->text) >= LARGE_BYTES;
}

static bool large_is_under_way(const struct state *s)
{
    for (size_t i = 0; i < s->n_objects; i++)
        if (s->objects[i]->doing == DOING_APPLY && s->objects[i]->text && is_large(s->objects[i]))
            return true;
    return false;
}

/* Objects of a state that others have changed or deleted: the first of them. */
struct drift {
    const struct object *first;
    size_t n;
};

/* The object is to be applied again with what was applied before, in a state that was ready. */
static void note_drift(const struct state *s, const struct object *o, struct drift *drift)
{
    if (!s->ready_ms || s->begun != s->digest || s->builds_begun || o->gate->dry_run ||
        o->fingerprint_of != o->hash || o->n_repairs > REPAIRS_AT_ONCE)
        return;
    drift->first = drift->first ? drift->first : o;
    drift->n++;
}

static void report_drift(struct sw_engine *e, const struct state *s, const struct drift *drift)
{
    const struct object *o = drift->first;
    if (!o)
        return;
    SW_AUTO_CHARS *more = drift->n > 1 ? sw_printf(", and %zu more objects", drift->n - 1)
                                       : sw_strdup("");
    const char *how = o->present ? "changed" : "deleted", *by = o->present ? o->writer : NULL;
    (void)act_event(e, false, "StateDrifted", "state %s: %s was %s%s%s%s%s; it is applied again",
                    s->hidden ? s->title : s->name, object_title(e, o), how,
                    by ? " by field manager '" : "", by ? by : "", by ? "'" : "", more);
}

static void apply_due(struct sw_engine *e, struct state *s, struct drift *drift)
{
    for (size_t i = 0; i < s->n_objects; i++) {
        struct object *o = s->objects[i];
        for (size_t k = 0; o->text && k < i; k++)
            if (must_wait(s->objects[k], o))
                return;
        if (!o->text || object_is_applied(o) || o->doing != DOING_NOTHING || o->fault.code ||
            o->unserved || o->terminating || o->foreign)
            continue;
        bool delete_first = o->present && (o->gate->replace || o->drop_before) &&
                            !o->gate->dry_run &&
                            (o->redo || o->must_replace ||
                             (o->live_hash != o->hash && !o->adopted && !o->inherited));
        if (!delete_first && is_large(o) && large_is_under_way(s))
            continue;
        if (delete_first) {
            send_delete(e, o);
        } else if (o->gate->dry_run || repair_is_due(e, o)) {
            struct sw_action *a = send(e, o, DOING_APPLY);
            a->doc = act_keep(e, object_document(e, o));
            a->force = true; /* the recipe's fields go before those of other managers */
            a->dry_run = o->gate->dry_run;
            /* a Pod is never changed in place: it has no field that a recipe could drop */
            a->inherit = o->present && o->inherited && !o->gate->replace;
            o->sent_hash = o->hash;
            note_drift(s, o, drift);
            if (o->adopted && o->present && !o->live_hash)
                (void)act_event(e, false, "TakenOver",
                                "%s, which is not slipway's, is written from now on (" SW_ANN_ADOPT
                                "), and stays when the resource goes",
                                object_title(e, o));
        }
    }
}

bool apply_next(struct sw_engine *e, struct state *s)
{
    struct drift drift = { 0 };
    if (!state_is_rendered(s))
        return false; /* what is known is out of date */
    apply_due(e, s, &drift);
    report_drift(e, s, &drift);
    return false;
}

/* ---- deleting ----------------------------------------------------------------------------------
 */

static bool delete_is_due(struct sw_engine *e, const struct object *o)
{
    if (o->doing != DOING_NOTHING || o->terminating || !o->observed)
        return false;
    if (o->retry_ms > e->now_ms) {
        act_wake(e, o->retry_ms);
        return false;
    }
    return true;
}

/* Who owns the shared release of @o instead; NULL: nobody. */
static struct json_object *heir_of(const struct sw_engine *e, const struct object *o)
{
    return o->shared ? sw_json_get(e->heirs, o->shared) : NULL;
}

/* Others use its shared release, and it is not said yet who has it next. */
static bool awaits_heir(const struct sw_engine *e, const struct object *o)
{
    return o->shared && json_object_object_get_ex(e->heirs, o->shared, NULL) && !heir_of(e, o);
}

/* The resource has another namespace now: what users have in the former one is not to go with it.
 */
static bool is_left(const struct sw_engine *e, const struct object *o)
{
    return o->rank == RANK_NAMESPACE && o->state->hidden && !engine_removes_all(e);
}

static void send_release(struct sw_engine *e, struct object *o)
{
    if (is_left(e, o))
        (void)act_event(e, false, "NamespaceKept",
                        "Namespace %s is not the resource's any more, and stays with what others "
                        "have in it: kubectl delete namespace %s deletes it",
                        o->key.name, o->key.name);
    struct json_object *heir = heir_of(e, o);
    struct sw_action *a = send(e, o, DOING_RELEASE);
    a->heir = heir ? act_keep(e, json_object_get(heir)) : NULL;
}

/* @return true: it is freed; nothing is left that slipway may delete. */
static bool remove_object(struct sw_engine *e, struct object *o)
{
    bool never_was = !o->observed && o->watch_fault.code && !o->our_uid;
    bool marked = o->present && o->ours && !o->terminating && !o->released && !o->borrowed;
    bool foreign = o->gate && (o->gate->observe || o->gate->dry_run);
    if (awaits_heir(e, o))
        return false;
    /* With its marks it would be deleted with the resource, though it is to stay. */
    if (o->observed && marked && !foreign &&
        (o->keep || o->adopted || engine_orphans(e) || heir_of(e, o) || is_left(e, o))) {
        if (delete_is_due(e, o))
            send_release(e, o);
        return false;
    }
    if (never_was || o->released ||
        (o->observed && o->doing == DOING_NOTHING && !object_is_removable(o))) {
        object_forget(e, o);
        return true;
    }
    if (delete_is_due(e, o))
        send_delete(e, o);
    return false;
}

bool apply_retire(struct sw_engine *e, struct state *s)
{
    bool forgotten = false;
    for (size_t i = 0; i < e->n_states; i++)
        if (e->states[i]->listed && !state_is_rendered(e->states[i]))
            return false; /* it may be about to take over what another state has dropped */
    for (size_t i = s->n_objects; i-- > 0;)
        if (!s->objects[i]->text && !s->objects[i]->fault.code)
            forgotten = remove_object(e, s->objects[i]) || forgotten;
    return forgotten;
}

/* A namespace's deletion deletes all objects in it: it comes last, whatever state it is of. */
static bool namespace_is_used(const struct sw_engine *e, const struct object *ns)
{
    for (size_t i = 0; ns->rank == RANK_NAMESPACE && i < e->n_states; i++)
        for (size_t k = 0; k < e->states[i]->n_objects; k++)
            if (sw_streq(e->states[i]->objects[k]->key.ns, ns->key.name))
                return true;
    return false;
}

/* A state that is not listed any more may have another name by now: what it has is that one's. */
static bool may_be_taken_over(const struct sw_engine *e)
{
    for (size_t i = 0; !engine_removes_all(e) && i < e->n_states; i++)
        if (e->states[i]->listed && state_is_rendering(e->states[i]))
            return true;
    return false;
}

bool apply_remove(struct sw_engine *e, struct state *s)
{
    bool forgotten = false;
    if (state_is_needed(e, s) || (s->hidden && e->hold == SW_HOLD_LAST) || may_be_taken_over(e))
        return false;
    for (size_t i = s->n_objects; i-- > 0;) {
        struct object *o = s->objects[i];
        if (i + 1 < s->n_objects && !same_group(o, s->objects[i + 1]))
            break; /* what was applied after it is still there */
        if (!namespace_is_used(e, o) && !engine_keeps(e, o))
            forgotten = remove_object(e, o) || forgotten;
    }
    return forgotten;
}

/* ---- hooks that are not kept -------------------------------------------------------------------
 */

/* All hooks of @o's side of the state are ready. They are deleted together: a Job may use a
 * ServiceAccount. */
static bool side_is_ready(const struct state *s, const struct object *o)
{
    for (size_t i = 0; i < s->n_objects; i++) {
        const struct object *other = s->objects[i];
        bool same_side = other->stage && (other->stage < 0) == (o->stage < 0);
        if (other->text && same_side && !object_is_ready(other))
            return false;
    }
    return true;
}

/* What has succeeded on @o's side of the state is recorded: a Job that is gone without a record
 * runs again after a restart, and its ServiceAccount, which has one, would not be there. */
static bool side_is_recorded(const struct state *s, const struct object *o)
{
    for (size_t i = 0; i < s->n_objects; i++) {
        const struct object *other = s->objects[i];
        bool same_side = other->stage && (other->stage < 0) == (o->stage < 0);
        if (other->text && same_side && other->drop_ready && !other->done_recorded)
            return false;
    }
    return true;
}

static bool is_to_be_dropped(struct sw_engine *e, const struct state *s, struct object *o)
{
    if (!o->text || o->doing != DOING_NOTHING || o->terminating || !object_is_removable(o))
        return false;
    const char *reason;
    if (o->drop_failed && o->readiness.kind == SW_READINESS_FAILED) {
        if (!o->failed_why && container_logs_awaited(e, o))
            return false;
        if (!o->failed_why)
            object_fail(o, object_detail(e, o, &reason), o->hash);
        return o->failed_recorded; /* without the record a restart would run it again */
    }
    return o->drop_ready && o->done_hash == o->hash && side_is_ready(s, o) &&
           side_is_recorded(s, o) && !container_logs_untold(e, o);
}

/* Begin the second run of hooks whose first is over. */
static void run_again(struct sw_engine *e, struct state *s)
{
    bool any = false;
    bool ends[] = { false, false };
    for (size_t i = 0; i < s->n_objects; i++) {
        struct object *o = s->objects[i];
        bool over = object_waits_again(o) && o->done_hash == o->hash && o->doing == DOING_NOTHING &&
                    o->observed && !o->terminating && !(o->drop_ready && object_is_removable(o));
        if (!over || !(ends[o->stage > 0] = ends[o->stage > 0] || side_is_ready(s, o)) ||
            container_logs_untold(e, o))
            continue;
        object_set_run(o, true);
        object_judge(o);
        any = true;
    }
    if (!any)
        return;
    state_sort(s);
    e->status_dirty = true;
}

bool is_done_unrecorded(const struct object *o)
{
    return o->text && o->drop_ready && o->done_hash && o->done_hash == o->hash && !o->done_in;
}

void apply_delete_hooks(struct sw_engine *e, struct state *s)
{
    for (size_t i = 0; i < s->n_objects; i++)
        if (is_to_be_dropped(e, s, s->objects[i]) && delete_is_due(e, s->objects[i]))
            send_delete(e, s->objects[i]);
        else if (s->objects[i]->failed_why && !s->objects[i]->failed_in)
            e->status_dirty = true; /* its failure is to be recorded first */
        else if (is_done_unrecorded(s->objects[i]))
            e->status_dirty = true;
    run_again(e, s);
}

/* ---- answers -----------------------------------------------------------------------------------
 */

static void on_applied(struct sw_engine *e, struct object *o, const struct sw_event *event)
{
    if (event->code < 0) {
        if (event->code == SW_INVALID && o->gate && o->gate->replace && o->present &&
            !o->must_replace)
            o->must_replace = true; /* an immutable field: see apply_next() */
        else if (o->sent_hash == o->hash)
            fault_set(&o->fault, event->code, event->message);
    } else if (o->gate && o->gate->dry_run) {
        o->done_hash = o->sent_hash;
    } else {
        o->ours = true;
        state_forget_failure(o->state);
        if (o->sent_hash == o->hash)
            object_set_fingerprint(o, event->object);
        if (event->object)
            (void)object_observe(e, o, event->object);
    }
    object_judge(o);
}

void apply_answered(struct sw_engine *e, struct object *o, const struct sw_event *event)
{
    enum doing doing = event->kind == SW_EV_APPLIED    ? DOING_APPLY
                       : event->kind == SW_EV_RELEASED ? DOING_RELEASE
                                                       : DOING_DELETE;
    if (o->doing == DOING_DELETE && doing == DOING_RELEASE &&
        (o->rank == RANK_CRD || o->rank == RANK_NAMESPACE))
        o->doing = doing; /* it stays */
    if (o->doing != doing || o->serial != event->serial)
        return;
    o->doing = DOING_NOTHING;
    e->status_dirty = true;
    if (doing == DOING_APPLY) {
        on_applied(e, o, event);
    } else if (event->code < 0 && event->code != SW_NOTFOUND) {
        fault_set(&o->fault, event->code, event->message);
        o->retry_ms = e->now_ms + act_backoff(e, o->n_tries++, fault_lasts(&o->fault));
    } else if (doing == DOING_RELEASE) {
        fault_done(&o->fault);
        o->released = true;
    } else if (event->code == SW_NOTFOUND) {
        (void)object_observe(e, o, NULL);
    } else {
        fault_done(&o->fault);
        o->must_replace = false;
        o->terminating = o->present; /* until SW_EV_OBSERVED says that it is gone */
        object_judge(o);
    }
}
