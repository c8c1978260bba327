#pragma once
/* Parsed templates. The nodes are in the arena given to sw_template_parse() and do not change after
 * that. */
#include "chart/template/value/types.h"

struct func;
struct func_index;
struct text;

/** What a node is; each kind has its struct below. */
enum node_kind {
    N_TEXT,
    N_ACTION,
    N_LIST,
    N_IF,
    N_WITH,
    N_RANGE,
    N_TEMPLATE,
    N_BREAK,
    N_CONTINUE,
    N_PIPE,
    N_COMMAND,
    N_IDENT,
    N_VARIABLE,
    N_DOT,
    N_NIL,
    N_FIELD,
    N_CHAIN,
    N_BOOL,
    N_NUMBER,
    N_STRING,
    N_END,  /* parser only */
    N_ELSE, /* parser only */
};

/** A field's or variable's name with its hash, so that a lookup computes none. */
struct name {
    const char *s;
    uint32_t len;
    uint32_t hash;
};

/** What all nodes begin with. */
struct node {
    uint8_t kind;
    uint32_t pos; /* byte offset in the text */
};

/** Text outside actions. */
struct node_text {
    struct node node;
    const char *s;
    size_t len;
};

/** What is executed in order. */
struct node_list {
    struct node node;
    struct node **nodes;
    uint32_t n, cap;
};

/** An operand, or a function and its arguments. */
struct node_command {
    struct node node;
    struct node **args;
    uint32_t n, cap;
};

/** Commands with | between them, and the variables that get the result. */
struct node_pipe {
    struct node node;
    bool is_assign;
    uint8_t n_decl;
    struct node_names *decl[2];
    struct node_command **cmds;
    uint32_t n, cap;
};

/** {{pipeline}} */
struct node_action {
    struct node node;
    struct node_pipe *pipe;
};

struct node_branch { /* if, with, range */
    struct node node;
    struct node_pipe *pipe;
    struct node_list *list;
    struct node_list *else_list; /* or NULL */
};

/** {{template "name" pipeline}} */
struct node_template {
    struct node node;
    struct name name;
    struct node_pipe *pipe; /* or NULL */
};

/** A function's name. */
struct node_ident {
    struct node node;
    const struct func *func;
};

/** A field or variable: .a.b, $x, $x.a.b */
struct node_names {
    struct node node;
    struct name *names; /* of a variable: "$x", then fields */
    uint32_t n;
};

/** (pipeline).a.b */
struct node_chain {
    struct node node;
    struct node *base;
    struct name *names;
    uint32_t n, cap;
};

/** true, false */
struct node_bool {
    struct node node;
    bool value;
};

/** A number or character, as each type that it fits. */
struct node_number {
    struct node node;
    const char *text;
    uint32_t text_len;
    bool is_int, is_uint, is_float, is_complex;
    int64_t i;
    uint64_t u;
    double f;
    double c[2];
    struct sw_value ideal; /* as an interface {}; SW_T_INVALID: it overflows int */
};

/** A quoted string. */
struct node_string {
    struct node node;
    const char *quoted;
    uint32_t quoted_len;
    struct sw_value value;
};

/** A text that templates were parsed from. */
struct source {
    const char *name; /* "c/templates/t.yaml" */
    const char *text;
    size_t len;
};

/** One template: a file, or what a define or block made. */
struct tmpl {
    struct name name;
    const struct source *source;
    struct node_list *root;
    bool empty; /* nothing but white space and comments */
    struct tmpl *next;
};

/** Parse @source. @*out gets its templates; the file's own has the name of the source.
 * @return 0 | SW_INVALID: "template: NAME:LINE: ..." */
int sw_template_parse(struct sw_arena *arena, const struct func_index *funcs,
                      const struct source *source, struct tmpl **out, struct sw_err *err);

/** The node's text as Go reprints it, for error messages. */
void sw_node_print(struct text *out, const struct node *node);

/** Fill in the number of @n's text, a token of lex.c. @return 0 | SW_INVALID */
int sw_node_number_parse(struct node_number *n, bool is_char, bool is_complex, struct sw_err *err);

/** @s is borrowed. */
static inline struct name sw_name(const char *s, size_t len)
{
    return (struct name){ s, (uint32_t)len, sw_name_hash(s, len) };
}

/** Whether two names are the same. */
static inline bool sw_name_equal(const struct name *a, const struct name *b)
{
    return a->hash == b->hash && a->len == b->len && __builtin_memcmp(a->s, b->s, a->len) == 0;
}
