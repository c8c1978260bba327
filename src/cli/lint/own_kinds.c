#include "cli/lint/own_kinds.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "chart/fetch/fetch.h"
#include "chart/template/go/regex.h"
#include "data/data.h"
#include "data/selector/selector.h"
#include "data/text/nearest.h"
#include "data/yaml/yaml.h"
#include "operator/engine/upgrade/upgrade.h"
#include "operator/manifests/policy.h"

extern const struct sw_embedded sw_deploy_crds[];

enum { MAX_KINDS = 16 };

struct sw_own_kinds {
    struct json_object *crds[MAX_KINDS];
    size_t n;
};

struct sw_own_kinds *sw_own_kinds_new(void)
{
    struct sw_own_kinds *k = sw_zalloc(1, sizeof *k);
    for (const struct sw_embedded *file = sw_deploy_crds; file->name && k->n < MAX_KINDS; file++) {
        SW_ERR(ignored); /* they are the program's own: a test reads them */
        if (sw_yaml_parse(file->text, file->len_bytes, &(struct sw_yaml_opts){ 0 }, &k->crds[k->n],
                          &ignored) == 0)
            k->n++;
    }
    return k;
}

void sw_own_kinds_free(struct sw_own_kinds *kinds)
{
    if (!kinds)
        return;
    for (size_t i = 0; i < kinds->n; i++)
        json_object_put(kinds->crds[i]);
    free(kinds);
}

/* ---- which definition ---------------------------------------------------------------------------
 */

static struct json_object *crd_of(const struct sw_own_kinds *kinds, struct json_object *doc)
{
    const char *version = sw_obj_api_version(doc);
    const char *slash = strchr(version, '/');
    size_t len = slash ? (size_t)(slash - version) : 0;
    for (size_t i = 0; i < kinds->n; i++) {
        struct json_object *crd = kinds->crds[i];
        const char *group = sw_json_str(crd, "", "spec", "group", NULL);
        if (strlen(group) == len && strncmp(group, version, len) == 0 &&
            sw_streq(sw_json_str(crd, "", "spec", "names", "kind", NULL), sw_obj_kind(doc)))
            return crd;
    }
    return NULL;
}

/* ---- one value ----------------------------------------------------------------------------------
 */

struct check {
    sw_fields_fn *fn;
    void *arg;
    bool whole; /* nothing is added before it is applied */
};

static void __attribute__((format(printf, 3, 4)))
tell(const struct check *c, const char *path, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *words = sw_vprintf(fmt, ap);
    va_end(ap);
    SW_AUTO_CHARS *text = sw_printf("%s: %s", path, words);
    c->fn(c->arg, path, text);
}

static const struct {
    const char *type, *words;
    enum json_type of;
} types[] = {
    { "string", "text", json_type_string },     { "integer", "an integer", json_type_int },
    { "number", "a number", json_type_double }, { "boolean", "true or false", json_type_boolean },
    { "object", "a map", json_type_object },    { "array", "a list", json_type_array },
};

static const char *type_text(enum json_type type)
{
    for (size_t i = 0; i < SW_COUNT(types); i++)
        if (types[i].of == type)
            return type == json_type_int ? "a number" : types[i].words;
    return "nothing";
}

/* @return whether it is of the schema's type; where not, that was said */
static bool check_type(const struct check *c, struct json_object *schema, struct json_object *value,
                       const char *path)
{
    const char *type = sw_json_str(schema, "", "type", NULL);
    enum json_type found = json_object_get_type(value);
    if (sw_json_bool(schema, false, "x-kubernetes-int-or-string", NULL) &&
        (found == json_type_int || found == json_type_string))
        return true;
    for (size_t i = 0; i < SW_COUNT(types); i++) {
        if (!sw_streq(types[i].type, type))
            continue;
        if (types[i].of == found || (types[i].of == json_type_double && found == json_type_int))
            return true;
        bool quotes = types[i].of == json_type_string && found != json_type_array &&
                      found != json_type_object;
        tell(c, path, "expected %s, found %s%s", types[i].words, type_text(found),
             quotes ? "; put it in quotes" : "");
        return false;
    }
    return true;
}

static void check_enum(const struct check *c, struct json_object *list, struct json_object *value,
                       const char *path)
{
    SW_AUTO_CHARS *choices = sw_strdup("");
    for (size_t i = 0; i < sw_json_len(list); i++) {
        if (sw_json_equal(sw_json_at(list, i), value))
            return;
        const char *one = json_object_get_string(sw_json_at(list, i));
        if (one && *one)
            sw_append(&choices, "%s%s", *choices ? ", " : "", one);
    }
    tell(c, path, "'%s' is none of %s", json_object_get_string(value), choices);
}

/* "^(Managed|Unmanaged)?$": the words between, comma separated; NULL: it is none of that form. */
static char *values_of_pattern(const char *pattern)
{
    size_t len = sw_starts_with(pattern, "^(")
                     ? strspn(pattern + 2, "|ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
                     : 0;
    if (len == 0 || pattern[2 + len] != ')')
        return NULL;
    char *words = sw_strdup("");
    for (const char *at = pattern + 2, *end = at + len; at < end;) {
        size_t n = strcspn(at, "|)");
        sw_append(&words, "%s%.*s", *words ? ", " : "", (int)n, at);
        at += n + 1;
    }
    return words;
}

static void check_pattern(const struct check *c, const char *pattern, const char *text,
                          const char *path)
{
    SW_AUTO(sw_regex) *re = NULL;
    SW_ERR(ignored);
    if (sw_regex_compile(pattern, strlen(pattern), &re, &ignored) < 0)
        return;
    long *spans = sw_zalloc(2 * (sw_regex_n_groups(re) + 1), sizeof *spans);
    bool matches = sw_regex_find(re, text, strlen(text), 0, spans);
    free(spans);
    if (matches)
        return;
    SW_AUTO_CHARS *words = values_of_pattern(pattern);
    tell(c, path, words ? "'%s' is none of %s" : "'%s' is not as %s", text,
         words ? words : pattern);
}

static void check_scalar(const struct check *c, struct json_object *schema,
                         struct json_object *value, const char *path)
{
    struct json_object *choices = sw_json_get(schema, "enum");
    struct json_object *least = sw_json_get(schema, "minimum"),
                       *most = sw_json_get(schema, "maximum");
    const char *pattern = sw_json_str(schema, NULL, "pattern", NULL);
    bool number = json_object_is_type(value, json_type_int);
    if (choices)
        check_enum(c, choices, value, path);
    if (pattern && json_object_is_type(value, json_type_string))
        check_pattern(c, pattern, json_object_get_string(value), path);
    if (number && least && json_object_get_int64(value) < json_object_get_int64(least))
        tell(c, path, "%s is less than %s", json_object_get_string(value),
             json_object_get_string(least));
    if (number && most && json_object_get_int64(value) > json_object_get_int64(most))
        tell(c, path, "%s is more than %s", json_object_get_string(value),
             json_object_get_string(most));
}

/* ---- maps and lists -----------------------------------------------------------------------------
 */

static void check_value(const struct check *c, struct json_object *schema,
                        struct json_object *value, const char *path);

static void report_unknown(const struct check *c, struct json_object *properties, const char *key,
                           const char *path)
{
    const char *names[256];
    size_t n = 0;
    json_object_object_foreach(properties, name, schema)
    {
        (void)schema;
        if (n + 1 < SW_COUNT(names))
            names[n++] = name;
    }
    names[n] = NULL;
    const char *meant = sw_text_nearest(key, names);
    if (meant)
        tell(c, path, "there is no such field; is it '%s'?", meant);
    else
        tell(c, path, "there is no such field");
}

static void check_required(const struct check *c, struct json_object *schema,
                           struct json_object *map, const char *path)
{
    struct json_object *list = sw_json_get(schema, "required");
    for (size_t i = 0; c->whole && i < sw_json_len(list); i++) {
        const char *name = json_object_get_string(sw_json_at(list, i));
        if (name && !sw_json_get(map, name))
            tell(c, path, "%s is missing", name);
    }
}

static void check_map(const struct check *c, struct json_object *schema, struct json_object *map,
                      const char *path)
{
    struct json_object *properties = sw_json_get(schema, "properties"),
                       *others = sw_json_get(schema, "additionalProperties");
    bool any = sw_json_bool(schema, false, "x-kubernetes-preserve-unknown-fields", NULL);
    json_object_object_foreach(map, key, value)
    {
        SW_AUTO_CHARS *at = sw_printf("%s.%s", path, key);
        struct json_object *known = properties ? sw_json_get(properties, key) : NULL;
        if (known)
            check_value(c, known, value, at);
        else if (json_object_is_type(others, json_type_object))
            check_value(c, others, value, at);
        else if (properties && !any)
            report_unknown(c, properties, key, at);
    }
    check_required(c, schema, map, path);
}

/* null is a field that is not there. */
static void check_value(const struct check *c, struct json_object *schema,
                        struct json_object *value, const char *path)
{
    if (!value || !check_type(c, schema, value, path))
        return;
    if (json_object_is_type(value, json_type_object)) {
        check_map(c, schema, value, path);
        return;
    }
    struct json_object *items = sw_json_get(schema, "items");
    for (size_t i = 0; items && i < sw_json_len(value); i++) {
        SW_AUTO_CHARS *at = sw_printf("%s[%zu]", path, i);
        check_value(c, items, sw_json_at(value, i), at);
    }
    if (!json_object_is_type(value, json_type_array))
        check_scalar(c, schema, value, path);
}

/* ---- a resource ---------------------------------------------------------------------------------
 */

struct count {
    struct check to;
    size_t n;
};

static void on_counted(void *arg, const char *path, const char *text)
{
    struct count *count = arg;
    count->n++;
    count->to.fn(count->to.arg, path, text);
}

/* @text: what is wrong, beginning with the field */
static void report_meaning(const struct check *c, const char *text)
{
    SW_AUTO_CHARS *path = sw_strndup(text, strcspn(text, ": "));
    c->fn(c->arg, sw_starts_with(path, "spec") ? path : "spec", text);
}

static void check_place(const struct check *c, struct json_object *doc)
{
    const char *ns = sw_json_str(doc, "", "spec", "namespace", NULL),
               *url = sw_json_str(doc, NULL, "spec", "chart", "repository", "url", NULL),
               *fault = *ns ? sw_dns_label_fault(ns) : NULL;
    SW_ERR(err);
    if (fault)
        tell(c, "spec.namespace", "'%s': %s", ns, fault);
    if (url && sw_fetch_check(url, &err) < 0)
        tell(c, "spec.chart.repository.url", "%s", sw_err_text(&err));
}

/* What the operator refuses besides. Templates are what they render to, which is not known here. */
static void check_meaning(const struct check *c, struct json_object *doc)
{
    struct sw_upgrade_policy policy;
    SW_ERR(err);
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_PLAIN, NULL);
    if (strstr(text, "{{"))
        return;
    check_place(c, doc);
    int rc = sw_spec_check(doc, &err);
    if (rc == 0)
        rc = sw_upgrade_policy_read(sw_json_find(doc, "spec", "upgradePolicy", NULL), &policy,
                                    &err);
    if (rc < 0)
        report_meaning(c, sw_err_text(&err));
}

static void check_name(const struct check *c, struct json_object *doc)
{
    static const char *const known[] = { "apiVersion", "kind", "metadata", "spec", "status", NULL };
    json_object_object_foreach(doc, key, value)
    {
        (void)value;
        bool is_known = false;
        for (size_t i = 0; known[i]; i++)
            is_known = is_known || sw_streq(known[i], key);
        const char *meant = is_known ? NULL : sw_text_nearest(key, known);
        if (!is_known && meant)
            tell(c, key, "there is no such field; is it '%s'?", meant);
        else if (!is_known)
            tell(c, key, "there is no such field");
    }
}

/* One of our groups, and none of its kinds. */
static void check_kind(const struct check *c, const struct sw_own_kinds *kinds,
                       struct json_object *doc)
{
    const char *version = sw_obj_api_version(doc), *kind = sw_obj_kind(doc);
    const char *names[MAX_KINDS + 1] = { 0 };
    size_t n = 0;
    for (size_t i = 0; i < kinds->n; i++) {
        SW_AUTO_CHARS *group = sw_printf("%s/",
                                         sw_json_str(kinds->crds[i], "", "spec", "group", NULL));
        if (sw_starts_with(version, group))
            names[n++] = sw_json_str(kinds->crds[i], "", "spec", "names", "kind", NULL);
    }
    const char *meant = sw_text_nearest(kind, names);
    if (n && meant)
        tell(c, "kind", "there is no '%s'; is it '%s'?", kind, meant);
    else if (n)
        tell(c, "kind", "there is no '%s'", kind);
}

static struct json_object *schema_of(struct json_object *crd, const char *version)
{
    struct json_object *versions = sw_json_find(crd, "spec", "versions", NULL);
    struct json_object *one = sw_json_find_by(versions, "name", version);
    return sw_json_find(one, "schema", "openAPIV3Schema", NULL);
}

void sw_own_kinds_check(const struct sw_own_kinds *kinds, struct json_object *doc, bool whole,
                        sw_fields_fn *fn, void *arg)
{
    struct count count = { { fn, arg, whole }, 0 };
    const struct check c = { on_counted, &count, whole };
    struct json_object *crd = crd_of(kinds, doc), *spec = sw_json_get(doc, "spec");
    const char *slash = strchr(sw_obj_api_version(doc), '/');
    struct json_object *schema = schema_of(crd, slash ? slash + 1 : "");
    if (!crd) {
        check_kind(&c, kinds, doc);
        return;
    }
    check_name(&c, doc);
    if (!schema) {
        struct json_object *first = sw_json_at(sw_json_find(crd, "spec", "versions", NULL), 0);
        tell(&c, "apiVersion", "%s has no version '%s'; it is %s/%s", sw_obj_kind(doc),
             slash ? slash + 1 : "", sw_json_str(crd, "", "spec", "group", NULL),
             sw_json_str(first, "", "name", NULL));
        return;
    }
    if (spec)
        check_value(&c, sw_json_find(schema, "properties", "spec", NULL), spec, "spec");
    if (count.n == 0 && sw_streq(sw_obj_kind(doc), "SpecialResource"))
        check_meaning(&c, doc);
}
