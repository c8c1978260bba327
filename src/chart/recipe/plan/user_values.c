#include "chart/recipe/plan/user_values.h"

#include <stdlib.h>
#include <string.h>

#include <json-c/json_object.h>

#include "chart/recipe/plan/strvals.h"

enum { MAX_FILE_BYTES = 16 << 20 };

struct sw_values *sw_values_new(void)
{
    struct sw_values *values = sw_zalloc(1, sizeof *values);
    values->arena = sw_arena_new();
    values->map = sw_map_new(values->arena);
    return values;
}

void sw_values_free(struct sw_values *values)
{
    if (!values)
        return;
    sw_arena_free(values->arena);
    free(values);
}

/* Merge @src into @dst: maps are merged, all else of @src replaces. Values are shared. Source:
 * Helm's cli/values mergeMaps. */
static void merge(struct sw_map *dst, struct sw_map *src)
{
    size_t n = sw_map_count(src);
    const struct sw_entry *all = sw_map_sorted(src);
    for (size_t i = 0; i < n; i++) {
        struct sw_value *there = sw_map_find(dst, all[i].key, all[i].key_len);
        if (there && there->type == SW_T_MAP && all[i].value.type == SW_T_MAP)
            merge(there->as.map, all[i].value.as.map);
        else
            sw_map_set(dst, all[i].key, all[i].key_len, all[i].value);
    }
}

int sw_values_add_yaml(struct sw_values *values, const char *name, const char *text, size_t len,
                       struct sw_err *err)
{
    if (len > MAX_FILE_BYTES)
        return sw_err_set(err, SW_INVALID, "%s: larger than %d bytes", name, MAX_FILE_BYTES);
    struct sw_value v;
    int rc = sw_value_from_yaml(values->arena, name, text, len, &v, err);
    if (rc < 0)
        return rc;
    if (v.type != SW_T_MAP && !sw_value_is_nil(v))
        return sw_err_set(err, SW_INVALID, "%s: values must be a map", name);
    if (v.type == SW_T_MAP)
        merge(values->map, v.as.map);
    return 0;
}

int sw_values_add_file(struct sw_values *values, const char *path, struct sw_err *err)
{
    SW_AUTO_CHARS *text = NULL;
    size_t len;
    int rc = sw_file_read(sw_streq(path, "-") ? "/dev/stdin" : path, MAX_FILE_BYTES, &text, &len,
                          err);
    return rc < 0 ? rc : sw_values_add_yaml(values, path, text, len, err);
}

int sw_values_add_json(struct sw_values *values, const struct json_object *doc, struct sw_err *err)
{
    if (!doc)
        return 0;
    if (!json_object_is_type((struct json_object *)doc, json_type_object))
        return sw_err_set(err, SW_INVALID, "values must be an object");
    merge(values->map, sw_value_from_json(values->arena, doc).as.map);
    return 0;
}

int sw_values_set(struct sw_values *values, enum sw_values_syntax syntax, const char *expression,
                  struct sw_err *err)
{
    static const char *const flags[] = {
        [SW_VALUES_TYPED] = "--set",           [SW_VALUES_STRING] = "--set-string",
        [SW_VALUES_JSON] = "--set-json",       [SW_VALUES_FILE] = "--set-file",
        [SW_VALUES_LITERAL] = "--set-literal",
    };
    int rc = sw_strvals_parse(values->map, syntax, expression, err);
    return rc < 0 ? sw_err_wrap(err, rc, "%s %s", flags[syntax], expression) : 0;
}

struct json_object *sw_values_json(const struct sw_values *values)
{
    return sw_value_to_json(sw_value_map(values->map));
}

static int set_all(struct sw_values *values, enum sw_values_syntax syntax, const char *const *list,
                   size_t n, struct sw_err *err)
{
    for (size_t i = 0; i < n; i++) {
        int rc = sw_values_set(values, syntax, list[i], err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int sw_values_from_flags(const struct sw_values_flags *flags, struct sw_values **out,
                         struct sw_err *err)
{
    SW_AUTO(sw_values) *values = sw_values_new();
    int rc = 0;
    for (size_t i = 0; i < flags->n_files && rc == 0; i++)
        rc = sw_values_add_file(values, flags->files[i], err);
    if (rc == 0)
        rc = set_all(values, SW_VALUES_JSON, flags->json, flags->n_json, err);
    if (rc == 0)
        rc = set_all(values, SW_VALUES_TYPED, flags->set, flags->n_set, err);
    if (rc == 0)
        rc = set_all(values, SW_VALUES_STRING, flags->string, flags->n_string, err);
    if (rc == 0)
        rc = set_all(values, SW_VALUES_FILE, flags->file, flags->n_file, err);
    if (rc == 0)
        rc = set_all(values, SW_VALUES_LITERAL, flags->literal, flags->n_literal, err);
    if (rc == 0)
        *out = SW_TAKE(values);
    return rc;
}
