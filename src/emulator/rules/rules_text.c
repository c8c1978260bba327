#include "emulator/rules/rules_internal.h"

#include "data/yaml/yaml.h"

#include <stdlib.h>
#include <string.h>

/* Limits of one rendering. */
enum { FUEL = 1000000, MAX_OUTPUT = 8 << 20 };

void sw_scope_init(struct scope *scope, struct sw_rules *rules, json_object *object)
{
    *scope = (struct scope){ .rules = rules, .object = object };
}

void sw_scope_done(struct scope *scope)
{
    json_object_put(scope->each);
    json_object_put(scope->named);
    json_object_put(scope->match);
    sw_arena_free(scope->arena);
    *scope = (struct scope){ 0 };
}

void sw_scope_touch(struct scope *scope)
{
    scope->root = (struct sw_value){ 0 };
}

void sw_scope_name(struct scope *scope, const char *name, json_object *value)
{
    if (!scope->named)
        scope->named = json_object_new_object();
    json_object_object_add(scope->named, name, json_object_get(value));
    sw_scope_touch(scope);
}

bool sw_text_is_template(const char *text)
{
    return strstr(text, "{{") != NULL;
}

/* ---- variables ----------------------------------------------------------------------------------
 */

/* A document, or a list of them, without managedFields, which are often the largest part. New;
 * shares the rest. */
static json_object *without_managed(json_object *doc)
{
    json_object *meta = sw_json_get(doc, "metadata"), *copy;
    if (json_object_is_type(doc, json_type_array)) {
        copy = json_object_new_array();
        for (size_t i = 0; i < sw_json_len(doc); i++)
            json_object_array_add(copy, without_managed(sw_json_at(doc, i)));
        return copy;
    }
    if (!sw_json_get(meta, "managedFields"))
        return json_object_get(doc);
    copy = json_object_new_object();
    json_object_object_foreach(doc, key, value)
    {
        json_object_object_add(copy, key, json_object_get(value));
    }
    json_object *kept = json_object_new_object();
    json_object_object_foreach(meta, meta_key, meta_value)
    {
        if (!sw_streq(meta_key, "managedFields"))
            json_object_object_add(kept, meta_key, json_object_get(meta_value));
    }
    json_object_object_add(copy, "metadata", kept);
    return copy;
}

static void set_json(struct scope *scope, struct sw_map *map, const char *key, json_object *doc)
{
    SW_AUTO_JSON *shown = without_managed(doc);
    sw_map_set_cstr(map, key, sw_value_from_json(scope->arena, shown));
}

static void set_text(struct scope *scope, struct sw_map *map, const char *key, const char *text)
{
    sw_map_set_cstr(map, key, sw_value_str(scope->arena, text, strlen(text)));
}

/* The variables as a template's value. */
static struct sw_value root_of(struct scope *scope)
{
    const struct sw_rules *rules = scope->rules;
    const char *dot = strchr(rules->opts.kube_version, '.');
    char now[21];
    if (!scope->arena)
        scope->arena = sw_arena_new();
    struct sw_map *map = sw_map_new(scope->arena);
    set_json(scope, map, "object", scope->object);
    if (scope->has_each)
        set_json(scope, map, "each", scope->each);
    sw_map_set_cstr(map, "index", sw_value_int((int64_t)scope->index));
    if (scope->match)
        set_json(scope, map, "match", scope->match);
    if (scope->named) {
        json_object_object_foreach(scope->named, name, value)
        {
            set_json(scope, map, name, value);
        }
    }
    set_text(scope, map, "platform", rules->opts.platform);
    set_text(scope, map, "cloud", rules->opts.cloud);
    set_text(scope, map, "kubeVersion", rules->opts.kube_version);
    sw_map_set_cstr(map, "kubeMinor", sw_value_int(dot ? strtol(dot + 1, NULL, 10) : 0));
    sw_map_set_cstr(map, "nodes", sw_value_int(rules->opts.n_nodes));
    set_text(scope, map, "now", sw_time_rfc3339(sw_loop_now_ms(rules->loop), now));
    return sw_value_map(map);
}

/* The value of a template such as "{{ .object.spec.nodeName }}", as most are, without converting
 * whole documents to values first. Borrowed; NULL: another template, or not a string. */
static const char *plain_field(const struct scope *scope, const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    char key[64];
    json_object *at = NULL;
    bool first = true;
    if (!sw_starts_with(text, "{{ ."))
        return NULL;
    for (text += 3; *text == '.'; first = false) {
        size_t len = strspn(++text, letters);
        if (!len || len >= sizeof key)
            return NULL;
        memcpy(key, text, len);
        key[len] = '\0';
        text += len;
        if (!first)
            at = sw_json_get(at, key);
        else if (sw_streq(key, "object"))
            at = scope->object;
        else
            at = sw_streq(key, "each") ? scope->each : sw_json_get(scope->named, key);
    }
    bool whole = sw_streq(text, " }}") && json_object_is_type(at, json_type_string);
    return whole ? json_object_get_string(at) : NULL;
}

int sw_text_render(struct scope *scope, const char *text, char **out, struct sw_err *err)
{
    const char *plain = sw_text_is_template(text) ? plain_field(scope, text) : text;
    if (plain) {
        *out = sw_strdup(plain);
        return 0;
    }
    const struct rule_set *set = &scope->rules->set;
    struct sw_template_opts opts = {
        .fuel = FUEL,
        .max_output_bytes = MAX_OUTPUT,
        .now_ns = sw_loop_now_ms(scope->rules->loop) * 1000000,
        .seed = scope->rules->opts.seed,
    };
    struct sw_template_out got = { 0 };
    if (!scope->root.type)
        scope->root = root_of(scope);
    int rc = sw_template_exec(set->templates, sw_table_find(set->names, text), scope->root,
                              scope->arena, &opts, &got, err);
    if (rc == 0)
        *out = sw_strndup(got.text ? got.text : "", got.len);
    sw_template_out_done(&got);
    return rc;
}

/* ---- bodies -------------------------------------------------------------------------------------
 */

static int render_tree(struct scope *scope, json_object *tree, json_object **out,
                       struct sw_err *err);

/* Keys are rendered too; a key that is empty then is left out. */
static int render_map(struct scope *scope, json_object *tree, json_object **out, struct sw_err *err)
{
    SW_AUTO_JSON *map = json_object_new_object();
    json_object_object_foreach(tree, key, value)
    {
        SW_AUTO_CHARS *name = NULL;
        json_object *got = NULL;
        int rc = sw_text_render(scope, key, &name, err);
        rc = rc != 0 ? rc : render_tree(scope, value, &got, err);
        if (rc != 0)
            return rc;
        if (*name)
            json_object_object_add(map, name, got);
        else
            json_object_put(got);
    }
    *out = SW_TAKE(map);
    return 0;
}

static int render_tree(struct scope *scope, json_object *tree, json_object **out,
                       struct sw_err *err)
{
    if (json_object_is_type(tree, json_type_object))
        return render_map(scope, tree, out, err);
    if (json_object_is_type(tree, json_type_string)) {
        SW_AUTO_CHARS *text = NULL;
        int rc = sw_text_render(scope, json_object_get_string(tree), &text, err);
        if (rc == 0)
            *out = sw_str(text);
        return rc;
    }
    if (!json_object_is_type(tree, json_type_array)) {
        *out = sw_json_copy(tree);
        return 0;
    }
    SW_AUTO_JSON *list = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(tree); i++) {
        json_object *value = NULL;
        int rc = render_tree(scope, sw_json_at(tree, i), &value, err);
        if (rc < 0)
            return rc;
        json_object_array_add(list, value);
    }
    *out = SW_TAKE(list);
    return 0;
}

int sw_body_render(struct scope *scope, json_object *body, bool all, json_object **out,
                   struct sw_err *err)
{
    json_object *got = NULL;
    SW_AUTO_CHARS *text = NULL;
    int rc;
    if (!json_object_is_type(body, json_type_string)) {
        rc = render_tree(scope, body, &got, err);
        if (rc == 0)
            *out = all && got && !json_object_is_type(got, json_type_array) ? sw_doc_list(got, NULL)
                                                                            : got;
        return rc;
    }
    rc = sw_text_render(scope, json_object_get_string(body), &text, err);
    if (rc != 0 || !all)
        return rc != 0 ? rc : sw_yaml_parse(text, strlen(text), NULL, out, err);
    struct sw_yaml_docs docs = { 0 };
    rc = sw_yaml_parse_all(text, strlen(text), NULL, &docs, err);
    if (rc < 0)
        return rc;
    *out = json_object_new_array();
    for (size_t i = 0; i < docs.n_docs; i++)
        json_object_array_add(*out, json_object_get(docs.docs[i].object));
    sw_yaml_docs_done(&docs);
    return 0;
}
