/* SpecialResourceModules: a chart is applied once for each OpenShift version that is found at the
 * watched paths, one after another. A change of anything begins a new round; applying objects that
 * have not changed has no effect. */
#include "operator/controller/modules/module.h"

#include <stdlib.h>

enum { MAX_TREE = 12 << 20 }; /* of a module with its status */

/* ---- status ------------------------------------------------------------------------------------
 */

static void on_status(const struct sw_kube_answer *a, void *arg)
{
    struct module *m = arg;
    m->status_req = NULL;
    if (fault_is_news(&m->status_fault, a->code < 0 ? sw_err_text(a->err) : NULL))
        sw_log(SW_LOG_WARN, "module status not written", "module", m->name, "error",
               m->status_fault, NULL);
}

/* status.versions as a merge patch: with null for each version, and each list, that is gone. */
static struct json_object *versions_patch(const struct module *m)
{
    struct json_object *patch = sw_json_copy(m->versions),
                       *old = sw_json_get(m->written, "versions");
    if (old) {
        json_object_object_foreach(old, image, version)
        {
            if (!json_object_object_get_ex(patch, image, NULL))
                (void)json_object_object_add(patch, image, NULL);
            else if (sw_json_get(version, "reconciledTemplates") &&
                     !sw_json_get(sw_json_get(patch, image), "reconciledTemplates"))
                sw_json_set(patch, NULL, image, "reconciledTemplates", NULL);
        }
    }
    return patch;
}

void module_write_status(struct module *m)
{
    const struct sw_kind *kind = sw_kube_kind_find(m->c->kube, SW_GROUP_VERSION, MODULE_KIND);
    SW_AUTO_JSON *state = json_object_new_object();
    SW_AUTO_JSON *patch = json_object_new_object();
    sw_json_set(state, sw_json_copy(m->versions), "versions", NULL);
    sw_json_set(state, sw_json_copy(m->inventory), "inventory", NULL);
    if (m->trouble)
        sw_json_set_str(state, m->trouble, "message", NULL);
    if (!kind || sw_json_equal(state, m->written))
        return;
    sw_json_set(patch, versions_patch(m), "status", "versions", NULL);
    sw_json_set(patch, sw_json_copy(m->inventory), "status", "inventory", NULL);
    sw_json_set(patch, m->trouble ? json_object_new_string(m->trouble) : NULL, "status", "message",
                NULL);
    json_object_put(m->written);
    m->written = SW_TAKE(state);
    sw_kube_cancel(m->status_req);
    m->status_req = sw_kube_patch(m->c->kube, kind, NULL, m->name, SW_PATCH_MERGE, patch,
                                  REQUEST_OWN(KINDS, .subresource = "status", .retries = 4),
                                  on_status, m);
}

void module_fail(struct module *m, const char *message)
{
    if (!sw_streq(m->trouble, message)) {
        sw_log(SW_LOG_WARN, "module", "module", m->name, "error", message, NULL);
        sw_text_set(&m->trouble, message);
    }
    module_write_status(m);
    module_stop_round(m);
    module_begin_soon(m, AGAIN_MS);
}

void module_refused(struct module *m, int code, const char *message)
{
    SW_AUTO_CHARS *text = NULL;
    if (m->account && !*m->account)
        text = sw_printf("spec.serviceAccountName, spec.namespace: no account has these names");
    else if (code == SW_FORBIDDEN && m->account)
        text = sw_printf("%s; as %s, which needs the right", message, m->account);
    module_fail(m, text ? text : message);
}

const char *module_namespace(const struct module *m)
{
    const char *ns = sw_json_str(m->seen, "", "spec", "namespace", NULL);
    return *ns ? ns : m->name;
}

/* ---- life --------------------------------------------------------------------------------------
 */

void module_stop_round(struct module *m)
{
    source_free(SW_TAKE(m->source));
    sw_upgrade_graph_close(SW_TAKE(m->graph));
    sw_release_image_close(SW_TAKE(m->read));
    sw_kube_cancel(SW_TAKE(m->req));
    module_stop_waiting(m);
    sw_rendered_free(SW_TAKE(m->rendered));
    sw_render_wait_free(SW_TAKE(m->wait));
    m->plan = NULL;
    sw_facts_free(SW_TAKE(m->facts));
    json_object_put(SW_TAKE(m->values));
    json_object_put(SW_TAKE(m->doc));
    sw_gate_free(SW_TAKE(m->gate));
    json_object_put(SW_TAKE(m->entries));
    json_object_put(SW_TAKE(m->made));
}

static void module_free(struct module *m)
{
    module_stop_round(m);
    module_close_watches(m);
    sw_kube_cancel(m->status_req);
    sw_timer_free(m->timer);
    sw_renderer_free(m->recipe);
    json_object_put(m->seen);
    json_object_put(m->known);
    json_object_put(m->versions);
    json_object_put(m->inventory);
    json_object_put(m->written);
    free(m->trouble);
    free(m->status_fault);
    free(m->recipe_key);
    free(m->account);
    free(m->name);
    free(m);
}

void module_begin_soon(struct module *m, int64_t in_ms)
{
    sw_timer_set(m->timer, in_ms);
}

static void on_answered(void *arg)
{
    struct module *m = arg;
    m->go_on(m);
}

struct sw_render_wait *module_wait(struct module *m, void (*go_on)(struct module *m))
{
    if (!m->wait)
        m->wait = sw_render_wait_new(on_answered, m);
    m->go_on = go_on;
    return m->wait;
}

static void load(struct module *m)
{
    const struct sw_recipe_view *view;
    SW_ERR(err);
    int rc = sw_renderer_load(m->recipe, module_wait(m, load), NULL, &view, &err);
    if (rc == SW_PENDING)
        return;
    sw_render_wait_free(SW_TAKE(m->wait));
    if (rc < 0) {
        sw_renderer_free(SW_TAKE(m->recipe));
        module_fail(m, sw_err_text(&err));
        return;
    }
    free(m->recipe_key);
    m->recipe_key = source_key(m->seen);
    module_next_entry(m);
}

static void on_source(int code, struct sw_renderer *recipe, const char *message, void *arg)
{
    struct module *m = arg;
    struct source *source = SW_TAKE(m->source);
    SW_AUTO_CHARS *why = code < 0 ? sw_strdup(message) : NULL;
    source_free(source);
    if (code < 0) {
        module_fail(m, why);
        return;
    }
    sw_renderer_free(m->recipe);
    free(SW_TAKE(m->recipe_key)); /* until it is loaded */
    m->recipe = recipe;
    load(m);
}

static void open_recipe(struct module *m)
{
    SW_AUTO_CHARS *key = source_key(m->seen);
    if (m->recipe && sw_streq(key, m->recipe_key))
        module_next_entry(m);
    else
        source_load(m->c->sources, m->seen, m->account, &m->source, on_source, m);
}

static void begin(void *arg)
{
    struct module *m = arg;
    SW_ERR(err);
    module_stop_round(m);
    m->entries = json_object_new_array();
    m->made = json_object_new_array();
    m->at_entry = 0;
    int rc = module_collect(m, &err);
    if (rc < 0) {
        module_refused(m, rc, sw_err_text(&err));
        return;
    }
    struct json_object *kept = json_object_new_object(); /* versions that are still there */
    for (size_t i = 0; i < sw_json_len(m->entries); i++) {
        const char *entry = sw_json_str(sw_json_at(m->entries, i), "", NULL);
        const char *image = sw_json_str(sw_json_get(m->known, entry), "", "toolkit", NULL);
        struct json_object *version = sw_json_get(m->versions, image);
        if (version)
            sw_json_set(kept, json_object_get(version), image, NULL);
    }
    json_object_put(m->versions);
    m->versions = kept;
    module_need_namespace(m, open_recipe);
}

/* ---- the modules -------------------------------------------------------------------------------
 */

/* Once: it has the operator's rights, where SW_RIGHTS_LEGACY lets it. */
static void report_legacy(struct module *m)
{
    static const char message[] = "it names no account and has the operator's own rights "
                                  "(--legacy-rights), as has whoever may write it: set "
                                  "spec.serviceAccountName";
    if (m->c->opts.rights != SW_RIGHTS_LEGACY || m->account || m->legacy_told)
        return;
    m->legacy_told = true;
    sw_log(SW_LOG_WARN, "LegacyRights", "module", m->name, "message", message, NULL);
    sw_kube_event_send(
        m->c->kube,
        &(struct sw_kube_event){
            .ns = "default",
            .of = { SW_GROUP_VERSION, MODULE_KIND, .name = m->name, .uid = sw_obj_uid(m->seen) },
            .reason = "LegacyRights",
            .message = message,
            .warning = true,
            .component = "slipway",
            .at_ms = sw_loop_wall_ms(m->c->loop) },
        0);
}

/* What the operator before this one has written. */
static void read_status(struct module *m, struct json_object *status)
{
    struct json_object *inventory = sw_json_get(status, "inventory");
    bool is_list = json_object_is_type(inventory, json_type_array);
    m->inventory = is_list ? sw_json_copy(inventory) : json_object_new_array();
    m->written = json_object_new_object();
    sw_json_set(m->written, sw_json_copy(sw_json_get(status, "versions")), "versions", NULL);
    sw_json_set(m->written, sw_json_copy(m->inventory), "inventory", NULL);
    if (sw_json_get(status, "message"))
        sw_json_set(m->written, sw_json_copy(sw_json_get(status, "message")), "message", NULL);
}

/* @m: the module of that name; NULL: it is new. */
static void put(struct sw_controller *c, struct module *m, const struct sw_watch_event *w)
{
    int64_t generation = sw_json_int(w->object, 0, "metadata", "generation", NULL);
    if (m && m->generation == generation)
        return;
    if (!m) {
        m = sw_zalloc(1, sizeof *m);
        *m = (struct module){ .c = c,
                              .name = sw_strdup(w->name),
                              .next = modules_of(c)->first,
                              .known = json_object_new_object(),
                              .versions = json_object_new_object() };
        m->timer = sw_timer_new(c->loop, begin, m);
        read_status(m, sw_json_get(w->object, "status"));
        modules_of(c)->first = m;
    }
    m->generation = generation;
    json_object_put(m->seen);
    m->seen = json_object_get(w->object);
    free(m->account);
    m->account = account_of(c, m->seen, module_namespace(m), m->name);
    report_legacy(m);
    module_stop_round(m);
    module_open_watches(m);
    module_begin_soon(m, SETTLE_MS);
}

static void on_watch(const struct sw_watch_event *w, void *arg)
{
    struct sw_controller *c = arg;
    struct module **at = &modules_of(c)->first;
    while (*at && !sw_streq((*at)->name, w->name))
        at = &(*at)->next;
    struct module *m = *at;
    if (w->name && document_is_too_large(c, MODULE_KIND, "message", w))
        return;
    if (w->type == SW_WATCH_ADDED || w->type == SW_WATCH_MODIFIED) {
        put(c, m, w);
    } else if (w->type == SW_WATCH_DELETED && m) {
        *at = m->next;
        module_free(m);
    }
}

static void start(struct sw_controller *c)
{
    const struct sw_kind *kind = sw_kube_kind_find(c->kube, SW_GROUP_VERSION, MODULE_KIND);
    struct modules *all = modules_of(c);
    if (!c->registries || c->only || !kind)
        return;
    if (!all) {
        all = c->state[CAPABILITY_modules] = sw_zalloc(1, sizeof *all);
        all->http = sw_http_new(c->loop, &(struct sw_http_opts){ 0 });
    }
    if (!all->watch)
        all->watch = sw_kube_watch_open(c->kube, kind, WATCH_OWN(KINDS, .max_tree_bytes = MAX_TREE),
                                        on_watch, c);
}

static void stop(struct sw_controller *c)
{
    struct modules *all = modules_of(c);
    if (!all)
        return;
    sw_kube_watch_close(all->watch);
    for (struct module *m = all->first, *next; m; m = next) {
        next = m->next;
        module_free(m);
    }
    sw_http_free(all->http);
    free(SW_TAKE(c->state[CAPABILITY_modules]));
}

const struct capability capability_modules = {
    .name = "modules",
    .summary = "SpecialResourceModules are carried out",
    .start = start,
    .stop = stop,
};
