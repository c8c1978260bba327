/* One version after another of a SpecialResourceModule: what it is, by the update graph and its
 * release image; its values; its plan. */
#include "operator/controller/modules/module.h"

#include "operator/manifests/module_versions.h"
#include "operator/registries/upgrade_graph.h"

const char *module_entry(const struct module *m)
{
    return sw_json_str(sw_json_at(m->entries, m->at_entry), "", NULL);
}

struct json_object *module_version(struct module *m)
{
    const char *image = sw_json_str(sw_json_get(m->known, module_entry(m)), "", "toolkit", NULL);
    return sw_json_need_map(m->versions, image, NULL);
}

/* ---- one version -------------------------------------------------------------------------------
 */

static void plan_version(struct module *m)
{
    SW_ERR(err);
    struct json_object *set = sw_json_find(m->seen, "spec", "set", NULL);
    struct sw_render_env env = core_render_env(m->c, m->name, module_namespace(m), m->values);
    int rc = sw_renderer_plan(m->recipe, module_wait(m, plan_version), set, &env, NULL, false,
                              &m->plan, &err);
    if (rc == SW_PENDING)
        return;
    sw_render_wait_free(SW_TAKE(m->wait));
    if (rc < 0)
        module_fail(m, sw_err_text(&err));
    else
        module_next_state(m);
}

static void start_version(struct module *m)
{
    struct json_object *info = sw_json_get(m->known, module_entry(m));
    struct sw_release_image p = { .version = sw_json_str(info, "", "version", NULL),
                                  .os_version = sw_json_str(info, "", "os", NULL),
                                  .toolkit_image = sw_json_str(info, "", "toolkit", NULL),
                                  .kernel = sw_json_str(info, "", "kernel", NULL),
                                  .rt_kernel = sw_json_str(info, "", "rtKernel", NULL),
                                  .rhel_version = sw_json_str(info, "", "rhel", NULL) };
    sw_facts_free(m->facts);
    json_object_put(SW_TAKE(m->values));
    m->plan = NULL;
    m->facts = sw_release_image_facts(&p, NULL, NULL, NULL);
    m->values = sw_release_image_module_values(&p, m->facts, m->seen);
    struct json_object *version = module_version(m);
    sw_json_set(version, json_object_new_array(), "reconciledTemplates", NULL);
    sw_json_set(version, json_object_new_boolean(false), "complete", NULL);
    m->at_state = 0;
    plan_version(m);
}

static void on_payload(int code, const char *message, const struct sw_release_image *p, void *arg)
{
    struct module *m = arg;
    struct sw_release_image_read *read = SW_TAKE(m->read);
    if (code == 0) {
        struct json_object *info = json_object_new_object();
        sw_json_set_str(info, p->version, "version", NULL);
        sw_json_set_str(info, p->os_version, "os", NULL);
        sw_json_set_str(info, p->toolkit_image, "toolkit", NULL);
        sw_json_set_str(info, p->kernel, "kernel", NULL);
        sw_json_set_str(info, p->rt_kernel, "rtKernel", NULL);
        sw_json_set_str(info, p->rhel_version, "rhel", NULL);
        sw_json_set(m->known, info, module_entry(m), NULL);
    }
    SW_AUTO_CHARS *why = code < 0 ? sw_printf("%s: %s", module_entry(m), message) : NULL;
    sw_release_image_close(read);
    if (code < 0)
        module_fail(m, why);
    else
        start_version(m);
}

/* ---- from a version to its release image -------------------------------------------------------
 */

static void on_graph(int code, const char *message, const char *image, void *arg)
{
    struct module *m = arg;
    struct sw_upgrade_graph *graph = SW_TAKE(m->graph);
    if (code < 0)
        module_fail(m, message);
    else
        m->read = sw_release_image_open(m->c->registries, image, NULL, on_payload, m);
    sw_upgrade_graph_close(graph);
}

void module_end_round(struct module *m)
{
    if (module_delete_gone(m))
        return;
    free(SW_TAKE(m->trouble));
    module_write_status(m);
    module_stop_round(m);
}

void module_next_entry(struct module *m)
{
    if (m->at_entry >= sw_json_len(m->entries)) {
        module_end_round(m);
        return;
    }
    const char *entry = module_entry(m);
    if (sw_json_get(m->known, entry))
        start_version(m);
    else if (sw_module_is_version(entry))
        m->graph = sw_upgrade_graph_open(modules_of(m->c)->http, m->c->opts.graph_url, entry,
                                         on_graph, m);
    else
        m->read = sw_release_image_open(m->c->registries, entry, NULL, on_payload, m);
}
