/* Trees of assertions. Source: Chainsaw, "Assertion trees". */
#include <stdlib.h>
#include <string.h>

#include "data/jmespath/jmespath.h"
#include "data/json/json.h"
#include "data/json/path.h"
#include "data/text/cut.h"

enum { SHOWN_BYTES = 120, MAX_DEPTH = 64 };

enum kind { IS_VALUE, IS_EXPRESSION, IS_LIST, IS_MAP };

/* One node of the tree, and how it is reached from its parent. */
struct node {
    char *key;                /* of a map; NULL: an element of a list */
    struct sw_jmespath *path; /* the key's expression; NULL: the key is a field's name */
    bool each;                /* "~.": of each element of what the key gives */
    enum kind kind;
    struct json_object *value;    /* IS_VALUE */
    struct sw_jmespath *expected; /* IS_EXPRESSION */
    struct node *items;
    size_t n_items;
};

struct sw_assertion {
    struct node root;
};

/* ---- compiling ---------------------------------------------------------------------------------
 */

/* "(expression)": what is between the parentheses, the caller's; else NULL. */
static char *inside(const char *text)
{
    const size_t len = strlen(text);
    return len > 2 && *text == '(' && text[len - 1] == ')' ? sw_strndup(text + 1, len - 2) : NULL;
}

static int compile(struct json_object *tree, const char *place, int depth, struct node *out,
                   struct sw_err *err);

static int compile_expression(const char *text, const char *place, struct sw_jmespath **out,
                              struct sw_err *err)
{
    int rc = sw_jmespath_compile(text, out, err);
    return rc < 0 ? sw_err_wrap(err, rc, "%s", *place ? place : "the assertion") : 0;
}

static int compile_key(const char *key, const char *place, struct node *out, struct sw_err *err)
{
    out->key = sw_strdup(key);
    out->each = sw_starts_with(key, "~.");
    const char *rest = out->each ? key + 2 : key;
    SW_AUTO_CHARS *expression = inside(rest);
    if (*key == '~' && !out->each)
        return sw_err_set(err, SW_INVALID, "%s: '%s': names of elements are not known here", place,
                          key);
    if (!expression && *rest == '(')
        return sw_err_set(err, SW_INVALID, "%s: '%s': bindings are not known here", place, key);
    if (!expression && out->each)
        sw_text_set(&out->key, rest);
    return expression ? compile_expression(expression, place, &out->path, err) : 0;
}

static int compile_map(struct json_object *tree, const char *place, int depth, struct node *out,
                       struct sw_err *err)
{
    out->items = sw_zalloc(sw_json_len(tree) + 1, sizeof *out->items);
    json_object_object_foreach(tree, key, value)
    {
        struct node *item = &out->items[out->n_items++];
        SW_AUTO_CHARS *below = sw_printf("%s%s%s", place, *place ? "." : "", key);
        int rc = compile_key(key, below, item, err);
        if (rc == 0)
            rc = compile(value, below, depth + 1, item, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int compile_list(struct json_object *tree, const char *place, int depth, struct node *out,
                        struct sw_err *err)
{
    out->items = sw_zalloc(sw_json_len(tree) + 1, sizeof *out->items);
    for (size_t i = 0; i < sw_json_len(tree); i++) {
        SW_AUTO_CHARS *below = sw_printf("%s[%zu]", place, i);
        int rc = compile(sw_json_at(tree, i), below, depth + 1, &out->items[out->n_items++], err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int compile(struct json_object *tree, const char *place, int depth, struct node *out,
                   struct sw_err *err)
{
    if (depth > MAX_DEPTH)
        return sw_err_set(err, SW_INVALID, "%s: it is nested too deeply", place);
    if (json_object_is_type(tree, json_type_object)) {
        out->kind = IS_MAP;
        return compile_map(tree, place, depth, out, err);
    }
    if (json_object_is_type(tree, json_type_array)) {
        out->kind = IS_LIST;
        return compile_list(tree, place, depth, out, err);
    }
    SW_AUTO_CHARS *expression = json_object_is_type(tree, json_type_string)
                                    ? inside(json_object_get_string(tree))
                                    : NULL;
    out->kind = expression ? IS_EXPRESSION : IS_VALUE;
    if (expression)
        return compile_expression(expression, place, &out->expected, err);
    out->value = sw_json_copy(tree);
    return 0;
}

int sw_assertion_compile(struct json_object *tree, struct sw_assertion **out, struct sw_err *err)
{
    SW_AUTO(sw_assertion) *a = sw_zalloc(1, sizeof *a);
    int rc = compile(tree, "", 0, &a->root, err);
    if (rc == 0)
        *out = SW_TAKE(a);
    return rc;
}

static void node_done(struct node *node)
{
    for (size_t i = 0; i < node->n_items; i++)
        node_done(&node->items[i]);
    free(node->items);
    free(node->key);
    sw_jmespath_free(node->path);
    sw_jmespath_free(node->expected);
    (void)json_object_put(node->value);
}

void sw_assertion_free(struct sw_assertion *assertion)
{
    if (!assertion)
        return;
    node_done(&assertion->root);
    free(assertion);
}

/* ---- checking ----------------------------------------------------------------------------------
 */

/* A check that is going on: where it is in the document, for the message. */
struct check {
    char *place; /* "status.conditions[0]"; owned */
    bool hides;
    char **why; /* NULL: nobody asks */
};

static bool holds(struct check *c, const struct node *node, struct json_object *value);

/* @value for people; the caller's. */
static char *shown(const struct check *c, struct json_object *value)
{
    if (c->hides && value)
        return sw_strdup("another value");
    SW_AUTO_CHARS *text = sw_json_text(value, SW_JSON_PLAIN, NULL);
    const bool is_text = json_object_is_type(value, json_type_string);
    return sw_text_cut(is_text ? json_object_get_string(value) : text, SHOWN_BYTES);
}

static bool differs(struct check *c, struct json_object *found, struct json_object *expected)
{
    if (c->why && !*c->why) {
        SW_AUTO_CHARS *is = shown(c, found), *not = shown(c, expected);
        *c->why = c->hides ? sw_printf("%s is not as asserted", c->place)
                           : sw_printf("%s is %s, not %s", c->place, is, not );
    }
    return false;
}

static bool fails(struct check *c, const char *what)
{
    if (c->why && !*c->why)
        *c->why = sw_printf("%s%s%s", c->place, *c->place ? " " : "", what);
    return false;
}

/* Go on below the place; the place before is the caller's, for leave(). */
static char *enter(struct check *c, const char *fmt, const char *key, size_t i)
{
    char *before = c->place;
    if (key)
        c->place = sw_printf("%s%s%s", before, *before ? fmt : "", key);
    else
        c->place = sw_printf("%s[%zu]", before, i);
    return before;
}

static void leave(struct check *c, char *before)
{
    free(c->place);
    c->place = before;
}

/* Where a comparison is not as it should be: what its left side is, behind the message. */
static void add_compared(struct check *c, const struct node *node, struct json_object *value)
{
    const struct sw_jmespath *left = node->path ? sw_jmespath_compared(node->path) : NULL;
    SW_AUTO_JSON *found = NULL;
    if (!left || !c->why || !*c->why || c->hides ||
        sw_jmespath_search(left, value, &found, NULL) < 0)
        return;
    SW_AUTO_CHARS *is = shown(c, found);
    sw_append(c->why, ": what is compared is %s", is);
}

/* Each element of a list, or each value of a map. */
static bool each_holds(struct check *c, const struct node *node, struct json_object *value)
{
    const bool is_list = json_object_is_type(value, json_type_array);
    if (!is_list && !json_object_is_type(value, json_type_object))
        return fails(c, "is neither a list nor a map");
    for (size_t i = 0; is_list && i < sw_json_len(value); i++) {
        char *before = enter(c, ".", NULL, i);
        const bool is_so = holds(c, node, sw_json_at(value, i));
        leave(c, before);
        if (!is_so)
            return false;
    }
    if (is_list)
        return true;
    json_object_object_foreach(value, key, below)
    {
        char *before = enter(c, ".", key, 0);
        const bool is_so = holds(c, node, below);
        leave(c, before);
        if (!is_so)
            return false;
    }
    return true;
}

/* One field, or one expression, of a map. */
static bool field_holds(struct check *c, const struct node *node, struct json_object *value)
{
    SW_AUTO_JSON *found = NULL;
    char *before = enter(c, ".", node->key, 0);
    bool is_so = true;
    SW_ERR(err);
    if (node->path && sw_jmespath_search(node->path, value, &found, &err) < 0)
        is_so = fails(c, sw_err_text(&err));
    else if (!node->path)
        found = json_object_get(sw_json_get(value, node->key));
    if (is_so)
        is_so = node->each ? each_holds(c, node, found) : holds(c, node, found);
    if (!is_so)
        add_compared(c, node, value);
    leave(c, before);
    return is_so;
}

static bool list_holds(struct check *c, const struct node *node, struct json_object *value)
{
    if (!json_object_is_type(value, json_type_array) || sw_json_len(value) != node->n_items) {
        SW_AUTO_CHARS *what = sw_printf("is no list of %zu", node->n_items);
        return fails(c, what);
    }
    for (size_t i = 0; i < node->n_items; i++) {
        char *before = enter(c, ".", NULL, i);
        const bool is_so = holds(c, &node->items[i], sw_json_at(value, i));
        leave(c, before);
        if (!is_so)
            return false;
    }
    return true;
}

static bool holds(struct check *c, const struct node *node, struct json_object *value)
{
    SW_AUTO_JSON *expected = NULL;
    SW_ERR(err);
    switch (node->kind) {
    case IS_VALUE:
        return sw_json_equal(value, node->value) || differs(c, value, node->value);
    case IS_EXPRESSION:
        if (sw_jmespath_search(node->expected, value, &expected, &err) < 0)
            return fails(c, sw_err_text(&err));
        return sw_json_equal(value, expected) || differs(c, value, expected);
    case IS_LIST:
        return list_holds(c, node, value);
    case IS_MAP:
        for (size_t i = 0; i < node->n_items; i++) { /* expressions are for any value */
            if (!node->items[i].path && !json_object_is_type(value, json_type_object))
                return fails(c, value ? "is no map" : "is missing");
            if (!field_holds(c, &node->items[i], value))
                return false;
        }
        return true;
    }
    return false;
}

bool sw_assertion_holds(const struct sw_assertion *assertion, struct json_object *doc, bool hides,
                        char **why)
{
    struct check c = { .place = sw_strdup(""), .hides = hides, .why = why };
    const bool is_so = holds(&c, &assertion->root, doc);
    free(c.place);
    return is_so;
}
