#include "cli/recipe/resource.h"

#include "chart/fetch/fetch.h"
#include "data/data.h"

#include <json-c/json.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define API_VERSION "sro.openshift.io/v1beta1"

/* ---- the base ----------------------------------------------------------------------------------
 */

/* The last part of a path, without what packaged charts end in. Heap. */
static char *base_name(const char *path)
{
    size_t len = strlen(path);
    while (len > 1 && path[len - 1] == '/')
        len--;
    size_t start = len;
    while (start > 0 && path[start - 1] != '/')
        start--;
    return sw_strndup(path + start, len - start);
}

static int parse_base(const char *file, const struct sw_recipe_file *text, struct json_object **out,
                      struct sw_err *err)
{
    struct sw_yaml_docs docs;
    int rc = sw_yaml_parse_all(text->bytes, text->len, &(struct sw_yaml_opts){ .file = file },
                               &docs, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < docs.n_docs && !*out; i++)
        if (sw_streq(sw_obj_kind(docs.docs[i].object), "SpecialResource"))
            *out = json_object_get(docs.docs[i].object);
    sw_yaml_docs_done(&docs);
    return 0;
}

/* The chart's own resource: <chart>.yaml or <folder>.yaml. No such file, no base. */
static int find_base(const struct sw_recipe *recipe, const char *path, struct json_object **out,
                     struct sw_err *err)
{
    SW_AUTO_CHARS *folder = base_name(path);
    const char *const names[] = { sw_recipe_name(recipe), folder };
    for (size_t i = 0; i < SW_COUNT(names) && !*out; i++) {
        SW_AUTO_CHARS *file = sw_printf("%s.yaml", names[i]);
        const struct sw_recipe_file *text = sw_recipe_find_file(recipe, file);
        SW_AUTO_CHARS *where = sw_printf("%s/%s", path, file);
        int rc = text ? parse_base(where, text, out, err) : 0;
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- values ------------------------------------------------------------------------------------
 */

/* Merge @patch into the object at @doc's spec (and below it). */
static void merge_into(struct json_object *doc, const char *key, struct json_object *patch)
{
    struct json_object *old = sw_json_get(doc, key);
    struct json_object *merged = sw_merge_apply(old ? old : NULL, patch);
    (void)json_object_object_add(doc, key, merged);
}

static int check_map(struct json_object *doc, const char *what, struct sw_err *err)
{
    if (!doc || json_object_is_type(doc, json_type_object))
        return 0;
    return sw_err_set(err, SW_INVALID, "%s is not a map", what);
}

/* Values as a chart sees them may hold the resource itself: its spec is the resource's. */
static int merge_values(struct json_object *doc, const struct sw_values_flags *flags,
                        struct sw_err *err)
{
    SW_AUTO(sw_values) *values = NULL;
    int rc = sw_values_from_flags(flags, &values, err);
    if (rc < 0)
        return rc;
    SW_AUTO_JSON *set = sw_values_json(values);
    SW_AUTO_JSON *spec = json_object_get(sw_json_find(set, "specialresource", "spec", NULL));
    rc = check_map(spec, "specialresource.spec of the values", err);
    if (rc < 0)
        return rc;
    (void)sw_json_del(set, "specialresource", NULL);
    if (spec)
        merge_into(doc, "spec", spec);
    struct json_object *to = sw_json_need_map(doc, "spec", NULL);
    if (sw_json_len(set))
        merge_into(to, "set", set);
    return 0;
}

/* ---- the whole ---------------------------------------------------------------------------------
 */

static void set_default(struct json_object *doc, const char *value, const char *section,
                        const char *key)
{
    if (!*sw_json_str(doc, "", section, key, NULL))
        sw_json_set_str(doc, value, section, key, NULL);
}

static int absolute_path(const char *path, char **out, struct sw_err *err)
{
    char absolute[PATH_MAX];
    if (!realpath(path, absolute))
        return sw_err_set(err, SW_NOTFOUND, "'%s' cannot be found", path);
    *out = sw_strdup(absolute);
    return 0;
}

/* Who we are, and whom to trust, as the controller reads it: files by their whole path. */
static int set_auth(struct json_object *doc, const struct sw_source_flags *flags,
                    struct sw_err *err)
{
    const struct {
        const char *value, *field;
        bool is_file;
    } rows[] = { { flags->username, "username", false },
                 { flags->password, "password", false },
                 { flags->ca_file, "caFile", true },
                 { flags->cert_file, "certFile", true },
                 { flags->key_file, "keyFile", true } };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_CHARS *path = NULL;
        int rc = rows[i].value && rows[i].is_file ? absolute_path(rows[i].value, &path, err) : 0;
        if (rc < 0)
            return rc;
        if (rows[i].value)
            sw_json_set_str(doc, path ? path : rows[i].value, "spec", "chart", "repository",
                            rows[i].field, NULL);
    }
    if (flags->insecure)
        sw_json_set(doc, json_object_new_boolean(true), "spec", "chart", "repository",
                    "insecure_skip_tls_verify", NULL);
    if (flags->pass_credentials)
        sw_json_set(doc, json_object_new_boolean(true), "spec", "chart", "repository",
                    "pass_credentials_all", NULL);
    return 0;
}

/* The place of the recipe, as the controller reads it. */
static int url_of(const struct sw_resource_opts *opts, char **url, struct sw_err *err)
{
    const char *repo = opts->source ? opts->source->repo : NULL;
    const char *from = repo ? repo : opts->recipe;
    if (sw_fetch_knows(from)) {
        *url = sw_strdup(from);
        return 0;
    }
    SW_AUTO_CHARS *path = NULL;
    int rc = absolute_path(sw_starts_with(from, "file://") ? from + strlen("file://") : from, &path,
                           err);
    if (rc == 0)
        *url = sw_printf("file://%s", path);
    return rc;
}

static int set_chart(struct json_object *doc, const struct sw_recipe *recipe,
                     const struct sw_resource_opts *opts, struct sw_err *err)
{
    SW_AUTO_CHARS *url = NULL;
    int rc = url_of(opts, &url, err);
    if (rc == 0 && opts->source)
        rc = set_auth(doc, opts->source, err);
    if (rc < 0)
        return rc;
    SW_AUTO_CHARS *repository = sw_strdup(
        sw_json_str(doc, sw_recipe_name(recipe), "spec", "chart", "repository", "name", NULL));
    sw_json_set_str(doc, sw_recipe_name(recipe), "spec", "chart", "name", NULL);
    sw_json_set_str(doc, sw_recipe_version(recipe), "spec", "chart", "version", NULL);
    sw_json_set_str(doc, repository, "spec", "chart", "repository", "name", NULL);
    sw_json_set_str(doc, url, "spec", "chart", "repository", "url", NULL);
    return 0;
}

static int check_name(const char *what, const char *name, struct sw_err *err)
{
    const char *fault = sw_dns_label_fault(name);
    return fault ? sw_err_set(err, SW_INVALID, "%s '%s': %s", what, name, fault) : 0;
}

int sw_resource_make(const struct sw_resource_opts *opts, struct json_object **out,
                     struct sw_err *err)
{
    SW_AUTO(sw_recipe) *recipe = NULL;
    SW_AUTO_JSON *doc = NULL;
    static const struct sw_source_flags usual;
    int rc = sw_source_open(opts->source ? opts->source : &usual, opts->recipe, opts->connect,
                            &recipe, NULL, err);
    if (rc == 0)
        rc = find_base(recipe, opts->recipe, &doc, err);
    if (rc < 0)
        return rc;
    if (!doc)
        doc = json_object_new_object();
    sw_json_set_str(doc, API_VERSION, "apiVersion", NULL);
    sw_json_set_str(doc, "SpecialResource", "kind", NULL);
    (void)sw_json_del(doc, "status", NULL);
    rc = merge_values(doc, &opts->values, err);
    if (rc == 0)
        rc = set_chart(doc, recipe, opts, err);
    if (rc < 0)
        return rc;
    if (opts->name)
        sw_json_set_str(doc, opts->name, "metadata", "name", NULL);
    if (opts->ns)
        sw_json_set_str(doc, opts->ns, "spec", "namespace", NULL);
    set_default(doc, sw_recipe_name(recipe), "metadata", "name");
    set_default(doc, sw_obj_name(doc), "spec", "namespace");
    rc = check_name("name", sw_obj_name(doc), err);
    if (rc == 0)
        rc = check_name("namespace", sw_json_str(doc, "", "spec", "namespace", NULL), err);
    if (rc == 0)
        *out = SW_TAKE(doc);
    return rc;
}
