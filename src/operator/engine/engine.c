#include "operator/engine/engine.h"

#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <json-c/linkhash.h>

#include "data/json/json.h"
#include "operator/engine/internal.h"

#define MINUTE_MS 60000
#define KEPT_ACTIONS 8

struct sw_engine *sw_engine_new(const struct sw_node_set *roster, const struct sw_engine_opts *opts)
{
    struct sw_engine *e = sw_zalloc(1, sizeof *e);
    e->roster = roster;
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
    e->last_serial = 1; /* 1 is what was recorded before: see recorded.c */
    return e;
}

static void drop_docs(struct sw_engine *e)
{
    for (size_t i = 0; i < e->n_docs; i++)
        (void)json_object_put(e->docs[i]);
    e->n_docs = 0;
}

/* What the last step asked for. Room for a crowd is not kept: most steps ask for one thing or two,
 * and there may be hundreds of engines. */
static void drop_actions(struct sw_engine *e)
{
    drop_docs(e);
    sw_arena_reset(e->arena);
    e->n_acts = 0;
    if (e->cap_acts <= KEPT_ACTIONS)
        return;
    free(SW_TAKE(e->acts));
    free(SW_TAKE(e->docs));
    e->cap_acts = e->cap_docs = 0;
}

static void free_texts(struct sw_engine *e)
{
    free(e->name);
    free(e->uid);
    free(e->revision);
    free(e->blocked);
    free(e->hold_words);
    free(e->overlap);
    free(e->overlap_with);
    free(e->told_overlap);
    free(e->told_clash);
    free(e->spec_reason);
    free(e->told_reason);
    fault_done(&e->spec_fault);
    fault_done(&e->label_fault);
}

void sw_engine_free(struct sw_engine *engine)
{
    struct sw_engine *e = engine;
    if (!e)
        return;
    objects_free(e);
    for (size_t i = 0; i < e->n_states; i++)
        state_free(e->states[i]);
    free(e->states);
    act_free_watches(e);
    workers_drop_strays(e);
    free_texts(e);
    drop_docs(e);
    free(e->docs);
    free(e->acts);
    free(e->groups);
    free(e->lost);
    bitset_done(&e->dirty);
    bitset_done(&e->busy);
    bitset_done(&e->later);
    bitset_done(&e->counted);
    (void)json_object_put(e->node_selector);
    (void)json_object_put(e->taints);
    (void)json_object_put(e->tolerations);
    (void)json_object_put(e->written);
    (void)json_object_put(e->writing);
    (void)json_object_put(e->conditions);
    (void)json_object_put(e->upgrade);
    sw_arena_free(e->arena);
    free(e);
}

/* ---- events ------------------------------------------------------------------------------------
 */

/* What failed for lack of something may be over when anything becomes ready: a webhook's server is
 * seldom an object of the state that it holds up. */
static void nudge_all(struct sw_engine *e)
{
    for (size_t i = 0; i < e->n_states; i++)
        if (e->states[i]->phase == PH_RETRYING || e->states[i]->phase == PH_FAILED)
            state_nudge(e, e->states[i]);
}

static void each_object(struct sw_engine *e, const struct sw_event *event,
                        void (*each)(struct sw_engine *e, struct object *o,
                                     const struct sw_event *event))
{
    for (size_t i = 0; i < e->n_states; i++)
        for (size_t k = 0; k < e->states[i]->n_objects; k++)
            each(e, e->states[i]->objects[k], event);
}

static void object_changed(struct sw_engine *e, struct object *o, bool was_ready)
{
    bool is_ready = object_is_ready(o);
    state_nudge(e, o->state);
    if (is_ready && !was_ready)
        nudge_all(e);
    if (is_ready != was_ready && o->state->node_by_node)
        label_all_changed(e);
}

static void on_worker(struct sw_engine *e, struct object *o, const struct sw_event *event)
{
    bool was_ready = object_is_ready(o);
    if (!workers_observe(e, o, &event->key, event->object))
        return;
    object_judge(o);
    object_changed(e, o, was_ready);
}

static void set_unserved(struct object *o, const char *why)
{
    o->unserved = true;
    free(o->unserved_why);
    o->unserved_why = why ? sw_printf("is not served yet: %s", why) : NULL;
}

/* What cannot be looked at is not taken for absent. */
static void on_unseen(struct sw_engine *e, struct object *o, const struct sw_event *event)
{
    bool workers = event->watch && o->workers_watch == event->watch;
    if (!workers && object_find(e, &event->key) != o)
        return;
    fault_set(&o->unseen, event->code, event->message);
    state_nudge(e, o->state);
}

/* A watch of workers shows less of a pod than the watch of the pod that is an object itself. */
static struct object *object_of(struct sw_engine *e, const struct sw_event *event)
{
    const struct watch *w = event->watch ? act_find_watch(e, event->watch) : NULL;
    return w && w->use == SW_USE_WORKERS ? NULL : object_find(e, &event->key);
}

static void on_observed(struct sw_engine *e, const struct sw_event *event)
{
    struct object *o = object_of(e, event);
    if (event->code && (event->code != SW_NOTFOUND || !event->key.name)) {
        each_object(e, event, on_unseen);
        return;
    }
    if (o) {
        bool was_ready = object_is_ready(o), was_looked = o->looked, was_served = !o->unserved;
        bool changed = object_observe(e, o, event->object);
        if (!event->object && event->code == SW_NOTFOUND) {
            set_unserved(o, event->message);
            object_judge(o);
        }
        if (changed || !was_looked || was_served == o->unserved)
            object_changed(e, o, was_ready);
    }
    bool worker = sw_streq(event->key.kind, "Pod") || sw_streq(event->key.kind, "Build");
    if (!worker)
        return;
    for (size_t i = 0; i < e->n_watches; i++)
        if (e->watches[i].use == SW_USE_WORKERS &&
            sw_streq(e->watches[i].key.kind, event->key.kind))
            e->watches[i].told = true;
    each_object(e, event, on_worker);
    if (e->preparing)
        workers_keep_stray(e, &event->key, event->object);
}

static void on_synced(struct sw_engine *e, const struct sw_event *event)
{
    struct watch *w = act_find_watch(e, event->watch);
    if (!w || w->synced)
        return;
    w->synced = w->told = true;
    for (size_t i = 0; i < e->n_states; i++)
        for (size_t k = 0; k < e->states[i]->n_objects; k++)
            if (e->states[i]->objects[k]->workers_watch == w->id)
                fault_done(&e->states[i]->objects[k]->unseen);
    e->status_dirty = true;
    label_all_changed(e);
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

static void on_logs(struct sw_engine *e, struct object *o, const struct sw_event *event)
{
    bool was_ready = object_is_ready(o);
    if (container_logs_take(o, event)) {
        /* the state stands where it stood: its words are others */
        e->status_dirty = true;
        return;
    }
    if (!workers_take_logs(e, o, event))
        return;
    object_judge(o);
    object_changed(e, o, was_ready);
}

static void forget_node(struct sw_engine *e, struct object *o, const struct sw_event *event)
{
    (void)e;
    workers_forget_node(o, event->node);
}

static void on_node(struct sw_engine *e, const struct sw_event *event)
{
    if (event->node == SW_NO_NODE)
        return;
    if (!sw_node_set_name(e->roster, event->node)) {
        label_forget_node(e, event->node);
        each_object(e, event, forget_node);
    }
    spec_node_changed(e, event->node);
    for (size_t i = 0; i < e->n_states; i++)
        state_node_changed(e, e->states[i], event->node);
    label_node_changed(e, event->node);
    if (label_concerns(e, event->node)) /* the status speaks of its own nodes only */
        e->status_dirty = true;
}

/* What ran on it was stopped: its pods tell, one by one, when they are not ready any more, and each
 * takes the label of its state then. Nothing is applied or replaced for it. */
static void on_node_told(struct sw_engine *e, const struct sw_event *event)
{
    on_node(e, event);
    if (event->node == SW_NO_NODE || !sw_node_set_has_rebooted(e->roster, event->node) ||
        e->management == SW_UNMANAGED || engine_removes_all(e) || !label_concerns(e, event->node))
        return;
    act_event(e, false, "NodeRebooted", "node %s was started anew: its states are looked at again",
              sw_node_set_name(e->roster, event->node));
}

bool sw_engine_minds_node(struct sw_engine *engine, uint32_t node)
{
    struct sw_engine *e = engine;
    for (size_t i = 0; i < e->n_states; i++)
        if (bitset_has(&e->states[i]->members, node))
            return true;
    return bitset_has(&e->dirty, node) || bitset_has(&e->busy, node) ||
           bitset_has(&e->later, node) || (node < e->n_groups && e->groups[node]) ||
           taint_is_set(e, node) || label_concerns(e, node);
}

/* The answer has brought the node's labels along, those that others have set meanwhile too. */
static void on_labeled(struct sw_engine *e, const struct sw_event *event)
{
    label_answered(e, event);
    on_node(e, event);
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

static void on_all_logs(struct sw_engine *e, const struct sw_event *event)
{
    each_object(e, event, on_logs);
}

static void on_upgrade(struct sw_engine *e, const struct sw_event *event)
{
    if (sw_json_equal(e->upgrade, event->object))
        return;
    (void)json_object_put(e->upgrade);
    e->upgrade = json_object_get(event->object);
    e->status_dirty = true;
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
    [SW_EV_LOGS] = on_all_logs,
    [SW_EV_NODE] = on_node_told,
    [SW_EV_FACTS] = on_facts,
    [SW_EV_UPGRADE] = on_upgrade,
    [SW_EV_TIMER] = on_timer,
};

/* ---- a step ------------------------------------------------------------------------------------
 */

static void drop_state(struct sw_engine *e, size_t at)
{
    struct state *gone = e->states[at];
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

/* States that the recipe does not have any more, once nothing reminds of them. */
static void drop_states(struct sw_engine *e)
{
    if (engine_removes_all(e) || e->spec_fault.code || !label_is_settled(e))
        return;
    for (size_t i = e->n_states; i-- > 0;)
        if (!e->states[i]->listed && e->states[i]->phase == PH_REMOVED)
            drop_state(e, i);
}

static bool is_removed(const struct sw_engine *e, bool but_hidden)
{
    for (size_t i = 0; i < e->n_states; i++)
        if (e->states[i]->phase != PH_REMOVED && !(but_hidden && e->states[i]->hidden))
            return false;
    return true;
}

static void finalize(struct sw_engine *e)
{
    if (!engine_removes_all(e) || e->finalized)
        return;
    if (e->hold == SW_HOLD_LAST) {
        if (!e->emptied && is_removed(e, true)) {
            e->emptied = true;
            act_add(e, SW_ACT_EMPTIED);
        }
        return;
    }
    if (!e->deleting || !label_is_settled(e) || !is_removed(e, false))
        return;
    e->finalized = true;
    act_add(e, SW_ACT_FINALIZED);
}

static void ask_for_logs(struct sw_engine *e)
{
    for (size_t i = 0; i < e->n_states; i++)
        for (size_t k = 0; k < e->states[i]->n_objects; k++) {
            workers_logs(e, e->states[i]->objects[k]);
            container_logs_ask(e, e->states[i]->objects[k]);
        }
}

static void note_prepared(struct sw_engine *e)
{
    for (size_t i = 0; i < e->n_states; i++)
        for (size_t k = 0; k < e->states[i]->n_variants; k++)
            if (e->states[i]->phase == PH_ASKING && e->states[i]->variants[k]->serial)
                return;
    e->preparing = false;
    workers_drop_strays(e);
}

/* The more one finds out, the further states go, the more nodes have finished. */
static void settle(struct sw_engine *e)
{
    size_t rounds = 0;
    if (e->hold == SW_HOLD_ALL) { /* it is on its way out, and not to be touched yet */
        note_prepared(e);
        status_update(e);
        return;
    }
    do {
        table_settle(e);
    } while (label_update(e) && ++rounds <= e->n_states);
    note_prepared(e);
    ask_for_logs(e);
    drop_states(e);
    finalize(e);
    if (!e->finalized)
        status_update(e);
}

static void arm(struct sw_engine *e)
{
    if (e->deadline_ms == e->armed_ms)
        return;
    act_add(e, SW_ACT_TIMER)->at_ms = e->deadline_ms;
    e->armed_ms = e->deadline_ms;
}

const struct sw_actions *sw_engine_step(struct sw_engine *engine, const struct sw_event *event)
{
    struct sw_engine *e = engine;
    drop_actions(e);
    e->deadline_ms = 0;
    e->now_ms = event->now_ms > e->now_ms ? event->now_ms : e->now_ms;
    if ((unsigned)event->kind < SW_EV_COUNT)
        handlers[event->kind](e, event);
    if (e->told && (e->management != SW_UNMANAGED || e->deleting))
        settle(e);
    arm(e);
    e->out = (struct sw_actions){ e->n_acts, e->acts };
    return &e->out;
}

struct json_object *sw_engine_status(struct sw_engine *engine, int64_t now_ms)
{
    engine->now_ms = now_ms > engine->now_ms ? now_ms : engine->now_ms;
    return status_make(engine);
}

void sw_engine_each_workload(const struct sw_engine *engine,
                             void (*each)(const struct sw_key *key, const char *nodes, void *arg),
                             void *arg)
{
    for (size_t i = 0; i < engine->n_states; i++)
        for (size_t k = 0; k < engine->states[i]->n_objects; k++) {
            const struct object *o = engine->states[i]->objects[k];
            SW_AUTO_CHARS *nodes = workers_nodes(engine, o);
            if (nodes)
                each(&o->key, nodes, arg);
        }
}

enum sw_phase sw_engine_phase(const struct sw_engine *engine)
{
    return engine->told_phase;
}
