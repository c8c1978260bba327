#include "emulator/rules/rules_internal.h"

#include "data/text/quantity.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static bool is_pattern(const char *text)
{
    return strpbrk(text, "*?[") != NULL;
}

static bool name_matches(const char *pattern, const char *name)
{
    return is_pattern(pattern) ? fnmatch(pattern, name, 0) == 0 : sw_streq(pattern, name);
}

/* ---- values -------------------------------------------------------------------------------------
 */

/* Numbers, booleans and strings are compared as text, so that "1" equals 1. */
static bool equals(json_object *wanted, json_object *value)
{
    if (!wanted || !value)
        return wanted == value;
    if (json_object_is_type(value, json_type_object) || json_object_is_type(value, json_type_array))
        return sw_json_equal(wanted, value);
    return sw_streq(json_object_get_string(wanted), json_object_get_string(value));
}

/* Whether @value equals @wanted, or one of its elements where it is a list. */
static bool is_one_of(json_object *wanted, json_object *value)
{
    if (!json_object_is_type(wanted, json_type_array))
        return equals(wanted, value);
    for (size_t i = 0; i < sw_json_len(wanted); i++)
        if (equals(sw_json_at(wanted, i), value))
            return true;
    return false;
}

/* <0, 0, >0; a value that is not a quantity is less than every quantity. */
static int compare(json_object *value, json_object *bound)
{
    struct sw_quantity a, b;
    if (sw_quantity_from_json(value, &a, NULL) < 0 || sw_quantity_from_json(bound, &b, NULL) < 0)
        return -1;
    return sw_quantity_cmp(&a, &b);
}

/* Whether one of the values is @wanted, whose templates are rendered. @return 1, 0, or an error */
static int any_is(const struct sw_json_list *values, struct scope *scope, json_object *wanted,
                  struct sw_err *err)
{
    SW_AUTO_JSON *rendered = NULL;
    SW_AUTO_CHARS *text = NULL;
    int rc = 0;
    if (json_object_is_type(wanted, json_type_array)) {
        rc = sw_body_render(scope, wanted, true, &rendered, err);
    } else if (json_object_is_type(wanted, json_type_string) &&
               sw_text_is_template(json_object_get_string(wanted))) {
        rc = sw_text_render(scope, json_object_get_string(wanted), &text, err);
        rendered = rc < 0 ? NULL : sw_str(text);
    } else {
        rendered = json_object_get(wanted);
    }
    for (size_t i = 0; rc == 0 && i < values->n_values; i++)
        rc = values->values[i] && is_one_of(rendered, values->values[i]);
    return rc;
}

/* Whether for each condition one of the values at the path fulfills it. @return 1, 0, or an error
 */
static int want_holds(const struct want *w, struct scope *scope, json_object *doc,
                      struct sw_err *err)
{
    struct sw_json_list found = { 0 };
    int rc = sw_jsonpath_find(w->path, doc, &found, err);
    bool exists = false, within = !w->at_least && !w->at_most, matches = !w->re;
    for (size_t i = 0; rc == 0 && i < found.n_values; i++) {
        json_object *value = found.values[i];
        exists |= value != NULL;
        within = within || (value && (!w->at_least || compare(value, w->at_least) >= 0) &&
                            (!w->at_most || compare(value, w->at_most) <= 0));
        matches = matches ||
                  (value && regexec(w->re, json_object_get_string(value), 0, NULL, 0) == 0);
    }
    if (rc == 0)
        rc = (w->exists < 0 || exists == w->exists) && within && matches;
    if (rc == 1 && w->is)
        rc = any_is(&found, scope, w->is, err);
    if (rc == 1 && w->is_not) {
        rc = any_is(&found, scope, w->is_not, err);
        rc = rc < 0 ? rc : !rc;
    }
    sw_json_list_done(&found);
    return rc;
}

/* ---- clauses ------------------------------------------------------------------------------------
 */

/* Whether @name matches the pattern or template @pattern; NULL: any does. @return 1, 0, or an error
 */
static int text_matches(struct scope *scope, const char *pattern, const char *name,
                        struct sw_err *err)
{
    SW_AUTO_CHARS *text = NULL;
    if (!pattern)
        return 1;
    if (!sw_text_is_template(pattern))
        return name_matches(pattern, name);
    int rc = sw_text_render(scope, pattern, &text, err);
    return rc < 0 ? rc : name_matches(text, name);
}

/* @return 1, 0, or an error */
static int labels_match(const struct clause *c, struct scope *scope, json_object *doc,
                        struct sw_err *err)
{
    if (!c->labels)
        return 1;
    if (!c->labels_vary)
        return sw_selector_matches_object(&c->selector, doc);
    struct sw_selector selector = { 0 };
    SW_AUTO_JSON *labels = NULL;
    int rc = 0;
    if (json_object_is_type(c->labels, json_type_string)) {
        SW_AUTO_CHARS *text = NULL;
        rc = sw_text_render(scope, json_object_get_string(c->labels), &text, err);
        rc = rc < 0 ? rc : sw_selector_parse(text, &selector, err);
    } else {
        rc = sw_body_render(scope, c->labels, false, &labels, err);
        rc = rc < 0 ? rc : sw_selector_from_map(labels, &selector, err);
    }
    if (rc == 0)
        rc = sw_selector_matches_object(&selector, doc);
    sw_selector_done(&selector);
    return rc;
}

int sw_clause_matches(const struct clause *c, struct scope *scope, json_object *doc,
                      struct sw_err *err)
{
    int rc = text_matches(scope, c->name, sw_obj_name(doc), err);
    if (rc == 1)
        rc = text_matches(scope, c->ns, sw_obj_namespace(doc), err);
    if (rc == 1)
        rc = labels_match(c, scope, doc, err);
    for (size_t i = 0; rc == 1 && i < c->n_wants; i++)
        rc = want_holds(&c->wants[i], scope, doc, err);
    return rc;
}

/* ---- finding ------------------------------------------------------------------------------------
 */

/* A search for the objects that match a clause. */
struct search {
    const struct clause *clause;
    struct scope *scope;
    size_t limit;
    json_object *found;
    int rc;
    struct sw_err *err;
};

static int consider(json_object *doc, void *arg)
{
    struct search *s = arg;
    s->scope->rules->n_considered++;
    s->rc = sw_clause_matches(s->clause, s->scope, doc, s->err);
    if (s->rc == 1)
        json_object_array_add(s->found, json_object_get(doc));
    return s->rc < 0 || (s->limit && sw_json_len(s->found) >= s->limit);
}

/* Render a text of the clause where it restricts the search to one name; *@out stays NULL for a
 * pattern. */
static int exact_text(struct scope *scope, const char *text, char **out, struct sw_err *err)
{
    *out = NULL;
    int rc = text ? sw_text_render(scope, text, out, err) : 0;
    if (*out && is_pattern(*out))
        free(SW_TAKE(*out));
    return rc;
}

int sw_clause_find(const struct clause *c, struct scope *scope, size_t limit, json_object **out,
                   struct sw_err *err)
{
    SW_AUTO_CHARS *name = NULL, *ns = NULL, *node = NULL;
    struct sw_rules *rules = scope->rules;
    struct search s = { .clause = c, .scope = scope, .limit = limit, .err = err };
    int rc = exact_text(scope, c->name, &name, err);
    rc = rc < 0 ? rc : exact_text(scope, c->ns, &ns, err);
    rc = rc < 0 ? rc : exact_text(scope, c->node, &node, err);
    if (rc < 0)
        return rc;
    SW_AUTO_CHARS *kind = sw_rules_kind_key(c->api_version, c->kind);
    struct sw_rules_ref ref = { c->api_version, c->kind, ns, name, node };
    int namespaced =
        name ? rules->backend.is_namespaced(rules->backend.self, c->api_version, c->kind) : 1;
    s.found = json_object_new_array();
    if (name && (ns || namespaced == 0)) {
        sw_depend_on(rules, "%s/%s/%s", kind, namespaced ? ns : "", name);
        json_object *doc = rules->backend.find(rules->backend.self, &ref);
        if (doc)
            (void)consider(doc, &s);
    } else {
        ref.name = NULL;
        if (node)
            sw_depend_on(rules, "%s@%s", kind, node);
        else
            sw_depend_on(rules, "%s*%s", kind, ns ? ns : "");
        rules->backend.each(rules->backend.self, &ref, consider, &s);
    }
    if (s.rc < 0) {
        json_object_put(s.found);
        return s.rc;
    }
    *out = s.found;
    return 0;
}

int sw_clauses_hold(const struct clause *clauses, size_t n, struct scope *scope, struct sw_err *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct clause *c = &clauses[i];
        SW_AUTO_JSON *found = NULL;
        /* as few as decide it: the smallest number that is enough, or one too many */
        size_t limit = c->as_list            ? 0
                       : c->max == INT64_MAX ? (size_t)c->min
                       : c->max < 1000000    ? (size_t)c->max + 1
                                             : 0;
        int rc = sw_clause_find(c, scope, limit, &found, err);
        if (rc < 0)
            return rc;
        int64_t count = (int64_t)sw_json_len(found);
        if (count < c->min || count > c->max)
            return 0;
        if (c->as)
            sw_scope_name(scope, c->as, sw_json_at(found, 0));
        if (c->as_list)
            sw_scope_name(scope, c->as_list, found);
    }
    return 1;
}
