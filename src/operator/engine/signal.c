/* The conditions of transitions. Each is computed from what is known now: none is a message, which
 * could be lost. */
#include <string.h>

#include "operator/engine/internal.h"

/* ---- what it needs -----------------------------------------------------------------------------
 */

/* All pods that @s brings run only where @need has finished. */
static bool follows_node_by_node(const struct state *s, const struct state *need)
{
    bool any = false;
    for (size_t i = 0; i < s->n_objects; i++) {
        const struct object *o = s->objects[i];
        if (!o->text || o->rank != RANK_WORKLOAD)
            continue;
        if (!sw_streq(o->key.kind, "DaemonSet") ||
            !sw_placement_needs_label(o->placement, need->label))
            return false;
        any = true;
    }
    return any;
}

bool need_is_met(const struct state *s, const struct state *need)
{
    if (state_is_rendering(need))
        return false; /* what it is ready with may be out of date */
    if (need->phase == PH_READY || check_goes_on(s, need))
        return true;
    bool goes_on = need->phase == PH_WAITING || (need->phase == PH_FAILED && need->late);
    return goes_on && need->node_by_node && need->label && need->done.count > 0 &&
           follows_node_by_node(s, need);
}

bool state_may_start(struct sw_engine *e, const struct state *s)
{
    if (e->blocked || e->spec_fault.code)
        return false;
    for (size_t i = 0; i < s->n_needs; i++)
        if (!need_is_met(s, s->needs[i]))
            return false;
    return true;
}

/* May @s begin, or go on with what it has begun? For that a need may have left ready since (a new
 * node, say), but must have been ready with its present content, and must not be held. */
static bool needs_met(struct sw_engine *e, const struct state *s)
{
    if (state_may_start(e, s))
        return true;
    if (s->begun != s->digest)
        return false;
    for (size_t i = 0; i < s->n_needs; i++) {
        const struct state *need = s->needs[i];
        if (need->phase == PH_HELD || !need->ready_ms || need->begun != need->digest ||
            state_is_rendering(need))
            return false;
    }
    return true;
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

static bool is_observed(struct sw_engine *e, const struct state *s)
{
    for (size_t i = 0; i < s->n_objects; i++) {
        const struct object *o = s->objects[i];
        bool must_be_recorded = object_is_written(o) && !o->gate->dry_run;
        if (o->text && (!object_is_known(e, o) || (must_be_recorded && !o->recorded)))
            return false;
    }
    return true;
}

/* Does @o wait for the node? */
static bool waits_for(struct sw_engine *e, const struct object *o, uint32_t node)
{
    return o->text && sw_gate_is_by_node(o->gate) &&
           sw_node_set_matches(e->nodes, node, o->gate->node_selector);
}

bool state_waits_for_node(struct sw_engine *e, const struct state *s, uint32_t node)
{
    for (size_t i = 0; i < s->n_objects; i++)
        if (waits_for(e, s->objects[i], node))
            return node_selected(e, node);
    return false;
}

/* @wanted: "key", with any value, or "key=value" */
static bool has_label(struct sw_engine *e, uint32_t node, const char *wanted)
{
    const char *value = strchr(wanted, '=');
    if (!value)
        return sw_node_set_label(e->nodes, node, wanted) != NULL;
    SW_AUTO_CHARS *key = sw_strndup(wanted, (size_t)(value - wanted));
    return sw_streq(sw_node_set_label(e->nodes, node, key), value + 1);
}

static bool is_as_gate_says(struct sw_engine *e, const struct sw_gate *gate, uint32_t node)
{
    for (size_t k = 0; k < gate->n_node_labels; k++)
        if (!has_label(e, node, gate->node_labels[k]))
            return false;
    for (size_t k = 0; k < gate->n_node_resources; k++)
        if (!sw_node_set_has_resource(e->nodes, node, gate->node_resources[k]))
            return false;
    return true;
}

bool node_is_as_waited_for(struct sw_engine *e, const struct state *s, uint32_t node)
{
    for (size_t i = 0; i < s->n_objects; i++)
        if (waits_for(e, s->objects[i], node) && !is_as_gate_says(e, s->objects[i]->gate, node))
            return false;
    return true;
}

static void count_node(struct sw_engine *e, struct state *s, uint32_t node)
{
    bool member = state_waits_for_node(e, s, node);
    (void)bitset_put(&s->members, node, member);
    (void)bitset_put(&s->lacking, node, member && !node_is_as_waited_for(e, s, node));
}

void state_node_changed(struct sw_engine *e, struct state *s, uint32_t node)
{
    if (s->members_known && state_waits_for_nodes(s))
        count_node(e, s, node);
}

/* Is the state finished, too, while it waits for no node at all? */
static bool may_match_no_node(const struct state *s)
{
    for (size_t i = 0; i < s->n_objects; i++) {
        const struct object *o = s->objects[i];
        if (o->text && sw_gate_is_by_node(o->gate) && !o->gate->may_match_no_node)
            return false;
    }
    return true;
}

/* Counted once, then updated node by node: a cluster has many, and events come one by one. */
static bool nodes_are_as_waited_for(struct sw_engine *e, struct state *s)
{
    if (!state_waits_for_nodes(s))
        return true;
    for (uint32_t n = 0; !s->members_known && n < sw_node_set_end(e->nodes); n++)
        count_node(e, s, n);
    s->members_known = true;
    return s->lacking.count == 0 && (s->members.count > 0 || may_match_no_node(s));
}

/* The copy of an object for a kernel that none of the nodes has which its pods select: it is not
 * missed while a copy for another kernel is ready. Copies differ in their names' suffix alone. */
static bool is_spare(const struct state *s, const struct object *o)
{
    const char *end = strrchr(o->key.name, '-');
    if (!s->affine || !end || !sw_streq(o->readiness.reason, "NoMatchingNodes"))
        return false;
    for (size_t i = 0; i < s->n_objects; i++) {
        const struct object *other = s->objects[i];
        const char *other_end = strrchr(other->key.name, '-');
        bool is_copy = other != o && other_end &&
                       other_end - other->key.name == end - o->key.name &&
                       !strncmp(o->key.name, other->key.name, (size_t)(end - o->key.name)) &&
                       sw_streq(o->key.kind, other->key.kind) && sw_streq(o->key.ns, other->key.ns);
        if (is_copy && other->text && object_is_ready(other))
            return true;
    }
    return false;
}

bool state_gate_is_open(struct sw_engine *e, struct state *s)
{
    if (s->affine && s->n_variants == 0)
        return false; /* no node: see NoMatchingNodes in message.c */
    for (size_t i = 0; i < s->n_objects; i++)
        if (object_waits_again(s->objects[i]) ||
            (s->objects[i]->text && !object_is_ready(s->objects[i]) && !is_spare(s, s->objects[i])))
            return false;
    return nodes_are_as_waited_for(e, s);
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

/* Is the log of what has failed on its way? It is told with the failure. */
static bool awaits_logs(struct sw_engine *e, const struct state *s)
{
    bool awaits = false;
    for (size_t i = 0; s->phase != PH_READY && i < s->n_objects; i++) {
        struct object *o = s->objects[i];
        if (o->text && o->awaited && o->readiness.kind == SW_READINESS_FAILED &&
            container_logs_may_come(o))
            awaits = container_logs_awaited(e, o) || awaits;
    }
    return awaits;
}

/* Is the end of the log of a hook that has succeeded still to be told? Who waits until the resource
 * is Ready is told of it before. */
static bool tells_logs(struct sw_engine *e, const struct state *s)
{
    bool tells = false;
    for (size_t i = 0; s->phase != PH_READY && i < s->n_objects; i++)
        tells = container_logs_untold(e, s->objects[i]) || tells;
    return tells;
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
        if (o->text || o->our_uid) /* else it never existed under that key */
            all = worse(all, &o->watch_fault);
        if (object_is_written(o) && o->present && o->foreign && !o->done_hash)
            all = TROUBLE_LASTING;
    }
    return is_busy(s) ? TROUBLE_NONE : all;
}

/* Have others left it not ready that was ready with this content? */
static bool gate_is_held(struct sw_engine *e, struct state *s)
{
    bool foreign = false;
    if (state_gate_is_open(e, s))
        return false;
    for (size_t i = 0; i < s->n_objects; i++) {
        const struct object *o = s->objects[i];
        if (!o->text || object_is_ready(o))
            continue;
        if (!object_is_made_ready_by_others(o))
            return false;
        foreign = true;
    }
    return foreign && s->ready_ms && s->begun == s->digest && nodes_are_as_waited_for(e, s);
}

static bool is_to_be_removed(const struct sw_engine *e, const struct state *s)
{
    return engine_removes_all(e) || (!s->listed && !e->spec_fault.code);
}

static bool retry_is_due(struct sw_engine *e, struct state *s)
{
    bool redo = false;
    if (trouble(e, s) == TROUBLE_NONE) {
        redo = s->phase == PH_FAILED && deadline_can_redo(s);
        if (!redo)
            return s->phase == PH_RETRYING;
    }
    /* what ran and failed changes while it ends: that is no new cause */
    int64_t at = s->changed && !redo ? s->tried_ms + e->opts.retry_min_ms : s->retry_ms;
    if (at > s->retry_ms)
        at = s->retry_ms;
    if (e->now_ms >= at)
        return true;
    act_wake(e, at);
    return false;
}

bool signal_is(struct sw_engine *e, struct state *s, enum signal signal)
{
    bool known = s->n_variants > 0 || s->affine;
    switch (signal) {
    case SG_REMOVE:
        return is_to_be_removed(e, s);
    case SG_LISTED:
        return s->listed && !is_to_be_removed(e, s);
    case SG_GONE:
        return s->n_objects == 0;
    case SG_RENDERED:
        for (size_t i = 0; i < s->n_variants; i++)
            known = known && s->variants[i]->known;
        return known && state_is_rendered(s);
    case SG_UNOBSERVED:
        return !is_observed(e, s);
    case SG_OBSERVED:
        return is_observed(e, s);
    case SG_FAULT:
        return trouble(e, s) == TROUBLE_PASSING;
    case SG_REFUSED:
        return trouble(e, s) == TROUBLE_LASTING;
    case SG_NEEDS_MET:
        return state_is_rendered(s) && !state_is_premature(e, s) && needs_met(e, s);
    case SG_NEEDS_LOST:
        return !is_busy(s) && !needs_met(e, s) && !state_is_applied(s);
    case SG_IN_PLACE:
        return s->begun == s->digest && state_is_applied(s);
    case SG_CHANGED:
        return s->begun != s->digest;
    case SG_DRIFTED:
        return s->begun == s->digest && !state_is_applied(s);
    case SG_APPLIED:
        return !is_busy(s) && state_is_applied(s);
    case SG_GATE_OPEN:
        return !state_is_rendering(s) && state_gate_is_open(e, s) &&
               trouble(e, s) == TROUBLE_NONE && !tells_logs(e, s);
    case SG_GATE_SHUT:
        if (s->late && s->begun == s->digest && !deadline_has_moved(e, s))
            return false;
        return !state_gate_is_open(e, s) && !gate_failed(s) && trouble(e, s) == TROUBLE_NONE;
    case SG_GATE_HELD:
        return gate_is_held(e, s);
    case SG_GATE_FAILED:
        return gate_failed(s) && !awaits_logs(e, s);
    case SG_LATE:
        return deadline_is_over(e, s);
    case SG_RENEWED:
        return s->begun && s->begun != s->digest && trouble(e, s) == TROUBLE_NONE &&
               state_is_rendered(s);
    case SG_RETRY:
        return retry_is_due(e, s);
    case SG_COUNT:
        break;
    }
    return false;
}

const char *signal_name(enum signal signal)
{
    static const char *const names[SG_COUNT] = {
        [SG_REMOVE] = "remove",
        [SG_LISTED] = "listed",
        [SG_GONE] = "gone",
        [SG_RENDERED] = "rendered",
        [SG_UNOBSERVED] = "unobserved",
        [SG_OBSERVED] = "observed",
        [SG_FAULT] = "fault",
        [SG_REFUSED] = "refused",
        [SG_NEEDS_MET] = "needs met",
        [SG_NEEDS_LOST] = "needs lost",
        [SG_IN_PLACE] = "in place",
        [SG_CHANGED] = "changed",
        [SG_DRIFTED] = "drifted",
        [SG_APPLIED] = "applied",
        [SG_GATE_OPEN] = "gate open",
        [SG_GATE_SHUT] = "gate shut",
        [SG_GATE_HELD] = "gate held",
        [SG_GATE_FAILED] = "gate failed",
        [SG_LATE] = "late",
        [SG_RENEWED] = "renewed",
        [SG_RETRY] = "retry",
    };
    return names[signal];
}
