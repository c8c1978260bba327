/* Rendering a state: templates, then manifest hooks, then the list of objects for the engine. */
#include "base/kept.h"
#include "data/json/large.h"
#include "operator/controller/private.h"
#include "operator/manifests/hooks.h"
#include "operator/manifests/scopes.h"
#include "operator/release/hooks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A render; it may wait for lookups and for capabilities. */
struct render {
    struct resource *r;
    struct render *next;
    char *state, *variant;
    uint64_t serial;
    struct lookups *lookups;
    struct made {
        struct json_object *doc;  /* owned reference of the object's; NULL: */
        struct sw_kept *text;     /* ... a large one, as the object has it, owned */
        char *kind, *name;        /* of that one */
        bool forward;             /* it belongs to no rollback */
    } * made;                     /* of each of objects */
    struct json_object *extra;    /* items of a rollback alone, of object_item(); or NULL */
    int index;                    /* of the state in the plan */
    const struct sw_group *group; /* that the whole state is rendered for, or NULL */
    bool is_early;                /* it is not the state's turn yet */
    bool lacks_chart;             /* it could not be fetched */
    bool waits;                   /* for render_resume() */
    bool due;                     /* render_resume() is about to continue it */
    struct sw_rendered_object *objects;
    size_t n, cap, made_cap;
};

enum { HOOK_STAGE = 1000000 }; /* beyond any weight that is used */

static void drop_objects(struct render *w)
{
    for (size_t i = 0; i < w->n; i++) {
        json_object_put(w->made[i].doc);
        sw_kept_free(w->made[i].text);
        free(w->made[i].kind);
        free(w->made[i].name);
        free((char *)w->objects[i].missing);
    }
    w->n = 0;
    json_object_put(SW_TAKE(w->extra));
}

void render_free(struct render *w)
{
    struct render **at = &w->r->own->renders;
    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    drop_objects(w);
    free(w->made);
    free(w->objects);
    lookups_free(w->lookups);
    free(w->state);
    free(w->variant);
    free(w);
}

/* ---- the scope of kinds that are not served yet ------------------------------------------------
 */

static void note_scopes(struct resource *r, const struct sw_rendered *rendered)
{
    for (size_t i = 0; i < sw_rendered_n_manifests(rendered); i++)
        sw_scopes_note(&r->own->scopes, sw_rendered_manifest(rendered, i)->doc);
}

static int find_scope(const struct render *w, struct json_object *doc, bool *namespaced,
                      struct sw_err *err)
{
    struct sw_kube *kube = w->r->c->kube;
    const char *api_version = sw_obj_api_version(doc);
    const struct sw_kind *kind = sw_kube_kind_find(kube, api_version, sw_obj_kind(doc));
    if (!kind && !sw_kube_kinds_known(kube, api_version)) /* no guess: it would be applied */
        return sw_err_set(err, SW_UNAVAILABLE, "the server does not say what kinds '%s' has",
                          api_version);
    if (!kind) { /* it may be another render when it is served: see apis_of() in plan.c */
        if (!w->r->own->missing)
            w->r->own->missing = json_object_new_object();
        (void)json_object_object_add(w->r->own->missing, api_version,
                                     json_object_new_boolean(true));
    }
    *namespaced = kind ? kind->namespaced : sw_scopes_namespaced(w->r->own->scopes, doc);
    return 0;
}

/* ---- objects -----------------------------------------------------------------------------------
 */

/* @doc is taken. @return the object, borrowed until the next one is added */
static struct sw_rendered_object *add(struct render *w, struct json_object *doc, bool awaited,
                                      int stage)
{
    SW_GROW(w->objects, w->n, w->cap);
    if (w->made_cap < w->cap) {
        w->made_cap = w->cap;
        w->made = sw_realloc(w->made, w->made_cap, sizeof *w->made);
    }
    w->made[w->n] = (struct made){ .doc = doc };
    w->objects[w->n] =
        (struct sw_rendered_object){ .doc = doc, .awaited = awaited, .stage = stage };
    return &w->objects[w->n++];
}

/* The last object that was added is complete: of a large one the text is kept. */
static void put_away(struct render *w)
{
    struct made *m = &w->made[w->n - 1];
    struct sw_rendered_object *o = &w->objects[w->n - 1];
    if (!sw_json_is_large(m->doc))
        return;
    size_t len;
    SW_AUTO_CHARS *text = sw_json_text(m->doc, SW_JSON_SORTED, &len);
    m->kind = sw_strdup(sw_obj_kind(m->doc));
    m->name = sw_strdup(sw_obj_name(m->doc));
    m->text = sw_kept_new(text, len);
    sw_kept_rest(m->text);
    o->text = m->text;
    o->doc = NULL;
    json_object_put(SW_TAKE(m->doc));
}

/* An object as an item of render_objects(). */
static struct json_object *object_item(const struct sw_rendered_object *o)
{
    struct json_object *item = json_object_new_object();
    sw_json_set(item, sw_rendered_object_doc(o), "doc", NULL);
    sw_json_set(item, json_object_new_int(o->stage), "stage", NULL);
    sw_json_set(item, json_object_new_boolean(o->awaited), "awaited", NULL);
    sw_json_set(item, json_object_new_boolean(o->once), "once", NULL);
    sw_json_set(item, json_object_new_boolean(o->drop_ready), "dropReady", NULL);
    sw_json_set(item, json_object_new_boolean(o->drop_failed), "dropFailed", NULL);
    sw_json_set(item, json_object_new_boolean(o->drop_before), "dropBefore", NULL);
    sw_json_set(item, json_object_new_boolean(o->tells_log), "tellsLog", NULL);
    sw_json_set(item, json_object_new_int(o->again), "again", NULL);
    return item;
}

struct json_object *render_objects(const struct render *w)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < w->n; i++) {
        struct json_object *item = object_item(&w->objects[i]);
        if (w->made[i].forward)
            sw_json_set_str(item, RENDER_ONLY_FORWARD, "only", NULL);
        if (sw_state_shared(&w->r->plan->states[w->index]))
            sw_json_set(item, json_object_new_boolean(w->objects[i].shared != NULL), "shared",
                        NULL);
        (void)json_object_array_add(list, item);
    }
    for (size_t i = 0; i < sw_json_len(w->extra); i++)
        (void)json_object_array_add(list, json_object_get(sw_json_at(w->extra, i)));
    return list;
}

/* What resources share and @doc, of the state @of, belongs to; NULL: it is the resource's own. */
static const char *shared_name(const struct sw_recipe_state *of, struct json_object *doc)
{
    return of->release || sw_state_shares(of, doc) ? sw_state_shared(of) : NULL;
}

void render_replace(struct render *w, struct json_object *list)
{
    const struct sw_recipe_state *of = &w->r->plan->states[w->index];
    drop_objects(w);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *item = sw_json_at(list, i);
        struct sw_rendered_object *o = add(w, sw_json_copy(sw_json_get(item, "doc")),
                                           sw_json_bool(item, false, "awaited", NULL),
                                           (int)sw_json_int(item, 0, "stage", NULL));
        o->once = sw_json_bool(item, false, "once", NULL);
        o->drop_ready = sw_json_bool(item, false, "dropReady", NULL);
        o->drop_failed = sw_json_bool(item, false, "dropFailed", NULL);
        o->drop_before = sw_json_bool(item, false, "dropBefore", NULL);
        o->tells_log = sw_json_bool(item, false, "tellsLog", NULL);
        o->again = (int)sw_json_int(item, 0, "again", NULL);
        const char *shared = shared_name(of, o->doc); /* older texts do not say it */
        if (sw_json_bool(item, shared != NULL, "shared", NULL))
            o->shared = sw_state_shared(of);
        put_away(w);
    }
}

/* ---- Helm's hooks ------------------------------------------------------------------------------
 */

#define BEFORE (SW_HOOK_PRE_INSTALL | SW_HOOK_PRE_UPGRADE | SW_HOOK_PRE_ROLLBACK)
#define INSTALL (SW_HOOK_PRE_INSTALL | SW_HOOK_POST_INSTALL)
#define UPGRADE (SW_HOOK_PRE_UPGRADE | SW_HOOK_POST_UPGRADE)
#define ROLLBACK (SW_HOOK_PRE_ROLLBACK | SW_HOOK_POST_ROLLBACK)

static bool is_in_inventory(const struct resource *r, struct json_object *doc)
{
    struct json_object *list = sw_json_get(r->status, "inventory");
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *o = sw_json_at(list, i);
        if (sw_streq(sw_json_str(o, "", "kind", NULL), sw_obj_kind(doc)) &&
            sw_streq(sw_json_str(o, "", "name", NULL), sw_obj_name(doc)))
            return true;
    }
    return false;
}

/* Is the hook of @m one of an install or upgrade that is under way? Once something was deployed,
 * or where SRO has run them, hooks of the install alone are not started any more. */
static bool hook_is_due(const struct resource *r, const struct release_view *release,
                        const struct sw_manifest *m)
{
    unsigned install = m->hook_events & INSTALL;
    if (release->is_upgrade && m->hook_events & UPGRADE)
        return true;
    bool has_run = release->was_deployed || !(install & ~release->sro_ran);
    return install && (!has_run || is_in_inventory(r, m->doc));
}

/* When @m runs as a hook of @events (those of an install, an upgrade or a rollback), and what is
 * deleted. Like Helm, no CustomResourceDefinition is: all of its objects would go with it. */
static void set_hook(struct sw_rendered_object *o, const struct sw_manifest *m, unsigned events)
{
    bool before = m->hook_events & events & BEFORE, after = m->hook_events & events & ~BEFORE;
    unsigned policies = sw_streq(sw_obj_kind(m->doc), "CustomResourceDefinition")
                            ? 0
                            : m->hook_policies;
    int weight = m->hook_weight <= -HOOK_STAGE  ? 1 - HOOK_STAGE
                 : m->hook_weight >= HOOK_STAGE ? HOOK_STAGE - 1
                                                : m->hook_weight;
    o->stage = weight + (before ? -HOOK_STAGE : HOOK_STAGE);
    o->again = before && after ? weight + HOOK_STAGE : 0;
    o->drop_before = policies & SW_HOOK_DELETE_BEFORE_CREATION;
    o->drop_ready = policies & SW_HOOK_DELETE_SUCCEEDED;
    o->drop_failed = policies & SW_HOOK_DELETE_FAILED;
    o->tells_log = sw_release_hook_shows_log(m->doc);
}

/* Add a hook of a rollback to this content. */
static void add_extra_hook(struct render *w, const struct sw_manifest *m, struct json_object *doc)
{
    struct sw_rendered_object hook = { .doc = doc };
    set_hook(&hook, m, ROLLBACK);
    struct json_object *item = object_item(&hook);
    sw_json_set_str(item, RENDER_ONLY_BACK, "only", NULL);
    if (!w->extra)
        w->extra = json_object_new_array();
    (void)json_object_array_add(w->extra, item);
}

/* ---- passes over the templates -----------------------------------------------------------------
 */

struct pass {
    const struct sw_group *group;
    struct json_object *values;
    struct release_view release;
    bool want_affine, want_common; /* kernel-affine manifests, and the others */
};

/* The labels of nodes on which the states that @state needs are finished. */
static struct json_object *needs_of(const struct resource *r, size_t state)
{
    const struct sw_recipe_state *s = &r->plan->states[state];
    struct json_object *labels = json_object_new_object();
    for (size_t i = 0; i < s->n_needs; i++) {
        const char *label = r->plan->states[s->needs[i]].label;
        SW_AUTO_CHARS *key = NULL;
        SW_ERR(err);
        if (label && sw_recipe_label(r->name, label, &key, &err) == 0)
            sw_json_set_str(labels, "Ready", key, NULL);
    }
    return labels;
}

/* Pass a manifest through the hooks, and add it. */
static int take_manifest(struct render *w, const struct sw_rendered *rendered, size_t i,
                         const struct pass *pass, bool wait_all, struct sw_err *err)
{
    const struct sw_manifest *m = sw_rendered_manifest(rendered, i);
    bool affine = !m->from_crds && sw_hook_asked(m->doc, SW_KERNEL_AFFINE);
    bool due = !m->hook_events || hook_is_due(w->r, &pass->release, m);
    bool is_extra = m->hook_events & capabilities_extra_hooks(w->r);
    if (!(affine ? pass->want_affine : pass->want_common) || !(due || is_extra))
        return 0;
    if (affine && !w->r->plan->states[m->state].kernel_affine)
        return sw_err_set(err, SW_INVALID,
                          "%s:%d: " SW_KERNEL_AFFINE
                          ": stands in what the template includes; it is "
                          "looked for in the template's own text",
                          m->path, m->line);
    struct sw_hook_env env = {
        .resource = w->r->doc,
        .ns = m->namespace ? m->namespace : resource_namespace(w->r),
        .keep_selectors = w->r->c->opts.keep_selectors,
        .from_crds = m->from_crds,
        .group = pass->group,
        .values = pass->values,
    };
    int rc = hook_env_fill(w->r, w, m->doc, &env, err);
    if (rc == 0)
        rc = find_scope(w, m->doc, &env.namespaced, err);
    if (rc < 0)
        return rc;
    env.selector = pass->group ? sw_facts_selector(w->r->c->facts, pass->group) : NULL;
    env.needs = needs_of(w->r, m->state);
    SW_AUTO_JSON *doc = sw_json_copy(m->doc);
    rc = sw_hooks_apply(doc, &env, err);
    json_object_put(env.selector);
    json_object_put(env.needs);
    if (rc < 0)
        return sw_err_wrap(err, rc, "%s:%d", m->path, m->line);
    if (is_extra) {
        SW_AUTO_JSON *again = sw_json_copy(doc);
        add_extra_hook(w, m, again);
    }
    if (!due)
        return 0;
    struct render_item item = { .group = pass->group, .kernel_affine = affine };
    EACH_CAPABILITY(manifest_hooked, w->r, &item);
    if (m->hook_events & UPGRADE) { /* such hooks run once for each revision */
        SW_AUTO_CHARS *version = sw_printf("%" PRId64, pass->release.revision);
        sw_json_set_str(doc, version, "metadata", "annotations", "slipway.dev/revision", NULL);
    }
    document_made(w->r, "debug manifest", w->state, doc);
    struct sw_rendered_object *o = add(w, json_object_get(doc), wait_all,
                                       m->from_crds || m->is_first ? SW_STAGE_CRDS : 0);
    if (m->hook_events)
        set_hook(o, m, pass->release.is_upgrade && m->hook_events & UPGRADE ? UPGRADE : INSTALL);
    o->shared = shared_name(&w->r->plan->states[m->state], m->doc);
    w->made[w->n - 1].forward = m->hook_events & (UPGRADE | ROLLBACK);
    o->once = (m->hook_events & INSTALL) && !(m->hook_events & UPGRADE);
    item.object = o;
    rc = TRY_CAPABILITIES(object_rendered, w->r, w, &item, err);
    put_away(w);
    return rc;
}

static int render_pass(struct render *w, int state, struct pass *pass, struct sw_err *err)
{
    struct resource *r = w->r;
    SW_AUTO_JSON *values = pass->values = resource_values(r, pass->group);
    struct sw_render_env env = resource_render_env(r, state, values, w->lookups);
    pass->release = capabilities_release(r, state);
    SW_AUTO(sw_rendered) *rendered = NULL;
    document_made(r, "debug runtime values", w->state, values);
    int rc = sw_renderer_render(r->renderer, lookups_wait(w->lookups), &env, (size_t)state,
                                &rendered, err);
    bool wait_all = r->plan->states[state].wait_all;
    w->lacks_chart = rc == SW_NOTFOUND;
    if (w->lacks_chart)
        return SW_INVALID; /* this recipe does not render; source/ gets another one */
    if (rc == 0)
        note_scopes(r, rendered);
    for (size_t i = 0; rc == 0 && i < sw_rendered_n_manifests(rendered); i++)
        rc = take_manifest(w, rendered, i, pass, wait_all, err);
    return rc;
}

/* A kernel-affine state is rendered for one group of nodes; what is not affine in it is the same
 * for all groups, so it is rendered with the values of the first. */
static int render_one(struct render *w, int state, struct sw_err *err)
{
    struct resource *r = w->r;
    const struct sw_group *group = w->variant ? sw_facts_find_group(r->c->facts, w->variant) : NULL;
    struct sw_groups groups;
    resource_groups(r, &groups);
    const struct sw_group *first = groups.n ? groups.items[0] : NULL;
    sw_groups_done(&groups);
    if (w->variant && *w->variant && !group)
        return sw_err_set(err, SW_NOTFOUND, "no node runs %s any more", w->variant);
    w->group = group;
    w->index = state;
    bool one_pass = !group || group == first;
    struct pass affine = { .group = group ? group : first,
                           .want_affine = true,
                           .want_common = one_pass },
                common = { .group = first, .want_common = true };
    int rc = render_pass(w, state, &affine, err);
    if (rc == 0 && !one_pass)
        rc = render_pass(w, state, &common, err);
    return rc;
}

/* ---- the namespace, before all -----------------------------------------------------------------
 */

/* A namespace that exists already is used as it is: the engine does not take it over. */
static int render_namespace(struct render *w, struct sw_err *err)
{
    const char *ns = resource_namespace(w->r);
    SW_AUTO_JSON *doc = sw_namespace_new(ns);
    if (sw_obj_annotation(w->r->doc, "slipway.dev/das-owner")) /* who it is for is in it */
        sw_json_set_str(doc, "keep", "metadata", "annotations", "helm.sh/resource-policy", NULL);
    int rc = sw_hooks_apply(doc, &(struct sw_hook_env){ .resource = w->r->doc, .ns = ns }, err);
    if (rc == 0)
        (void)add(w, SW_TAKE(doc), true, 0);
    return rc == 0 ? TRY_CAPABILITIES(namespace_objects, w->r, w, err) : rc;
}

/* ---- for capabilities --------------------------------------------------------------------------
 */

struct resource *render_resource(const struct render *w)
{
    return w->r;
}

const struct sw_group *render_group(const struct render *w)
{
    return w->group;
}

const char *render_state(const struct render *w)
{
    return w->state;
}

const char *render_variant(const struct render *w)
{
    return w->variant;
}

bool render_mentions(const struct render *w, const char *word)
{
    return sw_plan_view_mentions(w->r->plan, (size_t)w->index, word);
}

struct lookups *render_lookups(const struct render *w)
{
    return w->lookups;
}

bool render_is_early(const struct render *w)
{
    return w->is_early;
}

void render_wait(struct render *w)
{
    w->waits = true;
}

bool render_has(const struct render *w, const char *kind, const char *name)
{
    for (size_t i = 0; i < w->n; i++) {
        const struct made *m = &w->made[i];
        if (sw_streq(m->doc ? sw_obj_kind(m->doc) : m->kind, kind) &&
            sw_streq(m->doc ? sw_obj_name(m->doc) : m->name, name))
            return true;
    }
    return false;
}

bool render_has_release(const struct render *w, const char *release)
{
    for (size_t i = 0; i < w->n; i++)
        if (sw_streq(w->objects[i].shared, release))
            return true;
    return false;
}

int render_add(struct render *w, struct json_object *doc, unsigned flags, struct sw_err *err)
{
    const char *ns = sw_obj_namespace(doc);
    struct sw_hook_env env = { .resource = w->r->doc,
                               .ns = *ns ? ns : resource_namespace(w->r),
                               .namespaced = flags & RENDER_NAMESPACED };
    int rc = flags & RENDER_WITH_HOOK_ENV ? hook_env_fill(w->r, w, doc, &env, err) : 0;
    if (rc == 0)
        rc = sw_hooks_apply(doc, &env, err);
    if (rc == 0)
        (void)add(w, doc, false, 0);
    else
        json_object_put(doc);
    return rc;
}

/* ---- begin and end -----------------------------------------------------------------------------
 */

static int render(struct render *w, struct sw_err *err)
{
    if (sw_streq(w->state, SW_STATE_NAMESPACE))
        return render_namespace(w, err);
    int state = w->r->plan ? sw_plan_view_find(w->r->plan, w->state) : -1;
    if (state < 0)
        return sw_err_set(err, SW_NOTFOUND, "the recipe has no state '%s' any more", w->state);
    int rc = render_one(w, state, err);
    return rc == 0 ? TRY_CAPABILITIES(state_rendered, w->r, w, state, err) : rc;
}

static void try_render(void *arg)
{
    struct render *w = arg;
    SW_ERR(err);
    drop_objects(w);
    struct resource *r = w->r;
    w->waits = kinds_are_awaited(r); /* of what a state before has brought */
    int rc = w->waits ? SW_PENDING : render(w, &err);
    if (rc == SW_PENDING)
        return;
    if (!w->variant)
        plan_note_chart(r, w->state, w->lacks_chart);
    const char *rolled_back = rc == 0 ? capabilities_rendered(r, w) : NULL;
    resource_step(r, &(struct sw_event){
                         .kind = rc < 0 ? SW_EV_RENDER_FAILED : SW_EV_RENDERED,
                         .serial = w->serial,
                         .state = w->state,
                         .variant = w->variant,
                         .objects = w->objects,
                         .n_objects = w->n,
                         .code = rc,
                         .message = rc < 0 ? sw_err_text(&err) : NULL,
                         .rolled_back = rolled_back,
                     });
    render_free(w);
}

void render_resume(struct resource *r)
{
    for (struct render *w = r->own->renders; w; w = w->next)
        w->due = w->waits;
    for (struct render *w = r->own->renders; w;) {
        if (!w->due) {
            w = w->next;
            continue;
        }
        w->due = false;
        try_render(w); /* it may end, and others may begin */
        w = r->own->renders;
    }
}

void render_start(struct resource *r, const struct render_request *request)
{
    struct render *w = sw_zalloc(1, sizeof *w);
    *w = (struct render){
        .r = r,
        .next = r->own->renders,
        .state = sw_strdup(request->state),
        .variant = sw_strdup(request->variant),
        .serial = request->serial,
        .is_early = request->early,
    };
    r->own->renders = w;
    w->lookups = lookups_new(r, try_render, w);
    try_render(w);
}
