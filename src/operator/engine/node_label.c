/* Node labels: which state has finished on which node. For each state and node: it has (set the
 * label), it has not (clear it), or that is not known or does not matter now (keep the label). */
#include <string.h>

#include <json-c/json.h>

#include "data/json/path.h"
#include "operator/engine/internal.h"
#include "operator/engine/nodes/node_policy.h"

#define READY "Ready"
#define MAX_BUSY 24 /* nodes being patched: the client sends 16 requests at once */

enum change { KEEP, SET, CLEAR };

/* The update of one node. */
struct update {
    struct sw_engine *e;
    uint32_t node;
    const struct lost_node *before; /* it was lost before this; or NULL */
    bool lost;                      /* it is deselected, or not ready */
    bool unsure;                    /* it is not known yet whether it is lost */
    bool done_changed;              /* it has finished or unfinished a state */
};

static bool has_label(const struct sw_engine *e, const struct state *s, uint32_t node)
{
    return s->label && sw_streq(sw_node_set_label(e->nodes, node, s->label), READY);
}

bool sw_engine_has_label(const struct sw_engine *engine, const char *key)
{
    for (size_t i = 0; i < engine->n_states; i++) {
        const struct state *s = engine->states[i];
        if (sw_streq(s->label, key) && (s->listed || s->phase != PH_REMOVED))
            return true;
    }
    return false;
}

/* The node is not one of the state's, or the resource's, any more: its label or taint is cleared
 * after the grace period. */
static enum change after_grace(struct update *u)
{
    u->lost = true;
    return u->before && u->before->since_ms + u->e->opts.grace_ms <= u->e->now_ms ? CLEAR : KEEP;
}

/* ---- a state that finishes node by node --------------------------------------------------------
 */

static bool is_daemon(const struct object *o)
{
    return o->text && o->awaited && workers_are_node_by_node(o->workers);
}

/* Has the node a pod of it, or is to have one? A pod that stays there for the grace period counts
 * as none. */
static bool belongs(const struct sw_engine *e, const struct object *o, uint32_t node)
{
    return (workers_has(o, node) && !o->grace_label) ||
           sw_placement_takes(o->placement, e->nodes, node);
}

/* Was it rendered for the node's group, or for all? */
static bool concerns(const struct sw_engine *e, const struct object *o, uint32_t node)
{
    if (!o->text)
        return false;
    for (size_t i = 0; i < o->n_variants; i++)
        if (!*o->variants[i]->name ||
            sw_streq(o->variants[i]->name, sw_node_set_group(e->nodes, node)))
            return true;
    return false;
}

static bool is_node_of(struct sw_engine *e, const struct state *s, uint32_t node)
{
    bool any = false;
    if (state_waits_for_nodes(s))
        return state_waits_for_node(e, s, node);
    for (size_t i = 0; i < s->n_objects; i++) {
        if (!is_daemon(s->objects[i]))
            continue;
        any = true;
        if (belongs(e, s->objects[i], node))
            return true;
    }
    return !any && node_selected(e, node);
}

/* Is all ready that the nodes of the state (of one kernel) share: its Deployments, its builds?
 * Nothing is for a kernel that the recipe has nothing for, unless it has nothing for any. */
static bool rest_is_ready(const struct sw_engine *e, const struct state *s, uint32_t node)
{
    bool any = !s->affine, empty = true;
    for (size_t i = 0; i < s->n_objects; i++) {
        const struct object *o = s->objects[i];
        empty = empty && !o->text;
        bool by_node = is_daemon(o) || (o->text && sw_gate_is_by_node(o->gate));
        if (!concerns(e, o, node))
            continue;
        if (by_node ? !object_is_applied(o) : !object_is_ready(o))
            return false;
        any = true;
    }
    return any || (empty && s->phase == PH_READY);
}

/* May the label be set? On a new node states finish in the order of the graph; and while a state is
 * being rendered, what it has finished with may be out of date. */
static enum change set_if_possible(struct update *u, const struct state *s)
{
    for (size_t i = 0; i < s->n_needs; i++) {
        const struct state *need = s->needs[i];
        if (need->phase == PH_READY && !need->node_by_node)
            continue;
        if (has_label(u->e, need, u->node) || bitset_has(&need->done, u->node))
            continue;
        if (need->phase != PH_READY || is_node_of(u->e, need, u->node))
            return KEEP;
    }
    if (state_is_rendered(s))
        return SET;
    (void)bitset_put(&u->e->later, u->node, true);
    return KEEP;
}

/* Cleared when it has not been ready for the grace period, for a reason that is slipway's own. */
static enum change clear_if_given_up(const struct update *u, const struct state *s)
{
    bool own = false;
    for (size_t i = 0; i < s->n_objects; i++) {
        const struct object *o = s->objects[i];
        own = own || (concerns(u->e, o, u->node) && !object_is_ready(o) &&
                      !object_is_made_ready_by_others(o));
    }
    bool given_up = own && s->shut_ms && s->phase != PH_READY &&
                    s->shut_ms + u->e->opts.grace_ms <= u->e->now_ms;
    return given_up ? CLEAR : KEEP;
}

static enum change decide_by_node(struct update *u, struct state *s)
{
    struct sw_engine *e = u->e;
    bool known = s->begun != 0;
    for (size_t i = 0; known && i < s->n_objects; i++)
        known = !is_daemon(s->objects[i]) || object_is_known(e, s->objects[i]);
    if (!known) {
        u->unsure = true;
        return KEEP;
    }
    bool member = is_node_of(e, s, u->node);
    bool labels = node_is_as_waited_for(e, s, u->node);
    bool pods = true, rest = rest_is_ready(e, s, u->node);
    for (size_t i = 0; pods && i < s->n_objects; i++)
        pods = !is_daemon(s->objects[i]) || !belongs(e, s->objects[i], u->node) ||
               workers_ready_on(s->objects[i], u->node);
    u->done_changed = bitset_put(&s->done, u->node, member && labels && pods && rest) ||
                      u->done_changed;
    if (!member || !labels || (!pods && !sw_node_set_is_ready(e->nodes, u->node)))
        return has_label(e, s, u->node) ? after_grace(u) : KEEP;
    if (!pods)
        return CLEAR;
    return rest ? set_if_possible(u, s) : clear_if_given_up(u, s);
}

/* ---- one node ----------------------------------------------------------------------------------
 */

static enum change decide(struct update *u, struct state *s)
{
    if (engine_orphans(u->e))
        return KEEP;
    if (engine_removes_all(u->e))
        return engine_is_removed(u->e, true) ? CLEAR : KEEP;
    if (s->phase == PH_REMOVED)
        return s->listed ? KEEP : CLEAR;
    if (s->phase == PH_REMOVING)
        return KEEP;
    /* after a restart it is not known at first which nodes are its own */
    u->unsure = u->unsure || s->phase == PH_RENDERING || !state_is_rendered(s);
    if (s->node_by_node)
        return decide_by_node(u, s);
    if (!node_selected(u->e, u->node))
        return has_label(u->e, s, u->node) ? after_grace(u) : KEEP;
    return s->phase == PH_READY ? set_if_possible(u, s) : clear_if_given_up(u, s);
}

static void add_to(struct json_object **patch, const char *key, const char *value)
{
    if (!*patch)
        *patch = json_object_new_object();
    json_object_object_add(*patch, key, value ? json_object_new_string(value) : NULL);
}

/* ---- labels of the grace period (nodes/grace_period.h) -----------------------------------------
 */

struct grace_labels {
    struct update *u;
    struct json_object **patch;
    bool any; /* label of a state is left */
};

/* Do the pods of @o not need its label on the node any more? */
static bool is_grace_over(struct update *u, const struct object *o)
{
    struct sw_engine *e = u->e;
    if (sw_placement_takes(o->placement, e->nodes, u->node))
        return e->opts.no_grace_labels;
    if (!sw_placement_takes(o->grace_placement, e->nodes, u->node))
        return true; /* no label of a feature is missing: another kernel, for example */
    return after_grace(u) == CLEAR;
}

/* A label that the node has: cleared when the grace period is over for all objects that have it, or
 * there is none. */
static void check_grace_label(const char *key, const char *value, void *arg)
{
    struct grace_labels *g = arg;
    struct update *u = g->u;
    struct sw_engine *e = u->e;
    struct object_iter it = { 0 };
    bool over = true, any = false;
    if (!sw_starts_with(key, SW_GRACE_PERIOD_LABEL) || !sw_streq(value, e->name))
        return;
    for (const struct object *o; over && (o = object_next(e, &it));) {
        if (!sw_streq(o->grace_label, key))
            continue;
        any = true;
        over = is_grace_over(u, o);
    }
    if (engine_removes_all(e))
        over = !g->any;
    else if (!any)
        over = !u->unsure && !e->preparing;
    if (over)
        add_to(g->patch, key, NULL);
}

/* They are set together with the label of the state that the pods are of; not before it is known
 * which template the pods run with (keep_template.c). */
static void update_grace_labels(struct update *u, bool any, struct json_object **patch)
{
    struct sw_engine *e = u->e;
    struct grace_labels g = { u, patch, any };
    struct object_iter it = { 0 };
    if (engine_orphans(e))
        return;
    sw_node_set_each_label(e->nodes, u->node, check_grace_label, &g);
    if (!any || engine_removes_all(e) || e->opts.no_grace_labels)
        return;
    for (const struct object *o; (o = object_next(e, &it));) {
        const char *label = o->state->label;
        struct json_object *value;
        if (!o->grace_label || !o->observed ||
            sw_node_set_label(e->nodes, u->node, o->grace_label) ||
            !sw_placement_takes(o->placement, e->nodes, u->node))
            continue;
        bool has = !label || sw_node_set_label(e->nodes, u->node, label);
        if (label && *patch && json_object_object_get_ex(*patch, label, &value))
            has = value != NULL;
        if (has)
            add_to(patch, o->grace_label, e->name);
    }
}

/* Which version of a module is ready, where the node chooses one. */
static void update_version_label(struct update *u, const struct state *s, enum change change,
                                 struct json_object **patch)
{
    SW_AUTO_CHARS *chosen = NULL, *key = sw_ready_version_label(s->ready_label, &chosen);
    if (!key)
        return;
    const char *now = sw_node_set_label(u->e->nodes, u->node, key),
               *version = sw_node_set_label(u->e->nodes, u->node, chosen);
    if (change == SET && version && !sw_streq(now, version))
        add_to(patch, key, version);
    if (now && (change == CLEAR || !version))
        add_to(patch, key, NULL);
}

/* The label by which others know that the state is ready on the node: with its own. */
static void update_ready_label(struct update *u, const struct state *s, enum change change,
                               struct json_object **patch)
{
    const char *now = s->ready_label ? sw_node_set_label(u->e->nodes, u->node, s->ready_label)
                                     : NULL;
    if (s->ready_label && change == SET && !now)
        add_to(patch, s->ready_label, "");
    if (change == CLEAR && now)
        add_to(patch, s->ready_label, NULL);
    update_version_label(u, s, change, patch);
}

/* @return the merge patch of the node's labels, the caller's; NULL: they are as they should be */
static struct json_object *difference(struct update *u)
{
    struct sw_engine *e = u->e;
    struct json_object *patch = NULL;
    bool any = false; /* label of a state is left */
    for (size_t i = 0, k; i < e->n_states; i++) {
        const char *key = e->states[i]->label;
        if (!key)
            (void)decide(u, e->states[i]); /* states that need it read where it is done */
        for (k = 0; key && k < i && !sw_streq(e->states[k]->label, key);)
            k++;
        if (!key || k < i)
            continue; /* no label, or that of an earlier state */
        const char *now = sw_node_set_label(e->nodes, u->node, key);
        /* states may share a label: set when all have finished, cleared when one has not */
        enum change change = SET;
        for (; k < e->n_states; k++) {
            enum change one = sw_streq(e->states[k]->label, key) ? decide(u, e->states[k]) : SET;
            if (one != SET && change != CLEAR)
                change = one;
        }
        any = any || change == SET || (change == KEEP && now);
        if (change == SET && !sw_streq(now, READY))
            add_to(&patch, key, READY);
        if (change == CLEAR && now)
            add_to(&patch, key, NULL);
        update_ready_label(u, e->states[i], change, &patch);
    }
    update_grace_labels(u, any, &patch);
    return patch;
}

/* Its first taint is on its way, or no longer. */
static void set_tainting(struct sw_engine *e, uint32_t node, bool is)
{
    if (bitset_put(&e->tainting, node, is))
        sw_node_set_begin_taint(e->nodes, node, is);
}

/* How many more nodes may get taints of resources. */
static int64_t taints_left(const struct sw_engine *e)
{
    if (!e->opts.node_policy)
        return INT64_MAX;
    return sw_node_policy_tainted(e->opts.node_policy, sw_node_set_count(e->nodes)) -
           (int64_t)sw_node_set_n_tainted(e->nodes);
}

/* The node is to get the resource's taints, unless as many have some as admins allow. */
static enum change taint_within_bound(struct sw_engine *e, uint32_t node)
{
    if (sw_json_len(e->taints) == 0 || sw_node_set_counts_as_tainted(e->nodes, node) ||
        taints_left(e) > 0)
        return SET;
    if (e->untainted.count == 0)
        act_event(e, true, "TooManyTaints",
                  "node %s gets no taint: as many nodes have taints of resources as the flag "
                  "--nodes-tainted of the controller allows",
                  sw_node_set_name(e->nodes, node));
    (void)bitset_put(&e->untainted, node, true);
    return KEEP;
}

/* Nodes that got no taint get one when others have lost theirs. */
static void taint_again(struct sw_engine *e)
{
    int64_t left = e->untainted.count ? taints_left(e) : 0;
    for (uint32_t n = bitset_next(&e->untainted, 0); n != UINT32_MAX && left > 0;
         n = bitset_next(&e->untainted, n + 1), left--) {
        (void)bitset_put(&e->untainted, n, false);
        nodes_mark(e, n);
    }
}

/* The resource's own taints are on its nodes from when its states may begin until all is removed.
 */
static enum change decide_taints(struct update *u)
{
    struct sw_engine *e = u->e;
    if (engine_orphans(e))
        return KEEP;
    if (engine_removes_all(e))
        return engine_is_removed(e, true) ? CLEAR : KEEP;
    if (e->spec_fault.code)
        return KEEP;
    bool allowed = !e->opts.node_policy ||
                   sw_node_policy_allows(e->opts.node_policy, e->nodes, u->node);
    if (node_selected(e, u->node) && !allowed)
        return taint_is_set(e, u->node) ? CLEAR : KEEP;
    if (node_selected(e, u->node))
        return e->blocked ? KEEP : taint_within_bound(e, u->node);
    return taint_is_set(e, u->node) ? after_grace(u) : KEEP;
}

/* Is there a label or a taint of ours on the node that would have to go? */
static bool is_marked(struct sw_engine *e, uint32_t node)
{
    for (size_t i = 0; i < e->n_states; i++)
        if (has_label(e, e->states[i], node))
            return true;
    return taint_is_set(e, node);
}

/* @return whether it has finished or unfinished a state. */
static bool update_node(struct sw_engine *e, uint32_t node)
{
    struct update u = { .e = e, .node = node, .before = lost_find(e, node) };
    struct sw_key key = { "v1", "Node", NULL, sw_node_set_name(e->nodes, node) };
    struct taint_patch taints;
    (void)bitset_put(&e->dirty, node, false);
    struct json_object *patch = difference(&u);
    enum change change = decide_taints(&u);
    bool retaint = change != KEEP && taint_difference(e, node, change == SET, &taints);
    if (retaint && change == SET)
        set_tainting(e, node, true);
    bool gone = u.before && u.before->expired && !node_selected(e, node) && is_marked(e, node);
    if (!u.lost && !u.unsure && !gone)
        lost_forget(e, node);
    else if (u.lost && !u.before)
        lost_add(e, node, e->now_ms);
    if (patch || retaint) {
        struct sw_action *a = act_add(e, SW_ACT_LABEL);
        a->serial = act_serial(e);
        a->node = node;
        a->key = act_key(e, &key);
        a->doc = act_keep(e, patch ? patch : json_object_new_object());
        a->retaint = retaint;
        if (retaint) {
            a->taints = act_keep(e, taints.taints);
            a->record = taints.record;
            a->version = sw_node_set_version(e->nodes, node);
        }
        (void)bitset_put(&e->busy, node, true);
    }
    if (patch || retaint || u.done_changed)
        e->status_dirty = true;
    return u.done_changed;
}

/* ---- all nodes ---------------------------------------------------------------------------------
 */

bool label_update(struct sw_engine *e)
{
    bool changed = false;
    if (e->label_retry_ms > e->now_ms) {
        act_wake(e, e->label_retry_ms);
        return false;
    }
    lost_update(e);
    taint_again(e);
    for (size_t i = 0; i < e->n_states; i++) {
        struct state *s = e->states[i];
        int64_t at_ms = s->shut_ms + e->opts.grace_ms;
        if (!s->shut_ms || s->given_up)
            continue;
        s->given_up = at_ms <= e->now_ms;
        if (s->given_up)
            nodes_mark_all(e);
        else
            act_wake(e, at_ms);
    }
    for (uint32_t n = bitset_next(&e->dirty, 0); n != UINT32_MAX && e->busy.count < MAX_BUSY;
         n = bitset_next(&e->dirty, n + 1)) {
        if (!sw_node_set_name(e->nodes, n))
            label_forget_node(e, n);
        else if (!bitset_has(&e->busy, n))
            changed = update_node(e, n) || changed;
    }
    if (e->dirty.count == 0 && e->busy.count == 0 && e->label_fault.code) {
        fault_done(&e->label_fault); /* the patch that failed is not needed any more */
        e->status_dirty = true;
    }
    return changed;
}

void label_rendered(struct sw_engine *e)
{
    for (uint32_t n = bitset_next(&e->later, 0); n != UINT32_MAX; n = bitset_next(&e->later, n + 1))
        nodes_mark(e, n);
    bitset_done(&e->later);
}

void label_forget_node(struct sw_engine *e, uint32_t node)
{
    (void)bitset_put(&e->dirty, node, false);
    (void)bitset_put(&e->busy, node, false);
    set_tainting(e, node, false);
    (void)bitset_put(&e->untainted, node, false);
    lost_forget(e, node);
    for (size_t i = 0; i < e->n_states; i++)
        if (bitset_put(&e->states[i]->done, node, false))
            e->status_dirty = true;
}

void label_done(struct sw_engine *e)
{
    for (uint32_t n = bitset_next(&e->tainting, 0); n != UINT32_MAX;
         n = bitset_next(&e->tainting, n + 1))
        sw_node_set_begin_taint(e->nodes, n, false);
    bitset_done(&e->dirty);
    bitset_done(&e->busy);
    bitset_done(&e->tainting);
    bitset_done(&e->untainted);
    bitset_done(&e->later);
}

void label_selector_changed(struct sw_engine *e)
{
    for (uint32_t n = 0; n < sw_node_set_end(e->nodes); n++)
        if (sw_node_set_name(e->nodes, n) && !node_selected(e, n) && is_marked(e, n))
            lost_add(e, n, e->now_ms - e->opts.grace_ms);
}

void label_answered(struct sw_engine *e, const struct sw_event *event)
{
    if (!bitset_put(&e->busy, event->node, false))
        return;
    set_tainting(e, event->node, false);
    nodes_mark(e, event->node);
    e->status_dirty = true;
    if (event->code == SW_CONFLICT)
        return; /* the node set has by now what was changed meanwhile */
    if (event->code == 0 || event->code == SW_NOTFOUND) {
        e->n_label_tries = 0;
        fault_done(&e->label_fault);
        return;
    }
    fault_set(&e->label_fault, event->code, event->message);
    e->label_retry_ms = e->now_ms +
                        act_backoff(e, e->n_label_tries++, fault_lasts(&e->label_fault));
}

bool label_is_settled(const struct sw_engine *e)
{
    return e->dirty.count == 0 && e->busy.count == 0 && !e->label_fault.code;
}

void label_count(struct sw_engine *e, const struct state *s, size_t *labelled, size_t *total)
{
    uint32_t key = s->label ? sw_node_set_text(e->nodes, s->label) : UINT32_MAX;
    uint32_t ready = sw_node_set_text(e->nodes, READY);
    *labelled = *total = 0;
    for (uint32_t n = 0; n < sw_node_set_end(e->nodes); n++) {
        if (!sw_node_set_name(e->nodes, n))
            continue;
        bool has = sw_node_set_has(e->nodes, n, key, ready), counts = has || is_node_of(e, s, n);
        *labelled += has;
        *total += counts;
        if (counts)
            (void)bitset_put(&e->counted, n, true);
    }
}

struct json_object *label_missing(struct sw_engine *e, const struct state *s, size_t most)
{
    struct json_object *names = json_object_new_array();
    for (uint32_t n = 0; n < sw_node_set_end(e->nodes) && sw_json_len(names) < most; n++) {
        const char *name = sw_node_set_name(e->nodes, n);
        if (name && !has_label(e, s, n) && is_node_of(e, s, n))
            (void)json_object_array_add(names, json_object_new_string(name));
    }
    return names;
}

bool label_counts_node(struct sw_engine *e, uint32_t node)
{
    if (bitset_has(&e->counted, node) || !sw_node_set_name(e->nodes, node) ||
        node_selected(e, node) || lost_find(e, node))
        return true;
    for (size_t i = 0; i < e->n_states; i++)
        if (has_label(e, e->states[i], node) || bitset_has(&e->states[i]->done, node) ||
            is_node_of(e, e->states[i], node))
            return true;
    return false;
}
