/* One version after another of a SpecialResourceModule: what it is, by the update graph and its
 * release image; its values; its plan. */
#include <stdlib.h>
#include <string.h>

#include "data/text/semver.h"
#include "operator/controller/modules/module.h"

#define GRAPH "https://api.openshift.com/api/upgrades_info/v1/graph"

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

/* Some run-time values of modules have other names than those of resources. */
static void make_values(struct module *m, const struct sw_release_image *p)
{
    struct sw_groups groups;
    sw_facts_groups(m->facts, NULL, NULL, &groups);
    m->values = sw_facts_values(m->facts, &(struct sw_facts_ask){ .groups = &groups });
    sw_groups_done(&groups);
    sw_json_set_str(m->values, p->rhel_version, "operatingSystem", NULL);
    sw_json_set_str(m->values, p->rt_kernel, "rtKernelFullVersion", NULL);
    sw_json_set_str(m->values, p->version, "openShiftVersion", NULL);
    struct json_object *doc = sw_json_copy(m->seen);
    (void)sw_json_del(doc, "status", NULL);
    (void)sw_json_del(doc, "metadata", "resourceVersion", NULL);
    (void)sw_json_del(doc, "metadata", "managedFields", NULL);
    sw_json_set(m->values, doc, "specialResourceModule", NULL);
}

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
    make_values(m, &p);
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
            "the release image of version %s cannot be asked for: %s (HTTP %d)", module_entry(m),
            r->code < 0 ? sw_err_text(r->err) : r->url, r->http_status);
        module_fail(m, why);
        return;
    }
    if (r->http_status == 200)
        (void)!sw_json_parse(body ? body : "", len, NULL, &doc, NULL);
    struct json_object *node = sw_json_find_by(sw_json_get(doc, "nodes"), "version",
                                               module_entry(m));
    const char *image = sw_json_str(node, NULL, "payload", NULL);
    if (image) {
        m->read = sw_release_image_open(m->c->registries, image, NULL, on_payload, m);
    } else if (++m->channel < SW_COUNT(channels)) {
        ask_graph(m);
    } else {
        SW_AUTO_CHARS *why = sw_printf("version %s is in none of the channels stable, fast and "
                                       "candidate",
                                       module_entry(m));
        module_fail(m, why);
    }
}

static void ask_graph(struct module *m)
{
    const char *base = m->c->opts.graph_url ? m->c->opts.graph_url
                                            : getenv("SLIPWAY_UPGRADE_GRAPH_URL");
    const char *version = module_entry(m), *dot = strchr(version, '.');
    int minor = dot ? (int)(dot + 1 - version + (int)strcspn(dot + 1, ".")) : (int)strlen(version);
    SW_AUTO_CHARS *url = sw_printf("%s?arch=amd64&channel=%s-%.*s", base && *base ? base : GRAPH,
                                   channels[m->channel], minor, version);
    static const char *const headers[] = { "Accept: application/json", NULL };
    m->transfer = sw_http_start(modules_of(m->c)->http,
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
    struct sw_semver v;
    bool is_version = *entry >= '0' && *entry <= '9' &&
                      sw_semver_parse(entry, strlen(entry), &v, NULL) == 0;
    m->channel = 0;
    if (sw_json_get(m->known, entry))
        start_version(m);
    else if (is_version)
        ask_graph(m);
    else
        m->read = sw_release_image_open(m->c->registries, entry, NULL, on_payload, m);
}
