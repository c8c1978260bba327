/* Applying a state's objects in order, retiring those that it does not have any more, and removing
 * all of them in the opposite order. */
#include <json-c/json.h>

#include "operator/engine/internal.h"

/* ---- sending -----------------------------------------------------------------------------------
 */

static void act_key(struct sw_engine *e, struct sw_action *a, const struct object *o)
{
    a->key.api_version = sw_arena_strdup(e->arena, o->key.api_version);
    a->key.kind = sw_arena_strdup(e->arena, o->key.kind);
    a->key.ns = o->key.ns ? sw_arena_strdup(e->arena, o->key.ns) : NULL;
    a->key.name = sw_arena_strdup(e->arena, o->key.name);
}

static void send_apply(struct sw_engine *e, struct object *o)
{
    struct json_object *doc = act_keep(e, object_document(e, o));
    struct sw_action *a = act_add(e, SW_ACT_APPLY);
    a->serial = o->serial = act_serial(e);
    act_key(e, a, o);
    a->doc = doc;
    a->force = true; /* what the recipe says about an object that it owns goes before others */
    a->dry_run = o->gate->dry_run;
    /* a Pod is what it was made: it has nothing that a recipe could drop */
    a->inherit = o->present && o->inherited && !o->gate->replace;
    o->doing = DOING_APPLY;
    o->sent_hash = o->hash;
    e->status_dirty = true;
}

static void send_delete(struct sw_engine *e, struct object *o)
{
    struct sw_action *a = act_add(e, SW_ACT_DELETE);
    a->serial = o->serial = act_serial(e);
    act_key(e, a, o);
    a->uid = o->uid && *o->uid ? sw_arena_strdup(e->arena, o->uid) : NULL;
    /* A workload is gone when its pods are: what it needs may go only then. */
    a->propagation = o->rank == RANK_WORKLOAD ? "Foreground" : "Background";
    o->doing = DOING_DELETE;
    e->status_dirty = true;
}

/* It stays where it is, and is not slipway's any more. */
static void send_release(struct sw_engine *e, struct object *o)
{
    struct sw_action *a = act_add(e, SW_ACT_RELEASE);
    a->serial = o->serial = act_serial(e);
    act_key(e, a, o);
    a->uid = o->uid && *o->uid ? sw_arena_strdup(e->arena, o->uid) : NULL;
    o->doing = DOING_RELEASE;
    e->status_dirty = true;
}

/* ---- applying ----------------------------------------------------------------------------------
 */

/* Somebody who keeps undoing what is applied is not fought at full speed. */
static bool repair_is_due(struct sw_engine *e, struct object *o)
{
    if (o->fingerprint_of != o->hash)
        return true; /* no repair: this content was not applied before */
    if (e->now_ms - o->repaired_ms > 20 * e->opts.retry_max_ms)
        o->n_repairs = 0;
    int64_t due_ms = o->n_repairs < 3 ? e->now_ms
                                      : o->repaired_ms + act_backoff(e, o->n_repairs - 3, true);
    if (due_ms > e->now_ms) {
        act_wake(e, due_ms);
        return false;
    }
    o->n_repairs++;
    o->repaired_ms = e->now_ms;
    return true;
}

static bool must_go_first(const struct object *o)
{
    return o->present && o->gate->replace &&
           (o->redo || o->must_replace ||
            (o->live_hash != o->hash && !o->adopted && !o->inherited));
}

static void bring_about(struct sw_engine *e, struct object *o)
{
    if (object_is_applied(o) || o->doing != DOING_NOTHING || o->fault.code || o->unserved ||
        o->dying || o->foreign)
        return;
    if (!o->gate->dry_run && must_go_first(o))
        send_delete(e, o);
    else if (o->gate->dry_run || repair_is_due(e, o))
        send_apply(e, o);
}

static bool same_group(const struct object *a, const struct object *b)
{
    return a->stage == b->stage && a->rank == b->rank;
}

/* May @next be applied as far as @earlier goes, which stands before it in another group? */
static bool lets_pass(const struct object *earlier, const struct object *next)
{
    if (!earlier->text)
        return true;
    bool until_ready = earlier->stage < next->stage || next->rank == RANK_LAST ||
                       earlier->rank == RANK_NAMESPACE || earlier->rank == RANK_CRD;
    return object_is_applied(earlier) && (!until_ready || object_is_ready(earlier));
}

bool apply_next(struct sw_engine *e, struct state *s)
{
    if (!state_is_rendered(s))
        return false; /* what is known is out of date */
    for (size_t i = 0; i < s->n_objects; i++) {
        struct object *o = s->objects[i];
        for (size_t k = 0; o->text && k < i; k++)
            if (!same_group(s->objects[k], o) && !lets_pass(s->objects[k], o))
                return false;
        if (o->text)
            bring_about(e, o);
    }
    return false;
}

/* ---- deleting ----------------------------------------------------------------------------------
 */

static bool delete_is_due(struct sw_engine *e, const struct object *o)
{
    if (o->doing != DOING_NOTHING || o->dying || !o->looked)
        return false;
    if (o->retry_ms > e->now_ms) {
        act_wake(e, o->retry_ms);
        return false;
    }
    return true;
}

/* Would it go with the resource, or look as if it were slipway's, though it is to stay? */
static bool is_to_be_released(const struct sw_engine *e, const struct object *o)
{
    bool marked = o->present && o->ours && !o->dying && !o->released && !o->borrowed;
    return marked && !(o->gate && (o->gate->observe || o->gate->dry_run)) &&
           (o->keep || o->adopted || engine_orphans(e));
}

/* @return true: it is forgotten, there is nothing (any more) that is slipway's to delete. */
static bool get_rid_of(struct sw_engine *e, struct object *o)
{
    bool never_was = !o->looked && o->unseen.code && !o->our_uid;
    if (o->looked && is_to_be_released(e, o)) {
        if (delete_is_due(e, o))
            send_release(e, o);
        return false;
    }
    if (never_was || o->released ||
        (o->looked && o->doing == DOING_NOTHING && !object_is_removable(o))) {
        object_forget(e, o);
        return true;
    }
    if (delete_is_due(e, o))
        send_delete(e, o);
    return false;
}

/* What one state has dropped another may be about to take over. */
static bool all_rendered(const struct sw_engine *e)
{
    for (size_t i = 0; i < e->n_states; i++)
        if (e->states[i]->listed && !state_is_rendered(e->states[i]))
            return false;
    return true;
}

bool apply_retire(struct sw_engine *e, struct state *s)
{
    bool forgotten = false;
    if (!all_rendered(e))
        return false;
    for (size_t i = s->n_objects; i-- > 0;)
        if (!s->objects[i]->text && !s->objects[i]->fault.code)
            forgotten = get_rid_of(e, s->objects[i]) || forgotten;
    return forgotten;
}

bool state_is_needed(const struct sw_engine *e, const struct state *s)
{
    for (size_t i = 0; i < e->n_states; i++)
        for (size_t k = 0; k < e->states[i]->n_needs; k++)
            if (e->states[i]->needs[k] == s && e->states[i]->phase != PH_REMOVED)
                return true;
    return false;
}

/* A namespace takes all that is in it along: it goes last, whatever state it is of. */
static bool is_inhabited(const struct sw_engine *e, const struct object *ns)
{
    for (size_t i = 0; ns->rank == RANK_NAMESPACE && i < e->n_states; i++)
        for (size_t k = 0; k < e->states[i]->n_objects; k++)
            if (sw_streq(e->states[i]->objects[k]->key.ns, ns->key.name))
                return true;
    return false;
}

bool apply_remove(struct sw_engine *e, struct state *s)
{
    bool forgotten = false;
    if (state_is_needed(e, s) || (s->hidden && e->hold == SW_HOLD_LAST))
        return false;
    for (size_t i = s->n_objects; i-- > 0;) {
        struct object *o = s->objects[i];
        if (i + 1 < s->n_objects && !same_group(o, s->objects[i + 1]))
            break; /* what was applied after it is still there */
        if (!is_inhabited(e, o))
            forgotten = get_rid_of(e, o) || forgotten;
    }
    return forgotten;
}

/* ---- hooks that are not kept -------------------------------------------------------------------
 */

/* Are all hooks of @o's side done? What a Job needs goes with the Job, not before it. */
static bool side_is_done(const struct state *s, const struct object *o)
{
    for (size_t i = 0; i < s->n_objects; i++) {
        const struct object *other = s->objects[i];
        bool same_side = other->stage && (other->stage < 0) == (o->stage < 0);
        if (other->text && same_side && !object_is_ready(other))
            return false;
    }
    return true;
}

static bool is_to_go(const struct state *s, struct object *o)
{
    if (!o->text || o->doing != DOING_NOTHING || o->dying || !object_is_removable(o))
        return false;
    if (o->drop_failed && o->readiness.kind == SW_READINESS_FAILED) {
        if (!o->failed_why)
            object_fail(o, o->readiness.message, o->hash);
        return o->failed_recorded; /* else a restart would know nothing of it, and run it again */
    }
    return o->drop_ready && o->done_hash == o->hash && side_is_done(s, o);
}

void apply_tidy(struct sw_engine *e, struct state *s)
{
    for (size_t i = 0; i < s->n_objects; i++)
        if (is_to_go(s, s->objects[i]) && delete_is_due(e, s->objects[i]))
            send_delete(e, s->objects[i]);
        else if (s->objects[i]->failed_why && !s->objects[i]->failed_in)
            e->status_dirty = true; /* it is to be written down first */
}

/* ---- answers -----------------------------------------------------------------------------------
 */

static void applied(struct sw_engine *e, struct object *o, const struct sw_event *event)
{
    if (o->gate && o->gate->dry_run) {
        o->done_hash = o->sent_hash;
        object_judge(o);
        return;
    }
    o->ours = true;
    state_forget_failure(o->state);
    if (o->sent_hash == o->hash)
        object_set_look(o, event->object);
    if (event->object)
        (void)object_observe(e, o, event->object);
    object_judge(o);
}

static void refused(struct object *o, const struct sw_event *event)
{
    if (event->code == SW_INVALID && o->gate && o->gate->replace && o->present && !o->must_replace)
        o->must_replace = true; /* a field that cannot be changed: see must_go_first() */
    else if (o->sent_hash == o->hash)
        fault_set(&o->fault, event->code, event->message);
    object_judge(o);
}

static void deleted(struct sw_engine *e, struct object *o, const struct sw_event *event)
{
    if (event->code == SW_NOTFOUND) {
        (void)object_observe(e, o, NULL);
    } else if (event->code < 0) {
        fault_set(&o->fault, event->code, event->message);
        o->retry_ms = e->now_ms + act_backoff(e, o->n_tries++, fault_lasts(&o->fault));
    } else {
        fault_done(&o->fault);
        o->must_replace = false;
        o->dying = o->present; /* an event will tell when it is gone */
        object_judge(o);
    }
}

static void released(struct sw_engine *e, struct object *o, const struct sw_event *event)
{
    if (event->code < 0 && event->code != SW_NOTFOUND) {
        fault_set(&o->fault, event->code, event->message);
        o->retry_ms = e->now_ms + act_backoff(e, o->n_tries++, fault_lasts(&o->fault));
        return;
    }
    fault_done(&o->fault);
    o->released = true;
}

void apply_answered(struct sw_engine *e, struct object *o, const struct sw_event *event)
{
    enum doing doing = event->kind == SW_EV_APPLIED    ? DOING_APPLY
                       : event->kind == SW_EV_RELEASED ? DOING_RELEASE
                                                       : DOING_DELETE;
    if (o->doing != doing || o->serial != event->serial)
        return;
    o->doing = DOING_NOTHING;
    if (doing == DOING_DELETE)
        deleted(e, o, event);
    else if (doing == DOING_RELEASE)
        released(e, o, event);
    else if (event->code < 0)
        refused(o, event);
    else
        applied(e, o, event);
    e->status_dirty = true;
}
