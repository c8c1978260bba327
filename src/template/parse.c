#include <stdlib.h>
#include <string.h>

#include "template/ast.h"
#include "template/funcs.h"
#include "template/lex.h"
#include "template/strconv.h"
#include "template/types.h"
#include "template/unicode.h"

/* Recursive descent over the tokens, with the lookahead, the checks and the messages of Go's
 * text/template/parse. A function that fails returns NULL and has set p->err. */

enum {
    MAX_DEPTH = 1000, /* of parentheses, and of control structures, in each other */
    LOOKAHEAD = 3,
};

struct parser {
    struct sw_arena *arena;
    const struct func_index *funcs;
    const struct source *source;
    struct lexer lex;
    struct token token[LOOKAHEAD];
    int peeked;
    struct tree *tree;
    uint32_t action_line;
    unsigned depth;
    struct tmpl *done; /* templates so far, newest first */
    struct sw_err *err;
};

/* What a define starts anew. */
struct tree {
    struct name *vars;
    size_t n_vars, cap_vars;
    unsigned range_depth;
    uint32_t action_line;
};

/* ---- tokens ---- */

static struct token next(struct parser *p)
{
    if (p->peeked > 0)
        p->peeked--;
    else
        p->token[0] = sw_lex_next(&p->lex);
    return p->token[p->peeked];
}

static void backup(struct parser *p)
{
    p->peeked++;
}

static void backup2(struct parser *p, struct token t1)
{
    p->token[1] = t1;
    p->peeked = 2;
}

static void backup3(struct parser *p, struct token t2, struct token t1)
{
    p->token[1] = t1;
    p->token[2] = t2;
    p->peeked = 3;
}

static struct token peek(struct parser *p)
{
    if (p->peeked > 0)
        return p->token[p->peeked - 1];
    p->peeked = 1;
    p->token[0] = sw_lex_next(&p->lex);
    return p->token[0];
}

static struct token next_non_space(struct parser *p)
{
    struct token t;
    do
        t = next(p);
    while (t.kind == TOK_SPACE);
    return t;
}

static struct token peek_non_space(struct parser *p)
{
    struct token t = next_non_space(p);
    backup(p);
    return t;
}

/* ---- errors ---- */

static void *fail(struct parser *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void *fail(struct parser *p, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    sw_err_vset(p->err, SW_INVALID, fmt, ap);
    va_end(ap);
    sw_err_wrap(p->err, SW_INVALID, "template: %s:%u", p->source->name, p->token[0].line);
    return NULL;
}

static const char *quoted(struct parser *p, const char *s, size_t len)
{
    struct text t = { .limit = 1 << 24 };
    sw_quote(&t, s, len, 0);
    char *q = sw_text_take(&t, 0, p->arena, &len);
    free(t.p);
    return q;
}

static const char *token_text(struct parser *p, struct token t)
{
    if (t.kind == TOK_EOF)
        return "EOF";
    if (t.kind == TOK_ERROR)
        return sw_arena_strndup(p->arena, t.s, t.len);
    if (t.kind > TOK_KEYWORD)
        return sw_arena_printf(p->arena, "<%.*s>", (int)t.len, t.s);
    size_t cut = sw_rune_offset(t.s, t.len, 10);
    if (t.len > 10)
        return sw_arena_printf(p->arena, "%s...", quoted(p, t.s, cut));
    return quoted(p, t.s, t.len);
}

static void *unexpected(struct parser *p, struct token t, const char *context)
{
    const char *text = token_text(p, t);
    if (t.kind != TOK_ERROR)
        return fail(p, "unexpected %s in %s", text, context);
    if (p->action_line && p->action_line != t.line)
        return fail(p, "%s%s started at %s:%u", text,
                    sw_ends_with(text, " action") ? "" : " in action", p->source->name,
                    p->action_line);
    return fail(p, "%s", text);
}

static bool expect(struct parser *p, enum token_kind kind, const char *context, struct token *out)
{
    *out = next_non_space(p);
    if (out->kind == kind)
        return true;
    unexpected(p, *out, context);
    return false;
}

/* ---- nodes ---- */

static void *new_node(struct parser *p, enum node_kind kind, uint32_t pos, size_t size)
{
    struct node *n = sw_arena_alloc(p->arena, size);
    n->kind = (uint8_t)kind;
    n->pos = pos;
    return n;
}

static struct node *small_node(struct parser *p, enum node_kind kind, uint32_t pos)
{
    return new_node(p, kind, pos, sizeof(struct node));
}

/* Room for one more element of @size in an array that grows in the arena. */
static void *grown(struct parser *p, void *array, uint32_t n, uint32_t *cap, size_t size)
{
    if (n < *cap)
        return array;
    uint32_t bigger = *cap ? *cap * 2 : 4;
    void *copy = sw_arena_alloc(p->arena, bigger * size);
    if (n)
        memcpy(copy, array, n * size);
    *cap = bigger;
    return copy;
}

static void list_append(struct parser *p, struct node_list *l, struct node *n)
{
    l->nodes = grown(p, l->nodes, l->n, &l->cap, sizeof *l->nodes);
    l->nodes[l->n++] = n;
}

static struct name hashed(const char *s, size_t len)
{
    return sw_name(s, len, sw_name_hash(s, len));
}

static struct node *new_field(struct parser *p, struct token t)
{
    struct node_field *f = new_node(p, N_FIELD, t.pos, sizeof *f);
    f->names = sw_arena_alloc(p->arena, sizeof *f->names);
    f->names[0] = hashed(t.s + 1, t.len - 1);
    f->n = 1;
    return &f->node;
}

static struct node_var *new_var(struct parser *p, struct token t)
{
    struct node_var *v = new_node(p, N_VARIABLE, t.pos, sizeof *v);
    v->names = sw_arena_alloc(p->arena, sizeof *v->names);
    v->names[0] = hashed(t.s, t.len);
    v->n = 1;
    return v;
}

static void push_var(struct parser *p, struct name name)
{
    struct tree *t = p->tree;
    SW_GROW(t->vars, t->n_vars, t->cap_vars);
    t->vars[t->n_vars++] = name;
}

static struct node *use_var(struct parser *p, struct token t)
{
    struct node_var *v = new_var(p, t);
    for (size_t i = 0; i < p->tree->n_vars; i++) {
        if (sw_name_equal(&p->tree->vars[i], &v->names[0]))
            return &v->node;
    }
    return fail(p, "undefined variable %s", quoted(p, t.s, t.len));
}

static bool unquote(struct parser *p, struct token t, const char **s, uint32_t *len)
{
    char *buf = sw_arena_alloc(p->arena, (size_t)t.len * 3 + 1);
    long n = sw_unquote(t.s, t.len, buf);
    if (n < 0) {
        fail(p, "invalid syntax");
        return false;
    }
    *s = buf;
    *len = (uint32_t)n;
    return true;
}

static struct node *new_string(struct parser *p, struct token t)
{
    struct node_string *s = new_node(p, N_STRING, t.pos, sizeof *s);
    const char *text;
    uint32_t len;
    if (!unquote(p, t, &text, &len))
        return NULL;
    s->quoted = t.s;
    s->quoted_len = t.len;
    s->value = sw_value_text(text, len);
    return &s->node;
}

static struct node *new_number(struct parser *p, struct token t)
{
    struct node_number *n = new_node(p, N_NUMBER, t.pos, sizeof *n);
    SW_ERR(err);
    n->text = t.s;
    n->text_len = t.len;
    if (sw_node_number_parse(n, t.kind == TOK_CHAR_CONSTANT, t.kind == TOK_COMPLEX, &err) < 0)
        return fail(p, "%s", sw_err_text(&err));
    return &n->node;
}

/* ---- expressions ---- */

static struct node_pipe *pipeline(struct parser *p, const char *context, enum token_kind end);

static struct node *new_ident(struct parser *p, struct token t)
{
    struct node_ident *i = new_node(p, N_IDENT, t.pos, sizeof *i);
    i->func = sw_func_find(p->funcs, t.s, t.len);
    if (!i->func)
        return fail(p, "function %s not defined", quoted(p, t.s, t.len));
    return &i->node;
}

/* A simple expression. @*out NULL: the next token starts none. @return false: failed */
static bool term(struct parser *p, struct node **out)
{
    struct token t = next_non_space(p);
    switch (t.kind) {
    case TOK_IDENT:
        *out = new_ident(p, t);
        break;
    case TOK_DOT:
        *out = small_node(p, N_DOT, t.pos);
        break;
    case TOK_NIL:
        *out = small_node(p, N_NIL, t.pos);
        break;
    case TOK_VARIABLE:
        *out = use_var(p, t);
        break;
    case TOK_FIELD:
        *out = new_field(p, t);
        break;
    case TOK_BOOL: {
        struct node_bool *b = new_node(p, N_BOOL, t.pos, sizeof *b);
        b->value = t.len == 4;
        *out = &b->node;
        break;
    }
    case TOK_CHAR_CONSTANT:
    case TOK_COMPLEX:
    case TOK_NUMBER:
        *out = new_number(p, t);
        break;
    case TOK_LEFT_PAREN:
        if (p->depth >= MAX_DEPTH) {
            fail(p, "max expression depth exceeded");
            return false;
        }
        p->depth++;
        *out = (struct node *)pipeline(p, "parenthesized pipeline", TOK_RIGHT_PAREN);
        p->depth--;
        break;
    case TOK_STRING:
    case TOK_RAW_STRING:
        *out = new_string(p, t);
        break;
    default:
        backup(p);
        *out = NULL;
        return true;
    }
    return *out != NULL;
}

static const char *node_text(struct parser *p, const struct node *n)
{
    struct text t = { .limit = 1 << 24 };
    size_t len;
    sw_node_print(&t, n);
    const char *s = sw_text_take(&t, 0, p->arena, &len);
    free(t.p);
    return s;
}

/* The names of @base's own and those of the fields after it. */
static struct name *joined(struct parser *p, const struct name *base, uint32_t n_base,
                           const struct node_chain *chain)
{
    struct name *all = sw_arena_alloc(p->arena, (n_base + chain->n) * sizeof *all);
    memcpy(all, base, n_base * sizeof *all);
    memcpy(all + n_base, chain->names, chain->n * sizeof *all);
    return all;
}

/* ".a.b" after a term. Go gives the whole the position of its second part; so do its messages. */
static struct node *chain_fields(struct parser *p, struct node *base)
{
    struct node_chain *chain = new_node(p, N_CHAIN, peek(p).pos, sizeof *chain);
    while (peek(p).kind == TOK_FIELD) {
        struct token t = next(p);
        chain->names = grown(p, chain->names, chain->n, &chain->cap, sizeof *chain->names);
        chain->names[chain->n++] = hashed(t.s + 1, t.len - 1);
    }
    chain->base = base;
    switch ((enum node_kind)base->kind) {
    case N_FIELD: {
        struct node_field *f = (struct node_field *)base;
        f->names = joined(p, f->names, f->n, chain);
        f->n += chain->n;
        f->node.pos = chain->node.pos;
        return base;
    }
    case N_VARIABLE: {
        struct node_var *v = (struct node_var *)base;
        v->names = joined(p, v->names, v->n, chain);
        v->n += chain->n;
        v->node.pos = chain->node.pos;
        return base;
    }
    case N_BOOL:
    case N_STRING:
    case N_NUMBER:
    case N_NIL:
    case N_DOT: {
        const char *text = node_text(p, base);
        return fail(p, "unexpected . after term %s", quoted(p, text, strlen(text)));
    }
    default:
        return &chain->node;
    }
}

static bool operand(struct parser *p, struct node **out)
{
    if (!term(p, out))
        return false;
    if (*out && peek(p).kind == TOK_FIELD)
        *out = chain_fields(p, *out);
    else
        return true;
    return *out != NULL;
}

/* Operands with spaces between them, up to a pipe symbol (eaten) or the end (left). */
static struct node_command *command(struct parser *p)
{
    struct node_command *cmd = new_node(p, N_COMMAND, peek_non_space(p).pos,
                                        sizeof(struct node_command));
    for (;;) {
        struct node *arg;
        peek_non_space(p);
        if (!operand(p, &arg))
            return NULL;
        if (arg) {
            cmd->args = grown(p, cmd->args, cmd->n, &cmd->cap, sizeof *cmd->args);
            cmd->args[cmd->n++] = arg;
        }
        struct token t = next(p);
        if (t.kind == TOK_SPACE)
            continue;
        if (t.kind == TOK_RIGHT_DELIM || t.kind == TOK_RIGHT_PAREN)
            backup(p);
        else if (t.kind != TOK_PIPE)
            return unexpected(p, t, "operand");
        break;
    }
    if (cmd->n == 0)
        return fail(p, "empty command");
    return cmd;
}

static void declare(struct parser *p, struct node_pipe *pipe, struct token t)
{
    pipe->decl[pipe->n_decl++] = new_var(p, t);
    push_var(p, hashed(t.s, t.len));
}

/* "$x :=", "$x =", in a range also "$i, $x :=". @return false: failed */
static bool declarations(struct parser *p, struct node_pipe *pipe, const char *context)
{
    for (;;) {
        struct token v = peek_non_space(p);
        if (v.kind != TOK_VARIABLE)
            return true;
        next(p);
        struct token after = peek(p), t = peek_non_space(p);
        if (t.kind == TOK_ASSIGN || t.kind == TOK_DECLARE) {
            pipe->is_assign = t.kind == TOK_ASSIGN;
            next_non_space(p);
            declare(p, pipe, v);
            return true;
        }
        if (t.kind == TOK_CHAR && t.s[0] == ',') {
            next_non_space(p);
            declare(p, pipe, v);
            if (strcmp(context, "range") != 0 || pipe->n_decl >= 2) {
                fail(p, "too many declarations in %s", context);
                return false;
            }
            enum token_kind kind = peek_non_space(p).kind;
            if (kind != TOK_VARIABLE && kind != TOK_RIGHT_DELIM && kind != TOK_RIGHT_PAREN) {
                fail(p, "range can only initialize variables");
                return false;
            }
            continue;
        }
        if (after.kind == TOK_SPACE)
            backup3(p, v, after);
        else
            backup2(p, v);
        return true;
    }
}

static bool check_pipeline(struct parser *p, const struct node_pipe *pipe, const char *context)
{
    if (pipe->n == 0) {
        fail(p, "missing value for %s", context);
        return false;
    }
    for (uint32_t i = 1; i < pipe->n; i++) {
        switch ((enum node_kind)pipe->cmds[i]->args[0]->kind) {
        case N_BOOL:
        case N_DOT:
        case N_NIL:
        case N_NUMBER:
        case N_STRING:
            fail(p, "non executable command in pipeline stage %u", i + 1);
            return false;
        default:
            break;
        }
    }
    return true;
}

static struct node_pipe *pipeline(struct parser *p, const char *context, enum token_kind end)
{
    struct node_pipe *pipe = new_node(p, N_PIPE, peek_non_space(p).pos, sizeof *pipe);
    if (!declarations(p, pipe, context))
        return NULL;
    for (;;) {
        struct token t = next_non_space(p);
        if (t.kind == end)
            return check_pipeline(p, pipe, context) ? pipe : NULL;
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
            backup(p);
            struct node_command *cmd = command(p);
            if (!cmd)
                return NULL;
            pipe->cmds = grown(p, pipe->cmds, pipe->n, &pipe->cap, sizeof *pipe->cmds);
            pipe->cmds[pipe->n++] = cmd;
            break;
        }
        default:
            return unexpected(p, t, context);
        }
    }
}

/* ---- actions ---- */

static struct node *text_or_action(struct parser *p);

/* Up to {{end}} or {{else}}, which goes to @next. */
static struct node_list *item_list(struct parser *p, struct node **next_node)
{
    struct node_list *list = new_node(p, N_LIST, peek_non_space(p).pos, sizeof *list);
    while (peek_non_space(p).kind != TOK_EOF) {
        struct node *n = text_or_action(p);
        if (!n)
            return NULL;
        if (n->kind == N_END || n->kind == N_ELSE) {
            *next_node = n;
            return list;
        }
        list_append(p, list, n);
    }
    return fail(p, "unexpected EOF");
}

static struct node *branch(struct parser *p, enum node_kind kind, const char *context);

/* After {{else}}: the other list. "else if" in an if, and "else with" in a with, are a list of one
 * whose {{end}} is the outer one's. */
static bool else_part(struct parser *p, struct node_branch *b, struct node *else_node,
                      const char *context)
{
    enum node_kind kind = (enum node_kind)b->node.kind;
    enum token_kind chained = kind == N_IF ? TOK_IF : TOK_WITH;
    if (kind != N_RANGE && peek(p).kind == chained) {
        next(p);
        b->else_list = new_node(p, N_LIST, else_node->pos, sizeof *b->else_list);
        struct node *nested = branch(p, kind, context);
        if (!nested)
            return false;
        list_append(p, b->else_list, nested);
        return true;
    }
    struct node *end;
    b->else_list = item_list(p, &end);
    if (!b->else_list)
        return false;
    if (end->kind == N_END)
        return true;
    fail(p, "expected end; found {{else}}");
    return false;
}

static struct node *branch_body(struct parser *p, enum node_kind kind, const char *context)
{
    struct node *end;
    struct node_branch *b = new_node(p, kind, 0, sizeof *b);
    b->pipe = pipeline(p, context, TOK_RIGHT_DELIM);
    if (!b->pipe)
        return NULL;
    b->node.pos = b->pipe->node.pos;
    p->tree->range_depth += kind == N_RANGE;
    b->list = item_list(p, &end);
    p->tree->range_depth -= kind == N_RANGE;
    if (!b->list || (end->kind == N_ELSE && !else_part(p, b, end, context)))
        return NULL;
    return &b->node;
}

static struct node *branch(struct parser *p, enum node_kind kind, const char *context)
{
    if (p->depth >= MAX_DEPTH)
        return fail(p, "max nesting depth exceeded");
    size_t n_vars = p->tree->n_vars;
    p->depth++;
    struct node *n = branch_body(p, kind, context);
    p->depth--;
    p->tree->n_vars = n_vars;
    return n;
}

static struct node *loop_exit(struct parser *p, enum node_kind kind, struct token t)
{
    const char *word = kind == N_BREAK ? "{{break}}" : "{{continue}}";
    struct token end = next_non_space(p);
    if (end.kind != TOK_RIGHT_DELIM)
        return unexpected(p, end, word);
    if (p->tree->range_depth == 0)
        return fail(p, "%s outside {{range}}", word);
    return small_node(p, kind, t.pos);
}

static struct node *else_control(struct parser *p)
{
    struct token t = peek_non_space(p);
    if (t.kind == TOK_IF || t.kind == TOK_WITH)
        return small_node(p, N_ELSE, t.pos);
    if (!expect(p, TOK_RIGHT_DELIM, "else", &t))
        return NULL;
    return small_node(p, N_ELSE, t.pos);
}

static bool template_name(struct parser *p, struct token t, const char *context, struct name *name)
{
    const char *s;
    uint32_t len;
    if (t.kind != TOK_STRING && t.kind != TOK_RAW_STRING) {
        unexpected(p, t, context);
        return false;
    }
    if (!unquote(p, t, &s, &len))
        return false;
    *name = hashed(s, len);
    return true;
}

static struct node_template *new_template(struct parser *p, uint32_t pos, struct name name,
                                          struct node_pipe *pipe)
{
    struct node_template *t = new_node(p, N_TEMPLATE, pos, sizeof *t);
    t->name = name;
    t->pipe = pipe;
    return t;
}

static struct node *template_control(struct parser *p)
{
    struct token t = next_non_space(p);
    struct name name;
    struct node_pipe *pipe = NULL;
    if (!template_name(p, t, "template clause", &name))
        return NULL;
    if (next_non_space(p).kind != TOK_RIGHT_DELIM) {
        backup(p);
        pipe = pipeline(p, "template clause", TOK_RIGHT_DELIM);
        if (!pipe)
            return NULL;
    }
    return &new_template(p, t.pos, name, pipe)->node;
}

/* ---- templates ---- */

static bool is_blank(const char *s, size_t len)
{
    for (size_t i = 0; i < len;) {
        uint32_t r;
        i += sw_rune_decode(s + i, len - i, &r);
        if (!sw_rune_is_space(r))
            return false;
    }
    return true;
}

static bool is_empty(const struct node_list *list)
{
    for (uint32_t i = 0; i < list->n; i++) {
        const struct node_text *t = (const struct node_text *)list->nodes[i];
        if (t->node.kind != N_TEXT || !is_blank(t->s, t->len))
            return false;
    }
    return true;
}

/* A text may define a name twice only when one of the two is empty. */
static bool add_template(struct parser *p, struct name name, struct node_list *root)
{
    struct tmpl **at = &p->done;
    while (*at && !sw_name_equal(&(*at)->name, &name))
        at = &(*at)->next;
    struct tmpl *old = *at;
    bool empty = is_empty(root);
    if (old && !old->empty) {
        if (!empty)
            fail(p, "template: multiple definition of template %s", quoted(p, name.s, name.len));
        return empty;
    }
    struct tmpl *t = old ? old : sw_arena_alloc(p->arena, sizeof *t);
    if (!old) {
        t->next = p->done;
        p->done = t;
    }
    t->name = name;
    t->source = p->source;
    t->root = root;
    t->empty = empty;
    return true;
}

/* The body of a define or block, which sees no variable from outside. */
static bool definition(struct parser *p, struct name name, const char *context)
{
    struct tree own = { 0 }, *outer = p->tree;
    struct node *end = NULL;
    if (p->depth >= MAX_DEPTH) {
        fail(p, "max nesting depth exceeded");
        return false;
    }
    uint32_t action_line = p->action_line;
    p->tree = &own;
    p->action_line = 0;
    p->depth++;
    push_var(p, hashed("$", 1));
    struct node_list *root = item_list(p, &end);
    p->depth--;
    p->tree = outer;
    p->action_line = action_line;
    free(own.vars);
    if (!root)
        return false;
    if (end->kind != N_END) {
        fail(p, "unexpected {{else}} in %s", context);
        return false;
    }
    return add_template(p, name, root);
}

static struct node *block_control(struct parser *p)
{
    struct token t = next_non_space(p);
    struct name name;
    if (!template_name(p, t, "block clause", &name))
        return NULL;
    struct node_pipe *pipe = pipeline(p, "block clause", TOK_RIGHT_DELIM);
    if (!pipe || !definition(p, name, "block clause"))
        return NULL;
    return &new_template(p, t.pos, name, pipe)->node;
}

static bool define(struct parser *p)
{
    struct token t = next_non_space(p), end;
    struct name name;
    return template_name(p, t, "define clause", &name) &&
           expect(p, TOK_RIGHT_DELIM, "define clause", &end) &&
           definition(p, name, "define clause");
}

static struct node *action(struct parser *p)
{
    struct token t = next_non_space(p);
    switch (t.kind) {
    case TOK_BLOCK:
        return block_control(p);
    case TOK_BREAK:
        return loop_exit(p, N_BREAK, t);
    case TOK_CONTINUE:
        return loop_exit(p, N_CONTINUE, t);
    case TOK_ELSE:
        return else_control(p);
    case TOK_END:
        return expect(p, TOK_RIGHT_DELIM, "end", &t) ? small_node(p, N_END, t.pos) : NULL;
    case TOK_IF:
        return branch(p, N_IF, "if");
    case TOK_RANGE:
        return branch(p, N_RANGE, "range");
    case TOK_TEMPLATE:
        return template_control(p);
    case TOK_WITH:
        return branch(p, N_WITH, "with");
    default:
        break;
    }
    backup(p);
    struct node_action *a = new_node(p, N_ACTION, peek(p).pos, sizeof *a);
    a->pipe = pipeline(p, "command", TOK_RIGHT_DELIM);
    return a->pipe ? &a->node : NULL;
}

static struct node *text_or_action(struct parser *p)
{
    struct token t = next_non_space(p);
    if (t.kind == TOK_TEXT) {
        struct node_text *n = new_node(p, N_TEXT, t.pos, sizeof *n);
        n->s = t.s;
        n->len = t.len;
        return &n->node;
    }
    if (t.kind != TOK_LEFT_DELIM)
        return unexpected(p, t, "input");
    p->action_line = t.line;
    struct node *n = action(p);
    p->action_line = 0;
    return n;
}

static struct node_list *parse_file(struct parser *p)
{
    struct node_list *root = new_node(p, N_LIST, peek(p).pos, sizeof *root);
    while (peek(p).kind != TOK_EOF) {
        if (peek(p).kind == TOK_LEFT_DELIM) {
            struct token delim = next(p);
            if (next_non_space(p).kind == TOK_DEFINE) {
                if (!define(p))
                    return NULL;
                continue;
            }
            backup2(p, delim);
        }
        struct node *n = text_or_action(p);
        if (!n)
            return NULL;
        if (n->kind == N_END || n->kind == N_ELSE)
            return fail(p, "unexpected %s", node_text(p, n));
        list_append(p, root, n);
    }
    return root;
}

int sw_template_parse(struct sw_arena *arena, const struct func_index *funcs,
                      const struct source *source, struct tmpl **out, struct sw_err *err)
{
    SW_ERR(local);
    struct tree tree = { 0 };
    struct parser p = {
        .arena = arena, .funcs = funcs, .source = source, .tree = &tree, .err = err ? err : &local
    };
    sw_lex_init(&p.lex, arena, source->text, source->len);
    push_var(&p, hashed("$", 1));
    struct node_list *root = parse_file(&p);
    bool ok = root && add_template(&p, hashed(source->name, strlen(source->name)), root);
    free(tree.vars);
    if (!ok)
        return SW_INVALID;
    *out = p.done;
    return 0;
}
