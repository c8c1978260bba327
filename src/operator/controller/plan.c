/* The plan of a resource: its recipe is loaded, then planned with spec.set and the facts. */
#include "data/text/semver.h"
#include "operator/controller/private.h"
#include "operator/manifests/aicr_source.h"
#include "operator/manifests/sharing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An attempt to make a plan; freed when it has finished or another one begins. */
struct plan_work {
    struct resource *r;
    plan_fn *done;
    struct lookups *lookups;
    struct source *source;
    struct sw_renderer *fresh; /* another recipe than r->renderer's, to be loaded; or NULL */
    bool waits_for_facts, is_loaded;
    bool is_resolving; /* the templates of the spec are being rendered, to load what they name */
};

void plan_work_free(struct plan_work *w)
{
    if (!w)
        return;
    lookups_free(w->lookups);
    source_free(w->source);
    sw_renderer_free(w->fresh);
    free(w);
}

static void finish(struct plan_work *w, int code, const char *message)
{
    struct resource *r = w->r;
    plan_fn *done = w->done;
    SW_AUTO_CHARS *copy = sw_strdup(message);
    r->own->plan_work = NULL;
    plan_work_free(w);
    done(r, code, copy);
}

struct sw_render_env core_render_env(struct sw_controller *c, const char *name, const char *ns,
                                     struct json_object *values)
{
    return (struct sw_render_env){
        .release = name,
        .namespace = ns,
        .revision = 1,
        .facts = values,
        .kube_version = c->kube_version,
        .api_versions = c->apis,
        .n_api_versions = c->n_apis,
    };
}

/* Of what the server serves, the API versions that a render of @r may depend on: a CRD that others
 * install is no reason to render again. They are in r->own->apis until the next call. */
static void apis_of(struct resource *r)
{
    struct resource_private *p = r->own;
    SW_AUTO_CHARS *version = sw_strdup("");
    SW_AUTO_CHARS *set = sw_json_text(sw_json_find(r->doc, "spec", "set", NULL), SW_JSON_PLAIN,
                                      NULL); /* there may be templates in it */
    const bool all = !r->recipe || r->recipe->sees_all_versions || strstr(set, "APIVersions");
    bool counts = false;
    p->n_apis = 0;
    for (size_t i = 0; i < r->c->n_apis; i++) {
        const char *api = r->c->apis[i], *slash = strchr(api, '/'); /* "v1/Pod", "apps/v1" */
        size_t len = strcspn(api, "/");
        if (slash && !(api[0] == 'v' && api[1] >= '0' && api[1] <= '9'))
            len = (size_t)(slash + 1 - api) + strcspn(slash + 1, "/");
        if (strncmp(version, api, len) != 0 || version[len]) {
            free(version);
            version = sw_strndup(api, len);
            counts = all || !strchr(version, '/') || sw_recipe_view_mentions(r->recipe, version) ||
                     sw_json_get(p->missing, version);
        }
        if (!counts)
            continue;
        SW_GROW(p->apis, p->n_apis, p->apis_cap);
        p->apis[p->n_apis++] = api;
    }
}

struct sw_render_env resource_render_env(struct resource *r, int state, struct json_object *values,
                                         struct lookups *l)
{
    const struct release_view release = capabilities_release(r, state);
    struct sw_render_env env = core_render_env(r->c, r->name, resource_namespace(r), values);
    apis_of(r);
    env.api_versions = r->own->n_apis ? r->own->apis : r->c->apis;
    env.n_api_versions = r->own->n_apis;
    env.revision = release.revision;
    env.is_upgrade = release.is_upgrade;
    env.lookup = l ? lookups_find : NULL;
    env.lookup_arg = l;
    return env;
}

/* Is the recipe's version the one that spec.chart asks for? Without a Chart.yaml it has none. */
static int check_version(const struct resource *r, struct sw_err *err)
{
    const char *want = sw_json_str(r->doc, "", "spec", "chart", "version", NULL),
               *have = r->recipe->version;
    struct sw_semver version;
    SW_AUTO(sw_semver_range) *range = NULL;
    SW_ERR(no_range);
    if (!*want || sw_streq(want, have) || sw_streq(have, "0.0.0") ||
        sw_semver_parse(have, strlen(have), &version, &no_range) < 0)
        return 0;
    if (sw_semver_range_parse(want, strlen(want), &range, &no_range) == 0 &&
        sw_semver_range_has(range, &version))
        return 0;
    return sw_err_set(err, SW_INVALID,
                      "spec.chart.version: '%s' is wanted, chart '%s' there has version %s", want,
                      r->recipe->name, have);
}

static bool is_older(const struct resource *a, const struct resource *b)
{
    const char *of_a = sw_json_str(a->seen, "", "metadata", "creationTimestamp", NULL),
               *of_b = sw_json_str(b->seen, "", "metadata", "creationTimestamp", NULL);
    const int order = strcmp(of_a, of_b);
    return order ? order < 0 : strcmp(a->name, b->name) < 0;
}

/* Has @r the label @key of nodes? Before it is walked its status says it. */
static bool has_label(const struct resource *r, const char *key)
{
    struct json_object *states = sw_json_get(r->status, "states");
    return r->started ? sw_engine_has_label(r->engine, key)
                      : sw_json_find_by(states, "label", key) != NULL;
}

/* Whose label of nodes @key is already, other than @r; NULL: nobody's. */
static const struct resource *label_owner(const struct resource *r, const char *key)
{
    const bool had = has_label(r, key);
    for (const struct resource *other = r->c->resources; other; other = other->next)
        if (other != r && has_label(other, key) && !(had && is_older(r, other)))
            return other;
    return NULL;
}

/* Resource "gpu" with the state "driver-0000" has the same labels of nodes as "gpu-driver" with
 * "0000", and pods of whoever was first go by them. */
static int check_labels(struct resource *r, const struct sw_plan_view *plan, struct sw_err *err)
{
    r->own->is_label_taken = false;
    for (size_t i = 0; i < plan->n_states; i++) {
        const struct sw_recipe_state *s = &plan->states[i];
        SW_AUTO_CHARS *key = s->label ? sw_recipe_label_key(r->name, s->label) : NULL;
        const struct resource *owner = key ? label_owner(r, key) : NULL;
        r->own->is_label_taken = owner;
        if (owner)
            return sw_err_set(
                err, SW_INVALID,
                "state '%s': SpecialResource '%s' has its label '%s': give the state, "
                "or the resource, another name",
                s->name, owner->name, key);
    }
    return 0;
}

/* Charts are asked for again whose states are still there. */
static void update_lacking(struct resource *r)
{
    struct json_object *lacking = r->own->lacking;
    size_t n = 0;
    if (!lacking || !r->plan)
        return;
    for (size_t i = 0; i < r->plan->n_states; i++)
        n += sw_json_get(lacking, r->plan->states[i].name) != NULL;
    refresh_need(r->own->refresh, n > 0);
}

void plan_note_chart(struct resource *r, const char *state, bool is_lacking)
{
    struct json_object **lacking = &r->own->lacking;
    if (is_lacking && !*lacking)
        *lacking = json_object_new_object();
    if (is_lacking)
        sw_json_set(*lacking, json_object_new_boolean(true), state, NULL);
    else if (*lacking)
        json_object_object_del(*lacking, state);
    update_lacking(r);
}

static int make_plan(struct plan_work *w, struct sw_err *err)
{
    struct resource *r = w->r;
    struct json_object *set = sw_json_find(r->doc, "spec", "set", NULL);
    int rc = check_version(r, err);
    if (rc < 0)
        return rc;
    SW_AUTO_JSON *facts = resource_values(r, NULL);
    struct sw_render_env env = resource_render_env(r, -1, facts, w->lookups);
    bool show = sw_json_bool(r->doc, false, "spec", "debug", NULL);
    rc = sw_renderer_plan(r->renderer, lookups_wait(w->lookups), set, &env, r->name, show, &r->plan,
                          err);
    if (rc == 0)
        sw_json_sha256(facts, r->own->planned_with);
    if (rc == 0 && (rc = check_labels(r, r->plan, err)) < 0)
        r->plan = NULL;
    update_lacking(r);
    if (rc == 0 && show)
        document_made(r, "debug values", "", r->plan->values);
    return rc;
}

static void try_plan(void *arg)
{
    struct plan_work *w = arg;
    struct resource *r = w->r;
    w->waits_for_facts = !fact_watches_ready(r) || !capabilities_plan_ready(r) ||
                         !r->c->resources_synced; /* whose labels are whose */
    if (w->waits_for_facts) {
        SW_AUTO_CHARS *message = r->plan ? NULL : kinds_trouble(r);
        if (message && !sw_streq(message, r->fault_message))
            r->own->driver->refuse(r, SW_UNAVAILABLE, message);
        return;
    }
    SW_ERR(err);
    int rc = resource_resolve(r, lookups_wait(w->lookups), &err);
    if (rc == SW_PENDING)
        return;
    SW_AUTO_CHARS *key = source_key(r->doc);
    if (rc == 0 && !sw_streq(key, r->own->recipe_key)) {
        plan_start(r, w->done); /* with the facts of now, spec.chart names another recipe */
        return;
    }
    if (rc == 0)
        rc = make_plan(w, &err);
    if (rc != SW_PENDING)
        finish(w, rc, rc < 0 ? sw_err_text(&err) : NULL);
}

static void load(struct plan_work *w);

void plan_go_on(struct resource *r)
{
    struct plan_work *w = r->own->plan_work;
    if (w && w->waits_for_facts && w->is_loaded)
        try_plan(w);
    else if (w && w->waits_for_facts)
        load(w);
}

bool resource_is_planning(const struct resource *r)
{
    return r->own->plan_work;
}

plan_fn *plan_pending(const struct resource *r)
{
    return r->own->plan_work ? r->own->plan_work->done : NULL;
}

/* w->fresh is loaded: from now on it is the recipe. */
static void take_recipe(struct plan_work *w)
{
    struct resource *r = w->r;
    const char *content = source_content(w->source);
    struct sw_renderer *old = r->renderer;
    r->plan = NULL;
    r->renderer = SW_TAKE(w->fresh);
    r->recipe = sw_renderer_recipe(r->renderer);
    json_object_put(r->own->recipe_tolerations);
    r->own->recipe_tolerations = sw_sharing_of_recipe(r->recipe->metadata);
    sw_renderer_free(old);
    sw_text_set(&r->own->recipe_content, content);
}

static void on_recipe_changed(void *arg)
{
    struct resource *r = arg;
    r->own->recipe_is_old = true;
    if (r->own->plan_work && !r->plan && !r->fault)
        refresh_postpone(r->own->refresh); /* the first plan is still being made */
    else
        r->own->driver->replan(r);
}

/* The recipe that spec.chart names is there, or cannot be had: an old one of that name goes on. */
static void loaded(struct plan_work *w, int code, const char *message)
{
    struct resource *r = w->r;
    SW_AUTO_CHARS *key = source_key(r->doc);
    if (code == SW_UNAVAILABLE && r->recipe && sw_streq(key, r->own->recipe_key)) {
        sw_log(SW_LOG_WARN, "a recipe cannot be loaded again", "resource", r->name, "error",
               message ? message : sw_code_name(code), NULL);
    } else if (code < 0) {
        message = message ? message : sw_code_name(code);
        SW_AUTO_CHARS *where = sw_printf(
            "%s%s", sw_starts_with(message, "spec.") ? "" : "spec.chart: ", message);
        finish(w, code, where);
        return;
    }
    if (w->fresh && code == 0)
        take_recipe(w);
    if (code == 0) {
        free(r->own->recipe_key);
        r->own->recipe_key = SW_TAKE(key);
    }
    sw_renderer_free(SW_TAKE(w->fresh));
    w->is_loaded = true;
    try_plan(w);
}

static void try_load(struct plan_work *w)
{
    const struct sw_recipe_view *view;
    SW_ERR(err);
    int rc = w->fresh ? sw_renderer_load(w->fresh, lookups_wait(w->lookups), NULL, &view, &err) : 0;
    if (rc != SW_PENDING)
        loaded(w, rc, rc < 0 ? sw_err_text(&err) : NULL);
}

static void on_answered(void *arg)
{
    struct plan_work *w = arg;
    if (w->is_resolving)
        load(w);
    else if (w->is_loaded)
        try_plan(w);
    else
        try_load(w);
}

static void on_source(int code, struct sw_renderer *recipe, const char *message, void *arg)
{
    struct plan_work *w = arg;
    struct resource *r = w->r;
    const char *content = w->source ? source_content(w->source) : NULL;
    if (w->source) {
        r->own->recipe_is_old = false; /* not before: another plan may have cancelled the load */
        if (!r->own->refresh)
            r->own->refresh = refresh_new(r->c->sources, on_recipe_changed, r);
        refresh_update(r->own->refresh, w->source, code);
    }
    if (recipe && r->recipe && content && sw_streq(content, r->own->recipe_content))
        sw_renderer_free(recipe); /* with the same files; its plan is kept */
    else
        w->fresh = recipe;
    SW_AUTO_CHARS *fault = code == SW_INVALID ? account_message(r, code, message) : NULL;
    if (code < 0)
        loaded(w, code, fault ? fault : message);
    else
        try_load(w);
}

static void load(struct plan_work *w)
{
    struct resource *r = w->r;
    w->waits_for_facts = resolve_is_needed(r->seen) && !fact_watches_ready(r); /* for spec.chart */
    if (w->waits_for_facts)
        return;
    SW_ERR(err);
    int rc = sw_aicr_source_check(r->seen, &err);
    if (rc == 0)
        rc = resource_resolve(r, lookups_wait(w->lookups), &err);
    w->is_resolving = rc == SW_PENDING;
    if (w->is_resolving)
        return;
    if (rc < 0) {
        finish(w, rc, sw_err_text(&err));
        return;
    }
    SW_AUTO_CHARS *key = source_key(r->doc);
    if (r->recipe && !r->own->recipe_is_old && sw_streq(key, r->own->recipe_key))
        on_source(0, NULL, NULL, w);
    else
        source_load(r->c->sources, r->doc, resource_account_now(r), &w->source, on_source, w);
}

void plan_start(struct resource *r, plan_fn *done)
{
    plan_work_free(r->own->plan_work);
    struct plan_work *w = r->own->plan_work = sw_zalloc(1, sizeof *w);
    *w = (struct plan_work){ .r = r, .done = done };
    w->lookups = lookups_new(r, on_answered, w);
    load(w);
}

/* A hash of all that a render sees: the recipe, the plan, the resource, the values of each group of
 * nodes, what the server serves. The plan may be older than the others. */
char *plan_revision(struct resource *r)
{
    SW_AUTO_JSON *all = json_object_new_object();
    struct sw_groups groups;
    resource_groups(r, &groups);
    sw_json_set_str(all, r->recipe ? r->recipe->digest : "", "recipe", NULL);
    sw_json_set_str(all, r->own->planned_with, "plannedWith", NULL);
    for (size_t i = 0; i < groups.n; i++)
        sw_json_set(all, resource_values(r, groups.items[i]), groups.items[i]->id, NULL);
    if (!groups.n)
        sw_json_set(all, resource_values(r, NULL), "", NULL);
    struct json_object *apis = sw_json_need_list(all, "apis", NULL);
    apis_of(r);
    for (size_t i = 0; i < r->own->n_apis; i++)
        (void)json_object_array_add(apis, json_object_new_string(r->own->apis[i]));
    const char *retry = sw_obj_annotation(r->seen, "slipway.dev/retry");
    if (retry)
        sw_json_set_str(all, retry, "retry", NULL);
    EACH_CAPABILITY(add_revision, r, all);
    char hash[SW_SHA256_HEX];
    sw_json_sha256(all, hash);
    sw_groups_done(&groups);
    return sw_strdup(hash);
}
