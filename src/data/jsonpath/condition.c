/* Conditions: `{.phase} == Running`. Source: HIP-0025, readiness-success and readiness-failure. */
#include <stdlib.h>
#include <string.h>

#include "data/json/json.h"
#include "data/jsonpath/jsonpath.h"
#include "data/jsonpath/jsonpath_ast.h"
#include "data/text/number.h"
#include "data/text/quantity.h"

struct sw_condition {
    char *text;
    struct sw_jsonpath *path;
    enum jp_op op;
    char *value; /* the text of the value, without quotes */
    bool quoted; /* it was quoted: a string, even if it looks like a number */
};

void sw_condition_free(struct sw_condition *condition)
{
    if (!condition)
        return;
    sw_jsonpath_free(condition->path);
    free(condition->text);
    free(condition->value);
    free(condition);
}

const char *sw_condition_text(const struct sw_condition *condition)
{
    return condition->text;
}

/* ---- compiling ---------------------------------------------------------------------------------
 */

/* The end of the path: after its closing brace or, without braces, before the operator. Braces and
 * operators inside quotes and brackets do not count. */
static const char *end_of_path(const char *p)
{
    bool braces = *p == '{';
    int open = 0;
    char quote = 0;
    for (; *p; p++) {
        if (quote) {
            if (*p == '\\' && p[1])
                p++;
            else if (*p == quote)
                quote = 0;
            continue;
        }
        if (*p == '"' || *p == '\'')
            quote = *p;
        else if (*p == '{' || *p == '[')
            open++;
        else if (*p == '}' || *p == ']')
            open--;
        if (braces && open == 0)
            return p + 1;
        if (!braces && open == 0 && strchr("=!<>", *p))
            return p;
    }
    return p;
}

static const char *skip_spaces(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

/* The rest of the condition, without surrounding blanks and without a pair of quotes. */
static int read_value(struct sw_condition *c, const char *p, struct sw_err *err)
{
    p = skip_spaces(p);
    size_t len = strlen(p);
    while (len > 0 && strchr(" \t\r\n", p[len - 1]))
        len--;
    if (len == 0)
        return sw_err_set(err, SW_INVALID,
                          "condition '%s': a value was expected behind the operator", c->text);
    c->quoted = len >= 2 && (*p == '"' || *p == '\'') && p[len - 1] == *p;
    c->value = sw_strndup(p + c->quoted, len - 2 * (size_t)c->quoted);
    return 0;
}

int sw_condition_compile(const char *text, struct sw_condition **out, struct sw_err *err)
{
    SW_AUTO(sw_condition) *c = sw_zalloc(1, sizeof *c);
    c->text = sw_strdup(text);
    const char *from = skip_spaces(text), *end = end_of_path(from), *p = skip_spaces(end);
    while (end > from && strchr(" \t", end[-1]))
        end--;
    size_t op_len = jp_read_op(p, &c->op);
    if (op_len == 0 || end == from)
        return sw_err_set(err, SW_INVALID,
                          "condition '%s': a path, one of ==, !=, <, <=, >, >= and "
                          "a value were expected, as in {.phase} == Running",
                          text);
    SW_AUTO_CHARS *path = sw_strndup(from, (size_t)(end - from));
    int rc = sw_jsonpath_compile(path, &c->path, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "condition '%s'", text);
    rc = read_value(c, p + op_len, err);
    if (rc < 0)
        return rc;
    *out = SW_TAKE(c);
    return 0;
}

/* ---- evaluating --------------------------------------------------------------------------------
 */

/* The condition's value as a JSON value: NULL (null), a number, a boolean, a string. */
static struct json_object *value_of(const struct sw_condition *c)
{
    struct json_object *value = NULL;
    if (c->quoted || sw_json_parse(c->value, strlen(c->value), NULL, &value, NULL) < 0 ||
        json_object_is_type(value, json_type_object) ||
        json_object_is_type(value, json_type_array)) {
        (void)json_object_put(value);
        return json_object_new_string(c->value);
    }
    return value;
}

/* Compare numbers and quantities ("80Gi") by value. @return false: one of them is neither */
static bool compare_amounts(struct json_object *a, struct json_object *b, int *out)
{
    struct sw_quantity x, y;
    if (sw_quantity_from_json(a, &x, NULL) < 0 || sw_quantity_from_json(b, &y, NULL) < 0)
        return false;
    *out = sw_quantity_cmp(&x, &y);
    return true;
}

static bool holds(const struct sw_condition *c, struct json_object *found, struct json_object *want)
{
    int order;
    bool equality = c->op == JP_EQUAL || c->op == JP_NOT_EQUAL;
    if (equality && json_object_is_type(found, json_type_string))
        return (strcmp(json_object_get_string(found), c->value) == 0) == (c->op == JP_EQUAL);
    if (equality || !compare_amounts(found, want, &order))
        return jp_compare(found, c->op, want);
    switch (c->op) {
    case JP_LESS:
        return order < 0;
    case JP_LESS_EQUAL:
        return order <= 0;
    case JP_GREATER:
        return order > 0;
    default:
        return order >= 0;
    }
}

bool sw_condition_holds(const struct sw_condition *condition, struct json_object *doc)
{
    struct sw_json_list found = { 0 };
    SW_AUTO_JSON *want = value_of(condition);
    bool any = false;
    if (sw_jsonpath_find(condition->path, doc, &found, NULL) < 0)
        return false;
    for (size_t i = 0; i < found.n_values && !any; i++)
        any = holds(condition, found.values[i], want);
    sw_json_list_done(&found);
    return any;
}
