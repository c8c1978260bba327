#include "cli/lint/own_kinds.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "chart/fetch/fetch.h"
#include "data/data.h"
#include "data/go/regex.h"
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
        SW_ERR(ignored); /* a test parses them */
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

struct json_object *sw_own_kinds_find(const struct sw_own_kinds *kinds, const char *name)
{
    for (size_t i = 0; i < kinds->n; i++)
        if (strcasecmp(sw_json_str(kinds->crds[i], "", "spec", "names", "kind", NULL), name) == 0 ||
            strcasecmp(sw_json_str(kinds->crds[i], "", "spec", "names", "plural", NULL), name) == 0)
            return kinds->crds[i];
    return NULL;
}

struct json_object *sw_own_kinds_schema(struct json_object *crd, const char **version)
{
    struct json_object *newest = sw_json_at(sw_json_find(crd, "spec", "versions", NULL), 0);
    *version = sw_json_str(newest, "", "name", NULL);
    return sw_json_find(newest, "schema", "openAPIV3Schema", NULL);
}

struct json_object *sw_own_kinds_below(struct json_object *above, const char *key)
{
    struct json_object *items = sw_json_get(above, "items"), *of = items ? items : above,
                       *found = sw_json_find(of, "properties", key, NULL);
    return found ? found : sw_json_get(of, "additionalProperties");
}

bool sw_own_kinds_match(const char *pattern, const char *text)
{
    SW_AUTO(sw_regex) *re = NULL;
    SW_ERR(ignored);
    if (sw_regex_compile(pattern, strlen(pattern), &re, &ignored) < 0) {
        sw_err_done(&ignored);
        return true;
    }
    long *spans = sw_zalloc(2 * (sw_regex_n_groups(re) + 1), sizeof *spans);
    bool matches = sw_regex_find(re, text, strlen(text), 0, spans);
    free(spans);
    return matches;
}

/* ---- one value ----------------------------------------------------------------------------------
 */

struct check {
    sw_fields_fn *fn;
    void *arg;
    bool whole; /* the document is applied as it is */
    size_t n;   /* problems that were reported */
};

static void __attribute__((format(printf, 3, 4)))
report(struct check *c, const char *path, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *reason = sw_vprintf(fmt, ap);
    va_end(ap);
    SW_AUTO_CHARS *text = sw_printf("%s: %s", path, reason);
    c->n++;
    c->fn(c->arg, path, text);
}

/* @names: those that there are; ends with NULL. */
static void report_unknown_field(struct check *c, const char *path, const char *key,
                                 const char *const *names)
{
    const char *meant = sw_text_nearest(key, names);
    if (meant)
        report(c, path, "there is no such field; is it '%s'?", meant);
    else
        report(c, path, "there is no such field");
}

static const struct {
    const char *type, *name;
    enum json_type of;
} types[] = {
    { "string", "text", json_type_string },     { "integer", "an integer", json_type_int },
    { "number", "a number", json_type_double }, { "boolean", "true or false", json_type_boolean },
    { "object", "a map", json_type_object },    { "array", "a list", json_type_array },
};

/* @return whether the value has the schema's type; if not, that was reported */
static bool check_type(struct check *c, struct json_object *schema, struct json_object *value,
                       const char *path)
{
    const char *type = sw_json_str(schema, "", "type", NULL), *found_name = "nothing";
    enum json_type found = json_object_get_type(value);
    if (sw_json_bool(schema, false, "x-kubernetes-int-or-string", NULL) &&
        (found == json_type_int || found == json_type_string))
        return true;
    for (size_t i = 0; i < SW_COUNT(types); i++)
        if (types[i].of == found)
            found_name = found == json_type_int ? "a number" : types[i].name;
    for (size_t i = 0; i < SW_COUNT(types); i++) {
        if (!sw_streq(types[i].type, type))
            continue;
        if (types[i].of == found || (types[i].of == json_type_double && found == json_type_int))
            return true;
        bool quotes = types[i].of == json_type_string && found != json_type_array &&
                      found != json_type_object;
        report(c, path, "expected %s, found %s%s", types[i].name, found_name,
               quotes ? "; put it in quotes" : "");
        return false;
    }
    return true;
}

static void check_pattern(struct check *c, const char *pattern, const char *text, const char *path)
{
    static const char letters[] = "|ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    if (sw_own_kinds_match(pattern, text))
        return;
    if (strstr(pattern, "(ms|h|m|s)")) {
        report(c, path, "'%s' is not a duration such as 90s", text);
        return;
    }
    size_t len = sw_starts_with(pattern, "^(") ? strspn(pattern + 2, letters) : 0;
    if (len == 0 || pattern[2 + len] != ')') {
        report(c, path, "'%s' is not as %s", text, pattern);
        return;
    }
    SW_AUTO_CHARS *choices = sw_strdup(""); /* of "^(Managed|Unmanaged)?$" */
    for (const char *at = pattern + 2, *end = at + len; at < end;) {
        size_t n = strcspn(at, "|)");
        sw_append(&choices, "%s%.*s", *choices ? ", " : "", (int)n, at);
        at += n + 1;
    }
    report(c, path, "'%s' is none of %s", text, choices);
}

static void check_scalar(struct check *c, struct json_object *schema, struct json_object *value,
                         const char *path)
{
    struct json_object *list = sw_json_get(schema, "enum");
    struct json_object *least = sw_json_get(schema, "minimum"),
                       *most = sw_json_get(schema, "maximum");
    const char *pattern = sw_json_str(schema, NULL, "pattern", NULL);
    bool number = json_object_is_type(value, json_type_int), listed = !list;
    SW_AUTO_CHARS *choices = sw_strdup("");
    for (size_t i = 0; i < sw_json_len(list); i++) {
        const char *one = json_object_get_string(sw_json_at(list, i));
        listed = listed || sw_json_equal(sw_json_at(list, i), value);
        if (one && *one)
            sw_append(&choices, "%s%s", *choices ? ", " : "", one);
    }
    if (!listed)
        report(c, path, "'%s' is none of %s", json_object_get_string(value), choices);
    if (pattern && json_object_is_type(value, json_type_string))
        check_pattern(c, pattern, json_object_get_string(value), path);
    if (number && least && json_object_get_int64(value) < json_object_get_int64(least))
        report(c, path, "%s is less than %s", json_object_get_string(value),
               json_object_get_string(least));
    if (number && most && json_object_get_int64(value) > json_object_get_int64(most))
        report(c, path, "%s is more than %s", json_object_get_string(value),
               json_object_get_string(most));
}

/* ---- maps and lists -----------------------------------------------------------------------------
 */

static void check_value(struct check *c, struct json_object *schema, struct json_object *value,
                        const char *path);

static void check_map(struct check *c, struct json_object *schema, struct json_object *map,
                      const char *path)
{
    struct json_object *properties = sw_json_get(schema, "properties"),
                       *others = sw_json_get(schema, "additionalProperties"),
                       *required = sw_json_get(schema, "required");
    bool any = sw_json_bool(schema, false, "x-kubernetes-preserve-unknown-fields", NULL);
    const char *names[256] = { 0 };
    size_t n = 0;
    if (properties) {
        json_object_object_foreach(properties, name, property)
        {
            (void)property;
            if (n + 1 < SW_COUNT(names))
                names[n++] = name;
        }
    }
    json_object_object_foreach(map, key, value)
    {
        SW_AUTO_CHARS *at = sw_printf("%s.%s", path, key);
        struct json_object *known = properties ? sw_json_get(properties, key) : NULL;
        if (known)
            check_value(c, known, value, at);
        else if (json_object_is_type(others, json_type_object))
            check_value(c, others, value, at);
        else if (properties && !any)
            report_unknown_field(c, at, key, names);
    }
    for (size_t i = 0; c->whole && i < sw_json_len(required); i++) {
        const char *name = json_object_get_string(sw_json_at(required, i));
        if (name && !sw_json_get(map, name))
            report(c, path, "%s is missing", name);
    }
}

/* null stands for a field that is not set. */
static void check_value(struct check *c, struct json_object *schema, struct json_object *value,
                        const char *path)
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

/* What the operator refuses besides. Templates are not rendered here, so they are not checked. */
static void check_meaning(struct check *c, struct json_object *doc)
{
    const char *ns = sw_json_str(doc, "", "spec", "namespace", NULL),
               *url = sw_json_str(doc, NULL, "spec", "chart", "repository", "url", NULL),
               *fault = *ns ? sw_dns_label_fault(ns) : NULL;
    struct sw_upgrade_policy policy;
    SW_ERR(err);
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_PLAIN, NULL);
    if (strstr(text, "{{"))
        return;
    if (fault)
        report(c, "spec.namespace", "'%s': %s", ns, fault);
    if (url && sw_fetch_check(url, &err) < 0)
        report(c, "spec.chart.repository.url", "%s", sw_err_text(&err));
    int rc = sw_spec_check(doc, &err);
    if (rc == 0)
        rc = sw_upgrade_policy_read(sw_json_find(doc, "spec", "upgradePolicy", NULL), &policy,
                                    &err);
    if (rc == 0)
        return;
    const char *message = sw_err_text(&err); /* "spec.x: reason" */
    SW_AUTO_CHARS *path = sw_strndup(message, strcspn(message, ": "));
    c->fn(c->arg, sw_starts_with(path, "spec") ? path : "spec", message);
}

void sw_own_kinds_check(const struct sw_own_kinds *kinds, struct json_object *doc, bool whole,
                        sw_fields_fn *fn, void *arg)
{
    static const char *const top[] = { "apiVersion", "kind", "metadata", "spec", "status", NULL };
    struct check c = { .fn = fn, .arg = arg, .whole = whole };
    struct json_object *crd = NULL, *spec = sw_json_get(doc, "spec");
    const char *slash = strchr(sw_obj_api_version(doc), '/'), *kind = sw_obj_kind(doc);
    const char *version = slash ? slash + 1 : "", *names[MAX_KINDS + 1] = { 0 };
    size_t n = 0;
    for (size_t i = 0; i < kinds->n && !crd; i++) {
        const char *name = sw_json_str(kinds->crds[i], "", "spec", "names", "kind", NULL);
        SW_AUTO_CHARS *group = sw_printf("%s/",
                                         sw_json_str(kinds->crds[i], "", "spec", "group", NULL));
        if (!sw_starts_with(sw_obj_api_version(doc), group))
            continue;
        names[n++] = name;
        if (sw_streq(name, kind))
            crd = kinds->crds[i];
    }
    const char *meant = crd ? NULL : sw_text_nearest(kind, names);
    if (!crd && meant)
        report(&c, "kind", "there is no '%s'; is it '%s'?", kind, meant);
    else if (!crd && n)
        report(&c, "kind", "there is no '%s'", kind);
    if (!crd)
        return;
    json_object_object_foreach(doc, key, value)
    {
        bool known = false;
        (void)value;
        for (size_t i = 0; top[i]; i++)
            known = known || sw_streq(top[i], key);
        if (!known)
            report_unknown_field(&c, key, key, top);
    }
    struct json_object *versions = sw_json_find(crd, "spec", "versions", NULL),
                       *schema = sw_json_find(sw_json_find_by(versions, "name", version), "schema",
                                              "openAPIV3Schema", NULL);
    if (!schema) {
        report(&c, "apiVersion", "%s has no version '%s'; it is %s/%s", kind, version,
               sw_json_str(crd, "", "spec", "group", NULL),
               sw_json_str(sw_json_at(versions, 0), "", "name", NULL));
        return;
    }
    if (spec)
        check_value(&c, sw_json_find(schema, "properties", "spec", NULL), spec, "spec");
    if (!sw_streq(kind, "SpecialResource"))
        return;
    /* the definition takes what SRO 4.8 took, which had recipes without charts */
    if (whole && !sw_json_get(spec, "chart"))
        report(&c, "spec", "chart is missing");
    if (c.n == 0)
        check_meaning(&c, doc);
}
