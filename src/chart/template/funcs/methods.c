/* What templates can call on the values that have Go methods. */
#include "chart/template/funcs/funcs.h"
#include "chart/template/go/glob.h"
#include "chart/template/go/gotime.h"
#include "chart/template/lang/exec.h"
#include "chart/template/value/print.h"
#include "chart/template/value/value_text.h"

/* ---- chartutil.Values ---- */

static int no_value(struct call *c, const char *key, size_t len)
{
    return sw_call_fail(c, "\"%.*s\" is not a value", (int)len, key);
}

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
    int rc = find_table(c, &table, path, parents);
    if (rc < 0)
        return no_value(c, key, key_len);
    struct sw_value *v = sw_map_find(table.as.map, key, key_len);
    if (!v || sw_value_is_map(*v))
        return no_value(c, key, key_len);
    return sw_return(c, *v);
}

static int fn_values_as_map(struct call *c)
{
    if (sw_map_count(c->self.as.map) == 0)
        return sw_return(c, sw_value_map(sw_map_new(c->arena)));
    return sw_return(c, sw_value_map(c->self.as.map));
}

static int fn_values_yaml(struct call *c)
{
    size_t mark;
    struct text *t = sw_call_text(c, &mark);
    int rc = sw_value_write_yaml(t, c->self, c->arena, c->x->err);
    return rc < 0 ? rc : sw_return_text(c, mark);
}

const struct func sw_methods_values[] = {
    { "YAML", fn_values_yaml, "", "the values as YAML", 0, 0 },
    { "Table", fn_values_table, "s", "a map within, by dotted path", 0, 0 },
    { "AsMap", fn_values_as_map, "", "the values as a plain map", 0, 0 },
    { "PathValue", fn_values_path_value, "s", "a value that is no map, by dotted path", 0, 0 },
    { 0 },
};

/* ---- .Files ---- */

static struct sw_value file_bytes(struct call *c)
{
    struct sw_value *v = sw_map_find(c->self.as.map, c->args[0].as.s, c->args[0].len);
    return v ? *v : (struct sw_value){ .type = SW_T_BYTES, .as.s = "" };
}

static int fn_files_get_bytes(struct call *c)
{
    return sw_return(c, file_bytes(c));
}

static int fn_files_get(struct call *c)
{
    struct sw_value v = file_bytes(c);
    return sw_return(c, sw_value_text(v.as.s, v.len));
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
    const char *s = v ? v->as.s : NULL, *end = v ? s + v->len : NULL;
    while (s) {
        const char *nl = memchr(s, '\n', (size_t)(end - s));
        sw_list_add(lines, sw_value_text(s, (size_t)((nl ? nl : end) - s)));
        if (!nl)
            break;
        s = nl + 1;
    }
    return sw_return(c, sw_value_typed_list(SW_T_STRINGS, lines));
}

/* The files by base name, as text or as base64, in YAML. */
static int files_as_yaml(struct call *c, bool base64)
{
    struct sw_map *map = sw_map_new(c->arena);
    const struct sw_entry *e = sw_map_sorted(c->self.as.map);
    size_t n = sw_map_count(c->self.as.map), mark, len;
    struct text *t = sw_call_text(c, &mark);
    if (!c->self.as.map)
        return sw_return(c, sw_value_text("", 0));
    for (size_t i = 0; i < n; i++) {
        const char *slash = memrchr(e[i].key, '/', e[i].key_len), *s = e[i].value.as.s;
        const char *name = slash ? slash + 1 : e[i].key;
        size_t name_len = e[i].key_len - (size_t)(name - e[i].key);
        len = e[i].value.len;
        if (base64) {
            sw_text_base64(t, s, len);
            s = sw_text_take(t, mark, c->arena, &len);
        }
        sw_map_set_borrowed(map, name, name_len, sw_value_text(s, len));
    }
    int rc = sw_value_write_yaml(t, sw_value_map(map), c->arena, c->x->err);
    if (rc < 0)
        t->len = mark;
    if (t->len > mark && t->p[t->len - 1] == '\n')
        t->len--;
    return sw_return_text(c, mark);
}

static int fn_files_as_config(struct call *c)
{
    return files_as_yaml(c, false);
}

static int fn_files_as_secrets(struct call *c)
{
    return files_as_yaml(c, true);
}

const struct func sw_methods_files[] = {
    { "Get", fn_files_get, "s", "a file as text; \"\" where there is none", 0, 0 },
    { "GetBytes", fn_files_get_bytes, "s", "a file as bytes", 0, 0 },
    { "Glob", fn_files_glob, "s", "the files that match a pattern", 0, 0 },
    { "Lines", fn_files_lines, "s", "a file's lines", 0, 0 },
    { "AsConfig", fn_files_as_config, "", "the files as the data of a ConfigMap", 0, 0 },
    { "AsSecrets", fn_files_as_secrets, "", "the files as the data of a Secret", 0, 0 },
    { 0 },
};

/* ---- .Capabilities.APIVersions ---- */

static int fn_versions_has(struct call *c)
{
    struct sw_value want = c->args[0];
    bool has = false;
    for (size_t i = 0; i < sw_value_len(c->self) && !has; i++)
        has = sw_value_equal(sw_value_at(c->self, i), want);
    return sw_return(c, sw_value_bool(has));
}

const struct func sw_methods_versions[] = {
    { "Has", fn_versions_has, "s", "whether the cluster serves a version, or a version and kind", 0,
      0 },
    { 0 },
};

/* ---- durations, months, errors ---- */

static int fn_string(struct call *c)
{
    size_t mark;
    struct text *t = sw_call_text(c, &mark);
    sw_value_stringer(t, c->self);
    return sw_return_text(c, mark);
}

/* Hours, Minutes, Seconds: a whole part and a fraction, as Go computes them. */
static int fn_duration_float(struct call *c)
{
    int64_t unit = c->func->variant * 1000000000ll;
    double f = (double)(c->self.as.i / unit) + (double)(c->self.as.i % unit) / (double)unit;
    return sw_return(c, sw_value_float(f));
}

static int fn_duration_int(struct call *c)
{
    int64_t unit = 1;
    for (unsigned i = 0; i < c->func->variant; i++)
        unit *= 10;
    return sw_return(c, sw_value_int64(c->self.as.i / unit));
}

static int fn_duration_abs(struct call *c)
{
    struct sw_value v = c->self;
    v.as.i = v.as.i == INT64_MIN ? INT64_MAX : v.as.i < 0 ? -v.as.i : v.as.i;
    return sw_return(c, v);
}

/* Truncate, Round. */
static int fn_duration_multiple(struct call *c)
{
    struct sw_value v = c->self;
    v.as.i = sw_duration_multiple(v.as.i, c->args[0].as.i, c->func->variant);
    return sw_return(c, v);
}

const struct func sw_methods_duration[] = {
    { "String", fn_string, "", "such as 1h2m3s", 0, 0 },
    { "Hours", fn_duration_float, "", "in hours", 3600, 0 },
    { "Minutes", fn_duration_float, "", "in minutes", 60, 0 },
    { "Seconds", fn_duration_float, "", "in seconds", 1, 0 },
    { "Milliseconds", fn_duration_int, "", "in milliseconds", 6, 0 },
    { "Microseconds", fn_duration_int, "", "in microseconds", 3, 0 },
    { "Nanoseconds", fn_duration_int, "", "in nanoseconds", 0, 0 },
    { "Abs", fn_duration_abs, "", "without its sign", 0, 0 },
    { "Truncate", fn_duration_multiple, "d", "down to a multiple", 0, 0 },
    { "Round", fn_duration_multiple, "d", "to the nearest multiple", 1, 0 },
    { 0 },
};

const struct func sw_methods_string_only[] = {
    { "String", fn_string, "", "the name", 0, 0 },
    { 0 },
};

const struct func sw_methods_error[] = {
    { "Error", fn_string, "", "what is wrong", 0, 0 },
    { 0 },
};
