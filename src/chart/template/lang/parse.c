#include <stdlib.h>
#include <string.h>

#include "chart/template/lang/parse.h"
#include "chart/template/value/types.h"
#include "data/go/strconv.h"
#include "data/text/unicode.h"

/* Recursive descent over the tokens, with the lookahead, the checks and the messages of Go's
 * text/template/parse. A function that fails returns NULL or false and has set p->err. */

/* ---- actions ---- */

static struct node *text_or_action(struct parser *p);

/* The nodes up to {{end}} or {{else}}, which goes to @next_node. */
static struct node_list *item_list(struct parser *p, struct node **next_node)
{
    struct node_list *list = sw_parse_new_node(p, N_LIST, sw_parse_peek_item(p).pos, sizeof *list);
    while (sw_parse_peek_item(p).kind != TOK_EOF) {
        struct node *n = text_or_action(p);
        if (!n)
            return NULL;
        if (n->kind == N_END || n->kind == N_ELSE) {
            *next_node = n;
            return list;
        }
        if (sw_arena_is_over(p->arena))
            break;
        sw_parse_append(p, list, n);
    }
    if (sw_arena_is_over(p->arena))
        return sw_parse_fail(p, "the templates take more memory than they may"), NULL;
    return sw_parse_fail(p, "unexpected EOF"), NULL;
}

static struct node *branch(struct parser *p, enum node_kind kind, const char *context);

/* After {{else}}: the other list. "else if" in an if, and "else with" in a with, are a list of one
 * whose {{end}} is the outer one's. */
static bool else_branch(struct parser *p, struct node_branch *b, struct node *else_node,
                        const char *context)
{
    enum node_kind kind = (enum node_kind)b->node.kind;
    enum token_kind chained = kind == N_IF ? TOK_IF : TOK_WITH;
    if (kind != N_RANGE && sw_parse_peek(p).kind == chained) {
        sw_parse_next(p);
        b->else_list = sw_parse_new_node(p, N_LIST, else_node->pos, sizeof *b->else_list);
        struct node *nested = branch(p, kind, context);
        if (!nested)
            return false;
        sw_parse_append(p, b->else_list, nested);
        return true;
    }
    struct node *end;
    b->else_list = item_list(p, &end);
    if (!b->else_list)
        return false;
    if (end->kind != N_END)
        return sw_parse_fail(p, "expected end; found {{else}}"), false;
    return true;
}

static struct node *branch(struct parser *p, enum node_kind kind, const char *context)
{
    struct node *end;
    size_t n_vars = p->tree->n_vars;
    if (sw_parse_too_deep(p))
        return sw_parse_fail(p, "max nesting depth exceeded");
    p->depth++;
    struct node_branch *b = sw_parse_new_node(p, kind, 0, sizeof *b);
    b->pipe = sw_parse_pipeline(p, context, TOK_RIGHT_DELIM);
    if (!b->pipe)
        return NULL;
    b->node.pos = b->pipe->node.pos;
    p->tree->range_depth += kind == N_RANGE;
    b->list = item_list(p, &end);
    p->tree->range_depth -= kind == N_RANGE;
    if (!b->list || (end->kind == N_ELSE && !else_branch(p, b, end, context)))
        return NULL;
    p->depth--;
    p->tree->n_vars = n_vars;
    return &b->node;
}

static struct node *loop_exit(struct parser *p, enum node_kind kind, struct token t)
{
    const char *word = kind == N_BREAK ? "{{break}}" : "{{continue}}";
    struct token end = sw_parse_next_item(p);
    if (end.kind != TOK_RIGHT_DELIM)
        return sw_parse_unexpected(p, end, word);
    if (p->tree->range_depth == 0)
        return sw_parse_fail(p, "%s outside {{range}}", word);
    return sw_parse_small_node(p, kind, t.pos);
}

static bool template_name(struct parser *p, struct token t, const char *context, struct name *name)
{
    struct sw_value s;
    if (t.kind != TOK_STRING && t.kind != TOK_RAW_STRING)
        return sw_parse_unexpected(p, t, context), false;
    if (!sw_parse_unquote(p, t, &s))
        return false;
    *name = sw_name(s.as.s, s.len);
    return true;
}

/* ---- templates ---- */

/* Whether the list is nothing but white space. */
static bool is_empty(const struct node_list *list)
{
    for (uint32_t i = 0; i < list->n; i++) {
        const struct node_text *t = (const struct node_text *)list->nodes[i];
        if (t->node.kind != N_TEXT)
            return false;
        for (size_t at = 0; at < t->len;) {
            uint32_t r;
            at += sw_rune_decode(t->s + at, t->len - at, &r);
            if (!sw_rune_is_space(r))
                return false;
        }
    }
    return true;
}

/* A text may define a name twice only when one of the two is empty. */
static bool add_template(struct parser *p, struct name name, struct node_list *root)
{
    enum { MOST = 2000 }; /* each looks through all */
    struct tmpl **at = &p->done;
    size_t n = 0;
    for (; *at && !sw_name_equal(&(*at)->name, &name); n++)
        at = &(*at)->next;
    if (n >= MOST)
        return sw_parse_fail(p, "more than %d templates in one text", MOST), false;
    struct tmpl *old = *at;
    bool empty = is_empty(root);
    if (old && !old->empty) {
        if (!empty)
            sw_parse_fail(p, "template: multiple definition of template %s",
                          sw_quoted(p->arena, name.s, name.len));
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
    if (sw_parse_too_deep(p))
        return sw_parse_fail(p, "max nesting depth exceeded"), false;
    uint32_t action_line = p->action_line;
    p->tree = &own;
    p->action_line = 0;
    p->depth++;
    sw_parse_push_var(p, sw_name("$", 1));
    struct node_list *root = item_list(p, &end);
    p->depth--;
    p->tree = outer;
    p->action_line = action_line;
    free(own.vars);
    if (!root)
        return false;
    if (end->kind != N_END)
        return sw_parse_fail(p, "unexpected {{else}} in %s", context), false;
    return add_template(p, name, root);
}

/* {{template "name" pipeline}} or {{block "name" pipeline}} */
static struct node *template_call(struct parser *p, bool is_block)
{
    const char *context = is_block ? "block clause" : "template clause";
    struct token t = sw_parse_next_item(p);
    struct node_template *n = sw_parse_new_node(p, N_TEMPLATE, t.pos, sizeof *n);
    if (!template_name(p, t, context, &n->name))
        return NULL;
    if (is_block || sw_parse_peek_item(p).kind != TOK_RIGHT_DELIM) {
        n->pipe = sw_parse_pipeline(p, context, TOK_RIGHT_DELIM);
        if (!n->pipe)
            return NULL;
    } else {
        sw_parse_next_item(p);
    }
    return !is_block || definition(p, n->name, context) ? &n->node : NULL;
}

static struct node *action(struct parser *p)
{
    struct token t = sw_parse_next_item(p);
    switch (t.kind) {
    case TOK_BLOCK:
    case TOK_TEMPLATE:
        return template_call(p, t.kind == TOK_BLOCK);
    case TOK_BREAK:
        return loop_exit(p, N_BREAK, t);
    case TOK_CONTINUE:
        return loop_exit(p, N_CONTINUE, t);
    case TOK_ELSE:
        t = sw_parse_peek_item(p);
        if (t.kind != TOK_IF && t.kind != TOK_WITH &&
            !sw_parse_expect(p, TOK_RIGHT_DELIM, "else", &t))
            return NULL;
        return sw_parse_small_node(p, N_ELSE, t.pos);
    case TOK_END:
        if (!sw_parse_expect(p, TOK_RIGHT_DELIM, "end", &t))
            return NULL;
        return sw_parse_small_node(p, N_END, t.pos);
    case TOK_IF:
        return branch(p, N_IF, "if");
    case TOK_RANGE:
        return branch(p, N_RANGE, "range");
    case TOK_WITH:
        return branch(p, N_WITH, "with");
    default:
        break;
    }
    sw_parse_backup(p);
    struct node_action *a = sw_parse_new_node(p, N_ACTION, sw_parse_peek(p).pos, sizeof *a);
    a->pipe = sw_parse_pipeline(p, "command", TOK_RIGHT_DELIM);
    return a->pipe ? &a->node : NULL;
}

static struct node *text_or_action(struct parser *p)
{
    struct token t = sw_parse_next_item(p);
    if (t.kind == TOK_TEXT) {
        struct node_text *n = sw_parse_new_node(p, N_TEXT, t.pos, sizeof *n);
        n->s = t.s;
        n->len = t.len;
        return &n->node;
    }
    if (t.kind != TOK_LEFT_DELIM)
        return sw_parse_unexpected(p, t, "input");
    p->action_line = t.line;
    struct node *n = action(p);
    p->action_line = 0;
    return n;
}

static struct node_list *parse_file(struct parser *p)
{
    struct node_list *root = sw_parse_new_node(p, N_LIST, sw_parse_peek(p).pos, sizeof *root);
    while (sw_parse_peek(p).kind != TOK_EOF) {
        if (sw_parse_peek(p).kind == TOK_LEFT_DELIM) {
            struct token delim = sw_parse_next(p);
            if (sw_parse_next_item(p).kind == TOK_DEFINE) {
                struct token t = sw_parse_next_item(p), end;
                struct name name;
                if (!template_name(p, t, "define clause", &name) ||
                    !sw_parse_expect(p, TOK_RIGHT_DELIM, "define clause", &end) ||
                    !definition(p, name, "define clause"))
                    return NULL;
                continue;
            }
            sw_parse_backup2(p, delim);
        }
        struct node *n = text_or_action(p);
        if (!n)
            return NULL;
        if (n->kind == N_END || n->kind == N_ELSE)
            return sw_parse_fail(p, "unexpected %s", sw_parse_node_text(p, n));
        if (sw_arena_is_over(p->arena))
            return sw_parse_fail(p, "the templates take more memory than they may");
        sw_parse_append(p, root, n);
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
    sw_parse_push_var(&p, sw_name("$", 1));
    struct node_list *root = parse_file(&p);
    bool ok = root && add_template(&p, sw_name(source->name, strlen(source->name)), root);
    free(tree.vars);
    if (!ok)
        return SW_INVALID;
    *out = p.done;
    return 0;
}
