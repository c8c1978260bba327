/* The methods of values that templates can call. */
#include "chart/template/funcs/funcs.h"
#include "chart/template/lang/exec.h"
#include "chart/template/value/print.h"
#include "chart/template/value/value_text.h"
#include "data/go/glob.h"

/* ---- chartutil.Values ---- */

/* Walk a dotted path of tables. */
static int find_table(struct call *c, struct sw_value *table, const char *path, size_t len)
{
    while (len > 0) {
        const char *dot = memchr(path, '.', len);
        size_t n = dot ? (size_t)(dot - path) : len;
        struct sw_value *found = sw_map_find(table->as.map, path, n);
        if (!found || !sw_value_is_map(*found))
            return sw_call_fail(c, "\"%.*s\" is not a table", (int)n, path);
        *table = *found;
        path += n + (dot != NULL);
        len -= n + (dot != NULL);
    }
    table->type = SW_T_VALUES;
    return 0;
}

static int fn_values_table(struct call *c)
{
    struct sw_value table = c->self;
    int rc = find_table(c, &table, c->args[0].as.s, c->args[0].len);
    return rc < 0 ? rc : sw_return(c, table);
}

static int fn_values_path_value(struct call *c)
{
    const char *path = c->args[0].as.s, *dot = memrchr(path, '.', c->args[0].len);
    size_t len = c->args[0].len, parents = dot ? (size_t)(dot - path) : 0;
    const char *key = dot ? dot + 1 : path;
    size_t key_len = len - (size_t)(key - path);
    struct sw_value table = c->self;
    if (len == 0)
        return sw_call_fail(c, "values path cannot be empty");
    const struct sw_value *v = NULL;
    if (find_table(c, &table, path, parents) == 0)
        v = sw_map_find(table.as.map, key, key_len);
    if (!v || sw_value_is_map(*v))
        return sw_call_fail(c, "\"%.*s\" is not a value", (int)key_len, key);
    return sw_return(c, *v);
}

static int fn_values_as_map(struct call *c)
{
    bool empty = sw_map_count(c->self.as.map) == 0;
    return sw_return(c, sw_value_map(empty ? sw_map_new(c->arena) : c->self.as.map));
}

static int fn_values_yaml(struct call *c)
{
    int rc = sw_value_write_yaml(c->text, c->self, false, c->arena, c->x->err);
    return rc < 0 ? rc : sw_return_text(c);
}

const struct func sw_methods_values[] = {
    { "YAML", fn_values_yaml, "", "the values as YAML", 0, 0 },
    { "Table", fn_values_table, "s", "a map within, by dotted path", 0, 0 },
    { "AsMap", fn_values_as_map, "", "the values as a plain map", 0, 0 },
    { "PathValue", fn_values_path_value, "s", "a value that is no map, by dotted path", 0, 0 },
    { 0 },
};

/* ---- .Files ---- */

/* Get, GetBytes: the variant is the result's type. */
static int fn_files_get(struct call *c)
{
    const struct sw_value *found = sw_map_find(c->self.as.map, c->args[0].as.s, c->args[0].len);
    struct sw_value v = found ? *found : sw_value_text("", 0);
    v.type = (uint8_t)c->func->variant;
    return sw_return(c, v);
}

static int fn_files_glob(struct call *c)
{
    SW_AUTO(sw_glob) *glob = sw_glob_new(c->args[0].as.s, c->args[0].len);
    if (!glob) /* as Helm does for an invalid pattern */
        glob = sw_glob_new("**", 2);
    struct sw_map *found = sw_map_new(c->arena);
    const struct sw_entry *e = sw_map_sorted(c->self.as.map);
    for (size_t i = 0; i < sw_map_count(c->self.as.map); i++) {
        int rc = sw_call_charge(c, 1);
        if (rc < 0)
            return rc;
        if (sw_glob_match(glob, e[i].key, e[i].key_len))
            sw_map_set_borrowed(found, e[i].key, e[i].key_len, e[i].value);
    }
    return sw_return(c, sw_value_typed_map(SW_T_FILES, found));
}

static int fn_files_lines(struct call *c)
{
    const struct sw_value *v = sw_map_find(c->self.as.map, c->args[0].as.s, c->args[0].len);
    struct sw_list *lines = sw_list_new(c->arena, 0);
    bool any = v && v->len > 0;
    const char *s = any ? v->as.s : NULL, *end = any ? s + v->len : NULL;
    if (any && end[-1] == '\n')
        end--;
    while (s) {
        const char *nl = memchr(s, '\n', (size_t)(end - s));
        if (sw_arena_is_over(c->arena))
            break;
        sw_list_add(lines, sw_value_text(s, (size_t)((nl ? nl : end) - s)));
        if (!nl)
            break;
        s = nl + 1;
    }
    return sw_return(c, sw_value_typed_list(SW_T_STRINGS, lines));
}

enum { CONFIG, SECRETS };

/* The files by base name, as text or (SECRETS) as base64, in YAML. */
static int fn_files_as_yaml(struct call *c)
{
    struct sw_map *map = sw_map_new(c->arena);
    const struct sw_entry *e = sw_map_sorted(c->self.as.map);
    struct text *t = c->text;
    if (!c->self.as.map)
        return sw_return(c, sw_value_text("", 0));
    for (size_t i = 0; i < sw_map_count(c->self.as.map); i++) {
        const char *slash = memrchr(e[i].key, '/', e[i].key_len);
        const char *name = slash ? slash + 1 : e[i].key;
        size_t name_len = e[i].key_len - (size_t)(name - e[i].key);
        struct sw_value text = sw_value_text(e[i].value.as.s, e[i].value.len);
        if (c->func->variant == SECRETS) {
            sw_text_base64(t, text.as.s, text.len);
            text = sw_call_take(c);
        }
        sw_map_set_borrowed(map, name, name_len, text);
    }
    if (sw_value_write_yaml(t, sw_value_map(map), false, c->arena, NULL) < 0)
        t->len = c->mark;
    if (t->len > c->mark && t->p[t->len - 1] == '\n')
        t->len--;
    return sw_return_text(c);
}

const struct func sw_methods_files[] = {
    { "Get", fn_files_get, "s", "a file as text; \"\" where there is none", SW_T_STRING, 0 },
    { "GetBytes", fn_files_get, "s", "a file as bytes", SW_T_BYTES, 0 },
    { "Glob", fn_files_glob, "s", "the files that match a pattern", 0, 0 },
    { "Lines", fn_files_lines, "s", "a file's lines", 0, 0 },
    { "AsConfig", fn_files_as_yaml, "", "the files as the data of a ConfigMap", CONFIG, 0 },
    { "AsSecrets", fn_files_as_yaml, "", "the files as the data of a Secret", SECRETS, 0 },
    { 0 },
};

/* ---- .Capabilities.APIVersions ---- */

static int fn_versions_has(struct call *c)
{
    bool has = false;
    for (size_t i = 0; i < sw_value_len(c->self) && !has; i++)
        has = sw_value_equal(sw_value_at(c->self, i), c->args[0]);
    return sw_return(c, sw_value_bool(has));
}

const struct func sw_methods_versions[] = {
    { "Has", fn_versions_has, "s", "whether the cluster serves a version, or a version and kind", 0,
      0 },
    { 0 },
};

/* ---- months, errors ---- */

int sw_method_string(struct call *c)
{
    sw_value_stringer(c->text, c->self);
    return sw_return_text(c);
}

const struct func sw_methods_string_only[] = {
    { "String", sw_method_string, "", "the name", 0, 0 },
    { 0 },
};

const struct func sw_methods_error[] = {
    { "Error", sw_method_string, "", "what is wrong", 0, 0 },
    { 0 },
};
