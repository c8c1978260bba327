/* The evaluation of JMESPath. */
#include <string.h>

#include "data/jmespath/ast.h"
#include "data/json/json.h"
#include "data/json/path.h"

enum { MAX_VISITS = 1000000 };

int jm_visit(struct jm_run *run, size_t n)
{
    run->n_visits += n;
    return run->n_visits > MAX_VISITS
               ? sw_err_set(run->err, SW_INVALID, "more than %d values had to be visited",
                            MAX_VISITS)
               : 0;
}

static bool is(struct json_object *value, enum json_type type)
{
    return value && json_object_is_type(value, type);
}

static bool is_number(struct json_object *value)
{
    return is(value, json_type_int) || is(value, json_type_double);
}

bool jm_is_false(struct json_object *value)
{
    return !value || (is(value, json_type_boolean) && !json_object_get_boolean(value)) ||
           (is(value, json_type_string) && json_object_get_string_len(value) == 0) ||
           ((is(value, json_type_array) || is(value, json_type_object)) && sw_json_len(value) == 0);
}

/* Element @at of a list, from its end where it is negative; NULL: there is none. */
static struct json_object *element(struct json_object *list, int64_t at)
{
    const int64_t len = is(list, json_type_array) ? (int64_t)sw_json_len(list) : 0;
    at = at < 0 ? at + len : at;
    return at >= 0 && at < len ? sw_json_at(list, (size_t)at) : NULL;
}

static int64_t bound(int64_t at, int64_t len, int64_t step)
{
    if (at < 0) {
        at += len;
        return at >= 0 ? at : step < 0 ? -1 : 0;
    }
    return at < len ? at : step < 0 ? len - 1 : len;
}

static struct json_object *slice(const struct jm_node *node, struct json_object *list)
{
    if (!is(list, json_type_array))
        return NULL;
    struct json_object *out = json_object_new_array();
    const int64_t len = (int64_t)sw_json_len(list), step = node->has_step ? node->step : 1;
    int64_t at = node->has_from ? bound(node->from, len, step) : step < 0 ? len - 1 : 0;
    const int64_t to = node->has_to ? bound(node->to, len, step) : step < 0 ? -1 : len;
    for (; step < 0 ? at > to : at < to; at += step)
        (void)json_object_array_add(out, json_object_get(sw_json_at(list, (size_t)at)));
    return out;
}

/* @node->right of @value, where it is not null, into the list @to. */
static int add_projected(struct jm_run *run, const struct jm_node *node, struct json_object *value,
                         struct json_object *to)
{
    struct json_object *one;
    int rc = jm_eval(run, node->right, value, &one);
    if (rc == 0 && one)
        (void)json_object_array_add(to, one);
    return rc;
}

/* Is @value one of those that a filter lets pass? */
static int passes(struct jm_run *run, const struct jm_node *node, struct json_object *value,
                  bool *out)
{
    SW_AUTO_JSON *result = NULL;
    *out = true;
    if (node->kind != JM_FILTER)
        return 0;
    int rc = jm_eval(run, node->cond, value, &result);
    *out = rc == 0 && !jm_is_false(result);
    return rc;
}

static int project_list(struct jm_run *run, const struct jm_node *node, struct json_object *list,
                        struct json_object *to)
{
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *item = sw_json_at(list, i);
        bool wanted;
        int rc = passes(run, node, item, &wanted);
        if (rc == 0 && wanted)
            rc = add_projected(run, node, item, to);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int project_values(struct jm_run *run, const struct jm_node *node, struct json_object *map,
                          struct json_object *to)
{
    json_object_object_foreach(map, key, value)
    {
        (void)key;
        int rc = add_projected(run, node, value, to);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* The elements of @list, and those of lists in it. */
static struct json_object *flatten(struct json_object *list)
{
    struct json_object *out = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *item = sw_json_at(list, i);
        const bool nested = is(item, json_type_array);
        for (size_t k = 0; nested && k < sw_json_len(item); k++)
            (void)json_object_array_add(out, json_object_get(sw_json_at(item, k)));
        if (!nested)
            (void)json_object_array_add(out, json_object_get(item));
    }
    return out;
}

static int project(struct jm_run *run, const struct jm_node *node, struct json_object *value,
                   struct json_object **out)
{
    SW_AUTO_JSON *of = NULL, *flat = NULL, *to = NULL;
    int rc = jm_eval(run, node->left, value, &of);
    const enum json_type type = node->kind == JM_VALUES ? json_type_object : json_type_array;
    if (rc < 0 || !is(of, type))
        return rc;
    rc = jm_visit(run, sw_json_len(of));
    if (rc == 0 && node->kind == JM_FLATTEN) {
        flat = flatten(of);
        rc = jm_visit(run, sw_json_len(flat));
    }
    to = json_object_new_array();
    if (rc == 0)
        rc = node->kind == JM_VALUES ? project_values(run, node, of, to)
                                     : project_list(run, node, flat ? flat : of, to);
    if (rc == 0)
        *out = SW_TAKE(to);
    return rc;
}

/* ---- operators ---------------------------------------------------------------------------------
 */

/* Order is of numbers alone: that of others is null. */
static struct json_object *compare(enum jm_op op, struct json_object *a, struct json_object *b)
{
    if (op == JM_EQ || op == JM_NE)
        return json_object_new_boolean(sw_json_equal(a, b) == (op == JM_EQ));
    if (!is_number(a) || !is_number(b))
        return NULL;
    const double x = json_object_get_double(a), y = json_object_get_double(b);
    return json_object_new_boolean(op == JM_LT   ? x < y
                                   : op == JM_LE ? x <= y
                                   : op == JM_GT ? x > y
                                                 : x >= y);
}

static int eval_binary(struct jm_run *run, const struct jm_node *node, struct json_object *value,
                       struct json_object **out)
{
    SW_AUTO_JSON *left = NULL, *right = NULL;
    int rc = jm_eval(run, node->left, value, &left);
    if (rc < 0)
        return rc;
    if (node->kind == JM_OR ? !jm_is_false(left) : node->kind == JM_AND && jm_is_false(left)) {
        *out = SW_TAKE(left);
        return 0;
    }
    if (node->kind == JM_SUB)
        return jm_eval(run, node->right, left, out);
    rc = jm_eval(run, node->right, value, &right);
    if (rc == 0 && node->kind == JM_COMPARE)
        *out = compare(node->op, left, right);
    else if (rc == 0)
        *out = SW_TAKE(right);
    return rc;
}

/* How many values are in @value, counted up to @most. */
static size_t size_of(struct json_object *value, size_t most)
{
    size_t n = 1;
    if (is(value, json_type_object)) {
        json_object_object_foreach(value, key, below)
        {
            (void)key;
            n += n < most ? size_of(below, most - n) : 0;
        }
    }
    for (size_t i = 0; is(value, json_type_array) && n < most && i < sw_json_len(value); i++)
        n += size_of(sw_json_at(value, i), most - n);
    return n;
}

/* Of null all is null that is selected. What is selected twice is shared, and counts twice: who
 * walks it is to find an end. */
static int eval_select(struct jm_run *run, const struct jm_node *node, struct json_object *value,
                       struct json_object **out)
{
    if (!value)
        return 0;
    const bool is_map = node->kind == JM_SELECT_MAP;
    SW_AUTO_JSON *to = is_map ? json_object_new_object() : json_object_new_array();
    for (size_t i = 0; i < node->n_items; i++) {
        struct json_object *one = NULL;
        int rc = jm_eval(run, node->items[i], value, &one);
        if (rc == 0)
            rc = jm_visit(run, size_of(one, MAX_VISITS + 1));
        if (rc < 0) {
            (void)json_object_put(one);
            return rc;
        }
        if (is_map)
            (void)json_object_object_add(to, node->keys[i], one);
        else
            (void)json_object_array_add(to, one);
    }
    *out = SW_TAKE(to);
    return 0;
}

int jm_eval(struct jm_run *run, const struct jm_node *node, struct json_object *value,
            struct json_object **out)
{
    SW_AUTO_JSON *left = NULL;
    int rc = jm_visit(run, 1);
    *out = NULL;
    if (rc == 0 && !sw_stack_has_room())
        rc = sw_err_set(run->err, SW_INVALID, "it is nested too deeply");
    if (rc < 0)
        return rc;
    switch (node->kind) {
    case JM_CURRENT:
        *out = json_object_get(value);
        return 0;
    case JM_LITERAL:
        *out = json_object_get(node->value);
        return 0;
    case JM_FIELD:
        *out = is(value, json_type_object) ? json_object_get(sw_json_get(value, node->text)) : NULL;
        return 0;
    case JM_INDEX:
    case JM_SLICE:
    case JM_NOT:
        rc = jm_eval(run, node->left, value, &left);
        if (rc < 0)
            return rc;
        *out = node->kind == JM_NOT     ? json_object_new_boolean(jm_is_false(left))
               : node->kind == JM_INDEX ? json_object_get(element(left, node->from))
                                        : slice(node, left);
        return jm_visit(run, node->kind == JM_SLICE ? sw_json_len(*out) : 0);
    case JM_LIST:
    case JM_VALUES:
    case JM_FLATTEN:
    case JM_FILTER:
        return project(run, node, value, out);
    case JM_SUB:
    case JM_OR:
    case JM_AND:
    case JM_COMPARE:
        return eval_binary(run, node, value, out);
    case JM_SELECT:
    case JM_SELECT_MAP:
        return eval_select(run, node, value, out);
    case JM_CALL:
        return jm_call(run, node, value, out);
    case JM_EXPRESSION:
        return 0; /* jm_call() evaluates what it is an argument of */
    }
    return 0;
}

int sw_jmespath_search(const struct sw_jmespath *path, struct json_object *doc,
                       struct json_object **out, struct sw_err *err)
{
    struct jm_run run = { .err = err };
    SW_AUTO_JSON *result = NULL;
    int rc = jm_eval(&run, path->root, doc, &result);
    if (rc == 0)
        *out = SW_TAKE(result);
    return rc;
}
