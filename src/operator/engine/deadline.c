/* How long a state may take to get ready, and what is run again after it failed. A deadline is a
 * recorded start and a timeout, so a restart keeps it. */
#include "operator/engine/internal.h"

/* ---- deadlines ---------------------------------------------------------------------------------
 */

int64_t deadline_timeout(const struct sw_engine *e, const struct state *s)
{
    int64_t longest_ms = 0;
    if (s->timeout_ms)
        return s->timeout_ms;
    for (size_t i = 0; i < s->n_objects; i++)
        if (s->objects[i]->text && s->objects[i]->gate->timeout_ms > longest_ms)
            longest_ms = s->objects[i]->gate->timeout_ms;
    int64_t most_ms = longest_ms ? longest_ms : e->timeout_ms;
    for (size_t i = 0; i < s->n_objects; i++) {
        const struct object *o = s->objects[i];
        const int64_t own_ms = o->text && !object_is_ready(o) ? o->gate->assert_ms : 0;
        if (own_ms && (!most_ms || own_ms < most_ms))
            most_ms = own_ms;
    }
    return most_ms;
}

void deadline_entered(struct sw_engine *e, struct state *s)
{
    switch (s->phase) {
    case PH_APPLYING:
    case PH_WAITING:
        if (!s->awaited_ms || s->late)
            s->awaited_ms = e->now_ms;
        s->late = false; /* an object was lost: it gets its time once more */
        break;
    case PH_READY:
    case PH_HELD: /* the time that others take does not count */
    case PH_REMOVING:
        s->awaited_ms = 0;
        s->late = false;
        s->n_redone = 0;
        break;
    case PH_PENDING:
        if (s->begun == s->digest)
            break; /* the same content */
        s->awaited_ms = 0;
        s->late = false;
        break;
    default:
        break;
    }
}

static size_t count_ready(const struct state *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_objects; i++)
        n += s->objects[i]->text && object_is_ready(s->objects[i]);
    return n;
}

void deadline_note_late(struct state *s)
{
    s->late = true;
    s->late_ready = state_is_applied(s) ? SIZE_MAX : count_ready(s);
}

bool deadline_has_moved(const struct sw_engine *e, const struct state *s)
{
    const int64_t timeout_ms = deadline_timeout(e, s);
    if (!timeout_ms || s->awaited_ms + timeout_ms > e->now_ms)
        return true; /* what had less time than the others is ready */
    return s->late_ready == SIZE_MAX ? !state_is_applied(s) : count_ready(s) != s->late_ready;
}

bool deadline_is_over(struct sw_engine *e, const struct state *s)
{
    int64_t timeout_ms = deadline_timeout(e, s);
    for (size_t i = 0; i < s->n_objects; i++)
        if (s->objects[i]->text && s->objects[i]->gate->by_node &&
            sw_streq(s->objects[i]->readiness.reason, "OldPods"))
            return false; /* each node has a deadline of its own */
    if (!timeout_ms || !s->awaited_ms || state_is_rendering(s))
        return false;
    if (s->awaited_ms + timeout_ms <= e->now_ms)
        return true;
    act_wake(e, s->awaited_ms + timeout_ms);
    return false;
}

/* ---- what ran to completion and failed
 * ------------------------------------------------------------
 */

static bool can_redo(const struct object *o)
{
    bool failed = o->text && o->awaited && o->gate->runs_to_completion && object_is_applied(o) &&
                  o->readiness.kind == SW_READINESS_FAILED;
    bool ours = object_is_written(o) && o->present && o->ours && !o->adopted && !o->drop_failed &&
                !o->failed_why;
    return failed && ours && (o->gate->n_retries < 0 || o->n_redone < o->gate->n_retries);
}

bool deadline_can_redo(const struct state *s)
{
    for (size_t i = 0; i < s->n_objects; i++)
        if (can_redo(s->objects[i]))
            return true;
    return false;
}

void deadline_redo(struct state *s)
{
    bool any = false;
    for (size_t i = 0; i < s->n_objects; i++) {
        struct object *o = s->objects[i];
        if (!can_redo(o))
            continue;
        o->redo = any = true;
        o->n_redone++;
    }
    s->n_redone += any;
}
