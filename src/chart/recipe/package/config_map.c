/* A ConfigMap as a recipe: one key a file, written by hand. */
#include "chart/recipe/package/config_map.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/openssl.h"
#include "chart/recipe/load/files.h"
#include "chart/recipe/recipe.h"
#include "data/json/json.h"
#include "data/json/path.h"

/* Keys that are files of the chart's top although they end like templates. */
static const char *const top_files[] = { "Chart.yaml", "Chart.lock", "values.yaml",
                                         "requirements.yaml", "requirements.lock" };

char *sw_config_map_path(const char *key)
{
    for (size_t i = 0; i < SW_COUNT(top_files); i++)
        if (strcmp(key, top_files[i]) == 0)
            return sw_strdup(key);
    bool is_template = sw_ends_with(key, ".yaml") || sw_ends_with(key, ".yml") ||
                       sw_ends_with(key, ".tpl") || strcmp(key, "NOTES.txt") == 0;
    return sw_printf("%s%s", is_template ? "templates/" : "", key);
}

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

static int add_data(struct table *t, struct json_object *data, struct sw_err *err)
{
    if (!json_object_is_type(data, json_type_object))
        return 0;
    json_object_object_foreach(data, key, value)
    {
        if (!json_object_is_type(value, json_type_string))
            return sw_err_set(err, SW_INVALID, "data.%s: expected a string", key);
        size_t len = (size_t)json_object_get_string_len(value);
        add(t, sw_config_map_path(key), sw_strndup(json_object_get_string(value), len), len);
    }
    return 0;
}

/* @return the bytes, the caller's; NULL: no base64. */
static char *decode(const char *text, size_t len, size_t *out_len)
{
    char *bytes = sw_alloc(len / 4 * 3 + 1);
    int n = len % 4 == 0 && len <= INT_MAX
                ? EVP_DecodeBlock((unsigned char *)bytes, (const unsigned char *)text, (int)len)
                : -1;
    if (n < 0) {
        free(bytes);
        return NULL;
    }
    for (size_t i = len; i > 0 && text[i - 1] == '='; i--)
        n--;
    bytes[n] = '\0';
    *out_len = (size_t)n;
    return bytes;
}

static int add_binary(struct table *t, struct json_object *data, struct sw_err *err)
{
    if (!json_object_is_type(data, json_type_object))
        return 0;
    json_object_object_foreach(data, key, value)
    {
        size_t len = 0;
        char *bytes = json_object_is_type(value, json_type_string)
                          ? decode(json_object_get_string(value),
                                   (size_t)json_object_get_string_len(value), &len)
                          : NULL;
        if (!bytes)
            return sw_err_set(err, SW_INVALID, "binaryData.%s: expected base64", key);
        add(t, sw_config_map_path(key), bytes, len);
    }
    return 0;
}

/* A chart needs a name and a version; who wrote neither down meant the ConfigMap's. */
static void add_chart_yaml(struct table *t, const char *name)
{
    char *text = sw_printf("apiVersion: v2\nname: \"%s\"\nversion: 0.0.0\n", name);
    add(t, sw_strdup("Chart.yaml"), text, strlen(text));
}

static void drop(struct table *t)
{
    for (size_t i = 0; i < t->n; i++) {
        free((char *)t->files[i].name);
        free((char *)t->files[i].bytes);
    }
    free(t->files);
}

int sw_recipe_config_map_files(const struct json_object *config_map, struct sw_recipe_file **files,
                               size_t *n, struct sw_err *err)
{
    struct json_object *cm = (struct json_object *)config_map; /* json-c reads through no const */
    struct table t = { 0 };
    int rc = add_data(&t, sw_json_get(cm, "data"), err);
    if (rc == 0)
        rc = add_binary(&t, sw_json_get(cm, "binaryData"), err);
    if (rc == 0 && t.n == 0)
        rc = sw_err_set(err, SW_INVALID, "it is empty");
    if (rc < 0) {
        drop(&t);
        return rc;
    }
    if (!t.has_chart)
        add_chart_yaml(&t, sw_obj_name(cm));
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
    struct table t = { 0 };
    int rc = sw_recipe_config_map_files(config_map, &t.files, &t.n, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "%s", origin);
    rc = sw_recipe_from_files(origin, t.files, t.n, opts, out, err);
    drop(&t);
    return rc;
}
