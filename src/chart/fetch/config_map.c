/* cm://<namespace>/<name>: a ConfigMap as a recipe, one key a file, or as a Helm repository: an
 * index.yaml in its data and packed charts in its binaryData. */
#include <string.h>

#include "chart/fetch/common/fetcher.h"
#include "chart/fetch/index.h"
#include "chart/fetch/sources.h"
#include "chart/recipe/package/config_map.h"
#include "data/json/json.h"
#include "data/json/path.h"
#include "data/text/base64.h"

/* The archive under @key. */
static int take_key(struct json_object *map, const char *url, const char *key, const char *digest,
                    struct sw_recipe_got *got, struct sw_err *err)
{
    const char *packed = sw_json_str(map, NULL, "binaryData", key, NULL);
    if (!packed)
        return sw_err_set(err, SW_NOTFOUND, "%s: it has no key '%s' in binaryData", url, key);
    size_t len;
    char *bytes = sw_base64_decode(packed, strlen(packed), &len);
    if (!bytes)
        return sw_err_set(err, SW_INVALID, "%s: binaryData.%s is no base64", url, key);
    SW_AUTO_CHARS *origin = sw_printf("%s/%s", url, key);
    return fetch_take_archive(origin, digest, bytes, len, got, err);
}

/* As SRO: the key is the file name of the URL in the index, whatever its folder. */
static int take_packed(struct json_object *map, const char *url, const struct sw_recipe_ask *ask,
                       struct sw_recipe_got *got, struct sw_err *err)
{
    const char *text = sw_json_str(map, NULL, "data", "index.yaml", NULL);
    if (!text) {
        SW_AUTO_CHARS *key = sw_printf("%s-%s.tgz", ask->name, ask->version ? ask->version : "");
        return take_key(map, url, key, "", got, err);
    }
    SW_AUTO_JSON *index = NULL;
    SW_AUTO_CHARS *file = sw_printf("%s: data.index.yaml", url);
    struct sw_index_entry entry;
    int rc = sw_index_parse(file, text, strlen(text), &index, err);
    if (rc < 0)
        return rc;
    rc = sw_index_find(index, ask->name, ask->version, &entry, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "%s", file);
    const char *slash = strrchr(entry.url, '/');
    rc = take_key(map, url, slash ? slash + 1 : entry.url, entry.digest, got, err);
    if (rc == 0)
        got->version = sw_strdup(entry.version);
    return rc;
}

/* The key of the only chart in the ConfigMap; NULL: none or several. */
static const char *only_key(struct json_object *map)
{
    struct json_object *keys = sw_json_get(map, "binaryData");
    const char *found = NULL;
    if (!json_object_is_type(keys, json_type_object))
        return NULL;
    json_object_object_foreach(keys, key, value)
    {
        (void)value;
        if (!sw_ends_with(key, ".tgz") && !sw_ends_with(key, ".tar.gz"))
            continue;
        if (found)
            return NULL;
        found = key;
    }
    return found;
}

int fetch_config_map(struct sw_fetcher *f, const struct sw_recipe_ask *ask,
                     struct sw_recipe_got *got, struct sw_err *err)
{
    const char *at = ask->url + strlen("cm://");
    size_t ns_len = strcspn(at, "/");
    const char *second = at + ns_len + (at[ns_len] == '/');
    size_t name_len = strcspn(second, "/");
    if (ns_len == 0 || name_len == 0)
        return sw_err_set(err, SW_INVALID, "%s: not cm://<namespace>/<name>", ask->url);
    if (!f->opts.config_map)
        return sw_err_set(err, SW_INVALID, "%s: there is no cluster to read it from", ask->url);
    const char *key = second + name_len + (second[name_len] == '/');
    SW_AUTO_CHARS *ns = sw_strndup(at, ns_len), *name = sw_strndup(second, name_len);
    SW_AUTO_JSON *map = NULL;
    int rc = f->opts.config_map(f->opts.config_map_arg, ns, name, &map, err);
    if (rc < 0)
        return rc == SW_PENDING ? rc : sw_err_wrap(err, rc, "%s", ask->url);
    SW_AUTO_CHARS *url = sw_printf("cm://%s/%s", ns, name);
    const char *only = only_key(map);
    bool is_repository = sw_json_find(map, "data", "index.yaml", NULL) || only;
    if (*key)
        return take_key(map, url, key, "", got, err);
    if (is_repository && ask->name)
        return take_packed(map, url, ask, got, err);
    if (only)
        return take_key(map, url, only, "", got, err);
    if (is_repository)
        return sw_err_set(err, SW_INVALID, "%s: a repository of several charts: which one?", url);
    rc = sw_recipe_config_map_files(map, &got->files, &got->n_files, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "%s", url);
    got->origin = sw_strdup(url);
    got->digest = sw_strdup("");
    return 0;
}
