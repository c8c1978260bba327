#include "emulator/rules/rules_internal.h"

#include "data/yaml/yaml.h"

#include <json-c/linkhash.h>
#include <stdlib.h>
#include <string.h>

/* What one rendering may cost: rules are small. */
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

/* ---- "." ----------------------------------------------------------------------------------------
 */

/* What templates see of a document: all but managedFields, which is often most of it. New; shares
 * the rest. */
static json_object *bare(json_object *doc)
{
    json_object *meta = sw_json_get(doc, "metadata"), *copy;
    if (json_object_is_type(doc, json_type_array)) {
        copy = json_object_new_array();
        for (size_t i = 0; i < sw_json_len(doc); i++)
            json_object_array_add(copy, bare(sw_json_at(doc, i)));
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
    json_object *seen = bare(doc);
    sw_map_set_cstr(map, key, sw_value_from_json(scope->arena, seen));
    json_object_put(seen);
}

static void set_text(struct scope *scope, struct sw_map *map, const char *key, const char *text)
{
    sw_map_set_cstr(map, key, sw_value_str(scope->arena, text, strlen(text)));
}

static int64_t minor_of(const char *version)
{
    const char *dot = strchr(version, '.');
    return dot ? strtol(dot + 1, NULL, 10) : 0;
}

static struct sw_value root_of(struct scope *scope)
{
    const struct sw_rules *rules = scope->rules;
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
    set_text(scope, map, "kubeVersion", rules->opts.kube_version);
    sw_map_set_cstr(map, "kubeMinor", sw_value_int(minor_of(rules->opts.kube_version)));
    sw_map_set_cstr(map, "nodes", sw_value_int(rules->opts.n_nodes));
    set_text(scope, map, "now", sw_time_rfc3339(sw_loop_now_ms(rules->loop), now));
    return sw_value_map(map);
}

/* "{{ .object.spec.nodeName }}" and its like, by far the most, without turning whole documents into
 * values first. @return the string, borrowed; NULL: not so simple, or no string. */
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
    struct lh_entry *entry = lh_table_lookup_entry(set->names, text);
    struct sw_template_opts opts = {
        .fuel = FUEL,
        .max_output_bytes = MAX_OUTPUT,
        .now_ns = sw_loop_now_ms(scope->rules->loop) * 1000000,
        .seed = scope->rules->opts.seed,
    };
    struct sw_template_out got = { 0 };
    if (!scope->root.type)
        scope->root = root_of(scope);
    int rc = sw_template_exec(set->templates, lh_entry_v(entry), scope->root, scope->arena, &opts,
                              &got, err);
    if (rc == 0)
        *out = sw_strndup(got.text ? got.text : "", got.len);
    sw_template_out_done(&got);
    return rc;
}

/* ---- bodies -------------------------------------------------------------------------------------
 */

static int render_tree(struct scope *scope, json_object *tree, json_object **out,
                       struct sw_err *err);

static int render_list(struct scope *scope, json_object *tree, json_object **out,
                       struct sw_err *err)
{
    json_object *list = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(tree); i++) {
        json_object *value = NULL;
        int rc = render_tree(scope, sw_json_at(tree, i), &value, err);
        if (rc < 0) {
            json_object_put(list);
            return rc;
        }
        json_object_array_add(list, value);
    }
    *out = list;
    return 0;
}

static int render_map(struct scope *scope, json_object *tree, json_object **out, struct sw_err *err)
{
    json_object *map = json_object_new_object();
    int rc = 0;
    json_object_object_foreach(tree, key, value)
    {
        SW_AUTO_CHARS *name = NULL;
        json_object *got = NULL;
        rc = sw_text_render(scope, key, &name, err);
        rc = rc < 0 ? rc : render_tree(scope, value, &got, err);
        if (rc < 0)
            break;
        if (*name)
            json_object_object_add(map, name, got);
        else
            json_object_put(got);
    }
    if (rc < 0) {
        json_object_put(map);
        return rc;
    }
    *out = map;
    return 0;
}

static int render_tree(struct scope *scope, json_object *tree, json_object **out,
                       struct sw_err *err)
{
    if (json_object_is_type(tree, json_type_array))
        return render_list(scope, tree, out, err);
    if (json_object_is_type(tree, json_type_object))
        return render_map(scope, tree, out, err);
    if (!json_object_is_type(tree, json_type_string)) {
        *out = sw_json_copy(tree);
        return 0;
    }
    char *text = NULL;
    int rc = sw_text_render(scope, json_object_get_string(tree), &text, err);
    if (rc == 0)
        *out = sw_str(text);
    free(text);
    return rc;
}

static int read_all(const char *text, json_object **out, struct sw_err *err)
{
    struct sw_yaml_docs docs = { 0 };
    int rc = sw_yaml_parse_all(text, strlen(text), NULL, &docs, err);
    if (rc < 0)
        return rc;
    json_object *list = json_object_new_array();
    for (size_t i = 0; i < docs.n_docs; i++)
        json_object_array_add(list, json_object_get(docs.docs[i].object));
    sw_yaml_docs_done(&docs);
    *out = list;
    return 0;
}

int sw_body_render(struct scope *scope, json_object *body, bool all, json_object **out,
                   struct sw_err *err)
{
    json_object *got = NULL;
    int rc;
    if (json_object_is_type(body, json_type_string)) {
        SW_AUTO_CHARS *text = NULL;
        rc = sw_text_render(scope, json_object_get_string(body), &text, err);
        if (rc == 0)
            rc = all ? read_all(text, &got, err)
                     : sw_yaml_parse(text, strlen(text), NULL, &got, err);
    } else {
        rc = render_tree(scope, body, &got, err);
    }
    if (rc < 0)
        return rc;
    if (all && got && !json_object_is_type(got, json_type_array))
        got = sw_doc_list(got, NULL);
    *out = got;
    return 0;
}
