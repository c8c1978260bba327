#include "emulator/rules/rules_read.h"

#include "data/text/quantity.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CLAUSES = 64 };

/* ---- clauses ------------------------------------------------------------------------------------
 */

#define WANT_VALUE(name, member)                                                                   \
    static int name(struct reader *r, void *into, json_object *value, struct sw_err *err)          \
    {                                                                                              \
        sw_read_keep(&((struct want *)into)->member, value);                                       \
        return sw_read_templates(r, value, err);                                                   \
    }
WANT_VALUE(read_is, is)
WANT_VALUE(read_not, is_not)

static int read_bound(struct reader *r, json_object **into, json_object *value, struct sw_err *err)
{
    struct sw_quantity q;
    sw_read_keep(into, value);
    return sw_quantity_from_json(value, &q, NULL) < 0
               ? sw_read_fail(r, err, "expected a number or a quantity")
               : 0;
}

static int read_at_least(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    return read_bound(r, &((struct want *)into)->at_least, value, err);
}

static int read_at_most(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    return read_bound(r, &((struct want *)into)->at_most, value, err);
}

static int read_exists(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    bool yes = false;
    int rc = sw_read_bool(r, &yes, value, err);
    ((struct want *)into)->exists = yes;
    return rc;
}

static int read_matches(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    return sw_read_regex(r, &((struct want *)into)->re, value, err);
}

static const struct field want_fields[] = {
    { "is", read_is },
    { "not", read_not },
    { "exists", read_exists },
    { "atLeast", read_at_least },
    { "atMost", read_at_most },
    { "matches", read_matches },
    { 0 },
};

static int read_want(struct reader *r, struct want *want, const char *path, json_object *value,
                     struct sw_err *err)
{
    SW_ERR(inner);
    want->exists = -1;
    want->path_text = sw_strdup(path);
    if (*path != '.' || sw_jsonpath_compile(path, &want->path, &inner) < 0)
        return sw_read_fail(r, err, "no path: %s",
                            *path != '.' ? "it begins with a dot" : sw_err_text(&inner));
    if (json_object_is_type(value, json_type_object))
        return sw_read_fields(r, want_fields, want, value, err);
    return read_is(r, want, value, err);
}

int sw_read_clause_where(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    struct clause *c = into;
    if (!json_object_is_type(value, json_type_object))
        return sw_read_fail(r, err, "expected a mapping from paths to what is wanted there");
    c->wants = sw_realloc(c->wants, c->n_wants + sw_json_len(value) + 1, sizeof *c->wants);
    json_object_object_foreach(value, path, wanted)
    {
        size_t up = sw_read_enter(r, path, 0);
        c->wants[c->n_wants] = (struct want){ 0 };
        int rc = read_want(r, &c->wants[c->n_wants++], path, wanted, err);
        sw_read_leave(r, up);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static bool has_template(json_object *tree)
{
    bool any = json_object_is_type(tree, json_type_string) &&
               sw_text_is_template(json_object_get_string(tree));
    if (json_object_is_type(tree, json_type_object)) {
        json_object_object_foreach(tree, key, value)
        {
            any |= sw_text_is_template(key) || has_template(value);
        }
    }
    return any;
}

int sw_read_clause_labels(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    struct clause *c = into;
    SW_ERR(inner);
    int rc = SW_INVALID;
    sw_read_keep(&c->labels, value);
    c->labels_vary = has_template(value);
    if (c->labels_vary)
        return sw_read_templates(r, value, err);
    if (json_object_is_type(value, json_type_string))
        rc = sw_selector_parse(json_object_get_string(value), &c->selector, &inner);
    else if (json_object_is_type(value, json_type_object))
        rc = sw_selector_from_map(value, &c->selector, &inner);
    return rc < 0 ? sw_read_fail(r, err, "no selector: %s", sw_err_text(&inner)) : 0;
}

static int read_count(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    struct clause *c = into;
    if (!json_object_is_type(value, json_type_object) ||
        (!sw_json_get(value, "min") && !sw_json_get(value, "max")))
        return sw_read_fail(r, err, "expected {min: N, max: N}");
    c->min = sw_json_int(value, 0, "min", NULL);
    c->max = sw_json_int(value, INT64_MAX, "max", NULL);
    return 0;
}

static int read_none(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    struct clause *c = into;
    bool none = false;
    int rc = sw_read_bool(r, &none, value, err);
    if (none) {
        c->min = 0;
        c->max = 0;
    }
    return rc;
}

#define CLAUSE_TEXT(name, member)                                                                  \
    static int name(struct reader *r, void *into, json_object *value, struct sw_err *err)          \
    {                                                                                              \
        return sw_read_text(r, &((struct clause *)into)->member, value, err);                      \
    }
CLAUSE_TEXT(read_api_version, api_version)
CLAUSE_TEXT(read_kind, kind)
CLAUSE_TEXT(read_node, node)
CLAUSE_TEXT(read_as, as)
CLAUSE_TEXT(read_as_list, as_list)

int sw_read_clause_name(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    return sw_read_text(r, &((struct clause *)into)->name, value, err);
}

int sw_read_clause_namespace(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    return sw_read_text(r, &((struct clause *)into)->ns, value, err);
}

static const struct field on_fields[] = {
    { "apiVersion", read_api_version },
    { "kind", read_kind },
    { "name", sw_read_clause_name },
    { "namespace", sw_read_clause_namespace },
    { "labels", sw_read_clause_labels },
    { "where", sw_read_clause_where },
    { 0 },
};

static const struct field when_fields[] = {
    { "apiVersion", read_api_version },
    { "kind", read_kind },
    { "name", sw_read_clause_name },
    { "namespace", sw_read_clause_namespace },
    { "labels", sw_read_clause_labels },
    { "where", sw_read_clause_where },
    { "node", read_node },
    { "as", read_as },
    { "asList", read_as_list },
    { "count", read_count },
    { "none", read_none },
    { 0 },
};

static const struct field target_fields[] = {
    { "apiVersion", read_api_version },
    { "kind", read_kind },
    { "name", sw_read_clause_name },
    { "namespace", sw_read_clause_namespace },
    { 0 },
};

static int read_clause(struct reader *r, const struct field *fields, struct clause *c,
                       json_object *value, struct sw_err *err)
{
    c->min = 1;
    c->max = INT64_MAX;
    int rc = sw_read_fields(r, fields, c, value, err);
    if (rc < 0)
        return rc;
    if (!c->kind || !c->api_version)
        return sw_read_fail(r, err, "apiVersion and kind are needed");
    if (c->node && !sw_streq(c->kind, "Pod"))
        return sw_read_fail(r, err, "node: only for Pods");
    return 0;
}

/* One clause or a list of them. */
static int read_clauses(struct reader *r, const struct field *fields, struct clause **list,
                        size_t *n_list, json_object *value, struct sw_err *err)
{
    bool many = json_object_is_type(value, json_type_array);
    size_t n = many ? sw_json_len(value) : 1;
    if (n > MAX_CLAUSES || *n_list)
        return sw_read_fail(r, err, n > MAX_CLAUSES ? "too many clauses" : "given twice");
    *list = sw_zalloc(n + 1, sizeof **list);
    for (size_t i = 0; i < n; i++) {
        size_t up = many ? sw_read_enter(r, NULL, i) : strlen(r->path);
        int rc = read_clause(r, fields, &(*list)[(*n_list)++], many ? sw_json_at(value, i) : value,
                             err);
        sw_read_leave(r, up);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int sw_read_for(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    struct rule *rule = into;
    return read_clauses(r, on_fields, &rule->on, &rule->n_on, value, err);
}

int sw_read_when(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    struct rule *rule = into;
    return read_clauses(r, when_fields, &rule->when, &rule->n_when, value, err);
}

int sw_read_target(struct reader *r, struct clause *target, json_object *value, struct sw_err *err)
{
    int rc = read_clause(r, target_fields, target, value, err);
    return rc == 0 && !target->name ? sw_read_fail(r, err, "name is needed") : rc;
}

/* ---- each ---------------------------------------------------------------------------------------
 */

int sw_read_each(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    struct each *each = &((struct rule *)into)->each;
    json_object *in = sw_json_get(value, "in"), *items = sw_json_get(value, "items");
    json_object *count = sw_json_get(value, "count");
    SW_ERR(inner);
    if (sw_json_get(value, "kind")) {
        each->type = EACH_OBJECTS;
        return read_clause(r, when_fields, &each->clause, value, err);
    }
    if (sw_json_len(value) != 1 || !(in || items || count))
        return sw_read_fail(r, err, "expected one of in, items, count, or a kind");
    if (items) {
        if (!json_object_is_type(items, json_type_array))
            return sw_read_fail(r, err, "items: expected a list");
        each->type = EACH_ITEMS;
        sw_read_keep(&each->items, items);
        return sw_read_templates(r, items, err);
    }
    if (count) {
        each->type = EACH_COUNT;
        return sw_read_text(r, &each->count, count, err);
    }
    each->type = EACH_IN;
    if (sw_jsonpath_compile(json_object_get_string(in), &each->path, &inner) < 0)
        return sw_read_fail(r, err, "in: %s", sw_err_text(&inner));
    return 0;
}
