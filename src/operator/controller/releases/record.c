/* One record of a release, and the ConfigMap or Secret that it is in.
 * Source: Helm 3's storage drivers (helm.sh/helm/v3/pkg/storage/driver); SRO kept them so. */
#include "operator/controller/releases/releases.h"

#include <inttypes.h>
#include <string.h>

#include "chart/recipe/package/pack.h"
#include "data/text/base64.h"

/* ---- the release -------------------------------------------------------------------------------
 */

static struct json_object *info_of(const struct release_work *w)
{
    char now[21];
    struct resource *r = w->r;
    bool deployed = sw_streq(w->status, "deployed");
    struct json_object *info = json_object_new_object();
    sw_time_rfc3339(sw_loop_wall_ms(r->c->loop), now);
    sw_json_set_str(info, sw_json_str(r->seen, now, "metadata", "creationTimestamp", NULL),
                    "first_deployed", NULL);
    sw_json_set_str(info, now, "last_deployed", NULL);
    sw_json_set_str(info, "", "deleted", NULL);
    sw_json_set_str(info,
                    sw_streq(w->status, "pending-install")   ? "Initial install underway"
                    : sw_streq(w->status, "pending-upgrade") ? "Preparing upgrade"
                    : !deployed                              ? "Release failed"
                    : w->version > 1                         ? "Upgrade complete"
                                                             : "Install complete",
                    "description", NULL);
    sw_json_set_str(info, w->status, "status", NULL);
    return info;
}

static bool is_known_file(const char *name)
{
    static const char *const known[] = { "Chart.yaml", "Chart.lock", "values.yaml",
                                         "values.schema.json" };
    for (size_t i = 0; i < SW_COUNT(known); i++)
        if (sw_streq(name, known[i]))
            return true;
    return sw_starts_with(name, "charts/");
}

static struct json_object *chart_of(struct resource *r)
{
    struct json_object *chart = json_object_new_object(), *templates = json_object_new_array(),
                       *others = json_object_new_array(), *values = NULL;
    struct sw_files files = sw_files_init(NULL);
    SW_ERR(err);
    if (sw_recipe_list_files(r->recipe, &files, &err) < 0)
        sw_log(SW_LOG_DEBUG, "files of the recipe", "error", sw_err_text(&err), NULL);
    for (size_t i = 0; i < files.n; i++) {
        const char *name = files.items[i].name;
        if (sw_streq(name, "values.yaml")) {
            if (sw_yaml_parse(files.items[i].bytes, files.items[i].len,
                              &(struct sw_yaml_opts){ .file = name }, &values, &err) < 0)
                values = NULL; /* the recipe was loaded all the same */
        } else if (!is_known_file(name)) {
            struct json_object *file = json_object_new_object();
            size_t len;
            SW_AUTO_CHARS *text = sw_base64_encode(files.items[i].bytes, files.items[i].len, &len);
            sw_json_set_str(file, name, "name", NULL);
            sw_json_set_str(file, text, "data", NULL);
            (void)json_object_array_add(sw_starts_with(name, "templates/") ? templates : others,
                                        file);
        }
    }
    sw_files_done(&files);
    sw_json_set(chart, sw_json_copy((struct json_object *)sw_recipe_metadata(r->recipe)),
                "metadata", NULL);
    sw_json_set(chart, NULL, "lock", NULL);
    sw_json_set(chart, templates, "templates", NULL);
    sw_json_set(chart, values ? values : json_object_new_object(), "values", NULL);
    sw_json_set(chart, NULL, "schema", NULL);
    sw_json_set(chart, others, "files", NULL);
    return chart;
}

struct bit_name {
    unsigned bit;
    const char *name;
};

static struct json_object *names_of(unsigned bitset, const struct bit_name *names, size_t n)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < n; i++)
        if (bitset & names[i].bit)
            (void)json_object_array_add(list, json_object_new_string(names[i].name));
    return list;
}

static struct json_object *hook_of(const struct release_work *w, const struct sw_rendered_doc *doc,
                                   const struct sw_manifest *m)
{
    static const struct bit_name events[] = { { SW_HOOK_PRE_INSTALL, "pre-install" },
                                              { SW_HOOK_POST_INSTALL, "post-install" },
                                              { SW_HOOK_PRE_DELETE, "pre-delete" },
                                              { SW_HOOK_POST_DELETE, "post-delete" },
                                              { SW_HOOK_PRE_UPGRADE, "pre-upgrade" },
                                              { SW_HOOK_POST_UPGRADE, "post-upgrade" },
                                              { SW_HOOK_PRE_ROLLBACK, "pre-rollback" },
                                              { SW_HOOK_POST_ROLLBACK, "post-rollback" },
                                              { SW_HOOK_TEST, "test" } };
    static const struct bit_name policies[] = {
        { SW_HOOK_DELETE_BEFORE_CREATION, "before-hook-creation" },
        { SW_HOOK_DELETE_SUCCEEDED, "hook-succeeded" },
        { SW_HOOK_DELETE_FAILED, "hook-failed" },
    };
    bool upgrade = releases_of(w->r)->is_upgrade;
    const unsigned now = upgrade ? SW_HOOK_PRE_UPGRADE | SW_HOOK_POST_UPGRADE
                                 : SW_HOOK_PRE_INSTALL | SW_HOOK_POST_INSTALL;
    struct json_object *hook = json_object_new_object();
    SW_AUTO_CHARS *text = sw_strndup(doc->text, doc->len);
    sw_json_set_str(hook, sw_obj_name(m->doc), "name", NULL);
    sw_json_set_str(hook, sw_obj_kind(m->doc), "kind", NULL);
    sw_json_set_str(hook, doc->path, "path", NULL);
    sw_json_set_str(hook, text, "manifest", NULL);
    sw_json_set(hook, names_of(m->hook_events, events, SW_COUNT(events)), "events", NULL);
    sw_json_set(hook, release_run_of(w->r, m->hook_events & now ? m->doc : NULL), "last_run", NULL);
    sw_json_set(hook, json_object_new_int(m->hook_weight), "weight", NULL);
    sw_json_set(hook, names_of(m->hook_policies, policies, SW_COUNT(policies)), "delete_policies",
                NULL);
    return hook;
}

/* Set "manifest", as `helm get manifest` prints it, and "hooks". */
static int add_manifests(struct release_work *w, struct json_object *release, struct sw_err *err)
{
    struct resource *r = w->r;
    SW_AUTO_JSON *values = resource_values(r, NULL);
    struct sw_render_env env = resource_render_env(r, values, w->lookups);
    SW_AUTO(sw_rendered) *rendered = NULL;
    env.no_crds = true;
    int rc = sw_recipe_render(r->plan, &env, SW_ALL_STATES, &rendered, err);
    if (rc < 0)
        return rc;
    struct printbuf *text = printbuf_new();
    struct json_object *hooks = json_object_new_array();
    for (size_t i = 0; i < sw_rendered_n_docs(rendered); i++) {
        const struct sw_rendered_doc *doc = sw_rendered_doc(rendered, i);
        if (!doc->n_manifests)
            continue;
        if (doc->hook_events) {
            (void)json_object_array_add(
                hooks, hook_of(w, doc, sw_rendered_manifest(rendered, doc->first_manifest)));
            continue;
        }
        sprintbuf(text, "---\n# Source: %s\n", doc->path);
        (void)printbuf_memappend(text, doc->text, (int)doc->len);
        (void)printbuf_memappend(text, "\n", 1);
    }
    sw_json_set(release, json_object_new_string_len(text->buf, text->bpos), "manifest", NULL);
    sw_json_set(release, hooks, "hooks", NULL);
    printbuf_free(text);
    return 0;
}

int release_make(struct release_work *w, struct json_object **out, struct sw_err *err)
{
    struct resource *r = w->r;
    SW_AUTO_JSON *release = json_object_new_object();
    struct json_object *set = sw_json_find(r->doc, "spec", "set", NULL);
    sw_json_set_str(release, r->name, "name", NULL);
    sw_json_set(release, info_of(w), "info", NULL);
    sw_json_set(release, chart_of(r), "chart", NULL);
    sw_json_set(release, sw_json_copy(set), "config", NULL);
    int rc = add_manifests(w, release, err);
    if (rc < 0)
        return rc;
    sw_json_set(release, json_object_new_int64(w->version), "version", NULL);
    sw_json_set_str(release, resource_namespace(r), "namespace", NULL);
    *out = SW_TAKE(release);
    return 0;
}

/* ---- its object --------------------------------------------------------------------------------
 */

struct json_object *release_object(const struct release_work *w, const char *packed)
{
    struct resource *r = w->r;
    const struct sw_kind *kind = records_kind(r);
    bool in_secret = kind && sw_streq(kind->kind, "Secret");
    char salt[SW_RECORD_SALT_HEX];
    struct json_object *doc = json_object_new_object();
    SW_AUTO_CHARS *name = sw_printf("sh.helm.release.v1.%s.v%" PRId64, r->name, w->version);
    SW_AUTO_CHARS *version = sw_printf("%" PRId64, w->version);
    SW_AUTO_CHARS *now = sw_printf("%" PRId64, sw_loop_wall_ms(r->c->loop) / 1000);
    const char *const labels[][2] = {
        { "owner", "helm" },    { "name", r->name },   { "status", w->status },
        { "version", version }, { "modifiedAt", now }, { DIGEST_LABEL, releases_of(r)->digest }
    };
    sw_json_set_str(doc, "v1", "apiVersion", NULL);
    sw_json_set_str(doc, in_secret ? "Secret" : "ConfigMap", "kind", NULL);
    sw_json_set_str(doc, name, "metadata", "name", NULL);
    sw_json_set_str(doc, resource_namespace(r), "metadata", "namespace", NULL);
    for (size_t i = 0; i < SW_COUNT(labels); i++)
        sw_json_set_str(doc, labels[i][1], "metadata", "labels", labels[i][0], NULL);
    sw_record_salt(salt);
    sw_json_set_str(doc, salt, "metadata", "annotations", SW_RECORD_SALT, NULL);
    sw_json_set(doc, resource_as_owner(r), "metadata", "ownerReferences", NULL);
    if (in_secret)
        sw_json_set_str(doc, "helm.sh/release.v1", "type", NULL);
    sw_json_set(doc, sw_release_data(in_secret, packed), "data", NULL);
    return doc;
}
