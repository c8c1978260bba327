/* The parser of JMESPath: top-down operator precedence, as the grammar of jmespath.org has it. */
#include <stdlib.h>
#include <string.h>

#include "data/jmespath/ast.h"
#include "data/json/json.h"
#include "data/json/path.h"

enum { MAX_DEPTH = 100, MAX_BYTES = 64 << 10 };

enum token {
    T_END,
    T_NAME,    /* text */
    T_QUOTED,  /* text */
    T_LITERAL, /* value */
    T_NUMBER,  /* number */
    T_DOT,
    T_STAR,
    T_LBRACKET,
    T_RBRACKET,
    T_FLATTEN,
    T_FILTER,
    T_LBRACE,
    T_RBRACE,
    T_LPAREN,
    T_RPAREN,
    T_COMMA,
    T_COLON,
    T_CURRENT,
    T_PIPE,
    T_OR,
    T_AND,
    T_EXPREF,
    T_NOT,
    T_EQ,
    T_NE,
    T_LT,
    T_LE,
    T_GT,
    T_GE,
};

struct parser {
    struct sw_jmespath *path;
    const char *at;    /* behind the token */
    const char *begin; /* of the token */
    enum token token;
    const char *text;
    struct json_object *value;
    int64_t number;
    int depth;
    struct sw_err *err;
};

/* How tightly what follows binds to what is before it. */
static int binding(enum token token)
{
    static const int powers[] = {
        [T_PIPE] = 1,      [T_OR] = 2,      [T_AND] = 3,  [T_EQ] = 5,   [T_NE] = 5,
        [T_LT] = 5,        [T_LE] = 5,      [T_GT] = 5,   [T_GE] = 5,   [T_FLATTEN] = 9,
        [T_STAR] = 20,     [T_FILTER] = 21, [T_DOT] = 40, [T_NOT] = 45, [T_LBRACE] = 50,
        [T_LBRACKET] = 55, [T_LPAREN] = 60,
    };
    return (size_t)token < SW_COUNT(powers) ? powers[token] : 0;
}

/* Where a projection ends: what binds less is for all of its results together. */
enum { PROJECTION_STOP = 10 };

static int fail(struct parser *p, const char *at, const char *expected)
{
    return sw_err_set(p->err, SW_INVALID, "'%s': column %zu: %s", p->path->text,
                      (size_t)(at - p->path->text) + 1, expected);
}

static struct jm_node *new_node(struct parser *p, enum jm_kind kind, struct jm_node *left)
{
    struct jm_node *n = sw_arena_alloc(p->path->arena, sizeof *n);
    n->kind = kind;
    n->left = left;
    return n;
}

/* ---- tokens ------------------------------------------------------------------------------------
 */

static bool begins_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* What is between the quotes @quote from p->at on, with \quote for one; other escapes stay. @*out
 * is the caller's. */
static int read_quoted(struct parser *p, char quote, char **out)
{
    const char *end = p->at + 1;
    char *to = *out = sw_alloc(strlen(end) + 1);
    for (; *end && *end != quote; end++) {
        if (*end == '\\' && end[1] == quote)
            end++;
        else if (*end == '\\' && end[1])
            *to++ = *end++;
        *to++ = *end;
    }
    *to = '\0';
    if (!*end)
        return fail(p, p->at, "the quote has no end");
    p->at = end + 1;
    return 0;
}

/* A value that is JSON between quotes, or a text. */
static int read_value(struct parser *p, char quote)
{
    SW_AUTO_CHARS *text = NULL;
    const char *from = p->at;
    p->value = NULL;
    int rc = read_quoted(p, quote, &text);
    if (rc < 0)
        return rc;
    if (quote == '\'') {
        p->value = json_object_new_string(text);
    } else {
        const size_t len = strlen(text);
        rc = sw_json_parse(text, len, NULL, &p->value, NULL);
        if (rc < 0)
            return fail(p, from, "what is between the backquotes is no JSON");
    }
    (void)json_object_array_add(p->path->literals, p->value);
    p->token = T_LITERAL;
    return 0;
}

static int read_identifier(struct parser *p)
{
    SW_AUTO_JSON *value = NULL;
    const char *from = p->at, *end = p->at + 1;
    while (*end && *end != '"')
        end += *end == '\\' && end[1] ? 2 : 1;
    if (!*end)
        return fail(p, from, "the quote has no end");
    p->at = end + 1;
    if (sw_json_parse(from, (size_t)(p->at - from), NULL, &value, NULL) < 0)
        return fail(p, from, "the quoted name is no JSON string");
    p->text = sw_arena_strdup(p->path->arena, json_object_get_string(value));
    p->token = T_QUOTED;
    return 0;
}

static int read_number(struct parser *p)
{
    const char *end = p->at + 1;
    while (is_digit(*end))
        end++;
    if ((end == p->at + 1 && *p->at == '-') || end - p->at > 10)
        return fail(p, p->at, "an index was expected");
    p->number = strtoll(p->at, NULL, 10);
    p->at = end;
    p->token = T_NUMBER;
    return 0;
}

/* Punctuation, the longer ones first. */
static const struct {
    const char *text;
    enum token token;
} marks[] = {
    { "[?", T_FILTER }, { "[]", T_FLATTEN }, { "||", T_OR },      { "&&", T_AND },
    { "==", T_EQ },     { "!=", T_NE },      { "<=", T_LE },      { ">=", T_GE },
    { ".", T_DOT },     { "*", T_STAR },     { "[", T_LBRACKET }, { "]", T_RBRACKET },
    { "{", T_LBRACE },  { "}", T_RBRACE },   { "(", T_LPAREN },   { ")", T_RPAREN },
    { ",", T_COMMA },   { ":", T_COLON },    { "@", T_CURRENT },  { "|", T_PIPE },
    { "&", T_EXPREF },  { "!", T_NOT },      { "<", T_LT },       { ">", T_GT },
};

static int next(struct parser *p)
{
    p->at += strspn(p->at, " \t\r\n");
    p->begin = p->at;
    if (!*p->at) {
        p->token = T_END;
        return 0;
    }
    if (begins_name(*p->at)) {
        const char *end = p->at;
        while (begins_name(*end) || is_digit(*end))
            end++;
        p->text = sw_arena_strndup(p->path->arena, p->at, (size_t)(end - p->at));
        p->at = end;
        p->token = T_NAME;
        return 0;
    }
    if (*p->at == '"')
        return read_identifier(p);
    if (*p->at == '\'' || *p->at == '`')
        return read_value(p, *p->at);
    if (*p->at == '-' || is_digit(*p->at))
        return read_number(p);
    for (size_t i = 0; i < SW_COUNT(marks); i++)
        if (sw_starts_with(p->at, marks[i].text)) {
            p->at += strlen(marks[i].text);
            p->token = marks[i].token;
            return 0;
        }
    return fail(p, p->at,
                *p->at == '$' ? "bindings ($name) are not known here"
                              : "this is nothing that JMESPath has");
}

static int expect(struct parser *p, enum token token, const char *what)
{
    return p->token == token ? next(p) : fail(p, p->begin, what);
}

/* ---- expressions -------------------------------------------------------------------------------
 */

static int parse(struct parser *p, int power, struct jm_node **out);

static void add_item(struct parser *p, struct jm_node *n, const char *key, struct jm_node *item)
{
    struct sw_arena *arena = p->path->arena;
    if (key) {
        SW_ARENA_GROW(arena, n->keys, n->n_items, n->cap_keys);
        n->keys[n->n_items] = key;
    }
    SW_ARENA_GROW(arena, n->items, n->n_items, n->cap_items);
    n->items[n->n_items++] = item;
}

/* Items up to @end, behind the bracket that opened them. */
static int parse_items(struct parser *p, enum token end, struct jm_node *to)
{
    for (;;) {
        struct jm_node *item;
        const char *key = NULL;
        int rc = 0;
        if (to->kind == JM_SELECT_MAP) {
            if (p->token != T_NAME && p->token != T_QUOTED)
                return fail(p, p->begin, "a key was expected");
            key = p->text;
            rc = next(p);
            if (rc == 0)
                rc = expect(p, T_COLON, "':' was expected behind the key");
        }
        if (rc == 0)
            rc = parse(p, 0, &item);
        if (rc < 0)
            return rc;
        add_item(p, to, key, item);
        if (p->token == end)
            return next(p);
        rc = expect(p, T_COMMA, "',' or the closing bracket was expected");
        if (rc < 0)
            return rc;
    }
}

/* A name, `*`, `[a, b]` or `{a: b}`, with what binds to it more than @power. */
static int parse_behind_dot(struct parser *p, int power, struct jm_node **out)
{
    const bool is_list = p->token == T_LBRACKET;
    if (p->token == T_NAME || p->token == T_QUOTED || p->token == T_STAR)
        return parse(p, power, out);
    if (!is_list && p->token != T_LBRACE)
        return fail(p, p->begin, "a name was expected behind '.'");
    *out = new_node(p, is_list ? JM_SELECT : JM_SELECT_MAP, NULL);
    int rc = next(p);
    return rc < 0 ? rc : parse_items(p, is_list ? T_RBRACKET : T_RBRACE, *out);
}

/* What is said of each result of a projection; @*out is @ where nothing is. */
static int parse_of_each(struct parser *p, int power, struct jm_node **out)
{
    if (binding(p->token) < PROJECTION_STOP) {
        *out = new_node(p, JM_CURRENT, NULL);
        return 0;
    }
    if (p->token == T_LBRACKET || p->token == T_FILTER)
        return parse(p, power, out);
    int rc = expect(p, T_DOT, "'.', '[' or an operator was expected");
    return rc < 0 ? rc : parse_behind_dot(p, power, out);
}

static int project(struct parser *p, enum jm_kind kind, struct jm_node *left, int power,
                   struct jm_node **out)
{
    *out = new_node(p, kind, left);
    return parse_of_each(p, power, &(*out)->right);
}

/* "1]", "1:2]", "::-1]" behind the bracket: an index, or a slice, which is a projection. */
static int parse_index(struct parser *p, struct jm_node *left, struct jm_node **out)
{
    struct jm_node *n = new_node(p, JM_INDEX, NULL);
    int64_t *const numbers[] = { &n->from, &n->to, &n->step };
    bool *const has[] = { &n->has_from, &n->has_to, &n->has_step };
    size_t i = 0;
    for (int rc; p->token != T_RBRACKET;) {
        if (p->token == T_NUMBER && !*has[i]) {
            *numbers[i] = p->number;
            *has[i] = true;
        } else if (p->token == T_COLON && i < 2) {
            n->kind = JM_SLICE;
            i++;
        } else {
            return fail(p, p->begin, "an index, ':' or ']' was expected");
        }
        rc = next(p);
        if (rc < 0)
            return rc;
    }
    if (n->has_step && n->step == 0)
        return fail(p, p->begin, "the step of a slice cannot be 0");
    int rc = next(p);
    n->left = left;
    *out = n;
    return rc == 0 && n->kind == JM_SLICE ? project(p, JM_LIST, n, 20, out) : rc;
}

static int parse_filter(struct parser *p, struct jm_node *left, struct jm_node **out)
{
    struct jm_node *cond;
    int rc = parse(p, 0, &cond);
    if (rc == 0)
        rc = expect(p, T_RBRACKET, "']' was expected behind the condition");
    if (rc == 0)
        rc = project(p, JM_FILTER, left, 21, out);
    if (rc == 0)
        (*out)->cond = cond;
    return rc;
}

/* Behind '[': an index, a slice, `*]`, or, with nothing before it, a list of expressions. */
static int parse_bracket(struct parser *p, struct jm_node *left, bool is_first,
                         struct jm_node **out)
{
    if (p->token == T_NUMBER || p->token == T_COLON)
        return parse_index(p, left, out);
    if (p->token == T_STAR && p->at[strspn(p->at, " \t\r\n")] == ']') {
        int rc = next(p);
        if (rc == 0)
            rc = next(p);
        return rc < 0 ? rc : project(p, JM_LIST, left, 20, out);
    }
    if (!is_first)
        return fail(p, p->begin, "an index, a slice or '*' was expected behind '['");
    *out = new_node(p, JM_SELECT, NULL);
    return parse_items(p, T_RBRACKET, *out);
}

static int check_call(struct parser *p, const struct jm_node *n, const char *at)
{
    size_t least, most;
    jm_function_arity(n->function, &least, &most);
    if (n->n_items < least || n->n_items > most)
        return fail(p, at, "the function takes another number of arguments");
    for (size_t i = 0; i < n->n_items; i++)
        if ((n->items[i]->kind == JM_EXPRESSION) != jm_function_takes_expression(n->function, i))
            return fail(p, at, "an expression (&...) is where none was expected, or is missing");
    return 0;
}

static int parse_call(struct parser *p, const char *name, const char *at, struct jm_node **out)
{
    struct jm_node *n = *out = new_node(p, JM_CALL, NULL);
    n->function = jm_function_find(name, strlen(name));
    if (!n->function) {
        SW_AUTO_CHARS *why = sw_printf("the function '%s' is not known here", name);
        return fail(p, at, why);
    }
    int rc = p->token == T_RPAREN ? next(p) : parse_items(p, T_RPAREN, n);
    return rc < 0 ? rc : check_call(p, n, at);
}

static int parse_name(struct parser *p, struct jm_node **out)
{
    const char *name = p->text, *at = p->begin;
    const bool is_quoted = p->token == T_QUOTED;
    int rc = next(p);
    if (rc < 0)
        return rc;
    if (p->token == T_LPAREN) {
        rc = is_quoted ? fail(p, at, "a function's name is not quoted") : next(p);
        return rc < 0 ? rc : parse_call(p, name, at, out);
    }
    *out = new_node(p, JM_FIELD, NULL);
    (*out)->text = name;
    return 0;
}

/* An expression with nothing before it. */
static int parse_first(struct parser *p, struct jm_node **out)
{
    const enum token token = p->token;
    if (token == T_NAME || token == T_QUOTED)
        return parse_name(p, out);
    struct json_object *value = p->value;
    const char *begin = p->begin;
    int rc = token == T_END ? 0 : next(p);
    if (rc < 0)
        return rc;
    struct jm_node *current = new_node(p, JM_CURRENT, NULL);
    switch (token) {
    case T_LITERAL:
        *out = new_node(p, JM_LITERAL, NULL);
        (*out)->value = value;
        return 0;
    case T_CURRENT:
        *out = current;
        return 0;
    case T_STAR:
        return project(p, JM_VALUES, current, 20, out);
    case T_FLATTEN:
        return project(p, JM_FLATTEN, current, 9, out);
    case T_FILTER:
        return parse_filter(p, current, out);
    case T_LBRACKET:
        return parse_bracket(p, current, true, out);
    case T_LBRACE:
        *out = new_node(p, JM_SELECT_MAP, NULL);
        return parse_items(p, T_RBRACE, *out);
    case T_NOT:
    case T_EXPREF:
        *out = new_node(p, token == T_NOT ? JM_NOT : JM_EXPRESSION, NULL);
        return parse(p, token == T_NOT ? 45 : 0, &(*out)->left);
    case T_LPAREN:
        rc = parse(p, 0, out);
        return rc < 0 ? rc : expect(p, T_RPAREN, "')' was expected");
    default:
        return fail(p, begin, "an expression was expected");
    }
}

/* What is behind '.'. */
static int parse_below(struct parser *p, struct jm_node *left, struct jm_node **out)
{
    if (p->token == T_STAR) {
        int rc = next(p);
        return rc < 0 ? rc : project(p, JM_VALUES, left, 20, out);
    }
    *out = new_node(p, JM_SUB, left);
    return parse_behind_dot(p, 40, &(*out)->right);
}

static int parse_binary(struct parser *p, enum token token, struct jm_node *left,
                        struct jm_node **out)
{
    static const enum jm_op ops[] = { [T_EQ] = JM_EQ, [T_NE] = JM_NE, [T_LT] = JM_LT,
                                      [T_LE] = JM_LE, [T_GT] = JM_GT, [T_GE] = JM_GE };
    struct jm_node *n = *out = new_node(p, JM_COMPARE, left);
    if (token == T_OR || token == T_AND || token == T_PIPE)
        n->kind = token == T_OR ? JM_OR : token == T_AND ? JM_AND : JM_SUB;
    else
        n->op = ops[token];
    return parse(p, binding(token), &n->right);
}

/* What follows @left. */
static int parse_more(struct parser *p, struct jm_node *left, struct jm_node **out)
{
    const enum token token = p->token;
    const char *begin = p->begin;
    int rc = next(p);
    if (rc < 0)
        return rc;
    switch (token) {
    case T_DOT:
        return parse_below(p, left, out);
    case T_FLATTEN:
        return project(p, JM_FLATTEN, left, 9, out);
    case T_FILTER:
        return parse_filter(p, left, out);
    case T_LBRACKET:
        return parse_bracket(p, left, false, out);
    case T_PIPE:
    case T_OR:
    case T_AND:
    case T_EQ:
    case T_NE:
    case T_LT:
    case T_LE:
    case T_GT:
    case T_GE:
        return parse_binary(p, token, left, out);
    default:
        return fail(p, begin, "an operator or the end was expected");
    }
}

static int parse(struct parser *p, int power, struct jm_node **out)
{
    if (++p->depth > MAX_DEPTH || !sw_stack_has_room())
        return fail(p, p->begin, "it is nested too deeply");
    int rc = parse_first(p, out);
    while (rc == 0 && power < binding(p->token)) {
        struct jm_node *left = *out;
        rc = parse_more(p, left, out);
    }
    p->depth--;
    return rc;
}

/* ---- the expression ----------------------------------------------------------------------------
 */

int sw_jmespath_compile(const char *text, struct sw_jmespath **out, struct sw_err *err)
{
    if (strlen(text) > MAX_BYTES)
        return sw_err_set(err, SW_INVALID, "a JMESPath of more than %d bytes", MAX_BYTES);
    SW_AUTO(sw_jmespath) *path = sw_zalloc(1, sizeof *path);
    path->arena = sw_arena_new();
    path->text = sw_strdup(text);
    path->literals = json_object_new_array();
    struct parser p = { .path = path, .at = path->text, .begin = path->text, .err = err };
    int rc = next(&p);
    if (rc == 0)
        rc = parse(&p, 0, &path->root);
    if (rc == 0 && p.token != T_END)
        rc = fail(&p, p.begin, "an operator or the end was expected");
    if (rc == 0 && path->root->kind == JM_EXPRESSION)
        rc = fail(&p, path->text, "an expression (&...) is an argument of a function only");
    if (rc < 0)
        return rc;
    if (path->root->kind == JM_COMPARE) {
        path->compared = sw_zalloc(1, sizeof *path->compared);
        path->compared->root = path->root->left;
    }
    *out = SW_TAKE(path);
    return 0;
}

void sw_jmespath_free(struct sw_jmespath *path)
{
    if (!path)
        return;
    free(path->compared);
    (void)json_object_put(path->literals);
    sw_arena_free(path->arena);
    free(path->text);
    free(path);
}

const struct sw_jmespath *sw_jmespath_compared(const struct sw_jmespath *path)
{
    return path->compared;
}
