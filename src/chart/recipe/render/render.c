/* From the output of templates to manifests in the order to apply them. */
#include <stdlib.h>
#include <string.h>

#include "base/kept.h"
#include "chart/recipe/plan/execute.h"
#include "chart/recipe/plan/own_release.h"
#include "chart/recipe/plan/shared_objects.h"
#include "chart/recipe/plan/split.h"
#include "chart/recipe/render/hook.h"
#include "chart/recipe/render/order.h"
#include "data/json/json.h"
#include "data/json/path.h"
#include "data/yaml/yaml.h"

/* The place of a document within its state; hooks of other events come after all states. */
enum phase { PHASE_CRDS, PHASE_BEFORE, PHASE_OBJECTS, PHASE_AFTER, PHASE_OTHER };

/* A document, with what it is sorted by. */
struct doc {
    struct sw_rendered_doc doc;
    struct json_object *object; /* owned; NULL: nothing but comments */
    enum phase phase;
    struct sw_helm_hook hook;
    unsigned rank; /* of its kind */
    size_t number; /* as they were found */
    bool kernel_affine;
    bool is_first;    /* the namespace of a release of its own */
    bool is_left_out; /* for a hook that Helm does not know */
};

/* Manifests of another process that are kept as texts. */
struct texts {
    struct sw_kept **items; /* of each manifest; NULL: it has its document */
    size_t cap;
    size_t at; /* the one that has a document now; SIZE_MAX: none */
};

struct sw_rendered {
    size_t refs; /* besides the first */
    struct sw_arena *arena;
    struct sw_outputs run;
    struct doc *docs; /* owned */
    size_t n_docs, cap_docs;
    struct sw_manifest *manifests; /* owned */
    size_t n_manifests, cap_manifests;
    struct texts *texts;            /* NULL: none */
    struct sw_rendered_file *files; /* in the arena; those of crds/ are the last ones */
    size_t *crd_states;             /* of these */
    size_t n_files;
};

static enum phase phase_of(const struct doc *d, const struct sw_render_env *env)
{
    unsigned before = SW_HOOK_PRE_INSTALL, after = SW_HOOK_POST_INSTALL;
    if (env->is_upgrade) {
        before = SW_HOOK_PRE_UPGRADE;
        after = SW_HOOK_POST_UPGRADE;
    }
    if (d->doc.from_crds)
        return PHASE_CRDS;
    if (!d->doc.hook_events)
        return PHASE_OBJECTS;
    return d->doc.hook_events & before  ? PHASE_BEFORE
           : d->doc.hook_events & after ? PHASE_AFTER
                                        : PHASE_OTHER;
}

/* ---- documents ----------------------------------------------------------------------------------
 */

static bool is_list(struct json_object *object)
{
    return sw_ends_with(sw_obj_kind(object), "List") &&
           json_object_is_type(sw_json_get(object, "items"), json_type_array);
}

static bool is_scalar(struct json_object *v)
{
    return !json_object_is_type(v, json_type_object) && !json_object_is_type(v, json_type_array);
}

/* Helm reads these as texts; numbers and bools become texts, anything else is an error there, too.
 * @return the place of what is none; NULL: all are */
static const char *find_no_text(struct json_object *object)
{
    struct json_object *metadata = sw_json_get(object, "metadata"),
                       *annotations = sw_json_get(metadata, "annotations");
    if (!is_scalar(sw_json_get(object, "apiVersion")))
        return "apiVersion";
    if (!is_scalar(sw_json_get(object, "kind")))
        return "kind";
    if (!is_scalar(sw_json_get(metadata, "name")))
        return "metadata.name";
    if (!json_object_is_type(annotations, json_type_object))
        return NULL;
    json_object_object_foreach(annotations, key, value) if (!is_scalar(value)) return key;
    return NULL;
}

/* @any: what the API server would refuse is taken. */
static int check_head(const char *path, int line, struct json_object *object, bool any,
                      struct sw_err *err)
{
    const char *no_text = find_no_text(object);
    if (no_text)
        return sw_err_set(err, SW_INVALID, "%s:%d: %s %s: '%s' is no text", path, line,
                          sw_obj_kind(object), sw_obj_name(object), no_text);
    if (any)
        return 0;
    const char *missing = !*sw_obj_kind(object)          ? "kind"
                          : !*sw_obj_api_version(object) ? "apiVersion"
                                                         : NULL;
    if (!missing && !is_list(object) && !*sw_obj_name(object) &&
        !*sw_json_str(object, "", "metadata", "generateName", NULL))
        missing = "metadata.name";
    if (!missing)
        return 0;
    const char *kind = sw_obj_kind(object), *name = sw_obj_name(object);
    return sw_err_set(err, SW_INVALID, "%s:%d: a manifest without %s%s%s%s%s", path, line, missing,
                      *kind || *name ? ": " : "", kind, *kind && *name ? " " : "", name);
}

/* The state of a template's document. In a chart with resource groups it is the group's. Hooks,
 * which are in no group, are in the chart's first state or in its last one. */
static size_t state_of(const struct sw_plan *plan, const struct sw_plan_template *t,
                       const char *group, bool is_before)
{
    size_t last = SIZE_MAX;
    for (size_t i = 0; t->grouped && i < plan->n_states; i++) {
        const struct sw_recipe_state *s = &plan->states[i];
        if (!s->group || !sw_streq(s->chart, t->chart->path))
            continue;
        last = i;
        if (is_before || (group && sw_streq(s->group, group)))
            return i;
    }
    return t->state != SIZE_MAX ? t->state : last;
}

/* The text of @d after a change of @object. */
static void say_again(struct sw_rendered *r, struct doc *d, struct json_object *object)
{
    size_t len;
    SW_AUTO_CHARS *text = sw_yaml_text(object, &len);
    while (len > 0 && sw_split_is_blank(text[len - 1]))
        len--;
    d->doc.text = sw_arena_strndup(r->arena, text, len);
    d->doc.len = len;
}

/* Read the documents of @file. @t: its template; NULL: a file of crds/, which belongs to @state.
 * @only: drop documents of other states. */
static int read_file(struct sw_rendered *r, const struct sw_plan *plan,
                     const struct sw_render_env *env, size_t only,
                     const struct sw_rendered_file *file, const struct sw_plan_template *t,
                     size_t state, struct sw_err *err)
{
    struct sw_split split = { .text = file->text, .len = file->len };
    while (sw_split_next(&split)) {
        SW_AUTO_JSON *object = NULL;
        sw_template_place(file->path, (size_t)split.line);
        int rc = sw_split_parse(&split, file->path, &object, err);
        if (rc == 0 && object)
            rc = check_head(file->path, split.line, object, env->any_manifest, err);
        sw_template_place(NULL, 0);
        if (rc < 0)
            return rc;
        struct doc d = { .number = r->n_docs,
                         .kernel_affine = t && t->kernel_affine,
                         .rank = sw_kind_rank(sw_obj_kind(object)),
                         .doc = { .path = file->path,
                                  .line = split.line,
                                  .text = split.doc,
                                  .len = split.doc_len,
                                  .state = state,
                                  .from_crds = !t } };
        if (t) {
            d.is_left_out = !sw_helm_hook_read(object, &d.hook);
            d.hook.events = d.is_left_out ? 0 : d.hook.events;
            d.doc.hook_events = d.hook.events;
            const char *group = d.hook.events ? NULL : sw_obj_annotation(object, SW_ANN_GROUP);
            d.doc.state = state_of(plan, t, group, phase_of(&d, env) == PHASE_BEFORE);
            if ((d.is_left_out && !env->is_lint) || (only != SW_ALL_STATES && d.doc.state != only))
                continue;
            (void)sw_json_del(object, "metadata", "annotations", SW_ANN_GROUP_NEEDS, NULL);
        }
        bool is_of_another = sw_plan_has_another(&plan->states[d.doc.state], env);
        if (is_of_another && d.doc.hook_events)
            continue;
        bool changes = t && sw_plan_annotate(plan->state_releases[d.doc.state], object);
        if ((is_of_another && sw_plan_observe(object)) || changes)
            say_again(r, &d, object);
        d.phase = phase_of(&d, env);
        d.doc.group = plan->states[d.doc.state].group;
        d.doc.chart = plan->states[d.doc.state].chart;
        d.object = SW_TAKE(object);
        SW_GROW(r->docs, r->n_docs, r->cap_docs);
        r->docs[r->n_docs++] = d;
    }
    return 0;
}

/* ---- namespaces of releases of their own --------------------------------------------------------
 */

static bool has_namespace(const struct sw_rendered *r, const char *name)
{
    for (size_t i = 0; i < r->n_docs; i++)
        if (sw_streq(sw_obj_kind(r->docs[i].object), "Namespace") &&
            sw_streq(sw_obj_name(r->docs[i].object), name))
            return true;
    return false;
}

static struct json_object *namespace_of(const struct sw_plan_release *release)
{
    struct json_object *doc = json_object_new_object(), *labels = NULL;
    sw_json_set_str(doc, "v1", "apiVersion", NULL);
    sw_json_set_str(doc, "Namespace", "kind", NULL);
    sw_json_set_str(doc, release->of.namespace, "metadata", "name", NULL);
    if (release->labels &&
        sw_json_parse(release->labels, strlen(release->labels), NULL, &labels, NULL) == 0)
        sw_json_set(doc, labels, "metadata", "labels", NULL);
    return doc;
}

/* Add the namespace of the release of @state, if it has one of its own that nothing else makes. */
static void add_namespace(struct sw_rendered *r, const struct sw_plan *plan,
                          const struct sw_render_env *env, size_t state)
{
    const struct sw_plan_release *release = plan->state_releases[state];
    const char *ns = release ? release->of.namespace : NULL;
    if (!ns || r->run.left_out[release->number] || sw_streq(ns, env->namespace) ||
        has_namespace(r, ns))
        return;
    struct doc d = {
        .number = r->n_docs,
        .object = namespace_of(release),
        .phase = PHASE_CRDS,
        .is_first = true,
        .doc = { .path = sw_arena_printf(r->arena, "%s/Chart.yaml", release->above->path),
                 .line = 1,
                 .state = state,
                 .chart = plan->states[state].chart },
    };
    say_again(r, &d, d.object);
    SW_GROW(r->docs, r->n_docs, r->cap_docs);
    r->docs[r->n_docs++] = d;
}

/* ---- order, and manifests -----------------------------------------------------------------------
 */

static int compare(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

static int by_order(const void *x, const void *y)
{
    const struct doc *a = x, *b = y;
    int c = (a->phase == PHASE_OTHER) - (b->phase == PHASE_OTHER);
    if (c == 0)
        c = compare(a->doc.state, b->doc.state);
    if (c == 0)
        c = compare(a->phase, b->phase);
    if (c == 0)
        c = b->is_first - a->is_first;
    if (c == 0)
        c = (a->hook.weight > b->hook.weight) - (a->hook.weight < b->hook.weight);
    if (c == 0 && a->doc.hook_events)
        c = strcmp(sw_obj_name(a->object), sw_obj_name(b->object));
    if (c == 0 && a->phase != PHASE_CRDS)
        c = compare(a->rank, b->rank);
    if (c == 0 && a->phase != PHASE_CRDS)
        c = strcmp(sw_obj_kind(a->object), sw_obj_kind(b->object));
    return c ? c : compare(a->number, b->number);
}

static void add_manifest(struct sw_rendered *r, const struct sw_plan *plan, const struct doc *d,
                         struct json_object *object)
{
    const struct sw_plan_release *release = plan->state_releases[d->doc.state];
    SW_GROW(r->manifests, r->n_manifests, r->cap_manifests);
    r->manifests[r->n_manifests++] = (struct sw_manifest){
        .doc = object,
        .path = d->doc.path,
        .line = d->doc.line,
        .state = d->doc.state,
        .namespace = release && release->of.namespace
                         ? sw_arena_strdup(r->arena, release->of.namespace)
                         : NULL,
        .release = plan->states[d->doc.state].release,
        .is_first = d->is_first,
        .from_crds = d->doc.from_crds,
        .kernel_affine = d->kernel_affine,
        .hook_events = d->doc.hook_events,
        .hook_policies = d->hook.policies,
        .hook_weight = d->hook.weight,
        .is_left_out = d->is_left_out,
    };
}

/* Add the items of a List. Those of a typed list may omit kind and apiVersion. */
static int add_items(struct sw_rendered *r, const struct sw_plan *plan,
                     const struct sw_render_env *env, const struct doc *d, struct sw_err *err)
{
    struct json_object *items = sw_json_get(d->object, "items");
    const char *kind = sw_obj_kind(d->object);
    for (size_t i = 0; i < sw_json_len(items); i++) {
        struct json_object *item = sw_json_at(items, i);
        if (!json_object_is_type(item, json_type_object) && env->any_manifest)
            continue;
        if (!json_object_is_type(item, json_type_object))
            return sw_err_set(err, SW_INVALID, "%s:%d: items[%zu]: not a manifest", d->doc.path,
                              d->doc.line, i);
        if (!*sw_obj_kind(item) && strlen(kind) > strlen("List")) {
            SW_AUTO_CHARS *single = sw_strndup(kind, strlen(kind) - strlen("List"));
            sw_json_set_str(item, single, "kind", NULL);
            sw_json_set_str(item, sw_obj_api_version(d->object), "apiVersion", NULL);
        }
        int rc = check_head(d->doc.path, d->doc.line, item, env->any_manifest, err);
        if (rc < 0)
            return sw_err_wrap(err, rc, "items[%zu]", i);
        add_manifest(r, plan, d, json_object_get(item));
    }
    return 0;
}

/* The templates' outputs, then the files of crds/ that belong to @only. */
static void list_files(struct sw_rendered *r, const struct sw_plan *plan,
                       const struct sw_render_env *env, size_t only)
{
    size_t most = r->run.n_files;
    for (size_t i = 0; i < plan->n_crd_charts; i++)
        most += plan->crd_charts[i]->loaded->n_files;
    r->files = sw_arena_alloc(r->arena, (most + 1) * sizeof *r->files);
    r->crd_states = sw_arena_alloc(r->arena, (most + 1) * sizeof *r->crd_states);
    for (size_t i = 0; i < r->run.n_files; i++) {
        const struct sw_output *f = &r->run.files[i];
        r->files[r->n_files++] = (struct sw_rendered_file){ f->tmpl->path,
                                                            r->run.out.text + f->start, f->len };
    }
    for (size_t i = 0; i < plan->n_crd_charts && !env->no_crds; i++) {
        const struct sw_plan_chart *chart = plan->crd_charts[i];
        const struct sw_plan_release *release = sw_plan_release_of(chart);
        if ((only != SW_ALL_STATES && plan->crd_states[i] != only) ||
            (release && r->run.left_out[release->number]))
            continue;
        for (size_t f = 0; f < chart->loaded->n_files; f++) {
            const struct sw_recipe_file *file = &chart->loaded->files[f];
            if (!sw_recipe_is_crd(file->name))
                continue;
            r->crd_states[r->n_files - r->run.n_files] = plan->crd_states[i];
            r->files[r->n_files++] = (struct sw_rendered_file){
                sw_arena_printf(r->arena, "%s/%s", chart->path, file->name), file->bytes, file->len
            };
        }
    }
}

/* ---- rendering ----------------------------------------------------------------------------------
 */

struct wanted {
    const struct sw_plan *plan;
    size_t state; /* or SW_ALL_STATES */
};

/* NOTES.txt is a part of rendering: charts check their values there. It is rendered with the first
 * state of its chart, or of the recipe where its chart has none. */
static size_t notes_state(const struct sw_plan *plan, const struct sw_plan_template *t)
{
    for (size_t i = 0; i < plan->n_states; i++)
        if (sw_streq(plan->states[i].chart, t->chart->path))
            return i;
    return 0;
}

static bool is_wanted(const void *arg, const struct sw_plan_template *t)
{
    const struct wanted *w = arg;
    if (w->state == SW_ALL_STATES || t->state == w->state)
        return true;
    if (t->is_notes)
        return notes_state(w->plan, t) == w->state;
    const struct sw_recipe_state *s = &w->plan->states[w->state];
    return t->grouped && s->group && sw_streq(s->chart, t->chart->path);
}

static const struct sw_render_env default_env;

int sw_recipe_render_files(const struct sw_plan *plan, const struct sw_render_env *env,
                           size_t state, struct sw_rendered **out, struct sw_err *err)
{
    SW_AUTO(sw_rendered) *r = sw_zalloc(1, sizeof *r);
    r->arena = sw_arena_new();
    if (state != SW_ALL_STATES && state >= plan->n_states)
        return sw_err_set(err, SW_NOTFOUND, "there is no state %zu", state);
    struct wanted wanted = { plan, state };
    env = env ? env : &default_env;
    struct sw_plan_filter filter = {
        .takes = is_wanted, .arg = &wanted, .asks = true, .state = state
    };
    int rc = sw_plan_run(plan, env, &filter, &r->run, err);
    if (rc < 0)
        return rc;
    list_files(r, plan, env, state);
    *out = SW_TAKE(r);
    return 0;
}

/* ---- what the server serves ---------------------------------------------------------------------
 */

/* Names for .Capabilities.APIVersions, in an arena. */
struct apis {
    struct sw_arena *arena;
    const char **items; /* owned */
    size_t n, cap;
};

static void add_api(struct apis *all, const char *name)
{
    SW_GROW(all->items, all->n, all->cap);
    all->items[all->n++] = name;
}

static void add_crd(struct apis *all, struct json_object *crd)
{
    const char *group = sw_json_str(crd, "", "spec", "group", NULL),
               *kind = sw_json_str(crd, "", "spec", "names", "kind", NULL);
    struct json_object *versions = sw_json_find(crd, "spec", "versions", NULL);
    for (size_t i = 0; i < sw_json_len(versions); i++) {
        struct json_object *version = sw_json_at(versions, i);
        const char *name = sw_json_str(version, "", "name", NULL);
        if (!sw_json_bool(version, false, "served", NULL))
            continue;
        add_api(all, sw_arena_printf(all->arena, "%s/%s", group, name));
        add_api(all, sw_arena_printf(all->arena, "%s/%s/%s", group, name, kind));
    }
}

/* Helm installs crds/ before it renders, so their kinds are served then. Those of @state are not
 * yet when it is rendered here. A file that cannot be read is an error later. */
static void add_crds(struct apis *all, const struct sw_plan *plan, size_t state)
{
    for (size_t i = 0; i < plan->n_crd_charts; i++) {
        const struct sw_chart *chart = plan->crd_charts[i]->loaded;
        for (size_t f = 0; plan->crd_states[i] == state && f < chart->n_files; f++) {
            const struct sw_recipe_file *file = &chart->files[f];
            struct sw_split split = { .text = file->bytes, .len = file->len };
            while (sw_recipe_is_crd(file->name) && sw_split_next(&split)) {
                SW_AUTO_JSON *object = NULL;
                SW_ERR(ignored);
                if (sw_split_parse(&split, file->name, &object, &ignored) == 0)
                    add_crd(all, object);
            }
        }
    }
}

/* @env: of a server (SW_ALL_STATES: of `helm template`, which does not install). */
static int run_state(const struct sw_plan *plan, const struct sw_render_env *env, size_t state,
                     struct sw_rendered **out, struct sw_err *err)
{
    if (state >= plan->n_states || env->no_crds || !env->api_versions || env->add_api_versions ||
        !sw_recipe_mentions(plan->recipe, ".APIVersions"))
        return sw_recipe_render_files(plan, env, state, out, err);
    SW_AUTO(sw_arena) *arena = sw_arena_new();
    struct apis all = { .arena = arena };
    for (size_t i = 0; i < env->n_api_versions; i++)
        add_api(&all, env->api_versions[i]);
    add_crds(&all, plan, state);
    struct sw_render_env with = *env;
    with.api_versions = all.items;
    with.n_api_versions = all.n;
    int rc = sw_recipe_render_files(plan, &with, state, out, err);
    free(all.items);
    return rc;
}

/* Go on without what is no manifest in @file, where somebody is told. @return 0 | @rc */
static int tell_fault(const struct sw_render_env *env, const struct sw_rendered_file *file, int rc,
                      struct sw_err *err)
{
    if (rc != SW_INVALID || !env->on_fault)
        return rc;
    env->on_fault(env->fault_arg, file, sw_err_text(err));
    sw_err_done(err);
    return 0;
}

/* The file that @d is of. */
static const struct sw_rendered_file *file_of(const struct sw_rendered *r, const struct doc *d)
{
    size_t i = 0;
    while (i + 1 < r->n_files && !sw_streq(r->files[i].path, d->doc.path))
        i++;
    return &r->files[i];
}

int sw_recipe_render(const struct sw_plan *plan, const struct sw_render_env *env, size_t state,
                     struct sw_rendered **out, struct sw_err *err)
{
    SW_AUTO(sw_rendered) *r = NULL;
    env = env ? env : &default_env;
    int rc = run_state(plan, env, state, &r, err);
    if (rc < 0)
        return rc;
    size_t n_run = r->run.n_files;
    for (size_t i = n_run; i < r->n_files && rc == 0; i++)
        rc = tell_fault(
            env, &r->files[i],
            read_file(r, plan, env, state, &r->files[i], NULL, r->crd_states[i - n_run], err), err);
    for (size_t i = 0; i < n_run && rc == 0; i++)
        rc = tell_fault(
            env, &r->files[i],
            read_file(r, plan, env, state, &r->files[i], r->run.files[i].tmpl, SIZE_MAX, err), err);
    for (size_t i = 0; rc == 0 && i < plan->n_states; i++)
        if (state == SW_ALL_STATES || state == i)
            add_namespace(r, plan, env, i);
    if (rc == 0 && r->n_docs > 0)
        qsort(r->docs, r->n_docs, sizeof *r->docs, by_order);
    for (size_t i = 0; i < r->n_docs && rc == 0; i++) {
        struct doc *d = &r->docs[i];
        d->doc.first_manifest = r->n_manifests;
        if (d->object && is_list(d->object))
            rc = tell_fault(env, file_of(r, d), add_items(r, plan, env, d, err), err);
        else if (d->object)
            add_manifest(r, plan, d, json_object_get(d->object));
        d->doc.n_manifests = r->n_manifests - d->doc.first_manifest;
    }
    if (rc == 0)
        *out = SW_TAKE(r);
    return rc;
}

struct sw_rendered *sw_rendered_new(void)
{
    struct sw_rendered *r = sw_zalloc(1, sizeof *r);
    r->arena = sw_arena_new();
    r->texts = sw_zalloc(1, sizeof *r->texts);
    r->texts->at = SIZE_MAX;
    return r;
}

void sw_rendered_add(struct sw_rendered *r, const struct sw_manifest *m)
{
    SW_GROW(r->manifests, r->n_manifests, r->cap_manifests);
    struct sw_manifest *copy = &r->manifests[r->n_manifests++];
    *copy = *m;
    copy->path = sw_arena_strdup(r->arena, m->path);
    copy->namespace = m->namespace ? sw_arena_strdup(r->arena, m->namespace) : NULL;
    size_t len;
    SW_AUTO_CHARS *text = sw_json_text(m->doc, SW_JSON_PLAIN, &len);
    SW_AUTO(sw_kept) *kept = sw_kept_new(text, len);
    if (r->texts->cap < r->cap_manifests) {
        r->texts->cap = r->cap_manifests;
        r->texts->items = sw_realloc(r->texts->items, r->texts->cap, sizeof *r->texts->items);
    }
    bool is_away = sw_kept_is_away(kept);
    copy->doc = is_away ? NULL : json_object_get(m->doc);
    r->texts->items[r->n_manifests - 1] = is_away ? SW_TAKE(kept) : NULL;
}

struct sw_rendered *sw_rendered_ref(struct sw_rendered *r)
{
    r->refs++;
    return r;
}

void sw_rendered_free(struct sw_rendered *r)
{
    if (!r || r->refs-- > 0)
        return;
    for (size_t i = 0; i < r->n_docs; i++)
        (void)json_object_put(r->docs[i].object);
    for (size_t i = 0; i < r->n_manifests; i++)
        (void)json_object_put(r->manifests[i].doc);
    for (size_t i = 0; r->texts && i < r->n_manifests; i++)
        sw_kept_free(r->texts->items[i]);
    if (r->texts)
        free(r->texts->items);
    free(r->texts);
    free(r->docs);
    free(r->manifests);
    sw_outputs_done(&r->run);
    sw_arena_free(r->arena);
    free(r);
}

size_t sw_rendered_n_manifests(const struct sw_rendered *r)
{
    return r->n_manifests;
}

/* Of those that are kept as texts one has a document. */
static void load(const struct sw_rendered *r, size_t i)
{
    struct texts *texts = r->texts;
    if (texts->at == i)
        return;
    if (texts->at != SIZE_MAX)
        json_object_put(SW_TAKE(r->manifests[texts->at].doc));
    const struct sw_kept *text = texts->items[i];
    if (sw_json_parse(sw_kept_bytes(text), sw_kept_len(text), NULL, &r->manifests[i].doc, NULL) < 0)
        abort(); /* it was written by sw_json_text() */
    sw_kept_rest(text);
    texts->at = i;
}

const struct sw_manifest *sw_rendered_manifest(const struct sw_rendered *r, size_t i)
{
    if (r->texts && r->texts->items[i])
        load(r, i);
    return &r->manifests[i];
}

size_t sw_rendered_n_docs(const struct sw_rendered *r)
{
    return r->n_docs;
}

const struct sw_rendered_doc *sw_rendered_doc(const struct sw_rendered *r, size_t i)
{
    return &r->docs[i].doc;
}

size_t sw_rendered_n_files(const struct sw_rendered *r)
{
    return r->n_files;
}

const struct sw_rendered_file *sw_rendered_file(const struct sw_rendered *r, size_t i)
{
    return &r->files[i];
}

char *sw_rendered_notes(const struct sw_rendered *r, bool of_all)
{
    return sw_outputs_notes(&r->run, of_all);
}
