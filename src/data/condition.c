/* "{.phase} == Running": a path, a comparison and a value. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "data/json.h"
#include "data/jsonpath.h"
#include "data/jsonpath_in.h"
#include "data/quantity.h"

/* ---- comparing ---------------------------------------------------------------------------------
 */

enum sw_compare sw_compare_read(const char **at)
{
    static const struct {
        const char *text;
        enum sw_compare op;
    } ops[] = { { "==", SW_COMPARE_EQ }, { "!=", SW_COMPARE_NE }, { "<=", SW_COMPARE_LE },
                { ">=", SW_COMPARE_GE }, { "<", SW_COMPARE_LT },  { ">", SW_COMPARE_GT } };
    for (size_t i = 0; i < SW_COUNT(ops); i++) {
        if (!sw_starts_with(*at, ops[i].text))
            continue;
        *at += strlen(ops[i].text);
        *at += strspn(*at, " \t");
        return ops[i].op;
    }
    return SW_COMPARE_NONE;
}

struct json_object *sw_compare_value(const char *text, size_t len)
{
    struct json_object *value = NULL;
    /* numbers and the three words are JSON; what is not, is a text */
    if (sw_json_parse(text, len, NULL, &value, NULL) == 0 &&
        !json_object_is_type(value, json_type_string) &&
        !json_object_is_type(value, json_type_object) &&
        !json_object_is_type(value, json_type_array))
        return value;
    json_object_put(value);
    return json_object_new_string_len(text, (int)len);
}

static bool by_order(enum sw_compare op, int order)
{
    switch (op) {
    case SW_COMPARE_EQ:
        return order == 0;
    case SW_COMPARE_NE:
        return order != 0;
    case SW_COMPARE_LT:
        return order < 0;
    case SW_COMPARE_LE:
        return order <= 0;
    case SW_COMPARE_GT:
        return order > 0;
    case SW_COMPARE_GE:
        return order >= 0;
    case SW_COMPARE_NONE:
        break;
    }
    return false;
}

static bool is_scalar(struct json_object *value)
{
    return !json_object_is_type(value, json_type_object) &&
           !json_object_is_type(value, json_type_array);
}

static bool is_ordered(struct json_object *value)
{
    return json_object_is_type(value, json_type_string) ||
           json_object_is_type(value, json_type_int) ||
           json_object_is_type(value, json_type_double);
}

bool sw_compare_holds(enum sw_compare op, struct json_object *left, struct json_object *right)
{
    if (!is_scalar(left) || !is_scalar(right))
        return sw_json_equal(left, right) ? op == SW_COMPARE_EQ : op == SW_COMPARE_NE;
    struct sw_quantity a, b;
    if (is_ordered(left) && is_ordered(right) && sw_quantity_from_json(left, &a, NULL) == 0 &&
        sw_quantity_from_json(right, &b, NULL) == 0)
        return by_order(op, sw_quantity_cmp(&a, &b));
    const char *l = left ? json_object_get_string(left) : "null";
    const char *r = right ? json_object_get_string(right) : "null";
    bool ordered = is_ordered(left) && is_ordered(right);
    if (!ordered && op != SW_COMPARE_EQ && op != SW_COMPARE_NE)
        return false;
    return by_order(op, strcmp(l, r));
}

/* ---- conditions --------------------------------------------------------------------------------
 */

struct sw_condition {
    char *text;
    struct sw_jsonpath *path;
    enum sw_compare op;
    struct json_object *value;
};

void sw_condition_free(struct sw_condition *c)
{
    if (!c)
        return;
    free(c->text);
    sw_jsonpath_free(c->path);
    json_object_put(c->value);
    free(c);
}

/* Where the operator is: the first one outside of brackets, braces and quotes. */
static const char *find_operator(const char *text)
{
    int depth = 0;
    char quote = '\0';
    for (const char *at = text; *at; at++) {
        if (*at == '\\' && at[1])
            at++;
        else if (quote)
            quote = *at == quote ? '\0' : quote;
        else if (*at == '"' || *at == '\'')
            quote = *at;
        else if (strchr("[{(", *at))
            depth++;
        else if (strchr("]})", *at))
            depth--;
        else if (depth == 0 && strchr("=!<>", *at))
            return at;
    }
    return NULL;
}

static const char *trim_end(const char *from, const char *end)
{
    while (end > from && isspace((unsigned char)end[-1]))
        end--;
    return end;
}

static int read_value(const char *at, struct json_object **out)
{
    const char *end = trim_end(at, at + strlen(at));
    if (end == at)
        return SW_INVALID;
    bool quoted = end - at >= 2 && (*at == '"' || *at == '\'') && end[-1] == *at;
    *out = quoted ? json_object_new_string_len(at + 1, (int)(end - at - 2))
                  : sw_compare_value(at, (size_t)(end - at));
    return 0;
}

int sw_condition_compile(const char *text, struct sw_condition **out, struct sw_err *err)
{
    SW_AUTO(sw_condition) *c = sw_zalloc(1, sizeof *c);
    c->text = sw_strdup(text);
    const char *from = text + strspn(text, " \t");
    const char *at = find_operator(from);
    if (!at)
        return sw_err_set(err, SW_INVALID,
                          "'%s' is no condition: expected a path, ==, !=, <, <=, > or >=, a value",
                          text);
    SW_AUTO_CHARS *path = sw_strndup(from, (size_t)(trim_end(from, at) - from));
    c->op = sw_compare_read(&at);
    if (c->op == SW_COMPARE_NONE)
        return sw_err_set(err, SW_INVALID, "'%s' is no condition: '%c' is no comparison", text,
                          *at);
    if (*path == '\0')
        return sw_err_set(err, SW_INVALID, "'%s' is no condition: it has no path", text);
    int rc = sw_jsonpath_compile(path, &c->path, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "condition '%s'", text);
    if (read_value(at, &c->value) < 0)
        return sw_err_set(err, SW_INVALID, "'%s' is no condition: it has no value", text);
    *out = SW_TAKE(c);
    return 0;
}

bool sw_condition_holds(const struct sw_condition *c, struct json_object *doc)
{
    struct sw_json_list list = { 0 };
    if (sw_jsonpath_find(c->path, doc, &list, NULL) < 0)
        return false;
    bool holds = false;
    for (size_t i = 0; i < list.n_values && !holds; i++)
        holds = sw_compare_holds(c->op, list.values[i], c->value);
    sw_json_list_done(&list);
    return holds;
}

const char *sw_condition_text(const struct sw_condition *c)
{
    return c->text;
}
