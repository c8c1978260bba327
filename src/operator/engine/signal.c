/* What makes a state move: each signal is a question about what is known now, never a message that
 * could be lost. */
#include <string.h>

#include "operator/engine/internal.h"

/* ---- what it needs -----------------------------------------------------------------------------
 */

bool state_is_rendering(const struct state *s)
{
    for (size_t i = 0; i < s->n_variants; i++)
        if (s->variants[i]->serial || s->variants[i]->stale)
            return true;
    return false;
}

bool state_is_rendered(const struct state *s)
{
    for (size_t i = 0; i < s->n_variants; i++)
        if (s->variants[i]->fault.code)
            return false;
    return !state_is_rendering(s);
}

static bool all_known(const struct state *s)
{
    for (size_t i = 0; i < s->n_variants; i++)
        if (!s->variants[i]->known)
            return false;
    return s->n_variants > 0;
}

/* All pods that @s brings run only where @need has finished. */
static bool follows_node_by_node(const struct state *s, const struct state *need)
{
    bool any = false;
    for (size_t i = 0; i < s->n_objects; i++) {
        const struct object *o = s->objects[i];
        if (!o->text || o->rank != RANK_WORKLOAD)
            continue;
        if (!sw_streq(o->key.kind, "DaemonSet") || !object_is_bound_to(o, need->label))
            return false;
        any = true;
    }
    return any;
}

bool need_is_met(struct sw_engine *e, const struct state *s, const struct state *need)
{
    (void)e;
    if (state_is_rendering(need))
        return false; /* what it is ready with may be out of date */
    if (need->phase == PH_READY)
        return true;
    bool goes_on = need->phase == PH_GATED || (need->phase == PH_FAILED && need->late);
    return goes_on && need->node_by_node && need->label && need->done.count > 0 &&
           follows_node_by_node(s, need);
}

bool state_may_start(struct sw_engine *e, const struct state *s)
{
    if (e->blocked || e->spec_fault.code)
        return false;
    for (size_t i = 0; i < s->n_needs; i++)
        if (!need_is_met(e, s, s->needs[i]))
            return false;
    return true;
}

/* What has begun goes on, and is put right again, though a need is not quite ready any more (a new
 * node, say); but not while something foreign that it needs is not ready, nor before the need has
 * been ready with its present content. */
static bool was_ready(const struct state *need)
{
    return need->phase != PH_HELD && need->ready_ms && need->begun == need->digest &&
           !state_is_rendering(need);
}

static bool may_go_on(const struct state *s)
{
    if (s->begun != s->digest)
        return false;
    for (size_t i = 0; i < s->n_needs; i++)
        if (!was_ready(s->needs[i]))
            return false;
    return true;
}

static bool needs_met(struct sw_engine *e, const struct state *s)
{
    return state_may_start(e, s) || may_go_on(s);
}

/* ---- its objects -------------------------------------------------------------------------------
 */

static bool is_busy(const struct state *s)
{
    for (size_t i = 0; i < s->n_objects; i++)
        if (s->objects[i]->doing != DOING_NOTHING)
            return true;
    return false;
}

static bool must_be_recorded(const struct object *o)
{
    return object_is_written(o) && !o->gate->dry_run;
}

static bool looked(struct sw_engine *e, const struct state *s)
{
    for (size_t i = 0; i < s->n_objects; i++) {
        const struct object *o = s->objects[i];
        if (o->text && (!object_is_known(e, o) || (must_be_recorded(o) && !o->recorded)))
            return false;
    }
    return true;
}

static bool applied(const struct state *s)
{
    for (size_t i = 0; i < s->n_objects; i++)
        if (s->objects[i]->text && !object_is_applied(s->objects[i]))
            return false;
    return true;
}

bool state_has_node_labels(const struct state *s)
{
    for (size_t i = 0; i < s->n_objects; i++)
        if (s->objects[i]->text && s->objects[i]->gate->n_node_labels)
            return true;
    return false;
}

bool node_has_gate_labels(struct sw_engine *e, const struct state *s, uint32_t node)
{
    for (size_t i = 0; i < s->n_objects; i++) {
        const struct object *o = s->objects[i];
        for (size_t k = 0; o->text && k < o->gate->n_node_labels; k++)
            if (!sw_node_set_label(e->roster, node, o->gate->node_labels[k]))
                return false;
    }
    return true;
}

static void look_at_node(struct sw_engine *e, struct state *s, uint32_t node)
{
    bool member = node_selected(e, node);
    (void)bitset_put(&s->members, node, member);
    (void)bitset_put(&s->lacking, node, member && !node_has_gate_labels(e, s, node));
}

void state_node_changed(struct sw_engine *e, struct state *s, uint32_t node)
{
    if (s->members_known && state_has_node_labels(s))
        look_at_node(e, s, node);
}

/* Counted once, then kept up node by node: a cluster has many, and events come one by one. */
static bool nodes_have_labels(struct sw_engine *e, struct state *s)
{
    if (!state_has_node_labels(s))
        return true;
    for (uint32_t n = 0; !s->members_known && n < sw_node_set_end(e->roster); n++)
        look_at_node(e, s, n);
    s->members_known = true;
    return s->members.count > 0 && s->lacking.count == 0;
}

/* The copies of one object for several kernels: their names differ in the suffix alone. */
static bool are_copies(const struct object *a, const struct object *b)
{
    const char *end_a = strrchr(a->key.name, '-'), *end_b = strrchr(b->key.name, '-');
    return a != b && end_a && end_b && end_a - a->key.name == end_b - b->key.name &&
           strncmp(a->key.name, b->key.name, (size_t)(end_a - a->key.name)) == 0 &&
           sw_streq(a->key.kind, b->key.kind) && sw_streq(a->key.ns, b->key.ns);
}

/* The copy for a kernel that runs on none of the nodes which its pods select: nobody lacks it, as
 * long as the copies for the other kernels do their work. */
static bool is_spare(const struct state *s, const struct object *o)
{
    if (!s->affine || !sw_streq(o->readiness.reason, "NoMatchingNodes"))
        return false;
    for (size_t i = 0; i < s->n_objects; i++)
        if (are_copies(o, s->objects[i]) && s->objects[i]->text && object_is_ready(s->objects[i]))
            return true;
    return false;
}

bool state_gate_is_open(struct sw_engine *e, struct state *s)
{
    if (s->affine && s->n_variants == 0)
        return false; /* no node: see NoMatchingNodes in message.c */
    for (size_t i = 0; i < s->n_objects; i++)
        if (s->objects[i]->text && !object_is_ready(s->objects[i]) && !is_spare(s, s->objects[i]))
            return false;
    return nodes_have_labels(e, s);
}

/* Only what others bring ready stands open. */
static bool gate_is_held(struct sw_engine *e, struct state *s)
{
    bool foreign = false;
    for (size_t i = 0; i < s->n_objects; i++) {
        const struct object *o = s->objects[i];
        if (!o->text || object_is_ready(o))
            continue;
        if (!object_is_brought_ready_by_others(o))
            return false;
        foreign = true;
    }
    return foreign && s->ready_ms && s->begun == s->digest && nodes_have_labels(e, s);
}

static bool gate_failed(const struct state *s)
{
    for (size_t i = 0; i < s->n_objects; i++) {
        const struct object *o = s->objects[i];
        if (o->text && o->awaited && object_is_applied(o) &&
            o->readiness.kind == SW_READINESS_FAILED)
            return true;
    }
    return false;
}

/* ---- what went wrong ---------------------------------------------------------------------------
 */

enum trouble { TROUBLE_NONE, TROUBLE_PASSING, TROUBLE_LASTING };

static enum trouble worse(enum trouble a, const struct fault *fault)
{
    if (!fault->code)
        return a;
    return fault_lasts(fault) || a == TROUBLE_LASTING ? TROUBLE_LASTING : TROUBLE_PASSING;
}

static enum trouble trouble(struct sw_engine *e, const struct state *s)
{
    enum trouble all = TROUBLE_NONE;
    bool started = s->begun || state_may_start(e, s);
    for (size_t i = 0; i < s->n_variants; i++)
        if (started && !s->variants[i]->early && !s->variants[i]->serial && !s->variants[i]->stale)
            all = worse(all, &s->variants[i]->fault);
    for (size_t i = 0; i < s->n_objects; i++) {
        const struct object *o = s->objects[i];
        all = worse(all, &o->fault);
        if (o->text || o->our_uid) /* else it was never there under that key */
            all = worse(all, &o->unseen);
        if (object_is_written(o) && o->present && o->foreign && !o->done_hash)
            all = TROUBLE_LASTING;
    }
    return is_busy(s) ? TROUBLE_NONE : all;
}

static bool retry_due(struct sw_engine *e, struct state *s)
{
    bool redo = false;
    if (trouble(e, s) == TROUBLE_NONE) {
        redo = s->phase == PH_FAILED && deadline_can_redo(s);
        if (!redo)
            return s->phase == PH_RETRYING;
    }
    /* what ran and failed changes by itself while it ends: that is no new cause */
    int64_t at = s->nudged && !redo ? s->tried_ms + e->opts.retry_min_ms : s->retry_ms;
    if (at > s->retry_ms)
        at = s->retry_ms;
    if (e->now_ms >= at)
        return true;
    act_wake(e, at);
    return false;
}

/* ---- the questions -----------------------------------------------------------------------------
 */

static bool q_remove(struct sw_engine *e, struct state *s)
{
    return engine_removes_all(e) || (!s->listed && !e->spec_fault.code);
}

static bool q_wanted(struct sw_engine *e, struct state *s)
{
    return s->listed && !q_remove(e, s);
}

static bool q_gone(struct sw_engine *e, struct state *s)
{
    (void)e;
    return s->n_objects == 0;
}

static bool q_rendered(struct sw_engine *e, struct state *s)
{
    (void)e;
    return state_is_rendered(s) && (all_known(s) || (s->affine && s->n_variants == 0));
}

static bool q_looked(struct sw_engine *e, struct state *s)
{
    return looked(e, s);
}

static bool q_unlooked(struct sw_engine *e, struct state *s)
{
    return !looked(e, s);
}

static bool q_fault(struct sw_engine *e, struct state *s)
{
    return trouble(e, s) == TROUBLE_PASSING;
}

static bool q_refused(struct sw_engine *e, struct state *s)
{
    return trouble(e, s) == TROUBLE_LASTING;
}

static bool q_needs_met(struct sw_engine *e, struct state *s)
{
    return state_is_rendered(s) && needs_met(e, s);
}

static bool q_needs_lost(struct sw_engine *e, struct state *s)
{
    return !is_busy(s) && !needs_met(e, s) && !applied(s);
}

static bool q_in_place(struct sw_engine *e, struct state *s)
{
    (void)e;
    return s->begun == s->digest && applied(s);
}

static bool q_changed(struct sw_engine *e, struct state *s)
{
    (void)e;
    return s->begun != s->digest;
}

static bool q_drifted(struct sw_engine *e, struct state *s)
{
    (void)e;
    return s->begun == s->digest && !applied(s);
}

static bool q_applied(struct sw_engine *e, struct state *s)
{
    (void)e;
    return !is_busy(s) && applied(s);
}

static bool q_gate_open(struct sw_engine *e, struct state *s)
{
    return !state_is_rendering(s) && state_gate_is_open(e, s) && trouble(e, s) == TROUBLE_NONE;
}

static bool q_gate_shut(struct sw_engine *e, struct state *s)
{
    bool late = s->late && s->begun == s->digest && !deadline_has_moved(s);
    return !state_gate_is_open(e, s) && !gate_failed(s) && !late && trouble(e, s) == TROUBLE_NONE;
}

static bool q_gate_held(struct sw_engine *e, struct state *s)
{
    return !state_gate_is_open(e, s) && gate_is_held(e, s);
}

static bool q_gate_failed(struct sw_engine *e, struct state *s)
{
    (void)e;
    return gate_failed(s);
}

static bool q_late(struct sw_engine *e, struct state *s)
{
    return deadline_is_over(e, s);
}

static bool q_renewed(struct sw_engine *e, struct state *s)
{
    return s->begun && s->begun != s->digest && trouble(e, s) == TROUBLE_NONE &&
           state_is_rendered(s);
}

static bool q_retry(struct sw_engine *e, struct state *s)
{
    return retry_due(e, s);
}

struct question {
    const char *name;
    bool (*ask)(struct sw_engine *e, struct state *s);
    const char *words;
};

static const struct question questions[SG_COUNT] = {
    [SG_REMOVE] = { "remove", q_remove, "it is not wanted any more" },
    [SG_WANTED] = { "wanted", q_wanted, "it is wanted again" },
    [SG_GONE] = { "gone", q_gone, "nothing of it is left" },
    [SG_RENDERED] = { "rendered", q_rendered, "what it consists of is known" },
    [SG_UNLOOKED] = { "unlooked", q_unlooked, "an object is not looked at or not written down" },
    [SG_LOOKED] = { "looked", q_looked, "every object is looked at and written down" },
    [SG_FAULT] = { "fault", q_fault, "something failed that may pass by itself" },
    [SG_REFUSED] = { "refused", q_refused, "something failed that will not pass by itself" },
    [SG_NEEDS_MET] = { "needs met", q_needs_met, "all that it needs is ready" },
    [SG_NEEDS_LOST] = { "needs lost", q_needs_lost, "what it needs is not ready any more" },
    [SG_IN_PLACE] = { "in place", q_in_place, "an earlier run has applied all of it" },
    [SG_CHANGED] = { "changed", q_changed, "its content is new" },
    [SG_DRIFTED] = { "drifted", q_drifted, "the cluster has lost or changed an object" },
    [SG_APPLIED] = { "applied", q_applied, "the cluster has every object as it should be" },
    [SG_GATE_OPEN] = { "gate open", q_gate_open, "all that is awaited is ready" },
    [SG_GATE_SHUT] = { "gate shut", q_gate_shut, "not all that is awaited is ready" },
    [SG_GATE_HELD] = { "gate held", q_gate_held, "only what others own is not ready, and it was" },
    [SG_GATE_FAILED] = { "gate failed", q_gate_failed, "an awaited object says that it failed" },
    [SG_LATE] = { "late", q_late, "it has not been ready for longer than it may" },
    [SG_RENEWED] = { "renewed", q_renewed, "its content is another than what failed" },
    [SG_RETRY] = { "retry", q_retry, "the back-off is over, or the cause has changed" },
};

bool signal_is(struct sw_engine *e, struct state *s, enum signal signal)
{
    return questions[signal].ask(e, s);
}

const char *signal_name(enum signal signal)
{
    return questions[signal].name;
}

const char *signal_words(enum signal signal)
{
    return questions[signal].words;
}
