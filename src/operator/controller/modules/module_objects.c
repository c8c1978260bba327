/* The objects of one version of a SpecialResourceModule: state by state, each is applied and waited
 * for. */
#include "operator/controller/modules/module.h"

#include <inttypes.h>
#include <stdio.h>

#include "operator/controller/apply/apply.h"
#include "operator/engine/nodes/grace_period.h"
#include "operator/engine/owner.h"

static void next_manifest(struct module *m);

static void manifest_is_done(struct module *m)
{
    module_stop_waiting(m);
    json_object_put(SW_TAKE(m->doc));
    sw_gate_free(SW_TAKE(m->gate));
    m->at_manifest++;
    next_manifest(m);
}

/* ---- waiting -----------------------------------------------------------------------------------
 */

void module_stop_waiting(struct module *m)
{
    sw_kube_watch_close(SW_TAKE(m->awaited));
    sw_kube_watch_close(SW_TAKE(m->build));
    m->build_number = 0;
}

static struct sw_kube_watch *watch(struct module *m, const struct sw_kind *kind, const char *name,
                                   sw_watch_fn *cb)
{
    const char *ns = sw_obj_namespace(m->doc);
    return sw_kube_watch_open(
        m->c->kube, kind, WATCH_BY(m->account, .ns = kind->namespaced ? ns : NULL, .name = name),
        cb, m);
}

static void on_build(const struct sw_watch_event *w, void *arg)
{
    struct module *m = arg;
    if (sw_streq(sw_json_str(w->object, "", "status", "phase", NULL), "Complete"))
        manifest_is_done(m);
}

/* A BuildConfig is ready when its last build is complete. */
static void check_build(struct module *m, struct json_object *config)
{
    const struct sw_kind *kind = sw_kube_kind_find(m->c->kube, sw_obj_api_version(config), "Build");
    int64_t n = sw_json_int(config, 0, "status", "lastVersion", NULL);
    if (!kind || !n || n == m->build_number)
        return;
    SW_AUTO_CHARS *name = sw_printf("%s-%lld", sw_obj_name(config), (long long)n);
    sw_kube_watch_close(m->build);
    m->build = watch(m, kind, name, on_build);
    m->build_number = n;
}

static void on_awaited(const struct sw_watch_event *w, void *arg)
{
    struct module *m = arg;
    if (w->type == SW_WATCH_ERROR && w->code == SW_FORBIDDEN)
        module_refused(m, w->code, w->err ? sw_err_text(w->err) : sw_code_name(w->code));
    if (w->type == SW_WATCH_DELETED)
        module_begin_soon(m, 0);
    if (w->type != SW_WATCH_ADDED && w->type != SW_WATCH_MODIFIED)
        return;
    struct sw_readiness readiness = { 0 };
    sw_gate_judge(m->gate, w->object, &readiness);
    bool ready = readiness.kind == SW_READINESS_READY;
    bool failed = readiness.kind == SW_READINESS_FAILED;
    SW_AUTO_CHARS *message = sw_printf("%s %s: %s", sw_obj_kind(m->doc), sw_obj_name(m->doc),
                                       readiness.message ? readiness.message : "");
    sw_readiness_done(&readiness);
    if (sw_streq(sw_obj_kind(m->doc), "BuildConfig"))
        check_build(m, w->object);
    else if (ready)
        manifest_is_done(m);
    else if (failed)
        module_fail(m, message);
}

/* Wait for m->doc, which is there, if it has to be ready. */
static void await(struct module *m, const struct sw_kind *kind)
{
    if (!m->gate->awaited)
        manifest_is_done(m);
    else
        m->awaited = watch(m, kind, sw_obj_name(m->doc), on_awaited);
}

static void on_applied(const struct sw_kube_answer *a, void *arg)
{
    struct module *m = arg;
    m->req = NULL;
    const struct sw_kind *kind = sw_kube_kind_find(m->c->kube, sw_obj_api_version(m->doc),
                                                   sw_obj_kind(m->doc));
    if (a->code < 0) {
        module_refused(m, a->code, sw_err_text(a->err));
        return;
    }
    module_record(m, m->doc);
    if (kind)
        await(m, kind);
    else
        module_begin_soon(m, 0);
}

/* ---- one manifest after another ----------------------------------------------------------------
 */

static int prepare(struct module *m, const struct sw_manifest *manifest, const struct sw_kind *kind,
                   struct sw_err *err)
{
    struct sw_groups groups;
    sw_facts_groups(m->facts, NULL, NULL, &groups);
    const struct sw_group *group = groups.n ? groups.items[0] : NULL;
    struct sw_hook_env env = { .resource = m->seen,
                               .ns = module_namespace(m),
                               .namespaced = kind->namespaced,
                               .from_crds = manifest->from_crds,
                               .group = group,
                               .selector = group ? sw_facts_selector(m->facts, group) : NULL,
                               .values = m->values };
    m->doc = sw_json_copy(manifest->doc);
    int rc = sw_hooks_apply(m->doc, &env, err);
    json_object_put(env.selector);
    sw_groups_done(&groups);
    return rc < 0 ? rc : sw_gate_new(m->doc, false, &m->gate, err);
}

/* ---- what is there ------------------------------------------------------------------------------
 */

static const char *namespace_of(const struct module *m, const struct sw_kind *kind)
{
    return kind->namespaced ? sw_obj_namespace(m->doc) : NULL;
}

/* Why the module does not write @live, which is there under the name of m->doc; heap. NULL: it is
 * the module's, by owner reference, or the manifest asks to adopt it. */
static char *foreign_why(const struct module *m, struct json_object *live)
{
    const struct sw_owner owner = { .uid = sw_obj_uid(m->seen) };
    return m->gate->adopt ? NULL : sw_owner_foreign(&owner, live);
}

static void on_read(const struct sw_kube_answer *a, void *arg);

static void read_live(struct module *m, const struct sw_kind *kind)
{
    m->req = sw_kube_get(m->c->kube, kind, namespace_of(m, kind), sw_obj_name(m->doc),
                         REQUEST_BY(m->account, .retries = 2), on_read, m);
}

/* m->doc, as it goes over @live (NULL: it is not there). Its hash tells SRO, if that comes back,
 * that somebody else wrote it last. */
static void adapt(struct module *m, struct json_object *live)
{
    struct json_object *kept = sw_template_keep(m->doc, live, m->c->nodes);
    char hash[17];
    size_t len;
    if (kept) {
        json_object_put(m->doc);
        m->doc = kept;
    }
    (void)sw_json_del(m->doc, "metadata", "annotations", SW_SRO_PREFIX "hash", NULL);
    SW_AUTO_CHARS *text = sw_json_text(m->doc, SW_JSON_SORTED, &len);
    (void)snprintf(hash, sizeof hash, "%016" PRIx64, sw_fnv64a(text, len));
    sw_json_set_str(m->doc, hash, "metadata", "annotations", SW_SRO_PREFIX "hash", NULL);
}

/* @force: over the fields of others; what has come since it was read is a conflict. */
static void apply(struct module *m, const struct sw_kind *kind, bool force)
{
    m->req = sw_kube_apply(m->c->kube, kind, namespace_of(m, kind), sw_obj_name(m->doc), m->doc,
                           REQUEST_BY(m->account, .retries = 2, .force = force), on_applied, m);
}

static void on_handed_over(const struct sw_kube_answer *a, void *arg)
{
    struct module *m = arg;
    const struct sw_kind *kind = sw_kube_kind_find(m->c->kube, sw_obj_api_version(m->doc),
                                                   sw_obj_kind(m->doc));
    m->req = NULL;
    if (!kind)
        module_begin_soon(m, 0);
    else if (a->code == SW_CONFLICT)
        read_live(m, kind);
    else if (a->code < 0)
        module_refused(m, a->code, sw_err_text(a->err));
    else
        apply(m, kind, true);
}

static void on_read(const struct sw_kube_answer *a, void *arg)
{
    struct module *m = arg;
    const struct sw_kind *kind = sw_kube_kind_find(m->c->kube, sw_obj_api_version(m->doc),
                                                   sw_obj_kind(m->doc));
    m->req = NULL;
    if (a->code < 0 && a->code != SW_NOTFOUND) {
        module_refused(m, a->code, sw_err_text(a->err));
        return;
    }
    if (!kind) {
        module_begin_soon(m, 0);
        return;
    }
    SW_AUTO_CHARS *why = a->code == 0 ? foreign_why(m, a->object) : NULL;
    if (why && sw_owner_borrows(a->object)) {
        await(m, kind);
        return;
    }
    if (why) {
        SW_AUTO_CHARS *message = sw_printf("%s %s %s: " SW_OWNER_ADVICE, sw_obj_kind(m->doc),
                                           sw_obj_name(m->doc), why);
        module_fail(m, message);
        return;
    }
    SW_AUTO_JSON *fields = a->code == 0 ? inherit_patch(a->object) : NULL;
    adapt(m, a->code == 0 ? a->object : NULL);
    if (fields)
        m->req = sw_kube_patch(m->c->kube, kind, namespace_of(m, kind), sw_obj_name(m->doc),
                               SW_PATCH_JSON, fields, REQUEST_BY(m->account), on_handed_over, m);
    else
        apply(m, kind, a->code == 0);
}

static void on_manifest_kind(int code, const struct sw_kind *kind, const struct sw_err *kind_err,
                             void *arg)
{
    struct module *m = arg;
    SW_ERR(err);
    m->req = NULL;
    if (code < 0) {
        module_fail(m, sw_err_text(kind_err));
        return;
    }
    const struct sw_manifest *manifest = sw_rendered_manifest(m->rendered, m->at_manifest);
    if (prepare(m, manifest, kind, &err) < 0) {
        module_fail(m, sw_err_text(&err));
        return;
    }
    read_live(m, kind);
}

static void next_manifest(struct module *m)
{
    if (m->at_manifest >= sw_rendered_n_manifests(m->rendered)) {
        const struct sw_recipe_state *state = &m->plan->states[m->at_state++];
        struct json_object *list = sw_json_need_list(module_version(m), "reconciledTemplates",
                                                     NULL);
        for (size_t i = 0; i < state->n_templates; i++)
            (void)json_object_array_add(list, json_object_new_string(state->templates[i]));
        module_next_state(m);
        return;
    }
    struct json_object *doc = sw_rendered_manifest(m->rendered, m->at_manifest)->doc;
    m->req = sw_kube_kind(m->c->kube, sw_obj_api_version(doc), sw_obj_kind(doc), on_manifest_kind,
                          m);
}

void module_next_state(struct module *m)
{
    SW_ERR(err);
    sw_rendered_free(SW_TAKE(m->rendered));
    m->at_manifest = 0;
    if (m->at_state >= m->plan->n_states) {
        sw_json_set(module_version(m), json_object_new_boolean(true), "complete", NULL);
        (void)sw_json_del(module_version(m), "reconciledTemplates", NULL); /* as SRO leaves it */
        module_write_status(m);
        m->at_entry++;
        module_next_entry(m);
        return;
    }
    struct sw_render_env env = core_render_env(m->c, m->name, module_namespace(m), m->values);
    int rc = sw_renderer_render(m->recipe, module_wait(m, module_next_state), &env, m->at_state,
                                &m->rendered, &err);
    if (rc == SW_PENDING)
        return;
    sw_render_wait_free(SW_TAKE(m->wait));
    if (rc < 0)
        module_fail(m, sw_err_text(&err));
    else
        next_manifest(m);
}
