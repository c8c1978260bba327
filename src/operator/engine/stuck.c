/* Warning Events of states that wait for what does not come by itself: a quota, a missing Secret,
 * an image that is not there. What has failed has an Event of its own, by its transition. */
#include "operator/engine/internal.h"

/* Most of what a state waits for in its first seconds comes by itself. */
enum { FIRST_MS = 10000, LAST_MS = 600000 };

static void tell(struct sw_engine *e, struct state *s)
{
    const char *reason, *message = state_message(e, s, &reason);
    const char *hint = hint_for(reason, message, false);
    if (!*hint || hint == s->told_hint)
        return;
    s->told_hint = hint;
    e->status_dirty = true; /* it has the hint, too */
    act_event(e, true, "StateStuck", "state %s: %s", s->hidden ? s->title : s->name, message);
}

/* What is tried again has an Event, too, which does not say that it does not come by itself. */
static bool may_be_stuck(const struct state *s)
{
    return s->phase == PH_APPLYING || s->phase == PH_WAITING ||
           (state_shown(s) == PH_RETRYING && sw_streq(s->failed_reason, "NamespaceMissing"));
}

void stuck_report(struct sw_engine *e)
{
    for (size_t i = 0; i < e->n_states; i++) {
        struct state *s = e->states[i];
        if (s->phase == PH_READY)
            s->told_hint = NULL;
        if (!may_be_stuck(s)) {
            s->stuck_next_ms = 0;
            continue;
        }
        if (!s->stuck_next_ms) {
            s->stuck_after_ms = FIRST_MS / 2;
            s->stuck_next_ms = e->now_ms + FIRST_MS;
        } else if (s->stuck_next_ms <= e->now_ms) {
            tell(e, s);
            s->stuck_after_ms = s->stuck_after_ms * 2 < LAST_MS ? s->stuck_after_ms * 2 : LAST_MS;
            s->stuck_next_ms = e->now_ms + s->stuck_after_ms;
        }
        act_wake(e, s->stuck_next_ms);
    }
}
