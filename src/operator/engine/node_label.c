/* Node labels: which state has finished on which node. For each state and node there are three
 * answers: it has (set the label), it has not (take it off), and it cannot be said or does not
 * matter now (leave it as it is). */
#include <string.h>

#include <json-c/json.h>

#include "data/json/path.h"
#include "operator/engine/internal.h"

#define READY "Ready"
#define MAX_BUSY 24 /* nodes being patched; the client sends 16 at once, all others wait here */

enum want { WANT_KEEP, WANT_SET, WANT_CLEAR };

/* What is being found out about one node. */
struct look {
    struct sw_engine *e;
    uint32_t node;
    bool was_lost, lost; /* deselected, or not heard of */
    bool unsure;         /* it cannot be said yet whether it still is */
    int64_t lost_ms;     /* since when */
    bool done_changed;
};

static bool has_label(const struct sw_engine *e, const struct state *s, uint32_t node)
{
    return s->label && sw_streq(sw_node_set_label(e->roster, node, s->label), READY);
}

/* ---- grace -------------------------------------------------------------------------------------
 */

/* The node lost what made it one of the state's: that alone takes a label off only after a while.
 */
static enum want after_grace(struct look *l, const struct state *s)
{
    if (!has_label(l->e, s, l->node))
        return WANT_KEEP;
    l->lost = true;
    bool over = l->was_lost && l->lost_ms + l->e->opts.grace_ms <= l->e->now_ms;
    return over ? WANT_CLEAR : WANT_KEEP;
}

/* ---- a state that finishes node by node --------------------------------------------------------
 */

static bool is_daemon(const struct object *o)
{
    return o->text && o->awaited && workers_are_node_by_node(o->workers);
}

/* Has the node a pod of it, or is to have one? A pod that only stays there is none. */
static bool belongs(const struct sw_engine *e, const struct object *o, uint32_t node)
{
    return (workers_has(o, node) && !o->stay_key) ||
           sw_node_affinity_takes_pod(e->roster, node, o->placement);
}

/* What is rendered for another kernel is no concern of this node. */
static bool concerns(const struct sw_engine *e, const struct object *o, uint32_t node)
{
    if (!o->text)
        return false;
    for (size_t i = 0; i < o->n_variants; i++)
        if (!*o->variants[i]->name ||
            sw_streq(o->variants[i]->name, sw_node_set_group(e->roster, node)))
            return true;
    return false;
}

static bool has_daemons(const struct state *s)
{
    for (size_t i = 0; i < s->n_objects; i++)
        if (is_daemon(s->objects[i]))
            return true;
    return false;
}

static bool is_node_of(struct sw_engine *e, const struct state *s, uint32_t node)
{
    if (!has_daemons(s) || state_has_node_labels(s))
        return node_selected(e, node);
    for (size_t i = 0; i < s->n_objects; i++)
        if (is_daemon(s->objects[i]) && belongs(e, s->objects[i], node))
            return true;
    return false;
}

static bool pods_are_ready(const struct sw_engine *e, const struct state *s, uint32_t node)
{
    for (size_t i = 0; i < s->n_objects; i++) {
        const struct object *o = s->objects[i];
        if (is_daemon(o) && belongs(e, o, node) && !workers_ready_on(o, node))
            return false;
    }
    return true;
}

static bool pods_are_known(struct sw_engine *e, const struct state *s)
{
    for (size_t i = 0; i < s->n_objects; i++)
        if (is_daemon(s->objects[i]) && !object_is_known(e, s->objects[i]))
            return false;
    return true;
}

/* What the nodes of the state (of one kernel) share: its Deployments, its builds. */
static bool rest_is_ready(const struct sw_engine *e, const struct state *s, uint32_t node)
{
    bool any = !s->affine;
    for (size_t i = 0; i < s->n_objects; i++) {
        const struct object *o = s->objects[i];
        bool by_node = is_daemon(o) || (o->text && o->gate->n_node_labels);
        if (!concerns(e, o, node))
            continue;
        if (by_node ? !object_is_applied(o) : !object_is_ready(o))
            return false;
        any = true;
    }
    return any;
}

/* On a new node states finish in the order of the graph. */
static bool needs_are_done(struct sw_engine *e, const struct state *s, uint32_t node)
{
    for (size_t i = 0; i < s->n_needs; i++) {
        const struct state *need = s->needs[i];
        if (need->phase == PH_READY && !need->node_by_node)
            continue;
        if (has_label(e, need, node) || bitset_has(&need->done, node))
            continue;
        if (need->phase != PH_READY || is_node_of(e, need, node))
            return false;
    }
    return true;
}

/* While it is being rendered it may be finished with what is out of date. */
static bool may_set(struct look *l, const struct state *s)
{
    if (!needs_are_done(l->e, s, l->node))
        return false;
    if (state_is_rendered(s))
        return true;
    (void)bitset_put(&l->e->later, l->node, true);
    return false;
}

static bool stands_open(const struct sw_engine *e, const struct object *o, uint32_t node)
{
    return concerns(e, o, node) && !object_is_ready(o) && !object_is_brought_ready_by_others(o);
}

/* Not ready for longer than the grace, and for a reason that is slipway's own. */
static bool is_given_up(struct sw_engine *e, const struct state *s, uint32_t node)
{
    bool own = false;
    for (size_t i = 0; i < s->n_objects; i++)
        own = own || stands_open(e, s->objects[i], node);
    return own && s->shut_ms && s->phase != PH_READY && s->shut_ms + e->opts.grace_ms <= e->now_ms;
}

static enum want want_by_node(struct look *l, struct state *s)
{
    struct sw_engine *e = l->e;
    if (!s->begun || !pods_are_known(e, s)) {
        l->unsure = true;
        return WANT_KEEP;
    }
    bool member = is_node_of(e, s, l->node);
    bool labels = node_has_gate_labels(e, s, l->node);
    bool pods = pods_are_ready(e, s, l->node);
    bool rest = rest_is_ready(e, s, l->node);
    l->done_changed = bitset_put(&s->done, l->node, member && labels && pods && rest) ||
                      l->done_changed;
    if (!member || !labels)
        return after_grace(l, s);
    if (!pods)
        return sw_node_set_is_ready(e->roster, l->node) ? WANT_CLEAR : after_grace(l, s);
    if (!rest)
        return is_given_up(e, s, l->node) ? WANT_CLEAR : WANT_KEEP;
    return may_set(l, s) ? WANT_SET : WANT_KEEP;
}

/* ---- a state that finishes on all its nodes at once --------------------------------------------
 */

static enum want want_at_once(struct look *l, const struct state *s)
{
    if (!node_selected(l->e, l->node))
        return after_grace(l, s);
    if (s->phase == PH_READY)
        return may_set(l, s) ? WANT_SET : WANT_KEEP;
    return is_given_up(l->e, s, l->node) ? WANT_CLEAR : WANT_KEEP;
}

/* ---- one node ----------------------------------------------------------------------------------
 */

static bool all_removed(const struct sw_engine *e)
{
    for (size_t i = 0; i < e->n_states; i++)
        if (e->states[i]->phase != PH_REMOVED)
            return false;
    return true;
}

static enum want want(struct look *l, struct state *s)
{
    if (engine_orphans(l->e))
        return WANT_KEEP;
    if (engine_removes_all(l->e))
        return all_removed(l->e) ? WANT_CLEAR : WANT_KEEP;
    if (s->phase == PH_REMOVED)
        return s->listed ? WANT_KEEP : WANT_CLEAR;
    if (s->phase == PH_REMOVING)
        return WANT_KEEP;
    /* after a restart it is not known at first which nodes are its own */
    l->unsure = l->unsure || s->phase == PH_ASKING || !state_is_rendered(s);
    return s->node_by_node ? want_by_node(l, s) : want_at_once(l, s);
}

/* States may share a label: it is set when all of them want it, and goes when one does. */
static enum want want_label(struct look *l, size_t first)
{
    struct sw_engine *e = l->e;
    enum want all = WANT_SET;
    for (size_t i = first; i < e->n_states; i++) {
        if (!sw_streq(e->states[i]->label, e->states[first]->label))
            continue;
        enum want one = want(l, e->states[i]);
        if (one == WANT_CLEAR || all == WANT_CLEAR)
            all = WANT_CLEAR;
        else if (one == WANT_KEEP)
            all = WANT_KEEP;
    }
    return all;
}

static bool is_first_of_label(const struct sw_engine *e, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (sw_streq(e->states[k]->label, e->states[i]->label))
            return false;
    return e->states[i]->label != NULL;
}

static void add_to(struct json_object **patch, const char *key, const char *value)
{
    if (!*patch)
        *patch = json_object_new_object();
    json_object_object_add(*patch, key, value ? json_object_new_string(value) : NULL);
}

/* ---- labels by which pods stay (grace_period.h)
 * --------------------------------------------------------
 */

struct stays {
    struct look *l;
    struct json_object **patch;
    bool any; /* label of a state is left */
};

static bool will_have(const struct look *l, struct json_object *patch, const char *label)
{
    struct json_object *value;
    if (patch && json_object_object_get_ex(patch, label, &value))
        return value != NULL;
    return sw_node_set_label(l->e->roster, l->node, label) != NULL;
}

static const struct object *who_stays_by(const struct sw_engine *e, const char *key)
{
    for (size_t i = 0; i < e->n_states; i++)
        for (size_t k = 0; k < e->states[i]->n_objects; k++)
            if (sw_streq(e->states[i]->objects[k]->stay_key, key))
                return e->states[i]->objects[k];
    return NULL;
}

/* One that the node has: it goes when what it stands for is over, or nobody needs it. */
static void look_at_stay(const char *key, const char *value, void *arg)
{
    struct stays *s = arg;
    struct look *l = s->l;
    struct sw_engine *e = l->e;
    if (!sw_starts_with(key, SW_GRACE_PERIOD_LABEL) || !sw_streq(value, e->name))
        return;
    const struct object *o = who_stays_by(e, key);
    bool over;
    if (engine_removes_all(e)) {
        over = !s->any;
    } else if (!o) {
        over = !l->unsure && !e->preparing;
    } else if (sw_node_affinity_takes_pod(e->roster, l->node, o->placement)) {
        over = false;
    } else if (!sw_node_affinity_takes_pod(e->roster, l->node, o->staying)) {
        over = true; /* not lost: another kernel, say */
    } else {
        l->lost = true;
        over = l->was_lost && l->lost_ms + e->opts.grace_ms <= e->now_ms;
    }
    if (over)
        add_to(s->patch, key, NULL);
}

/* They come with the label of the state that the pods are of. */
static void want_stays(struct look *l, bool any, struct json_object **patch)
{
    struct sw_engine *e = l->e;
    struct stays s = { l, patch, any };
    if (engine_orphans(e))
        return;
    sw_node_set_each_label(e->roster, l->node, look_at_stay, &s);
    for (size_t i = 0; any && !engine_removes_all(e) && i < e->n_states; i++)
        for (size_t k = 0; k < e->states[i]->n_objects; k++) {
            const struct object *o = e->states[i]->objects[k];
            if (o->stay_key && !sw_node_set_label(e->roster, l->node, o->stay_key) &&
                sw_node_affinity_takes_pod(e->roster, l->node, o->placement) &&
                (!o->state->label || will_have(l, *patch, o->state->label)))
                add_to(patch, o->stay_key, e->name);
        }
}

/* @return the merge patch of the node's labels, the caller's; NULL: all is as it should be. */
static struct json_object *difference(struct look *l)
{
    struct sw_engine *e = l->e;
    struct json_object *patch = NULL;
    bool any = false; /* label of a state is left */
    for (size_t i = 0; i < e->n_states; i++) {
        if (!is_first_of_label(e, i)) {
            if (!e->states[i]->label)
                (void)want(l, e->states[i]); /* what needs it wants to know where it is done */
            continue;
        }
        const char *key = e->states[i]->label;
        const char *now = sw_node_set_label(e->roster, l->node, key);
        enum want w = want_label(l, i);
        any = any || w == WANT_SET || (w == WANT_KEEP && now);
        if (w == WANT_KEEP || (w == WANT_SET && sw_streq(now, READY)) || (w == WANT_CLEAR && !now))
            continue;
        add_to(&patch, key, w == WANT_SET ? READY : NULL);
    }
    want_stays(l, any, &patch);
    return patch;
}

/* What the resource itself keeps others off its nodes with: from the moment at which it is known to
 * be walked, until the last of it is gone. */
static enum want want_taints(struct look *l)
{
    struct sw_engine *e = l->e;
    if (engine_orphans(e))
        return WANT_KEEP;
    if (engine_removes_all(e))
        return all_removed(e) ? WANT_CLEAR : WANT_KEEP;
    if (e->spec_fault.code)
        return WANT_KEEP;
    if (node_selected(e, l->node))
        return e->blocked ? WANT_KEEP : WANT_SET;
    if (!taint_is_set(e, l->node))
        return WANT_KEEP;
    l->lost = true;
    bool over = l->was_lost && l->lost_ms + e->opts.grace_ms <= e->now_ms;
    return over ? WANT_CLEAR : WANT_KEEP;
}

/* @patch: of labels, taken. @taints NULL: they stay as they are. */
static void send_patch(struct sw_engine *e, uint32_t node, struct json_object *patch,
                       const struct taint_patch *taints)
{
    struct sw_action *a = act_add(e, SW_ACT_LABEL);
    a->serial = act_serial(e);
    a->node = node;
    a->key = (struct sw_key){ "v1", "Node", NULL,
                              sw_arena_strdup(e->arena, sw_node_set_name(e->roster, node)) };
    a->doc = act_keep(e, patch ? patch : json_object_new_object());
    if (taints) {
        a->retaint = true;
        a->taints = act_keep(e, taints->taints);
        a->record = taints->record;
        a->version = sw_node_set_version(e->roster, node);
    }
    (void)bitset_put(&e->busy, node, true);
    e->status_dirty = true;
}

/* Is anything of ours on the node that would have to go? */
static bool is_marked(struct sw_engine *e, uint32_t node)
{
    for (size_t i = 0; i < e->n_states; i++)
        if (has_label(e, e->states[i], node))
            return true;
    return taint_is_set(e, node);
}

/* @return whether it has finished or unfinished a state. */
static bool look_at(struct sw_engine *e, uint32_t node)
{
    const struct lost_node *before = lost_find(e, node);
    struct look l = { .e = e, .node = node, .was_lost = before != NULL };
    l.lost_ms = before ? before->since_ms : 0;
    (void)bitset_put(&e->dirty, node, false);
    struct json_object *patch = difference(&l);
    struct taint_patch taints;
    enum want w = want_taints(&l);
    bool retaint = w != WANT_KEEP && taint_difference(e, node, w == WANT_SET, &taints);
    bool gone = before && before->expired && !node_selected(e, node) && is_marked(e, node);
    if (!l.lost && !l.unsure && !gone)
        lost_forget(e, node);
    else if (l.lost && !before)
        lost_add(e, node, e->now_ms);
    if (patch || retaint)
        send_patch(e, node, patch, retaint ? &taints : NULL);
    if (l.done_changed)
        e->status_dirty = true;
    return l.done_changed;
}

/* ---- all of them -------------------------------------------------------------------------------
 */

static void look_at_given_up(struct sw_engine *e, struct state *s)
{
    int64_t at_ms = s->shut_ms + e->opts.grace_ms;
    if (!s->shut_ms || s->given_up)
        return;
    s->given_up = at_ms <= e->now_ms;
    if (s->given_up)
        label_all_changed(e);
    else
        act_wake(e, at_ms);
}

static void look_at_expired(struct sw_engine *e)
{
    lost_update(e);
    for (size_t i = 0; i < e->n_states; i++)
        look_at_given_up(e, e->states[i]);
}

bool label_update(struct sw_engine *e)
{
    bool changed = false;
    if (e->label_retry_ms > e->now_ms) {
        act_wake(e, e->label_retry_ms);
        return false;
    }
    look_at_expired(e);
    for (uint32_t n = bitset_next(&e->dirty, 0); n != UINT32_MAX && e->busy.count < MAX_BUSY;
         n = bitset_next(&e->dirty, n + 1)) {
        if (!sw_node_set_name(e->roster, n))
            label_forget_node(e, n);
        else if (!bitset_has(&e->busy, n))
            changed = look_at(e, n) || changed;
    }
    if (e->dirty.count == 0 && e->busy.count == 0 && e->label_fault.code) {
        fault_done(&e->label_fault); /* what could not be done need not be any more */
        e->status_dirty = true;
    }
    return changed;
}

void label_node_changed(struct sw_engine *e, uint32_t node)
{
    if (node != SW_NO_NODE)
        (void)bitset_put(&e->dirty, node, true);
}

void label_rendered(struct sw_engine *e)
{
    for (uint32_t n = bitset_next(&e->later, 0); n != UINT32_MAX; n = bitset_next(&e->later, n + 1))
        (void)bitset_put(&e->dirty, n, true);
    bitset_done(&e->later);
}

void label_all_changed(struct sw_engine *e)
{
    for (uint32_t n = 0; n < sw_node_set_end(e->roster); n++)
        (void)bitset_put(&e->dirty, n, true);
}

void label_forget_node(struct sw_engine *e, uint32_t node)
{
    (void)bitset_put(&e->dirty, node, false);
    (void)bitset_put(&e->busy, node, false);
    lost_forget(e, node);
    for (size_t i = 0; i < e->n_states; i++)
        if (bitset_put(&e->states[i]->done, node, false))
            e->status_dirty = true;
}

void label_selector_changed(struct sw_engine *e)
{
    for (uint32_t n = 0; n < sw_node_set_end(e->roster); n++)
        if (sw_node_set_name(e->roster, n) && !node_selected(e, n) && is_marked(e, n))
            lost_add(e, n, e->now_ms - e->opts.grace_ms);
}

void label_answered(struct sw_engine *e, const struct sw_event *event)
{
    if (!bitset_put(&e->busy, event->node, false))
        return;
    label_node_changed(e, event->node);
    e->status_dirty = true;
    if (event->code == SW_CONFLICT)
        return; /* the roster has by now what was changed meanwhile */
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
    uint32_t key = s->label ? sw_node_set_text(e->roster, s->label) : UINT32_MAX;
    uint32_t ready = sw_node_set_text(e->roster, READY);
    *labelled = *total = 0;
    for (uint32_t n = 0; n < sw_node_set_end(e->roster); n++) {
        if (!sw_node_set_name(e->roster, n))
            continue;
        bool has = sw_node_set_has(e->roster, n, key, ready), counts = has || is_node_of(e, s, n);
        *labelled += has;
        *total += counts;
        if (counts)
            (void)bitset_put(&e->counted, n, true);
    }
}

struct json_object *label_missing(struct sw_engine *e, const struct state *s, size_t most)
{
    struct json_object *names = json_object_new_array();
    for (uint32_t n = 0; n < sw_node_set_end(e->roster) && sw_json_len(names) < most; n++)
        if (sw_node_set_name(e->roster, n) && !has_label(e, s, n) && is_node_of(e, s, n))
            (void)json_object_array_add(names,
                                        json_object_new_string(sw_node_set_name(e->roster, n)));
    return names;
}

bool label_concerns(struct sw_engine *e, uint32_t node)
{
    if (bitset_has(&e->counted, node) || !sw_node_set_name(e->roster, node) ||
        node_selected(e, node) || lost_find(e, node))
        return true;
    for (size_t i = 0; i < e->n_states; i++)
        if (has_label(e, e->states[i], node) || bitset_has(&e->states[i]->done, node) ||
            is_node_of(e, e->states[i], node))
            return true;
    return false;
}
