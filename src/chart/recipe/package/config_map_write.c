/* A recipe as a ConfigMap: one key a file where that is possible, else a Helm repository. */
#include <ctype.h>
#include <string.h>

#include "chart/recipe/package/config_map.h"
#include "chart/recipe/package/pack.h"
#include "data/json/hash.h"
#include "data/json/json.h"
#include "data/json/path.h"
#include "data/text/base64.h"
#include "data/text/utf8.h"
#include "data/yaml/yaml.h"

/* The index says when charts were made; here too equal recipes give equal text. */
#define INDEX_TIME "1980-01-01T00:00:00Z"

enum { MAX_KEY = 253, MAX_NAME = 253, MAX_NS = 63 };

/* ---- one key a file -----------------------------------------------------------------------------
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
    SW_AUTO_CHARS *path = sw_config_map_path(key);
    return is_key(key) && sw_streq(path, f->name) && sw_utf8_valid(f->bytes, f->len) ? key : NULL;
}

static bool is_plain(const struct sw_files *files)
{
    for (size_t i = 0; i < files->n; i++)
        if (!key_of(&files->items[i]))
            return false;
    return true;
}

static void fill_plain(struct json_object *map, const struct sw_files *files)
{
    struct json_object *data = sw_json_need_map(map, "data", NULL);
    for (size_t i = 0; i < files->n; i++) {
        const struct sw_recipe_file *f = &files->items[i];
        json_object_object_add(data, key_of(f), json_object_new_string_len(f->bytes, (int)f->len));
    }
}

/* ---- a Helm repository --------------------------------------------------------------------------
 */

static char *make_index(const struct sw_recipe *recipe, const char *url, const char *bytes,
                        size_t len)
{
    char digest[SW_SHA256_HEX];
    struct json_object *meta = (struct json_object *)sw_recipe_metadata(recipe);
    SW_AUTO_JSON *index = json_object_new_object();
    struct json_object *entry = sw_json_copy(meta);
    struct json_object *urls = sw_json_need_list(entry, "urls", NULL);
    (void)json_object_array_add(urls, json_object_new_string(url));
    sw_json_set_str(entry, INDEX_TIME, "created", NULL);
    sw_json_set_str(entry, sw_sha256_hex(bytes, len, digest), "digest", NULL);
    sw_json_set_str(index, "v1", "apiVersion", NULL);
    sw_json_set_str(index, INDEX_TIME, "generated", NULL);
    (void)json_object_array_add(sw_json_need_list(index, "entries", sw_recipe_name(recipe), NULL),
                                entry);
    return sw_yaml_text(index, NULL);
}

static int fill_packed(struct json_object *map, const struct sw_recipe *recipe, const char *ns,
                       size_t *total, struct sw_err *err)
{
    SW_AUTO_CHARS *bytes = NULL;
    size_t len = 0;
    int rc = sw_recipe_pack(recipe, &bytes, &len, err);
    if (rc < 0)
        return rc;
    SW_AUTO_CHARS *file = sw_recipe_archive_name(recipe);
    SW_AUTO_CHARS *url = sw_printf("cm://%s/%s/%s", ns ? ns : "default", sw_obj_name(map), file);
    SW_AUTO_CHARS *index = make_index(recipe, url, bytes, len);
    SW_AUTO_CHARS *text = sw_base64_encode(bytes, len, &(size_t){ 0 });
    if (!is_key(file))
        return sw_err_set(err, SW_INVALID, "'%s' cannot be a ConfigMap's key", file);
    sw_json_set_str(map, index, "data", "index.yaml", NULL);
    sw_json_set_str(map, text, "binaryData", file, NULL);
    *total = strlen(index) + len;
    return 0;
}

/* ---- the manifest -------------------------------------------------------------------------------
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

static int fill(struct json_object *map, const struct sw_recipe *recipe, const char *ns,
                struct sw_err *err)
{
    struct sw_files files = sw_files_init(NULL);
    int rc = sw_recipe_list_files(recipe, &files, err);
    size_t total = files.bytes;
    if (rc == 0 && is_plain(&files) && total <= SW_CONFIG_MAP_MAX)
        fill_plain(map, &files);
    else if (rc == 0)
        rc = fill_packed(map, recipe, ns, &total, err);
    sw_files_done(&files);
    if (rc == 0 && total > SW_CONFIG_MAP_MAX)
        rc = sw_err_set(err, SW_INVALID,
                        "%s: %zu bytes are more than a ConfigMap may hold (%d); put the package "
                        "where the controller can read it and name it by a file:// URL, or leave "
                        "out what is not needed by .helmignore",
                        sw_recipe_name(recipe), total, SW_CONFIG_MAP_MAX);
    return rc;
}

int sw_recipe_to_config_map(const struct sw_recipe *recipe, const char *name, const char *ns,
                            struct json_object **out, struct sw_err *err)
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
    rc = fill(map, recipe, ns, err);
    if (rc == 0)
        *out = SW_TAKE(map);
    return rc;
}
