/* One state of the graph: its objects, its variants, and what other files ask about them. */
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "data/json/path.h"
#include "operator/engine/internal.h"

/* ---- phases ------------------------------------------------------------------------------------
 */

static const struct sw_state_phase phases[PH_COUNT + 1] = {
    [PH_RENDERING] = { "Rendering", "Pending",
                       "its templates are rendered with what is known of the cluster", "" },
    [PH_OBSERVING] = { "Observing", "Pending",
                       "its objects are read from the cluster and written down in the status", "" },
    [PH_PENDING] = { "Pending", "Pending", "it waits for the states that it needs",
                     "waits for state 'driver'" },
    [PH_APPLYING] = { "Applying", "Applying",
                      "its objects are applied: Namespaces, CRDs, configuration, workloads, the "
                      "rest, and webhook configurations last",
                      "2 of 5 objects are applied" },
    [PH_WAITING] = { "Waiting", "Waiting", "all objects are applied, not all are ready",
                     "DaemonSet driver: 1 of 3 pods are ready" },
    [PH_READY] = { "Ready", "Ready",
                   "every object that is waited for is ready; the states that need it begin", "" },
    [PH_HELD] = { "Held", "Held",
                  "it was ready, and something that others bring ready (slipway.dev/observe, "
                  "slipway.dev/hold) is not any more: what runs goes on, nothing new begins",
                  "ClusterPolicy cluster-policy: state is notReady" },
    [PH_RETRYING] = { "Retrying", "Retrying",
                      "something failed that passes by itself: it is tried again after 0.5 s to 30 "
                      "s, and at once when a cause changes",
                      "the API server does not answer" },
    [PH_FAILED] = { "Failed", "Failed",
                    "something failed that does not pass by itself: bad input, a missing right, a "
                    "failed Job, a time limit. It is tried again seldom, and at once when the "
                    "input changes ('slipway retry NAME' tries now)",
                    "Job check: it has failed 7 times (backoffLimit 6)" },
    [PH_REMOVING] = { "Removing", "Removing",
                      "its objects are deleted, in the opposite order of the graph",
                      "waits until 2 objects are gone" },
    [PH_REMOVED] = { "Removed", "Removed", "nothing of it is left", "" },
    [PH_COUNT] = { 0 },
};

const struct sw_state_phase *sw_engine_state_phases(void)
{
    return phases;
}

const char *phase_name(enum phase phase)
{
    return phases[phase].name;
}

const char *phase_shown(enum phase phase)
{
    return phases[phase].shown;
}

/* ---- states ------------------------------------------------------------------------------------
 */

struct state *state_find(struct sw_engine *e, const char *name)
{
    for (size_t i = 0; i < e->n_states; i++)
        if (sw_streq(e->states[i]->name, name))
            return e->states[i];
    return NULL;
}

struct state *state_need(struct sw_engine *e, const char *name)
{
    struct state *s = state_find(e, name);
    if (s)
        return s;
    s = sw_zalloc(1, sizeof *s);
    s->name = sw_strdup(name);
    s->phase = PH_RENDERING;
    s->entered_ms = e->now_ms;
    SW_GROW(e->states, e->n_states, e->cap_states);
    e->states[e->n_states++] = s;
    return s;
}

void variant_free(struct variant *v)
{
    fault_done(&v->fault);
    free(v->rolled_back);
    free(v->name);
    free(v);
}

void state_free(struct state *s)
{
    for (size_t i = 0; i < s->n_variants; i++)
        variant_free(s->variants[i]);
    free(s->variants);
    free(s->objects);
    free(s->needs);
    state_forget_failure(s);
    free(s->name);
    free(s->label);
    free(s->ready_label);
    json_object_put(s->release);
    free(s->title);
    free(s->shared);
    free(s->shared_owner);
    free(s->reported);
    free(s->observes);
    check_done(s);
    free(s->shown);
    bitset_done(&s->done);
    bitset_done(&s->members);
    bitset_done(&s->lacking);
    free(s);
}

void state_note_change(struct sw_engine *e, struct state *s)
{
    s->changed = true;
    e->status_dirty = true;
}

static int by_order(const void *a, const void *b)
{
    const struct object *x = *(struct object *const *)a, *y = *(struct object *const *)b;
    if (x->stage != y->stage)
        return x->stage < y->stage ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    int order = strcmp(x->key.kind, y->key.kind);
    if (order == 0)
        order = strcmp(x->key.ns ? x->key.ns : "", y->key.ns ? y->key.ns : "");
    return order ? order : strcmp(x->key.name, y->key.name);
}

void state_sort(struct state *s)
{
    if (s->n_objects > 1)
        qsort(s->objects, s->n_objects, sizeof(struct object *), by_order);
    s->digest = 0;
    s->node_by_node = s->affine;
    s->members_known = false;
    for (size_t i = 0; i < s->n_objects; i++) {
        const struct object *o = s->objects[i];
        if (!o->text)
            continue;
        int64_t stage = o->first == SW_STAGE_CRDS ? 0 : o->first; /* as it was recorded before */
        s->digest += (object_run_hash(o, false) ^ (uint64_t)stage) * UINT64_C(0x9e3779b97f4a7c15);
        s->node_by_node = s->node_by_node || sw_gate_is_by_node(o->gate) ||
                          (o->awaited && workers_are_node_by_node(o->workers));
    }
    if (s->digest == 0)
        s->digest = 1; /* of an empty state: 0 means unknown */
}

void state_forget_failure(struct state *s)
{
    free(SW_TAKE(s->failed_why));
    free(SW_TAKE(s->failed_reason));
}

bool state_is_done(const struct state *s)
{
    return s->phase == PH_READY && !state_is_rendering(s);
}

bool variant_is_premature(const struct sw_engine *e, const struct state *s, const struct variant *v)
{
    return v->early && (v->fault.code || s->looks_up || v->asked < e->served);
}

bool state_is_premature(const struct sw_engine *e, const struct state *s)
{
    for (size_t i = 0; i < s->n_variants; i++)
        if (variant_is_premature(e, s, s->variants[i]))
            return true;
    return false;
}

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

bool state_waits_for_nodes(const struct state *s)
{
    for (size_t i = 0; i < s->n_objects; i++)
        if (s->objects[i]->text && sw_gate_is_by_node(s->objects[i]->gate))
            return true;
    return false;
}

bool state_is_applied(const struct state *s)
{
    for (size_t i = 0; i < s->n_objects; i++)
        if (object_waits_again(s->objects[i]) ||
            (s->objects[i]->text && !object_is_applied(s->objects[i])))
            return false;
    return true;
}

const char *state_rolled_back(const struct state *s)
{
    for (size_t i = 0; i < s->n_variants; i++)
        if (s->variants[i]->rolled_back)
            return s->variants[i]->rolled_back;
    return NULL;
}

bool engine_keeps(const struct sw_engine *e, const struct object *o)
{
    return e->hold == SW_HOLD_LAST && o->rank == RANK_NAMESPACE;
}

/* Is nothing left of @s but namespaces that are kept? */
static bool state_is_emptied(const struct sw_engine *e, const struct state *s)
{
    if (s->phase != PH_REMOVING)
        return s->phase == PH_REMOVED;
    for (size_t i = 0; i < s->n_objects; i++)
        if (!engine_keeps(e, s->objects[i]))
            return false;
    return s->n_objects > 0;
}

bool state_is_needed(const struct sw_engine *e, const struct state *s)
{
    for (size_t i = 0; i < e->n_states; i++)
        for (size_t k = 0; k < e->states[i]->n_needs; k++)
            if (e->states[i]->needs[k] == s && !state_is_emptied(e, e->states[i]))
                return true;
    return false;
}

bool engine_removes_all(const struct sw_engine *e)
{
    return e->deleting || e->management == SW_REMOVED;
}

bool engine_is_removed(const struct sw_engine *e, bool hidden)
{
    for (size_t i = 0; i < e->n_states; i++)
        if (hidden ? e->states[i]->phase != PH_REMOVED
                   : !e->states[i]->hidden && !state_is_emptied(e, e->states[i]))
            return false;
    return true;
}

bool engine_orphans(const struct sw_engine *e)
{
    return e->deleting && e->orphan;
}

bool sw_engine_has_release(const struct sw_engine *engine, const char *release)
{
    struct object_iter it = { 0 };
    for (const struct object *o; (o = object_next(engine, &it));)
        if (sw_streq(o->shared, release) && !(o->gate && (o->gate->observe || o->gate->dry_run)))
            return true;
    return false;
}

bool sw_engine_has_taken_over(const struct sw_engine *engine, const char *release)
{
    struct object_iter it = { 0 };
    bool has = false;
    if (!sw_json_get(engine->former, release))
        return false;
    for (const struct object *o; (o = object_next(engine, &it));) {
        if (!sw_streq(o->shared, release))
            continue;
        if (!o->text)
            return false; /* known from the status alone */
        if (o->gate->observe || o->gate->dry_run)
            continue;
        has = true;
        if ((o->rank == RANK_NAMESPACE || o->rank == RANK_CRD) &&
            (!o->observed || (o->ours && o->live_hash != o->hash)))
            return false;
    }
    return has;
}

struct object *object_next(const struct sw_engine *e, struct object_iter *it)
{
    for (; it->state < e->n_states; it->state++, it->at = 0)
        if (it->at < e->states[it->state]->n_objects)
            return e->states[it->state]->objects[it->at++];
    return NULL;
}
