#include "cli/recipe/resource.h"

#include "chart/aicr/constraints.h"
#include "chart/aicr/upgrades.h"
#include "chart/fetch/fetch.h"
#include "chart/recipe/package/pack.h"
#include "cli/cluster/connect.h"
#include "cli/recipe/unread_values.h"
#include "data/data.h"
#include "emulator/emulator.h"

#include <json-c/json.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define API_VERSION "sro.openshift.io/v1beta1"

int sw_resource_base(const struct sw_recipe *recipe, const char *path, const char *kind,
                     struct json_object **out, struct sw_err *err)
{
    size_t end = sw_before_slashes(path, strlen(path), 1);
    size_t start = end;
    while (start > 0 && path[start - 1] != '/')
        start--;
    SW_AUTO_CHARS *folder = sw_strndup(path + start, end - start);
    const char *const names[] = { sw_recipe_name(recipe), folder };
    for (size_t i = 0; i < SW_COUNT(names) && !*out; i++) {
        SW_AUTO_CHARS *file = sw_printf("%s.yaml", names[i]);
        SW_AUTO_CHARS *name = sw_printf("%s/%s", path, file);
        const struct sw_recipe_file *text = sw_recipe_find_file(recipe, file);
        const struct sw_yaml_opts opts = { .file = name };
        struct sw_yaml_docs docs;
        if (!text)
            continue;
        int rc = sw_yaml_parse_all(text->bytes, text->len, &opts, &docs, err);
        if (rc < 0)
            return rc;
        for (size_t k = 0; k < docs.n_docs && !*out; k++)
            if (sw_streq(sw_obj_kind(docs.docs[k].object), kind))
                *out = json_object_get(docs.docs[k].object);
        sw_yaml_docs_done(&docs);
    }
    return 0;
}

/* Merge @patch into the map at @key of @doc. */
static void merge_into(struct json_object *doc, const char *key, struct json_object *patch)
{
    sw_json_set(doc, sw_merge_apply(sw_json_get(doc, key), patch), key, NULL);
}

/* Merge @set into spec.set as Helm merges values: a null stays, for it takes a default away. */
static int put_set(struct json_object *doc, struct json_object *set, struct sw_err *err)
{
    SW_AUTO(sw_values) *merged = sw_values_new();
    struct json_object *before = sw_json_find(doc, "spec", "set", NULL);
    int rc = before ? sw_values_add_json(merged, before, err) : 0;
    if (rc == 0)
        rc = sw_values_add_json(merged, set, err);
    if (rc == 0)
        sw_json_set(doc, sw_values_json(merged), "spec", "set", NULL);
    return rc;
}

/* Merge the values into spec.set; a `specialresource.spec` in them, as SRO's charts have it, goes
 * to the resource's spec. */
static int merge_values(struct json_object *doc, const struct sw_recipe *recipe,
                        const struct sw_resource_opts *opts, struct sw_err *err)
{
    SW_AUTO(sw_values) *values = NULL;
    int rc = sw_values_from_flags(&opts->values, &values, err);
    if (rc < 0)
        return rc;
    SW_AUTO_JSON *set = sw_values_json(values);
    SW_AUTO_JSON *spec = json_object_get(sw_json_find(set, "specialresource", "spec", NULL));
    if (spec && !json_object_is_type(spec, json_type_object))
        return sw_err_set(err, SW_INVALID, "specialresource.spec of the values is not a map");
    (void)sw_json_del(set, "specialresource", NULL);
    if (spec)
        merge_into(doc, "spec", spec);
    if (opts->command)
        sw_unread_warn(recipe, set, opts->command);
    return sw_json_len(set) ? put_set(doc, set, err) : 0;
}

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

/* The credentials, as the controller reads them: files by their absolute path. */
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

/* Which recipe of NVIDIA's AI Cluster Runtime it is. */
static int set_aicr(struct json_object *doc, const struct sw_source_flags *flags,
                    struct sw_err *err)
{
    SW_AUTO_CHARS *data = NULL;
    const int rc = flags->data ? absolute_path(flags->data, &data, err) : 0;
    if (rc == 0 && flags->criteria)
        sw_json_set_str(doc, flags->criteria, "spec", "chart", "aicr", "criteria", NULL);
    if (rc == 0 && data)
        sw_json_set_str(doc, data, "spec", "chart", "aicr", "data", NULL);
    return rc;
}

/* Set the chart: its place, name and version. */
static int set_chart(struct json_object *doc, const struct sw_recipe *recipe,
                     const struct sw_resource_opts *opts, struct sw_err *err)
{
    const char *from = opts->source && opts->source->repo ? opts->source->repo : opts->recipe;
    SW_AUTO_CHARS *path = NULL, *url = NULL;
    int rc = 0;
    if (sw_fetch_knows(from)) {
        url = sw_strdup(from);
    } else {
        rc = absolute_path(sw_starts_with(from, "file://") ? from + strlen("file://") : from, &path,
                           err);
        url = sw_printf("file://%s", path ? path : "");
    }
    if (rc == 0 && opts->source)
        rc = set_auth(doc, opts->source, err);
    if (rc == 0 && opts->source)
        rc = set_aicr(doc, opts->source, err);
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

/* The newest release that the emulator can be and the recipe runs on; NULL where that is its
 * default, or none. */
static void find_kube_version(const struct sw_recipe *recipe, char **out)
{
    for (int minor = SW_EMULATOR_NEWEST_MINOR; minor >= SW_EMULATOR_OLDEST_MINOR; minor--) {
        SW_AUTO_CHARS *version = sw_printf("v1.%d.0", minor);
        if (!sw_recipe_runs_on(recipe, version))
            continue;
        if (minor < SW_EMULATOR_NEWEST_MINOR)
            *out = sw_printf("1.%d", minor);
        return;
    }
}

/* A kind whose name is in no file can still be made of parts by a template: its state then says
 * that it is not served. */
static int find_kinds(const struct sw_recipe *recipe, struct json_object *kinds, struct sw_err *err)
{
    struct sw_files files = sw_files_init(NULL);
    int rc = sw_recipe_list_files(recipe, &files, err);
    json_object_object_foreach(kinds, kind, value)
    {
        for (size_t i = 0; rc == 0 && i < files.n; i++)
            if (memmem(files.items[i].bytes, files.items[i].len, kind, strlen(kind)))
                json_object_set_boolean(value, true);
    }
    sw_files_done(&files);
    return rc;
}

static int make_of(const struct sw_resource_opts *opts, struct json_object **out,
                   struct sw_err *err)
{
    SW_AUTO(sw_recipe) *recipe = NULL;
    SW_AUTO_JSON *doc = NULL;
    static const struct sw_source_flags defaults;
    int rc = sw_source_open(opts->source ? opts->source : &defaults, opts->recipe, opts->connect,
                            &recipe, NULL, err);
    if (rc == 0)
        rc = sw_resource_base(recipe, opts->recipe, "SpecialResource", &doc, err);
    if (rc < 0)
        return rc;
    if (!doc)
        doc = json_object_new_object();
    sw_json_set_str(doc, API_VERSION, "apiVersion", NULL);
    sw_json_set_str(doc, "SpecialResource", "kind", NULL);
    (void)sw_json_del(doc, "status", NULL);
    rc = merge_values(doc, recipe, opts, err);
    if (rc == 0)
        rc = set_chart(doc, recipe, opts, err);
    if (rc < 0)
        return rc;
    if (opts->name)
        sw_json_set_str(doc, opts->name, "metadata", "name", NULL);
    if (opts->ns)
        sw_json_set_str(doc, opts->ns, "spec", "namespace", NULL);
    /* nodes of an emulated cluster are made up */
    const bool tells_only = opts->ignore_constraints || (opts->connect && opts->connect->emulate);
    struct json_object *meta = (struct json_object *)sw_recipe_metadata(recipe);
    if (tells_only && sw_json_find(meta, "annotations", SW_ANN_CONSTRAINTS, NULL))
        sw_json_set_str(doc, "warn", "metadata", "annotations", SW_ANN_CONSTRAINTS, NULL);
    if (opts->allow_upgrades)
        sw_json_set_str(doc, opts->allow_upgrades, "metadata", "annotations", SW_ANN_UPGRADES,
                        NULL);
    set_default(doc, sw_recipe_name(recipe), "metadata", "name");
    set_default(doc, sw_obj_name(doc), "spec", "namespace");
    rc = check_name("name", sw_obj_name(doc), err);
    if (rc == 0)
        rc = check_name("namespace", sw_json_str(doc, "", "spec", "namespace", NULL), err);
    if (rc == 0 && opts->kube_version)
        find_kube_version(recipe, opts->kube_version);
    if (rc == 0 && opts->kinds)
        rc = find_kinds(recipe, opts->kinds, err);
    if (rc == 0)
        *out = SW_TAKE(doc);
    return rc;
}

int sw_resource_make(const struct sw_resource_opts *opts, struct json_object **out,
                     struct sw_err *err)
{
    struct sw_resource_opts of = *opts;
    SW_AUTO_CHARS *installed = opts->source && opts->source->repo ? NULL
                                                                  : sw_source_installed(of.recipe);
    if (installed)
        of.recipe = installed;
    return make_of(&of, out, err);
}
