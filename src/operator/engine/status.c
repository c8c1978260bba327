/* The resource's status: SRO's state and conditions, a list of states with reasons, and the
 * inventory with which a later run goes on and removes everything. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <json-c/json.h>

#include "data/json/condition.h"
#include "data/json/json.h"
#include "data/json/path.h"
#include "data/text/cut.h"
#include "operator/engine/internal.h"

enum { UNREADY_BYTES = 40 }; /* of a state's name, so that kubectl's table fits 100 columns */

static void add_text(struct json_object *to, const char *key, const char *text)
{
    if (text && *text)
        json_object_object_add(to, key, json_object_new_string(text));
}

static void add_time(struct json_object *to, const char *key, int64_t ms)
{
    char buf[21];
    if (ms)
        add_text(to, key, sw_time_rfc3339(ms, buf));
}

static void add_hex(struct json_object *to, const char *key, uint64_t value)
{
    char buf[17];
    (void)snprintf(buf, sizeof buf, "%016" PRIx64, value);
    if (value)
        add_text(to, key, buf);
}

static void add_number(struct json_object *to, const char *key, size_t n)
{
    json_object_object_add(to, key, json_object_new_int64((int64_t)n));
}

static void add_flag(struct json_object *to, const char *key, bool flag)
{
    if (flag)
        json_object_object_add(to, key, json_object_new_boolean(true));
}

/* ---- states ------------------------------------------------------------------------------------
 */

/* Has @v rendered it? NULL: any variant. */
static bool is_of(const struct object *o, const struct variant *v)
{
    for (size_t i = 0; i < o->n_variants; i++)
        if (o->variants[i] == v)
            return true;
    return v == NULL;
}

static struct json_object *count_objects(const struct state *s, const struct variant *v)
{
    struct json_object *counts = json_object_new_object();
    size_t ready = 0, total = 0;
    for (size_t i = 0; i < s->n_objects; i++) {
        if (!s->objects[i]->text || !is_of(s->objects[i], v))
            continue;
        total++;
        ready += object_is_ready(s->objects[i]);
    }
    add_number(counts, "ready", ready);
    add_number(counts, "total", total);
    return counts;
}

enum {
    MOST_LISTED = 5
}; /* objects and nodes that are not ready: more would make the status long */

/* The objects that are not ready, and why. */
static void add_awaited(struct sw_engine *e, const struct state *s, struct json_object *to)
{
    struct json_object *list = NULL;
    for (size_t i = 0; i < s->n_objects && sw_json_len(list) < MOST_LISTED; i++) {
        const struct object *o = s->objects[i];
        const char *reason;
        if (!o->text || !o->awaited || object_is_ready(o) || !o->readiness.message)
            continue;
        struct json_object *doc = json_object_new_object();
        add_text(doc, "object", object_title(e, o));
        add_text(doc, "class", o->readiness.kind == SW_READINESS_FAILED ? "Failed" : "Waiting");
        add_text(doc, "message", object_message(e, o, &reason));
        add_text(doc, "reason", reason);
        list = list ? list : json_object_new_array();
        json_object_array_add(list, doc);
    }
    if (list)
        json_object_object_add(to, "awaits", list);
}

/* One result for each kernel, so that what is not ready for one shows beside the others. */
static struct json_object *variant_doc(struct sw_engine *e, const struct state *s,
                                       const struct variant *v)
{
    struct json_object *doc = json_object_new_object();
    add_text(doc, "name", v->name);
    json_object_object_add(doc, "objects", count_objects(s, v));
    add_text(doc, "message", v->fault.code ? v->fault.message : NULL);
    for (size_t i = 0; !v->fault.code && i < s->n_objects; i++) {
        const struct object *o = s->objects[i];
        if (!o->text || !is_of(o, v) || object_is_ready(o) || !o->readiness.message)
            continue;
        const char *reason;
        add_text(doc, "message", object_message(e, o, &reason));
        break;
    }
    return doc;
}

enum { MOST_VARIANTS = 100 };

static bool is_all_ready(struct json_object *variant)
{
    return !sw_json_find(variant, "message", NULL) &&
           sw_json_int(variant, 0, "objects", "ready", NULL) ==
               sw_json_int(variant, 0, "objects", "total", NULL);
}

/* All of them; of too many those first that are not ready. */
static struct json_object *variants_doc(struct sw_engine *e, const struct state *s)
{
    struct json_object *list = json_object_new_array();
    const bool all = s->n_variants <= MOST_VARIANTS;
    for (int ready = 0; ready < (all ? 1 : 2); ready++)
        for (size_t i = 0; i < s->n_variants && sw_json_len(list) < MOST_VARIANTS; i++) {
            struct json_object *doc = variant_doc(e, s, s->variants[i]);
            if (all || is_all_ready(doc) == ready)
                json_object_array_add(list, doc);
            else
                json_object_put(doc);
        }
    return list;
}

static const char *class_of(const struct state *s)
{
    switch (state_shown(s)) {
    case PH_READY:
    case PH_REMOVED:
        return NULL;
    case PH_RETRYING:
        return "Retrying";
    case PH_FAILED:
        return "Failed";
    default:
        return "Waiting";
    }
}

/* What it has chosen, by the first object that says so. Borrowed; NULL: nothing. */
static const char *note_of(const struct state *s)
{
    for (size_t i = 0; i < s->n_objects; i++)
        if (s->objects[i]->text && s->objects[i]->gate && s->objects[i]->gate->note)
            return s->objects[i]->gate->note;
    return NULL;
}

/* What it has chosen of somebody else's. Borrowed; NULL: nothing. */
static const char *observes_of(const struct state *s)
{
    for (size_t i = 0; i < s->n_objects; i++)
        if (s->objects[i]->text && s->objects[i]->gate && s->objects[i]->gate->observes)
            return s->objects[i]->gate->observes;
    return s->observes;
}

/* How often the state has failed and was tried again. */
static void add_failures(const struct state *s, struct json_object *to)
{
    struct json_object *doc = json_object_new_object();
    add_number(doc, "count", s->n_failures);
    add_time(doc, "first", s->first_failure_ms);
    add_time(doc, "last", s->last_failure_ms);
    json_object_object_add(to, "failures", doc);
}

static struct json_object *state_doc(struct sw_engine *e, struct state *s)
{
    struct json_object *doc = json_object_new_object(), *check;
    check_update(e, s);
    SW_AUTO_CHARS *note = check_note(s, note_of(s));
    const char *reason, *message = state_message(e, s, &reason);
    add_text(doc, "name", s->name);
    add_text(doc, "label", s->label);
    add_text(doc, "readyLabel", s->ready_label);
    add_text(doc, "phase", phase_shown(state_shown(s)));
    add_text(doc, "class", class_of(s));
    add_text(doc, "reason", reason);
    add_text(doc, "message", message);
    add_text(doc, "rolledBack", state_rolled_back(s));
    add_text(doc, "note", note);
    if ((check = check_doc(s)))
        json_object_object_add(doc, "check", check);
    add_text(doc, "observes", observes_of(s));
    if (s->release)
        json_object_object_add(doc, "release", release_doc(s));
    add_text(doc, "hint", hint_of(e, reason, message, state_shown(s) == PH_FAILED));
    struct json_object *needs = json_object_new_array();
    for (size_t i = 0; i < s->n_needs; i++)
        if (!s->needs[i]->hidden)
            json_object_array_add(needs, json_object_new_string(s->needs[i]->name));
    json_object_object_add(doc, "needs", needs);
    json_object_object_add(doc, "objects", count_objects(s, NULL));
    if (s->begun)
        add_awaited(e, s, doc);
    if (s->label) {
        struct json_object *nodes = json_object_new_object();
        size_t labelled, total;
        label_count(e, s, &labelled, &total);
        add_number(nodes, "labelled", labelled);
        add_number(nodes, "total", total);
        if (s->begun && labelled < total)
            json_object_object_add(nodes, "missing", label_missing(e, s, MOST_LISTED));
        json_object_object_add(doc, "nodes", nodes);
    }
    add_time(doc, "startedAt", s->started_ms);
    add_time(doc, "readyAt", s->ready_ms);
    add_time(doc, "since", s->since_ms);
    add_time(doc, "shutAt", s->shut_ms);
    add_time(doc, "awaitedSince", s->awaited_ms);
    if (s->n_redone)
        add_number(doc, "retries", s->n_redone);
    if (s->n_failures)
        add_failures(s, doc);
    add_hex(doc, "revision", s->begun);
    if (!s->affine || s->n_variants == 0)
        return doc;
    json_object_object_add(doc, "variants", variants_doc(e, s));
    if (s->n_variants > MOST_VARIANTS)
        add_number(doc, "moreVariants", s->n_variants - MOST_VARIANTS);
    return doc;
}

static bool is_listed(const struct object *o)
{
    bool foreign = o->gate && (o->gate->observe || o->gate->dry_run);
    return !foreign && !o->borrowed && !((o->deferred || object_lacks_image(o)) && !o->our_uid) &&
           !(o->foreign && !o->our_uid);
}

bool sw_engine_has_recorded(const struct sw_engine *engine, const char *release)
{
    struct object_iter it = { 0 };
    for (const struct object *o; (o = object_next(engine, &it));)
        if (sw_streq(o->shared, release) && is_listed(o) && !o->recorded)
            return false;
    return true;
}

static struct json_object *object_doc(const struct object *o)
{
    struct json_object *doc = json_object_new_object();
    add_text(doc, "apiVersion", o->key.api_version);
    add_text(doc, "kind", o->key.kind);
    add_text(doc, "namespace", o->key.ns);
    add_text(doc, "name", o->key.name);
    add_text(doc, "state", o->state->name);
    add_text(doc, "uid", o->our_uid);
    /* a second run that is applied says by its hash that the first is done */
    bool done = o->done_hash &&
                (o->done_hash == o->hash || (o->second && o->fingerprint_of != o->hash &&
                                             o->done_hash == object_run_hash(o, false)));
    add_hex(doc, "hash", done ? o->done_hash : o->fingerprint_of);
    add_hex(doc, "seen", o->fingerprint_of == o->hash || !o->hash ? o->fingerprint : 0);
    add_flag(doc, "done", done);
    add_text(doc, "failed", o->failed_why);
    add_hex(doc, "failedHash", o->failed_hash);
    add_flag(doc, "adopted", o->adopted);
    add_flag(doc, "keep", o->keep);
    if (o->shared)
        sw_json_set_str(doc, o->shared, "release", NULL);
    return doc;
}

/* ---- the resource ------------------------------------------------------------------------------
 */

struct summary {
    enum sw_phase phase;
    const char *reason;
    const char *message;
};

/* Do the listed states render to no object at all? Hardly intended. */
static bool is_empty(const struct sw_engine *e)
{
    bool any = false;
    for (size_t i = 0; i < e->n_states; i++) {
        const struct state *s = e->states[i];
        if (s->hidden || !s->listed)
            continue;
        any = true;
        for (size_t k = 0; k < s->n_objects; k++)
            if (s->objects[k]->text)
                return false;
        if (s->affine && s->n_variants == 0)
            return false; /* no node yet */
    }
    return any;
}

/* "state 1000: DaemonSet ...; state 2000: ..."; NULL: every state is what is asked for. */
static const char *rolled_back_message(struct sw_engine *e)
{
    const char *message = NULL;
    for (size_t i = 0; i < e->n_states; i++) {
        const char *how = e->states[i]->listed ? state_rolled_back(e->states[i]) : NULL;
        if (how)
            message = sw_arena_printf(e->arena, "%s%sstate %s: %s", message ? message : "",
                                      message ? "; " : "", e->states[i]->name, how);
    }
    return message;
}

static struct summary explain(struct sw_engine *e)
{
    const struct state *s = message_subject(e);
    const char *reason = "", *why = s ? state_message(e, s, &reason) : "";
    if (s && !engine_removes_all(e)) {
        const char *hint = hint_of(e, reason, why, state_shown(s) == PH_FAILED),
                   *class = class_of(s);
        if (*hint && class)
            why = sw_arena_printf(e->arena, "%s [%s: %s]", why, class, hint);
    }
    if (e->hold_message)
        return (struct summary){ e->hold_failed ? SW_PHASE_ERRORED : SW_PHASE_PROGRESSING,
                                 e->hold_failed ? "DeletionHookFailed"
                                 : e->deleting  ? "MarkedForDeletion"
                                                : "Removed",
                                 e->hold_message };
    if (e->deleting)
        return (struct summary){ SW_PHASE_PROGRESSING, "MarkedForDeletion",
                                 sw_arena_printf(e->arena, "Removing%s%s%s%s", s ? " " : "",
                                                 s ? s->name : "", *why ? ": " : "", why) };
    if (e->spec_fault.code)
        return (struct summary){ SW_PHASE_ERRORED, e->spec_reason ? e->spec_reason : "ChartFailure",
                                 sw_arena_printf(
                                     e->arena, "%s [%s: %s]", e->spec_fault.message,
                                     e->spec_fault.code == SW_UNAVAILABLE ? "Retrying" : "Failed",
                                     hint_for_recipe(e->spec_fault.code, e->spec_fault.message)) };
    if (e->management == SW_REMOVED)
        return (struct summary){ SW_PHASE_PROGRESSING, "Removed",
                                 s ? sw_arena_printf(e->arena, "Removing %s: %s", s->name, why)
                                   : "Everything is removed" };
    if (s && state_shown(s) == PH_FAILED)
        return (struct summary){ SW_PHASE_ERRORED, "FailedToDeployChart",
                                 sw_arena_printf(e->arena, "State %s failed: %s", s->name, why) };
    if (s && e->blocked && sw_streq(reason, "Blocked"))
        return (struct summary){ SW_PHASE_PROGRESSING, "HandlingState", e->blocked };
    if (s)
        return (struct summary){ SW_PHASE_PROGRESSING, "HandlingState",
                                 sw_arena_printf(e->arena, "Working on: %s%s%s",
                                                 s->title ? s->title : s->name, *why ? ": " : "",
                                                 why) };
    if (e->blocked)
        return (struct summary){ SW_PHASE_PROGRESSING, "HandlingState", e->blocked };
    if (e->label_fault.code)
        return (struct summary){ SW_PHASE_PROGRESSING, "HandlingState",
                                 sw_arena_printf(e->arena, "Labelling nodes: %s",
                                                 e->label_fault.message) };
    if (!label_is_settled(e))
        return (struct summary){ SW_PHASE_PROGRESSING, "HandlingState", "Labelling nodes" };
    if (is_empty(e))
        return (
            struct summary){ SW_PHASE_ERRORED, "ChartFailure",
                             "the recipe renders to no object at all [Failed: see with `slipway "
                             "render` what its conditions and values leave out]" };
    const char *rolled = rolled_back_message(e);
    if (rolled)
        return (struct summary){ SW_PHASE_READY, "RolledBack",
                                 sw_arena_printf(e->arena, "All states are ready, rolled back: %s",
                                                 rolled) };
    return (struct summary){ SW_PHASE_READY, "Success", "All states are ready" };
}

/* The condition of each phase, and why the two others are False then: reasons are SRO's. */
static const struct {
    const char *type, *other_reason, *other_message;
} conditions[] = {
    [SW_PHASE_READY] = { "Ready", "SpecialResourceIsReady", "All states are ready" },
    [SW_PHASE_PROGRESSING] = { "Progressing", "Progressing", "The walk is under way" },
    [SW_PHASE_ERRORED] = { "Errored", "ErrorHasOccurred",
                           "Something failed: see the condition Errored" },
};

/* Without a generation of its own: status.observedGeneration is that of all of them, and kubectl
 * wait looks there then. */
static void add_condition(struct sw_engine *e, struct json_object *to, const char *type, bool is,
                          const char *reason, const char *message)
{
    sw_condition_add(to, e->conditions,
                     &(struct sw_condition){ type, is, reason, message, NULL, e->now_ms });
}

#define OVERLAPPING "Overlapping"
#define AT_RISK "RecordsAtRisk"

static struct json_object *conditions_doc(struct sw_engine *e, const struct summary *sum)
{
    static const enum sw_phase order[] = { SW_PHASE_READY, SW_PHASE_PROGRESSING, SW_PHASE_ERRORED };
    struct json_object *all = json_object_new_array();
    for (size_t i = 0; i < SW_COUNT(order); i++) {
        bool is = sum->phase == order[i], says = is && sum->message && *sum->message;
        add_condition(e, all, conditions[order[i]].type, is,
                      is ? sum->reason : conditions[sum->phase].other_reason,
                      says ? sum->message : conditions[sum->phase].other_message);
    }
    /* These appear when they are first True. */
    bool overlaps = e->overlap && !e->deleting;
    if (overlaps || sw_json_find_by(e->conditions, "type", OVERLAPPING))
        add_condition(e, all, OVERLAPPING, overlaps,
                      !overlaps           ? "NodesItsOwn"
                      : e->overlap_is_bad ? "SameRecipe"
                                          : "NodesShared",
                      overlaps ? e->overlap : "No other resource selects the same nodes");
    const char *rolled = e->deleting ? NULL : rolled_back_message(e);
    if (rolled || sw_json_find_by(e->conditions, "type", "RolledBack"))
        add_condition(e, all, "RolledBack", rolled, rolled ? "StateFailed" : "AsAsked",
                      rolled ? rolled : "Every state is what the resource asks for");
    const char *records = e->deleting ? NULL : e->records;
    if (records || sw_json_find_by(e->conditions, "type", AT_RISK))
        add_condition(e, all, AT_RISK, records,
                      records ? e->records_reason ? e->records_reason : "Unknown" : "AsWritten",
                      records ? records : "What is kept about the resource is as it was written");
    return all;
}

/* "driver +3": the state that is told of, and how many more are not ready, for kubectl's column. */
static const char *unready(struct sw_engine *e)
{
    const struct state *subject = message_subject(e), *first = NULL;
    size_t n = 0;
    for (size_t i = 0; i < e->n_states; i++) {
        const struct state *s = e->states[i];
        if (s->hidden || !class_of(s))
            continue;
        n++;
        if (!first || s == subject)
            first = s;
    }
    if (!first)
        return "";
    SW_AUTO_CHARS *name = sw_text_cut(first->name, UNREADY_BYTES);
    return n > 1 ? sw_arena_printf(e->arena, "%s +%zu", name, n - 1)
                 : sw_arena_strdup(e->arena, name);
}

static struct json_object *make(struct sw_engine *e, const struct summary *sum)
{
    struct json_object *doc = json_object_new_object();
    struct json_object *states = json_object_new_array(), *inventory = json_object_new_array();
    add_text(doc, "state",
             sw_arena_printf(e->arena, "%s: %s", conditions[sum->phase].type,
                             sum->phase == SW_PHASE_READY ? "" : sum->message)); /* as SRO */
    add_text(doc, "unready", unready(e));
    json_object_object_add(doc, "observedGeneration", json_object_new_int64(e->generation));
    json_object_object_add(doc, "conditions", conditions_doc(e, sum));
    for (size_t i = 0; i < e->n_states; i++) {
        struct state *s = e->states[i];
        if (!s->hidden)
            json_object_array_add(states, state_doc(e, s));
        for (size_t k = 0; k < s->n_objects; k++)
            if (is_listed(s->objects[k]))
                json_object_array_add(inventory, object_doc(s->objects[k]));
    }
    json_object_object_add(doc, "states", states);
    json_object_object_add(doc, "inventory", inventory);
    if (e->upgrade)
        json_object_object_add(doc, "upgrade", json_object_get(e->upgrade));
    struct json_object *lost = lost_doc(e);
    if (lost)
        json_object_object_add(doc, "lostNodes", lost);
    return doc;
}

/* Is it not Ready since slipway changes what is there, as after a change of the recipe? */
static bool is_at_work(struct sw_engine *e)
{
    static const char *const troubles[] = { "Blocked", "Contested", "NotServed", "Terminating" };
    const struct state *s = message_subject(e);
    const char *reason = "";
    if (e->hold_message || e->spec_fault.code || e->overlap)
        return false;
    if (engine_removes_all(e))
        return true;
    if (!s || s->phase > PH_APPLYING)
        return false;
    (void)state_message(e, s, &reason);
    for (size_t i = 0; i < SW_COUNT(troubles); i++)
        if (sw_streq(reason, troubles[i]))
            return false;
    return true;
}

struct json_object *status_make(struct sw_engine *e)
{
    struct summary sum = explain(e);
    return make(e, &sum);
}

/* ---- writing it --------------------------------------------------------------------------------
 */

/* How long no status is written while states are being rendered, and after a restart while objects
 * are still to be observed: the old status may be right. Longer than that, a chart's source is
 * slow, and that must show. */
enum { SETTLE_MS = 1000, RESTART_MS = 10000 };

static bool is_settling(struct sw_engine *e)
{
    bool restarted = e->written && !e->settled, incomplete = false;
    int64_t until_ms = e->asked_ms + (restarted ? RESTART_MS : SETTLE_MS);
    struct object_iter it = { 0 };
    for (size_t i = 0; !incomplete && i < e->n_states; i++)
        incomplete = state_is_rendering(e->states[i]);
    for (const struct object *o; restarted && !incomplete && (o = object_next(e, &it));)
        incomplete = !object_is_known(e, o);
    if (incomplete && e->now_ms < until_ms) {
        act_wake(e, until_ms);
        return true;
    }
    e->settled = true;
    return false;
}

/* Events about what the new status says, where the last one (of an earlier run, too) said
 * otherwise.
 */
static void report(struct sw_engine *e, const struct summary *sum)
{
    struct json_object *old = sw_json_find_by(sw_json_get(e->written, "conditions"), "type",
                                              OVERLAPPING);
    bool overlapped = sw_streq(sw_json_str(old, "", "status", NULL), "True");
    bool ready = sum->phase == SW_PHASE_READY;
    if (ready && !e->was_ready)
        act_event(e, false, "Ready", "all states are ready");
    else if (!ready && e->was_ready)
        act_event(e, !is_at_work(e), "NotReady", "%s", sum->message);
    if (sum->phase == SW_PHASE_ERRORED && e->spec_fault.code &&
        !sw_streq(e->reported_reason, sum->message))
        act_event(e, true, sum->reason, "%s", sum->message);
    sw_text_set(&e->reported_reason, sum->phase == SW_PHASE_ERRORED ? sum->message : "");
    e->was_ready = ready;
    if (e->overlap && !sw_streq(e->overlap_with, e->reported_overlap) &&
        (e->reported_overlap || !overlapped))
        act_event(e, e->overlap_is_bad, "Overlap", "%s", e->overlap);
    sw_text_set(&e->reported_overlap, e->overlap ? e->overlap_with : "");
}

static bool is_due(struct sw_engine *e, const struct summary *sum)
{
    int64_t due_ms = e->status_ms + e->opts.status_gap_ms;
    bool urgent = sum->phase != e->reported_phase || (sum->phase == SW_PHASE_READY) != e->was_ready;
    struct object_iter it = { 0 };
    for (const struct object *o; !urgent && (o = object_next(e, &it));)
        urgent = object_is_written(o) && !o->gate->dry_run &&
                 (!o->listed_in || (o->failed_why && !o->failed_in) ||
                  is_done_unrecorded(o)); /* to be recorded first */
    if (e->status_retry_ms > e->now_ms)
        due_ms = e->status_retry_ms;
    else if (urgent)
        return true;
    if (due_ms > e->now_ms)
        act_wake(e, due_ms);
    return due_ms <= e->now_ms;
}

/* Does @doc say what was written last? What fails again is counted, but no reason to write: the
 * next status that says something else has the number. */
static bool is_as_written(const struct sw_engine *e, struct json_object *doc)
{
    struct json_object *states = sw_json_get(doc, "states"),
                       *written = sw_json_get(e->written, "states");
    SW_AUTO_JSON *plain = NULL;
    if (sw_json_len(states) != sw_json_len(written))
        return false;
    for (size_t i = 0; i < sw_json_len(states); i++) {
        struct json_object *was = sw_json_get(sw_json_at(written, i), "failures");
        if (sw_json_equal(sw_json_get(sw_json_at(states, i), "failures"), was) || !was)
            continue;
        plain = plain ? plain : sw_json_copy(doc);
        sw_json_set(sw_json_at(sw_json_get(plain, "states"), i), sw_json_copy(was), "failures",
                    NULL);
    }
    return sw_json_equal(plain ? plain : doc, e->written);
}

void status_update(struct sw_engine *e)
{
    if (!e->status_dirty || e->status_serial || is_settling(e))
        return;
    struct summary sum = explain(e);
    if (!is_due(e, &sum))
        return;
    /* a phase that the state has left before a status was written does not count */
    for (size_t i = 0; i < e->n_states; i++) {
        struct state *s = e->states[i];
        if (sw_streq(s->shown, phase_shown(state_shown(s))))
            continue;
        sw_text_set(&s->shown, phase_shown(state_shown(s)));
        s->since_ms = s->entered_ms;
    }
    struct json_object *doc = make(e, &sum);
    (void)json_object_put(e->conditions);
    e->conditions = json_object_get(sw_json_find(doc, "conditions", NULL));
    e->status_dirty = false;
    e->reported_phase = sum.phase;
    report(e, &sum);
    bool is_lost = e->status_is_lost;
    struct object_iter same = { 0 };
    e->status_is_lost = false;
    if (!e->n_status_tries && !is_lost && is_as_written(e, doc)) {
        (void)json_object_put(doc);
        for (struct object *o; (o = object_next(e, &same));) {
            o->done_recorded = o->done_hash == o->hash;
            o->done_in = o->done_recorded;
        }
        return;
    }
    struct sw_action *a = act_add(e, SW_ACT_STATUS);
    sw_json_pack(doc); /* it is kept until there is another */
    a->serial = e->status_serial = act_serial(e);
    a->doc = act_keep(e, json_object_get(doc));
    e->writing = doc;
    e->status_ms = e->now_ms;
    struct object_iter it = { 0 };
    for (struct object *o; (o = object_next(e, &it));) {
        if (!o->listed_in && is_listed(o))
            o->listed_in = a->serial;
        if (o->failed_why && !o->failed_in)
            o->failed_in = a->serial;
        if (o->done_hash && o->done_hash == o->hash && !o->done_in)
            o->done_in = a->serial;
    }
}

void status_answered(struct sw_engine *e, const struct sw_event *event)
{
    if (!e->status_serial || event->serial != e->status_serial)
        return;
    bool written = event->code == 0;
    struct object_iter it = { 0 };
    for (struct object *o; (o = object_next(e, &it));) {
        if (o->failed_in == e->status_serial) {
            o->failed_recorded = written;
            o->failed_in = written ? o->failed_in : 0;
        }
        if (o->done_in == e->status_serial) {
            o->done_recorded = written;
            o->done_in = written ? o->done_in : 0;
        }
        if (o->listed_in == e->status_serial) {
            o->recorded = written;
            o->listed_in = written ? o->listed_in : 0;
        }
    }
    e->status_serial = 0;
    (void)json_object_put(written ? e->written : e->writing);
    if (written) {
        e->written = e->writing;
        e->n_status_tries = 0;
    } else {
        e->status_dirty = true;
        e->status_retry_ms = e->now_ms + act_backoff(e, e->n_status_tries++, false);
    }
    e->writing = NULL;
}
