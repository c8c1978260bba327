#include "emulator/rules/rules_read.h"

#include "data/text/quantity.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CLAUSES = 64 };

/* ---- clauses ------------------------------------------------------------------------------------
 */

static int read_bound(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    struct sw_quantity q;
    if (sw_quantity_from_json(value, &q, NULL) < 0)
        return sw_read_fail(r, err, "expected a number or a quantity");
    return sw_read_value(r, into, value, err);
}

static int read_exists(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    bool yes = false;
    int rc = sw_read_bool(r, &yes, value, err);
    *(int *)into = yes;
    return rc;
}

static const struct field want_fields[] = {
    { "is", sw_read_value, offsetof(struct want, is) },
    { "not", sw_read_value, offsetof(struct want, is_not) },
    { "exists", read_exists, offsetof(struct want, exists) },
    { "atLeast", read_bound, offsetof(struct want, at_least) },
    { "atMost", read_bound, offsetof(struct want, at_most) },
    { "matches", sw_read_regex, offsetof(struct want, re) },
};

static int read_path(struct reader *r, const char *text, struct sw_jsonpath **out,
                     struct sw_err *err)
{
    SW_ERR(inner);
    if (!text || *text != '.')
        return sw_read_fail(r, err, "no path: it begins with a dot");
    return sw_jsonpath_compile(text, out, &inner) < 0
               ? sw_read_fail(r, err, "no path: %s", sw_err_text(&inner))
               : 0;
}

int sw_read_where(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    struct clause *c = into;
    if (!json_object_is_type(value, json_type_object))
        return sw_read_fail(r, err, "expected a mapping from paths to what is wanted there");
    c->wants = sw_realloc(c->wants, c->n_wants + sw_json_len(value) + 1, sizeof *c->wants);
    json_object_object_foreach(value, path, wanted)
    {
        size_t up = sw_read_enter(r, path, 0);
        c->wants[c->n_wants] = (struct want){ .exists = -1 };
        struct want *want = &c->wants[c->n_wants++];
        int rc = read_path(r, path, &want->path, err);
        if (rc == 0 && json_object_is_type(wanted, json_type_object))
            rc = sw_read_fields(r, want_fields, SW_COUNT(want_fields), want, wanted, err);
        else if (rc == 0)
            rc = sw_read_value(r, &want->is, wanted, err);
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

int sw_read_labels(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    struct clause *c = into;
    SW_ERR(inner);
    int rc = sw_read_value(r, &c->labels, value, err);
    c->labels_vary = has_template(value);
    if (rc < 0 || c->labels_vary)
        return rc;
    rc = SW_INVALID;
    if (json_object_is_type(value, json_type_string))
        rc = sw_selector_parse(json_object_get_string(value), &c->selector, &inner);
    else if (json_object_is_type(value, json_type_object))
        rc = sw_selector_from_map(value, &c->selector, &inner);
    return rc < 0 ? sw_read_fail(r, err, "no selector: %s", sw_err_text(&inner)) : 0;
}

static int read_fields_of(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    struct clause *c = into;
    if (!json_object_is_type(value, json_type_array) || !sw_json_len(value))
        return sw_read_fail(r, err, "expected a list of paths");
    c->fields = sw_zalloc(sw_json_len(value), sizeof(struct sw_jsonpath *));
    for (size_t i = 0; i < sw_json_len(value); i++) {
        size_t up = sw_read_enter(r, NULL, i);
        int rc = read_path(r, json_object_get_string(sw_json_at(value, i)), &c->fields[i], err);
        sw_read_leave(r, up);
        if (rc < 0)
            return rc;
        c->n_fields++;
    }
    return 0;
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

/* The first are the keys of every clause, the others those of `for`, `when` and `each`. */
static const struct field clause_fields[] = {
    { "apiVersion", sw_read_text, offsetof(struct clause, api_version) },
    { "kind", sw_read_text, offsetof(struct clause, kind) },
    { "name", sw_read_text, offsetof(struct clause, name) },
    { "namespace", sw_read_text, offsetof(struct clause, ns) },
    /* not in a target */
    { "labels", sw_read_labels, 0 },
    { "where", sw_read_where, 0 },
    /* not in `for` */
    { "node", sw_read_text, offsetof(struct clause, node) },
    { "as", sw_read_text, offsetof(struct clause, as) },
    { "asList", sw_read_text, offsetof(struct clause, as_list) },
    { "count", read_count, 0 },
    { "none", read_none, 0 },
    { "fields", read_fields_of, 0 },
};
enum { TARGET_FIELDS = 4, FOR_FIELDS = 6, WHEN_FIELDS = SW_COUNT(clause_fields) };

/* @n_fields: how many of clause_fields are allowed. */
static int read_clause(struct reader *r, size_t n_fields, struct clause *c, json_object *value,
                       struct sw_err *err)
{
    c->min = 1;
    c->max = INT64_MAX;
    int rc = sw_read_fields(r, clause_fields, n_fields, c, value, err);
    if (rc < 0)
        return rc;
    if (!c->kind || !c->api_version)
        return sw_read_fail(r, err, "apiVersion and kind are needed");
    if (c->node && !sw_streq(c->kind, "Pod"))
        return sw_read_fail(r, err, "node: only for Pods");
    return 0;
}

/* One clause or a list of them. */
static int read_clauses(struct reader *r, size_t n_fields, struct clause **list, size_t *n_list,
                        json_object *value, struct sw_err *err)
{
    bool many = json_object_is_type(value, json_type_array);
    size_t n = many ? sw_json_len(value) : 1;
    if (n > MAX_CLAUSES || *n_list)
        return sw_read_fail(r, err, n > MAX_CLAUSES ? "too many clauses" : "given twice");
    *list = sw_zalloc(n + 1, sizeof **list);
    for (size_t i = 0; i < n; i++) {
        size_t up = many ? sw_read_enter(r, NULL, i) : strlen(r->path);
        int rc = read_clause(r, n_fields, &(*list)[(*n_list)++],
                             many ? sw_json_at(value, i) : value, err);
        sw_read_leave(r, up);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int sw_read_for(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    struct rule *rule = into;
    return read_clauses(r, FOR_FIELDS, &rule->on, &rule->n_on, value, err);
}

int sw_read_when(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    struct rule *rule = into;
    return read_clauses(r, WHEN_FIELDS, &rule->when, &rule->n_when, value, err);
}

int sw_read_target(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    struct clause *target = into;
    int rc = read_clause(r, TARGET_FIELDS, target, value, err);
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
        return read_clause(r, WHEN_FIELDS, &each->clause, value, err);
    }
    if (sw_json_len(value) != 1 || !(in || items || count))
        return sw_read_fail(r, err, "expected one of in, items, count, or a kind");
    if (items) {
        if (!json_object_is_type(items, json_type_array))
            return sw_read_fail(r, err, "items: expected a list");
        each->type = EACH_ITEMS;
        return sw_read_value(r, &each->items, items, err);
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
