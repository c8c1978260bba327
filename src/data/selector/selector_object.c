/* Selectors from documents: LabelSelector, NodeSelector, plain maps. */
#include <string.h>

#include "data/json/path.h"
#include "data/selector/selector.h"
#include "data/selector/selector_build.h"

/* The source of expressions: label selectors do not allow Gt and Lt, and the keys of matchFields
 * are not labels. */
enum dialect { LABELS, NODE_LABELS, NODE_FIELDS };

static const struct {
    const char *name;
    enum sw_selector_op op;
} operators[] = {
    { "In", SW_SEL_IN },         { "NotIn", SW_SEL_NOT_IN },
    { "Exists", SW_SEL_EXISTS }, { "DoesNotExist", SW_SEL_NOT_EXISTS },
    { "Gt", SW_SEL_GREATER },    { "Lt", SW_SEL_LESS },
};

static int read_operator(const char *name, enum dialect dialect, enum sw_selector_op *op,
                         struct sw_err *err)
{
    size_t n = dialect == LABELS ? 4 : SW_COUNT(operators);
    for (size_t i = 0; i < n; i++)
        if (strcmp(operators[i].name, name) == 0) {
            *op = operators[i].op;
            return 0;
        }
    if (dialect == LABELS)
        return sw_err_set(err, SW_INVALID,
                          "operator: '%s' is none of In, NotIn, Exists, DoesNotExist", name);
    return sw_err_set(err, SW_INVALID,
                      "operator: '%s' is none of In, NotIn, Exists, DoesNotExist, "
                      "Gt, Lt",
                      name);
}

static int check_count(const struct sw_requirement *r, struct sw_err *err)
{
    bool none = r->op == SW_SEL_EXISTS || r->op == SW_SEL_NOT_EXISTS;
    bool one = r->op == SW_SEL_GREATER || r->op == SW_SEL_LESS;
    if (none && r->n_values > 0)
        return sw_err_set(err, SW_INVALID, "values: must be empty for Exists and DoesNotExist");
    if (one && r->n_values != 1)
        return sw_err_set(err, SW_INVALID, "values: must be exactly one for Gt and Lt");
    if (!none && r->n_values == 0)
        return sw_err_set(err, SW_INVALID, "values: must not be empty for In and NotIn");
    return 0;
}

static int read_expression(struct json_object *e, enum dialect dialect, struct sw_requirement *r,
                           struct sw_err *err)
{
    const char *key = sw_json_str(e, NULL, "key", NULL);
    if (!key)
        return sw_err_set(err, SW_INVALID, "key: missing, or not a string");
    r->key = sw_strdup(key);
    int rc = read_operator(sw_json_str(e, "", "operator", NULL), dialect, &r->op, err);
    if (rc < 0)
        return rc;
    struct json_object *values = sw_json_get(e, "values");
    for (size_t i = 0; i < sw_json_len(values); i++) {
        struct json_object *v = sw_json_at(values, i);
        if (!json_object_is_type(v, json_type_string))
            return sw_err_set(err, SW_INVALID, "values[%zu]: not a string", i);
        sw_requirement_add_value(r, json_object_get_string(v),
                                 (size_t)json_object_get_string_len(v));
    }
    return check_count(r, err);
}

static int add_expressions(struct json_object *list, enum dialect dialect, struct sw_selector *s,
                           struct sw_err *err)
{
    if (list && !json_object_is_type(list, json_type_array))
        return sw_err_set(err, SW_INVALID, "not a list");
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct sw_requirement r = { 0 };
        int rc = read_expression(sw_json_at(list, i), dialect, &r, err);
        if (rc == 0 && dialect != NODE_FIELDS)
            rc = sw_requirement_check(&r, err);
        if (rc == 0)
            sw_selector_take(s, &r);
        sw_requirement_done(&r);
        if (rc < 0)
            return sw_err_wrap(err, rc, "[%zu]", i);
    }
    return 0;
}

static int add_map(struct json_object *map, struct sw_selector *s, struct sw_err *err)
{
    if (!map)
        return 0;
    if (!json_object_is_type(map, json_type_object))
        return sw_err_set(err, SW_INVALID, "not a map");
    json_object_object_foreach(map, key, value)
    {
        if (!json_object_is_type(value, json_type_string))
            return sw_err_set(err, SW_INVALID, "'%s': not a string", key);
        struct sw_requirement r = { .key = sw_strdup(key), .op = SW_SEL_EQUALS };
        sw_requirement_add_value(&r, json_object_get_string(value),
                                 (size_t)json_object_get_string_len(value));
        int rc = sw_requirement_check(&r, err);
        if (rc == 0)
            sw_selector_take(s, &r);
        sw_requirement_done(&r);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int finish(int rc, struct sw_selector *s, struct sw_selector *out)
{
    if (rc < 0)
        sw_selector_done(s);
    else
        *out = *s;
    return rc;
}

int sw_selector_from_map(struct json_object *map, struct sw_selector *out, struct sw_err *err)
{
    struct sw_selector s = { 0 };
    return finish(add_map(map, &s, err), &s, out);
}

int sw_selector_from_object(struct json_object *object, struct sw_selector *out, struct sw_err *err)
{
    struct sw_selector s = { .nothing = object == NULL };
    int rc = add_map(sw_json_get(object, "matchLabels"), &s, err);
    if (rc < 0)
        rc = sw_err_wrap(err, rc, "matchLabels");
    if (rc == 0) {
        rc = add_expressions(sw_json_get(object, "matchExpressions"), LABELS, &s, err);
        if (rc < 0)
            rc = sw_err_wrap(err, rc, "matchExpressions");
    }
    return finish(rc, &s, out);
}

/* ---- node selectors ----------------------------------------------------------------------------
 */

void sw_node_selector_init(struct sw_node_selector *s, struct json_object *doc)
{
    struct json_object *terms = sw_json_get(doc, "nodeSelectorTerms");
    *s = (struct sw_node_selector){ .n_terms = sw_json_len(terms), .everything = !doc };
    s->terms = sw_zalloc(s->n_terms + 1, sizeof *s->terms);
    for (size_t i = 0; i < s->n_terms; i++) {
        struct sw_node_selector_term *t = &s->terms[i];
        struct json_object *term = sw_json_at(terms, i);
        if (add_expressions(sw_json_get(term, "matchExpressions"), NODE_LABELS, &t->labels, NULL) <
                0 ||
            add_expressions(sw_json_get(term, "matchFields"), NODE_FIELDS, &t->fields, NULL) < 0 ||
            t->labels.n_reqs + t->fields.n_reqs == 0)
            t->labels.nothing = true;
    }
}

void sw_node_selector_done(struct sw_node_selector *s)
{
    for (size_t i = 0; i < s->n_terms; i++) {
        sw_selector_done(&s->terms[i].labels);
        sw_selector_done(&s->terms[i].fields);
    }
    free(s->terms);
    *s = (struct sw_node_selector){ 0 };
}
