/* How a state moves: one table. Of the rows of the state's phase the first one whose signal is
 * there is taken, until there is none. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/printbuf.h>

#include "operator/engine/internal.h"
#include "operator/engine/transitions.h"

/* ---- what a move does --------------------------------------------------------------------------
 */

static void begin(struct sw_engine *e, struct state *s)
{
    if (!s->started_ms)
        s->started_ms = e->now_ms;
    s->fresh = s->begun != s->digest;
    if (s->fresh)
        s->ready_ms = 0;
    if (s->fresh && !s->failed_why)
        s->n_failures = 0;
    s->begun = s->digest;
    s->tried_ms = e->now_ms;
    s->changed = false;
}

static void become_ready(struct sw_engine *e, struct state *s)
{
    if (!s->ready_ms) {
        s->ready_ms = e->now_ms;
        namespace_report(e, s);
    }
    s->shut_ms = 0;
    s->given_up = false;
    s->n_tries = 0;
    state_forget_failure(s);
    for (size_t i = 0; i < s->n_objects; i++)
        object_spare_live(s->objects[i]);
}

static void gate_shut(struct sw_engine *e, struct state *s)
{
    if (!s->shut_ms)
        s->shut_ms = e->now_ms;
}

static void clear_failures(struct sw_engine *e, struct state *s)
{
    (void)e;
    s->n_tries = 0;
    state_forget_failure(s);
}

/* What has looked the cluster up, and would write what another one has made since, looks again. */
static bool has_decided_too_early(const struct state *s)
{
    for (size_t i = 0; s->looks_up && i < s->n_objects; i++)
        if (s->objects[i]->present && s->objects[i]->foreign && object_is_written(s->objects[i]))
            return true;
    return false;
}

/* Forget what failed; what failed to render is asked for again. */
static void retry(struct sw_engine *e, struct state *s)
{
    bool again = has_decided_too_early(s);
    for (size_t i = 0; i < s->n_objects; i++)
        fault_done(&s->objects[i]->fault);
    for (size_t i = 0; i < s->n_variants; i++)
        if (again || s->variants[i]->fault.code)
            s->variants[i]->stale = true;
    deadline_redo(s);
    if (s->late)
        s->awaited_ms = 0;
    s->late = false;
    s->tried_ms = e->now_ms;
    s->changed = false;
}

/* The content is new: everything may be tried as often as at first. */
static void renew(struct sw_engine *e, struct state *s)
{
    s->n_redone = 0;
    for (size_t i = 0; i < s->n_objects; i++)
        s->objects[i]->n_redone = 0;
    retry(e, s);
}

static void note_late(struct sw_engine *e, struct state *s)
{
    deadline_note_late(s);
    gate_shut(e, s);
}

static void begin_removal(struct sw_engine *e, struct state *s)
{
    for (size_t i = 0; i < s->n_objects; i++) {
        struct object *o = s->objects[i];
        fault_done(&o->fault);
        o->n_variants = 0;
        object_unrender(e, o);
        if (!o->observed)
            object_watch(e, o);
    }
    for (size_t i = 0; i < s->n_variants; i++) {
        s->variants[i]->known = false;
        s->variants[i]->stale = true;
        s->variants[i]->serial = 0;
        fault_done(&s->variants[i]->fault);
    }
    state_sort(s);
}

static void forget(struct sw_engine *e, struct state *s)
{
    (void)e;
    s->begun = 0;
    s->started_ms = s->ready_ms = s->shut_ms = 0;
    s->n_tries = 0;
    bitset_done(&s->done);
}

/* ---- the table ---------------------------------------------------------------------------------
 */

const struct table_row table_rows[] = {
    /* in, on, to, do, Event, why */
    { PH_RENDERING, SG_REMOVE, PH_REMOVING, begin_removal, NULL,
      "nothing was begun, or by an earlier run" },
    { PH_RENDERING, SG_REFUSED, PH_FAILED, NULL, "StateFailed", "it cannot be rendered" },
    { PH_RENDERING, SG_FAULT, PH_RETRYING, NULL, "StateRetrying", "it cannot be rendered now" },
    { PH_RENDERING, SG_RENDERED, PH_OBSERVING, NULL, NULL, "its objects are known" },

    { PH_OBSERVING, SG_REMOVE, PH_REMOVING, begin_removal, NULL, "it is not wanted any more" },
    { PH_OBSERVING, SG_REFUSED, PH_FAILED, NULL, "StateFailed",
      "an object belongs to another owner" },
    { PH_OBSERVING, SG_FAULT, PH_RETRYING, NULL, "StateRetrying", "it cannot be rendered now" },
    { PH_OBSERVING, SG_OBSERVED, PH_PENDING, NULL, NULL,
      "nothing is done before what is there is known, and what will be is written down" },

    { PH_PENDING, SG_REMOVE, PH_REMOVING, begin_removal, NULL, "it is not wanted any more" },
    { PH_PENDING, SG_UNOBSERVED, PH_OBSERVING, NULL, NULL, "it has new objects" },
    { PH_PENDING, SG_REFUSED, PH_FAILED, NULL, "StateFailed", "it cannot be rendered" },
    { PH_PENDING, SG_FAULT, PH_RETRYING, NULL, "StateRetrying", "it cannot be rendered now" },
    { PH_PENDING, SG_IN_PLACE, PH_WAITING, NULL, NULL, "an earlier run has applied all of it" },
    { PH_PENDING, SG_NEEDS_MET, PH_APPLYING, begin, "StateStarted", "started" },

    { PH_APPLYING, SG_REMOVE, PH_REMOVING, begin_removal, NULL, "it is not wanted any more" },
    { PH_APPLYING, SG_UNOBSERVED, PH_OBSERVING, NULL, NULL, "it has new objects" },
    { PH_APPLYING, SG_REFUSED, PH_FAILED, NULL, "StateFailed", "the cluster refuses an object" },
    { PH_APPLYING, SG_FAULT, PH_RETRYING, NULL, "StateRetrying", "the cluster could not take one" },
    { PH_APPLYING, SG_CHANGED, PH_PENDING, NULL, NULL, "its content is new" },
    { PH_APPLYING, SG_NEEDS_LOST, PH_PENDING, NULL, NULL, "what it needs is not ready any more" },
    { PH_APPLYING, SG_APPLIED, PH_WAITING, clear_failures, NULL, "the cluster has all objects" },
    { PH_APPLYING, SG_GATE_FAILED, PH_FAILED, gate_shut, "StateFailed",
      "a stage failed that others wait for" },
    { PH_APPLYING, SG_LATE, PH_FAILED, note_late, "StateFailed", "it takes longer than it may" },

    { PH_WAITING, SG_REMOVE, PH_REMOVING, begin_removal, NULL, "it is not wanted any more" },
    { PH_WAITING, SG_UNOBSERVED, PH_OBSERVING, NULL, NULL, "it has new objects" },
    { PH_WAITING, SG_CHANGED, PH_PENDING, NULL, NULL, "its content is new" },
    { PH_WAITING, SG_REFUSED, PH_FAILED, NULL, "StateFailed", "it cannot be rendered" },
    { PH_WAITING, SG_FAULT, PH_RETRYING, NULL, "StateRetrying", "it cannot be rendered now" },
    { PH_WAITING, SG_DRIFTED, PH_PENDING, NULL, NULL, "the cluster lost or changed an object" },
    { PH_WAITING, SG_GATE_OPEN, PH_READY, become_ready, "StateReady", "ready" },
    { PH_WAITING, SG_GATE_HELD, PH_HELD, gate_shut, "StateHeld",
      "it was ready, and what is missing is not slipway's" },
    { PH_WAITING, SG_GATE_FAILED, PH_FAILED, gate_shut, "StateFailed",
      "an object says that it failed" },
    { PH_WAITING, SG_LATE, PH_FAILED, note_late, "StateFailed", "it takes longer than it may" },

    { PH_READY, SG_REMOVE, PH_REMOVING, begin_removal, NULL, "it is not wanted any more" },
    { PH_READY, SG_UNOBSERVED, PH_OBSERVING, NULL, NULL, "it has new objects" },
    { PH_READY, SG_CHANGED, PH_PENDING, NULL, NULL, "its content is new" },
    { PH_READY, SG_REFUSED, PH_FAILED, NULL, "StateFailed", "it cannot be rendered" },
    { PH_READY, SG_FAULT, PH_RETRYING, NULL, "StateRetrying", "it cannot be rendered now" },
    { PH_READY, SG_DRIFTED, PH_PENDING, gate_shut, NULL, "the cluster lost or changed an object" },
    { PH_READY, SG_GATE_HELD, PH_HELD, gate_shut, "StateHeld",
      "something that is not slipway's left ready: what runs goes on, nothing new begins" },
    { PH_READY, SG_GATE_FAILED, PH_FAILED, gate_shut, "StateFailed",
      "an object says that it failed" },
    { PH_READY, SG_GATE_SHUT, PH_WAITING, gate_shut, "StateNotReady",
      "it worked once, it does not now" },

    { PH_HELD, SG_REMOVE, PH_REMOVING, begin_removal, NULL, "it is not wanted any more" },
    { PH_HELD, SG_UNOBSERVED, PH_OBSERVING, NULL, NULL, "it has new objects" },
    { PH_HELD, SG_CHANGED, PH_PENDING, NULL, NULL, "its content is new" },
    { PH_HELD, SG_REFUSED, PH_FAILED, NULL, "StateFailed", "it cannot be rendered" },
    { PH_HELD, SG_FAULT, PH_RETRYING, NULL, "StateRetrying", "it cannot be rendered now" },
    { PH_HELD, SG_DRIFTED, PH_PENDING, NULL, NULL, "the cluster lost or changed an object" },
    { PH_HELD, SG_GATE_OPEN, PH_READY, become_ready, "StateReady", "it is ready again" },
    { PH_HELD, SG_GATE_FAILED, PH_FAILED, NULL, "StateFailed", "an object says that it failed" },

    { PH_RETRYING, SG_REMOVE, PH_REMOVING, begin_removal, NULL, "it is not wanted any more" },
    { PH_RETRYING, SG_RETRY, PH_RENDERING, retry, NULL, "try again" },

    { PH_FAILED, SG_REMOVE, PH_REMOVING, begin_removal, NULL, "it is not wanted any more" },
    { PH_FAILED, SG_RENEWED, PH_PENDING, renew, NULL, "its content is another than what failed" },
    { PH_FAILED, SG_GATE_OPEN, PH_READY, become_ready, "StateReady", "what had failed is ready" },
    { PH_FAILED, SG_GATE_SHUT, PH_WAITING, NULL, NULL, "what had failed is under way again" },
    { PH_FAILED, SG_RETRY, PH_RENDERING, retry, NULL,
      "try again: seldom, or when the cause changed" },

    { PH_REMOVING, SG_GONE, PH_REMOVED, forget, "StateRemoved", "nothing of it is left" },

    { PH_REMOVED, SG_LISTED, PH_RENDERING, NULL, NULL, "it is wanted again" },
};
const size_t table_n_rows = SW_COUNT(table_rows);

/* What is done while a state is in a phase. */
static bool (*const work[PH_COUNT])(struct sw_engine *e, struct state *s) = {
    [PH_APPLYING] = apply_next,
    [PH_READY] = apply_retire,
    [PH_REMOVING] = apply_remove,
};

/* ---- taking rows -------------------------------------------------------------------------------
 */

#ifdef SW_TEST
unsigned long table_taken[SW_COUNT(table_rows)];
#define COUNT_ROW(row) table_taken[(row)-table_rows]++
#else
#define COUNT_ROW(row) (void)(row)
#endif

/* An Event for each move that is worth one, once: not again after a restart, nor at every try. */
static void report(struct sw_engine *e, struct state *s, const struct table_row *row)
{
    bool warning = row->to == PH_FAILED || row->to == PH_RETRYING || row->to == PH_HELD ||
                   row->to == PH_WAITING;
    const char *reason = "", *why = warning ? state_message(e, s, &reason) : "";
    SW_AUTO_CHARS *text = sw_printf("%s %s", row->event, why);
    bool known = sw_streq(s->reported, text) || (row->on == SG_DRIFTED && s->builds_begun) ||
                 (row->on == SG_NEEDS_MET && !s->fresh) ||
                 (row->to == PH_READY && sw_streq(s->reported, phase_shown(PH_READY)));
    if (known ||
        (s->hidden && row->to != PH_FAILED)) /* of the namespace only what stops the walk */
        return;
    bool is_first = !s->reported || sw_starts_with(s->reported, "StateStarted");
    free(s->reported);
    s->reported = SW_TAKE(text);
    size_t n = 0;
    for (size_t i = 0; i < s->n_objects; i++)
        n += s->objects[i]->text != NULL;
    SW_AUTO_CHARS *objects = n ? sw_printf(" (%zu object%s)", n, n == 1 ? "" : "s") : sw_strdup("");
    struct sw_action *a = act_event(e, warning, row->event, "state %s: %s%s",
                                    s->hidden ? s->title : s->name, *why ? why : row->why,
                                    *why ? "" : objects);
    a->minor = row->to == PH_READY && n == 0 && is_first; /* it had nothing to do */
}

static bool touches_labels(enum phase phase)
{
    return phase == PH_WAITING || phase == PH_READY || phase == PH_HELD || phase == PH_FAILED ||
           phase == PH_REMOVED;
}

static void enter(struct sw_engine *e, struct state *s, const struct table_row *row)
{
    COUNT_ROW(row);
    if (phase_shown(row->to) != phase_shown(s->phase))
        s->entered_ms = e->now_ms;
    if (touches_labels(s->phase) || touches_labels(row->to))
        nodes_mark_all(e);
    s->phase = row->to;
    if (row->act)
        row->act(e, s);
    deadline_entered(e, s);
    if (row->to == PH_RETRYING || row->to == PH_FAILED) {
        unsigned n = s->n_redone > s->n_tries ? s->n_redone : s->n_tries;
        state_note_failure(e, s);
        s->retry_ms = e->now_ms + act_backoff(e, n, s->phase == PH_FAILED);
        s->n_tries++;
        s->first_failure_ms = s->n_failures++ ? s->first_failure_ms : e->now_ms;
        s->last_failure_ms = e->now_ms;
    }
    if (row->event)
        report(e, s, row);
    s->builds_begun = s->builds_begun && row->on != SG_DRIFTED;
    e->status_dirty = true;
}

/* Between two events a state passes each phase once or twice; more is a circle in the table. */
#define MAX_MOVES (4 * PH_COUNT)

/* @return whether it has moved. */
static bool move(struct sw_engine *e, struct state *s)
{
    for (size_t n = 0; n < MAX_MOVES; n++) {
        size_t i = 0;
        while (i < table_n_rows &&
               !(table_rows[i].in == s->phase && signal_is(e, s, table_rows[i].on)))
            i++;
        if (i == table_n_rows)
            return n > 0;
        enter(e, s, &table_rows[i]);
    }
    assert(!"the table has a circle");
    act_wake(e, e->now_ms + e->opts.retry_min_ms);
    return true;
}

void table_settle(struct sw_engine *e)
{
    bool moved = true;
    /* before the moves: they need to know which hooks have failed */
    for (size_t i = 0; i < e->n_states; i++)
        if (e->states[i]->phase == PH_APPLYING || e->states[i]->phase == PH_WAITING ||
            e->states[i]->phase == PH_READY || e->states[i]->phase == PH_FAILED)
            apply_delete_hooks(e, e->states[i]);
    for (size_t round = 0; moved && round <= e->n_states * PH_COUNT; round++) {
        moved = false;
        spec_refresh(e);
        builds_update(e);
        for (size_t i = 0; i < e->n_states; i++)
            moved = move(e, e->states[i]) || moved;
        for (size_t i = 0; i < e->n_states; i++)
            if (work[e->states[i]->phase])
                moved = work[e->states[i]->phase](e, e->states[i]) || moved;
    }
}

/* ---- the diagram -------------------------------------------------------------------------------
 */

void sw_engine_each_move(void (*each)(const char *from, const char *to, const char *event,
                                      const char *why, void *arg),
                         void *arg)
{
    for (size_t i = 0; i < table_n_rows; i++)
        each(phase_name(table_rows[i].in), phase_name(table_rows[i].to), table_rows[i].event,
             table_rows[i].why, arg);
}

char *sw_engine_diagram(void)
{
    struct printbuf *out = printbuf_new();
    if (!out)
        abort();
    sprintbuf(out, "stateDiagram-v2\n    [*] --> %s\n", phase_name(PH_RENDERING));
    for (size_t i = 0; i < table_n_rows; i++)
        sprintbuf(out, "    %s --> %s : %s\n", phase_name(table_rows[i].in),
                  phase_name(table_rows[i].to), signal_name(table_rows[i].on));
    sprintbuf(out, "    %s --> [*]\n", phase_name(PH_REMOVED));
    char *text = sw_strdup(out->buf);
    printbuf_free(out);
    return text;
}
