/* Why a state is where it is: one sentence that names the object and its condition. */
#include <stdlib.h>
#include <string.h>

#include "data/text/time.h"
#include "operator/engine/internal.h"
#include "operator/engine/owner.h"

/* Does the server say of @o that its namespace is not there? */
static bool lacks_namespace(struct sw_engine *e, const struct object *o)
{
    return o->text && o->key.ns && o->fault.message &&
           strstr(o->fault.message,
                  sw_arena_printf(e->arena, "namespaces \"%s\" not found", o->key.ns));
}

/* The state that makes the namespace @name; NULL: none does. */
static const struct state *maker_of_namespace(const struct sw_engine *e, const char *name)
{
    for (size_t i = 0; i < e->n_states; i++)
        for (size_t k = 0; k < e->states[i]->n_objects; k++) {
            const struct object *o = e->states[i]->objects[k];
            if (o->text && o->rank == RANK_NAMESPACE && sw_streq(o->key.name, name))
                return e->states[i];
        }
    return NULL;
}

static const char *refusal_message(struct sw_engine *e, const struct object *o, const char **reason)
{
    const bool lacks = lacks_namespace(e, o);
    const struct state *maker = lacks ? maker_of_namespace(e, o->key.ns) : NULL;
    *reason = lacks && !maker ? "NamespaceMissing" : o->text ? "NotApplied" : "NotDeleted";
    return sw_arena_printf(e->arena, "%s: %s%s%s%s", object_title(e, o), o->fault.message,
                           maker ? " (state " : "",
                           !maker          ? ""
                           : maker->hidden ? maker->title
                                           : maker->name,
                           maker ? " makes it)" : "");
}

static const char *fault_message(struct sw_engine *e, const struct state *s, const char **reason)
{
    for (size_t i = 0; i < s->n_objects; i++) {
        const struct object *o = s->objects[i];
        if (o->present && o->foreign && object_is_written(o)) {
            *reason = "Foreign";
            if (o->terminating && o->judged.message)
                return sw_arena_printf(e->arena, "%s %s: it %s; slipway goes on when it is gone",
                                       object_title(e, o), o->foreign, o->judged.message);
            return sw_arena_printf(e->arena, "%s %s: " SW_OWNER_ADVICE, object_title(e, o),
                                   o->foreign);
        }
        if (o->watch_fault.code && (o->text || o->our_uid) && !fault_lasts(&o->fault)) {
            *reason = "NotVisible";
            return sw_arena_printf(e->arena, "%s cannot be looked at: %s", object_title(e, o),
                                   o->watch_fault.message);
        }
        if (o->fault.code)
            return refusal_message(e, o, reason);
    }
    for (size_t i = 0; i < s->n_variants; i++) {
        const struct variant *v = s->variants[i];
        if (!v->fault.code || (v->early && !state_may_start(e, s)))
            continue; /* no failure before its turn */
        *reason = "NotRendered";
        return sw_arena_printf(e->arena, "%s%s%s", v->name, *v->name ? ": " : "", v->fault.message);
    }
    return NULL;
}

static const char *needs_message(struct sw_engine *e, const struct state *s, const char **reason)
{
    const char *all = "";
    if (e->blocked) {
        *reason = "Blocked";
        return sw_arena_strdup(e->arena, e->blocked);
    }
    for (size_t i = 0; i < s->n_needs; i++)
        if (!s->needs[i]->hidden && !need_is_met(s, s->needs[i]))
            all = sw_arena_printf(e->arena, "%s%s%s (%s)", all, *all ? ", " : "", s->needs[i]->name,
                                  phase_shown(state_shown(s->needs[i])));
    *reason = "Needs";
    return *all ? sw_arena_printf(e->arena, "waits for %s", all) : "is being prepared";
}

/* About the first object that is not ready; one that failed goes before. */
static const char *gate_message(struct sw_engine *e, const struct state *s, const char **reason)
{
    const struct object *worst = NULL;
    for (size_t i = 0; i < s->n_objects; i++) {
        const struct object *o = s->objects[i];
        if (!o->text || object_is_ready(o) || !o->awaited)
            continue;
        if (!worst || (o->readiness.kind == SW_READINESS_FAILED &&
                       worst->readiness.kind != SW_READINESS_FAILED))
            worst = o;
    }
    if (worst && worst->readiness.kind != SW_READINESS_READY)
        return object_message(e, worst, reason);
    bool no_kernel = s->affine && s->n_variants == 0;
    if (no_kernel || (state_waits_for_nodes(s) && s->members_known && s->members.count == 0)) {
        *reason = "NoMatchingNodes";
        return no_kernel ? "no node matches the resource's nodeSelector"
                         : "no node of the resource is one that it waits for";
    }
    uint32_t first = bitset_next(&s->lacking, 0);
    const char *name = sw_node_set_name(e->nodes, first);
    if (first == UINT32_MAX)
        return NULL;
    for (size_t i = 0; i < s->n_objects; i++) {
        const struct sw_gate *gate = s->objects[i]->text ? s->objects[i]->gate : NULL;
        bool by_label = gate && gate->n_node_labels;
        if (!gate || !sw_gate_is_by_node(gate))
            continue;
        *reason = by_label ? "NodeLabels" : "NodeResources";
        const char *text = sw_arena_printf(
            e->arena, "%zu of %zu nodes have no %s %s yet (%s)", s->lacking.count, s->members.count,
            by_label ? "label" : "allocatable",
            by_label ? gate->node_labels[0] : gate->node_resources[0], name ? name : "?");
        return object_with_pods(e, s->objects[i], text, reason);
    }
    return NULL;
}

/* Does it lack an image while a state that it needs is not ready? That one makes the image, or the
 * reason is to be looked for there. */
static bool waits_for_build(const struct state *s, const char *reason)
{
    static const char *const reasons[] = { "ErrImagePull", "ImagePullBackOff", "ImageMissing" };
    bool lacks = false;
    for (size_t i = 0; i < SW_COUNT(reasons); i++)
        lacks = lacks || sw_streq(reason, reasons[i]);
    for (size_t i = 0; lacks && i < s->n_needs; i++)
        if (!s->needs[i]->hidden && !need_is_met(s, s->needs[i]))
            return true;
    return false;
}

static const char *applying_message(struct sw_engine *e, const struct state *s, const char **reason)
{
    for (size_t i = 0; i < s->n_objects; i++) {
        const struct object *o = s->objects[i];
        if (!o->text || object_is_applied(o))
            continue;
        *reason = o->unserved ? "NotServed" : o->terminating ? "Terminating" : "Applying";
        if (o->unserved || o->terminating)
            return sw_arena_printf(e->arena, "%s %s", object_title(e, o), o->readiness.message);
        if (o->doing != DOING_NOTHING || o->n_repairs < REPAIRS_AT_ONCE)
            continue;
        *reason = "Contested";
        return sw_arena_printf(e->arena,
                               "%s is changed again and again by another client: applied %u times",
                               object_title(e, o), o->n_repairs);
    }
    const char *gate = gate_message(e, s, reason);
    return gate ? gate : "is being applied";
}

static const char *removing_message(struct sw_engine *e, const struct state *s, const char **reason)
{
    *reason = "Removing";
    for (size_t i = 0; i < s->n_objects; i++) {
        const struct object *o = s->objects[i];
        if (o->fault.code)
            return sw_arena_printf(e->arena, "%s: %s", object_title(e, o), o->fault.message);
        if (o->terminating)
            return sw_arena_printf(e->arena, "%s %s", object_title(e, o),
                                   o->judged.message ? o->judged.message : "is being deleted");
    }
    return s->n_objects ? "waits for the states that need it to go" : "";
}

void state_note_failure(struct sw_engine *e, struct state *s)
{
    const char *reason;
    state_forget_failure(s);
    const char *why = state_message(e, s, &reason);
    s->failed_as = s->phase;
    s->failed_why = sw_strdup(why);
    s->failed_reason = sw_strdup(reason);
    s->failed_digest = s->digest;
}

static bool is_trying_again(const struct state *s)
{
    return s->failed_why && (s->n_tries > 0 || s->n_redone > 0) && s->failed_digest == s->digest &&
           (s->phase == PH_RENDERING || s->phase == PH_OBSERVING || s->phase == PH_APPLYING);
}

enum phase state_shown(const struct state *s)
{
    return is_trying_again(s) ? s->failed_as : s->phase;
}

const char *state_message(struct sw_engine *e, const struct state *s, const char **reason)
{
    bool late = s->phase == PH_FAILED && s->late;
    *reason = "";
    if (is_trying_again(s)) {
        *reason = sw_arena_strdup(e->arena, s->failed_reason);
        return sw_arena_strdup(e->arena, s->failed_why);
    }
    if (s->phase == PH_READY || s->phase == PH_REMOVED)
        return "";
    if (s->phase == PH_REMOVING)
        return removing_message(e, s, reason);
    const char *message = fault_message(e, s, reason);
    if (!message && s->phase < PH_APPLYING)
        message = needs_message(e, s, reason);
    else if (!message && (s->phase == PH_APPLYING || late))
        message = applying_message(e, s, reason);
    else if (!message)
        message = gate_message(e, s, reason);
    const bool builds = message && s->phase >= PH_APPLYING && waits_for_build(s, *reason);
    if (builds)
        message = needs_message(e, s, reason);
    const char *step = message && !builds && s->phase >= PH_APPLYING ? release_step(e, s) : "";
    if (*step)
        message = sw_arena_printf(e->arena, "%s%s", step, message);
    if (!late)
        return message ? message : "";
    SW_AUTO_CHARS *timeout = sw_span_text(deadline_timeout(e, s));
    *reason = "Timeout";
    return sw_arena_printf(e->arena, "not ready within %s: %s", timeout, message);
}

/* Failed goes before held, and that before what is under way; 0: there is nothing to say. */
static int severity(const struct sw_engine *e, const struct state *s)
{
    switch (state_shown(s)) {
    case PH_FAILED:
        return 5;
    case PH_RETRYING:
        return 4;
    case PH_HELD:
        return 3;
    case PH_PENDING:
    case PH_RENDERING:
    case PH_OBSERVING:
        return 1;
    case PH_READY:
        return state_is_done(s) ? 0 : 1;
    case PH_REMOVED:
        return s->listed && !engine_removes_all(e) ? 1 : 0;
    case PH_REMOVING:
        return state_is_needed(e, s) ? 1 : 2;
    default:
        return 2;
    }
}

const struct state *message_subject(struct sw_engine *e)
{
    const struct state *subject = NULL;
    for (size_t i = 0; i < e->n_states; i++)
        if (severity(e, e->states[i]) > (subject ? severity(e, subject) : 0))
            subject = e->states[i];
    return subject;
}
