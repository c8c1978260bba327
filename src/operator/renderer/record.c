/* What is made of a whole recipe or plan: the digest of its files, Helm's record of its release.
 * Source: Helm 3's storage drivers (helm.sh/helm/v3/pkg/storage/driver); SRO kept them so. */
#include <string.h>

#include "chart/recipe/package/pack.h"
#include "data/text/base64.h"
#include "operator/release/hooks.h"
#include "operator/release/record.h"
#include "operator/renderer/frame.h"

int plan_check(const struct sw_recipe *recipe, const struct sw_plan *plan, const char *label,
               struct sw_err *err)
{
    if (sw_plan_n_states(plan) == 0)
        return sw_err_set(err, SW_INVALID,
                          "recipe '%s' has nothing to apply: no templates, no crds/",
                          sw_recipe_name(recipe));
    return sw_plan_check_labels(plan, label, err);
}

/* Put the digest of each file to @sums. */
static void put_sums(struct json_object *sums, const struct sw_files *files)
{
    for (size_t i = 0; i < files->n; i++) {
        char sum[SW_SHA256_HEX];
        sw_json_set_str(sums, sw_sha256_hex(files->items[i].bytes, files->items[i].len, sum),
                        files->items[i].name, NULL);
    }
}

/* The digest depends on the files alone: it is the same after a restart, and in other replicas. */
void recipe_digest(const struct sw_recipe *recipe, char out[static SW_SHA256_HEX])
{
    struct sw_files files = sw_files_init(NULL);
    SW_AUTO_JSON *sums = json_object_new_object();
    SW_ERR(err);
    if (sw_recipe_list_files(recipe, &files, &err) < 0) /* those that were listed count */
        sw_log(SW_LOG_WARN, "not all files of a recipe are known", "recipe", sw_recipe_name(recipe),
               "why", sw_err_text(&err), NULL);
    put_sums(sums, &files);
    sw_files_done(&files);
    sw_json_sha256(sums, out);
}

const char *release_digest(const struct sw_plan *plan, const char *chart, struct json_object *known)
{
    struct sw_files files = sw_files_init(NULL);
    const struct json_object *metadata;
    char digest[SW_SHA256_HEX];
    SW_ERR(err);
    if (json_object_object_get_ex(known, chart, NULL))
        return sw_json_str(known, "", chart, NULL);
    SW_AUTO_JSON *all = json_object_new_object();
    int rc = sw_plan_list_files(plan, chart, &files, &metadata, &err);
    struct json_object *sums = json_object_new_object();
    sw_json_set(all, sums, "files", NULL);
    put_sums(sums, &files);
    sw_files_done(&files);
    sw_json_set(all, sw_plan_values_of(plan, chart), "values", NULL);
    sw_json_sha256(all, digest);
    digest[rc < 0 ? 0 : 32] = '\0'; /* a label's value has 63 characters at most */
    sw_json_set_str(known, digest, chart, NULL);
    return sw_json_str(known, "", chart, NULL);
}

int recipe_base(const struct sw_recipe *recipe, const char *name, struct json_object **out,
                struct sw_err *err)
{
    const struct sw_recipe_file *text = sw_recipe_find_file(recipe, name);
    struct sw_yaml_docs docs = { 0 };
    *out = NULL;
    int rc = text ? sw_yaml_parse_all(text->bytes, text->len,
                                      &(struct sw_yaml_opts){ .file = name }, &docs, err)
                  : 0;
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < docs.n_docs && !*out; i++)
        if (sw_streq(sw_obj_kind(docs.docs[i].object), "SpecialResource"))
            *out = sw_json_copy(docs.docs[i].object);
    sw_yaml_docs_done(&docs);
    return 0;
}

/* ---- the chart ---------------------------------------------------------------------------------
 */

/* What has a field of its own in Helm's record, or none. */
static bool is_known_file(const char *name)
{
    static const char *const known[] = { "Chart.yaml", "Chart.lock", "values.yaml",
                                         "values.schema.json" };
    for (size_t i = 0; i < SW_COUNT(known); i++)
        if (sw_streq(name, known[i]))
            return true;
    return false;
}

/* What a subchart is rendered without: its schema, which the recipe's record has not either, and
 * texts for people. */
static bool is_needless(const char *name)
{
    static const char *const names[] = { "/values.schema.json", "/README.md", "/LICENSE" };
    bool is_one = false;
    for (size_t i = 0; i < SW_COUNT(names); i++)
        is_one = is_one || sw_ends_with(name, names[i]);
    return is_one && !strstr(name, "/templates/") && !strstr(name, "/files/");
}

static bool is_of_charts(const char *name)
{
    return sw_starts_with(name, "charts/");
}

/* Helm keeps no subcharts in its records: its chart's "dependencies" are not written as JSON. Ours
 * stand among "files", which helm keeps and looks at for nothing (`slipway rollback --recorded`
 * does). Of more bytes than these, all together, none is kept: each revision has them anew. */
enum { MOST_OF_CHARTS = 4 << 20 };

static bool are_charts_small(const struct sw_files *files)
{
    size_t bytes = 0;
    for (size_t i = 0; i < files->n; i++)
        bytes += is_of_charts(files->items[i].name) ? files->items[i].len : 0;
    return bytes <= MOST_OF_CHARTS;
}

static struct json_object *file_of(const struct sw_recipe_file *item)
{
    struct json_object *file = json_object_new_object();
    size_t len;
    SW_AUTO_CHARS *text = sw_base64_encode(item->bytes, item->len, &len);
    sw_json_set_str(file, item->name, "name", NULL);
    sw_json_set_str(file, text, "data", NULL);
    return file;
}

/* @path: of a subchart in @plan; NULL: the recipe itself, with its subcharts. */
static struct json_object *chart_of(const struct sw_recipe *recipe, const struct sw_plan *plan,
                                    const char *path)
{
    struct json_object *chart = json_object_new_object(), *templates = json_object_new_array(),
                       *others = json_object_new_array(), *values = NULL;
    struct sw_files files = sw_files_init(NULL);
    const struct json_object *metadata = sw_recipe_metadata(recipe);
    SW_ERR(err);
    int rc = path ? sw_plan_list_files(plan, path, &files, &metadata, &err)
                  : sw_recipe_list_files(recipe, &files, &err);
    if (rc < 0)
        sw_log(SW_LOG_DEBUG, "files of the recipe", "error", sw_err_text(&err), NULL);
    const bool with_charts = !path && rc == 0 && are_charts_small(&files);
    for (size_t i = 0; i < files.n; i++) {
        const char *name = files.items[i].name;
        if (sw_streq(name, "values.yaml")) {
            if (sw_yaml_parse(files.items[i].bytes, files.items[i].len,
                              &(struct sw_yaml_opts){ .file = name }, &values, &err) < 0)
                values = NULL; /* the recipe was loaded all the same */
        } else if (is_of_charts(name) ? with_charts && !is_needless(name) : !is_known_file(name)) {
            (void)json_object_array_add(sw_starts_with(name, "templates/") ? templates : others,
                                        file_of(&files.items[i]));
        }
    }
    sw_files_done(&files);
    sw_json_set(chart, sw_json_copy((struct json_object *)metadata), "metadata", NULL);
    sw_json_set(chart, NULL, "lock", NULL);
    sw_json_set(chart, templates, "templates", NULL);
    sw_json_set(chart, values ? values : json_object_new_object(), "values", NULL);
    sw_json_set(chart, NULL, "schema", NULL);
    sw_json_set(chart, others, "files", NULL);
    return chart;
}

/* Set "chart" of @release to @chart, which is taken, with the annotation that @release has for it.
 */
static void add_chart(struct json_object *release, struct json_object *chart)
{
    SW_AUTO_CHARS *origin = sw_strdup(
        sw_json_str(release, NULL, "chart", "metadata", "annotations", SW_RELEASE_ORIGIN, NULL));
    if (origin)
        sw_json_set_str(chart, origin, "metadata", "annotations", SW_RELEASE_ORIGIN, NULL);
    sw_json_set(release, chart, "chart", NULL);
}

/* Take the subcharts out of the chart of @release. @return whether it had any */
static bool drop_charts(struct json_object *release)
{
    struct json_object *files = sw_json_find(release, "chart", "files", NULL);
    size_t n_left = 0;
    const size_t n = sw_json_len(files);
    while (n_left < sw_json_len(files))
        if (is_of_charts(sw_json_str(sw_json_at(files, n_left), "", "name", NULL)))
            (void)json_object_array_del_idx(files, n_left, 1);
        else
            n_left++;
    return n_left < n;
}

/* ---- manifests and hooks -----------------------------------------------------------------------
 */

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

/* How the hook @doc ended; blank where it has not, or is not of what is under way. */
static struct json_object *run_of(const struct sw_render_env *env, struct json_object *runs,
                                  const struct sw_manifest *m)
{
    const unsigned now = env->is_upgrade ? SW_HOOK_PRE_UPGRADE | SW_HOOK_POST_UPGRADE
                                         : SW_HOOK_PRE_INSTALL | SW_HOOK_POST_INSTALL;
    const char *ns = sw_obj_namespace(m->doc), *own = m->namespace ? m->namespace : env->namespace;
    SW_AUTO_CHARS *key = sw_printf("%s %s/%s", sw_obj_kind(m->doc), *ns ? ns : own,
                                   sw_obj_name(m->doc));
    struct json_object *run = m->hook_events & now ? sw_json_get(runs, key) : NULL;
    return run ? sw_json_copy(run) : sw_release_run("", "", "");
}

static struct json_object *hook_of(const struct sw_render_env *env, struct json_object *runs,
                                   const struct sw_rendered_doc *doc, const struct sw_manifest *m,
                                   const char *shared)
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
    struct json_object *hook = json_object_new_object();
    SW_AUTO_CHARS *text = sw_strndup(doc->text, doc->len);
    sw_json_set_str(hook, sw_obj_name(m->doc), "name", NULL);
    sw_json_set_str(hook, sw_obj_kind(m->doc), "kind", NULL);
    sw_json_set_str(hook, doc->path, "path", NULL);
    sw_json_set_str(hook, text, "manifest", NULL);
    sw_json_set(hook, names_of(m->hook_events, events, SW_COUNT(events)), "events", NULL);
    sw_json_set(hook, run_of(env, runs, m), "last_run", NULL);
    sw_json_set(hook, json_object_new_int(m->hook_weight), "weight", NULL);
    sw_json_set(hook, names_of(m->hook_policies, policies, SW_COUNT(policies)), "delete_policies",
                NULL);
    if (m->namespace) /* Helm has no such field, and ignores it */
        sw_json_set_str(hook, m->namespace, SW_RELEASE_HOOK_NAMESPACE, NULL);
    if (shared)
        sw_json_set_str(hook, shared, SW_RELEASE_HOOK_SHARED, NULL);
    return hook;
}

/* Is @doc an object of the release of the subchart @path, or, NULL, of the recipe's? */
static bool is_of_release(const struct sw_plan *plan, const struct sw_rendered_doc *doc,
                          const char *path)
{
    const struct sw_release_of_state *release = sw_plan_state(plan, doc->state)->release;
    return sw_streq(release ? release->chart : NULL, path);
}

/* Set "manifest", as `helm get manifest` prints it, and "hooks": of the release of the subchart
 * @path, or, NULL, of the recipe's, which has the hooks of all, since those of a deletion are read
 * from it. @return 0 | SW_NOTFOUND: the release of @path is not installed */
static int add_manifests(const struct sw_plan *plan, const struct sw_render_env *env,
                         const char *path, struct json_object *runs, struct json_object *release,
                         struct sw_err *err)
{
    bool is_empty = true;
    SW_AUTO(sw_rendered) *rendered = NULL;
    struct sw_render_env without_crds = *env;
    without_crds.no_crds = true;
    int rc = sw_recipe_render(plan, &without_crds, SW_ALL_STATES, &rendered, err);
    if (rc < 0)
        return rc;
    struct printbuf *text = printbuf_new();
    struct json_object *hooks = json_object_new_array();
    for (size_t i = 0; i < sw_rendered_n_docs(rendered); i++) {
        const struct sw_rendered_doc *doc = sw_rendered_doc(rendered, i);
        bool is_here = is_of_release(plan, doc, path);
        if (!doc->n_manifests || !(is_here || (!path && doc->hook_events)))
            continue;
        is_empty = false;
        if (doc->hook_events) {
            (void)json_object_array_add(
                hooks, hook_of(env, runs, doc, sw_rendered_manifest(rendered, doc->first_manifest),
                               sw_state_shared(sw_plan_state(plan, doc->state))));
            continue;
        }
        sprintbuf(text, "---\n# Source: %s\n", doc->path);
        (void)printbuf_memappend(text, doc->text, (int)doc->len);
        (void)printbuf_memappend(text, "\n", 1);
    }
    sw_json_set(release, json_object_new_string_len(text->buf, text->bpos), "manifest", NULL);
    sw_json_set(release, hooks, "hooks", NULL);
    printbuf_free(text);
    return path && is_empty ? sw_err_set(err, SW_NOTFOUND, "%s is not installed", path) : 0;
}

int record_make(const struct sw_recipe *recipe, const struct sw_plan *plan,
                const struct sw_render_env *env, const char *path, struct json_object *release,
                struct json_object *runs, char **packed, char content[static SW_SHA256_HEX],
                struct sw_err *err)
{
    int rc = add_manifests(plan, env, path, runs, release, err);
    if (rc < 0)
        return rc;
    if (path) /* what the charts above set is what a user of the chart would have set */
        sw_json_set(release, sw_plan_values_of(plan, path), "config", NULL);
    add_chart(release, chart_of(recipe, plan, path));
    *packed = sw_release_pack(release);
    if (strlen(*packed) > SW_RELEASE_MAX_BYTES && drop_charts(release)) {
        free(*packed);
        *packed = sw_release_pack(release);
    }
    sw_release_content(release, content);
    return 0;
}
