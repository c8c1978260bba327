/* Evaluating JSONPaths. Source: k8s.io/client-go/util/jsonpath, jsonpath.go. */
#include <stdlib.h>
#include <string.h>

#include "data/json/json.h"
#include "data/json/path.h"
#include "data/jsonpath/jsonpath_ast.h"

enum { MAX_VALUES = 100000, MAX_WORK = 2000000 };

struct eval {
    struct jp_strictness strict;
    struct sw_err *err;
};

void sw_json_list_done(struct sw_json_list *list)
{
    free(list->values);
    *list = (struct sw_json_list){ 0 };
}

/* A value is looked at. @return 0 | SW_INVALID: they are too many */
static int check_work(const struct eval *e)
{
    if (++*e->strict.work > MAX_WORK)
        return sw_err_set(e->err, SW_INVALID, "a JSONPath looks at more than %d values", MAX_WORK);
    return 0;
}

static int add(const struct eval *e, struct sw_json_list *out, struct json_object *value)
{
    if (out->n_values == MAX_VALUES)
        return sw_err_set(e->err, SW_INVALID, "a JSONPath finds more than %d values", MAX_VALUES);
    SW_GROW(out->values, out->n_values, out->cap);
    out->values[out->n_values++] = value;
    return check_work(e);
}

static bool is_map(struct json_object *doc)
{
    return json_object_is_type(doc, json_type_object);
}

static bool is_list(struct json_object *doc)
{
    return json_object_is_type(doc, json_type_array);
}

/* A value does not have the type that a step needs. @return 0 unless that is an error */
static int misfit(const struct eval *e, const char *what)
{
    return e->strict.shapes ? sw_err_set(e->err, SW_INVALID, "%s", what) : 0;
}

static int eval_path(const struct eval *e, const struct jp_path *path, struct json_object *doc,
                     struct sw_json_list *out);

/* ---- steps: one value in, any number out -------------------------------------------------------
 */

static int eval_wildcard(const struct eval *e, struct json_object *in, struct sw_json_list *out)
{
    int rc = 0;
    if (is_map(in)) {
        json_object_object_foreach(in, key, value)
        {
            (void)key;
            rc = add(e, out, value);
            if (rc < 0)
                break;
        }
    }
    for (size_t i = 0; is_list(in) && i < json_object_array_length(in) && rc == 0; i++)
        rc = add(e, out, json_object_array_get_idx(in, i));
    return rc;
}

/* The value and all its descendants. As in kubectl, only non-empty maps, lists and strings count.
 */
static int eval_recursive(const struct eval *e, struct json_object *in, struct sw_json_list *out)
{
    bool text = json_object_is_type(in, json_type_string) && json_object_get_string_len(in) > 0;
    if (sw_json_len(in) == 0 && !text)
        return 0;
    int rc = add(e, out, in);
    if (is_map(in)) {
        json_object_object_foreach(in, key, value)
        {
            (void)key;
            if (rc == 0)
                rc = eval_recursive(e, value, out);
        }
    }
    for (size_t i = 0; is_list(in) && i < json_object_array_length(in) && rc == 0; i++)
        rc = eval_recursive(e, json_object_array_get_idx(in, i), out);
    return rc;
}

static int eval_index(const struct eval *e, const struct jp_step *step, struct json_object *in,
                      struct sw_json_list *out)
{
    if (!in)
        return 0;
    if (!is_list(in))
        return misfit(e, "what is indexed is no list");
    int64_t n = (int64_t)json_object_array_length(in);
    int64_t i = step->from < 0 ? step->from + n : step->from;
    if (i >= 0 && i < n)
        return add(e, out, json_object_array_get_idx(in, (size_t)i));
    if (!e->strict.shapes)
        return 0;
    return sw_err_set(e->err, SW_INVALID, "array index out of bounds: index %lld, length %lld",
                      (long long)i, (long long)n);
}

static int64_t clamp(int64_t v, int64_t most)
{
    return v < 0 ? 0 : v > most ? most : v;
}

static int eval_slice(const struct eval *e, const struct jp_step *step, struct json_object *in,
                      struct sw_json_list *out)
{
    if (!in)
        return 0;
    if (!is_list(in))
        return misfit(e, "what is sliced is no list");
    int64_t n = (int64_t)json_object_array_length(in);
    int64_t from = step->has_from ? step->from : 0, to = step->has_to ? step->to : n;
    from += from < 0 ? n : 0;
    to += to < 0 ? n : 0;
    if (from == to)
        return 0;
    if (e->strict.shapes && (from < 0 || from >= n || to < 0 || to > n || from > to))
        return sw_err_set(e->err, SW_INVALID, "slice [%lld:%lld] of a list of length %lld",
                          (long long)from, (long long)to, (long long)n);
    from = clamp(from, n);
    to = clamp(to, n);
    int rc = 0;
    for (int64_t i = from; i < to && rc == 0; i += step->by < n ? step->by : n)
        rc = add(e, out, json_object_array_get_idx(in, (size_t)i));
    return rc;
}

/* The value of one side of a filter. @return 1, 0: there is none, or an error */
static int eval_side(const struct eval *e, const struct jp_path *side, struct json_object *item,
                     struct json_object **out)
{
    struct sw_json_list found = { 0 };
    /* elements without the field do not match; a missing field is not an error here */
    struct eval lenient = { .strict.work = e->strict.work, .err = e->err };
    int rc = eval_path(&lenient, side, item, &found);
    if (rc == 0 && found.n_values > 1)
        rc = misfit(e, "a filter can only compare one element at a time");
    else if (rc == 0 && found.n_values == 1)
        rc = 1;
    if (rc > 0)
        *out = found.values[0];
    sw_json_list_done(&found);
    return rc;
}

/* @return 1: it matches, 0, or an error */
static int matches(const struct eval *e, const struct jp_step *step, struct json_object *item)
{
    struct json_object *left, *right;
    if (step->op == JP_EXISTS) {
        struct sw_json_list found = { 0 };
        struct eval lenient = { .strict.work = e->strict.work, .err = e->err };
        int rc = eval_path(&lenient, &step->left, item, &found);
        bool any = found.n_values > 0;
        sw_json_list_done(&found);
        return rc < 0 ? rc : any;
    }
    int rc = eval_side(e, &step->left, item, &left);
    if (rc > 0)
        rc = eval_side(e, &step->right, item, &right);
    return rc > 0 ? jp_compare(left, step->op, right) : rc;
}

static int eval_filter(const struct eval *e, const struct jp_step *step, struct json_object *in,
                       struct sw_json_list *out)
{
    if (!is_list(in))
        return misfit(e, "what is filtered is no list");
    int rc = 0;
    for (size_t i = 0; i < json_object_array_length(in) && rc >= 0; i++) {
        struct json_object *item = json_object_array_get_idx(in, i);
        rc = check_work(e);
        if (rc == 0)
            rc = matches(e, step, item);
        if (rc > 0)
            rc = add(e, out, item);
    }
    return rc < 0 ? rc : 0;
}

static int eval_one(const struct eval *e, const struct jp_step *step, struct json_object *in,
                    struct sw_json_list *out)
{
    struct json_object *value;
    int rc = check_work(e);
    if (rc < 0)
        return rc;
    switch (step->kind) {
    case JP_FIELD:
        if (is_map(in) && json_object_object_get_ex(in, step->field, &value))
            return add(e, out, value);
        return step->left.first ? eval_path(e, &step->left, in, out) : 0;
    case JP_WILDCARD:
        return eval_wildcard(e, in, out);
    case JP_RECURSIVE:
        return eval_recursive(e, in, out);
    case JP_INDEX:
        return eval_index(e, step, in, out);
    case JP_SLICE:
        return eval_slice(e, step, in, out);
    case JP_FILTER:
        return eval_filter(e, step, in, out);
    default:
        return 0;
    }
}

/* ---- paths -------------------------------------------------------------------------------------
 */

static int eval_step(const struct eval *e, const struct jp_step *step,
                     const struct sw_json_list *in, struct sw_json_list *out);

/* Apply all steps of a path to @in. */
static int eval_from(const struct eval *e, const struct jp_path *path,
                     const struct sw_json_list *in, struct sw_json_list *out)
{
    struct sw_json_list now = { 0 };
    int rc = 0;
    for (size_t i = 0; i < in->n_values && rc == 0; i++)
        rc = add(e, &now, in->values[i]);
    for (const struct jp_step *step = path->first; step && rc == 0; step = step->next) {
        struct sw_json_list next = { 0 };
        rc = eval_step(e, step, &now, &next);
        sw_json_list_done(&now);
        now = next;
    }
    for (size_t i = 0; i < now.n_values && rc == 0; i++)
        rc = add(e, out, now.values[i]);
    sw_json_list_done(&now);
    return rc;
}

static int eval_step(const struct eval *e, const struct jp_step *step,
                     const struct sw_json_list *in, struct sw_json_list *out)
{
    int rc = 0;
    if (step->kind == JP_LITERAL)
        return add(e, out, step->literal);
    for (size_t i = 0; step->kind == JP_UNION && i < step->n_parts && rc == 0; i++)
        rc = eval_from(e, &step->parts[i], in, out);
    for (size_t i = 0; step->kind != JP_UNION && i < in->n_values && rc == 0; i++)
        rc = eval_one(e, step, in->values[i], out);
    if (rc == 0 && step->kind == JP_FIELD && in->n_values > 0 && out->n_values == 0 &&
        e->strict.missing_keys)
        return sw_err_set(e->err, SW_NOTFOUND, "%s is not found", step->field);
    return rc;
}

static int eval_path(const struct eval *e, const struct jp_path *path, struct json_object *doc,
                     struct sw_json_list *out)
{
    const struct sw_json_list in = { .values = &doc, .n_values = 1 };
    return eval_from(e, path, &in, out);
}

int jp_eval(const struct jp_path *path, struct json_object *doc, struct jp_strictness strict,
            struct sw_json_list *out, struct sw_err *err)
{
    const struct eval e = { .strict = strict, .err = err };
    return eval_path(&e, path, doc, out);
}

/* ---- comparing ---------------------------------------------------------------------------------
 */

static bool is_number(struct json_object *v)
{
    return json_object_is_type(v, json_type_int) || json_object_is_type(v, json_type_double);
}

bool jp_compare(struct json_object *a, enum jp_op op, struct json_object *b)
{
    int c;
    if (op == JP_EQUAL || op == JP_NOT_EQUAL)
        return sw_json_equal(a, b) == (op == JP_EQUAL);
    if (is_number(a) && is_number(b)) {
        double x = json_object_get_double(a), y = json_object_get_double(b);
        c = sw_json_equal(a, b) ? 0 : (x > y) - (x < y);
    } else if (json_object_is_type(a, json_type_string) &&
               json_object_is_type(b, json_type_string)) {
        c = sw_json_key_cmp(json_object_get_string(a), (size_t)json_object_get_string_len(a),
                            json_object_get_string(b), (size_t)json_object_get_string_len(b));
    } else {
        return false; /* the values have no order */
    }
    switch (op) {
    case JP_LESS:
        return c < 0;
    case JP_LESS_EQUAL:
        return c <= 0;
    case JP_GREATER:
        return c > 0;
    default:
        return c >= 0;
    }
}
