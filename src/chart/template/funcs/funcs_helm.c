/* The functions that Helm adds: templates within templates, and conversions of values. */

#include "chart/template/funcs/funcs.h"
#include "chart/template/lang/exec.h"
#include "chart/template/toml/toml.h"
#include "chart/template/value/print.h"
#include "chart/template/value/value_text.h"
#include "data/data.h"
#include "data/go/strconv.h"

/* ---- include, tpl ---- */

struct include_count {
    struct name name;
    unsigned n;
    struct include_count *next;
};

/* Execute a template and return its output. */
static int fn_include(struct call *c)
{
    enum { RECURSIONS = 1000 };
    struct sw_value s = c->args[0];
    struct name name = sw_name(s.as.s, s.len);
    struct include_count **at = &c->x->includes;
    while (*at && !sw_name_equal(&(*at)->name, &name))
        at = &(*at)->next;
    if (!*at) {
        *at = sw_arena_alloc(c->arena, sizeof **at);
        (*at)->name = name;
    }
    struct include_count *count = *at;
    if (count->n > RECURSIONS)
        return sw_call_fail(
            c, "rendering template has a nested reference name: %.*s: unable to execute template",
            (int)s.len, s.as.s);
    struct sw_value data = c->args[1];
    if (data.type == SW_T_NIL)
        data.type = SW_T_INVALID;
    count->n++;
    int rc = sw_exec_named(c->x, &name, data);
    count->n--;
    return rc < 0 ? rc : sw_return_text(c);
}

/* A text given to tpl, parsed; the same text often comes again. */
struct tpl_cache {
    const char *text;
    size_t len;
    uint32_t hash;
    struct tmpl *tmpls;
    struct tpl_cache *next;
};

/* The name of a text's own template: that of the set, which Helm's tpl takes. */
static const char tpl_name[] = "gotpl";

/* The templates of @text, its own among them. */
static int parse_tpl(struct call *c, struct sw_value text, struct tmpl **out)
{
    struct exec *x = c->x;
    uint32_t hash = sw_name_hash(text.as.s, text.len);
    size_t passed = 0;
    for (struct tpl_cache *t = x->tpls; t; t = t->next, passed++) {
        if (t->hash == hash && t->len == text.len && memcmp(t->text, text.as.s, text.len) == 0) {
            *out = t->tmpls;
            return 0;
        }
    }
    struct source *source = sw_arena_alloc(c->arena, sizeof *source);
    *source = (struct source){ tpl_name, text.as.s, text.len };
    int rc = sw_call_charge(c, text.len / 4 + passed / 16);
    if (rc == 0)
        rc = sw_template_parse(c->arena, x->funcs, source, out, x->err);
    if (rc != 0)
        return rc;
    struct tpl_cache *t = sw_arena_alloc(c->arena, sizeof *t);
    *t = (struct tpl_cache){ text.as.s, text.len, hash, *out, x->tpls };
    x->tpls = t;
    return 0;
}

/* Parse a text and execute it. It sees all templates of the set, and what texts around it define.
 */
static int fn_tpl(struct call *c)
{
    enum { DEEPEST = 1000 }; /* as include; in Helm only the stack ends it */
    struct exec *x = c->x;
    struct sw_value text = c->args[0], dot = c->args[1];
    struct scope scope = { .names = x->scope->names, .outer = x->scope };
    struct tmpl *tmpls;
    if (x->tpl_depth >= DEEPEST)
        return sw_call_fail(c, "texts are executed in each other more than %d deep", DEEPEST);
    int rc = parse_tpl(c, text, &tmpls);
    const char *what = "cannot parse template";
    if (rc == 0) {
        struct name name = sw_name(tpl_name, strlen(tpl_name));
        const struct tmpl *own = tmpls;
        while (!sw_name_equal(&own->name, &name))
            own = own->next;
        if (dot.type == SW_T_NIL)
            dot.type = SW_T_INVALID;
        what = "error during tpl function execution for";
        scope.own = tmpls;
        x->scope = &scope;
        x->tpl_depth++;
        rc = sw_exec_tmpl(x, own, dot);
        x->tpl_depth--;
        x->scope = scope.outer;
    }
    if (rc < 0 && sw_arena_is_over(c->arena)) /* no room for the text in the message */
        return rc;
    if (rc < 0)
        return sw_err_wrap(x->err, rc, "%s %s", what, sw_quoted(c->arena, text.as.s, text.len));
    sw_exec_strip_no_value(x, c->mark);
    return sw_return_text(c);
}

/* ---- required, fail, lookup ---- */

#define MARKED "HELM_ERR_START%.*sHELM_ERR_END"

static int fn_required(struct call *c)
{
    struct sw_value v = c->args[1];
    if (!sw_value_is_nil(v) && !(v.type == SW_T_STRING && v.len == 0))
        return sw_return(c, v);
    if (c->x->opts.is_lint)
        return sw_return(c, sw_value_text("", 0));
    return sw_call_fail(c, MARKED, (int)c->args[0].len, c->args[0].as.s);
}

static int fn_fail(struct call *c)
{
    if (c->x->opts.is_lint)
        return sw_return(c, sw_value_text("", 0));
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

/* A row's variant: the format, and how an error is reported. */
enum {
    JSON,
    YAML,
    TOML,
    FORMAT = 3,
    PRETTY = 4,
    RAW = 8,      /* JSON with <, > and & as they are */
    AS_TEXT = 16, /* an error is the result; by default that is "" */
    MUST = 32,    /* an error is the call's */
    LIST = 64,    /* of from...: the result is a list, not a map */
};

/* toYaml, toJson and the like. */
static int fn_to(struct call *c)
{
    unsigned how = c->func->variant, format = how & FORMAT;
    struct text *t = c->text;
    struct sw_value v = c->args[0];
    SW_ERR(err);
    int rc;
    if (format == JSON) {
        unsigned style = how & RAW ? 0 : SW_VALUE_JSON_HTML;
        rc = sw_value_write_json(t, v, style | (how & PRETTY ? SW_VALUE_JSON_PRETTY : 0), &err);
    } else if (format == YAML) {
        rc = sw_value_write_yaml(t, v, how & PRETTY, c->arena, &err);
    } else {
        if (sw_value_is_nil(v)) /* no document: Go's encoder panics */
            return sw_call_fail(c, "reflect: call of reflect.Value.Type on zero Value");
        rc = sw_value_write_toml(t, v, &err);
    }
    if (rc < 0) {
        int paid = sw_call_charge(c, (t->len - c->mark) / 16);
        if (paid < 0)
            return paid;
        t->len = c->mark;
        if (how & MUST)
            return sw_call_fail(c, "%s", sw_err_text(&err));
        if (how & AS_TEXT)
            sw_text_puts(t, sw_err_text(&err));
    }
    if (format == YAML && t->len > c->mark && t->p[t->len - 1] == '\n')
        t->len--;
    return sw_return_text(c);
}

/* fromYaml, fromJson and the like: a map or a list. Text that is not valid gives a map with the key
 * Error, or a list of the error. mustFromJson: any value, or an error. */
static int fn_from(struct call *c)
{
    const struct sw_yaml_opts opts = { .max_bytes = 64 << 20,
                                       .allow_duplicate = true,
                                       .go_words = true };
    unsigned format = c->func->variant & FORMAT;
    bool list = c->func->variant & LIST;
    const char *s = c->args[0].as.s;
    size_t len = c->args[0].len;
    struct sw_value v;
    SW_ERR(err);
    int rc = sw_call_charge(c, len / 2);
    if (rc < 0)
        return rc;
    if (format == JSON)
        rc = sw_value_read_json(c->arena, s, len, &v, &err);
    else if (format == TOML)
        rc = sw_value_read_toml(c->arena, s, len, &v, &err);
    else if ((rc = sw_value_read_yaml(c->arena, s, len, &opts, &v, &err)) < 0)
        sw_err_wrap(&err, rc, "error converting YAML to JSON");
    if (c->func->variant & MUST)
        return rc < 0 ? sw_call_fail(c, "%s", sw_err_text(&err)) : sw_return(c, v);
    if (rc == 0 && sw_value_is_nil(v)) {
        if (list)
            return sw_return(c, sw_value_list(NULL));
        return sw_return(c, sw_value_map(format == YAML ? sw_map_new(c->arena) : NULL));
    }
    if (rc == 0 && (list ? sw_value_is_list(v) : sw_value_is_map(v)))
        return sw_return(c, v);
    if (rc == 0) {
        const char *got = v.type == SW_T_STRING   ? "string"
                          : v.type == SW_T_BOOL   ? "bool"
                          : sw_value_is_number(v) ? "number"
                          : sw_value_is_list(v)   ? "array"
                                                  : "object";
        sw_err_set(&err, SW_INVALID, "%sjson: cannot unmarshal %s into Go value of type %s",
                   format == YAML ? "error unmarshaling JSON: while decoding JSON: " : "", got,
                   list ? "[]interface {}" : "map[string]interface {}");
    }
    struct sw_value text = sw_value_cstr(sw_arena_strdup(c->arena, sw_err_text(&err)));
    if (list) {
        struct sw_list *errors = sw_list_new(c->arena, 1);
        sw_list_add(errors, text);
        return sw_return(c, sw_value_list(errors));
    }
    struct sw_map *map = sw_map_new(c->arena);
    sw_map_set_borrowed(map, "Error", 5, text);
    return sw_return(c, sw_value_map(map));
}

const struct func sw_funcs_helm[] = {
    { "include", fn_include, "sv", "the output of a named template", 0, 0 },
    { "tpl", fn_tpl, "sv", "the output of a text executed as a template", 0, 0 },
    { "required", fn_required, "sv", "the value, or an error where it is nil or \"\"", 0, 0 },
    { "fail", fn_fail, "s", "end rendering with a message", 0, 0 },
    { "lookup", fn_lookup, "ssss", "an object of the cluster, by apiVersion, kind, namespace, name",
      0, 0 },
    { "toYaml", fn_to, "v", "the value as YAML", YAML, 0 },
    { "toYamlPretty", fn_to, "v", "the value as YAML, lists indented", YAML | PRETTY | AS_TEXT, 0 },
    { "toJson", fn_to, "v", "the value as JSON", JSON, 0 },
    { "toToml", fn_to, "v", "the value as TOML", TOML | AS_TEXT, 0 },
    { "mustToYaml", fn_to, "v", "the value as YAML, or an error", YAML | MUST, 0 },
    { "mustToToml", fn_to, "v", "the value as TOML, or an error", TOML | MUST, 0 },
    { "fromYaml", fn_from, "s", "a map out of YAML; its key Error says what is wrong", YAML, 0 },
    { "fromJson", fn_from, "s", "a map out of JSON; its key Error says what is wrong", JSON, 0 },
    { "fromToml", fn_from, "s", "a map out of TOML; its key Error says what is wrong", TOML, 0 },
    { "fromYamlArray", fn_from, "s", "a list out of YAML", YAML | LIST, 0 },
    { "fromJsonArray", fn_from, "s", "a list out of JSON", JSON | LIST, 0 },
    { 0 },
};

const struct func sw_funcs_json[] = {
    { "toPrettyJson", fn_to, "v", "the value as JSON in lines", JSON | PRETTY, 0 },
    { "toRawJson", fn_to, "v", "the value as JSON, <, > and & as they are", JSON | RAW, 0 },
    { "mustToJson", fn_to, "v", "as toJson, or an error", JSON | MUST, 0 },
    { "mustToPrettyJson", fn_to, "v", "as toPrettyJson, or an error", JSON | PRETTY | MUST, 0 },
    { "mustToRawJson", fn_to, "v", "as toRawJson, or an error", JSON | RAW | MUST, 0 },
    { "mustFromJson", fn_from, "s", "a value out of JSON, or an error", JSON | MUST, 0 },
    { 0 },
};
