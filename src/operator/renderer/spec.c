/* Templates in a resource: every string of its spec that holds a template is rendered with the
 * run-time values as .Values. SRO renders the JSON of the resource as a whole; here each string is
 * rendered by itself, so that quotes in a template do not end the string. */
#include <stdlib.h>
#include <string.h>

#include "chart/template/template.h"
#include "operator/renderer/frame.h"

struct resolving {
    struct sw_arena *arena;
    struct sw_value root;
    struct sw_err *err;
};

static bool is_template(struct json_object *value)
{
    return json_object_is_type(value, json_type_string) &&
           strstr(json_object_get_string(value), "{{");
}

static int render(struct resolving *r, const char *path, struct json_object *text,
                  struct json_object **out)
{
    SW_AUTO(sw_template_set) *set = sw_template_set_new();
    struct sw_template_out rendered = { 0 };
    const char *template = json_object_get_string(text);
    int rc = sw_template_add(set, path, template, strlen(template), r->err);
    if (rc == 0)
        rc = sw_template_exec(set, path, r->root, r->arena, NULL, &rendered, r->err);
    if (rc == 0)
        *out = json_object_new_string_len(rendered.text, (int)rendered.len);
    sw_template_out_done(&rendered);
    return rc;
}

/* @value with its templates rendered: a new reference. */
static int resolve(struct resolving *r, const char *path, struct json_object *value,
                   struct json_object **out)
{
    int rc = 0;
    if (is_template(value))
        return render(r, path, value, out);
    if (json_object_is_type(value, json_type_array)) {
        *out = json_object_new_array();
        for (size_t i = 0; rc == 0 && i < sw_json_len(value); i++) {
            struct json_object *item = NULL;
            SW_AUTO_CHARS *where = sw_printf("%s[%zu]", path, i);
            rc = resolve(r, where, sw_json_at(value, i), &item);
            (void)json_object_array_add(*out, item);
        }
    } else if (json_object_is_type(value, json_type_object)) {
        *out = json_object_new_object();
        json_object_object_foreach(value, key, item)
        {
            struct json_object *resolved = NULL;
            SW_AUTO_CHARS *where = sw_printf("%s.%s", path, key);
            rc = rc ? rc : resolve(r, where, item, &resolved);
            (void)json_object_object_add(*out, key, resolved);
        }
    } else {
        *out = json_object_get(value);
    }
    return rc;
}

int spec_resolve(struct json_object *spec, struct json_object *values, struct json_object **out,
                 struct sw_err *err)
{
    SW_AUTO(sw_arena) *arena = sw_arena_new();
    struct sw_map *root = sw_map_new(arena);
    sw_map_set_cstr(root, "Values", sw_value_from_json(arena, values));
    struct resolving r = { arena, sw_value_map(root), err };
    SW_AUTO_JSON *resolved = NULL;
    int rc = resolve(&r, "spec", spec, &resolved);
    if (rc == 0)
        *out = SW_TAKE(resolved);
    return rc;
}
