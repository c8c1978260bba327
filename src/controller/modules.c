/* SpecialResourceModules: a chart applied once for each OpenShift version that is found at the
 * watched paths. One step after another; whatever changes begins it anew, and what is as it should
 * be is applied without effect. */
#include "controller/internal.h"
#include "controller/payload.h"
#include "controller/registries.h"
#include "data/semver.h"
#include "engine/gate.h"
#include "http/http.h"

#include <stdlib.h>
#include <string.h>

#define MODULE_KIND "SpecialResourceModule"
#define MODULE_OWNED "specialresourcemodule.openshift.io/owned"
#define GRAPH "https://api.openshift.com/api/upgrades_info/v1/graph"

enum { SETTLE_MS = 200, LOOK_MS = 2000, AGAIN_MS = 30000, MAX_GRAPH = 64 << 20, MAX_ENTRIES = 64 };

/* One of spec.watch. */
struct eye {
    struct module *m;
    struct eye *next;
    struct json_object *spec;
    struct sw_kube_watch *watch;
    struct sw_kube_request *req;
    struct json_object *object; /* NULL: not there */
};

struct module {
    struct resource r; /* what loading and rendering need of one: c, name, doc */
    struct module *next;
    int64_t generation;
    struct eye *eyes;
    struct sw_timer *timer;       /* to begin */
    struct json_object *known;    /* entry -> what its release image says */
    struct json_object *versions; /* status.versions as it is to be */
    struct json_object *written;  /* as it was written */
    char *trouble;
    /* the round */
    struct json_object *entries; /* list of strings */
    size_t at_entry, at_state, at_manifest, channel;
    struct source *source;
    struct sw_http_transfer *transfer;
    char *body;
    size_t body_len;
    struct sw_payload_look *look;
    struct sw_facts *facts;
    struct json_object *values;
    struct sw_rendered *rendered;
    struct sw_kube_request *req, *status_req;
    struct sw_timer *step;   /* to look again at what is waited for */
    struct json_object *doc; /* that is being applied */
    struct sw_gate *gate;
};

struct modules {
    struct sw_kube_watch *watch;
    struct sw_http *http;
    struct module *first;
};

static void next_entry(struct module *m);
static void next_state(struct module *m);
static void next_manifest(struct module *m);
static void look_at(struct module *m);

/* ---- life --------------------------------------------------------------------------------------
 */

static void stop_round(struct module *m)
{
    source_free(SW_TAKE(m->source));
    sw_http_cancel(SW_TAKE(m->transfer));
    sw_payload_close(SW_TAKE(m->look));
    sw_kube_cancel(SW_TAKE(m->req));
    sw_timer_stop(m->step);
    sw_rendered_free(SW_TAKE(m->rendered));
    sw_plan_free(SW_TAKE(m->r.plan));
    sw_facts_free(SW_TAKE(m->facts));
    json_object_put(SW_TAKE(m->values));
    json_object_put(SW_TAKE(m->doc));
    sw_gate_free(SW_TAKE(m->gate));
    json_object_put(SW_TAKE(m->entries));
    free(SW_TAKE(m->body));
    m->body_len = 0;
}

static void close_eyes(struct module *m)
{
    while (m->eyes) {
        struct eye *e = m->eyes;
        m->eyes = e->next;
        sw_kube_watch_close(e->watch);
        sw_kube_cancel(e->req);
        json_object_put(e->spec);
        json_object_put(e->object);
        free(e);
    }
}

static void module_free(struct module *m)
{
    stop_round(m);
    close_eyes(m);
    sw_kube_cancel(m->status_req);
    sw_timer_free(m->timer);
    sw_timer_free(m->step);
    sw_recipe_free(m->r.recipe);
    json_object_put(m->r.doc);
    json_object_put(m->known);
    json_object_put(m->versions);
    json_object_put(m->written);
    free(m->trouble);
    free(m->r.recipe_key);
    free(m->r.name);
    free(m);
}

static void begin_soon(struct module *m, int64_t in_ms)
{
    sw_timer_set(m->timer, in_ms);
}

/* ---- status ------------------------------------------------------------------------------------
 */

static void on_status(const struct sw_kube_answer *a, void *arg)
{
    struct module *m = arg;
    m->status_req = NULL;
    if (a->code < 0)
        sw_log(SW_LOG_WARN, "module status not written", "module", m->r.name, "error",
               sw_err_text(a->err), NULL);
}

/* A merge patch: versions that are gone are taken out by name. */
static void write_status(struct module *m)
{
    const struct sw_kind *kind = sw_kube_kind_find(m->r.c->kube, SW_GROUP_VERSION, MODULE_KIND);
    SW_AUTO_JSON *state = json_object_new_object();
    SW_AUTO_JSON *patch = json_object_new_object();
    sw_json_set(state, sw_json_copy(m->versions), "versions", NULL);
    sw_json_set_str(state, m->trouble ? m->trouble : "", "message", NULL);
    if (!kind || sw_json_equal(state, m->written))
        return;
    struct json_object *versions = sw_json_copy(m->versions);
    struct json_object *old = sw_json_get(m->written, "versions");
    if (old) {
        json_object_object_foreach(old, image, unused)
        {
            (void)unused;
            if (!json_object_object_get_ex(versions, image, NULL))
                (void)json_object_object_add(versions, image, NULL);
        }
    }
    sw_json_set(patch, versions, "status", "versions", NULL);
    sw_json_set_str(patch, m->trouble ? m->trouble : "", "status", "message", NULL);
    json_object_put(m->written);
    m->written = SW_TAKE(state);
    sw_kube_cancel(m->status_req);
    m->status_req = sw_kube_patch(
        m->r.c->kube, kind, NULL, m->r.name, SW_PATCH_MERGE, patch,
        &(struct sw_request_opts){ .subresource = "status", .retries = 4 }, on_status, m);
}

static void fail(struct module *m, const char *words)
{
    if (!sw_streq(m->trouble, words)) {
        sw_log(SW_LOG_WARN, "module", "module", m->r.name, "error", words, NULL);
        char *copy = sw_strdup(words);
        free(m->trouble);
        m->trouble = copy;
    }
    write_status(m);
    stop_round(m);
    begin_soon(m, AGAIN_MS);
}

/* ---- objects -----------------------------------------------------------------------------------
 */

static const char *entry_of(const struct module *m)
{
    return sw_json_str(sw_json_at(m->entries, m->at_entry), "", NULL);
}

static struct json_object *version_of(struct module *m)
{
    const char *image = sw_json_str(sw_json_get(m->known, entry_of(m)), "", "toolkit", NULL);
    return sw_json_need_map(m->versions, image, NULL);
}

static void manifest_is_done(struct module *m)
{
    json_object_put(SW_TAKE(m->doc));
    sw_gate_free(SW_TAKE(m->gate));
    m->at_manifest++;
    next_manifest(m);
}

static void on_look_again(void *arg)
{
    look_at(arg);
}

static void on_build(const struct sw_kube_answer *a, void *arg)
{
    struct module *m = arg;
    m->req = NULL;
    const char *phase = sw_json_str(a->object, "", "status", "phase", NULL);
    if (sw_streq(phase, "Complete"))
        manifest_is_done(m);
    else
        sw_timer_set(m->step, LOOK_MS);
}

/* A BuildConfig is ready when its last build is complete. */
static void look_at_build(struct module *m, struct json_object *config)
{
    const struct sw_kind *kind = sw_kube_kind_find(m->r.c->kube, sw_obj_api_version(config),
                                                   "Build");
    int64_t n = sw_json_int(config, 0, "status", "lastVersion", NULL);
    if (!kind || !n) {
        sw_timer_set(m->step, LOOK_MS);
        return;
    }
    SW_AUTO_CHARS *name = sw_printf("%s-%lld", sw_obj_name(config), (long long)n);
    m->req = sw_kube_get(m->r.c->kube, kind, sw_obj_namespace(config), name, NULL, on_build, m);
}

static void on_looked(const struct sw_kube_answer *a, void *arg)
{
    struct module *m = arg;
    struct sw_verdict verdict = { 0 };
    m->req = NULL;
    sw_gate_judge(m->gate, a->object, &verdict);
    bool ready = verdict.kind == SW_VERDICT_READY;
    bool failed = verdict.kind == SW_VERDICT_FAILED;
    SW_AUTO_CHARS *words = sw_printf("%s %s: %s", sw_obj_kind(m->doc), sw_obj_name(m->doc),
                                     verdict.message ? verdict.message : "");
    sw_verdict_done(&verdict);
    if (a->code == 0 && sw_streq(sw_obj_kind(m->doc), "BuildConfig"))
        look_at_build(m, a->object);
    else if (ready)
        manifest_is_done(m);
    else if (failed)
        fail(m, words);
    else
        sw_timer_set(m->step, LOOK_MS);
}

static const struct sw_kind *kind_of(struct module *m, struct json_object *doc)
{
    return sw_kube_kind_find(m->r.c->kube, sw_obj_api_version(doc), sw_obj_kind(doc));
}

static void look_at(struct module *m)
{
    const struct sw_kind *kind = kind_of(m, m->doc);
    const char *ns = sw_obj_namespace(m->doc);
    if (!kind)
        begin_soon(m, 0);
    else
        m->req = sw_kube_get(m->r.c->kube, kind, *ns ? ns : NULL, sw_obj_name(m->doc), NULL,
                             on_looked, m);
}

static void on_applied(const struct sw_kube_answer *a, void *arg)
{
    struct module *m = arg;
    m->req = NULL;
    if (a->code < 0)
        fail(m, sw_err_text(a->err));
    else if (sw_gate_is_awaited(m->gate))
        look_at(m);
    else
        manifest_is_done(m);
}

static int prepare(struct module *m, const struct sw_manifest *manifest, const struct sw_kind *kind,
                   struct sw_err *err)
{
    struct sw_groups groups;
    sw_facts_groups(m->facts, NULL, NULL, &groups);
    const struct sw_group *group = groups.n ? groups.items[0] : NULL;
    struct sw_hook_env env = { .resource = m->r.doc,
                               .ns = resource_namespace(&m->r),
                               .namespaced = kind->namespaced,
                               .from_crds = manifest->from_crds,
                               .group = group,
                               .selector = group ? sw_facts_selector(m->facts, group) : NULL,
                               .values = m->values };
    m->doc = sw_json_copy(manifest->doc);
    int rc = sw_hooks_apply(m->doc, &env, err);
    json_object_put(env.selector);
    sw_groups_done(&groups);
    sw_json_set_str(m->doc, "true", "metadata", "labels", MODULE_OWNED, NULL);
    return rc < 0 ? rc : sw_gate_new(m->doc, false, &m->gate, err);
}

static void on_manifest_kind(int code, const struct sw_kind *kind, const struct sw_err *kind_err,
                             void *arg)
{
    struct module *m = arg;
    SW_ERR(err);
    m->req = NULL;
    if (code < 0) {
        fail(m, sw_err_text(kind_err));
        return;
    }
    const struct sw_manifest *manifest = sw_rendered_manifest(m->rendered, m->at_manifest);
    if (prepare(m, manifest, kind, &err) < 0) {
        fail(m, sw_err_text(&err));
        return;
    }
    const char *ns = sw_obj_namespace(m->doc);
    m->req = sw_kube_apply(m->r.c->kube, kind, *ns ? ns : NULL, sw_obj_name(m->doc), m->doc,
                           &(struct sw_request_opts){ .retries = 2, .force = true }, on_applied, m);
}

static void next_manifest(struct module *m)
{
    if (m->at_manifest >= sw_rendered_n_manifests(m->rendered)) {
        const struct sw_recipe_state *state = sw_plan_state(m->r.plan, m->at_state++);
        struct json_object *list = sw_json_need_list(version_of(m), "reconciledTemplates", NULL);
        for (size_t i = 0; i < state->n_templates; i++)
            (void)json_object_array_add(list, json_object_new_string(state->templates[i]));
        next_state(m);
        return;
    }
    struct json_object *doc = sw_rendered_manifest(m->rendered, m->at_manifest)->doc;
    m->req = sw_kube_kind(m->r.c->kube, sw_obj_api_version(doc), sw_obj_kind(doc), on_manifest_kind,
                          m);
}

static void next_state(struct module *m)
{
    SW_ERR(err);
    sw_rendered_free(SW_TAKE(m->rendered));
    m->at_manifest = 0;
    if (m->at_state >= sw_plan_n_states(m->r.plan)) {
        sw_json_set(version_of(m), json_object_new_boolean(true), "complete", NULL);
        write_status(m);
        m->at_entry++;
        next_entry(m);
        return;
    }
    struct sw_render_env env = render_env(&m->r, m->values, NULL);
    env.lookup = NULL;
    if (sw_recipe_render(m->r.plan, &env, m->at_state, &m->rendered, &err) < 0)
        fail(m, sw_err_text(&err));
    else
        next_manifest(m);
}

/* ---- one version -------------------------------------------------------------------------------
 */

/* The run-time values of modules are named a little otherwise than those of resources. */
static void make_values(struct module *m, const struct sw_payload *p)
{
    struct sw_groups groups;
    sw_facts_groups(m->facts, NULL, NULL, &groups);
    m->values = sw_facts_values(m->facts, &(struct sw_facts_ask){ .groups = &groups });
    sw_groups_done(&groups);
    sw_json_set_str(m->values, p->rhel_version, "operatingSystem", NULL);
    sw_json_set_str(m->values, p->rt_kernel, "rtKernelFullVersion", NULL);
    sw_json_set_str(m->values, p->version, "openShiftVersion", NULL);
    struct json_object *doc = sw_json_copy(m->r.doc);
    (void)sw_json_del(doc, "status", NULL);
    (void)sw_json_del(doc, "metadata", "resourceVersion", NULL);
    (void)sw_json_del(doc, "metadata", "managedFields", NULL);
    sw_json_set(m->values, doc, "specialResourceModule", NULL);
}

static int make_plan(struct module *m, struct sw_err *err)
{
    SW_AUTO(sw_values) *values = sw_values_new();
    struct json_object *set = sw_json_find(m->r.doc, "spec", "set", NULL);
    int rc = set ? sw_values_add_json(values, set, err) : 0;
    struct sw_render_env env = render_env(&m->r, m->values, NULL);
    env.lookup = NULL;
    return rc < 0 ? rc : sw_recipe_plan(m->r.recipe, values, &env, &m->r.plan, err);
}

static void start_version(struct module *m)
{
    SW_ERR(err);
    struct json_object *info = sw_json_get(m->known, entry_of(m));
    struct sw_payload p = { .version = sw_json_str(info, "", "version", NULL),
                            .os_version = sw_json_str(info, "", "os", NULL),
                            .toolkit_image = sw_json_str(info, "", "toolkit", NULL),
                            .kernel = sw_json_str(info, "", "kernel", NULL),
                            .rt_kernel = sw_json_str(info, "", "rtKernel", NULL),
                            .rhel_version = sw_json_str(info, "", "rhel", NULL) };
    sw_facts_free(m->facts);
    json_object_put(SW_TAKE(m->values));
    sw_plan_free(SW_TAKE(m->r.plan));
    m->facts = sw_payload_facts(&p, NULL, NULL, NULL);
    make_values(m, &p);
    struct json_object *version = version_of(m);
    sw_json_set(version, json_object_new_array(), "reconciledTemplates", NULL);
    sw_json_set(version, json_object_new_boolean(false), "complete", NULL);
    m->at_state = 0;
    if (make_plan(m, &err) < 0)
        fail(m, sw_err_text(&err));
    else
        next_state(m);
}

static void on_payload(int code, const char *words, const struct sw_payload *p, void *arg)
{
    struct module *m = arg;
    struct sw_payload_look *look = SW_TAKE(m->look);
    if (code == 0) {
        struct json_object *info = json_object_new_object();
        sw_json_set_str(info, p->version, "version", NULL);
        sw_json_set_str(info, p->os_version, "os", NULL);
        sw_json_set_str(info, p->toolkit_image, "toolkit", NULL);
        sw_json_set_str(info, p->kernel, "kernel", NULL);
        sw_json_set_str(info, p->rt_kernel, "rtKernel", NULL);
        sw_json_set_str(info, p->rhel_version, "rhel", NULL);
        (void)json_object_object_add(m->known, entry_of(m), info);
    }
    SW_AUTO_CHARS *why = code < 0 ? sw_printf("%s: %s", entry_of(m), words) : NULL;
    sw_payload_close(look);
    if (code < 0)
        fail(m, why);
    else
        start_version(m);
}

/* ---- from a version to its release image --------------------------------------------------------
 */

static const char *const channels[] = { "stable", "fast", "candidate" };

static int on_graph_data(int status SW_UNUSED, const char *bytes, size_t len,
                         struct sw_err *err SW_UNUSED, void *arg)
{
    struct module *m = arg;
    m->body = sw_realloc(m->body, m->body_len + len + 1, 1);
    memcpy(m->body + m->body_len, bytes, len);
    m->body_len += len;
    return 0;
}

static void ask_graph(struct module *m);

static void on_graph(const struct sw_http_result *r, void *arg)
{
    struct module *m = arg;
    SW_AUTO_CHARS *body = SW_TAKE(m->body);
    size_t len = m->body_len;
    SW_AUTO_JSON *doc = NULL;
    m->transfer = NULL;
    m->body_len = 0;
    if (r->code < 0 || r->http_status >= 500) {
        SW_AUTO_CHARS *why = sw_printf(
            "the release image of version %s cannot be asked for: %s (HTTP %d)", entry_of(m),
            r->code < 0 ? sw_err_text(r->err) : r->url, r->http_status);
        fail(m, why);
        return;
    }
    if (r->http_status == 200)
        (void)!sw_json_parse(body ? body : "", len, NULL, &doc, NULL);
    struct json_object *node = sw_json_find_by(sw_json_get(doc, "nodes"), "version", entry_of(m));
    const char *image = sw_json_str(node, NULL, "payload", NULL);
    if (image) {
        m->look = sw_payload_open(m->r.c->registries, image, NULL, on_payload, m);
    } else if (++m->channel < SW_COUNT(channels)) {
        ask_graph(m);
    } else {
        SW_AUTO_CHARS *why = sw_printf("version %s is in none of the channels stable, fast and "
                                       "candidate",
                                       entry_of(m));
        fail(m, why);
    }
}

static void ask_graph(struct module *m)
{
    const char *base = m->r.c->opts.graph_url ? m->r.c->opts.graph_url
                                              : getenv("SLIPWAY_UPGRADE_GRAPH_URL");
    const char *version = entry_of(m), *dot = strchr(version, '.');
    int minor = dot ? (int)(dot + 1 - version + (int)strcspn(dot + 1, ".")) : (int)strlen(version);
    SW_AUTO_CHARS *url = sw_printf("%s?arch=amd64&channel=%s-%.*s", base && *base ? base : GRAPH,
                                   channels[m->channel], minor, version);
    static const char *const headers[] = { "Accept: application/json", NULL };
    m->transfer = sw_http_start(m->r.c->modules->http,
                                &(struct sw_http_spec){ .method = "GET",
                                                        .url = url,
                                                        .headers = headers,
                                                        .answer_ms = AGAIN_MS,
                                                        .idle_ms = AGAIN_MS,
                                                        .max_bytes = MAX_GRAPH,
                                                        .max_redirects = 3,
                                                        .on_data = on_graph_data,
                                                        .on_done = on_graph,
                                                        .arg = m });
}

static bool is_version(const char *entry)
{
    struct sw_semver v;
    return *entry >= '0' && *entry <= '9' && sw_semver_parse(entry, strlen(entry), &v, NULL) == 0;
}

static void next_entry(struct module *m)
{
    if (m->at_entry >= sw_json_len(m->entries)) {
        free(SW_TAKE(m->trouble));
        write_status(m);
        stop_round(m);
        return;
    }
    const char *entry = entry_of(m);
    m->channel = 0;
    if (sw_json_get(m->known, entry))
        start_version(m);
    else if (is_version(entry))
        ask_graph(m);
    else
        m->look = sw_payload_open(m->r.c->registries, entry, NULL, on_payload, m);
}

/* ---- what is watched ---------------------------------------------------------------------------
 */

/* "$.a.b" and "{.a.b}" are ".a.b". */
static int find_values(const char *path, struct json_object *doc, struct sw_json_list *out,
                       struct sw_err *err)
{
    SW_AUTO(sw_jsonpath) *compiled = NULL;
    int rc = sw_jsonpath_compile(*path == '$' ? path + 1 : path, &compiled, err);
    return rc < 0 ? rc : sw_jsonpath_find(compiled, doc, out, err);
}

/* Does the object satisfy spec.watch[].selector? */
static int selects(const struct eye *e, bool *out, struct sw_err *err)
{
    struct json_object *selector = sw_json_get(e->spec, "selector");
    *out = true;
    for (size_t i = 0; i < sw_json_len(selector); i++) {
        struct json_object *s = sw_json_at(selector, i);
        struct sw_json_list found = { 0 };
        int rc = find_values(sw_json_str(s, "", "path", NULL), e->object, &found, err);
        if (rc < 0)
            return rc;
        bool has = false;
        for (size_t k = 0; k < found.n_values; k++)
            has |= sw_streq(json_object_get_string(found.values[k]),
                            sw_json_str(s, "", "value", NULL));
        sw_json_list_done(&found);
        *out &= has != sw_json_bool(s, false, "exclude", NULL);
    }
    return 0;
}

static void add_entry(struct json_object *entries, const char *text)
{
    for (size_t i = 0; i < sw_json_len(entries); i++)
        if (sw_streq(sw_json_str(sw_json_at(entries, i), "", NULL), text))
            return;
    if (*text && sw_json_len(entries) < MAX_ENTRIES)
        (void)json_object_array_add(entries, json_object_new_string(text));
}

static int collect(struct module *m, struct sw_err *err)
{
    for (struct eye *e = m->eyes; e; e = e->next) {
        struct sw_json_list found = { 0 };
        bool selected;
        int rc = e->object ? selects(e, &selected, err) : 0;
        if (rc < 0)
            return sw_err_wrap(err, rc, "spec.watch: selector");
        if (!e->object || !selected)
            continue;
        rc = find_values(sw_json_str(e->spec, "", "path", NULL), e->object, &found, err);
        if (rc < 0)
            return sw_err_wrap(err, rc, "spec.watch: path");
        for (size_t i = 0; i < found.n_values; i++)
            add_entry(m->entries, json_object_is_type(found.values[i], json_type_string)
                                      ? json_object_get_string(found.values[i])
                                      : "");
        sw_json_list_done(&found);
    }
    return 0;
}

static void drop_vanished(struct module *m)
{
    struct json_object *kept = json_object_new_object();
    for (size_t i = 0; i < sw_json_len(m->entries); i++) {
        const char *entry = sw_json_str(sw_json_at(m->entries, i), "", NULL);
        const char *image = sw_json_str(sw_json_get(m->known, entry), "", "toolkit", NULL);
        struct json_object *version = sw_json_get(m->versions, image);
        if (version)
            (void)json_object_object_add(kept, image, json_object_get(version));
    }
    json_object_put(m->versions);
    m->versions = kept;
}

static void on_source(int code, struct sw_recipe *recipe, const char *words, void *arg)
{
    struct module *m = arg;
    struct source *source = SW_TAKE(m->source);
    SW_AUTO_CHARS *why = code < 0 ? sw_strdup(words) : NULL;
    source_free(source);
    if (code < 0) {
        fail(m, why);
        return;
    }
    sw_recipe_free(m->r.recipe);
    m->r.recipe = recipe;
    free(m->r.recipe_key);
    m->r.recipe_key = source_key(&m->r);
    next_entry(m);
}

static void begin(void *arg)
{
    struct module *m = arg;
    SW_ERR(err);
    stop_round(m);
    m->entries = json_object_new_array();
    m->at_entry = 0;
    if (collect(m, &err) < 0) {
        fail(m, sw_err_text(&err));
        return;
    }
    drop_vanished(m);
    SW_AUTO_CHARS *key = source_key(&m->r);
    if (m->r.recipe && sw_streq(key, m->r.recipe_key))
        next_entry(m);
    else
        source_load(&m->r, &m->source, on_source, m);
}

static void on_eye(const struct sw_watch_event *w, void *arg)
{
    struct eye *e = arg;
    if (w->type == SW_WATCH_ADDED || w->type == SW_WATCH_MODIFIED) {
        json_object_put(e->object);
        e->object = json_object_get(w->object);
        begin_soon(e->m, SETTLE_MS);
    } else if (w->type == SW_WATCH_DELETED) {
        json_object_put(SW_TAKE(e->object));
        begin_soon(e->m, SETTLE_MS);
    }
}

static void on_eye_kind(int code, const struct sw_kind *kind, const struct sw_err *err, void *arg)
{
    struct eye *e = arg;
    e->req = NULL;
    if (code < 0) {
        fail(e->m, sw_err_text(err));
        return;
    }
    const char *ns = sw_json_str(e->spec, NULL, "namespace", NULL);
    e->watch = sw_kube_watch_open(
        e->m->r.c->kube, kind,
        &(struct sw_watch_opts){ .ns = kind->namespaced ? ns : NULL,
                                 .name = sw_json_str(e->spec, "", "name", NULL) },
        on_eye, e);
}

static void open_eyes(struct module *m)
{
    struct json_object *list = sw_json_find(m->r.doc, "spec", "watch", NULL);
    close_eyes(m);
    for (size_t i = sw_json_len(list); i-- > 0;) {
        struct eye *e = sw_zalloc(1, sizeof *e);
        *e = (struct eye){ .m = m, .next = m->eyes, .spec = json_object_get(sw_json_at(list, i)) };
        m->eyes = e;
        e->req = sw_kube_kind(m->r.c->kube, sw_json_str(e->spec, "", "apiVersion", NULL),
                              sw_json_str(e->spec, "", "kind", NULL), on_eye_kind, e);
    }
}

/* ---- the modules -------------------------------------------------------------------------------
 */

static void put(struct sw_controller *c, const struct sw_watch_event *w)
{
    struct module *m = c->modules->first;
    while (m && !sw_streq(m->r.name, w->name))
        m = m->next;
    int64_t generation = sw_json_int(w->object, 0, "metadata", "generation", NULL);
    if (m && m->generation == generation)
        return;
    if (!m) {
        m = sw_zalloc(1, sizeof *m);
        *m = (struct module){ .r = { .c = c, .name = sw_strdup(w->name) },
                              .next = c->modules->first,
                              .known = json_object_new_object(),
                              .versions = json_object_new_object() };
        m->timer = sw_timer_new(c->loop, begin, m);
        m->step = sw_timer_new(c->loop, on_look_again, m);
        m->written = json_object_new_object();
        sw_json_set(m->written, sw_json_copy(sw_json_find(w->object, "status", "versions", NULL)),
                    "versions", NULL);
        c->modules->first = m;
    }
    m->generation = generation;
    json_object_put(m->r.doc);
    m->r.doc = json_object_get(w->object);
    stop_round(m);
    open_eyes(m);
    begin_soon(m, SETTLE_MS);
}

static void drop(struct sw_controller *c, const char *name)
{
    for (struct module **at = &c->modules->first; *at; at = &(*at)->next)
        if (sw_streq((*at)->r.name, name)) {
            struct module *m = *at;
            *at = m->next;
            module_free(m);
            return;
        }
}

static void on_watch(const struct sw_watch_event *w, void *arg)
{
    struct sw_controller *c = arg;
    if (w->type == SW_WATCH_ADDED || w->type == SW_WATCH_MODIFIED)
        put(c, w);
    else if (w->type == SW_WATCH_DELETED)
        drop(c, w->name);
}

void modules_open(struct sw_controller *c)
{
    const struct sw_kind *kind = sw_kube_kind_find(c->kube, SW_GROUP_VERSION, MODULE_KIND);
    if (!c->registries || c->only || !kind)
        return;
    if (!c->modules) {
        c->modules = sw_zalloc(1, sizeof *c->modules);
        c->modules->http = sw_http_new(c->loop, &(struct sw_http_opts){ 0 });
    }
    if (!c->modules->watch)
        c->modules->watch = sw_kube_watch_open(c->kube, kind, NULL, on_watch, c);
}

void modules_close(struct sw_controller *c)
{
    struct modules *all = c->modules;
    if (!all)
        return;
    sw_kube_watch_close(all->watch);
    for (struct module *m = all->first, *next; m; m = next) {
        next = m->next;
        module_free(m);
    }
    sw_http_free(all->http);
    free(SW_TAKE(c->modules));
}
