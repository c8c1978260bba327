/* One SpecialResource: changes of it become events of its engine, whose actions are carried out. */
#include "operator/controller/private.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "operator/manifests/aicr_source.h"
#include "operator/manifests/das_resource.h"
#include "operator/manifests/ready_label.h"
#include "operator/manifests/rights_command.h"

/* ---- the engine's actions ----------------------------------------------------------------------
 */

static void on_informed(const struct informer_event *event, void *arg, uint64_t watch)
{
    struct resource *r = arg;
    EACH_CAPABILITY(object_observed, r, event->object);
    if (event->object && sw_streq(event->key->kind, "CustomResourceDefinition"))
        kinds_crd_changed(r->c, event->object, false); /* before a state is rendered for it */
    resource_step(r, &(struct sw_event){
                         .kind = event->synced ? SW_EV_SYNCED : SW_EV_OBSERVED,
                         .watch = watch,
                         .key = *event->key,
                         .object = event->object,
                         .code = event->code,
                         .message = event->message,
                     });
}

static void do_watch(struct resource *r, const struct sw_action *a)
{
    informer_subscribe(r->c->informer, a, on_informed, r);
}

static void do_unwatch(struct resource *r, const struct sw_action *a)
{
    informer_unsubscribe(r->c->informer, r, a->watch);
}

static void do_timer(struct resource *r, const struct sw_action *a)
{
    if (a->at_ms)
        sw_timer_set(r->own->timer, a->at_ms - sw_loop_now_ms(r->c->loop));
    else
        sw_timer_stop(r->own->timer);
}

static void finalize_next(struct resource *r)
{
    struct resource_private *p = r->own;
    for (; p->finalizing < N_CAPABILITIES; p->finalizing++) {
        const struct capability *row = capabilities[p->finalizing];
        if (!row->finalize)
            continue;
        p->in_finalize = true;
        p->finalized_inside = false;
        bool done = row->finalize(r);
        p->in_finalize = false;
        if (!done && !p->finalized_inside)
            return;
    }
    p->finalizing = N_CAPABILITIES + 1;
    request_finalizer(r, false);
}

static void do_finalized(struct resource *r, const struct sw_action *a SW_UNUSED)
{
    r->own->finalizing = 0;
    finalize_next(r);
}

void finalize_done(struct resource *r, enum capability_id id)
{
    if (r->own->finalizing != (size_t)id)
        return;
    if (r->own->in_finalize) {
        r->own->finalized_inside = true;
        return;
    }
    r->own->finalizing++;
    finalize_next(r);
}

static void do_emptied(struct resource *r, const struct sw_action *a SW_UNUSED)
{
    EACH_CAPABILITY(emptied, r);
}

static void (*const performers[SW_ACT_COUNT])(struct resource *, const struct sw_action *) = {
    [SW_ACT_RENDER] = render_queue_add,
    [SW_ACT_WATCH] = do_watch,
    [SW_ACT_UNWATCH] = do_unwatch,
    [SW_ACT_APPLY] = request_apply,
    [SW_ACT_DELETE] = request_delete,
    [SW_ACT_LABEL] = request_label,
    [SW_ACT_STATUS] = request_status,
    [SW_ACT_EVENT] = event_report,
    [SW_ACT_TIMER] = do_timer,
    [SW_ACT_LOGS] = request_logs,
    [SW_ACT_WARNINGS] = request_warnings,
    [SW_ACT_FINALIZED] = do_finalized,
    [SW_ACT_RELEASE] = request_release,
    [SW_ACT_EMPTIED] = do_emptied,
};

static void on_timer(void *arg)
{
    resource_step(arg, &(struct sw_event){ .kind = SW_EV_TIMER });
}

/* ---- life --------------------------------------------------------------------------------------
 */

static void perform(struct resource *r, const struct sw_action *a)
{
    performers[a->kind](r, a);
}

static void on_plan(struct resource *r, int code, const char *message);

static void resume(struct resource *r)
{
    plan_go_on(r);
    render_resume(r);
}

static const struct resource_driver driver = {
    .perform = perform,
    .render = render_start,
    .refuse = on_plan,
    .replan = resource_replan,
    .resume = resume,
};

static struct resource *resource_new(struct sw_controller *c, const char *name, const char *uid)
{
    struct resource *r = sw_zalloc(1, sizeof *r);
    *r = (struct resource){
        .c = c,
        .next = c->resources,
        .name = sw_strdup(name),
        .uid = sw_strdup(uid),
        .engine = sw_engine_new(c->nodes, &c->opts.engine),
        .own = sw_zalloc(1, sizeof *r->own),
    };
    *r->own = (struct resource_private){
        .recording = sw_recording_begin(c->opts.recording, name),
        .timer = sw_timer_new(c->loop, on_timer, r),
        .queue_end = &r->own->queue,
        .finalizing = N_CAPABILITIES + 1,
        .driver = &driver,
    };
    capabilities_open_resource(r);
    c->resources = r;
    return r;
}

static void resource_free(struct resource *r)
{
    recheck_soon(r->c);
    struct resource **at = &r->c->resources;
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    informer_unsubscribe_all(r->c->informer, r);
    while (r->own->ops)
        op_free(r->own->ops);
    render_queue_free(r);
    while (r->own->renders)
        render_free(r->own->renders);
    capabilities_close_resource(r);
    plan_work_free(r->own->plan_work);
    refresh_free(SW_TAKE(r->own->refresh));
    sw_timer_free(r->own->timer);
    sw_engine_free(r->engine);
    sw_recording_end(r->c->opts.recording, r->own->recording);
    sw_renderer_free(r->renderer);
    json_object_put(r->seen);
    json_object_put(r->doc);
    json_object_put(r->status);
    json_object_put(r->own->doubtful_status);
    free(r->own->status_fault);
    json_object_put(r->own->scopes);
    json_object_put(r->own->missing);
    json_object_put(r->own->lacking);
    free(r->own->apis);
    json_object_put(r->own->warned);
    free(r->own->account);
    free(r->own->acts_as);
    records_close(r);
    spec_done(r);
    free(r->own->recipe_key);
    json_object_put(r->own->recipe_tolerations);
    free(r->own->recipe_content);
    prerequisite_done(&r->own->prerequisite);
    free(r->own);
    free(r->revision);
    free(r->written_by);
    free(r->fault_message);
    free(r->name);
    free(r->uid);
    free(r);
}

void resource_free_all(struct sw_controller *c)
{
    while (c->resources)
        resource_free(c->resources);
}

/* Do both documents differ in something that the engine or a template sees? */
static bool differs(struct json_object *a, struct json_object *b)
{
    return !sw_json_equal(sw_json_get(a, "spec"), sw_json_get(b, "spec")) ||
           !sw_json_equal(sw_json_find(a, "metadata", "labels", NULL),
                          sw_json_find(b, "metadata", "labels", NULL)) ||
           !sw_json_equal(sw_json_find(a, "metadata", "annotations", NULL),
                          sw_json_find(b, "metadata", "annotations", NULL)) ||
           document_is_deleting(a) != document_is_deleting(b) ||
           document_has_finalizer(a) != document_has_finalizer(b) ||
           document_is_held(a) != document_is_held(b);
}

static int management_of(struct resource *r, enum sw_management *out, struct sw_err *err)
{
    static const struct {
        const char *name;
        enum sw_management management;
    } states[] = { { "", SW_MANAGED },
                   { "Managed", SW_MANAGED },
                   { "Force", SW_MANAGED },
                   { "Unmanaged", SW_UNMANAGED },
                   { "Removed", SW_REMOVED } };
    const char *state = sw_json_str(r->doc, "", "spec", "managementState", NULL);
    for (size_t i = 0; i < SW_COUNT(states); i++)
        if (sw_streq(states[i].name, state)) {
            *out = states[i].management;
            return 0;
        }
    return sw_err_set(err, SW_INVALID,
                      "spec.managementState: '%s' is not one of Managed, Unmanaged, Removed, Force",
                      state);
}

/* ---- SPEC --------------------------------------------------------------------------------------
 */

/* The states for the engine: first the hidden one that creates the namespace, which all others
 * need. */
struct graph {
    struct sw_state_spec *states;
    size_t n;
    size_t *needs; /* of all states, one after the other */
    char **ready_labels;
    struct json_object **releases; /* sw_state_spec.release */
    struct json_object *others;    /* SW_RELEASES_OF_OTHERS, or NULL */
};

static void graph_done(struct graph *g)
{
    for (size_t i = 0; i < g->n; i++) {
        free(g->ready_labels[i]);
        json_object_put(g->releases[i]);
    }
    json_object_put(g->others);
    free(g->ready_labels);
    free(g->releases);
    free(g->states);
    free(g->needs);
}

static void graph_of(struct resource *r, const struct sw_policy *policy, struct graph *g)
{
    const struct sw_plan_view *plan = r->plan;
    struct json_object *metadata = r->recipe ? r->recipe->metadata : NULL;
    SW_AUTO_JSON *values = plan ? resource_values(r, NULL) : NULL;
    struct json_object *others = json_object_get(sw_json_get(values, SW_RELEASES_OF_OTHERS));
    size_t n = plan ? plan->n_states : 0, n_needs = 0;
    for (size_t i = 0; i < n; i++)
        n_needs += plan->states[i].n_needs + 1;
    *g = (struct graph){
        sw_zalloc(n + 1, sizeof *g->states),   n + 1,
        sw_zalloc(n_needs, sizeof *g->needs),  sw_zalloc(n + 1, sizeof *g->ready_labels),
        sw_zalloc(n + 1, sizeof *g->releases), others
    };
    g->states[0] =
        (struct sw_state_spec){ .name = SW_STATE_NAMESPACE, .title = "namespace", .hidden = true };
    size_t *needs = g->needs;
    for (size_t i = 0; i < n; i++) {
        const struct sw_recipe_state *s = &plan->states[i];
        const char *title = s->n_templates ? s->templates[0] : s->name;
        if (s->n_templates && !strchr(s->chart, '/')) /* the path in the chart, as with SRO */
            title += strlen(s->chart) + 1;
        g->ready_labels[i + 1] = sw_ready_label(metadata, resource_namespace(r), s->name, s->label);
        g->releases[i + 1] = own_revision_of(r, i, others);
        const char *owner = s->shared_objects ? sw_json_str(others, NULL, s->shared_objects, NULL)
                                              : NULL;
        g->states[i + 1] = (struct sw_state_spec){
            .name = s->name,
            .label = s->label,
            .ready_label = g->ready_labels[i + 1],
            .title = title,
            .release = g->releases[i + 1],
            .shared = owner ? s->shared_objects : NULL,
            .shared_owner = owner,
            .needs = needs,
            .kernel_affine = s->kernel_affine,
            .looks_up = state_has_lookups(r, i),
            .timeout_ms = sw_policy_timeout(policy, s->name, s->label, s->chart_name),
        };
        if (!s->n_needs)
            *needs++ = 0;
        for (size_t k = 0; k < s->n_needs; k++)
            *needs++ = s->needs[k] + 1;
        g->states[i + 1].n_needs = (size_t)(needs - g->states[i + 1].needs);
    }
}

void resource_tell(struct resource *r)
{
    /* an operator's folders are not those of who reads the hint */
    const bool is_callers = r->c->opts.rights == SW_RIGHTS_CALLER;
    SW_AUTO_CHARS *rights_of = is_callers ? sw_rights_recipe(r->doc, resource_namespace(r)) : NULL;
    if (is_callers && !rights_of) /* it is no file; the rights are the caller's all the same */
        rights_of = sw_strdup("RECIPE");
    struct sw_spec spec = {
        .name = r->name,
        .uid = r->uid,
        .predecessor = sw_obj_annotation(r->doc, DAS_OWNER_ANNOTATION),
        .rights_of = rights_of,
        .generation = sw_json_int(r->doc, 0, "metadata", "generation", NULL),
        .deleting = document_is_deleting(r->doc),
        .node_selector = sw_json_find(r->doc, "spec", "nodeSelector", NULL),
        .status = r->status,
        .code = r->fault,
        .message = r->fault_message,
        .reason = r->fault ? "ChartFailure" : NULL,
        .blocked = r->own->prerequisite.blocked,
    };
    if (!spec.code && r->own->prerequisite.code) {
        spec.code = r->own->prerequisite.code;
        spec.message = r->own->prerequisite.message;
        spec.reason = r->own->prerequisite.reason;
    }
    SW_ERR(err);
    struct sw_policy policy = { 0 };
    int rc = management_of(r, &spec.management, &err);
    int policy_rc = sw_policy_read(r->doc, &policy, rc < 0 ? NULL : &err);
    spec.orphan = policy.orphan;
    spec.timeout_ms = policy.timeout_ms;
    if (rc == 0 && !spec.deleting)
        rc = policy_rc;
    if (rc == 0 && !spec.deleting)
        rc = account_check(r, &err);
    if (rc == 0 && !spec.deleting && r->recipe)
        rc = sw_ready_labels_check(r->recipe->metadata, resource_namespace(r), &err);
    if (rc == 0 && !spec.deleting)
        rc = TRY_CAPABILITIES(validate, r, &err);
    if (rc < 0 && !spec.code) {
        spec.code = rc;
        spec.message = sw_err_text(&err);
        spec.reason = "ErrorHasOccurred";
        resource_set_fault(r, rc, spec.message);
    }
    records_fill_spec(r, &spec);
    EACH_CAPABILITY(fill_spec, r, &spec);
    struct graph g;
    graph_of(r, &policy, &g);
    spec.states = g.states;
    spec.n_states = g.n;
    free(r->revision);
    r->revision = plan_revision(r);
    spec.revision = r->revision;
    r->started = true;
    if (spec.management != SW_UNMANAGED)
        account_report(r);
    resource_step(r, &(struct sw_event){ .kind = SW_EV_SPEC, .spec = &spec });
    graph_done(&g);
}

static void on_plan(struct resource *r, int code, const char *message)
{
    resource_set_fault(r, code, message);
    EACH_CAPABILITY(planned, r, code);
    if (code == 0)
        (void)prerequisites_update(r);
    resource_tell(r);
}

static bool is_walked(const struct resource *r)
{
    return !resource_is_removed(r) && !resource_is_unmanaged(r);
}

void resource_tell_if_walked(struct resource *r)
{
    /* While the plan of another recipe is being made there is none: all states would be removed.
     * With an old plan the states would be those of the spec before, as if they were of this one.
     * What is to be told goes with the plan that is being made. */
    const bool is_planned = (r->plan || r->fault) && plan_pending(r) != on_plan;
    if (r->started && is_planned && !document_is_deleting(r->doc) && is_walked(r))
        resource_tell(r);
}

void resource_recheck(struct resource *r)
{
    const bool is_planned = !r->fault && r->plan && plan_pending(r) != on_plan;
    if (is_planned && is_walked(r) && prerequisites_update(r))
        resource_tell(r);
}

/* Only a resource that is walked needs its recipe: what was applied is in the status. */
static void resource_changed(struct resource *r)
{
    enum resource_intent intent = INTENT_WALK;
    if (resource_is_deleting(r))
        intent = INTENT_DELETE;
    else if (resource_is_removed(r))
        intent = INTENT_REMOVE;
    else if (resource_is_unmanaged(r))
        intent = INTENT_UNMANAGED;
    EACH_CAPABILITY(changed, r);
    r->leaving = intent == INTENT_REMOVE || intent == INTENT_DELETE;
    if (intent != INTENT_WALK) {
        resource_set_fault(r, 0, NULL);
        refresh_free(SW_TAKE(r->own->refresh));
    }
    bool may_be_told = capabilities_intent(r, intent);
    if (intent != INTENT_WALK) {
        if (may_be_told)
            resource_tell(r);
    } else if (!r->c->opts.one_shot && !document_has_finalizer(r->doc)) {
        request_finalizer(r, true); /* the change comes back through the watch */
    } else {
        plan_start(r, on_plan);
    }
}

static void on_replan(struct resource *r, int code, const char *message)
{
    SW_AUTO_CHARS *revision = plan_revision(r);
    bool same_fault = code == r->fault && sw_streq(message, r->fault_message);
    if (!same_fault || !sw_streq(revision, r->revision))
        on_plan(r, code, message); /* a new revision: the engine renders again */
}

void resource_replan(struct resource *r)
{
    if (r->started && !document_is_deleting(r->doc) && (r->plan || r->fault))
        plan_start(r, plan_pending(r) == on_plan ? on_plan : on_replan);
}

/* The field manager that has written @doc last, but for its status; the controller's own, which
 * writes finalizers and annotations, only where there is no other. Borrowed; NULL: not known. */
static const char *writer_of(struct json_object *doc)
{
    struct json_object *entries = sw_json_find(doc, "metadata", "managedFields", NULL);
    const char *writer = NULL, *last = "";
    for (size_t i = 0; i < sw_json_len(entries); i++) {
        struct json_object *entry = sw_json_at(entries, i);
        const char *manager = sw_json_str(entry, "", "manager", NULL),
                   *time = sw_json_str(entry, "", "time", NULL);
        bool is_own = sw_streq(manager, "slipway");
        if (sw_json_get(entry, "subresource") || (is_own && writer) || strcmp(time, last) < 0)
            continue;
        writer = manager;
        last = is_own ? "" : time;
    }
    return writer;
}

/* @return whether it acts as somebody else than before */
static bool take_doc(struct resource *r, struct json_object *doc)
{
    bool acts_as_another = account_take(r, doc);
    json_object_put(r->seen);
    r->seen = json_object_get(doc);
    if (!r->started) { /* later it is what slipway wrote */
        json_object_put(r->status);
        r->status = json_object_get(sw_json_get(doc, "status"));
        (void)sw_json_del(r->status, "actsAs", NULL); /* not the engine's */
        status_take_inventory(r);
        records_open(r);
    }
    (void)sw_json_del(r->seen, "status", NULL);
    sw_aicr_source_expand(r->seen);
    sw_text_set(&r->written_by, writer_of(r->seen));
    (void)sw_json_del(r->seen, "metadata", "managedFields", NULL);
    sw_json_set_str(r->seen, SW_GROUP_VERSION, "apiVersion", NULL); /* items of a list may lack it
                                                                     */
    sw_json_set_str(r->seen, "SpecialResource", "kind", NULL);
    sw_json_pack(r->seen);
    return acts_as_another;
}

/* The resource has changed, and its spec is rendered. */
static void on_resolved(void *arg)
{
    struct resource *r = arg;
    SW_ERR(err);
    if (!r->own->is_unresolved)
        return;
    if (!r->own->spec_wait && resolve_is_needed(r->seen))
        r->own->spec_wait = sw_render_wait_new(on_resolved, r);
    /* other failures: the plan does it again and reports them */
    r->own->is_unresolved = resource_resolve(r, r->own->spec_wait, &err) == SW_PENDING;
    if (!r->own->is_unresolved)
        resource_changed(r);
}

/* What is known of the status, which may be newer than @doc, with @doc; the caller's. */
static struct json_object *with_known_status(const struct resource *r, struct json_object *doc)
{
    struct json_object *copy = sw_json_copy(doc),
                       *status = r->status ? sw_json_copy(r->status) : json_object_new_object(),
                       *acts_as = sw_json_find(doc, "status", "actsAs", NULL);
    if (acts_as)
        sw_json_set(status, json_object_get(acts_as), "actsAs", NULL);
    records_put_known(r, status);
    sw_json_set(copy, status, "status", NULL);
    return copy;
}

/* @r is walked as another account from here on: what it was before, its recipe, what that rendered
 * to and the requests for it, is not for this one. As after a restart it begins with its status. */
static void begin_anew(struct resource *r, struct json_object *doc)
{
    struct sw_controller *c = r->c;
    SW_AUTO_JSON *known = with_known_status(r, doc);
    SW_AUTO_CHARS *name = sw_strdup(r->name), *uid = sw_strdup(r->uid);
    resource_free(r);
    r = resource_new(c, name, uid);
    (void)take_doc(r, known);
    if (r->status)
        status_doubt(r);
    r->own->is_unresolved = true;
    on_resolved(r);
}

/* @r is gone: its labels are free. */
static void forget(struct resource *r)
{
    struct sw_controller *c = r->c;
    resource_free(r);
    for (struct resource *other = c->resources, *next; other; other = next) {
        next = other->next;
        if (other->own->is_label_taken)
            resource_replan(other);
    }
    resources_render_again(c);
}

static void on_object(struct sw_controller *c, const struct sw_watch_event *w)
{
    struct resource *r = resource_find(c, w->name);
    SW_ERR(err);
    if (r && !sw_streq(r->uid, w->uid)) { /* deleted and created again while there was no watch */
        resource_free(r);
        r = NULL;
    }
    if (!r && document_is_deleting(w->object) && !document_is_held(w->object))
        return; /* it has only finalizers of others */
    if (r && account_differs(r, w->object) &&
        !(document_is_deleting(w->object) && !document_is_held(w->object))) {
        begin_anew(r, w->object);
        return;
    }
    bool is_new = !r;
    if (is_new)
        r = resource_new(c, w->name, w->uid);
    bool changed = is_new || differs(r->seen, w->object),
         is_removed = status_is_removed(r, w->object);
    changed = take_doc(r, w->object) || changed;
    r->own->is_unresolved |= changed;
    if (changed && document_is_deleting(w->object) && !document_is_held(w->object)) {
        forget(r); /* all was removed */
        return;
    }
    if (is_removed)
        status_write_again(r);
    if (changed)
        on_resolved(r);
    else
        (void)resource_resolve(r, NULL, &err);
}

void resource_on_watch(const struct sw_watch_event *w, void *arg)
{
    struct sw_controller *c = arg;
    struct resource *r;
    if (w->name && document_is_too_large(c, "SpecialResource", "state", w))
        return;
    switch (w->type) {
    case SW_WATCH_ADDED:
    case SW_WATCH_MODIFIED:
        on_object(c, w);
        break;
    case SW_WATCH_DELETED:
        if ((r = resource_find(c, w->name)))
            forget(r);
        if (c->opts.on_change)
            c->opts.on_change(w->name, c->opts.arg);
        break;
    case SW_WATCH_SYNCED:
        c->resources_synced = true;
        recheck_soon(c);
        plan_resume_all(c);
        break;
    case SW_WATCH_ERROR:
        controller_trouble(c, w->code, w->err ? sw_err_text(w->err) : "");
        break;
    }
}
