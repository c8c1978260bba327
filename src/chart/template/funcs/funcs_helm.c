/* The functions that Helm adds: templates within templates, and conversions of values. */
#include <stdlib.h>

#include "chart/template/funcs/funcs.h"
#include "chart/template/go/strconv.h"
#include "chart/template/lang/exec.h"
#include "chart/template/toml/toml.h"
#include "chart/template/value/print.h"
#include "chart/template/value/value_text.h"
#include "data/data.h"

/* ---- include, tpl ---- */

struct include_count {
    struct name name;
    unsigned n;
    struct include_count *next;
};

static struct include_count *count_of(struct call *c, const struct name *name)
{
    struct include_count **at = &c->x->scope->includes;
    while (*at && !sw_name_equal(&(*at)->name, name))
        at = &(*at)->next;
    if (!*at) {
        *at = sw_arena_alloc(c->arena, sizeof **at);
        (*at)->name = *name;
    }
    return *at;
}

/* Execute a template and return its output. */
static int fn_include(struct call *c)
{
    enum { RECURSIONS = 1000 };
    struct sw_value s = c->args[0];
    struct name name = sw_name(s.as.s, s.len);
    struct include_count *count = count_of(c, &name);
    if (count->n > RECURSIONS)
        return sw_call_fail(
            c, "rendering template has a nested reference name: %.*s: unable to execute template",
            (int)s.len, s.as.s);
    struct sw_value data = c->args[1];
    if (data.type == SW_T_NIL)
        data.type = SW_T_INVALID;
    size_t mark;
    sw_call_text(c, &mark);
    count->n++;
    int rc = sw_exec_named(c->x, &name, data);
    count->n--;
    if (rc < 0) {
        c->x->text.len = mark;
        return rc;
    }
    return sw_return_text(c, mark);
}

/* A text given to tpl, parsed; the same text often comes again. */
struct tpl_cache {
    const char *text;
    size_t len;
    const char *name;
    uint32_t hash;
    struct tmpl *tmpls;
    struct tpl_cache *next;
};

static int parse_tpl(struct call *c, struct sw_value text, const char *name, struct tmpl **out)
{
    struct exec *x = c->x;
    uint32_t hash = sw_name_hash(text.as.s, text.len);
    for (struct tpl_cache *t = x->tpls; t; t = t->next) {
        if (t->hash == hash && t->len == text.len && memcmp(t->text, text.as.s, text.len) == 0 &&
            strcmp(t->name, name) == 0) {
            *out = t->tmpls;
            return 0;
        }
    }
    struct source *source = sw_arena_alloc(c->arena, sizeof *source);
    *source = (struct source){ name, text.as.s, text.len };
    int rc = sw_call_charge(c, text.len / 16);
    if (rc == 0)
        rc = sw_template_parse(c->arena, x->funcs, source, out, x->err);
    if (rc < 0)
        return sw_parse_clean_error(x->err, rc, name);
    struct tpl_cache *t = sw_arena_alloc(c->arena, sizeof *t);
    *t = (struct tpl_cache){ text.as.s, text.len, name, hash, *out, x->tpls };
    x->tpls = t;
    return 0;
}

static int tpl_failed(struct call *c, struct sw_value text, int rc)
{
    return sw_err_wrap(c->x->err, rc, "error during tpl function execution for %s",
                       sw_quoted(c->arena, text.as.s, text.len));
}

static int tpl_without_path(struct call *c, const char *what, const char *path,
                            struct sw_value text)
{
    return sw_call_fail(c,
                        "cannot retrieve %s from values inside tpl function: %.*s: \"%s\" is not a "
                        "value",
                        what, (int)text.len, text.as.s, path);
}

/* Parse a text and execute it under the name of the calling template. It can use the templates of
 * the chart except those of the calling file. */
static int fn_tpl(struct call *c)
{
    struct sw_value text = c->args[0], values = c->args[1];
    struct sw_value base = sw_value_path(values, "Template.BasePath");
    struct sw_value file = sw_value_path(values, "Template.Name");
    if (base.type != SW_T_STRING)
        return tpl_without_path(c, "Template.Basepath", "BasePath", text);
    if (file.type != SW_T_STRING)
        return tpl_without_path(c, "Template.Name", "Name", text);
    struct exec *x = c->x;
    enum { DEEPEST = 1000 }; /* as include; in Helm only the stack ends it */
    if (x->tpl_depth >= DEEPEST)
        return sw_call_fail(c, "texts are executed in each other more than %d deep", DEEPEST);
    struct name name = sw_name(file.as.s, file.len);
    const char *file_name = sw_arena_strndup(c->arena, file.as.s, file.len);
    struct tmpl *tmpls;
    int rc = parse_tpl(c, text, file_name, &tmpls);
    if (rc < 0)
        return tpl_failed(c, text, rc);
    struct scope scope = { .names = x->scope->names, .own = tmpls, .replaced = &name };
    struct scope *outer = x->scope;
    struct sw_value dot = sw_value_typed_map(SW_T_VALUES, values.as.map);
    size_t mark;
    sw_call_text(c, &mark);
    if (!sw_template_is_partial(file_name)) { /* Helm renders no partial, tpl's included */
        x->scope = &scope;
        x->tpl_depth++;
        rc = sw_exec_named(x, &name, dot);
        x->tpl_depth--;
        x->scope = outer;
    }
    if (rc < 0) {
        x->text.len = mark;
        rc = sw_exec_clean_error(x->err, rc, file_name);
        return tpl_failed(c, text, rc);
    }
    sw_exec_strip_no_value(x, mark);
    return sw_return_text(c, mark);
}

/* ---- required, fail, lookup ---- */

#define MARKED "HELM_ERR_START%.*sHELM_ERR_END"

static int fn_required(struct call *c)
{
    struct sw_value v = c->args[1];
    if (!sw_value_is_nil(v) && !(v.type == SW_T_STRING && v.len == 0))
        return sw_return(c, v);
    /* Helm uses the message as a format, without operands */
    size_t mark, len;
    struct text *t = sw_call_text(c, &mark);
    sw_printf_values(t, c->args[0].as.s, c->args[0].len, NULL, 0);
    const char *message = sw_text_take(t, mark, c->arena, &len);
    return sw_call_fail(c, MARKED, (int)len, message);
}

static int fn_fail(struct call *c)
{
    return sw_call_fail(c, MARKED, (int)c->args[0].len, c->args[0].as.s);
}

static int fn_lookup(struct call *c)
{
    const struct sw_template_opts *o = &c->x->opts;
    struct sw_value found = sw_value_nil();
    const char *texts[4];
    for (size_t i = 0; i < 4; i++)
        texts[i] = sw_arena_strndup(c->arena, c->args[i].as.s, c->args[i].len);
    if (o->lookup) {
        int rc = o->lookup(o->lookup_arg, texts[0], texts[1], texts[2], texts[3], c->arena, &found,
                           c->x->err);
        if (rc < 0)
            return rc;
    }
    return sw_return(c, sw_value_is_map(found) ? found : sw_value_map(sw_map_new(c->arena)));
}

/* ---- conversions ---- */

enum format { JSON, YAML, TOML };

/* The value in a text format, or "" where the format cannot hold it: Helm drops the error. */
static int fn_to_yaml(struct call *c)
{
    size_t mark;
    SW_ERR(ignored);
    struct text *t = sw_call_text(c, &mark);
    if (sw_value_write_yaml(t, c->args[0], c->arena, &ignored) < 0)
        t->len = mark;
    if (t->len > mark && t->p[t->len - 1] == '\n')
        t->len--;
    return sw_return_text(c, mark);
}

/* toYamlPretty of newer Helms; an error is its own text there. */
static int fn_to_yaml_pretty(struct call *c)
{
    size_t mark;
    SW_ERR(err);
    struct text *t = sw_call_text(c, &mark);
    if (sw_value_write_yaml_pretty(t, c->args[0], c->arena, &err) < 0) {
        t->len = mark;
        sw_text_puts(t, sw_err_text(&err));
    }
    if (t->len > mark && t->p[t->len - 1] == '\n')
        t->len--;
    return sw_return_text(c, mark);
}

/* mustToYaml, mustToToml of newer Helms: an error where toYaml gives nothing. */
static int fn_must_to(struct call *c)
{
    size_t mark;
    SW_ERR(err);
    struct text *t = sw_call_text(c, &mark);
    int rc = c->func->variant == YAML ? sw_value_write_yaml(t, c->args[0], c->arena, &err)
                                      : sw_value_write_toml(t, c->args[0], &err);
    if (rc < 0) {
        t->len = mark;
        return sw_call_fail(c, "%s", sw_err_text(&err));
    }
    if (c->func->variant == YAML && t->len > mark && t->p[t->len - 1] == '\n')
        t->len--;
    return sw_return_text(c, mark);
}

static int fn_to_json(struct call *c)
{
    size_t mark;
    SW_ERR(ignored);
    struct text *t = sw_call_text(c, &mark);
    if (sw_value_write_json(t, c->args[0], SW_VALUE_JSON_HTML, &ignored) < 0)
        t->len = mark;
    return sw_return_text(c, mark);
}

static int fn_to_toml(struct call *c)
{
    size_t mark;
    SW_ERR(err);
    struct text *t = sw_call_text(c, &mark);
    if (sw_value_is_nil(c->args[0])) /* no document: Go's encoder panics */
        return sw_call_fail(c, "reflect: call of reflect.Value.Type on zero Value");
    if (sw_value_write_toml(t, c->args[0], &err) < 0) {
        t->len = mark;
        sw_text_puts(t, sw_err_text(&err));
    }
    return sw_return_text(c, mark);
}

static int read_as(struct call *c, enum format format, struct sw_value *out, struct sw_err *err)
{
    const struct sw_yaml_opts opts = { .max_bytes = 64 << 20,
                                       .allow_duplicate = true,
                                       .go_words = true };
    const char *s = c->args[0].as.s;
    size_t len = c->args[0].len;
    int rc = sw_call_charge(c, len / 16);
    if (rc < 0)
        return rc;
    if (format == JSON)
        return sw_value_read_json(c->arena, s, len, out, err);
    if (format == YAML) {
        rc = sw_value_read_yaml(c->arena, s, len, &opts, out, err);
        return rc < 0 ? sw_err_wrap(err, rc, "error converting YAML to JSON") : 0;
    }
    return sw_value_read_toml(c->arena, s, len, out, err);
}

static int unmarshal_type_error(struct sw_err *err, enum format format, struct sw_value v,
                                const char *wanted)
{
    const char *got = v.type == SW_T_STRING   ? "string"
                      : v.type == SW_T_BOOL   ? "bool"
                      : sw_value_is_number(v) ? "number"
                      : sw_value_is_list(v)   ? "array"
                                              : "object";
    return sw_err_set(err, SW_INVALID, "%sjson: cannot unmarshal %s into Go value of type %s",
                      format == YAML ? "error unmarshaling JSON: while decoding JSON: " : "", got,
                      wanted);
}

/* fromJson, fromYaml, fromToml: a map; with the key Error where the text is invalid. */
static int fn_from_map(struct call *c)
{
    struct sw_value v;
    SW_ERR(err);
    int rc = read_as(c, c->func->variant, &v, &err);
    if (rc == 0 && sw_value_is_nil(v))
        return sw_return(c, sw_value_map(c->func->variant == YAML ? sw_map_new(c->arena) : NULL));
    if (rc == 0 && !sw_value_is_map(v))
        rc = unmarshal_type_error(&err, c->func->variant, v, "map[string]interface {}");
    if (rc == 0)
        return sw_return(c, v);
    struct sw_map *map = sw_map_new(c->arena);
    const char *text = sw_err_text(&err);
    sw_map_set_borrowed(map, "Error", 5, sw_value_str(c->arena, text, strlen(text)));
    return sw_return(c, sw_value_map(map));
}

/* fromJsonArray, fromYamlArray: a list; of one error where the text is invalid. */
static int fn_from_list(struct call *c)
{
    struct sw_value v;
    SW_ERR(err);
    int rc = read_as(c, c->func->variant, &v, &err);
    if (rc == 0 && sw_value_is_nil(v))
        return sw_return(c, sw_value_list(NULL));
    if (rc == 0 && !sw_value_is_list(v))
        rc = unmarshal_type_error(&err, c->func->variant, v, "[]interface {}");
    if (rc == 0)
        return sw_return(c, v);
    struct sw_list *list = sw_list_new(c->arena, 1);
    const char *text = sw_err_text(&err);
    sw_list_add(list, sw_value_str(c->arena, text, strlen(text)));
    return sw_return(c, sw_value_list(list));
}

const struct func sw_funcs_helm[] = {
    { "include", fn_include, "sv", "the output of a named template", 0, 0 },
    { "tpl", fn_tpl, "sV", "the output of a text executed as a template", 0, 0 },
    { "required", fn_required, "sv", "the value, or an error where it is nil or \"\"", 0, 0 },
    { "fail", fn_fail, "s", "end rendering with a message", 0, 0 },
    { "lookup", fn_lookup, "ssss", "an object of the cluster, by apiVersion, kind, namespace, name",
      0, 0 },
    { "toYaml", fn_to_yaml, "v", "the value as YAML", 0, 0 },
    { "toYamlPretty", fn_to_yaml_pretty, "v", "the value as YAML, lists indented", 0, 0 },
    { "toJson", fn_to_json, "v", "the value as JSON", 0, 0 },
    { "toToml", fn_to_toml, "v", "the value as TOML", 0, 0 },
    { "mustToYaml", fn_must_to, "v", "the value as YAML, or an error", YAML, 0 },
    { "mustToToml", fn_must_to, "v", "the value as TOML, or an error", TOML, 0 },
    { "fromYaml", fn_from_map, "s", "a map out of YAML; its key Error says what is wrong", YAML,
      0 },
    { "fromJson", fn_from_map, "s", "a map out of JSON; its key Error says what is wrong", JSON,
      0 },
    { "fromToml", fn_from_map, "s", "a map out of TOML; its key Error says what is wrong", TOML,
      0 },
    { "fromYamlArray", fn_from_list, "s", "a list out of YAML", YAML, 0 },
    { "fromJsonArray", fn_from_list, "s", "a list out of JSON", JSON, 0 },
    { 0 },
};
