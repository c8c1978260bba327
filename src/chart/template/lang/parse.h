#pragma once
/* The parser's lower half (parse_expr.c: tokens, messages, nodes, pipelines), for its upper one
 * (parse.c: actions and templates). */
#include "chart/template/lang/ast.h"
#include "chart/template/lang/function.h"
#include "chart/template/lang/lex.h"

/** Limits of parsing. */
enum {
    MAX_DEPTH = 1000, /* of parentheses, and of control structures, in each other */
    LOOKAHEAD = 3,
};

/** The state of parsing one text. */
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

/** The variables in scope; each define has its own. */
struct tree {
    struct name *vars;
    size_t n_vars, cap_vars;
    unsigned range_depth;
};

/** The next token, with up to three of lookahead, as in Go. */
struct token sw_parse_next(struct parser *p);
/** Back before the token that was read last. */
void sw_parse_backup(struct parser *p);
/** Back before the next token, and @t1, which came before it. */
void sw_parse_backup2(struct parser *p, struct token t1);
/** The next token, without passing it. */
struct token sw_parse_peek(struct parser *p);
/** The next token that is no space. */
struct token sw_parse_next_item(struct parser *p);
/** The next token that is no space, without passing it; spaces before it are passed. */
struct token sw_parse_peek_item(struct parser *p);

/** Set the error, with the place in front. @return NULL */
void *sw_parse_fail(struct parser *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** Set the error for a token that may not stand in @context. @return NULL */
void *sw_parse_unexpected(struct parser *p, struct token t, const char *context);
/** The next item, which must be of a kind. @return false: it is not, the error is set */
bool sw_parse_expect(struct parser *p, enum token_kind kind, const char *context,
                     struct token *out);
/** The node as Go prints it, in the arena. */
const char *sw_parse_node_text(struct parser *p, const struct node *n);

/** An empty node of @size bytes, in the arena. */
void *sw_parse_new_node(struct parser *p, enum node_kind kind, uint32_t pos, size_t size);
/** A node that has nothing but kind and position. */
struct node *sw_parse_small_node(struct parser *p, enum node_kind kind, uint32_t pos);
/** Add @n to a list. */
void sw_parse_append(struct parser *p, struct node_list *l, struct node *n);
/** Declare a variable. */
void sw_parse_push_var(struct parser *p, struct name name);
/** The text of a string literal. @return false: invalid, the error is set */
bool sw_parse_unquote(struct parser *p, struct token t, struct sw_value *out);
/** Whether the nesting has reached its limit. */
static inline bool sw_parse_too_deep(const struct parser *p)
{
    return p->depth >= MAX_DEPTH || !sw_stack_has_room();
}

/** A pipeline up to a token of kind @end, which is passed. */
struct node_pipe *sw_parse_pipeline(struct parser *p, const char *context, enum token_kind end);
