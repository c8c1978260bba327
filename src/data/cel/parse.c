/* The grammar: conditional, or, and, relations, sums, products, unary, members, primaries. */
#include <stdlib.h>
#include <string.h>

#include "data/cel/lex.h"
#include "data/go/strconv.h"

enum { MAX_DEPTH = 250 };

struct parser {
    struct sw_cel *cel;
    struct cel_token now, next;
    size_t at; /* behind @next */
    int depth;
    bool failed; /* what follows is not looked at */
};

static const char PRIMARIES[] = "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', "
                                "NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

static struct cel_node *parse_expr(struct parser *p);

static void advance(struct parser *p)
{
    p->now = p->next;
    p->next = sw_cel_lex(p->cel, &p->at);
}

static const char *token_text(struct parser *p, const struct cel_token *t)
{
    if (t->kind == CEL_T_END)
        return "<EOF>";
    return sw_arena_strndup(p->cel->arena, p->cel->source + t->at, t->len);
}

static bool is(struct parser *p, const char *token)
{
    const struct cel_token *t = &p->now;
    return (t->kind == CEL_T_OP || t->kind == CEL_T_IDENT) && strlen(token) == t->len &&
           memcmp(p->cel->source + t->at, token, t->len) == 0;
}

static bool take(struct parser *p, const char *token)
{
    if (p->failed || !is(p, token))
        return false;
    advance(p);
    return true;
}

static struct cel_node *fail(struct parser *p, const char *fmt, const char *expected)
{
    if (!p->failed) {
        SW_AUTO_CHARS *what = sw_printf(fmt, token_text(p, &p->now));
        sw_cel_problem(p->cel, p->now.at, "Syntax error: %s%s%s", what,
                       expected ? " expecting " : "", expected ? expected : "");
    }
    p->failed = true;
    return sw_arena_alloc(p->cel->arena, sizeof(struct cel_node));
}

static void expect(struct parser *p, const char *token)
{
    if (take(p, token) || p->failed)
        return;
    SW_AUTO_CHARS *what = sw_printf("missing '%s' at '%%s'", token);
    (void)fail(p, what, NULL);
}

static struct cel_node *node_at(struct parser *p, enum cel_node_kind kind, size_t at)
{
    struct cel_node *node = sw_arena_alloc(p->cel->arena, sizeof *node);
    node->kind = kind;
    node->at = at;
    return node;
}

static void add(struct parser *p, struct cel_node *node, size_t *cap, struct cel_node *arg,
                bool maybe)
{
    size_t cap_maybe = *cap;
    SW_ARENA_GROW(p->cel->arena, node->args, node->n, *cap);
    SW_ARENA_GROW(p->cel->arena, node->maybe, node->n, cap_maybe);
    node->maybe[node->n] = maybe;
    node->args[node->n++] = arg;
}

static struct cel_node *call_at(struct parser *p, size_t at, const char *name, struct cel_node *a,
                                struct cel_node *b)
{
    struct cel_node *node = node_at(p, CEL_CALL, at);
    size_t cap = 0;
    node->name = name;
    add(p, node, &cap, a, false);
    if (b)
        add(p, node, &cap, b, false);
    return node;
}

/* ---- primaries ----------------------------------------------------------------------------------
 */

static struct cel_node *parse_number(struct parser *p, bool negative, size_t from)
{
    struct cel_node *node = node_at(p, CEL_CONST, from);
    const enum cel_token_kind kind = p->now.kind;
    const size_t len = p->now.len - (kind == CEL_T_UINT);
    SW_AUTO_CHARS *text = sw_printf("%s%.*s", negative ? "-" : "", (int)len,
                                    p->cel->source + p->now.at);
    const int base = strstr(text, "0x") ? 0 : 10;
    struct cel_value *v = &node->value;
    enum sw_parse_error rc;
    if (kind == CEL_T_DOUBLE) {
        v->kind = CEL_DOUBLE;
        rc = sw_parse_float(text, strlen(text), &v->d);
    } else if (kind == CEL_T_UINT) {
        v->kind = CEL_UINT;
        rc = sw_parse_uint(text, strlen(text), base, &v->u);
    } else {
        v->kind = CEL_INT;
        rc = sw_parse_int(text, strlen(text), base, &v->i);
    }
    if (rc != SW_PARSE_OK)
        sw_cel_problem(p->cel, from, "invalid %s literal",
                       kind == CEL_T_DOUBLE ? "double"
                       : kind == CEL_T_UINT ? "uint"
                                            : "int");
    advance(p);
    return node;
}

static void parse_args(struct parser *p, struct cel_node *node, size_t *cap)
{
    while (!p->failed && !is(p, ")")) {
        add(p, node, cap, parse_expr(p), false);
        if (!take(p, ","))
            break;
        if (is(p, ")"))
            (void)fail(p, "mismatched input '%s'", PRIMARIES);
    }
    if (!p->failed && !take(p, ")")) {
        const bool next = p->next.kind == CEL_T_OP && p->cel->source[p->next.at] == ')';
        (void)fail(p, next ? "extraneous input '%s'" : "mismatched input '%s'", "')'");
    }
}

/* The brace behind the last entry of a map or message. */
static void expect_map_end(struct parser *p)
{
    if (!p->failed && !take(p, "}"))
        (void)fail(p, p->now.kind == CEL_T_END ? "mismatched input '%s'" : "extraneous input '%s'",
                   "{'}', ','}");
}

static struct cel_node *parse_list(struct parser *p)
{
    struct cel_node *node = node_at(p, CEL_NEW_LIST, p->now.at);
    size_t cap = 0;
    advance(p);
    while (!p->failed && !is(p, "]")) {
        const bool maybe = take(p, "?");
        add(p, node, &cap, parse_expr(p), maybe);
        if (!take(p, ","))
            break;
    }
    if (!p->failed && !take(p, "]"))
        (void)fail(p, p->now.kind == CEL_T_END ? "mismatched input '%s'" : "extraneous input '%s'",
                   "{']', ','}");
    return node;
}

static struct cel_node *parse_map(struct parser *p)
{
    struct cel_node *node = node_at(p, CEL_NEW_MAP, p->now.at);
    size_t cap = 0;
    advance(p);
    while (!p->failed && !is(p, "}")) {
        const bool maybe = take(p, "?");
        add(p, node, &cap, parse_expr(p), maybe);
        expect(p, ":");
        if (!p->failed)
            add(p, node, &cap, parse_expr(p), maybe);
        if (!take(p, ","))
            break;
    }
    expect_map_end(p);
    return node;
}

static bool is_reserved(const char *name)
{
    static const char *const reserved[] = {
        "as",  "break", "const",   "continue",  "else",   "for", "function", "if",    "import",
        "let", "loop",  "package", "namespace", "return", "var", "void",     "while",
    };
    for (size_t i = 0; i < SW_COUNT(reserved); i++)
        if (sw_streq(reserved[i], name))
            return true;
    return false;
}

static struct cel_node *parse_name(struct parser *p)
{
    struct cel_node *node = node_at(p, CEL_IDENT, p->now.at);
    node->name = token_text(p, &p->now);
    const bool truth = sw_streq(node->name, "true");
    if (truth || sw_streq(node->name, "false")) {
        node->kind = CEL_CONST;
        node->value = sw_cel_bool(truth);
    } else if (sw_streq(node->name, "null")) {
        node->kind = CEL_CONST;
        node->value = (struct cel_value){ .kind = CEL_NULL };
    } else if (is_reserved(node->name)) {
        sw_cel_problem(p->cel, p->now.at, "reserved identifier: %s", node->name);
    } else if (sw_streq(node->name, "in")) {
        return fail(p, "mismatched input '%s'", PRIMARIES);
    }
    advance(p);
    if (node->kind != CEL_IDENT || !is(p, "("))
        return node;
    size_t cap = 0;
    node->kind = CEL_CALL;
    node->at = p->now.at;
    advance(p);
    parse_args(p, node, &cap);
    return p->failed ? node : sw_cel_expand(p->cel, node);
}

static struct cel_node *parse_primary(struct parser *p)
{
    switch (p->now.kind) {
    case CEL_T_INT:
    case CEL_T_UINT:
    case CEL_T_DOUBLE:
        return parse_number(p, false, p->now.at);
    case CEL_T_STRING:
    case CEL_T_BYTES: {
        struct cel_node *node = node_at(p, CEL_CONST, p->now.at);
        node->value = p->now.value;
        advance(p);
        return node;
    }
    case CEL_T_IDENT:
        return parse_name(p);
    default:
        break;
    }
    if (take(p, "(")) {
        struct cel_node *inner = parse_expr(p);
        expect(p, ")");
        return inner;
    }
    if (is(p, "["))
        return parse_list(p);
    if (is(p, "{"))
        return parse_map(p);
    if (is(p, ".") && p->next.kind == CEL_T_IDENT) { /* from the root of names */
        advance(p);
        return parse_name(p);
    }
    return fail(p, "mismatched input '%s'", PRIMARIES);
}

/* ---- members ------------------------------------------------------------------------------------
 */

/* @from: of the dot. */
static struct cel_node *parse_field(struct parser *p, struct cel_node *of, size_t from)
{
    const bool optional = take(p, "?");
    const bool quoted = p->now.kind == CEL_T_QUOTED;
    if (p->now.kind != CEL_T_IDENT && !quoted) {
        const char *text = sw_arena_printf(p->cel->arena, ".%s", token_text(p, &p->now));
        sw_cel_problem(p->cel, p->now.at, "Syntax error: no viable alternative at input '%s'",
                       text);
        p->failed = true;
        return of;
    }
    const char *name = token_text(p, &p->now);
    if (quoted)
        name = sw_arena_strndup(p->cel->arena, name + 1, strlen(name) - 2);
    advance(p);
    struct cel_node *node = node_at(p, CEL_SELECT, from);
    size_t cap = 0;
    node->name = name;
    node->optional = optional;
    add(p, node, &cap, of, false);
    if (optional || quoted || !is(p, "("))
        return node;
    node->kind = CEL_CALL;
    node->method = true;
    node->at = p->now.at;
    advance(p);
    parse_args(p, node, &cap);
    return p->failed ? node : sw_cel_expand(p->cel, node);
}

/* `a.b` as a text, where a node is made of names alone; NULL: it is not. */
static const char *name_of(struct parser *p, const struct cel_node *node)
{
    if (node->kind == CEL_IDENT)
        return node->name;
    if (node->kind != CEL_SELECT || node->has || node->optional)
        return NULL;
    const char *of = name_of(p, node->args[0]);
    return of ? sw_arena_printf(p->cel->arena, "%s.%s", of, node->name) : NULL;
}

/* name{field: value, ?field: optional} */
static struct cel_node *parse_message(struct parser *p, const char *name)
{
    struct cel_node *node = node_at(p, CEL_NEW_MESSAGE, p->now.at);
    size_t cap = 0;
    node->name = name;
    advance(p);
    while (!p->failed && !is(p, "}")) {
        const bool maybe = take(p, "?"), quoted = p->now.kind == CEL_T_QUOTED;
        if (p->now.kind != CEL_T_IDENT && !quoted)
            return fail(p, "mismatched input '%s'", "{'}', ',', '?', IDENTIFIER}");
        const char *field = token_text(p, &p->now);
        size_t cap_fields = cap, cap_places = cap;
        SW_ARENA_GROW(p->cel->arena, node->fields, node->n, cap_fields);
        SW_ARENA_GROW(p->cel->arena, node->places, node->n, cap_places);
        node->fields[node->n] = quoted
                                    ? sw_arena_strndup(p->cel->arena, field + 1, strlen(field) - 2)
                                    : field;
        advance(p);
        node->places[node->n] = p->now.at;
        expect(p, ":");
        if (!p->failed)
            add(p, node, &cap, parse_expr(p), maybe);
        if (!take(p, ","))
            break;
    }
    expect_map_end(p);
    return node;
}

static struct cel_node *parse_member(struct parser *p)
{
    struct cel_node *node = parse_primary(p);
    while (!p->failed) {
        const size_t at = p->now.at;
        if (take(p, ".")) {
            node = parse_field(p, node, at);
        } else if (take(p, "[")) {
            const bool optional = take(p, "?");
            node = call_at(p, at, optional ? "_[?_]" : "_[_]", node, parse_expr(p));
            expect(p, "]");
        } else if (is(p, "{") && name_of(p, node)) {
            node = parse_message(p, name_of(p, node));
        } else {
            break;
        }
    }
    return node;
}

static struct cel_node *parse_unary(struct parser *p)
{
    const size_t at = p->now.at;
    if (++p->depth > MAX_DEPTH || !sw_stack_has_room()) {
        sw_cel_problem(p->cel, at, "expression recursion limit exceeded: %d", MAX_DEPTH);
        p->failed = true;
    }
    struct cel_node *node;
    const bool number = p->next.kind == CEL_T_INT || p->next.kind == CEL_T_DOUBLE;
    if (!p->failed && is(p, "-") && number) {
        advance(p);
        node = parse_number(p, true, at);
        if (!p->failed && (is(p, ".") || is(p, "[")))
            return fail(p, "mismatched input '%s'", "<EOF>");
    } else if (take(p, "-")) {
        node = call_at(p, at, "-_", parse_unary(p), NULL);
    } else if (take(p, "!")) {
        node = call_at(p, at, "!_", parse_unary(p), NULL);
    } else {
        node = parse_member(p);
    }
    p->depth--;
    return node;
}

/* ---- binary operators ---------------------------------------------------------------------------
 */

static const struct {
    const char *token, *name;
    int level; /* 0 binds most weakly */
} operators[] = {
    { "==", "_==_", 0 }, { "!=", "_!=_", 0 }, { "<=", "_<=_", 0 }, { ">=", "_>=_", 0 },
    { "<", "_<_", 0 },   { ">", "_>_", 0 },   { "in", "@in", 0 },  { "+", "_+_", 1 },
    { "-", "_-_", 1 },   { "*", "_*_", 2 },   { "/", "_/_", 2 },   { "%", "_%_", 2 },
};

static struct cel_node *parse_binary(struct parser *p, int level)
{
    if (level == 3)
        return parse_unary(p);
    struct cel_node *node = parse_binary(p, level + 1);
    for (size_t i = 0; i < SW_COUNT(operators) && !p->failed; i++) {
        const size_t at = p->now.at;
        if (operators[i].level != level || !take(p, operators[i].token))
            continue;
        node = call_at(p, at, operators[i].name, node, parse_binary(p, level + 1));
        i = (size_t)-1;
    }
    return node;
}

static struct cel_node *parse_logic(struct parser *p, bool or)
{
    struct cel_node *node = or ? parse_logic(p, false) : parse_binary(p, 0);
    for (size_t at = p->now.at; take(p, or ? "||" : "&&"); at = p->now.at) {
        node = call_at(p, at, or ? "_||_" : "_&&_", node,
                       or ? parse_logic(p, false) : parse_binary(p, 0));
        node->kind = or ? CEL_OR : CEL_AND;
    }
    return node;
}

static struct cel_node *parse_expr(struct parser *p)
{
    if (++p->depth > MAX_DEPTH || !sw_stack_has_room()) {
        sw_cel_problem(p->cel, p->now.at, "expression recursion limit exceeded: %d", MAX_DEPTH);
        p->failed = true;
        p->depth--;
        return node_at(p, CEL_CONST, p->now.at);
    }
    struct cel_node *node = parse_logic(p, true);
    const size_t at = p->now.at;
    if (take(p, "?")) {
        node = call_at(p, at, "_?_:_", node, parse_logic(p, true));
        node->kind = CEL_CHOICE;
        size_t cap = 4;
        if (!p->failed && !take(p, ":"))
            (void)fail(p, "mismatched input '%s'", "':'");
        if (!p->failed)
            add(p, node, &cap, parse_expr(p), false);
    }
    p->depth--;
    return node;
}

void sw_cel_parse(struct sw_cel *cel)
{
    struct parser p = { .cel = cel };
    advance(&p);
    advance(&p);
    cel->root = parse_expr(&p);
    if (!p.failed && p.now.kind != CEL_T_END)
        (void)fail(&p, "extraneous input '%s'", "<EOF>");
}
