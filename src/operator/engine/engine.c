#include "operator/engine/engine.h"

#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <json-c/linkhash.h>

#include "data/json/json.h"
#include "operator/engine/internal.h"

#define MINUTE_MS 60000
#define KEPT_ACTIONS 8

struct sw_engine *sw_engine_new(struct sw_node_set *nodes, const struct sw_engine_opts *opts)
{
    struct sw_engine *e = sw_zalloc(1, sizeof *e);
    e->nodes = nodes;
    e->arena = sw_arena_new();
    if (opts)
        e->opts = *opts;
    if (!e->opts.grace_ms)
        e->opts.grace_ms = 5 * MINUTE_MS;
    if (!e->opts.retry_min_ms)
        e->opts.retry_min_ms = 500;
    if (!e->opts.retry_max_ms)
        e->opts.retry_max_ms = 30000;
    if (!e->opts.status_gap_ms)
        e->opts.status_gap_ms = 3000;
    e->last_serial = 1; /* 1 is the serial of the first status: see recorded.c */
    return e;
}

static void drop_docs(struct sw_engine *e)
{
    for (size_t i = 0; i < e->n_docs; i++)
        (void)json_object_put(e->docs[i]);
    e->n_docs = 0;
}

void sw_engine_free(struct sw_engine *engine)
{
    struct sw_engine *e = engine;
    if (!e)
        return;
    label_done(e);
    objects_free(e);
    for (size_t i = 0; i < e->n_states; i++)
        state_free(e->states[i]);
    free(e->states);
    act_free_watches(e);
    workers_drop_early(e);
    drop_docs(e);
    void *const blocks[] = {
        e->name,           e->uid,          e->revision,         e->blocked,  e->hold_message,
        e->overlap,        e->overlap_with, e->reported_overlap, e->records,  e->records_reason,
        e->reported_clash, e->spec_reason,  e->reported_reason,  e->docs,     e->acts,
        e->groups,         e->lost,         e->predecessor,      e->rights_of
    };
    for (size_t i = 0; i < SW_COUNT(blocks); i++)
        free(blocks[i]);
    fault_done(&e->spec_fault);
    fault_done(&e->label_fault);
    bitset_done(&e->counted);
    struct json_object *const docs[] = { e->node_selector, e->taints,  e->tolerations,
                                         e->written,       e->writing, e->conditions,
                                         e->upgrade,       e->heirs,   e->former };
    for (size_t i = 0; i < SW_COUNT(docs); i++)
        (void)json_object_put(docs[i]);
    sw_arena_free(e->arena);
    free(e);
}

/* ---- events ------------------------------------------------------------------------------------
 */

static void object_changed(struct sw_engine *e, struct object *o, bool was_ready)
{
    bool is_ready = object_is_ready(o);
    state_note_change(e, o->state);
    /* What failed may go well when any object becomes ready: a webhook's server is seldom an object
     * of the state that its webhook refuses. */
    for (size_t i = 0; is_ready && !was_ready && i < e->n_states; i++)
        if (e->states[i]->phase == PH_RETRYING || e->states[i]->phase == PH_FAILED)
            state_note_change(e, e->states[i]);
    if (is_ready != was_ready && o->state->node_by_node)
        nodes_mark_all(e);
}

/* What a watch for assertions shows, to those who have it. */
static void on_members(struct sw_engine *e, struct watch *w, const struct sw_event *event)
{
    struct object_iter it = { 0 };
    w->delivered = true;
    for (struct object *o; (o = object_next(e, &it));) {
        if (!o->members || o->watch != w->id)
            continue;
        const bool was_ready = object_is_ready(o);
        if (event->code == SW_NOTFOUND && !event->key.name) {
            object_take_unserved(o, event->message);
        } else if (event->code) {
            fault_set(&o->watch_fault, event->code, event->message);
        } else if (event->kind == SW_EV_SYNCED) {
            fault_done(&o->watch_fault);
            members_synced(o);
        } else {
            members_observe(o, &event->key, event->object);
        }
        object_judge(o);
        object_changed(e, o, was_ready);
    }
}

static void on_observed(struct sw_engine *e, const struct sw_event *event)
{
    /* A watch of workers has less of a pod than the watch of a pod that is an object itself. */
    struct watch *w = event->watch ? act_find_watch(e, event->watch) : NULL;
    if (w && w->use == SW_USE_MEMBERS) {
        on_members(e, w, event);
        return;
    }
    struct object *o = w && w->use == SW_USE_WORKERS ? NULL : object_find(e, &event->key);
    struct object_iter it = { 0 };
    if (event->code && (event->code != SW_NOTFOUND || !event->key.name)) {
        /* what cannot be watched is not taken for absent */
        struct object *of_key = object_find(e, &event->key);
        while ((o = object_next(e, &it))) {
            const bool of_workers = event->watch && o->workers_watch == event->watch;
            if (o != of_key && (!of_workers || workers_inform(o->workers)))
                continue;
            fault_set(&o->watch_fault, event->code, event->message);
            state_note_change(e, o->state);
        }
        return;
    }
    if (o) {
        bool was_ready = object_is_ready(o), was_observed = o->observed, was_served = !o->unserved;
        bool changed = object_observe(e, o, event->object);
        if (!event->object && event->code == SW_NOTFOUND) {
            object_take_unserved(o, event->message);
            object_judge(o);
        }
        if (changed || !was_observed || was_served == o->unserved)
            object_changed(e, o, was_ready);
    }
    if (!sw_streq(event->key.kind, "Pod") && !sw_streq(event->key.kind, "Build"))
        return;
    for (size_t i = 0; i < e->n_watches; i++)
        if (e->watches[i].use == SW_USE_WORKERS &&
            sw_streq(e->watches[i].key.kind, event->key.kind))
            e->watches[i].delivered = true;
    while ((o = object_next(e, &it))) {
        bool was_ready = object_is_ready(o);
        if (!workers_observe(e, o, &event->key, event->object))
            continue;
        if (workers_inform(o->workers)) {
            e->status_dirty = true; /* its message may have changed, nothing else */
            continue;
        }
        object_judge(o);
        object_changed(e, o, was_ready);
    }
    if (e->preparing)
        workers_keep_early(e, &event->key, event->object);
}

static void on_synced(struct sw_engine *e, const struct sw_event *event)
{
    struct watch *w = act_find_watch(e, event->watch);
    struct object_iter it = { 0 };
    if (!w)
        return;
    if (w->use == SW_USE_MEMBERS)
        on_members(e, w, event);
    for (struct object *o; (o = object_next(e, &it));) {
        if (o->workers_watch != w->id || !o->watch_fault.code)
            continue;
        fault_done(&o->watch_fault);
        state_note_change(e, o->state);
        e->status_dirty = true;
    }
    if (w->synced)
        return;
    w->synced = w->delivered = true;
    e->status_dirty = true;
    nodes_mark_all(e);
}

static void on_answered(struct sw_engine *e, const struct sw_event *event)
{
    struct object *o = object_find(e, &event->key);
    if (!o)
        return;
    bool was_ready = object_is_ready(o);
    apply_answered(e, o, event);
    if (object_is_ready(o) != was_ready)
        object_changed(e, o, was_ready);
}

static void on_logs(struct sw_engine *e, const struct sw_event *event)
{
    struct object_iter it = { 0 };
    for (struct object *o; (o = object_next(e, &it));) {
        bool was_ready = object_is_ready(o);
        if (container_logs_take(e, o, event)) {
            e->status_dirty = true; /* its message has changed, nothing else */
        } else if (workers_take_logs(e, o, event)) {
            object_judge(o);
            object_changed(e, o, was_ready);
        }
    }
}

static void on_warnings(struct sw_engine *e, const struct sw_event *event)
{
    struct object_iter it = { 0 };
    for (struct object *o; (o = object_next(e, &it));)
        if (warnings_take(o, event))
            e->status_dirty = true;
}

static void node_changed(struct sw_engine *e, uint32_t node)
{
    if (node == SW_NO_NODE)
        return;
    if (!sw_node_set_name(e->nodes, node)) {
        struct object_iter it = { 0 };
        label_forget_node(e, node);
        for (struct object *o; (o = object_next(e, &it));)
            workers_forget_node(o, node);
    }
    spec_node_changed(e, node);
    for (size_t i = 0; i < e->n_states; i++)
        state_node_changed(e, e->states[i], node);
    nodes_mark(e, node);
    if (label_counts_node(e, node))
        e->status_dirty = true;
}

/* A reboot has stopped what ran on the node. Its pods will be observed, one by one, when they are
 * not ready any more, and each takes the label of its state off then. Nothing is applied again. */
static void on_node(struct sw_engine *e, const struct sw_event *event)
{
    node_changed(e, event->node);
    if (event->node == SW_NO_NODE || !sw_node_set_has_rebooted(e->nodes, event->node) ||
        e->management == SW_UNMANAGED || engine_removes_all(e) ||
        !label_counts_node(e, event->node))
        return;
    act_event(e, false, "NodeRebooted", "node %s was started anew: its states are looked at again",
              sw_node_set_name(e->nodes, event->node));
}

bool sw_engine_concerns_node(struct sw_engine *engine, uint32_t node)
{
    struct sw_engine *e = engine;
    if (!sw_node_set_name(e->nodes, node))
        return true; /* it is gone, and another one may get its number: pods there are forgotten */
    for (size_t i = 0; i < e->n_states; i++)
        if (bitset_has(&e->states[i]->members, node))
            return true;
    return bitset_has(&e->dirty, node) || bitset_has(&e->busy, node) ||
           bitset_has(&e->later, node) || (node < e->n_groups && e->groups[node]) ||
           taint_is_set(e, node) || label_counts_node(e, node);
}

static void on_labeled(struct sw_engine *e, const struct sw_event *event)
{
    label_answered(e, event);
    node_changed(e, event->node); /* the answer has all of its labels, those set by others too */
}

static void on_facts(struct sw_engine *e, const struct sw_event *event)
{
    (void)event;
    spec_facts_changed(e);
}

static void on_spec(struct sw_engine *e, const struct sw_event *event)
{
    if (event->spec)
        spec_take(e, event->spec);
}

static void on_upgrade(struct sw_engine *e, const struct sw_event *event)
{
    if (sw_json_equal(e->upgrade, event->object))
        return;
    (void)json_object_put(e->upgrade);
    e->upgrade = json_object_get(event->object);
    e->status_dirty = true;
}

static void on_leaving(struct sw_engine *e, const struct sw_event *event)
{
    (void)event;
    e->status_ms = e->now_ms - e->opts.status_gap_ms; /* no progress is kept back */
}

static void on_status_lost(struct sw_engine *e, const struct sw_event *event)
{
    (void)event;
    e->status_dirty = e->status_is_lost = true;
}

static void on_timer(struct sw_engine *e, const struct sw_event *event)
{
    (void)event;
    e->armed_ms = 0; /* it has run */
}

static void (*const handlers[SW_EV_COUNT])(struct sw_engine *e, const struct sw_event *event) = {
    [SW_EV_SPEC] = on_spec,
    [SW_EV_RENDERED] = spec_take_render,
    [SW_EV_RENDER_FAILED] = spec_take_render,
    [SW_EV_OBSERVED] = on_observed,
    [SW_EV_SYNCED] = on_synced,
    [SW_EV_APPLIED] = on_answered,
    [SW_EV_DELETED] = on_answered,
    [SW_EV_RELEASED] = on_answered,
    [SW_EV_LABELED] = on_labeled,
    [SW_EV_STATUS_WRITTEN] = status_answered,
    [SW_EV_STATUS_LOST] = on_status_lost,
    [SW_EV_LOGS] = on_logs,
    [SW_EV_WARNINGS] = on_warnings,
    [SW_EV_NODE] = on_node,
    [SW_EV_FACTS] = on_facts,
    [SW_EV_UPGRADE] = on_upgrade,
    [SW_EV_LEAVING] = on_leaving,
    [SW_EV_TIMER] = on_timer,
};

/* ---- a step ------------------------------------------------------------------------------------
 */

/* Free states that the recipe does not have any more, once they are removed and no node has their
 * label. */
static void drop_states(struct sw_engine *e)
{
    if (engine_removes_all(e) || e->spec_fault.code || !label_is_settled(e))
        return;
    for (size_t at = e->n_states; at-- > 0;) {
        struct state *gone = e->states[at];
        if (gone->listed || gone->phase != PH_REMOVED)
            continue;
        for (size_t i = 0; i < e->n_states; i++) {
            struct state *s = e->states[i];
            size_t kept = 0;
            for (size_t k = 0; k < s->n_needs; k++)
                if (s->needs[k] != gone)
                    s->needs[kept++] = s->needs[k];
            s->n_needs = kept;
        }
        memmove(&e->states[at], &e->states[at + 1], (e->n_states - at - 1) * sizeof *e->states);
        e->n_states--;
        e->status_dirty = true;
        state_free(gone);
    }
}

/* When every state has been rendered once, no early worker can belong to an object to come. */
static void note_prepared(struct sw_engine *e)
{
    for (size_t i = 0; i < e->n_states; i++)
        for (size_t k = 0; k < e->states[i]->n_variants; k++)
            if (e->states[i]->phase == PH_RENDERING && e->states[i]->variants[k]->serial)
                return;
    e->preparing = false;
    workers_drop_early(e);
}

/* What counts as ready from now on only because time has passed. */
static void wake_workers(struct sw_engine *e)
{
    struct object_iter it = { 0 };
    for (struct object *o; (o = object_next(e, &it));) {
        const bool was_ready = object_is_ready(o);
        if (!workers_wake(e, o))
            continue;
        object_judge(o);
        object_changed(e, o, was_ready);
    }
}

static void settle(struct sw_engine *e)
{
    size_t rounds = 0;
    struct object_iter it = { 0 };
    wake_workers(e);
    if (e->hold == SW_HOLD_ALL) { /* its deletion may not touch anything yet */
        note_prepared(e);
        status_update(e);
        return;
    }
    /* the further states go the more nodes have finished, and the other way round */
    do {
        table_settle(e);
    } while (label_update(e) && ++rounds <= e->n_states);
    note_prepared(e);
    for (struct object *o; (o = object_next(e, &it));) {
        late_workers_watch(e, o);
        workers_ask_logs(e, o);
        container_logs_ask(e, o);
        warnings_ask(e, o);
    }
    drop_states(e);
    bool keeps_last = e->hold == SW_HOLD_LAST;
    if (engine_removes_all(e) && !e->finalized && engine_is_removed(e, !keeps_last)) {
        if (keeps_last && !e->emptied) {
            e->emptied = true;
            act_add(e, SW_ACT_EMPTIED);
        } else if (!keeps_last && e->deleting && label_is_settled(e)) {
            e->finalized = true;
            act_add(e, SW_ACT_FINALIZED);
        }
    }
    stuck_report(e);
    if (!e->finalized)
        status_update(e);
}

const struct sw_actions *sw_engine_step(struct sw_engine *engine, const struct sw_event *event)
{
    struct sw_engine *e = engine;
    drop_docs(e);
    sw_arena_reset(e->arena);
    e->n_acts = 0;
    if (e->cap_acts >
        KEPT_ACTIONS) { /* most steps need few, and there may be hundreds of engines */
        free(SW_TAKE(e->acts));
        free(SW_TAKE(e->docs));
        e->cap_acts = e->cap_docs = 0;
    }
    e->deadline_ms = 0;
    e->now_ms = event->now_ms > e->now_ms ? event->now_ms : e->now_ms;
    if ((unsigned)event->kind < SW_EV_COUNT)
        handlers[event->kind](e, event);
    if (e->has_spec && (e->management != SW_UNMANAGED || e->deleting))
        settle(e);
    if (e->deadline_ms != e->armed_ms) {
        act_add(e, SW_ACT_TIMER)->at_ms = e->deadline_ms;
        e->armed_ms = e->deadline_ms;
    }
    e->out = (struct sw_actions){ e->n_acts, e->acts };
    return &e->out;
}

/* ---- questions ---------------------------------------------------------------------------------
 */

struct json_object *sw_engine_status(struct sw_engine *engine, int64_t now_ms)
{
    engine->now_ms = now_ms > engine->now_ms ? now_ms : engine->now_ms;
    return status_make(engine);
}

void sw_engine_each_workload(const struct sw_engine *engine,
                             void (*each)(const struct sw_key *key, const char *nodes, void *arg),
                             void *arg)
{
    struct object_iter it = { 0 };
    for (const struct object *o; (o = object_next(engine, &it));) {
        SW_AUTO_CHARS *nodes = workers_nodes(engine, o);
        if (nodes)
            each(&o->key, nodes, arg);
    }
}

enum sw_phase sw_engine_phase(const struct sw_engine *engine)
{
    return engine->reported_phase;
}
