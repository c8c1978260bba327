#include "chart/aicr/bundle.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "data/json/hash.h"
#include "data/yaml/yaml.h"

struct sw_aicr_bundle {
    char *origin;
    struct sw_aicr_files files;
    struct json_object *checksums; /* digests by path; NULL: there are none */
    struct json_object *folders;   /* of numbered ones, by the name behind the number */
};

/* ---- checksums ---------------------------------------------------------------------------------
 */

/* What the user fills in is no longer what was summed up. */
static bool is_filled_in(const char *path)
{
    return sw_ends_with(path, "/cluster-values.yaml");
}

/* A line for each file: the digest, two spaces, the path. */
static int read_checksums(struct sw_aicr_bundle *b, struct sw_err *err)
{
    const struct sw_aicr_file *file = sw_aicr_find(&b->files, "checksums.txt");
    size_t number = 1;
    if (!file)
        return 0;
    b->checksums = json_object_new_object();
    for (const char *at = file->bytes, *end; *at; at = *end ? end + 1 : end, number++) {
        end = at + strcspn(at, "\n");
        const size_t digest = strspn(at, "0123456789abcdef");
        if (end == at)
            continue;
        if (digest != SW_SHA256_HEX - 1 || strncmp(at + digest, "  ", 2) != 0)
            return sw_err_set(err, SW_INVALID,
                              "%s/checksums.txt:%zu: a digest, two spaces and a path were expected",
                              b->origin, number);
        SW_AUTO_CHARS *sum = sw_strndup(at, digest);
        SW_AUTO_CHARS *path = sw_strndup(at + digest + 2, (size_t)(end - at) - digest - 2);
        (void)json_object_object_add(b->checksums, path, json_object_new_string(sum));
    }
    return 0;
}

/* Every file that is there is what its line says. Scripts may be left out. */
static int check_all(const struct sw_aicr_bundle *b, struct sw_err *err)
{
    if (!b->checksums)
        return 0;
    json_object_object_foreach(b->checksums, path, sum)
    {
        char digest[SW_SHA256_HEX];
        const struct sw_aicr_file *file = sw_aicr_find(&b->files, path);
        if (file && !is_filled_in(path) &&
            !sw_streq(sw_sha256_hex(file->bytes, file->len, digest), json_object_get_string(sum)))
            return sw_err_set(err, SW_INVALID, "%s/checksums.txt: %s has another digest", b->origin,
                              path);
    }
    return 0;
}

/* ---- folders -----------------------------------------------------------------------------------
 */

/* "001-gpu-operator/...": what is behind the number. NULL: it is no such path */
static const char *numbered(const char *path)
{
    return strspn(path, "0123456789") == 3 && path[3] == '-' && path[4] && strchr(path, '/')
               ? path + 4
               : NULL;
}

static int find_folders(struct sw_aicr_bundle *b, struct sw_err *err)
{
    for (size_t i = 0; i < b->files.n; i++) {
        const char *path = b->files.items[i].name, *behind = numbered(path);
        if (!behind)
            continue;
        SW_AUTO_CHARS *folder = sw_strndup(path, strcspn(path, "/"));
        SW_AUTO_CHARS *name = sw_strndup(behind, strcspn(behind, "/"));
        const char *has = sw_json_str(b->folders, folder, name, NULL);
        if (!sw_streq(has, folder))
            return sw_err_set(err, SW_INVALID, "%s: there are two folders of '%s'", b->origin,
                              name);
        sw_json_set_str(b->folders, folder, name, NULL);
    }
    return 0;
}

int sw_aicr_bundle_open(const char *origin, const struct sw_aicr_files *files,
                        struct sw_aicr_bundle **out, struct sw_err *err)
{
    SW_AUTO(sw_aicr_bundle) *b = sw_zalloc(1, sizeof *b);
    b->origin = sw_strdup(origin);
    b->files = *files;
    b->folders = json_object_new_object();
    int rc = read_checksums(b, err);
    if (rc == 0)
        rc = check_all(b, err);
    if (rc == 0)
        rc = find_folders(b, err);
    if (rc == 0)
        *out = SW_TAKE(b);
    return rc;
}

void sw_aicr_bundle_free(struct sw_aicr_bundle *bundle)
{
    if (!bundle)
        return;
    (void)json_object_put(bundle->folders);
    (void)json_object_put(bundle->checksums);
    free(bundle->origin);
    free(bundle);
}

bool sw_aicr_bundle_is_unchecked(const struct sw_aicr_bundle *bundle)
{
    return !bundle->checksums;
}

static bool is_numbered(const struct sw_aicr_bundle *b)
{
    return json_object_object_length(b->folders) > 0;
}

/* The folder of @name, borrowed; NULL: there is none. */
static const char *folder_of(const struct sw_aicr_bundle *b, const char *name)
{
    return is_numbered(b) ? sw_json_str(b->folders, NULL, name, NULL) : name;
}

/* The file @folder/@name. @*out NULL: it is not there. @return 0 | SW_INVALID: checksums.txt has
 * it, or not */
static int find_file(const struct sw_aicr_bundle *b, const char *folder, const char *name,
                     const struct sw_aicr_file **out, struct sw_err *err)
{
    SW_AUTO_CHARS *path = sw_printf("%s/%s", folder, name);
    *out = sw_aicr_find(&b->files, path);
    const bool is_listed = b->checksums && sw_json_get(b->checksums, path);
    if (!*out && is_listed)
        return sw_err_set(err, SW_INVALID, "%s/checksums.txt: %s is missing", b->origin, path);
    if (*out && b->checksums && !is_listed && !is_filled_in(path))
        return sw_err_set(err, SW_INVALID, "%s/checksums.txt: %s is not in it", b->origin, path);
    return 0;
}

/* ---- charts ------------------------------------------------------------------------------------
 */

void sw_aicr_chart_done(struct sw_aicr_chart *chart)
{
    free(chart->name);
    free(chart->version);
    free(chart->repository);
    free(chart->inside);
    *chart = (struct sw_aicr_chart){ 0 };
}

/* The value of a line `KEY="value"` of an upstream.env; the caller's, NULL: there is none. */
static char *env_value(const char *text, const char *key)
{
    const size_t len = strlen(key);
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        if (strncmp(at, key, len) != 0 || at[len] != '=')
            continue;
        const char *from = at + len + 1;
        const bool quoted = *from == '"' || *from == '\'';
        const char ends[] = { quoted ? *from : '\n', '\n', '\r', '\0' };
        from += quoted;
        return sw_strndup(from, strcspn(from, ends));
    }
    return NULL;
}

/* upstream.env: CHART is a name in the repository REPO, or all of an oci:// address. */
static int read_env(const char *path, const char *text, struct sw_aicr_chart *out,
                    struct sw_err *err)
{
    char *chart = env_value(text, "CHART"), *repo = env_value(text, "REPO");
    char *version = env_value(text, "VERSION"), *slash = chart ? strrchr(chart, '/') : NULL;
    const bool is_oci = chart && sw_starts_with(chart, "oci://");
    const bool is_whole = chart && *chart && version && *version &&
                          (is_oci ? slash && slash[1] : repo && *repo);
    if (is_whole) {
        if (is_oci)
            *slash = '\0';
        sw_text_set(&out->name, is_oci ? slash + 1 : chart);
        sw_text_set(&out->repository, is_oci ? chart : repo);
        sw_text_set(&out->version, version);
    }
    free(chart);
    free(repo);
    free(version);
    return is_whole
               ? 0
               : sw_err_set(err, SW_INVALID, "%s: CHART, VERSION and REPO were expected", path);
}

/* A wrapper has its chart below charts/, and names it as its only dependency. */
static int read_wrapper(const struct sw_aicr_bundle *b, const char *folder,
                        const struct sw_aicr_file *file, struct sw_aicr_chart *out,
                        struct sw_err *err)
{
    SW_AUTO_JSON *doc = NULL;
    const struct sw_yaml_opts opts = { .file = file->name };
    int rc = sw_yaml_parse(file->bytes, file->len, &opts, &doc, err);
    if (rc < 0)
        return rc;
    struct json_object *dependency = sw_json_at(sw_json_get(doc, "dependencies"), 0);
    SW_AUTO_CHARS *inside = sw_printf("%s/charts/", folder);
    bool has_charts = false;
    for (size_t i = 0; i < b->files.n; i++)
        has_charts = has_charts || sw_starts_with(b->files.items[i].name, inside);
    if (!dependency || !has_charts)
        return sw_err_set(err, SW_INVALID,
                          "%s: a dependency, and its chart in %s, were expected of a chart that is "
                          "inside the bundle",
                          file->name, inside);
    sw_text_set(&out->name, sw_json_str(dependency, "", "name", NULL));
    sw_text_set(&out->version, sw_json_str(dependency, "", "version", NULL));
    sw_text_set(&out->repository, "");
    sw_text_set(&out->inside, inside);
    return 0;
}

int sw_aicr_bundle_chart(const struct sw_aicr_bundle *b, struct json_object *component,
                         struct sw_aicr_chart *out, struct sw_err *err)
{
    const char *name = sw_json_str(component, "", "name", NULL);
    const char *folder = is_numbered(b) ? folder_of(b, name) : NULL;
    const struct sw_aicr_file *env = NULL, *wrapper = NULL;
    int rc = folder ? find_file(b, folder, "upstream.env", &env, err) : 0;
    if (rc == 0 && folder)
        rc = find_file(b, folder, "Chart.yaml", &wrapper, err);
    sw_text_set(&out->name, sw_json_str(component, name, "chart", NULL));
    sw_text_set(&out->version, sw_json_str(component, "", "version", NULL));
    sw_text_set(&out->repository, sw_json_str(component, "", "source", NULL));
    sw_text_set(&out->inside, "");
    if (rc == 0 && wrapper && *out->repository)
        rc = read_wrapper(b, folder, wrapper, out, err);
    else if (rc == 0 && env)
        rc = read_env(env->name, env->bytes, out, err);
    return rc;
}

/* ---- values ------------------------------------------------------------------------------------
 */

/* Merge the values of @folder/@name into @to, if it is there. */
static int merge_values(const struct sw_aicr_bundle *b, const char *folder, const char *name,
                        struct json_object *to, struct sw_err *err)
{
    SW_AUTO_JSON *doc = NULL;
    const struct sw_aicr_file *file;
    int rc = find_file(b, folder, name, &file, err);
    const struct sw_yaml_opts opts = { .file = file ? file->name : name };
    if (rc == 0 && file)
        rc = sw_yaml_parse(file->bytes, file->len, &opts, &doc, err);
    if (rc == 0)
        sw_aicr_merge(to, doc);
    return rc;
}

int sw_aicr_bundle_values(const struct sw_aicr_bundle *b, const char *name, const char *chart,
                          struct json_object **out, struct sw_err *err)
{
    SW_AUTO_JSON *values = json_object_new_object();
    const char *folder = folder_of(b, name);
    int rc = folder ? merge_values(b, folder, "values.yaml", values, err) : 0;
    if (rc == 0 && folder)
        rc = merge_values(b, folder, "cluster-values.yaml", values, err);
    if (rc < 0)
        return rc;
    struct json_object *nested = chart ? sw_json_get(values, chart) : NULL;
    *out = nested ? json_object_get(nested) : chart ? json_object_new_object() : SW_TAKE(values);
    return 0;
}

/* ---- manifests ---------------------------------------------------------------------------------
 */

static void add_manifest(const struct sw_aicr_file *from, struct json_object *to)
{
    struct json_object *file = json_object_new_object();
    sw_json_set_str(file, strrchr(from->name, '/') + 1, "name", NULL);
    sw_json_set_str(file, from->bytes, "text", NULL);
    (void)json_object_array_add(to, file);
}

/* All files of the folder templates/ of a chart, but not of folders in it. */
static int add_templates(const struct sw_aicr_bundle *b, const char *folder, struct json_object *to,
                         struct sw_err *err)
{
    SW_AUTO_CHARS *dir = sw_printf("%s/templates/", folder);
    for (size_t i = 0; i < b->files.n; i++) {
        const char *name = b->files.items[i].name;
        const struct sw_aicr_file *file;
        if (!sw_starts_with(name, dir) || strchr(name + strlen(dir), '/'))
            continue;
        int rc = find_file(b, folder, name + strlen(folder) + 1, &file, err);
        if (rc < 0)
            return rc;
        add_manifest(file, to);
    }
    return 0;
}

int sw_aicr_bundle_manifests(const struct sw_aicr_bundle *b, const char *component,
                             const char *name, struct json_object *files, bool *is_template,
                             struct json_object **out, struct sw_err *err)
{
    SW_AUTO_JSON *list = json_object_new_array();
    const char *folder = folder_of(b, name);
    int rc = 0;
    *is_template = is_numbered(b);
    if (!folder && sw_ends_with(name, "-post")) /* early wrappers have them themselves */
        folder = folder_of(b, component);
    if (*is_template && folder)
        rc = add_templates(b, folder, list, err);
    for (size_t i = 0; !*is_template && rc == 0 && i < sw_json_len(files); i++) {
        const char *path = sw_json_str(sw_json_at(files, i), "", NULL), *slash = strrchr(path, '/');
        SW_AUTO_CHARS *at = sw_printf("manifests/%s", slash ? slash + 1 : path);
        const struct sw_aicr_file *file;
        rc = find_file(b, component, at, &file, err);
        if (rc == 0 && file)
            add_manifest(file, list);
    }
    if (rc == 0)
        *out = SW_TAKE(list);
    return rc;
}
