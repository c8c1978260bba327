/* The parser's lower half: tokens and their lookahead, messages, nodes, pipelines. */
#include <string.h>

#include "chart/template/lang/parse.h"
#include "chart/template/value/types.h"
#include "data/go/strconv.h"
#include "data/text/unicode.h"

/* ---- tokens ---- */

struct token sw_parse_next(struct parser *p)
{
    if (p->peeked > 0)
        p->peeked--;
    else
        p->token[0] = sw_lex_next(&p->lex);
    return p->token[p->peeked];
}

void sw_parse_backup(struct parser *p)
{
    p->peeked++;
}

void sw_parse_backup2(struct parser *p, struct token t1)
{
    p->token[1] = t1;
    p->peeked = 2;
}

struct token sw_parse_peek(struct parser *p)
{
    if (p->peeked > 0)
        return p->token[p->peeked - 1];
    p->peeked = 1;
    p->token[0] = sw_lex_next(&p->lex);
    return p->token[0];
}

struct token sw_parse_next_item(struct parser *p)
{
    struct token t;
    do
        t = sw_parse_next(p);
    while (t.kind == TOK_SPACE);
    return t;
}

struct token sw_parse_peek_item(struct parser *p)
{
    struct token t = sw_parse_next_item(p);
    sw_parse_backup(p);
    return t;
}

/* ---- errors ---- */

void *sw_parse_fail(struct parser *p, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    sw_err_vset(p->err, SW_INVALID, fmt, ap);
    va_end(ap);
    sw_err_wrap(p->err, SW_INVALID, "template: %s:%u", p->source->name, p->token[0].line);
    return NULL;
}

void *sw_parse_unexpected(struct parser *p, struct token t, const char *context)
{
    if (t.kind != TOK_ERROR) {
        const char *text = "EOF", *more = "";
        if (t.kind > TOK_KEYWORD) {
            text = sw_arena_printf(p->arena, "<%.*s>", (int)t.len, t.s);
        } else if (t.kind != TOK_EOF) {
            text = sw_quoted(p->arena, t.s, sw_rune_offset(t.s, t.len, 10));
            more = t.len > 10 ? "..." : "";
        }
        return sw_parse_fail(p, "unexpected %s%s in %s", text, more, context);
    }
    const char *text = sw_arena_strndup(p->arena, t.s, t.len);
    if (p->action_line && p->action_line != t.line)
        return sw_parse_fail(p, "%s%s started at %s:%u", text,
                             sw_ends_with(text, " action") ? "" : " in action", p->source->name,
                             p->action_line);
    return sw_parse_fail(p, "%s", text);
}

bool sw_parse_expect(struct parser *p, enum token_kind kind, const char *context, struct token *out)
{
    *out = sw_parse_next_item(p);
    if (out->kind == kind)
        return true;
    return sw_parse_unexpected(p, *out, context), false;
}

/* ---- nodes ---- */

void *sw_parse_new_node(struct parser *p, enum node_kind kind, uint32_t pos, size_t size)
{
    struct node *n = sw_arena_alloc(p->arena, size);
    n->kind = (uint8_t)kind;
    n->pos = pos;
    return n;
}

struct node *sw_parse_small_node(struct parser *p, enum node_kind kind, uint32_t pos)
{
    return sw_parse_new_node(p, kind, pos, sizeof(struct node));
}

void sw_parse_append(struct parser *p, struct node_list *l, struct node *n)
{
    if (l->n >= l->cap && !sw_arena_has_room(p->arena, (l->cap + 4) * 2 * sizeof *l->nodes))
        return; /* the parser ends with the next node */
    SW_ARENA_GROW(p->arena, l->nodes, l->n, l->cap);
    l->nodes[l->n++] = n;
}

/* A field's or variable's node, with its first name. */
static struct node_names *new_names(struct parser *p, enum node_kind kind, uint32_t pos,
                                    struct name name)
{
    struct node_names *n = sw_parse_new_node(p, kind, pos, sizeof *n);
    n->names = sw_arena_alloc(p->arena, sizeof *n->names);
    n->names[0] = name;
    n->n = 1;
    return n;
}

void sw_parse_push_var(struct parser *p, struct name name)
{
    struct tree *t = p->tree;
    SW_GROW(t->vars, t->n_vars, t->cap_vars);
    t->vars[t->n_vars++] = name;
}

bool sw_parse_unquote(struct parser *p, struct token t, struct sw_value *out)
{
    char *buf = sw_arena_alloc(p->arena, (size_t)t.len * 3 + 1);
    long n = sw_unquote(t.s, t.len, buf);
    if (n < 0)
        return sw_parse_fail(p, "invalid syntax"), false;
    *out = sw_value_text(buf, (size_t)n);
    return true;
}

/* ---- expressions ---- */

/* A simple expression. @*out NULL: the next token starts none. @return false: failed */
static bool term(struct parser *p, struct node **out)
{
    struct token t = sw_parse_next_item(p);
    struct name name;
    switch (t.kind) {
    case TOK_IDENT: {
        struct node_ident *i = sw_parse_new_node(p, N_IDENT, t.pos, sizeof *i);
        i->func = sw_func_find(p->funcs, t.s, t.len);
        if (!i->func)
            return sw_parse_fail(p, "function %s not defined", sw_quoted(p->arena, t.s, t.len)),
                   false;
        *out = &i->node;
        break;
    }
    case TOK_DOT:
        *out = sw_parse_small_node(p, N_DOT, t.pos);
        break;
    case TOK_NIL:
        *out = sw_parse_small_node(p, N_NIL, t.pos);
        break;
    case TOK_VARIABLE:
        name = sw_name(t.s, t.len);
        *out = &new_names(p, N_VARIABLE, t.pos, name)->node;
        for (size_t i = 0; i < p->tree->n_vars; i++) {
            if (sw_name_equal(&p->tree->vars[i], &name))
                return true;
        }
        return sw_parse_fail(p, "undefined variable %s", sw_quoted(p->arena, t.s, t.len)), false;
    case TOK_FIELD:
        *out = &new_names(p, N_FIELD, t.pos, sw_name(t.s + 1, t.len - 1))->node;
        break;
    case TOK_BOOL: {
        struct node_bool *b = sw_parse_new_node(p, N_BOOL, t.pos, sizeof *b);
        b->value = t.len == 4;
        *out = &b->node;
        break;
    }
    case TOK_CHAR_CONSTANT:
    case TOK_COMPLEX:
    case TOK_NUMBER: {
        struct node_number *n = sw_parse_new_node(p, N_NUMBER, t.pos, sizeof *n);
        SW_ERR(err);
        n->text = t.s;
        n->text_len = t.len;
        if (sw_node_number_parse(n, t.kind == TOK_CHAR_CONSTANT, t.kind == TOK_COMPLEX, &err) < 0)
            return sw_parse_fail(p, "%s", sw_err_text(&err)), false;
        *out = &n->node;
        break;
    }
    case TOK_LEFT_PAREN:
        if (sw_parse_too_deep(p))
            return sw_parse_fail(p, "max expression depth exceeded"), false;
        p->depth++;
        *out = (struct node *)sw_parse_pipeline(p, "parenthesized pipeline", TOK_RIGHT_PAREN);
        p->depth--;
        break;
    case TOK_STRING:
    case TOK_RAW_STRING: {
        struct node_string *s = sw_parse_new_node(p, N_STRING, t.pos, sizeof *s);
        s->quoted = t.s;
        s->quoted_len = t.len;
        *out = &s->node;
        return sw_parse_unquote(p, t, &s->value);
    }
    default:
        sw_parse_backup(p);
        *out = NULL;
        return true;
    }
    return *out != NULL;
}

const char *sw_parse_node_text(struct parser *p, const struct node *n)
{
    struct text t = { .limit = 1 << 24 };
    sw_node_print(&t, n);
    return sw_text_end(&t, p->arena);
}

/* ".a.b" after a term. As in Go the whole has the position of its second name. */
static struct node *chain_fields(struct parser *p, struct node *base)
{
    struct node_chain *chain = sw_parse_new_node(p, N_CHAIN, sw_parse_peek(p).pos, sizeof *chain);
    while (sw_parse_peek(p).kind == TOK_FIELD) {
        struct token t = sw_parse_next(p);
        SW_ARENA_GROW(p->arena, chain->names, chain->n, chain->cap);
        chain->names[chain->n++] = sw_name(t.s + 1, t.len - 1);
    }
    chain->base = base;
    switch ((enum node_kind)base->kind) {
    case N_FIELD:
    case N_VARIABLE: {
        struct node_names *n = (struct node_names *)base;
        struct name first = n->names[0];
        n->names = sw_arena_alloc(p->arena, (1 + chain->n) * sizeof *n->names);
        n->names[0] = first;
        memcpy(n->names + 1, chain->names, chain->n * sizeof *n->names);
        n->n += chain->n;
        n->node.pos = chain->node.pos;
        return base;
    }
    case N_BOOL:
    case N_STRING:
    case N_NUMBER:
    case N_NIL:
    case N_DOT: {
        const char *text = sw_parse_node_text(p, base);
        return sw_parse_fail(p, "unexpected . after term %s",
                             sw_quoted(p->arena, text, strlen(text)));
    }
    default:
        return &chain->node;
    }
}

/* Operands with spaces between them, up to a pipe symbol, which is passed, or the end, which is
 * not.
 */
static struct node_command *command(struct parser *p)
{
    struct node_command *cmd = sw_parse_new_node(p, N_COMMAND, sw_parse_peek_item(p).pos,
                                                 sizeof(struct node_command));
    for (;;) {
        struct node *arg;
        sw_parse_peek_item(p);
        if (!term(p, &arg))
            return NULL;
        if (arg && sw_parse_peek(p).kind == TOK_FIELD && !(arg = chain_fields(p, arg)))
            return NULL;
        if (arg) {
            SW_ARENA_GROW(p->arena, cmd->args, cmd->n, cmd->cap);
            cmd->args[cmd->n++] = arg;
        }
        struct token t = sw_parse_next(p);
        if (t.kind == TOK_SPACE)
            continue;
        if (t.kind == TOK_RIGHT_DELIM || t.kind == TOK_RIGHT_PAREN)
            sw_parse_backup(p);
        else if (t.kind != TOK_PIPE)
            return sw_parse_unexpected(p, t, "operand");
        break;
    }
    if (cmd->n == 0)
        return sw_parse_fail(p, "empty command");
    return cmd;
}

static void declare(struct parser *p, struct node_pipe *pipe, struct token t)
{
    struct name name = sw_name(t.s, t.len);
    pipe->decl[pipe->n_decl++] = new_names(p, N_VARIABLE, t.pos, name);
    sw_parse_push_var(p, name);
}

/* "$x :=", "$x =", in a range also "$i, $x :=". @return false: failed */
static bool declarations(struct parser *p, struct node_pipe *pipe, const char *context)
{
    for (;;) {
        struct token v = sw_parse_peek_item(p);
        if (v.kind != TOK_VARIABLE)
            return true;
        sw_parse_next(p);
        struct token after = sw_parse_peek(p), t = sw_parse_peek_item(p);
        if (t.kind == TOK_ASSIGN || t.kind == TOK_DECLARE) {
            pipe->is_assign = t.kind == TOK_ASSIGN;
            sw_parse_next_item(p);
            declare(p, pipe, v);
            return true;
        }
        if (t.kind == TOK_CHAR && t.s[0] == ',') {
            sw_parse_next_item(p);
            declare(p, pipe, v);
            if (strcmp(context, "range") != 0 || pipe->n_decl >= 2)
                return sw_parse_fail(p, "too many declarations in %s", context), false;
            enum token_kind kind = sw_parse_peek_item(p).kind;
            if (kind != TOK_VARIABLE && kind != TOK_RIGHT_DELIM && kind != TOK_RIGHT_PAREN)
                return sw_parse_fail(p, "range can only initialize variables"), false;
            continue;
        }
        sw_parse_backup2(p, after.kind == TOK_SPACE ? after : v);
        if (after.kind == TOK_SPACE)
            p->token[p->peeked++] = v;
        return true;
    }
}

struct node_pipe *sw_parse_pipeline(struct parser *p, const char *context, enum token_kind end)
{
    struct node_pipe *pipe = sw_parse_new_node(p, N_PIPE, sw_parse_peek_item(p).pos, sizeof *pipe);
    if (!declarations(p, pipe, context))
        return NULL;
    for (;;) {
        struct token t = sw_parse_next_item(p);
        if (t.kind == end)
            break;
        switch (t.kind) {
        case TOK_BOOL:
        case TOK_CHAR_CONSTANT:
        case TOK_COMPLEX:
        case TOK_DOT:
        case TOK_FIELD:
        case TOK_IDENT:
        case TOK_NUMBER:
        case TOK_NIL:
        case TOK_RAW_STRING:
        case TOK_STRING:
        case TOK_VARIABLE:
        case TOK_LEFT_PAREN: {
            sw_parse_backup(p);
            struct node_command *cmd = command(p);
            if (!cmd)
                return NULL;
            SW_ARENA_GROW(p->arena, pipe->cmds, pipe->n, pipe->cap);
            pipe->cmds[pipe->n++] = cmd;
            break;
        }
        default:
            return sw_parse_unexpected(p, t, context);
        }
    }
    if (pipe->n == 0)
        return sw_parse_fail(p, "missing value for %s", context);
    for (uint32_t i = 1; i < pipe->n; i++) { /* all after the first must be callable */
        enum node_kind kind = pipe->cmds[i]->args[0]->kind;
        if (kind == N_BOOL || kind == N_DOT || kind == N_NIL || kind == N_NUMBER ||
            kind == N_STRING)
            return sw_parse_fail(p, "non executable command in pipeline stage %u", i + 1);
    }
    return pipe;
}
