#include "chart/recipe/package/config_map.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "chart/recipe/load/files.h"
#include "chart/recipe/package/pack.h"
#include "chart/recipe/recipe.h"
#include "data/json/hash.h"
#include "data/json/json.h"
#include "data/json/path.h"
#include "data/text/base64.h"
#include "data/text/utf8.h"
#include "data/yaml/yaml.h"

enum { MAX_KEY = 253, MAX_NAME = 253, MAX_NS = 63 };

/* Keys that are files of the chart's folder although they end like templates. */
static const char *const top_files[] = { "Chart.yaml", "Chart.lock", "values.yaml",
                                         "requirements.yaml", "requirements.lock" };

/* The path in the chart of the file under @key; the caller's. */
static char *path_of(const char *key)
{
    for (size_t i = 0; i < SW_COUNT(top_files); i++)
        if (strcmp(key, top_files[i]) == 0)
            return sw_strdup(key);
    bool is_template = sw_ends_with(key, ".yaml") || sw_ends_with(key, ".yml") ||
                       sw_ends_with(key, ".tpl") || strcmp(key, "NOTES.txt") == 0;
    return sw_printf("%s%s", is_template ? "templates/" : "", key);
}

/** The files that are read from a ConfigMap. */
struct table {
    struct sw_recipe_file *files; /* names and bytes are owned */
    size_t n, cap;
    bool has_chart;
};

static void add(struct table *t, char *name, char *bytes, size_t len)
{
    SW_GROW(t->files, t->n, t->cap);
    t->files[t->n++] = (struct sw_recipe_file){ name, bytes, len };
    t->has_chart |= strcmp(name, "Chart.yaml") == 0;
}

/* Add the files of @field: data, or binaryData, which is base64. */
static int add_field(struct table *t, struct json_object *config_map, const char *field,
                     struct sw_err *err)
{
    struct json_object *data = sw_json_get(config_map, field);
    bool binary = sw_streq(field, "binaryData");
    if (!json_object_is_type(data, json_type_object))
        return 0;
    json_object_object_foreach(data, key, value)
    {
        bool is_string = json_object_is_type(value, json_type_string);
        const char *text = is_string ? json_object_get_string(value) : "";
        size_t len = is_string ? (size_t)json_object_get_string_len(value) : 0;
        char *bytes = !is_string ? NULL
                      : binary   ? sw_base64_decode(text, len, &len)
                                 : sw_strndup(text, len);
        if (!bytes)
            return sw_err_set(err, SW_INVALID, "%s.%s: expected %s", field, key,
                              binary ? "base64" : "a string");
        add(t, path_of(key), bytes, len);
    }
    return 0;
}

int sw_recipe_config_map_files(const struct json_object *config_map, struct sw_recipe_file **files,
                               size_t *n, struct sw_err *err)
{
    struct json_object *cm = (struct json_object *)config_map; /* json-c has no const */
    struct table t = { 0 };
    int rc = add_field(&t, cm, "data", err);
    if (rc == 0)
        rc = add_field(&t, cm, "binaryData", err);
    if (rc == 0 && t.n == 0)
        rc = sw_err_set(err, SW_INVALID, "it is empty");
    if (rc < 0) {
        sw_files_free(t.files, t.n);
        return rc;
    }
    if (!t.has_chart) { /* a chart needs a name and a version */
        char *text = sw_printf("apiVersion: v2\nname: \"%s\"\nversion: 0.0.0\n", sw_obj_name(cm));
        add(&t, sw_strdup("Chart.yaml"), text, strlen(text));
    }
    *files = t.files;
    *n = t.n;
    return 0;
}

int sw_recipe_from_config_map(const struct json_object *config_map,
                              const struct sw_recipe_opts *opts, struct sw_recipe **out,
                              struct sw_err *err)
{
    struct json_object *cm = (struct json_object *)config_map;
    SW_AUTO_CHARS *origin = sw_printf("configmap %s/%s", sw_obj_namespace(cm), sw_obj_name(cm));
    struct sw_recipe_file *files;
    size_t n;
    int rc = sw_recipe_config_map_files(config_map, &files, &n, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "%s", origin);
    rc = sw_recipe_from_files(origin, files, n, opts, out, err);
    sw_files_free(files, n);
    return rc;
}

/* ---- writing: one key a file --------------------------------------------------------------------
 */

static bool is_key(const char *key)
{
    size_t len = strlen(key);
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)key[i]) && !strchr("-._", key[i]))
            return false;
    return len > 0 && len <= MAX_KEY && !sw_streq(key, ".") && !sw_starts_with(key, "..");
}

/* The key that is read as this file; NULL: there is none. Borrowed from the name. */
static const char *key_of(const struct sw_recipe_file *f)
{
    const char *slash = strrchr(f->name, '/'), *key = slash ? slash + 1 : f->name;
    SW_AUTO_CHARS *path = path_of(key);
    return is_key(key) && sw_streq(path, f->name) && sw_utf8_valid(f->bytes, f->len) ? key : NULL;
}

/* ---- writing: a Helm repository -----------------------------------------------------------------
 */

/* Times in the index; a constant, so that equal recipes give equal texts. */
#define INDEX_TIME "1980-01-01T00:00:00Z"

static int fill_packed(struct json_object *map, const struct sw_recipe *recipe, const char *ns,
                       size_t *total, struct sw_err *err)
{
    SW_AUTO_CHARS *bytes = NULL;
    size_t len = 0;
    int rc = sw_recipe_pack(recipe, &bytes, &len, err);
    if (rc < 0)
        return rc;
    SW_AUTO_CHARS *file = sw_recipe_archive_name(recipe);
    if (!is_key(file))
        return sw_err_set(err, SW_INVALID, "'%s' cannot be a ConfigMap's key", file);
    SW_AUTO_CHARS *url = sw_printf("cm://%s/%s/%s", ns ? ns : "default", sw_obj_name(map), file);
    char digest[SW_SHA256_HEX];
    struct json_object *entry = sw_json_copy((struct json_object *)sw_recipe_metadata(recipe));
    (void)json_object_array_add(sw_json_need_list(entry, "urls", NULL),
                                json_object_new_string(url));
    sw_json_set_str(entry, INDEX_TIME, "created", NULL);
    sw_json_set_str(entry, sw_sha256_hex(bytes, len, digest), "digest", NULL);
    SW_AUTO_JSON *index = json_object_new_object();
    sw_json_set_str(index, "v1", "apiVersion", NULL);
    sw_json_set_str(index, INDEX_TIME, "generated", NULL);
    (void)json_object_array_add(sw_json_need_list(index, "entries", sw_recipe_name(recipe), NULL),
                                entry);
    SW_AUTO_CHARS *index_text = sw_yaml_text(index, NULL);
    SW_AUTO_CHARS *base64 = sw_base64_encode(bytes, len, &(size_t){ 0 });
    sw_json_set_str(map, index_text, "data", "index.yaml", NULL);
    sw_json_set_str(map, base64, "binaryData", file, NULL);
    *total = strlen(index_text) + len;
    return 0;
}

/* ---- writing: the manifest ----------------------------------------------------------------------
 */

/* RFC 1123; dots only in a name. */
static int check_word(const char *what, const char *word, bool dots, size_t max, struct sw_err *err)
{
    size_t len = strlen(word);
    bool ok = len > 0 && len <= max && isalnum((unsigned char)word[0]) &&
              isalnum((unsigned char)word[len - 1]);
    for (size_t i = 0; i < len; i++)
        ok &= islower((unsigned char)word[i]) || isdigit((unsigned char)word[i]) ||
              word[i] == '-' || (dots && word[i] == '.');
    return ok ? 0 : sw_err_set(err, SW_INVALID, "%s: '%s' is no name for one", what, word);
}

int sw_recipe_to_config_map(const struct sw_recipe *recipe, const char *name, const char *ns,
                            bool packed, struct json_object **out, struct sw_err *err)
{
    SW_AUTO_JSON *map = json_object_new_object();
    name = name ? name : sw_recipe_name(recipe);
    int rc = check_word("ConfigMap", name, true, MAX_NAME, err);
    if (rc == 0 && ns)
        rc = check_word("namespace", ns, false, MAX_NS, err);
    if (rc < 0)
        return rc;
    sw_json_set_str(map, "v1", "apiVersion", NULL);
    sw_json_set_str(map, "ConfigMap", "kind", NULL);
    sw_json_set_str(map, name, "metadata", "name", NULL);
    if (ns)
        sw_json_set_str(map, ns, "metadata", "namespace", NULL);
    struct sw_files files = sw_files_init(NULL);
    rc = sw_recipe_list_files(recipe, &files, err);
    size_t total = files.bytes;
    bool is_plain = !packed && total <= SW_CONFIG_MAP_MAX; /* each file is a key */
    for (size_t i = 0; i < files.n; i++)
        is_plain = is_plain && key_of(&files.items[i]);
    for (size_t i = 0; rc == 0 && is_plain && i < files.n; i++) {
        const struct sw_recipe_file *f = &files.items[i];
        sw_json_set(map, json_object_new_string_len(f->bytes, (int)f->len), "data", key_of(f),
                    NULL);
    }
    if (rc == 0 && !is_plain)
        rc = fill_packed(map, recipe, ns, &total, err);
    sw_files_done(&files);
    if (rc == 0 && total > SW_CONFIG_MAP_MAX)
        rc = sw_err_set(err, SW_INVALID,
                        "%s: %zu bytes are more than a ConfigMap may hold (%d); put the package "
                        "where the controller can read it and name it by a file:// URL, or leave "
                        "out what is not needed by .helmignore",
                        sw_recipe_name(recipe), total, SW_CONFIG_MAP_MAX);
    if (rc == 0)
        *out = SW_TAKE(map);
    return rc;
}
